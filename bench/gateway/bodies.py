"""The requests that are sent: one conversation of an agent as Chat and as Messages, small (about 1 kB) and big (about 500 kB)."""

from __future__ import annotations

import json
from typing import Any

WORDS = "The build failed because the linker could not find a symbol; the log says which one, and the file was written an hour ago. "
TOOL = {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}
SMALL, BIG = (1, 180), (100, 4700)


def body(dialect: str, size: tuple[int, int], model: str, stream: bool = False) -> bytes:
    """The body in `dialect` (`chat` or `messages`): `size` is the number of calls, and how long each text is."""
    rounds, length = size
    text = (WORDS * (length // len(WORDS) + 1))[:length]
    build = _chat if dialect == "chat" else _messages
    return json.dumps({"model": model, "stream": stream, **build(rounds, text)}, separators=(",", ":")).encode()


def _chat(rounds: int, text: str) -> dict[str, Any]:
    messages: list[dict[str, Any]] = [
        {"role": "system", "content": "You are brief."},
        {"role": "user", "content": text[:400]},
    ]
    for number in range(rounds):
        function = {"name": "read_file", "arguments": json.dumps({"path": f"src/part_{number}.c"})}
        messages += [
            {
                "role": "assistant",
                "content": None,
                "tool_calls": [{"id": f"call_{number}", "type": "function", "function": function}],
            },
            {"role": "tool", "tool_call_id": f"call_{number}", "content": text},
        ]
    tools = [{"type": "function", "function": {"name": "read_file", "description": "Read a file.", "parameters": TOOL}}]
    return {"messages": messages, "tools": tools}


def _messages(rounds: int, text: str) -> dict[str, Any]:
    messages: list[dict[str, Any]] = [{"role": "user", "content": text[:400]}]
    for number in range(rounds):
        call = {
            "type": "tool_use",
            "id": f"call_{number}",
            "name": "read_file",
            "input": {"path": f"src/part_{number}.c"},
        }
        messages += [
            {"role": "assistant", "content": [call]},
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": f"call_{number}", "content": text}]},
        ]
    tools = [{"name": "read_file", "description": "Read a file.", "input_schema": TOOL}]
    return {"max_tokens": 1024, "system": "You are brief.", "messages": messages, "tools": tools}


PATHS = {"chat": "/v1/chat/completions", "messages": "/v1/messages"}
