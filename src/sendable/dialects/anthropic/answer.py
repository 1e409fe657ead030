"""Answers of Anthropic Messages ↔ hub (anthropic 2.14.0, 2026-11-30). What must not live here: streams (stream.py), content blocks (read.py,
write.py)."""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from typing import Any

from msgspec.structs import replace

from sendable import payload
from sendable.carriers import as_text
from sendable.codes import RSP004, RSP006, RSP007
from sendable.conversation import Continuation, Decoding, Fields, Message, Reply, Stop, StopReason, ToolCall, Usage
from sendable.dialects import ReadEntry, Wire, answer_id
from sendable.dialects.anthropic.read import HOME
from sendable.dialects.anthropic.write import write as write_messages
from sendable.errors import UpstreamError
from sendable.paths import At
from sendable.report import Ledger

STOPS: dict[str, StopReason] = {
    "end_turn": "end",
    "tool_use": "tool_calls",
    "max_tokens": "max_tokens",
    "stop_sequence": "stop_sequence",
    "refusal": "refusal",
    "pause_turn": "pause",
    "model_context_window_exceeded": "context_window",
    "compaction": "pause",
}
"""«end_turn, max_tokens, stop_sequence, tool_use, pause_turn, refusal, model_context_window_exceeded (+ beta compaction)» (section 3)."""

_WORDS: dict[StopReason, str] = {
    "end": "end_turn",
    "tool_calls": "tool_use",
    "max_tokens": "max_tokens",
    "stop_sequence": "stop_sequence",
    "refusal": "refusal",
    "pause": "pause_turn",
    "context_window": "model_context_window_exceeded",
}

_KNOWN = frozenset(
    {"id", "type", "role", "model", "content", "stop_reason", "stop_sequence", "stop_details", "usage", "container"}
)
_USAGE = frozenset(
    {"input_tokens", "output_tokens", "cache_creation_input_tokens", "cache_read_input_tokens", "output_tokens_details"}
)


def claims(fields: Fields) -> bool:
    """Whether a body is an answer of Messages, by its own keys."""
    return payload.string(fields.get("type")) == "message" and payload.kind(fields.get("content")) == "list"


def failure(fields: Fields) -> Fields | None:
    """«{"type": "error", "error": {"type", "message"}, "request_id"}» (documented)."""
    return payload.fields(fields.get("error")) if payload.string(fields.get("type")) == "error" else None


def read_answer(fields: Fields, read_entry: ReadEntry, ledger: Ledger) -> Reply:
    """An answer of Messages.

    Loses: RSP004 (raised, where it has no content), RSP006 (notes).
    """
    whose = payload.string(fields.get("id"))
    if payload.kind(fields.get("content")) != "list":
        raise UpstreamError(RSP004, "a message without a list of content", whose)
    native = {"role": "assistant", "content": payload.plain(fields["content"])}
    messages = tuple(read_entry({"role": "assistant", "content": fields["content"]}, ()))
    for name in ("input_transformations", "context_management"):
        listed = fields.get(name)
        edits = payload.items(listed) or payload.items((payload.fields(listed) or {}).get("applied_edits")) or ()
        inner = () if payload.items(listed) is not None else ("applied_edits",)
        for index, edit in enumerate(edits):
            what = payload.fields(edit) or {}
            ledger.note(RSP006, (name, *inner, index), kind=payload.string(what.get("type")))
    word = payload.string(fields.get("stop_reason"))
    details = payload.plain(fields.get("stop_details"))
    stop = Stop(
        STOPS.get(word or "", "unknown"), word, payload.string(fields.get("stop_sequence")), details, ("stop_details",)
    )
    if stop.reason == "max_tokens" and messages:
        messages = (*messages[:-1], _cut(messages[-1]))
    return Reply(
        whose,
        payload.string(fields.get("model")),
        messages,
        (native,),
        stop,
        read_usage(payload.fields(fields.get("usage")) or {}),
        _handles(fields),
        None,
        _extra(fields),
        HOME,
        fields,
    )


def _cut(message: Message) -> Message:
    """A message that ended at the limit: a call at its end whose input is no object was cut there."""
    last = message.blocks[-1] if message.blocks else None
    if type(last) is not ToolCall or payload.kind(last.arguments) == "object":
        return message
    return replace(message, blocks=(*message.blocks[:-1], replace(last, truncated=True)))


def read_usage(usage: Fields) -> Usage:
    """«Total input tokens in a request is the summation of input_tokens, cache_creation_input_tokens, and cache_read_input_tokens» (SDK)."""
    fresh, written, read = (
        _count(usage.get(key)) for key in ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
    )
    details = payload.fields(usage.get("output_tokens_details")) or {}
    return Usage(
        None if fresh is None else fresh + (written or 0) + (read or 0),
        _count(usage.get("output_tokens")),
        read,
        written,
        _count(details.get("thinking_tokens", details.get("reasoning_tokens"))),
        payload.plain(usage) if usage else None,
    )


def _count(value: Any) -> int | None:
    found = payload.plain(value)
    return found if type(found) is int else None


def _handles(fields: Fields) -> tuple[Continuation, ...]:
    """The container in which code ran, if there was one. Messages itself holds no conversation."""
    container = payload.fields(fields.get("container")) or {}
    name = payload.string(container.get("id"))
    if name is None:
        return ()
    return (Continuation("anthropic", "container", name, None, _time(container.get("expires_at")), ("container",)),)


def _time(value: Any) -> float | None:
    text = payload.string(value)
    try:
        return None if text is None else datetime.datetime.fromisoformat(text).timestamp()
    except ValueError:
        return None


def _extra(fields: Fields) -> dict[At, Any]:
    """What the hub does not model of an answer, by its place."""
    extra: dict[At, Any] = {(key,): value for key, value in fields.items() if key not in _KNOWN}  # keeps: modelled
    for key, value in (payload.fields(fields.get("usage")) or {}).items():
        if key not in _USAGE:
            extra["usage", key] = value
    return extra


def write_answer(reply: Reply, messages: Sequence[Message], ledger: Ledger) -> Wire:
    """An answer in the form of Messages.

    Loses: RSP007, RSP009.
    """
    written = write_messages(messages)
    content = written[0]["content"] if written else []
    if payload.kind(content) == "text":
        # A message may have a bare text, an answer has a list of blocks.
        content = [Wire({"type": "text", "text": content})]
    return Wire(
        {
            "id": answer_id(reply.id, "msg_", reply.model, reply.created, ledger),
            "type": "message",
            "role": "assistant",
            "model": reply.model or "",
            "content": [_complete(block) for block in content],
            "stop_reason": stop_word(reply.stop, ledger),
            "stop_sequence": reply.stop.sequence,
            "usage": write_usage(reply.usage),
        }
    )


def _complete(block: Wire) -> Wire:
    """A block with the fields that every client of Messages demands: reasoning that nobody signed has an empty signature, as in streams."""
    if block.get("type") == "thinking" and payload.is_null(block.get("signature")):
        return Wire({**block, "signature": ""})
    return block


def stop_word(stop: Stop, ledger: Ledger) -> str:
    """The word of Messages for why an answer ended.

    Loses: RSP007.
    """
    word = _WORDS.get(stop.reason)
    if word is None:
        ledger.degrade(RSP007, (), stop.at or None, reason=stop.reason)
        return "end_turn"
    return word


def write_usage(usage: Usage) -> dict[str, Any]:
    """Tokens as Messages counts them: the input less what was read from and written to a cache."""
    read, written = usage.cached_read or 0, usage.cached_write or 0
    out: dict[str, Any] = {
        "input_tokens": max((usage.input or 0) - read - written, 0),
        "output_tokens": usage.output or 0,
    }
    if usage.cached_write is not None:
        out["cache_creation_input_tokens"] = written
    if usage.cached_read is not None:
        out["cache_read_input_tokens"] = read
    return out


def carry(body: dict[str, Any], carrier: Fields) -> None:
    """A carrier at the end of the content, as redacted thinking, which clients send back unread."""
    body["content"] = [*body["content"], {"type": "redacted_thinking", "data": as_text(carrier)}]


def decoding(request: Fields, name: str) -> Decoding:
    """What the request guarantees: «strict: true» on the tool means that the input follows its schema (section 3, documented)."""
    for tool in payload.items(request.get("tools")) or ():
        fields = payload.fields(tool) or {}
        if payload.string(fields.get("name")) == name:
            return "constrained" if payload.is_true(fields.get("strict")) else "unconstrained"
    return "unknown"
