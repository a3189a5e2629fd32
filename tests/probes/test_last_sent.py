"""When targets were last asked, from run to run."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest
from probe_plans import NOON, config_of, target
from probe_samples import failed, sample

from pipeline.probes.last_sent import LastSent

A, B = config_of(target("a"), target("b", model="other")).providers


@pytest.fixture
def last_sent(tmp_path: Path) -> LastSent:
    return LastSent(tmp_path / "probes" / "last_sent.json")


def test_a_target_that_was_never_asked_is_not_known(last_sent: LastSent) -> None:
    assert last_sent.of([A, B]) == {}


def test_the_latest_request_that_was_sent_counts(last_sent: LastSent) -> None:
    later = NOON + timedelta(minutes=5)
    last_sent.note([A, B], [sample(target="a", sent_at_utc=later)])
    last_sent.note(
        [A, B],
        [
            failed("timeout", target="a", sent_at_utc=NOON),
            failed("refused_config", target="b", sent_at_utc=None),
        ],
    )

    assert last_sent.of([A, B]) == {"a": later}


def test_a_target_is_known_whatever_it_is_called(last_sent: LastSent) -> None:
    last_sent.note([A], [sample(target="a", sent_at_utc=NOON)])

    renamed = config_of(target("new name")).providers
    assert last_sent.of(renamed) == {"new name": NOON}


@pytest.mark.parametrize("text", ["", "{", "[]", '{"http://x m": 3}'])
def test_a_file_that_cannot_be_read_knows_nothing(tmp_path: Path, text: str) -> None:
    path = tmp_path / "last_sent.json"
    path.write_text(text)

    assert LastSent(path).of([A]) == {}
    LastSent(path).note([A], [sample(target="a", sent_at_utc=NOON)])
    assert LastSent(path).of([A]) == {"a": NOON}
