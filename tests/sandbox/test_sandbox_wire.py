"""Slow answers, watched piece by piece without waiting for a clock."""

from __future__ import annotations

import socket
from collections.abc import Iterator

import pytest

from pipeline.sandbox.api import Reply
from pipeline.sandbox.faults import Fault
from pipeline.sandbox.wire import send

REPLY = Reply(200, {"data": list(range(100))})


@pytest.fixture
def ends() -> Iterator[tuple[socket.socket, socket.socket]]:
    server, client = socket.socketpair()
    client.setblocking(False)
    with server, client:
        yield server, client


def received(client: socket.socket) -> bytes:
    try:
        return client.recv(1 << 20)
    except BlockingIOError:
        return b""


def pieces_of(ends: tuple[socket.socket, socket.socket], fault: Fault) -> list[bytes]:
    """Return what the client has got at each pause, and at the end."""
    server, client = ends
    pieces: list[bytes] = []
    waits: list[float] = []

    def pause(seconds: float) -> None:
        waits.append(seconds)
        pieces.append(received(client))

    assert send(server, REPLY, {"X-Kind": "test"}, fault, pause)
    assert sum(waits) == pytest.approx(fault.amount, rel=0.2)
    return [*pieces, received(client)]


def test_slow_headers_come_in_pieces_and_then_the_body_at_once(
    ends: tuple[socket.socket, socket.socket],
) -> None:
    *head, last = pieces_of(ends, Fault("slow_headers", value=8))
    assert len(head) >= 15
    assert all(head)
    assert b"".join(head).endswith(b"\r\n\r\n")
    assert b"".join(head).startswith(b"HTTP/1.1 200 OK\r\nDate: ")
    assert last == REPLY.body()


def test_a_slow_body_comes_in_pieces_after_the_headers(
    ends: tuple[socket.socket, socket.socket],
) -> None:
    first, *rest = pieces_of(ends, Fault("slow_body", value=8))
    head, _, start = first.partition(b"\r\n\r\n")
    assert f"Content-Length: {len(REPLY.body())}".encode() in head
    assert b"X-Kind: test" in head
    assert len([piece for piece in rest if piece]) >= 15
    assert start + b"".join(rest) == REPLY.body()


def test_an_answer_without_a_fault_comes_in_one_piece(
    ends: tuple[socket.socket, socket.socket],
) -> None:
    server, client = ends
    assert send(server, REPLY, {}, None, lambda seconds: pytest.fail("paused"))
    assert received(client).endswith(b"\r\n\r\n" + REPLY.body())
