"""Generated answers as neutral events, in every legal order. Not here: tests."""

from __future__ import annotations

import json
from typing import Any, NamedTuple

from hypothesis import strategies as st

from sendable.conversation import Block, Reasoning, Reply, Stop, Text, ToolCall, Usage
from sendable.stream import (
    ArgumentsDelta,
    BlockEvent,
    BlockStart,
    BlockStop,
    Event,
    MessageStart,
    MessageStop,
    ReasoningDelta,
    TextDelta,
)


class Said(NamedTuple):
    """What a generated answer says: its visible text, its reasoning, its calls, each as name and arguments, and the events of it."""

    texts: list[str]
    thoughts: list[str]
    calls: list[tuple[str, Any]]
    events: list[Event]


_WORDS = st.text(st.characters(codec="utf-8", exclude_categories=("Cs", "Cc")), min_size=1, max_size=12).filter(
    str.strip
)
_ARGUMENTS = st.dictionaries(
    st.sampled_from(("at", "deep", "ünïcode")),
    st.none() | st.booleans() | st.integers(-(2**40), 2**40) | _WORDS | st.lists(_WORDS, max_size=2),
    max_size=2,
)


@st.composite
def said(draw: st.DrawFn, overlapping: bool = False) -> Said:
    """An answer. `overlapping`: blocks may be open at the same time, and their fragments come in any order."""
    kinds = draw(st.lists(st.sampled_from(("text", "reasoning", "tool_call", "tool_call")), min_size=1, max_size=5))
    texts: list[str] = []
    thoughts: list[str] = []
    calls: list[tuple[str, Any]] = []
    blocks: list[list[BlockEvent]] = []
    for index, kind in enumerate(kinds):
        if kind == "tool_call":
            name, arguments = draw(st.sampled_from(("look", "get_weather"))), draw(_ARGUMENTS)
            calls.append((name, arguments))
            text = json.dumps(arguments, ensure_ascii=draw(st.booleans()))
            block: Block = ToolCall(f"call_{index}", name, text, ())
            pieces: list[BlockEvent] = [ArgumentsDelta(index, piece) for piece in draw(_cut(text))]
            blocks.append([BlockStart(index, "tool_call", f"call_{index}", name), *pieces, BlockStop(index, block)])
        else:
            text = draw(_WORDS)
            (texts if kind == "text" else thoughts).append(text)
            delta = TextDelta if kind == "text" else ReasoningDelta
            block = Text(text, ()) if kind == "text" else Reasoning(text, None, ())
            pieces = [delta(index, piece) for piece in draw(_cut(text))]
            blocks.append([BlockStart(index, kind), *pieces, BlockStop(index, block)])  # type: ignore[arg-type]
    events: list[Event] = [MessageStart(None, "answer_1", "m", 1)]
    waiting = [list(block) for block in blocks]
    begun = 0
    while any(waiting):
        # A block may begin only after all before it have; what has begun goes on in any order.
        running = [index for index in range(begun) if waiting[index]]
        if begun < len(waiting) and (not running or (overlapping and draw(st.booleans()))):
            running, begun = [begun], begun + 1
        events.append(waiting[draw(st.sampled_from(running))].pop(0))
    reply = Reply("answer_1", "m", (), (), Stop("tool_calls" if calls else "end"), Usage(10, 5), created=1)
    return Said(texts, thoughts, calls, [*events, MessageStop(reply, {})])


@st.composite
def _cut(draw: st.DrawFn, text: str) -> list[str]:
    """A text in pieces."""
    places = sorted(draw(st.sets(st.integers(1, max(len(text) - 1, 1)), max_size=3)))
    pieces = [text[start:end] for start, end in zip([0, *places], [*places, len(text)], strict=True)]
    return [piece for piece in pieces if piece]
