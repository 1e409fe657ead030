"""OpenAI Chat Completions → hub. Every part, call and message field that Chat knows is named here (openai 3.57.0, 2026-11-30).

What must not live here: repairs. A reader says what is there; the rules decide what becomes of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sendable import payload
from sendable.codes import ARG005, FLD001, FLD002
from sendable.conversation import (
    Block,
    Fields,
    Media,
    Opaque,
    Reasoning,
    Refusal,
    Setting,
    Signature,
    Text,
    ToolCall,
    changed,
)
from sendable.dialects import Context, ReadBlock, ReadField, identifier, remaining, scalar
from sendable.paths import At
from sendable.payload import Leaf
from sendable.report import Receipt
from sendable.rules.blocks import BOOKKEEPING

HOME = "openai-chat"


def read_text(fields: Fields, at: At, context: Context) -> Block:
    """`{"type":"text","text"}`; a text that is no text is written as the JSON that it is."""
    text = fields.get("text")
    if payload.kind(text) != "text":
        return Opaque("text", at, fields, HOME)
    extra = remaining(fields, ("type", "text")) if len(fields) > 2 else None
    return Text(text, at, fields, context.home, True, extra)


def read_refusal(fields: Fields, at: At, context: Context) -> Block:
    """`{"type":"refusal","refusal"}`."""
    text = fields.get("refusal")
    if payload.kind(text) != "text":
        return Opaque("refusal", at, fields, HOME)
    return Refusal(text, at, fields, HOME, True, remaining(fields, ("type", "refusal")))


def read_image(fields: Fields, at: At, context: Context) -> Block:
    """`{"type":"image_url","image_url":{"url","detail"?}}`; a bare URL in place of the object is read too."""
    inner = payload.fields(fields.get("image_url"))
    url = inner.get("url") if inner is not None else fields.get("image_url")
    if payload.kind(url) != "text":
        return Opaque("image_url", at, fields, HOME)
    extra = _with_inner(remaining(fields, ("type", "image_url")), inner, ("url",), "image_url")
    intact = inner is not None
    split = payload.split_data_url(url)
    if split is not None:
        return Media("image", "base64", split[1], split[0] or None, at, fields, HOME, intact, extra)
    return Media("image", "url", url, None, at, fields, HOME, intact, extra)


_AUDIO_TYPES = {"wav": "audio/wav", "mp3": "audio/mpeg"}


def read_audio(fields: Fields, at: At, context: Context) -> Block:
    """`{"type":"input_audio","input_audio":{"data","format"}}`."""
    inner = payload.fields(fields.get("input_audio"))
    data = inner.get("data") if inner is not None else None
    if inner is None or payload.kind(data) != "text":
        return Opaque("input_audio", at, fields, HOME)
    form = payload.string(inner.get("format"))
    extra = _with_inner(remaining(fields, ("type", "input_audio")), inner, ("data", "format"), "input_audio")
    return Media(
        "audio",
        "base64",
        data,
        _AUDIO_TYPES.get(form or "", f"audio/{form}" if form else None),
        at,
        fields,
        HOME,
        True,
        extra,
    )


def read_file(fields: Fields, at: At, context: Context) -> Block:
    """`{"type":"file","file":{"file_data"|"file_id","filename"?}}`."""
    inner = payload.fields(fields.get("file"))
    if inner is None:
        return Opaque("file", at, fields, HOME)
    data, file_id = inner.get("file_data"), inner.get("file_id")
    extra = _with_inner(remaining(fields, ("type", "file")), inner, ("file_data", "file_id", "filename"), "file")
    name = inner.get("filename")
    if payload.kind(data) == "text":
        split = payload.split_data_url(data)
        media_type, leaf = split if split is not None else (None, data)
        return Media(
            "document",
            "base64" if split is not None else "url",
            leaf,
            media_type,
            at,
            fields,
            HOME,
            payload.is_null(file_id),
            extra,
            name,
        )
    if payload.kind(file_id) == "text":
        return Media("document", "file_id", file_id, None, at, fields, HOME, True, extra, name)
    return Opaque("file", at, fields, HOME)


def _with_inner(extra: Fields | None, inner: Fields | None, known: tuple[str, ...], key: str) -> Fields | None:
    """The unmodelled fields of a part and of its one inner object; the inner ones under the key's own path."""
    more = remaining(inner, known) if inner is not None else None
    if more is None:
        return extra
    return {**(extra or {}), **{f"{key}.{name}": value for name, value in more.items()}}


BLOCKS: dict[str, ReadBlock] = {
    "text": read_text,
    "image_url": read_image,
    "input_audio": read_audio,
    "file": read_file,
    "refusal": read_refusal,
}


def read_calls(value: Leaf, at: At, context: Context) -> Sequence[Block]:
    """`tool_calls`: each entry one call, whatever spelling it uses; fragments of a stream are joined to the call they belong to.

    Loses: ARG005, FLD001, FLD002, SHP007.
    """
    entries = payload.objects(value)
    if entries is None:
        return () if payload.is_null(value) else (Opaque("tool_calls", at, value),)
    calls: list[Block] = []
    for index, entry in enumerate(entries):
        fields = entry if type(entry) is dict else payload.fields(entry)
        place = (at, index)
        if fields is None:
            calls.append(Opaque("tool_calls", place, entry))
        elif not calls or not _joins(calls, fields, place, context):
            calls.append(read_call(fields, place, context))
    return calls


def read_call(fields: Fields, at: At, context: Context) -> Block:
    """One entry of `tool_calls`: Chat's `function` and `custom` forms, and the flat form.

    Loses: SHP007.
    """
    if "custom" in fields and "function" not in fields:
        custom = payload.fields(fields["custom"])
        if custom is not None:
            call_id, key, gone = identifier(fields, "id", at, context)
            intact = key == "id" and not gone and payload.string(fields.get("type")) == "custom"
            extra = remaining(fields, ("id", "type", "custom", *gone))
            return ToolCall(
                call_id, scalar(custom.get("name")), custom.get("input"), at, fields, HOME, intact, extra, kind="custom"
            )
    function = payload.fields(fields.get("function"))
    if function is None:
        if "function" not in fields and "tool_call_id" in fields:
            call_id, key, gone = identifier(fields, "tool_call_id", at, context)
            extra = remaining(fields, ("tool_call_id", "name", "arguments", *gone))
            intact = key == "tool_call_id" and not gone and "name" in fields
            return ToolCall(
                call_id, scalar(fields.get("name")), fields.get("arguments"), at, fields, "flat", intact, extra
            )
        # The call's own fields stand beside its id.
        inner: Fields = fields
        known: tuple[str, ...] = ("id", "type", "name", "arguments")
    else:
        inner = function
        known = ("id", "type", "function")
        everyday = len(fields) == 3 and "id" in fields and "type" in fields
        if everyday and len(function) == 2 and "name" in function and "arguments" in function:
            # Without a look at aliases.
            return ToolCall(scalar(fields["id"]), scalar(function["name"]), function["arguments"], at, fields, HOME,
                            payload.string(fields.get("type")) == "function")  # fmt: skip
    call_id, key, gone = identifier(fields, "id", at, context)
    extra = remaining(fields, (*known, *gone))
    if function is not None:
        extra = _with_inner(extra, function, ("name", "arguments"), "function")
    signature = _signature(fields)
    if signature is not None and extra is not None:
        extra = {key: value for key, value in extra.items() if key != SIGNED} or None  # keeps: it is the signature
    regular = (
        function is not None
        and "name" in function
        and "arguments" in function
        and payload.string(fields.get("type")) == "function"
    )
    return ToolCall(
        call_id,
        scalar(inner.get("name")),
        inner.get("arguments"),
        at,
        fields,
        HOME,
        regular and key == "id" and not gone,
        extra,
        signature=signature,
    )


SIGNED = "extra_content"


def _signature(fields: Fields) -> Signature | None:
    """`extra_content: {google: {thought_signature}}`: where Google's own server that speaks Chat signs a call."""
    inner = payload.fields(fields.get(SIGNED))
    signed = payload.fields(inner.get("google")) if inner is not None and len(inner) == 1 else None
    value = signed.get("thought_signature") if signed is not None and len(signed) == 1 else None
    if payload.kind(value) != "text" or payload.is_blank(value):
        return None
    return Signature("gemini", "signature", value)


def _joins(calls: list[Block], fields: Fields, at: At, context: Context) -> bool:
    """Whether an entry is a later fragment (same `index`, neither id nor name) of the call before it, and was joined to it.

    Its arguments are what is joined; what else it holds, and the index of the call, says nothing about a whole call and goes.

    Loses: ARG005 (a note), FLD001, FLD002.
    """
    last = calls[-1]
    function = payload.fields(fields.get("function"))
    if function is None or type(last) is not ToolCall or type(last.raw) is not dict:
        return False
    index = fields.get("index")
    if payload.is_null(index) or scalar(index) != scalar(last.raw.get("index")):
        return False
    if not payload.is_null(fields.get("id")) or not payload.is_null(function.get("name")):
        return False
    more = function.get("arguments")
    if payload.kind(more) != "text" or payload.kind(last.arguments) not in ("text", "null"):
        return False
    joined = context.ledger.note(ARG005, last, related=(at,))
    if last.extra is not None and "index" in last.extra:
        context.ledger.strip(FLD002, last, ("index",), because=joined)
    for key, value in fields.items():
        if key not in ("function", "type") or (key == "type" and payload.string(value) != last.kind):
            _strip_rest(at, (key,), value, joined, context)
    for key, value in function.items():
        if key != "arguments":
            _strip_rest(at, ("function", key), value, joined, context)
    arguments = more if payload.is_null(last.arguments) else payload.joined((last.arguments, more), "")
    extra = (
        None if last.extra is None else {key: value for key, value in last.extra.items() if key != "index"}
    )  # keeps: reported above
    calls[-1] = changed(last, arguments=arguments, extra=extra or None)
    return True


def _strip_rest(at: At, field: tuple[str, ...], value: Leaf, joined: Receipt, context: Context) -> None:
    """Report a field of a fragment that is joined to its call.

    Loses: FLD001, FLD002.
    """
    if not payload.is_inert(value):
        context.ledger.strip(FLD002 if field[-1] in BOOKKEEPING else FLD001, at, field, because=joined)


def read_function_call(value: Leaf, at: At, context: Context) -> Sequence[Block]:
    """The legacy `function_call`: one call without an id, answered by the next `role: function` message of its name."""
    fields = payload.fields(value)
    if fields is None:
        return () if payload.is_null(value) else (Opaque("function_call", at, value),)
    return (
        ToolCall(None, scalar(fields.get("name")), fields.get("arguments"), at, fields, HOME, False,
                 remaining(fields, ("name", "arguments")), by_name=True),
    )  # fmt: skip


def read_reasoning(value: Leaf, at: At, context: Context) -> Sequence[Block]:
    """`reasoning_content`: readable reasoning, which no Chat provider signs."""
    if payload.kind(value) != "text":
        return () if payload.is_null(value) else (Opaque("reasoning_content", at, value),)
    return () if payload.is_empty(value) else (Reasoning(value, None, at, value, HOME, True),)


def read_other_reasoning(value: Leaf, at: At, context: Context) -> Sequence[Block]:
    """`reasoning`: another spelling of `reasoning_content`. What is no text is not known to be reasoning."""
    if payload.kind(value) != "text":
        return () if payload.is_null(value) else (Opaque("reasoning", at, value, HOME, True),)
    return () if payload.is_empty(value) else (Reasoning(value, None, at, value, HOME, True),)


DETAILS = frozenset({"reasoning.text", "reasoning.summary", "reasoning.encrypted"})


def read_details(value: Leaf, at: At, context: Context) -> Sequence[Block]:
    """`reasoning_details`: the same reasoning once more, in pieces that may be signed or encrypted; only a router's own list can be sent
    back as that."""
    entries = payload.items(value)
    if entries is None:
        return () if payload.is_null(value) else (Opaque("reasoning_details", at, value, HOME, True),)
    if not entries:
        return ()
    texts: list[Leaf] = []
    sealed = False
    for entry in entries:
        fields = payload.fields(entry)
        if fields is None or payload.string(fields.get("type")) not in DETAILS:
            return (Opaque("reasoning_details", at, value, HOME, True),)
        text = next((fields[key] for key in ("text", "summary") if payload.kind(fields.get(key)) == "text"), None)
        if text is not None:
            texts.append(text)
        sealed = sealed or not payload.is_inert(fields.get("signature")) or not payload.is_inert(fields.get("data"))
    if not texts and not sealed:
        return (Opaque("reasoning_details", at, value, HOME, True),)
    signature = Signature("reasoning_details", "signature" if texts else "encrypted", value) if sealed else None
    return (Reasoning(payload.joined(texts, "\n\n") if texts else None, signature, at, value, HOME, True),)


def read_refusal_field(value: Leaf, at: At, context: Context) -> Sequence[Block]:
    """`refusal` beside the content; null says that there was none."""
    if payload.kind(value) != "text":
        return () if payload.is_null(value) else (Opaque("refusal", at, value),)
    return () if payload.is_empty(value) else (Refusal(value, at, value, HOME, True),)


def read_audio_field(value: Leaf, at: At, context: Context) -> Sequence[Block]:
    """`audio`: a handle of an answer's audio, which only its issuer can resolve."""
    if payload.is_null(value):
        return ()
    handle = payload.string((payload.fields(value) or {}).get("id"))
    return (Opaque("audio", at, value, HOME, handle is not None),)


def transcript(block: Opaque) -> Leaf | None:
    """What was said in an answer's audio, if the whole answer was stored and not only its handle."""
    said = (payload.fields(block.raw) or {}).get("transcript")
    return said if payload.kind(said) == "text" and not payload.is_blank(said) else None


BEFORE: dict[str, ReadField] = {
    "reasoning_content": read_reasoning,
    "reasoning": read_other_reasoning,
    "reasoning_details": read_details,
}
AFTER: dict[str, ReadField] = {
    "refusal": read_refusal_field,
    "audio": read_audio_field,
    "function_call": read_function_call,
    "tool_calls": read_calls,
}


# Request fields. The hub's words for what two dialects share; every other field keeps its own name and is Chat's alone.

SHARED: dict[str, str] = {
    "model": "model",
    "max_completion_tokens": "max_tokens",
    "max_tokens": "max_tokens",
    "temperature": "temperature",
    "top_p": "top_p",
    "stream": "stream",
    "safety_identifier": "end_user",
    "user": "end_user",
    "reasoning_effort": "effort",
    "parallel_tool_calls": "parallel_calls",
}

OWN: frozenset[str] = frozenset(
    {
        "audio", "frequency_penalty", "function_call", "functions", "logit_bias", "logprobs", "metadata", "modalities", "moderation", "n",
        "prediction", "presence_penalty", "prompt_cache_key", "prompt_cache_options", "prompt_cache_retention", "seed", "service_tier",
        "store", "stream_options", "top_logprobs", "verbosity", "web_search_options", "stop", "tools", "tool_choice", "response_format",
        *SHARED,
    }
)  # fmt: skip
"""Every request field of Chat beside `messages` (openai 3.57.0). The place is closed: «Unknown parameter: 'zzz'.» (2026-09)."""


KINDS: dict[str, str] = {
    **dict.fromkeys(("max_completion_tokens", "max_tokens", "n", "seed", "top_logprobs"), "integer"),
    **dict.fromkeys(("temperature", "top_p", "frequency_penalty", "presence_penalty"), "number"),
    **dict.fromkeys(("stream", "logprobs", "store", "parallel_tool_calls"), "bool"),
    **dict.fromkeys(("user", "safety_identifier", "reasoning_effort", "service_tier", "verbosity", "prompt_cache_key"), "text"),
    **dict.fromkeys(("tools", "functions", "modalities"), "list"),
    **dict.fromkeys(("response_format", "logit_bias", "metadata", "prediction", "stream_options", "audio", "web_search_options"), "object"),
    "stop": "text|list", "tool_choice": "text|object", "function_call": "text|object",
}  # fmt: skip
"""The JSON kinds of the request fields (openai 3.57.0)."""

NEVER_NULL = frozenset(
    {
        "function_call", "functions", "parallel_tool_calls", "prompt_cache_options", "response_format", "tool_choice", "tools", "user",
        "web_search_options",
    }
)  # fmt: skip
"""Request fields that may be absent and not null, as the types of openai 3.57.0 say; most others may be both."""


def read_setting(key: str, value: Leaf, at: At) -> Sequence[Setting]:
    """One request field in the hub's words: tools, tool choice, format and stop sequences in a neutral form."""
    if key in SHARED:
        return (Setting(SHARED[key], value, at, value, HOME, True),)
    if key == "stop":
        kept: Any = [value] if payload.kind(value) == "text" else value
        return (Setting("stop", kept, at, value, HOME, True),)
    if key == "tools" and payload.items(value) is not None:
        return [_read_tool(entry, (at, index)) for index, entry in enumerate(payload.objects(value) or ())]
    if key == "tool_choice":
        return (Setting("tool_choice", _read_choice(value), at, value, HOME, True),)
    if key == "response_format":
        return (Setting("format", _read_format(value), at, value, HOME, True),)
    return (Setting(key, value, at, value, HOME, True),)


_TOOL = ("name", "description", "parameters", "strict")


def _read_tool(entry: Leaf, at: At) -> Setting:
    fields = payload.fields(entry) or {}
    function = payload.fields(fields.get("function"))
    custom = payload.fields(fields.get("custom"))
    if payload.string(fields.get("type")) == "custom" and custom is not None:
        form = payload.fields(custom.get("format"))
        if payload.kind(custom.get("format")) in ("object", "null"):
            said: dict[str, Any] = {key: custom[key] for key in ("name", "description") if key in custom}
            said["freeform"] = _read_grammar(form) if form is not None else {}
            return Setting("tool", said, at, entry, HOME, True, remaining(custom, ("format", *said)))
    kind = payload.string(fields.get("type"))
    if function is None and custom is None and (kind in (None, "function", "custom") or not str(kind).strip()):
        # It is no tool of anybody's: without a type of its own it has to say what it is in one of these two.
        return Setting("tool", {}, at, entry, HOME)
    if kind != "function" or function is None:
        return Setting("native_tool", entry, at, entry, HOME, True)
    tool = {key: function[key] for key in _TOOL if key in function}
    return Setting("tool", tool, at, entry, HOME, True, remaining(function, _TOOL))


def _read_grammar(form: Fields) -> Fields:
    """The format of a tool's free text: Chat has the grammar in an object of its own."""
    grammar = payload.fields(form.get("grammar"))
    if grammar is None:
        return form
    return {**{key: value for key, value in form.items() if key != "grammar"}, **grammar}  # keeps: it stands beside


def _read_choice(value: Leaf) -> Any:
    """`auto`, `none`, `required`, or a tool by its name."""
    text = payload.string(value)
    if text is not None:
        return {"mode": text}
    fields = payload.fields(value) or {}
    function = payload.fields(fields.get("function"))
    if function is not None:
        return {"mode": "tool", "name": scalar(function.get("name"))}
    custom = payload.fields(fields.get("custom"))
    if custom is not None:
        return {"mode": "tool", "name": scalar(custom.get("name")), "freeform": True}
    # Allowed tools are Chat's own; what says no type is no choice.
    kind = payload.string(fields.get("type"))
    return {"mode": None if kind is None or kind == "function" else "native"}


def _read_format(value: Leaf) -> Any:
    fields = payload.fields(value) or {}
    kind = payload.string(fields.get("type"))
    if kind == "json_schema":
        return {"kind": "json_schema", **(payload.fields(fields.get("json_schema")) or {})}
    return {"kind": kind}
