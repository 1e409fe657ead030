"""ARG: the arguments of calls in the form that the target takes: a JSON object, or the JSON text of one."""

from __future__ import annotations

from typing import Literal

import msgspec
from msgspec import Raw

from sendable import payload
from sendable.codes import ARG001, ARG002, ARG004, ARG006
from sendable.conversation import ToolCall, changed
from sendable.payload import Leaf
from sendable.report import Ledger

WRAPPER = "_raw"
"""The one field under which a value that is no object stands."""


def fit_arguments(call: ToolCall, form: Literal["object", "text", "parsed text"], ledger: Ledger) -> ToolCall:
    """The call with arguments that the target can read; none is ever lost, and an object's text is never respelled.

    Absent, null, blank and empty-list arguments become an empty object. Free text of a custom tool becomes the one field `input`, where
    the target has no such tools. Text that is no JSON, and JSON that is no object, is wrapped as it is under `_raw`. "text" leaves
    text that does not parse as it is: whether OpenAI refuses it is not known (OC21).

    Loses: ARG001, ARG002, ARG004, ARG006.
    """
    value = call.arguments
    kind = payload.kind(value)
    if call.kind == "custom":
        if kind != "text":
            call = _as_free_text(call, kind, ledger)
        return call if form != "object" else _freeform(call, ledger)
    if kind == "object":
        return call if form == "object" else _with(call, payload.arguments_text(value))
    if kind == "text":
        # Where the target parses it, the text of an object needs no other look.
        parsed = payload.arguments_value(value) if form != "text" else None
        if parsed is None and form == "parsed text" and payload.kind(_as_bytes(value)) == "object":
            # An object that only Python would read as another (a key twice) is sent as the text that it is.
            return call
        if parsed is not None and payload.kind(parsed) == "object":
            return _with(call, parsed) if form == "object" else call
        if payload.is_blank(value) or payload.says(value, "null"):
            # To the parser of objects, null is nothing at all.
            return _empty(call, form, ledger)
        if form == "text":
            return call
        if parsed is not None and payload.is_inert(parsed):
            return _empty(call, form, ledger)
        if parsed is None:
            ledger.degrade(ARG001, call, "arguments", characters=payload.length(value))
            return _with(call, _wrapped(value, form))
        ledger.degrade(ARG002, call, "arguments", kind=payload.kind(parsed))
        return _with(call, _wrapped(parsed, form))
    if payload.is_inert(value):
        return _empty(call, form, ledger)
    ledger.degrade(ARG002, call, "arguments", kind=kind)
    return _with(call, _wrapped(value, form))


def _as_bytes(text: Leaf) -> Leaf:
    """The JSON that a text of arguments holds, as the bytes that it is; None if it is none."""
    return payload.arguments_value(text if type(text) is Raw else Raw(payload.encoded(text)))


def _as_free_text(call: ToolCall, kind: str, ledger: Ledger) -> ToolCall:
    """A free-form call whose input is a text: absent is the empty one, and any other value its JSON."""
    text = None if kind == "null" else payload.as_json_text(call.arguments)
    if text is not None:
        ledger.degrade(ARG002, call, "arguments", kind=kind)
    return _with(call, "" if text is None else text)


def _with(call: ToolCall, arguments: Leaf) -> ToolCall:
    fitted: ToolCall = msgspec.structs.replace(call, arguments=arguments, intact=False)
    return fitted


def _empty(call: ToolCall, form: str, ledger: Ledger) -> ToolCall:
    ledger.note(ARG004, call, "arguments")
    return _with(call, {} if form == "object" else "{}")


def _freeform(call: ToolCall, ledger: Ledger) -> ToolCall:
    ledger.degrade(ARG006, call, "arguments")
    value = call.arguments
    fitted: ToolCall = changed(call, kind="function", arguments=_object("input", value))
    return fitted


def _wrapped(value: Leaf, form: str) -> Leaf:
    wrapped = _object(WRAPPER, value)
    return wrapped if form == "object" else payload.arguments_text(wrapped)


def _object(key: str, value: Leaf) -> Leaf:
    """An object of one field, in the form of the value."""
    if type(value) is Raw:
        return Raw(b'{"' + key.encode() + b'":' + bytes(value) + b"}")
    return {key: value}
