"""OpenAI Responses → hub. Every item and every part of the API is named here (openai 3.57.0, 2026-11-30), modelled or opaque.

An item is a message of its own: what is said, thought, called or returned stands in a list of items and not inside one message. That is
how an untouched item is written as it came; `rules/turns.py` makes one message of a run of items for targets that have real turns.
What must not live here: repairs. A reader says what is there; the rules decide what becomes of it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from sendable import payload
from sendable.conversation import (
    Block,
    Fields,
    Media,
    Message,
    Opaque,
    Reasoning,
    Refusal,
    Role,
    Setting,
    Signature,
    Text,
    ToolCall,
    ToolResult,
)
from sendable.dialects import Context, ReadBlock, identifier, remaining, scalar
from sendable.paths import At
from sendable.payload import Leaf

HOME = "openai-responses"

KEYS: dict[str, frozenset[str]] = {
    kind: frozenset(("type", *keys.split()))
    for kind, keys in {
        # Parts of content.
        "input_text": "text prompt_cache_breakpoint",
        "input_image": "image_url file_id detail prompt_cache_breakpoint",
        "input_file": "file_id file_data file_url filename detail prompt_cache_breakpoint",
        "output_text": "text annotations logprobs",
        "refusal": "refusal",
        # Items.
        "message": "role content id status phase",
        "reasoning": "id summary content encrypted_content status",
        "function_call": "id call_id name arguments namespace caller async status",
        "function_call_output": "id call_id output name namespace caller status",
        # `status` is in no type, and was accepted (recorded: responsesCustomToolCallStreamingParam).
        "custom_tool_call": "id call_id name input namespace caller async status",
        "custom_tool_call_output": "id call_id output caller status",
        "local_shell_call": "id call_id action status",
        "local_shell_call_output": "id call_id output status",
        "shell_call": "id call_id action environment caller status",
        "shell_call_output": "id call_id output max_output_length caller status",
        "apply_patch_call": "id call_id operation caller status",
        "apply_patch_call_output": "id call_id output caller status",
        "computer_call": "id call_id action actions pending_safety_checks status",
        "computer_call_output": "id call_id output acknowledged_safety_checks status",
        "file_search_call": "id queries results status",
        "web_search_call": "id action status",
        "tool_search_call": "id call_id arguments execution status",
        "tool_search_output": "id call_id tools execution status",
        "additional_tools": "id role tools",
        "configuration_update": "id reasoning text",
        "compaction": "id encrypted_content",
        "compaction_trigger": "id",
        "image_generation_call": "id result status action background error output_format quality revised_prompt size svg_usage",
        "code_interpreter_call": "id code container_id outputs status",
        "mcp_list_tools": "id server_label tools error",
        "mcp_approval_request": "id arguments name server_label",
        "mcp_approval_response": "id approval_request_id approve reason",
        "mcp_call": "id arguments name server_label approval_request_id error output status",
        "item_reference": "id",
        "program": "id call_id code fingerprint",
        "program_output": "id call_id result status",
    }.items()
}  # fmt: skip
"""The kinds of part and item and the fields of each. Output-only fields (`created_by`) are in no request type (OR27)."""


# Parts.


def read_text(kind: str) -> ReadBlock:
    """`{"type":"input_text","text"}` or `{"type":"output_text","text","annotations","logprobs"}`; `text` is Chat's word, and is respelled."""

    def read(fields: Fields, at: At, context: Context) -> Block:
        text = fields.get("text")
        if payload.kind(text) != "text":
            return Opaque(kind, at, fields, HOME)
        extra = remaining(fields, ("type", "text")) if len(fields) > 2 else None
        return Text(text, at, fields, HOME, kind != "text", extra)

    return read


_ANNOTATIONS: dict[str, dict[str, str]] = {
    "file_citation": {"file_id": "text", "filename": "text", "index": "number"},
    "url_citation": {"url": "text", "title": "text", "start_index": "number", "end_index": "number"},
    "container_file_citation": {
        "container_id": "text", "file_id": "text", "filename": "text", "start_index": "number", "end_index": "number",
    },
    "file_path": {"file_id": "text", "index": "number"},
}  # fmt: skip
"""Citations (appendix A)."""


def is_sound(key: str, value: Leaf) -> bool:
    """Whether the citations, log probabilities or cache mark of a text are in the form in which the API gives and takes them."""
    if key == "prompt_cache_breakpoint":
        mark = payload.fields(value)
        return mark is not None and set(mark) == {"mode"} and payload.string(mark["mode"]) == "explicit"
    entries = payload.items(value)
    if entries is None:
        return payload.is_null(value) and key != "annotations"
    for entry in entries:
        fields = payload.fields(entry)
        if fields is None:
            return False
        if key == "annotations":
            form = _ANNOTATIONS.get(payload.string(fields.get("type")) or "")
            if form is None or any(payload.kind(fields.get(name)) != kind for name, kind in form.items()):
                return False
    return True


def read_refusal(fields: Fields, at: At, context: Context) -> Block:
    """`{"type":"refusal","refusal"}`."""
    text = fields.get("refusal")
    if payload.kind(text) != "text":
        return Opaque("refusal", at, fields, HOME)
    return Refusal(text, at, fields, HOME, True, remaining(fields, ("type", "refusal")))


def read_image(fields: Fields, at: At, context: Context) -> Block:
    """`{"type":"input_image","image_url"|"file_id","detail"?}`; an object in place of the URL is read too."""
    inner = payload.fields(fields.get("image_url"))
    url = inner.get("url") if inner is not None else fields.get("image_url")
    extra = remaining(fields, ("type", "image_url", "file_id"))
    if inner is not None:
        more = remaining(inner, ("url",))
        extra = {**(extra or {}), **{f"image_url.{key}": value for key, value in (more or {}).items()}} or None
    alone = payload.is_null(fields.get("file_id"))
    if payload.kind(url) == "text":
        if not alone:
            extra = {**(extra or {}), "file_id": fields["file_id"]}
        split = payload.split_data_url(url)
        if split is not None:
            return Media("image", "base64", split[1], split[0] or None, at, fields, HOME, inner is None, extra)
        return Media("image", "url", url, None, at, fields, HOME, inner is None, extra)
    if payload.kind(fields.get("file_id")) == "text":
        return Media("image", "file_id", fields["file_id"], None, at, fields, HOME, inner is None, extra)
    return Opaque("input_image", at, fields, HOME)


def read_file(fields: Fields, at: At, context: Context) -> Block:
    """`{"type":"input_file","file_data"|"file_url"|"file_id","filename"?}`."""
    sources = [key for key in ("file_data", "file_url", "file_id") if payload.kind(fields.get(key)) == "text"]
    if not sources:
        return Opaque("input_file", at, fields, HOME)
    key, name = sources[0], fields.get("filename")
    extra = remaining(fields, ("type", "filename", key))
    if key == "file_id":
        return Media("document", "file_id", fields[key], None, at, fields, HOME, True, extra, name)
    split = payload.split_data_url(fields[key]) if key == "file_data" else None
    if split is not None:
        return Media("document", "base64", split[1], split[0] or None, at, fields, HOME, True, extra, name)
    # Bare base64 is refused («Expected a base64-encoded data URL»): it is written as one.
    source: Any = "base64" if key == "file_data" else "url"
    return Media("document", source, fields[key], None, at, fields, HOME, key == "file_url", extra, name)


def read_screenshot(fields: Fields, at: At, context: Context) -> Block:
    """`{"type":"computer_screenshot","image_url"|"file_id"}`, which stands in outputs of a computer only."""
    block = read_image(fields, at, context)
    return Opaque("computer_screenshot", at, fields, HOME) if type(block) is Opaque else block


NOT_SENDABLE = ("summary_text", "reasoning_text")
"""Parts of stored conversations that are no input outside of reasoning (OR28)."""


def _read_refused(kind: str) -> ReadBlock:
    def read(fields: Fields, at: At, context: Context) -> Block:
        return Opaque(kind, at, fields, HOME)

    return read


BLOCKS: dict[str, ReadBlock] = {
    "input_text": read_text("input_text"),
    "output_text": read_text("output_text"),
    "input_image": read_image,
    "input_file": read_file,
    "refusal": read_refusal,
    "text": read_text("text"),
    "computer_screenshot": read_screenshot,
    **{kind: _read_refused(kind) for kind in NOT_SENDABLE},
}

# Items.


def read_reasoning(fields: Fields, at: At, context: Context) -> Block:
    """`{"type":"reasoning","id","summary","content"?,"encrypted_content"?}`: the readable parts as one text, the sealed ones as a signature.

    Without encrypted content, the id is a handle that only a provider that keeps its items can follow.
    """
    sealed = fields.get("encrypted_content")
    signed = payload.kind(sealed) == "text" and not payload.is_blank(sealed)
    texts: list[Leaf] = []
    known = ["type", *(["encrypted_content"] if signed or payload.is_null(sealed) else [])]
    for key in ("summary", "content"):
        thoughts = [_thought(part) for part in payload.items(fields.get(key)) or ()]
        if None not in thoughts and payload.kind(fields.get(key)) in ("list", "null"):
            texts.extend(thoughts)
            known.append(key)
    extra = remaining(fields, tuple(known))
    intact = len(known) == 4 and payload.kind(fields.get("summary")) == "list"
    signature = Signature(HOME, "encrypted", sealed) if signed else None
    return Reasoning(payload.joined(texts, "\n\n") if texts else None, signature, at, fields, HOME, intact, extra)


def _thought(part: Leaf) -> Leaf | None:
    """The text of one part of a summary or of readable reasoning."""
    fields = payload.fields(part)
    if fields is None or payload.string(fields.get("type")) not in NOT_SENDABLE:
        return None
    text = fields.get("text")
    return text if payload.kind(text) == "text" and len(fields) == 2 else None


def read_call(kind: str, arguments: str) -> ReadBlock:
    """A call that the client executes: `function_call`, `custom_tool_call`."""

    def read(fields: Fields, at: At, context: Context) -> Block:
        call_id, key, gone = identifier(fields, "call_id", at, context)
        extra = remaining(fields, ("type", "call_id", "name", arguments, *gone, *((key,) if key else ())))
        intact = key == "call_id" and not gone and "name" in fields and payload.kind(fields.get(arguments)) == "text"
        name = scalar(fields.get("name"))
        return ToolCall(call_id, name, fields.get(arguments), at, fields, HOME, intact, extra, kind)

    return read


def read_tool_call(kind: str, name: str, arguments: str) -> ReadBlock:
    """A call of a tool of OpenAI's own that the client executes; abroad it is a call of a tool of this name."""

    def read(fields: Fields, at: At, context: Context) -> Block:
        call_id, key, gone = identifier(fields, "call_id", at, context)
        extra = remaining(fields, ("type", "call_id", arguments, *gone, *((key,) if key else ())))
        intact = key == "call_id" and not gone and _is_action(kind, fields.get(arguments))
        return ToolCall(call_id, name, fields.get(arguments), at, fields, HOME, intact, extra, kind)

    return read


def _is_action(kind: str, value: Leaf) -> bool:
    """Whether what a tool of OpenAI's own is to do has the form that the API demands (appendix A)."""
    action = payload.fields(value)
    if action is None:
        return False
    said = payload.string(action.get("type"))
    if kind == "local_shell_call":
        return said == "exec" and payload.kind(action.get("command")) == "list"
    if kind == "shell_call":
        return payload.kind(action.get("commands")) == "list"
    return said in ("create_file", "update_file", "delete_file")


def read_output(kind: str) -> ReadBlock:
    """The output of a call: a text or a list of parts.

    A function's output without a `call_id` but with the tool's name belongs to no call (OR11): its id is None.
    """

    def read(fields: Fields, at: At, context: Context) -> Block:
        call_id, key, gone = identifier(fields, "call_id", at, context)
        output = fields.get("output")
        if kind == "local_shell_call_output" and call_id is None:
            call_id, key = scalar(fields.get("id")), "id"
        extra = remaining(fields, ("type", "call_id", "output", *gone, *((key,) if key else ())))
        content, regular = _read_output(kind, output, at, context)
        failed = kind == "apply_patch_call_output" and payload.string(fields.get("status")) == "failed"
        standalone = kind == "function_call_output" and key is None and payload.kind(fields.get("name")) == "text"
        intact = regular and not gone and (key in ("call_id", "id") or standalone)
        return ToolResult(
            call_id, content, at, fields, HOME, intact, extra, payload.string(fields.get("name")), True if failed else None,
            {"function_call_output": "function", "custom_tool_call_output": "custom"}.get(kind, kind.removesuffix("_output")),
        )  # fmt: skip

    return read


def _read_output(kind: str, output: Leaf, at: At, context: Context) -> tuple[tuple[Block, ...], bool]:
    place = (at, "output")
    if kind == "shell_call_output":
        # Streams and exit codes of several commands: one JSON text to everybody else.
        text = payload.as_json_text(output)
        return (Text("" if text is None else text, place),), payload.kind(output) == "list"
    blocks = context.read_content(output, place, context)
    regular = payload.kind(output) == "text" or (
        payload.kind(output) == "list"
        and all(type(block) in (Text, Media) and block.intact and block.home == HOME for block in blocks)
        and all(
            type(block) is not Text or payload.string(payload.members(block.raw).get("type")) == "input_text"
            for block in blocks
        )
    )
    return blocks, regular or (kind == "apply_patch_call_output" and payload.is_null(output))


def read_opaque(kind: str, intact: Callable[[Fields], bool] = lambda fields: True) -> ReadBlock:
    """An item that only OpenAI knows. `intact`: whether it holds what the API demands of it."""
    known = KEYS[kind]

    def read(fields: Fields, at: At, context: Context) -> Block:
        return Opaque(kind, at, fields, HOME, intact(fields), remaining(fields, known))

    return read


def _has_action(fields: Fields) -> bool:
    # «Missing required parameter: 'input[...].action.type'» (OR24).
    action = payload.fields(fields.get("action"))
    return action is not None and payload.string(action.get("type")) in ("search", "open_page", "find_in_page", "find")


REQUIRED: dict[str, dict[str, str]] = {
    "computer_call": {"call_id": "text", "pending_safety_checks": "list"},
    "computer_call_output": {"call_id": "text", "output": "object"},
    "file_search_call": {"queries": "list"},
    "tool_search_output": {"tools": "list"},
    "additional_tools": {"tools": "list"},
    "image_generation_call": {"result": "text"},
    "code_interpreter_call": {"container_id": "text"},
    "mcp_list_tools": {"server_label": "text", "tools": "list"},
    "mcp_approval_request": {"arguments": "text", "name": "text", "server_label": "text"},
    "mcp_approval_response": {"approval_request_id": "text", "approve": "bool"},
    "mcp_call": {"arguments": "text", "name": "text", "server_label": "text"},
    "program": {"call_id": "text", "code": "text", "fingerprint": "text"},
    "program_output": {"call_id": "text", "result": "text"},
}
"""What the API demands of an item beside its id («Missing required parameter: 'input[40]…'», appendix A)."""


def _is_whole(kind: str) -> Callable[[Fields], bool]:
    form = REQUIRED.get(kind, {})

    def is_whole(fields: Fields) -> bool:
        return all(payload.kind(fields.get(name)) == found for name, found in form.items())

    return is_whole


def _has_id(fields: Fields) -> bool:
    return payload.kind(fields.get("id")) == "text" and not payload.is_blank(fields["id"])


def _is_sealed(fields: Fields) -> bool:
    # «Missing required parameter: 'input[40].encrypted_content'.» (OR22).
    return payload.kind(fields.get("encrypted_content")) == "text"


OPAQUE: dict[str, ReadBlock] = {
    **{
        kind: read_opaque(kind, _is_whole(kind))
        for kind in (
            "computer_call", "computer_call_output", "file_search_call", "tool_search_call", "tool_search_output", "additional_tools",
            "configuration_update", "compaction_trigger", "image_generation_call", "code_interpreter_call", "mcp_list_tools",
            "mcp_approval_request", "mcp_approval_response", "mcp_call", "program", "program_output",
        )
    },
    "web_search_call": read_opaque("web_search_call", _has_action),
    "item_reference": read_opaque("item_reference", _has_id),
    "compaction": read_opaque("compaction", _is_sealed),
}  # fmt: skip
"""Kinds that only OpenAI has and that the hub does not model."""

ITEMS: dict[str, ReadBlock] = {
    "reasoning": read_reasoning,
    "function_call": read_call("function", "arguments"),
    "custom_tool_call": read_call("custom", "input"),
    "local_shell_call": read_tool_call("local_shell_call", "local_shell", "action"),
    "shell_call": read_tool_call("shell_call", "shell", "action"),
    "apply_patch_call": read_tool_call("apply_patch_call", "apply_patch", "operation"),
    **{
        kind: read_output(kind)
        for kind in (
            "function_call_output", "custom_tool_call_output", "local_shell_call_output", "shell_call_output", "apply_patch_call_output",
        )
    },
    **OPAQUE,
}  # fmt: skip

ROLES: dict[str, Role] = {
    **{kind: "tool" for kind in ITEMS if kind.endswith("_output")},
    "mcp_approval_response": "user",
    "compaction_trigger": "user",
    "additional_tools": "developer",
    "configuration_update": "developer",
}
"""Who an item is from; the assistant, if it is not named."""


def claims(fields: Fields) -> bool:
    """Whether an entry is an item: a kind of item, a `message` with parts of this API, or an object with a `type` and nothing else to go by."""
    kind = payload.string(fields.get("type"))
    if kind is None:
        return False
    if kind == "message":
        content = payload.items(fields.get("content"))
        role = payload.string(fields.get("role"))
        return role is not None and bool(role.strip()) and (not content or any(_is_part(part) for part in content))
    return kind in ITEMS or ("role" not in fields and "content" not in fields and "parts" not in fields)


def _is_part(part: Leaf) -> bool:
    fields = payload.fields(part)
    kind = payload.string(fields.get("type")) if fields is not None else None
    return kind is not None and kind in KEYS


def is_call(fields: Fields) -> bool:
    """Whether an item is a call, which decides what dialect a list is in."""
    kind = payload.string(fields.get("type"))
    return kind is not None and kind in ITEMS and kind.endswith("_call")


def read_entry(fields: Fields, at: At, context: Context) -> Message:
    """One item as a message: a `message` with its parts, any other kind with the one block that it is."""
    kind = payload.string(fields.get("type")) or ""
    if kind == "message":
        return _read_message(fields, at, context)
    read = ITEMS.get(kind)
    block = Opaque(kind, at, fields, HOME) if read is None else read(fields, at, context)
    return Message(ROLES.get(kind, "assistant"), (block,), at, fields, HOME, block.intact, item=True)


def _read_message(fields: Fields, at: At, context: Context) -> Message:
    content = fields.get("content")
    blocks = context.read_content(content, (at, "content"), context)
    bare = payload.kind(content) == "text"
    role = payload.string(fields.get("role"))
    intact = role is not None and (
        bare or (payload.kind(content) == "list" and all(block.intact and block.home == HOME for block in blocks))
    )
    extra = remaining(fields, ("type", "role", "content"))
    return Message(role or "", blocks, at, fields, HOME, intact, extra, bare)


def read_instructions(value: Leaf, at: At, context: Context) -> Message | None:
    """The request's `instructions` as the first message, at their own path."""
    if payload.is_null(value):
        return None
    bare = payload.kind(value) == "text"
    return Message("system", context.read_content(value, at, context), at, value, HOME, bare, bare=bare)


def read_single(value: Leaf, at: At, context: Context) -> Message | None:
    """An `input` that is a text: one user message, at the path of the field."""
    return (
        Message("user", (Text(value, at, value),), at, value, HOME, True, bare=True)
        if payload.kind(value) == "text"
        else None
    )


# Request fields. The hub's words for what two dialects share; every other field keeps its own name and is OpenAI's alone.

SHARED: dict[str, str] = {
    "model": "model",
    "max_output_tokens": "max_tokens",
    "temperature": "temperature",
    "top_p": "top_p",
    "stream": "stream",
    "safety_identifier": "end_user",
    "user": "end_user",
    "parallel_tool_calls": "parallel_calls",
}

OWN: frozenset[str] = frozenset(
    {
        "access_programs", "background", "background_options", "client_metadata", "context_management", "conversation", "image", "include",
        "instructions", "max_tool_calls", "metadata", "moderation", "previous_response_id", "prompt", "prompt_cache_key",
        "prompt_cache_options", "prompt_cache_retention", "reasoning", "service_tier", "store", "stream_options", "text", "tool_choice",
        "tools", "top_logprobs", "truncation", *SHARED,
    }
)  # fmt: skip
"""Every request field of Responses beside `input` (openai 3.57.0; `client_metadata` is what Codex 0.171 sends)."""


KINDS: dict[str, str] = {
    **dict.fromkeys(("max_output_tokens", "max_tool_calls", "top_logprobs"), "integer"),
    **dict.fromkeys(("temperature", "top_p"), "number"),
    **dict.fromkeys(("stream", "store", "background", "parallel_tool_calls"), "bool"),
    **dict.fromkeys(
        ("user", "safety_identifier", "service_tier", "truncation", "prompt_cache_key", "prompt_cache_retention", "previous_response_id"),
        "text",
    ),
    **dict.fromkeys(("tools", "include", "context_management"), "list"),
    **dict.fromkeys(("metadata", "text", "reasoning", "prompt", "stream_options", "moderation", "background_options"), "object"),
    "tool_choice": "text|object", "conversation": "text|object",
}  # fmt: skip
"""The JSON kinds of the request fields (openai 3.57.0)."""

HANDLES = frozenset({"previous_response_id", "conversation"})
"""The request fields that stand for an earlier part of the conversation, which the provider holds (OS1, OS2)."""


def read_setting(key: str, value: Leaf, at: At) -> Sequence[Setting]:
    """One request field in the hub's words: tools, tool choice, format, effort in a neutral form."""
    if key in SHARED:
        return (Setting(SHARED[key], value, at, value, HOME, True),)
    if key == "tools" and payload.items(value) is not None:
        return tuple(_read_tool(entry, (at, index)) for index, entry in enumerate(payload.items(value) or ()))
    if key == "tool_choice":
        return (Setting("tool_choice", _read_choice(value), at, value, HOME, True),)
    fields = payload.fields(value)
    if key == "text" and fields:
        return _read_parts(fields, value, at, {"format": ("format", _read_format)})
    if key == "reasoning" and fields:
        return _read_parts(fields, value, at, {"effort": ("effort", _same)})
    return (Setting(key, value, at, value, HOME, True),)


def _read_parts(fields: Fields, value: Leaf, at: At, known: dict[str, tuple[str, Any]]) -> Sequence[Setting]:
    """A request field that is an object of several settings: each by itself, all written together again."""
    out: list[Setting] = []
    for inner, part in fields.items():
        name, read = known.get(inner, (inner, _same))
        out.append(Setting(name, read(part), (at, inner), value, HOME, True))
    return out


def _same(value: Leaf) -> Any:
    return value


_TOOL = ("name", "description", "parameters", "strict")


def _read_tool(entry: Leaf, at: At) -> Setting:
    fields = payload.fields(entry) or {}
    kind = payload.string(fields.get("type"))
    if kind == "custom" and payload.kind(fields.get("format")) in ("object", "null"):
        said: dict[str, Any] = {key: fields[key] for key in ("name", "description") if key in fields}
        said["freeform"] = payload.fields(fields.get("format")) or {}
        return Setting("tool", said, at, entry, HOME, True, remaining(fields, ("type", "format", *said)))
    inside = payload.objects(fields.get("tools")) if kind == "namespace" else None
    if inside is not None and payload.kind(fields.get("name")) == "text":
        tools = tuple([_read_tool(tool, ((at, "tools"), index)) for index, tool in enumerate(inside)])
        group: Any = {"name": fields["name"], "tools": tools}
        return Setting("tool_group", group, at, entry, HOME, True, remaining(fields, ("type", "name", "tools")))
    # What has no type is no tool of OpenAI's own; a function without a name is judged as what it is.
    if kind is not None and kind != "function":
        return Setting("native_tool", entry, at, entry, HOME, True)
    tool = {key: fields[key] for key in _TOOL if key in fields}
    return Setting("tool", tool, at, entry, HOME, True, remaining(fields, ("type", *_TOOL)))


CHOICES = frozenset(
    {
        "allowed_tools", "apply_patch", "code_interpreter", "computer", "computer_use", "computer_use_preview", "custom", "file_search",
        "image_generation", "mcp", "programmatic_tool_calling", "shell", "web_search_preview", "web_search_preview_2025_03_11",
    }
)  # fmt: skip
"""The kinds of tool choice that only OpenAI has."""


def _read_choice(value: Leaf) -> Any:
    """`auto`, `none`, `required`, or a function by its name."""
    text = payload.string(value)
    if text is not None:
        return {"mode": text if text in ("auto", "none", "required") else None}
    kind = payload.string((payload.fields(value) or {}).get("type"))
    if kind in ("function", "custom"):
        free = {"freeform": True} if kind == "custom" else {}
        return {"mode": "tool", "name": scalar((payload.fields(value) or {}).get("name")), **free}
    return {"mode": "native" if kind in CHOICES else None}


def _read_format(value: Leaf) -> Any:
    fields = payload.fields(value) or {}
    rest = {key: inner for key, inner in fields.items() if key != "type"}  # keeps: the type is the kind
    return {"kind": payload.string(fields.get("type")), **rest}
