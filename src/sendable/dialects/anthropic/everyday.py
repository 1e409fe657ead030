"""Lists of content and of tools in the forms that nearly every stored one has, read in one pass over their bytes.

This is speed and no rule: what it makes is what read.py would make of the same bytes (tests/test_everyday.py). A list that holds anything
else is none of this module's.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias, final

import msgspec
from msgspec import Raw

from sendable import payload
from sendable.conversation import Block, Setting, Text, ToolCall, ToolResult
from sendable.dialects import Context
from sendable.dialects.anthropic import read
from sendable.dialects.anthropic.read import HOME
from sendable.paths import At
from sendable.payload import Leaf

_ABSENT = Raw()


class _Block(msgspec.Struct, forbid_unknown_fields=True, tag_field="type", gc=False): ...


@final
class _Text(_Block, tag="text"):
    text: Raw


@final
class _Use(_Block, tag="tool_use"):
    id: str
    name: str
    input: Raw


@final
class _Result(_Block, tag="tool_result"):
    tool_use_id: str
    content: Raw
    is_error: bool | None = None


@final
class _Thinking(_Block, tag="thinking"):
    thinking: Raw
    signature: Raw


@final
class _Redacted(_Block, tag="redacted_thinking"):
    data: Raw


@final
class _Image(_Block, tag="image"):
    source: Raw


_Everyday: TypeAlias = _Text | _Use | _Result | _Thinking | _Redacted | _Image

_decode = msgspec.json.Decoder(list[_Everyday]).decode

# How long an object is without what is in it, written without blanks.
_TEXT = len('{"type":"text","text":}')
_USE = len('{"type":"tool_use","id":"","name":"","input":}')
_RESULT = len('{"type":"tool_result","tool_use_id":"","content":}')
_FLAGS = {None: 0, False: len(',"is_error":false'), True: len(',"is_error":true')}
_THINKING = len('{"type":"thinking","thinking":,"signature":}')
_REDACTED = len('{"type":"redacted_thinking","data":}')
_IMAGE = len('{"type":"image","source":}')


def read_list(content: Raw, at: At, context: Context) -> Sequence[Block] | None:
    """The blocks, each intact, or None if the list is not empty and of everyday blocks only."""
    try:
        entries = _decode(content)
    except (msgspec.MsgspecError, RecursionError):
        return None
    out: list[Block] = []
    # Written again without blanks, or with those of `json.dumps`: the same length means that no key was there twice, and that no id or name
    # was spelled in another way than it is written.
    compact, blanks = len(entries) + 1, len(entries) - 1
    for index, entry in enumerate(entries):
        place: At = (at, index)
        if type(entry) is _Text:
            text = entry.text
            compact, blanks = compact + _TEXT + len(text), blanks + 3
            if not payload.is_text(text):
                return None
            out.append(Text(text, place, {"type": "text", "text": text}, HOME, True))
            continue  # keeps: the line above
        if type(entry) is _Use:
            call_id, name, given = entry.id, entry.name, entry.input
            payload.require_finite(given)
            compact, blanks = compact + _USE + len(call_id) + len(name) + len(given), blanks + 7
            raw: dict[str, Any] = {"type": "tool_use", "id": call_id, "name": name, "input": given}
            out.append(ToolCall(call_id, name, given, place, raw, HOME, True))
            continue  # keeps: the line above
        if type(entry) is _Result:
            call_id, said, flag = entry.tool_use_id, entry.content, entry.is_error
            compact += _RESULT + _FLAGS[flag] + len(call_id) + len(said)
            raw = {"type": "tool_result", "tool_use_id": call_id, "content": said}
            blanks += 5
            if flag is not None:
                raw["is_error"] = flag
                blanks += 2
            inside: Sequence[Block] | None = None
            if payload.is_text(said):
                inside = (Text(said, (place, "content"), said),)
            elif payload.is_list(said):
                inside = read_list(said, (place, "content"), context)
            if inside is None:
                return None
            out.append(ToolResult(call_id, tuple(inside), place, raw, HOME, True, error=flag))
            continue  # keeps: the line above
        if type(entry) is _Thinking:
            compact, blanks = compact + _THINKING + len(entry.thinking) + len(entry.signature), blanks + 5
            raw = {"type": "thinking", "thinking": entry.thinking, "signature": entry.signature}
            block = read.read_thinking(raw, place, context)
        elif type(entry) is _Redacted:
            compact, blanks = compact + _REDACTED + len(entry.data), blanks + 3
            block = read.read_redacted({"type": "redacted_thinking", "data": entry.data}, place, context)
        else:
            compact, blanks = compact + _IMAGE + len(entry.source), blanks + 3
            payload.require_finite(entry.source)
            block = read.read_image({"type": "image", "source": entry.source}, place, context)
        if not block.intact:
            return None
        out.append(block)
    return out if out and len(content) in (compact, compact + blanks) else None


@final
class _Tool(msgspec.Struct, forbid_unknown_fields=True, omit_defaults=True, gc=False):
    name: str
    input_schema: Raw
    description: Raw = _ABSENT


_decode_tools = msgspec.json.Decoder(list[_Tool]).decode


def read_setting(key: str, value: Leaf, at: At) -> Sequence[Setting]:
    """One request field in the hub's words."""
    tools = _read_tools(value, at) if key == "tools" and type(value) is Raw else None
    return read.read_setting(key, value, at) if tools is None else tools


def _read_tools(value: Raw, at: At) -> Sequence[Setting] | None:
    """The tools, or None if one is not `{"name","description"?,"input_schema"}`."""
    try:
        tools = _decode_tools(value)
    except (msgspec.MsgspecError, RecursionError):
        return None
    out: list[Setting] = []
    blanks = max(len(tools) - 1, 0)
    for index, tool in enumerate(tools):
        said: dict[str, Any] = {"name": tool.name}
        own: dict[str, Any] = {"name": tool.name}
        if tool.description is not _ABSENT:
            said["description"] = own["description"] = tool.description
        said["parameters"] = own["input_schema"] = tool.input_schema
        blanks += 2 * len(said) - 1
        out.append(Setting("tool", said, (at, index), own, HOME, True))
    compact = len(msgspec.json.encode(tools))
    return out if len(value) in (compact, compact + blanks) else None
