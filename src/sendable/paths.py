"""Places in the caller's input: cheap while nobody asks, text when an entry is printed.

A place is a tuple of steps; its first element may be another place, so that a node stores one small tuple. What must not live here:
anything about what a place may hold.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from msgspec import Raw

from sendable import payload

At = tuple[Any, ...]
"""`()` is the whole body, `("messages", 3)` a message, `(("messages", 3), "content", 0)` a block."""

_SURROGATE = re.compile("[\ud800-\udfff]")
_SIMPLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")

SPELLINGS: dict[str, tuple[tuple[str, ...], ...]] = {
    "id": (
        ("id",), ("tool_use_id",), ("tool_call_id",), ("call_id",), ("toolUseId",), ("toolCallId",),
        *((node, own) for node in ("functionCall", "functionResponse", "function_call", "function_response", "toolUse", "toolResult")
          for own in ("id", "toolUseId", "tool_use_id", "tool_call_id", "toolCallId", "call_id")),
    ),
    "name": (("function", "name"), ("name",), ("toolName",), ("functionCall", "name"), ("toolUse", "name"), ("custom", "name"), ("function_call", "name"),
        ("functionResponse", "name"), ("function_response", "name")),
    "arguments": (
        ("function", "arguments"), ("arguments",), ("input",), ("args",), ("custom", "input"),
        ("functionCall", "args"), ("toolUse", "input"), ("function_call", "arguments"), ("function_call", "args"),
    ),
    "signature": (
        ("signature",), ("data",), ("encrypted_content",), ("thoughtSignature",), ("thought_signature",),
        ("extra_content", "google", "thought_signature"),
        ("reasoningContent", "reasoningText", "signature"), ("reasoningContent", "redactedContent"),
    ),
    "error": (("is_error",), ("status",), ("isError",), ("toolResult", "status"),
        ("functionResponse", "response", "error"), ("function_response", "response", "error")),
    "media_type": (
        ("source", "media_type"), ("inlineData", "mimeType"), ("inline_data", "mime_type"), ("inlineData", "mime_type"),
        ("inline_data", "mimeType"),
        *((node, own) for node in ("fileData", "file_data") for own in ("mimeType", "mime_type")), ("input_audio", "format"), ("image", "format"), ("document", "format"), ("video", "format"),
        ("audio", "format"),
    ),
    "title": (("title",), ("filename",), ("file", "filename"), ("document", "name")),
    "data": (
        ("source", "data"), ("image_url", "url"), ("input_audio", "data"), ("file", "file_data"), ("inlineData", "data"),
        ("inline_data", "data"), ("file_data",), ("image_url",), ("data",),
        ("image", "source", "bytes"), ("document", "source", "bytes"), ("video", "source", "bytes"), ("audio", "source", "bytes"),
        ("guardContent", "image", "source", "bytes"),
    ),
}  # fmt: skip
"""Where a field that every dialect has may stand inside a node, under all spellings in use, the most specific first."""


def steps(at: At) -> Iterator[Any]:
    """The steps of a place from the body down."""
    if at and type(at[0]) is tuple:
        yield from steps(at[0])
        yield from at[1:]
    else:
        yield from at


def text(at: At) -> str:
    """A place as text: `messages[2].content[0]`; keys that are no plain names are quoted."""
    out: list[str] = []
    for step in steps(at):
        if type(step) is int:
            out.append(f"[{step}]")
        elif _SIMPLE.match(step):
            out.append(f".{step}" if out else step)
        else:
            # Half a surrogate pair, which a caller's key may hold, has no UTF-8.
            out.append(f"[{json.dumps(step, ensure_ascii=_SURROGATE.search(step) is not None)}]")
    return "".join(out)


class Absent:
    """The answer of `value_at` for a place that does not exist."""


ABSENT = Absent()


def step_into(value: Any, step: Any) -> Any:
    """What one step leads to, or `ABSENT`. Reads objects of the official SDKs by attribute."""
    if type(value) is Raw:
        value = payload.fields(value) if type(step) is str else payload.items(value)
    if type(step) is int:
        return value[step] if isinstance(value, list | tuple) and -1 < step < len(value) else ABSENT
    if isinstance(value, dict):
        return value.get(step, ABSENT)
    if hasattr(value, "model_dump"):
        return getattr(value, step, ABSENT)
    return ABSENT


def value_at(history: Any, at: At) -> Any:
    """The caller's own value at a place, or `ABSENT`. A bare list is called `messages`."""
    value = {"messages": history} if isinstance(history, list | tuple) else history
    for step in steps(at):
        value = step_into(value, step)
        if value is ABSENT:
            return ABSENT
    return value


def _is_item(node: Any) -> bool:
    kind = payload.string(step_into(node, "type"))
    return kind is not None and kind.endswith(("_call", "_call_output"))


def spelled(node: Any, field: str, read: Any = None) -> tuple[str, ...]:
    """The steps from a node to a field, under the spelling that the node itself uses; the field's own name if it is absent.

    `read`: the text that was read as this field, which decides where a node has several spellings.
    """
    if field == "id" and step_into(node, "call_id") is not ABSENT and _is_item(node):
        # What stands in a list of its own has an id beside that of the call.
        return ("call_id",)
    found: tuple[str, ...] | None = None
    for candidate in SPELLINGS.get(field, ()):
        value = node
        for step in candidate:
            value = step_into(value, step)
        if value is not ABSENT:
            if type(read) is not str or payload.kind(value) != "text" or payload.string(value) == read:
                return candidate
            found = found or candidate
    return found or (field,)


def inside(node: Any, name: str) -> tuple[str, ...]:
    """The steps from a node to a field that is named with dots, `toolUse.foo`: as far as the node has them."""
    if "." not in name or step_into(node, name) is not ABSENT:
        return (name,)
    for index, character in enumerate(name):
        inner = step_into(node, name[:index]) if character == "." else ABSENT
        if inner is not ABSENT and payload.fields(inner) is not None:
            return (name[:index], *inside(inner, name[index + 1 :]))
    return (name,)


def order(history: Any, at: At) -> tuple[int, ...]:
    """A sort key: the position of a place in the order in which the caller's input is written."""
    value = {"messages": history} if isinstance(history, list | tuple) else history
    out: list[int] = []
    for step in steps(at):
        if type(step) is int:
            out.append(step)
        else:
            keys = list(value) if isinstance(value, dict) else []
            out.append(keys.index(step) if step in keys else len(keys))
        value = step_into(value, step)
    return tuple(out)
