"""Which months of a long history must be written, and which are as they were.

``uptime_history`` gets a row per endpoint and sweep, for ever. To look at all of them at each
publication would cost more every day, so the months are judged by ``sweep_log``, which has one
row a sweep: a month's fingerprint is a hash of its sweeps (id, landing checksum, counts and all
else that is logged of them) chained to the fingerprint of the month before. The chain starts with
the code version and the columns.

That is enough, because the rows of a sweep are made from what landed in that sweep and in
earlier ones, by the SQL of that code version. So a month whose own and earlier sweeps are the same
has the same rows, and is linked unread; a sweep that came in late, or new code, has its month and
all later ones written again.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

from pipeline.duck import Database
from pipeline.publishing.marts import Mart

MONTHLY_MART = "uptime_history"
RECENT_DAYS = 90


@dataclass(frozen=True)
class Month:
    """A month of history: ``name`` like 2026-11, and the state of what it is made from."""

    name: str
    source_fingerprint: str

    @property
    def path(self) -> str:
        """Return the place of its file below the snapshot."""
        return f"{MONTHLY_MART}/{self.name}.parquet"

    @property
    def where(self) -> str:
        """Return the condition for its rows, one that lets DuckDB skip other months unread."""
        first = f"date '{self.name}-01'"
        return f"partition_date >= {first} and partition_date < {first} + interval 1 month"


def months(database: Database, sweep_log: Mart, history: Mart, code_version: str) -> list[Month]:
    """Return the months in which there were sweeps, in order of time."""
    rows = database.rows(
        "select strftime(partition_date, '%Y-%m') as month, "
        "sha256(string_agg(to_json(sweep)::varchar, chr(10) order by started_at_utc, sweep_id)) "
        f"from {sweep_log.relation} as sweep group by month order by month"
    )
    previous = f"{code_version} {history.columns!r}"
    found = []
    for name, sweeps in rows:
        previous = hashlib.sha256(f"{previous} {name} {sweeps}".encode()).hexdigest()
        found.append(Month(name, previous))
    return found
