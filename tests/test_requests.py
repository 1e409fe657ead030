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
URL = f"data:image/png;base64,{PNG}"
TAKES_INPUT = {"type": "object", "properties": {"input": {"type": "string"}}, "required": ["input"]}
GRAMMAR = {"syntax": "lark", "definition": "start: WORD"}
FREE = {"type": "custom", "name": "patch", "description": "d", "format": {"type": "grammar", **GRAMMAR}}
FREE_CHAT = {
    "type": "custom",
    "custom": {"name": "patch", "description": "d", "format": {"type": "grammar", "grammar": GRAMMAR}},
}
FOUND = {
    "type": "search_result",
    "source": "s",
    "title": "t",
    "content": [{"type": "text", "text": "x"}],
    "citations": {"enabled": True},
}
FOUND_THERE = {
    "searchResult": {"source": "s", "title": "t", "content": [{"text": "x"}], "citations": {"enabled": True}}
}
SIGNED = [
    ASKED,
    {
        "role": "assistant",
        "content": None,
        "tool_calls": [{**WHOLE, "extra_content": {"google": {"thought_signature": "EqQB"}}}],
    },
    RESULT,
]
SEARCHED = {
    "role": "assistant",
    "content": [
        {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {"query": "q"}},
        {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": []},
        {"type": "text", "text": "found"},
    ],
}
PAPER = {"type": "document", "source": {"type": "base64", "media_type": "application/pdf", "data": "JVBERi0="}}


def called(identity: str, name: str) -> dict[str, Any]:
    return {"id": identity, "type": "function", "function": {"name": name, "arguments": "{}"}}


def seen(detail: str) -> dict[str, Any]:
    return {"type": "image_url", "image_url": {"url": URL, "detail": detail}}


CITED = {
    "type": "char_location",
    "cited_text": "x",
    "document_index": 0,
    "document_title": None,
    "start_char_index": 0,
    "end_char_index": 1,
}
HIT = {"type": "web_search_result", "url": "https://example.com", "title": "t", "encrypted_content": "e"}

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
    Row(
        "one handle: the response is a point in the conversation (OS1)",
        "openai-responses",
        {"conversation": "conv_1", "previous_response_id": "resp_1", "input": [{"type": "message", **ASKED}]},
        [("FLD006", "strip", "conversation")],
        {"previous_response_id": "resp_1", "input": [{"type": "message", **ASKED}]},
    ),
    Row(
        "a configuration of Gemini's is closed, and so are those inside it",
        "gemini",
        {
            "contents": [{"role": "user", "parts": [{"text": "q"}]}],
            "generationConfig": {
                "seed": 1,
                "zzz": 1,
                "nothing": None,
                "thinkingConfig": {"thinkingLevel": "LOW", "x": 2},
            },
            "tool_config": {"function_calling_config": {"mode": "ANY", "y": 3}},
        },
        [
            ("FLD001", "strip", "generationConfig.zzz"),
            ("FLD001", "strip", "generationConfig.thinkingConfig.x"),
            ("FLD001", "strip", "tool_config.function_calling_config.y"),
        ],
        {
            "contents": [{"role": "user", "parts": [{"text": "q"}]}],
            "generationConfig": {"seed": 1, "thinkingConfig": {"thinkingLevel": "LOW"}},
            "tool_config": {"function_calling_config": {"mode": "ANY"}},
        },
    ),
    Row(
        "what nobody knows in a configuration of Gemini's stays if the caller says so",
        "gemini",
        {"contents": [{"role": "user", "parts": [{"text": "q"}]}], "generationConfig": {"seed": 1, "zzz": 1}},
        [],
        {"contents": [{"role": "user", "parts": [{"text": "q"}]}], "generationConfig": {"seed": 1, "zzz": 1}},
        {"unknown": "keep"},
    ),
    Row(
        "a tool that takes free text crosses between OpenAI's two APIs, its grammar too",
        "openai-chat",
        {
            "input": [{"role": "user", "content": "q"}],
            "tools": [FREE],
            "tool_choice": {"type": "custom", "name": "patch"},
        },
        [],
        {"messages": [ASKED], "tools": [FREE_CHAT], "tool_choice": {"type": "custom", "custom": {"name": "patch"}}},
    ),
    Row(
        "and back",
        "openai-responses",
        {"messages": [ASKED], "tools": [FREE_CHAT]},
        [],
        {"input": [{"type": "message", **ASKED}], "tools": [FREE]},
    ),
    Row(
        "elsewhere it is a function with one argument, as its calls are",
        "anthropic",
        {
            "input": [{"role": "user", "content": "q"}],
            "tools": [FREE],
            "tool_choice": {"type": "custom", "name": "patch"},
        },
        [("ARG006", "degrade", "tools[0].type"), ("FLD001", "strip", "tools[0].format")],
        {
            "messages": [ASKED],
            "tools": [{"input_schema": TAKES_INPUT, "name": "patch", "description": "d"}],
            "tool_choice": {"type": "tool", "name": "patch"},
        },
    ),
    Row(
        "also at another server that speaks Chat",
        "openai-chat:deepseek",
        {"messages": [ASKED], "tools": [FREE_CHAT]},
        [("ARG006", "degrade", "tools[0].type"), ("FLD001", "strip", "tools[0].custom.format")],
        {
            "messages": [ASKED],
            "tools": [
                {"type": "function", "function": {"name": "patch", "description": "d", "parameters": TAKES_INPUT}}
            ],
        },
    ),
    Row(
        "a group of tools: each stands by itself, and two of one name are told apart, with their calls",
        "openai-chat",
        {
            "input": [
                {"role": "user", "content": "q"},
                {"type": "function_call", "call_id": "1", "name": "find", "namespace": "crm", "arguments": "{}"},
                {"type": "function_call_output", "call_id": "1", "output": "o"},
                {"type": "function_call", "call_id": "2", "name": "find", "arguments": "{}"},
                {"type": "function_call_output", "call_id": "2", "output": "o"},
            ],
            "tools": [
                {"type": "function", "name": "find", "parameters": {}, "strict": True},
                {
                    "type": "namespace",
                    "name": "crm",
                    "description": "customers",
                    "tools": [
                        {"type": "function", "name": "find", "parameters": {"type": "object"}},
                        {"type": "function", "name": "list", "parameters": {"type": "object"}},
                    ],
                },
            ],
        },
        [
            ("FLD005", "degrade", "tools[1].name"),
            ("FLD001", "strip", "tools[1].description"),
            ("IDS002", "rename", "tools[1].tools[0].name"),
            ("IDS002", "rename", "input[1].name"),
        ],
        {
            "messages": [
                ASKED,
                {"role": "assistant", "content": None, "tool_calls": [called("1", "crm_find")]},
                {"role": "tool", "tool_call_id": "1", "content": "o"},
                {"role": "assistant", "content": None, "tool_calls": [called("2", "find")]},
                {"role": "tool", "tool_call_id": "2", "content": "o"},
            ],
            "tools": [
                {"type": "function", "function": {"name": "find", "parameters": {}, "strict": True}},
                {"type": "function", "function": {"name": "crm_find", "parameters": {"type": "object"}}},
                {"type": "function", "function": {"name": "list", "parameters": {"type": "object"}}},
            ],
        },
    ),
    Row(
        "how closely an image is looked at crosses between OpenAI's two APIs",
        "openai-responses",
        [{"role": "user", "content": [seen("high"), seen("auto")]}],
        [],
        [
            {
                "type": "message",
                "role": "user",
                "content": [{"type": "input_image", "image_url": URL, "detail": word} for word in ("high", "auto")],
            }
        ],
    ),
    Row(
        "but a word that only one of them has",
        "openai-chat",
        {
            "input": [
                {
                    "role": "user",
                    "content": [
                        {"type": "input_image", "image_url": URL, "detail": word} for word in ("low", "original")
                    ],
                }
            ]
        },
        [("FLD001", "strip", "input[0].content[1].detail")],
        [{"role": "user", "content": [seen("low"), {"type": "image_url", "image_url": {"url": URL}}]}],
    ),
    Row(
        "and nowhere else; what holds anyway goes without a word",
        "anthropic",
        [{"role": "user", "content": [seen("low"), seen("auto")]}],
        [("FLD001", "strip", "messages[0].content[0].image_url.detail")],
        [
            {
                "role": "user",
                "content": [{"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PNG}}]
                * 2,
            }
        ],
    ),
    Row(
        "a search result crosses from Anthropic to Converse, in a result and beside it",
        "bedrock-converse",
        [
            ASKED,
            {"role": "assistant", "content": [{"type": "tool_use", "id": "a", "name": "f", "input": {}}]},
            {
                "role": "user",
                "content": [
                    {"type": "tool_result", "tool_use_id": "a", "content": [FOUND]},
                    {**FOUND, "cache_control": {"type": "ephemeral"}},
                ],
            },
        ],
        [],
        [
            {"role": "user", "content": [{"text": "q"}]},
            {"role": "assistant", "content": [{"toolUse": {"toolUseId": "a", "name": "f", "input": {}}}]},
            {
                "role": "user",
                "content": [
                    {"toolResult": {"toolUseId": "a", "content": [FOUND_THERE]}},
                    FOUND_THERE,
                    {"cachePoint": {"type": "default"}},
                ],
            },
        ],
    ),
    Row(
        "and back",
        "anthropic",
        [{"role": "user", "content": [{"text": "q"}, FOUND_THERE, {"cachePoint": {"type": "default"}}]}],
        [],
        [
            {
                "role": "user",
                "content": [{"type": "text", "text": "q"}, {**FOUND, "cache_control": {"type": "ephemeral"}}],
            }
        ],
    ),
    Row(
        "what stands on a text inside of it has no place there",
        "bedrock-converse",
        [
            {
                "role": "user",
                "content": [
                    {
                        **FOUND,
                        "content": [
                            {
                                "type": "text",
                                "text": "x",
                                "citations": [
                                    {
                                        "type": "web_search_result_location",
                                        "cited_text": "x",
                                        "url": "u",
                                        "title": "t",
                                        "encrypted_index": "i",
                                    }
                                ],
                                "cache_control": {"type": "ephemeral"},
                            }
                        ],
                    }
                ],
            }
        ],
        [
            ("FLD001", "strip", "messages[0].content[0].content[0].citations"),
            ("FLD007", "strip", "messages[0].content[0].content[0].cache_control"),
        ],
        [{"role": "user", "content": [FOUND_THERE]}],
    ),
    Row("Google's signature stays where it was stored", "openai-chat", SIGNED, [], SIGNED),
    Row(
        "and goes back to Google",
        "gemini:3",
        SIGNED,
        [],
        [
            {"role": "user", "parts": [{"text": "q"}]},
            {
                "role": "model",
                "parts": [{"functionCall": {"id": "c", "name": "f", "args": {"k": 1}}, "thoughtSignature": "EqQB"}],
            },
            {
                "role": "user",
                "parts": [{"functionResponse": {"id": "c", "name": "f", "response": {"output": "one"}}}],
            },
        ],
    ),
    Row(
        "but to nobody else",
        "openai-chat:no-reasoning-field",
        SIGNED,
        [("RSN001", "strip", "messages[1].tool_calls[0].extra_content.google.thought_signature")],
        [ASKED, {"role": "assistant", "tool_calls": [WHOLE]}, RESULT],
    ),
    Row(
        "what both of OpenAI's APIs have crosses between them, a file too",
        "openai-chat",
        {
            "model": "m",
            "store": False,
            "metadata": {"k": "v"},
            "prompt_cache_key": "p",
            "prompt_cache_retention": "24h",
            "text": {"verbosity": "low"},
            "input": [
                {
                    "role": "user",
                    "content": [{"type": "input_file", "file_id": "file-1"}, {"type": "input_text", "text": "q"}],
                }
            ],
        },
        [],
        {
            "model": "m",
            "store": False,
            "metadata": {"k": "v"},
            "prompt_cache_key": "p",
            "prompt_cache_retention": "24h",
            "verbosity": "low",
            "messages": [
                {
                    "role": "user",
                    "content": [{"type": "file", "file": {"file_id": "file-1"}}, {"type": "text", "text": "q"}],
                }
            ],
        },
    ),
    Row(
        "but not to another server that speaks Chat",
        "openai-chat:kimi",
        {"input": [{"role": "user", "content": "q"}], "store": True, "text": {"verbosity": "low"}},
        [("FLD001", "strip", "store"), ("FLD001", "strip", "text.verbosity")],
        {"messages": [ASKED]},
    ),
    Row(
        "a media type that is none ends no data URL",
        "openai-chat",
        [{"parts": [{"inlineData": {"mimeType": "a,b", "data": "UklGRg=="}}]}],
        [("MED003", "degrade", "messages[0].parts[0].inlineData.mimeType")],
        [
            {
                "role": "user",
                "content": [{"type": "file", "file": {"file_data": "data:application/pdf;base64,UklGRg=="}}],
            }
        ],
    ),
    Row(
        "calls one at a time: what the provider executed stays in its message",
        "anthropic",
        [
            ASKED,
            {
                "role": "assistant",
                "content": [
                    {"type": "tool_use", "id": "a", "name": "f", "input": {}},
                    {"type": "tool_use", "id": "b", "name": "f", "input": {}},
                ],
            },
            {
                "role": "user",
                "content": [
                    {"type": "tool_result", "tool_use_id": "a", "content": "ra"},
                    {"type": "tool_result", "tool_use_id": "b", "content": "rb"},
                ],
            },
            SEARCHED,
            ASKED,
        ],
        [("LIM003", "move", "messages[1]")],
        [
            ASKED,
            {"role": "assistant", "content": [{"type": "tool_use", "id": "a", "name": "f", "input": {}}]},
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "a", "content": "ra"}]},
            {"role": "assistant", "content": [{"type": "tool_use", "id": "b", "name": "f", "input": {}}]},
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "b", "content": "rb"}]},
            SEARCHED,
            ASKED,
        ],
        {"parallel_tool_results": False},
    ),
    Row(
        "no text beside tools: an empty one says nothing, a mark stays behind what it marks",
        "bedrock-converse:llama",
        [
            ASKED,
            {"role": "assistant", "content": "", "tool_calls": [WHOLE]},
            {
                "role": "tool",
                "tool_call_id": "c",
                "content": [{"type": "text", "text": "r", "cache_control": {"type": "ephemeral"}}],
            },
        ],
        [],
        [
            {"role": "user", "content": [{"text": "q"}]},
            {"role": "assistant", "content": [{"toolUse": {"toolUseId": "c", "name": "f", "input": {"k": 1}}}]},
            {
                "role": "user",
                "content": [
                    {"toolResult": {"toolUseId": "c", "content": [{"text": "r"}]}},
                    {"cachePoint": {"type": "default"}},
                ],
            },
        ],
    ),
    Row(
        "an id of a call of Gemini under a name of another dialect",
        "openai-chat:kimi",
        [
            {"role": "user", "parts": [{"text": "q"}]},
            {"role": "model", "parts": [{"function_call": {"name": "f", "args": {"k": 1}, "call_id": "c"}}]},
            {"role": "user", "parts": [{"functionResponse": {"name": "f", "response": {"output": "r"}, "id": "c"}}]},
        ],
        [("IDS001", "rename", "messages[1].parts[0].function_call.call_id")],
        [
            {"role": "user", "content": [{"type": "text", "text": "q"}]},
            {
                "role": "assistant",
                "content": None,
                "tool_calls": [
                    {"id": "functions.f:0", "type": "function", "function": {"name": "f", "arguments": '{"k":1}'}}
                ],
            },
            {"role": "tool", "tool_call_id": "functions.f:0", "content": "r"},
        ],
    ),
    Row(
        "an image between the calls of a turn that stands in two messages",
        "bedrock-converse",
        [
            ASKED,
            {
                "role": "assistant",
                "content": [
                    {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "iVBORw0KGgo="}},
                    {"type": "tool_use", "id": "a", "name": "f", "input": {}},
                ],
            },
            {"role": "assistant", "content": [{"type": "tool_use", "id": "b", "name": "f", "input": {}}]},
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "b", "content": "r"}]},
        ],
        [
            ("PAR001", "synthesize", "messages[1].content[1]"),
            ("MED005", "move", "messages[1].content[0]"),
            ("ORD002", "move", "messages[2]"),
        ],
        [
            {"role": "user", "content": [{"text": "q"}]},
            {
                "role": "assistant",
                "content": [
                    {"toolUse": {"toolUseId": "a", "name": "f", "input": {}}},
                    {"toolUse": {"toolUseId": "b", "name": "f", "input": {}}},
                ],
            },
            {
                "role": "user",
                "content": [
                    {
                        "toolResult": {
                            "toolUseId": "a",
                            "content": [{"text": "Tool call was interrupted; no result."}],
                            "status": "error",
                        }
                    },
                    {"toolResult": {"toolUseId": "b", "content": [{"text": "r"}]}},
                    {"text": "[from the assistant:]"},
                    {"image": {"format": "png", "source": {"bytes": "iVBORw0KGgo="}}},
                ],
            },
        ],
    ),
    Row(
        "a result of Anthropic's in a message of Chat's",
        "anthropic",
        [
            ASKED,
            {"role": "assistant", "content": [{"type": "tool_use", "id": "c", "name": "f", "input": {}}]},
            {"role": "tool", "content": [{"type": "tool_result", "tool_use_id": "c", "content": "r"}]},
        ],
        [],
        [
            ASKED,
            {"role": "assistant", "content": [{"type": "tool_use", "id": "c", "name": "f", "input": {}}]},
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c", "content": "r"}]},
        ],
    ),
    Row(
        "a result by name answers the call of the turn before it, and not one that has waited since an earlier turn",
        "gemini",
        [
            {"role": "user", "parts": [{"text": "q"}]},
            {"role": "model", "parts": [{"functionCall": {"name": "f", "args": {}}}]},
            {"role": "model", "parts": [{"text": "again"}]},
            {"role": "user", "parts": [{"text": "q"}]},
            {"role": "model", "parts": [{"functionCall": {"name": "f", "args": {}, "id": "c"}}]},
            {"role": "user", "parts": [{"functionResponse": {"name": "f", "response": {"output": "r"}}}]},
        ],
        [("PAR001", "synthesize", "messages[1].parts[0]")],
        [
            {"role": "user", "parts": [{"text": "q"}]},
            {"role": "model", "parts": [{"functionCall": {"name": "f", "args": {}}}]},
            {
                "role": "user",
                "parts": [
                    {"functionResponse": {"name": "f", "response": {"error": "Tool call was interrupted; no result."}}}
                ],
            },
            {"role": "model", "parts": [{"text": "again"}]},
            {"role": "user", "parts": [{"text": "q"}]},
            {"role": "model", "parts": [{"functionCall": {"name": "f", "args": {}, "id": "c"}}]},
            {"role": "user", "parts": [{"functionResponse": {"name": "f", "response": {"output": "r"}}}]},
        ],
    ),
    Row(
        "fields of an assistant in a result",
        "openai-chat",
        [
            ASKED,
            {"role": "assistant", "content": "", "tool_calls": [WHOLE]},
            {
                "role": "tool",
                "tool_call_id": "c",
                "content": "r",
                "tool_calls": 5,
                "function_call": None,
                "refusal": "no",
            },
        ],
        [
            ("SHP011", "rename", "messages[2].role"),
            ("BLK001", "drop", "messages[2].tool_calls"),
            ("BLK002", "degrade", "messages[2].refusal"),
        ],
        [
            ASKED,
            {"role": "assistant", "content": "", "tool_calls": [WHOLE]},
            {"role": "tool", "tool_call_id": "c", "content": "r"},
            {"role": "user", "content": "no"},
        ],
    ),
    Row(
        "results in a message of a role that nobody has",
        "flat",
        [
            ASKED,
            {"role": "model", "parts": [{"functionCall": {"name": "f", "args": {"k": 1}, "id": "c"}}]},
            {"role": "robot", "parts": [{"functionResponse": {"name": "f", "response": {"output": "r"}, "id": "c"}}]},
        ],
        [("SHP011", "rename", "messages[2].role")],
        [
            ASKED,
            {
                "role": "assistant",
                "content": "",
                "tool_calls": [{"tool_call_id": "c", "name": "f", "arguments": {"k": 1}}],
            },
            {"role": "tool", "content": "r", "tool_call_id": "c"},
        ],
    ),
    Row(
        "instructions in the field and in front of the list",
        "anthropic",
        {"max_tokens": 1, "system": "a", "messages": [{"role": "system", "content": "b"}, ASKED]},
        [],
        {
            "max_tokens": 1,
            "system": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}],
            "messages": [ASKED],
        },
    ),
    Row(
        "citations that are none, and fields that no citation has",
        "anthropic",
        [
            ASKED,
            {
                "role": "assistant",
                "content": [
                    {
                        "type": "text",
                        "text": "x",
                        "citations": [{**CITED, "tool_calls": 1, "index": None}, {**CITED, "type": None}, "x"],
                    },
                    {"type": "text", "text": "y", "citations": {"enabled": True}},
                ],
            },
            ASKED,
        ],
        [
            ("FLD001", "strip", "messages[1].content[0].citations[0].tool_calls"),
            ("FLD010", "strip", "messages[1].content[0].citations[1]"),
            ("FLD010", "strip", "messages[1].content[0].citations[2]"),
            ("FLD010", "strip", "messages[1].content[1].citations"),
        ],
        [
            ASKED,
            {
                "role": "assistant",
                "content": [{"type": "text", "text": "x", "citations": [CITED]}, {"type": "text", "text": "y"}],
            },
            ASKED,
        ],
    ),
    Row(
        "what a search found, with fields that it does not have, and what no search finds",
        "anthropic",
        [
            ASKED,
            {
                "role": "assistant",
                "content": [
                    {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {"query": "q"}},
                    {
                        "type": "web_search_tool_result",
                        "tool_use_id": "srvtoolu_1",
                        "content": [{**HIT, "index": None, "rank": 3}],
                    },
                    {"type": "server_tool_use", "id": "srvtoolu_2", "name": "web_search", "input": {"query": "q"}},
                    {
                        "type": "web_search_tool_result",
                        "tool_use_id": "srvtoolu_2",
                        "content": {"type": "text", "text": "x"},
                    },
                    {"type": "text", "text": "y"},
                ],
            },
            ASKED,
        ],
        [
            ("FLD001", "strip", "messages[1].content[1].content[0].rank"),
            ("BLK001", "drop", "messages[1].content[3]"),
            ("PAR008", "drop", "messages[1].content[2].id"),
        ],
        [
            ASKED,
            {
                "role": "assistant",
                "content": [
                    {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {"query": "q"}},
                    {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": [HIT]},
                    {"type": "text", "text": "y"},
                ],
            },
            ASKED,
        ],
    ),
    Row(
        "a media type that is none, of a file that stands elsewhere",
        "anthropic",
        [{"role": "user", "parts": [{"fileData": {"mimeType": "any text!", "fileUri": "https://example.com/x.pdf"}}]}],
        [("MED003", "degrade", "messages[0].parts[0].fileData.mimeType")],
        [
            {
                "role": "user",
                "content": [{"type": "document", "source": {"type": "url", "url": "https://example.com/x.pdf"}}],
            }
        ],
    ),
    Row(
        "entries of a result that are no blocks",
        "anthropic",
        [
            ASKED,
            {"role": "assistant", "content": [{"type": "tool_use", "id": "c", "name": "f", "input": {}}]},
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c", "content": [5, "r"]}]},
        ],
        [],
        [
            ASKED,
            {"role": "assistant", "content": [{"type": "tool_use", "id": "c", "name": "f", "input": {}}]},
            {
                "role": "user",
                "content": [
                    {
                        "type": "tool_result",
                        "tool_use_id": "c",
                        "content": [{"type": "text", "text": "5"}, {"type": "text", "text": "r"}],
                    }
                ],
            },
        ],
    ),
    Row(
        "a field of an assistant's message in instructions",
        "openai-chat",
        [{"role": "system", "content": None, "audio": {"id": "a"}}, ASKED],
        [("BLK003", "drop", "messages[0].audio")],
        [{"role": "system", "content": ""}, ASKED],
    ),
    Row(
        "a phase of a message that is not the assistant's, and an item with an id whose content is a text",
        "openai-responses",
        {
            "input": [
                {"role": "developer", "content": "x", "phase": "final_answer"},
                {
                    "type": "message",
                    "id": "msg_1",
                    "status": "completed",
                    "role": "assistant",
                    "content": "y",
                    "phase": "commentary",
                },
                {"role": "user", "content": "z"},
            ]
        },
        [("FLD001", "strip", "input[0].phase")],
        {
            "input": [
                {"type": "message", "role": "developer", "content": "x"},
                {
                    "type": "message",
                    "role": "assistant",
                    "content": [{"type": "output_text", "text": "y", "annotations": []}],
                    "id": "msg_1",
                    "status": "completed",
                    "phase": "commentary",
                },
                {"role": "user", "content": "z"},
            ]
        },
    ),
    Row(
        "a message of nothing between a call and its result",
        "flat",
        [
            ASKED,
            {"role": "assistant", "content": "", "tool_calls": [{"tool_call_id": "c", "name": "f", "arguments": {}}]},
            {"role": "user", "parts": None},
            {"role": "tool", "content": "r", "tool_call_id": "c"},
        ],
        [("PAR006", "move", "messages[3]")],
        [
            ASKED,
            {"role": "assistant", "content": "", "tool_calls": [{"tool_call_id": "c", "name": "f", "arguments": {}}]},
            {"role": "tool", "content": "r", "tool_call_id": "c"},
            {"role": "user", "content": ""},
        ],
    ),
    Row(
        "a signature of Anthropic's that is no text",
        "openai-chat",
        [
            ASKED,
            {
                "role": "assistant",
                "content": [
                    {"type": "thinking", "thinking": "t", "signature": {"x": 1}},
                    {"type": "text", "text": "a"},
                ],
            },
            ASKED,
        ],
        [("FLD001", "strip", "messages[1].content[0].signature")],
        [ASKED, {"role": "assistant", "content": "a", "reasoning_content": "t"}, ASKED],
    ),
    Row(
        "a signature of Converse's that is no text",
        "openai-chat",
        [
            ASKED,
            {
                "role": "assistant",
                "content": [
                    {"reasoningContent": {"reasoningText": {"text": "t", "signature": ["x"]}}},
                    {"text": "a"},
                ],
            },
            ASKED,
        ],
        [("FLD001", "strip", "messages[1].content[0].reasoningContent.reasoningText.signature")],
        [ASKED, {"role": "assistant", "content": "a", "reasoning_content": "t"}, ASKED],
    ),
    Row(
        "a tool that the provider does not execute",
        "anthropic",
        [
            ASKED,
            {
                "role": "assistant",
                "content": [
                    {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_surf", "input": {"query": "q"}},
                    {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": [HIT]},
                    {"type": "text", "text": "y"},
                ],
            },
            ASKED,
        ],
        [
            ("IDS004", "drop", "messages[1].content[0]"),
            ("PAR008", "drop", "messages[1].content[1].tool_use_id"),
        ],
        [ASKED, {"role": "assistant", "content": [{"type": "text", "text": "y"}]}, ASKED],
    ),
    Row(
        "as many documents as the joined message will have",
        "bedrock-converse",
        [
            {"role": "user", "content": [{"type": "text", "text": "these"}, *[PAPER] * 3]},
            {"role": "user", "content": [PAPER] * 3},
        ],
        [
            ("ORD002", "move", "messages[1]"),
            ("LIM005", "drop", "messages[1].content[2]"),
        ],
        [
            {
                "role": "user",
                "content": [
                    {"text": "these"},
                    *(
                        {"document": {"format": "pdf", "name": name, "source": {"bytes": "JVBERi0="}}}
                        for name in ("document-1", "document-2", "document-3", "document-4", "document-5")
                    ),
                    {"text": "[document left out]"},
                ],
            }
        ],
    ),
]


ASKED_GEMINI = {"role": "user", "parts": [{"text": "q"}]}


@pytest.mark.parametrize("value", [None, {}, "x", 0, True, {"a": 1}], ids=repr)
@pytest.mark.parametrize("key", ["tools", "safetySettings", "safety_settings"])
def test_a_list_of_gemini_that_is_none_does_not_go_out(key: str, value: Any) -> None:
    result = sendable.normalize({"contents": [ASKED_GEMINI], key: value}, "gemini")
    assert result.body == {"contents": [ASKED_GEMINI]}
    # Null says what absence says; everything else said something.
    assert [entry.code for entry in result.report.entries] == ([] if value is None else ["FLD010"])


@pytest.mark.parametrize("value", ["x", 0, True, [1]], ids=repr)
@pytest.mark.parametrize("key", ["generationConfig", "toolConfig", "tool_config", "labels"])
def test_a_configuration_of_gemini_that_is_no_object_does_not_go_out(key: str, value: Any) -> None:
    result = sendable.normalize({"contents": [ASKED_GEMINI], key: value}, "gemini")
    assert result.body == {"contents": [ASKED_GEMINI]}
    assert [entry.code for entry in result.report.entries] == ["FLD010"]


@pytest.mark.parametrize("key", ["tools", "tool_choice", "functions", "response_format"])
def test_null_does_not_go_out_where_chat_takes_only_absence(key: str) -> None:
    result = sendable.normalize({"messages": [ASKED], key: None}, "openai-chat")
    assert (result.body, result.report.entries) == ({"messages": [ASKED]}, ())


@pytest.mark.parametrize("tool", [{}, {"type": None}, {"type": "function"}, {"type": " "}, {"role": "x"}], ids=repr)
def test_what_is_no_tool_of_chat_does_not_go_out(tool: dict[str, Any]) -> None:
    result = sendable.normalize({"messages": [ASKED], "tools": [tool, {"type": "web_search"}]}, "openai-chat")
    assert result.body == {"messages": [ASKED], "tools": [{"type": "web_search"}]}
    assert [(entry.code, entry.path) for entry in result.report.entries] == [("FLD010", "tools[0]")]


@pytest.mark.parametrize(
    ("tool", "entries"),
    [
        ({"role": None}, []),
        ({"role": 1}, [("FLD001", "tools[0].role")]),
        ({"googleSearch": 1}, [("FLD010", "tools[0].googleSearch")]),
        ({"functionDeclarations": {}}, [("FLD010", "tools[0].functionDeclarations")]),
    ],
)
def test_what_is_no_tool_of_gemini_does_not_go_out(tool: dict[str, Any], entries: list[tuple[str, str]]) -> None:
    result = sendable.normalize({"contents": [ASKED_GEMINI], "tools": [tool, {"googleSearch": {}}]}, "gemini")
    assert result.body == {"contents": [ASKED_GEMINI], "tools": [{"googleSearch": {}}]}
    assert [(entry.code, entry.path) for entry in result.report.entries] == entries


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
