"""``tokentape probe`` and ``tokentape shadow``: what they do, write, say, and end with."""

from __future__ import annotations

import csv
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import nullcontext
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
import requests
from command_line import Ended, Tokentape
from probe_plans import PRICE, QUICK, target, write_config

from pipeline import probe_steps
from pipeline.landing.probe_runs import ProbeLanding
from pipeline.progress import Progress
from pipeline.runs import RunOutcome
from pipeline.sandbox.provider.process import ProviderProcess
from pipeline.sandbox.provider.script import Prices
from pipeline.settings import Settings
from pipeline.steps import utc_now

LLAMA = "meta-llama/llama-3.1-8b-instruct"
CANARY = "sk-canary-1f2e3d4c"


def rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def probed(tokentape: Tokentape, config: Path, *more: str) -> Ended:
    return tokentape("probe", "--config", str(config), "--no-self-check", *more)


def test_the_example_of_the_benchmark_article_runs_as_it_stands(
    tokentape: Tokentape, provider: ProviderProcess, tmp_path: Path
) -> None:
    config = tmp_path / "probes.json"
    config.write_text(
        """{
          "providers": [
            {"name": "groq", "base_url": "URL", "model": "llama-3.1-8b-instant"},
            {"name": "fireworks", "base_url": "URL",
             "model": "accounts/fireworks/models/llama-v3p1-8b-instruct"},
            {"name": "together", "base_url": "URL",
             "model": "meta-llama/Llama-3.1-8B-Instruct-Turbo"}
          ],
          "runs": 50,
          "concurrency": 1
        }""".replace("URL", provider.base_url)
    )

    ended = tokentape("probe", "--config", str(config), "--json", "out.jsonl")

    assert ended.code == 0
    found = rows(tmp_path / "out.jsonl")
    assert len(found) == 150
    assert {row["outcome"] for row in found} == {"ok"}
    first = found[0]
    assert first["sent_ns"] < first["first_byte_ns"] <= first["first_token_ns"]
    assert first["chunk_ns"][0] == first["first_token_ns"]
    assert first["chunk_ns"][-1] == first["last_token_ns"] <= first["end_ns"]
    assert first["self_check_ttft_error_p99_ms"] > 0
    assert isinstance(first["is_trusted"], bool)
    for word in ("groq", "fireworks", "together", "n too small", "self-check at 1 stream"):
        assert word in ended.out


def test_rows_are_of_measured_requests_unless_the_warm_up_is_asked_for(
    tokentape: Tokentape, provider: ProviderProcess, tmp_path: Path
) -> None:
    config = write_config(tmp_path, target(base_url=provider.base_url), runs=2)

    probed(tokentape, config, "--json", "measured.jsonl")
    probed(tokentape, config, "--json", "all.jsonl", "--with-warm-up")

    assert [row["phase"] for row in rows(tmp_path / "measured.jsonl")] == ["measure"] * 2
    assert [row["phase"] for row in rows(tmp_path / "all.jsonl")] == [
        "warm_up",
        "measure",
        "measure",
    ]


def test_csv_and_json_hold_the_same(
    tokentape: Tokentape, provider: ProviderProcess, tmp_path: Path
) -> None:
    config = write_config(tmp_path, target(base_url=provider.base_url), runs=2)

    probed(tokentape, config, "--json", "out.jsonl", "--csv", "out.csv")

    with (tmp_path / "out.csv").open(newline="") as file:
        table = list(csv.DictReader(file))
    for row, line in zip(rows(tmp_path / "out.jsonl"), table, strict=True):
        assert list(line) == list(row)
        assert [int(at) for at in line["chunk_ns"].split()] == row["chunk_ns"]
        assert line["request_id"] == row["request_id"]
        assert (line["is_trusted"], line["reason"]) == ("false", "")


def test_rows_on_stdout_are_alone_there(
    tokentape: Tokentape, provider: ProviderProcess, tmp_path: Path
) -> None:
    config = write_config(tmp_path, target(base_url=provider.base_url), runs=2)

    ended = probed(tokentape, config, "--json", "-")

    assert ended.code == 0
    assert [json.loads(line)["outcome"] for line in ended.out.splitlines()] == ["ok", "ok"]


def test_only_the_chosen_targets_are_asked(
    tokentape: Tokentape, provider: ProviderProcess, tmp_path: Path
) -> None:
    targets = [target(name, base_url=provider.base_url) for name in "abc"]
    config = write_config(tmp_path, *targets, runs=1)

    probed(tokentape, config, "--target", "c", "--target", "a", "--json", "out.jsonl")
    unknown = probed(tokentape, config, "--target", "d")

    assert {row["target"] for row in rows(tmp_path / "out.jsonl")} == {"a", "c"}
    assert (unknown.code, unknown.err) == (
        2,
        "tokentape: there is no target d; there are: a, b, c\n",
    )


def test_a_dry_run_tells_requests_tokens_and_cost_and_sends_nothing(
    tokentape: Tokentape, provider: ProviderProcess, tmp_path: Path
) -> None:
    price = {"input_usd_per_mtok": 0, "output_usd_per_mtok": 100}
    config = write_config(
        tmp_path,
        target("a", base_url=provider.base_url, price=price),
        target("b", base_url=provider.base_url),
        runs=10, max_tokens=40,
    )  # fmt: skip

    ended = tokentape("probe", "--config", str(config), "--dry-run", "--json", "out.jsonl")

    assert ended.code == 0
    # 10 x 40 and a warm-up of 16 tokens, at 100 USD a million: 0.0416 USD.
    lines = [line.split() for line in ended.out.splitlines()]
    assert [lines[1][1], *lines[1][3:]] == ["11", "416", "0.0416"]
    assert lines[2][-3:] == ["price", "not", "known"]
    assert [*lines[3][:3], *lines[3][4:]] == ["in", "all", "22", "832", "0.0416"]
    assert "target b: its price is not known" in ended.err
    assert provider.truth() == []
    assert not (tmp_path / "out.jsonl").exists()
    assert not (tmp_path / "data" / "probes").exists()


@pytest.mark.parametrize("how", [["--dry-run"], []])
def test_a_run_beyond_its_budget_is_refused_in_one_line(
    tokentape: Tokentape, provider: ProviderProcess, tmp_path: Path, how: list[str]
) -> None:
    price = {"input_usd_per_mtok": 0, "output_usd_per_mtok": 1000}
    config = write_config(
        tmp_path,
        target(base_url=provider.base_url, price=price),
        runs=2, warm_up=0, max_tokens=10, budget={"usd_per_run": "0.019"},
    )  # fmt: skip

    ended = probed(tokentape, config, *how)

    assert (ended.code, ended.err) == (
        2,
        "tokentape: the run may cost 0.02 USD, budget.usd_per_run is 0.019; "
        "lower runs, prompts, concurrency or max_tokens, or raise budget.usd_per_run\n",
    )
    assert provider.truth() == []


def test_what_runs_spend_adds_up_over_the_day(
    tokentape: Tokentape, provider: ProviderProcess, tmp_path: Path
) -> None:
    # 4 tokens of 0.002 USD a request, with room for 10 tokens.
    price = {"input_usd_per_mtok": 0, "output_usd_per_mtok": 2000}
    dear = Prices(input=Decimal(0), output=Decimal(2000))
    provider.set_script(QUICK.model_copy(update={"is_openrouter": True, "prices": dear}))
    config = write_config(
        tmp_path,
        target(base_url=provider.base_url, price=price),
        runs=2, warm_up=0, max_tokens=10, budget={"usd_per_day": "0.05"},
    )  # fmt: skip

    first, second = probed(tokentape, config), probed(tokentape, config)

    assert first.code == 0
    assert "spent 0.016 USD; 0.016 today (UTC)" in first.out
    assert second.code == 2
    assert "of which 0.034 are left today" in second.err


def test_a_target_that_cannot_be_asked_ends_the_command_with_three(
    tokentape: Tokentape, provider: ProviderProcess, tmp_path: Path
) -> None:
    config = write_config(
        tmp_path,
        target("a", base_url=provider.base_url),
        target("b", base_url=provider.base_url, api_key_env="SOME_KEY"),
        runs=1,
    )

    ended = probed(tokentape, config)

    assert ended.code == 3
    assert "target b: 2 of 2 requests not sent: SOME_KEY is not set" in ended.err


def test_a_command_fails_when_nothing_was_measured(tokentape: Tokentape, tmp_path: Path) -> None:
    config = write_config(tmp_path, target(base_url="http://127.0.0.1:1/v1"), runs=2)

    ended = probed(tokentape, config)

    assert ended.code == 1
    assert "target a: all 2 requests failed, mostly http_error" in ended.err


def test_a_wrong_configuration_is_one_line(tokentape: Tokentape, tmp_path: Path) -> None:
    config = write_config(tmp_path, target(), run=5)

    ended = probed(tokentape, config)
    missing = probed(tokentape, tmp_path / "no.json")

    assert (ended.code, missing.code) == (2, 2)
    assert len(ended.err.splitlines()) == len(missing.err.splitlines()) == 1
    assert "did you mean runs" in ended.err


def test_keys_are_in_no_output(
    tokentape: Tokentape,
    provider: ProviderProcess,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    monkeypatch.setenv("SOME_KEY", CANARY)
    (tmp_path / ".env").write_text(f"OTHER_KEY={CANARY}\n")
    config = write_config(
        tmp_path,
        target("a", base_url=provider.base_url, api_key_env="SOME_KEY"),
        target("b", base_url="http://127.0.0.1:1/v1", api_key_env="OTHER_KEY"),
        runs=1,
    )
    caplog.set_level("DEBUG")

    ended = probed(
        tokentape, config, "--json", "out.jsonl", "--csv", "out.csv", "--with-warm-up", "--debug"
    )

    assert ended.code == 3
    (tmp_path / ".env").unlink()
    written = [path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()]
    assert len(written) >= 4
    assert CANARY.encode() not in b"".join(written)
    assert CANARY not in ended.out + ended.err + caplog.text
    assert {row["outcome"] for row in rows(tmp_path / "out.jsonl")} == {"ok", "http_error"}


def test_a_provider_with_a_certificate_of_its_own_is_measured_over_tls(
    tokentape: Tokentape, tmp_path: Path
) -> None:
    with ProviderProcess(QUICK, is_tls=True) as provider:
        config = write_config(
            tmp_path,
            target("a", base_url=provider.base_url, ca_file=str(provider.ca_file)),
            target("b", base_url=provider.base_url),
            runs=1,
            warm_up=0,
        )

        ended = probed(tokentape, config, "--json", "out.jsonl")

    found = {row["target"]: row for row in rows(tmp_path / "out.jsonl")}
    assert found["a"]["outcome"] == "ok"
    assert found["a"]["tls_ms"] > 0
    assert found["b"]["outcome"] == "http_error"
    assert ended.code == 3


@pytest.fixture(scope="module")
def market() -> Iterator[ProviderProcess]:
    with ProviderProcess(market=True) as provider:
        yield provider


def pinned(market: ProviderProcess, name: str, tag: str) -> dict[str, Any]:
    return target(name, base_url=market.base_url, model=LLAMA, provider={"only": tag})


def listed_tag(market: ProviderProcess) -> str:
    answer = requests.get(f"{market.base_url}/models/{LLAMA}/endpoints", timeout=10)
    return str(answer.json()["data"]["endpoints"][0]["tag"])


def test_a_target_that_is_gone_is_reported_and_the_others_are_measured(
    tokentape: Tokentape, market: ProviderProcess, tmp_path: Path
) -> None:
    config = write_config(
        tmp_path,
        pinned(market, "here", listed_tag(market)),
        pinned(market, "gone", "nobody"),
        runs=1, warm_up=0, max_tokens=5,
    )  # fmt: skip

    checked = tokentape("probe", "--config", str(config), "--check")
    ended = probed(tokentape, config, "--json", "out.jsonl")

    assert checked.code == ended.code == 3
    for said in (checked.err, ended.err):
        assert f"{LLAMA} has no endpoint nobody now; listed: " in said
    found = {row["target"]: row for row in rows(tmp_path / "out.jsonl")}
    assert found["gone"]["outcome"] == "refused_config"
    assert found["here"]["outcome"] != "refused_config"
    assert found["here"]["provider_name"] is not None


def test_the_listed_price_is_what_a_run_is_estimated_by(
    tokentape: Tokentape, market: ProviderProcess, tmp_path: Path
) -> None:
    config = write_config(tmp_path, pinned(market, "here", listed_tag(market)), runs=1)

    ended = tokentape("probe", "--config", str(config), "--dry-run")

    assert ended.code == 0
    assert "not known" not in ended.out + ended.err


def test_a_list_of_endpoints_that_cannot_be_had_stops_nothing(
    tokentape: Tokentape, provider: ProviderProcess, tmp_path: Path
) -> None:
    config = write_config(
        tmp_path, target(base_url=provider.base_url, provider={"only": "novita/fp8"}), runs=1
    )

    checked = tokentape("probe", "--config", str(config), "--check")
    ended = probed(tokentape, config)

    assert checked.code == 1
    assert ended.code == 0
    assert "the endpoints of m could not be had, novita/fp8 is unchecked" in ended.err


def test_a_target_that_was_asked_just_now_has_no_cold_start(
    tokentape: Tokentape, provider: ProviderProcess, tmp_path: Path
) -> None:
    config = write_config(
        tmp_path, target(base_url=provider.base_url), prompts=["cold_start"], warm_up=0
    )

    first = probed(tokentape, config, "--json", "out.jsonl")
    (row,) = rows(tmp_path / "out.jsonl")
    second = probed(tokentape, config)

    assert (first.code, row["phase"], row["is_new_connection"]) == (0, "cold_start", True)
    assert second.code == 1
    assert "target a was asked less than 10 minutes ago: no cold start" in second.err


def test_a_landed_run_is_written_and_shown_like_any_other(
    tokentape: Tokentape,
    provider: ProviderProcess,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def without_dagster(settings: Settings, _: object) -> RunOutcome:
        landed = probe_steps.probe(settings, utc_now, Progress("probe"))
        return RunOutcome("dagster's", facts={"run_id": landed.manifest.run_id})

    monkeypatch.setattr("pipeline.commands.landed_probe.run_probe_job", without_dagster)
    monkeypatch.setattr("pipeline.commands.landed_probe.open_instance", nullcontext)
    config = write_config(
        tmp_path, target(base_url=provider.base_url), runs=2, concurrency=[1, 2], ramp_s=0
    )

    ended = tokentape("probe", "--config", str(config), "--land", "--json", "out.jsonl")

    assert (ended.code, ended.err) == (0, "")
    (landed,) = ProbeLanding(tmp_path / "data" / "landing").runs()
    assert f"landed in {landed.path.relative_to(tmp_path)}, published in " in ended.out
    assert "self-check at 2 streams" in ended.out
    found = rows(tmp_path / "out.jsonl")
    assert {row["run_id"] for row in found} == {landed.manifest.run_id}
    assert sorted(row["concurrency"] for row in found) == [1, 1, 2, 2]
    assert all(row["self_check_ttft_error_p99_ms"] is not None for row in found)


@pytest.mark.parametrize("more", [["--target", "a"], ["--no-self-check"]])
def test_a_run_is_landed_as_a_whole_only(
    tokentape: Tokentape, tmp_path: Path, more: list[str]
) -> None:
    config = write_config(tmp_path, target())

    ended = tokentape("probe", "--config", str(config), "--land", *more)

    assert ended.code == 2
    assert "--land takes the whole configuration" in ended.err


def started(tmp_path: Path, provider: ProviderProcess, **config: Any) -> subprocess.Popen[str]:
    path = write_config(tmp_path, target(base_url=provider.base_url), **config)
    command = [sys.executable, "-m", "pipeline.cli", "probe", "--config", str(path)]
    environment = {
        name: value for name, value in os.environ.items() if name != "OPENROUTER_API_KEY"
    }
    process = subprocess.Popen(
        [*command, "--no-self-check", "--json", str(tmp_path / "out.jsonl")],
        env=environment | {"TOKENTAPE_DATA_DIR": str(tmp_path / "data")},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    written = tmp_path / "out.jsonl"
    while process.poll() is None and not (written.exists() and written.stat().st_size):
        time.sleep(0.01)
    return process


def test_a_killed_run_leaves_whole_lines(provider: ProviderProcess, tmp_path: Path) -> None:
    with started(tmp_path, provider, runs=5000, rounds=1000) as process:
        process.kill()
        process.communicate()

    text = (tmp_path / "out.jsonl").read_text()
    assert text.endswith("\n")
    assert {row["outcome"] for row in rows(tmp_path / "out.jsonl")} == {"ok"}


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_stopped_run_keeps_what_came_and_says_so(
    provider: ProviderProcess, tmp_path: Path, number: signal.Signals
) -> None:
    with started(tmp_path, provider, runs=5000, rounds=1000) as process:
        process.send_signal(number)
        out, err = process.communicate()

    assert process.returncode == 3
    assert "tokentape: stopped; what had come by then is kept" in err
    assert "short_chat" in out
    assert len(rows(tmp_path / "out.jsonl")) < 5000


def shadowed(tokentape: Tokentape, tmp_path: Path, config: Path, *more: str) -> Ended:
    prompts = tmp_path / "prompts.jsonl"
    if not prompts.exists():
        prompts.write_text(
            "".join(json.dumps({"prompt": f"my secret {n}"}) + "\n" for n in range(40))
        )
    return tokentape(
        "shadow", "--jsonl", str(prompts), "--targets", "a,b", "--config", str(config),
        "--no-self-check", "--seed", "1", *more,
    )  # fmt: skip


def two_targets(tmp_path: Path, provider: ProviderProcess, **more: Any) -> Path:
    return write_config(
        tmp_path,
        target("a", base_url=provider.base_url, price=PRICE),
        target("b", base_url=provider.base_url, model="slow", price=PRICE),
        target("c", base_url=provider.base_url),
        **more,
    )


def test_a_shadow_test_compares_two_targets_pair_by_pair(
    tokentape: Tokentape, provider: ProviderProcess, tmp_path: Path
) -> None:
    config = two_targets(tmp_path, provider)

    ended = shadowed(tokentape, tmp_path, config, "--share", "0.2", "--json", "out.jsonl")

    assert ended.code == 0
    found = rows(tmp_path / "out.jsonl")
    assert [row["target"] for row in found].count("a") == 8
    assert {row["pair_id"] for row in found if row["target"] == "a"} == {
        row["pair_id"] for row in found if row["target"] == "b"
    }
    assert {row["target"] for row in found} == {"a", "b"}
    for word in ("pairs:", "e2e ms, median", "TTFT ms, median", "cost USD", "a faster"):
        assert word in ended.out


def test_a_shadow_test_shows_no_text_of_a_prompt(
    tokentape: Tokentape, provider: ProviderProcess, tmp_path: Path
) -> None:
    config = two_targets(tmp_path, provider)

    ended = shadowed(tokentape, tmp_path, config, "--json", "out.jsonl", "--debug")

    (tmp_path / "prompts.jsonl").unlink()
    written = b"".join(path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())
    assert ended.code == 0
    assert b"my secret" not in written
    assert "my secret" not in ended.out + ended.err


def test_a_shadow_test_estimates_what_it_would_cost(
    tokentape: Tokentape, provider: ProviderProcess, tmp_path: Path
) -> None:
    config = two_targets(tmp_path, provider, warm_up=0, max_tokens=100)

    # 40 prompts of 100 tokens at 0.08 USD a million: at least 0.00032 USD for each target.
    dry = shadowed(tokentape, tmp_path, config, "--share", "1", "--dry-run")
    dear = shadowed(tokentape, tmp_path, config, "--share", "1", "--max-usd", "0.0006")

    assert dry.code == 0
    assert dry.out.splitlines()[-1].split()[2] == "80"
    assert dear.code == 2
    assert "budget.usd_per_run is 0.0006" in dear.err
    assert provider.truth() == []


def test_a_wrong_line_of_prompts_is_named(
    tokentape: Tokentape, provider: ProviderProcess, tmp_path: Path
) -> None:
    (tmp_path / "prompts.jsonl").write_text('{"prompt": "fine"}\n{"prompt": 5}\n')

    ended = shadowed(tokentape, tmp_path, two_targets(tmp_path, provider))

    assert ended.code == 2
    assert "prompts.jsonl: line 2: prompt" in ended.err


@pytest.mark.parametrize("names", ["a", "a,a", "a,b,c", "a,", "a,d"])
def test_a_shadow_test_needs_two_targets_that_are_there(
    tokentape: Tokentape, provider: ProviderProcess, tmp_path: Path, names: str
) -> None:
    config = two_targets(tmp_path, provider)
    (tmp_path / "prompts.jsonl").write_text('{"prompt": "fine"}\n')

    ended = tokentape(
        "shadow", "--jsonl", "prompts.jsonl", "--targets", names, "--config", str(config)
    )

    assert ended.code == 2
    assert len(ended.err.splitlines()) == 1
