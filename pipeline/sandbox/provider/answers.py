"""What each request for a completion gets: a stream, or a refusal."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from urllib.parse import parse_qs

from pipeline.sandbox.api import Reply, error
from pipeline.sandbox.dice import Dice
from pipeline.sandbox.provider.ask import Ask, AskError
from pipeline.sandbox.provider.events import Ending, stream_of
from pipeline.sandbox.provider.framing import Step, steps_of, stream_headers
from pipeline.sandbox.provider.generation import generation_of
from pipeline.sandbox.provider.http_requests import HttpRequest
from pipeline.sandbox.provider.limits import PromptCache, RateLimit
from pipeline.sandbox.provider.quirks import QuirkPlan, Struck
from pipeline.sandbox.provider.script import Script, ScriptError
from pipeline.sandbox.provider.scripted import RefusedError, ScriptSource
from pipeline.sandbox.provider.truth import TrueRequest
from pipeline.sandbox.wire import head_of

# Cookies come with every answer of a provider behind a content delivery network.
_COOKIE = {"Set-Cookie": "__cf_bm=sandbox; HttpOnly"}


@dataclass(frozen=True)
class Answer:
    """The writes of an answer, and what becomes of the connection after it.

    ``record`` notes what was sent when; None where nobody cares.
    """

    steps: list[Step]
    record: TrueRequest | None = None
    ending: Ending = "whole"
    closes: bool = False
    idle_close_ms: float | None = None


class Completions:
    """Answers requests by the scripts of ``source``, with what it remembers of those before."""

    def __init__(self, source: ScriptSource) -> None:
        self.source = source
        self._quirks = QuirkPlan()
        self._limit = RateLimit()
        self._cache = PromptCache()
        self._streams: Counter[str] = Counter()

    def set_script(self, script: Script) -> None:
        """Play ``script`` from the next request on."""
        self.source.script = script
        self._quirks.restart()

    def answer(self, request: HttpRequest, record: TrueRequest) -> Answer:
        """Return what ``request`` gets, and note in ``record`` what it asked for."""
        try:
            ask = Ask.of(request)
        except AskError as problem:
            return plain_answer(error(400, str(problem)), record)
        record.model, record.pin, record.has_key = ask.model, ask.pin, ask.has_key
        record.accept_encoding, record.max_tokens = ask.accept_encoding, ask.max_tokens
        record.prompt_head = ask.prompt[:24]
        try:
            script = self._script_for(ask, request)
        except RefusedError as refused:
            return plain_answer(refused.reply, record)
        except ScriptError as problem:
            return plain_answer(error(400, str(problem)), record)
        struck = self._quirks.pick(script.quirks, script.seed, record.seq)
        if "no_answer" in struck:
            return Answer([], record, "cut")
        refusal = self._refusal(ask, script, struck, record)
        if refusal is not None:
            return plain_answer(refusal, record)
        return self._stream(ask, script, struck, record)

    def ended(self, record: TrueRequest) -> None:
        """Note that the answer to this request is over."""
        if record.generation_id is not None:
            self._streams[_endpoint(record)] -= 1

    def _script_for(self, ask: Ask, request: HttpRequest) -> Script:
        texts = parse_qs(request.query).get("script")
        return Script.from_json(texts[0]) if texts else self.source.script_for(ask)

    def _refusal(
        self, ask: Ask, script: Script, struck: Struck, record: TrueRequest
    ) -> Reply | None:
        if "refuses_stream_options" in struck and ask.has_stream_options:
            return error(400, "Unrecognized request argument supplied: stream_options")
        if "html" in struck:
            page = "<!DOCTYPE html><html><title>Bad gateway</title></html>"
            return Reply(int(struck["html"]), page, "text/html")
        if "status" in struck:
            return error(int(struck["status"]), "The provider refuses")
        wait_s = struck.get("rate_limited")
        rate = script.rate_limit_per_s
        if rate and not self._limit.admits(_endpoint(record), record.arrived_ns, rate):
            wait_s = math.ceil(1 / rate)
        if wait_s is None:
            return None
        refusal = error(429, "Rate limit exceeded")
        refusal.headers["Retry-After"] = f"{wait_s:g}"
        return refusal

    def _stream(self, ask: Ask, script: Script, struck: Struck, record: TrueRequest) -> Answer:
        endpoint = _endpoint(record)
        is_caching = script.cached_saving > 0
        generation = generation_of(
            ask,
            script,
            seq=record.seq,
            other_streams=self._streams[endpoint],
            cached_tokens=self._cache.look_up(endpoint, ask.prompt) if is_caching else 0,
        )
        self._streams[endpoint] += 1
        record.status, record.generation_id = 200, generation.id
        is_compressed = "gzip_always" in struck or (
            "gzip" in struck and "gzip" in (ask.accept_encoding or "")
        )
        headers = stream_headers(struck, is_compressed=is_compressed) | _headers(record)
        if script.is_openrouter:
            headers["X-Generation-Id"] = generation.id
        if script.rate_limit_per_s:
            headers["x-ratelimit-limit-requests"] = f"{script.rate_limit_per_s:g}"
        stream = stream_of(generation, struck)
        steps = steps_of(
            stream,
            struck,
            head_of(200, headers),
            is_compressed=is_compressed,
            dice=Dice(script.seed),
        )
        return Answer(
            steps,
            record,
            stream.ending,
            closes=bool(struck.keys() & {"close_after", "close_framing"}),
            idle_close_ms=struck.get("idle_close"),
        )


def plain_answer(reply: Reply, record: TrueRequest | None = None) -> Answer:
    """Return the answer that gives ``reply`` at once, and note its status."""
    body = reply.body()
    headers = {"Content-Type": reply.content_type, "Content-Length": str(len(body))}
    if record is not None:
        record.status = reply.status
        headers |= _headers(record)
    data = head_of(reply.status, headers | reply.headers) + body
    return Answer([Step(0, data, ("head",))], record)


def _headers(record: TrueRequest) -> dict[str, str]:
    return {"Server": "tokentape-sandbox", "X-Request-Seq": str(record.seq)} | _COOKIE


def _endpoint(record: TrueRequest) -> str:
    return f"{record.model} {record.pin}"
