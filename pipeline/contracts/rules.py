"""Rules, and how a frame is held against them: hard ones keep a row out, soft ones flag it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import polars as pl

from pipeline.raw_tables import ColumnTypes

if TYPE_CHECKING:
    import pandera.polars as pa

Row = Mapping[str, Any]


class ContractError(Exception):
    """A frame has not the columns of its table: a fault of ours, not of the market."""


@dataclass(frozen=True)
class Rule:
    """One statement about a row; null counts as kept, ``explain`` gives the values."""

    name: str
    is_broken: pl.Expr
    explain: Callable[[Row], str]


@dataclass(frozen=True)
class Finding:
    """One row that broke one rule; ``position`` counts from 0 in the frame that was checked."""

    position: int
    rule: str
    detail: str


@dataclass(frozen=True)
class Verdict:
    """What a contract says of a frame.

    ``accepted`` has the sound rows in their order; ``refused`` one finding per refused row (first
    broken rule, all reasons); ``flags`` one finding per accepted row and soft rule.
    """

    accepted: pl.DataFrame
    refused: list[Finding]
    flags: list[Finding]


class Contract:
    """The columns of one raw table with their types, its hard rules and its soft ones.

    ``schema`` is the pandera form of columns and hard rules.
    """

    def __init__(self, columns: ColumnTypes, *, hard: Iterable[Rule], soft: Iterable[Rule]) -> None:
        self.columns = columns
        self.hard = {rule.name: rule for rule in hard}
        self.soft = tuple(soft)
        self._types = pl.Schema(columns)
        self._is_refused = pl.any_horizontal(_breaks(rule) for rule in self.hard.values())

    @cached_property
    def schema(self) -> pa.DataFrameSchema:
        """The pandera schema; validate collected frames only, a lazy one passes unseen."""
        # Imported here because it takes a second, and a sweep without a fault never needs it.
        import pandera.polars as pa  # noqa: PLC0415

        def check_of(rule: Rule) -> pa.Check:
            return pa.Check(lambda data: data.lazyframe.select(~_breaks(rule)), name=rule.name)

        # Nullable throughout: where null is a fault, a rule says so. pandera's own null check
        # costs two milliseconds a column, more than all else together.
        return pa.DataFrameSchema(
            {name: pa.Column(dtype, nullable=True) for name, dtype in self.columns.items()},
            checks=[check_of(rule) for rule in self.hard.values()],
            strict=True,
        )

    def enforce(self, frame: pl.DataFrame, *, also: Iterable[Rule] = ()) -> Verdict:
        """Part ``frame`` into sound and refused rows and flag the surprising ones.

        ``also`` adds soft rules that depend on other tables. Raises ``ContractError`` when
        columns or types are not those of the table.
        """
        refused = self._refused(frame)
        positions = {finding.position for finding in refused}
        flags = [
            finding
            for finding in _findings(frame, (*self.soft, *also))
            if finding.position not in positions
        ]
        accepted = frame
        if positions:
            kept = [position not in positions for position in range(frame.height)]
            accepted = frame.filter(pl.Series(kept, dtype=pl.Boolean))
        return Verdict(accepted, refused, flags)

    def _refused(self, frame: pl.DataFrame) -> list[Finding]:
        # All hard rules in one expression first: asked rule by rule, pandera takes 40 ms to say
        # that nothing is wrong.
        if frame.schema == self._types and not frame.select(self._is_refused.any()).item():
            return []
        broken: dict[int, list[Rule]] = {}
        for found, column, check, position in self._failure_cases(frame):
            if position is None:
                raise ContractError(f"{check}: {column or ''} {found}")
            broken.setdefault(position, []).append(self.hard[check])
        return [
            Finding(position, rules[0].name, _reasons(rules, frame.row(position, named=True)))
            for position, rules in sorted(broken.items())
        ]

    def _failure_cases(self, frame: pl.DataFrame) -> list[tuple[str, str | None, str, int | None]]:
        from pandera.errors import SchemaErrors  # noqa: PLC0415

        try:
            self.schema.validate(frame, lazy=True)
        except SchemaErrors as error:
            cases: pl.DataFrame = error.failure_cases
            return cases.select("failure_case", "column", "check", "index").rows()
        return []


def _breaks(rule: Rule) -> pl.Expr:
    return rule.is_broken.fill_null(False).alias(rule.name)


def _reasons(rules: list[Rule], row: Row) -> str:
    return "; ".join(rule.explain(row) for rule in rules)


def _findings(frame: pl.DataFrame, rules: tuple[Rule, ...]) -> list[Finding]:
    broken = frame.select(_breaks(rule) for rule in rules)
    return [
        Finding(position, rule.name, rule.explain(frame.row(position, named=True)))
        for rule in rules
        for position in broken[rule.name].arg_true()
    ]
