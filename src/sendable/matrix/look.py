"""What a person would see in a body of each dialect, in words that all dialects share. Read from the wire alone.

This is the second opinion on every cell, so nothing of the library may be imported here: a fault of a reader or a writer would be seen
twice as no fault. What must not live here: what a conversion may lose.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple, TypeAlias

Json: TypeAlias = Any


class Sight(NamedTuple):
    """One thing that is seen: its kind, the number of the turn in which it stands, and what it is.

    said (role, text) · system (text) · thought (text) · signed (signature, what it signs) · sealed (value) · call (id, name, arguments) ·
    result (id, text) · failed (id) · image, document, audio (where, data, name or the text before it) · cited (text, url, title) ·
    marked (the text before the mark) · strict (tool) · hosted (what) · held (handle).
    """

    kind: str
    turn: int
    value: tuple[Json, ...]


def look(body: Json, dialect: str) -> list[Sight]:
    """Everything that is seen in a list of messages or a whole body of this dialect, in its order."""
    key, see = _DIALECTS[dialect]
    return list(see(body if key in body else {key: body}))


# What every dialect has in some form.


def _entries(value: Json) -> list[Json]:
    return [] if value is None or isinstance(value, str) else list(value)


def _value(arguments: Json) -> str:
    """Arguments as one text, whichever way they were written."""
    value: Json = json.loads(arguments) if isinstance(arguments, str) and arguments[:1] == "{" else arguments
    return json.dumps(value, sort_keys=True)


def _bytes(url: str) -> str:
    """The data of a data URL, or the URL itself."""
    head, comma, data = url.partition(",")
    return data if comma and head.startswith("data:") else url


def _texts(content: Json) -> str:
    """The text of a content: bare, or of all its parts."""
    if isinstance(content, str):
        return content
    return "".join(str(part.get("text", "")) for part in _entries(content))


# Chat and the flat form.


def _chat(body: Json) -> Iterator[Sight]:
    for turn, message in enumerate(body["messages"]):
        role, content = message["role"], message.get("content")
        if role == "tool":
            yield Sight("result", turn, (message["tool_call_id"], _texts(content)))
            yield from _chat_media(content, turn, message["tool_call_id"])
            continue
        for key in ("reasoning_content", "reasoning"):
            if message.get(key):
                yield Sight("thought", turn, (message[key],))
        for detail in _entries(message.get("reasoning_details")):
            if "text" in detail or "summary" in detail:
                yield Sight("thought", turn, (detail.get("text", detail.get("summary")),))
            if "signature" in detail:
                yield Sight("signed", turn, (detail["signature"], detail.get("text")))
            if "data" in detail:
                yield Sight("sealed", turn, (detail["data"],))
        if role in ("system", "developer"):
            yield Sight("system", turn, (_texts(content),))
        elif isinstance(content, str) and content:
            yield Sight("said", turn, (role, content))
        for part in _entries(content):
            if part["type"] == "text" and role not in ("system", "developer"):
                yield Sight("said", turn, (role, part["text"]))
            if "prompt_cache_breakpoint" in part:
                yield Sight("marked", turn, (part.get("text"),))
        yield from _chat_media(content, turn, role)
        for note in _entries(message.get("annotations")):
            cited = note["url_citation"]
            yield Sight("cited", turn, (_texts(content), cited["url"], cited["title"]))
        if message.get("audio"):
            yield Sight("held", turn, (message["audio"]["id"],))
        for call in _entries(message.get("tool_calls")):
            inner = call["custom"] if call["type"] == "custom" else call["function"]
            yield Sight("call", turn, (call["id"], inner["name"], _value(inner.get("arguments", inner.get("input")))))
    for tool in _entries(body.get("tools")):
        if tool["type"] == "function" and tool["function"].get("strict"):
            yield Sight("strict", 0, (tool["function"]["name"],))


def _chat_media(content: Json, turn: int, where: str) -> Iterator[Sight]:
    before = None
    for part in _entries(content):
        if part["type"] == "text":
            before = part["text"]
        elif part["type"] == "image_url":
            yield Sight("image", turn, (where, _bytes(part["image_url"]["url"]), before))
        elif part["type"] == "input_audio":
            yield Sight("audio", turn, (where, part["input_audio"]["data"], part["input_audio"]["format"]))
        elif part["type"] == "file":
            yield Sight("document", turn, (where, _bytes(part["file"]["file_data"]), part["file"].get("filename")))


def _flat(body: Json) -> Iterator[Sight]:
    for turn, message in enumerate(body["messages"]):
        role, content = message["role"], message.get("content")
        if role == "tool":
            yield Sight("result", turn, (message["tool_call_id"], content))
        elif role in ("system", "developer"):
            yield Sight("system", turn, (content,))
        elif content:
            yield Sight("said", turn, (role, content))
        for call in _entries(message.get("tool_calls")):
            yield Sight("call", turn, (call["tool_call_id"], call["name"], _value(call.get("arguments"))))


# Responses: a turn is a run of items of one side.


def _responses(body: Json) -> Iterator[Sight]:
    if body.get("instructions"):
        yield Sight("system", 0, (body["instructions"],))
    if "previous_response_id" in body:
        yield Sight("held", 0, (body["previous_response_id"],))
    turn, side = 0, ""
    for item in body["input"]:
        kind = item.get("type", "message")
        now = item["role"] if kind == "message" else "user" if kind.endswith("_output") else "assistant"
        turn, side = turn + (now != side), now
        if kind == "message":
            yield from _item(item, turn)
        elif kind == "reasoning":
            for part in [*_entries(item.get("summary")), *_entries(item.get("content"))]:
                yield Sight("thought", turn, (part["text"],))
            if item.get("encrypted_content"):
                yield Sight("sealed", turn, (item["encrypted_content"],))
        elif kind in ("function_call", "custom_tool_call"):
            yield Sight("call", turn, (item["call_id"], item["name"], _value(item.get("arguments", item.get("input")))))
        elif kind in ("function_call_output", "custom_tool_call_output"):
            yield Sight("result", turn, (item["call_id"], _texts(item["output"])))
            yield from _parts(item["output"], item["call_id"], turn)
        else:
            yield Sight("hosted", turn, (json.dumps(item, sort_keys=True),))
    for tool in _entries(body.get("tools")):
        if tool["type"] == "function" and tool.get("strict"):
            yield Sight("strict", 0, (tool["name"],))


def _item(item: Json, turn: int) -> Iterator[Sight]:
    role, content = item["role"], item["content"]
    if role in ("system", "developer"):
        yield Sight("system", turn, (_texts(content),))
        return
    if isinstance(content, str):
        yield Sight("said", turn, (role, content))
    for part in _entries(content):
        if part["type"] in ("input_text", "output_text"):
            yield Sight("said", turn, (role, part["text"]))
        if "prompt_cache_breakpoint" in part:
            yield Sight("marked", turn, (part.get("text"),))
        for note in part.get("annotations", ()):
            yield Sight("cited", turn, (part["text"], note["url"], note["title"]))
    yield from _parts(content, role, turn)


def _parts(content: Json, where: str, turn: int) -> Iterator[Sight]:
    before = None
    for part in _entries(content):
        if part["type"] == "input_image":
            yield Sight("image", turn, (where, _bytes(part["image_url"]), before))
        elif part["type"] == "input_file":
            yield Sight("document", turn, (where, _bytes(part["file_data"]), part.get("filename")))
        before = part.get("text", before)


# Anthropic Messages.


def _anthropic(body: Json) -> Iterator[Sight]:
    if body.get("system"):
        yield Sight("system", 0, (_texts(body["system"]),))
    if "container" in body:
        yield Sight("held", 0, (body["container"],))
    for turn, message in enumerate(body["messages"]):
        role, content = message["role"], message["content"]
        if role == "system":
            yield Sight("system", turn, (_texts(content),))
        elif isinstance(content, str):
            yield Sight("said", turn, (role, content))
        else:
            yield from _anthropic_blocks(content, role, turn)
    for tool in _entries(body.get("tools")):
        if tool.get("strict"):
            yield Sight("strict", 0, (tool["name"],))


def _anthropic_blocks(content: Json, where: str, turn: int) -> Iterator[Sight]:
    before = None
    for block in _entries(content):
        kind = block["type"]
        if kind == "text":
            before = block["text"]
            yield Sight("said", turn, (where, before))
            for source in _entries(block.get("citations")):
                yield Sight("cited", turn, (before, source["url"], source["title"]))
        elif kind == "thinking":
            yield Sight("thought", turn, (block["thinking"],))
            yield Sight("signed", turn, (block["signature"], block["thinking"]))
        elif kind == "redacted_thinking":
            yield Sight("sealed", turn, (block["data"],))
        elif kind == "tool_use":
            yield Sight("call", turn, (block["id"], block["name"], _value(block["input"])))
        elif kind == "tool_result":
            yield Sight("result", turn, (block["tool_use_id"], _texts(block.get("content"))))
            if block.get("is_error"):
                yield Sight("failed", turn, (block["tool_use_id"],))
            inside = _anthropic_blocks(block.get("content"), block["tool_use_id"], turn)
            yield from (sight for sight in inside if sight.kind in _MEDIA)
        elif kind == "image":
            yield Sight("image", turn, (where, block["source"]["data"], before))
        elif kind == "document":
            yield Sight("document", turn, (where, block["source"]["data"], block.get("title")))
        else:
            yield Sight("hosted", turn, (json.dumps(block, sort_keys=True),))
        if "cache_control" in block:
            yield Sight("marked", turn, (block.get("text"),))


_MEDIA = ("image", "document", "audio")


# Gemini.


def _gemini(body: Json) -> Iterator[Sight]:
    if "systemInstruction" in body:
        for part in body["systemInstruction"]["parts"]:
            yield Sight("system", 0, (part["text"],))
    if "cachedContent" in body:
        yield Sight("held", 0, (body["cachedContent"],))
    for turn, content in enumerate(body["contents"]):
        yield from _gemini_parts(content["parts"], {"model": "assistant"}.get(content["role"], content["role"]), turn)


def _gemini_parts(parts: Json, where: str | None, turn: int, before: str | None = None) -> Iterator[Sight]:
    for part in _entries(parts):
        what = None
        if "text" in part:
            what = part["text"]
            yield Sight("thought", turn, (what,)) if part.get("thought") else Sight("said", turn, (where, what))
            before = what
        elif "functionCall" in part:
            call = part["functionCall"]
            what = call["name"]
            yield Sight("call", turn, (call.get("id"), call["name"], _value(call.get("args"))))
        elif "functionResponse" in part:
            result = part["functionResponse"]
            response = result["response"]
            yield Sight("result", turn, (result.get("id"), "".join(map(str, response.values()))))
            if "error" in response:
                yield Sight("failed", turn, (result.get("id"),))
            yield from _gemini_parts(result.get("parts"), result.get("id"), turn, "".join(map(str, response.values())))
        elif "inlineData" in part:
            data = part["inlineData"]
            family = data["mimeType"].partition("/")[0]
            if family == "image":
                yield Sight("image", turn, (where, data["data"], before))
            elif family == "audio":
                yield Sight("audio", turn, (where, data["data"], data["mimeType"].partition("/")[2]))
            else:
                yield Sight("document", turn, (where, data["data"], data.get("displayName")))
        else:
            yield Sight("hosted", turn, (json.dumps(part, sort_keys=True),))
        if "thoughtSignature" in part:
            yield Sight("signed", turn, (part["thoughtSignature"], what))


# Bedrock Converse.


def _bedrock(body: Json) -> Iterator[Sight]:
    for block in _entries(body.get("system")):
        if "text" in block:
            yield Sight("system", 0, (block["text"],))
    for turn, message in enumerate(body["messages"]):
        yield from _bedrock_blocks(message["content"], message["role"], turn)
    for tool in _entries(body.get("toolConfig", {}).get("tools")):
        if tool.get("toolSpec", {}).get("strict"):
            yield Sight("strict", 0, (tool["toolSpec"]["name"],))


def _bedrock_blocks(content: Json, where: str, turn: int) -> Iterator[Sight]:
    before = None
    for block in _entries(content):
        kind, inner = next(iter(block.items()))
        if kind == "text":
            before = inner
            yield Sight("said", turn, (where, inner))
        elif kind == "citationsContent":
            before = _texts(inner["content"])
            yield Sight("said", turn, (where, before))
            for source in inner["citations"]:
                yield Sight("cited", turn, (before, source["location"]["web"]["url"], source["title"]))
        elif kind == "reasoningContent" and "redactedContent" in inner:
            yield Sight("sealed", turn, (inner["redactedContent"],))
        elif kind == "reasoningContent":
            said = inner["reasoningText"]
            yield Sight("thought", turn, (said["text"],))
            if "signature" in said:
                yield Sight("signed", turn, (said["signature"], said["text"]))
        elif kind in ("toolUse", "toolResult") and "type" in inner:
            yield Sight("hosted", turn, (json.dumps(block, sort_keys=True),))
        elif kind == "toolUse":
            yield Sight("call", turn, (inner["toolUseId"], inner["name"], _value(inner["input"])))
        elif kind == "toolResult":
            yield Sight("result", turn, (inner["toolUseId"], _texts(inner["content"])))
            if inner.get("status") == "error":
                yield Sight("failed", turn, (inner["toolUseId"],))
            inside = _bedrock_blocks(inner["content"], inner["toolUseId"], turn)
            yield from (sight for sight in inside if sight.kind in _MEDIA)
        elif kind == "cachePoint":
            yield Sight("marked", turn, (before,))
        elif kind == "image":
            yield Sight("image", turn, (where, inner["source"]["bytes"], before))
        elif kind == "document":
            yield Sight("document", turn, (where, inner["source"]["bytes"], inner.get("name")))
        elif kind == "audio":
            yield Sight("audio", turn, (where, inner["source"]["bytes"], inner["format"]))
        else:
            yield Sight("hosted", turn, (json.dumps(block, sort_keys=True),))


_DIALECTS: dict[str, tuple[str, Callable[[Json], Iterator[Sight]]]] = {
    "flat": ("messages", _flat),
    "openai-chat": ("messages", _chat),
    "openai-responses": ("input", _responses),
    "anthropic": ("messages", _anthropic),
    "gemini": ("contents", _gemini),
    "bedrock-converse": ("messages", _bedrock),
}


# What each property is, in what is seen.


def shown(sights: list[Sight], name: str) -> list[Json]:
    """What is there of a property, in a form that is equal for two bodies exactly if the property is the same in both."""
    if name == "parallel calls":
        turns: dict[int, list[Json]] = {}
        for sight in sights:
            if sight.kind == "call":
                turns.setdefault(sight.turn, []).append(sight.value)
        answers = [sight.value for sight in sights if sight.kind == "result"]
        return [*turns.values(), answers] if turns else []
    if name == "order of text and calls":
        return [
            (sight.kind, sight.value[-1] if sight.kind == "said" else sight.value[0])
            for sight in sights
            if sight.kind == "call" or (sight.kind == "said" and sight.value[0] == "assistant")
        ]
    if name == "mid-list system":
        return [(sight.kind, sight.value[-1]) for sight in sights if sight.kind in ("system", "said")]
    if name == "several results per call":
        return [sight.value for sight in sights if sight.kind == "result"]
    if name in ("images in user turns", "images in results"):
        in_results = name == "images in results"
        return [
            sight.value
            for sight in sights
            if sight.kind == "image" and (sight.value[0] in ("user", "assistant")) is not in_results
        ]
    return [sight.value for sight in sights if sight.kind == _KINDS[name]]


_KINDS = {
    "text": "said",
    "reasoning text": "thought",
    "signature": "signed",
    "encrypted reasoning": "sealed",
    "error flag": "failed",
    "strict flag": "strict",
    "documents": "document",
    "audio": "audio",
    "citations": "cited",
    "cache marks": "marked",
    "hosted tools": "hosted",
    "continuation": "held",
}
