"""One landed sweep to typed, contracted frames: pure, so a rebuild from landing is the same."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial

import polars as pl

from pipeline import raw_tables
from pipeline.contracts.endpoints import ENDPOINTS, provider_rules
from pipeline.contracts.models import MODELS
from pipeline.contracts.providers import PROVIDERS
from pipeline.landing import Answer, SweepManifest
from pipeline.market.answers import ChosenAnswers, choose_answers
from pipeline.market.coverage import coverage_rows, sweep_row
from pipeline.market.intake import Intake, TableKind
from pipeline.market.keys import UnknownKeys
from pipeline.market.rows import number_twins, read_endpoint, read_model, read_provider
from pipeline.raw_tables import frame_of
from pipeline.sources.openrouter import usable_model_id

_MODELS = TableKind("models", "model", MODELS, ("id",))
_ENDPOINTS = TableKind(
    "endpoints", "endpoint", ENDPOINTS, ("provider_name", "tag"), is_part_of_model=True
)
_PROVIDERS = TableKind("providers", "provider", PROVIDERS, ("name",))


@dataclass(frozen=True)
class MarketBatch:
    """One sweep as frames with exactly the columns and types of the raw tables.

    ``sweep`` has one row. A sweep without a model list is ``failed`` and has no models,
    endpoints or coverage, since nothing says what belongs to the market.
    """

    sweep: pl.DataFrame
    model_coverage: pl.DataFrame
    models: pl.DataFrame
    endpoints: pl.DataFrame
    providers: pl.DataFrame
    quarantine: pl.DataFrame
    flags: pl.DataFrame


def read_market(
    manifest: SweepManifest, answers: Iterable[Answer], landing_sha256: str
) -> MarketBatch:
    """Read a sweep's ``answers``, in their order of arrival, into a batch.

    Bad data never raises: it is found in the coverage, the quarantine or the flags.
    """
    chosen = choose_answers(manifest, answers)
    coverage = coverage_rows(manifest, chosen)
    keys = UnknownKeys()
    model_intake, endpoint_intake, provider_intake = intakes = tuple(
        Intake(kind, manifest, keys) for kind in (_MODELS, _ENDPOINTS, _PROVIDERS)
    )
    _take_models(chosen, model_intake, keys)
    _take_providers(chosen, provider_intake, keys)
    for row in coverage:
        if row["outcome"] == "answered":
            _take_endpoints(chosen, row["model_id"], endpoint_intake, keys)

    models = model_intake.close()
    providers = provider_intake.close()
    slugs = dict(providers.select("provider_name", "provider_slug").iter_rows())
    endpoints = endpoint_intake.close(also=provider_rules(slugs) if slugs else ())
    quarantine = [row for intake in intakes for row in intake.quarantine]
    flags = [row for intake in intakes for row in intake.flags]
    sweep = {
        **sweep_row(manifest, coverage, has_whole_model_list=chosen.has_whole_model_list),
        "endpoints": endpoints.height,
        "providers": providers.height,
        "quarantined": len(quarantine),
        "flagged": len(flags),
        "unknown_keys_json": keys.to_json(),
        "landing_sha256": landing_sha256,
    }
    return MarketBatch(
        sweep=frame_of([sweep], raw_tables.SWEEPS),
        model_coverage=frame_of(coverage, raw_tables.MODEL_COVERAGE),
        models=models,
        endpoints=endpoints,
        providers=providers,
        quarantine=frame_of(quarantine, raw_tables.QUARANTINE),
        flags=frame_of(flags, raw_tables.FLAGS),
    )


def _take_models(chosen: ChosenAnswers, intake: Intake, keys: UnknownKeys) -> None:
    for page in chosen.model_pages.values():
        keys.count_envelope("models_answer", page.payload)
        for record in page.payload["data"]:
            intake.take(record, page.arrived_at_utc, read_model, usable_model_id(record))


def _take_providers(chosen: ChosenAnswers, intake: Intake, keys: UnknownKeys) -> None:
    if chosen.providers is not None:
        keys.count_envelope("providers_answer", chosen.providers.payload)
        for record in chosen.providers.payload["data"]:
            intake.take(record, chosen.providers.arrived_at_utc, read_provider)


def _take_endpoints(
    chosen: ChosenAnswers, model_id: str, intake: Intake, keys: UnknownKeys
) -> None:
    answer = chosen.endpoints[model_id]
    keys.count_envelope("endpoints_answer", answer.payload)
    rows = []
    for position, record in enumerate(answer.payload["data"]["endpoints"], start=1):
        read = partial(read_endpoint, model_id=model_id, list_position=position)
        row = intake.take(record, answer.arrived_at_utc, read, model_id)
        if row is not None:
            rows.append(row)
    number_twins(rows)
