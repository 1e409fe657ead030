"""The benchmark's one command: `python -m bench.run` (or `python3 dev.py bench`). Prints tables of ratios, each with its goal.

Here: the sections, the goals and the printing. A missed goal is printed as MISSED and fails nothing; the exit status is 1 only
if a payload was changed or a call raised. `--help` lists the options.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from importlib.util import find_spec
from math import log
from pathlib import Path
from statistics import median
from time import monotonic
from typing import Any

import sendable
from bench import candidates, clock, histories
from bench.candidates import ANTHROPIC, CHAT, FLOOR, Dialect
from bench.clock import Ratio, Timed

README = Path(__file__).with_name("README.md")
MARKS = ("<!-- results: written by `python -m bench.run --write` -->", "<!-- end of results -->")
LABEL = {CHAT: "Chat", ANTHROPIC: "Anthropic"}
OURS = "**sendable**"

# The goals of the project, as ratios.
ACROSS, ACROSS_SHORT, SAME, OBJECTS_SAME, OBJECTS_ACROSS = 2.0, 3.5, 1.0, 1.0, 2.0
GROWTH, MEMORY, IMPORT, PAIR = 1.2, 3.0, 1.5, 2.0
PAIRED = ("flat", CHAT, "openai-responses", ANTHROPIC, "gemini", "bedrock-converse")

IMPORT_COST = "from time import process_time_ns as t; a = t(); {}; print(t() - a)"
READY = "from sendable import normalize_json"


@dataclass(frozen=True, slots=True)
class Size:
    """A history to measure with. Short chats: a twentieth of the size of every text, and no image."""

    n: int
    short: bool = False

    @property
    def label(self) -> str:
        return f"{'short ' if self.short else ''}{self.n:,}"

    def events(self, faults: int = 0) -> list[histories.Event]:
        if self.short:
            return histories.events(self.n, scale=0.05, images=0, faults=faults)
        return histories.events(self.n, faults=faults)

    def bytes_of(self, dialect: Dialect, faults: int = 0) -> bytes:
        made = self.events(faults)
        return histories.encoded(histories.chat(made) if dialect == CHAT else histories.anthropic(made))


SIZES = (Size(10), Size(100), Size(1_000), Size(10_000), Size(100, short=True), Size(10_000, short=True))


@dataclass(slots=True)
class Table:
    title: str
    columns: list[str]
    rows: list[list[str]] = field(default_factory=list)
    note: str = ""

    def __str__(self) -> str:
        lines = [self.columns, *self.rows]
        widths = [max(len(line[i]) for line in lines) for i in range(len(self.columns))]
        padded = ["| " + " | ".join(c.ljust(w) for c, w in zip(line, widths, strict=True)) + " |" for line in lines]
        padded.insert(1, "| " + " | ".join("-" * w for w in widths) + " |")
        return "\n".join([f"### {self.title}", *([f"\n{self.note}"] if self.note else []), "", *padded, ""])


@dataclass(slots=True)
class Run:
    """One run: its options, and the goals and failures met on the way."""

    rounds: int
    sizes: tuple[Size, ...]
    verdicts: list[tuple[str, str]] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)

    def verdict(self, what: str, value: Ratio, goal: float) -> str:
        """`met` if best and median are within the goal, `met (best)` if only the best is, else `MISSED`."""
        if round(value.best, 2) > goal:
            word = "MISSED"
        else:
            word = "met" if round(value.median, 2) <= goal else "met (best)"
        self.verdicts.append((word, f"{what}: {value.best:.2f} ({value.median:.2f}), goal {goal}"))
        return word

    def cell(self, what: str, timed: Timed, to: Timed, goal: float | None = None, *, own: bool = True) -> str:
        if timed.error or to.error:
            if own:
                self.failures.append(f"{what}: {timed.error or to.error}")
            return "failed"
        value = clock.ratio(timed, to)
        shown = f"{value.best:.2f} ({value.median:.2f})"
        return shown if goal is None else f"{shown} ≤ {goal} {self.verdict(what, value, goal)}"

    def rounds_for(self, size: Size) -> int:
        return max(3, self.rounds - 2) if size.n >= 10_000 and not size.short else self.rounds


def progress(text: str) -> None:
    print(f"… {text}", file=sys.stderr, flush=True)


# --- the sections ------------------------------------------------------------------------------------------------------


def payload(run: Run) -> Iterator[Table]:
    from bench.payload import checks

    table = Table("Payloads and silence", ["check", ""])
    for name, holds in checks():
        table.rows.append([name, "ok" if holds else "DIFFERS"])
        if not holds:
            run.failures.append(f"payload: {name}")
    yield table


def convert(run: Run) -> Iterator[Table]:
    same = Table("Bytes to bytes, the same dialect, clean", ["", *(size.label for size in run.sizes)])
    for source, to in ((CHAT, ANTHROPIC), (ANTHROPIC, CHAT)):
        peers = candidates.peers(source, to)
        title = f"Bytes to bytes, {LABEL[source]} to {LABEL[to]}"
        names = [c.name for c in candidates.FLOORS] + [OURS] + [c.name for c in peers]
        rows = {name: [name] for name in names}
        same_row = [f"{OURS} {LABEL[source]}"]
        for size in run.sizes:
            progress(f"{title}: {size.label} messages")
            data = size.bytes_of(source)
            calls: dict[str, Callable[[], object]] = {
                c.name: partial(c.call, data) for c in (*candidates.FLOORS, *peers)
            }
            calls[OURS] = partial(candidates.ours(to), data)
            calls["same"] = partial(candidates.ours(source), data)
            timed = clock.measure(calls, run.rounds_for(size))
            floor = timed[FLOOR]
            rows[FLOOR].append(f"1 = {floor.best / 1e6:.3g} ms, {len(data) / floor.best * 1e3:.0f} MB/s")
            for name in names[1:]:
                goal = None if name != OURS or size.n < 100 else ACROSS_SHORT if size.short else ACROSS
                what = f"{title}, {size.label}"
                rows[name].append(run.cell(what, timed[name], floor, goal, own=name == OURS))
            goal = SAME if size.n >= 100 and not size.short else None
            same_row.append(run.cell(f"{LABEL[source]} to itself, {size.label}", timed["same"], floor, goal))
        same.rows.append(same_row)
        note = f"Ratios to `{FLOOR}` of the same bytes in the same round: best to best (median of the rounds)."
        yield Table(title, ["messages", *(size.label for size in run.sizes)], list(rows.values()), note)
    yield same


def objects(run: Run) -> Iterator[Table]:
    from sendable import normalize

    sizes = [size for size in run.sizes if size.n >= 100]
    table = Table("Parsed objects", ["messages", *(size.label for size in sizes)])
    table.note = "Ratios to the standard library's `json.loads` of the same history."
    for source, to in ((CHAT, ANTHROPIC), (ANTHROPIC, CHAT)):
        wanted: dict[str, tuple[Dialect, bool, float | None]] = {
            f"{LABEL[source]} to itself, share=True": (source, True, OBJECTS_SAME),
            f"{LABEL[source]} to itself": (source, False, None),
            f"{LABEL[source]} to {LABEL[to]}": (to, False, OBJECTS_ACROSS),
            f"{LABEL[source]} to {LABEL[to]}, share=True": (to, True, None),
        }
        rows = {name: [name] for name in wanted}
        for size in sizes:
            progress(f"parsed objects, {LABEL[source]}: {size.label} messages")
            data = size.bytes_of(source)
            parsed = json.loads(data)
            calls: dict[str, Callable[[], object]] = {"json.loads": partial(json.loads, data)}
            for name, (target, share, _) in wanted.items():
                calls[name] = partial(normalize, parsed, target, share=share)
            timed = clock.measure(calls, run.rounds_for(size))
            for name, (_, _, goal) in wanted.items():
                what = f"objects, {name}, {size.label}"
                rows[name].append(run.cell(what, timed[name], timed["json.loads"], None if size.short else goal))
        table.rows += rows.values()
    yield table


def growth(run: Run) -> Iterator[Table]:
    table = Table(
        "Growth from 1,000 to 10,000 messages",
        ["", FLOOR, candidates.COPY, OURS, f"{OURS}, faulty", "faulty / clean at 10,000"],
    )
    table.note = (
        "The exponent e in time ~ bytes^e, from the best times (median of the rounds). Faulty: 100 and 1,000 faults "
        "(lost results, duplicate results, duplicate ids, late system messages)."
    )
    for source, to in ((CHAT, ANTHROPIC), (ANTHROPIC, CHAT), (CHAT, CHAT), (ANTHROPIC, ANTHROPIC)):
        label = f"{LABEL[source]} to {LABEL[to] if source != to else 'itself'}"
        progress(f"growth, {label}")
        calls: dict[str, Callable[[], object]] = {}
        size: dict[str, int] = {}
        for n in (1_000, 10_000):
            for kind, faults in (("clean", 0), ("faulty", n // 10)):
                data = Size(n).bytes_of(source, faults)
                size[f"{kind} {n}"] = len(data)
                calls[f"{kind} {n}"] = partial(candidates.ours(to), data)
                if not faults:
                    size[f"floor {n}"] = len(data)
                    calls[f"floor {n}"] = partial(candidates.floor, data)
                    size[f"copy {n}"] = len(data)
                    calls[f"copy {n}"] = partial(candidates.copied, data)
        timed = clock.measure(calls, max(3, run.rounds - 2))
        cells = [label]
        for kind in ("floor", "copy", "clean", "faulty"):
            small, big = timed[f"{kind} 1000"], timed[f"{kind} 10000"]
            if small.error or big.error:
                run.failures.append(f"growth, {label}, {kind}: {small.error or big.error}")
                cells.append("failed")
                continue
            unit = log(size[f"{kind} 10000"] / size[f"{kind} 1000"])
            times = clock.ratio(big, small)
            exponent = Ratio(log(times.best) / unit, log(times.median) / unit)
            shown = f"{exponent.best:.2f} ({exponent.median:.2f})"
            if kind in ("clean", "faulty"):
                shown += f" ≤ {GROWTH} {run.verdict(f'growth exponent, {label}, {kind}', exponent, GROWTH)}"
            cells.append(shown)
        cells.append(run.cell(f"growth, {label}", timed["faulty 10000"], timed["clean 10000"]))
        table.rows.append(cells)
    yield table


def pairs(run: Run) -> Iterator[Table]:
    """All 36 ordered pairs. The bodies of the other dialects are made of the Chat one by the package, before anything is timed."""
    sizes = (1_000, 10_000)
    bodies: dict[tuple[str, int], bytes] = {}
    for n in sizes:
        bodies[CHAT, n], bodies[ANTHROPIC, n] = Size(n).bytes_of(CHAT), Size(n).bytes_of(ANTHROPIC)
        for dialect in PAIRED:
            if (dialect, n) not in bodies:
                bodies[dialect, n] = sendable.normalize_json(bodies[CHAT, n], dialect).data
    ratios = Table("All pairs, 1,000 messages", ["from, to", *PAIRED])
    ratios.note = f"Ratios to {LABEL[CHAT]} to {LABEL[ANTHROPIC]} of the same history in the same rounds."
    grown = Table("All pairs, growth from 1,000 to 10,000 messages", ["from, to", *PAIRED])
    grown.note = "The exponent e in time ~ bytes^e, as above."
    for source in PAIRED:
        progress(f"pairs, from {source}")
        calls: dict[str, Callable[[], object]] = {
            f"{to} {n}": partial(sendable.normalize_json, bodies[source, n], to, source=source)
            for to in PAIRED
            for n in sizes
        }
        calls["reference"] = partial(candidates.ours(ANTHROPIC), bodies[CHAT, 1_000])
        timed = clock.measure(calls, max(3, run.rounds - 2))
        row, exponents = [source], [source]
        unit = log(len(bodies[source, 10_000]) / len(bodies[source, 1_000]))
        for to in PAIRED:
            small, big = timed[f"{to} 1000"], timed[f"{to} 10000"]
            row.append(run.cell(f"pair, {source} to {to}", small, timed["reference"], PAIR))
            if small.error or big.error:
                run.failures.append(f"pair, {source} to {to}: {small.error or big.error}")
                exponents.append("failed")
                continue
            times = clock.ratio(big, small)
            exponent = Ratio(log(times.best) / unit, log(times.median) / unit)
            word = run.verdict(f"growth exponent, {source} to {to}", exponent, GROWTH)
            exponents.append(f"{exponent.best:.2f} ({exponent.median:.2f}) ≤ {GROWTH} {word}")
        ratios.rows.append(row)
        grown.rows.append(exponents)
    yield ratios
    yield grown


def memory(run: Run) -> Iterator[Table]:
    sizes = [size for size in run.sizes if size.n >= 1_000 and not size.short]
    table = Table("Peak memory", ["", *(size.label for size in sizes)])
    table.note = (
        "What one call adds to the resident memory of a fresh process at its peak, as a multiple of the input: "
        "the output is included, the input is not."
    )
    floors = [c.name for c in candidates.FLOORS]
    rows: dict[str, list[str]] = {}
    with tempfile.TemporaryDirectory() as folder:
        for size in sizes:
            for source, to in ((CHAT, ANTHROPIC), (ANTHROPIC, CHAT), (CHAT, CHAT), (ANTHROPIC, ANTHROPIC)):
                file = Path(folder) / "history.json"
                file.write_bytes(size.bytes_of(source))
                peers = [c.name for c in candidates.peers(source, to)]
                for name in (*(floors if source == CHAT and source != to else []), OURS, *peers):
                    progress(f"memory, {size.label} messages, {LABEL[source]} to {LABEL[to]}: {name.strip('*')}")
                    between = "" if name in floors else f" {LABEL[source]} to {LABEL[to] if source != to else 'itself'}"
                    row = rows.setdefault(name + between, [name + between])
                    row.append(memory_cell(run, row[0], name, source, to, file, MEMORY if name == OURS else None))
                if source == to:
                    name = f"{OURS} objects, {LABEL[source]} to itself, share=True"
                    row = rows.setdefault(name, [name])
                    row.append(memory_cell(run, name, "objects same", source, to, file, None))
    table.rows += rows.values()
    yield table


def memory_cell(run: Run, what: str, name: str, source: str, to: str, file: Path, goal: float | None) -> str:
    done = child("-m", "bench.child", name.strip("*"), source, to, str(file))
    if isinstance(done, str):
        if OURS in what:
            run.failures.append(f"memory, {what}: {done}")
        return "failed"
    resident = done["resident"] / done["input"]
    shown = f"{resident:.2f}"
    if goal is None:
        return shown
    return f"{shown} ≤ {goal} {run.verdict(f'peak memory, {what}', Ratio(resident, resident), goal)}"


def imports(run: Run) -> Iterator[Table]:
    statements = ["import msgspec", "import sendable", READY]
    statements += [f"import {module}" for module in ("orjson", "linguafranca") if find_spec(module)]
    progress(f"{'; '.join(statements)}: each in fresh processes")
    timed = {statement: Timed([]) for statement in statements}
    for turn in range(max(7, 3 * run.rounds)):
        first = turn % len(statements)
        for statement in statements[first:] + statements[:first]:
            done = child("-c", IMPORT_COST.format(statement))
            if isinstance(done, str):
                timed[statement].error = done
            elif turn:  # the first one may have to compile
                timed[statement].samples.append(float(done))
    table = Table("Import in a fresh process", ["", "CPU ms, best (median)", "ratio to `import msgspec`"])
    table.note = "The package loads its parts at the first use of a name, so the goal is asked of both: the bare import and the name."
    for statement in statements:
        if timed[statement].error:
            run.failures.append(f"{statement}: {timed[statement].error}")
            table.rows.append([statement, "failed", ""])
            continue
        best, middle = timed[statement].best / 1e6, median(timed[statement].samples) / 1e6
        goal = IMPORT if "sendable" in statement else None
        ratio = run.cell(statement, timed[statement], timed["import msgspec"], goal)
        table.rows.append([f"`{statement}`", f"{best:.1f} ({middle:.1f})", ratio])
    yield table


def child(*arguments: str) -> Any:
    """What a fresh Python printed as JSON; a text in its place says why it failed. Byte code is kept, as in any installation."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    done = subprocess.run(
        [sys.executable, *arguments],
        capture_output=True,
        text=True,
        check=False,
        cwd=README.parent.parent,
        env={**environment, "PYTHONUTF8": "1"},
    )
    if done.returncode != 0:
        return (done.stderr.strip().splitlines() or ["no output"])[-1][:160]
    return json.loads(done.stdout.splitlines()[-1])


SECTIONS: dict[str, Callable[[Run], Iterator[Table]]] = {
    "payload": payload,
    "convert": convert,
    "objects": objects,
    "growth": growth,
    "pairs": pairs,
    "memory": memory,
    "import": imports,
}


# --- the command -------------------------------------------------------------------------------------------------------


def machine() -> str:
    """The machine in general terms."""
    vendor = platform.machine()
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        fields = {key.strip(): value.strip() for key, _, value in (line.partition(":") for line in lines)}
        vendor = f"{fields.get('model name', '')} {vendor}".strip()
        if "hypervisor" in fields.get("flags", ""):
            vendor += ", virtual"
    except OSError:
        vendor = f"{platform.processor()} {vendor}".strip()
    versions = ", ".join(f"{name} {version}" for name, version in candidates.versions().items())
    python = f"{platform.python_implementation()} {platform.python_version()}"
    return f"{os.cpu_count()} cores ({vendor}), {platform.system()}, {python}; {versions}"


def summary(run: Run) -> list[str]:
    lines = []
    if run.verdicts:
        missed = [text for word, text in run.verdicts if word == "MISSED"]
        close = [text for word, text in run.verdicts if word == "met (best)"]
        lines.append(f"{len(run.verdicts)} goals: {len(run.verdicts) - len(missed)} met, {len(missed)} MISSED.")
        lines += [f"- MISSED {text}" for text in missed]
        lines += [f"- met by the best round only: {text}" for text in close]
    lines += [f"- FAILED {text}" for text in run.failures]
    return lines


def write_readme(text: str) -> None:
    readme = README.read_text(encoding="utf-8")
    before, rest = readme.split(MARKS[0])
    after = rest.split(MARKS[1])[1]
    README.write_text(f"{before}{MARKS[0]}\n\n{text}\n{MARKS[1]}{after}", encoding="utf-8")


@contextmanager
def stopwatch() -> Iterator[None]:
    started = monotonic()
    yield
    progress(f"done in {monotonic() - started:.0f} s")


def options(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m bench.run", description="Ratios, each with its goal; see bench/README.md."
    )
    parser.add_argument(
        "sections", nargs="*", metavar="SECTION", help=f"only these: {', '.join(SECTIONS)} (default: all)"
    )
    parser.add_argument("--rounds", type=int, default=9, help="rounds a measurement (default 9; at least 3)")
    parser.add_argument("--quick", action="store_true", help="3 rounds, no history of 10,000 messages but in growth")
    parser.add_argument("--write", action="store_true", help="put the tables into bench/README.md")
    chosen = parser.parse_args(arguments)
    unknown = set(chosen.sections) - set(SECTIONS)
    if unknown:
        parser.error(f"no section {', '.join(sorted(unknown))}; there are {', '.join(SECTIONS)}")
    return chosen


def main(arguments: list[str]) -> int:
    chosen = options(arguments)
    sizes = tuple(size for size in SIZES if size.n < 10_000) if chosen.quick else SIZES
    run = Run(3 if chosen.quick else max(3, chosen.rounds), sizes)
    head = f"Machine: {machine()}."
    absent = candidates.missing_peers()
    if absent:
        head += f" Not installed, so not compared: {', '.join(absent)} (`python3 dev.py bench --peers` installs them)."
    print(head, "\n", flush=True)
    printed = [head, ""]
    with stopwatch():
        for name in chosen.sections or SECTIONS:
            for table in SECTIONS[name](run):
                print(table, flush=True)
                printed.append(str(table))
    closing = summary(run)
    print("\n".join(closing))
    if chosen.write:
        write_readme("\n".join([*printed, *closing, ""]))
        progress("written to bench/README.md")
    return 1 if run.failures else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
