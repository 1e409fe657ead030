"""Generated histories in the dialect `anthropic`: content blocks of every kind that the Messages API takes back."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from tests.laws.dialects.spoken import (
    CLOSING_TEXTS,
    OBJECTS,
    PDF,
    PNG,
    TEXTS,
    TOOL_NAMES,
    Message,
    Spoken,
    Step,
    one_of,
    written,
)
from tests.laws.leaves import scoped

_CITED = {
    "type": "char_location",
    "cited_text": "«»",
    "document_index": 0,
    "document_title": None,
    "start_char_index": 0,
    "end_char_index": 4,
}
_TEXT_BLOCKS: list[dict[str, Any]] = [
    {"type": "text", "text": "«»"},
    {"type": "text", "text": " «»\nmore"},
    {"type": "text", "text": "«»", "citations": [_CITED]},
]
_MEDIA_BLOCKS: list[dict[str, Any]] = [
    {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": f"{PNG}«»"}},
    {"type": "image", "source": {"type": "url", "url": "https://example.com/«».png"}},
    {"type": "image", "source": {"type": "file", "file_id": "file_«!anthropic»"}},
    {
        "type": "document",
        "source": {"type": "base64", "media_type": "application/pdf", "data": f"{PDF}«»"},
        "title": "«»",
    },
    {
        "type": "document",
        "source": {"type": "text", "media_type": "text/plain", "data": "«»"},
        "citations": {"enabled": True},
    },
    {"type": "document", "source": {"type": "url", "url": "https://example.com/«».pdf"}, "context": "«»"},
    {
        "type": "search_result",
        "source": "https://example.com/«»",
        "title": "«»",
        "content": [{"type": "text", "text": "«»"}],
    },
]
_REASONING: list[dict[str, Any]] = [
    {"type": "thinking", "thinking": "«»", "signature": "sig_«!anthropic»"},
    {"type": "thinking", "thinking": "", "signature": "sig_«!anthropic»"},
    {"type": "redacted_thinking", "data": "enc_«!anthropic»"},
]
_SEARCHED = {
    "type": "web_search_result",
    "url": "https://example.com/«»",
    "title": "«»",
    "encrypted_content": "enc_«!anthropic»",
}
_SERVER_PAIR: list[dict[str, Any]] = [
    {"type": "server_tool_use", "id": "srvtoolu_«s»", "name": "web_search", "input": {"query": "«»"}},
    {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_«s»", "content": [_SEARCHED]},
]
_RESULT_CONTENT: list[Any] = [
    *TEXTS,
    "",
    [{"type": "text", "text": "«»"}],
    [{"type": "text", "text": "«»"}, _MEDIA_BLOCKS[0]],
    [_MEDIA_BLOCKS[1]],
    [_MEDIA_BLOCKS[3]],
    [_MEDIA_BLOCKS[6]],
]


@st.composite
def _tool_turn(draw: st.DrawFn) -> Step:
    blocks: list[dict[str, Any]] = []
    results: list[dict[str, Any]] = []
    if draw(st.integers(0, 2)) == 2:
        blocks.append(draw(one_of(_REASONING)))
    if draw(st.booleans()):
        blocks.append(draw(one_of(_TEXT_BLOCKS)))
    if draw(st.integers(0, 6)) == 6:
        blocks.extend(_SERVER_PAIR)
    for number in range(draw(st.integers(1, 3))):
        call = {
            "type": "tool_use",
            "id": f"toolu_«{number}»",
            "name": draw(one_of(TOOL_NAMES)),
            "input": draw(one_of(OBJECTS)),
        }
        blocks.append(call)
        result: dict[str, Any] = {"type": "tool_result", "tool_use_id": call["id"]}
        if draw(st.integers(0, 5)) == 5:
            result |= {"content": draw(one_of(TEXTS)), "is_error": True}
        elif draw(st.integers(0, 7)) < 7:
            result["content"] = draw(one_of(_RESULT_CONTENT))
        results.append(result)
    if draw(st.booleans()):
        results.reverse()
    if len(results) > 1 and draw(st.integers(0, 3)) == 3:  # AT5: the leading run of results may be split over messages
        return [
            {"role": "assistant", "content": blocks},
            {"role": "user", "content": results[:1]},
            {"role": "user", "content": results[1:]},
        ]
    after: list[Any] = draw(st.lists(one_of([*_TEXT_BLOCKS[:2], *_MEDIA_BLOCKS]), max_size=1))
    return [{"role": "assistant", "content": blocks}, {"role": "user", "content": [*results, *after]}]


def _marked(blocks: list[Any]) -> list[Any]:
    return [*blocks[:-1], {**blocks[-1], "cache_control": {"type": "ephemeral"}}]


@st.composite
def _user(draw: st.DrawFn) -> Step:
    if draw(st.booleans()):
        return [{"role": "user", "content": draw(one_of(TEXTS))}]
    return [
        {"role": "user", "content": draw(st.lists(one_of([*_TEXT_BLOCKS[:2], *_MEDIA_BLOCKS]), min_size=1, max_size=3))}
    ]


@st.composite
def _assistant(draw: st.DrawFn) -> Step:
    shape = draw(st.integers(0, 3))
    if shape == 0:
        return [{"role": "assistant", "content": draw(one_of(CLOSING_TEXTS))}]
    blocks: list[Any] = [*draw(st.lists(one_of(_REASONING), max_size=2)), *(_SERVER_PAIR if shape == 3 else ())]
    return [{"role": "assistant", "content": [*blocks, {"type": "text", "text": draw(one_of(CLOSING_TEXTS))}]}]


@st.composite
def _plain(draw: st.DrawFn) -> list[Message]:
    messages: list[Message] = []
    for scope in range(draw(st.integers(1, 3))):
        said = draw(st.lists(one_of(_TEXT_BLOCKS[:2]), max_size=1))
        calls = [
            {
                "type": "tool_use",
                "id": f"toolu_«{number}»",
                "name": draw(one_of(TOOL_NAMES)),
                "input": draw(one_of(OBJECTS)),
            }
            for number in range(draw(st.integers(1, 3)))
        ]
        results = [{"type": "tool_result", "tool_use_id": call["id"], "content": draw(one_of(TEXTS))} for call in calls]
        turn: list[Message] = [
            {"role": "user", "content": draw(one_of(TEXTS))},
            {"role": "assistant", "content": [*said, *calls]},
            {"role": "user", "content": results},
            {
                "role": "assistant",
                "content": draw(st.one_of(one_of(CLOSING_TEXTS), st.just([{"type": "text", "text": "«»"}]))),
            },
        ]
        messages = [*messages, *scoped(turn, scope)]
    return messages


_TOOL = {
    "name": "search",
    "description": "«»",
    "input_schema": {"type": "object", "properties": {"q": {"type": "string"}}},
}
_PARAMETERS: list[dict[str, Any]] = [
    {},
    {"system": "be brief «»"},
    {"system": _marked([{"type": "text", "text": "«»"}, {"type": "text", "text": "«»"}])},
    {"tools": [_TOOL], "tool_choice": {"type": "auto"}},
    {"temperature": 0.5, "stop_sequences": ["«»"]},
    {"metadata": {"user_id": "«»"}, "stream": True},
]


def _body(messages: list[Message]) -> st.SearchStrategy[dict[str, Any]]:
    return one_of(_PARAMETERS).map(
        lambda extras: {"model": "some-model", "max_tokens": 100, **extras, "messages": messages}
    )


def _sequence(messages: list[Message]) -> list[tuple[str, str]]:
    found: list[tuple[str, str]] = []
    for message in messages:
        content = message["content"]
        blocks = content if isinstance(content, list) else [{"type": "text", "text": content}]
        found.extend((message["role"], written(block)) for block in blocks)
    return found


SPOKEN = Spoken(
    name="anthropic",
    list_name="messages",
    user=st.one_of(
        _user(),
        _user().map(
            lambda step: (
                [{**step[0], "content": _marked(step[0]["content"])}] if isinstance(step[0]["content"], list) else step
            )
        ),
    ),
    assistant=_assistant(),
    tool_turn=_tool_turn(),
    system=st.just([]),
    plain=_plain(),
    body=_body,
    blocks=one_of(
        [
            *_TEXT_BLOCKS,
            *_MEDIA_BLOCKS,
            *_REASONING,
            *_SERVER_PAIR,
            {"type": "tool_use", "id": "toolu_«»", "name": "search", "input": {"q": "«»"}},
            {"type": "tool_result", "tool_use_id": "toolu_«»", "content": "«»", "is_error": True},
            {"type": "mcp_tool_use", "id": "mcptoolu_«»", "name": "search", "server_name": "«»", "input": {}},
            {"type": "container_upload", "file_id": "file_«!anthropic»"},
        ]
    ),
    orphan=[{"role": "user", "content": [{"type": "tool_result", "tool_use_id": "toolu_«»", "content": "«»"}]}],
    first=[{"role": "user", "content": "«»"}],
    late_system=False,
    sequence=_sequence,
)
