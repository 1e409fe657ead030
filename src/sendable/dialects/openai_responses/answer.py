"""Answers of Responses ↔ hub (openai 3.57.0, 2026-11-30). What must not live here: streams (stream.py), items and parts (read.py, write.py)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from msgspec.structs import replace

from sendable import payload
from sendable.carriers import as_text
from sendable.codes import RSP004, RSP007
from sendable.conversation import (
    Block,
    Continuation,
    Decoding,
    Fields,
    Media,
    Message,
    Reasoning,
    Refusal,
    Reply,
    Stop,
    StopReason,
    Text,
    ToolCall,
    ToolResult,
    Usage,
)
from sendable.dialects import ReadEntry, Wire, answer_id, hashed
from sendable.dialects.openai_responses.read import HOME
from sendable.dialects.openai_responses.write import write_block
from sendable.errors import UpstreamError
from sendable.paths import At
from sendable.report import Ledger

_INCOMPLETE: dict[str, StopReason] = {"max_output_tokens": "max_tokens", "content_filter": "refusal"}
"""«incomplete_details.reason: max_output_tokens, content_filter» (SDK)."""

_KNOWN = frozenset(
    {"id", "object", "created_at", "model", "status", "output", "output_text", "incomplete_details", "error", "usage", "conversation"}
)  # fmt: skip
_ENVELOPE = frozenset({"type", "role", "content", "status"})
_COUNTED = frozenset({"input_tokens", "output_tokens", "total_tokens"})
_DETAILS = {
    "input_tokens_details": frozenset({"cached_tokens", "cache_write_tokens"}),
    "output_tokens_details": frozenset({"reasoning_tokens"}),
}


def claims(fields: Fields) -> bool:
    """Whether a body is an answer of Responses, by its own keys."""
    return payload.string(fields.get("object")) == "response" or (
        payload.kind(fields.get("output")) == "list" and "status" in fields
    )


def failure(fields: Fields) -> Fields | None:
    """«{"error": {"message", "type", "param", "code"}}» (documented), and a response that failed before it said anything."""
    if payload.items(fields.get("output")):
        return None
    if claims(fields) and payload.string(fields.get("status")) != "failed":
        return None
    return payload.fields(fields.get("error"))


def read_answer(fields: Fields, read_entry: ReadEntry, ledger: Ledger) -> Reply:
    """An answer of Responses: its items in their order.

    Loses: RSP004 (raised, where it has no output).
    """
    whose = payload.string(fields.get("id"))
    output = payload.items(fields.get("output"))
    if output is None:
        raise UpstreamError(RSP004, "a response without a list of output", whose)
    messages = [
        message for index, item in enumerate(output) for message in read_entry(item, ("output", index))
    ]  # keeps: every item
    done = {
        block.id for message in messages for block in message.blocks if type(block) is ToolResult
    }  # keeps: the results alone
    messages = [_executed(message, done) for message in messages]
    stop = _stop(fields, messages)
    if stop.reason == "max_tokens" and messages:
        messages[-1] = _cut(messages[-1])
    created = payload.plain(fields.get("created_at"))
    return Reply(
        whose,
        payload.string(fields.get("model")),
        tuple(messages),
        tuple(payload.plain(item) for item in output),
        stop,
        read_usage(payload.fields(fields.get("usage")) or {}),
        _handles(fields),
        int(created) if type(created) in (int, float) else None,
        _extra(fields),
        HOME,
        fields,
    )


def _executed(message: Message, done: set[Any]) -> Message:
    """A call whose result stands in the same answer was executed by the provider."""
    blocks: list[Block] = []
    for block in message.blocks:
        if (type(block) is ToolCall and block.id in done) or type(block) is ToolResult:
            block = replace(block, executor="provider")
        blocks.append(block)
    return replace(message, blocks=tuple(blocks))


def _stop(fields: Fields, messages: Sequence[Message]) -> Stop:
    """Why the answer ended. «completed» says it of text and of calls alike."""
    word = payload.string(fields.get("status"))
    if word == "failed":
        return Stop("error", word, None, payload.plain(fields.get("error")), ("error",))
    if word == "cancelled":
        return Stop("cut", word)
    if word == "incomplete":
        why = payload.fields(fields.get("incomplete_details")) or {}
        reason = payload.string(why.get("reason"))
        more = {key: value for key, value in why.items() if key != "reason"}  # keeps: the reason is the word
        return Stop(
            _INCOMPLETE.get(reason or "", "unknown"),
            reason or word,
            None,
            payload.plain(more) if more else None,
            ("incomplete_details",),
        )
    if word != "completed":
        return Stop("unknown", word)
    blocks = [block for message in messages for block in message.blocks]
    if any(type(block) is ToolCall and block.executor == "client" for block in blocks):
        return Stop("tool_calls", word)
    if any(type(block) is Refusal for block in blocks) and not any(type(block) is Text for block in blocks):
        return Stop("refusal", word)
    return Stop("end", word)


def _cut(message: Message) -> Message:
    """A message that ended at the limit: a call at its end that the provider did not complete was cut there."""
    last = message.blocks[-1] if message.blocks else None
    if type(last) is not ToolCall or payload.string((last.extra or {}).get("status")) == "completed":
        return message
    return replace(message, blocks=(*message.blocks[:-1], replace(last, truncated=True)))


def read_usage(usage: Fields) -> Usage:
    """«cached_tokens» are inside the input, «reasoning_tokens» inside the output (SDK)."""
    inside = payload.fields(usage.get("input_tokens_details")) or {}
    outside = payload.fields(usage.get("output_tokens_details")) or {}
    return Usage(
        _count(usage.get("input_tokens")),
        _count(usage.get("output_tokens")),
        _count(inside.get("cached_tokens")),
        _count(inside.get("cache_write_tokens")),
        _count(outside.get("reasoning_tokens")),
        payload.plain(usage) if usage else None,
    )


def _count(value: Any) -> int | None:
    found = payload.plain(value)
    return found if type(found) is int else None


def _handles(fields: Fields) -> tuple[Continuation, ...]:
    """The response itself, by which the next request can go on («previous_response_id»), and the conversation that it belongs to."""
    out: list[Continuation] = []
    name = payload.string(fields.get("id"))
    if name:
        out.append(Continuation(HOME, "response", name, at=("id",)))
    held = fields.get("conversation")
    name = payload.string((payload.fields(held) or {}).get("id")) or payload.string(held)
    if name:
        out.append(Continuation(HOME, "conversation", name, at=("conversation",)))
    return tuple(out)


def _extra(fields: Fields) -> dict[At, Any]:
    """What the hub does not model of an answer, by its place; most of it repeats the request."""
    extra: dict[At, Any] = {(key,): value for key, value in fields.items() if key not in _KNOWN}  # keeps: modelled
    for index, item in enumerate(payload.items(fields.get("output")) or ()):
        envelope = payload.fields(item) or {}
        if payload.string(envelope.get("type")) == "message":
            # Text has no item of its own abroad; what state it ended in is why the answer ended.
            extra |= {
                ("output", index, key): value for key, value in envelope.items() if key not in _ENVELOPE
            }  # keeps: modelled
    for key, value in (payload.fields(fields.get("usage")) or {}).items():
        if key in _DETAILS:
            for name, count in (payload.fields(value) or {}).items():
                if name not in _DETAILS[key] and payload.plain(count) != 0:
                    extra["usage", key, name] = count
        elif key not in _COUNTED:
            extra["usage", key] = value
    return extra


def write_answer(reply: Reply, messages: Sequence[Message], ledger: Ledger) -> Wire:
    """An answer in the form of Responses, with every field that the official models have as required.

    Loses: RSP007, RSP009.
    """
    name = answer_id(reply.id, "resp_", reply.model, reply.created, ledger)
    output: list[dict[str, Any]] = []
    parts: list[Wire] = []
    for message in messages:
        for block in message.blocks:
            if type(block) in (Text, Refusal, Media):
                parts.append(write_block(block, "assistant", {}))
                continue  # keeps: the parts are written together
            _close(parts, name, output)
            output.append(item_of(block, name, len(output)))
    _close(parts, name, output)
    body = heading(name, reply.model, reply.created)
    return Wire({**body, **ending(reply, ledger), "output": output})


def _close(parts: list[Wire], name: str, output: list[dict[str, Any]]) -> None:
    """The message of a run of parts, whichever blocks of the answer they are."""
    if parts:
        output.append({**message_item(name, len(output), None), "status": "completed", "content": list(parts)})
        parts.clear()


def item_id(name: str, ordinal: int, prefix: str) -> str:
    """The id of an item that has none: no two items of an answer share one."""
    return f"{prefix}_{hashed(f'{name} {ordinal}')}"


def message_item(name: str, ordinal: int, own: Fields | None) -> dict[str, Any]:
    """A message that begins; `own`: the fields of the item that it is of, if it is one of OpenAI's."""
    head = {"id": item_id(name, ordinal, "msg"), "type": "message", "role": "assistant"}
    return {**head, **(payload.plain(own) if own else {}), "status": "in_progress", "content": []}


def item_of(block: Block, name: str, ordinal: int) -> dict[str, Any]:
    """Any other block as a whole item, with the id and the state that clients demand."""
    item: dict[str, Any] = dict(payload.plain(write_block(block, "assistant", {})))
    if type(block) is Reasoning:
        return {"id": item_id(name, ordinal, "rs"), **item} if payload.is_null(item.get("id")) else item
    if type(block) is ToolCall and block.home != HOME:
        prefix = "ctc" if block.kind == "custom" else "fc"
        item["name"] = item.get("name") or ""
        return {"id": item_id(name, ordinal, prefix), **item, "status": "completed"}
    return item


def heading(name: str, model: str | None, created: int | None) -> dict[str, Any]:
    """What every response has: its official model demands the fields that repeat a request."""
    return {
        "id": name,
        "object": "response",
        "created_at": created or 0,
        "status": "in_progress",
        "error": None,
        "incomplete_details": None,
        "instructions": None,
        "metadata": {},
        "model": model or "",
        "output": [],
        "parallel_tool_calls": True,
        "temperature": None,
        "tool_choice": "auto",
        "tools": [],
        "top_p": None,
        "usage": None,
    }


def ending(reply: Reply, ledger: Ledger) -> dict[str, Any]:
    """The fields that say why an answer ended and what it cost.

    Loses: RSP007.
    """
    out: dict[str, Any] = {"status": "completed", "usage": write_usage(reply.usage)}
    reason = reply.stop.reason
    if reason == "error":
        return {**out, "status": "failed", "error": told(reply.stop.details)}
    if reason in ("max_tokens", "context_window", "cut"):
        out |= {"status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}}
    elif reason == "refusal" and not any(type(block) is Refusal for block in reply.blocks):
        out |= {"status": "incomplete", "incomplete_details": {"reason": "content_filter"}}
    if reason not in ("end", "tool_calls", "max_tokens", "refusal"):
        sequence = {} if reply.stop.sequence is None else {"sequence": True}
        where = ("stop_sequence",) if sequence else reply.stop.at
        ledger.degrade(RSP007, (), where or None, reason=reason)
    return out


_ERRORS = frozenset({"server_error", "rate_limit_exceeded", "invalid_prompt"})
"""Kinds of error of a response (SDK)."""


def told(error: Any) -> dict[str, Any]:
    """A provider's error in the words of Responses."""
    fields = payload.fields(error) or {}
    code, message = payload.string(fields.get("code")), payload.string(fields.get("message"))
    return {"code": code if code in _ERRORS else "server_error", "message": message or "the provider failed"}


def write_usage(usage: Usage) -> dict[str, Any] | None:
    """Tokens as Responses counts them; None where nothing is known of them."""
    if usage.input is None and usage.output is None:
        return None
    read, written = usage.input or 0, usage.output or 0
    return {
        "input_tokens": read,
        "input_tokens_details": {
            "cached_tokens": usage.cached_read or 0,
            "cache_write_tokens": usage.cached_write or 0,
        },
        "output_tokens": written,
        "output_tokens_details": {"reasoning_tokens": usage.reasoning or 0},
        "total_tokens": read + written,
    }


def carrier_item(name: str, ordinal: int, carrier: Fields) -> dict[str, Any]:
    """A carrier as sealed reasoning, which clients that keep their own history send back unread."""
    return {
        "id": item_id(name, ordinal, "rs"),
        "type": "reasoning",
        "summary": [],
        "encrypted_content": as_text(carrier),
    }


def carry(body: dict[str, Any], carrier: Fields) -> None:
    """A carrier at the end of the output."""
    body["output"] = [*body["output"], carrier_item(body["id"], len(body["output"]), carrier)]


def decoding(request: Fields, name: str) -> Decoding:
    """What the request guarantees: «strict» on the function, or a grammar on a custom tool, means that the model can write nothing else.

    A function without the word is tried as strict, which may fail in silence (OR30): nothing is known of it.
    """
    for tool in _tools(request.get("tools")):
        if payload.string(tool.get("name")) == name:
            form = payload.fields(tool.get("format")) or {}
            if payload.is_true(tool.get("strict")) or payload.string(form.get("type")) == "grammar":
                return "constrained"
            said = payload.is_false(tool.get("strict")) or payload.string(tool.get("type")) == "custom"
            return "unconstrained" if said else "unknown"
    return "unknown"


def _tools(value: Any) -> list[Fields]:
    """The tools of a request, those in groups too."""
    out: list[Fields] = []
    for entry in payload.items(value) or ():
        tool = payload.fields(entry) or {}
        out.append(tool)
        if payload.string(tool.get("type")) == "namespace":
            out += _tools(tool.get("tools"))
    return out
