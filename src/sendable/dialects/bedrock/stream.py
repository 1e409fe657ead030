"""The event stream of ConverseStream ↔ neutral events (botocore 1.44.8, bedrock-runtime 2023-09-30). What must not live here: whole answers
(answer.py), and the binary frames that the events come in.

An event is an object with one member, which says its kind: `{"contentBlockDelta": {...}}`. Only calls, results and images have a
`contentBlockStart`; text and reasoning begin with their first delta (recorded).
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, assert_never

from sendable import payload
from sendable.conversation import Block, Fields, Media, Opaque, Reasoning, Refusal, Signature, Text, ToolCall
from sendable.dialects import remaining
from sendable.dialects.bedrock.answer import ending, metrics, without_heading, write_usage
from sendable.dialects.bedrock.read import HOME
from sendable.dialects.bedrock.write import write_block
from sendable.report import Ledger
from sendable.stream import (
    ArgumentsDelta,
    BlockEvent,
    BlockKind,
    BlockStart,
    BlockStop,
    Event,
    MessageStart,
    MessageStop,
    ReasoningDelta,
    SignatureDelta,
    TextDelta,
    UnknownEvent,
    WireEvent,
)


class BedrockReader:
    """Reads one stream of ConverseStream."""

    __slots__ = ("_begun", "_blocks", "_end", "_message", "_open", "complete", "done", "error")

    def __init__(self) -> None:
        self.complete = self.done = self._begun = False
        self.error: Any = None
        self._message: dict[str, Any] = {"role": "assistant"}
        self._end: dict[str, Any] = {}
        # All blocks in the order in which they began, and those that are open by their index on the wire.
        self._blocks: list[_Block] = []
        self._open: dict[int, _Block] = {}

    def feed(self, event: Fields) -> Sequence[Event]:
        """The neutral events of one event: `messageStart`, `contentBlock*`, `messageStop`, `metadata`, or an exception.

        The fields of `metadata` come last; nothing ends the stream but its transport.
        """
        kind = next((key for key in event if key in _EVENTS or key.endswith("Exception")), None)
        inner = payload.fields(event.get(kind)) if kind is not None else None
        if kind is None or inner is None:
            return [UnknownEvent(event)]
        if kind.endswith("Exception"):
            self.error, self.done = {"type": kind, **inner}, True
            return []
        if kind == "messageStart":
            if self._begun:
                return [UnknownEvent(event)]
            self._message.update(inner)
            return self._begin()
        if kind == "messageStop":
            self._end.update(inner)
            self.complete = self.complete or type(inner.get("stopReason")) is str
            return []
        if kind == "metadata":
            self._end.update(inner)
            return []
        index = inner.get("contentBlockIndex", 0)
        if type(index) is not int:
            return [UnknownEvent(event)]
        if kind == "contentBlockStop":
            if index not in self._open:
                return [UnknownEvent(event)]
            return self._open.pop(index).end(True)
        out = self._begin()
        if kind == "contentBlockStart":
            if index in self._open:
                out += self._open.pop(index).end(True)
            start = payload.fields(inner.get("start")) or {}
            return [*out, *self._start(index, start)]
        delta = payload.fields(inner.get("delta"))
        if delta is None:
            return [*out, UnknownEvent(event)]
        return [*out, *self._delta(index, delta)]

    def _begin(self) -> list[Event]:
        if self._begun:
            return []
        self._begun = True
        return [MessageStart(HOME)]

    def _start(self, index: int, start: Fields) -> list[Event]:
        block = self._open[index] = _Block()
        return self._known(block, block.kind_of(start))

    def _known(self, block: _Block, known: bool) -> list[Event]:
        """The beginning of a block whose kind is known now: only then has it a place."""
        if not known or block.neutral is not None:
            return []
        self._blocks.append(block)
        return block.begin(len(self._blocks) - 1)

    def _delta(self, index: int, delta: Fields) -> list[Event]:
        out: list[Event] = []
        kind = _kind(delta)
        block = self._open.get(index)
        if block is not None and block.kind not in (None, kind):
            # Another kind at the same index is another block: relays number all of them 0.
            out += self._open.pop(index).end(True)
            block = None
        if block is None:
            block = self._open[index] = _Block()
        if block.kind is None:
            block.kind = kind
        return [*out, *self._known(block, True), *block.add(delta)]

    def close(self) -> Sequence[Event]:
        """The ends of the blocks that are open."""
        out: list[Event] = []
        for index in list(self._open):
            out += self._open.pop(index).end(False)
        return out

    def body(self) -> dict[str, Any]:
        """The answer as it would have come in one piece."""
        message = {**self._message, "content": [block.raw() for block in self._blocks]}
        return {"output": {"message": message}, **self._end}


_EVENTS = frozenset(
    {"messageStart", "contentBlockStart", "contentBlockDelta", "contentBlockStop", "messageStop", "metadata"}
)
_KINDS: dict[str, BlockKind] = {
    "text": "text",
    "toolUse": "tool_call",
    "reasoningContent": "reasoning",
    "redactedContent": "reasoning",
    "image": "media",
}


def _kind(delta: Fields) -> str:
    """Of which kind of block a delta is. Citations come inside the text that they are of; sealed reasoning is a block of its own."""
    key = next(iter(delta), "text")
    if key == "citation":
        return "text"
    inner = payload.fields(delta[key]) if key == "reasoningContent" else None
    return "redactedContent" if inner is not None and "redactedContent" in inner else key


class _Block:
    """One block, as far as it has come."""

    __slots__ = ("_citations", "_inner", "_pieces", "_said", "_signature", "_whole", "kind", "neutral")

    def __init__(self) -> None:
        self.neutral: int | None = None
        self.kind: str | None = None
        self._inner: dict[str, Any] = {}
        self._said: list[str] = []
        self._pieces: list[Any] = []
        self._citations: list[Any] = []
        self._signature = ""
        self._whole = False

    def kind_of(self, start: Fields) -> bool:
        """Whether a `contentBlockStart` tells the kind of the block; what it holds besides is kept."""
        for key, value in start.items():
            self.kind, self._inner = key, dict(payload.fields(value) or {})
            return True
        return False

    @property
    def _is_call(self) -> bool:
        return self.kind == "toolUse" and self._inner.get("type") != "server_tool_use"

    def begin(self, neutral: int) -> list[Event]:
        """The beginning of the block in its place."""
        self.neutral = neutral
        kind: BlockKind = _KINDS.get(self.kind or "", "opaque")
        if kind == "tool_call" and self._is_call:
            name, called = (payload.string(self._inner.get(key)) for key in ("toolUseId", "name"))
            return [
                BlockStart(neutral, kind, name, called, extra=remaining(self._inner, ("toolUseId", "name", "input")))
            ]
        kind = "opaque" if kind in ("tool_call", "media") else kind
        return [BlockStart(neutral, kind, sealed=self.kind == "redactedContent")]

    def add(self, delta: Fields) -> list[Event]:
        """What one more delta adds."""
        out: list[Event] = []
        for key, value in delta.items():
            inner = payload.fields(value)
            if key == "text" and self.kind == "text":
                text = payload.string(value) or ""
                self._said.append(text)
                out.append(TextDelta(self._at, text))
            elif key == "citation":
                self._citations.append(value)
                out.append(UnknownEvent(delta))
            elif key == "toolUse" and inner is not None and self.kind == "toolUse":
                text = payload.string(inner.get("input")) or ""
                self._said.append(text)
                if text and self._is_call:
                    out.append(ArgumentsDelta(self._at, text))
            elif key == "reasoningContent" and inner is not None:
                out += self._thought(inner)
            elif key == "toolResult" and payload.items(value) is not None:
                self._pieces.extend(payload.items(value) or ())
            elif inner is not None:
                self._inner.update(inner)
            else:
                out.append(UnknownEvent(delta))
        return out

    @property
    def _at(self) -> int:
        return self.neutral or 0

    def _thought(self, inner: Fields) -> list[Event]:
        self._signature += payload.string(inner.get("signature")) or payload.string(inner.get("redactedContent")) or ""
        text = payload.string(inner.get("text"))
        if text is None or self.kind != "reasoningContent":
            return []
        self._said.append(text)
        return [ReasoningDelta(self._at, text)]

    def end(self, whole: bool) -> list[Event]:
        """The end of the block; nothing for one of which nothing came."""
        if self.neutral is None:
            return []
        self._whole = whole
        block = self._block(self.raw())
        out: list[Event] = []
        if type(block) is Reasoning and block.signature is not None:
            out.append(SignatureDelta(self.neutral, block.signature))
        return [*out, BlockStop(self.neutral, block, whole)]

    def raw(self) -> dict[str, Any]:
        """The block as it would have come in one piece."""
        said = "".join(self._said)
        if self.kind == "text":
            if self._citations:
                return {"citationsContent": {"content": [{"text": said}], "citations": list(self._citations)}}
            return {"text": said}
        if self.kind == "toolUse":
            return {"toolUse": {**self._inner, "input": _parsed(said, self._whole)}}
        if self.kind == "reasoningContent":
            signed = {"signature": self._signature} if self._signature else {}
            return {"reasoningContent": {"reasoningText": {"text": said, **signed}}}
        if self.kind == "redactedContent":
            return {"reasoningContent": {"redactedContent": self._signature}}
        if self.kind == "toolResult":
            return {"toolResult": {**self._inner, "content": list(self._pieces)}}
        return {self.kind or "text": dict(self._inner)}

    def _block(self, raw: dict[str, Any]) -> Block:
        """The block, as the hub has it."""
        at, said = ("output", "message", "content", self._at), "".join(self._said)
        if self.kind == "text":
            return Text(said, at, raw, HOME, True, raw if self._citations else None)
        if self.kind == "reasoningContent":
            signature = Signature(HOME, "signature", self._signature) if self._signature else None
            return Reasoning(said, signature, at, raw, HOME, True)
        if self.kind == "redactedContent":
            return Reasoning(None, Signature(HOME, "redacted", self._signature), at, raw, HOME, True)
        if self._is_call:
            call = raw["toolUse"]
            name, called = (payload.string(call.get(key)) for key in ("toolUseId", "name"))
            extra = remaining(call, ("toolUseId", "name", "input", "type"))
            more = {f"toolUse.{key}": value for key, value in extra.items()} if extra is not None else None
            return ToolCall(name, called, call["input"], at, raw, HOME, True, more)
        return Opaque(self.kind or "untyped", at, raw, HOME, True)


def _parsed(text: str, whole: bool) -> Any:
    """Input as an object; text that is none, because it was cut, stays text. A call without any has an empty one."""
    if not text and whole:
        return {}
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


class BedrockWriter:
    """Writes one stream of ConverseStream."""

    __slots__ = ("_said",)

    def __init__(self) -> None:
        # Whether anything of the open block was written.
        self._said = False

    def feed(self, event: MessageStart | BlockEvent, ledger: Ledger) -> Sequence[WireEvent]:
        """The events of ConverseStream for one neutral event."""
        if type(event) is TextDelta:
            return [self._delta(event.index, {"text": event.text})]
        if type(event) is ReasoningDelta:
            return [self._delta(event.index, {"reasoningContent": {"text": event.text}})]
        if type(event) is ArgumentsDelta:
            return [self._delta(event.index, {"toolUse": {"input": event.text}})]
        if type(event) is SignatureDelta:
            if event.signature.kind != "signature":
                return []  # keeps: sealed reasoning is written whole, at its end
            return [self._delta(event.index, {"reasoningContent": {"signature": event.signature.value}})]
        if type(event) is BlockStart:
            self._said = False
            if event.kind != "tool_call":
                return []  # keeps: only calls have a start; the first delta says what the others are
            call = {"toolUseId": event.id, "name": event.name or "", **(event.extra or {})}
            return [self._start(event.index, {"toolUse": call})]
        if type(event) is BlockStop:
            return self._ended(event)
        if type(event) is MessageStart:
            return [_named("messageStart", {"role": "assistant"})]
        assert_never(event)

    def _start(self, index: int, start: Any) -> WireEvent:
        self._said = True
        return _named("contentBlockStart", {"start": start, "contentBlockIndex": index})

    def _delta(self, index: int, delta: Any) -> WireEvent:
        self._said = True
        return _named("contentBlockDelta", {"delta": delta, "contentBlockIndex": index})

    def _ended(self, event: BlockStop) -> list[WireEvent]:
        block, index = event.block, event.index
        out: list[WireEvent] = []
        if type(block) is Text:
            cited = payload.fields((block.extra or {}).get("citationsContent")) or {}
            out = [
                self._delta(index, {"citation": payload.plain(one)})
                for one in payload.items(cited.get("citations")) or ()
            ]
        elif type(block) is Reasoning and block.text is None and block.signature is not None:
            out = [self._delta(index, {"reasoningContent": {"redactedContent": block.signature.value}})]
        elif (
            type(block) is Opaque or type(block) is Media or (type(block) is ToolCall and block.executor == "provider")
        ):
            out = self._whole(index, payload.plain(write_block(block)))
        elif not self._said and (type(block) is Reasoning or type(block) is Refusal):
            return []
        return [*out, _named("contentBlockStop", {"contentBlockIndex": index})] if self._said else []

    def _whole(self, index: int, raw: dict[str, Any]) -> list[WireEvent]:
        """A block that comes in one piece: its start, and what of it only a delta can hold."""
        kind, value = next(iter(raw.items()))
        inner = dict(payload.fields(value) or {})
        held = {"toolUse": "input", "toolResult": "content", "image": "source"}.get(kind)
        if held is None or held not in inner:
            return [self._start(index, {kind: value})]
        rest = inner.pop(held)
        if kind == "toolUse":
            text = rest if type(rest) is str else json.dumps(rest, ensure_ascii=False, separators=(",", ":"))
            delta: Any = {kind: {"input": text}}
        else:
            delta = {kind: rest if kind == "toolResult" else {"source": rest}}
        return [self._start(index, {kind: inner}), self._delta(index, delta)]

    def stop(self, event: MessageStop, carrier: Fields | None, ledger: Ledger) -> Sequence[WireEvent]:
        """The end of the answer: why, and what it cost.

        Loses: RSP007, RSP008, RSP009.
        """
        reply = event.reply
        if reply.stop.reason == "error":
            return [_error(event.error)]
        if reply.stop.reason == "cut":
            return []
        if reply.home == HOME and type(event.body) is dict:
            body = event.body
            last = {key: body[key] for key in ("stopReason", "additionalModelResponseFields") if key in body}
            known = ("output", *last, "$metadata", "ResponseMetadata")
            rest = remaining(body, known) or {}
            return [_named("messageStop", last), _named("metadata", dict(rest))]
        without_heading(reply, ledger)
        usage = {"usage": write_usage(reply.usage), "metrics": metrics(ledger)}
        return [_named("messageStop", ending(reply.stop, ledger)), _named("metadata", usage)]


_EXCEPTIONS = frozenset(
    {
        "internalServerException", "modelStreamErrorException", "validationException", "throttlingException",
        "serviceUnavailableException",
    }
)  # fmt: skip
"""Every exception that comes as an event."""


def _error(error: Any) -> WireEvent:
    """A provider's error as the exception that clients of Converse know."""
    fields = payload.fields(error) or {}
    kind, message = payload.string(fields.get("type")), payload.string(fields.get("message"))
    known = kind if kind is not None and kind in _EXCEPTIONS else "internalServerException"
    return _named(known, {"message": message or "the provider failed"})


def _named(name: str, fields: dict[str, Any]) -> WireEvent:
    return WireEvent(name, {name: fields})
