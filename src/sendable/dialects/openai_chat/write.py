"""Hub → OpenAI Chat Completions. Total: what Chat cannot hold has gone before, with its entry (fit.py and the target's rules)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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
from sendable.dialects import Wire, as_it_came, with_extra
from sendable.dialects.openai_chat.read import HOME, SIGNED

_AUDIO_FORMATS = {"audio/wav": "wav", "audio/x-wav": "wav", "audio/mpeg": "mp3", "audio/mp3": "mp3"}


def write_block(block: Block) -> Wire:
    """One block: a content part, a call, a whole `role: tool` message for a result, or the field of a message that holds it."""
    if block.intact and block.home == HOME and type(block.raw) is dict and type(block) is not ToolResult:
        return as_it_came(block)
    if type(block) is Text:
        return _written({"type": "text", "text": block.text}, block.extra)
    if type(block) is ToolCall:
        if block.kind == "custom":
            return _written(
                {"id": block.id, "type": "custom", "custom": {"name": block.name, "input": block.arguments}},
                block.extra,
            )
        call: dict[str, Any] = {"id": block.id, "type": "function"}
        call["function"] = {"name": block.name, "arguments": block.arguments}
        if block.signature is not None:
            call[SIGNED] = {"google": {"thought_signature": block.signature.value}}
        return _written(call, block.extra)
    if type(block) is ToolResult:
        return _written({"role": "tool", "tool_call_id": block.id, "content": _content(block.content, "")}, block.extra)
    if type(block) is Reasoning:
        return Wire({"reasoning_content": block.text})
    if type(block) is Media:
        return _write_media(block)
    if type(block) is Refusal:
        return _written({"type": "refusal", "refusal": block.text}, block.extra)
    if type(block) is Opaque:
        return as_it_came(block) if type(block.raw) is dict else Wire({block.kind: block.raw})
    assert_never(block)


def _write_media(block: Media) -> Wire:
    if block.kind == "audio":
        form = _AUDIO_FORMATS.get(block.media_type or "", (block.media_type or "wav").rpartition("/")[2])
        return _written({"type": "input_audio", "input_audio": {"data": block.data, "format": form}}, block.extra)
    if block.kind == "image":
        url = block.data if block.source == "url" else payload.data_url(block.media_type or "image/png", block.data)
        return _written({"type": "image_url", "image_url": {"url": url}}, block.extra)
    file: dict[str, Any] = {} if block.name is None else {"filename": block.name}
    if block.source == "file_id":
        file["file_id"] = block.data
    else:
        file["file_data"] = (
            block.data if block.source == "url" else payload.data_url(block.media_type or "application/pdf", block.data)
        )
    return _written({"type": "file", "file": file}, block.extra)


def _written(wire: dict[str, Any], extra: Fields | None) -> Wire:
    """The object with its other fields; null is not written again."""
    return with_extra(wire, extra, nulls=False)


def _content(blocks: Sequence[Block], empty: Any) -> Any:
    """Content: the bare text that was stored as such, else a list of parts; `empty` for none."""
    if not blocks:
        return empty
    only = blocks[0]
    if len(blocks) == 1 and type(only) is Text and type(only.raw) is not dict and only.extra is None:
        return only.text
    return [write_block(block) for block in blocks]


def write(messages: Sequence[Message]) -> list[Wire]:
    """The messages; a message that holds results becomes one `role: tool` message for each and one for the rest."""
    out: list[Wire] = []
    for message in messages:
        if message.intact and message.home == HOME:
            out.append(as_it_came(message))
        elif message.role == "assistant":
            out.append(_write_assistant(message))
        else:
            _write_other(message, out)
    return out


def write_sparse(messages: Sequence[Message]) -> list[Wire]:
    """The messages as `write` has them, but content that is nothing is left out, rather than null (OC8 allows both beside calls)."""
    return [
        wire if wire.get("content", "") is not None else Wire({key: wire[key] for key in wire if key != "content"})
        for wire in write(messages)
    ]  # keeps: null says nothing


def _write_assistant(message: Message) -> Wire:
    wire: dict[str, Any] = {"role": "assistant", "content": None}
    parts: list[Block] = []
    calls: list[Wire] = []
    thoughts: list[Any] = []
    for block in message.blocks:
        if type(block) is ToolCall:
            calls.append(write_block(block))
        elif type(block) is Reasoning:
            if block.intact and block.home == HOME and block.at[-1] in ("reasoning", "reasoning_details"):
                # Another spelling, as it came.
                wire[block.at[-1]] = block.raw
            else:
                thoughts.append(block.text)
        elif type(block) in (Refusal, Opaque) and type(block.at[-1]) is str and block.home == HOME:
            # A field of the message rather than a part of its content: `refusal`, `audio`.
            wire[block.at[-1]] = block.raw
        else:
            parts.append(block)
    only = parts[0] if len(parts) == 1 else None
    if type(only) is Text and only.extra is None and _had_one_list(message):
        wire["content"] = only.text
    else:
        # Null is no content, unless there are calls or another field in its place (OC8); reasoning is none.
        wire["content"] = _content(parts, None if calls or len(wire) > 2 else "")
    if thoughts:
        wire["reasoning_content"] = payload.joined(thoughts, "\n\n")
    if calls:
        wire["tool_calls"] = calls
    elif wire["content"] is None and "refusal" not in wire and "audio" not in wire:
        # «expected a string, got null» (OC8): a message of reasoning alone has an empty text.
        wire["content"] = ""
    return _written(wire, message.extra)


def _had_one_list(message: Message) -> bool:
    """Whether the message holds blocks of a dialect that has but one list for everything: its one text was in a block only because of
    that. What the message is by itself decides, and not what the history is, so that it is written the same in a longer one."""
    return any(type(block) is not Text and block.home not in (None, HOME) for block in message.blocks)


def _write_other(message: Message, out: list[Wire]) -> None:
    if len(message.blocks) == 1 and type(message.blocks[0]) is ToolResult:
        # The everyday result is a message of its own.
        out.append(_written(write_block(message.blocks[0]), message.extra))
        return
    results = [
        write_block(block) for block in message.blocks if type(block) is ToolResult
    ]  # keeps: the rest is written below
    rest = [block for block in message.blocks if type(block) is not ToolResult]  # keeps: the results are written above
    out.extend(results)
    if rest or not results:
        role = "user" if message.role == "tool" else message.role
        out.append(_written({"role": role, "content": _content(rest, "")}, message.extra))


# Request fields.

_NAMES = {
    "max_tokens": "max_completion_tokens",
    "end_user": "safety_identifier",
    "effort": "reasoning_effort",
    "parallel_calls": "parallel_tool_calls",
}

WRITABLE: frozenset[str] = frozenset(
    {
        "model",
        "max_tokens",
        "temperature",
        "top_p",
        "stream",
        "stop",
        "end_user",
        "effort",
        "parallel_calls",
        "tool",
        "tool_choice",
        "format",
        "seed",
        "n",
        "presence_penalty",
        "frequency_penalty",
        "logprobs",
        "top_logprobs",
        "verbosity",
        "store",
        "metadata",
        "prompt_cache_key",
        "prompt_cache_retention",
    }
)
"""The hub's words that Chat has a field for, and the fields that both of OpenAI's APIs have under one name."""


def write_settings(settings: Sequence[Setting]) -> Wire:
    """The request fields. One that is still Chat's own is written as it came."""
    return _write_settings(settings, _NAMES)


def write_settings_of_old(settings: Sequence[Setting]) -> Wire:
    """The request fields for servers that know the limit only as `max_tokens`, as Chat called it first."""
    return _write_settings(settings, _NAMES | {"max_tokens": "max_tokens"})


def _write_settings(settings: Sequence[Setting], names: Mapping[str, str]) -> Wire:
    body: dict[str, Any] = {}
    for setting in settings:
        if setting.name in ("tool", "native_tool"):
            body.setdefault("tools", []).append(
                setting.raw if setting.intact and setting.home == HOME else _write_tool(setting)
            )
        elif setting.intact and setting.home == HOME:
            body[setting.at[-1]] = setting.raw
        elif setting.name == "tool_choice":
            body["tool_choice"] = _write_choice(setting.value)
        elif setting.name == "format":
            body["response_format"] = _write_format(setting.value)
        else:
            body[names.get(setting.name, setting.name)] = setting.value
    return Wire(body)


def _write_tool(setting: Setting) -> Any:
    function: Any = setting.value
    if "freeform" in function:
        said = {key: value for key, value in function.items() if key != "freeform"}  # keeps: it is the format
        form = function["freeform"]
        grammar = {key: value for key, value in form.items() if key != "type"}  # keeps: it stands outside
        if grammar:
            said["format"] = {"type": form.get("type"), "grammar": grammar}
        elif form:
            said["format"] = form
        return {"type": "custom", "custom": {**said, **(setting.extra or {})}}
    return {"type": "function", "function": {**function, **(setting.extra or {})}}


def _write_choice(value: Any) -> Any:
    kind = "custom" if "freeform" in value else "function"
    return {"type": kind, kind: {"name": value["name"]}} if value["mode"] == "tool" else value["mode"]


def _write_format(value: Any) -> Any:
    if value["kind"] == "json_schema":
        return {
            "type": "json_schema",
            "json_schema": {"name": "answer", **{key: inner for key, inner in value.items() if key != "kind"}},
        }  # keeps: the kind is written as the type
    return {"type": value["kind"]}
