"""Which samples may enter figures, and when figures are not to be believed."""

from __future__ import annotations

from pipeline.probes.sample import Sample

_ERROR_ALWAYS_FINE_MS = 1.0
_ERROR_SHARE = 0.02
_LAG_ALWAYS_FINE_MS = 2.0
_LAG_SHARE = 0.05


def is_measured(sample: Sample) -> bool:
    """Say whether ``sample`` would enter figures if it were ``ok``.

    A warm-up would not. The second request of a cached-prefix pair is there to be compared with
    the first one, and enters no other figure.
    """
    return sample.phase != "warm_up" and sample.turn == 1


def is_in_figures(sample: Sample) -> bool:
    """Say whether the times of ``sample`` enter figures, if the probe kept up with its batch."""
    return sample.outcome == "ok" and is_measured(sample)


def is_trusted(median_ttft_ms: float | None, self_check_p99_ms: float | None) -> bool:
    """Say whether the instrument was good enough for its figures.

    Its own TTFT error at p99 must not exceed 1 ms or 2 % of the median TTFT, whichever is more; an
    instrument that was not checked is not trusted.
    """
    if self_check_p99_ms is None:
        return False
    return self_check_p99_ms <= max(_ERROR_ALWAYS_FINE_MS, _ERROR_SHARE * (median_ttft_ms or 0.0))


def is_overloaded(send_lag_p99_ms: float | None, median_ttft_ms: float | None) -> bool:
    """Say whether requests went out so late that the figures of their batch are refused.

    That is later than 2 ms or 5 % of the median TTFT, whichever is more, at p99.
    """
    if send_lag_p99_ms is None:
        return False
    return send_lag_p99_ms > max(_LAG_ALWAYS_FINE_MS, _LAG_SHARE * (median_ttft_ms or 0.0))
