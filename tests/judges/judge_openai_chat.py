"""The judge of OpenAI Chat Completions: the rows of the rules document with severity E that a body alone can break.

Each finding cites its row (OC1 …). Left out, because the body alone does not decide them: OC3 (old models without a system role), OC30 and OC31
(parameters that one model refuses while reasoning). OC13 (unknown keys of the body) is judged by the SDK model, which knows the keys. Unknown keys of
messages and parts are not judged (OC14: not measured).
"""

from __future__ import annotations

import re
from typing import Any

from tests.judges.findings import Finding, Findings, transport

_ROLES = ("developer", "system", "user", "assistant", "tool")  # OC1; `function` is refused by current models (OC4)
_PARTS = {
    "developer": {"text"},
    "system": {"text"},
    "tool": {"text"},
    "user": {"text", "image_url", "input_audio", "file"},
    "assistant": {"text", "refusal"},
}
_PAYLOAD = {
    "text": "text",
    "image_url": "image_url",
    "input_audio": "input_audio",
    "file": "file",
    "refusal": "refusal",
}
_NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}\Z")
_LONGEST_ID = 64  # OC22 and the conflict list: emit at most 40, but 51 and 64 have been accepted; above that nobody has seen a success


def judge(body: Any) -> list[Finding]:
    """Every rule that the body breaks; the body holds at least `messages`."""
    return [*transport(body), *_shape(body)] or [*_pairing(body["messages"]), *_tools(body)]


def _shape(body: Any) -> Findings:
    messages = body.get("messages") if isinstance(body, dict) else None
    if not isinstance(messages, list):
        yield Finding("OC5", "", "messages is not a list")
        return
    if not messages:
        yield Finding("OC5", "messages", "empty array")
    for index, message in enumerate(messages):
        at = f"messages[{index}]"
        if not isinstance(message, dict):
            yield Finding("OC1", at, "not an object")
        elif message.get("role") == "function":
            yield Finding("OC4", at, "role function is not supported by current models")
        elif message.get("role") not in _ROLES:
            yield Finding("OC1", at, f"invalid role {message.get('role')!r}")
        else:
            yield from _content(message, at)
            if message["role"] == "assistant":
                yield from _calls(message, at)
            if message["role"] == "tool" and not isinstance(message.get("tool_call_id"), str):
                yield Finding("OC25", at, "a tool message without the id of its call")


def _content(message: dict[str, Any], at: str) -> Findings:
    role, content = message["role"], message.get("content")
    if content is None:
        substitutes = ("tool_calls", "function_call", "refusal", "audio")
        if role != "assistant" or all(message.get(key) is None for key in substitutes):
            yield Finding(
                "OC7" if role == "developer" else "OC8" if role == "assistant" else "OC6",
                at,
                "expected a string, got null",
            )
    elif isinstance(content, list):
        if not content and role != "assistant":
            yield Finding("OC10", at, "an empty list of content")
        for number, part in enumerate(content):
            where = f"{at}.content[{number}]"
            kind = part.get("type") if isinstance(part, dict) else None
            if not isinstance(kind, str) or kind not in _PARTS[role]:
                yield Finding(
                    "OC26" if role == "tool" else "OC12", where, f"a {role} message cannot hold a part of type {kind!r}"
                )
            elif _PAYLOAD[kind] not in part:
                yield Finding("OC12", where, f"a part of type {kind} without its {_PAYLOAD[kind]}")
            elif kind in ("text", "refusal") and not isinstance(part[kind], str):
                yield Finding("OC12", where, "text that is not a string")
    elif not isinstance(content, str):
        yield Finding("OC6", at, "content is neither a string nor a list")


def _calls(message: dict[str, Any], at: str) -> Findings:
    calls = message.get("tool_calls")
    if "tool_calls" not in message or calls is None:
        return
    if not isinstance(calls, list) or not calls:
        yield Finding("OC9", at, "tool_calls is not a list with calls in it")
        return
    for number, call in enumerate(calls):
        where = f"{at}.tool_calls[{number}]"
        kind = call.get("type") if isinstance(call, dict) else None
        inner = call.get(kind) if isinstance(kind, str) and kind in ("function", "custom") else None
        if not isinstance(inner, dict):
            yield Finding("OC20", where, "neither a function call nor a custom call")
            continue
        if not isinstance(inner.get("arguments" if kind == "function" else "input"), str):
            yield Finding("OC20", where, "arguments that are not a string")
        if not isinstance(inner.get("name"), str) or not _NAME.match(inner["name"]):
            yield Finding("OC23", where, f"a tool cannot be called {inner.get('name')!r}")
        if not isinstance(call.get("id"), str) or not call["id"]:
            yield Finding("OC20", where, "a call without an id")
        elif len(call["id"]) > _LONGEST_ID:
            yield Finding("OC22", where, f"the id has {len(call['id'])} characters")


def _pairing(messages: list[Any]) -> Findings:
    waiting: list[str] = []
    answerable = False
    for index, message in enumerate(messages):
        at = f"messages[{index}]"
        if message["role"] == "tool":
            if not answerable or message["tool_call_id"] not in waiting:
                yield Finding("OC25", at, "a tool message that no call of the turn before it waits for")
            else:
                waiting.remove(message["tool_call_id"])
            continue
        if waiting:
            yield Finding("OC24", at, f"tool_call_ids without response messages: {waiting}")
        calls = [call["id"] for call in message.get("tool_calls") or ()] if message["role"] == "assistant" else []
        if len(set(calls)) < len(calls):
            yield Finding("OC32", at, "one id twice in a batch")
        waiting, answerable = calls, bool(calls)
    if waiting:
        yield Finding("OC24", "messages", f"tool_call_ids without response messages: {waiting}")


def _tools(body: dict[str, Any]) -> Findings:
    tools = body.get("tools")
    if tools is None:
        return
    if not isinstance(tools, list):
        yield Finding("OC28", "tools", "not a list")
        return
    if len(tools) > 128:
        yield Finding("OC28", "tools", "more than 128 tools")
    names = set()
    for number, tool in enumerate(tools):
        inner = tool.get(tool.get("type")) if isinstance(tool, dict) and isinstance(tool.get("type"), str) else None
        name = inner.get("name") if isinstance(inner, dict) else None
        if not isinstance(name, str) or not _NAME.match(name):
            yield Finding("OC23", f"tools[{number}]", f"a tool cannot be called {name!r}")
        names.add(str(name))
    choice = body.get("tool_choice")
    if (
        isinstance(choice, dict)
        and isinstance(choice.get("function"), dict)
        and choice["function"].get("name") not in names
    ):
        yield Finding("OC29", "tool_choice", "names a tool that is not declared")
