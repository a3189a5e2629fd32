"""One asset per SQL model: its description, columns and dependencies are those of the file."""

from collections.abc import Sequence

import dagster as dg

from pipeline.assets.days import ONE_RUN
from pipeline.assets.failing import failing_clearly, log_one_line
from pipeline.assets.market import market
from pipeline.assets.model_cards import model_cards
from pipeline.assets.probe_samples import probe_samples
from pipeline.building import build
from pipeline.measuring import while_not_measuring
from pipeline.settings import Settings
from pipeline.sql_models import SqlModel
from pipeline.warehouse import CARD_TABLES, PROBE_TABLES, open_warehouse


def sql_assets(models: Sequence[SqlModel]) -> list[dg.AssetsDefinition]:
    """Return an asset for each of ``models``, which are all models in order."""
    return [_asset(model, models) for model in models]


def asset_key(qualified_name: str) -> dg.AssetKey:
    """Return the asset that makes a table: raw ones come with the market, cards or probes."""
    schema, _, name = qualified_name.partition(".")
    if schema != "raw":
        return dg.AssetKey([schema, name])
    if name in CARD_TABLES:
        return model_cards.key
    return probe_samples.key if name in PROBE_TABLES else market.key


def _asset(model: SqlModel, models: Sequence[SqlModel]) -> dg.AssetsDefinition:
    own_key = asset_key(model.qualified_name)

    @dg.asset(
        key=own_key,
        deps=sorted({asset_key(name) for name in model.references} - {own_key}),
        description=_description(model),
        metadata={"dagster/column_schema": _columns(model), "sql": _sql(model)},
        code_version=model.fingerprint,
        # Not partitioned: a build sees for itself which sweeps it has not seen. The policy lets
        # a range of days and the models after them share one run.
        backfill_policy=ONE_RUN,
        group_name=model.schema,
        kinds={"sql", "duckdb"},
        hooks={log_one_line},
    )
    def build_sql_model(settings: dg.ResourceParam[Settings]) -> dg.MaterializeResult[None]:
        with (
            failing_clearly(),
            while_not_measuring(settings),
            open_warehouse(settings) as warehouse,
        ):
            result = build(warehouse.database, model, models)
        metadata: dict[str, dg.MetadataValue | int | float] = {
            "steps_computed": result.steps,
            "seconds": round(result.seconds, 3),
        }
        if result.rows is not None:
            metadata["dagster/row_count"] = result.rows
        return dg.MaterializeResult(metadata=metadata)

    return build_sql_model


def _description(model: SqlModel) -> str:
    return (
        f"{model.title}\n\n"
        f"- grain: {model.grain}\n- key: {', '.join(model.key)}\n"
        f"- units: {model.units}\n- materialized: {model.materialized}"
    )


def _sql(model: SqlModel) -> dg.MarkdownMetadataValue:
    return dg.MetadataValue.md(f"```sql\n{model.sql}\n```")


def _columns(model: SqlModel) -> dg.TableSchema:
    return dg.TableSchema(
        [
            dg.TableColumn(
                column.name,
                column.type,
                description=column.description,
                constraints=dg.TableColumnConstraints(nullable=not column.is_not_null),
            )
            for column in model.columns
        ]
    )
