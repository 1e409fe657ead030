"""FLD: the request's parameters beside its messages, in words that the target has."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, final

import msgspec

from sendable import paths, payload
from sendable.codes import ARG006, FLD001, FLD002, FLD003, FLD004, FLD005, FLD006, FLD007, FLD010, IDS002
from sendable.conversation import INSTRUCTING, Block, Conversation, Message, Setting, ToolCall, changed
from sendable.options import Options
from sendable.report import Ledger
from sendable.rules import Rule, with_messages
from sendable.rules.blocks import CACHE_MARKS, field_code
from sendable.rules.reasoning import thinking_is_on


@final
class Parameters(msgspec.Struct, frozen=True):
    """What a target knows beside messages.

    `own`: its request fields. `writable`: the hub's words that it has a field for. `efforts`: its words for effort. `formats`: the kinds
    of answer format, and which fields of one it takes. `hottest`: the highest temperature. `required`: what a body must have, with the
    value that is put in. `tool_modes`: its tool choices. `refused`: what it does not take of the dialect's own kinds of format.
    """

    home: str
    own: frozenset[str]
    writable: frozenset[str]
    efforts: Mapping[str, str] = {}
    formats: Mapping[str, frozenset[str]] = {}
    hottest: float = 2.0
    required: Mapping[str, Any] = {}
    tool_modes: frozenset[str] = frozenset({"auto", "none", "required", "tool"})
    refused: frozenset[str] = frozenset()
    # Fields of a tool that the hub does not model and that mean the same in another dialect.
    tool_fields: frozenset[str] = frozenset()
    # The JSON kinds of its request fields: number, integer, text, list …, several with a bar between them.
    kinds: Mapping[str, str] = {}
    # Whether a field of its own may be null, and not only absent; and those that may not where others may.
    nulls: bool = True
    never_null: frozenset[str] = frozenset()
    # What the target knows of a tool.
    tool_words: frozenset[str] = frozenset({"name", "description", "parameters", "strict"})


def fit_parameters(known: Parameters, model: str | None, keep: bool) -> Rule:
    """Every parameter is one that the target has: its own as they came, another dialect's in the target's words, the rest stripped.

    `model` replaces the body's. A required parameter that is missing is put in, with a note, in a whole body: a list, or
    messages without a model, are a history and no request.

    Loses: ARG006, FLD001, FLD002, FLD003, FLD004, FLD005, FLD007, FLD010.
    """

    def fit_parameters(conversation: Conversation, ledger: Ledger) -> Conversation:
        if conversation.listed:
            return conversation
        out: list[Setting] = []
        seen = {
            setting.name
            for setting in conversation.settings
            if setting.home == known.home and _key(setting) in known.own
        } - _MANY
        for setting in conversation.settings:
            fitted = _fit(setting, known, keep, seen, ledger)
            if fitted is not None:
                out.append(fitted)
        foreign = [setting for setting in out if not setting.intact]
        if foreign and not any(setting.name in ("tool", "native_tool") for setting in out):
            # «tool_choice.any may only be specified while providing tools» (AT11, 2026-09).
            for setting in [
                setting for setting in out if setting.name in ("tool_choice", "parallel_calls") and not setting.intact
            ]:
                if not (setting.name == "parallel_calls" and setting.value is True):
                    ledger.strip(FLD001, setting, ())
                out.remove(setting)
        if model is not None:
            _replace_model(out, model, ledger)
        if conversation.whole or model is not None:
            names = {setting.name for setting in out}
            for name, value in known.required.items():
                if name not in names:
                    ledger.note(FLD004, (), (name,), value=value)
                    out.append(Setting(name, value, (name,)))
        if len(out) == len(conversation.settings) and all(
            a is b for a, b in zip(out, conversation.settings, strict=True)
        ):
            return conversation
        return msgspec.structs.replace(conversation, settings=tuple(out))

    return fit_parameters


def marks_on_tools(key: str) -> Rule:
    """Every cache mark behind a tool stands on the tool, as its field `key`. One behind anything else stays, and is not writable."""

    def marks_on_tools(conversation: Conversation, ledger: Ledger) -> Conversation:
        if not any(setting.name == "cache_mark" for setting in conversation.settings):
            return conversation
        out: list[Setting] = []
        for setting in conversation.settings:
            before = out[-1] if out else None
            if setting.name == "cache_mark" and before is not None and before.name == "tool":
                out[-1] = changed(before, extra={**(before.extra or {}), key: setting.value})
            else:
                out.append(setting)
        return msgspec.structs.replace(conversation, settings=tuple(out))

    return marks_on_tools


def tools_declared(field: tuple[str, ...], model: str | None) -> Rule:
    """A request whose messages hold calls or results also declares tools: where it has none, the ones that were called, with any arguments.

    Source: «The toolConfig field must be defined when using toolUse and toolResult content blocks.» (BE13). A list, or messages without a
    model, are a history and no request.

    Loses: FLD004 (a note).
    """

    def tools_declared(conversation: Conversation, ledger: Ledger) -> Conversation:
        if conversation.listed or not (conversation.whole or model is not None):
            return conversation
        if any(setting.name in ("tool", "native_tool") for setting in conversation.settings):
            return conversation
        called: dict[str, None] = {}
        for message in conversation.messages:
            for block in message.blocks:
                if type(block) is ToolCall and block.executor == "client" and type(block.name) is str:
                    called[block.name] = None
        if not called:
            return conversation
        ledger.note(FLD004, (), field, tools=len(called))
        declared = [
            Setting("tool", {"name": name, "parameters": {"type": "object"}}, field) for name in called
        ]  # keeps: only adds
        return msgspec.structs.replace(conversation, settings=(*conversation.settings, *declared))

    return tools_declared


def stands_by_itself(names: frozenset[str], fields: frozenset[str]) -> Rule:
    """A parameter that brings its own instructions and tools does not stand beside any: then it goes, since what is written out says more.

    `names`: the parameter in all spellings; `fields`: the request fields that it excludes, beside system messages.
    Source: `400 INVALID_ARGUMENT: "Tool config, tools and…"` for `cachedContent` with `tools`, `toolConfig` or `systemInstruction` (GE20,
    reported).

    Loses: FLD006.
    """

    def stands_by_itself(conversation: Conversation, ledger: Ledger) -> Conversation:
        handles = [setting for setting in conversation.settings if setting.name in names]  # keeps: only looks
        excluding = [setting for setting in conversation.settings if _key(setting) in fields]  # keeps: only looks
        if not handles or not (excluding or any(message.role in INSTRUCTING for message in conversation.messages[:1])):
            return conversation
        for setting in handles:
            ledger.strip(FLD006, setting, (), related=excluding[:1])
        kept = tuple(
            [setting for setting in conversation.settings if setting.name not in names]
        )  # keeps: reported above
        return msgspec.structs.replace(conversation, settings=kept)

    return stands_by_itself


def one_of(names: tuple[str, ...]) -> Rule:
    """Of parameters that exclude each other, the first in the list stays.

    Source: «`previous_response_id` and `conversation` are mutually exclusive» (OS1, schema).

    Loses: FLD006.
    """

    def one_of(conversation: Conversation, ledger: Ledger) -> Conversation:
        given = [
            setting
            for setting in conversation.settings
            if setting.name in names and not payload.is_inert(setting.value)
        ]  # keeps: only looks
        if len(given) < 2:
            return conversation
        given.sort(key=lambda setting: names.index(setting.name))
        for setting in given[1:]:
            ledger.strip(FLD006, setting, (), related=given[:1])
        kept = tuple(
            [setting for setting in conversation.settings if all(setting is not one for one in given[1:])]
        )  # keeps: reported above
        return msgspec.structs.replace(conversation, settings=kept)

    return one_of


def tools_ungrouped(conversation: Conversation, ledger: Ledger) -> Conversation:
    """Every tool of a named group stands by itself. The first of a name keeps it; a later one, and its calls, get that of the group in front.

    Source: `namespace` is a kind of tool of OpenAI Responses (openai 3.57.0) and of nobody else.

    Loses: FLD001 (the group's description), FLD005 (the group), IDS002.
    """
    if not any(setting.name == "tool_group" for setting in conversation.settings):
        return conversation
    used = {_tool_name(setting) for setting in conversation.settings if setting.name == "tool"}
    renamed: dict[tuple[Any, Any], str] = {}
    out: list[Setting] = []
    for setting in conversation.settings:
        if setting.name != "tool_group":
            out.append(setting)
            continue  # keeps: the line above
        group = payload.string(setting.value["name"])
        ledger.degrade(FLD005, setting, ("name",), kind="group of tools")
        for key, value in (setting.extra or {}).items():
            if not payload.is_inert(value):
                ledger.strip(FLD001, setting, (key,))
        for tool in setting.value["tools"]:
            name = _tool_name(tool)
            if name is not None and name in used:
                new = renamed[group, name] = next(
                    word for word in (f"{group}_{name}" + "_" * end for end in range(len(used) + 1)) if word not in used
                )
                ledger.rename(IDS002, tool, "name", new=new)
                tool, name = changed(tool, value={**tool.value, "name": new}), new
            used.add(name)
            out.append(changed(tool))
    conversation = msgspec.structs.replace(conversation, settings=tuple(out))
    if not renamed:
        return conversation
    messages: list[Message] = []
    for message in conversation.messages:
        blocks = tuple([_regrouped(block, renamed, ledger) for block in message.blocks])
        if any(a is not b for a, b in zip(blocks, message.blocks, strict=True)):
            message = changed(message, blocks=blocks)
        messages.append(message)
    return with_messages(conversation, messages)


def _tool_name(setting: Setting) -> str | None:
    return payload.string(setting.value.get("name")) if type(setting.value) is dict else None


def _regrouped(block: Block, renamed: Mapping[tuple[Any, Any], str], ledger: Ledger) -> Block:
    """A call of a tool of a group under the name that the tool has now.

    Loses: IDS002.
    """
    if type(block) is not ToolCall or block.extra is None or type(block.name) is not str:
        return block
    new = renamed.get((payload.string(block.extra.get("namespace")), block.name))
    if new is None:
        return block
    ledger.rename(IDS002, block, "name", new=new)
    rest = {key: value for key, value in block.extra.items() if key != "namespace"}  # keeps: it is in the new name
    called: ToolCall = changed(block, name=new, extra=rest or None)
    return called


_MANY = frozenset({"tool", "native_tool", "tool_group", "cache_mark"})
"""Settings of which a request has any number."""


def unforced_tools(options: Options, *, thinks: bool) -> Rule:
    """While thinking is on, no tool is forced. `thinks`: as for `recalled`.

    Source: «Thinking mode does not support tool_choice» (DeepSeek, DS8, reported).

    Loses: FLD001.
    """

    def unforced_tools(conversation: Conversation, ledger: Ledger) -> Conversation:
        forced = [
            setting
            for setting in conversation.settings
            if setting.name == "tool_choice"
            and type(setting.value) is dict
            and setting.value.get("mode") in ("required", "tool", "native")
        ]  # keeps: only looks
        if not forced or not thinking_is_on(conversation, options, thinks):
            return conversation
        for setting in forced:
            ledger.strip(FLD001, setting, ())
        kept = tuple(
            [setting for setting in conversation.settings if all(setting is not one for one in forced)]
        )  # keeps: reported above
        return msgspec.structs.replace(conversation, settings=kept)

    return unforced_tools


def _replace_model(out: list[Setting], model: str, ledger: Ledger) -> None:
    for index, setting in enumerate(out):
        if setting.name == "model":
            if payload.string(setting.value) != model:
                ledger.rename(FLD003, setting, (), old=payload.string(setting.value), new=model)
                out[index] = changed(setting, value=model)
            return
    ledger.rename(FLD003, (), ("model",), old=None, new=model)
    out.insert(0, Setting("model", model, ("model",)))


def _key(setting: Setting) -> str:
    """The request field in which a setting stands."""
    at = setting.at
    while type(at[0]) is tuple:
        at = at[0]
    return str(at[0])


def _fit(setting: Setting, known: Parameters, keep: bool, seen: set[str], ledger: Ledger) -> Setting | None:
    """One parameter, or None with its entry. A foreign one that says nothing goes unreported.

    Loses: ARG006, FLD001, FLD002, FLD005, FLD007, FLD010.
    """
    if _is_ill_typed(setting, known):
        ledger.strip(FLD010, setting, ())
        return None
    if setting.home == known.home:
        if (
            (not known.nulls or _key(setting) in known.never_null)
            and type(setting.at[0]) is not tuple
            and payload.is_null(setting.raw)
            and setting.name != "model"
        ):
            # Null says what absence says, but is refused: «Input should be a valid dictionary» (AN20).
            return None
        if setting.name == "format" and setting.value.get("kind") in known.refused:
            ledger.strip(FLD001, setting, ())
            return None
        if not setting.intact and "." in setting.name:
            if keep:
                return setting
            if not payload.is_inert(setting.value):
                ledger.strip(FLD001, setting, ())
            return None
        if type(setting.value) is dict and "freeform" in setting.value and "freeform" not in known.tool_words:
            # A server that speaks the dialect and has no tools with free text.
            return _fit_value(changed(setting), known, ledger)
        if _key(setting) in known.own or keep:
            return setting
        if setting.name in known.writable and setting.name not in seen | {_key(setting)}:
            # The same parameter under the server's own key.
            seen.add(setting.name)
            return changed(setting)
        ledger.strip(FLD001, setting, ())
        return None
    many = setting.name in _MANY
    if setting.name not in known.writable or (setting.name in seen and not many):
        if not payload.is_inert(setting.value) and not _is_default(setting):
            ledger.strip(FLD007 if setting.name in ("cache_mark", *CACHE_MARKS) else FLD001, setting, ())
        return None
    if setting.name == "model" and payload.kind(setting.value) != "text":
        # Nothing is judged in the name of a model but that it is one.
        if not payload.is_inert(setting.value):
            ledger.strip(FLD001, setting, ())
        return None
    seen.add(setting.name)
    if setting.extra is not None:
        kept: dict[str, Any] = {}
        for key, value in setting.extra.items():
            if key in known.tool_fields and setting.name == "tool" and payload.kind(value) == "object":
                kept[key] = value
            elif not payload.is_inert(value):
                ledger.strip(field_code(key), setting, _inside_tool(setting, key))
        setting = changed(setting, extra=kept or None)
    return _fit_value(changed(setting), known, ledger)


_HUB_KINDS = {
    "max_tokens": "integer", "temperature": "number", "top_p": "number", "top_k": "integer", "stream": "bool", "stop": "list",
    "end_user": "text", "effort": "text", "parallel_calls": "bool", "seed": "integer", "n": "integer", "presence_penalty": "number",
    "frequency_penalty": "number", "logprobs": "bool", "top_logprobs": "integer",
    # Fields that both of OpenAI's APIs have under one name.
    "metadata": "object", "store": "bool", "verbosity": "text", "prompt_cache_key": "text", "prompt_cache_retention": "text",
}  # fmt: skip


_MODES = frozenset({"auto", "none", "required", "tool", "native"})


def _is_ill_typed(setting: Setting, known: Parameters) -> bool:
    """Whether a value is of a JSON kind that no provider takes there: «Input should be a valid integer», and their like (AN20)."""
    if setting.name in _MANY:
        if setting.name == "tool":
            name = payload.string(setting.value.get("name"))
            regular = payload.kind(setting.value.get("description")) in ("text", "null")
            regular = regular and payload.kind(setting.value.get("parameters")) in ("object", "null")
            return name is None or not name.strip() or not regular
        return payload.fields(setting.raw) is None
    if setting.name == "tool_choice" and isinstance(setting.value, dict) and not payload.is_null(setting.raw):
        mode, name = setting.value.get("mode"), setting.value.get("name")
        if mode not in _MODES or (mode == "tool" and type(name) is not str):
            return True
    if setting.home == known.home:
        # A part of a field was read from an object, which is what the field is.
        wanted = known.kinds.get(_key(setting)) if type(setting.at[0]) is not tuple else None
        value = setting.raw
    else:
        wanted, value = _HUB_KINDS.get(setting.name), setting.value
    if setting.name == "thinking" and not payload.is_null(value):
        # Another vendor's word for it may be the same: only Claude's own form of it crosses (AH9).
        said = payload.members(value)
        mode = payload.string(said.get("type"))
        budget = mode == "enabled" and payload.kind(said.get("budget_tokens")) == "number"
        return mode not in ("disabled", "adaptive", "between_tools") and not budget
    if wanted is None or payload.is_null(value):
        return False
    kind = payload.kind(value)
    if setting.name == "metadata" and kind == "object":
        return any(payload.kind(inner) != "text" for inner in (payload.fields(value) or {}).values())
    if wanted == "integer":
        number = payload.plain(value) if kind == "number" else None
        return type(number) is not int or abs(number) >= 1 << 31
    if setting.name == "stop" and kind == "list":
        return any(payload.kind(text) != "text" for text in payload.items(value) or ())
    return kind not in wanted.split("|")


def _is_default(setting: Setting) -> bool:
    """Whether a parameter says what holds anyway."""
    return (setting.name == "parallel_calls" and payload.is_true(setting.value)) or (
        setting.name in ("stream", "logprobs") and payload.is_false(setting.value)
    )


def _fit_value(setting: Setting, known: Parameters, ledger: Ledger) -> Setting | None:
    """The parameter with a value that the target takes.

    Loses: ARG006, FLD001, FLD002, FLD005.
    """
    name, value = setting.name, setting.value
    if payload.is_null(value):
        return None
    if name == "temperature":
        number = payload.plain(value)
        if isinstance(number, int | float) and number > known.hottest:
            ledger.degrade(FLD005, setting, (), old=number, new=known.hottest)
            return changed(setting, value=known.hottest)
    elif name == "parallel_calls" and payload.is_true(value):
        return None
    elif name == "effort":
        word = payload.string(value) or ""
        new = known.efforts.get(word)
        if new is None:
            ledger.strip(FLD001, setting, ())
            return None
        if new != word:
            ledger.degrade(FLD005, setting, (), old=word, new=new)
            return changed(setting, value=new)
    elif name == "tool_choice":
        if not isinstance(value, dict) or value.get("mode") not in known.tool_modes:
            ledger.strip(FLD001, setting, ())
            return None
        if "freeform" in value and "freeform" not in known.tool_words:
            # The tool that is chosen is a function now.
            named = {key: part for key, part in value.items() if key != "freeform"}  # keeps: reported with the tool
            return changed(setting, value=named)
    elif name == "format":
        return _fit_format(setting, known, ledger)
    elif name == "tool" and isinstance(value, dict):
        if "freeform" in value and "freeform" not in known.tool_words:
            setting = _as_function(setting, ledger)
            value = setting.value
        gone = [key for key, inner in value.items() if payload.is_null(inner) or key not in known.tool_words]
        for key in gone:
            if not payload.is_null(value[key]) and not payload.is_false(value[key]):
                ledger.strip(FLD001, setting, _inside_tool(setting, key))
        if gone:
            return changed(
                setting, value={key: inner for key, inner in value.items() if key not in gone}
            )  # keeps: null and false say nothing, the rest is reported
    return setting


def _as_function(setting: Setting, ledger: Ledger) -> Setting:
    """A tool that takes free text as a function with the one argument `input`, which is what its calls become.

    Loses: ARG006, FLD001 (the grammar of the text).
    """
    tool: Any = setting.value
    ledger.degrade(ARG006, setting, ("type",))
    if (
        not payload.is_inert(tool["freeform"])
        and payload.string(payload.members(tool["freeform"]).get("type")) != "text"
    ):
        ledger.strip(FLD001, setting, _inside_tool(setting, "format"))
    takes = {"type": "object", "properties": {"input": {"type": "string"}}, "required": ["input"]}
    kept = {key: value for key, value in tool.items() if key != "freeform"}  # keeps: reported above
    function: Setting = changed(setting, value={**kept, "parameters": takes})
    return function


def _inside_tool(setting: Setting, key: str) -> tuple[str, ...]:
    """The steps from a declaration to one of its fields, which may stand in the one object inside it."""
    for outer in ("function", "custom"):
        if key in payload.members(payload.members(setting.raw).get(outer)):
            return (outer, key)
    return paths.inside(setting.raw, key)


def _fit_format(setting: Setting, known: Parameters, ledger: Ledger) -> Setting | None:
    value: Any = setting.value
    kind = value.get("kind")
    if kind == "text":
        return None
    takes = known.formats.get(kind or "")
    if takes is None:
        ledger.strip(FLD001, setting, ())
        return None
    inner = "json_schema" if setting.home == "openai-chat" else None
    kept: dict[str, Any] = {"kind": kind}
    for key, part in value.items():
        if key == "kind":
            continue  # keeps: it was put in above
        if key in takes:
            kept[key] = part
        elif not payload.is_inert(part) and not payload.is_false(part):
            ledger.strip(FLD002 if key == "name" else FLD001, setting, (inner, key) if inner else (key,))
    return changed(setting, value=kept)
