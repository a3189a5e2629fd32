"""A run against a provider on this machine: what is kept, what is left out, when it ends."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from probe_plans import QUICK, config_of, target

from pipeline.probes.budget import BudgetError
from pipeline.probes.config import Price, ProbeConfig
from pipeline.probes.playing import PlayedBatch
from pipeline.probes.records import BatchRecord, SelfCheck
from pipeline.probes.run import RunResult, run_probe
from pipeline.probes.sample import Sample
from pipeline.probes.self_check import SelfCheckError
from pipeline.probes.spending import SpendLedger
from pipeline.probes.transcript import Transcript
from pipeline.sandbox.provider.process import ProviderProcess
from pipeline.sandbox.provider.script import Prices
from pipeline.steps import utc_now


@pytest.fixture
def ledger(tmp_path: Path) -> SpendLedger:
    return SpendLedger(tmp_path / "spend.jsonl")


class Kept:
    """Keeps what is recorded, in its order."""

    def __init__(self) -> None:
        self.all: list[SelfCheck | Transcript | BatchRecord] = []

    def add_self_check(self, check: SelfCheck) -> None:
        self.all.append(check)

    def add_transcripts(self, transcripts: Sequence[Transcript]) -> None:
        self.all += transcripts

    def add_batch(self, batch: BatchRecord) -> None:
        self.all.append(batch)


def run(config: ProbeConfig, ledger: SpendLedger, **more: Any) -> RunResult:
    how: dict[str, Any] = {"run_id": "run", "keys": {}, "prices": {}, "self_check": False} | more
    return run_probe(config, ledger=ledger, **how)


def outcomes(result: RunResult, name: str = "a") -> list[str]:
    return [
        sample.outcome
        for sample in result.samples
        if sample.target == name and sample.phase != "warm_up"
    ]


def test_a_run_measures_what_its_configuration_asks_for(
    provider: ProviderProcess, ledger: SpendLedger
) -> None:
    config = config_of(target(base_url=provider.base_url), runs=6, concurrency=[1, 3], ramp_s=0)

    result = run(config, ledger)

    assert outcomes(result) == ["ok"] * 12
    measured = [sample for sample in result.samples if sample.phase == "measure"]
    assert sorted(sample.concurrency for sample in measured) == [1] * 6 + [3] * 6
    assert {sample.completion_tokens for sample in measured} == {4}
    assert not any(sample.is_new_connection for sample in measured)
    assert (result.problems, result.warnings, result.is_interrupted) == ((), (), False)


def test_what_came_is_recorded_batch_by_batch_the_raw_part_first(
    provider: ProviderProcess, ledger: SpendLedger
) -> None:
    kept = Kept()
    config = config_of(target(base_url=provider.base_url), runs=2)

    run(config, ledger, recorder=kept)

    assert [type(record).__name__ for record in kept.all] == [
        *("Transcript", "BatchRecord"),
        *("Transcript", "Transcript", "BatchRecord"),
    ]
    batches = [record for record in kept.all if isinstance(record, BatchRecord)]
    assert [(batch.batch, batch.phase, batch.requests) for batch in batches] == [
        (1, "warm_up", 1),
        (2, "measure", 2),
    ]


def test_an_open_loop_sends_by_its_rate(provider: ProviderProcess, ledger: SpendLedger) -> None:
    config = config_of(
        target(base_url=provider.base_url),
        runs=10, concurrency=10, warm_up=0, arrival={"kind": "constant", "rate_per_s": 200},
    )  # fmt: skip

    result = run(config, ledger)

    assert outcomes(result) == ["ok"] * 10
    scheduled = [sample.scheduled_ns or 0 for sample in result.samples]
    assert [at - scheduled[0] for at in scheduled] == [n * 5_000_000 for n in range(10)]


def test_a_missing_key_leaves_out_its_target_and_no_other(
    provider: ProviderProcess, ledger: SpendLedger
) -> None:
    config = config_of(
        target("a", base_url=provider.base_url, api_key_env="SOME_KEY"),
        target("b", base_url=provider.base_url),
        runs=2,
    )

    result = run(config, ledger)

    assert outcomes(result, "a") == ["refused_config"] * 2
    assert outcomes(result, "b") == ["ok"] * 2
    assert result.problems == (
        "target a: 3 of 3 requests not sent: SOME_KEY is not set; put the key of 127.0.0.1 there",
    )


@pytest.mark.parametrize(
    ("key", "said"),
    [
        (None, "GROQ_API_KEY is not set; put the key of api.groq.com there"),
        ("two words", "GROQ_API_KEY holds blanks, line breaks or characters other than ASCII"),
    ],
)
def test_nothing_is_sent_with_a_key_that_cannot_be(
    ledger: SpendLedger, key: str | None, said: str
) -> None:
    config = config_of(target("a", base_url="https://api.groq.com/openai/v1"), runs=1)

    result = run(config, ledger, keys={"a": key})

    assert outcomes(result) == ["refused_config"]
    assert said in str(result.samples[0].reason)


def test_a_target_without_a_price_is_refused_where_a_budget_is_to_be_kept(
    provider: ProviderProcess, ledger: SpendLedger
) -> None:
    config = config_of(target(base_url=provider.base_url), runs=1, budget={"usd_per_run": 1})

    result = run(config, ledger)

    assert outcomes(result) == ["refused_config"]
    assert "its price is not known" in result.problems[0]


def test_an_address_with_a_part_that_is_not_set_is_refused(ledger: SpendLedger) -> None:
    url = "https://api.cloudflare.com/client/v4/accounts/{SOME_ACCOUNT_ID}/ai/v1"
    config = config_of(target(base_url=url), runs=1)

    result = run(config, ledger, keys={"a": "key"})

    assert outcomes(result) == ["refused_config"]
    assert "SOME_ACCOUNT_ID" in result.problems[0]


def test_an_address_is_filled_from_the_environment_of_the_run(
    provider: ProviderProcess, ledger: SpendLedger
) -> None:
    url = provider.base_url.replace("/v1", "/{PART_OF_PATH}")
    config = config_of(target(base_url=url), runs=1)

    result = run(config, ledger, environ={"PART_OF_PATH": "v1"})

    assert outcomes(result) == ["ok"]


def test_a_target_that_is_gone_is_not_asked_and_reported(
    provider: ProviderProcess, ledger: SpendLedger
) -> None:
    config = config_of(target(base_url=provider.base_url), runs=2)

    result = run(config, ledger, refusals={"a": "it is gone"})

    assert outcomes(result) == ["refused_config"] * 2
    assert result.problems == ("target a: 3 of 3 requests not sent: it is gone",)
    assert provider.truth() == []


def test_a_target_that_refuses_us_for_good_is_asked_twice_only(
    provider: ProviderProcess, ledger: SpendLedger
) -> None:
    provider.set_script(QUICK.model_copy(update={"models": {"broke": {"quirks": ["status=402"]}}}))
    config = config_of(
        target("a", base_url=provider.base_url, model="broke"),
        target("b", base_url=provider.base_url),
        runs=5, rounds=2,
    )  # fmt: skip

    result = run(config, ledger)

    assert outcomes(result, "a") == ["http_error"] + ["refused_config"] * 4
    assert outcomes(result, "b") == ["ok"] * 5
    (problem,) = result.problems
    assert problem.startswith("target a: 4 of 6 requests not sent: refused 2 times in a row: HTTP")


def test_a_target_that_refuses_stream_options_is_measured_without_them(
    provider: ProviderProcess, ledger: SpendLedger
) -> None:
    provider.set_script(QUICK.model_copy(update={"quirks": ("refuses_stream_options",)}))
    config = config_of(target(base_url=provider.base_url), runs=2)

    result = run(config, ledger)

    assert [sample.outcome for sample in result.samples] == ["http_error", "ok", "ok", "ok"]
    assert {sample.token_source for sample in result.samples[1:]} == {"chunks"}
    assert len({sample.request_id for sample in result.samples}) == 4
    assert "stream_options" in result.warnings[0]
    assert result.problems == ()


def test_without_a_warm_up_what_refused_stream_options_stands_in_no_figure(
    provider: ProviderProcess, ledger: SpendLedger
) -> None:
    provider.set_script(QUICK.model_copy(update={"quirks": ("refuses_stream_options",)}))
    kept = Kept()
    config = config_of(target(base_url=provider.base_url), runs=2, warm_up=0)

    result = run(config, ledger, recorder=kept)

    assert outcomes(result) == ["ok", "ok"]
    refused = [sample for sample in result.samples if sample.phase == "warm_up"]
    assert [(sample.http_status, sample.batch) for sample in refused] == [(400, 1), (400, 1)]
    batches = [record for record in kept.all if isinstance(record, BatchRecord)]
    assert [(record.batch, record.phase) for record in batches] == [(1, "warm_up"), (2, "measure")]
    assert "stream_options" in result.warnings[0]
    assert result.problems == ()


def test_a_bad_request_that_has_another_reason_is_reported(
    provider: ProviderProcess, ledger: SpendLedger
) -> None:
    provider.set_script(QUICK.model_copy(update={"quirks": ("status=400",)}))
    config = config_of(target(base_url=provider.base_url), runs=2, warm_up=0)

    result = run(config, ledger)

    assert outcomes(result) == ["http_error", "http_error"]
    assert result.problems == (
        "target a: all 2 requests failed, mostly http_error: HTTP 400: The provider refuses",
    )


def test_a_target_of_which_every_request_failed_is_a_problem(
    provider: ProviderProcess, ledger: SpendLedger
) -> None:
    provider.set_script(QUICK.model_copy(update={"quirks": ("error_chunk=502",)}))
    config = config_of(target(base_url=provider.base_url), runs=2)

    result = run(config, ledger)

    assert outcomes(result) == ["stream_error"] * 2
    assert result.problems[0].startswith("target a: all 2 requests failed, mostly stream_error")


def test_a_run_that_would_be_too_dear_sends_nothing(
    provider: ProviderProcess, ledger: SpendLedger
) -> None:
    price = Price(input_usd_per_mtok=Decimal(0), output_usd_per_mtok=Decimal(1000))
    config = config_of(
        target(base_url=provider.base_url),
        runs=7, warm_up=0, max_tokens=10, budget={"usd_per_run": "0.06"},
    )  # fmt: skip

    with pytest.raises(BudgetError, match=r"may cost 0\.07 USD, budget\.usd_per_run is 0\.06"):
        run(config, ledger, prices={"a": price})

    assert provider.truth() == []
    assert ledger.spent_on(utc_now().date()) == 0


def test_a_run_stops_at_its_budget_when_answers_are_dearer_than_foreseen(
    provider: ProviderProcess, ledger: SpendLedger
) -> None:
    # Reserved: 10 tokens of 0.001 USD. Reported: 4 tokens of 0.005 USD, which is 0.02 USD.
    price = Price(input_usd_per_mtok=Decimal(0), output_usd_per_mtok=Decimal(1000))
    dear = Prices(input=Decimal(0), output=Decimal(5000))
    provider.set_script(QUICK.model_copy(update={"is_openrouter": True, "prices": dear}))
    config = config_of(
        target(base_url=provider.base_url),
        runs=6, rounds=6, warm_up=0, max_tokens=10, budget={"usd_per_run": "0.06"},
    )  # fmt: skip

    result = run(config, ledger, prices={"a": price})

    assert outcomes(result) == ["ok"] * 3 + ["cancelled_budget"] * 3
    assert result.spent_usd == {"a": Decimal("0.06")}
    assert ledger.spent_on(utc_now().date()) == Decimal("0.06")
    assert result.problems == (
        "target a: 3 of 6 requests not sent: budget.usd_per_run has no room for it",
    )
    assert len(provider.truth()) == 3


def test_what_other_runs_spend_meanwhile_counts_against_the_day(
    provider: ProviderProcess, ledger: SpendLedger
) -> None:
    price = Price(input_usd_per_mtok=Decimal(0), output_usd_per_mtok=Decimal(1000))
    config = config_of(
        target(base_url=provider.base_url),
        runs=2, rounds=2, warm_up=0, max_tokens=10, budget={"usd_per_day": 1},
    )  # fmt: skip

    result = run(
        config,
        ledger,
        prices={"a": price},
        on_batch=lambda _: ledger.add("other", utc_now(), Decimal(1)),
    )

    assert outcomes(result) == ["ok", "cancelled_budget"]


def test_a_run_that_is_stopped_keeps_what_came(
    provider: ProviderProcess, ledger: SpendLedger
) -> None:
    stop, kept = threading.Event(), Kept()
    config = config_of(target(base_url=provider.base_url), runs=6, rounds=3, warm_up=0)

    result = run(config, ledger, stop=stop, recorder=kept, on_batch=lambda _: stop.set())

    assert result.is_interrupted
    assert outcomes(result) == ["ok", "ok"]
    assert len(kept.all) == 3


def test_a_stop_ends_answers_under_way(provider: ProviderProcess, ledger: SpendLedger) -> None:
    provider.set_script(QUICK.model_copy(update={"quirks": ("stall=60",)}))
    stop = threading.Event()
    config = config_of(target(base_url=provider.base_url), runs=4, warm_up=0, ramp_s=0)
    watching = threading.Timer(0.2, stop.set)
    watching.start()

    result = run(config, ledger, stop=stop)

    watching.join()
    assert result.is_interrupted
    assert set(outcomes(result)) == {"truncated"}


def test_the_instrument_is_checked_at_each_concurrency_before_anything_is_sent(
    provider: ProviderProcess, ledger: SpendLedger
) -> None:
    kept = Kept()
    played: list[PlayedBatch] = []
    config = config_of(target(base_url=provider.base_url), runs=1, concurrency=[1, 2], ramp_s=0)

    result = run(config, ledger, self_check=True, recorder=kept, on_batch=played.append)

    assert [check.concurrency for check in result.self_checks] == [1, 2]
    assert kept.all[:2] == list(result.self_checks)
    errors = {check.concurrency: check.ttft_error_p99_ms for check in result.self_checks}
    for batch in played:
        assert batch.self_check_ttft_error_p99_ms == errors[batch.samples[0].concurrency]


def test_figures_of_an_instrument_that_cannot_be_checked_are_not_trusted(
    provider: ProviderProcess, ledger: SpendLedger, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise SelfCheckError("no room")

    monkeypatch.setattr("pipeline.probes.playing.InstrumentCheck", broken)
    config = config_of(target(base_url=provider.base_url), runs=1)

    result = run(config, ledger, self_check=True)

    assert outcomes(result) == ["ok"]
    assert not any(batch.is_trusted for batch in result.batches)
    assert result.problems == ("the self-check failed, so no figure is trusted: no room",)


def test_no_record_of_a_run_holds_the_key(provider: ProviderProcess, ledger: SpendLedger) -> None:
    canary, kept = "sk-canary-5f1d", Kept()
    config = config_of(
        target("a", base_url=provider.base_url, api_key_env="SOME_KEY"),
        target("b", base_url="http://127.0.0.1:1/v1", api_key_env="SOME_KEY"),
        runs=1,
    )

    result = run(config, ledger, recorder=kept, keys={"a": canary, "b": canary})

    assert outcomes(result, "a") == ["ok"]
    assert outcomes(result, "b") == ["http_error"]
    lines = [record.to_line() for record in kept.all if isinstance(record, Transcript)]
    assert len(lines) == 4
    assert canary not in repr((lines, result))


def test_samples_say_which_run_and_batch_they_are_of(
    provider: ProviderProcess, ledger: SpendLedger
) -> None:
    config = config_of(target(base_url=provider.base_url), runs=2, rounds=2)

    found: list[Sample] = run(config, ledger, run_id="r7").samples

    assert {sample.run_id for sample in found} == {"r7"}
    assert [(sample.batch, sample.round) for sample in found] == [(1, 1), (2, 1), (3, 2)]
