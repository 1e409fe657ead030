"""Wire → hub, for any mixture of dialects: the envelope of a message, and which reader each part of it gets.

Every message gets its dialect from its own shape and every block from its own kind, through tables merged from all dialects. What must
not live here: the spelling of any block (dialects/) and repairs (rules/).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, TypeAlias

from msgspec import Raw

from sendable import everyday, payload
from sendable.codes import SHP001, SHP002, SHP003, SHP005, SHP011
from sendable.conversation import (
    ROLES,
    Block,
    Conversation,
    Fields,
    Message,
    Opaque,
    Setting,
    Text,
    ToolCall,
    ToolResult,
)
from sendable.dialects import Claimed, Context, Dialect, ReadBlock, ReadField, identifier, remaining
from sendable.paths import At
from sendable.payload import Leaf
from sendable.report import Ledger
from sendable.soundness import sound
from sendable.survey import survey

LIST_KEYS = ("messages", "input", "contents")


Tables: TypeAlias = tuple[
    dict[str, ReadBlock],
    dict[str, ReadField],
    dict[str, ReadField],
    dict[str, str],
    dict[str, ReadBlock],
    list[Claimed],
]

_MERGED: dict[tuple[int, ...], tuple[Tables, tuple[Dialect, ...]]] = {}
"""What `context_for` has merged already. The dialects stand with it, so that no other object can come to have the identity of one."""


def context_for(home: Dialect, dialects: Sequence[Dialect], ledger: Ledger) -> Context:
    """The tables of all dialects as one; where two know a kind, the home's reader is used."""
    key = (id(home), *map(id, dialects))
    known = _MERGED.get(key)
    if known is None:
        known = _MERGED[key] = (_merged(home, dialects), (home, *dialects))
    return Context(home.envelope or home.name, *known[0], ledger, read_content, home.read_list)


def _merged(home: Dialect, dialects: Sequence[Dialect]) -> Tables:
    blocks: dict[str, ReadBlock] = {}
    before: dict[str, ReadField] = {}
    after: dict[str, ReadField] = {}
    keyed: dict[str, ReadBlock] = {}
    field_homes: dict[str, str] = {}
    for dialect in (*dialects, home):
        field_homes.update(dict.fromkeys((*dialect.before, *dialect.after), dialect.name))
        blocks.update(dialect.blocks)
        before.update(dialect.before)
        after.update(dialect.after)
        keyed.update(dialect.keyed)
    claimed = [(dialect.claims, dialect.read_entry) for dialect in dialects if dialect.claims and dialect.read_entry]
    return blocks, before, after, field_homes, keyed, claimed


def read(
    history: Any, home: Dialect, dialects: Sequence[Dialect], ledger: Ledger, framed: bool = False
) -> Conversation:
    """A list of messages or a request body as a conversation. `framed`: its payload is bytes, which are sound already.

    Loses: SHP001, SHP002, SHP003, and what an unsound value loses (soundness.py).
    """
    context = context_for(home, dialects, ledger)
    if payload.items(history) is not None:
        messages, holds = _read_messages(history, "messages", context, framed)
        return Conversation(messages, holds=holds)
    body = payload.fields(history)
    key = next((key for key in LIST_KEYS if body is not None and payload.items(body.get(key)) is not None), None)
    single: Message | None = None
    if body is not None and key is None and home.read_single is not None:
        value = body.get(home.key)
        single = home.read_single(_sound(value, (home.key,), ledger, framed), (home.key,), context)
        key = None if single is None else home.key
    if body is None or key is None:
        ledger.fault(SHP001, (), None if body is None else (next((key for key in LIST_KEYS if key in body), home.key),))
        return Conversation(())
    messages = []
    settings: list[Setting] = []
    # One order whether the body came as bytes or as objects, so that both report alike.
    for name in (
        *(name for name in payload.COMMON if name in body),
        *(name for name in body if name not in payload.COMMON),
    ):
        value = body[name]
        if name == key:
            continue  # keeps: the messages are read below
        value = _sound(value, (name,), ledger, framed)
        if home.read_hoisted is not None and (name == home.read_hoisted[0] or name in home.hoisted_aliases):
            system = home.read_hoisted[1](value, (name,), context)
            messages.extend(() if system is None else (system,))
        else:
            settings.extend(home.read_setting(name, value, (name,)))
    listed, holds = _read_messages(body[key], key, context, framed) if single is None else ((single,), None)
    if holds is not None and messages:
        # Instructions in front of a list change nothing of what is behind them.
        holds |= survey(messages)
    messages.extend(listed)
    continued = any(name in body and not payload.is_inert(body[name]) for name in home.handles)
    whole = "model" in body or "modelId" in body
    return Conversation(messages, tuple(settings), False, whole, key, holds, continued)


def _read_messages(listed: Leaf, key: str, context: Context, framed: bool) -> tuple[Sequence[Message], int | None]:
    """The messages of a list, and what they hold if that is known.

    Loses: what `read_entries` loses, and what an unsound value loses (soundness.py).
    """
    entries = payload.items(listed) or ()
    if everyday.is_everyday(entries):
        return everyday.read(entries, key, context, _read_message)
    found = [(_sound(entry, (key, index), context.ledger, framed), (key, index)) for index, entry in enumerate(entries)]
    return read_entries(found, context), None


def _sound(value: Leaf, at: At, ledger: Ledger, framed: bool) -> Leaf:
    """A sound value. In bytes only numbers are left to be looked at: `NotFramed` for one that is beyond a float.

    Loses: what an unsound value loses (soundness.py).
    """
    if not framed:
        return sound(value, at, ledger)
    if type(value) is dict:
        for key, leaf in value.items():
            # Whoever reads a list of content looks at it, unless it is one whose blocks are all known.
            if not ((key == "content" or key == "parts") and payload.is_list(leaf)):
                payload.require_finite(leaf)
    else:
        payload.require_finite(value)
    return value


def read_entries(entries: Iterable[tuple[Leaf, At]], context: Context) -> list[Message]:
    """The messages of a list, of an answer, or of a carrier, each with its place.

    Loses: SHP002, SHP003, SHP011.
    """
    out: list[Message] = []
    ledger = context.ledger
    for entry, at in entries:
        fields = entry if type(entry) is dict else payload.fields(entry)
        if fields is None:
            ledger.drop(SHP002, at, kind=payload.kind(entry))
            continue  # keeps: the line above reports it
        role = payload.string(fields.get("role"))
        if role not in ROLES or "content" not in fields or "type" in fields:
            own = next((read_entry for claims, read_entry in context.claimed if claims(fields)), None)
            if own is not None:
                out.append(own(fields, at, context))
                continue  # keeps: the line above read it
            if role is None or not role.strip():
                ledger.drop(SHP003, at)
                continue  # keeps: the line above reports it
        out.append(_read_message(fields, role, at, context))
    return out


def _read_message(fields: Fields, role: str, at: At, context: Context) -> Message:
    """One message with a role: its content, the fields that hold blocks, and what is left over."""
    content = fields.get("content")
    kind = payload.kind(content)
    if role == "tool" or role == "function":
        if kind == "text" and len(fields) == 3 and role == "tool":
            call_id = payload.string(fields.get("tool_call_id"))
            if call_id is not None:
                # The everyday result: an id and a text.
                home = context.home if context.home == "flat" else "openai-chat"
                blocks: tuple[Block, ...] = (Text(content, (at, "content"), content),)
                return Message("tool", (ToolResult(call_id, blocks, at, fields, home, True),), at, fields, home, True)
        if kind == "text" or not _holds_results(content):
            return _read_result(fields, role, at, content, context)
    elif kind == "text" and len(fields) == 2:
        # The everyday message: a role and a text.
        return Message(role, (Text(content, (at, "content"), content),), at, fields, context.home, True, None, True)
    before: list[Block] | None = None
    after: Sequence[Block] = ()
    calls: Sequence[Block] = ()
    extra: dict[str, Any] | None = None
    hollow = False
    for key in fields:
        if key == "role" or key == "content":
            continue  # keeps: the role is known and the content is read below
        if key in context.after:
            read_in = context.after[key](fields[key], (at, key), context)
            if read_in and type(read_in[0]) is ToolCall:
                calls = (*calls, *read_in) if calls else read_in
            else:
                after = (*after, *read_in) if after else read_in
            hollow = hollow or (not read_in and _is_hollow(fields[key], key, context))
        elif key in context.before:
            read_in = context.before[key](fields[key], (at, key), context)
            before = [*(before or ()), *read_in]
            hollow = hollow or (not read_in and _is_hollow(fields[key], key, context))
        else:
            extra = {} if extra is None else extra
            extra[key] = fields[key]
    if kind == "text":
        inside: tuple[Block, ...] = (Text(content, (at, "content"), content),)
    else:
        inside = () if kind == "null" else read_content(content, (at, "content"), context)
    # The fields of a message have no order; calls are what it ends with.
    blocks = (*(before or ()), *inside, *after, *calls)
    home, intact = _home(blocks, kind, context)
    # No empty list (OC10, GE3, BE7), and null or nothing only where an assistant calls tools (OC6, OC8).
    hollow = hollow or (not inside and (kind == "list" or role != "assistant"))
    if role == "tool" and any(type(block) is not ToolResult for block in blocks):
        # Results beside other content: the form of a user's turn.
        context.ledger.rename(SHP011, at, ("role",), old="tool", new="user")
        role, intact = "user", False
    # Only the common envelope has a message that is a result; in a dialect whose results are blocks, the user holds them.
    intact = intact and (role != "tool" or home in ("openai-chat", "flat"))
    return Message(role, blocks, at, fields, home, intact and not hollow, extra, kind == "text")


def _is_hollow(value: Leaf, key: str, context: Context) -> bool:
    """Whether a field that holds no block must not be written again: an empty list anywhere, null where another dialect's message is.

    «Invalid 'messages[1].tool_calls': empty array» (OC9, measured); null is what Chat's own answers carry (`"refusal": null`).
    """
    return payload.kind(value) == "list" or context.field_homes[key] != context.home


def _home(blocks: Sequence[Block], kind: str, context: Context) -> tuple[str, bool]:
    """Whose form the message has, and whether all of it is in that form.

    Fields that hold calls decide; without any, the first block of a kind that one dialect has; else the home of the whole history.
    """
    home: str | None = None
    outside: str | None = None
    intact = kind == "text" or kind == "null" or kind == "list"
    for block in blocks:
        its = block.home
        if its is None:
            # A bare text is at home everywhere, but not as an entry of a list or in place of another value.
            intact = intact and kind == "text" and type(block) is Text
            continue  # keeps: only looks
        if home is None:
            home = its
        elif home != its:
            intact = False
        if type(block) is ToolCall and outside is None and block.at[0][-1] != "content":
            outside = its
        intact = intact and block.intact
    return outside or home or context.home, intact


def _holds_results(content: Leaf) -> bool:
    """Whether the content has a result or call block of its own, so that the message is no result itself."""
    for entry in payload.items(content) or (content,):
        fields = payload.fields(entry)
        kind = payload.string(fields.get("type")) if fields is not None else None
        if kind is not None and (kind.endswith("tool_result") or kind == "tool_use"):
            return True
        if kind is None and fields is not None and ("toolResult" in fields or "toolUse" in fields):
            return True
    return False


def _read_result(fields: Fields, role: str, at: At, content: Leaf, context: Context) -> Message:
    """A `role: tool` message, or a legacy `role: function` one: the message is the result.

    Loses: SHP007, SHP011.
    """
    # The form is the same in Chat and flat.
    home = context.home if context.home == "flat" else "openai-chat"
    blocks = read_content(content, (at, "content"), context)
    call_id, key_of_id, gone = identifier(fields, "tool_call_id", at, context)
    legacy = role == "function" and key_of_id is None
    named = legacy and payload.kind(fields.get("name")) in ("text", "null")
    # Fields that hold blocks of their own belong to an assistant: what is in them stands beside the result.
    beside: list[Block] = []
    hollow = False
    owned = [key for key in fields if key in context.after or key in context.before]  # keeps: read below
    for key in owned:
        read_field = context.after.get(key) or context.before[key]
        read_in = read_field(fields[key], (at, key), context)
        beside.extend(read_in)
        hollow = hollow or (not read_in and _is_hollow(fields[key], key, context))
    known = ("role", "content", "tool_call_id", *gone, *owned, *(("name",) if named else ()))
    extra = remaining(fields, known)
    kind = payload.kind(content)
    intact = role == "tool" and key_of_id == "tool_call_id" and not gone and not hollow and kind in ("text", "list")
    for block in blocks:
        intact = intact and ((block.home == home and block.intact) or (kind == "text" and type(block) is Text))
    name = fields.get("name")
    result = ToolResult(call_id, blocks, at, fields, home, intact, extra, payload.string(name), by_name=legacy)
    if beside:
        context.ledger.rename(SHP011, at, ("role",), old=role, new="user")
        return Message("user", (result, *beside), at, fields, home, False)
    return Message("tool", (result,), at, fields, home, intact)


def read_content(content: Leaf, at: At, context: Context) -> tuple[Block, ...]:
    """Content as blocks: a text, a list of blocks of any dialect, or any other value as the JSON text that it is.

    Loses: SHP005.
    """
    kind = payload.kind(content)
    if kind == "text":
        return (Text(content, at, content),)
    if kind == "null":
        return ()
    if kind == "list":
        everyday_blocks = (
            context.read_list(content, at, context) if context.read_list is not None and type(content) is Raw else None
        )
        if everyday_blocks is not None:
            return tuple(everyday_blocks)
        payload.require_finite(content)
        return tuple(
            [_read_entry(entry, (at, index), context) for index, entry in enumerate(payload.objects(content) or ())]
        )
    if kind == "object":
        fields = payload.fields(content) or {}
        known = payload.string(fields.get("type"))
        if known is not None and known in context.blocks:
            return (_read_entry(content, at, context),)
    return (_as_text(content, at, context),)


def _read_entry(entry: Leaf, at: At, context: Context) -> Block:
    fields = entry if type(entry) is dict else payload.fields(entry)
    if fields is None:
        if payload.kind(entry) == "text":
            return Text(entry, at, entry)
        if payload.kind(entry) in ("number", "bool"):
            return _as_text(entry, at, context)
        return Opaque(payload.kind(entry), at, entry, context.home)
    kind = payload.string(fields.get("type"))
    read_block = context.blocks.get(kind) if kind is not None else _by_key(fields, context)
    return (
        Opaque(kind or "untyped", at, fields, context.home) if read_block is None else read_block(fields, at, context)
    )


def _as_text(value: Leaf, at: At, context: Context) -> Block:
    """A scalar or an object as its JSON text. Scalars lose nothing by it; structure does.

    Loses: SHP005.
    """
    text = payload.as_json_text(value)
    if payload.kind(value) == "object":
        context.ledger.degrade(SHP005, at)
    return Text("" if text is None else text, at)


def _by_key(fields: Fields, context: Context) -> ReadBlock | None:
    """The reader of a block without a `type`, by the key that says its kind."""
    for key in fields:
        if key in context.keyed:
            return context.keyed[key]
    return None
