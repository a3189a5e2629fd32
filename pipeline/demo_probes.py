"""Probes of the demo: two weeks of them made up in time-lapse, and a file for measuring on."""

from __future__ import annotations

import json
import threading
from collections.abc import Mapping, Sequence
from datetime import datetime, time, timedelta
from pathlib import Path
from typing import Any

from pipeline.landing.probe_records import ProbeRunStart
from pipeline.landing.probe_runs import ProbeLanding
from pipeline.probe_steps import probe_config
from pipeline.probes.readiness import get_ready
from pipeline.probes.records import SelfCheck
from pipeline.probes.run import new_run_id, run_probe
from pipeline.probes.targets import check_targets
from pipeline.progress import Unseen
from pipeline.sandbox.market import Market
from pipeline.sandbox.provider.answers import Completions
from pipeline.sandbox.provider.market_provider import MarketProvider
from pipeline.sandbox.provider.script import Script
from pipeline.sandbox.provider.time_lapse import TimeLapse
from pipeline.settings import Settings
from pipeline.target_lookup import spend_ledger

DAYS_OF_PROBES = 14
MEASURED_AT = time(9, 23)
# What is measured: by model, the endpoints.
TAGS = {
    "meta-llama/llama-3.1-8b-instruct": ("deepinfra/fp8", "novita/fp8", "groq"),
    "openai/gpt-oss-20b": ("deepinfra/fp4", "together", "wandb/fp4"),
}
REGION = "demo"


class _NoWaiting(threading.Event):
    """In time-lapse nobody waits for a Retry-After."""

    def wait(self, timeout: float | None = None) -> bool:
        """Return at once."""
        return self.is_set()


def write_probe_config(path: Path, base_url: str) -> None:
    """Write what the demo probes, at the address where its provider is now."""
    config = {
        "providers": [
            {
                "name": f"{model.split('/')[1]}@{tag.split('/')[0]}",
                "base_url": base_url,
                "model": model,
                "provider": {"only": [tag]},
            }
            for model, tags in TAGS.items()
            for tag in tags
        ],
        "runs": 12,
        "concurrency": [1, 4],
        "max_tokens": 48,
        "prompts": ["short_chat", "cold_start"],
        "schedule": "23 */3 * * *",
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(config, indent=1) + "\n")


def land_probes(
    settings: Settings,
    market: Market,
    now: datetime,
    stop: threading.Event,
    days_of_probes: int = DAYS_OF_PROBES,
) -> list[datetime]:
    """Land the made-up runs of the last days that landing lacks; return when they began."""
    landing = ProbeLanding(settings.landing_dir)
    landed = {run.manifest.started_at_utc for run in landing.runs()}
    first = now.date() - timedelta(days=days_of_probes - 1)
    moments = (
        datetime.combine(first + timedelta(days=day), MEASURED_AT, now.tzinfo)
        for day in range(days_of_probes)
    )
    due = [moment for moment in moments if moment < now and moment not in landed]
    for moment in due:
        if stop.is_set():
            break
        _land_one(settings, market, moment)
    return due


def _land_one(settings: Settings, market: Market, start: datetime) -> None:
    config = probe_config(settings)

    def listing(model: str) -> Sequence[Mapping[str, Any]] | None:
        data = market.endpoints(model, start)
        return None if data is None else data["endpoints"]

    source = MarketProvider(market, Script(), lambda: engine.now())  # noqa: PLW0108 - made below
    engine = TimeLapse(Completions(source), start)
    ready = get_ready(config, check_targets(config.providers, listing), {}, {})
    run_id = new_run_id(start)
    with ProbeLanding(settings.landing_dir).begin(
        ProbeRunStart(
            run_id=run_id,
            partition_date=start.date(),
            started_at_utc=start,
            market=settings.market,
            region=REGION,
            config_json=config.model_dump_json(by_alias=True),
            engine_json=json.dumps({"made_up": "in time-lapse, by the sandbox provider"}),
        )
    ) as writer:
        for level in config.concurrency:
            writer.add_self_check(_no_error(level))
        result = run_probe(
            config,
            run_id=run_id,
            recorder=writer,
            keys=ready.keys,
            prices=ready.prices,
            ledger=spend_ledger(settings),
            provider_names=ready.provider_names,
            refusals=ready.refusals,
            region=REGION,
            clock=engine.now,
            self_check=False,
            progress=Unseen("probe"),
            stop=_NoWaiting(),
            engine=engine,
        )
        writer.seal(engine.now(), result.samples, result.problems)


def _no_error(concurrency: int) -> SelfCheck:
    """Return the self-check of an instrument that knows what it has made up."""
    return SelfCheck(
        concurrency=concurrency,
        tokens_per_s=100.0,
        is_tls=False,
        requests=0,
        seconds=0.0,
        ttft_error_p50_ms=0.0,
        ttft_error_p99_ms=0.0,
        gap_error_p50_ms=0.0,
        gap_error_p99_ms=0.0,
        stamp_source="kernel",
    )
