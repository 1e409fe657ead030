"""Faults: what upstreams and the system do to a gateway, and whether the audit tells it afterwards. Each line is a fact that holds or does not.

After each fault the same is asked: every request of the client has a row that has ended; the attempts of the audit are the requests that the
upstream has counted; the upstream is in the middle of nothing; and a second helping of everything leaves no more descriptors open than the first.
"""

from __future__ import annotations

import asyncio
import contextlib
import sqlite3
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import aiohttp

from bench.gateway.bodies import PATHS, SMALL, body
from bench.gateway.processes import Process, configuration, gateway, settled

EACH = 20
ROUNDS = 2
SPARE_DESCRIPTORS = 4
"""Connections that the gateway keeps for later, and files of the audit, may come and go by so many."""

FAULTS = (
    ("the connection is reset before a byte", "reset", False),
    ("reset after ten events of a stream", "cut", True),
    ("a stream that ends without its end", "half", True),
    ("a stream that says nothing more (idle time-out 3 s)", "stall", True),
    ("bytes that are not HTTP", "garbage", False),
    ("a good status and no JSON", "nonsense", False),
    ("status 500", "500", False),
    ("the client leaves after the first event", "s400x5", True),
)


class Fact(NamedTuple):
    """One line of the table."""

    fault: str
    requests: int
    told: str
    attempts: int
    upstream: int
    holds: bool


async def _ask(url: str, dialect: str, model: str, stream: bool, leave: bool) -> str:
    """One request; what the client could see of its end."""
    headers = {"content-type": "application/json", "authorization": "Bearer dummy", "anthropic-version": "2023-06-01"}
    got = b""
    try:
        async with (
            aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=60)) as session,
            session.post(url + PATHS[dialect], data=body(dialect, SMALL, model, stream), headers=headers) as answer,
        ):
            async for chunk in answer.content.iter_any():
                got += chunk
                if leave and b"t=" in got:
                    return "left"
            if answer.status != 200:
                return str(answer.status)
            whole = b"[DONE]" in got or b"message_stop" in got or not stream
            return "an error in the stream" if b'"error"' in got else "whole" if whole else "ends short"
    except (aiohttp.ClientError, TimeoutError) as error:
        return "broken off" if got else type(error).__name__


async def _all(url: str, dialect: str, model: str, stream: bool, leave: bool, count: int) -> list[str]:
    return await asyncio.gather(*(_ask(url, dialect, model, stream, leave) for _ in range(count)))


@contextlib.contextmanager
def _audit(folder: Path) -> Iterator[sqlite3.Connection]:
    connection = sqlite3.connect(f"file:{folder / 'audit.db'}?mode=ro", uri=True)
    try:
        yield connection
    finally:
        connection.close()


def _rows(folder: Path, model: str) -> tuple[list[str | None], list[str | None]]:
    """How the requests and the attempts of `model` have ended."""
    with _audit(folder) as audit:
        requests = audit.execute("SELECT ended FROM sendable_requests WHERE model = ?", (model,)).fetchall()
        attempts = audit.execute(
            "SELECT a.ended FROM sendable_attempts a JOIN sendable_requests r ON r.id = a.request_id WHERE r.model = ?",
            (model,),
        ).fetchall()
    return [row[0] for row in requests], [row[0] for row in attempts]


def _table(values: list[str | None]) -> str:
    return ", ".join(f"{value}: {values.count(value)}" for value in sorted(set(values), key=str))


def faults(retries: int = 0, only: tuple[str, ...] = ()) -> tuple[list[Fact], list[int]]:
    """All faults, or `only` some, `ROUNDS` times, converted and not, each request tried again `retries` times.

    The second value: the descriptors that the gateway held open after each round.
    """
    facts: list[Fact] = []
    held: list[int] = []
    with tempfile.TemporaryDirectory() as name:
        folder, upstream = Path(name), Process("-m", "bench.gateway.upstream")
        try:
            server = gateway(configuration(folder, upstream, retries=retries))
            try:
                for round_ in range(ROUNDS):
                    for fault, kind, stream in FAULTS:
                        if only and kind not in only:
                            continue  # keeps: it is measured without retries
                        for dialect in PATHS:
                            model = f"{kind}-{dialect}-{round_}"
                            seen = asyncio.run(_all(server.url, dialect, model, stream, kind == "s400x5", EACH))
                            told = settled(server, upstream)
                            requests, attempts = _rows(folder, model)
                            handed_on = (kind, dialect) == ("nonsense", "chat")  # byte for byte: nothing of it is read
                            holds = (
                                len(requests) == EACH and None not in requests and None not in attempts
                                and len(attempts) == told["asked"].get(model, 0) and not told["busy"]
                                and (handed_on or "whole" not in seen)
                            )  # fmt: skip
                            if not round_ or not holds:
                                what = f"client: {_table(list(seen))}; audit: {_table(requests)}"
                                again = f", {retries} retry" if retries else ""
                                asked = told["asked"].get(model, 0)
                                facts.append(
                                    Fact(f"{fault} ({dialect}{again})", EACH, what, len(attempts), asked, holds)
                                )
                    held.append(server.descriptors())
            finally:
                server.end()
        finally:
            upstream.end()
    return facts, held


def killed(count: int = 50) -> list[Fact]:
    """`kill -9` in the middle of `count` streams, of both dialects; then the server starts again on the same port and the same audit."""
    facts: list[Fact] = []
    with tempfile.TemporaryDirectory() as name:
        folder, upstream = Path(name), Process("-m", "bench.gateway.upstream")
        try:
            for dialect in PATHS:
                model = f"s2000x5-{dialect}"
                server = gateway(configuration(folder, upstream))
                try:
                    seen = asyncio.run(_killed(server, dialect, model, count))
                    again = gateway(configuration(folder, upstream, port=server.port))
                    try:
                        after = asyncio.run(_all(again.url, dialect, f"plain-{dialect}", False, False, count))
                        told = settled(again, upstream)
                        requests, attempts = _rows(folder, model)
                    finally:
                        again.end()
                finally:
                    server.end()
                holds = (
                    requests == attempts == ["unfinished"] * count and told["asked"][model] == count
                    and not told["busy"] and after == ["whole"] * count
                )  # fmt: skip
                what = f"client: {_table(list(seen))}; audit after the restart: {_table(requests)}"
                facts.append(
                    Fact(
                        f"`kill -9` during {count} streams ({dialect})",
                        count,
                        what,
                        len(attempts),
                        told["asked"][model],
                        holds,
                    )
                )
        finally:
            upstream.end()
    return facts


async def _killed(server: Process, dialect: str, model: str, count: int) -> list[str]:
    running = asyncio.ensure_future(_all(server.url, dialect, model, True, False, count))
    await asyncio.sleep(2.0)
    server.kill()
    return await running


def leaked(held: list[int]) -> bool:
    """More descriptors after the last round than after the first."""
    return held[-1] > held[0] + SPARE_DESCRIPTORS
