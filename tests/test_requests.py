"""What becomes of single fields of requests, at home and abroad. A row: what it is about, target, options, history → entries, output.

Not here: what a provider refused in the world (tests/cases), and the rows of one dialect's own rules (test_gemini.py, test_bedrock.py).
"""

from __future__ import annotations

import json
from typing import Any, NamedTuple

import pytest

import sendable
from tests.laws.verdicts import unlocated

ASKED = {"role": "user", "content": "q"}
ANSWERED = {"role": "assistant", "content": "a"}
PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="


class Row(NamedTuple):
    """One history and all that is to become of it. An entry is its code, verb and param."""

    about: str
    target: str
    history: Any
    entries: list[tuple[str, str, str]]
    output: Any
    options: dict[str, Any] | None = None


def fragment(index: int, arguments: str, **more: Any) -> dict[str, Any]:
    return {"index": index, "function": {"arguments": arguments}, **more}


WHOLE = {"id": "c", "type": "function", "function": {"name": "f", "arguments": '{"k": 1}'}}
BEGUN = {"index": 0, "id": "c", "type": "function", "function": {"name": "f", "arguments": '{"k":'}}
RESULT = {"role": "tool", "tool_call_id": "c", "content": "one"}
THOUGHT = {"type": "thinking", "thinking": "hm", "signature": "EqQB"}
THINKING = [ASKED, {"role": "assistant", "content": [THOUGHT, {"type": "text", "text": "a"}]}, ASKED]

ROWS = [
    Row(
        "the pieces of a call: the index of each, and what else a piece holds",
        "openai-chat",
        [
            ASKED,
            {
                "role": "assistant",
                "content": None,
                "tool_calls": [BEGUN, fragment(0, " 1}", type="function", id=None, more=[1], status="done")],
            },
            RESULT,
        ],
        [
            ("ARG005", "note", "messages[1].tool_calls[0]"),
            ("FLD002", "strip", "messages[1].tool_calls[0].index"),
            ("FLD002", "strip", "messages[1].tool_calls[1].index"),
            ("FLD001", "strip", "messages[1].tool_calls[1].more"),
            ("FLD002", "strip", "messages[1].tool_calls[1].status"),
        ],
        [ASKED, {"role": "assistant", "content": None, "tool_calls": [WHOLE]}, RESULT],
    ),
    Row(
        "a whole call with an index is no piece",
        "openai-chat",
        [ASKED, {"role": "assistant", "content": None, "tool_calls": [{"index": 0, **WHOLE}]}, RESULT],
        [],
        [ASKED, {"role": "assistant", "content": None, "tool_calls": [{"index": 0, **WHOLE}]}, RESULT],
    ),
    Row(
        "a key that holds U+0000, or half a surrogate pair, is found under the caller's own spelling",
        "anthropic",
        [{"role": "user", "con\0tent": [{"type": "text", "text": "q", "x\0": {"y": 1}, "\ud800": 2}]}],
        [
            ("SHP009", "degrade", 'messages[0]["con\\u0000tent"]'),
            ("SHP009", "degrade", 'messages[0]["con\\u0000tent"][0]["x\\u0000"]'),
            ("SHP008", "degrade", 'messages[0]["con\\u0000tent"][0]["\\ud800"]'),
            ("FLD001", "strip", 'messages[0]["con\\u0000tent"][0]["x\\u0000"]'),
            ("FLD001", "strip", 'messages[0]["con\\u0000tent"][0]["\\ud800"]'),
        ],
        [{"role": "user", "content": [{"type": "text", "text": "q"}]}],
    ),
    Row(
        "two keys that are one without U+0000: the later one counts, and each is found where it stands",
        "anthropic",
        [{"role": "user", "content": "q", "x\0": {"y\0": "\0"}, "x": 1}],
        [
            ("SHP009", "degrade", 'messages[0]["x\\u0000"]'),
            ("SHP009", "degrade", 'messages[0]["x\\u0000"]["y\\u0000"]'),
            ("SHP009", "degrade", 'messages[0]["x\\u0000"]["y\\u0000"]'),
            ("SHP006", "strip", 'messages[0]["x\\u0000"]'),
            ("FLD001", "strip", "messages[0].x"),
        ],
        [ASKED],
    ),
    Row("another model's thought is sent as it is (AH6)", "anthropic", THINKING, [], THINKING, {"same_model": False}),
    Row(
        "another model's signature goes where it is refused (GE14)",
        "gemini",
        [
            {"role": "user", "parts": [{"text": "q"}]},
            {"role": "model", "parts": [{"text": "a", "thoughtSignature": "EqQB"}]},
        ],
        [("RSN010", "strip", "messages[1].parts[0].thoughtSignature"), ("ORD005", "synthesize", "messages[1]")],
        [
            {"role": "user", "parts": [{"text": "q"}]},
            {"role": "model", "parts": [{"text": "a"}]},
            {"role": "user", "parts": [{"text": "[conversation continues]"}]},
        ],
        {"same_model": False},
    ),
    *(
        Row(
            f"a cache mark of {source} abroad",
            "openai-chat:strict",
            body,
            entries,
            {"model": "m", "messages": [{"role": "user", "content": [{"type": "text", "text": "q"}]}]},
        )
        for source, body, entries in (
            (
                "Anthropic",
                {
                    "model": "m",
                    "cache_control": {"type": "ephemeral"},
                    "messages": [
                        {
                            "role": "user",
                            "content": [{"type": "text", "text": "q", "cache_control": {"type": "ephemeral"}}],
                        }
                    ],
                },
                [
                    ("FLD007", "strip", "messages[0].content[0].cache_control"),
                    ("FLD007", "strip", "cache_control"),
                ],
            ),
            (
                "Converse",
                {
                    "modelId": "m",
                    "messages": [{"role": "user", "content": [{"text": "q"}, {"cachePoint": {"type": "default"}}]}],
                    "toolConfig": {"tools": [{"cachePoint": {"type": "default"}}]},
                },
                [("FLD007", "drop", "messages[0].content[1]"), ("FLD007", "strip", "toolConfig.tools[0]")],
            ),
            (
                "Responses",
                {
                    "model": "m",
                    "input": [
                        {
                            "role": "user",
                            "content": [
                                {"type": "input_text", "text": "q", "prompt_cache_breakpoint": {"mode": "explicit"}}
                            ],
                        }
                    ],
                },
                [("FLD007", "strip", "input[0].content[0].prompt_cache_breakpoint")],
            ),
        )
    ),
    Row(
        "a mark in a form that nobody has",
        "bedrock-converse",
        [{"role": "user", "content": [{"type": "text", "text": "q", "cache_control": {"type": "eternal"}}]}],
        [("FLD007", "strip", "messages[0].content[0].cache_control")],
        [{"role": "user", "content": [{"text": "q"}]}],
    ),
    *(
        Row(
            f"what {source} holds is nothing to another provider: {next(iter(handle))}",
            target,
            {"messages" if source == "Anthropic" else "contents": said, **handle},
            [("CON001", "strip", next(iter(handle)))],
            written,
        )
        for source, said, handle, target, written in (
            (
                "Gemini",
                [{"role": "user", "parts": [{"text": "q"}]}],
                {"cachedContent": "cachedContents/1"},
                "anthropic",
                [{"role": "user", "content": [{"type": "text", "text": "q"}]}],
            ),
            (
                "Gemini",
                [{"role": "user", "parts": [{"text": "q"}]}],
                {"continuation_token": "t"},
                "openai-responses:third-party",
                [{"type": "message", "role": "user", "content": [{"type": "input_text", "text": "q"}]}],
            ),
            (
                "Anthropic",
                [ASKED],
                {"container": "container_1", "stop_sequences": []},
                "openai-responses",
                [{"type": "message", **ASKED}],
            ),
        )
    ),
    *(
        Row(
            f"an answer's audio is held by OpenAI alone: {target}",
            target,
            [
                ASKED,
                {"role": "assistant", "content": None, "audio": {"id": "audio_1"}},
                ASKED,
                {
                    "role": "assistant",
                    "content": None,
                    "audio": {"id": "audio_2", "data": "QQ==", "transcript": "said"},
                },
                ASKED,
            ],
            [
                ("CON001", "drop", "messages[1].audio"),
                ("CON001", "degrade", "messages[3].audio"),
                ("EMP002", "synthesize", "messages[1]"),
            ],
            [
                ASKED,
                {"role": "assistant", "content": "[response interrupted]"},
                ASKED,
                {"role": "assistant", "content": "said"},
                ASKED,
            ],
        )
        for target in ("anthropic", "openai-chat:deepseek")
    ),
]


@pytest.mark.parametrize("row", ROWS, ids=[row.about for row in ROWS])
def test_a_row(row: Row) -> None:
    before = repr(row.history)
    result = sendable.normalize(row.history, row.target, options=row.options)
    assert [(entry.code, entry.verb, entry.param) for entry in result.report.entries] == row.entries
    assert (result.body if isinstance(row.output, dict) else result.messages) == row.output
    assert repr(row.history) == before
    assert list(unlocated(row.history, result.report)) == []
    again = sendable.normalize(result.body, row.target, options=row.options)
    assert again.report.entries == ()
    assert again.body == result.body
    written = sendable.normalize_json(json.dumps(row.history).encode(), row.target, options=row.options)
    assert [(entry.code, entry.verb, entry.param) for entry in written.report.entries] == row.entries
