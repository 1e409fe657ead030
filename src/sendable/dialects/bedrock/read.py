"""Bedrock Converse → hub. Every block kind of the service is named here (botocore 1.44.8, bedrock-runtime 2023-09-30), modelled or opaque.

A block has no `type`: its one key says what it is. What must not live here: repairs. A reader says what is there; the rules decide what
becomes of it.
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Sequence
from typing import Any, Literal

from sendable import payload
from sendable.codes import FLD001, SHP005
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

HOME = "bedrock-converse"

MARK = "cache_control"
"""The hub's word for a cache mark on a block. Converse writes it as a `cachePoint` behind the block."""

WRAPPED = ("guardContent", "citationsContent")
"""Kinds that are text in a wrapping of Converse's own: read as text, with the wrapping as a field."""

MEMBERS: dict[str, frozenset[str]] = {
    kind: frozenset(names.split())
    for kind, names in {
        "cachePoint": "type ttl",
        "searchResult": "source title content citations",
        "toolAddition": "tool",
        "toolRemoval": "tool",
    }.items()
}
"""The fields inside the blocks that stay opaque."""

KEYS: dict[str, frozenset[str]] = {
    kind: frozenset(names.split()) | {MARK}
    for kind, names in {
        "text": "guardContent citationsContent",
        "image": "guardContent image.error",
        "document": "document.context document.citations",
        "video": "",
        "audio": "audio.error",
        "toolUse": "",
        "toolResult": "",
        **dict.fromkeys(MEMBERS, ""),
    }.items()
}
"""The fields of each kind that the hub does not model. The place is closed: botocore refuses an unknown parameter (BE8, schema)."""

MEDIA_TYPES: dict[str, dict[str, str]] = {
    "image": {name: f"image/{name}" for name in ("png", "jpeg", "gif", "webp")},
    "document": {
        "pdf": "application/pdf",
        "csv": "text/csv",
        "doc": "application/msword",
        "docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
        "xls": "application/vnd.ms-excel",
        "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
        "html": "text/html",
        "txt": "text/plain",
        "md": "text/markdown",
    },
    "video": {
        "mp4": "video/mp4",
        "mkv": "video/x-matroska",
        "mov": "video/quicktime",
        "webm": "video/webm",
        "flv": "video/x-flv",
        "mpeg": "video/mpeg",
        "mpg": "video/mpg",
        "wmv": "video/x-ms-wmv",
        "three_gp": "video/3gpp",
    },
    "audio": {
        "mp3": "audio/mpeg",
        "wav": "audio/wav",
        "opus": "audio/opus",
        "aac": "audio/aac",
        "flac": "audio/flac",
        "mp4": "audio/mp4",
        "ogg": "audio/ogg",
        "mkv": "audio/x-matroska",
        "mka": "audio/x-mka",
        "x-aac": "audio/x-aac",
        "m4a": "audio/x-m4a",
        "mpeg": "audio/x-mpeg",
        "mpga": "audio/mpga",
        "pcm": "audio/pcm",
        "webm": "audio/webm",
    },
}
"""The formats of each kind of media (BE14, BE15), and the media type of each."""


def _rest(fields: Fields, kind: str, modelled: tuple[str, ...], inner: Fields | None = None) -> Fields | None:
    """What a block holds beside its one key, and inside it beside what is modelled; the latter under `kind.name`."""
    extra = remaining(fields, (kind,)) if len(fields) > 1 else None
    inside = fields.get(kind) if inner is None else inner
    more = remaining(inside, modelled) if type(inside) is dict else None
    if more is None:
        return extra
    return {**(extra or {}), **{f"{kind}.{name}": value for name, value in more.items()}}


def _has(value: Leaf, shape: Any) -> bool:
    """Whether a value has a shape: "text", "number" or "bool"; a list of one shape; an object of some of these members; None is anything."""
    if shape is None:
        return True
    if type(shape) is str:
        return payload.kind(value) == shape
    if type(shape) is list:
        parts = payload.items(value)
        return parts is not None and all(_has(part, shape[0]) for part in parts)
    fields = payload.fields(value)
    return fields is not None and all(key in shape and _has(part, shape[key]) for key, part in fields.items())


_SPAN = {"documentIndex": "number", "searchResultIndex": "number", "start": "number", "end": "number"}
_TEXTS = [{"text": "text"}]
_CITATIONS = [
    {
        "title": "text",
        "source": "text",
        "sourceContent": _TEXTS,
        "location": {
            "web": {"url": "text", "domain": "text"},
            "documentChar": _SPAN,
            "documentPage": _SPAN,
            "documentChunk": _SPAN,
            "searchResultLocation": _SPAN,
        },
    }
]
_TOOL_REFERENCE = {"type": "text", "name": "text", "serverName": "text"}
_ENABLED = {"enabled": "bool"}
_ERROR = {"message": "text"}


def _shaped(inner: Fields, kind: str, shapes: dict[str, Any], at: At, context: Context) -> Fields:
    """The members of a block without those that the service would refuse.

    Loses: FLD001.
    """
    wrong = [key for key, shape in shapes.items() if key in inner and not _has(inner[key], shape)]
    for key in wrong:
        if not payload.is_inert(inner[key]):
            context.ledger.strip(FLD001, at, (kind, key))
    return inner if not wrong else {key: value for key, value in inner.items() if key not in wrong}  # keeps: reported


def read_text(fields: Fields, at: At, context: Context) -> Block:
    """`{"text"}`."""
    text = fields.get("text")
    if payload.kind(text) != "text":
        return Opaque("text", at, fields, HOME)
    return Text(text, at, fields, HOME, True, remaining(fields, ("text",)) if len(fields) > 1 else None)


def read_json(fields: Fields, at: At, context: Context) -> Block:
    """`{"json"}` in a tool result: its JSON text, which at home is written as the value that it is.

    Loses: SHP005 (where it stands outside a result).
    """
    value = fields.get("json")
    text = payload.as_json_text(value)
    inside = len(at[0]) == 3 and at[0][1] == "toolResult"
    if not inside:
        context.ledger.degrade(SHP005, at, ("json",))
    extra = remaining(fields, ("json",)) if len(fields) > 1 else None
    return Text("" if text is None else text, at, fields, HOME, inside, extra)


def read_reasoning(fields: Fields, at: At, context: Context) -> Block:
    """`{"reasoningContent": {"reasoningText": {"text","signature"?}}}`, or `{"redactedContent"}`.

    Only Claude signs; what other models think comes back without a signature (BE17).
    """
    inner = payload.fields(fields.get("reasoningContent"))
    said = payload.fields(inner.get("reasoningText")) if inner is not None else None
    if inner is not None and said is not None and payload.kind(said.get("text")) == "text":
        signature = said.get("signature")
        signed = payload.kind(signature) == "text" and not payload.is_blank(signature)
        extra = _rest(fields, "reasoningContent", ("reasoningText",), inner)
        # What stands in its place and is no text is no signature: a field like any other.
        more = remaining(said, ("text", "signature") if payload.kind(signature) in ("text", "null") else ("text",))
        if more is not None:
            extra = {
                **(extra or {}),
                **{f"reasoningContent.reasoningText.{name}": value for name, value in more.items()},
            }
        return Reasoning(
            said["text"],
            Signature(HOME, "signature", signature) if signed else None,
            at,
            fields,
            HOME,
            signed or "signature" not in said,
            extra,
        )
    redacted = inner.get("redactedContent") if inner is not None else None
    if inner is not None and payload.kind(redacted) == "text" and not payload.is_blank(redacted):
        extra = _rest(fields, "reasoningContent", ("redactedContent",), inner)
        return Reasoning(None, Signature(HOME, "redacted", redacted), at, fields, HOME, True, extra)
    return Opaque("reasoningContent", at, fields, HOME)


def read_tool_use(fields: Fields, at: At, context: Context) -> Block:
    """`{"toolUse": {"toolUseId","name","input"}}`; with `type: server_tool_use` a call that the provider executed.

    The type `tool_use` stands in recorded requests and says nothing.

    Loses: SHP007.
    """
    inner = payload.fields(fields.get("toolUse"))
    if inner is None:
        return Opaque("toolUse", at, fields, HOME)
    # In here `id` can be nothing but the call's.
    own = "id" if "id" in inner and "toolUseId" not in inner else "toolUseId"
    call_id, key, gone = identifier(inner, own, (at, "toolUse"), context)
    kind = payload.string(inner.get("type"))
    typed = ("type",) if kind in ("tool_use", "server_tool_use") else ()
    extra = _rest(fields, "toolUse", (own, "toolUseId", "name", "input", *typed, *gone), inner)
    intact = key == "toolUseId" and not gone and "name" in inner and "input" in inner
    name, arguments = scalar(inner.get("name")), inner.get("input")
    if kind == "server_tool_use":
        return ToolCall(call_id, name, arguments, at, fields, HOME, intact, extra, "server_tool_use", "provider")
    return ToolCall(call_id, name, arguments, at, fields, HOME, intact, extra)


STATUS = {"success": False, "error": True}


def read_tool_result(fields: Fields, at: At, context: Context) -> Block:
    """`{"toolResult": {"toolUseId","content","status"?}}`; with a `type` of its own the result of a call that the provider executed.

    Loses: SHP007.
    """
    inner = payload.fields(fields.get("toolResult"))
    if inner is None:
        return Opaque("toolResult", at, fields, HOME)
    own = "id" if "id" in inner and "toolUseId" not in inner else "toolUseId"
    call_id, key, gone = identifier(inner, own, (at, "toolResult"), context)
    content = context.read_content(inner.get("content"), (at, "toolResult", "content"), context)
    status = payload.string(inner.get("status"))
    known = ("status",) if status in STATUS or payload.is_null(inner.get("status")) else ()
    kind = payload.string(inner.get("type"))
    typed = ("type",) if kind is not None else ()
    extra = _rest(fields, "toolResult", (own, "toolUseId", "content", *known, *typed, *gone), inner)
    intact = (
        key == "toolUseId" and not gone and payload.kind(inner.get("content")) == "list"
        and ("status" not in inner or status in STATUS)
        and all(block.intact and block.home == HOME for block in content)
    )  # fmt: skip
    error = STATUS.get(status or "")
    if kind not in (None, "tool_result"):
        return ToolResult(
            call_id, content, at, fields, HOME, intact, extra, error=error, kind=kind or "", executor="provider"
        )
    return ToolResult(call_id, content, at, fields, HOME, intact, extra, error=error)


def read_media(kind: Literal["image", "document", "video", "audio"]) -> ReadBlock:
    """`{"image": {"format","source"}}` and its like: inline bytes (base64 on the wire, BE16), a place in S3, or the text of a document."""

    def read(fields: Fields, at: At, context: Context) -> Block:
        stored = payload.fields(fields.get(kind))
        found = _read_source(kind, stored) if stored is not None else None
        if stored is None or found is None:
            return Opaque(kind, at, fields, HOME)
        inner = _shaped(stored, kind, {"error": _ERROR, "context": "text", "citations": _ENABLED}, at, context)
        source, data, rest = found
        form = payload.string(inner.get("format"))
        media_type = MEDIA_TYPES[kind].get(form or "")
        name = inner.get("name") if kind == "document" else None
        named = ("name",) if kind == "document" and payload.kind(name) in ("text", "null") else ()
        extra = _rest(fields, kind, ("format", "source", *named), inner)
        if rest is not None:
            extra = {**(extra or {}), **{f"{kind}.source.{key}": value for key, value in rest.items()}}
        intact = (
            inner is stored
            and (media_type is not None or (kind == "document" and "format" not in inner))
            and (kind != "document" or payload.kind(name) == "text")
        )
        return Media(kind, source, data, media_type, at, fields, HOME, intact, extra, name if named else None)

    return read


def _read_source(kind: str, inner: Fields) -> tuple[Literal["base64", "file_id", "text"], Leaf, Fields | None] | None:
    """What a source holds, in the hub's terms, and what else stands in it; None if it holds nothing that can be read."""
    source = payload.fields(inner.get("source"))
    if source is None:
        return None
    if "bytes" in source:
        data = _bytes(source["bytes"])
        return None if data is None else ("base64", data, remaining(source, ("bytes",)))
    if "s3Location" in source:
        place = payload.fields(source["s3Location"])
        uri = place.get("uri") if place is not None else None
        # A place in S3 is what a file id is elsewhere: only AWS can resolve it.
        if place is None or payload.kind(uri) != "text":
            return None
        rest = remaining(source, ("s3Location",))
        more = remaining(place, ("uri", "bucketOwner"))
        if more is not None:
            rest = {**(rest or {}), **{f"s3Location.{key}": value for key, value in more.items()}}
        return "file_id", uri, rest
    if kind == "document" and payload.kind(source.get("text")) == "text":
        return "text", source["text"], remaining(source, ("text",))
    if kind == "document" and payload.items(source.get("content")) is not None:
        parts = [(payload.fields(part) or {}).get("text") for part in payload.items(source["content"]) or ()]
        if parts and all(payload.kind(part) == "text" for part in parts):
            regular = _has(source["content"], _TEXTS)
            return "text", payload.joined(parts, "\n\n"), remaining(source, ("content",) if regular else ())
    return None


def _bytes(value: Leaf) -> Leaf | None:
    """Bytes as base64. They are that on the wire; the store of a JavaScript client holds an object of numbered bytes (recorded)."""
    if payload.kind(value) == "text":
        return value
    fields = payload.plain(value) if payload.kind(value) == "object" else None
    if not fields or list(fields) != [str(index) for index in range(len(fields))]:
        return None
    numbers = list(fields.values())
    if not all(type(number) is int and 0 <= number < 256 for number in numbers):
        return None
    return base64.b64encode(bytes(numbers)).decode()


def read_guard(fields: Fields, at: At, context: Context) -> Block:
    """`{"guardContent": {"text": {"text","qualifiers"?}}}` or an image: what a guardrail is to look at, and content like any other."""
    inner = payload.fields(fields.get("guardContent")) or {}
    said = payload.fields(inner.get("text"))
    rest = remaining(fields, ("guardContent",)) or {}
    if len(inner) == 1 and said is not None and payload.kind(said.get("text")) == "text":
        regular = _has(said, {"text": "text", "qualifiers": ["text"]})
        # A wrapping that the service would refuse goes under another name, so that it is stripped.
        extra = {"guardContent" if regular else "guardContent.text": fields["guardContent"], **rest}
        return Text(said["text"], at, fields, HOME, regular, extra)
    image = payload.fields(inner.get("image"))
    regular = _has(image, {"format": "text", "source": {"bytes": None}}) and len(inner) == 1
    found = _read_source("image", image) if image is not None and regular else None
    media_type = MEDIA_TYPES["image"].get(payload.string(image.get("format")) or "") if image is not None else None
    if found is None or media_type not in ("image/png", "image/jpeg"):
        return Opaque("guardContent", at, fields, HOME)
    extra = {"guardContent": fields["guardContent"], **rest}
    return Media("image", found[0], found[1], media_type, at, fields, HOME, True, extra)


def read_citations(fields: Fields, at: At, context: Context) -> Block:
    """`{"citationsContent": {"content": [{"text"}], "citations"}}`: what the model said, and where it has it from."""
    inner = payload.fields(fields.get("citationsContent")) or {}
    parts = [(payload.fields(part) or {}).get("text") for part in payload.items(inner.get("content")) or ()]
    if not parts or not all(payload.kind(part) == "text" for part in parts):
        return Opaque("citationsContent", at, fields, HOME)
    rest = _rest(fields, "citationsContent", ("content", "citations"), inner) or {}
    if not _has(inner["content"], _TEXTS):
        rest = {**rest, "citationsContent.content": inner["content"]}
    kept = _shaped(inner, "citationsContent", {"citations": _CITATIONS}, at, context)
    extra = {"citationsContent": fields["citationsContent"], **rest} if kept is inner else rest
    return Text(payload.joined(parts, ""), at, fields, HOME, kept is inner, extra)


def read_cache_point(fields: Fields, at: At, context: Context) -> Block:
    """`{"cachePoint": {"type": "default", "ttl"?}}`: a mark on what stands before it, in the hub's words beside its own."""
    inner = payload.fields(fields.get("cachePoint"))
    if inner is None or not is_cache_point(inner):
        return Opaque("cachePoint", at, fields, HOME)
    extra = _rest(fields, "cachePoint", tuple(MEMBERS["cachePoint"]), inner)
    # A second mark on the mark says the same; the block is then written anew.
    return Opaque("cachePoint", at, fields, HOME, MARK not in fields, {**(extra or {}), MARK: mark_of(inner)})


def is_cache_point(inner: Fields) -> bool:
    """Whether a cache point has the form that the service knows."""
    return payload.string(inner.get("type")) == "default" and (
        "ttl" not in inner or payload.string(inner["ttl"]) in ("5m", "1h")
    )


def mark_of(inner: Fields) -> dict[str, Any]:
    """A cache point in the hub's words."""
    return {"type": "ephemeral", **({"ttl": payload.string(inner["ttl"])} if "ttl" in inner else {})}


def read_search_result(fields: Fields, at: At, context: Context) -> Block:
    """`{"searchResult": {"source","title","content": [{"text"}]}}`."""
    inner = payload.fields(fields.get("searchResult")) or {}
    parts = payload.items(inner.get("content"))
    intact = (
        payload.kind(inner.get("source")) == "text" and payload.kind(inner.get("title")) == "text" and parts is not None
        and all(payload.kind((payload.fields(part) or {}).get("text")) == "text" for part in parts)
        and _has(parts, _TEXTS) and ("citations" not in inner or _has(inner["citations"], _ENABLED))
    )  # fmt: skip
    extra = _rest(fields, "searchResult", tuple(MEMBERS["searchResult"]), inner)
    return Opaque("searchResult", at, fields, HOME, intact, extra)


def _read_opaque(kind: str) -> ReadBlock:
    def read(fields: Fields, at: At, context: Context) -> Block:
        inner = payload.fields(fields.get(kind))
        intact = inner is not None and "tool" in inner and _has(inner["tool"], _TOOL_REFERENCE)
        return Opaque(kind, at, fields, HOME, intact, _rest(fields, kind, tuple(MEMBERS[kind]), inner))

    return read


OPAQUE = ("toolAddition", "toolRemoval")
"""Kinds that only Converse has and that the hub does not model; `searchResult` and `cachePoint` are opaque too, but can cross."""

KEYED: dict[str, ReadBlock] = {
    "text": read_text,
    "toolUse": read_tool_use,
    "toolResult": read_tool_result,
    "reasoningContent": read_reasoning,
    "image": read_media("image"),
    "document": read_media("document"),
    "video": read_media("video"),
    "audio": read_media("audio"),
    "json": read_json,
    "cachePoint": read_cache_point,
    "guardContent": read_guard,
    "citationsContent": read_citations,
    "searchResult": read_search_result,
    **{kind: _read_opaque(kind) for kind in OPAQUE},
}
"""Every member of ContentBlock and of ToolResultContentBlock."""


# Request fields.

OWN: frozenset[str] = frozenset(
    {
        "additionalModelRequestFields", "additionalModelResponseFieldPaths", "guardrailConfig", "inferenceConfig", "modelId", "outputConfig",
        "performanceConfig", "projectIdentifier", "promptVariables", "requestMetadata", "serviceTier", "system", "toolConfig",
    }
)  # fmt: skip
"""Every request field of Converse beside `messages`. The place is closed (BE8)."""


def read_system(value: Leaf, at: At, context: Context) -> Message | None:
    """The top-level `system` as the first message, at its own path."""
    if payload.is_null(value):
        return None
    blocks = context.read_content(value, at, context)
    return Message("system", blocks, at, value, HOME, payload.kind(value) == "list")


def read_setting(key: str, value: Leaf, at: At) -> Sequence[Setting]:
    """One request field in the hub's words: each part of a configuration is a setting of its own."""
    if key in ("modelId", "model") and payload.kind(value) != "text":
        # Nothing is judged in the name of a model but that it is one.
        return (Setting("modelId", value, at, value),)
    if key == "modelId":
        return (Setting("model", value, at, value, HOME, True),)
    if key in _EVERYWHERE:
        # A word of the other dialects, in a body that is nobody's by its shape: the value is written under the own key, without an entry.
        kept: Any = [value] if key == "stop" and payload.kind(value) == "text" else value
        return (Setting(_EVERYWHERE[key], kept, at, value),)
    fields = payload.fields(value)
    if key in _OBJECTS and fields is None:
        # What is no object cannot be sent. One that says nothing goes without a word.
        return (Setting(key, value, at, value),)
    if key == "toolConfig" and fields is not None:
        return _read_tools(fields, at)
    if key in _PARTS and fields:
        return tuple(_read_part(key, name, part, (at, name)) for name, part in fields.items())
    return (Setting(key, value, at, value, HOME, True),)


_EVERYWHERE = {
    "model": "model",
    "max_tokens": "max_tokens",
    "temperature": "temperature",
    "top_p": "top_p",
    "top_k": "top_k",
    "stop": "stop",
    "stop_sequences": "stop",
}

_OBJECTS = frozenset(
    {
        "additionalModelRequestFields", "guardrailConfig", "inferenceConfig", "outputConfig", "performanceConfig", "promptVariables",
        "requestMetadata", "serviceTier", "toolConfig",
    }
)  # fmt: skip


def _is_number(value: Leaf) -> bool:
    return payload.kind(value) == "number"


def _is_text(value: Leaf) -> bool:
    return payload.kind(value) == "text"


def _is_texts(value: Leaf) -> bool:
    parts = payload.items(value)
    return parts is not None and all(payload.kind(part) == "text" and not payload.is_empty(part) for part in parts)


def _is_any(value: Leaf) -> bool:
    return True


_PARTS: dict[str, dict[str, tuple[str, Callable[[Leaf], bool]]]] = {
    "inferenceConfig": {
        "maxTokens": ("max_tokens", _is_number),
        "temperature": ("temperature", _is_number),
        "topP": ("top_p", _is_number),
        "stopSequences": ("stop", _is_texts),
    },
    "outputConfig": {"textFormat": ("format", _is_any), "effort": ("effort", _is_text)},
    "additionalModelRequestFields": {"thinking": ("thinking", _is_any), "top_k": ("top_k", _is_any)},
}
"""The hub's word for each part of a configuration, and what its value has to be."""


def _read_part(key: str, name: str, value: Leaf, at: At) -> Setting:
    word, fits = _PARTS[key].get(name, (name, _is_any))
    if not fits(value):
        return Setting(f"{key}.{name}", value, at, value)
    if word == "format":
        neutral = _read_format(value)
        if neutral is None:
            return Setting(f"{key}.{name}", value, at, value, HOME, True)
        return Setting("format", neutral, at, value, HOME, True)
    if key != "additionalModelRequestFields" and name not in _PARTS[key]:
        # A closed place: an unknown member is refused.
        return Setting(f"{key}.{name}", value, at, value)
    return Setting(word if name in _PARTS[key] else f"{key}.{name}", value, at, value, HOME, True)


def _read_format(value: Leaf) -> Any:
    """`{"type": "json_schema", "structure": {"jsonSchema": {"schema": TEXT, …}}}` with the schema as the object that the text holds."""
    fields = payload.fields(value) or {}
    structure = payload.fields(fields.get("structure")) or {}
    inner = payload.fields(structure.get("jsonSchema"))
    if payload.string(fields.get("type")) != "json_schema" or inner is None:
        return None
    schema = payload.arguments_value(inner.get("schema"))
    if schema is None or payload.kind(schema) != "object":
        return None
    return {"kind": "json_schema", **inner, "schema": schema}


def _read_tools(fields: Fields, at: At) -> Sequence[Setting]:
    """`toolConfig`: each tool, each cache point between them, and the choice."""
    out: list[Setting] = []
    for key, value in fields.items():
        place = (at, key)
        entries = payload.items(value)
        if key == "tools" and entries is not None:
            out.extend(_read_tool(entry, (place, index)) for index, entry in enumerate(entries))
        elif key == "toolChoice" and (choice := _read_choice(value)) is not None:
            out.append(Setting("tool_choice", choice, place, value, HOME, True))
        else:
            out.append(Setting(f"toolConfig.{key}", value, place, value))
    return out


def _read_tool(entry: Leaf, at: At) -> Setting:
    fields = payload.fields(entry) or {}
    spec = payload.fields(fields.get("toolSpec"))
    schema = payload.fields(spec.get("inputSchema")) if spec is not None else None
    if spec is not None and schema is not None and "json" in schema and payload.kind(spec.get("name")) == "text":
        tool: dict[str, Any] = {key: spec[key] for key in ("name", "description", "strict") if key in spec}
        tool["name"] = scalar(spec["name"])
        tool["parameters"] = schema["json"]
        extra = remaining(spec, ("name", "description", "inputSchema", "strict"))
        more = {f"toolSpec.{key}": value for key, value in extra.items()} if extra is not None else None
        beside = remaining(schema, ("json",))
        if beside is not None:
            more = {**(more or {}), **{f"toolSpec.inputSchema.{key}": value for key, value in beside.items()}}
        # With a member that the service does not know it is nobody's own tool, so that the member is stripped.
        return Setting("tool", tool, at, entry, HOME if more is None else None, more is None, more)
    point = payload.fields(fields.get("cachePoint"))
    if point is not None and is_cache_point(point):
        return Setting("cache_mark", mark_of(point), at, entry, HOME, True)
    system_tool = payload.fields(fields.get("systemTool"))
    return Setting("native_tool", entry, at, entry, HOME if system_tool is not None else None, system_tool is not None)


def _read_choice(value: Leaf) -> Any:
    """`{"auto": {}}`, `{"any": {}}` or `{"tool": {"name"}}`; None for anything else."""
    fields = payload.fields(value) or {}
    if "auto" in fields:
        return {"mode": "auto"}
    if "any" in fields:
        return {"mode": "required"}
    tool = payload.fields(fields.get("tool"))
    return {"mode": "tool", "name": scalar(tool.get("name"))} if tool is not None else None
