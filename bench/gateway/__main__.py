"""`python -m bench.gateway [--quick] [--only PART]… [--write]`: the gateway beside a bare pass-through and a direct connection, in one run.

    --quick       a tenth of the requests: to see that it runs, not for figures
    --only PART   cpu, latency, streams, many (1,000 streams), memory, faults; may be repeated
    --write       put the figures into README.md beside this file

CPU is utime + stime of the process tree under measurement, over the requests; the four ways (direct, bare pass-through, `sendable serve` with the
same dialect, converted Messages to Chat) take turns in each round. Given is the best round, and the median of the ratios of each round to the bare
pass-through of the same round. A figure whose answers were not all right is marked. Exit status 1 if a goal is missed or a fault is not survived.
"""

from __future__ import annotations

import argparse
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from importlib.metadata import version
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

from bench.gateway.bodies import BIG, PATHS, SMALL, body
from bench.gateway.faults import faults, killed, leaked
from bench.gateway.processes import Process, configuration, do, gateway, pass_through

README = Path(__file__).with_name("README.md")
MARKS = ("<!-- figures -->\n", "<!-- /figures -->\n")
PARTS = ("cpu", "latency", "streams", "many", "memory", "faults")
DIRECT, BARE, SAME, CONVERTED = "direct", "bare pass-through", "sendable, same dialect", "sendable, converted"
EVENTS = 200


class Way(NamedTuple):
    """One way to the upstream: which server is asked, and in which dialect."""

    name: str
    server: Process
    dialect: str


class Goal(NamedTuple):
    """A goal of the design, and what was seen."""

    name: str
    limit: float
    unit: str
    seen: float

    @property
    def met(self) -> bool:
        """At most the limit."""
        return self.seen <= self.limit


class Run:
    """One run: the servers, what was seen, and the lines of the report."""

    def __init__(self, ways: list[Way], quick: bool) -> None:
        self.ways, self.quick = ways, quick
        self.lines: list[str] = []
        self.goals: list[Goal] = []
        self.rounds = 1 if quick else 5

    def _many(self, count: int) -> int:
        return max(20, count // 10) if self.quick else count

    def _job(
        self, way: Way, size: tuple[int, int], connections: int, requests: int, model: str = "plain"
    ) -> dict[str, Any]:
        """The job done, with the CPU seconds that the server took as `cpu`."""
        before = way.server.cpu()
        seen = do({
            "url": way.server.url, "dialect": way.dialect, "size": size, "model": model, "connections": connections,
            "requests": requests, "stream": model.startswith("s"),
        })  # fmt: skip
        seen["cpu"] = way.server.cpu() - before
        if seen["wrong"]:
            print(
                f"{way.name}: {seen['wrong']} of {requests} answers are wrong, such as {seen['example']}",
                file=sys.stderr,
            )
        return seen

    def _rounds(self, jobs: Callable[[Way], dict[str, Any]]) -> dict[str, list[dict[str, Any]]]:
        seen: dict[str, list[dict[str, Any]]] = {way.name: [] for way in self.ways}
        for number in range(self.rounds):
            for at in range(len(self.ways)):
                way = self.ways[(at + number) % len(self.ways)]
                seen[way.name].append(jobs(way))
        return seen

    def table(self, title: str, head: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> None:
        """A table of the report, printed as soon as it is there."""
        lines = [f"### {title}", "", "| " + " | ".join(head) + " |", "|" + " --- |" * len(head)]
        lines += ["| " + " | ".join(row) + " |" for row in rows] + [""]
        self.lines += lines
        print("\n".join(lines), flush=True)

    # --- the parts --------------------------------------------------------------------------------------------------------

    def cpu(self) -> None:
        """CPU of a small request at 32 connections, and requests a second."""
        count = self._many(3000)
        for way in self.ways:
            self._job(way, SMALL, 32, self._many(500))
        seen = self._rounds(lambda way: self._job(way, SMALL, 32, count))
        rows, best, ratios = [], {}, {}
        for name, jobs in seen.items():
            best[name] = min(job["cpu"] for job in jobs) / count * 1e6
            ratios[name] = median(job["cpu"] / bare["cpu"] for job, bare in zip(jobs, seen[BARE], strict=True))
            wrong = sum(job["wrong"] for job in jobs)
            rate = max(count / job["wall"] for job in jobs)
            middle = median(job["cpu"] for job in jobs) / count * 1e6
            rows.append((name, f"{best[name]:.0f}", f"{middle:.0f}", f"{ratios[name]:.2f}", f"{rate:,.0f}", str(wrong)))
        size = len(body("messages", SMALL, "plain"))
        head = ("way", "CPU µs, best", "CPU µs, median", "× bare, median", "requests/s, best", "wrong")
        self.table(f"A request of {size} bytes at 32 connections, {count:,} a round, {self.rounds} rounds", head, rows)
        self.goals += [
            Goal("CPU of a converted 1 kB request, 32 connections", 350, "µs", best[CONVERTED]),
            Goal("the same, × bare pass-through", 1.4, "×", ratios[CONVERTED]),
        ]
        self._wrk()

    def _wrk(self) -> None:
        """The same with wrk, if it is there: a load that takes less of the machine."""
        if shutil.which("wrk") is None:
            self.lines += [
                "`wrk` is not on this machine: the requests a second are those of our own load alone, which takes half of it.",
                "",
            ]
            return
        rows = []
        with tempfile.TemporaryDirectory() as folder:
            for way in self.ways:
                script = Path(folder, "post.lua")
                text = body(way.dialect, SMALL, "plain").decode()
                script.write_text(
                    f'wrk.method = "POST"\nwrk.body = [==[{text}]==]\nwrk.headers["Content-Type"] = "application/json"\n'
                    'wrk.headers["Authorization"] = "Bearer dummy"\n'
                )
                before, seconds = way.server.cpu(), 1 if self.quick else 5
                command = [
                    "wrk",
                    "-t1",
                    "-c32",
                    f"-d{seconds}s",
                    "-s",
                    str(script),
                    way.server.url + PATHS[way.dialect],
                ]
                said = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True).stdout
                taken = way.server.cpu() - before
                found, bad = re.search(r"(\d+) requests in", said), re.search(r"Non-2xx or 3xx responses: (\d+)", said)
                count = int(found[1]) if found else 0
                rows.append(
                    (way.name, f"{count / seconds:,.0f}", f"{taken / max(1, count) * 1e6:.0f}", bad[1] if bad else "0")
                )
        self.table(
            "The same load from wrk (one thread, 32 connections)", ("way", "requests/s", "CPU µs", "not 200"), rows
        )

    def latency(self) -> None:
        """What is added at one connection."""
        for size, count in ((SMALL, self._many(1500)), (BIG, self._many(150))):
            for way in self.ways:
                self._job(way, size, 1, 20)
            seen = self._rounds(lambda way, size=size, count=count: self._job(way, size, 1, count))  # type: ignore[misc]
            rows, added = [], {}
            for name, jobs in seen.items():
                half = [_at(job["took"], 0.5) for job in jobs]
                late = [_at(job["took"], 0.99) for job in jobs]
                added[name] = (
                    median(one - _at(direct["took"], 0.5) for one, direct in zip(half, seen[DIRECT], strict=True)) / 1e6
                )
                over = median(one - _at(bare["took"], 0.5) for one, bare in zip(half, seen[BARE], strict=True)) / 1e6
                tail = (
                    median(one - _at(direct["took"], 0.99) for one, direct in zip(late, seen[DIRECT], strict=True))
                    / 1e6
                )
                cost = min(job["cpu"] for job in jobs) / count * 1e3
                rows.append((name, f"{median(half) / 1e6:.2f}", f"{median(late) / 1e6:.2f}", f"{added[name]:.2f}", f"{tail:.2f}", f"{over:.2f}", f"{cost:.2f}"))  # fmt: skip
            length = len(body("messages", size, "plain"))
            head = ("way", "p50 ms", "p99 ms", "added p50", "added p99", "p50 over bare", "CPU ms, best")
            self.table(
                f"One connection, {length:,} bytes, {count:,} a round, {self.rounds} rounds (medians of the rounds)",
                head,
                rows,
            )
            name, limit = ("1 kB", 1.0) if size is SMALL else ("500 kB", 6.0)
            self.goals.append(
                Goal(f"added p50 of a converted {name} request, 1 connection", limit, "ms", added[CONVERTED])
            )

    def streams(self) -> None:
        """Streams of 200 events: their CPU at 20 at once, and how late an event is when only one stream runs."""
        count, kinds = (
            self._many(60),
            (("20 at once, an event every 2 ms", 20, "s200x2"), ("one at a time, an event every 2 ms", 1, "s200x2")),
        )
        for title, connections, model in kinds:
            number = count if connections > 1 else max(3, count // 6)
            seen = self._rounds(lambda way, c=connections, n=number, m=model: self._job(way, SMALL, c, n, m))  # type: ignore[misc]
            rows, each, first = [], {}, {}
            for name, jobs in seen.items():
                each[name] = min(job["cpu"] for job in jobs) / number / EVENTS * 1e6
                middle = median(job["cpu"] for job in jobs) / number / EVENTS * 1e6
                first[name] = median(_at(job["first"], 0.5) for job in jobs) / 1e6
                late = (
                    median(_at(job["later"], 0.5) for job in jobs) / 1e6,
                    median(_at(job["later"], 0.99) for job in jobs) / 1e6,
                )
                wrong = sum(job["wrong"] for job in jobs)
                rows.append((name, f"{each[name]:.1f}", f"{middle:.1f}", f"{first[name]:.2f}", f"{late[0]:.2f}", f"{late[1]:.2f}", str(wrong)))  # fmt: skip
            head = (
                "way",
                "CPU µs/event, best",
                "median",
                "first event after ms, p50",
                "later events p50",
                "p99",
                "wrong",
            )
            self.table(f"Streams of {EVENTS} events, {title}, {number} a round", head, rows)
            if connections > 1:
                self.goals.append(Goal("CPU of a converted stream's event", 50, "µs", each[CONVERTED]))
            else:
                self.goals.append(Goal("first event of a converted stream after it exists", 1, "ms", first[CONVERTED]))

    def many(self) -> None:
        """1,000 streams at once."""
        count, rows = self._many(1000), []
        for way in self.ways:
            seen = self._job(way, SMALL, count, count, "s100x100")
            late = f"{_at(seen['later'], 0.5) / 1e6:.0f}", f"{_at(seen['later'], 0.99) / 1e6:.0f}"
            rows.append((way.name, f"{seen['wall']:.1f}", *late, f"{seen['cpu'] / max(1, seen['events']) * 1e6:.1f}", f"{way.server.resident(most=True):.0f}", str(seen["wrong"])))  # fmt: skip
        head = (
            "way",
            "s for all (10 are ideal)",
            "event late ms, p50",
            "p99",
            "CPU µs/event",
            "most MB resident",
            "wrong",
        )
        self.table(f"{count:,} streams at once, 100 events, one every 100 ms", head, rows)

    def memory(self) -> None:
        """What is resident after many requests."""
        steps, rows = self._many(50_000), []
        for way in self.ways[1:]:
            if way.name == SAME:
                continue  # keeps: the same process as the converted way, which does more
            before = way.server.resident()
            seen = self._job(way, SMALL, 32, steps)
            rows.append((way.name, f"{before:.0f}", f"{way.server.resident():.0f}", f"{way.server.resident(most=True):.0f}", str(way.server.descriptors()), str(seen["wrong"])))  # fmt: skip
        self.table(
            f"MB resident, before and after {steps:,} requests of 1 kB",
            ("way", "before", "after", "most", "descriptors", "wrong"),
            rows,
        )
        self.goals.append(Goal(f"MB resident after {steps:,} requests", 80, "MB", self.ways[-1].server.resident()))

    def faults(self) -> bool:
        """Every fault, then `kill -9`. Whether all held."""
        facts, held = faults()
        facts += faults(retries=1, only=("reset", "500"))[0]
        facts += killed(10 if self.quick else 50)
        rows = [(f.fault, f.told, str(f.attempts), str(f.upstream), "yes" if f.holds else "**no**") for f in facts]
        self.table(
            "Faults (20 requests of each kind)",
            ("what happens", "how it ended", "attempts in the audit", "seen by the upstream", "holds"), rows,
        )  # fmt: skip
        self.lines += [
            f"Descriptors that the gateway held after each round of all faults: {', '.join(map(str, held))}.",
            "",
        ]
        print(self.lines[-2])
        return all(fact.holds for fact in facts) and not leaked(held)


def _at(values: list[int], share: float) -> float:
    return values[min(len(values) - 1, int(len(values) * share))] if values else float("nan")


def _machine() -> str:
    found = re.search(r"model name\s*:\s*(.+)", Path("/proc/cpuinfo").read_text())
    parts = [
        f"{name} {version(name)}" for name in ("uvicorn", "uvloop", "httptools", "aiohttp", "msgspec", "SQLAlchemy")
    ]
    return f"{os.cpu_count()} × {found[1] if found else platform.machine()}, CPython {platform.python_version()}, {', '.join(parts)}"


def main() -> int:
    """The command."""
    parser = argparse.ArgumentParser(prog="python -m bench.gateway", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--quick", action="store_true", help="a tenth of the requests")
    parser.add_argument("--only", action="append", choices=PARTS, help="only this part; may be repeated")
    parser.add_argument("--write", action="store_true", help="put the figures into README.md")
    told = parser.parse_args()
    load = os.getloadavg()[0]
    survived = True
    with tempfile.TemporaryDirectory() as folder:
        upstream = Process("-m", "bench.gateway.upstream")
        bare = pass_through(upstream)
        server: Process | None = None
        try:
            server = gateway(configuration(Path(folder), upstream))
            ways = [
                Way(DIRECT, upstream, "chat"),
                Way(BARE, bare, "chat"),
                Way(SAME, server, "chat"),
                Way(CONVERTED, server, "messages"),
            ]
            run = Run(ways, told.quick)
            run.lines += [f"Resident when started: {server.resident():.0f} MB (bare pass-through {bare.resident():.0f} MB); started in {server.started_in:.1f} s.", ""]  # fmt: skip
            for part in PARTS:
                if not told.only or part in told.only:
                    survived = getattr(run, part)() is not False and survived
        finally:
            for process in (server, bare, upstream):
                if process is not None:
                    process.end()
    rows = [
        (g.name, f"{g.limit:g} {g.unit}", f"{g.seen:.2f} {g.unit}", "yes" if g.met else "**no**") for g in run.goals
    ]
    tables, run.lines = run.lines, []
    run.table("Goals", ("goal", "at most", "seen", "met"), rows)
    note = (
        ""
        if load < 0.5
        else f" The machine was doing other work (load {load:.1f} at the start), so ratios say more than milliseconds."
    )
    size = " With `--quick`: too few requests for figures." if told.quick else ""
    report = "\n".join([f"{_machine()}.{note}{size}", "", *run.lines, *tables])
    if told.write:
        text = README.read_text()
        start, end = text.index(MARKS[0]) + len(MARKS[0]), text.index(MARKS[1])
        README.write_text(f"{text[:start]}{report.rstrip()}\n{text[end:]}")
    return 0 if survived and all(goal.met for goal in run.goals) else 1


if __name__ == "__main__":
    sys.exit(main())
