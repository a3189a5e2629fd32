"""Who was measured: the names and lines of targets in the tables and charts of performance."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from itertools import count
from typing import Any, NamedTuple

import polars as pl

from app.components.chart_lines import Line, line_at


class Who(NamedTuple):
    """A target as it was measured; two with equal fields are one line."""

    target: str
    provider_name: str | None
    tag: str | None
    region: str | None


# What is added to a name when it is not unique, least first.
_DETAILS: tuple[tuple[str, ...], ...] = (
    (),
    ("tag",),
    ("region",),
    ("target",),
    ("target", "region"),
    ("target", "tag", "region"),
)


def lines_of(summary: pl.DataFrame, positions: Mapping[str, int]) -> dict[Who, Line]:
    """Return the lines of the rows of ``marts.probe_summary`` of one model, by name.

    A target whose endpoint has a place among the lines of the price history (``positions``, by
    endpoint id) takes the same, so that it has the same colour; the others follow after those.
    """
    endpoints: dict[Who, str | None] = {}
    for row in summary.iter_rows(named=True):
        who = who_of(row)
        endpoints[who] = endpoints.get(who) or row["endpoint_id"]
    labels = _labels(list(endpoints))
    free = count(max(positions.values(), default=-1) + 1)
    taken: set[int] = set()
    lines = {}
    for who in sorted(labels, key=labels.__getitem__):
        position = positions.get(endpoints[who] or "")
        if position is None or position in taken:
            position = next(free)
        taken.add(position)
        lines[who] = line_at(labels[who], position)
    return lines


def who_of(row: Mapping[str, Any]) -> Who:
    """Return whose row of a mart of probes this is."""
    return Who(*(row[name] for name in Who._fields))


def labelled(rows: pl.DataFrame, lines: Mapping[Who, Line]) -> pl.DataFrame:
    """Add the column ``label`` to rows of a mart of probes; rows of no line are left out."""
    names = pl.DataFrame(
        [(*who, line.label) for who, line in lines.items()],
        schema=dict.fromkeys([*Who._fields, "label"], pl.String),
        orient="row",
    )
    return rows.join(names, on=list(Who._fields), nulls_equal=True, maintain_order="left")


def _labels(targets: Sequence[Who]) -> dict[Who, str]:
    """Name each by its provider, adding only what tells those of one provider apart."""
    of_names: dict[str, list[Who]] = defaultdict(list)
    for who in targets:
        of_names[who.provider_name or who.target].append(who)
    labels: dict[Who, str] = {}
    for name, members in of_names.items():
        for details in _DETAILS:
            named = {who: _label(name, who, details) for who in members}
            if len(set(named.values())) == len(members):
                break
        labels |= named
    return labels


def _label(name: str, who: Who, details: Sequence[str]) -> str:
    more = [getattr(who, detail) or f"no {detail}" for detail in details]
    return f"{name} ({', '.join(more)})" if more else name
