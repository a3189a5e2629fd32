"""The sandbox provider over real sockets: what arrives, what its log says, how it ends."""

from __future__ import annotations

import json
import socket
import struct
import time
from collections.abc import Iterator
from contextlib import closing
from itertools import pairwise
from typing import Any
from urllib.parse import quote, urlsplit

import pytest
import requests

from pipeline.sandbox.provider.process import ProviderError, ProviderProcess
from pipeline.sandbox.provider.script import Script

QUICK = Script(ttft_ms=(5, 5), gap_ms=1, jitter=0, tokens=4)


@pytest.fixture(scope="module")
def running() -> Iterator[ProviderProcess]:
    with ProviderProcess() as started:
        yield started


@pytest.fixture(scope="module")
def over_tls() -> Iterator[ProviderProcess]:
    with ProviderProcess(QUICK, is_tls=True) as started:
        yield started


@pytest.fixture
def provider(running: ProviderProcess) -> ProviderProcess:
    running.set_script(QUICK)
    running.truth()
    return running


def play(provider: ProviderProcess, *quirks: str, **changes: Any) -> None:
    provider.set_script(QUICK.model_copy(update={"quirks": quirks, **changes}))


def body(**more: Any) -> dict[str, Any]:
    messages = [{"role": "user", "content": "[0123456789ab] Say something."}]
    return {"model": "m", "stream": True, "messages": messages, **more}


def ask(
    provider: ProviderProcess,
    /,
    session: Any = requests,
    headers: dict[str, str] | None = None,
    query: str = "",
    **more: Any,
) -> requests.Response:
    verify = True if provider.ca_file is None else str(provider.ca_file)
    url = f"{provider.base_url}/chat/completions{query}"
    answer = session.post(url, json=body(**more), headers=headers, timeout=10, verify=verify)
    assert isinstance(answer, requests.Response)
    return answer


def connected(provider: ProviderProcess) -> closing[socket.socket]:
    address = urlsplit(provider.base_url)
    return closing(socket.create_connection((address.hostname, address.port or 0), timeout=10))


def raw_request(**more: Any) -> bytes:
    data = json.dumps(body(**more)).encode()
    return b"POST /v1/chat/completions HTTP/1.1\r\nContent-Length: %d\r\n\r\n%b" % (len(data), data)


def read_all(sock: socket.socket) -> bytes:
    data = b""
    while piece := sock.recv(65536):
        data += piece
    return data


def read_until(sock: socket.socket, end: bytes) -> bytes:
    data = b""
    while not data.endswith(end):
        piece = sock.recv(65536)
        assert piece
        data += piece
    return data


def test_the_log_says_what_was_sent_and_when(provider: ProviderProcess) -> None:
    before_ns = time.monotonic_ns()
    answer = ask(provider, stream_options={"include_usage": True})
    after_ns = time.monotonic_ns()
    [true] = provider.truth()
    first = json.loads(answer.text.splitlines()[0].removeprefix("data: "))
    assert true.generation_id == first["id"]
    assert [kind for kind, _ in true.events] == [
        *("head", "role", *["content"] * 4, "finish", "usage", "done"),
    ]
    sent = [sent_ns for _, sent_ns in true.events]
    times = [before_ns, true.arrived_ns, *sent, after_ns]
    assert times == sorted(times)
    assert true.closed_ns is not None
    assert true.closed_ns > sent[-1]
    assert true.token_ns == true.sent_ns("content")
    assert true.token_ns[0] - true.arrived_ns >= 5_000_000
    assert true.accepted_ns <= true.events[0][1]
    assert (true.status, true.is_whole, true.stamp_source) == (200, True, "kernel")
    assert provider.truth() == []


def test_the_log_says_what_was_asked_and_never_the_key(provider: ProviderProcess) -> None:
    headers = {"Authorization": "Bearer sk-secret", "Accept-Encoding": "identity"}
    ask(provider, headers=headers, max_tokens=2, provider={"only": ["groq"]})
    [true] = provider.truth()
    assert (true.model, true.pin, true.max_tokens) == ("m", "groq", 2)
    assert (true.has_key, true.accept_encoding) == (True, "identity")
    assert true.prompt_head == "[0123456789ab] Say somet"
    assert len(true.token_ns) == 2
    assert b"secret" not in true.to_line()


def test_a_connection_takes_one_request_after_the_other(provider: ProviderProcess) -> None:
    with requests.Session() as session:
        for _ in range(3):
            ask(provider, session)
    ask(provider)
    places = [(true.connection, true.nth) for true in provider.truth()]
    first = places[0][0]
    assert places[:3] == [(first, 1), (first, 2), (first, 3)]
    assert places[3][0] != first


def test_over_tls_a_request_arrives_when_its_own_bytes_do(over_tls: ProviderProcess) -> None:
    over_tls.truth()
    sent_ns = []
    with requests.Session() as session:
        for _ in range(2):
            sent_ns.append(time.monotonic_ns())
            assert ask(over_tls, session).text.endswith("data: [DONE]\n\n")
    new, reused = over_tls.truth()
    # The handshake comes after the connection was accepted, and the request after both.
    assert sent_ns[0] < new.accepted_ns < new.arrived_ns < new.events[0][1]
    assert sent_ns[1] < reused.arrived_ns < reused.events[0][1]
    assert [true.stamp_source for true in (new, reused)] == ["kernel", "kernel"]
    assert (new.nth, reused.nth) == (1, 2)


def test_only_who_trusts_its_authority_gets_through(over_tls: ProviderProcess) -> None:
    with pytest.raises(requests.exceptions.SSLError):
        requests.get(f"{over_tls.base_url}/models", timeout=10)
    with connected(over_tls) as sock:
        sock.sendall(b"GET / HTTP/1.1\r\n\r\n")
        read_all(sock)
    assert ask(over_tls).status_code == 200


def test_the_last_segment_of_a_request_is_its_arrival(provider: ProviderProcess) -> None:
    request = raw_request()
    with connected(provider) as sock:
        sock.sendall(request[:-1])
        # An answer on another connection shows that the first part has been read.
        ask(provider)
        last_ns = time.monotonic_ns()
        sock.sendall(request[-1:])
        read_until(sock, b"0\r\n\r\n")
    assert provider.truth()[-1].arrived_ns > last_ns


def test_a_stream_never_waits_for_another(provider: ProviderProcess) -> None:
    play(provider, "stall=30,first=1")
    with connected(provider) as stalled:
        stalled.sendall(raw_request())
        read_until(stalled, b"\n\n\r\n")
        assert ask(provider).text.endswith("data: [DONE]\n\n")
    whole, left = sorted(provider.truth(), key=lambda true: not true.is_whole)
    assert whole.is_whole
    assert not left.is_whole  # the client went away
    assert left.closed_ns is not None


def test_a_client_that_resets_harms_nobody(provider: ProviderProcess) -> None:
    play(provider, "padding=100000", gap_ms=0, tokens=50)
    with connected(provider) as sock:
        sock.sendall(raw_request())
        sock.recv(1000)
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    play(provider)
    assert ask(provider).status_code == 200
    assert sorted(true.is_whole for true in provider.truth()) == [False, True]


@pytest.mark.parametrize(
    ("quirk", "status", "said"),
    [
        ("status=402", 402, '"code":402'),
        ("status=529", 529, '"code":529'),
        ("html=520", 520, "<!DOCTYPE html>"),
        ("rate_limited=7", 429, '"code":429'),
    ],
)
def test_it_may_refuse(provider: ProviderProcess, quirk: str, status: int, said: str) -> None:
    play(provider, quirk)
    answer = ask(provider)
    assert answer.status_code == status
    assert said in answer.text
    assert answer.headers.get("Retry-After") == ("7" if status == 429 else None)
    [true] = provider.truth()
    assert answer.headers["X-Request-Seq"] == str(true.seq)
    assert (true.status, true.generation_id, true.token_ns) == (status, None, [])


def test_it_may_refuse_stream_options_only(provider: ProviderProcess) -> None:
    play(provider, "refuses_stream_options")
    assert ask(provider, stream_options={"include_usage": True}).status_code == 400
    assert ask(provider).status_code == 200


def test_above_its_rate_it_says_when_to_come_back(provider: ProviderProcess) -> None:
    play(provider, rate_limit_per_s=0.25)
    first, second = ask(provider), ask(provider)
    assert (first.status_code, second.status_code) == (200, 429)
    assert second.headers["Retry-After"] == "4"


def test_a_reset_is_a_reset_and_a_cut_is_an_end(provider: ProviderProcess) -> None:
    play(provider, "reset")
    with connected(provider) as sock:
        sock.sendall(raw_request())
        with pytest.raises(ConnectionResetError):
            read_all(sock)
    play(provider, "cut")
    with connected(provider) as sock:
        sock.sendall(raw_request())
        assert b'"chatcmpl-' in read_all(sock)
    for true in provider.truth():
        assert len(true.token_ns) == 2
        assert not true.is_whole


def test_no_answer_is_an_end_without_a_byte(provider: ProviderProcess) -> None:
    play(provider, "no_answer")
    with connected(provider) as sock:
        sock.sendall(raw_request())
        assert read_all(sock) == b""


def test_gzip_comes_where_it_is_taken_or_always(provider: ProviderProcess) -> None:
    plain = {"Accept-Encoding": "identity"}
    play(provider, "gzip")
    assert ask(provider).headers["Content-Encoding"] == "gzip"
    assert "Content-Encoding" not in ask(provider, headers=plain).headers
    play(provider, "gzip_always")
    answer = ask(provider, headers=plain)
    assert answer.headers["Content-Encoding"] == "gzip"
    assert answer.text.endswith("data: [DONE]\n\n")


def test_a_connection_may_end_with_the_body_or_soon_after(provider: ProviderProcess) -> None:
    for quirk in ("close_framing", "close_after", "idle_close=1"):
        play(provider, quirk)
        with connected(provider) as sock:
            sock.sendall(raw_request())
            answer = read_all(sock)  # until the server closes
        assert (b"chunked" in answer) == (quirk != "close_framing")
        assert b"data: [DONE]\n\n" in answer
    assert all(true.is_whole for true in provider.truth())


def test_a_slow_head_comes_in_pieces(provider: ProviderProcess) -> None:
    play(provider, "slow_headers=0.05")
    assert ask(provider).status_code == 200
    [true] = provider.truth()
    assert true.sent_ns("head")[0] - true.arrived_ns >= 40_000_000


def test_a_reader_that_does_not_read_gets_everything_in_the_end(provider: ProviderProcess) -> None:
    play(provider, "padding=200000", "close_framing", tokens=32, gap_ms=0)
    with connected(provider) as sock:
        sock.sendall(raw_request())
        ask(provider, query="?script=" + quote('{"tokens": 1}'))  # meanwhile
        answer = read_all(sock)
    assert answer.count(b"x" * 200_000) == 32
    assert answer.endswith(b"data: [DONE]\n\n")


def test_a_prompt_that_came_before_is_cached(provider: ProviderProcess) -> None:
    play(provider, cached_saving=0.9)
    messages = [{"role": "user", "content": "[nonce] " + "long ago " * 1000}]
    usage = {"include_usage": True}
    cached = []
    for _ in range(2):
        lines = ask(provider, messages=messages, stream_options=usage).text.splitlines()
        chunk = json.loads(lines[-4].removeprefix("data: "))
        cached.append(chunk["usage"]["prompt_tokens_details"]["cached_tokens"])
    assert cached == [0, 2176]  # 17 of 17.6 blocks of 128 tokens


def test_what_is_played_can_be_changed_and_asked_for(provider: ProviderProcess) -> None:
    root = provider.base_url.removesuffix("/v1")
    assert requests.get(f"{root}/sandbox/script", timeout=10).json()["tokens"] == 4
    provider.set_script(Script(ttft_ms=(0, 0), gap_ms=0, tokens=2))
    ask(provider)
    ask(provider, query="?script=" + quote('{"ttft_ms": [0, 0], "tokens": 3}'))
    assert [len(true.token_ns) for true in provider.truth()] == [2, 3]
    refused = requests.post(f"{root}/sandbox/script", data='{"tokens": "x"}', timeout=10)
    assert refused.status_code == 400
    assert refused.json()["error"]["message"].startswith("tokens: ")
    assert ask(provider, query="?script=%7B%22a%22%3A1%7D").status_code == 400


def test_what_it_does_not_understand_is_an_error(provider: ProviderProcess) -> None:
    root = provider.base_url.removesuffix("/v1")
    assert requests.get(f"{provider.base_url}/models", timeout=10).json()["object"] == "list"
    assert requests.get(f"{root}/nothing", timeout=10).status_code == 404
    assert requests.put(f"{root}/v1/models", timeout=10).status_code == 404
    assert ask(provider, stream=False).status_code == 400
    with connected(provider) as sock:
        sock.sendall(b"HELLO\r\n\r\n")
        assert read_all(sock).startswith(b"HTTP/1.1 400 ")


def test_it_ends_with_its_context() -> None:
    provider = ProviderProcess(QUICK)
    with provider:
        assert ask(provider).status_code == 200
    with pytest.raises(requests.exceptions.ConnectionError):
        ask(provider)


def test_a_port_that_is_taken_is_an_error(running: ProviderProcess) -> None:
    port = urlsplit(running.base_url).port or 0
    with pytest.raises(ProviderError, match="did not start"):
        ProviderProcess(port=port).__enter__()


def test_chunks_follow_each_other_in_the_order_of_the_script(provider: ProviderProcess) -> None:
    play(provider, "split=4", "comments=2", tokens=30, gap_ms=0)
    ask(provider)
    [true] = provider.truth()
    assert len(true.token_ns) == 30
    assert all(before < after for before, after in pairwise(true.token_ns))
