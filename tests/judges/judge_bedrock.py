"""The judge of Bedrock Converse: the rows of section 5 of the rules document with severity E that a body alone can break.

Each finding cites its row (BE…). The schema itself (BE2, BE8, lengths, patterns) is judged here as far as the history goes, and whole by botocore
(tests/judges/converse.py). `prefill` and `apart` are facts of a model: BE5, and the case of Llama that takes no text beside tool blocks. Left out, because a body
alone does not decide them: BE16's models without S3 or video, BE17's and BE19's signatures (the law of promise 10 sees to foreign ones), BE18.
"""

from __future__ import annotations

import base64
import binascii
import re
from typing import Any

from tests.judges.findings import Finding, Findings, is_text, transport

_BLOCKS = {
    "text", "image", "document", "video", "audio", "toolUse", "toolResult", "guardContent", "cachePoint", "reasoningContent", "citationsContent",
    "searchResult", "toolAddition", "toolRemoval",
}  # fmt: skip
_IN_RESULTS = {"json", "text", "image", "document", "video", "searchResult"}  # BE12
_IN_SYSTEM = {"text", "guardContent", "cachePoint"}  # BE2
_ID = re.compile(r"[a-zA-Z0-9_.:-]{1,64}\Z")
_NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}\Z")
_DOCUMENT_NAME = re.compile(r"[A-Za-z0-9()\[\]-]+( [A-Za-z0-9()\[\]-]+)*\Z")
_FORMATS = {
    "image": {"png", "jpeg", "gif", "webp"},
    "document": {"pdf", "csv", "doc", "docx", "xls", "xlsx", "html", "txt", "md"},
}
_MOST = {"image": (20, 3.75), "document": (5, 4.5)}
_MEGABYTE = 1024 * 1024


def judge(body: Any, *, prefill: bool = True, apart: bool = False, whole: bool = False) -> list[Finding]:
    """Every rule that the body breaks; it holds at least `messages`. `whole`: it is a request, so that the tools must be declared."""
    found = [*transport(body), *_shape(body)]
    return found or [
        *_order(body["messages"], prefill, apart),
        *_pairing(body["messages"]),
        *_documents(body["messages"]),
        *_tools(body, whole),
    ]


def _shape(body: Any) -> Findings:
    messages = body.get("messages") if isinstance(body, dict) else None
    if not isinstance(messages, list) or not messages:
        yield Finding("BE3", "messages", "not a list with a message in it")
        return
    for index, message in enumerate(messages):
        at = f"messages[{index}]"
        if not isinstance(message, dict) or message.keys() != {"role", "content"}:
            yield Finding("BE8", at, "not an object of role and content")
        elif message["role"] not in ("user", "assistant"):
            yield Finding("BE1", at, f"the role {message['role']!r}")
        elif not isinstance(message["content"], list) or not message["content"]:
            yield Finding("BE7", at, "the content field in the Message object is empty")
        else:
            for number, block in enumerate(message["content"]):
                yield from _block(block, _BLOCKS, message["role"], f"{at}.content[{number}]")
    system = body.get("system", [])
    if not isinstance(system, list):
        yield Finding("BE2", "system", "not a list")
        return
    for number, block in enumerate(system):
        yield from _block(block, _IN_SYSTEM, "system", f"system[{number}]")


def _block(block: Any, kinds: set[str], role: str, at: str) -> Findings:
    if not isinstance(block, dict) or len(block) != 1:
        yield Finding("BE8", at, "a block has exactly one member")
        return
    [(kind, inner)] = block.items()
    if kind not in kinds:
        yield Finding("BE8", at, f"{kind!r} cannot stand here")
    elif kind == "text":
        if not is_text(inner):
            yield Finding("BE6", at, "the text field in the ContentBlock object is blank")
    elif kind in ("image", "document"):
        yield from _media(inner, kind, at)
        if role == "assistant":
            yield Finding("BE14", at, f"{kind} in the role assistant")
    elif kind == "toolUse":
        if role != "assistant":
            yield Finding("BE11", at, "a toolUse outside an assistant message")
        yield from _tool_use(inner, at)
    elif kind == "toolResult":
        yield from _tool_result(inner, role, at)
    elif kind == "reasoningContent":
        if role != "assistant":
            yield Finding("BE17", at, "reasoning outside an assistant message")
        yield from _reasoning(inner, at)


def _media(inner: Any, kind: str, at: str) -> Findings:
    source = inner.get("source") if isinstance(inner, dict) else None
    if not isinstance(source, dict) or len(source) != 1:
        yield Finding("BE16", at, "a source has exactly one member")
        return
    if (kind == "image" or "format" in inner) and inner.get("format") not in _FORMATS[kind]:
        yield Finding("BE14" if kind == "image" else "BE15", at, f"the format {inner.get('format')!r}")
    form = next(iter(source))
    if form not in ("bytes", "s3Location", *(("text", "content") if kind == "document" else ())):
        yield Finding("BE16", at, f"a source {form!r}")
    elif form == "bytes":
        data = raw_bytes(source["bytes"])
        if not data:
            yield Finding("BE16", at, "the bytes are no base64")
        elif len(data) > _MOST[kind][1] * _MEGABYTE:
            yield Finding("BE14", at, f"a {kind} of {len(data)} bytes")


def raw_bytes(value: Any) -> bytes | None:
    """The bytes that stand for a blob: base64, or numbered bytes as a JavaScript client wrote them (recorded, and accepted)."""
    if isinstance(value, dict) and list(value) == [str(index) for index in range(len(value))]:
        try:
            return bytes(value.values())
        except (TypeError, ValueError):
            return None
    try:
        return base64.b64decode(value, validate=True)
    except (binascii.Error, ValueError, TypeError):
        return None


def _tool_use(inner: Any, at: str) -> Findings:
    if not isinstance(inner, dict):
        yield Finding("BE9", at, "toolUse is not an object")
        return
    identity, name = inner.get("toolUseId"), inner.get("name")
    if not isinstance(identity, str) or not _ID.match(identity):
        yield Finding("BE9", at, f"the id {identity!r}")
    if not isinstance(name, str) or not _NAME.match(name):
        yield Finding("BE9", at, f"a tool cannot be called {name!r}")
    if "input" not in inner:
        yield Finding("BE9", at, "toolUse without input")


def _tool_result(inner: Any, role: str, at: str) -> Findings:
    if not isinstance(inner, dict) or not isinstance(inner.get("content"), list):
        yield Finding("BE12", at, "a toolResult without a list of content")
        return
    served = inner.get("type") not in (None, "tool_result")
    if role == "assistant" and not served:
        yield Finding("BE10", at, "a toolResult in an assistant message")
    identity = inner.get("toolUseId")
    if not isinstance(identity, str) or not _ID.match(identity):
        yield Finding("BE9", at, f"the id {identity!r}")
    if "status" in inner and inner["status"] not in ("success", "error"):
        yield Finding("BE12", at, f"the status {inner['status']!r}")
    if inner.get("status") == "error" and not inner["content"]:
        yield Finding("case empty-bedrock-error-result", at, "toolResult cannot be empty when status value is error")
    for number, block in enumerate(inner["content"]):
        yield from _block(block, _IN_RESULTS, "user", f"{at}.toolResult.content[{number}]")


def _reasoning(inner: Any, at: str) -> Findings:
    if not isinstance(inner, dict) or len(inner) != 1 or not inner.keys() <= {"reasoningText", "redactedContent"}:
        yield Finding("BE17", at, "reasoningContent has exactly one member")
    elif "redactedContent" in inner:
        if not isinstance(inner["redactedContent"], str) or not inner["redactedContent"]:
            yield Finding("BE17", at, "redactedContent without content")
    elif not isinstance(inner["reasoningText"], dict) or not isinstance(inner["reasoningText"].get("text"), str):
        yield Finding("BE17", at, "reasoningText without text")


def _kinds(message: dict[str, Any]) -> list[str]:
    return [kind for block in message["content"] for kind in block]


def _order(messages: list[Any], prefill: bool, apart: bool) -> Findings:
    if messages[0]["role"] != "user":
        yield Finding("BE3", "messages[0]", "a conversation must start with a user message")
    for index, message in enumerate(messages):
        at = f"messages[{index}]"
        if index and message["role"] == messages[index - 1]["role"]:
            yield Finding("BE4", at, "a conversation must alternate between user and assistant roles")
        kinds = _kinds(message)
        if apart and {"toolUse", "toolResult"} & set(kinds) and set(kinds) - {"toolUse", "toolResult"}:
            yield Finding(
                "case ordering-bedrock-text-next-to-results-non-claude", at, "other content beside tool blocks"
            )
        if "document" in kinds and not {"text", "guardContent"} & set(kinds):
            yield Finding("BE14", at, "a document without a text in the same message")
        for kind, (most, _) in _MOST.items():
            inside = [_kinds(block["toolResult"]) for block in message["content"] if "toolResult" in block]
            if kinds.count(kind) + sum(found.count(kind) for found in inside) > most:
                yield Finding("BE14", at, f"more than {most} {kind}s")
    last = messages[-1]
    if last["role"] != "assistant":
        return
    if "reasoningContent" in last["content"][-1]:
        yield Finding("BE17", f"messages[{len(messages) - 1}]", "the final block cannot be reasoning (AN14)")
    text = last["content"][-1].get("text", "")
    if text != text.rstrip():
        yield Finding("0.1", f"messages[{len(messages) - 1}]", "final assistant content ends with white space")
    if not prefill and not _paused(last):
        yield Finding("BE5", f"messages[{len(messages) - 1}]", "the conversation must end with a user message")


def _paused(message: dict[str, Any]) -> bool:
    return bool(message["content"][-1].get("toolUse", {}).get("type") == "server_tool_use")


def _client_uses(message: dict[str, Any]) -> list[str]:
    return [
        block["toolUse"]["toolUseId"]
        for block in message["content"]
        if "toolUse" in block and block["toolUse"].get("type") != "server_tool_use"
    ]


def _client_results(message: dict[str, Any]) -> list[str]:
    return [
        block["toolResult"]["toolUseId"]
        for block in message["content"]
        if "toolResult" in block and block["toolResult"].get("type") in (None, "tool_result")
    ]


def _pairing(messages: list[Any]) -> Findings:
    seen: set[str] = set()
    for index, message in enumerate(messages):
        at = f"messages[{index}]"
        uses, results = _client_uses(message), _client_results(message)
        if message["role"] == "assistant":
            if seen & set(uses) or len(set(uses)) < len(uses):
                yield Finding("BE10", at, "an id is used twice")
            seen |= set(uses)
            if uses and index == len(messages) - 1:
                yield Finding("BE10", at, "expected toolResult blocks for these ids in a next message")
            continue
        asked = _client_uses(messages[index - 1]) if index else []
        if set(asked) - set(results):
            yield Finding("BE10", at, "expected toolResult blocks at messages.N.content for the following Ids")
        if set(results) - set(asked) or len(results) > len(asked):
            yield Finding(
                "BE11", at, "the number of toolResult blocks exceeds the number of toolUse blocks of previous turn"
            )
        leading = True
        for kind in _kinds(message):
            if kind == "toolResult" and not leading:
                yield Finding("0.1", at, "content stands before a toolResult of the turn")
            leading = leading and kind in ("toolResult", "cachePoint")


def _documents(messages: list[Any]) -> Findings:
    names: set[str] = set()
    for index, message in enumerate(messages):
        inside = [
            inner for block in message["content"] if "toolResult" in block for inner in block["toolResult"]["content"]
        ]
        for block in (*message["content"], *inside):
            if "document" not in block:
                continue
            name = block["document"].get("name")
            if not isinstance(name, str) or not 1 <= len(name) <= 200 or not _DOCUMENT_NAME.match(name):
                yield Finding("BE15", f"messages[{index}]", f"a document cannot be called {name!r}")
            elif name in names:
                yield Finding(
                    "case files-bedrock-duplicate-document-names", f"messages[{index}]", "duplicate document names"
                )
            else:
                names.add(name)


def _tools(body: dict[str, Any], whole: bool) -> Findings:
    config = body.get("toolConfig")
    if config is not None and (not isinstance(config, dict) or not config.get("tools")):
        yield Finding("BE13", "toolConfig", "toolConfig without tools")
    elif whole and config is None and any(_client_uses(message) for message in body["messages"]):
        yield Finding("BE13", "toolConfig", "the toolConfig field must be defined when using toolUse and toolResult")
