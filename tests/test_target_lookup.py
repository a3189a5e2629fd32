"""Where the targets of a probe are looked up: lists of endpoints, snapshot, environment."""

from __future__ import annotations

import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from probe_plans import config_of, target

from pipeline.probes.config import Price
from pipeline.probes.readiness import get_ready
from pipeline.probes.targets import TargetCheck
from pipeline.settings import Settings
from pipeline.target_lookup import check_pins, look_up, published_price

OWN = {"input_usd_per_mtok": "1", "output_usd_per_mtok": "2"}


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(data_dir=tmp_path / "data", _env_file=None)  # type: ignore[call-arg]


def price(output: str) -> Price:
    return Price(
        input_usd_per_mtok=Decimal("0.05"),
        output_usd_per_mtok=Decimal(output),
        cache_read_usd_per_mtok=None,
    )


def publish(settings: Settings, *rows: tuple[str, str, float | None]) -> None:
    path = settings.published_dir / "current" / "models" / "meta-llama" / "llama.json"
    path.parent.mkdir(parents=True)
    providers = [
        {
            "provider_name": provider,
            "tag": tag,
            "input_usd_per_mtok": 0.05,
            "output_usd_per_mtok": output,
            "cache_read_usd_per_mtok": None,
        }
        for provider, tag, output in rows
    ]
    path.write_text(json.dumps({"providers": providers}))


def asked(**more: Any) -> Any:
    return config_of(target(model="x", model_id="meta-llama/llama", **more)).providers[0]


def test_a_price_in_the_snapshot_is_found_by_the_tag_else_by_who_serves(
    settings: Settings,
) -> None:
    publish(settings, ("Novita", "novita/fp8", 0.08), ("Groq", "groq", 0.1))

    assert published_price(asked(provider={"only": "novita/fp8"}), settings) == price("0.08")
    assert published_price(asked(provider_name="Groq"), settings) == price("0.1")


def test_among_several_endpoints_the_dearest_price_is_taken(settings: Settings) -> None:
    publish(
        settings, ("Novita", "novita/fp8", 0.08), ("Novita", "novita", 0.3), ("Novita", "n", None)
    )

    assert published_price(asked(provider_name="Novita"), settings) == price("0.3")


@pytest.mark.parametrize(
    "more", [{}, {"provider_name": "Nobody"}, {"model_id": "other/model"}, {"model_id": "../x"}]
)
def test_a_price_that_the_snapshot_does_not_hold_is_not_known(
    settings: Settings, more: dict[str, str]
) -> None:
    publish(settings, ("Novita", "novita/fp8", 0.08))
    found = config_of(target(**({"model": "x", "model_id": "meta-llama/llama"} | more)))

    assert published_price(found.providers[0], settings) is None


def test_without_a_snapshot_no_price_is_known(settings: Settings) -> None:
    assert published_price(asked(provider_name="Groq"), settings) is None


def test_a_configured_price_goes_before_a_listed_one_and_that_before_a_published_one() -> None:
    config = config_of(
        target("own", provider={"only": "t"}, price=OWN),
        target("listed", provider={"only": "t"}),
        target("published"),
        target("unknown"),
    )
    own, listed, *_ = config.providers
    checks = [
        TargetCheck(own, "found", price=price("3")),
        TargetCheck(listed, "found", price=price("3")),
    ]
    published = {target.name: price("4") for target in config.providers[:3]}

    prices = get_ready(config, checks, published, {}).prices

    found = {name: found and found.output_usd_per_mtok for name, found in prices.items()}
    assert found == {"own": 2, "listed": 3, "published": 4, "unknown": None}


def test_a_list_that_cannot_be_had_leaves_its_targets_unchecked(settings: Settings) -> None:
    config = config_of(
        target("a", base_url="http://127.0.0.1:1/v1", provider={"only": "groq"}), target("b")
    )

    (check,) = check_pins(config.providers, settings)

    assert (check.target.name, check.status) == ("a", "unknown")


def test_keys_come_from_the_environment_before_the_file(
    settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("FIRST_KEY", "from the environment")
    (tmp_path / ".env").write_text("FIRST_KEY=no\nSECOND_KEY=from-the-file\n")
    config = config_of(
        target("a", api_key_env="FIRST_KEY"), target("b", api_key_env="SECOND_KEY"), target("c")
    )

    keys = look_up(config, settings).keys

    assert keys == {"a": "from the environment", "b": "from-the-file", "c": None}


def test_what_an_address_leaves_open_comes_from_the_file_too(
    settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / ".env").write_text("ACCOUNT_IN_FILE=42\n")
    config = config_of(
        target("a", base_url="https://api.example.com/{ACCOUNT_IN_FILE}/v1"),
        target("b", base_url="https://api.example.com/{ACCOUNT_OF_NOBODY}/v1"),
    )

    ready = look_up(config, settings)

    assert ready.refusals == {
        "b": "base_url of target b needs ACCOUNT_OF_NOBODY; set it in the environment or .env"
    }
