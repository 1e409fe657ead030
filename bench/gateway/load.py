"""The load, from a process of its own: `python -m bench.gateway.load` reads one job as JSON from standard input and prints what it saw as JSON.

A job: `url`, `dialect`, `size` (see bodies.py), `model`, `connections`, `requests` (in all), `stream`. Closed loop: each connection sends its next
request when the last one has ended. Every answer is checked: a 200, its text there, a stream with all its events and its end.
"""

from __future__ import annotations

import asyncio
import json
import re
import resource
import sys
import time
from typing import Any

import aiohttp
import uvloop

from bench.gateway.bodies import PATHS, body

MADE = re.compile(rb"t=(\d+) ")
ENDS = {"chat": b"[DONE]", "messages": b"message_stop"}
TEXT = b"It is mild."


class Seen:
    """What one job saw. Times in nanoseconds."""

    def __init__(self) -> None:
        self.took: list[int] = []
        self.first: list[int] = []
        self.later: list[int] = []
        self.wrong: list[str] = []
        self.events = 0


async def _one(session: aiohttp.ClientSession, job: dict[str, Any], data: bytes, seen: Seen) -> None:
    headers = {"content-type": "application/json", "authorization": "Bearer dummy", "anthropic-version": "2023-06-01"}
    start = time.perf_counter_ns()
    async with session.post(job["url"] + PATHS[job["dialect"]], data=data, headers=headers) as answer:
        if not job["stream"]:
            got = await answer.read()
            seen.took.append(time.perf_counter_ns() - start)
            if answer.status != 200 or TEXT not in got:
                seen.wrong.append(f"{answer.status} {got[:200].decode(errors='replace')}")
            return
        rest, events = b"", 0
        async for chunk in answer.content.iter_any():
            now, rest = time.monotonic_ns(), rest + chunk
            matches = list(MADE.finditer(rest))
            for match in matches:
                (seen.later if events else seen.first).append(now - int(match[1]))
                events += 1
            rest = rest[matches[-1].end() :] if matches else rest
        seen.took.append(time.perf_counter_ns() - start)
        seen.events += events
        expected = int(re.match(r"s(\d+)x", job["model"])[1])  # type: ignore[index]
        if answer.status != 200 or events != expected or ENDS[job["dialect"]] not in rest:
            seen.wrong.append(f"{answer.status}, {events} events of {expected}: {rest[-200:].decode(errors='replace')}")


async def run(job: dict[str, Any]) -> dict[str, Any]:
    """Do the job, and say what was seen."""
    data = body(job["dialect"], tuple(job["size"]), job["model"], job["stream"])
    seen, left = Seen(), job["requests"]

    async def connection(session: aiohttp.ClientSession) -> None:
        nonlocal left
        while left > 0:
            left -= 1
            try:
                await _one(session, job, data, seen)
            except (aiohttp.ClientError, OSError) as error:
                seen.wrong.append(type(error).__name__)

    async with aiohttp.ClientSession(
        connector=aiohttp.TCPConnector(limit=0), timeout=aiohttp.ClientTimeout(total=120), auto_decompress=False
    ) as session:
        start = time.perf_counter()
        await asyncio.gather(*(connection(session) for _ in range(job["connections"])))
        wall = time.perf_counter() - start
    return {
        "bytes": len(data), "wall": wall, "took": sorted(seen.took), "first": sorted(seen.first), "later": sorted(seen.later),
        "events": seen.events, "wrong": len(seen.wrong), "example": seen.wrong[:1],
    }  # fmt: skip


if __name__ == "__main__":
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    json.dump(uvloop.run(run(json.load(sys.stdin))), sys.stdout)
