"""httpx as most tools use it: asyncio, lines, JSON parsed as it comes."""

from __future__ import annotations

import asyncio
import itertools
import json
import time

import httpx
from common import BODY, Request, arguments, tell

options = arguments()
counter = itertools.count()
seen: list[Request] = []


async def stream(client: httpx.AsyncClient, number: int) -> None:
    """Send requests one after the other until all are sent."""
    await asyncio.sleep(options.ramp_s * number / options.concurrency)
    while next(counter) < options.requests:
        request = Request(start_ns=time.perf_counter_ns())
        url = f"{options.url}/chat/completions"
        async with client.stream("POST", url, json=BODY) as answer:
            async for line in answer.aiter_lines():
                now_ns = time.perf_counter_ns()
                if line.startswith("data: {"):
                    request.take(json.loads(line[6:]), now_ns)
        seen.append(request)


async def main() -> None:
    """Run all streams."""
    limits = httpx.Limits(max_connections=None, max_keepalive_connections=options.concurrency)
    async with httpx.AsyncClient(verify=options.ca or True, timeout=60, limits=limits) as client:
        await asyncio.gather(*(stream(client, i) for i in range(options.concurrency)))


asyncio.run(main())
tell(seen)
