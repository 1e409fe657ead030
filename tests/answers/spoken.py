"""One rich answer of every dialect: the request that led to it, the answer, and what a client that speaks the dialect sends on the next turn.

Each holds everything that is lost most easily: reasoning, signatures, sealed reasoning, text between calls, ids, phases, handles. Not here:
tests.
"""

from __future__ import annotations

from typing import Any, NamedTuple


class Spoken(NamedTuple):
    """`results` are the caller's, by the call's id; `next_turn` is the whole message list of the next request in the dialect's own words."""

    request: dict[str, Any]
    answer: dict[str, Any]
    results: dict[str, str]
    next_turn: list[Any]


_SCHEMA = {"type": "object", "properties": {"at": {"type": "string"}}, "required": ["at"]}
_CONTENT = [
    {"type": "thinking", "thinking": "The shed first, then the barn.", "signature": "EuYBCkQIBxgCIkDshed"},
    {"type": "redacted_thinking", "data": "EmwKAhgBEgy3va3pziw="},
    {"type": "text", "text": "I look in the shed."},
    {"type": "tool_use", "id": "toolu_01A", "name": "look", "input": {"at": "shed"}},
    {"type": "text", "text": "And in the barn."},
    {"type": "tool_use", "id": "toolu_01B", "name": "look", "input": {"at": "barn"}},
]
_ASKED = {"role": "user", "content": "Where is the ladder?"}

ANTHROPIC = Spoken(
    {
        "model": "claude-sonnet-5",
        "max_tokens": 2000,
        "messages": [_ASKED],
        "tools": [{"name": "look", "input_schema": _SCHEMA, "strict": True}],
    },
    {
        "id": "msg_01XYZ",
        "type": "message",
        "role": "assistant",
        "model": "claude-sonnet-5",
        "content": _CONTENT,
        "stop_reason": "tool_use",
        "stop_sequence": None,
        "usage": {
            "input_tokens": 30,
            "cache_creation_input_tokens": 5,
            "cache_read_input_tokens": 100,
            "output_tokens": 80,
        },
    },
    {"toolu_01A": "nothing", "toolu_01B": "a ladder"},
    [
        _ASKED,
        {"role": "assistant", "content": _CONTENT},
        {
            "role": "user",
            "content": [
                {"type": "tool_result", "tool_use_id": "toolu_01A", "content": "nothing"},
                {"type": "tool_result", "tool_use_id": "toolu_01B", "content": "a ladder"},
            ],
        },
    ],
)

_MESSAGE = {
    "role": "assistant",
    "content": "I look in the shed and in the barn.",
    "reasoning_content": "The shed first, then the barn.",
    "tool_calls": [
        {"id": "call_A", "type": "function", "function": {"name": "look", "arguments": '{"at": "shed"}'}},
        {"id": "call_B", "type": "function", "function": {"name": "look", "arguments": '{"at": "barn"}'}},
    ],
}
CHAT = Spoken(
    {
        "model": "deepseek-chat",
        "messages": [_ASKED],
        "tools": [{"type": "function", "function": {"name": "look", "parameters": _SCHEMA}}],
    },
    {
        "id": "chatcmpl-7",
        "object": "chat.completion",
        "created": 1790000000,
        "model": "deepseek-chat",
        "choices": [{"index": 0, "message": _MESSAGE, "finish_reason": "tool_calls"}],
        "usage": {"prompt_tokens": 30, "completion_tokens": 40, "total_tokens": 70},
    },
    {"call_A": "nothing", "call_B": "a ladder"},
    [
        _ASKED,
        _MESSAGE,
        {"role": "tool", "tool_call_id": "call_A", "content": "nothing"},
        {"role": "tool", "tool_call_id": "call_B", "content": "a ladder"},
    ],
)

_OUTPUT = [
    {
        "id": "rs_1",
        "type": "reasoning",
        "summary": [{"type": "summary_text", "text": "The shed first."}],
        "encrypted_content": "gAAAAABpsealed",
        "status": "completed",
    },
    {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "status": "completed",
        "phase": "commentary",
        "content": [{"type": "output_text", "text": "I look in both.", "annotations": [], "logprobs": []}],
    },
    {
        "id": "fc_1",
        "type": "function_call",
        "call_id": "call_A",
        "name": "look",
        "arguments": '{"at":"shed"}',
        "status": "completed",
    },
    {
        "id": "fc_2",
        "type": "function_call",
        "call_id": "call_B",
        "name": "look",
        "arguments": '{"at":"barn"}',
        "status": "completed",
    },
]
RESPONSES = Spoken(
    {
        "model": "gpt-5.6",
        "store": False,
        "include": ["reasoning.encrypted_content"],
        "input": [_ASKED],
        "tools": [{"type": "function", "name": "look", "parameters": _SCHEMA, "strict": False}],
    },
    {
        "id": "resp_1",
        "object": "response",
        "created_at": 1790000000,
        "model": "gpt-5.6",
        "status": "completed",
        "error": None,
        "incomplete_details": None,
        "instructions": None,
        "metadata": {},
        "output": _OUTPUT,
        "parallel_tool_calls": True,
        "temperature": 1.0,
        "tool_choice": "auto",
        "tools": [{"type": "function", "name": "look", "parameters": _SCHEMA, "strict": False}],
        "top_p": 1.0,
        "usage": {
            "input_tokens": 30,
            "input_tokens_details": {"cached_tokens": 10},
            "output_tokens": 80,
            "output_tokens_details": {"reasoning_tokens": 50},
            "total_tokens": 110,
        },
    },
    {"call_A": "nothing", "call_B": "a ladder"},
    [
        _ASKED,
        *_OUTPUT,
        {"type": "function_call_output", "call_id": "call_A", "output": "nothing"},
        {"type": "function_call_output", "call_id": "call_B", "output": "a ladder"},
    ],
)

_PARTS = {
    "role": "model",
    "parts": [
        {"text": "The shed first.", "thought": True},
        {"text": "I look in both.", "thoughtSignature": "c2lnbmVkIHRleHQ="},
        {
            "functionCall": {"id": "fn_1", "name": "look", "args": {"at": "shed"}},
            "thoughtSignature": "c2lnbmVkIGNhbGw=",
        },
        {"functionCall": {"id": "fn_2", "name": "look", "args": {"at": "barn"}}},
    ],
}
GEMINI = Spoken(
    {
        "contents": [{"role": "user", "parts": [{"text": "Where is the ladder?"}]}],
        "tools": [{"functionDeclarations": [{"name": "look", "parametersJsonSchema": _SCHEMA}]}],
    },
    {
        "candidates": [{"content": _PARTS, "finishReason": "STOP", "index": 0}],
        "usageMetadata": {
            "promptTokenCount": 30,
            "candidatesTokenCount": 20,
            "thoughtsTokenCount": 15,
            "totalTokenCount": 65,
        },
        "modelVersion": "gemini-3.8-flash",
        "responseId": "abc123",
    },
    {"fn_1": "nothing", "fn_2": "a ladder"},
    [
        {"role": "user", "parts": [{"text": "Where is the ladder?"}]},
        _PARTS,
        {
            "role": "user",
            "parts": [
                {"functionResponse": {"id": "fn_1", "name": "look", "response": {"output": "nothing"}}},
                {"functionResponse": {"id": "fn_2", "name": "look", "response": {"output": "a ladder"}}},
            ],
        },
    ],
)

_TURN = {
    "role": "assistant",
    "content": [
        {"reasoningContent": {"reasoningText": {"text": "The shed first.", "signature": "EuYBCkQIBxgCIkDshed"}}},
        {"text": "I look in the shed."},
        {"toolUse": {"toolUseId": "tooluse_A", "name": "look", "input": {"at": "shed"}}},
        {"text": "And in the barn."},
        {"toolUse": {"toolUseId": "tooluse_B", "name": "look", "input": {"at": "barn"}}},
    ],
}
BEDROCK = Spoken(
    {
        "modelId": "anthropic.claude-sonnet-4-5",
        "messages": [{"role": "user", "content": [{"text": "Where is the ladder?"}]}],
        "toolConfig": {"tools": [{"toolSpec": {"name": "look", "inputSchema": {"json": _SCHEMA}}}]},
    },
    {
        "output": {"message": _TURN},
        "stopReason": "tool_use",
        "usage": {"inputTokens": 30, "outputTokens": 20, "totalTokens": 50},
        "metrics": {"latencyMs": 700},
    },
    {"tooluse_A": "nothing", "tooluse_B": "a ladder"},
    [
        {"role": "user", "content": [{"text": "Where is the ladder?"}]},
        _TURN,
        {
            "role": "user",
            "content": [
                {"toolResult": {"toolUseId": "tooluse_A", "content": [{"text": "nothing"}]}},
                {"toolResult": {"toolUseId": "tooluse_B", "content": [{"text": "a ladder"}]}},
            ],
        },
    ],
)

SPOKEN: dict[str, Spoken] = {
    "anthropic": ANTHROPIC,
    "openai-chat": CHAT,
    "openai-responses": RESPONSES,
    "gemini": GEMINI,
    "bedrock-converse": BEDROCK,
}
"""By dialect."""
