"""What a conversation says, as one short text: the same for every way of storing it, another as soon as a word of it changes.

What counts: who speaks, visible text, media, calls by name, arguments and place, results by the call that they answer. What does not: ids,
reasoning, carriers, the boundaries between messages of one speaker, the order of text and calls inside a turn, key order and white space of
arguments. What must not live here: what fingerprints are used for.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from typing import Any, Literal, TypeAlias, assert_never

from sendable import payload
from sendable.conversation import (
    INSTRUCTING,
    Block,
    Media,
    Message,
    Opaque,
    Reasoning,
    Refusal,
    Text,
    ToolCall,
    ToolResult,
)

Speaker: TypeAlias = Literal["system", "user", "assistant", "tool"]

NOTHING = ""
"""The fingerprint of a conversation in which nobody has spoken yet."""


def fingerprint(messages: Sequence[Message], before: str = NOTHING) -> str:
    """The fingerprint of a conversation. `before` is that of what came earlier, where `messages` are only what came after it."""
    found = [mark for _, mark in boundaries(messages, before)]
    return found[-1] if found else before


def boundaries(messages: Sequence[Message], before: str = NOTHING) -> Iterator[tuple[int, str]]:
    """For every place where the speaker changes, and the end: how many messages stand before it, and their fingerprint.

    A message in which two speak (results, then the user) has a place inside; that one is left out.
    """
    turn = _Turn("system")
    done, calls = before, dict[Any, list[int]]()
    for index, message in enumerate(messages):
        for position, block in enumerate(message.blocks):
            speaker = _speaker(block, message.role)
            if speaker != turn.speaker:
                done = turn.closed(done)
                if position == 0 and index:
                    yield index, done
                turn = _Turn(speaker)
            turn.add(block, calls)
    if messages:
        yield len(messages), turn.closed(done)


def of_calls(messages: Sequence[Message], before: str = NOTHING) -> dict[int, str]:
    """The fingerprints of an answer's calls, by the identity of the block: what came before, the name, the arguments, and which of equals."""
    seen: dict[tuple[str, str], int] = {}
    found: dict[int, str] = {}
    for message in messages:
        for block in message.blocks:
            if type(block) is ToolCall:
                what = (str(block.name), canonical_arguments(block))
                ordinal = seen[what] = seen.get(what, -1) + 1
                found[id(block)] = _digest([before, *what, ordinal])
    return found


def canonical_arguments(call: ToolCall) -> str:
    """The arguments in one spelling: sorted keys, no white space; text that is no JSON as it is."""
    text = call.arguments_text
    if not text.strip():
        return "{}"
    try:
        return json.dumps(json.loads(text), sort_keys=True, separators=(",", ":"))
    except (ValueError, RecursionError):
        return text


class _Turn:
    """All that one speaker says before another one does."""

    __slots__ = ("calls", "media", "results", "speaker", "texts")

    def __init__(self, speaker: Speaker) -> None:
        self.speaker = speaker
        self.texts: list[str] = []
        self.calls: list[tuple[str, str]] = []
        self.media: list[str] = []
        self.results: list[tuple[int, str]] = []

    def add(self, block: Block, calls: dict[Any, list[int]]) -> None:
        """One more block. `calls`: where in their turn the calls stood that no result has answered yet, by id."""
        if type(block) is Text or type(block) is Refusal:
            self.texts.append(_text(block.text))
        elif type(block) is ToolCall:
            calls.setdefault(block.id, []).append(len(self.calls))
            self.calls.append((str(block.name), canonical_arguments(block)))
        elif type(block) is ToolResult:
            waiting = calls.get(block.id)
            place = waiting.pop(0) if waiting else len(self.results)
            inside = _Turn("tool")
            for inner in block.content:
                inside.add(inner, calls)
            self.results.append((place, inside.closed(NOTHING)))
        elif type(block) is Media:
            self.media.append(f"{block.kind} {_text(block.data)}")
        elif type(block) is Reasoning or type(block) is Opaque:
            pass  # keeps: nothing that is said
        else:
            assert_never(block)

    def closed(self, before: str) -> str:
        """The fingerprint with this turn; the one before if nothing was said in it."""
        text = "".join(self.texts)
        if not (text or self.calls or self.media or self.results):
            return before
        return _digest([before, self.speaker, text, self.calls, self.media, sorted(self.results)])


def _speaker(block: Block, role: str) -> Speaker:
    if type(block) is ToolResult:
        return "assistant" if block.executor == "provider" else "tool"
    if role in INSTRUCTING:
        return "system"
    return "assistant" if role == "assistant" else "user"


def _text(leaf: payload.Leaf) -> str:
    text = payload.string(leaf)
    return json.dumps(payload.plain(leaf), sort_keys=True) if text is None else text


def _digest(what: Any) -> str:
    return hashlib.sha256(json.dumps(what, separators=(",", ":")).encode("utf-8", "surrogatepass")).hexdigest()[:32]
