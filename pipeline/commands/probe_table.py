"""What a person sees of a run: a table of the figures, whether to trust them, what was spent."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from typing import get_args

from pipeline.probes.budget import Estimate, usd_text
from pipeline.probes.config import Price
from pipeline.probes.figures import Figure
from pipeline.probes.quantiles import FEWEST_SAMPLES
from pipeline.probes.run import RunResult
from pipeline.probes.sample import Outcome
from pipeline.probes.statistics import Summary, summarise

HEADERS = (
    *("target", "prompts", "streams", "n/sent", "TTFT p50 [95 %] ms", "p95", "p99"),
    *("decode tok/s", "e2e tok/s", "all streams tok/s", "USD", "not ok"),
)
LEFT = 2
TOO_SMALL = "n too small"


def run_lines(result: RunResult, prices: Mapping[str, Price | None]) -> list[str]:
    """Return what to show of a run: the table, and whether to trust it."""
    summaries = summaries_of(result, prices)
    return [
        *figures_table(summaries),
        "",
        *caching_lines(summaries),
        *trust_lines(summaries, result),
    ]


def summaries_of(result: RunResult, prices: Mapping[str, Price | None]) -> list[Summary]:
    """Summarise a run."""
    return summarise(
        result.samples,
        batches=[batch.record for batch in result.batches if batch.record is not None],
        self_checks=result.self_checks,
        prices={name: price for name, price in prices.items() if price is not None},
    )


def figures_table(summaries: Iterable[Summary]) -> list[str]:
    """Return the lines of the table: one row a target, prompt set and concurrency."""
    ordered = sorted(
        summaries, key=lambda s: (s.group.prompt_set, s.group.concurrency, s.group.target)
    )
    return aligned([HEADERS, *map(_cells, ordered)], left=LEFT)


def caching_lines(summaries: Iterable[Summary]) -> list[str]:
    """Return what prompt caching saved where pairs of requests shared their beginning."""
    return [
        f"prompt caching saves {_number(saved)} ms of the TTFT: {summary.group.target} "
        f"at {_streams(summary.group.concurrency)}, median of pairs"
        for summary in summaries
        if (saved := summary.figures["cached_prefix_saving_ms"]) is not None
    ]


def trust_lines(summaries: Sequence[Summary], result: RunResult) -> list[str]:
    """Return what the self-checks found and which figures are not to be trusted."""
    lines = [
        f"self-check at {_streams(check.concurrency)}: error p99 of the TTFT "
        f"{check.ttft_error_p99_ms:.2f} ms, of gaps {check.gap_error_p99_ms:.2f} ms "
        f"({check.stamp_source} time stamps)"
        for check in result.self_checks
    ]
    doubtful = [
        f"{summary.group.target} at {_streams(summary.group.concurrency)}"
        for summary in summaries
        if summary.counts["n"] and not summary.figures["is_trusted"]
    ]
    if not result.self_checks:
        lines.append("the instrument was not checked, so no figure is trusted")
    elif doubtful:
        lines.append(f"not trusted, as the self-check's error is too large: {', '.join(doubtful)}")
    late = sum(summary.counts["n_probe_overloaded"] for summary in summaries)
    if late:
        lines.append(f"probe overloaded: {late} requests went out too late and are in no figure")
    return lines


def spend_line(spent_usd: Mapping[str, Decimal], spent_today: Decimal) -> str:
    """Return what the run cost, and all runs of the day."""
    total = sum(spent_usd.values(), Decimal(0))
    return f"spent {usd_text(total)} USD; {usd_text(spent_today)} today (UTC)"


def estimate_table(estimates: Mapping[str, Estimate]) -> list[str]:
    """Return the lines of a dry run: what each target would take at most, and all of them."""
    total = sum(estimates.values(), Estimate())
    known = sum((found.usd for found in estimates.values() if found.usd is not None), Decimal(0))
    rows = [("target", "requests", "prompt tokens", "completion tokens", "USD at most")]
    for name, found in (*estimates.items(), ("in all", total)):
        usd = found.usd if name in estimates else known
        rows.append(
            (
                name,
                f"{found.requests:,}",
                f"{found.prompt_tokens:,}",
                f"{found.completion_tokens:,}",
                "price not known" if usd is None else usd_text(usd),
            )
        )
    return aligned(rows, left=1)


def aligned(rows: Sequence[Sequence[str]], *, left: int) -> list[str]:
    """Return the rows as lines; the first ``left`` columns and the last are flush left."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "  ".join(
            cell.ljust(width) if place < left or place == len(widths) - 1 else cell.rjust(width)
            for place, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]


def _cells(summary: Summary) -> tuple[str, ...]:
    group, counts, figures = summary.group, summary.counts, summary.figures
    low, high = figures["ttft_p50_low_ms"], figures["ttft_p50_high_ms"]
    between = "" if low is None else f" [{_number(low)}, {_number(high)}]"
    failures = [
        f"{name} {counts[f'n_{name}']}"
        for name in get_args(Outcome)
        if name != "ok" and counts[f"n_{name}"]
    ]
    cost = figures["cost_usd"] if figures["cost_usd"] is not None else figures["cost_listed_usd"]
    rate = f" {group.offered_rate_per_s:g}/s" if group.offered_rate_per_s is not None else ""
    return (
        group.target,
        group.prompt_set,
        f"{group.concurrency}{rate}",
        f"{counts['n']}/{counts['requests']}",
        f"{_number(figures['ttft_p50_ms'])}{between}",
        _percentile(summary, 0.95, "ttft_p95_ms"),
        _percentile(summary, 0.99, "ttft_p99_ms"),
        _number(figures["decode_tokens_per_s_p50"]),
        _number(figures["e2e_tokens_per_s_p50"]),
        _number(figures["aggregate_tokens_per_s"]),
        usd_text(cost) if isinstance(cost, Decimal) else "-",
        ", ".join(failures),
    )


def _percentile(summary: Summary, q: float, name: str) -> str:
    is_too_small = summary.counts["n"] < FEWEST_SAMPLES[q]
    return TOO_SMALL if is_too_small else _number(summary.figures[name])


def _streams(count: int) -> str:
    return "1 stream" if count == 1 else f"{count} streams"


def _number(value: Figure) -> str:
    return "-" if value is None else f"{value:,.1f}"
