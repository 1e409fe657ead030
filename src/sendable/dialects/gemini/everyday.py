"""Contents in the form that nearly every stored one has, read in one pass over their bytes.

This is speed and no rule: what it makes is what read.py would make of the same bytes (tests/test_everyday.py). A content that holds anything
else is none of this module's.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, final

import msgspec
from msgspec import Raw

from sendable import payload
from sendable.conversation import Block, Fields, Message, Text, ToolCall, ToolResult
from sendable.dialects import Context
from sendable.dialects.gemini import read
from sendable.dialects.gemini.read import HOME
from sendable.paths import At

_ABSENT = Raw()
_ROLES = {"user": "user", "model": "assistant"}


class _Object(msgspec.Struct, forbid_unknown_fields=True, omit_defaults=True, gc=False): ...


@final
class _Call(_Object):
    name: str
    args: Raw
    id: str | None = None


@final
class _Response(_Object):
    name: str
    response: Raw
    id: str | None = None


@final
class _Part(_Object):
    text: Raw = _ABSENT
    functionCall: _Call | None = None
    functionResponse: _Response | None = None


_decode = msgspec.json.Decoder(list[_Part]).decode


def read_content(fields: Fields, at: At, context: Context) -> Message:
    """One content."""
    parts, role = fields.get("parts"), _ROLES.get(payload.string(fields.get("role")) or "")
    if type(parts) is Raw and role is not None and len(fields) == 2:
        blocks = _read_parts(parts, (at, "parts"))
        if blocks is not None:
            return Message(role, tuple(blocks), at, fields, HOME, True)
    return read.read_content(fields, at, context)


def _read_parts(content: Raw, at: At) -> Sequence[Block] | None:
    """The blocks, each intact, or None if the list is not empty and of texts, calls, and results of one object only."""
    try:
        parts = _decode(content)
    except (msgspec.MsgspecError, RecursionError):
        return None
    out: list[Block] = []
    blanks = len(parts) - 1
    for index, part in enumerate(parts):
        place: At = (at, index)
        call, response, text = part.functionCall, part.functionResponse, part.text
        if (call is not None) + (response is not None) + (text is not _ABSENT) != 1:
            return None
        inner: dict[str, Any]
        if call is not None:
            payload.require_finite(call.args)
            inner = {"name": call.name, "args": call.args}
            if call.id is not None:
                inner["id"] = call.id
                if not call.id.strip():
                    return None
            raw: dict[str, Any] = {"functionCall": inner}
            out.append(ToolCall(call.id, call.name, call.args, place, raw, HOME, True, by_name=call.id is None))
            blanks += 2 * len(inner)
        elif response is not None:
            inner = {"name": response.name, "response": response.response}
            if response.id is not None:
                inner["id"] = response.id
                if not response.id.strip():
                    return None
            if not payload.is_object(response.response):
                return None
            payload.require_finite(response.response)
            error, said = read.read_result(response.response)
            content_at: At = ((place, "functionResponse"), "response")
            out.append(
                ToolResult(
                    response.id,
                    () if said is None else (Text(said, content_at, said),),
                    place,
                    {"functionResponse": inner},
                    HOME,
                    True,
                    name=response.name,
                    error=True if error else None,
                    by_name=response.id is None,
                )
            )
            blanks += 2 * len(inner)
        else:
            if not payload.is_text(text):
                return None
            out.append(Text(text, place, {"text": text}, HOME, True))
            blanks += 1
    # Written again without blanks, or with those of `json.dumps`: the same length means that no key was there twice, and that no id or name
    # was spelled in another way than it is written.
    compact = len(msgspec.json.encode(parts))
    return out if out and len(content) in (compact, compact + blanks) else None
