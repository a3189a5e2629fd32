"""The requests of one connection, one after the other, each answer played on time."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from time import monotonic_ns
from typing import Protocol

from pipeline.sandbox.api import error
from pipeline.sandbox.provider.answers import Answer, plain_answer
from pipeline.sandbox.provider.connection import Connection
from pipeline.sandbox.provider.events import Kind
from pipeline.sandbox.provider.http_requests import HttpError, HttpRequest, take_request
from pipeline.sandbox.provider.loop import Loop
from pipeline.sandbox.provider.truth import TrueRequest


class Desk(Protocol):
    """Who decides what requests get."""

    def answer(self, request: HttpRequest, connection: Connection, nth: int) -> Answer:
        """Return the answer to the ``nth`` request of ``connection``."""

    def ended(self, record: TrueRequest) -> None:
        """Take back the record of an answer that is over."""


class Session:
    """Serves a connection until it ends."""

    def __init__(self, loop: Loop, desk: Desk, connection: Connection) -> None:
        self._loop = loop
        self._desk = desk
        self._connection = connection
        self._nth = 0
        self._answer: Answer | None = None
        self._writes: list[tuple[int, bytes, tuple[Kind, ...]]] = []
        connection.on_data = self._take_request
        connection.on_gone = self._gone

    def _take_request(self) -> None:
        """Begin the next answer, if its request is there and the last one is over."""
        if self._answer is not None or self._connection.is_closed:
            return
        try:
            request = take_request(self._connection.received)
        except HttpError as problem:
            # Where the next request begins is not known any more.
            self._connection.received.clear()
            self._begin(replace(plain_answer(error(400, str(problem))), closes=True))
            return
        if request is not None:
            self._nth += 1
            self._begin(self._desk.answer(request, self._connection, self._nth))

    def _begin(self, answer: Answer) -> None:
        arrived_ns, sealed = self._connection.arrived_ns, self._connection.sealed
        self._answer = answer
        # Sealed beforehand and in reverse order, so that a write costs as little as can be.
        self._writes = [
            (arrived_ns + int(step.at_ms * 1_000_000), sealed(step.data), step.kinds)
            for step in answer.steps
        ][::-1]
        if self._writes:
            self._loop.at(self._writes[-1][0], self._write)
        else:
            self._over()

    def _write(self) -> None:
        if self._answer is None:
            return  # the client has left meanwhile
        record = self._answer.record
        due_ns, data, kinds = self._writes.pop()
        sent_ns = self._connection.send(data)
        if self._connection.is_closed:
            return  # and so nothing was sent
        if record is not None:
            for kind in kinds:
                record.events.append((kind, sent_ns))
        if self._writes:
            # When late, at most at twice the pace: nobody could tell the chunks of a burst apart.
            next_ns = self._writes[-1][0]
            self._loop.at(max(next_ns, sent_ns + (next_ns - due_ns) // 2), self._write)
        else:
            self._over()

    def _over(self) -> None:
        answer = self._answer
        assert answer is not None  # noqa: S101
        self._close_record(is_whole=answer.ending == "whole")
        if answer.ending == "reset":
            self._connection.reset()
        elif answer.ending == "cut":
            self._connection.end(is_sound=False)
        elif answer.closes:
            self._connection.end()
        else:
            if answer.idle_close_ms is not None:
                due_ns = monotonic_ns() + int(answer.idle_close_ms * 1_000_000)
                self._loop.at(due_ns, partial(self._end_if_idle, self._nth))
            self._take_request()

    def _end_if_idle(self, nth: int) -> None:
        if self._answer is None and self._nth == nth:
            self._connection.end()

    def _gone(self) -> None:
        self._writes.clear()
        if self._answer is not None:
            self._close_record(is_whole=False)

    def _close_record(self, *, is_whole: bool) -> None:
        record = self._answer.record if self._answer else None
        self._answer = None
        if record is not None:
            record.closed_ns, record.is_whole = monotonic_ns(), is_whole
            self._desk.ended(record)
