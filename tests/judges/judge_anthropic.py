"""The judge of Anthropic Messages (target `anthropic`): the rows of the rules document with severity E that a body alone can break.

Each finding cites its row (AN…, AT…, AH…). The target is the model without mid-conversation system messages (AN2) and with prefill, so AN4–AN7 and AN11
are judged only with `mid_system` / `prefill`. Left out, because a body alone does not decide them: AH2–AH7 (signatures; the law of promise 10 sees to foreign ones),
AT12 and AT14 (toolsets), AH4 (open tool loops of older models).
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterator
from typing import Any

from tests.judges.findings import Finding, Findings, is_text, transport

# Appendix B: required and optional keys of every block, GA and beta.
_BLOCKS: dict[str, tuple[set[str], set[str]]] = {
    "text": ({"text"}, {"cache_control", "citations"}),
    "image": ({"source"}, {"cache_control", "transformations"}),
    "document": ({"source"}, {"cache_control", "citations", "context", "title"}),
    "search_result": ({"content", "source", "title"}, {"cache_control", "citations"}),
    "thinking": ({"signature", "thinking"}, set()),
    "redacted_thinking": ({"data"}, set()),
    "tool_use": ({"id", "input", "name"}, {"cache_control", "caller", "toolset_name"}),
    "tool_result": ({"tool_use_id"}, {"cache_control", "content", "is_error", "toolset_name"}),
    "server_tool_use": ({"id", "input", "name"}, {"cache_control", "caller"}),
    "web_search_tool_result": ({"content", "tool_use_id"}, {"cache_control", "caller"}),
    "web_fetch_tool_result": ({"content", "tool_use_id"}, {"cache_control", "caller"}),
    "code_execution_tool_result": ({"content", "tool_use_id"}, {"cache_control"}),
    "bash_code_execution_tool_result": ({"content", "tool_use_id"}, {"cache_control"}),
    "text_editor_code_execution_tool_result": ({"content", "tool_use_id"}, {"cache_control"}),
    "tool_search_tool_result": ({"content", "tool_use_id"}, {"cache_control"}),
    "container_upload": ({"file_id"}, {"cache_control"}),
    "advisor_tool_result": ({"content", "tool_use_id"}, {"cache_control"}),
    "mcp_tool_use": ({"id", "input", "name", "server_name"}, {"cache_control"}),
    "mcp_tool_result": ({"tool_use_id"}, {"cache_control", "content", "is_error"}),
    "compaction": (set(), {"cache_control", "content", "encrypted_content", "signature", "tool_changes"}),
    "mcp_tool_listing": ({"mcp_server_name", "tools"}, set()),
    "fallback": ({"from", "to"}, {"trigger"}),
}
_IN_RESULTS = {"text", "image", "search_result", "document", "tool_reference", "browser_state"}  # AT10
_ONLY_USER = {"tool_result"}
_ONLY_ASSISTANT = {"thinking", "redacted_thinking", "tool_use", "server_tool_use", "mcp_tool_use"}
_SERVER_CALLS = {"server_tool_use", "mcp_tool_use"}
_IMAGES = {"image/jpeg", "image/png", "image/gif", "image/webp"}
_ID = re.compile(r"[a-zA-Z0-9_-]+\Z")
_SERVER_ID = re.compile(r"srvtoolu_[a-zA-Z0-9_]+\Z")
_NAME = re.compile(r"[a-zA-Z0-9_-]{1,128}\Z")


def judge(body: Any, *, mid_system: bool = False, prefill: bool = True, whole: bool = False) -> list[Finding]:
    """Every rule that the body breaks; the body holds at least `messages`. `whole`: it is a request, so the required parameters count."""
    found = [*transport(body), *_shape(body, mid_system)]
    return found or [
        *_order(body["messages"], mid_system, prefill),
        *_pairing(body["messages"]),
        *_system(body),
        *_marks(body),
        *_tools(body, whole),
    ]


def _shape(body: Any, mid_system: bool) -> Findings:
    messages = body.get("messages") if isinstance(body, dict) else None
    if not isinstance(messages, list):
        yield Finding("AN20", "messages", "not a list")
        return
    if not messages:
        yield Finding("AN20", "messages", "at least one message is required")
    if len(messages) > 100_000:
        yield Finding("AN21", "messages", "more than 100,000 messages")
    for index, message in enumerate(messages):
        at = f"messages[{index}]"
        if not isinstance(message, dict):
            yield Finding("AN20", at, "not an object")
            continue
        role, content = message.get("role"), message.get("content")
        for key in message.keys() - {"role", "content"}:
            yield Finding("AN19", at, f"extra input {key!r}")
        if role == "system" and not mid_system:
            yield Finding("AN2", at, "role 'system' is not supported on this model")
        elif role not in ("user", "assistant", "system"):
            yield Finding("AN1", at, f"unexpected role {role!r}")
        elif isinstance(content, list):
            for number, block in enumerate(content):
                yield from _block(block, str(role), f"{at}.content[{number}]")
        elif not isinstance(content, str):
            yield Finding("AN20", at, "content is neither a string nor a list")
        elif content and not content.strip():
            yield Finding("AN18", at, "text content blocks must contain non-whitespace text")


def _block(block: Any, role: str, at: str) -> Findings:
    kind = block.get("type") if isinstance(block, dict) else None
    if not isinstance(kind, str) or kind not in _BLOCKS:
        yield Finding("AN20", at, f"{kind!r} is no block")
        return
    required, optional = _BLOCKS[kind]
    for key in block.keys() - required - optional - {"type"}:
        yield Finding("AN19", at, f"extra input {key!r} in {kind}")
    for key in required - block.keys():
        yield Finding(
            "AH1" if "thinking" in kind else "AT1" if kind == "tool_use" else "AN20", at, f"{kind} without {key}"
        )
    if (kind in _ONLY_USER and role != "user") or (kind in _ONLY_ASSISTANT and role != "assistant"):
        yield Finding("AN20", at, f"a {role} message cannot hold {kind}")
    if role == "system" and kind != "text":
        yield Finding("AN7", at, "role 'system' supports text only")
    if kind == "text":
        yield from _text(block, at)
    elif kind in ("image", "document"):
        yield from _source(block.get("source"), kind, at)
    elif kind == "search_result":
        yield from _texts(block.get("content"), at)
    elif kind in ("tool_use", "server_tool_use", "mcp_tool_use"):
        yield from _call(block, kind, at)
    elif kind == "tool_result":
        yield from _result(block, at)
    elif kind == "thinking" and not (
        isinstance(block.get("thinking"), str) and isinstance(block.get("signature"), str) and block["signature"]
    ):
        yield Finding("AH1", at, "thinking without its text or signature")
    elif kind == "redacted_thinking" and not (isinstance(block.get("data"), str) and block["data"]):
        yield Finding("AH1", at, "redacted_thinking without data")


def _text(block: dict[str, Any], at: str) -> Findings:
    if not isinstance(block.get("text"), str):
        yield Finding("AN20", at, "text is not a string")
    elif not block["text"]:
        yield Finding("AN17", at, "text content blocks must be non-empty")
    elif not block["text"].strip():
        yield Finding("AN18", at, "text content blocks must contain non-whitespace text")


def _texts(content: Any, at: str) -> Findings:
    if not isinstance(content, list):
        yield Finding("AN20", at, "content is not a list")
        return
    for number, block in enumerate(content):
        if not isinstance(block, dict) or block.get("type") != "text":
            yield Finding("AN20", f"{at}.content[{number}]", "not a text block")
        else:
            yield from _text(block, f"{at}.content[{number}]")


def _source(source: Any, kind: str, at: str) -> Findings:
    # "image sources: base64, url, file; document sources: base64 (pdf), text, content, url, file" (Appendix B)
    form = source.get("type") if isinstance(source, dict) else None
    forms = {
        "base64": {"media_type", "data"},
        "url": {"url"},
        "file": {"file_id"},
        **({"text": {"media_type", "data"}, "content": {"content"}} if kind == "document" else {}),
    }
    if not isinstance(form, str) or form not in forms:
        yield Finding("AN20", at, f"{form!r} is no source of a {kind}")
        return
    if source.keys() != forms[form] | {"type"}:
        yield Finding("AN19", at, f"a source of type {form} with the keys {sorted(source)}")
    elif form == "base64":
        if source["media_type"] not in (_IMAGES if kind == "image" else {"application/pdf"}):
            yield Finding("AN20", at, f"media type {source['media_type']!r}")
        try:
            base64.b64decode(source["data"], validate=True)
        except (binascii.Error, ValueError, TypeError):
            yield Finding("case encoding-data-url-and-nonstandard-base64", at, "invalid base64 data")
    elif form == "url" and not isinstance(source["url"], str):
        yield Finding("AN20", at, "url is not a string")


def _call(block: dict[str, Any], kind: str, at: str) -> Findings:
    if not isinstance(block.get("input"), dict):
        yield Finding("AT1", at, "input is not an object")
    identity, name = block.get("id"), block.get("name")
    pattern, rule = (_SERVER_ID, "AT3") if kind == "server_tool_use" else (_ID, "AT2")
    if not isinstance(identity, str) or not pattern.match(identity):
        yield Finding(rule, at, f"the id {identity!r} does not match the pattern")
    if not isinstance(name, str) or (kind == "tool_use" and not _NAME.match(name)):
        yield Finding("AT4", at, f"a tool cannot be called {name!r}")


def _result(block: dict[str, Any], at: str) -> Findings:
    content = block.get("content", "")
    if not isinstance(block.get("tool_use_id"), str) or not _ID.match(block["tool_use_id"]):
        yield Finding("AT2", at, "the result's id does not match the pattern")
    if "is_error" in block and not isinstance(block["is_error"], bool):
        yield Finding("AT10", at, "is_error is not a boolean")
    if isinstance(content, list):
        for number, inner in enumerate(content):
            where = f"{at}.content[{number}]"
            kind = inner.get("type") if isinstance(inner, dict) else None
            if not isinstance(kind, str) or kind not in _IN_RESULTS:
                yield Finding("AT10", where, f"a tool_result cannot hold {kind!r}")
            elif kind in _BLOCKS:
                yield from _block(inner, "user", where)
            if block.get("is_error") is True and kind != "text":
                yield Finding(
                    "case images-error-result-with-image",
                    where,
                    "all content must be type `text` if `is_error` is true",
                )
    elif not isinstance(content, str):
        yield Finding("AT10", at, "the content of a result is neither a string nor a list")


def _runs(messages: list[Any]) -> Iterator[tuple[int, str, list[dict[str, Any]]]]:
    """The turns as the provider sees them (AN10): consecutive messages of one role are one; a string is one text block."""
    index, role, blocks = 0, "", list[dict[str, Any]]()
    for position, message in enumerate(messages):
        if message["role"] != role:
            if role:
                yield index, role, blocks
            index, role, blocks = position, message["role"], []
        content = message["content"]
        blocks.extend(content if isinstance(content, list) else [{"type": "text", "text": content}] if content else [])
    if role:
        yield index, role, blocks


def _order(messages: list[Any], mid_system: bool, prefill: bool) -> Findings:
    if messages[0]["role"] == "system":
        yield Finding("AN4", "messages[0]", "use the top-level 'system' parameter for the initial system prompt")
    elif messages[0]["role"] != "user":
        yield Finding("AN9", "messages[0]", 'first message must use the "user" role')
    runs = list(_runs(messages))
    for position, (index, role, blocks) in enumerate(runs):
        at = f"messages[{index}]"
        if role == "user" and not blocks:
            yield Finding("AN15", at, "user messages must have non-empty content")
        if role == "system" and mid_system:
            if position and runs[position - 1][1] == "assistant" and not _paused(runs[position - 1][2]):
                yield Finding("AN6", at, "a system message directly after an assistant turn")
            if position + 1 < len(runs) and runs[position + 1][1] != "assistant":
                yield Finding("AN5", at, "role 'system' must precede an 'assistant' message or end the array")
            if not any(is_text(block.get("text")) for block in blocks):
                yield Finding("AN7", at, "system content must contain at least one block")
    index, role, blocks = runs[-1]
    if role != "assistant":
        return
    if blocks and blocks[-1]["type"] in ("thinking", "redacted_thinking"):
        yield Finding("AN14", f"messages[{index}]", "the final block in an assistant message cannot be `thinking`")
    if blocks and blocks[-1]["type"] == "text" and blocks[-1]["text"] != blocks[-1]["text"].rstrip():
        yield Finding("AN13", f"messages[{index}]", "final assistant content cannot end with trailing whitespace")
    if not prefill and not _paused(blocks):
        yield Finding("AN11", f"messages[{index}]", "this model does not support assistant message prefill")


def _paused(blocks: list[dict[str, Any]]) -> bool:
    """AN12: a turn that stopped in server tool use is continued by sending it last."""
    answered = {block.get("tool_use_id") for block in blocks}
    return any(block["type"] in _SERVER_CALLS and block["id"] not in answered for block in blocks)


def _pairing(messages: list[Any]) -> Findings:
    seen: set[str] = set()
    waiting: set[str] = set()
    asked: set[str] = set()
    for index, role, blocks in _runs(messages):
        at = f"messages[{index}]"
        if role == "system":
            if waiting:
                yield Finding("AT9", at, "a system message between tool_use and tool_result")
            continue
        if role == "user":
            leading, answered = True, set[str]()
            for block in blocks:
                if block["type"] != "tool_result":
                    leading = False
                    continue
                identity = block["tool_use_id"]
                if identity in answered:
                    yield Finding("AT8", at, "each tool_use must have a single result")
                elif identity not in asked:
                    yield Finding("AT6", at, "unexpected 'tool_use_id' found in 'tool_result' blocks")
                elif not leading:
                    yield Finding("AT5", at, "content stands before a tool_result of the turn")
                answered.add(identity)
                waiting.discard(identity)
            if waiting:
                yield Finding("AT5", at, "'tool_use' ids were found without 'tool_result' blocks immediately after")
            waiting, asked = set(), set()
            continue
        waiting, asked, served = set(), set(), set[str]()
        for block in blocks:
            if block["type"] == "tool_use" or block["type"] in _SERVER_CALLS:
                if block["id"] in seen:
                    yield Finding("AT8", at, "'tool_use' ids must be unique")
                seen.add(block["id"])
                (served if block["type"] in _SERVER_CALLS else waiting).add(block["id"])
            elif block["type"].endswith("_tool_result"):
                if block["tool_use_id"] not in served:
                    yield Finding("AT7", at, "a server tool result without its call before it")
        asked = set(waiting)
    if waiting:
        yield Finding("AT5", "messages", "'tool_use' ids were found without 'tool_result' blocks immediately after")


def _system(body: dict[str, Any]) -> Findings:
    system = body.get("system", "")
    if isinstance(system, list):
        yield from _texts(system, "system")
        for number, block in enumerate(system):
            for key in (block.keys() if isinstance(block, dict) else set()) - {
                "type",
                "text",
                "cache_control",
                "citations",
            }:
                yield Finding("AN19", f"system[{number}]", f"extra input {key!r}")
    elif not isinstance(system, str):
        yield Finding("AN20", "system", "neither a string nor a list")


def _marks(body: dict[str, Any]) -> Findings:
    count = 0
    stack: list[Any] = [body.get("messages"), body.get("system"), body.get("tools")]
    while stack:
        found = stack.pop()
        if isinstance(found, dict):
            mark = found.get("cache_control") if "type" in found or "input_schema" in found else None
            if isinstance(mark, dict):
                count += 1
                if mark.get("type") != "ephemeral" or mark.get("ttl", "5m") not in ("5m", "1h"):
                    yield Finding("AN23", "", f"a cache mark {mark!r}")
            if found.get("type") not in ("tool_use", "server_tool_use", "mcp_tool_use"):
                stack.extend(found.values())
        elif isinstance(found, list):
            stack.extend(found)
    if count > 4:
        yield Finding("AN22", "", f"a maximum of 4 blocks with cache_control may be provided, found {count}")


def _tools(body: dict[str, Any], whole: bool) -> Findings:
    if whole:
        for key in ("model", "max_tokens"):
            if key not in body:
                yield Finding("AN20", key, "field required")
    tools = body.get("tools")
    names: list[Any] = []
    for number, tool in enumerate(tools if isinstance(tools, list) else ()):
        name = tool.get("name") if isinstance(tool, dict) else None
        if (
            isinstance(tool, dict)
            and tool.get("type", "custom") == "custom"
            and not (isinstance(name, str) and _NAME.match(name))
        ):
            yield Finding("AT4", f"tools[{number}]", f"a tool cannot be called {name!r}")
        names.append(name)
    if len({str(name) for name in names}) < len(names):
        yield Finding("AT4", "tools", "tool names must be unique")
    choice = body.get("tool_choice")
    if isinstance(choice, dict):
        if not tools:
            yield Finding("AT11", "tool_choice", "may only be specified while providing tools")
        elif choice.get("type") == "tool" and choice.get("name") not in names:
            yield Finding("AT11", "tool_choice", "the tool is not in the provided tools")
