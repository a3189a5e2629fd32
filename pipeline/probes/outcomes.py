"""How a request came out, and why."""

from __future__ import annotations

import re

from pipeline.probes.exchange import Fault
from pipeline.probes.sample import Outcome
from pipeline.probes.streams import Stream, is_success
from pipeline.probes.transcript import Ask, Transcript

_OUTCOME_OF_STATUS: dict[int | None, Outcome] = {
    429: "rate_limited",
    503: "overloaded",
    529: "overloaded",
}
_OUTCOME_OF_FAULT: dict[str, Outcome] = {
    "connect": "http_error",
    "timeout": "timeout",
    "cut": "truncated",
    "protocol": "stream_error",
    "stopped": "truncated",
}


def judge(transcript: Transcript, stream: Stream) -> tuple[Outcome, str | None]:
    """Return the outcome and, unless it is ok, the reason in one line.

    Who served it comes before what went wrong, as another provider's failures are not those of
    the pinned one. What happens after ``[DONE]`` is no failure, nor is a missing ``[DONE]`` after
    a ``finish_reason``.
    """
    exchange = transcript.exchange
    if exchange is None:
        return transcript.not_sent or "cancelled_budget", transcript.not_sent_reason
    status, fault = exchange.http_status, exchange.fault
    if status is None:
        return _judge_fault(fault) if fault else ("truncated", "no answer came")
    if not is_success(status):
        told = f": {stream.error.message}" if stream.error and stream.error.message else ""
        return _OUTCOME_OF_STATUS.get(status, "http_error"), f"HTTP {status}{told}"
    if _is_wrong_provider(transcript.ask, stream.provider):
        pinned = transcript.ask.provider_name or transcript.ask.tag
        return "wrong_provider", f"served by {stream.provider}, not by {pinned}"
    return _judge_stream(stream, fault)


def _judge_stream(stream: Stream, fault: Fault | None) -> tuple[Outcome, str | None]:
    if stream.error:
        outcome = _OUTCOME_OF_STATUS.get(stream.error.status, "stream_error")
        return outcome, stream.error.message or "an error without a message"
    if fault and not stream.is_done_seen:
        return _judge_fault(fault)
    if not stream.chunk_ns:
        return "truncated", f"no token came (finish_reason {stream.finish_reason or 'missing'})"
    if stream.finish_reason is None and not stream.is_done_seen:
        return "truncated", "the stream ended without finish_reason and without [DONE]"
    return "ok", None


def _judge_fault(fault: Fault) -> tuple[Outcome, str]:
    if fault.kind == "stopped" and "budget" in fault.text:
        return "cancelled_budget", fault.text
    return _OUTCOME_OF_FAULT[fault.kind], fault.text


def _is_wrong_provider(ask: Ask, served_by: str | None) -> bool:
    """Was it served by another than the pinned one, as far as can be told?

    A tag is a slug, which is compared with the name by letters and digits only, and one may be
    longer than the other: ``google-vertex`` is "Google", ``amazon-bedrock`` "Amazon Bedrock".
    """
    if served_by is None:
        return False
    if ask.provider_name is not None:
        return served_by != ask.provider_name
    if ask.tag is None:
        return False
    head, name = _squeezed(ask.tag.partition("/")[0]), _squeezed(served_by)
    return not (head.startswith(name) or name.startswith(head))


def _squeezed(name: str) -> str:
    return re.sub(r"[\W_]", "", name.lower())
