"""The tables and the command line say the same of the same samples, figure by figure."""

from __future__ import annotations

import random
from dataclasses import replace
from decimal import Decimal
from typing import Any, get_args

import pytest
from probe_samples import failed, timed
from raw_market import RawMarket, endpoint

from pipeline.building import build_all
from pipeline.probes.config import Price
from pipeline.probes.records import BatchRecord, SelfCheck
from pipeline.probes.sample import Outcome, Sample
from pipeline.probes.statistics import summarise
from pipeline.sql_models import load_sql_models

MODEL = "openai/gpt-oss-20b"
TAGS = {"groq": "Groq", "novita": "Novita"}
LATE_BATCHES = {3, 8}
FAILURES = tuple(outcome for outcome in get_args(Outcome) if outcome != "ok")
ERRORS_MS = {1: 0.4, 4: 9.0}


def made_up(rng: random.Random, number: int, sent_ms: float) -> Sample:
    """Return a request as chance has it, of one of two targets and of any kind."""
    target = rng.choice(list(TAGS))
    batch = rng.randrange(1, 5) + (5 if target == "groq" else 0)
    asked: dict[str, Any] = {
        "request_id": f"r{number:05}",
        "target": target,
        "tag": target,
        "provider_name": TAGS[target],
        "batch": batch,
        "concurrency": 1 if batch % 5 < 3 else 4,
        "cost_usd": rng.choice([None, Decimal(rng.randrange(10**9)).scaleb(-12)]),
    }
    if rng.random() < 0.2:
        return failed(rng.choice(FAILURES), sent_ns=round(sent_ms * 1e6), **asked)
    arrivals = [sent_ms + rng.lognormvariate(5, 0.5)]
    for _ in range(rng.choice([0, 1, 2, 10, 40])):
        arrivals.append(arrivals[-1] + rng.choice([0.0, rng.expovariate(0.1)]))
    turn = rng.choice([1, 1, 1, 2])
    return timed(
        *arrivals,
        sent_ms=sent_ms,
        **asked,
        first_answer_ns=round(rng.choice(arrivals) * 1e6),
        coalesced_chunks=rng.randrange(len(arrivals)),
        completion_tokens=rng.choice([None, 0, len(arrivals), 3 * len(arrivals)]),
        prompt_tokens=rng.choice([None, 60, 2000]),
        cached_tokens=rng.choice([None, 0, 0, 1024]),
        is_buffered=rng.random() < 0.05,
        is_reasoning_hidden=rng.random() < 0.05,
        is_new_connection=rng.choice([True, False, None]),
        dns_ms=rng.choice([None, rng.uniform(0, 9)]),
        connect_ms=rng.choice([None, rng.uniform(0, 99)]),
        tls_ms=rng.choice([None, rng.uniform(0, 99)]),
        turn=turn,
        pair_id=f"{target} {batch} {rng.randrange(40)}.{turn}",
    )


def with_pairs(samples: list[Sample]) -> list[Sample]:
    """Keep one request for each turn of a pair; the others belong to none."""
    seen = set()
    paired = []
    for each in samples:
        is_new = each.pair_id is not None and each.pair_id not in seen
        seen.add(each.pair_id)
        pair_id = str(each.pair_id).partition(".")[0] if is_new else None
        paired.append(replace(each, pair_id=pair_id))
    return paired


def batch_record(sample: Sample) -> BatchRecord:
    return BatchRecord(
        batch=sample.batch,
        target=sample.target,
        prompt_set=sample.prompt_set,
        phase=sample.phase,
        loop=sample.loop,
        concurrency=sample.concurrency,
        offered_rate_per_s=None,
        round=1,
        requests=1,
        started_at_utc="2026-11-30T09:00:00+00:00",
        seconds=1.0,
        send_lag_p99_ms=None,
        read_lag_p99_ms=None,
        busy_share=0.1,
        machine_busy_share=None,
        steal_share=None,
        is_overloaded=sample.batch in LATE_BATCHES,
    )


def self_check(concurrency: int) -> SelfCheck:
    error_ms = ERRORS_MS[concurrency]
    return SelfCheck(concurrency, 100.0, True, 4, 2.0, 0.01, error_ms, 0.01, 0.01, "kernel")


@pytest.mark.parametrize("seed", [1, 2])
def test_every_figure_is_that_of_the_command_line(seed: int) -> None:
    rng = random.Random(seed)  # noqa: S311 - made-up figures
    samples = with_pairs([made_up(rng, n, sent_ms=200.0 * n) for n in range(2400)])
    market = RawMarket()
    market.sweep(
        "2026-11-30T06:00",
        {
            MODEL: [
                endpoint("Groq", "groq", input="0.075", output="0.3", cache_read="0.0375"),
                endpoint("Novita", "novita", input="0.05", output="0.2"),
            ]
        },
    )
    market.probe_run("2026-11-30T09:00", samples, self_checks=ERRORS_MS, overloaded=LATE_BATCHES)
    build_all(market.database, load_sql_models())

    summaries = summarise(
        samples,
        batches=[batch_record(sample) for sample in samples],
        self_checks=[self_check(concurrency) for concurrency in ERRORS_MS],
        prices={
            "groq": Price(
                input_usd_per_mtok=Decimal("0.075"),
                output_usd_per_mtok=Decimal("0.3"),
                cache_read_usd_per_mtok=Decimal("0.0375"),
            ),
            "novita": Price(input_usd_per_mtok=Decimal("0.05"), output_usd_per_mtok=Decimal("0.2")),
        },
    )
    rows = {
        (row["target"], row["concurrency"]): row
        for row in market.database.records(
            "select * from marts.probe_summary where window_hours = 24"
        )
    }
    assert len(rows) == len(summaries) == 4
    assert {row["n"] >= 299 for row in rows.values()} == {True, False}
    for summary in summaries:
        row = rows[summary.group.target, summary.group.concurrency]
        said = summary.group._asdict() | summary.counts | summary.figures
        assert row.keys() - said.keys() == {
            "endpoint_id",
            "window_hours",
            "runs",
            "first_sent_utc",
            "last_sent_utc",
        }
        said["output_usd_per_mtok_paid"] = float(said["output_usd_per_mtok_paid"])
        for name, figure in said.items():
            wanted = pytest.approx(figure, rel=1e-9) if isinstance(figure, float) else figure
            assert row[name] == wanted, name
