"""Generated histories in the dialect `bedrock-converse`: blocks of every kind that Converse takes back, roles that alternate."""

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
    WAV,
    Message,
    Spoken,
    Step,
    one_of,
    written,
)
from tests.laws.leaves import scoped

_POINT = {"cachePoint": {"type": "default"}}
_TEXT_BLOCKS: list[dict[str, Any]] = [
    {"text": "«»"},
    {"text": " «»\nmore"},
    {"guardContent": {"text": {"text": "«»", "qualifiers": ["query"]}}},
]
_CITED = {
    "citationsContent": {
        "content": [{"text": "«»"}],
        "citations": [{"title": "«»", "location": {"documentChar": {"documentIndex": 0, "start": 0, "end": 4}}}],
    }
}
_PICTURE = {"image": {"format": "png", "source": {"bytes": f"{PNG}«»"}}}
_PAPER = {"document": {"format": "pdf", "name": "paper «»", "source": {"bytes": f"{PDF}«»"}}}
_MEDIA_BLOCKS: list[dict[str, Any]] = [
    _PICTURE,
    {"image": {"format": "jpeg", "source": {"s3Location": {"uri": "s3://pictures/«»"}}}},
    _PAPER,
    {"document": {"format": "txt", "name": "words-«»", "source": {"text": "«»"}, "context": "«»"}},
    {
        "document": {
            "format": "md",
            "name": "parts (1) «»",
            "source": {"content": [{"text": "«»"}, {"text": "«»"}]},
            "citations": {"enabled": True},
        }
    },
    {"video": {"format": "mp4", "source": {"bytes": "AAAA«»"}}},
    {"audio": {"format": "wav", "source": {"bytes": f"{WAV}«»"}}},
    {"searchResult": {"source": "https://example.com/«»", "title": "«»", "content": [{"text": "«»"}]}},
]
_REASONING: list[dict[str, Any]] = [
    {"reasoningContent": {"reasoningText": {"text": "«»", "signature": "sig_«!anthropic»"}}},
    {"reasoningContent": {"reasoningText": {"text": "«»"}}},
    {"reasoningContent": {"redactedContent": "enc_«!anthropic»"}},
]
_SERVER_PAIR: list[dict[str, Any]] = [
    {
        "toolUse": {
            "toolUseId": "tooluse_«s»",
            "name": "nova_grounding",
            "input": {"query": "«»"},
            "type": "server_tool_use",
        }
    },
    {"toolResult": {"toolUseId": "tooluse_«s»", "content": [{"text": "«»"}], "type": "nova_grounding_result"}},
]
_RESULT_CONTENT: list[list[dict[str, Any]]] = [
    *([{"text": text}] for text in TEXTS),
    [],
    [{"json": {"lines": 3, "words": ["«»", 2.5, None]}}],
    [{"json": "«»"}],
    [{"json": ["«»", True]}, {"text": "«»"}],
    [{"text": "«»"}, _PICTURE],
    [_PAPER],
    [_MEDIA_BLOCKS[5]],
    [_MEDIA_BLOCKS[7]],
]


@st.composite
def _tool_turn(draw: st.DrawFn) -> Step:
    blocks: list[dict[str, Any]] = []
    results: list[dict[str, Any]] = []
    if draw(st.integers(0, 2)) == 2:
        blocks.append(draw(one_of(_REASONING)))
    if draw(st.booleans()):
        blocks.append(draw(one_of([*_TEXT_BLOCKS[:2], _CITED])))
    if draw(st.integers(0, 6)) == 6:
        blocks.extend(_SERVER_PAIR)
    for number in range(draw(st.integers(1, 3))):
        identity = f"tooluse_«{number}»"
        call = {"toolUseId": identity, "name": draw(one_of(TOOL_NAMES)), "input": draw(one_of(OBJECTS))}
        if draw(st.integers(0, 5)) == 5:
            call["type"] = "tool_use"
        blocks.append({"toolUse": call})
        result: dict[str, Any] = {"toolUseId": identity, "content": draw(one_of(_RESULT_CONTENT))}
        if draw(st.integers(0, 5)) == 5:
            result |= {"content": [{"text": draw(one_of(TEXTS))}], "status": "error"}
        elif draw(st.booleans()):
            result["status"] = "success"
        results.append({"toolResult": result})
    if draw(st.booleans()):
        results.reverse()
    if draw(st.integers(0, 4)) == 4:
        results.append(_POINT)
    after: list[Any] = draw(st.lists(one_of([*_TEXT_BLOCKS, *_MEDIA_BLOCKS[:2]]), max_size=1))
    return [
        {"role": "assistant", "content": blocks},
        {"role": "user", "content": [*results, *after]},
        *draw(_assistant()),
    ]


def _said(blocks: list[Any]) -> list[Any]:
    """The blocks of a user; a document never stands without a text."""
    papers = any("document" in block for block in blocks)
    return [*blocks, {"text": "«»"}] if papers and not any("text" in block for block in blocks) else blocks


@st.composite
def _user(draw: st.DrawFn) -> Step:
    blocks = _said(draw(st.lists(one_of([*_TEXT_BLOCKS, *_MEDIA_BLOCKS]), min_size=1, max_size=3)))
    return [{"role": "user", "content": [*blocks, _POINT] if draw(st.integers(0, 4)) == 4 else blocks}]


@st.composite
def _exchange(draw: st.DrawFn) -> Step:
    """What follows an assistant turn: a question and its answer, so that the roles go on to alternate."""
    return [*draw(_user()), *draw(_assistant())]


@st.composite
def _assistant(draw: st.DrawFn) -> Step:
    blocks: list[Any] = [
        *draw(st.lists(one_of(_REASONING), max_size=2)),
        *(_SERVER_PAIR if draw(st.integers(0, 4)) == 4 else ()),
        *draw(st.lists(one_of([_CITED]), max_size=1)),
    ]
    return [{"role": "assistant", "content": [*blocks, {"text": draw(one_of(CLOSING_TEXTS))}]}]


@st.composite
def _turn(draw: st.DrawFn) -> Step:
    return [*draw(_user()), *draw(_tool_turn())]


@st.composite
def _plain(draw: st.DrawFn) -> list[Message]:
    messages: list[Message] = []
    for scope in range(draw(st.integers(1, 3))):
        said = draw(st.lists(one_of(_TEXT_BLOCKS[:2]), max_size=1))
        calls = [
            {
                "toolUse": {
                    "toolUseId": f"tooluse_«{number}»",
                    "name": draw(one_of(TOOL_NAMES)),
                    "input": draw(one_of(OBJECTS)),
                }
            }
            for number in range(draw(st.integers(1, 3)))
        ]
        results = [
            {
                "toolResult": {
                    "toolUseId": call["toolUse"]["toolUseId"],
                    "content": [draw(one_of([*({"text": text} for text in TEXTS), {"json": {"a": "«»"}}]))],
                }
            }
            for call in calls
        ]
        turn: list[Message] = [
            {"role": "user", "content": [{"text": draw(one_of(TEXTS))}]},
            {"role": "assistant", "content": [*said, *calls]},
            {"role": "user", "content": results},
            {"role": "assistant", "content": [{"text": draw(one_of(CLOSING_TEXTS))}]},
        ]
        messages = [*messages, *scoped(turn, scope)]
    return messages


_TOOL = {
    "toolSpec": {
        "name": "search",
        "description": "«»",
        "inputSchema": {"json": {"type": "object", "properties": {"q": {"type": "string"}}}},
    }
}
_PARAMETERS: list[dict[str, Any]] = [
    {},
    {"system": [{"text": "be brief «»"}]},
    {"system": [{"text": "«»"}, {"text": "«»"}, {"cachePoint": {"type": "default", "ttl": "1h"}}]},
    {"toolConfig": {"tools": [_TOOL, _POINT], "toolChoice": {"auto": {}}}},
    {"inferenceConfig": {"maxTokens": 100, "temperature": 0.5, "topP": 0.9, "stopSequences": ["«»"]}},
    {"additionalModelRequestFields": {"top_k": 5, "odd": "«»"}, "requestMetadata": {"user": "«»"}},
    {
        "outputConfig": {
            "textFormat": {
                "type": "json_schema",
                "structure": {"jsonSchema": {"schema": '{"type":"object"}', "name": "answer"}},
            },
            "effort": "low",
        }
    },
]


def _body(messages: list[Message]) -> st.SearchStrategy[dict[str, Any]]:
    used = any("toolUse" in block for message in messages for block in _blocks(message))
    needed = {"toolConfig": {"tools": [_TOOL]}} if used else {}
    return one_of(_PARAMETERS).map(lambda extras: {"modelId": "some-model", **needed, **extras, "messages": messages})


def _blocks(message: Any) -> list[dict[str, Any]]:
    content = message.get("content") if isinstance(message, dict) else None
    return [block for block in content if isinstance(block, dict)] if isinstance(content, list) else []


def _sequence(messages: list[Message]) -> list[tuple[str, str]]:
    return [(message["role"], written(block)) for message in messages for block in message["content"]]


SPOKEN = Spoken(
    name="bedrock-converse",
    list_name="messages",
    user=_exchange(),
    assistant=_exchange(),
    tool_turn=_turn(),
    system=st.just([]),
    plain=_plain(),
    body=_body,
    blocks=one_of(
        [
            *_TEXT_BLOCKS,
            _CITED,
            *_MEDIA_BLOCKS,
            *_REASONING,
            *_SERVER_PAIR,
            _POINT,
            {"toolUse": {"toolUseId": "tooluse_«»", "name": "search", "input": {"q": "«»"}}},
            {"toolResult": {"toolUseId": "tooluse_«»", "content": [{"json": {"a": "«»"}}], "status": "error"}},
            {"json": {"a": "«»"}},
            {"toolAddition": {"tool": {"name": "«»"}}},
            {"toolRemoval": {"tool": {"name": "«»"}}},
        ]
    ),
    orphan=[{"role": "user", "content": [{"toolResult": {"toolUseId": "tooluse_«»", "content": [{"text": "«»"}]}}]}],
    first=[{"role": "user", "content": [{"text": "«»"}]}, {"role": "assistant", "content": [{"text": "«»"}]}],
    late_system=False,
    sequence=_sequence,
)
