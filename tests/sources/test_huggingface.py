"""One pull of model cards over a real socket: from the sandbox's hub into landing."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from stand_in import StandIn, reply

from pipeline.landing import LandedSweep
from pipeline.landing.model_cards import CardLanding
from pipeline.progress import Progress
from pipeline.sandbox.faults import Fault
from pipeline.sandbox.market import Market
from pipeline.sandbox.server import SandboxServer
from pipeline.settings import Settings, SettingsError, load_settings
from pipeline.sources.http import SourceUnreachable
from pipeline.sources.huggingface import HOPELESS_IN_A_ROW, is_repository, land_cards

STARTED = datetime(2026, 11, 30, 6, 37, tzinfo=UTC)
PHI = "microsoft/phi-4"
RENAMED = "meta-llama/Meta-Llama-3.1-8B-Instruct"
GATED = "google/gemma-3-27b-it"
ABSENT = "allenai/Olmo-3-32B-Think"
TOKEN = "hf_A1b2C3d4E5f6"  # noqa: S105 - of the sandbox


@pytest.fixture(scope="module")
def sandbox_of_module() -> Iterator[SandboxServer]:
    with SandboxServer(Market()) as server:
        yield server


@pytest.fixture
def hub(
    sandbox_of_module: SandboxServer, monkeypatch: pytest.MonkeyPatch
) -> Iterator[SandboxServer]:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    sandbox_of_module.requests.clear()
    yield sandbox_of_module
    sandbox_of_module.set_faults()


def settings_at(folder: Path, url: str, **values: Any) -> Settings:
    named = {
        "data_dir": folder,
        "huggingface_url": url,
        "huggingface_requests_per_s": 1000,
        "max_retries": 0,
        "HF_TOKEN": None,
    }
    return Settings(_env_file=None, OPENROUTER_API_KEY="sk-or-secret", **named | values)


def pull(settings: Settings, *repositories: str) -> LandedSweep:
    landing = CardLanding(settings.landing_dir)
    return land_cards(
        settings, landing, repositories, now=lambda: STARTED, progress=Progress("cards")
    )


def bodies(settings: Settings, landed: LandedSweep) -> dict[str, Any]:
    """Return what the answers of status 200 say, by request."""
    answers = CardLanding(settings.landing_dir).answers(landed)
    return {answer.request: json.loads(answer.body) for answer in answers if answer.status == 200}


def test_card_and_config_land_as_they_came(hub: SandboxServer, tmp_path: Path) -> None:
    settings = settings_at(tmp_path, hub.hub_url)

    landed = pull(settings, PHI)

    assert landed.path.parent == settings.landing_dir / "model_cards" / "2026-11-30"
    found = bodies(settings, landed)
    card = found[f"/api/models/{PHI}?blobs=true"]
    config = found[f"/api/resolve-cache/models/{PHI}/config.json"]
    assert card["safetensors"]["total"] == 14_659_507_200
    assert {"rfilename", "size", "lfs"} <= set(card["siblings"][-1])
    assert config["num_key_value_heads"] == 10
    assert (landed.manifest.failures, landed.manifest.base_url) == ([], hub.hub_url)


def test_a_renamed_repository_is_followed_and_kept_under_the_name_asked_for(
    hub: SandboxServer, tmp_path: Path
) -> None:
    settings = settings_at(tmp_path, hub.hub_url)

    landed = pull(settings, RENAMED)

    answers = list(CardLanding(settings.landing_dir).answers(landed))
    assert [answer.status for answer in answers] == [307, 200, 307, 307, 200]
    assert {answer.subject for answer in answers} == {RENAMED}
    assert landed.manifest.failures == []


@pytest.mark.parametrize(("token", "status"), [(None, 401), (TOKEN, 403)])
def test_a_gated_config_is_a_recorded_refusal(
    hub: SandboxServer, tmp_path: Path, token: str | None, status: int
) -> None:
    settings = settings_at(tmp_path, hub.hub_url, HF_TOKEN=token)

    landed = pull(settings, GATED, PHI)

    (failure,) = landed.manifest.failures
    assert (failure.subject, failure.request) == (GATED, f"/{GATED}/resolve/main/config.json")
    assert f"HTTP {status}" in failure.reason
    answers = list(CardLanding(settings.landing_dir).answers(landed))
    assert [a.headers["x-error-code"] for a in answers if a.status == status] == ["GatedRepo"]
    assert landed.manifest.is_authenticated is (token is not None)


@pytest.mark.parametrize(("token", "status"), [(None, 401), (TOKEN, 404)])
def test_an_absent_repository_is_not_asked_for_its_config(
    hub: SandboxServer, tmp_path: Path, token: str | None, status: int
) -> None:
    landed = pull(settings_at(tmp_path, hub.hub_url, HF_TOKEN=token), ABSENT)

    assert hub.requests.statuses == {status: 1}
    assert [failure.subject for failure in landed.manifest.failures] == [ABSENT]


def test_only_the_token_of_the_hub_is_sent_to_it_and_it_is_kept_nowhere(
    tmp_path: Path, stand_in: StandIn, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG, "tokentape")
    stand_in.on(f"/api/models/{PHI}?blobs=true", reply({"id": PHI, "note": TOKEN}))
    stand_in.on(f"/{PHI}/resolve/main/config.json", reply({"error": f"bad {TOKEN}"}, 400))
    settings = settings_at(tmp_path, stand_in.url, HF_TOKEN=f" {TOKEN}\n")

    landed = pull(settings, PHI)

    assert {asked.headers["Authorization"] for asked in stand_in.asked} == {f"Bearer {TOKEN}"}
    answers = CardLanding(settings.landing_dir).answers(landed)
    kept = b"".join(answer.body for answer in answers) + landed.manifest.model_dump_json().encode()
    assert TOKEN.encode() not in kept
    assert TOKEN not in caplog.text


def test_an_unusable_token_is_named_and_not_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_TOKEN", "hf_two words")

    with pytest.raises(SettingsError, match="HF_TOKEN is not usable") as caught:
        load_settings()

    assert "words" not in str(caught.value)


def test_a_redirect_to_another_host_is_not_followed(tmp_path: Path, stand_in: StandIn) -> None:
    elsewhere = reply({}, 302, Location="http://127.0.0.1:9/api/v1/x")
    stand_in.on(f"/api/models/{PHI}?blobs=true", elsewhere)

    landed = pull(settings_at(tmp_path, stand_in.url), PHI)

    assert len(stand_in.asked) == 1
    assert landed.manifest.failures[0].reason.startswith("HTTP 302")


def test_redirects_in_a_circle_end(tmp_path: Path, stand_in: StandIn) -> None:
    request = f"/api/models/{PHI}?blobs=true"
    stand_in.on(request, reply({}, 307, Location=f"/api/v1{request}"))

    landed = pull(settings_at(tmp_path, stand_in.url), PHI)

    assert stand_in.paths() == [request] * 3
    assert len(landed.manifest.failures) == 1


def test_one_failing_model_does_not_stop_the_pull(hub: SandboxServer, tmp_path: Path) -> None:
    hub.set_faults(Fault("http_503", path=f"/huggingface/api/models/{PHI}"))

    landed = pull(settings_at(tmp_path, hub.hub_url), PHI, "Qwen/Qwen3-32B")

    assert [failure.subject for failure in landed.manifest.failures] == [PHI]
    assert landed.manifest.answers == 4


def test_a_passing_fault_is_tried_again(hub: SandboxServer, tmp_path: Path) -> None:
    hub.set_faults(Fault("http_503", path=f"/huggingface/api/models/{PHI}", first=1))

    landed = pull(settings_at(tmp_path, hub.hub_url, max_retries=1), PHI)

    assert landed.manifest.failures == []


def test_too_many_requests_end_the_pull_and_what_had_come_is_kept(
    hub: SandboxServer, tmp_path: Path
) -> None:
    hub.set_faults(Fault("rate_limited", path="/huggingface/api/models/*", value=0))
    repositories = [f"acme/model-{number}" for number in range(HOPELESS_IN_A_ROW + 3)]

    landed = pull(settings_at(tmp_path, hub.hub_url), *repositories)

    assert hub.requests.statuses == {429: HOPELESS_IN_A_ROW}
    assert len(landed.manifest.failures) == HOPELESS_IN_A_ROW


def test_an_unreachable_hub_leaves_nothing_behind(tmp_path: Path) -> None:
    settings = settings_at(tmp_path, "http://127.0.0.1:9")

    with pytest.raises(SourceUnreachable, match=r"http://127\.0\.0\.1:9"):
        pull(settings, PHI)

    assert CardLanding(settings.landing_dir).sweeps() == []
    assert list((tmp_path / "landing").rglob("*.jsonl")) == []


@pytest.mark.parametrize(
    "text", ["acme", "acme/", "../etc", "a/..", "a/b/c", "a/b?x=1", "a b/c", "", "a/" + "b" * 97]
)
def test_what_is_no_repository_never_gets_into_a_url(text: str) -> None:
    assert not is_repository(text)


def test_names_of_real_repositories_are_known() -> None:
    assert is_repository("meta-llama/Llama-3.1-8B-Instruct")
    assert is_repository("01-ai/Yi-1.5-34B_v2")
