"""Whatever happens while a snapshot is made, readers see a whole one: the old or the new."""

from __future__ import annotations

import hashlib
import json
import signal
import subprocess
import sys
import threading
from datetime import date, timedelta
from pathlib import Path

import pytest
from hand_made_marts import AS_OF, add_sweep, warehouse_file

from pipeline.duck import Database
from pipeline.publishing import PublishError, publish

PUBLISH = """
import resource, sys
from datetime import datetime, timezone
from pathlib import Path
from pipeline.duck import Database
from pipeline.publishing import PublishError, publish

warehouse, published_dir = map(Path, sys.argv[1:3])
database = Database.open_file(warehouse, memory_limit="512MB", threads=2)

def publish_once():
    now = datetime(2026, 12, 1, 7, tzinfo=timezone.utc)
    return publish(database, published_dir, market="live", now=now, keep=1)
"""

# The hook is called before the operation that it is told of.
KILLED = (
    PUBLISH
    + """
import os, signal

wanted, text = sys.argv[3:5]

def hook(event, arguments):
    if event == wanted and any(text in str(argument) for argument in arguments):
        os.kill(os.getpid(), signal.SIGKILL)

sys.addaudithook(hook)
publish_once()
"""
)

# A limit on the size of a file fails a write in the middle, as a full disk does.
FULL = (
    PUBLISH
    + """
limits = resource.getrlimit(resource.RLIMIT_FSIZE)
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[3]), limits[1]))
try:
    publish_once()
except PublishError as error:
    print(error)
resource.setrlimit(resource.RLIMIT_FSIZE, limits)
print(sorted(path.name for path in published_dir.glob(".*")))
print(publish_once().snapshot_id)
"""
)


def assert_whole(snapshot: Path) -> str:
    """Check every file against the manifest; return the snapshot's id."""
    manifest = json.loads((snapshot / "manifest.json").read_text())
    found = {
        path.relative_to(snapshot).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in snapshot.rglob("*.*")
        if path.name != "manifest.json"
    }
    assert found == {path: entry["sha256"] for path, entry in manifest["files"].items()}
    return str(manifest["snapshot_id"])


@pytest.fixture
def published_dir(tmp_path: Path) -> Path:
    """A snapshot is up, and the warehouse beside it holds one sweep more."""
    database = warehouse_file(tmp_path / "warehouse.duckdb")
    publish(database, tmp_path / "published", market="live", now=AS_OF, keep=1)
    add_sweep(database, date(2026, 12, 1))
    database.close()
    return tmp_path / "published"


def run(code: str, published_dir: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    warehouse = published_dir.with_name("warehouse.duckdb")
    return subprocess.run(
        [sys.executable, "-c", code, str(warehouse), str(published_dir), *arguments],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


@pytest.mark.parametrize(
    ("event", "text", "is_new"),
    [
        pytest.param("open", "price_history.csv.gz", False, id="while writing files"),
        pytest.param("open", "manifest.json", False, id="before the manifest"),
        pytest.param("os.rename", "/20261201T", False, id="before it has its name"),
        pytest.param("os.symlink", "20261201T", False, id="before it is linked"),
        pytest.param("os.rename", "/current", False, id="before it is current"),
        pytest.param("os.rename", "/20261130T", True, id="before the old one is retired"),
        pytest.param("shutil.rmtree", ".publishing-20261130T", True, id="while deleting the old"),
    ],
)
def test_after_kill_9_a_whole_snapshot_is_up_and_the_next_one_clears_away(
    published_dir: Path, event: str, text: str, is_new: bool
) -> None:
    killed = run(KILLED, published_dir, event, text)

    assert killed.returncode == -signal.SIGKILL, killed.stderr
    snapshot_id = assert_whole(published_dir / "current")
    assert snapshot_id.startswith("20261201T" if is_new else "20261130T")

    database = Database.open_file(
        published_dir.with_name("warehouse.duckdb"), memory_limit="512MB", threads=2
    )
    again = publish(database, published_dir, market="live", now=AS_OF + timedelta(days=2), keep=1)
    database.close()

    assert assert_whole(published_dir / "current") == again.snapshot_id
    assert again.snapshot_id.startswith("20261201T")
    assert {path.name for path in published_dir.iterdir()} == {"current", again.snapshot_id}


@pytest.mark.parametrize(
    "bytes_free",
    [
        pytest.param("2000", id="in a Parquet file"),
        pytest.param("1000000", id="in the database file"),
    ],
)
def test_a_full_disk_leaves_the_last_snapshot_up_and_nothing_half_written(
    published_dir: Path, bytes_free: str
) -> None:
    before = assert_whole(published_dir / "current")

    tried = run(FULL, published_dir, bytes_free)

    message, left_over, after = tried.stdout.splitlines()
    assert message.startswith(f"cannot publish to {published_dir}: ")
    assert "the snapshot before is still up" in message
    assert left_over == "[]"
    # The warehouse is unharmed: with room again, the same process publishes.
    assert before.startswith("20261130T")
    assert assert_whole(published_dir / "current") == after


def test_a_real_folder_in_the_place_of_current_is_named_in_the_error(tmp_path: Path) -> None:
    (tmp_path / "published" / "current").mkdir(parents=True)
    database = warehouse_file(tmp_path / "warehouse.duckdb")

    with pytest.raises(PublishError, match="current"):
        publish(database, tmp_path / "published", market="live", now=AS_OF, keep=1)
    database.close()


def test_readers_at_any_moment_see_a_whole_snapshot(published_dir: Path) -> None:
    database = Database.open_file(
        published_dir.with_name("warehouse.duckdb"), memory_limit="512MB", threads=2
    )
    is_over = threading.Event()
    problems: list[BaseException] = []
    seen: set[str] = set()

    def read() -> None:
        try:
            while not is_over.is_set():
                seen.add(assert_whole((published_dir / "current").resolve(strict=True)))
        except BaseException as problem:  # an assertion must not die with its thread
            problems.append(problem)

    readers = [threading.Thread(target=read) for _ in range(2)]
    for reader in readers:
        reader.start()
    ids = set()
    for day in range(2, 5):
        add_sweep(database, date(2026, 12, day))
        now = AS_OF + timedelta(days=day)
        ids.add(publish(database, published_dir, market="live", now=now, keep=9).snapshot_id)
    is_over.set()
    for reader in readers:
        reader.join()
    database.close()

    assert problems == []
    assert len(ids) == 3
    assert len(seen) > 1
