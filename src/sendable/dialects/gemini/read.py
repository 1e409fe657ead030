"""Gemini generateContent → hub. Every part and key of the API is named here (google-genai 3.6.1, 2026-11-30), modelled or opaque.

camelCase and snake_case are both read: «snake_case accepted by Google» (GE22). What must not live here: repairs. A reader says what is
there; the rules decide what becomes of it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Literal

import msgspec

from sendable import paths, payload
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
from sendable.dialects import Context, ReadBlock, identifier, is_blank_id, remaining, scalar
from sendable.paths import At
from sendable.payload import Leaf

HOME = "gemini"


def snake(key: str) -> str:
    """`functionCall` → `function_call`: the other spelling that Google takes."""
    return re.sub(r"(?<!^)([A-Z])", lambda match: "_" + match[1].lower(), key)


def _both(keys: str) -> frozenset[str]:
    return frozenset(spelling for key in keys.split() for spelling in (key, snake(key)))


MODELLED = ("text", "functionCall", "functionResponse", "inlineData", "fileData")
"""The data of a part that the hub has a word for."""

OPAQUE = ("executableCode", "codeExecutionResult", "toolCall", "toolResponse", "audioTranscription")
"""The data of a part that only Gemini has: code that it ran, tools that it called itself, what it heard."""

BESIDE = (
    "thought", "thoughtSignature", "mediaResolution", "videoMetadata", "partMetadata", "mediaProcessing", "speechMetadata",
    "documentMetadata", "spreadsheetMetadata", "audioMetadata",
)  # fmt: skip
"""What may stand beside the data of a part."""

DATA: dict[str, str] = {spelling: key for key in (*MODELLED, *OPAQUE) for spelling in (key, snake(key))}
"""Every spelling of the data of a part, and the key that it means."""

_DATA = frozenset(DATA)
_TEXT = _DATA | {"thought"}

INNER: dict[str, frozenset[str]] = {
    outer: _both(keys)
    for outer, keys in {
        "executableCode": "code language id",
        "codeExecutionResult": "outcome output id",
        "toolCall": "id toolType args",
        "toolResponse": "id toolType response",
        "audioTranscription": "text finished languageCode speakerLabel words startOffset endOffset",
        "videoMetadata": "endOffset fps startOffset contentLayers",
        "mediaResolution": "level numTokens",
        "speechMetadata": "speaker style",
        "documentMetadata": "startPage endPage contentLayers",
        "spreadsheetMetadata": "visibleCells sheetIndex contentLayers",
        "audioMetadata": "startOffset endOffset",
    }.items()
}
"""The fields of the objects in a part that the hub does not look into: these places are closed too."""

_INNER_KINDS = {
    **dict.fromkeys(("id", "code", "language", "outcome", "output", "toolType", "tool_type", "text"), "text"),
    **dict.fromkeys(("args", "response"), "object"),
}
_INNER = {spelling: known for outer, known in INNER.items() for spelling in (outer, snake(outer))}
_DOTTED = frozenset(f"{outer}.{key}" for outer, known in _INNER.items() for key in known)
SIGNATURES = ("thoughtSignature", "thought_signature")
PART = (_both(" ".join(BESIDE)) | _DOTTED) - set(SIGNATURES)

_CALL = ("id", "name", "args")
_RESULT = ("id", "name", "response", "parts")
_BLOB = ("data", "mimeType", "mime_type", "displayName", "display_name")
_FILE = ("fileUri", "file_uri", "mimeType", "mime_type", "displayName", "display_name")

_MEDIA = frozenset({*_BLOB, *_FILE})

RESULT_PART = _both("mediaProcessing mediaResolution videoMetadata documentMetadata spreadsheetMetadata audioMetadata")
"""What may stand beside media inside a response (`gen` FunctionResponsePart)."""

KEYS: dict[str, frozenset[str]] = {
    "text": PART,
    "functionCall": PART
    | {f"{outer}.{key}" for outer in _both("functionCall") for key in _both("partialArgs willContinue")},
    "functionResponse": PART
    | {"name", *SIGNATURES}
    | {f"{outer}.{key}" for outer in _both("functionResponse") for key in _both("willContinue scheduling")},
    **dict.fromkeys(("inlineData", "fileData", *OPAQUE), PART | set(SIGNATURES)),
}
"""The fields that a part may have beside what the hub models. The place is closed: «Unknown name "txt"» (`gen`: extra_forbidden)."""


# Parts.


def read_stray(fields: Fields, at: At, context: Context) -> Block:
    """A part that stands among the blocks of another dialect's message: its first data field; any other is a field too many."""
    found = [key for key in fields if key in DATA and not payload.is_null(fields[key])]
    others = {key: fields[key] for key in found[1:]}
    alone = {key: value for key, value in fields.items() if key not in others}  # keeps: the others are put into `extra`
    block = read_parts(alone, at, context)[0]
    if type(block) is Opaque and block.home != HOME:
        return block
    extra = {**(block.extra or {}), **others} or None
    stray: Block = msgspec.structs.replace(block, raw=fields, intact=False, extra=extra)
    return stray


def read_parts(fields: Fields, at: At, context: Context) -> Sequence[Block]:
    """The blocks of one part: one, or one for each data field where several stand in it.

    The signature of such a part belongs to its first call, else to its first block. «Exactly one data field per part» (GE4).
    """
    found = [key for key in fields if key in DATA and not payload.is_null(fields[key])]
    if len(found) == 1:
        return (_read_data(found[0], fields, at, context),)
    if not found:
        return (_read_bare(fields, at, context),)
    beside = {key: value for key, value in fields.items() if key not in DATA}  # keeps: the data are in `found`
    owner = next((key for key in found if DATA[key] == "functionCall"), found[0])
    blocks: list[Block] = []
    for key in found:
        if key == owner:
            block = _read_data(key, {key: fields[key], **beside}, at, context)
        else:
            alone = {key: fields[key]}
            block = _read_data(key, alone, at, context)
            block = msgspec.structs.replace(block, at=(at, key), raw=alone if type(block) is Opaque else fields[key])
        # An opaque part is written as it is, from here on by itself.
        blocks.append(block if type(block) is Opaque else msgspec.structs.replace(block, intact=False))
    return blocks


def _read_data(key: str, fields: Fields, at: At, context: Context) -> Block:
    kind, data = DATA[key], fields[key]
    if kind == "text":
        return read_text(data, fields, at)
    inner = payload.fields(data)
    if inner is None:
        return Opaque(kind, at, fields, HOME)
    if kind == "functionCall":
        return _read_call(key, inner, fields, at, context)
    if kind == "functionResponse":
        return _read_response(key, inner, fields, at, context)
    if kind == "inlineData" or kind == "fileData":
        return read_media(key, inner, fields, at)
    intact = all(payload.kind(inner.get(name)) in (wanted, "null") for name, wanted in _INNER_KINDS.items())
    return Opaque(kind, at, fields, HOME, intact, _inside(_more(fields, _DATA), inner, tuple(INNER[kind]), key))


def _read_bare(fields: Fields, at: At, context: Context) -> Block:
    """A part without data: a thought or signature alone, a block of another dialect, or nothing that is known."""
    kind = payload.string(fields.get("type"))
    if kind is not None and kind in context.blocks:
        return context.blocks[kind](fields, at, context)
    signature = signature_of(fields)
    if signature is not None:
        extra = _more(fields, _beside(fields))
        if payload.is_true(fields.get("thought")):
            return Reasoning("", signature, at, fields, HOME, False, extra)
        return Text("", at, fields, HOME, False, extra, signature)
    return Opaque(kind or "untyped", at, fields, HOME)


def signature_of(fields: Fields) -> Signature | None:
    """The signature of a part, if there is one."""
    key = _signature_key(fields)
    return None if key is None else Signature(HOME, "signature", fields[key])


def _signature_key(fields: Fields) -> str | None:
    for key in SIGNATURES:
        value = fields.get(key)
        if payload.kind(value) == "text" and not payload.is_empty(value):
            return key
    return None


def _beside(fields: Fields) -> frozenset[str]:
    """The fields of a part that its block holds: the data, `thought` on a text, and the one signature."""
    key = _signature_key(fields)
    known = _TEXT if payload.kind(fields.get("thought")) in ("bool", "null") else _DATA
    return known if key is None else known | {key}


def _is_odd(fields: Fields) -> bool:
    """Whether something stands in the place of the signature that is none."""
    return any(
        key in fields and key != _signature_key(fields) and not payload.is_inert(fields[key]) for key in SIGNATURES
    )


def read_text(text: Leaf, fields: Fields, at: At) -> Block:
    """`{"text", "thought"?, "thoughtSignature"?}`: visible text, or what the model thought."""
    if payload.kind(text) != "text":
        return Opaque("text", at, fields, HOME)
    if len(fields) == 1:
        return Text(text, at, fields, HOME, True)
    intact, extra, signature = not _is_odd(fields), _more(fields, _beside(fields)), signature_of(fields)
    if payload.is_true(fields.get("thought")):
        return Reasoning(text, signature, at, fields, HOME, intact, extra)
    return Text(text, at, fields, HOME, intact, extra, signature)


def _more(fields: Fields, held: frozenset[str]) -> Fields | None:
    """What stands beside the data of a part. An object with a field that it should not have is taken apart, field by field."""
    extra = remaining(fields, held)
    if extra is None:
        return None
    out: dict[str, Any] = {}
    for key, value in extra.items():
        inner = payload.fields(value) if key in _INNER else None
        if inner is None or inner.keys() <= _INNER[key]:
            out[key] = value
        else:
            out.update({f"{key}.{name}": part for name, part in inner.items()})
    return out


def _inside(extra: Fields | None, inner: Fields, known: Sequence[str], key: str) -> Fields | None:
    """The unmodelled fields of a part and of its one inner object; the inner ones under the key's own path."""
    more = remaining(inner, tuple(known))
    if more is None:
        return extra
    return {**(extra or {}), **{f"{key}.{name}": value for name, value in more.items()}}


def _read_call(key: str, inner: Fields, fields: Fields, at: At, context: Context) -> Block:
    """`{"functionCall": {"id"?, "name", "args"?}, "thoughtSignature"?}`. Without an id it pairs by name and position (GE9).

    Loses: SHP007.
    """
    call_id, id_key, gone = identifier(inner, "id", (at, key), context)
    named = not is_blank_id(call_id)
    beside = _more(fields, _beside(fields) - {"thought"}) if len(fields) > 1 else None
    extra = _inside(beside, inner, (*_CALL, *gone), key)
    intact = not _is_odd(fields) and not gone and id_key in (None, "id") and (named or payload.is_null(inner.get("id")))
    name = scalar(inner.get("name"))
    return ToolCall(
        call_id if named else None, name, inner.get("args"), at, fields, HOME, intact, extra,
        by_name=not named, signature=signature_of(fields),
    )  # fmt: skip


def _read_response(key: str, inner: Fields, fields: Fields, at: At, context: Context) -> Block:
    """`{"functionResponse": {"id"?, "name", "response", "parts"?}}`. Without an id it pairs by name and position (GE9).

    Loses: SHP007.
    """
    call_id, id_key, gone = identifier(inner, "id", (at, key), context)
    named = not is_blank_id(call_id)
    name = inner.get("name")
    regular_name = payload.kind(name) in ("text", "null")
    known = (*(_RESULT if regular_name else _RESULT[:1] + _RESULT[2:]), *gone)
    extra = _inside(_more(fields, _DATA) if len(fields) > 1 else None, inner, known, key)
    response = inner.get("response")
    error, said = read_result(response)
    regular = regular_name and payload.kind(response) in ("object", "null")
    parts = inner.get("parts")
    more = _read_all(parts, ((at, key), "parts"), context) if not payload.is_null(parts) else ()
    # An empty text beside media says nothing.
    silent = said is None or (bool(more) and payload.is_empty(said))
    content: list[Block] = [*(() if silent else (Text(said, ((at, key), "response"), said),)), *more]
    regular = regular and all(type(block) is Media and block.intact and block.home == HOME for block in more)
    regular = regular and (payload.is_null(parts) or len(payload.items(parts) or ()) == len(more))
    intact = regular and not gone and id_key in (None, "id") and (named or payload.is_null(inner.get("id")))
    return ToolResult(
        call_id if named else None, tuple(content), at, fields, HOME, intact, extra, payload.string(name),
        True if error else None, by_name=not named,
    )  # fmt: skip


_SAID = ("output", "result", "error")


def read_result(response: Leaf) -> tuple[bool, Leaf | None]:
    """Whether a response is an error, and what it says as one text; None if it says nothing.

    «{"output": …}; errors under "error"» (GE8): the value of the one key; any other object is its own JSON text.
    """
    fields = payload.fields(response)
    if fields is None:
        if payload.is_null(response):
            return False, None
        return False, response if payload.kind(response) == "text" else payload.as_json_text(response)
    error = "error" in fields and not payload.is_null(fields["error"])
    if len(fields) == 1:
        key = next(iter(fields))
        if key in _SAID:
            value = fields[key]
            if payload.kind(value) == "text":
                return error, value
            return error, None if payload.is_null(value) else payload.as_json_text(value)
    return error, payload.as_json_text(response) if fields else None


def media_kind(media_type: str | None) -> Literal["image", "document", "audio", "video"]:
    """What kind of media a type is of; a document, if it is none that is seen or heard."""
    family = (media_type or "").partition("/")[0]
    return (
        "image" if family == "image" else "audio" if family == "audio" else "video" if family == "video" else "document"
    )


def _one_of(fields: Fields, *keys: str) -> Any:
    return next((fields[key] for key in keys if not payload.is_null(fields.get(key))), None)


def read_media(key: str, inner: Fields, fields: Fields, at: At) -> Block:
    """`{"inlineData": {"mimeType", "data"}}` or `{"fileData": {"mimeType"?, "fileUri"}}`; a file of Google's own is its id."""
    # What is no text there is a field that nobody can use.
    texts = tuple([name for name in (*_BLOB, *_FILE) if payload.kind(inner.get(name)) in ("text", "null")])
    words = {name: inner.get(name) for name in texts}
    regular = all(name in words for name in inner if name in _MEDIA)
    media_type = payload.string(_one_of(words, "mimeType", "mime_type"))
    name = _one_of(words, "displayName", "display_name")
    extra = _more(fields, _DATA) if len(fields) > 1 else None
    if DATA[key] == "inlineData":
        data = words.get("data")
        if payload.kind(data) == "text":
            extra = _inside(extra, inner, tuple([name for name in texts if name in _BLOB]), key)
            shown = media_type
            if shown is None:
                head = payload.base64_head(data)
                shown = payload.media_type_of(head) if head is not None else None
            intact = regular and media_type is not None
            return Media(media_kind(shown), "base64", data, shown, at, fields, HOME, intact, extra, name)
    else:
        uri = _one_of(words, "fileUri", "file_uri")
        if payload.kind(uri) == "text" and not payload.is_blank(uri):
            extra = _inside(extra, inner, tuple([name for name in texts if name in _FILE]), key)
            source: Literal["file_id", "url"] = "file_id" if _is_own_file(payload.string(uri) or "") else "url"
            return Media(media_kind(media_type), source, uri, media_type, at, fields, HOME, regular, extra, name)
    return Opaque(DATA[key], at, fields, HOME)


def _is_own_file(uri: str) -> bool:
    """Whether a URI is a handle that only Google resolves: an uploaded file, or a bucket."""
    return uri.startswith(("gs://", "files/", "https://generativelanguage.googleapis.com/")) or "://" not in uri


KEYED: dict[str, ReadBlock] = dict.fromkeys(DATA, read_stray)


# Contents.


def claims(fields: Fields) -> bool:
    """Whether an entry is a content of Gemini: it has `parts` and no `content`, or is an empty answer of the model."""
    if "content" in fields:
        return False
    role = fields.get("role")
    usable = payload.is_null(role) or (payload.kind(role) == "text" and not payload.is_blank(role))
    return usable and ("parts" in fields or payload.string(role) == "model")


def is_call(fields: Fields) -> bool:
    """Whether a content holds a call."""
    parts = [payload.fields(part) or {} for part in payload.items(fields.get("parts")) or ()]
    return any("functionCall" in part or "function_call" in part for part in parts)


def read_content(fields: Fields, at: At, context: Context) -> Message:
    """`{"role": "user" | "model", "parts": […]}`; without a role it is the user's (GE1: the Gemini API's default)."""
    stored = payload.string(fields.get("role"))
    role = {None: "user", "model": "assistant"}.get(stored, stored) or "user"
    parts = fields.get("parts")
    blocks = _read_all(parts, (at, "parts"), context)
    extra = remaining(fields, ("role", "parts"))
    intact = stored in (None, "user", "model") and payload.kind(parts) in ("list", "null")
    for block in blocks:
        intact = intact and block.home == HOME and block.intact
    # A part with data of two kinds is two blocks.
    intact = intact and (not blocks or len(blocks) == len(payload.items(parts) or ()))
    return Message(role, blocks, at, fields, HOME, intact, extra)


def _read_all(parts: Leaf, at: At, context: Context) -> tuple[Block, ...]:
    """The parts of a content: a list, or in their place one part or text, as SDKs take them."""
    kind = payload.kind(parts)
    if kind == "object":
        return tuple(read_parts(payload.fields(parts) or {}, at, context))
    if kind != "list":
        return context.read_content(parts, at, context)
    payload.require_finite(parts)
    blocks: list[Block] = []
    for index, part in enumerate(payload.objects(parts) or ()):
        fields = payload.fields(part)
        if fields is None:
            blocks.extend(_read_odd(part, (at, index)))
        else:
            blocks.extend(read_parts(fields, (at, index), context))
    return tuple(blocks)


def _read_odd(part: Leaf, at: At) -> Sequence[Block]:
    """An entry of `parts` that is no part: a text counts as one, as SDKs take it."""
    if payload.kind(part) == "text":
        return (Text(part, at, part),)
    return (Opaque(payload.kind(part), at, part, HOME),)


def read_system(value: Leaf, at: At, context: Context) -> Message | None:
    """`systemInstruction`: a content, whose role says nothing; or, as SDKs take it, a text or a list of parts."""
    if payload.is_null(value):
        return None
    fields = payload.fields(value)
    if fields is not None and "parts" in fields:
        blocks = _read_all(fields["parts"], (at, "parts"), context)
        intact = payload.kind(fields["parts"]) == "list" and len(payload.items(fields["parts"]) or ()) == len(blocks)
        intact = intact and all(block.intact and block.home == HOME for block in blocks)
        return Message("system", blocks, at, value, HOME, intact, remaining(fields, ("role", "parts")))
    if fields is not None and not any(key in DATA for key in fields):
        return Message("system", (), at, value, HOME, False, remaining(fields, ("role",)))
    return Message("system", _read_all(value, at, context), at, value, HOME)


# Request fields.

GENERATION: dict[str, str] = {
    "temperature": "temperature",
    "topP": "top_p",
    "topK": "top_k",
    "maxOutputTokens": "max_tokens",
    "stopSequences": "stop",
    "seed": "seed",
    "candidateCount": "n",
    "presencePenalty": "presence_penalty",
    "frequencyPenalty": "frequency_penalty",
    "responseLogprobs": "logprobs",
    "logprobs": "top_logprobs",
}
"""The fields of `generationConfig` that another dialect has too, in the hub's words."""

_GENERATION = {spelling: name for key, name in GENERATION.items() for spelling in (key, snake(key))}

OWN: frozenset[str] = _both(
    "contents systemInstruction tools toolConfig safetySettings generationConfig cachedContent labels serviceTier store continuationToken"
) | {"model"}
"""Every request field of generateContent (google-genai 3.6.1); `model` stands in the URL and, in many stores, in the body."""

KINDS: dict[str, str] = {
    **dict.fromkeys(_both("generationConfig toolConfig labels"), "object"),
    **dict.fromkeys(_both("tools safetySettings"), "list"),
    **dict.fromkeys(_both("cachedContent"), "text"),
}
"""The JSON kinds of the request fields (google-genai 3.6.1)."""

CLOSED: dict[str, frozenset[str]] = {
    name: _both(keys)
    for name, keys in {
        "generationConfig": "audioTimestamp audioTranscriptionConfig candidateCount enableAffectiveDialog enableEnhancedCivicAnswers "
        "frequencyPenalty imageConfig logprobs maxOutputTokens mediaResolution modelSelectionConfig presencePenalty responseFormat "
        "responseJsonSchema responseLogprobs responseMimeType responseModalities responseSchema routingConfig seed speechConfig "
        "stopSequences temperature thinkingConfig topK topP translationConfig",
        "thinkingConfig": "includeThoughts thinkingBudget thinkingLevel",
        "toolConfig": "functionCallingConfig includeServerSideToolInvocations retrievalConfig",
        "functionCallingConfig": "allowedFunctionNames mode streamFunctionCallArguments",
    }.items()
}
"""What stands in a configuration (google-genai 3.6.1). The places are closed: «Unknown name "zzz" at 'generation_config'»."""

_CLOSED = {spelling: known for name, known in CLOSED.items() for spelling in (name, snake(name))}


def _unknown(key: str, value: Leaf, at: At) -> tuple[Fields, list[Setting]]:
    """A configuration without what Gemini does not know in it, and that as settings of their own, which a closed place strips."""
    kept: dict[str, Any] = {}
    strange: list[Setting] = []
    for name, part in (payload.fields(value) or {}).items():
        if name not in _CLOSED[key]:
            strange.append(Setting(".".join((*map(str, paths.steps(at)), name)), part, (at, name), part, HOME))
        elif name in _CLOSED and payload.fields(part) is not None:
            kept[name], more = _unknown(name, part, (at, name))
            strange.extend(more)
        else:
            kept[name] = part
    return kept, strange


_GROUPS: dict[str, str] = {
    spelling: key for key in ("generationConfig", "toolConfig", "tools") for spelling in (key, snake(key))
}


def read_setting(key: str, value: Leaf, at: At) -> Sequence[Setting]:
    """One request field in the hub's words: generation parameters, tools, tool choice and answer format in a neutral form."""
    group = _GROUPS.get(key)
    out: list[Setting] = []
    if group == "tools":
        for index, entry in enumerate(payload.items(value) or ()):
            out.extend(_read_tool(entry, (at, index)))
    elif group is not None and payload.fields(value) is not None:
        fields, strange = _unknown(key, value, at)
        whole = fields if strange else value
        read = _read_generation if group == "generationConfig" else _read_tool_config
        out.extend([*read(fields, whole, at), *strange])
    return out or (Setting(key, value, at, value, HOME, True),)


def _read_generation(fields: Fields, whole: Leaf, at: At) -> Sequence[Setting]:
    out: list[Setting] = []
    schema_key = next((key for key in fields if snake(key) in ("response_json_schema", "response_schema")), None)
    for key, value in fields.items():
        place = (at, key)
        name = snake(key)
        if key in _GENERATION:
            out.append(Setting(_GENERATION[key], value, place, whole, HOME, True))
        elif name == "thinking_config" and payload.fields(value):
            out.extend(_read_thinking(payload.fields(value) or {}, whole, place))
        elif name == "response_mime_type":
            form = _read_format(value, None if schema_key is None else fields[schema_key], schema_key)
            if form is not None:
                out.append(
                    Setting("format", form, place if schema_key is None else (at, schema_key), whole, HOME, True)
                )
            elif schema_key is None or payload.string(value) != "application/json":
                out.append(Setting(key, value, place, whole, HOME, True))
        elif (
            key == schema_key
            and payload.string(_one_of(fields, "responseMimeType", "response_mime_type")) == "application/json"
        ):
            continue  # keeps: it is read with its media type
        else:
            out.append(Setting(key, value, place, whole, HOME, True))
    return out


def _read_format(media_type: Leaf, schema: Leaf, key: str | None) -> Any:
    """`responseMimeType` with `responseJsonSchema` (JSON Schema) or `responseSchema` (its subset in capitals); None for other types."""
    kind = payload.string(media_type)
    if kind == "text/plain" and key is None:
        return {"kind": "text"}
    if kind != "application/json":
        return None
    if key is None:
        return {"kind": "json_object"}
    return {"kind": "json_schema", "schema": schema if snake(key) == "response_json_schema" else json_schema(schema)}


def _read_thinking(fields: Fields, whole: Leaf, at: At) -> Sequence[Setting]:
    out: list[Setting] = []
    for key, value in fields.items():
        level = payload.string(value)
        if snake(key) == "thinking_level" and level is not None:
            out.append(Setting("effort", level.lower(), (at, key), whole, HOME, True))
        else:
            out.append(Setting(key, value, (at, key), whole, HOME, True))
    return out


_MODES = {"AUTO": "auto", "ANY": "required", "NONE": "none"}


def _read_tool_config(fields: Fields, whole: Leaf, at: At) -> Sequence[Setting]:
    out: list[Setting] = []
    for key, value in fields.items():
        inner = payload.fields(value)
        if snake(key) != "function_calling_config" or inner is None:
            out.append(Setting(key, value, (at, key), whole, HOME, True))
            continue  # keeps: the line above
        for name, part in inner.items():
            if snake(name) == "allowed_function_names" and not _is_one_tool(inner):
                out.append(Setting(name, part, ((at, key), name), whole, HOME, True))
            elif name == "mode":
                mode = payload.string(part) or ""
                choice: Any = {"mode": _MODES.get(mode.upper(), "native")}
                if _is_one_tool(inner):
                    choice = {"mode": "tool", "name": scalar(_allowed(inner)[0])}
                out.append(Setting("tool_choice", choice, ((at, key), name), whole, HOME, True))
            elif snake(name) != "allowed_function_names":
                out.append(Setting(name, part, ((at, key), name), whole, HOME, True))
    return out


def _allowed(fields: Fields) -> Sequence[Any]:
    return payload.items(_one_of(fields, "allowedFunctionNames", "allowed_function_names")) or ()


def _is_one_tool(fields: Fields) -> bool:
    return (payload.string(fields.get("mode")) or "").upper() == "ANY" and len(_allowed(fields)) == 1


TOOLS = _both(
    "codeExecution computerUse enterpriseWebSearch exaAiSearch fileSearch functionDeclarations googleMaps googleSearch googleSearchRetrieval "
    "mcpServers parallelAiSearch retrieval urlContext"
)
"""What an entry of `tools` may hold (google-genai 3.6.1): a closed place."""


def _read_tool(entry: Leaf, at: At) -> Sequence[Setting]:
    """One entry of `tools`: its function declarations, and each tool of Google's own in it."""
    fields = payload.fields(entry)
    if not fields:
        return (Setting("native_tool", entry, at, entry, HOME, True),)
    out: list[Setting] = []
    for key, value in fields.items():
        declared = payload.items(value) if snake(key) == "function_declarations" else None
        if key not in TOOLS:
            out.append(Setting(".".join((*map(str, paths.steps(at)), key)), value, (at, key), value, HOME))
        elif payload.kind(value) not in ("object", "list", "null"):
            out.append(Setting("native_tool", value, (at, key), value, HOME))
        elif snake(key) == "function_declarations" and payload.kind(value) == "object":
            out.append(Setting("tool", {}, (at, key), value, HOME))
        elif not declared:
            alone = {key: value}
            out.append(Setting("native_tool", alone, (at, key), alone, HOME, True))
        else:
            out.extend(_read_declarations(declared, (at, key)))
    return out


def _read_declarations(declared: Sequence[Leaf], at: At) -> Sequence[Setting]:
    out: list[Setting] = []
    for index, declaration in enumerate(declared):
        function = payload.fields(declaration)
        if function is None:
            out.append(Setting("native_tool", declaration, (at, index), declaration, HOME, True))
        else:
            out.append(_read_declaration(function, declaration, (at, index)))
    return out


def _read_declaration(function: Fields, declaration: Leaf, at: At) -> Setting:
    tool: dict[str, Any] = {}
    for key in ("name", "description"):
        if key in function:
            tool[key] = function[key]
    schema = _one_of(function, "parametersJsonSchema", "parameters_json_schema")
    if schema is not None:
        tool["parameters"] = schema
    elif not payload.is_null(function.get("parameters")):
        tool["parameters"] = json_schema(function["parameters"])
    known = ("name", "description", "parameters", "parametersJsonSchema", "parameters_json_schema")
    return Setting("tool", tool, at, declaration, HOME, True, remaining(function, known))


def json_schema(schema: Leaf) -> Any:
    """Google's subset of OpenAPI as JSON Schema: its types are written small (`OBJECT` → `object`), all else is the same."""
    return _small(payload.plain(schema))


def _small(schema: Any) -> Any:
    if isinstance(schema, Mapping):
        return {
            key: _small_type(value) if key == "type" else _small_inside(key, value) for key, value in schema.items()
        }
    return schema


_TYPES = frozenset({"OBJECT", "ARRAY", "STRING", "NUMBER", "INTEGER", "BOOLEAN", "NULL"})


def _small_type(value: Any) -> Any:
    return value.lower() if isinstance(value, str) and value in _TYPES else value


def _small_inside(key: str, value: Any) -> Any:
    if key in ("properties", "$defs", "defs") and isinstance(value, Mapping):
        return {name: _small(inner) for name, inner in value.items()}
    if key in ("items", "additionalProperties"):
        return _small(value)
    if key in ("anyOf", "oneOf", "allOf", "prefixItems") and isinstance(value, list):
        return [_small(inner) for inner in value]
    return value
