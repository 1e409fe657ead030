"""What a dialect is: a value of functions and tables. One folder each; two dialects never import each other.

What must not live here: anything that is true of one dialect only, and the list of dialects (that is `targets.py`).
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, NewType, TypeAlias, final

import msgspec
from msgspec import Raw

from sendable import payload
from sendable.codes import RSP009, SHP007
from sendable.conversation import Block, Decoding, Fields, Message, Opaque, Reply, Setting
from sendable.paths import At
from sendable.payload import Leaf
from sendable.report import Ledger
from sendable.stream import EventReader, EventWriter

Wire = NewType("Wire", dict[str, Any])
"""A written JSON object. Only writers make one, so that a writer cannot return nothing."""


def as_it_came(node: Block | Message) -> Wire:
    """The caller's own object, which nothing has touched. What is written is detached from it unless the caller asks to share."""
    raw: Any = node.raw
    return Wire(raw)


def with_extra(wire: dict[str, Any], extra: Fields | None, nulls: bool = True) -> Wire:
    """The object with the fields that the hub does not model; a dotted name stands in the one inner object. What is there stays.

    `nulls`: whether a field that is null, and so says nothing, is written again where an object is rebuilt.
    """
    if extra is not None:
        for key, value in extra.items():
            outer, dot, inner = key.partition(".")
            if dot and type(wire.get(outer)) is dict:
                wire[outer] = {**wire[outer], inner: value}
            elif nulls or not payload.is_null(value):
                wire.setdefault(key, value)
    return Wire(wire)


ReadBlock: TypeAlias = Callable[[Fields, At, "Context"], Block]
ReadField: TypeAlias = Callable[[Leaf, At, "Context"], Sequence[Block]]
"""Reads one field of a message that holds blocks of its own, such as `tool_calls`."""

ReadList: TypeAlias = Callable[[Raw, At, "Context"], Sequence[Block] | None]
"""Reads a list of content of everyday blocks, each as intact as it came, in one pass over its bytes; None for any other list."""

Claimed: TypeAlias = tuple[Callable[[Fields], bool], Callable[[Fields, At, "Context"], Message]]
"""Says whether an entry of the message list is a dialect's own, and reads it."""


@final
class Context(msgspec.Struct, gc=False):
    """What a reader may know: the default dialect, the merged tables, and the ledger."""

    home: str
    blocks: Mapping[str, ReadBlock]
    before: Mapping[str, ReadField]
    after: Mapping[str, ReadField]
    field_homes: Mapping[str, str]
    keyed: Mapping[str, ReadBlock]
    claimed: Sequence[Claimed]
    ledger: Ledger
    read_content: Callable[[Leaf, At, Context], tuple[Block, ...]]
    read_list: ReadList | None = None


ReadEntry: TypeAlias = Callable[[Leaf, At], Sequence[Message]]
"""Reads one of the provider's own messages or items, as it stands in an answer."""


@final
class Answers(msgspec.Struct, frozen=True, gc=False):
    """The answers of one dialect, whole and as streams.

    `claims` says whether a body is such an answer by its own keys. `failure` gives the error object of a body that is one, else None.
    `read` is wire → hub; it raises `UpstreamError` (RSP004) for what an answer cannot be without. `write` is hub → wire: it gets the
    answer and its messages in a form that the dialect can hold, and reports the fields of the answer that it has no place for. `reader`
    and `writer` make the reader and writer of one stream. `one_at_a_time`: in a stream, a block ends before the next one begins.
    `decoding` says what the request guarantees about the arguments of a call of the tool of this name. `issuer`: who signs. `carry` puts
    a carrier (`carriers.py`) into a written answer, into the slot that clients of this dialect send back unread; None if there is none.
    `refusal`: the kind of block as which a refusal is streamed. `beside`: the fields that stand beside a block of its own when a stream
    begins it; None if everything is said in the block's own events.
    """

    claims: Callable[[Fields], bool]
    failure: Callable[[Fields], Fields | None]
    read: Callable[[Fields, ReadEntry, Ledger], Reply]
    write: Callable[[Reply, Sequence[Message], Ledger], Wire]
    reader: Callable[[], EventReader]
    writer: Callable[[], EventWriter]
    decoding: Callable[[Fields, str], Decoding]
    one_at_a_time: bool
    issuer: str
    carry: Callable[[dict[str, Any], Fields], None] | None = None
    refusal: Literal["text", "refusal"] = "text"
    beside: Callable[[Block, Message], Fields | None] | None = None


@final
class Dialect(msgspec.Struct, frozen=True, gc=False):
    """One wire format.

    `key` names the message list. `blocks` reads a block by its kind; `before` and `after` read the fields of a message that hold
    blocks, which stand before or after its content. `body_keys` are the request fields that only this dialect has. `read_setting`
    gives the hub's form of one request field, `write` the messages, `write_settings` the rest of a body. `read_hoisted` and
    `write_hoisted` are for the request field that takes the leading system messages, if the dialect has one. `keyed` reads a block that
    has no `type` by the one key that says its kind. `claims` says whether an entry of the message list is not the common envelope of
    `role` and `content` but the dialect's own; `read_entry` then reads it. `envelope`: the dialect as whose own the common envelope is
    read, where it is not a form of this one. `hoisted_aliases`: other spellings of the request field that `read_hoisted` reads.
    `is_call` says whether an own entry is a call, so that detection knows a list by it. `read_single` and `write_single` are for a
    message list that is not a list, where the dialect has such a form. `handles`: request fields that stand for an earlier part of the
    conversation, which the provider holds. `read_list`: a faster way to read most of its lists of content, if there is one. `answers`: how its
    provider answers; None for a form that no provider speaks.
    """

    name: str
    key: str
    blocks: Mapping[str, ReadBlock]
    before: Mapping[str, ReadField]
    after: Mapping[str, ReadField]
    body_keys: frozenset[str]
    read_setting: Callable[[str, Leaf, At], Sequence[Setting]]
    write: Callable[[Sequence[Message]], list[Wire]]
    write_settings: Callable[[Sequence[Setting]], Wire]
    keyed: Mapping[str, ReadBlock] = {}
    claims: Callable[[Fields], bool] | None = None
    read_entry: Callable[[Fields, At, Context], Message] | None = None
    read_hoisted: tuple[str, Callable[[Leaf, At, Context], Message | None]] | None = None
    write_hoisted: Callable[[Sequence[Message]], Any] | None = None
    envelope: str | None = None
    hoisted_aliases: frozenset[str] = frozenset()
    is_call: Callable[[Fields], bool] | None = None
    read_single: Callable[[Leaf, At, Context], Message | None] | None = None
    write_single: Callable[[Sequence[Message]], Any] | None = None
    handles: frozenset[str] = frozenset()
    read_list: ReadList | None = None
    answers: Answers | None = None


def answer_id(name: str | None, prefix: str, model: str | None, created: int | None, ledger: Ledger) -> str:
    """The id of an answer, for clients that demand one: made of what is known of the answer where it has none.

    Loses: RSP009.
    """
    if name:
        return name
    made = prefix + hashed(f"{model} {created}")
    ledger.synthesize(RSP009, (), None, missing="id", new=made)
    return made


def hashed(text: str) -> str:
    """Thirty-two hexadecimal digits that are the same for the same text."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:32]


ALIASES = ("id", "call_id", "tool_call_id", "toolCallId", "toolUseId", "tool_use_id")
"""Every spelling of a call's id in use."""


def identifier(fields: Fields, own: str, at: At, context: Context) -> tuple[Any, str | None, tuple[str, ...]]:
    """The id of a call or result, the key under which it stands, and the keys that contradict it.

    The dialect's own spelling counts before the aliases; a blank spelling counts only if there is no other.

    Loses: SHP007.
    """
    found: Any = fields.get(own)
    key: str | None = own if own in fields else None
    usable = key is not None and not is_blank_id(found)
    contradicting: tuple[str, ...] = ()
    for alias in ALIASES:
        # `id` beside another own key is the id of the message or item, not of the call.
        if alias != own and alias in fields and alias != "id":
            value = fields[alias]
            if not is_blank_id(value):
                if not usable:
                    found, key, usable = value, alias, True
                elif scalar(value) != scalar(found):
                    context.ledger.strip(SHP007, at, (alias,), used=key)
                    contradicting = (*contradicting, alias)
    return scalar(found), key, contradicting


def is_blank_id(value: Leaf) -> bool:
    """Whether a value cannot be an id at all: absent, null, or text without a character in it."""
    kind = payload.kind(value)
    return kind == "null" or (kind == "text" and payload.is_blank(value))


def scalar(value: Leaf) -> Any:
    """An id or name as a Python value: text, a number, or whatever else was stored."""
    text = payload.string(value)
    return payload.plain(value) if text is None else text


def remaining(fields: Fields, known: frozenset[str] | tuple[str, ...]) -> Fields | None:
    """The fields that the hub does not model, or None if there is none."""
    extra: dict[str, Any] | None = None
    for key in fields:
        if key not in known:
            extra = {} if extra is None else extra
            extra[key] = fields[key]
    return extra


def opaque(kind: str, home: str | None) -> ReadBlock:
    """A reader of a kind that is modelled nowhere: the block is kept as it is."""

    def read_opaque(fields: Fields, at: At, context: Context) -> Block:
        return Opaque(kind, at, fields, home, intact=home is not None)

    return read_opaque
