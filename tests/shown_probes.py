"""A model that was measured: eight runs of probes, twelve hours apart, made up by seeded chance."""

from __future__ import annotations

import math
import random
from collections.abc import Iterable, Iterator
from datetime import datetime, timedelta
from typing import Any

from probe_marts import (
    IDENTITY,
    OUTCOMES,
    history_frame,
    sample,
    sample_frame,
    summary_frame,
    summary_row,
    target,
)

from pipeline.probes.quantiles import interval, quantile, shown_quantile

Rows = list[dict[str, Any]]

RUNS = 8
# Streams -> requests a run.
LOADS = {1: 10, 4: 12, 16: 48}


def measured(model_id: str, targets: Iterable[dict[str, Any]], now: datetime) -> dict[str, Any]:
    """Return frames by mart for ``targets`` of a model, probed until ``now``.

    A target says, beside its identity: ``ttft_ms`` and ``tokens_per_s`` (medians at one stream),
    ``failures`` (outcome: share of requests), ``error_ms`` (of the self-check), ``levels``.
    """
    rng = random.Random(model_id)  # noqa: S311 - made-up figures
    samples: Rows = []
    history: Rows = []
    traits = {item["target"]: item for item in targets}
    for item in traits.values():
        for run in range(RUNS):
            started = now - timedelta(hours=12 * (RUNS - 1 - run))
            for group, count in _groups(model_id, item):
                run_id = f"{started:%Y%m%dT%H%M%SZ}-0000000a"
                new = [
                    _request(rng, group, item, run_id=run_id, started=started, number=n)
                    for n in range(count)
                ]
                samples += new
                history.append(_run_row(group, item, run_id, started, new))
    summary = [
        _summary(rows, hours, traits[rows[0]["target"]])
        for hours in (24, 72, 336)
        for rows in _by_group(row for row in samples if now - row["at"] < timedelta(hours=hours))
    ]
    return {
        "probe_summary": summary_frame(*summary),
        "performance_history": history_frame(*history),
        "probe_samples": sample_frame(*samples),
    }


def _groups(model_id: str, item: dict[str, Any]) -> Iterator[tuple[dict[str, Any], int]]:
    named = ("target", "provider_name", "tag", "region", "endpoint_id")
    identity = target(**{"name": item["target"], "model_id": model_id} | _only(item, named))
    for level, count in LOADS.items():
        if level in item["levels"]:
            yield identity | {"concurrency": level}, count
    if item["endpoint_id"]:
        yield identity | {"prompt_set": "cached_prefix"}, 4
        yield identity | {"prompt_set": "cold_start", "phase": "cold_start"}, 1


def _only(row: dict[str, Any], names: Iterable[str]) -> dict[str, Any]:
    return {name: row[name] for name in names}


def _request(
    rng: random.Random,
    group: dict[str, Any],
    item: dict[str, Any],
    *,
    run_id: str,
    started: datetime,
    number: int,
) -> dict[str, Any]:
    load = 1 + 0.35 * math.log2(group["concurrency"])
    slow = 2.4 if group["phase"] == "cold_start" else 1
    ttft_ms = item["ttft_ms"] * load * slow * rng.lognormvariate(0, 0.22)
    speed = item["tokens_per_s"] / load * rng.lognormvariate(0, 0.08)
    draw = rng.random()
    outcome = "ok"
    for name, share in item["failures"].items():
        if 0 <= draw < share:
            outcome = name
        draw -= share
    row = sample(**{"name": group["target"], **group, "outcome": outcome, "run_id": run_id})
    row |= {"at": started, "sent_at_utc": started + timedelta(seconds=number)}
    row |= {"request_id": f"{run_id}-{group['target']}-{group['prompt_set']}-{number}"}
    if outcome == "ok":
        e2e_ms = ttft_ms + 299 / speed * 1000
        row |= {"ttft_ms": ttft_ms, "answer_ttft_ms": ttft_ms, "e2e_ms": e2e_ms}
        row |= {"decode_tokens_per_s": speed, "e2e_tokens_per_s": 300_000 / e2e_ms}
    return row


def _run_row(
    group: dict[str, Any], item: dict[str, Any], run_id: str, started: datetime, new: Rows
) -> dict[str, Any]:
    n = sum(row["outcome"] == "ok" for row in new)
    return group | {
        "run_id": run_id,
        "started_at_utc": started,
        "partition_date": started.date(),
        "requests": len(new),
        "n": n,
        "failures": len(new) - n,
        "is_trusted": _is_trusted(item),
    }


def _by_group(samples: Iterable[dict[str, Any]]) -> Iterable[Rows]:
    groups: dict[tuple[Any, ...], Rows] = {}
    for row in samples:
        groups.setdefault(tuple(row[name] for name in IDENTITY), []).append(row)
    return groups.values()


def _summary(rows: Rows, hours: int, item: dict[str, Any]) -> dict[str, Any]:
    good = [row for row in rows if row["outcome"] == "ok"]
    ttft = [row["ttft_ms"] for row in good]
    low, high = interval(ttft, 0.5) or (None, None)
    decode = [row["decode_tokens_per_s"] for row in good]
    streams = rows[0]["concurrency"]
    outcomes = [row["outcome"] for row in rows]
    answerable = len([name for name in outcomes if name not in OUTCOMES[-2:]])
    figures = {
        f"{name}_p{percent}_ms": shown_quantile([row[f"{name}_ms"] for row in good], percent / 100)
        for name in ("ttft", "answer_ttft", "e2e")
        for percent in (50, 95, 99)
    }
    speed = quantile(decode, 0.5)
    return (
        summary_row(**{"name": "", **_only(rows[0], IDENTITY)})
        | {f"n_{outcome}": outcomes.count(outcome) for outcome in OUTCOMES}
        | figures
        | {
            "window_hours": hours,
            "requests": len(rows),
            "n": len(good),
            "ok_pct": 100 * len(good) / answerable,
            "rate_limited_pct": 100 * outcomes.count("rate_limited") / answerable,
            "ttft_p50_low_ms": low,
            "ttft_p50_high_ms": high,
            "decode_tokens_per_s_p50": speed,
            "decode_tokens_per_s_p05": shown_quantile(decode, 0.05),
            "e2e_tokens_per_s_p50": quantile([row["e2e_tokens_per_s"] for row in good], 0.5),
            "tokens_per_chunk": 1.02,
            "aggregate_tokens_per_s": None if speed is None else speed * streams * 0.97,
            "output_usd_per_mtok_paid": item.get("paid"),
            "connect_p50_ms": 41.3,
            "cached_prompt_pct": 0.0,
            "cached_prefix_saving_ms": 0.4 * item["ttft_ms"]
            if rows[0]["prompt_set"] == "cached_prefix"
            else None,
            "self_check_ttft_error_p99_ms": item["error_ms"],
            "is_trusted": _is_trusted(item),
            "first_sent_utc": min(row["sent_at_utc"] for row in rows),
            "last_sent_utc": max(row["sent_at_utc"] for row in rows),
        }
    )


def _is_trusted(item: dict[str, Any]) -> bool:
    error_ms = item["error_ms"]
    return error_ms is not None and error_ms <= max(1, 0.02 * item["ttft_ms"])
