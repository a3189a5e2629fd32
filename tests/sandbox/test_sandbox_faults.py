"""Each fault switch, seen by a client on a real socket."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from decimal import Decimal
from email.utils import parsedate_to_datetime
from typing import Any

import pytest
import requests

from pipeline.sandbox.faults import KINDS, Fault, FaultPlan, UnknownFaultError
from pipeline.sandbox.market import Market
from pipeline.sandbox.server import SandboxServer

NOW = datetime(2026, 11, 30, 6, 17, tzinfo=UTC)
LLAMA = "/models/meta-llama/llama-3.1-8b-instruct/endpoints"


@pytest.fixture
def server() -> Iterator[SandboxServer]:
    with SandboxServer(Market(), now=lambda: NOW) as running:
        yield running


def get(server: SandboxServer, path: str = LLAMA) -> requests.Response:
    return requests.get(server.url + path, timeout=10)


def first_endpoint(answer: requests.Response) -> dict[str, Any]:
    row: dict[str, Any] = answer.json()["data"]["endpoints"][0]
    return row


@pytest.mark.parametrize("status", [403, 500, 502, 503, 504, 524])
def test_an_http_fault_sends_its_status_with_an_html_page(
    server: SandboxServer, status: int
) -> None:
    server.set_faults(Fault(f"http_{status}"))
    answer = get(server)
    assert answer.status_code == status
    assert answer.headers["Content-Type"].startswith("text/html")
    assert answer.text.startswith("<!DOCTYPE html>")


def test_html_with_200(server: SandboxServer) -> None:
    server.set_faults(Fault("html_200"))
    answer = get(server)
    assert (answer.status_code, answer.text[:15]) == (200, "<!DOCTYPE html>")


def test_429_names_seconds_or_a_date(server: SandboxServer) -> None:
    server.set_faults(Fault("rate_limited", value=7))
    seconds = get(server)
    assert (seconds.status_code, seconds.headers["Retry-After"]) == (429, "7")
    assert seconds.json()["error"]["code"] == 429
    server.set_faults(Fault("rate_limited_date", value=100))
    dated = get(server).headers
    wait = parsedate_to_datetime(dated["Retry-After"]) - parsedate_to_datetime(dated["Date"])
    assert 98 <= wait.total_seconds() <= 101


def test_errors_in_json(server: SandboxServer) -> None:
    server.set_faults(Fault("not_found"))
    assert get(server).status_code == 404
    server.set_faults(Fault("error_200"))
    answer = get(server)
    assert (answer.status_code, list(answer.json())) == (200, ["error"])


def test_a_reset_comes_instead_of_an_answer(server: SandboxServer) -> None:
    server.set_faults(Fault("reset"))
    with pytest.raises(requests.ConnectionError, match="reset"):
        get(server)
    server.set_faults()
    assert get(server).status_code == 200
    assert [entry.status for entry in server.requests.entries] == [0, 200]


def test_a_truncated_body_is_shorter_than_it_says(server: SandboxServer) -> None:
    whole = len(get(server).content)
    server.set_faults(Fault("truncated", value=0.25))
    with pytest.raises(requests.exceptions.ChunkedEncodingError, match="IncompleteRead"):
        get(server)
    answer = requests.get(server.url + LLAMA, timeout=10, stream=True)
    assert int(answer.headers["Content-Length"]) == whole
    assert len(answer.raw.read(whole // 4)) == whole // 4
    answer.close()


def test_half_of_the_json_and_no_body_at_all_look_complete(server: SandboxServer) -> None:
    server.set_faults(Fault("half_json"))
    half = get(server)
    assert half.status_code == 200
    with pytest.raises(requests.JSONDecodeError):
        half.json()
    server.set_faults(Fault("empty_body"))
    assert get(server).content == b""


def test_invalid_utf8_breaks_the_decoding(server: SandboxServer) -> None:
    server.set_faults(Fault("invalid_utf8"))
    for path in (LLAMA, "/models", "/providers"):
        with pytest.raises(UnicodeDecodeError):
            get(server, path).content.decode()


@pytest.mark.parametrize("name", ["huge_body", "zip_bomb"])
def test_a_huge_body_is_valid_json_of_the_size_asked(server: SandboxServer, name: str) -> None:
    sound = get(server).json()
    server.set_faults(Fault(name, value=3))
    answer = get(server)
    assert len(answer.content) > 3 * 2**20
    assert answer.json() == sound
    if name == "zip_bomb":
        assert int(answer.headers["Content-Length"]) < 100_000
    else:
        assert answer.headers["Transfer-Encoding"] == "chunked"


def test_closing_does_not_wait_for_a_slow_body() -> None:
    with SandboxServer(Market(), faults=[Fault("slow_body", value=3600)]) as server:
        answer = requests.get(server.url + LLAMA, timeout=10, stream=True)
        assert answer.status_code == 200
    answer.close()


def test_latencies_add_up_and_are_waited_before_the_answer(
    server: SandboxServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    waits: list[float] = []
    monkeypatch.setattr(server.stopping, "wait", waits.append)
    server.latency_ms = 50
    server.set_faults(Fault("latency", value=120), Fault("latency", value=80, path="/models/*"))
    assert get(server).status_code == get(server, "/models").status_code == 200
    assert waits == [0.25, 0.17]


def test_faults_of_content(server: SandboxServer) -> None:
    sound = get(server).json()["data"]

    server.set_faults(Fault("wrong_id"))
    assert get(server).json()["data"] == sound | {"id": "sandbox/another-model"}

    server.set_faults(Fault("empty_endpoints"))
    assert get(server).json()["data"] == sound | {"endpoints": []}

    server.set_faults(Fault("unknown_keys"))
    drifted = get(server).json()
    assert drifted["surprise"] == 1
    assert all(row.pop("surprise") for row in drifted["data"]["endpoints"])
    assert drifted["data"] == sound

    server.set_faults(Fault("missing_key"))
    assert "pricing" not in first_endpoint(get(server))

    server.set_faults(Fault("type_change"))
    assert first_endpoint(get(server))["context_length"] == "131072"

    server.set_faults(Fault("negative_price"))
    assert Decimal(first_endpoint(get(server))["pricing"]["prompt"]) < 0

    server.set_faults(Fault("absurd_price"))  # 0.00000002 a token, times a million
    assert first_endpoint(get(server))["pricing"]["prompt"] == "0.02"

    server.set_faults(Fault("nan_price"))
    assert first_endpoint(get(server))["pricing"]["prompt"] == "NaN"

    server.set_faults()
    assert get(server).json()["data"] == sound


def test_faults_of_content_change_the_other_lists_too(server: SandboxServer) -> None:
    server.set_faults(Fault("missing_key"))
    assert "pricing" not in get(server, "/models").json()["data"][0]
    assert "slug" not in get(server, "/providers").json()["data"][0]
    server.set_faults(Fault("empty_endpoints"))
    assert get(server, "/models").json()["data"] == []


@pytest.mark.parametrize("name", KINDS)
def test_no_fault_makes_the_server_itself_fail(
    server: SandboxServer, name: str, caplog: pytest.LogCaptureFixture
) -> None:
    server.set_faults(Fault(name, value=0.01))
    for path in ("/models", LLAMA, "/models/openrouter/auto/endpoints", "/providers", "/none"):
        try:
            get(server, path)
        except requests.RequestException:
            assert name in {"reset", "truncated"}
    assert len(server.requests) == 5
    assert not caplog.records


def test_a_fault_strikes_only_paths_of_its_pattern_and_the_first_times(
    server: SandboxServer,
) -> None:
    server.set_faults(Fault("http_503", path="/models/meta-llama/*/endpoints", first=2))
    statuses = [get(server).status_code for _ in range(3)]
    assert statuses == [503, 503, 200]
    other = "/models/meta-llama/llama-3.2-3b-instruct/endpoints"
    assert get(server, other).status_code == 503  # each path counts for itself
    assert get(server, "/models").status_code == 200


def test_a_probable_fault_strikes_the_same_requests_in_any_order() -> None:
    paths = [f"/models/a/m{number}/endpoints" for number in range(200)]

    def struck(order: list[str], seed: int = 4) -> set[str]:
        plan = FaultPlan(seed)
        plan.set([Fault("http_500", probability=0.3)])
        return {path for path in order if plan.pick(path)}

    assert struck(paths) == struck(paths[::-1])
    assert 40 < len(struck(paths)) < 80
    assert struck(paths) != struck(paths, seed=5)


def test_faults_can_be_switched_over_http(server: SandboxServer) -> None:
    control = f"{server.root_url}/sandbox/faults"
    switch = {"name": "http_502", "path": "/providers", "first": 1}
    assert requests.post(control, json={"faults": [switch]}, timeout=10).json() == {"faults": 1}
    assert requests.get(control, timeout=10).json() == {
        "faults": [switch | {"probability": 1.0, "value": None}]
    }
    assert [get(server, "/providers").status_code for _ in range(2)] == [502, 200]
    requests.post(control, json={"faults": []}, timeout=10)
    assert requests.get(control, timeout=10).json() == {"faults": []}


@pytest.mark.parametrize(
    "message",
    [
        {"faults": [{"name": "gremlins"}]},
        {"faults": [{"path": "/models"}]},
        {"faults": [{"name": "reset", "often": 1}]},
        {"faults": [{"name": "reset", "probability": 2}]},
        {"faults": [{"name": "reset", "first": "twice"}]},
        {"faults": [{"name": "reset", "path": 5}]},
        {"faults": 3},
        {"fault": []},
        [],
    ],
)
def test_a_switch_that_cannot_be_set_is_refused_and_changes_nothing(
    server: SandboxServer, message: object
) -> None:
    server.set_faults(Fault("html_200"))
    answer = requests.post(
        f"{server.root_url}/sandbox/faults", data=json.dumps(message), timeout=10
    )
    assert answer.status_code == 400
    assert answer.json()["error"]["message"]
    assert server.faults.switches() == (Fault("html_200"),)


def test_an_unknown_name_lists_the_known_ones() -> None:
    with pytest.raises(UnknownFaultError, match=r"'gremlins'; known: latency, .*nan_price"):
        Fault("gremlins")


def test_a_switch_can_be_written_in_one_word() -> None:
    assert Fault.from_text("html_200") == Fault("html_200")
    assert Fault.from_text("latency=250,path=/models/*/endpoints,probability=0.1,first=2") == Fault(
        "latency", "/models/*/endpoints", 0.1, 2, 250
    )
    with pytest.raises(UnknownFaultError, match="are numbers"):
        Fault.from_text("latency=long")
