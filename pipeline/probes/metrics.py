"""The figures of one request; every name says its formula's parts and its unit."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

from pipeline.probes.sample import Sample

_NS_PER_MS = 1e6
_NS_PER_S = 1e9


@dataclass(frozen=True)
class Metrics:
    """Figures of a sample; None where it does not have them.

    - ``ttft_ms``: sent to the first token of any channel; ``answer_ttft_ms``: to that of the
      answer; ``e2e_ms``: to the last token.
    - ``cold_ttft_ms``: the lookup, the connection, TLS and ``ttft_ms``, on a new connection.
    - ``tokens``: the completion's, as counted by the provider, else chunks (``token_source``).
    - ``decode_tokens_per_s``: (tokens - tokens of the first chunk) / (last token - first token);
      ``inter_token_ms`` is its inverse, the mean of one request.
    - ``e2e_tokens_per_s``: tokens / (last token - sent), the one that compares with OpenRouter's.
    - ``chunk_gaps_ms``: between chunks, whatever the tokens in them.
    """

    ttft_ms: float | None
    answer_ttft_ms: float | None
    cold_ttft_ms: float | None
    e2e_ms: float | None
    tokens: int | None
    decode_tokens_per_s: float | None
    e2e_tokens_per_s: float | None
    inter_token_ms: float | None
    chunk_gaps_ms: tuple[float, ...]
    tokens_per_chunk: float | None


def metrics_of(sample: Sample) -> Metrics:
    """Return the figures of ``sample``, whatever its outcome; only ``ok`` ones are summarised."""
    ttft_ms = _ms_after_sent(sample, sample.first_token_ns)
    e2e_ms = _ms_after_sent(sample, sample.last_token_ns)
    tokens = tokens_of(sample)
    decode = _decode_tokens_per_s(sample)
    return Metrics(
        ttft_ms=ttft_ms,
        answer_ttft_ms=_ms_after_sent(sample, sample.first_answer_ns),
        cold_ttft_ms=_cold_ttft_ms(sample, ttft_ms),
        e2e_ms=e2e_ms,
        tokens=tokens,
        decode_tokens_per_s=decode,
        e2e_tokens_per_s=tokens / e2e_ms * 1000 if tokens and e2e_ms else None,
        inter_token_ms=1000 / decode if decode else None,
        chunk_gaps_ms=tuple((b - a) / _NS_PER_MS for a, b in pairwise(sample.chunk_ns)),
        tokens_per_chunk=tokens_per_chunk(sample),
    )


def tokens_of(sample: Sample) -> int | None:
    """Return the tokens of the completion: counted by the provider, else one for each chunk."""
    return sample.completion_tokens or len(sample.chunk_ns) or None


def tokens_per_chunk(sample: Sample) -> float | None:
    """Return the tokens in a chunk; None when some tokens came in no chunk."""
    tokens, chunks = tokens_of(sample), len(sample.chunk_ns)
    return tokens / chunks if tokens and chunks and not sample.is_reasoning_hidden else None


def _decode_tokens_per_s(sample: Sample) -> float | None:
    per_chunk, chunks = tokens_per_chunk(sample), len(sample.chunk_ns)
    if per_chunk is None or chunks < 2 or sample.is_buffered:
        return None
    span_s = (sample.chunk_ns[-1] - sample.chunk_ns[0]) / _NS_PER_S
    # The tokens of the first chunk were made before the span began.
    return per_chunk * (chunks - 1) / span_s if span_s > 0 else None


def _cold_ttft_ms(sample: Sample, ttft_ms: float | None) -> float | None:
    connecting_ms = new_connection_ms(sample)
    return None if connecting_ms is None or ttft_ms is None else connecting_ms + ttft_ms


def new_connection_ms(sample: Sample) -> float | None:
    """Return how long lookup, connection and TLS took; None on a connection that was there."""
    if not sample.is_new_connection or sample.connect_ms is None:
        return None
    return (sample.dns_ms or 0.0) + sample.connect_ms + (sample.tls_ms or 0.0)


def _ms_after_sent(sample: Sample, at_ns: int | None) -> float | None:
    if at_ns is None or sample.sent_ns is None:
        return None
    return (at_ns - sample.sent_ns) / _NS_PER_MS
