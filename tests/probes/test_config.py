"""Reading probes.json: the seed's shape works, and each mistake is told in one line."""

from __future__ import annotations

import json
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from pipeline.probes.config import (
    DEFAULT_CONFIG,
    SCHEMA_PATH,
    Arrival,
    ProbeConfigError,
    json_schema,
    load_probe_config,
)
from pipeline.probes.config_values import check_cron

Document = dict[str, Any]
Write = Callable[[Any], Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def write_file(content: Any) -> Path:
        path = tmp_path / "probes.json"
        path.write_text(content if isinstance(content, str) else json.dumps(content))
        return path

    return write_file


def seed_config() -> Document:
    """Return the configuration of the benchmark article."""
    return {
        "providers": [
            {
                "name": "groq",
                "base_url": "https://api.groq.com/openai/v1",
                "model": "llama-3.1-8b-instant",
            },
            {
                "name": "fireworks",
                "base_url": "https://api.fireworks.ai/inference/v1",
                "model": "accounts/fireworks/models/llama-v3p1-8b-instruct",
            },
            {
                "name": "together",
                "base_url": "https://api.together.xyz/v1",
                "model": "meta-llama/Llama-3.1-8B-Instruct-Turbo",
            },
        ],
        "runs": 50,
        "concurrency": 1,
    }


def changed(place: str, value: Any) -> Document:
    """Return the seed's configuration with ``value`` at ``place``, like ``providers.0.name``."""
    document = seed_config()
    *outer, last = [int(part) if part.isdigit() else part for part in place.split(".")]
    at: Any = document
    for part in outer:
        at = at[part]
    at[last] = value
    return document


def error_of(path: Path) -> str:
    with pytest.raises(ProbeConfigError) as caught:
        load_probe_config(path)
    line = str(caught.value)
    assert "\n" not in line
    assert line.startswith(f"{path}: ")
    return line.removeprefix(f"{path}: ")


def test_the_seeds_configuration_works_as_it_stands(write: Write) -> None:
    config = load_probe_config(write(seed_config()))

    assert [target.name for target in config.providers] == ["groq", "fireworks", "together"]
    assert (config.runs, config.concurrency) == (50, (1,))
    assert config.prompts == ("short_chat",)
    assert config.arrival.loop == "closed"
    assert (config.budget.usd_per_run, config.budget.usd_per_day) == (Decimal("0.25"), Decimal(1))
    assert not config.budget.is_explicit
    groq = config.providers[0]
    assert groq.completions_url({}) == "https://api.groq.com/openai/v1/chat/completions"
    assert (groq.key_env, groq.model_id) == ("GROQ_API_KEY", "llama-3.1-8b-instant")
    assert (groq.tag, groq.is_openrouter) == (None, False)


def test_a_full_configuration_is_read(write: Write, tmp_path: Path) -> None:
    (tmp_path / "mine.jsonl").write_text('{"prompt": "Hello"}\n')
    (tmp_path / "ca.pem").write_text("")
    document = {
        "$schema": "https://example.com/probes.schema.json",
        "providers": [
            {
                "name": "pinned",
                "base_url": "https://openrouter.ai/api/v1/",
                "model": "openai/gpt-oss-20b",
                "provider": {"only": ["groq"], "allow_fallbacks": False},
                "provider_name": "Groq",
                "region": "eu",
                "price": {"input_usd_per_mtok": "0.075", "output_usd_per_mtok": 0.3},
                "ca_file": "ca.pem",
                "extra_body": {"reasoning": {"effort": "low"}, "top_p": 0.5},
            }
        ],
        "concurrency": [1, 10],
        "prompts": ["short_chat", {"jsonl": "mine.jsonl"}],
        "temperature": None,
        "arrival": {"kind": "poisson", "rate_per_s": 2.5},
        "schedule": "17 */3 * * mon-fri",
        "budget": {"usd_per_run": 0.1},
        "seed": 7,
    }

    config = load_probe_config(write(document))
    target = config.providers[0]

    assert (target.tag, target.is_openrouter, target.key_env) == (
        "groq",
        True,
        "OPENROUTER_API_KEY",
    )
    assert target.base_url == "https://openrouter.ai/api/v1"
    assert target.price is not None
    assert target.price.input_usd_per_mtok == Decimal("0.075")
    assert target.price.output_usd_per_mtok == Decimal("0.3")
    assert target.ca_file == (tmp_path / "ca.pem").resolve()
    assert json.dumps(target.extra_body) == '{"reasoning": {"effort": "low"}, "top_p": 0.5}'
    assert config.concurrency == (1, 10)
    assert config.temperature is None
    assert config.arrival == Arrival(kind="poisson", rate_per_s=2.5)
    assert config.arrival.loop == "open"
    assert config.budget.is_explicit
    assert config.budget.usd_per_run == Decimal("0.1")
    jsonschema.validate(document, json_schema())


def test_a_configuration_written_back_is_the_same(write: Write) -> None:
    document = changed("providers.0.price", {"input_usd_per_mtok": 0.1, "output_usd_per_mtok": 1})
    config = load_probe_config(write(document))

    assert load_probe_config(write(config.model_dump_json())) == config


def test_a_run_without_any_limit_is_not_held_to_one(write: Write) -> None:
    limits = {"usd_per_run": None, "usd_per_day": None}

    assert not load_probe_config(write(changed("budget", limits))).budget.is_explicit


@pytest.mark.parametrize(
    ("place", "value", "wanted"),
    [
        ("runz", 3, "runz is no known key; did you mean runs?"),
        ("concurency", 3, "concurency is no known key; did you mean concurrency?"),
        ("providers.1.modle", "x", "providers[1].modle is no known key; did you mean model?"),
        (
            "budget",
            {"usd_per_rn": 1},
            "budget.usd_per_rn is no known key; did you mean usd_per_run?",
        ),
        (
            "providers.0.provider",
            {"only": "a", "order": ["b"]},
            "providers[0].provider.order is no known key; known here: allow_fallbacks, only",
        ),
        ("runs", 0, "runs is 0: should be greater than or equal to 1"),
        ("runs", "50", 'runs is "50": should be a whole number'),
        ("concurrency", 0, "concurrency is 0: should be greater than or equal to 1"),
        ("concurrency", True, "concurrency is true: should be a whole number"),
        ("concurrency", [1, 0], "concurrency[1] is 0: should be greater than or equal to 1"),
        ("concurrency", 300, "concurrency is 300: should be less than or equal to 256"),
        ("concurrency", [], "concurrency is []: should hold at least one"),
        ("concurrency", [4, 4], "concurrency names a level twice"),
        ("providers", [], "providers is []: should hold at least one"),
        ("providers", {}, "providers is {}: should be a list"),
        ("providers.1", "groq", 'providers[1] is "groq": should be an object'),
        ("providers.2.name", "groq", "providers [2] has the name 'groq' of [0]; rename one"),
        ("providers.0.base_url", "api.groq.com/v1", "providers[0].base_url should be an http://"),
        (
            "providers.0.base_url",
            "https://api.groq.com/openai/v1/chat/completions",
            "providers[0].base_url should end before /chat/completions, which is added",
        ),
        (
            "providers.0.provider",
            {"only": ["a", "b"]},
            "providers[0].provider.only should name exactly one tag; "
            "write one target for each endpoint",
        ),
        (
            "providers.0.provider",
            {"only": "a", "allow_fallbacks": True},
            "providers[0].provider.allow_fallbacks is true: should be False",
        ),
        (
            "providers.0.provider",
            {"only": "a"},
            "providers[0] has a provider pin, but api.groq.com is not OpenRouter; "
            "take out provider",
        ),
        (
            "providers.0.price",
            {"input_usd_per_mtok": -0.1, "output_usd_per_mtok": "1,5"},
            "providers[0].price.input_usd_per_mtok is -0.1: "
            "should be greater than or equal to 0; "
            'providers[0].price.output_usd_per_mtok is "1,5": '
            "should be a number, or a text that holds one",
        ),
        (
            "providers.0.price",
            {"input_usd_per_mtok": 1},
            "providers[0].price.output_usd_per_mtok is missing: add it",
        ),
        ("providers.0.ca_file", "no.pem", 'providers[0].ca_file is "no.pem": there is no file '),
        (
            "providers.0.extra_body",
            {"max_completion_tokens": 9},
            "providers[0].extra_body holds 'max_completion_tokens', which the probe sets itself",
        ),
        ("budget", {"usd_per_run": 0}, "budget.usd_per_run is 0: should be greater than 0"),
        ("budget", {"usd_per_day": True}, "budget.usd_per_day is true: should be a number"),
        ("schedule", "hourly", 'schedule is "hourly": should have the five cron fields'),
        ("schedule", "60 * * * *", "schedule is \"60 * * * *\": has '60' as minute"),
        ("prompts", [], "prompts is []: should hold at least one"),
        ("prompts", ["short_chta"], "prompts[0] is \"short_chta\": should be 'short_chat', '1k_in"),
        ("prompts", ["10k_in", "10k_in"], "prompts gives the name '10k_in' to more than one set"),
        (
            "prompts",
            [{"jsonl": "none.jsonl"}],
            'prompts[0].jsonl is "none.jsonl": there is no file ',
        ),
        ("prompts", [{"jsnol": "x"}], "prompts[0].jsnol is no known key; did you mean jsonl?"),
        ("arrival", {"kind": "poisson"}, "arrival is poisson and needs rate_per_s"),
        ("arrival", {"rate_per_s": 2}, "arrival has a rate_per_s, which a closed loop"),
        ("arrival", {"kind": "constnt"}, "arrival.kind is \"constnt\": should be 'closed', 'const"),
        ("temperature", 3, "temperature is 3: should be less than or equal to 2"),
        ("timeout_s", 0.0, "timeout_s is 0.0: should be greater than 0"),
        ("seed", 1.5, "seed is 1.5: should be a whole number"),
    ],
)
def test_a_wrong_value_is_named_with_its_place_and_what_is_wanted(
    write: Write, place: str, value: Any, wanted: str
) -> None:
    assert wanted in error_of(write(changed(place, value)))


@pytest.mark.parametrize("key", ["providers", "name", "base_url", "model"])
def test_what_is_missing_is_named(write: Write, key: str) -> None:
    document = seed_config()
    (document if key == "providers" else document["providers"][1]).pop(key)
    place = key if key == "providers" else f"providers[1].{key}"

    assert error_of(write(document)).startswith(f"{place} is missing: ")


def test_all_mistakes_are_told_at_once(write: Write) -> None:
    document = {**seed_config(), "runs": 0, "warmup": 2}

    assert error_of(write(document)) == (
        "runs is 0: should be greater than or equal to 1; "
        "warmup is no known key; did you mean warm_up?"
    )


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ('{"runs": 1,\n "b" 2}', "line 2, column 6: not JSON: Expecting ':' delimiter"),
        ("", "line 1, column 1: not JSON: Expecting value"),
        ('{"runs": 1, "runs": 2}', "'runs' is written 2 times in one object; keep one"),
        ('{"temperature": NaN}', "NaN is not a number"),
        ("[]", "the file is []: should be an object"),
    ],
)
def test_a_file_that_is_no_usable_json_says_where(write: Write, text: str, wanted: str) -> None:
    assert error_of(write(text)) == wanted


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    assert error_of(tmp_path / "none.json") == (
        "No such file or directory; name a file like probes.json"
    )


@pytest.mark.parametrize(
    ("place", "value"),
    [
        ("providers.0.api_key", "sk-or-v1-secret"),
        ("providers.0.apiKey", "secret"),
        ("providers.0.headers", {"Authorization": "Bearer secret"}),
        ("providers.0.api_key_env", "sk-or-v1-secret"),
        ("providers.0.api_key_env", "gsk_secret"),
        ("api_key", "secret"),
        ("providers.0.base_url", "https://me:secret@api.groq.com/v1"),
        ("providers.0.base_url", "https://api.groq.com/v1?key=secret"),
        ("providers.0.extra_body", ["secret"]),
    ],
)
def test_a_key_in_the_file_is_refused_and_never_repeated(
    write: Write, place: str, value: Any
) -> None:
    line = error_of(write(changed(place, value)))

    assert "secret" not in line
    if "key" in place.lower():
        assert "environment variable" in line


@pytest.mark.parametrize(
    ("base_url", "key_env"),
    [
        ("https://openrouter.ai/api/v1", "OPENROUTER_API_KEY"),
        ("https://api.together.ai/v1", "TOGETHER_API_KEY"),
        ("https://api.cerebras.ai/v1", "CEREBRAS_API_KEY"),
        ("http://api.cerebras.ai/v1", None),
        ("https://api.cerebras.ai.example.com/v1", None),
        ("http://127.0.0.1:8080/v1", None),
    ],
)
def test_only_a_known_host_over_tls_is_given_its_key_unasked(
    write: Write, base_url: str, key_env: str | None
) -> None:
    config = load_probe_config(write(changed("providers.0.base_url", base_url)))

    assert config.providers[0].key_env == key_env


def test_placeholders_in_an_address_are_filled_when_it_is_used(write: Write) -> None:
    base_url = "https://api.cloudflare.com/client/v4/accounts/{CLOUDFLARE_ACCOUNT_ID}/ai/v1"
    target = load_probe_config(write(changed("providers.0.base_url", base_url))).providers[0]

    with pytest.raises(ProbeConfigError, match="groq needs CLOUDFLARE_ACCOUNT_ID; set it"):
        target.completions_url({"CLOUDFLARE_ACCOUNT_ID": ""})

    assert target.completions_url({"CLOUDFLARE_ACCOUNT_ID": "42"}) == (
        "https://api.cloudflare.com/client/v4/accounts/42/ai/v1/chat/completions"
    )
    assert target.base_url == base_url


def test_an_open_loop_states_how_many_requests_may_be_under_way(write: Write) -> None:
    document = {**seed_config(), "arrival": {"kind": "constant", "rate_per_s": 5}}
    assert load_probe_config(write(document)).arrival.loop == "open"

    del document["concurrency"]
    assert "has a constant arrival and no concurrency" in error_of(write(document))


def test_a_set_of_ones_own_may_not_take_the_name_of_another(write: Write, tmp_path: Path) -> None:
    (tmp_path / "10k_in.jsonl").write_text("{}")

    line = error_of(write(changed("prompts", [{"jsonl": "10k_in.jsonl"}])))

    assert "prompts gives the name '10k_in' to more than one set; rename the file" in line


@pytest.mark.parametrize(
    "schedule",
    [
        "17 */3 * * *",
        "0,30 8-18/2 1-5 jan-MAR mon,wed-fri",
        "5 4 29 2 *",
        "0 0 31 2 7",
        "* * * * 0",
    ],
)
def test_a_schedule_of_five_cron_fields_is_taken(schedule: str) -> None:
    assert check_cron(schedule) == schedule


@pytest.mark.parametrize(
    ("schedule", "wanted"),
    [
        ("* * * *", "has 4"),
        ("@hourly", "has 1"),
        ("0 24 * * *", "'24' as hour"),
        ("0 0 0 * *", "'0' as day of month"),
        ("0 0 * 13 *", "'13' as month"),
        ("0 0 * * 8", "'8' as day of week"),
        ("0 0 * * wednesday", "'wednesday' as day of week"),
        ("5-1 * * * *", "'5-1' as minute"),
        ("*/0 * * * *", "'*/0' as minute"),
        ("5/10 * * * *", "'5/10' as minute"),
        ("1,,2 * * * *", "'' as minute"),
        ("0 0 30 2 *", "names a day that none of its months has"),
    ],
)
def test_a_schedule_that_is_none_says_which_field(schedule: str, wanted: str) -> None:
    with pytest.raises(ValueError, match=wanted.replace("*", r"\*")):
        check_cron(schedule)


def test_the_schema_is_that_of_the_published_file() -> None:
    assert json.loads(SCHEMA_PATH.read_text()) == json_schema(), (
        "run `python -m pipeline.probes.config`"
    )


@pytest.mark.parametrize(
    ("place", "value"),
    [
        ("runs", 0),
        ("concurrency", [0]),
        ("concurency", 1),
        ("prompts", ["none"]),
        ("budget", {"usd_per_run": 0}),
        ("providers.0.price", {"input_usd_per_mtok": -1, "output_usd_per_mtok": 1}),
        ("timeout_s", 0),
        ("temperature", 2.5),
        ("providers.0.provider", {"only": ["a", "b"]}),
    ],
)
def test_the_schema_refuses_what_the_reader_refuses(place: str, value: Any) -> None:
    jsonschema.validate(seed_config(), json_schema())
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(changed(place, value), json_schema())


def test_the_default_configuration_is_pinned_scheduled_and_capped() -> None:
    config = load_probe_config(DEFAULT_CONFIG)

    assert all(target.tag and target.is_openrouter for target in config.providers)
    assert len({(target.model, target.tag) for target in config.providers}) == 6
    assert config.schedule is not None
    assert config.budget.is_explicit
    reasoning = [target for target in config.providers if "gpt-oss" in target.model]
    assert all(target.extra_body == {"reasoning": {"effort": "low"}} for target in reasoning)
    jsonschema.validate(json.loads(DEFAULT_CONFIG.read_text()), json_schema())
