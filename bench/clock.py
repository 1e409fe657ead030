"""How things are timed: CPU time of this process, candidates interleaved and rotated, ratios within the same round.

The machine is shared and noisy, so a wall-clock figure, or two figures of different runs, say nothing. What is said is a ratio
to a floor measured a moment before or after on the same bytes: best to best, and the median of the ratios of the rounds.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from statistics import median
from time import process_time_ns

SAMPLE = 25_000_000
"""A sample repeats its call until it has used that many nanoseconds, so that short calls are not lost in the clock's grain."""


@dataclass(slots=True)
class Timed:
    """One candidate's samples, nanoseconds a call, in the order of the rounds. `error` is set, and they are empty, if it failed."""

    samples: list[float]
    error: str = ""

    @property
    def best(self) -> float:
        return min(self.samples)


@dataclass(frozen=True, slots=True)
class Ratio:
    best: float
    median: float


def measure(calls: Mapping[str, Callable[[], object]], rounds: int) -> dict[str, Timed]:
    """Every call's samples. A call that raises is left out, with what it raised; the others are measured all the same."""
    timed = {name: Timed([]) for name in calls}
    repeats: dict[str, int] = {}
    for name, call in calls.items():
        try:
            repeats[name] = max(1, round(SAMPLE / max(1, once(call, warm_up=True))))
        except Exception as error:  # a peer or the package itself: shown in the table, in place of a figure
            timed[name].error = f"{type(error).__name__}: {error}"[:160]
    gc.collect()
    gc.freeze()  # the histories, parsed or not, are as good as not there for the collector; it stays on for what the calls make
    order = list(repeats)
    try:
        for turn in range(rounds):
            first = turn % len(order) if order else 0
            for name in order[first:] + order[:first]:
                call, count = calls[name], repeats[name]
                started = process_time_ns()
                for _ in range(count):
                    call()
                timed[name].samples.append((process_time_ns() - started) / count)
    finally:
        gc.unfreeze()
    return timed


def once(call: Callable[[], object], *, warm_up: bool) -> int:
    if warm_up:
        call()
    started = process_time_ns()
    call()
    return process_time_ns() - started


def ratio(timed: Timed, to: Timed) -> Ratio:
    pairs = zip(timed.samples, to.samples, strict=True)
    return Ratio(timed.best / to.best, median(a / b for a, b in pairs))
