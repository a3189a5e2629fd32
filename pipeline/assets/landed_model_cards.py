"""The asset of model cards: raw answers of the hub of open weights, one folder a pull."""

import time

import dagster as dg

from pipeline import fact_steps
from pipeline.assets.days import ONE_RUN
from pipeline.assets.failing import failing_clearly, log_one_line
from pipeline.assets.landed_sweep import landed_sweep
from pipeline.measuring import while_not_measuring
from pipeline.progress import Progress
from pipeline.settings import Settings
from pipeline.steps import Clock

SHOWN_FAILURES = 50


@dg.asset(
    deps=[landed_sweep],
    backfill_policy=ONE_RUN,
    group_name="sources",
    kinds={"python"},
    hooks={log_one_line},
)
def landed_model_cards(
    context: dg.AssetExecutionContext,
    settings: dg.ResourceParam[Settings],
    clock: dg.ResourceParam[Clock],
) -> dg.MaterializeResult[None]:
    """Cards of the listed models with open weights, every answer kept byte for byte.

    Asked gently, each model once a week: what it weighs, under which licence, how it is built. A
    model that is gated or absent is no failure. When the hub cannot be reached, the schedule asks
    again an hour later.
    """
    started = time.perf_counter()
    with failing_clearly(), while_not_measuring(settings):
        landed = fact_steps.land_due_cards(settings, clock, Progress("model cards"))
    if landed is None:
        context.log.info("no card is due")
        return dg.MaterializeResult(
            metadata={"card_answers": 0, "card_failures": 0, "problems": []}
        )
    manifest = landed.manifest
    return dg.MaterializeResult(
        metadata={
            "pull_id": manifest.sweep_id,
            "card_answers": manifest.answers,
            "card_failures": len(manifest.failures),
            "seconds": round(time.perf_counter() - started, 1),
            "folder": dg.MetadataValue.path(str(landed.path)),
            "not_had": [
                f"{failure.subject}: {failure.reason}"
                for failure in manifest.failures[:SHOWN_FAILURES]
            ],
            "problems": [],
        }
    )
