"""Which endpoints of a model a reader wants to see, and what that leaves out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import polars as pl

from app.components.countries import country_text
from pipeline.quantization import QUANTIZATION_BITS

CONTEXT_STEPS = {"any": 0, "16k": 16_000, "32k": 32_000, "128k": 128_000, "200k": 200_000}
CONTEXT_STEPS |= {"1M": 1_000_000}
BITS_STEPS = {"any": 0, "4": 4, "6": 6, "8": 8, "16": 16}
UPTIME_STEPS = {"any": 0.0, "90": 90.0, "95": 95.0, "99": 99.0, "99.9": 99.9}
HIDEABLE = {"stale": "Stale rows", "tiers": "Flex, priority, batch"}
ANYWHERE = "any"
EU = "EU"
# fmt: off
EU_MEMBERS = frozenset((
    "AT", "BE", "BG", "CY", "CZ", "DE", "DK", "EE", "ES", "FI", "FR", "GR", "HR", "HU",
    "IE", "IT", "LT", "LU", "LV", "MT", "NL", "PL", "PT", "RO", "SE", "SI", "SK",
))
# fmt: on


@dataclass(frozen=True)
class Filters:
    """What the reader asked for; empty values ask for nothing.

    An endpoint that does not state what is asked for does not pass. ``min_bits`` is of the
    number format of the weights, ``min_uptime_pct`` of one day, ``region`` a country of two
    letters or ``EU``.
    """

    min_context: int = 0
    min_bits: int = 0
    min_uptime_pct: float = 0
    region: str = ANYWHERE
    hides_stale: bool = False
    hides_tiers: bool = False


def filtered(endpoints: pl.DataFrame, filters: Filters) -> pl.DataFrame:
    """Keep the rows of ``marts.provider_table`` that pass, badges given among these alone."""
    conditions = list(_conditions(filters).values())
    if not conditions:
        return endpoints
    return _with_badges(endpoints.filter(conditions))


def hidden_by(endpoints: pl.DataFrame, filters: Filters) -> dict[str, int]:
    """Count the rows that each filter leaves out, by its name; one may fail several."""
    counted = {
        name: endpoints.height - endpoints.filter(condition).height
        for name, condition in _conditions(filters).items()
    }
    return {name: count for name, count in counted.items() if count}


def regions(endpoints: pl.DataFrame) -> dict[str, str]:
    """Return the regions on offer: anywhere, the EU where a member is among them, countries."""
    countries = endpoints.select(_places().explode()).drop_nulls().to_series()
    found = sorted({country for country in countries if country})
    offered = {ANYWHERE: "Any"}
    if EU_MEMBERS & set(found):
        offered[EU] = "EU"
    return offered | {country: country_text(country) for country in found}


def _conditions(filters: Filters) -> Mapping[str, pl.Expr]:
    asked: dict[str, pl.Expr] = {}
    if filters.min_context:
        asked["context"] = pl.col("context_length") >= filters.min_context
    if filters.min_bits:
        asked["quantization"] = _bits() >= filters.min_bits
    if filters.min_uptime_pct:
        asked["uptime"] = pl.col("uptime_1d_pct") >= filters.min_uptime_pct
    if filters.region != ANYWHERE:
        wanted = sorted(EU_MEMBERS) if filters.region == EU else [filters.region]
        asked["region"] = _places().list.eval(pl.element().is_in(wanted)).list.any()
    if filters.hides_stale:
        asked["stale"] = ~pl.col("is_stale")
    if filters.hides_tiers:
        asked["tier"] = pl.col("tier") == "standard"
    return {name: condition.fill_null(False) for name, condition in asked.items()}


def _bits() -> pl.Expr:
    return pl.col("quantization").replace_strict(
        QUANTIZATION_BITS, default=None, return_dtype=pl.Int32
    )


def _places() -> pl.Expr:
    """Where it runs, as far as the provider says; else where it is based."""
    is_named = pl.col("datacenters").list.len() > 0
    return pl.when(is_named).then(pl.col("datacenters")).otherwise(pl.concat_list("headquarters"))


def _with_badges(endpoints: pl.DataFrame) -> pl.DataFrame:
    """Find the cheapest and the best uptime again, by the rules of ``marts.provider_table``."""
    current = endpoints.filter(~pl.col("is_stale"))
    cheapest = (
        current.filter(pl.col("tier") == "standard", pl.col("input_usd_per_mtok") > 0)
        .sort("input_usd_per_mtok", "output_usd_per_mtok", "default_rank", nulls_last=True)
        .head(1)
    )
    best = (
        current.filter(pl.col("uptime_1d_pct").is_not_null())
        .sort("uptime_1d_pct", "default_rank", descending=[True, False])
        .head(1)
    )
    return endpoints.with_columns(
        is_cheapest_input=pl.col("endpoint_id").is_in(cheapest["endpoint_id"].to_list()),
        is_best_uptime=pl.col("endpoint_id").is_in(best["endpoint_id"].to_list()),
    )
