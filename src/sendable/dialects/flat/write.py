"""Hub → the flat form. Total: content is one text by now (rules/shape.py), and what else a block was has gone with its entry."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, assert_never

from sendable import payload
from sendable.conversation import Block, Media, Message, Opaque, Reasoning, Refusal, Setting, Text, ToolCall, ToolResult
from sendable.dialects import Wire, as_it_came
from sendable.dialects.flat.read import HOME

SEPARATOR = "\n\n"


def write_block(block: Block) -> Wire:
    """One block: a call, a whole `tool` message for a result, or `{"content"}` for text."""
    if type(block) is Text or type(block) is Refusal:
        return Wire({"content": block.text})
    if type(block) is ToolCall:
        if block.intact and block.home == HOME:
            return as_it_came(block)
        call: dict[str, Any] = {"tool_call_id": block.id, "name": block.name}
        if not payload.is_null(block.arguments):
            call["arguments"] = block.arguments
        return Wire(call)
    if type(block) is ToolResult:
        return Wire({"role": "tool", "content": _content(block.content), "tool_call_id": block.id})
    if type(block) is Reasoning:
        return Wire({"content": block.text})
    if type(block) is Media:
        return Wire({"content": block.data})
    if type(block) is Opaque:
        return Wire({"content": payload.as_json_text(block.raw)})
    assert_never(block)


def _content(blocks: Sequence[Block]) -> Any:
    texts = [write_block(block)["content"] for block in blocks]
    return payload.joined(texts, SEPARATOR) if texts else ""


def write(messages: Sequence[Message]) -> list[Wire]:
    """The messages; each result becomes a message of its own."""
    out: list[Wire] = []
    for message in messages:
        if message.intact and message.home == HOME:
            out.append(as_it_came(message))
            continue  # keeps: the line above wrote it
        results = [
            write_block(block) for block in message.blocks if type(block) is ToolResult
        ]  # keeps: the rest is written below
        calls = [
            write_block(block) for block in message.blocks if type(block) is ToolCall
        ]  # keeps: the rest is written around it
        rest = [
            block for block in message.blocks if type(block) is not ToolResult and type(block) is not ToolCall
        ]  # keeps: see above
        if results:
            results[0] = Wire({**results[0], "role": message.role}) if message.role == "tool" else results[0]
            out.extend(results)
        if rest or calls or not results:
            wire: dict[str, Any] = {"role": message.role, "content": _content(rest)}
            if calls:
                wire["tool_calls"] = calls
            out.append(Wire(wire))
    return out


def write_settings(settings: Sequence[Setting]) -> Wire:
    """Nothing: the flat form is a bare list."""
    return Wire({})
