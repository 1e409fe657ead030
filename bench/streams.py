"""What one event of a stream costs, on top of reading its JSON: `python -m bench.streams`.

Every dialect's stream of one long answer (reasoning, text, two calls) is read into neutral events, and translated for the clients of another
dialect. The bar is `msgspec.json.decode` of the same events, which whoever touches a stream pays anyway. Not here: histories (run.py).
"""

from __future__ import annotations

import json
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from functools import partial

import msgspec

import sendable
from sendable.conversation import Reasoning, Reply, Stop, Text, ToolCall, Usage
from sendable.stream import (
    ArgumentsDelta,
    BlockStart,
    BlockStop,
    Event,
    MessageStart,
    MessageStop,
    ReasoningDelta,
    TextDelta,
)
from sendable.targets import DIALECTS

GOAL = 15.0
"""Microseconds for one event, read and translated."""

WORDS = [f" word{number}" for number in range(200)]


def answer() -> list[Event]:
    """One long answer as neutral events: 200 pieces of reasoning, 600 of text, two calls of 50 pieces each."""
    thought, said = WORDS, WORDS * 3
    arguments = json.dumps({"at": " ".join(f"place{number}" for number in range(49))})
    size = len(arguments) // 50 + 1
    pieces = [arguments[start : start + size] for start in range(0, len(arguments), size)]
    events: list[Event] = [MessageStart(None, "answer_1", "m", 1), BlockStart(0, "reasoning")]
    events += [ReasoningDelta(0, piece) for piece in thought]
    events += [BlockStop(0, Reasoning("".join(thought), None, ())), BlockStart(1, "text")]
    events += [TextDelta(1, piece) for piece in said]
    events.append(BlockStop(1, Text("".join(said), ())))
    for index in (2, 3):
        events.append(BlockStart(index, "tool_call", f"call_{index}", "look"))
        events += [ArgumentsDelta(index, piece) for piece in pieces]
        events.append(BlockStop(index, ToolCall(f"call_{index}", "look", arguments, ())))
    return [*events, MessageStop(Reply("answer_1", "m", (), (), Stop("tool_calls"), Usage(10, 900), created=1), {})]


def wire_of(dialect: str) -> list[bytes]:
    """The data of its events, as a provider of the dialect sends them."""
    writer = sendable.StreamWriter(dialect)
    sent = [wire.data for event in answer() for wire in writer.feed(event)]
    return [data.encode() if isinstance(data, str) else json.dumps(data).encode() for data in sent]


def decode(wire: Sequence[bytes]) -> None:
    """The bar."""
    for data in wire:
        if data != b"[DONE]":
            msgspec.json.decode(data)


def read(source: str, wire: Sequence[bytes]) -> None:
    """The stream as neutral events."""
    reader = sendable.StreamReader(source)
    for data in wire:
        reader.feed(data)
    reader.close()


def translate(source: str, to: str, wire: Sequence[bytes]) -> None:
    """The stream for clients of another dialect, event by event, as objects."""
    reader, writer = sendable.StreamReader(source), sendable.StreamWriter(to)
    for data in wire:
        for event in reader.feed(data):
            writer.feed(event)
    for event in reader.close():
        writer.feed(event)


def per_event(run: Callable[[], None], count: int, rounds: int = 15) -> float:
    """Microseconds for one event: the median of several rounds, after one that warms up."""
    run()
    taken: list[float] = []
    for _ in range(rounds):
        start = time.process_time()
        run()
        taken.append(time.process_time() - start)
    return statistics.median(taken) / count * 1e6


def main() -> int:
    """Prints the table; the exit status is 1 if the goal is missed anywhere."""
    spoken = [name for name, dialect in DIALECTS.items() if dialect.answers is not None]
    print("| stream | for clients of | events | decode µs | read µs | translate µs | on top µs | ratio |")
    print("| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: |")
    missed = False
    for source in spoken:
        wire = wire_of(source)
        bar = per_event(partial(decode, wire), len(wire))
        reading = per_event(partial(read, source, wire), len(wire))
        for to in spoken:
            if to != source:
                both = per_event(partial(translate, source, to, wire), len(wire))
                on_top = both - bar
                missed = missed or on_top > GOAL
                print(
                    f"| {source} | {to} | {len(wire)} | {bar:.2f} | {reading:.2f} | {both:.2f} "
                    f"| {on_top:.2f} | {both / bar:.1f} |"
                )
    print(f"\ngoal: at most {GOAL:.0f} µs for one event on top of decoding it: {'missed' if missed else 'kept'}")
    return int(missed)


if __name__ == "__main__":
    sys.exit(main())
