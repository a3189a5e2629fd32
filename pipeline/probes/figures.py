"""Figures over the samples of a group, named as in the table ``probe_summary``."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from decimal import Decimal
from math import inf, isinf

from pipeline.probes.config import Price
from pipeline.probes.metrics import Metrics, metrics_of, new_connection_ms
from pipeline.probes.quantiles import interval, quantile, shown_quantile
from pipeline.probes.sample import Outcome, Sample
from pipeline.probes.spending import cost_of
from pipeline.probes.throughput import steady_window
from pipeline.probes.trust import is_measured

Figure = float | Decimal | bool | None

# Never sent, or stopped by ourselves: no failure of the provider.
_OUR_OWN: tuple[Outcome, ...] = ("refused_config", "cancelled_budget")


def shares(members: Sequence[Sample], used: Sequence[Sample]) -> dict[str, Figure]:
    """Return outcomes as shares of what could be answered, the rest as shares of ``used``."""
    answerable = [sample.outcome for sample in members if sample.outcome not in _OUR_OWN]
    chunks = sum(len(sample.chunk_ns) for sample in used)
    return {
        "ok_pct": _pct(answerable.count("ok"), len(answerable)),
        "rate_limited_pct": _pct(answerable.count("rate_limited"), len(answerable)),
        "new_connection_pct": _pct(sum(bool(s.is_new_connection) for s in used), len(used)),
        "connect_p50_ms": quantile(_known(new_connection_ms(sample) for sample in used), 0.5),
        "coalesced_pct": _pct(sum(sample.coalesced_chunks for sample in used), chunks),
        "cached_prompt_pct": _pct(sum(bool(s.cached_tokens) for s in used), len(used)),
    }


def latency_figures(metrics: Sequence[Metrics]) -> dict[str, float | None]:
    """Return percentiles of TTFT, answer TTFT and end-to-end time, and how sure they are."""
    figures: dict[str, float | None] = {}
    for name in ("ttft", "answer_ttft", "e2e"):
        values = _known(getattr(each, f"{name}_ms") for each in metrics)
        for percent in (50, 90, 95, 99):
            figures[f"{name}_p{percent}_ms"] = shown_quantile(values, percent / 100)
            if name != "answer_ttft" and percent != 90:
                low, high = interval(values, percent / 100) or (None, None)
                figures[f"{name}_p{percent}_low_ms"] = low
                figures[f"{name}_p{percent}_high_ms"] = high
    return figures


def ttft_p50_with_failures_ms(samples: Sequence[Sample]) -> float | None:
    """Return the median TTFT with failures as endless ones; None when it is endless itself."""
    ttfts = [
        (metrics_of(sample).ttft_ms or inf) if sample.outcome == "ok" else inf
        for sample in samples
        if is_measured(sample) and sample.outcome not in _OUR_OWN
    ]
    median = quantile(ttfts, 0.5)
    return None if median is None or isinf(median) else median


def speed_figures(metrics: Sequence[Metrics]) -> dict[str, Figure]:
    """Return decode and end-to-end speed, and the times between tokens and between chunks."""
    decode = _known(each.decode_tokens_per_s for each in metrics)
    inter_token = _known(each.inter_token_ms for each in metrics)
    gaps = [gap for each in metrics for gap in each.chunk_gaps_ms]
    low, high = interval(decode, 0.5) or (None, None)
    return {
        "decode_tokens_per_s_p50": quantile(decode, 0.5),
        "decode_tokens_per_s_p50_low": low,
        "decode_tokens_per_s_p50_high": high,
        "decode_tokens_per_s_p05": shown_quantile(decode, 0.05),
        "e2e_tokens_per_s_p50": quantile(_known(m.e2e_tokens_per_s for m in metrics), 0.5),
        "inter_token_p50_ms": quantile(inter_token, 0.5),
        "inter_token_p99_ms": shown_quantile(inter_token, 0.99),
        "chunk_gap_p50_ms": quantile(gaps, 0.5),
        "chunk_gap_p99_ms": shown_quantile(gaps, 0.99),
        "tokens_per_chunk": _tokens_per_chunk(metrics),
    }


def aggregate_tokens_per_s(samples: Sequence[Sample]) -> float | None:
    """Return the throughput of all streams together, over the steady windows of their batches."""
    batches: dict[int, list[Sample]] = defaultdict(list)
    for sample in samples:
        batches[sample.batch].append(sample)
    windows = [window for window in map(steady_window, batches.values()) if window is not None]
    seconds = sum(window_s for _, window_s in windows)
    return sum(tokens for tokens, _ in windows) / seconds if seconds else None


def cost_figures(samples: Sequence[Sample], price: Price | None) -> dict[str, Figure]:
    """Return what all samples cost as reported and by the list, and per million output tokens.

    The latter takes what was reported, else the list, and includes what the prompts cost.
    """
    reported = [sample.cost_usd for sample in samples]
    listed = [None if price is None else cost_of(sample, price) for sample in samples]
    paid = [
        ours if theirs is None else theirs for theirs, ours in zip(reported, listed, strict=True)
    ]
    spent = _sum(paid)
    tokens = sum(
        sample.completion_tokens or 0
        for sample, usd in zip(samples, paid, strict=True)
        if usd is not None
    )
    return {
        "cost_usd": _sum(reported),
        "cost_listed_usd": _sum(listed),
        "output_usd_per_mtok_paid": spent * 1_000_000 / tokens
        if spent is not None and tokens
        else None,
    }


def _tokens_per_chunk(metrics: Sequence[Metrics]) -> float | None:
    counted = [each for each in metrics if each.tokens_per_chunk is not None]
    tokens = sum(each.tokens or 0 for each in counted)
    chunks = sum(len(each.chunk_gaps_ms) + 1 for each in counted)
    return tokens / chunks if chunks else None


def _sum(amounts: Iterable[Decimal | None]) -> Decimal | None:
    known = [amount for amount in amounts if amount is not None]
    return sum(known, Decimal(0)) if known else None


def _known(values: Iterable[float | None]) -> list[float]:
    return [value for value in values if value is not None]


def _pct(part: int, whole: int) -> float | None:
    return 100 * part / whole if whole else None
