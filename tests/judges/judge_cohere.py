"""The judge of Cohere v2 chat: the message types of cohere 7.3.1, and the rows CO1 to CO7 of the rules document, which those do not know.

The SDK is asked through pydantic, never through its own `construct_type`, which validates nothing.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Annotated, Any

from cohere.types.chat_message_v2 import (
    AssistantChatMessageV2,
    SystemChatMessageV2,
    ToolChatMessageV2,
    UserChatMessageV2,
)
from pydantic import Field, TypeAdapter, ValidationError

from tests.judges.findings import Finding, Findings, is_text

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")
_PARTS = {
    "system": {"text"},
    "user": {"text", "image_url"},
    "assistant": {"text", "thinking"},
    "tool": {"text", "document"},
}


@cache
def _adapter() -> TypeAdapter[Any]:
    union: Any = UserChatMessageV2 | AssistantChatMessageV2 | SystemChatMessageV2 | ToolChatMessageV2
    one: Any = Annotated[union, Field(discriminator="role")]
    listed: Any = list
    return TypeAdapter(listed[one])


def judge(body: Any) -> list[Finding]:
    """Every rule that the body breaks."""
    messages = body["messages"]
    try:
        _adapter().validate_python(messages)
    except ValidationError as error:
        return [Finding("SDK", ".".join(map(str, found["loc"])), found["msg"]) for found in error.errors()]
    return [*_turns(messages), *_names(body)]


def _turns(messages: list[Any]) -> Findings:
    waiting: list[str] = []
    seen: set[str] = set()
    for index, message in enumerate(messages):
        at, role = f"messages[{index}]", message["role"]
        if role == "system" and index:
            yield Finding("CO2", at, "system turn must be the first in the list")
        if not (_said(message.get("content")) or message.get("tool_calls")):
            yield Finding("CO3", at, "message must not be empty in a turn")
        content = message.get("content")
        for part in content if isinstance(content, list) else ():
            if part.get("type") not in _PARTS[role]:
                yield Finding("CO7", at, f"a {role} message cannot hold a part of type {part.get('type')!r}")
            elif part["type"] == "text" and not is_text(part["text"]):
                yield Finding("CO3", at, "an empty part")
        if role == "tool":
            if message["tool_call_id"] not in waiting:
                yield Finding("CO4", at, "tool call id not found in previous tool calls")
            else:
                waiting.remove(message["tool_call_id"])
        for call in message.get("tool_calls") or ():
            if call.get("type") != "function":
                yield Finding("CO4", at, "tool call must be of type function")
            if call["id"] in seen:
                yield Finding("CO4", at, "cannot have duplicate tool ids")
            seen.add(call["id"])
            waiting.append(call["id"])
            if not _NAME.match(call["function"]["name"]):
                yield Finding("CO5", at, "tool names can only contain certain characters (A-Za-z0-9_)")


def _names(body: Any) -> Findings:
    for number, tool in enumerate(body.get("tools") or ()):
        if not _NAME.match(tool.get("function", {}).get("name", "")):
            yield Finding("CO5", f"tools[{number}]", "tool names can only contain certain characters (A-Za-z0-9_)")


def _said(content: Any) -> bool:
    return is_text(content) if isinstance(content, str) else bool(content)
