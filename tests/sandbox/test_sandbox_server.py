"""The sandbox over a real socket: contract, paging, clock, log, and a clean end."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from threading import Barrier
from typing import Any

import pytest
import requests

from pipeline.sandbox.market import Market
from pipeline.sandbox.server import SandboxServer

NOW = datetime(2026, 11, 30, 6, 17, tzinfo=UTC)
LLAMA = "meta-llama/llama-3.1-8b-instruct"


@pytest.fixture
def server() -> Iterator[SandboxServer]:
    with SandboxServer(Market(), now=lambda: NOW) as running:
        yield running


def get(url: str, **kwargs: Any) -> requests.Response:
    return requests.get(url, timeout=10, **kwargs)


def test_the_three_paths_answer_with_data(server: SandboxServer) -> None:
    models = get(f"{server.url}/models")
    assert models.status_code == 200
    assert models.headers["Content-Type"] == "application/json"
    assert models.headers["X-Tokentape-Sandbox"] == "demo"
    assert models.json()["data"] == Market().models(NOW)
    endpoints = get(f"{server.url}/models/{LLAMA}/endpoints").json()
    assert endpoints == {"data": Market().endpoints(LLAMA, NOW)}
    assert get(f"{server.url}/providers").json() == {"data": Market().providers(NOW)}


def test_a_variant_may_come_percent_encoded(server: SandboxServer) -> None:
    plain = get(f"{server.url}/models/openai/gpt-oss-20b:free/endpoints").json()
    encoded = get(f"{server.url}/models/openai/gpt-oss-20b%3Afree/endpoints").json()
    assert plain == encoded
    assert plain["data"]["id"] == "openai/gpt-oss-20b:free"


@pytest.mark.parametrize("path", ["/models/no/such/endpoints", "/models/x", "/nothing", "/"])
def test_what_is_not_there_is_a_404_with_an_error_object(server: SandboxServer, path: str) -> None:
    answer = get(f"{server.url}{path}")
    assert answer.status_code == 404
    assert answer.json()["error"]["code"] == 404
    assert answer.json()["error"]["message"]


def test_outside_of_the_base_path_there_is_nothing(server: SandboxServer) -> None:
    assert get(f"{server.root_url}/models").status_code == 404


def test_a_key_fills_in_latency_and_is_not_logged(server: SandboxServer) -> None:
    url = f"{server.url}/models/{LLAMA}/endpoints"
    without = get(url).json()["data"]["endpoints"]
    with_key = get(url, headers={"Authorization": "Bearer sk-or-v1-secret"}).json()["data"]
    assert all(row["latency_last_30m"] is None for row in without)
    assert all(row["latency_last_30m"]["p50"] > 0 for row in with_key["endpoints"])
    assert [entry.is_authenticated for entry in server.requests.entries] == [False, True]
    assert "secret" not in repr(server.requests.entries)


def test_without_paging_the_list_is_whole_and_says_so(server: SandboxServer) -> None:
    body = get(f"{server.url}/models").json()
    assert body["total_count"] == len(body["data"]) > 55
    assert body["links"] == {"next": None}


def test_pages_follow_each_other_to_the_whole_list(server: SandboxServer) -> None:
    whole = get(f"{server.url}/models").json()["data"]
    collected: list[dict[str, Any]] = []
    following: str | None = "/api/v1/models?limit=25"
    sizes = []
    while following:
        page = get(server.root_url + following).json()
        assert page["total_count"] == len(whole)
        sizes.append(len(page["data"]))
        collected += page["data"]
        following = page["links"]["next"]
    assert collected == whole
    assert sizes == [25, 25, len(whole) - 50]


def test_a_server_with_a_page_size_pages_without_being_asked() -> None:
    with SandboxServer(Market(), now=lambda: NOW, page_size=40) as server:
        first = get(f"{server.url}/models").json()
        second = get(server.root_url + first["links"]["next"]).json()
    assert len(first["data"]) == 40
    assert second["links"]["next"] is None
    assert len(second["data"]) == first["total_count"] - 40


@pytest.mark.parametrize("query", ["limit=0", "limit=1001", "offset=-1", "limit=ten"])
def test_a_page_that_cannot_be_is_a_400(server: SandboxServer, query: str) -> None:
    answer = get(f"{server.url}/models?{query}")
    assert answer.status_code == 400
    assert answer.json()["error"]["code"] == 400


def test_the_clock_can_be_set_by_method_and_over_http(server: SandboxServer) -> None:
    def tags() -> set[str]:
        data = get(f"{server.url}/models/{LLAMA}/endpoints").json()["data"]
        return {row["tag"] for row in data["endpoints"]}

    assert "together" not in tags()
    server.set_now(datetime(2026, 11, 20, tzinfo=UTC))
    assert "together" in tags()
    answer = requests.post(
        f"{server.root_url}/sandbox/clock", json={"now": "2026-08-01T06:17:00"}, timeout=10
    )
    assert answer.json() == {"now": "2026-08-01T06:17:00+00:00"}
    assert "wandb/bf16" not in tags()
    requests.post(f"{server.root_url}/sandbox/clock", json={"now": None}, timeout=10)
    assert server.now() == NOW


def test_a_clock_that_makes_no_sense_is_refused(server: SandboxServer) -> None:
    answer = requests.post(f"{server.root_url}/sandbox/clock", json={"now": "soon"}, timeout=10)
    assert answer.status_code == 400
    assert server.now() == NOW


def test_a_session_keeps_its_connection(server: SandboxServer) -> None:
    with requests.Session() as session:
        for _ in range(5):
            session.get(f"{server.url}/providers", timeout=10)
        session.get(f"{server.url}/models/no/such/endpoints", timeout=10)
    assert server.requests.connections == 1
    assert server.requests.paths == ["/providers"] * 5 + ["/models/no/such/endpoints"]
    assert server.requests.statuses == {200: 5, 404: 1}


def test_many_clients_are_served_at_once() -> None:
    clients = 64
    together = Barrier(clients)

    class Meeting(Market):
        """Answers about providers only when all clients have asked."""

        def providers(self, at: datetime) -> list[dict[str, Any]]:
            together.wait(timeout=30)
            return super().providers(at)

    with SandboxServer(Meeting(), now=lambda: NOW) as server:
        with ThreadPoolExecutor(clients) as pool:
            statuses = pool.map(
                lambda _: get(f"{server.url}/providers").status_code, range(clients)
            )
            assert set(statuses) == {200}
        assert server.requests.max_in_flight == clients
        server.requests.clear()
        assert (len(server.requests), server.requests.max_in_flight) == (0, 0)


def test_longer_bodies_come_compressed_when_both_sides_can() -> None:
    with SandboxServer(Market(), now=lambda: NOW, compress=True) as server:
        packed = get(f"{server.url}/models")
        bare = get(f"{server.url}/models", headers={"Accept-Encoding": "identity"})
    assert packed.headers["Content-Encoding"] == "gzip"
    assert "Content-Encoding" not in bare.headers
    assert packed.content == bare.content
    assert int(packed.headers["Content-Length"]) < len(packed.content) / 4


def test_closing_ends_idle_connections_and_threads() -> None:
    before = set(threading.enumerate())
    server = SandboxServer(Market(), now=lambda: NOW)
    with requests.Session() as session:
        with server:
            session.get(f"{server.url}/providers", timeout=10)
            assert set(threading.enumerate()) > before
        assert set(threading.enumerate()) == before
        with pytest.raises(requests.ConnectionError):
            session.get(f"{server.url}/providers", timeout=10)


def test_a_server_that_never_started_can_be_closed() -> None:
    SandboxServer(Market()).close()


def test_a_failing_source_costs_one_connection_and_is_logged(
    caplog: pytest.LogCaptureFixture,
) -> None:
    class Broken(Market):
        def providers(self, at: datetime) -> list[dict[str, Any]]:
            raise RuntimeError("out of providers")

    with SandboxServer(Broken(), now=lambda: NOW) as server:
        with pytest.raises(requests.ConnectionError):
            get(f"{server.url}/providers")
        assert get(f"{server.url}/models").status_code == 200
    assert "out of providers" in caplog.text
