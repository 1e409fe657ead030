"""Tools in the form that nearly every request has, read in one pass over their bytes.

This is speed and no rule: what it makes is what read.py would make of the same bytes (tests/test_everyday.py). A list that holds anything
else is none of this module's.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, final

import msgspec
from msgspec import Raw

from sendable.conversation import Setting
from sendable.dialects.openai_chat import read
from sendable.paths import At
from sendable.payload import Leaf

_ABSENT = Raw()


@final
class _Function(msgspec.Struct, forbid_unknown_fields=True, omit_defaults=True, gc=False):
    name: str
    description: Raw = _ABSENT
    parameters: Raw = _ABSENT
    strict: Raw = _ABSENT


@final
class _Tool(msgspec.Struct, forbid_unknown_fields=True, gc=False):
    type: Literal["function"]
    function: _Function


_decode = msgspec.json.Decoder(list[_Tool]).decode


def read_setting(key: str, value: Leaf, at: At) -> Sequence[Setting]:
    """One request field in the hub's words."""
    tools = _read_tools(value, at) if key == "tools" and type(value) is Raw else None
    return read.read_setting(key, value, at) if tools is None else tools


def _read_tools(value: Raw, at: At) -> Sequence[Setting] | None:
    """The tools, or None if one is not `{"type":"function","function":{…}}` with a name."""
    try:
        tools = _decode(value)
    except (msgspec.MsgspecError, RecursionError):
        return None
    out: list[Setting] = []
    blanks = max(len(tools) - 1, 0)
    for index, tool in enumerate(tools):
        function = tool.function
        said: dict[str, Any] = {"name": function.name}
        if function.description is not _ABSENT:
            said["description"] = function.description
        if function.parameters is not _ABSENT:
            said["parameters"] = function.parameters
        if function.strict is not _ABSENT:
            said["strict"] = function.strict
        blanks += 2 + 2 * len(said)
        out.append(Setting("tool", said, (at, index), {"type": "function", "function": said}, read.HOME, True))
    # Written again without blanks, or with those of `json.dumps`: the same length means that no key was there twice, and no name was spelled
    # in another way than it is written.
    compact = len(msgspec.json.encode(tools))
    return out if len(value) in (compact, compact + blanks) else None
