"""Where the targets of a probe are looked up: lists of endpoints, last snapshot, environment."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from itertools import groupby
from typing import Any

from pipeline.probes.config import Price, ProbeConfig, Target
from pipeline.probes.last_sent import LastSent
from pipeline.probes.readiness import Readiness, get_ready
from pipeline.probes.spending import SpendLedger
from pipeline.probes.targets import Listing, TargetCheck, check_targets
from pipeline.publishing.model_json import model_path
from pipeline.settings import Settings, environment_of
from pipeline.sources.http import HttpSource, SourceError
from pipeline.sources.openrouter import check_endpoints, endpoints_request
from pipeline.sources.reach import HASTE


def look_up(config: ProbeConfig, settings: Settings) -> Readiness:
    """Look up keys, prices, who serves, and which targets are gone."""
    return get_ready(
        config,
        check_pins(config.providers, settings),
        {target.name: published_price(target, settings) for target in config.providers},
        environment_of(settings),
    )


def check_pins(targets: Iterable[Target], settings: Settings) -> list[TargetCheck]:
    """Check the pinned ones of ``targets`` against the lists of endpoints at their addresses."""
    pinned = sorted((t for t in targets if t.tag is not None), key=lambda t: t.base_url)
    checks: list[TargetCheck] = []
    for base_url, members in groupby(pinned, key=lambda target: target.base_url):
        # The lists are public: our key need not go to whatever address stands there.
        changes = {**HASTE, "openrouter_url": base_url, "openrouter_api_key": None}
        with HttpSource(settings.model_copy(update=changes), on_answer=lambda _: None) as source:
            checks += check_targets(list(members), _listing(source))
    return checks


def published_price(target: Target, settings: Settings) -> Price | None:
    """Return the price of the target's endpoint in the last snapshot; None where it has none.

    The endpoint is told by its tag, else by who serves it.
    """
    place = model_path(target.model_id)
    column, wanted = ("tag", target.tag) if target.tag else ("provider_name", target.provider_name)
    if place is None or wanted is None:
        return None
    try:
        text = (settings.published_dir / "current" / place).read_text()
    except OSError:
        return None
    prices = [
        Price(
            input_usd_per_mtok=row["input_usd_per_mtok"],
            output_usd_per_mtok=row["output_usd_per_mtok"],
            cache_read_usd_per_mtok=row["cache_read_usd_per_mtok"],
        )
        for row in json.loads(text, parse_float=Decimal)["providers"]
        if row[column] == wanted
        and row["input_usd_per_mtok"] is not None
        and row["output_usd_per_mtok"] is not None
    ]
    # Where the endpoint cannot be told for sure, the dearest is what a budget must bear.
    return max(prices, key=lambda price: price.output_usd_per_mtok, default=None)


def _listing(source: HttpSource) -> Listing:
    def endpoints_of(model: str) -> Sequence[Mapping[str, Any]] | None:
        try:
            payload = source.get(endpoints_request(model), check=check_endpoints(model))
        except SourceError:
            return None
        endpoints: list[Mapping[str, Any]] = payload["data"]["endpoints"]
        return endpoints

    return endpoints_of


def spend_ledger(settings: Settings) -> SpendLedger:
    """Return the ledger of all runs in the data folder."""
    return SpendLedger(settings.data_dir / "probes" / "spend.jsonl")


def last_sent(settings: Settings) -> LastSent:
    """Return when targets were last asked from this data folder."""
    return LastSent(settings.data_dir / "probes" / "last_sent.json")
