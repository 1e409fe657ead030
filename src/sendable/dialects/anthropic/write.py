"""Hub → Anthropic Messages. Total: what Messages cannot hold has gone before, with its entry (fit.py and the target's rules)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, assert_never

from sendable import payload
from sendable.conversation import (
    INSTRUCTING,
    Block,
    Media,
    Message,
    Opaque,
    Reasoning,
    Refusal,
    Setting,
    Text,
    ToolCall,
    ToolResult,
)
from sendable.dialects import Wire, as_it_came, with_extra
from sendable.dialects.anthropic.read import HOME, KEYS


def write_block(block: Block) -> Wire:
    """One block as an Anthropic content block."""
    if block.intact and block.home == HOME and type(block.raw) is dict:
        return as_it_came(block)
    if type(block) is ToolResult:
        return _write_result(block)
    if type(block) is ToolCall:
        kind = "tool_use" if block.executor == "client" else block.kind
        return with_extra({"type": kind, "id": block.id, "name": block.name, "input": block.arguments}, block.extra)
    if type(block) is Text:
        return with_extra({"type": "text", "text": block.text}, block.extra)
    if type(block) is Reasoning:
        value = block.signature.value if block.signature is not None else None
        if block.text is None:
            return Wire({"type": "redacted_thinking", "data": value})
        return Wire({"type": "thinking", "thinking": block.text, "signature": value})
    if type(block) is Media:
        return _write_media(block)
    if type(block) is Refusal:
        return Wire({"type": "text", "text": block.text})
    if type(block) is Opaque:
        return _without(block)
    assert_never(block)


def _without(block: Opaque | ToolResult) -> Wire:
    """An opaque block as it came, less the fields that a rule stripped."""
    stripped = (
        set(payload.members(block.raw))
        - (KEYS.get(block.kind, frozenset()) - {"cache_control"})
        - set(block.extra or ())
    )
    return Wire(
        {key: value for key, value in payload.members(block.raw).items() if key not in stripped}
    )  # keeps: rules/blocks.py reported each of them


def _write_result(block: ToolResult) -> Wire:
    if block.executor == "provider":
        return Wire({**_without(block), "tool_use_id": block.id})
    wire: dict[str, Any] = {"type": "tool_result", "tool_use_id": block.id}
    if block.content:
        # Nothing inside: the field is left out, since whether an empty text is accepted there is not known (provider-rules 13.6).
        content = _content(block.content)
        if type(content) is list or not payload.is_empty(content):
            wire["content"] = content
    if block.error is not None:
        wire["is_error"] = block.error
    return Wire(wire) if block.extra is None else with_extra(wire, block.extra)


def _write_media(block: Media) -> Wire:
    if block.source == "base64":
        source: dict[str, Any] = {"type": "base64", "media_type": block.media_type or "image/png", "data": block.data}
    elif block.source == "url":
        source = {"type": "url", "url": block.data}
    elif block.source == "file_id":
        source = {"type": "file", "file_id": block.data}
    else:
        source = {"type": "text", "media_type": "text/plain", "data": block.data}
    wire: dict[str, Any] = {"type": block.kind, "source": source}
    if block.name is not None and block.kind == "document":
        wire["title"] = block.name
    return with_extra(wire, block.extra)


def _content(blocks: Sequence[Block]) -> Any:
    """The bare text that was stored as such, else a list of blocks."""
    only = blocks[0]
    if len(blocks) == 1 and type(only) is Text and type(only.raw) is not dict and only.extra is None:
        return only.text
    return [write_block(block) for block in blocks]


def write(messages: Sequence[Message]) -> list[Wire]:
    """The messages. Results that stood in messages of their own (`role: tool`) are gathered into one user message a run."""
    out: list[Wire] = []
    gathered: list[Wire] | None = None
    for message in messages:
        if message.role == "tool":
            if gathered is None:
                gathered = []
                out.append(Wire({"role": "user", "content": gathered}))
            gathered.extend(map(write_block, message.blocks))
            continue  # keeps: the line above wrote it
        gathered = None
        if message.intact and message.home == HOME:
            out.append(as_it_came(message))
        else:
            out.append(
                with_extra(
                    {"role": message.role, "content": _content(message.blocks) if message.blocks else []}, message.extra
                )
            )
    return out


def write_system(messages: Sequence[Message]) -> Any:
    """The leading system messages as the top-level `system`: text if it was one text, else a list of text blocks."""
    if len(messages) == 1 and messages[0].intact and messages[0].home == HOME and messages[0].at == ("system",):
        return messages[0].raw
    blocks = [block for message in messages for block in message.blocks]
    return _content(blocks)


def leading(messages: Sequence[Message]) -> int:
    """How many messages stand before the first that is not a system or developer message."""
    for index, message in enumerate(messages):
        if message.role not in INSTRUCTING:
            return index
    return len(messages)


# Request fields.

WRITABLE: frozenset[str] = frozenset(
    {
        "model",
        "max_tokens",
        "temperature",
        "top_p",
        "top_k",
        "stream",
        "stop",
        "end_user",
        "effort",
        "parallel_calls",
        "tool",
        "tool_choice",
        "format",
        "thinking",
    }
)
"""The hub's words that Messages has a field for."""

_PLACES: dict[str, tuple[str, ...]] = {
    "stop": ("stop_sequences",),
    "end_user": ("metadata", "user_id"),
    "effort": ("output_config", "effort"),
}


def write_settings(settings: Sequence[Setting]) -> Wire:
    """The request fields. One that is still Anthropic's own is written as it came."""
    body: dict[str, Any] = {}
    for setting in settings:
        home = setting.intact and setting.home == HOME
        if setting.name in ("tool", "native_tool"):
            body.setdefault("tools", []).append(setting.raw if home else _write_tool(setting))
        elif home and type(setting.at[0]) is not tuple:
            body[setting.at[0]] = setting.raw
        elif home:
            body.setdefault(setting.at[0][0], setting.raw)
        elif setting.name == "tool_choice":
            body["tool_choice"] = _write_choice(setting.value)
        elif setting.name == "parallel_calls":
            body["tool_choice"] = {**body.get("tool_choice", {"type": "auto"}), "disable_parallel_tool_use": True}
        elif setting.name == "format":
            body["output_config"] = {
                **body.get("output_config", {}),
                "format": {"type": "json_schema", "schema": setting.value.get("schema")},
            }
        else:
            place = _PLACES.get(setting.name, tuple(setting.name.split(".", 1)))
            if len(place) == 1:
                body[place[0]] = setting.value
            else:
                body[place[0]] = {**body.get(place[0], {}), place[1]: setting.value}
    return Wire(body)


def _write_tool(setting: Setting) -> Any:
    tool: Any = setting.value
    names = {"name": "name", "description": "description", "parameters": "input_schema", "strict": "strict"}
    return {
        "input_schema": {"type": "object"},
        **{names[key]: value for key, value in tool.items()},
        **(setting.extra or {}),
    }


def _write_choice(value: Any) -> Any:
    mode = {"required": "any"}.get(value["mode"], value["mode"])
    return {"type": "tool", "name": value["name"]} if mode == "tool" else {"type": mode}
