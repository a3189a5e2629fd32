from __future__ import annotations

import gzip
import hashlib
import json
import logging
import os
import shutil
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta, timezone
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline.landing import (
    Answer,
    CorruptLandingError,
    Landing,
    RequestFailure,
    SweepWriter,
)
from pipeline.landing.records import answer_line, read_line

STARTED = datetime(2026, 11, 30, 6, 17, tzinfo=UTC)
ARRIVED = STARTED + timedelta(seconds=1)
FINISHED = STARTED + timedelta(seconds=9)
REPOSITORY = Path(__file__).resolve().parents[1]


def answer(number: int = 1, body: bytes = b'{"data": []}') -> Answer:
    return Answer(
        request=f"/models/a/m{number}/endpoints",
        subject=f"a/m{number}",
        attempt=1,
        status=200,
        arrived_at_utc=ARRIVED + timedelta(seconds=number),
        headers={"content-type": "application/json"},
        body=body,
    )


def begin(landing: Landing, started_at_utc: datetime = STARTED) -> SweepWriter:
    return landing.begin(
        market="live",
        base_url="https://openrouter.ai/api/v1",
        is_authenticated=False,
        started_at_utc=started_at_utc,
    )


def files_below(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and path.name != ".lock"
    }


def run_in_another_process(script: str, *arguments: object) -> subprocess.Popen[str]:
    """Start ``script``, which may use what this module does; it says when it got somewhere."""
    return subprocess.Popen(
        [sys.executable, "-c", f"from test_landing import *\n{script}", *map(str, arguments)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=os.environ | {"PYTHONPATH": f"{Path(__file__).parent}:{REPOSITORY}"},
    )


def test_a_sealed_sweep_lies_in_its_day_with_manifest_and_answers(tmp_path: Path) -> None:
    landing = Landing(tmp_path)
    with begin(landing) as writer:
        writer.write(answer(1))
        writer.write(answer(2))
        writer.record_failure(RequestFailure("/models/a/m3/endpoints", "a/m3", "HTTP 500"))
        landed = writer.seal(FINISHED)

    day = tmp_path / "sweeps" / "2026-11-30"
    assert [path.name for path in day.iterdir()] == [writer.sweep_id]
    assert writer.sweep_id.startswith("20261130T061700Z-")
    assert landed.path == day / writer.sweep_id
    assert sorted(path.name for path in landed.path.iterdir()) == [
        "answers.jsonl.gz",
        "manifest.json",
    ]
    packed = (landed.path / "answers.jsonl.gz").read_bytes()
    assert json.loads((landed.path / "manifest.json").read_text()) == {
        "format": 1,
        "sweep_id": writer.sweep_id,
        "partition_date": "2026-11-30",
        "started_at_utc": "2026-11-30T06:17:00Z",
        "finished_at_utc": "2026-11-30T06:17:09Z",
        "market": "live",
        "base_url": "https://openrouter.ai/api/v1",
        "is_authenticated": False,
        "is_interrupted": False,
        "answers": 2,
        "failures": [
            {"request": "/models/a/m3/endpoints", "subject": "a/m3", "reason": "HTTP 500"}
        ],
        "answers_sha256": hashlib.sha256(packed).hexdigest(),
        "answers_bytes": len(packed),
    }
    assert landing.sweeps() == [landed]
    assert list(landing.answers(landed)) == [answer(1), answer(2)]


def test_a_line_of_the_file_reads_as_what_came(tmp_path: Path) -> None:
    with begin(Landing(tmp_path)) as writer:
        writer.write(answer(1, b'{"price": 0.10}'))
        landed = writer.seal(FINISHED)

    (line,) = gzip.decompress((landed.path / "answers.jsonl.gz").read_bytes()).splitlines()
    assert json.loads(line) == {
        "request": "/models/a/m1/endpoints",
        "subject": "a/m1",
        "attempt": 1,
        "status": 200,
        "arrived_at_utc": "2026-11-30T06:17:02+00:00",
        "headers": {"content-type": "application/json"},
        "body": '{"price": 0.10}',
    }


@settings(deadline=None)
@given(body=st.binary() | st.text().map(str.encode))
def test_any_body_comes_back_byte_for_byte(body: bytes) -> None:
    line = answer_line(answer(1, body))

    assert line.count(b"\n") == 1
    assert read_line(line) == answer(1, body)


@pytest.mark.parametrize(
    "body", [b"", b"\xef\xbb\xbf{}", b"\xff\xfe", b"a\r\nb\x00", "\u2028".encode()]
)
def test_odd_bodies_survive_the_seal(tmp_path: Path, body: bytes) -> None:
    landing = Landing(tmp_path)
    odd = replace(answer(1, body), subject=None, request="/models?q=\ud800", headers={"date": "é"})
    with begin(landing) as writer:
        writer.write(odd)
        landed = writer.seal(FINISHED)

    assert list(landing.answers(landed)) == [odd]


def test_an_answer_is_on_disk_when_write_returns(tmp_path: Path) -> None:
    with begin(Landing(tmp_path)) as writer:
        writer.write(answer(1))
        (file,) = (tmp_path / "sweeps").rglob("answers.jsonl")
        assert read_line(file.read_bytes()) == answer(1)


def test_the_same_answers_are_packed_to_the_same_bytes(tmp_path: Path) -> None:
    digests = set()
    for _ in range(2):
        with begin(Landing(tmp_path)) as writer:
            writer.write(answer(1))
            digests.add(writer.seal(FINISHED).manifest.answers_sha256)

    assert len(digests) == 1


def test_the_day_of_a_sweep_is_its_utc_day(tmp_path: Path) -> None:
    east = timezone(timedelta(hours=9))
    with begin(Landing(tmp_path), datetime(2026, 12, 1, 6, 17, tzinfo=east)) as writer:
        writer.write(answer())
        landed = writer.seal(FINISHED)

    assert landed.manifest.partition_date == date(2026, 11, 30)
    assert landed.manifest.sweep_id.startswith("20261130T211700Z-")


def test_sealed_files_are_read_only(tmp_path: Path) -> None:
    with begin(Landing(tmp_path)) as writer:
        writer.write(answer())
        landed = writer.seal(FINISHED)

    assert {path.stat().st_mode & 0o777 for path in landed.path.iterdir()} == {0o444}


def test_sweeps_come_by_time_and_can_be_chosen_by_day(tmp_path: Path) -> None:
    landing = Landing(tmp_path)
    starts = [
        STARTED + timedelta(days=days, hours=hours) for days, hours in [(2, 0), (0, 5), (0, 1)]
    ]
    for started in starts:
        with begin(landing, started) as writer:
            writer.write(answer())
            writer.seal(started)
    day = date(2026, 11, 30)

    def listed(first: date | None = None, last: date | None = None) -> list[datetime]:
        return [sweep.manifest.started_at_utc for sweep in landing.sweeps(first, last)]

    assert listed() == sorted(starts)
    newest = landing.newest()
    assert newest is not None
    assert newest.manifest.started_at_utc == max(starts)
    assert listed(day, day) == [starts[2], starts[1]]
    assert listed(first=day + timedelta(days=1)) == [starts[0]]
    assert listed(last=day - timedelta(days=1)) == []


def test_a_landing_that_does_not_exist_holds_nothing(tmp_path: Path) -> None:
    assert Landing(tmp_path / "none").sweeps() == []
    assert Landing(tmp_path / "none").newest() is None
    assert Landing(tmp_path / "none").recover(FINISHED) == []


def test_a_sweep_in_progress_is_not_listed(tmp_path: Path) -> None:
    landing = Landing(tmp_path)
    with begin(landing) as writer:
        writer.write(answer())
        assert landing.sweeps() == []


def test_an_abandoned_sweep_leaves_nothing(tmp_path: Path) -> None:
    landing = Landing(tmp_path)
    with begin(landing) as writer:
        writer.write(answer())
        writer.abandon()

    assert files_below(tmp_path) == {}
    assert landing.recover(FINISHED) == []


def test_a_sealed_sweep_takes_no_more_answers(tmp_path: Path) -> None:
    with begin(Landing(tmp_path)) as writer:
        writer.write(answer())
        writer.seal(FINISHED)
        with pytest.raises(ValueError, match="closed file"):
            writer.write(answer())


def test_every_flipped_byte_of_the_answers_is_detected_and_named(tmp_path: Path) -> None:
    landing = Landing(tmp_path)
    with begin(landing) as writer:
        writer.write(answer())
        landed = writer.seal(FINISHED)
    path = landed.path / "answers.jsonl.gz"
    sound = path.read_bytes()
    path.chmod(0o644)

    for position in range(len(sound)):
        path.write_bytes(sound[:position] + bytes([sound[position] ^ 1]) + sound[position + 1 :])
        with pytest.raises(CorruptLandingError, match=r"answers\.jsonl\.gz is not what") as failure:
            landing.answers(landed)
        assert failure.value.path == path

    path.write_bytes(sound)
    assert list(landing.answers(landed)) == [answer()]


@pytest.mark.parametrize(
    ("file", "damage", "words"),
    [
        ("manifest.json", lambda text: text[:40], "is no manifest of format 1"),
        ("manifest.json", lambda text: text.replace('"format": 1', '"format": 2'), "format 1"),
        ("manifest.json", lambda text: text.replace("-11-30", "-11-29"), "not its folder's"),
        ("manifest.json", None, "is missing"),
        ("answers.jsonl.gz", None, "is missing"),
    ],
)
def test_damage_is_told_with_the_file_and_the_remedy(
    tmp_path: Path, file: str, damage: object, words: str
) -> None:
    landing = Landing(tmp_path)
    with begin(landing) as writer:
        writer.write(answer())
        path = writer.seal(FINISHED).path / file
    path.chmod(0o644)
    if callable(damage):
        path.write_text(damage(path.read_text()))
    else:
        path.unlink()

    with pytest.raises(CorruptLandingError, match=words) as failure:
        for sweep in landing.sweeps():
            landing.answers(sweep)

    assert str(failure.value).startswith(str(path))
    assert "put it back from a copy" in str(failure.value)


def test_threads_write_whole_lines(tmp_path: Path) -> None:
    landing = Landing(tmp_path)
    answers = [answer(number, b"x" * 50_000) for number in range(40)]

    with begin(landing) as writer:
        with ThreadPoolExecutor(8) as pool:
            list(pool.map(writer.write, answers))
        landed = writer.seal(FINISHED)

    found = sorted(landing.answers(landed), key=lambda one: one.arrived_at_utc)
    assert found == answers
    assert writer.answers == landed.manifest.answers == 40


def test_two_writers_at_once_do_not_disturb_each_other(tmp_path: Path) -> None:
    landing = Landing(tmp_path)
    with begin(landing) as first, begin(landing) as second:
        first.write(answer(1))
        second.write(answer(2))
        second_landed = second.seal(FINISHED)
        first.write(answer(3))
        first_landed = first.seal(FINISHED)

    assert list(landing.answers(first_landed)) == [answer(1), answer(3)]
    assert list(landing.answers(second_landed)) == [answer(2)]


WRITE_TWO_AND_WAIT = """
with begin(Landing(Path(sys.argv[1]))) as writer:
    writer.write(answer(1))
    writer.write(answer(2))
    writer.record_failure(RequestFailure("/providers", None, "HTTP 500"))
    print("ready", flush=True)
    sys.stdin.read()
"""


def test_a_killed_writer_is_recovered_as_interrupted_and_a_live_one_left_alone(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    landing = Landing(tmp_path)
    with run_in_another_process(WRITE_TWO_AND_WAIT, tmp_path) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        before = files_below(tmp_path)
        assert landing.recover(FINISHED) == []
        assert files_below(tmp_path) == before
        process.send_signal(signal.SIGKILL)

    with caplog.at_level(logging.WARNING, "tokentape"):
        (landed,) = landing.recover(ARRIVED + timedelta(hours=3, seconds=2))

    assert landed.manifest.is_interrupted
    assert landed.manifest.finished_at_utc == answer(2).arrived_at_utc
    assert landed.manifest.failures == [RequestFailure("/providers", None, "HTTP 500")]
    assert list(landing.answers(landed)) == [answer(1), answer(2)]
    assert landing.sweeps() == [landed]
    assert landing.recover(FINISHED) == []
    assert caplog.messages == [
        f"sweep {landed.manifest.sweep_id} was interrupted 3:00:00 ago; "
        "sealed the 2 answers that had come"
    ]


def test_a_torn_last_line_is_dropped(tmp_path: Path) -> None:
    landing = Landing(tmp_path)
    whole = answer_line(answer(2))
    for cut in (1, len(whole) // 2, len(whole) - 1):
        with begin(landing) as writer:
            writer.write(answer(1))
        (file,) = (tmp_path / "sweeps").rglob("answers.jsonl")
        with file.open("ab") as torn:
            torn.write(whole[:cut])

        (landed,) = landing.recover(FINISHED)

        assert landed.manifest.answers == 1
        assert list(landing.answers(landed)) == [answer(1)]


def test_what_follows_a_damaged_line_is_dropped(tmp_path: Path) -> None:
    landing = Landing(tmp_path)
    with begin(landing) as writer:
        writer.write(answer(1))
    (file,) = (tmp_path / "sweeps").rglob("answers.jsonl")
    with file.open("ab") as damaged:
        damaged.write(b"\0" * 100 + b"\n" + answer_line(answer(2)))

    (landed,) = landing.recover(FINISHED)

    assert list(landing.answers(landed)) == [answer(1)]


@pytest.mark.parametrize("left", [["begun.json"], ["answers.jsonl"], []])
def test_a_folder_without_an_answer_is_removed(tmp_path: Path, left: list[str]) -> None:
    landing = Landing(tmp_path)
    with begin(landing) as writer:
        writer.record_failure(RequestFailure("/models", None, "HTTP 500"))
    (folder,) = (tmp_path / "sweeps").glob("*/*.inprogress")
    for path in list(folder.iterdir()):
        if path.name not in left:
            path.unlink()

    assert landing.recover(FINISHED) == []
    assert files_below(tmp_path) == {}


def test_a_seal_that_was_cut_short_is_done_again(tmp_path: Path) -> None:
    landing = Landing(tmp_path)
    with begin(landing) as writer:
        writer.write(answer(1))
    (folder,) = (tmp_path / "sweeps").glob("*/*.inprogress")
    sealing = folder.with_suffix(".sealing")
    sealing.mkdir()
    (sealing / "answers.jsonl.gz").write_bytes(b"half")

    (landed,) = landing.recover(FINISHED)

    assert list(landing.answers(landed)) == [answer(1)]
    assert [path.name for path in landed.path.parent.iterdir()] == [landed.path.name]


def test_a_writer_that_died_while_tidying_up_after_the_seal_is_not_sealed_twice(
    tmp_path: Path,
) -> None:
    landing = Landing(tmp_path)
    with begin(landing) as writer:
        writer.write(answer(1))
        (folder,) = (tmp_path / "sweeps").glob("*/*.inprogress")
        shutil.copytree(folder, tmp_path / "kept")
        landed = writer.seal(FINISHED)
    (tmp_path / "kept").rename(folder)

    assert landing.recover(FINISHED) == []
    assert landing.sweeps() == [landed]
    assert not folder.exists()


def test_one_folder_that_cannot_be_recovered_does_not_stop_the_others(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    landing = Landing(tmp_path)
    for _ in range(2):
        with begin(landing) as writer:
            writer.write(answer(1))
    damaged, sound = sorted((tmp_path / "sweeps").glob("*/*.inprogress"))
    (damaged / "begun.json").write_text("{")

    (landed,) = landing.recover(FINISHED)

    assert landed.path == sound.with_suffix("")
    assert damaged.exists()
    assert f"{damaged / 'begun.json'} does not say what it is" in caplog.text


WRITE_TO_A_FULL_DISK = """
import resource
hard = resource.getrlimit(resource.RLIMIT_FSIZE)[1]
landing = Landing(Path(sys.argv[1]))
with begin(landing) as writer:
    writer.write(answer(1))
    resource.setrlimit(resource.RLIMIT_FSIZE, (5_000, hard))
    try:
        writer.write(answer(2, b"x" * 10_000))
    except OSError:
        print("refused", flush=True)
    writer.write(answer(3))
    resource.setrlimit(resource.RLIMIT_FSIZE, (hard, hard))
    writer.seal(FINISHED)
"""


def test_a_line_that_the_disk_refuses_leaves_no_part_of_it(tmp_path: Path) -> None:
    with run_in_another_process(WRITE_TO_A_FULL_DISK, tmp_path) as process:
        output, _ = process.communicate()

    assert (process.returncode, output) == (0, "refused\n")
    landing = Landing(tmp_path)
    (landed,) = landing.sweeps()
    assert list(landing.answers(landed)) == [answer(1), answer(3)]
