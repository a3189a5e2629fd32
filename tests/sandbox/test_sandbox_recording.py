"""A recorded sweep is served as it was, with the traps that are in it."""

from __future__ import annotations

import gzip
import json
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
import requests

from pipeline.sandbox.recording import Recording, RecordingError
from pipeline.sandbox.server import SandboxServer

NOW = datetime(2026, 11, 30, tzinfo=UTC)


def answer(model_id: str, price: str) -> dict[str, Any]:
    endpoint = {
        "context_length": 8000,
        "pricing": {"prompt": price, "completion": price, "discount": 0},
        "provider_name": "House",
        "tag": "house/fp8",
        "max_completion_tokens": 2000,
        "supported_parameters": ["stop"],
    }
    return {
        "data": {
            "id": model_id,
            "name": model_id.upper(),
            "created": 1_700_000_000,
            "description": "…",
            "architecture": {"tokenizer": "T"},
            "endpoints": [endpoint],
        }
    }


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Two sweeps, three model lists around them; the free row was filed with the paid answer."""
    sweep = [
        {"modelId": "a/one", "canonicalSlug": "a/one-2", "response": answer("a/one", "0.001")},
        {"modelId": "a/one:free", "response": answer("a/one", "0.001")},
    ]
    for name in ("endpoints_2026-05-16T0947Z.json.gz", "endpoints_2026-05-18T2053Z.json.gz"):
        (tmp_path / name).write_bytes(gzip.compress(json.dumps({"data": sweep}).encode()))
    models = tmp_path / "models"
    models.mkdir()
    for name in (
        "models_2026-05-14.json",
        "models_2026-05-18T2100Z.json",
        "models_2026-06-01.json",
    ):
        (models / name).write_text(json.dumps([{"id": name}]))
    return tmp_path


def test_a_sweep_is_found_with_the_model_list_nearest_in_time(folder: Path) -> None:
    recording = Recording.find(folder, "2026-05-18")
    assert recording.models(NOW) == [{"id": "models_2026-05-18T2100Z.json"}]
    assert recording.providers(NOW) == [
        {
            "name": "House",
            "slug": "house",
            "privacy_policy_url": None,
            "terms_of_service_url": None,
            "status_page_url": None,
            "headquarters": None,
            "datacenters": None,
        }
    ]


def test_an_answer_about_another_model_is_served_where_it_was_filed(folder: Path) -> None:
    recording = Recording.open(folder / "endpoints_2026-05-16T0947Z.json.gz")
    with SandboxServer(recording) as server:
        url = f"{server.url}/models/a/one:free/endpoints"
        reply = requests.get(url, timeout=10)
        assert reply.json() == answer("a/one", "0.001")
        assert reply.headers["X-Tokentape-Sandbox"] == "recording"
        missing = requests.get(f"{server.url}/models/a/two/endpoints", timeout=10)
        assert missing.status_code == 404
        assert requests.get(f"{server.url}/models", timeout=10).json().keys() == {"data"}
        page = requests.get(f"{server.url}/models?limit=1", timeout=10).json()
        assert page["total_count"] == 2


def test_without_a_model_list_one_is_made_from_the_answers(folder: Path) -> None:
    recording = Recording.open(folder / "endpoints_2026-05-16T0947Z.json.gz")
    first, second = recording.models(NOW)
    assert (first["id"], first["canonical_slug"], second["id"]) == (
        "a/one",
        "a/one-2",
        "a/one:free",
    )
    assert first["pricing"] == {"prompt": "0.001", "completion": "0.001"}
    assert first["name"] == "A/ONE"
    assert first["top_provider"]["max_completion_tokens"] == 2000


def test_a_recording_that_cannot_be_served_says_why(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(RecordingError, match=r"found endpoints_2026-05-16T0947Z\.json\.gz, endp"):
        Recording.find(folder, "2026-05")
    with pytest.raises(RecordingError, match="found none"):
        Recording.find(folder, "2025")
    with pytest.raises(RecordingError, match="needs modelId and response"):
        Recording.open(folder / "models" / "models_2026-05-14.json")
    (tmp_path / "broken.json").write_text("{")
    with pytest.raises(RecordingError, match=r"broken.json: not a readable JSON"):
        Recording.open(tmp_path / "broken.json")
    (tmp_path / "number.json").write_text("5")
    with pytest.raises(RecordingError, match="must be a list"):
        Recording.open(tmp_path / "number.json")


@pytest.mark.recorded
def test_a_real_sweep_is_served_whole_with_its_27_wrong_ids(recordings: Path) -> None:
    recording = Recording.find(recordings, "2026-05-18T2053")
    endpoints: list[dict[str, Any]] = []
    wrong = 0
    with SandboxServer(recording) as server, requests.Session() as session:
        models = session.get(f"{server.url}/models", timeout=10).json()["data"]
        providers = session.get(f"{server.url}/providers", timeout=10).json()["data"]
        for row in models:
            url = f"{server.url}/models/{row['id']}/endpoints"
            data = session.get(url, timeout=10).json()["data"]
            if data["id"] != row["id"]:
                wrong += 1
            else:
                endpoints += data["endpoints"]
        assert server.requests.statuses == {200: 358}
    assert (len(models), wrong, len(endpoints)) == (356, 27, 805)
    assert Counter(row["status"] for row in endpoints) == {0: 757, -2: 35, -5: 13}
    assert {row["provider_name"] for row in endpoints} <= {row["name"] for row in providers}


@pytest.mark.recorded
@pytest.mark.parametrize("sweep", ["16T0947", "16T1018", "16T1700", "16T2217", "18T2053"])
def test_every_real_sweep_can_be_opened(recordings: Path, sweep: str) -> None:
    recording = Recording.find(recordings, f"2026-05-{sweep}")
    assert len(recording.models(NOW)) == 356
    served = sum(recording.endpoints(row["id"], NOW) is not None for row in recording.models(NOW))
    assert served == 356
