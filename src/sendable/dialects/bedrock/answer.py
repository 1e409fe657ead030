"""Answers of Converse ↔ hub (botocore 1.44.8, bedrock-runtime 2023-09-30). What must not live here: streams (stream.py), content blocks
(read.py, write.py)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from msgspec.structs import replace

from sendable import payload
from sendable.codes import RSP004, RSP007, RSP008, RSP009
from sendable.conversation import Decoding, Fields, Message, Reply, Stop, StopReason, ToolCall, Usage
from sendable.dialects import ReadEntry, Wire
from sendable.dialects.bedrock.read import HOME
from sendable.dialects.bedrock.write import write as write_messages
from sendable.errors import UpstreamError
from sendable.paths import At
from sendable.report import Ledger

STOPS: dict[str, StopReason] = {
    "end_turn": "end",
    "tool_use": "tool_calls",
    "max_tokens": "max_tokens",
    "stop_sequence": "stop_sequence",
    "guardrail_intervened": "refusal",
    "content_filtered": "refusal",
    "malformed_model_output": "malformed",
    "malformed_tool_use": "malformed",
    "model_context_window_exceeded": "context_window",
}
"""Every `stopReason` of the service model (botocore 1.44.8, looked up 2026-12-01)."""

_MORE: dict[str, StopReason] = {"refusal": "refusal", "pause_turn": "pause"}
"""Words of Messages, should a model of Anthropic's say one here: the service model does not list them, and none was seen."""

_WORDS: dict[StopReason, str] = {
    "end": "end_turn",
    "tool_calls": "tool_use",
    "max_tokens": "max_tokens",
    "stop_sequence": "stop_sequence",
    "refusal": "content_filtered",
    "malformed": "malformed_model_output",
    "context_window": "model_context_window_exceeded",
}

# `$metadata` and `ResponseMetadata` are what the SDKs say of the transport.
_KNOWN = frozenset({"output", "stopReason", "usage", "metrics", "$metadata", "ResponseMetadata"})
_USAGE = frozenset({"inputTokens", "outputTokens", "totalTokens", "cacheReadInputTokens", "cacheWriteInputTokens"})


def claims(fields: Fields) -> bool:
    """Whether a body is an answer of Converse, by its own keys."""
    output = payload.fields(fields.get("output"))
    return output is not None and ("message" in output or "stopReason" in fields)


def failure(fields: Fields) -> Fields | None:
    """«{"message"}» with the kind in a header, or `{"__type", "message"}`; the SDKs put `{"Error": {"Code", "Message"}}` together."""
    if claims(fields):
        return None
    told = payload.fields(fields.get("Error"))
    if told is not None and "Code" in told:
        return {"type": told["Code"], "message": told.get("Message")}
    if payload.kind(fields.get("__type")) == "text":
        return fields
    said = fields.get("message", fields.get("Message"))
    return fields if payload.kind(said) == "text" and fields.keys() <= {"message", "Message"} else None


def read_answer(fields: Fields, read_entry: ReadEntry, ledger: Ledger) -> Reply:
    """An answer of Converse. It has no id and names no model.

    Loses: RSP004 (raised, where it has no output).
    """
    transport = payload.fields(fields.get("$metadata") or fields.get("ResponseMetadata")) or {}
    whose = payload.string(transport.get("requestId")) or payload.string(transport.get("RequestId"))
    output = payload.fields(fields.get("output"))
    if output is None:
        raise UpstreamError(RSP004, "no output", whose)
    message = payload.fields(output.get("message"))
    messages: tuple[Message, ...] = ()
    native: tuple[Any, ...] = ()
    if message is not None:
        said = payload.plain(message)
        native = ({"role": "assistant", **said},)
        messages = tuple(read_entry(native[0], ("output", "message")))
    more = payload.fields(fields.get("additionalModelResponseFields")) or {}
    stop = read_stop(fields.get("stopReason"), more)
    if stop.reason == "max_tokens" and messages:
        messages = (*messages[:-1], _cut(messages[-1]))
    usage = read_usage(payload.fields(fields.get("usage")) or {})
    return Reply(whose, None, messages, native, stop, usage, (), None, _extra(fields, output), HOME, fields)


def read_stop(value: Any, more: Fields) -> Stop:
    """Why an answer ended. Which sequence it was is said by models of Anthropic's, if `additionalModelResponseFieldPaths` asks for it."""
    word = payload.string(value)
    reason = STOPS.get(word or "") or _MORE.get(word or "", "unknown")
    return Stop(reason, word, payload.string(more.get("stop_sequence")), None, ("stopReason",))


def _cut(message: Message) -> Message:
    """A message that ended at the limit: a call at its end whose input is no object was cut there."""
    last = message.blocks[-1] if message.blocks else None
    if type(last) is not ToolCall or payload.kind(last.arguments) == "object":
        return message
    return replace(message, blocks=(*message.blocks[:-1], replace(last, truncated=True)))


def read_usage(usage: Fields) -> Usage:
    """`inputTokens` stands beside what was read from and written to a cache: «inputTokens as non-cached input, matching AWS prompt-caching
    semantics» (opencode, pull request 38427, looked up 2026-12-01)."""
    fresh, read, written = (
        _count(usage.get(key)) for key in ("inputTokens", "cacheReadInputTokens", "cacheWriteInputTokens")
    )
    total = None if fresh is None else fresh + (read or 0) + (written or 0)
    return Usage(total, _count(usage.get("outputTokens")), read, written, None, payload.plain(usage) if usage else None)


def _count(value: Any) -> int | None:
    found = payload.plain(value)
    return found if type(found) is int else None


def _extra(fields: Fields, output: Fields) -> dict[At, Any]:
    """What the hub does not model of an answer, by its place."""
    extra: dict[At, Any] = {(key,): value for key, value in fields.items() if key not in _KNOWN}  # keeps: modelled
    for key, value in output.items():
        if key != "message":
            extra["output", key] = value
    for key, value in (payload.fields(fields.get("usage")) or {}).items():
        if key not in _USAGE:
            extra["usage", key] = value
    return extra


def write_answer(reply: Reply, messages: Sequence[Message], ledger: Ledger) -> Wire:
    """An answer in the form of Converse. Which stop sequence was met stands where a model of Anthropic's says it.

    Loses: RSP007, RSP008, RSP009.
    """
    without_heading(reply, ledger)
    written = write_messages(messages)
    body: dict[str, Any] = {
        "output": {"message": {"role": "assistant", "content": written[0]["content"] if written else []}},
        **ending(reply.stop, ledger),
        "usage": write_usage(reply.usage),
        "metrics": metrics(ledger),
    }
    return Wire(body)


def metrics(ledger: Ledger) -> dict[str, Any]:
    """How long the call took, which no other answer says and every one of Converse has (required in the service model, botocore 1.44.8).

    Loses: RSP009.
    """
    ledger.synthesize(RSP009, (), None, missing="metrics.latencyMs", new=0)
    return {"latencyMs": 0}


def without_heading(reply: Reply, ledger: Ledger) -> None:
    """Say that the answer's id, its model and its time are gone: Converse has no place for them.

    Loses: RSP008.
    """
    fields = payload.fields(reply.raw) or {}
    for name, value in (("id", reply.id), ("model", reply.model), ("created", reply.created)):
        if value is not None:
            at = next((key for key, held in fields.items() if payload.plain(held) == value), name)
            ledger.strip(RSP008, (), (at,))


def ending(stop: Stop, ledger: Ledger) -> dict[str, Any]:
    """Why an answer ended, in the words of Converse.

    Loses: RSP007.
    """
    word = _WORDS.get(stop.reason)
    if word is None:
        ledger.degrade(RSP007, (), stop.at or None, reason=stop.reason)
        word = "end_turn"
    out: dict[str, Any] = {"stopReason": word}
    if stop.sequence is not None:
        out["additionalModelResponseFields"] = {"stop_sequence": stop.sequence}
    return out


def write_usage(usage: Usage) -> dict[str, Any]:
    """Tokens as Converse counts them: the input less what was read from and written to a cache."""
    read, written = usage.cached_read or 0, usage.cached_write or 0
    fresh = max((usage.input or 0) - read - written, 0)
    out: dict[str, Any] = {
        "inputTokens": fresh,
        "outputTokens": usage.output or 0,
        "totalTokens": fresh + read + written + (usage.output or 0),
    }
    if usage.cached_read is not None:
        out["cacheReadInputTokens"] = read
    if usage.cached_write is not None:
        out["cacheWriteInputTokens"] = written
    return out


def decoding(request: Fields, name: str) -> Decoding:
    """What the request guarantees: `toolSpec.strict` on the tool means that the input follows its schema (documented)."""
    config = payload.fields(request.get("toolConfig")) or {}
    for tool in payload.items(config.get("tools")) or ():
        spec = payload.fields((payload.fields(tool) or {}).get("toolSpec")) or {}
        if payload.string(spec.get("name")) == name:
            return "constrained" if payload.is_true(spec.get("strict")) else "unconstrained"
    return "unknown"
