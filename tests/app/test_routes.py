"""The HTTP routes, asked over a socket of the app as it is started for users."""

from __future__ import annotations

import gzip
import hashlib
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path

import polars as pl
import pytest
import requests
from hand_made_marts import AS_OF, FREE, LLAMA, add_sweep, make_marts

from pipeline.duck import Database
from pipeline.publishing import publish

ROOT = Path(__file__).resolve().parents[2]


class App:
    """The running app: asks without following redirects."""

    def __init__(self, url: str, data_dir: Path) -> None:
        self.url = url
        self.published_dir = data_dir / "published"
        self._session = requests.Session()

    def get(self, path: str, method: str = "GET", **headers: str) -> requests.Response:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        # A prepared URL is not tidied up, so that `..` arrives as it is written.
        request = self._session.prepare_request(requests.Request(method, self.url, headers=named))
        request.url = self.url + path
        return self._session.send(request, allow_redirects=False, timeout=30)

    def file(self, name: str) -> bytes:
        return (self.published_dir / "current" / name).read_bytes()

    def close(self) -> None:
        self._session.close()


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[App]:
    data_dir = tmp_path_factory.mktemp("data")
    database = Database.in_memory()
    make_marts(database)
    publish(database, data_dir / "published", market="live", now=AS_OF, keep=3)
    database.close()
    yield from running_app(data_dir)


def running_app(data_dir: Path) -> Iterator[App]:
    command = (sys.executable, "-m", "streamlit", "run", "app/asgi.py", "--server.port", "0")
    process = subprocess.Popen(
        command,
        cwd=ROOT,
        env={**os.environ, "TOKENTAPE_DATA_DIR": str(data_dir)},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    assert process.stdout is not None
    # It listens before it names its address.
    for line in process.stdout:
        found = re.search(r"http://127\.0\.0\.1:\d+", line)
        if found:
            break
    else:
        pytest.fail(f"the app ended with {process.wait()}")
    running = App(found[0], data_dir)
    yield running
    running.close()
    process.terminate()
    process.wait(timeout=30)
    process.stdout.close()


def test_health_says_what_is_shown(app: App) -> None:
    answer = app.get("/healthz")

    assert answer.status_code == 200
    body = answer.json()
    assert body["status"] == "ok"
    assert body["snapshot"]["as_of_utc"] == "2026-11-30T06:17:00Z"
    assert body["snapshot"]["snapshot_id"] == (app.published_dir / "current").resolve().name


def test_the_pages_are_served_beside_the_routes(app: App) -> None:
    for path in ("/", "/models", "/data"):
        answer = app.get(path)
        assert (answer.status_code, answer.headers["content-type"]) == (
            200,
            "text/html; charset=utf-8",
        )
    slash = app.get("/data/")
    assert (slash.status_code, slash.headers["location"]) == (307, "/data")


@pytest.mark.parametrize(
    ("path", "file"),
    [
        ("/api/v1/manifest.json", "manifest.json"),
        ("/api/v1/models.json", "models.json"),
        (f"/api/v1/models/{LLAMA}.json", f"models/{LLAMA}.json"),
        (f"/api/v1/models/{FREE}.json", f"models/{FREE}.json"),
        ("/api/v1/models/acme/tiny%3Afree.json", f"models/{FREE}.json"),
    ],
)
def test_the_api_answers_with_the_published_json(app: App, path: str, file: str) -> None:
    answer = app.get(path)

    assert answer.status_code == 200
    assert answer.headers["content-type"] == "application/json"
    assert answer.content == app.file(file)
    assert answer.headers["access-control-allow-origin"] == "*"


def test_the_providers_of_a_model_come_as_csv_and_json_with_exact_prices(app: App) -> None:
    table = app.get(f"/api/v1/models/{LLAMA}/providers.csv")
    listed = app.get(f"/api/v1/models/{LLAMA}/providers.json")

    assert table.headers["content-type"] == "text/csv; charset=utf-8"
    assert table.text.count("\n") == 3
    assert "0.020000000000000001" in table.text
    rows = json.loads(listed.text, parse_float=Decimal)
    assert [row["input_usd_per_mtok"] for row in rows] == [
        Decimal("0.020000000000000001"),
        Decimal("0.05"),
    ]


@pytest.mark.parametrize(
    ("file", "media_type"),
    [
        ("manifest.json", "application/json"),
        ("provider_table.parquet", "application/vnd.apache.parquet"),
        ("provider_table.csv.gz", "application/gzip"),
        ("uptime_history/2026-09.parquet", "application/vnd.apache.parquet"),
        ("schema/provider_table.json", "application/json"),
        ("tokentape.duckdb", "application/octet-stream"),
        (f"models/{FREE}.json", "application/json"),
    ],
)
def test_every_file_is_served_byte_for_byte_under_its_sha256(
    app: App, file: str, media_type: str
) -> None:
    answer = app.get(f"/data/{file}", accept_encoding="gzip")

    body = app.file(file)
    assert answer.status_code == 200
    assert answer.content == body
    assert "content-encoding" not in answer.headers
    assert answer.headers["content-type"] == media_type
    assert answer.headers["etag"] == f'"{hashlib.sha256(body).hexdigest()}"'
    assert answer.headers["cache-control"] == "no-cache"


@pytest.mark.parametrize("path", ["/data/models.json", "/api/v1/models.json"])
def test_what_a_client_has_is_not_sent_again(app: App, path: str) -> None:
    etag = app.get(path).headers["etag"]

    for held in (etag, f'"other", {etag}', "*", f"W/{etag.removeprefix('W/')}"):
        answer = app.get(path, if_none_match=held)
        assert (answer.status_code, answer.content) == (304, b"")
        assert answer.headers["etag"] == etag
        assert answer.headers["access-control-allow-origin"] == "*"
    assert app.get(path, if_none_match='"other"').status_code == 200
    providers = f"/api/v1/models/{LLAMA}/providers.csv"
    held = app.get(providers).headers["etag"]
    assert app.get(providers, if_none_match=held).status_code == 304


def test_a_part_of_a_file_can_be_asked_for(app: App) -> None:
    body = app.file("provider_table.parquet")
    path = "/data/provider_table.parquet"

    head = app.get(path, method="HEAD")
    assert (head.headers["content-length"], head.headers["accept-ranges"]) == (
        str(len(body)),
        "bytes",
    )
    part = app.get(path, range="bytes=4-9", if_range=head.headers["etag"])
    assert (part.status_code, part.content) == (206, body[4:10])
    assert part.headers["content-range"] == f"bytes 4-9/{len(body)}"
    assert app.get(path, range="bytes=-4").content == b"PAR1"
    assert app.get(path, range="bytes=4-9", if_range='"other"').content == body
    assert app.get(path, range=f"bytes={len(body)}-").status_code == 416


def test_a_program_reads_columns_of_a_parquet_file_by_its_address(app: App) -> None:
    table = pl.read_parquet(
        f"{app.url}/data/provider_table.parquet", columns=["model_id", "input_usd_per_mtok"]
    )

    assert table.rows()[1] == (LLAMA, Decimal("0.020000000000000001"))


def test_json_of_the_api_is_compressed_on_the_way_when_asked(app: App) -> None:
    answer = app.get("/api/v1/models.json", accept_encoding="gzip")

    assert answer.headers["content-encoding"] == "gzip"
    assert answer.headers["etag"].startswith('W/"')
    assert answer.content == app.file("models.json")
    assert len(gzip.compress(answer.content)) < len(answer.content)


@pytest.mark.parametrize("path", ["/data/models.json", "/api/v1/models.json"])
def test_a_browser_may_ask_from_any_page(app: App, path: str) -> None:
    answer = app.get(
        path, "OPTIONS", origin="https://example.org", access_control_request_headers="range"
    )

    assert answer.status_code == 204
    assert answer.headers["access-control-allow-origin"] == "*"
    assert "Range" in answer.headers["access-control-allow-headers"]


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("/data/nothing.parquet", "no file 'nothing.parquet'"),
        ("/data/../../../../etc/hostname", None),
        ("/data/%2e%2e/%2e%2e/etc/hostname", None),
        ("/data/..%2f..%2fetc%2fhostname", None),
        ("/data//etc/hostname", "no file '/etc/hostname'"),
        ("/data/%2Fetc%2Fhostname", "no file '/etc/hostname'"),
        ("/data/models", "no file 'models'"),
        ("/data/.", "no file '.'"),
        ("/data/manifest.json%00.csv", None),
        ("/api/v1/models/../../etc/hostname.json", None),
        ("/api/v1/models/acme/%2e%2e%2fmanifest.json", None),
        ("/api/v1/models/acme/llama-3.1-8b-instruct.json", "no model 'acme/llama-3.1-8b-instruct'"),
        ("/api/v1/models/acme/none/providers.csv", "no model 'acme/none'"),
        ("/api/v1/models/acme/tiny:free/providers.xml", "no such address"),
        ("/api/v1/other", "no such address"),
        ("/api/v1/", "no such address"),
    ],
)
def test_what_is_not_published_is_not_found(app: App, path: str, message: str | None) -> None:
    answer = app.get(path)

    if message is None:  # Streamlit refuses a way out of the folder before it gets to a route
        assert answer.status_code in (400, 404)
    else:
        assert answer.status_code == 404
        assert answer.headers["content-type"] == "application/json"
        assert answer.headers["access-control-allow-origin"] == "*"
        assert message in answer.json()["error"]
    assert answer.content != Path("/etc/hostname").read_bytes()


def test_an_unknown_model_comes_with_the_closest_ones(app: App) -> None:
    answer = app.get("/api/v1/models/acme/llama-3.1-8b-instruct.json")

    assert answer.json()["closest"][0] == LLAMA


def test_nothing_can_be_written(app: App) -> None:
    for method in ("POST", "PUT", "DELETE"):
        answer = app.get("/data/models.json", method)
        assert answer.status_code == 405
        assert "error" in answer.json()


def test_before_the_first_publication_and_after_it_the_same_process_answers(
    tmp_path: Path,
) -> None:
    for app in running_app(tmp_path):
        assert app.get("/healthz").json() == {"status": "ok", "snapshot": None}
        nothing = app.get("/data/models.json")
        assert nothing.status_code == 404
        assert nothing.json()["error"] == "nothing is published yet; run `tokentape sync`"

        database = Database.in_memory()
        make_marts(database)
        for day in (None, AS_OF.date().replace(month=12, day=1)):
            if day:
                add_sweep(database, day)
            new = publish(database, app.published_dir, market="live", now=AS_OF, keep=1)
            assert app.get("/healthz").json()["snapshot"]["snapshot_id"] == new.snapshot_id
            assert app.get("/data/manifest.json").json()["snapshot_id"] == new.snapshot_id
        database.close()

        manifest = app.published_dir / "current" / "manifest.json"
        manifest.unlink()
        # Still open from before: a reader keeps the snapshot that it has.
        assert app.get(f"/api/v1/models/{LLAMA}/providers.json").status_code == 200
        assert app.get("/data/manifest.json").status_code == 503
