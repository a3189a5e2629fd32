"""The orders in which a reader can put the provider table of a model."""

from __future__ import annotations

import polars as pl

from app.components.table import Sort

DEFAULT_SORT = Sort("default")

# Sort key -> column of the mart. A first click puts the better end first.
_SORT_COLUMNS = {
    "default": "default_rank",
    "provider": "provider_name",
    "input": "input_usd_per_mtok",
    "output": "output_usd_per_mtok",
    "cache": "cache_read_usd_per_mtok",
    "speed": "reported_tokens_per_s_p50",
    "latency": "reported_ttft_p50_ms",
    "our_ttft": "probe_ttft_p50_ms",
    "our_speed": "probe_tokens_per_s_p50",
    "our_n": "probe_n",
    "uptime": "uptime_1d_pct",
    "context": "context_length",
    "quantization": "quantization",
    "max_output": "max_completion_tokens",
    "cache_write": "cache_write_usd_per_mtok",
    "discount": "discount",
    "headquarters": "headquarters",
}
_HIGHEST_FIRST = {"speed", "our_speed", "our_n", "uptime", "context", "max_output", "discount"}

FIRST_DIRECTIONS = {key: Sort(f"-{key}" if key in _HIGHEST_FIRST else key) for key in _SORT_COLUMNS}

SORT_LABELS = {
    "default": "Default order",
    "provider": "Provider, A to Z",
    "-provider": "Provider, Z to A",
    "input": "Input price, low first",
    "-input": "Input price, high first",
    "output": "Output price, low first",
    "-output": "Output price, high first",
    "cache": "Cache price, low first",
    "-cache": "Cache price, high first",
    "-speed": "Tokens per second, high first",
    "speed": "Tokens per second, low first",
    "latency": "Latency, low first",
    "-latency": "Latency, high first",
    "our_ttft": "Our TTFT, low first",
    "-our_ttft": "Our TTFT, high first",
    "-our_speed": "Our tok/s, high first",
    "our_speed": "Our tok/s, low first",
    "-our_n": "Our requests, many first",
    "our_n": "Our requests, few first",
    "-uptime": "Uptime, high first",
    "uptime": "Uptime, low first",
    "-context": "Context, long first",
    "context": "Context, short first",
    "quantization": "Quantization, A to Z",
    "-quantization": "Quantization, Z to A",
    "-max_output": "Max output, long first",
    "max_output": "Max output, short first",
    "cache_write": "Cache write price, low first",
    "-cache_write": "Cache write price, high first",
    "-discount": "Discount, high first",
    "discount": "Discount, low first",
    "headquarters": "Based in, A to Z",
    "-headquarters": "Based in, Z to A",
}


def sort_labels(*, has_probes: bool) -> dict[str, str]:
    """Return the orders on offer: those by our own figures only where there are some."""
    return {
        text: label
        for text, label in SORT_LABELS.items()
        if has_probes or not _SORT_COLUMNS[Sort(text).key].startswith("probe_")
    }


def sorted_endpoints(endpoints: pl.DataFrame, sort: Sort) -> pl.DataFrame:
    """Order the rows of ``marts.provider_table`` of one model; nulls last in both directions."""
    return endpoints.sort(
        [_SORT_COLUMNS[sort.key], "default_rank"],
        descending=[sort.is_descending, False],
        nulls_last=True,
    )
