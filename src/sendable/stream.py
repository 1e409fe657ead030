"""Streams, sans-IO: the neutral events, which of them may follow which, and what a dialect's reader and writer of events are.

What must not live here: the events of any provider (dialects/), and the bytes that they come in (nobody's business but the transport's).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, Protocol, TypeAlias, final

import msgspec

from sendable.conversation import Block, Fields, Reply, Signature
from sendable.report import Ledger

BlockKind: TypeAlias = Literal["text", "reasoning", "tool_call", "refusal", "media", "opaque"]


@final
class MessageStart(msgspec.Struct, frozen=True, gc=False):
    """The answer begins. `home`: the dialect in which it comes."""

    home: str | None = None
    id: str | None = None
    model: str | None = None
    created: int | None = None


@final
class BlockStart(msgspec.Struct, frozen=True, gc=False):
    """A block begins. `index` counts the blocks of the answer from 0, in the order in which they begin. `id` and `name` are a call's.
    `sealed`: reasoning of which nothing can be read. `extra`: what else comes with the beginning and is the provider's own."""

    index: int
    kind: BlockKind
    id: str | None = None
    name: str | None = None
    call_kind: str = "function"
    sealed: bool = False
    extra: Fields | None = None


@final
class TextDelta(msgspec.Struct, frozen=True, gc=False):
    """More text of a text or refusal block."""

    index: int
    text: str


@final
class ReasoningDelta(msgspec.Struct, frozen=True, gc=False):
    """More text of a reasoning block."""

    index: int
    text: str


@final
class SignatureDelta(msgspec.Struct, frozen=True, gc=False):
    """The signature of a block, whole."""

    index: int
    signature: Signature


@final
class ArgumentsDelta(msgspec.Struct, frozen=True, gc=False):
    """More text of a call's arguments. All of them together are the arguments, whatever the provider sent."""

    index: int
    text: str


@final
class BlockStop(msgspec.Struct, frozen=True, gc=False):
    """A block ends. `block` is all of it; `whole` says whether the provider ended it, rather than the stream. `repaired`: its fragments did
    not fit together as they came."""

    index: int
    block: Block
    whole: bool = True
    repaired: bool = False


@final
class MessageStop(msgspec.Struct, frozen=True, gc=False):
    """The answer ends. `body` is the answer as the provider would have sent it in one piece, and `reply` what it says.

    `reply.stop.reason` is "cut" where the stream ended before the answer, "error" where the provider failed inside it; `error` is then
    the provider's own object.
    """

    reply: Reply
    body: Any
    error: Any = None


@final
class UnknownEvent(msgspec.Struct, frozen=True, gc=False):
    """An event, or a part of one, that has no neutral form. What it adds to a block is in the block when that ends."""

    raw: Any


BlockEvent: TypeAlias = BlockStart | TextDelta | ReasoningDelta | SignatureDelta | ArgumentsDelta | BlockStop
Event: TypeAlias = MessageStart | BlockEvent | MessageStop | UnknownEvent

DELTAS: frozenset[type] = frozenset({TextDelta, ReasoningDelta, ArgumentsDelta})
"""What nearly every event of a stream is: more of a block."""

INSIDE: dict[type, frozenset[BlockKind]] = {
    TextDelta: frozenset({"text", "refusal"}),
    ReasoningDelta: frozenset({"reasoning"}),
    SignatureDelta: frozenset({"reasoning", "text", "tool_call"}),
    ArgumentsDelta: frozenset({"tool_call"}),
    BlockStop: frozenset({"text", "reasoning", "tool_call", "refusal", "media", "opaque"}),
}
"""The legal transitions inside an open block: which event may follow in a block of which kind. Outside: `MessageStart` only at the
beginning, `BlockStart` with the next index at any time after it, `MessageStop` when no block is open, `UnknownEvent` always, nothing
after `MessageStop`."""


@final
class Transitions:
    """Where a stream stands. `step` says what is illegal about an event, or None."""

    __slots__ = ("_next", "ended", "open", "started")

    def __init__(self) -> None:
        self.started = self.ended = False
        self.open: dict[int, BlockKind] = {}
        self._next = 0

    def step(self, event: Event) -> str | None:
        """None for a legal event, which is then taken; else what is wrong with it."""
        kind = type(event)
        if type(event) is TextDelta or type(event) is ReasoningDelta or type(event) is ArgumentsDelta:
            # The everyday case: more of a block that is open.
            within = self.open.get(event.index)
            if within is not None and within in INSIDE[kind] and not self.ended:
                return None
        if self.ended:
            return None if kind is UnknownEvent else f"{kind.__name__} after MessageStop"
        if type(event) is UnknownEvent:
            return None
        if type(event) is MessageStart:
            if self.started:
                return "a second MessageStart"
            self.started = True
            return None
        if not self.started:
            return f"{kind.__name__} before MessageStart"
        if type(event) is MessageStop:
            if self.open:
                return "MessageStop while a block is open"
            self.ended = True
            return None
        if type(event) is BlockStart:
            if event.index != self._next:
                return f"block {event.index} begins where block {self._next} is the next"
            self.open[event.index] = event.kind
            self._next += 1
            return None
        index = event.index
        if index not in self.open:
            return f"{kind.__name__} for block {index}, which is not open"
        if self.open[index] not in INSIDE[kind]:
            return f"{kind.__name__} in a block of kind {self.open[index]}"
        if kind is BlockStop:
            del self.open[index]
        return None


@final
class WireEvent(msgspec.Struct, frozen=True, gc=False):
    """One event as a provider sends it: the SSE event's name, if it has one, and its data (`"[DONE]"` is the only one that is text)."""

    name: str | None
    data: Any


class EventReader(Protocol):
    """Reads one stream of one dialect.

    `feed` gets the data of one event, an object, and never raises. It sends `BlockStart` with contiguous indices, and every `BlockStop`
    with the whole block; `MessageStop` it leaves to its caller. `close` is called when nothing more will come and ends the blocks that are
    open. `body` is the answer as the provider would have sent it in one piece, of all that has come so far. `complete`: the provider has
    said why it ended. `done`: nothing more belongs to the answer. `error`: the provider's own object, if it failed inside the stream.
    """

    complete: bool
    done: bool
    error: Any

    def feed(self, event: Fields) -> Sequence[Event]: ...

    def close(self) -> Sequence[Event]: ...

    def body(self) -> dict[str, Any]: ...


class EventWriter(Protocol):
    """Writes one stream of one dialect.

    It gets a legal stream without `UnknownEvent`, in which every block is one that the dialect can hold, and, where the dialect takes one
    block after the other, no two blocks are open at once. What it cannot say goes to the ledger. `stop` ends the answer, with a carrier in
    the dialect's own slot if there is one.
    """

    def feed(self, event: MessageStart | BlockEvent, ledger: Ledger) -> Sequence[WireEvent]: ...

    def stop(self, event: MessageStop, carrier: Fields | None, ledger: Ledger) -> Sequence[WireEvent]: ...
