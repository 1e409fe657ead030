"""The event stream of Anthropic Messages ↔ neutral events (anthropic 2.14.0, 2026-11-30). What must not live here: whole answers (answer.py)."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, assert_never

from sendable import payload
from sendable.carriers import as_text
from sendable.conversation import (
    Block,
    Fields,
    Opaque,
    Reasoning,
    Refusal,
    Signature,
    Text,
    ToolCall,
)
from sendable.dialects import answer_id
from sendable.dialects.anthropic.answer import stop_word, write_usage
from sendable.dialects.anthropic.read import HOME
from sendable.dialects.anthropic.write import write_block
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

_KINDS: dict[str, BlockKind] = {
    "text": "text",
    "thinking": "reasoning",
    "redacted_thinking": "reasoning",
    "tool_use": "tool_call",
}
_CALL = frozenset({"type", "id", "name", "input"})


class AnthropicReader:
    """Reads one stream of Messages."""

    __slots__ = ("_blocks", "_inputs", "_message", "_names", "complete", "done", "error")

    def __init__(self) -> None:
        self.complete = self.done = False
        self.error: Any = None
        self._message: dict[str, Any] = {}
        # The open and ended blocks by their index on the wire; the index in the neutral stream is their place here.
        self._blocks: dict[int, dict[str, Any]] = {}
        self._names: dict[int, int] = {}
        self._inputs: dict[int, list[str]] = {}

    def feed(self, event: Fields) -> Sequence[Event]:
        """The neutral events of one event: `message_start`, `content_block_*`, `message_delta`, `message_stop`, `ping`, `error`."""
        kind = event.get("type")
        if kind == "content_block_delta":
            return self._delta(event)
        if kind == "content_block_start":
            block = payload.fields(event.get("content_block"))
            index = event.get("index")
            if block is None or type(index) is not int or index in self._blocks:
                return [UnknownEvent(event)]
            self._blocks[index] = dict(block)
            self._names[index] = neutral = len(self._blocks) - 1
            return self._started(index, neutral, block)
        if kind == "content_block_stop":
            index = event.get("index")
            return self._ended(index, True) if type(index) is int and index in self._names else [UnknownEvent(event)]
        if kind == "message_start":
            self._message = dict(payload.fields(event.get("message")) or {})
            name, model = (payload.string(self._message.get(key)) for key in ("id", "model"))
            return [MessageStart(HOME, name, model)]
        if kind == "message_delta":
            self._end(event)
            return []
        if kind == "message_stop":
            self.done = True
            return []
        if kind == "error":
            self.error, self.done = payload.fields(event.get("error")) or event, True
            return []
        if kind == "ping":
            return []
        return [UnknownEvent(event)]

    def _started(self, index: int, neutral: int, block: dict[str, Any]) -> list[Event]:
        what = block.get("type")
        kind = _KINDS.get(what if type(what) is str else "", "opaque")
        out: list[Event] = [BlockStart(neutral, kind, sealed=what == "redacted_thinking")]
        if kind == "tool_call":
            name, called = payload.string(block.get("id")), payload.string(block.get("name"))
            extra = {key: value for key, value in block.items() if key not in _CALL}  # keeps: the rest is modelled
            out = [BlockStart(neutral, kind, name, called, extra=extra or None)]
        elif kind == "text" and block.get("text"):
            out.append(TextDelta(neutral, str(block["text"])))
        elif what == "thinking" and block.get("thinking"):
            out.append(ReasoningDelta(neutral, str(block["thinking"])))
        if what in ("tool_use", "server_tool_use", "mcp_tool_use"):
            self._inputs[index] = []
        return out

    def _delta(self, event: Fields) -> Sequence[Event]:
        index, delta = event.get("index"), event.get("delta")
        if type(index) is not int or index not in self._names or type(delta) is not dict:
            return [UnknownEvent(event)]
        block, neutral, kind = self._blocks[index], self._names[index], delta.get("type")
        if kind == "text_delta":
            text = payload.string(delta.get("text")) or ""
            block["text"] = f"{block.get('text') or ''}{text}"
            return [TextDelta(neutral, text)] if block.get("type") == "text" else [UnknownEvent(event)]
        if kind == "input_json_delta" and index in self._inputs:
            text = payload.string(delta.get("partial_json")) or ""
            self._inputs[index].append(text)
            return [ArgumentsDelta(neutral, text)] if block.get("type") == "tool_use" and text else []
        if kind == "thinking_delta":
            text = payload.string(delta.get("thinking")) or ""
            block["thinking"] = f"{block.get('thinking') or ''}{text}"
            return [ReasoningDelta(neutral, text)] if block.get("type") == "thinking" else [UnknownEvent(event)]
        if kind == "signature_delta":
            block["signature"] = f"{block.get('signature') or ''}{delta.get('signature') or ''}"
            return []
        if kind == "citations_delta":
            block["citations"] = [*(payload.items(block.get("citations")) or ()), delta.get("citation")]
            return [UnknownEvent(event)]
        # What a later version adds stands in the block under its own name.
        block.update({key: value for key, value in delta.items() if key != "type"})  # keeps: the kind of the delta
        return [UnknownEvent(event)]

    def _ended(self, index: int, whole: bool) -> list[Event]:
        neutral, block = self._names.pop(index), self._blocks[index]
        out: list[Event] = []
        if index in self._inputs:
            text = "".join(self._inputs.pop(index))
            start = block.get("input")
            if text:
                block["input"] = _parsed(text)
            elif block.get("type") == "tool_use" and start:
                out.append(ArgumentsDelta(neutral, json.dumps(start, ensure_ascii=False, separators=(",", ":"))))
        read = _block(block, index)
        if type(read) is Reasoning and read.signature is not None:
            out.append(SignatureDelta(neutral, read.signature))
        out.append(BlockStop(neutral, read, whole))
        return out

    def _end(self, event: Fields) -> None:
        delta = payload.fields(event.get("delta")) or {}
        self._message.update(
            {
                key: value for key, value in delta.items() if value is not None or key not in self._message
            }  # keeps: null says nothing new
        )
        usage = payload.fields(event.get("usage")) or {}
        # «Usage counts on a message_delta are cumulative totals, so they overwrite rather than add» (SDK).
        self._message["usage"] = {
            **(payload.fields(self._message.get("usage")) or {}),
            **{key: value for key, value in usage.items() if value is not None},  # keeps: null says nothing new
        }
        for key in event:
            if key not in ("type", "delta", "usage"):
                self._message[key] = event[key]
        self.complete = self.complete or type(delta.get("stop_reason")) is str

    def close(self) -> Sequence[Event]:
        """The ends of the blocks that are open."""
        return [event for index in sorted(self._names) for event in self._ended(index, False)]

    def body(self) -> dict[str, Any]:
        """The message as it would have come in one piece."""
        content = [self._blocks[index] for index in sorted(self._blocks)]
        return {"type": "message", "role": "assistant", **self._message, "content": content}


def _parsed(text: str) -> Any:
    """Input as an object; text that is none, because it was cut, stays text."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def _block(block: dict[str, Any], index: int) -> Block:
    """A block that has come in whole, as the hub has it."""
    kind, at = block.get("type"), ("content", index)
    if kind == "text":
        extra = {key: value for key, value in block.items() if key not in ("type", "text")}  # keeps: modelled
        return Text(block.get("text", ""), at, block, HOME, True, extra or None)
    if kind == "thinking":
        value = block.get("signature")
        signature = Signature(HOME, "signature", value) if value else None
        return Reasoning(block.get("thinking", ""), signature, at, block, HOME, True)
    if kind == "redacted_thinking":
        return Reasoning(None, Signature(HOME, "redacted", block.get("data")), at, block, HOME, True)
    if kind == "tool_use":
        extra = {key: value for key, value in block.items() if key not in _CALL}  # keeps: modelled
        return ToolCall(block.get("id"), block.get("name"), block.get("input"), at, block, HOME, True, extra or None)
    return Opaque(str(kind), at, block, HOME, True)


class AnthropicWriter:
    """Writes one stream of Messages."""

    __slots__ = ("_count",)

    def __init__(self) -> None:
        self._count = 0

    def feed(self, event: MessageStart | BlockEvent, ledger: Ledger) -> Sequence[WireEvent]:
        """The events of Messages for one neutral event."""
        if type(event) is TextDelta:
            return [self._delta(event.index, "text_delta", "text", event.text)]
        if type(event) is ArgumentsDelta:
            return [self._delta(event.index, "input_json_delta", "partial_json", event.text)]
        if type(event) is ReasoningDelta:
            return [self._delta(event.index, "thinking_delta", "thinking", event.text)]
        if type(event) is SignatureDelta:
            if event.signature.kind != "signature":
                return []  # keeps: redacted thinking is written whole, at its end
            return [self._delta(event.index, "signature_delta", "signature", event.signature.value)]
        if type(event) is BlockStart:
            return self._started(event)
        if type(event) is BlockStop:
            return self._ended(event)
        if type(event) is MessageStart:
            return [_named("message_start", {"message": _begun(event, ledger)})]
        assert_never(event)

    def _delta(self, index: int, kind: str, key: str, value: Any) -> WireEvent:
        return _named("content_block_delta", {"index": index, "delta": {"type": kind, key: value}})

    def _started(self, event: BlockStart) -> list[WireEvent]:
        self._count = event.index + 1
        if event.kind in ("text", "refusal"):
            block: dict[str, Any] = {"type": "text", "text": ""}
        elif event.kind == "tool_call":
            block = {"type": "tool_use", "id": event.id, "name": event.name or "", "input": {}, **(event.extra or {})}
        elif event.kind == "reasoning" and not event.sealed:
            block = {"type": "thinking", "thinking": "", "signature": ""}
        else:
            return []  # keeps: written whole, at its end
        return [_named("content_block_start", {"index": event.index, "content_block": block})]

    def _ended(self, event: BlockStop) -> list[WireEvent]:
        block, out = event.block, list[WireEvent]()
        stop = _named("content_block_stop", {"index": event.index})
        if type(block) is Text or type(block) is Refusal or (type(block) is Reasoning and block.text is not None):
            if type(block) is Text:
                for citation in payload.items((block.extra or {}).get("citations")) or ():
                    out.append(self._delta(event.index, "citations_delta", "citation", payload.plain(citation)))
            return [*out, stop]
        if type(block) is ToolCall and block.executor == "client":
            return [stop]
        return [*self._whole(event.index, payload.plain(write_block(block))), stop]

    def _whole(self, index: int, block: dict[str, Any]) -> list[WireEvent]:
        return [_named("content_block_start", {"index": index, "content_block": block})]

    def stop(self, event: MessageStop, carrier: Fields | None, ledger: Ledger) -> Sequence[WireEvent]:
        """The end of the answer: why, and what it cost.

        Loses: RSP007.
        """
        out: list[WireEvent] = []
        if carrier is not None:
            block = {"type": "redacted_thinking", "data": as_text(carrier)}
            out = [*self._whole(self._count, block), _named("content_block_stop", {"index": self._count})]
        if event.reply.stop.reason == "error":
            return [*out, WireEvent("error", {"type": "error", "error": _told(event.error)})]
        if event.reply.stop.reason == "cut":
            return out
        delta = {"stop_reason": stop_word(event.reply.stop, ledger), "stop_sequence": event.reply.stop.sequence}
        usage = write_usage(event.reply.usage)
        return [*out, _named("message_delta", {"delta": delta, "usage": usage}), _named("message_stop", {})]


_ERRORS = frozenset(
    {
        "api_error", "authentication_error", "billing_error", "invalid_request_error", "not_found_error", "overloaded_error",
        "permission_error", "rate_limit_error", "timeout_error",
    }
)  # fmt: skip
"""The kinds of error of Messages (documented)."""


def _told(error: Any) -> dict[str, Any]:
    """A provider's error in the words of Messages."""
    fields = payload.fields(error) or {}
    kind, message = payload.string(fields.get("type")), payload.string(fields.get("message"))
    return {"type": kind if kind in _ERRORS else "api_error", "message": message or "the provider failed"}


def _begun(event: MessageStart, ledger: Ledger) -> dict[str, Any]:
    """The message that begins.

    Loses: RSP009.
    """
    return {
        "id": answer_id(event.id, "msg_", event.model, event.created, ledger),
        "type": "message",
        "role": "assistant",
        "model": event.model or "",
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "usage": {"input_tokens": 0, "output_tokens": 0},
    }


def _named(name: str, fields: dict[str, Any]) -> WireEvent:
    return WireEvent(name, {"type": name, **fields})
