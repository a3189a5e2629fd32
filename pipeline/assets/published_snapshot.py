"""The asset at the end: the snapshot that the app and all downloads read."""

import time
from collections.abc import Sequence

import dagster as dg

from pipeline import steps
from pipeline.assets.days import ONE_RUN
from pipeline.assets.failing import failing_clearly, log_one_line
from pipeline.assets.sql_assets import asset_key
from pipeline.measuring import while_not_measuring
from pipeline.settings import Settings
from pipeline.sql_models import SqlModel


def published_snapshot_asset(models: Sequence[SqlModel]) -> dg.AssetsDefinition:
    """Return the asset that publishes all marts among ``models``."""
    marts = [asset_key(model.qualified_name) for model in models if model.schema == "marts"]

    @dg.asset(
        deps=marts,
        backfill_policy=ONE_RUN,
        group_name="publication",
        kinds={"parquet", "csv", "json"},
        hooks={log_one_line},
    )
    def published_snapshot(
        settings: dg.ResourceParam[Settings], clock: dg.ResourceParam[steps.Clock]
    ) -> dg.MaterializeResult[None]:
        """Immutable files of all marts, made visible by one atomic rename.

        Readers see the former snapshot or this one, never a mix. All marts are of one state of
        the warehouse: a sweep that another run brought in meanwhile is built first.
        """
        started = time.perf_counter()
        with failing_clearly(), while_not_measuring(settings):
            snapshot = steps.publish(settings, models, clock())
        return dg.MaterializeResult(
            metadata={
                "snapshot_id": snapshot.snapshot_id,
                "folder": dg.MetadataValue.path(str(snapshot.path)),
                "seconds": round(time.perf_counter() - started, 1),
            }
        )

    return published_snapshot
