"""The filters of the provider table: what passes, what is hidden, and whose the badges are."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import polars as pl
import pytest
from provider_rows import endpoint, endpoints

from app.components.provider_filters import Filters, filtered, hidden_by, regions


def names(frame: pl.DataFrame) -> list[str]:
    return frame["provider_name"].to_list()


def market() -> pl.DataFrame:
    """Return a market in which the cheapest is of 4 bits, and the best uptime is a flex row."""
    return endpoints(
        endpoint(1, "A", **priced("0.01"), quantization="int4", uptime_1d_pct=99.5),
        endpoint(2, "B", **priced("0.03"), quantization="fp8", uptime_1d_pct=98.0),
        endpoint(3, "C", **priced("0.03"), quantization="bf16", context_length=131072),
        endpoint(4, "D", **priced("0.02"), quantization="unknown", is_stale=True),
        endpoint(5, "E", **priced("0.01"), quantization="fp16", tier="flex", uptime_1d_pct=100.0),
    )


def priced(text: str) -> dict[str, Any]:
    return {"input_usd_per_mtok": Decimal(text), "output_usd_per_mtok": Decimal(text)}


@pytest.mark.parametrize(
    ("filters", "passing"),
    [
        (Filters(), ["A", "B", "C", "D", "E"]),
        (Filters(min_bits=8), ["B", "C", "E"]),
        (Filters(min_bits=16), ["C", "E"]),
        (Filters(min_context=128_000), ["C"]),
        (Filters(min_context=8192), ["A", "B", "C", "D", "E"]),
        (Filters(min_uptime_pct=99.0), ["A", "E"]),
        (Filters(hides_stale=True), ["A", "B", "C", "E"]),
        (Filters(hides_tiers=True), ["A", "B", "C", "D"]),
        (Filters(min_bits=8, hides_tiers=True, min_uptime_pct=90), ["B"]),
    ],
)
def test_an_endpoint_passes_that_states_at_least_what_is_asked_for(
    filters: Filters, passing: list[str]
) -> None:
    assert names(filtered(market(), filters)) == passing


@pytest.mark.parametrize(
    ("quantization", "bits"),
    [("int4", 4), ("mxfp4", 4), ("nvfp4", 4), ("fp6", 6), ("mxfp8", 8), ("bf16", 16), ("fp32", 32)],
)
def test_a_quantization_is_compared_by_its_bits(quantization: str, bits: int) -> None:
    frame = endpoints(endpoint(1, "A", quantization=quantization))

    assert names(filtered(frame, Filters(min_bits=bits))) == ["A"]
    assert names(filtered(frame, Filters(min_bits=bits + 1))) == []


def test_what_is_not_stated_does_not_pass() -> None:
    frame = endpoints(
        endpoint(1, "A", context_length=None),
        endpoint(2, "B", quantization="unknown"),
        endpoint(3, "C"),
    )

    for asked in (Filters(min_bits=4), Filters(min_uptime_pct=90), Filters(region="US")):
        assert names(filtered(frame, asked)) == []
    assert names(filtered(frame, Filters(min_context=1))) == ["B", "C"]


def test_the_badges_are_given_among_what_is_shown() -> None:
    shown = filtered(market(), Filters(min_bits=8, hides_tiers=True))

    assert shown.filter("is_cheapest_input")["provider_name"].to_list() == ["B"]
    assert shown.filter("is_best_uptime")["provider_name"].to_list() == ["B"]


def test_a_stale_a_free_and_a_flex_endpoint_are_never_the_cheapest_shown() -> None:
    frame = endpoints(
        endpoint(1, "A", **priced("0"), is_free=True),
        endpoint(2, "B", **priced("0.01"), tier="flex"),
        endpoint(3, "C", **priced("0.02"), is_stale=True),
        endpoint(4, "D", **priced("0.5")),
    )

    shown = filtered(frame, Filters(min_context=1))

    assert shown.filter("is_cheapest_input")["provider_name"].to_list() == ["D"]


def test_each_filter_counts_what_it_leaves_out() -> None:
    asked = Filters(min_bits=8, min_uptime_pct=95, hides_stale=True, hides_tiers=True)

    assert hidden_by(market(), asked) == {"quantization": 2, "uptime": 2, "stale": 1, "tier": 1}
    assert hidden_by(market(), Filters(min_context=1)) == {}


def test_a_region_is_where_the_data_centres_are_and_else_where_the_provider_is_based() -> None:
    frame = endpoints(
        endpoint(1, "A", headquarters="US"),
        endpoint(2, "B", headquarters="US", datacenters=["FI", "US"]),
        endpoint(3, "C", headquarters="NL", datacenters=["SG"]),
        endpoint(4, "D", headquarters="FR", datacenters=[]),
    )

    assert names(filtered(frame, Filters(region="US"))) == ["A", "B"]
    assert names(filtered(frame, Filters(region="NL"))) == []
    assert names(filtered(frame, Filters(region="EU"))) == ["B", "D"]
    assert list(regions(frame)) == ["any", "EU", "FI", "FR", "SG", "US"]


def test_the_eu_is_on_offer_only_where_a_member_is() -> None:
    assert list(regions(endpoints(endpoint(1, "A", headquarters="US")))) == ["any", "US"]
    assert list(regions(endpoints(endpoint(1, "A")))) == ["any"]
