"""aiohttp at its best: uvloop, stamps at each read, parsed after the run."""

from __future__ import annotations

import asyncio
import itertools
import json
import ssl
import time

import aiohttp
import uvloop
from common import BODY, Request, arguments, tell

options = arguments()
counter = itertools.count()
reads: list[tuple[int, list[tuple[int, bytes]]]] = []


async def stream(session: aiohttp.ClientSession, number: int) -> None:
    """Send requests one after the other until all are sent."""
    await asyncio.sleep(options.ramp_s * number / options.concurrency)
    while next(counter) < options.requests:
        start_ns = time.perf_counter_ns()
        async with session.post(f"{options.url}/chat/completions", json=BODY) as answer:
            own = [(time.perf_counter_ns(), data) async for data in answer.content.iter_any()]
        reads.append((start_ns, own))


async def main() -> None:
    """Run all streams."""
    trusted = ssl.create_default_context(cafile=options.ca) if options.ca else True
    connector = aiohttp.TCPConnector(limit=0, ssl=trusted)
    async with aiohttp.ClientSession(connector=connector) as session:
        await asyncio.gather(*(stream(session, i) for i in range(options.concurrency)))


def parsed(start_ns: int, own: list[tuple[int, bytes]]) -> Request:
    """Give each event the stamp of the read that completed it."""
    request, rest = Request(start_ns=start_ns), b""
    for arrived_ns, data in own:
        *events, rest = (rest + data).split(b"\n\n")
        for event in events:
            if event.startswith(b"data: {"):
                request.take(json.loads(event[6:]), arrived_ns)
    return request


uvloop.run(main())
tell([parsed(start_ns, own) for start_ns, own in reads])
