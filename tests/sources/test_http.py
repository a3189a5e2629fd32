from __future__ import annotations

import gzip
import logging
import random
import re
import socket
import traceback
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from pathlib import Path
from typing import Any

import pytest
from stand_in import Reply, StandIn, reply

from pipeline.landing import Answer, Landing
from pipeline.settings import Settings
from pipeline.sources.http import HttpSource, SourceError, SourceRefused, SourceUnreachable
from pipeline.sources.pacing import Clock

MakeSettings = Callable[..., Settings]
NOW = datetime(2026, 11, 30, 6, 17, tzinfo=UTC)
CANARY = "sk-or-canary-7f3a"


class SkippingClock(Clock):
    """Waits by moving the time on, and keeps what was waited for."""

    def __init__(self) -> None:
        super().__init__()
        self.time = 1000.0
        self.waits: list[float] = []

    def monotonic(self) -> float:
        return self.time

    def wait(self, seconds: float) -> bool:
        if seconds > 0:
            self.waits.append(seconds)
            self.time += seconds
        return super().wait(0.0)


class Asking:
    """A source under test with what it landed and how long it waited."""

    def __init__(self, settings: Settings) -> None:
        self.clock = SkippingClock()
        self.answers: list[Answer] = []
        self.source = HttpSource(settings, self.answers.append, now=lambda: NOW, clock=self.clock)
        self.get = self.source.get


@contextmanager
def asking(settings: Settings) -> Iterator[Asking]:
    asked = Asking(settings)
    with asked.source:
        yield asked


def test_an_answer_is_landed_as_it_came_before_it_is_checked(
    stand_in: StandIn, settings_for: MakeSettings
) -> None:
    body = b'{"data": [1.10, "\xc3\xa9"]}\n'
    headers = {
        "Content-Type": "application/json",
        "X-RateLimit-Limit": "20",
        "CF-Ray": "8a1",
        "Set-Cookie": "a=b",
        "Server": "x",
    }
    stand_in.on("/models?limit=2", Reply(200, body, headers))
    landed_at_check: list[int] = []

    with asking(settings_for(stand_in.url)) as asked:
        payload = asked.get(
            "/models?limit=2", "a/b", lambda _: landed_at_check.append(len(asked.answers))
        )

    assert payload["data"][1] == "é"
    assert landed_at_check == [1]
    (answer,) = asked.answers
    assert (answer.request, answer.subject, answer.attempt) == ("/models?limit=2", "a/b", 1)
    assert (answer.status, answer.arrived_at_utc, answer.body) == (200, NOW, body)
    assert answer.headers.keys() == {"content-type", "x-ratelimit-limit", "cf-ray", "date"}
    assert answer.headers["x-ratelimit-limit"] == "20"


def test_a_compressed_answer_is_landed_decoded(
    stand_in: StandIn, settings_for: MakeSettings
) -> None:
    body = b'{"data": "' + b"x" * 500_000 + b'"}'
    stand_in.on("/models", Reply(200, gzip.compress(body), {"Content-Encoding": "gzip"}))

    with asking(settings_for(stand_in.url)) as asked:
        asked.get("/models")

    assert asked.answers[0].body == body
    assert asked.answers[0].headers["content-encoding"] == "gzip"


def test_the_client_says_who_it_is(stand_in: StandIn, settings_for: MakeSettings) -> None:
    stand_in.on("/models", reply({}))

    with asking(settings_for(stand_in.url, app_port=8600)) as asked:
        asked.get("/models")

    headers = stand_in.asked[0].headers
    assert re.fullmatch(r"tokentape/[0-9.]+ \(\+http://127\.0\.0\.1:8600\)", headers["User-Agent"])
    assert headers["HTTP-Referer"] == "http://127.0.0.1:8600"
    assert headers["X-OpenRouter-Title"] == "tokentape"
    assert "Authorization" not in headers


def test_a_key_is_sent_as_bearer_without_blanks_around_it(
    stand_in: StandIn, settings_for: MakeSettings
) -> None:
    stand_in.on("/models", reply({}))

    with asking(settings_for(stand_in.url, key=f" {CANARY}\n")) as asked:
        asked.get("/models")

    assert stand_in.asked[0].headers["Authorization"] == f"Bearer {CANARY}"


def test_a_netrc_file_is_not_asked_for_credentials(
    stand_in: StandIn,
    settings_for: MakeSettings,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    (tmp_path / "netrc").write_text("default login someone password secret\n")
    monkeypatch.setenv("NETRC", str(tmp_path / "netrc"))
    stand_in.on("/models", reply({}))

    with asking(settings_for(stand_in.url)) as asked:
        asked.get("/models")

    assert "Authorization" not in stand_in.asked[0].headers


def test_a_proxy_of_the_environment_is_used(
    stand_in: StandIn, settings_for: MakeSettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("NO_PROXY", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("http_proxy", stand_in.url.removesuffix("/api/v1"))
    stand_in.on("http://nowhere.invalid/api/v1/models", reply({"data": "by proxy"}))

    with asking(settings_for("http://nowhere.invalid/api/v1")) as asked:
        assert asked.get("/models") == {"data": "by proxy"}


def test_cookies_are_not_kept(stand_in: StandIn, settings_for: MakeSettings) -> None:
    stand_in.on("/models", reply({}, Set_Cookie="__cf_bm=1; Path=/"))

    with asking(settings_for(stand_in.url)) as asked:
        asked.get("/models")
        asked.get("/models")

    assert "Cookie" not in stand_in.asked[1].headers


HTML = Reply(200, b"<html>\n<h1>A timeout occurred</h1></html>", {"Content-Type": "text/html"})


@pytest.mark.parametrize(
    "fault",
    [
        *[reply({}, status) for status in (408, 425, 429, 500, 502, 503, 504, 520, 524, 529)],
        HTML,
        Reply(524, b"<html>timeout</html>"),
        Reply(200, b""),
        Reply(200, b'{"data": [NaN]}'),
        Reply(200, b'{"data": "\xff"}'),
        Reply(200, b'{"data": 1}', fault="truncated"),
        Reply(200, b'{"data": 1}', fault="cut_chunk"),
        Reply(200, b"not gzip", {"Content-Encoding": "gzip"}),
        Reply(fault="reset"),
    ],
    ids=lambda fault: f"{fault.status}-{fault.fault or fault.body[:12]!r}",
)
def test_a_passing_fault_is_tried_again(
    stand_in: StandIn, settings_for: MakeSettings, fault: Reply
) -> None:
    stand_in.on("/models", fault, fault, reply({"data": "sound"}))

    with asking(settings_for(stand_in.url)) as asked:
        assert asked.get("/models") == {"data": "sound"}

    assert len(stand_in.asked) == 3
    assert asked.answers[-1].attempt == 3


@pytest.mark.parametrize(
    ("status", "subject", "words"),
    [
        (400, None, "HTTP 400"),
        (401, None, "HTTP 401, a key is wanted: set OPENROUTER_API_KEY"),
        (402, None, "HTTP 402, the account of the key has no credit left"),
        (403, None, "HTTP 403, access is denied"),
        (404, "a/b", "HTTP 404, the model is gone"),
        (404, None, "HTTP 404, nothing is there: check TOKENTAPE_OPENROUTER_URL"),
        (410, None, "HTTP 410"),
    ],
)
def test_a_lasting_fault_is_not_tried_again(
    stand_in: StandIn, settings_for: MakeSettings, status: int, subject: str | None, words: str
) -> None:
    stand_in.on("/x", reply({"error": {"code": status, "message": "No\nway."}}, status))

    with (
        asking(settings_for(stand_in.url)) as asked,
        pytest.raises(SourceError) as failure,
    ):
        asked.get("/x", subject)

    assert failure.value.reason == f"{words} (No way.)"
    assert str(failure.value) == f"/x: {words} (No way.)"
    assert len(stand_in.asked) == 1
    assert [answer.status for answer in asked.answers] == [status]
    assert asked.clock.waits == []


def test_a_refused_key_is_named(stand_in: StandIn, settings_for: MakeSettings) -> None:
    stand_in.on("/models", reply({}, 401))

    with (
        asking(settings_for(stand_in.url, key=CANARY)) as asked,
        pytest.raises(SourceRefused, match="the key is refused: correct OPENROUTER_API_KEY"),
    ):
        asked.get("/models")


def test_retries_end_and_say_how_many_there_were(
    stand_in: StandIn, settings_for: MakeSettings
) -> None:
    stand_in.on("/models", reply({}, 503))

    with (
        asking(settings_for(stand_in.url, max_retries=2)) as asked,
        pytest.raises(SourceError) as failure,
    ):
        asked.get("/models")

    assert failure.value.reason == "HTTP 503 (3 tries)"
    assert [answer.attempt for answer in asked.answers] == [1, 2, 3]


@pytest.mark.parametrize(
    ("dice", "waits"),
    [
        (max, [0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 30.0, 30.0]),
        (min, []),
        (lambda low, high: (low + high) / 2, [0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 15.0, 15.0]),
    ],
)
def test_the_wait_before_a_retry_doubles_and_is_drawn_from_nothing_to_all_of_it(
    stand_in: StandIn,
    settings_for: MakeSettings,
    monkeypatch: pytest.MonkeyPatch,
    dice: Callable[[float, float], float],
    waits: list[float],
) -> None:
    monkeypatch.setattr(random, "uniform", dice)
    stand_in.on("/models", reply({}, 500))

    with (
        asking(settings_for(stand_in.url, max_retries=8)) as asked,
        pytest.raises(SourceError),
    ):
        asked.get("/models")

    assert [wait for wait in asked.clock.waits if wait > 0.011] == waits  # 0.01 s is the pace


def test_an_answer_that_is_not_what_was_asked_for_is_tried_again_and_stays_landed(
    stand_in: StandIn, settings_for: MakeSettings
) -> None:
    stand_in.on("/models/a/b/endpoints", reply({"data": {"id": "a/c"}}))

    def check(payload: Any) -> None:
        raise ValueError(f"asked for a/b, got {payload['data']['id']}")

    with (
        asking(settings_for(stand_in.url, max_retries=1)) as asked,
        pytest.raises(SourceError) as failure,
    ):
        asked.get("/models/a/b/endpoints", "a/b", check)

    assert failure.value.reason == "unusable answer: asked for a/b, got a/c (2 tries)"
    assert [answer.body for answer in asked.answers] == [b'{"data": {"id": "a/c"}}'] * 2


def test_an_html_page_is_quoted_in_one_line(stand_in: StandIn, settings_for: MakeSettings) -> None:
    stand_in.on("/models", HTML)

    with (
        asking(settings_for(stand_in.url, max_retries=0)) as asked,
        pytest.raises(SourceError, match=r"body is not JSON .*<html> <h1>A timeout") as failure,
    ):
        asked.get("/models")

    assert "\n" not in failure.value.reason
    assert asked.answers[0].body == HTML.body


@pytest.mark.parametrize("status", [429, 503])
def test_retry_after_in_seconds_is_honoured(
    stand_in: StandIn, settings_for: MakeSettings, status: int
) -> None:
    stand_in.on("/models", reply({}, status, Retry_After="7"), reply({}))

    with asking(settings_for(stand_in.url)) as asked:
        asked.get("/models")

    assert asked.clock.waits == [7.0]


def test_retry_after_as_a_date_is_honoured(stand_in: StandIn, settings_for: MakeSettings) -> None:
    in_half_a_minute = format_datetime(datetime.now(UTC) + timedelta(seconds=30), usegmt=True)
    stand_in.on("/models", reply({}, 429, Retry_After=in_half_a_minute), reply({}))

    with asking(settings_for(stand_in.url)) as asked:
        asked.get("/models")

    assert 15 < sum(asked.clock.waits) <= 31


@pytest.mark.parametrize("meaningless", ["soon", "-5", "1.5", "9" * 5000, "Mon, 99 Foo 2026"])
def test_a_meaningless_retry_after_leaves_the_own_wait(
    stand_in: StandIn, settings_for: MakeSettings, meaningless: str
) -> None:
    stand_in.on("/models", reply({}, 429, Retry_After=meaningless), reply({}))

    with asking(settings_for(stand_in.url)) as asked:
        asked.get("/models")

    assert sum(asked.clock.waits) <= 0.51


def test_a_retry_after_longer_than_the_setting_fails_at_once(
    stand_in: StandIn, settings_for: MakeSettings
) -> None:
    stand_in.on("/models", reply({}, 503, Retry_After="61"))

    with (
        asking(settings_for(stand_in.url, max_retry_wait_s=60)) as asked,
        pytest.raises(SourceError) as failure,
    ):
        asked.get("/models")

    assert failure.value.reason == (
        "HTTP 503; it asks to wait 61 s, more than TOKENTAPE_MAX_RETRY_WAIT_S=60"
    )
    assert (len(stand_in.asked), asked.clock.waits) == (1, [])


def test_a_429_holds_back_every_other_request(
    stand_in: StandIn, settings_for: MakeSettings
) -> None:
    stand_in.on("/models", reply({}, 429, Retry_After="20"))
    stand_in.on("/providers", reply({}))

    with asking(settings_for(stand_in.url, max_retries=0)) as asked:
        with pytest.raises(SourceRefused):
            asked.get("/models")
        asked.get("/providers")

    assert asked.clock.waits == [20.0]


def test_a_503_holds_back_no_other_request(stand_in: StandIn, settings_for: MakeSettings) -> None:
    stand_in.on("/models/a/b/endpoints", reply({}, 503, Retry_After="20"))
    stand_in.on("/providers", reply({}))

    with asking(settings_for(stand_in.url, max_retries=0, requests_per_s=1000)) as asked:
        with pytest.raises(SourceError):
            asked.get("/models/a/b/endpoints")
        asked.get("/providers")

    assert sum(asked.clock.waits) <= 0.001 + 1e-9


def test_nothing_is_asked_within_a_pause_longer_than_the_setting(
    stand_in: StandIn, settings_for: MakeSettings
) -> None:
    stand_in.on("/models", reply({}, 429, Retry_After="3600"))
    stand_in.on("/providers", reply({}))

    with asking(settings_for(stand_in.url)) as asked:
        with pytest.raises(SourceRefused, match="it asks to wait 3600 s"):
            asked.get("/models")
        with pytest.raises(SourceRefused, match="not asked: HTTP 429 before, and 3600 s left"):
            asked.get("/providers")
        asked.clock.time += 3601
        asked.get("/providers")

    assert stand_in.paths() == ["/models", "/providers"]


def test_requests_start_no_faster_than_the_pace(
    stand_in: StandIn, settings_for: MakeSettings
) -> None:
    stand_in.on("/models", reply({}))

    with asking(settings_for(stand_in.url, requests_per_s=4)) as asked:
        for _ in range(5):
            asked.get("/models")

    assert asked.clock.waits == [0.25] * 4


def test_requests_in_flight_are_bounded_whoever_calls(
    stand_in: StandIn, settings_for: MakeSettings
) -> None:
    stand_in.on("/models", Reply(fault="held"))
    settings = settings_for(stand_in.url, sweep_concurrency=2, requests_per_s=1000)

    with HttpSource(settings, lambda _: None) as source, ThreadPoolExecutor(6) as pool:
        asked = [pool.submit(source.get, "/models") for _ in range(12)]
        stand_in.wait_for_in_flight(2)
        stand_in.released.set()
        assert [one.result() for one in asked] == [{}] * 12

    assert stand_in.most_in_flight == 2


def test_an_answer_larger_than_the_setting_is_refused_at_once(
    stand_in: StandIn, settings_for: MakeSettings
) -> None:
    body = b'"' + b"x" * (1 << 20) + b'"'
    stand_in.on("/plain", Reply(200, body))
    stand_in.on("/packed", Reply(200, gzip.compress(body), {"Content-Encoding": "gzip"}))

    with asking(settings_for(stand_in.url, max_body_mib=1)) as asked:
        for request in ("/plain", "/packed"):
            with pytest.raises(SourceError, match="larger than TOKENTAPE_MAX_BODY_MIB=1"):
                asked.get(request)

    assert stand_in.paths() == ["/plain", "/packed"]
    assert asked.answers == []


def test_a_body_that_drips_for_ever_is_cut_off(
    stand_in: StandIn, settings_for: MakeSettings
) -> None:
    stand_in.on("/models", Reply(200, b" " * 100_000, fault="drip"))
    settings = settings_for(stand_in.url, connect_timeout_s=0.1, read_timeout_s=0.2, max_retries=0)

    with (
        HttpSource(settings, lambda _: None) as source,
        pytest.raises(SourceError, match="the answer came too slowly"),
    ):
        source.get("/models")


def test_a_silent_source_is_given_up(stand_in: StandIn, settings_for: MakeSettings) -> None:
    stand_in.on("/models", Reply(fault="held"))
    settings = settings_for(stand_in.url, read_timeout_s=0.1, max_retries=1)

    with (
        asking(settings) as asked,
        pytest.raises(SourceUnreachable, match=r"timed out.*\(2 tries\)"),
    ):
        asked.get("/models")


def test_no_connection_is_told_in_plain_words(settings_for: MakeSettings) -> None:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{listener.getsockname()[1]}/api/v1"

        with asking(settings_for(url)) as asked, pytest.raises(SourceUnreachable) as failure:
            asked.get("/models")

    assert failure.value.reason == f"no answer from {url}: Connection refused (5 tries)"
    assert asked.answers == []


def test_an_unknown_host_is_told_in_plain_words(
    settings_for: MakeSettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_such_name(*_: object, **__: object) -> None:
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    monkeypatch.setattr(socket, "getaddrinfo", no_such_name)
    settings = settings_for("https://nowhere.invalid/api/v1", max_retries=0)

    with asking(settings) as asked, pytest.raises(SourceUnreachable) as failure:
        asked.get("/models")

    assert failure.value.reason == (
        "no answer from https://nowhere.invalid/api/v1: Name or service not known"
    )


def test_a_redirect_is_landed_but_not_followed(
    stand_in: StandIn, settings_for: MakeSettings
) -> None:
    elsewhere = StandIn()
    try:
        stand_in.on("/models", Reply(302, b"", {"Location": f"{elsewhere.url}/models"}))
        with (
            asking(settings_for(stand_in.url, key=CANARY)) as asked,
            pytest.raises(SourceError, match="HTTP 302, redirects are not followed"),
        ):
            asked.get("/models")
    finally:
        elsewhere.close()

    assert elsewhere.asked == []
    assert [answer.status for answer in asked.answers] == [302]


@pytest.mark.parametrize(
    "fault",
    [
        reply({"error": {"message": f"bad key {CANARY}"}}, 401),
        reply({"error": f"Authorization: Bearer {CANARY}"}, 500),
        Reply(200, f"<p>{CANARY}</p>".encode()),
        Reply(fault="reset"),
    ],
)
def test_the_key_is_neither_landed_nor_logged_nor_told(
    stand_in: StandIn,
    settings_for: MakeSettings,
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
    fault: Reply,
) -> None:
    caplog.set_level(logging.DEBUG)
    stand_in.on("/models", fault)
    writer = Landing(tmp_path).begin(
        market="live", base_url=stand_in.url, is_authenticated=True, started_at_utc=NOW
    )

    with writer:
        settings = settings_for(stand_in.url, key=CANARY, max_retries=1)
        with (
            HttpSource(settings, writer.write, clock=SkippingClock()) as source,
            pytest.raises(SourceError) as failure,
        ):
            source.get("/models")
        sealed = writer.seal(NOW)

    assert stand_in.asked[0].headers["Authorization"] == f"Bearer {CANARY}"
    told = "".join(traceback.format_exception(failure.value))
    landed = gzip.decompress((sealed.path / "answers.jsonl.gz").read_bytes()).decode()
    for text in (caplog.text, told, landed, repr(source), repr(settings)):
        assert CANARY not in text


def test_an_error_of_the_landing_is_not_taken_for_a_fault_of_the_source(
    stand_in: StandIn, settings_for: MakeSettings
) -> None:
    stand_in.on("/models", reply({}))

    def full(_: Answer) -> None:
        raise OSError(28, "No space left on device")

    with (
        HttpSource(settings_for(stand_in.url), full) as source,
        pytest.raises(OSError, match="No space left"),
    ):
        source.get("/models")

    assert len(stand_in.asked) == 1


@pytest.mark.timeout(30)
def test_stop_wakes_what_waits_for_a_retry(stand_in: StandIn, settings_for: MakeSettings) -> None:
    stand_in.on("/models", reply({}, 503, Retry_After="3000"))
    settings = settings_for(stand_in.url, max_retry_wait_s=3600)

    with ThreadPoolExecutor(1) as pool, HttpSource(settings, lambda _: None) as source:
        waiting = pool.submit(source.get, "/models")
        stand_in.wait_for_asked("/models")
        source.stop("it is late")

        assert isinstance(waiting.exception(), SourceError)
        with pytest.raises(SourceError, match="not asked: it is late"):
            source.get("/models")
