"""Fault switches: which requests go wrong, and how; deterministic for a seed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field, fields
from fnmatch import fnmatchcase
from threading import Lock
from typing import Any

from pipeline.sandbox.dice import Dice


class UnknownFaultError(ValueError):
    """A fault switch cannot be set as asked. One line: what is wrong and what is known."""


@dataclass(frozen=True)
class Kind:
    """A kind of fault: what it does, and what its ``value`` means when it has one."""

    does: str
    default: float | None = None


KINDS = {
    "latency": Kind("waits value ms before the answer", 100),
    "slow_headers": Kind("spreads the headers over value s", 5),
    "slow_body": Kind("spreads the body over value s", 5),
    "rate_limited": Kind("429 with Retry-After of value s", 1),
    "rate_limited_date": Kind("429 with Retry-After as HTTP date, value s from now", 2),
    "http_403": Kind("403 with an HTML page"),
    "http_500": Kind("500 with an HTML page"),
    "http_502": Kind("502 with an HTML page"),
    "http_503": Kind("503 with an HTML page"),
    "http_504": Kind("504 with an HTML page"),
    "http_524": Kind("524 with an HTML page"),
    "html_200": Kind("200 with an HTML page"),
    "not_found": Kind("404 with an error in JSON"),
    "error_200": Kind("200 with an error in JSON"),
    "reset": Kind("resets the connection instead of an answer"),
    "truncated": Kind("closes after the share value of the body, Content-Length says all", 0.5),
    "half_json": Kind("sends half of the JSON as if it were all"),
    "empty_body": Kind("200 with no byte of body"),
    "invalid_utf8": Kind("breaks one character of the body"),
    "huge_body": Kind("sends value MiB of valid JSON, chunked", 80),
    "zip_bomb": Kind("sends value MiB of valid JSON as a small gzip", 80),
    "wrong_id": Kind("answers for another model"),
    "empty_endpoints": Kind("lists no rows"),
    "unknown_keys": Kind("adds keys that nobody knows"),
    "missing_key": Kind("leaves out pricing (or slug) of the first row"),
    "type_change": Kind("changes types in the first row"),
    "negative_price": Kind("first row: negative prompt price"),
    "absurd_price": Kind("first row: prompt price times value", 1_000_000),
    "nan_price": Kind("first row: prompt price NaN"),
}


@dataclass(frozen=True)
class Fault:
    """One switch.

    ``path`` is a shell pattern on the path below the base URL (``/models/*/endpoints``), ``first``
    limits the fault to the first n matching requests of each path, ``probability`` is drawn per
    request from the plan's seed, ``value`` means what ``KINDS`` says.
    """

    name: str
    path: str = "*"
    probability: float = 1.0
    first: int | None = None
    value: float | None = None

    def __post_init__(self) -> None:
        if self.name not in KINDS:
            known = ", ".join(KINDS)
            raise UnknownFaultError(f"no fault is called {self.name!r}; known: {known}")
        if not 0 <= self.probability <= 1:
            raise UnknownFaultError(f"{self.name}: probability {self.probability} is not in 0..1")

    @property
    def amount(self) -> float:
        """The value, or the default of the kind."""
        default = KINDS[self.name].default or 0
        return default if self.value is None else self.value

    @classmethod
    def from_json(cls, record: object) -> Fault:
        """Read a switch as the control endpoint takes it; raises ``UnknownFaultError``."""
        names = [item.name for item in fields(cls)]
        if not isinstance(record, dict) or not {"name"} <= record.keys() <= set(names):
            raise UnknownFaultError(f"a fault is an object with name and any of {names[1:]}")
        values: dict[str, Any] = dict(record)
        numbers = (values.get("probability", 1), values.get("first"), values.get("value"))
        if any(isinstance(n, bool) or not isinstance(n, int | float | None) for n in numbers):
            raise UnknownFaultError("probability, first and value of a fault are numbers")
        if not isinstance(values["name"], str) or not isinstance(values.get("path", "*"), str):
            raise UnknownFaultError("name and path of a fault are texts")
        return cls(**values)

    @classmethod
    def from_text(cls, text: str) -> Fault:
        """Read ``NAME[=VALUE][,path=PATTERN][,probability=P][,first=N]``."""
        head, *options = text.split(",")
        name, _, value = head.partition("=")
        record: dict[str, Any] = {"name": name} | ({"value": value} if value else {})
        record |= {key: item for key, _, item in (option.partition("=") for option in options)}
        try:
            for key, convert in (("value", float), ("probability", float), ("first", int)):
                if key in record:
                    record[key] = convert(record[key])
        except ValueError:
            raise UnknownFaultError(f"{text!r}: value, probability, first are numbers") from None
        return cls.from_json(record)


@dataclass
class FaultPlan:
    """The switches of a server. Thread-safe; the order of threads does not change the draws."""

    seed: int = 0
    _faults: tuple[Fault, ...] = ()
    _seen: Counter[tuple[int, str]] = field(default_factory=Counter)
    _lock: Lock = field(default_factory=Lock)

    def set(self, faults: Iterable[Fault]) -> None:
        """Put these switches in place of the old ones and count from the start."""
        with self._lock:
            self._faults = tuple(faults)
            self._seen.clear()

    def switches(self) -> tuple[Fault, ...]:
        """Return the switches that are set."""
        with self._lock:
            return self._faults

    def pick(self, path: str) -> list[Fault]:
        """Return what goes wrong with the next request for ``path``."""
        struck = []
        with self._lock:
            for number, fault in enumerate(self._faults):
                if not fnmatchcase(path, fault.path):
                    continue
                self._seen[number, path] += 1
                turn = self._seen[number, path]
                if fault.first is not None and turn > fault.first:
                    continue
                if Dice(self.seed).unit(number, path, turn) < fault.probability:
                    struck.append(fault)
        return struck
