"""What requests cost, before and after, and the ledger of what was spent; all in exact decimals."""

from __future__ import annotations

import fcntl
import json
import logging
import os
from datetime import UTC, date, datetime
from decimal import Decimal, InvalidOperation
from pathlib import Path

from pipeline.probes.config import Price
from pipeline.probes.prompts import Prompt
from pipeline.probes.sample import Sample

log = logging.getLogger("tokentape")

_PER_MILLION = Decimal("0.000001")


def estimate(prompt: Prompt, price: Price) -> Decimal:
    """Return the most USD that one request for ``prompt`` costs, by and large."""
    return _usd(price, prompt.estimated_prompt_tokens, 0, prompt.max_tokens)


def cost_of(sample: Sample, price: Price) -> Decimal | None:
    """Return the USD that ``sample`` costs by its token counts; None when they are not stated.

    Cached tokens cost the cache price where one is stated. Reasoning tokens are in the completion.
    """
    if sample.prompt_tokens is None or sample.completion_tokens is None:
        return None
    cached = min(sample.cached_tokens or 0, sample.prompt_tokens)
    return _usd(price, sample.prompt_tokens, cached, sample.completion_tokens)


def _usd(price: Price, prompt_tokens: int, cached: int, completion_tokens: int) -> Decimal:
    cache_price = price.cache_read_usd_per_mtok
    if cache_price is None:
        cache_price = price.input_usd_per_mtok
    return _PER_MILLION * (
        (prompt_tokens - cached) * price.input_usd_per_mtok
        + cached * cache_price
        + completion_tokens * price.output_usd_per_mtok
    )


class SpendLedger:
    """Every amount spent, one JSON line each, for any number of processes at a time.

    A line that a dying machine left torn is left out and reported in the log.
    """

    def __init__(self, path: Path) -> None:
        self._path = path

    def add(self, run_id: str, at: datetime, usd: Decimal) -> None:
        """Note that ``usd`` was spent; it is on disk when this returns."""
        line = {"at_utc": at.astimezone(UTC).isoformat(), "run_id": run_id, "usd": str(usd)}
        self._path.parent.mkdir(parents=True, exist_ok=True)
        with self._path.open("ab+") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            end = file.seek(0, os.SEEK_END)
            if end and os.pread(file.fileno(), 1, end - 1) != b"\n":
                file.write(b"\n")
            file.write(json.dumps(line).encode() + b"\n")
            file.flush()
            os.fsync(file.fileno())

    def spent_on(self, day: date) -> Decimal:
        """Return the USD spent on ``day`` (UTC)."""
        try:
            with self._path.open("rb") as file:
                fcntl.flock(file, fcntl.LOCK_SH)
                lines = file.read().splitlines()
        except FileNotFoundError:
            return Decimal(0)
        # Every batch asks, and the ledger holds years: other days' whole lines are passed over.
        of_day = day.isoformat().encode()
        return sum(
            (
                self._amount(number, line, day)
                for number, line in enumerate(lines, 1)
                if of_day in line or not line.endswith(b"}")
            ),
            Decimal(0),
        )

    def _amount(self, number: int, line: bytes, day: date) -> Decimal:
        try:
            entry = json.loads(line)
            spent_on, usd = datetime.fromisoformat(entry["at_utc"]), Decimal(entry["usd"])
        except (ValueError, KeyError, TypeError, InvalidOperation):
            log.warning("%s: line %d is torn and left out", self._path, number)
            return Decimal(0)
        return usd if spent_on.date() == day else Decimal(0)
