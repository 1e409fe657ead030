"""Hub → Bedrock Converse. Total: what Converse cannot hold has gone before, with its entry (fit.py and the target's rules)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, assert_never

from sendable import paths, payload
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
from sendable.dialects.bedrock.read import HOME, MARK, MEDIA_TYPES, MEMBERS

_FORMATS: dict[str, dict[str, str]] = {
    kind: {media_type: name for name, media_type in types.items()} for kind, types in MEDIA_TYPES.items()
}


def write_block(block: Block) -> Wire:
    """One block as a member of ContentBlock."""
    if block.intact and block.home == HOME and type(block.raw) is dict:
        return as_it_came(block)
    if type(block) is Text:
        return _write_text(block)
    if type(block) is ToolCall:
        call: dict[str, Any] = {"toolUseId": block.id, "name": block.name, "input": block.arguments}
        if block.executor == "provider":
            call["type"] = block.kind
        return _written({"toolUse": call}, block.extra)
    if type(block) is ToolResult:
        return _write_result(block)
    if type(block) is Reasoning:
        return _write_reasoning(block)
    if type(block) is Media:
        return _write_media(block)
    if type(block) is Refusal:
        return Wire({"text": block.text})
    if type(block) is Opaque:
        return _write_opaque(block)
    assert_never(block)


def _write_text(block: Text) -> Wire:
    """A text; one that a guardrail is to look at stays in its wrapping, and so does one with citations that still fit its words."""
    extra = block.extra or {}
    if "guardContent" in extra:
        inner = payload.fields(extra["guardContent"]) or {}
        said = payload.fields(inner.get("text")) or {}
        return Wire({"guardContent": {"text": {**said, "text": block.text}}})
    if "citationsContent" in extra:
        cited = payload.fields(extra["citationsContent"]) or {}
        sources = {"citations": cited["citations"]} if "citations" in cited else {}
        return Wire({"citationsContent": {"content": [{"text": block.text}], **sources}})
    return Wire({"text": block.text})


def _write_result(block: ToolResult) -> Wire:
    result: dict[str, Any] = {
        "toolUseId": block.id,
        "content": [write_block(inner) for inner in block.content],
    }
    if block.error is not None:
        result["status"] = "error" if block.error else "success"
    if block.executor == "provider":
        result["type"] = block.kind
    return _written({"toolResult": result}, block.extra)


def _write_reasoning(block: Reasoning) -> Wire:
    value = block.signature.value if block.signature is not None else None
    if block.text is None:
        return Wire({"reasoningContent": {"redactedContent": value}})
    said = {"text": block.text} if value is None else {"text": block.text, "signature": value}
    return Wire({"reasoningContent": {"reasoningText": said}})


def _write_media(block: Media) -> Wire:
    own = payload.fields(block.raw) if block.home == HOME else None
    guarded = payload.fields(own.get("guardContent")) if own is not None else None
    if guarded is not None:
        own = guarded
    inner = payload.fields(own.get(block.kind)) if own is not None else None
    source = payload.fields(inner.get("source")) if inner is not None else None
    media: dict[str, Any] = {}
    form = _FORMATS[block.kind].get(block.media_type or ("text/plain" if block.source == "text" else ""))
    if form is not None:
        media["format"] = form
    if block.name is not None and block.kind == "document":
        media["name"] = block.name
    if block.source == "base64":
        media["source"] = {"bytes": block.data}
    elif source is not None and "content" in source and "text" not in source:
        parts = payload.items(source["content"]) or ()
        media["source"] = {"content": [{"text": (payload.fields(part) or {}).get("text")} for part in parts]}
    elif block.source == "file_id":
        stored = payload.fields(source.get("s3Location")) if source is not None else None
        owner = {"bucketOwner": stored["bucketOwner"]} if stored is not None and "bucketOwner" in stored else {}
        media["source"] = {"s3Location": {"uri": block.data, **owner}}
    else:
        media["source"] = {"text": block.data}
    if guarded is not None:
        return Wire({"guardContent": {block.kind: media}})
    return _written({block.kind: media}, block.extra)


def _write_opaque(block: Opaque) -> Wire:
    """An opaque block as it came, less the fields that a rule stripped."""
    inner = payload.fields(block.raw.get(block.kind)) if type(block.raw) is dict else None
    if inner is None:
        return as_it_came(block)
    known = MEMBERS.get(block.kind, frozenset())
    kept = {
        key: value for key, value in inner.items() if key in known or f"{block.kind}.{key}" in (block.extra or {})
    }  # keeps: rules/blocks.py reported each of the others
    return _written({block.kind: kept}, block.extra)


def _written(wire: dict[str, Any], extra: Fields | None) -> Wire:
    """The block with its other fields. Marks have become blocks of their own, wrappings are written with their text."""
    apart = (MARK, "guardContent", "citationsContent")
    rest = {key: value for key, value in (extra or {}).items() if key not in apart}  # keeps: see above
    return with_extra(wire, rest)


def write(messages: Sequence[Message]) -> list[Wire]:
    """The messages. Those that are results alone (`role: tool`) are the user's."""
    out: list[Wire] = []
    for message in messages:
        if message.intact and message.home == HOME and not message.bare:
            out.append(as_it_came(message))
        else:
            role = "assistant" if message.role == "assistant" else "user"
            wire: dict[str, Any] = {"role": role, "content": [write_block(block) for block in message.blocks]}
            out.append(_written(wire, message.extra))
    return out


def write_system(messages: Sequence[Message]) -> Any:
    """The leading system messages as the top-level `system`: a list of blocks."""
    if len(messages) == 1 and messages[0].intact and messages[0].home == HOME and messages[0].at == ("system",):
        return messages[0].raw
    return [write_block(block) for message in messages for block in message.blocks]


# Request fields.

WRITABLE: frozenset[str] = frozenset(
    {
        "model", "max_tokens", "temperature", "top_p", "top_k", "stop", "effort", "tool", "cache_mark", "tool_choice", "format", "thinking",
    }
)  # fmt: skip
"""The hub's words that Converse has a field for."""

_PLACES: dict[str, tuple[str, ...]] = {
    "model": ("modelId",),
    "max_tokens": ("inferenceConfig", "maxTokens"),
    "temperature": ("inferenceConfig", "temperature"),
    "top_p": ("inferenceConfig", "topP"),
    "stop": ("inferenceConfig", "stopSequences"),
    "effort": ("outputConfig", "effort"),
    "format": ("outputConfig", "textFormat"),
    "tool_choice": ("toolConfig", "toolChoice"),
    "thinking": ("additionalModelRequestFields", "thinking"),
    "top_k": ("additionalModelRequestFields", "top_k"),
}


def write_settings(settings: Sequence[Setting]) -> Wire:
    """The request fields. One that is still Converse's own is written as it came."""
    body: dict[str, Any] = {}
    for setting in settings:
        own = setting.intact and setting.home == HOME
        if setting.name in ("tool", "native_tool", "cache_mark"):
            tools = body.setdefault("toolConfig", {}).setdefault("tools", [])
            if own:
                tools.append(setting.raw)
            else:
                tools.extend(_write_tool(setting))
            continue  # keeps: the lines above wrote it
        if own:
            place, value = tuple(paths.steps(setting.at)), setting.raw
        else:
            place, value = _PLACES.get(setting.name, tuple(setting.name.split(".", 1))), _write_value(setting)
        if len(place) == 1:
            body[place[0]] = value
        else:
            body.setdefault(place[0], {})[place[1]] = value
    return Wire(body)


def _write_value(setting: Setting) -> Any:
    value: Any = setting.value
    if setting.name == "tool_choice":
        mode = {"required": "any"}.get(value["mode"], value["mode"])
        return {mode: {"name": value["name"]} if mode == "tool" else {}}
    if setting.name == "format":
        inner = {key: part for key, part in value.items() if key != "kind"}  # keeps: the kind is written as the type
        inner["schema"] = payload.arguments_text(inner.get("schema", {}))
        return {"type": "json_schema", "structure": {"jsonSchema": inner}}
    return value


def _write_tool(setting: Setting) -> Sequence[Any]:
    """A tool and, if it bears a mark, the cache point behind it; or a cache point."""
    if setting.name == "cache_mark":
        return (_write_mark(setting.value),)
    tool: Any = setting.value
    spec: dict[str, Any] = {"name": tool.get("name")}
    # «description: min 1» (botocore): an empty one says nothing.
    if payload.kind(tool.get("description")) == "text" and not payload.is_empty(tool["description"]):
        spec["description"] = tool["description"]
    spec["inputSchema"] = {"json": tool.get("parameters", {"type": "object"})}
    if "strict" in tool:
        spec["strict"] = tool["strict"]
    mark = (setting.extra or {}).get(MARK)
    return ({"toolSpec": spec},) if mark is None else ({"toolSpec": spec}, _write_mark(mark))


def _write_mark(mark: Any) -> Any:
    fields = payload.fields(mark) or {}
    return {"cachePoint": {"type": "default", **({"ttl": fields["ttl"]} if "ttl" in fields else {})}}
