"""The script of the article: the openai SDK, a thread a stream, stamps as chunks are handed out."""

from __future__ import annotations

import itertools
import threading
import time

import httpx
import openai
from common import BODY, Request, arguments, tell

options = arguments()
client = openai.OpenAI(
    base_url=options.url,
    api_key="none",
    max_retries=0,
    http_client=openai.DefaultHttpxClient(
        verify=options.ca or True,
        limits=httpx.Limits(max_connections=None, max_keepalive_connections=options.concurrency),
    ),
)
counter = itertools.count()
seen: list[Request] = []


def stream(number: int) -> None:
    """Send requests one after the other until all are sent."""
    time.sleep(options.ramp_s * number / options.concurrency)
    while next(counter) < options.requests:
        request = Request(start_ns=time.perf_counter_ns())
        for chunk in client.chat.completions.create(**BODY):
            if chunk.choices and chunk.choices[0].delta.content:
                request.chunk_ns.append(time.perf_counter_ns())
            request.generation_id = chunk.id
        seen.append(request)


threads = [threading.Thread(target=stream, args=(i,)) for i in range(options.concurrency)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
tell(seen)
