from __future__ import annotations

import json
import logging
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from stand_in import Reply, StandIn, reply

from pipeline.landing import Answer, LandedSweep, Landing, RequestFailure
from pipeline.progress import Progress
from pipeline.settings import Settings
from pipeline.sources import sweeping
from pipeline.sources.http import SourceError, SourceRefused, SourceUnreachable
from pipeline.sources.sweeping import land_sweep

MakeSettings = Callable[..., Settings]
STARTED = datetime(2026, 11, 30, 6, 17, tzinfo=UTC)
REPOSITORY = Path(__file__).resolve().parents[2]


def listed(model_id: str, prompt: str = "0.000001") -> dict[str, Any]:
    return {
        "id": model_id,
        "name": model_id,
        "pricing": {"prompt": prompt, "completion": prompt},
        "top_provider": {"context_length": 8192, "is_moderated": False},
    }


def endpoints(model_id: str) -> Reply:
    return reply({"data": {"id": model_id, "endpoints": []}})


def path_of(model_id: str) -> str:
    return f"/models/{model_id}/endpoints"


def offer(stand_in: StandIn, *model_ids: str) -> None:
    """Let the stand-in serve a sound market of these models."""
    stand_in.on("/models", reply({"data": [listed(model_id) for model_id in model_ids]}))
    stand_in.on("/providers", reply({"data": [{"name": "Acme", "slug": "acme"}]}))
    for model_id in model_ids:
        stand_in.on(path_of(model_id), endpoints(model_id))


def sweep(settings: Settings) -> LandedSweep:
    landing = Landing(settings.landing_dir)
    return land_sweep(settings, landing, now=lambda: STARTED, progress=Progress("sweep"))


def answers_of(settings: Settings, landed: LandedSweep) -> list[Answer]:
    return list(Landing(settings.landing_dir).answers(landed))


def files_below(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.rglob("*") if path.is_file())


def test_a_sweep_asks_for_the_lists_and_every_standard_model(
    stand_in: StandIn, settings_for: MakeSettings
) -> None:
    asked_for = ["a/one", "a/one:free", "b.c/two-3.1"]
    not_asked_for = [listed("~a/one-latest"), listed("openrouter/auto", "-1")]
    offer(stand_in, *asked_for)
    models = [listed(model_id) for model_id in asked_for]
    stand_in.on("/models", reply({"data": [*models, *not_asked_for, models[0]]}))
    settings = settings_for(stand_in.url)

    landed = sweep(settings)

    expected = ["/models", "/providers", *map(path_of, asked_for)]
    assert sorted(stand_in.paths()) == sorted(expected)
    found = answers_of(settings, landed)
    assert sorted(answer.request for answer in found) == sorted(expected)
    assert {answer.subject for answer in found} == {None, *asked_for}
    assert {answer.arrived_at_utc for answer in found} == {STARTED}
    manifest = landed.manifest
    assert (manifest.answers, manifest.failures, manifest.is_interrupted) == (5, [], False)
    assert (manifest.market, manifest.base_url) == ("live", stand_in.url)
    assert (manifest.started_at_utc, manifest.finished_at_utc) == (STARTED, STARTED)


@pytest.mark.parametrize(("key", "is_authenticated"), [(None, False), (" ", False), ("k", True)])
def test_the_manifest_says_whether_a_key_was_sent(
    stand_in: StandIn, settings_for: MakeSettings, key: str | None, is_authenticated: bool
) -> None:
    offer(stand_in, "a/one")

    landed = sweep(settings_for(stand_in.url, key=key))

    assert landed.manifest.is_authenticated is is_authenticated


def test_every_page_of_the_model_list_is_read_and_landed(
    stand_in: StandIn, settings_for: MakeSettings
) -> None:
    offer(stand_in, "a/one", "a/two", "a/three")
    following = {"next": "https://openrouter.ai/api/v1/models?offset=1&limit=1"}
    last = {"next": None}
    stand_in.on("/models", reply({"data": [listed("a/one")], "links": following}))
    stand_in.on(
        "/models?offset=1&limit=1",
        reply({"data": [listed("a/two"), listed("a/three")], "links": last}),
    )
    settings = settings_for(stand_in.url)

    landed = sweep(settings)

    assert landed.manifest.failures == []
    assert {answer.request for answer in answers_of(settings, landed)} == {
        "/models",
        "/models?offset=1&limit=1",
        "/providers",
        *map(path_of, ["a/one", "a/two", "a/three"]),
    }


def test_pages_that_lead_round_in_a_circle_are_read_once(
    stand_in: StandIn, settings_for: MakeSettings
) -> None:
    offer(stand_in, "a/one", "a/two")
    to_second, to_itself = {"next": "/api/v1/models?page=2"}, {"next": "?page=2"}
    stand_in.on("/models", reply({"data": [listed("a/one")], "links": to_second}))
    stand_in.on("/models?page=2", reply({"data": [listed("a/two")], "links": to_itself}))

    landed = sweep(settings_for(stand_in.url))

    assert stand_in.paths().count("/models?page=2") == 1
    assert (landed.manifest.answers, landed.manifest.failures) == (5, [])


def test_pages_without_end_are_cut_off(
    stand_in: StandIn, settings_for: MakeSettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sweeping, "MOST_PAGES", 3)
    offer(stand_in, "a/one")
    for page in range(5):
        following = {"next": f"?page={page + 1}"}
        path = f"/models?page={page}" if page else "/models"
        stand_in.on(path, reply({"data": [listed("a/one")], "links": following}))

    sweep(settings_for(stand_in.url))

    assert "/models?page=2" in stand_in.paths()
    assert "/models?page=3" not in stand_in.paths()


def test_a_later_page_that_cannot_be_had_is_a_failure_and_the_sweep_goes_on(
    stand_in: StandIn, settings_for: MakeSettings
) -> None:
    offer(stand_in, "a/one")
    stand_in.on(
        "/models", reply({"data": [listed("a/one")], "links": {"next": "/api/v1/models?page=2"}})
    )
    stand_in.on("/models?page=2", reply({}, 500))

    landed = sweep(settings_for(stand_in.url, max_retries=0))

    assert landed.manifest.failures == [RequestFailure("/models?page=2", None, "HTTP 500")]
    assert path_of("a/one") in stand_in.paths()


def test_failing_models_and_providers_do_not_stop_the_sweep(
    stand_in: StandIn, settings_for: MakeSettings
) -> None:
    offer(stand_in, "a/gone", "a/broken", "a/other", "a/sound")
    stand_in.on("/providers", reply({"data": None}))
    stand_in.on(path_of("a/gone"), reply({}, 404))
    stand_in.on(path_of("a/broken"), Reply(503, b"<html>"))
    stand_in.on(path_of("a/other"), endpoints("a/sound"))
    settings = settings_for(stand_in.url, max_retries=0)

    landed = sweep(settings)

    reasons = {failure.request: failure.reason for failure in landed.manifest.failures}
    assert reasons == {
        "/providers": "unusable answer: data is not a list",
        path_of("a/gone"): "HTTP 404, the model is gone",
        path_of("a/broken"): "HTTP 503",
        path_of("a/other"): "unusable answer: asked for a/other, got a/sound",
    }
    assert {failure.subject for failure in landed.manifest.failures} == {
        None,
        "a/gone",
        "a/broken",
        "a/other",
    }
    # What was refused stays landed, as it came.
    bodies = {answer.request: answer.body for answer in answers_of(settings, landed)}
    assert bodies[path_of("a/broken")] == b"<html>"
    assert json.loads(bodies[path_of("a/other")])["data"]["id"] == "a/sound"
    assert len(bodies) == 6


def test_a_retried_model_leaves_every_try_in_landing_and_no_failure(
    stand_in: StandIn, settings_for: MakeSettings
) -> None:
    offer(stand_in, "a/one")
    stand_in.on(path_of("a/one"), reply({}, 502), endpoints("a/one"))
    settings = settings_for(stand_in.url)

    landed = sweep(settings)

    tries = [answer for answer in answers_of(settings, landed) if answer.subject == "a/one"]
    assert [(answer.attempt, answer.status) for answer in tries] == [(1, 502), (2, 200)]
    assert landed.manifest.failures == []


def test_without_a_model_list_what_came_is_sealed_and_the_fault_raised(
    stand_in: StandIn, settings_for: MakeSettings
) -> None:
    offer(stand_in)
    stand_in.on("/models", Reply(524, b"<html>A timeout occurred</html>"))
    settings = settings_for(stand_in.url, max_retries=1)

    with pytest.raises(SourceError, match=r"^/models: HTTP 524, .* \(2 tries\)$") as raised:
        sweep(settings)

    (landed,) = Landing(settings.landing_dir).sweeps()
    assert landed.manifest.failures == [RequestFailure("/models", None, raised.value.reason)]
    statuses = [
        answer.status for answer in answers_of(settings, landed) if answer.request == "/models"
    ]
    assert statuses == [524, 524]


def test_a_refused_key_is_told(stand_in: StandIn, settings_for: MakeSettings) -> None:
    stand_in.on("/models", reply({}, 401))
    stand_in.on("/providers", reply({}, 401))

    with pytest.raises(SourceRefused, match="OPENROUTER_API_KEY"):
        sweep(settings_for(stand_in.url, key="sk-or-no"))


def test_without_any_answer_nothing_is_left_behind(
    stand_in: StandIn, settings_for: MakeSettings
) -> None:
    stand_in.on("/models", Reply(fault="reset"))
    stand_in.on("/providers", Reply(fault="reset"))
    settings = settings_for(stand_in.url, max_retries=0)

    with pytest.raises(SourceUnreachable):
        sweep(settings)

    assert files_below(settings.landing_dir) == [".lock"]


@pytest.mark.parametrize(
    ("fault", "last"),
    [
        (Reply(fault="reset"), "not asked: 25 requests in a row had failed"),
        (reply({}, 403), "not asked: 25 requests in a row had failed"),
        (reply({}, 429, Retry_After="3600"), "not asked: HTTP 429 before, and 3600 s left to wait"),
    ],
)
def test_a_sweep_that_can_have_nothing_more_ends_early_and_is_partial(
    stand_in: StandIn,
    settings_for: MakeSettings,
    fault: Reply,
    last: str,
) -> None:
    model_ids = [f"a/m{number}" for number in range(60)]
    offer(stand_in, *model_ids)
    for model_id in model_ids[5:]:
        stand_in.on(path_of(model_id), fault)
    settings = settings_for(stand_in.url, sweep_concurrency=1, max_retries=0)

    landed = sweep(settings)

    assert len(stand_in.asked) <= 2 + 5 + 25
    failed = {failure.subject: failure.reason for failure in landed.manifest.failures}
    assert failed.keys() == set(model_ids[5:])
    assert failed["a/m59"].startswith(last)


def test_failures_with_successes_between_them_do_not_end_a_sweep(
    stand_in: StandIn, settings_for: MakeSettings
) -> None:
    model_ids = [f"a/m{number}" for number in range(60)]
    offer(stand_in, *model_ids)
    for model_id in model_ids[::2]:
        stand_in.on(path_of(model_id), reply({}, 403))
    settings = settings_for(stand_in.url, sweep_concurrency=1, max_retries=0)

    landed = sweep(settings)

    assert len(stand_in.asked) == 62
    assert len(landed.manifest.failures) == 30


def test_as_many_requests_are_in_flight_as_the_setting_says(
    stand_in: StandIn, settings_for: MakeSettings
) -> None:
    model_ids = [f"a/m{number}" for number in range(12)]
    offer(stand_in, *model_ids)
    for model_id in model_ids:
        body = endpoints(model_id).body
        stand_in.on(path_of(model_id), Reply(200, body, fault="held"))
    settings = settings_for(stand_in.url, sweep_concurrency=3)
    landed: list[LandedSweep] = []
    thread = threading.Thread(target=lambda: landed.append(sweep(settings)))

    thread.start()
    stand_in.wait_for_in_flight(3)
    stand_in.released.set()
    thread.join()

    assert stand_in.most_in_flight == 3
    assert landed[0].manifest.answers == 14


def test_the_model_list_and_the_providers_are_asked_for_at_the_same_time(
    stand_in: StandIn, settings_for: MakeSettings
) -> None:
    offer(stand_in, "a/one")
    stand_in.on("/models", Reply(200, reply({"data": [listed("a/one")]}).body, fault="held"))
    thread = threading.Thread(target=sweep, args=[settings_for(stand_in.url)])

    thread.start()
    stand_in.wait_for_asked("/models")
    stand_in.wait_for_asked("/providers")
    stand_in.released.set()
    thread.join()


def test_a_disk_that_takes_no_more_ends_the_sweep_and_leaves_it_to_recovery(
    stand_in: StandIn, settings_for: MakeSettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    offer(stand_in, *[f"a/m{number}" for number in range(9)])
    settings = settings_for(stand_in.url, sweep_concurrency=1)
    write = sweeping.SweepWriter.write

    def write_until_full(self: sweeping.SweepWriter, answer: Answer) -> None:
        if self.answers == 4:
            raise OSError(28, "No space left on device")
        write(self, answer)

    monkeypatch.setattr(sweeping.SweepWriter, "write", write_until_full)
    with pytest.raises(OSError, match="No space left"):
        sweep(settings)

    assert Landing(settings.landing_dir).sweeps() == []
    (landed,) = Landing(settings.landing_dir).recover(STARTED)
    assert (landed.manifest.answers, landed.manifest.is_interrupted) == (4, True)


def test_a_log_without_terminal_tells_failures_and_the_end(
    stand_in: StandIn, settings_for: MakeSettings, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "tokentape")
    offer(stand_in, "a/one", "a/two")
    stand_in.on(path_of("a/two"), reply({}, 404))

    landed = sweep(settings_for(stand_in.url))

    sweep_id = landed.manifest.sweep_id
    assert caplog.messages[0].startswith("sweep: 3 of 3 done, 1 failed, ")
    assert caplog.messages[1:] == [
        f"sweep {sweep_id}: 4 answers landed",
        f"sweep {sweep_id}: {path_of('a/two')}: HTTP 404, the model is gone",
    ]


SWEEP = """
import sys
from datetime import UTC, datetime
from pipeline.landing import Landing
from pipeline.progress import Progress
from pipeline.settings import Settings
from pipeline.sources.sweeping import land_sweep
settings = Settings(_env_file=None)
now = lambda: datetime.now(UTC)
land_sweep(settings, Landing(settings.landing_dir), now=now, progress=Progress("sweep"))
"""


@pytest.mark.parametrize("signal_number", [signal.SIGKILL, signal.SIGINT])
def test_a_sweep_that_is_killed_or_stopped_keeps_what_landed_for_recovery(
    stand_in: StandIn, tmp_path: Path, signal_number: signal.Signals
) -> None:
    offer(stand_in, "a/one", "a/two", "a/three", "a/four")
    stand_in.on(path_of("a/three"), Reply(200, endpoints("a/three").body, fault="held"))
    landing = Landing(tmp_path / "landing")
    named = {
        "TOKENTAPE_OPENROUTER_URL": stand_in.url,
        "TOKENTAPE_DATA_DIR": str(tmp_path),
        "TOKENTAPE_SWEEP_CONCURRENCY": "1",
        "PYTHONPATH": str(REPOSITORY),
    }

    with subprocess.Popen(
        [sys.executable, "-c", SWEEP], env=os.environ | named, stderr=subprocess.PIPE
    ) as process:
        stand_in.wait_for_asked(path_of("a/three"))
        assert landing.recover(STARTED) == []  # it is alive
        process.send_signal(signal_number)
        if signal_number == signal.SIGINT:
            stand_in.released.set()  # the answer in flight is waited for
        process.communicate()

    assert process.returncode != 0
    assert landing.sweeps() == []
    (landed,) = landing.recover(STARTED)
    assert landed.manifest.is_interrupted
    requests = [answer.request for answer in landing.answers(landed)]
    assert set(requests[:2]) == {"/models", "/providers"}
    assert requests[2:4] == [path_of("a/one"), path_of("a/two")]
    assert path_of("a/four") not in stand_in.paths()
    assert landing.sweeps() == [landed]
