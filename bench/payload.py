"""What must be byte for byte the same after a crossing, and that a clean history crosses in silence: checks, not timings.

A speed that is paid for with a changed payload is worth nothing, so every run of the benchmark begins with these.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

import msgspec

from bench import histories
from bench.candidates import ANTHROPIC, CHAT, Dialect
from sendable import normalize_json

ARGUMENTS = (
    '{"zeta":123456789012345678901234567890,"alpha":-9007199254740993,"float":1.0e5,"trailing":0.1000,"exponent":1E-7,'
    '"negative":-0.0,"tiny":5e-324,"escaped":"\\u00e9\\u0041 \\/ \\n \\ud83d\\ude42","plain":"é🙂","empty":{},"list":[1,[2.50,[]]],'
    '"0":null,"nested":{"b":1,"a":{"d":true,"c":false}}}'
)
TEXT = '"caf\\u00e9 \\ud83d\\ude42 🙂 \\/ \\u2028 \\"quoted\\" tab\\t"'
RESULT = '"{\\"id\\": 123456789012345678901234567890, \\"ratio\\": 1.0e5, \\"url\\": \\"a\\\\/b\\"}"'

CHAT_MESSAGES = (
    f'[{{"role":"user","content":{TEXT}}},'
    f'{{"role":"assistant","content":null,"tool_calls":[{{"id":"call_1","type":"function","function":'
    f'{{"name":"look","arguments":{json.dumps(ARGUMENTS)}}}}}]}},'
    f'{{"role":"tool","tool_call_id":"call_1","content":{RESULT}}},{{"role":"user","content":"go on"}}]'
)
ANTHROPIC_MESSAGES = (
    f'[{{"role":"user","content":{TEXT}}},'
    f'{{"role":"assistant","content":[{{"type":"tool_use","id":"call_1","name":"look","input":{ARGUMENTS}}}]}},'
    f'{{"role":"user","content":[{{"type":"tool_result","tool_use_id":"call_1","content":{RESULT}}}]}},'
    f'{{"role":"user","content":"go on"}}]'
)


def checks() -> Iterator[tuple[str, bool]]:
    """Each check with whether it holds; an exception of the package counts as a failed check."""
    table: tuple[tuple[str, Callable[[], bool]], ...] = (
        ("Chat to Chat: the messages, every byte", lambda: same(CHAT_MESSAGES, CHAT)),
        ("Anthropic to Anthropic: the messages, every byte", lambda: same(ANTHROPIC_MESSAGES, ANTHROPIC)),
        ("Chat to Anthropic: arguments text = bytes of `input`", lambda: input_of(CHAT_MESSAGES) == ARGUMENTS),
        ("Anthropic to Chat: bytes of `input` = arguments text", lambda: arguments_of(ANTHROPIC_MESSAGES) == ARGUMENTS),
        ("Chat to Anthropic: texts, escapes as they were", lambda: keeps(CHAT_MESSAGES, ANTHROPIC)),
        ("Anthropic to Chat: texts, escapes as they were", lambda: keeps(ANTHROPIC_MESSAGES, CHAT)),
        ("1,000 messages, Chat to Anthropic: same calls and results, no entry", lambda: crossing(CHAT, ANTHROPIC)),
        ("1,000 messages, Anthropic to Chat: same calls and results, no entry", lambda: crossing(ANTHROPIC, CHAT)),
        ("1,000 messages, Chat to Chat: every byte, no entry", lambda: crossing(CHAT, CHAT)),
        ("1,000 messages, Anthropic to Anthropic: every byte, no entry", lambda: crossing(ANTHROPIC, ANTHROPIC)),
    )
    for name, check in table:
        try:
            yield name, check()
        except Exception as error:  # shown as a failed check, with what was raised
            yield f"{name} ({type(error).__name__}: {error})"[:200], False


def same(messages: str, to: Dialect) -> bool:
    written: bytes = normalize_json(messages.encode(), to).data
    return written == messages.encode()


def keeps(messages: str, to: Dialect) -> bool:
    written = normalize_json(messages.encode(), to).data.decode()
    return TEXT in written and RESULT in written


def input_of(messages: str) -> str:
    return bytes(raw(normalize_json(messages.encode(), ANTHROPIC).data, 1, "content", 0, "input")).decode()


def arguments_of(messages: str) -> str:
    data = normalize_json(messages.encode(), CHAT).data
    return msgspec.json.decode(raw(data, 1, "tool_calls", 0, "function", "arguments"), type=str)


def raw(data: bytes, *path: str | int) -> bytes:
    """The bytes at a path of a document, as they are spelled; a list stands for the messages of a body."""
    if data.lstrip()[:1] == b"{" and isinstance(path[0], int):
        path = ("messages", *path)
    value = msgspec.Raw(data)
    for step in path:
        if isinstance(step, str):
            value = msgspec.json.decode(value, type=dict[str, msgspec.Raw])[step]
        else:
            value = msgspec.json.decode(value, type=list[msgspec.Raw])[step]
    return bytes(value)


def crossing(source: Dialect, to: Dialect) -> bool:
    made = histories.events(1_000)
    bodies = {CHAT: histories.chat(made), ANTHROPIC: histories.anthropic(made)}
    data = histories.encoded(bodies[source])
    result = normalize_json(data, to)
    if result.report.entries or result.dropped:
        raise AssertionError(f"{len(result.report.entries)} entries, the first: {result.report.entries[0]}")
    if source == to:
        return raw(result.data, "messages") == raw(data, "messages")
    written: list[Any] = json.loads(result.data)["messages"]
    return pairs(written) == pairs(bodies[to]["messages"])


def pairs(messages: list[Any]) -> list[tuple[str, str, Any]]:
    """Every call and every result of either dialect, in order."""
    found: list[tuple[str, str, Any]] = []
    for message in messages:
        for call in message.get("tool_calls") or ():
            found.append(("call", call["id"], json.loads(call["function"]["arguments"])))
        if message["role"] == "tool":
            found.append(("result", message["tool_call_id"], message["content"]))
        for block in message["content"] if isinstance(message["content"], list) else ():
            if block["type"] == "tool_use":
                found.append(("call", block["id"], block["input"]))
            if block["type"] == "tool_result":
                found.append(("result", block["tool_use_id"], block["content"]))
    return found
