"""The file of offers: what is read, what is refused with its row, and what reaches the page."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from datetime import date
from decimal import Decimal
from pathlib import Path

import pytest

from pipeline.building import build_all
from pipeline.duck import Database
from pipeline.offers import BUNDLED, OffersError, load_offers, read_offers
from pipeline.offers.reading import COLUMNS
from pipeline.settings import Settings
from pipeline.sql_models import load_sql_models
from pipeline.warehouse import open_warehouse

HEADER = ",".join(COLUMNS)
ROW = "Acme,Pro,20,acme/*,https://acme.example/plans,their page,2026-11-01"


def file_of(folder: Path, *rows: str, header: str = HEADER) -> Path:
    path = folder / "offers.csv"
    path.write_text("\n".join((header, *rows)) + "\n")
    return path


def test_a_row_is_read_exactly(tmp_path: Path) -> None:
    path = file_of(
        tmp_path, ROW, '"Zed, Inc",Max,99.99,meta-llama/llama-3.1-8b:free,,seen,2026-10-31'
    )

    first, second = read_offers(path)

    assert (first.provider, first.plan, first.usd_per_month) == ("Acme", "Pro", Decimal(20))
    assert (first.model_pattern, first.url) == ("acme/*", "https://acme.example/plans")
    assert (second.provider, second.usd_per_month, second.url, second.as_of) == (
        "Zed, Inc",
        Decimal("99.99"),
        None,
        date(2026, 10, 31),
    )


def test_the_bundled_file_is_one_of_these() -> None:
    assert BUNDLED.read_text().splitlines()[0] == HEADER
    read_offers(BUNDLED)


@pytest.mark.parametrize(
    ("row", "problem"),
    [
        ("Acme,Pro,-1,acme/*,,s,2026-11-01", "line 2: usd_per_month '-1'"),
        ("Acme,Pro,20 EUR,acme/*,,s,2026-11-01", "line 2: usd_per_month '20 EUR'"),
        ("Acme,Pro,nan,acme/*,,s,2026-11-01", "line 2: usd_per_month 'nan'"),
        ("Acme,Pro,20,acme/?,,s,2026-11-01", "line 2: model_pattern 'acme/?'"),
        (
            "Acme,Pro,20,acme/*,javascript:alert(1),s,2026-11-01",
            "line 2: url 'javascript:alert(1)'",
        ),
        ("Acme,Pro,20,acme/*,,s,yesterday", "line 2: as_of 'yesterday'"),
        ("Acme,Pro,20,acme/*,,,2026-11-01", "line 2: source ''"),
        ("Acme,Pro,20,acme/*", "line 2 has 4 cells, not 7"),
    ],
)
def test_a_row_that_cannot_be_used_is_named(tmp_path: Path, row: str, problem: str) -> None:
    with pytest.raises(OffersError) as caught:
        read_offers(file_of(tmp_path, row))

    assert problem in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_plan_is_listed_once_for_a_pattern(tmp_path: Path) -> None:
    with pytest.raises(OffersError, match="line 4 repeats line 2"):
        read_offers(file_of(tmp_path, ROW, "", ROW.replace("20", "30")))


def test_another_header_and_a_missing_file_say_what_is_wanted(tmp_path: Path) -> None:
    with pytest.raises(OffersError, match=f"the first line must be {HEADER}"):
        read_offers(file_of(tmp_path, header="a,b"))
    with pytest.raises(OffersError, match="TOKENTAPE_OFFERS_FILE"):
        read_offers(tmp_path / "none.csv")


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(data_dir=tmp_path / "data", offers_file=file_of(tmp_path, ROW))


@pytest.fixture
def database(settings: Settings) -> Iterator[Database]:
    """Return a warehouse with the mart of the offers built, before any was read."""
    with open_warehouse(settings) as warehouse:
        models = [model for model in load_sql_models() if model.name in ("stg_offers", "offers")]
        build_all(warehouse.database, models)
        yield warehouse.database


def test_what_the_file_holds_takes_the_place_of_what_was_there(
    settings: Settings, database: Database, tmp_path: Path
) -> None:
    load_offers(database, settings)
    file_of(tmp_path, ROW.replace("Pro,20", "Plus,30"), ROW.replace("Pro", "Max"))
    load_offers(database, settings)

    rows = database.rows("select plan, usd_per_month from marts.offers order by plan")
    assert rows == [("Max", Decimal(20)), ("Plus", Decimal(30))]


def test_a_wrong_file_is_logged_and_leaves_the_offers_as_they_were(
    settings: Settings, database: Database, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    load_offers(database, settings)
    file_of(tmp_path, "Acme,Pro,cheap,acme/*,,s,2026-11-01")

    with caplog.at_level(logging.ERROR):
        load_offers(database, settings)

    assert "line 2: usd_per_month 'cheap'" in caplog.text
    assert database.rows("select plan from marts.offers") == [("Pro",)]
