"""Hub → OpenAI Responses. Total: what Responses cannot hold has gone before, with its entry (fit.py and the target's rules).

What is new has no item id: an id that OpenAI did not give is refused, and one that it gave belongs to the item it was given to (OR6).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, assert_never

from sendable import payload
from sendable.conversation import (
    Block,
    Fields,
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
from sendable.dialects import Wire, as_it_came
from sendable.dialects.openai_responses.read import HOME, KEYS


def write_block(block: Block, role: str, kinds: dict[Any, str]) -> Wire:
    """One block: a part of content in a message of this role, or an item. `kinds`: of the calls before it, by their ids."""
    if type(block) is Text:
        if block.intact and block.home == HOME and type(block.raw) is dict:
            return as_it_came(block)
        if role == "assistant":
            # `annotations` is required in the output form, which is the only one that takes `output_text` (OR1).
            return _with_extra({"type": "output_text", "text": block.text, "annotations": []}, block.extra)
        return _with_extra({"type": "input_text", "text": block.text}, block.extra)
    if type(block) is ToolCall:
        return as_it_came(block) if block.intact and block.home == HOME else _write_call(block)
    if type(block) is ToolResult:
        return _write_result(block, kinds.get(block.id, block.kind))
    if type(block) is Reasoning:
        return _write_reasoning(block)
    if type(block) is Media:
        return as_it_came(block) if block.intact and block.home == HOME else _write_media(block)
    if type(block) is Refusal:
        if block.intact and block.home == HOME:
            return as_it_came(block)
        return _with_extra({"type": "refusal", "refusal": block.text}, block.extra)
    if type(block) is Opaque:
        return _as_stored(block, ())
    assert_never(block)


def _as_stored(block: Opaque | ToolCall | ToolResult | Reasoning, modelled: tuple[str, ...]) -> Wire:
    """An item of OpenAI's own as it came, less the fields that a rule stripped."""
    kept = {*modelled, *(block.extra or ())}
    if type(block) is Opaque:
        kept |= KEYS.get(block.kind, frozenset())
        # Of a kind that nobody knows, no rule knows what to strip; it is here because the caller keeps such kinds.
        if block.intact or (block.kind not in KEYS and block.extra is None):
            return as_it_came(block)
    return Wire(
        {key: value for key, value in payload.members(block.raw).items() if key in kept}
    )  # keeps: rules/ reported each of them


_ARGUMENTS = {"local_shell_call": "action", "shell_call": "action", "apply_patch_call": "operation"}


def _write_call(block: ToolCall) -> Wire:
    own = _ARGUMENTS.get(block.kind)
    if own is not None:
        return Wire({**_as_stored(block, ("type", own)), "call_id": block.id})
    if block.kind == "custom":
        return _with_extra(
            {"type": "custom_tool_call", "call_id": block.id, "name": block.name, "input": block.arguments}, block.extra
        )
    return _with_extra(
        {"type": "function_call", "call_id": block.id, "name": block.name, "arguments": block.arguments}, block.extra
    )


def _write_result(block: ToolResult, kind: str) -> Wire:
    if block.intact and block.home == HOME and (kind == block.kind or block.id is None):
        return as_it_came(block)
    output = _output(block.content)
    if kind in _ARGUMENTS:
        if block.home == HOME and type(block.raw) is dict and block.kind == kind:
            key = "call_id" if "call_id" in block.raw or kind != "local_shell_call" else "id"
            return Wire({**_as_stored(block, ("type", "output", "status")), key: block.id})
        return _of_own_tool(kind, block.id, output)
    if kind == "custom":
        return _with_extra({"type": "custom_tool_call_output", "call_id": block.id, "output": output}, block.extra)
    head: dict[str, Any] = {"type": "function_call_output"}
    if block.id is not None:
        head["call_id"] = block.id
    return _with_extra({**head, "output": output}, block.extra)


def _of_own_tool(kind: str, call_id: Any, output: Any) -> Wire:
    """A text as the result of one of OpenAI's own tools, which have no place for a plain one."""
    if kind == "shell_call":
        said = [{"stdout": output, "stderr": "", "outcome": {"type": "timeout"}}]
        return Wire({"type": "shell_call_output", "call_id": call_id, "output": said})
    if kind == "apply_patch_call":
        return Wire({"type": "apply_patch_call_output", "call_id": call_id, "status": "failed", "output": output})
    return Wire({"type": "local_shell_call_output", "id": call_id, "output": output})


def _write_reasoning(block: Reasoning) -> Wire:
    if block.home == HOME:
        return (
            as_it_came(block)
            if block.intact
            else _as_stored(block, ("type", "summary", "content", "encrypted_content"))
        )
    summary = [] if block.text is None else [{"type": "summary_text", "text": block.text}]
    wire: dict[str, Any] = {"type": "reasoning", "summary": summary}
    if block.signature is not None:
        wire["encrypted_content"] = block.signature.value
    return Wire(wire)


def _write_media(block: Media) -> Wire:
    wire: dict[str, Any] = {"type": "input_image" if block.kind == "image" else "input_file"}
    if block.source == "file_id":
        wire["file_id"] = block.data
    elif block.kind == "image":
        # `detail` is required in a message's own form, and "auto" is what its absence means.
        wire["image_url"] = (
            block.data if block.source == "url" else payload.data_url(block.media_type or "image/png", block.data)
        )
    elif block.source == "url":
        wire["file_url"] = block.data
    else:
        wire["filename"] = "file.pdf" if block.name is None else block.name
        wire["file_data"] = payload.data_url(block.media_type or "application/pdf", block.data)
        return _with_extra(wire, block.extra)
    if block.name is not None and block.kind == "document":
        wire["filename"] = block.name
    return _with_extra(wire, block.extra)


def _with_extra(wire: dict[str, Any], extra: Fields | None) -> Wire:
    if extra is not None:
        for key, value in extra.items():
            if key not in wire or key == "annotations":
                wire[key] = value
    return Wire(wire)


def _output(content: Sequence[Block]) -> Any:
    """The bare text that was stored as such, else a list of parts; an empty text for none."""
    if not content:
        return ""
    only = content[0]
    if len(content) == 1 and type(only) is Text and type(only.raw) is not dict and only.extra is None:
        return only.text
    return [write_block(block, "user", {}) for block in content]


def write(messages: Sequence[Message]) -> list[Wire]:
    """The items: a message for each run of parts, and one for each call, result, and reasoning."""
    out: list[Wire] = []
    kinds: dict[Any, str] = {}
    for message in messages:
        for block in message.blocks:
            if type(block) is ToolCall:
                kinds[block.id] = block.kind
        if message.intact and message.home == HOME and type(message.raw) is dict and not _turned(message, kinds):
            out.append(as_it_came(message))
        else:
            _write_message(message, kinds, out)
    return out


def _turned(message: Message, kinds: dict[Any, str]) -> bool:
    """Whether a message is a result whose call is of another kind than its own."""
    block = message.blocks[0] if message.blocks else None
    return type(block) is ToolResult and block.id is not None and kinds.get(block.id, block.kind) != block.kind


def _write_message(message: Message, kinds: dict[Any, str], out: list[Wire]) -> None:
    role = "user" if message.role == "tool" else message.role
    extra = message.extra
    parts: list[Block] = []
    before = len(out)
    for block in message.blocks:
        if type(block) in (Text, Refusal, Media):
            # A bare empty text beside a call says nothing.
            if not (
                type(block) is Text
                and len(message.blocks) > 1
                and payload.is_empty(block.text)
                and type(block.raw) is not dict
            ):
                parts.append(block)
            continue  # keeps: the parts are written together
        if parts:
            out.append(_with_parts(role, parts, extra))
            parts, extra = [], None
        out.append(write_block(block, role, kinds))
    if parts or len(out) == before:
        out.append(_with_parts(role, parts, extra))


def _with_parts(role: str, parts: Sequence[Block], extra: Fields | None) -> Wire:
    only = parts[0] if len(parts) == 1 else None
    content: Any = [write_block(part, role, {}) for part in parts]
    if extra and ("id" in extra or "status" in extra):
        # What is known as an item has a list of content (openai 3.57.0).
        content = content or [write_block(Text("", ()), role, {})]
    elif not parts:
        content = ""
    elif type(only) is Text and type(only.raw) is not dict and only.extra is None:
        content = only.text
    return _with_extra({"type": "message", "role": role, "content": content}, extra)


def write_single(messages: Sequence[Message]) -> Any:
    """The text that was the whole `input`, or None if it holds more than that."""
    if len(messages) == 1 and messages[0].intact and messages[0].home == HOME and messages[0].at == ("input",):
        return messages[0].raw
    return None


def write_instructions(messages: Sequence[Message]) -> Any:
    """The system messages of a request's own field as `instructions`, which is one text."""
    texts = [block.text for message in messages for block in message.blocks if type(block) is Text]
    return payload.joined(texts, "\n\n") if texts else ""


# Request fields.

WRITABLE: frozenset[str] = frozenset(
    {
        "model", "max_tokens", "temperature", "top_p", "stream", "end_user", "effort", "parallel_calls", "tool", "tool_choice", "format",
        "verbosity", "store", "metadata", "prompt_cache_key", "prompt_cache_retention",
    }
)  # fmt: skip
"""The hub's words that Responses has a field for, and the fields that both of OpenAI's APIs have under one name."""

_PLACES: dict[str, tuple[str, ...]] = {
    "max_tokens": ("max_output_tokens",),
    "end_user": ("safety_identifier",),
    "parallel_calls": ("parallel_tool_calls",),
    "effort": ("reasoning", "effort"),
    "verbosity": ("text", "verbosity"),
}


def write_settings(settings: Sequence[Setting]) -> Wire:
    """The request fields. One that is still Responses' own is written as it came."""
    body: dict[str, Any] = {}
    for setting in settings:
        home = setting.intact and setting.home == HOME
        if setting.name in ("tool", "native_tool", "tool_group"):
            body.setdefault("tools", []).append(setting.raw if home else _write_tool(setting))
        elif home and type(setting.at[0]) is not tuple:
            body[setting.at[0]] = setting.raw
        elif home:
            body.setdefault(setting.at[0][0], setting.raw)
        elif setting.name == "tool_choice":
            body["tool_choice"] = _write_choice(setting.value)
        elif setting.name == "format":
            body["text"] = {**body.get("text", {}), "format": _write_format(setting.value)}
        else:
            place = _PLACES.get(setting.name, (setting.name,))
            if len(place) == 1:
                body[place[0]] = setting.value
            else:
                body[place[0]] = {**body.get(place[0], {}), place[1]: setting.value}
    return Wire(body)


def _write_tool(setting: Setting) -> Any:
    """A function, flat. `parameters` and `strict` are required keys (OR30); without the word, `strict` would be tried here."""
    tool: Any = setting.value
    if "freeform" in tool:
        form = {"format": tool["freeform"]} if tool["freeform"] else {}
        said = {key: value for key, value in tool.items() if key != "freeform"}  # keeps: it is the format
        return {"type": "custom", **said, **form, **(setting.extra or {})}
    return {"type": "function", "parameters": None, "strict": False, **tool, **(setting.extra or {})}


def _write_choice(value: Any) -> Any:
    kind = "custom" if "freeform" in value else "function"
    return {"type": kind, "name": value["name"]} if value["mode"] == "tool" else value["mode"]


def _write_format(value: Any) -> Any:
    if value["kind"] == "json_schema":
        rest = {key: inner for key, inner in value.items() if key != "kind"}  # keeps: the kind is the type
        return {"type": "json_schema", "name": "answer", "schema": {"type": "object"}, **rest}
    return {"type": value["kind"]}
