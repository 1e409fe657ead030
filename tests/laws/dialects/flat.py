"""Generated histories in the dialect `flat`: `{"role", "content", "tool_calls": [{"tool_call_id", "name", "arguments"?}], "tool_call_id"}`."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from tests.laws.dialects.spoken import CLOSING_TEXTS, OBJECTS, TEXTS, TOOL_NAMES, Message, Spoken, Step, one_of, written
from tests.laws.leaves import scoped

_ARGUMENTS: list[Any] = [*OBJECTS, '{"q": "«»"}', "«» not json", None, ["«»"], 909_090_909]


@st.composite
def _tool_turn(draw: st.DrawFn, *, plain: bool = False) -> Step:
    calls, results = [], []
    for number in range(draw(st.integers(1, 3))):
        call: dict[str, Any] = {"tool_call_id": f"call_«{number}»", "name": draw(one_of(TOOL_NAMES))}
        if plain or draw(st.booleans()):
            call["arguments"] = draw(one_of(OBJECTS if plain else _ARGUMENTS))
        calls.append(call)
        text = draw(one_of(TEXTS if plain else [*TEXTS, ""]))
        results.append({"role": "tool", "content": text, "tool_call_id": call["tool_call_id"]})
    if not plain and draw(st.booleans()):
        results.reverse()
    return [{"role": "assistant", "content": draw(one_of([*TEXTS, ""])), "tool_calls": calls}, *results]


def _said(role: str, texts: list[str]) -> st.SearchStrategy[Step]:
    return one_of(texts).map(lambda text: [{"role": role, "content": text}])


@st.composite
def _plain(draw: st.DrawFn) -> list[Message]:
    messages: list[Message] = draw(_said("system", TEXTS)) if draw(st.booleans()) else []
    for scope in range(draw(st.integers(1, 3))):
        turn = scoped(draw(_tool_turn(plain=True)), scope)
        messages = [*messages, *draw(_said("user", TEXTS)), *turn, *draw(_said("assistant", CLOSING_TEXTS))]
    return messages


def _body(messages: list[Message]) -> st.SearchStrategy[dict[str, Any]]:
    return st.just({"messages": messages})


def _sequence(messages: list[Message]) -> list[tuple[str, str]]:
    found: list[tuple[str, str]] = []
    for message in messages:
        role = message["role"]
        if role == "tool":
            found.append((role, written(message)))
            continue
        content = message.get("content")
        found.extend((role, written(part)) for part in (content if isinstance(content, list) else [content]))
        found.extend((role, written(call)) for call in message.get("tool_calls") or ())
        rest = {key: value for key, value in message.items() if key not in ("role", "content", "tool_calls")}
        found.extend((role, written({key: rest[key]})) for key in sorted(rest))
    return found


SPOKEN = Spoken(
    name="flat",
    list_name="messages",
    user=_said("user", [*TEXTS, ""]),
    assistant=_said("assistant", CLOSING_TEXTS),
    tool_turn=_tool_turn(),
    system=st.one_of(_said("system", TEXTS), _said("developer", TEXTS)),
    plain=_plain(),
    body=_body,
    blocks=one_of([{"tool_call_id": "call_«»", "name": "search"}, "«»"]),
    orphan=[{"role": "tool", "content": "«»", "tool_call_id": "call_«»"}],
    first=[{"role": "user", "content": "«»"}],
    late_system=False,
    sequence=_sequence,
)
