"""Generated histories in the dialect `openai-chat`: what api.openai.com accepts, with the extras of its many relatives (`reasoning_content`, unknown keys)."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import strategies as st

from tests.laws.dialects.spoken import (
    CLOSING_TEXTS,
    OBJECTS,
    PDF,
    PNG,
    TEXTS,
    TOOL_NAMES,
    WAV,
    Message,
    Spoken,
    Step,
    one_of,
    written,
)
from tests.laws.leaves import scoped

_TEXT_PARTS: list[dict[str, Any]] = [
    {"type": "text", "text": "«»"},
    {"type": "text", "text": "see «»\n"},
    {"type": "text", "text": "«»", "prompt_cache_breakpoint": {"mode": "explicit"}},
    {"type": "text", "text": "«»", "cache_control": {"type": "ephemeral"}},
    {"type": "text", "text": "«»", "x_vendor": {"note": "«»"}},
]
_MEDIA_PARTS: list[dict[str, Any]] = [
    {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PNG}«»"}},
    {"type": "image_url", "image_url": {"url": "https://example.com/«».png", "detail": "low"}},
    {"type": "input_audio", "input_audio": {"data": f"{WAV}«»", "format": "wav"}},
    {"type": "file", "file": {"file_data": f"data:application/pdf;base64,{PDF}«»", "filename": "«».pdf"}},
    {"type": "file", "file": {"file_id": "file-«!openai»"}},
]
_ASSISTANT_EXTRAS: list[dict[str, Any]] = [
    {},
    {},
    {"reasoning_content": "thinking about «»"},
    {"refusal": None, "annotations": []},
    {"name": "bot_«»"},
    {"x_unknown": "«»"},
    {"refusal": "I will not «»"},
]


def _parts(templates: list[dict[str, Any]]) -> st.SearchStrategy[Any]:
    return st.lists(one_of(templates), min_size=1, max_size=3)


def _call(number: int, name: str, arguments: str) -> dict[str, Any]:
    return {"id": f"call_«{number}»", "type": "function", "function": {"name": name, "arguments": arguments}}


@st.composite
def _tool_turn(draw: st.DrawFn) -> Step:
    calls: list[dict[str, Any]] = []
    results: list[Message] = []
    for number in range(draw(st.integers(1, 3))):
        if draw(st.integers(0, 5)) == 5:
            calls.append(
                {
                    "id": f"call_«{number}»",
                    "type": "custom",
                    "custom": {"name": draw(one_of(TOOL_NAMES)), "input": "raw «»"},
                }
            )
        else:
            text = json.dumps(draw(one_of(OBJECTS)), ensure_ascii=False, indent=draw(one_of([None, None, 1])))
            calls.append(_call(number, draw(one_of(TOOL_NAMES)), text))
        content = draw(st.one_of(one_of([*TEXTS, ""]), _parts(_TEXT_PARTS)))
        results.append({"role": "tool", "tool_call_id": f"call_«{number}»", "content": content})
    if draw(st.booleans()):
        results.reverse()
    content = draw(st.one_of(one_of([None, "", *TEXTS]), _parts(_TEXT_PARTS)))
    assistant = {"role": "assistant", "content": content, "tool_calls": calls, **draw(one_of(_ASSISTANT_EXTRAS))}
    if content is None and draw(st.booleans()):
        del assistant["content"]
    return [assistant, *results]


@st.composite
def _user(draw: st.DrawFn) -> Step:
    content = draw(st.one_of(one_of(TEXTS), _parts([*_TEXT_PARTS, *_MEDIA_PARTS])))
    return [{"role": "user", "content": content, **draw(one_of([{}, {}, {"name": "user_«»"}, {"x_unknown": ["«»"]}]))}]


@st.composite
def _assistant(draw: st.DrawFn) -> Step:
    content = draw(st.one_of(one_of(CLOSING_TEXTS), _parts([*_TEXT_PARTS, {"type": "refusal", "refusal": "«»"}])))
    extras = draw(one_of([*_ASSISTANT_EXTRAS, {"content": None, "audio": {"id": "audio_«!openai»"}}]))
    return [{"role": "assistant", "content": content, **extras}]


@st.composite
def _plain(draw: st.DrawFn) -> list[Message]:
    messages: list[Message] = [{"role": "system", "content": draw(one_of(TEXTS))}] if draw(st.booleans()) else []
    for scope in range(draw(st.integers(1, 3))):
        calls = [
            _call(number, draw(one_of(TOOL_NAMES)), json.dumps(draw(one_of(OBJECTS))))
            for number in range(draw(st.integers(1, 3)))
        ]
        turn: list[Message] = [
            {"role": "user", "content": draw(one_of(TEXTS))},
            {"role": "assistant", "content": draw(one_of([None, *TEXTS])), "tool_calls": calls},
            *({"role": "tool", "tool_call_id": call["id"], "content": draw(one_of(TEXTS))} for call in calls),
            {"role": "assistant", "content": draw(one_of(CLOSING_TEXTS))},
        ]
        messages = [*messages, *scoped(turn, scope)]
    return messages


_TOOL = {
    "type": "function",
    "function": {
        "name": "search",
        "description": "«»",
        "parameters": {"type": "object", "properties": {"q": {"type": "string"}}},
    },
}
_PARAMETERS: list[dict[str, Any]] = [
    {},
    {"temperature": 0.5},
    {"max_tokens": 100},
    {"max_completion_tokens": 100, "stop": ["«»"]},
    {"tools": [_TOOL], "tool_choice": "auto"},
    {"tools": [_TOOL], "parallel_tool_calls": False, "metadata": {"k": "«»"}},
    {"user": "«»", "stream": True},
]


def _body(messages: list[Message]) -> st.SearchStrategy[dict[str, Any]]:
    return one_of(_PARAMETERS).map(lambda extras: {"model": "some-model", "messages": messages, **extras})


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
    name="openai-chat",
    list_name="messages",
    user=_user(),
    assistant=_assistant(),
    tool_turn=_tool_turn(),
    system=st.tuples(one_of(["system", "developer"]), st.one_of(one_of(TEXTS), _parts(_TEXT_PARTS))).map(
        lambda pair: [{"role": pair[0], "content": pair[1]}]
    ),
    plain=_plain(),
    body=_body,
    blocks=one_of([*_TEXT_PARTS, *_MEDIA_PARTS, {"type": "refusal", "refusal": "«»"}]),
    orphan=[{"role": "tool", "tool_call_id": "call_«»", "content": "«»"}],
    first=[{"role": "user", "content": "«»"}],
    late_system=True,
    sequence=_sequence,
)
