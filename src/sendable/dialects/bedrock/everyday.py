"""Lists of content in the forms that nearly every stored one has, read in one pass over their bytes.

This is speed and no rule: what it makes is what read.py would make of the same bytes (tests/test_everyday.py). A list that holds anything
else is none of this module's.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, final

import msgspec
from msgspec import Raw

from sendable import payload
from sendable.conversation import Block, Text, ToolCall, ToolResult
from sendable.dialects import Context
from sendable.dialects.bedrock.read import HOME, STATUS
from sendable.paths import At

_ABSENT = Raw()


class _Object(msgspec.Struct, forbid_unknown_fields=True, omit_defaults=True, gc=False): ...


@final
class _Said(_Object):
    text: Raw


@final
class _Use(_Object):
    toolUseId: str
    name: str
    input: Raw


@final
class _Result(_Object):
    toolUseId: str
    content: list[_Said]
    status: Literal["success", "error"] | None = None


@final
class _Part(_Object):
    text: Raw = _ABSENT
    toolUse: _Use | None = None
    toolResult: _Result | None = None


_decode = msgspec.json.Decoder(list[_Part]).decode


def read_list(content: Raw, at: At, context: Context) -> Sequence[Block] | None:
    """The blocks, each intact, or None if the list is not empty and of texts, calls, and results that hold texts only."""
    try:
        parts = _decode(content)
    except (msgspec.MsgspecError, RecursionError):
        return None
    out: list[Block] = []
    blanks = len(parts) - 1
    for index, part in enumerate(parts):
        place: At = (at, index)
        use, result, text = part.toolUse, part.toolResult, part.text
        if (use is not None) + (result is not None) + (text is not _ABSENT) != 1:
            return None
        if use is not None:
            payload.require_finite(use.input)
            called: dict[str, Any] = {"toolUseId": use.toolUseId, "name": use.name, "input": use.input}
            out.append(ToolCall(use.toolUseId, use.name, use.input, place, {"toolUse": called}, HOME, True))
            blanks += 6
        elif result is not None:
            listed: At = (place, "toolResult", "content")
            inside: list[Block] = []
            raws: list[dict[str, Any]] = []
            for number, said in enumerate(result.content):
                if not payload.is_text(said.text):
                    return None
                raw = {"text": said.text}
                raws.append(raw)
                inside.append(Text(said.text, (listed, number), raw, HOME, True))
            came: dict[str, Any] = {"toolUseId": result.toolUseId, "content": raws}
            if result.status is not None:
                came["status"] = result.status
            error = STATUS.get(result.status or "")
            fields = {"toolResult": came}
            out.append(ToolResult(result.toolUseId, tuple(inside), place, fields, HOME, True, error=error))
            blanks += 2 * len(came) + len(raws) + max(len(raws) - 1, 0)
        else:
            if not payload.is_text(text):
                return None
            out.append(Text(text, place, {"text": text}, HOME, True))
            blanks += 1
    # Written again without blanks, or with those of `json.dumps`: the same length means that no key was there twice, and that no id or name
    # was spelled in another way than it is written.
    compact = len(msgspec.json.encode(parts))
    return out if out and len(content) in (compact, compact + blanks) else None
