"""Anthropic Messages → hub. Every block kind of the API is named here (anthropic 2.14.0, 2026-11-30), modelled or opaque.

What must not live here: repairs. A reader says what is there; the rules decide what becomes of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sendable import payload
from sendable.conversation import (
    Block,
    Fields,
    Media,
    Message,
    Opaque,
    Reasoning,
    Setting,
    Signature,
    Text,
    ToolCall,
    ToolResult,
)
from sendable.dialects import Context, ReadBlock, identifier, remaining, scalar
from sendable.paths import At
from sendable.payload import Leaf

HOME = "anthropic"

KEYS: dict[str, frozenset[str]] = {
    kind: frozenset(keys.split())
    for kind, keys in {
        "text": "type text cache_control citations",
        "image": "type source cache_control transformations",
        "document": "type source cache_control citations context title",
        "search_result": "type content source title cache_control citations",
        "thinking": "type thinking signature",
        "redacted_thinking": "type data",
        "tool_use": "type id name input cache_control caller toolset_name",
        "tool_result": "type tool_use_id content is_error cache_control toolset_name",
        "server_tool_use": "type id name input cache_control caller",
        "web_search_tool_result": "type content tool_use_id cache_control caller",
        "web_fetch_tool_result": "type content tool_use_id cache_control caller",
        "code_execution_tool_result": "type content tool_use_id cache_control",
        "bash_code_execution_tool_result": "type content tool_use_id cache_control",
        "text_editor_code_execution_tool_result": "type content tool_use_id cache_control",
        "tool_search_tool_result": "type content tool_use_id cache_control",
        "container_upload": "type file_id cache_control",
        "advisor_tool_result": "type content tool_use_id cache_control",
        "mcp_tool_use": "type id name input server_name cache_control",
        "mcp_tool_result": "type tool_use_id content is_error cache_control",
        "compaction": "type content encrypted_content signature tool_changes cache_control",
        "tool_addition": "type tool cache_control",
        "tool_removal": "type tool cache_control",
        "mcp_tool_listing": "type mcp_server_name tools",
        "fallback": "type from to trigger",
        "tool_reference": "type tool_name cache_control",
        "browser_state": "type tabs",
    }.items()
}
"""The kinds of block and the fields of each. The place is closed: «messages.0.bogus: Extra inputs are not permitted» (2026-09)."""


def read_text(fields: Fields, at: At, context: Context) -> Block:
    """`{"type":"text","text"}` with citations and a cache mark."""
    text = fields.get("text")
    if payload.kind(text) != "text":
        return Opaque("text", at, fields, HOME)
    extra = remaining(fields, ("type", "text")) if len(fields) > 2 else None
    return Text(text, at, fields, HOME, True, extra)


def read_thinking(fields: Fields, at: At, context: Context) -> Block:
    """`{"type":"thinking","thinking","signature"}`; an empty thought with a signature is a whole one (display "omitted")."""
    text, signature = fields.get("thinking"), fields.get("signature")
    if payload.kind(text) not in ("text", "null"):
        return Opaque("thinking", at, fields, HOME)
    intact = payload.kind(text) == "text"
    signed = payload.kind(signature) == "text" and not payload.is_blank(signature)
    # What stands in its place and is no text is no signature: a field like any other.
    known = ("type", "thinking", "signature") if payload.kind(signature) in ("text", "null") else ("type", "thinking")
    extra = remaining(fields, known)
    return Reasoning(
        text if intact else "",
        Signature(HOME, "signature", signature) if signed else None,
        at,
        fields,
        HOME,
        intact,
        extra,
    )


def read_redacted(fields: Fields, at: At, context: Context) -> Block:
    """`{"type":"redacted_thinking","data"}`."""
    data = fields.get("data")
    if payload.kind(data) != "text":
        return Opaque("redacted_thinking", at, fields, HOME)
    sealed = None if payload.is_blank(data) else Signature(HOME, "redacted", data)
    return Reasoning(None, sealed, at, fields, HOME, True, remaining(fields, ("type", "data")))


def read_tool_use(fields: Fields, at: At, context: Context) -> Block:
    """`{"type":"tool_use","id","name","input"}`.

    Loses: SHP007.
    """
    if len(fields) == 4 and "id" in fields and "name" in fields and "input" in fields:
        # The everyday form, without a look at aliases.
        return ToolCall(scalar(fields["id"]), scalar(fields["name"]), fields["input"], at, fields, HOME, True)
    call_id, key, gone = identifier(fields, "id", at, context)
    extra = remaining(fields, ("type", "id", "name", "input", *gone)) if len(fields) > 4 or key != "id" else None
    intact = key == "id" and not gone and "name" in fields and "input" in fields
    return ToolCall(call_id, scalar(fields.get("name")), fields.get("input"), at, fields, HOME, intact, extra)


def read_server_use(kind: str) -> ReadBlock:
    """A call that the provider executes itself: `server_tool_use`, `mcp_tool_use`."""

    def read(fields: Fields, at: At, context: Context) -> Block:
        call_id, key, gone = identifier(fields, "id", at, context)
        extra = remaining(fields, ("type", "id", "name", "input", *gone))
        intact = key == "id" and not gone and "name" in fields and "input" in fields
        return ToolCall(
            call_id, scalar(fields.get("name")), fields.get("input"), at, fields, HOME, intact, extra, kind, "provider"
        )

    return read


def read_tool_result(fields: Fields, at: At, context: Context) -> Block:
    """`{"type":"tool_result","tool_use_id","content"?,"is_error"?}`; the content's blocks are read like any others.

    Loses: SHP007.
    """
    if len(fields) == 3 and "tool_use_id" in fields and "content" in fields:
        said = fields["content"]
        if payload.kind(said) == "text":
            # The everyday form: an id and a text.
            texts = (Text(said, (at, "content"), said),)
            return ToolResult(scalar(fields["tool_use_id"]), texts, at, fields, HOME, True)
    call_id, key, gone = identifier(fields, "tool_use_id", at, context)
    extra = remaining(fields, ("type", "tool_use_id", "content", "is_error", *gone))
    content = context.read_content(fields.get("content"), (at, "content"), context)
    flag = fields.get("is_error")
    error = None if payload.is_null(flag) else payload.is_true(flag)
    intact = (
        key == "tool_use_id" and not gone and payload.kind(flag) in ("bool", "null") and ("is_error" not in fields or error is not None)
        and ("content" not in fields or payload.kind(fields["content"]) in ("text", "list"))
        and (payload.kind(fields.get("content")) == "text" or all(block.intact and block.home == HOME for block in content))
    )  # fmt: skip
    return ToolResult(call_id, content, at, fields, HOME, intact, extra, error=error)


def read_server_result(kind: str) -> ReadBlock:
    """The result of a call that the provider executed; its content stays as it is."""

    def read(fields: Fields, at: At, context: Context) -> Block:
        call_id, key, gone = identifier(fields, "tool_use_id", at, context)
        extra = remaining(fields, ("type", "tool_use_id", "content", "is_error", *gone))
        return ToolResult(
            call_id, (), at, fields, HOME, key == "tool_use_id" and not gone, extra, kind=kind, executor="provider"
        )

    return read


def read_image(fields: Fields, at: At, context: Context) -> Block:
    """`{"type":"image","source"}`: base64, url or file."""
    return _read_source("image", fields, at)


def read_document(fields: Fields, at: At, context: Context) -> Block:
    """`{"type":"document","source"}`: base64, url, file or text; a source of blocks of its own stays opaque."""
    return _read_source("document", fields, at)


def _read_source(kind: Any, fields: Fields, at: At) -> Block:
    source = payload.fields(fields.get("source"))
    form = payload.string(source.get("type")) if source is not None else None
    name = fields.get("title")
    extra = remaining(fields, ("type", "source", "title") if kind == "document" else ("type", "source"))
    citations = payload.fields(extra.get("citations")) if extra is not None else None
    if extra is not None and citations is not None and citations.keys() > {"enabled"}:
        # What `citations` holds beside its one field is judged by itself.
        beside = {
            f"citations.{inner}": citations[inner] for inner in citations if inner != "enabled"
        }  # keeps: it stands alone
        extra = {**extra, "citations": {"enabled": citations["enabled"]}, **beside}
    if source is not None:
        media_type = payload.string(source.get("media_type"))
        key = {"base64": "data", "url": "url", "file": "file_id", "text": "data"}.get(form or "")
        data = source.get(key) if key else None
        if key is not None and payload.kind(data) == "text":
            more = remaining(source, ("type", "media_type", key))
            if more is not None:
                extra = {**(extra or {}), **{f"source.{inner}": value for inner, value in more.items()}}
            found: Any = {"base64": "base64", "url": "url", "file": "file_id", "text": "text"}[form or ""]
            return Media(kind, found, data, media_type, at, fields, HOME, True, extra, name)
    return Opaque(
        kind, at, fields, HOME, intact=source is not None and kind == "document" and form == "content", extra=extra
    )


SERVER_RESULTS = (
    "web_search_tool_result", "web_fetch_tool_result", "code_execution_tool_result", "bash_code_execution_tool_result",
    "text_editor_code_execution_tool_result", "tool_search_tool_result", "advisor_tool_result", "mcp_tool_result",
)  # fmt: skip

OPAQUE = (
    "search_result", "container_upload", "compaction", "tool_addition", "tool_removal", "mcp_tool_listing", "fallback", "tool_reference",
    "browser_state",
)  # fmt: skip
"""Kinds that only Anthropic has and that the hub does not model."""


def read_search_result(fields: Fields, at: At, context: Context) -> Block:
    """`{"type":"search_result","source","title","content"}`; its content is text blocks and nothing else (appendix B)."""
    parts = payload.items(fields.get("content"))
    texts = [payload.members(part) for part in parts or ()]
    regular = parts is not None and all(
        payload.string(text.get("type")) == "text"
        and payload.kind(text.get("text")) == "text"
        and text.keys() <= {"type", "text", "citations", "cache_control"}
        for text in texts
    )
    named = payload.kind(fields.get("source")) == "text" and payload.kind(fields.get("title")) == "text"
    known = KEYS["search_result"] - {"cache_control"}
    return Opaque("search_result", at, fields, HOME, regular and named, remaining(fields, known))


def _read_opaque(kind: str) -> ReadBlock:
    # A cache mark is no part of what the block says: rules count and strip it.
    known = KEYS[kind] - {"cache_control"}

    def read(fields: Fields, at: At, context: Context) -> Block:
        return Opaque(kind, at, fields, HOME, True, remaining(fields, known))

    return read


BLOCKS: dict[str, ReadBlock] = {
    "text": read_text,
    "tool_use": read_tool_use,
    "tool_result": read_tool_result,
    "thinking": read_thinking,
    "redacted_thinking": read_redacted,
    "image": read_image,
    "document": read_document,
    **{kind: read_server_use(kind) for kind in ("server_tool_use", "mcp_tool_use")},
    **{kind: read_server_result(kind) for kind in SERVER_RESULTS},
    **{kind: _read_opaque(kind) for kind in OPAQUE},
    "search_result": read_search_result,
}


# Request fields.

SHARED: dict[str, str] = {
    "model": "model",
    "max_tokens": "max_tokens",
    "temperature": "temperature",
    "top_p": "top_p",
    "top_k": "top_k",
    "stream": "stream",
    "stop_sequences": "stop",
}

OWN: frozenset[str] = frozenset(
    {
        "betas", "cache_control", "compaction", "container", "context_management", "diagnostics", "fallback_credit_token", "fallbacks",
        "inference_geo", "mcp_servers", "metadata", "output_config", "output_format", "service_tier", "speed", "system", "thinking",
        "thread", "tool_choice", "tools", "transformations", "user_profile_id", *SHARED,
    }
)  # fmt: skip
"""Every request field of Messages beside `messages` (anthropic 2.14.0, beta included). The place is closed (rule AN19)."""


def read_system(value: Leaf, at: At, context: Context) -> Message | None:
    """The top-level `system` as the first message, at its own path."""
    if payload.is_null(value):
        return None
    blocks = context.read_content(value, at, context)
    bare = payload.kind(value) == "text"
    regular = payload.kind(value) == "list" and all(block.intact for block in blocks)
    return Message("system", blocks, at, value, HOME, bare or regular, bare=bare)


KINDS: dict[str, str] = {
    **dict.fromkeys(("max_tokens", "top_k"), "integer"),
    **dict.fromkeys(("temperature", "top_p"), "number"),
    **dict.fromkeys(("stop_sequences", "tools", "betas", "mcp_servers"), "list"),
    **dict.fromkeys(("tool_choice", "output_config", "output_format", "metadata", "thinking", "context_management", "compaction", "thread"), "object"),
    **dict.fromkeys(("service_tier", "inference_geo", "speed"), "text"),
    "stream": "bool", "container": "text|object",
}  # fmt: skip
"""The JSON kinds of the request fields (anthropic 2.14.0)."""


def read_setting(key: str, value: Leaf, at: At) -> Sequence[Setting]:
    """One request field in the hub's words: tools, tool choice, format, effort, thinking and the end user in a neutral form."""
    if key in SHARED:
        return (Setting(SHARED[key], value, at, value, HOME, True),)
    fields = payload.fields(value)
    if key == "tools" and payload.items(value) is not None:
        return [_read_tool(entry, (at, index)) for index, entry in enumerate(payload.objects(value) or ())]
    if key == "tool_choice" and fields is not None:
        return _read_choice(fields, value, at)
    if key == "output_config" and fields is not None:
        return _read_parts(fields, value, at, {"format": ("format", _read_format), "effort": ("effort", _same)})
    if key == "output_format" and fields is not None:
        return (Setting("format", _read_format(value), at, value, HOME, True),)
    if key == "metadata" and fields is not None:
        return _read_parts(fields, value, at, {"user_id": ("end_user", _same)})
    return (Setting(key, value, at, value, HOME, True),)


def _read_parts(fields: Fields, value: Leaf, at: At, known: dict[str, tuple[str, Any]]) -> Sequence[Setting]:
    """A request field that is an object of several settings: each by itself, all written together again."""
    out: list[Setting] = []
    # «metadata.role: Extra inputs are not permitted» (AN19): the field is written anew if it holds more than it may.
    intact = at[-1] != "metadata" or fields.keys() <= known.keys()
    for inner, part in fields.items():
        name, read = known.get(inner, (f"{at[-1]}.{inner}", _same))
        out.append(Setting(name, read(part), (at, inner), value, HOME, intact))
    return out or (Setting("metadata", value, at, value, HOME, True),)


def _same(value: Leaf) -> Any:
    return value


def _read_tool(entry: Leaf, at: At) -> Setting:
    fields = payload.fields(entry) or {}
    if payload.string(fields.get("type")) not in (None, "custom"):
        return Setting("native_tool", entry, at, entry, HOME, True)
    if "input_schema" not in fields:
        # What has no schema is no tool of the caller's (appendix B), and without a type it is none of the server's.
        return Setting("tool", {}, at, entry, HOME)
    names = {"name": "name", "description": "description", "input_schema": "parameters", "strict": "strict"}
    tool = {names[key]: fields[key] for key in names if key in fields}
    return Setting("tool", tool, at, entry, HOME, True, remaining(fields, ("type", *names)))


def _read_choice(fields: Fields, value: Leaf, at: At) -> Sequence[Setting]:
    mode = payload.string(fields.get("type"))
    choice: Any = {"mode": {"any": "required"}.get(mode or "", mode)}
    if mode == "tool":
        choice["name"] = scalar(fields.get("name"))
    out = [Setting("tool_choice", choice, at, value, HOME, True)]
    if payload.is_true(fields.get("disable_parallel_tool_use")):
        out.append(Setting("parallel_calls", False, (at, "disable_parallel_tool_use"), value, HOME, True))
    return out


def _read_format(value: Leaf) -> Any:
    fields = payload.fields(value) or {}
    return {
        "kind": payload.string(fields.get("type")),
        **{key: inner for key, inner in fields.items() if key != "type"},
    }  # keeps: the type is the kind
