"""The result of an asset check, with the records that it is about as a table."""

from collections.abc import Sequence
from typing import Any

import dagster as dg

SHOWN_CASES = 100

WARN = dg.AssetCheckSeverity.WARN
ERROR = dg.AssetCheckSeverity.ERROR


def check_result(
    name: str,
    is_passed: bool,
    severity: dg.AssetCheckSeverity,
    description: str,
    cases: Sequence[dict[str, Any]] = (),
    *,
    asset_key: dg.AssetKey,
    **numbers: float,
) -> dg.AssetCheckResult:
    """Return the result of check ``name``; ``cases`` have the same keys."""
    metadata: dict[str, Any] = dict(numbers)
    if cases:
        metadata["cases"] = dg.MetadataValue.table(
            [
                dg.TableRecord({key: str(value) for key, value in case.items()})
                for case in cases[:SHOWN_CASES]
            ],
            dg.TableSchema([dg.TableColumn(column, "string") for column in cases[0]]),
        )
    return dg.AssetCheckResult(
        check_name=name,
        asset_key=asset_key,
        passed=is_passed,
        severity=severity,
        description=description,
        metadata=metadata,
    )
