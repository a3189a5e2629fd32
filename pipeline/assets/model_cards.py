"""The asset of facts about models: landed cards and what is kept by hand, in the warehouse."""

import dagster as dg

from pipeline import fact_steps
from pipeline.assets.days import ONE_RUN
from pipeline.assets.failing import log_one_line
from pipeline.assets.landed_model_cards import landed_model_cards
from pipeline.assets.loading import loaded
from pipeline.settings import Settings


@dg.asset(
    deps=[landed_model_cards],
    backfill_policy=ONE_RUN,
    group_name="warehouse",
    kinds={"python", "duckdb", "pandera"},
    hooks={log_one_line},
)
def model_cards(
    context: dg.AssetExecutionContext, settings: dg.ResourceParam[Settings]
) -> dg.MaterializeResult[None]:
    """Size, licence, architecture and files of models, read from every landed pull of cards.

    A pull becomes visible whole; loading it again changes nothing. Facts kept by hand take the
    place of their former version.
    """
    return loaded(
        context,
        settings,
        lambda: fact_steps.load_landed_cards(settings),
        lambda report: {
            "pulls_loaded": len(report.loaded),
            "pulls_in_already": report.known,
            "cards_loaded": report.rows,
        },
    )
