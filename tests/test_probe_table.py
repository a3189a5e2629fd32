"""What a person sees of a run."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from probe_samples import MS, failed, sample

from pipeline.commands.probe_table import (
    caching_lines,
    figures_table,
    spend_line,
    summaries_of,
    trust_lines,
)
from pipeline.probes.playing import PlayedBatch
from pipeline.probes.records import BatchRecord, SelfCheck
from pipeline.probes.run import RunResult
from pipeline.probes.sample import Sample


def result_of(*samples: Sample, error_ms: float | None = 0.1, is_late: bool = False) -> RunResult:
    record = BatchRecord(
        1, "a", "short_chat", "measure", "closed", 1, None, 1, len(samples),
        "2026-03-31T12:00:00+00:00", 1.0, 0.1, 0.1, 0.1, None, None, is_late,
    )  # fmt: skip
    checks = () if error_ms is None else (
        SelfCheck(1, 100.0, False, 16, 2.0, 0.05, error_ms, 0.04, 0.2, "kernel"),
    )  # fmt: skip
    return RunResult(
        run_id="run",
        batches=(PlayedBatch(record, samples, error_ms, is_trusted=True),),
        self_checks=checks,
        spent_usd={},
        problems=(),
        warnings=(),
        is_interrupted=False,
    )


def cells(*samples: Sample, **how: Any) -> list[str]:
    _, row = figures_table(summaries_of(result_of(*samples, **how), {}))
    return row.split()


def test_few_samples_have_a_median_and_no_tail() -> None:
    # TTFT 200 ms; 3 further tokens in 300 ms; 4 tokens in 500 ms.
    row = cells(*[sample(cost_usd=Decimal("0.0001"))] * 6)

    assert row[:4] == ["a", "short_chat", "1", "6/6"]
    assert " ".join(row[4:]).startswith("200.0 [200.0, 200.0] n too small n too small 10.0 8.0")
    assert row[-1] == "0.0006"


def test_a_tail_is_shown_from_59_samples_on() -> None:
    row = " ".join(cells(*[sample()] * 59))

    assert "59/59 200.0 [200.0, 200.0] 200.0 n too small" in row


def test_failures_are_named_beside_the_figures() -> None:
    row = " ".join(cells(sample(), failed("timeout"), failed("rate_limited"), failed("timeout")))

    assert "1/4" in row
    assert row.endswith("rate_limited 1, timeout 2")


def lines_of(result: RunResult) -> list[str]:
    return trust_lines(summaries_of(result, {}), result)


def test_what_the_self_check_found_is_told() -> None:
    assert lines_of(result_of(sample())) == [
        "self-check at 1 stream: error p99 of the TTFT 0.10 ms, of gaps 0.20 ms "
        "(kernel time stamps)"
    ]


def test_figures_with_too_large_an_error_are_not_trusted() -> None:
    # 2 % of 200 ms are 4 ms.
    assert len(lines_of(result_of(sample(), error_ms=4.0))) == 1
    assert lines_of(result_of(sample(), error_ms=4.1))[1] == (
        "not trusted, as the self-check's error is too large: a at 1 stream"
    )


def test_figures_of_an_instrument_that_was_not_checked_are_not_trusted() -> None:
    assert lines_of(result_of(sample(), error_ms=None)) == [
        "the instrument was not checked, so no figure is trusted"
    ]


def test_a_probe_that_was_too_late_says_so() -> None:
    lines = lines_of(result_of(sample(), sample(), is_late=True))

    assert lines[-1] == "probe overloaded: 2 requests went out too late and are in no figure"


def test_what_prompt_caching_saves_is_told() -> None:
    # TTFT 200 ms for the first of the pair, 150 ms for the second.
    second = sample(turn=2, pair_id="p", first_token_ns=1_150 * MS)
    summaries = summaries_of(result_of(sample(pair_id="p"), second), {})

    assert caching_lines(summaries) == [
        "prompt caching saves 50.0 ms of the TTFT: a at 1 stream, median of pairs"
    ]


def test_spending_is_told_for_the_run_and_the_day() -> None:
    spent = {"a": Decimal("0.1"), "b": Decimal("0.02")}

    assert spend_line(spent, Decimal("0.5")) == "spent 0.12 USD; 0.50 today (UTC)"
