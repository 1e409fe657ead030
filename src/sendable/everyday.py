"""What nearly every stored message is, read in one pass over its bytes: a role, a content, function calls or the id of one.

A list in which some message has any other field is none of this module's: `decoded` refuses it, and payload.py frames it. A message whose
content is no text is read like any other (reading.py). So this is speed and no rule: what it makes is what reading.py would make of the
same bytes (tests/test_everyday.py). What must not live here: the spelling of a block inside a list of content (dialects/).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal, TypeAlias, final

import msgspec
from msgspec import Raw

from sendable import payload
from sendable.conversation import (
    BLANK,
    INSTRUCTING,
    LATE,
    MANY,
    NUMBERED,
    RUN,
    SYSTEM,
    UNPAIRED,
    Block,
    Message,
    Text,
    ToolCall,
    ToolResult,
)
from sendable.dialects import Context
from sendable.paths import At
from sendable.survey import Survey

CALLS_HOME = "openai-chat"

ReadOther: TypeAlias = Callable[[dict[str, Any], str, At, Context], Message]


@final
class Function(msgspec.Struct, forbid_unknown_fields=True, gc=False):
    """Which function a call calls."""

    name: str
    arguments: Raw


@final
class Call(msgspec.Struct, forbid_unknown_fields=True, gc=False):
    """One entry of `tool_calls` in the everyday form."""

    id: str
    type: Literal["function"]
    function: Function


class _Message(msgspec.Struct, forbid_unknown_fields=True, omit_defaults=True, tag_field="role", gc=False):
    content: Raw


@final
class System(_Message, tag="system"): ...


@final
class Developer(_Message, tag="developer"): ...


@final
class User(_Message, tag="user"): ...


@final
class Assistant(_Message, tag="assistant"):
    tool_calls: list[Call] | None = None


@final
class Tool(_Message, tag="tool"):
    tool_call_id: str


Envelope: TypeAlias = System | Developer | User | Assistant | Tool
_ROLES = {System: "system", Developer: "developer", User: "user", Assistant: "assistant", Tool: "tool"}

_decode_body = msgspec.json.Decoder(
    msgspec.defstruct(
        "_Body",
        [("messages", list[Envelope]), *((key, Raw, None) for key in payload.COMMON)],
        forbid_unknown_fields=True,
        omit_defaults=True,
        gc=False,
    )
).decode
_decode_list = msgspec.json.Decoder(list[Envelope]).decode


def decoded(data: bytes) -> Any:
    """A body, or a list, whose messages are all everyday ones (`Envelope`), or None for any other.

    `data` is UTF-8 without U+0000: what else there is to be wrong with it is seen here.
    """
    try:
        if data[:1] == b"[":
            listed: Any = _decode_list(data)
            return listed if _is_whole(data, listed, listed, 0) else None
        body: Any = _decode_body(data)
    except (msgspec.MsgspecError, RecursionError):
        return None
    found = {
        key: value for key in ("messages", *payload.COMMON) if (value := getattr(body, key)) is not None
    }  # keeps: None is an absent field
    return found if _is_whole(data, body, body.messages, len(found)) else None


def is_everyday(listed: Sequence[Any]) -> bool:
    """Whether a list is one of `decoded`."""
    return bool(listed) and type(listed[0]) in _ROLES


def _is_whole(data: bytes, found: Any, listed: Sequence[Envelope], keys: int) -> bool:
    """Whether what was decoded, written again without blanks or as `json.dumps` does, has the length of the input: then no key was there
    twice, and no text was spelled in another way than it is written."""
    compact = len(msgspec.json.encode(found))
    if compact == len(data):
        return True
    # Blanks: behind every colon and every comma.
    blanks = max(2 * keys - 1, 0) + max(len(listed) - 1, 0)
    for message in listed:
        if type(message) is Assistant and message.tool_calls is not None:
            blanks += 5 + max(9 * len(message.tool_calls) - 1, 0)
        else:
            blanks += 5 if type(message) is Tool else 3
    return compact + blanks == len(data)


def read(listed: Sequence[Envelope], key: str, context: Context, read_other: ReadOther) -> tuple[list[Message], int]:
    """The messages, and what they may hold (`Conversation.holds`). `read_other` reads a message whose content is no text."""
    out: list[Message] = []
    home = context.home
    result_home = home if home == "flat" else CALLS_HOME
    survey = Survey()
    waiting, known = survey.waiting, survey.known
    for index, entry in enumerate(listed):
        content = entry.content
        at: At = (key, index)
        calls = entry.tool_calls if type(entry) is Assistant else None
        shows = payload.shows(content)
        text = None if shows is None else Text(content, (at, "content"), content)
        if shows is False:
            survey.holds |= BLANK
        role = _ROLES[type(entry)]
        if type(entry) is Tool and text is not None:
            call_id = entry.tool_call_id
            if call_id in waiting:
                waiting.remove(call_id)
            else:
                survey.holds |= UNPAIRED if call_id.strip() else UNPAIRED | NUMBERED
            own: dict[str, Any] = {"role": "tool", "tool_call_id": call_id, "content": content}
            result = ToolResult(call_id, (text,), at, own, result_home, True)
            out.append(Message("tool", (result,), at, own, result_home, True))
        elif calls is None and text is not None:
            if waiting or role != "user":
                _between(survey, role)
            out.append(Message(role, (text,), at, {"role": role, "content": content}, home, True, None, True))
        elif calls and (text is not None or payload.is_null(content)):
            if waiting or survey.before == "assistant":
                _between(survey, role)
            blocks: list[Block] = [] if text is None else [text]
            raws: list[dict[str, Any]] = []
            for number, call in enumerate(calls):
                call_id, name, arguments = call.id, call.function.name, call.function.arguments
                if call_id in known or not call_id.strip():
                    survey.holds |= UNPAIRED if call_id.strip() else UNPAIRED | NUMBERED
                known.add(call_id)
                waiting.add(call_id)
                raw = {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}
                raws.append(raw)
                blocks.append(ToolCall(call_id, name, arguments, ((at, "tool_calls"), number), raw, CALLS_HOME, True))
            if len(blocks) > 1:
                survey.holds |= MANY
            own = {"role": "assistant", "content": content, "tool_calls": raws}
            out.append(Message("assistant", tuple(blocks), at, own, CALLS_HOME, True, None, text is not None))
        else:
            message = _read_list(entry, role, at, context)
            if message is None:
                if not payload.is_list(content):
                    payload.require_finite(content)
                message = read_other(fields(entry), role, at, context)
            out.append(message)
            survey.see(message)
            role = message.role
        survey.before = role
    return out, survey.close()


def _read_list(entry: Envelope, role: str, at: At, context: Context) -> Message | None:
    """A message of nothing but a list of blocks of its home's own, or None for any other."""
    content = entry.content
    if context.read_list is None or not payload.is_list(content) or role == "tool":
        return None
    if type(entry) is Assistant and entry.tool_calls is not None:
        return None
    blocks = context.read_list(content, (at, "content"), context)
    if blocks is None:
        return None
    return Message(role, tuple(blocks), at, {"role": role, "content": content}, context.home, True)


def _between(survey: Survey, role: str) -> None:
    """What it means that a message of this role stands here."""
    if survey.waiting:
        survey.holds |= UNPAIRED
    if role == "assistant":
        if survey.before == "assistant":
            survey.holds |= RUN
    elif role in INSTRUCTING:
        survey.holds |= SYSTEM if survey.before in INSTRUCTING or not survey.before else SYSTEM | LATE


def fields(entry: Envelope) -> dict[str, Any]:
    """The message as an object of leaves."""
    found: dict[str, Any] = {"role": _ROLES[type(entry)], "content": entry.content}
    if type(entry) is Tool:
        found["tool_call_id"] = entry.tool_call_id
    elif type(entry) is Assistant and entry.tool_calls is not None:
        found["tool_calls"] = [
            {
                "id": call.id,
                "type": "function",
                "function": {"name": call.function.name, "arguments": call.function.arguments},
            }
            for call in entry.tool_calls
        ]
    return found
