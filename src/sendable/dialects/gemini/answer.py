"""Answers of generateContent ↔ hub (google-genai 3.6.1, 2026-11-30). What must not live here: streams (stream.py), parts (read.py, write.py)."""

from __future__ import annotations

import datetime
from collections.abc import Mapping, Sequence
from typing import Any

from msgspec.structs import replace

from sendable import payload
from sendable.codes import RSP004, RSP005, RSP007
from sendable.conversation import Decoding, Fields, Message, Reply, Stop, StopReason, ToolCall, Usage
from sendable.dialects import ReadEntry, Wire
from sendable.dialects.gemini.read import HOME, snake
from sendable.dialects.gemini.write import write as write_messages
from sendable.errors import UpstreamError
from sendable.paths import At
from sendable.report import Ledger

STOPS: dict[str, StopReason] = {
    # «Tool calls finish with STOP» (section 4); so does a stop sequence, and which one it was is not said.
    "STOP": "end",
    "MAX_TOKENS": "max_tokens",
    **dict.fromkeys(
        (
            "SAFETY", "RECITATION", "LANGUAGE", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII", "IMAGE_SAFETY", "IMAGE_PROHIBITED_CONTENT",
            "IMAGE_RECITATION", "ESCALATION", "PUP_LIMITED_DISABLED", "MODEL_ARMOR",
        ),
        "refusal",
    ),
    "MALFORMED_FUNCTION_CALL": "malformed",
    "UNEXPECTED_TOOL_CALL": "malformed",
    "MALFORMED_RESPONSE": "malformed",
    # «the server-side tool loop stopped before the model returned a final answer»; «Request has at least one thought signature missing».
    "TOO_MANY_TOOL_CALLS": "error",
    "MISSING_THOUGHT_SIGNATURE": "error",
    # «The model response can be continued via a subsequent request using the returned continuation_token».
    "CONTINUATION": "pause",
}  # fmt: skip
"""`finishReason`. OTHER, IMAGE_OTHER, NO_IMAGE and FINISH_REASON_UNSPECIFIED say nothing that the hub has a word for."""

_WORDS: dict[StopReason, str] = {
    "end": "STOP",
    "tool_calls": "STOP",
    "stop_sequence": "STOP",
    "max_tokens": "MAX_TOKENS",
    "refusal": "SAFETY",
    "malformed": "MALFORMED_RESPONSE",
}

TOP = {
    spelling: key
    for key in ("candidates", "usageMetadata", "modelVersion", "responseId", "createTime", "promptFeedback")
    for spelling in (key, snake(key))
}
"""Every spelling of the fields of an answer that the hub reads. Answers of the SDK come in snake_case."""

CANDIDATE = {
    spelling: key
    for key in ("content", "finishReason", "finishMessage", "index")
    for spelling in (key, snake(key))
}  # fmt: skip
"""The same for a candidate."""

_USAGE = {
    spelling: key
    for key in (
        "promptTokenCount", "cachedContentTokenCount", "candidatesTokenCount", "thoughtsTokenCount", "toolUsePromptTokenCount",
        "totalTokenCount",
    )
    for spelling in (key, snake(key))
}  # fmt: skip


def claims(fields: Fields) -> bool:
    """Whether a body is an answer of generateContent, by its own keys."""
    return payload.kind(fields.get("candidates")) == "list" or any(
        payload.kind(fields.get(key)) == "object"
        for key in ("promptFeedback", "prompt_feedback", "usageMetadata", "usage_metadata")
    )


def failure(fields: Fields) -> Fields | None:
    """«{"error": {"code": 400, "message", "status": "INVALID_ARGUMENT", "details"}}» (recorded)."""
    error = payload.fields(fields.get("error"))
    return error if error is not None and "status" in error and payload.kind(error.get("code")) == "number" else None


def read_answer(fields: Fields, read_entry: ReadEntry, ledger: Ledger) -> Reply:
    """An answer of generateContent.

    Loses: RSP004 (raised, where it has neither candidates nor a reason for having none), RSP005.
    """
    known = _named(fields, TOP)
    whose = payload.string(known.get("responseId", (None, None))[1])
    listed = payload.items(known["candidates"][1]) if "candidates" in known else None
    blocked = payload.fields(known["promptFeedback"][1]) if "promptFeedback" in known else None
    if listed is None and blocked is None:
        raise UpstreamError(RSP004, "no candidates and no word on why there are none", whose)
    for index in range(1, len(listed or ())):
        ledger.drop(RSP005, ("candidates", index))
    candidate = payload.fields(listed[0]) if listed else None
    if listed and candidate is None:
        raise UpstreamError(RSP004, "a candidate that is no object", whose)
    messages, native = _content(candidate or {}, read_entry)
    stop = _blocked(blocked, known["promptFeedback"][0]) if blocked is not None and not listed else None
    if stop is None:
        stop = _stop(candidate or {}, messages)
    if stop.reason == "max_tokens" and messages:
        messages = (*messages[:-1], _cut(messages[-1]))
    version, created = known.get("modelVersion"), known.get("createTime")
    time = read_time(created[1]) if created is not None else None
    usage = payload.fields(known["usageMetadata"][1]) if "usageMetadata" in known else None
    extra = _extra(fields, candidate or {})
    if created is not None and time is None:
        extra[(created[0],)] = created[1]
    if blocked is not None and stop.details is not blocked:
        extra[(known["promptFeedback"][0],)] = blocked
    return Reply(
        whose,
        payload.string(version[1]) if version is not None else None,
        messages,
        native,
        stop,
        read_usage(usage or {}),
        (),
        time,
        extra,
        HOME,
        fields,
    )


def _named(fields: Fields, spellings: Mapping[str, str]) -> dict[str, tuple[str, Any]]:
    """The fields that are known, by their own name, each with the spelling in which it stands and its value; null is absent."""
    return {
        spellings[key]: (key, value) for key, value in fields.items() if key in spellings and not payload.is_null(value)
    }  # keeps: `_extra` has what is not known, and null says nothing


def _content(candidate: Fields, read_entry: ReadEntry) -> tuple[tuple[Message, ...], tuple[Any, ...]]:
    """What a candidate says, and what is stored of it. A content without a role is the model's here, and the user's in a history."""
    content = payload.fields(candidate.get("content"))
    if content is None:
        return (), ()
    native = payload.plain(content)
    if not payload.string(content.get("role")):
        native = {**native, "role": "model"}
    return tuple(read_entry(native, ("candidates", 0, "content"))), (native,)


def _blocked(feedback: Fields, key: str) -> Stop | None:
    """Why there is no candidate at all: the prompt was refused."""
    word = payload.string(feedback.get("blockReason") or feedback.get("block_reason"))
    return None if word is None else Stop("refusal", word, None, feedback, (key,))


def _stop(candidate: Fields, messages: Sequence[Message]) -> Stop:
    known = _named(candidate, CANDIDATE)
    word_at, value = known.get("finishReason", ("finishReason", None))
    word = payload.string(value)
    reason = STOPS.get((word or "").upper(), "unknown")
    if reason == "end" and any(_is_call(block) for message in messages for block in message.blocks):
        reason = "tool_calls"
    at, details = known.get("finishMessage", (word_at, None))
    return Stop(reason, word, None, payload.plain(details), ("candidates", 0, at))


def _is_call(block: Any) -> bool:
    return type(block) is ToolCall and block.executor == "client"


def _cut(message: Message) -> Message:
    """A message that ended at the limit: a call at its end whose arguments are no object was cut there."""
    last = message.blocks[-1] if message.blocks else None
    if type(last) is not ToolCall or payload.kind(last.arguments) in ("object", "null"):
        return message
    return replace(message, blocks=(*message.blocks[:-1], replace(last, truncated=True)))


def read_usage(usage: Fields) -> Usage:
    """«Total = prompt + candidates + toolUse + thoughts» (schema docstring): thoughts stand outside the candidates, what tools of
    Google's own read outside the prompt, and what was cached inside it."""
    counts = {name: _count(value) for name, (_, value) in _named(usage, _USAGE).items()}
    read = _sum(counts.get("promptTokenCount"), counts.get("toolUsePromptTokenCount"))
    said = _sum(counts.get("candidatesTokenCount"), counts.get("thoughtsTokenCount"))
    total = counts.get("totalTokenCount")
    if said is None and read is not None and total is not None:
        # A count of zero is left out (recorded).
        said = max(total - read, 0)
    return Usage(
        read,
        said,
        counts.get("cachedContentTokenCount"),
        None,
        counts.get("thoughtsTokenCount"),
        payload.plain(usage) if usage else None,
    )


def _sum(first: int | None, second: int | None) -> int | None:
    return None if first is None and second is None else (first or 0) + (second or 0)


def _count(value: Any) -> int | None:
    found = payload.plain(value)
    return found if type(found) is int else None


def read_time(value: Any) -> int | None:
    """Seconds since 1970 of a time as Google writes it, or None if it is none."""
    text = payload.string(value)
    try:
        return None if text is None else int(datetime.datetime.fromisoformat(text).timestamp())
    except (ValueError, OverflowError):
        return None


def _extra(fields: Fields, candidate: Fields) -> dict[At, Any]:
    """What the hub does not model of an answer, by its place."""
    extra: dict[At, Any] = {(key,): value for key, value in fields.items() if key not in TOP}  # keeps: modelled
    for key, value in candidate.items():
        if key not in CANDIDATE:
            extra["candidates", 0, key] = value
    for key in ("usageMetadata", "usage_metadata"):
        for name, value in (payload.fields(fields.get(key)) or {}).items():
            if name not in _USAGE:
                extra[key, name] = value
    return extra


def write_answer(reply: Reply, messages: Sequence[Message], ledger: Ledger) -> Wire:
    """An answer in the form of generateContent: one candidate.

    Loses: RSP007.
    """
    written = write_messages(messages)
    parts = written[0].get("parts") if written else None
    candidate: dict[str, Any] = {"content": {"role": "model", "parts": parts or []}, **ending(reply, ledger)}
    body: dict[str, Any] = {"candidates": [candidate], "usageMetadata": write_usage(reply.usage)}
    return Wire({**body, **heading(reply.id, reply.model, reply.created)})


def heading(name: str | None, model: str | None, created: int | None) -> dict[str, Any]:
    """What says whose answer it is; all of it may be absent."""
    out: dict[str, Any] = {}
    if model is not None:
        out["modelVersion"] = model
    if name is not None:
        out["responseId"] = name
    if created is not None and 0 <= created < 253402300800:
        moment = datetime.datetime.fromtimestamp(created, datetime.UTC)
        out["createTime"] = moment.strftime("%Y-%m-%dT%H:%M:%SZ")
    return out


def ending(reply: Reply, ledger: Ledger) -> dict[str, Any]:
    """Why the answer ended. Which stop sequence was met stands in the message beside it.

    Loses: RSP007.
    """
    word = _WORDS.get(reply.stop.reason)
    if word is None:
        ledger.degrade(RSP007, (), reply.stop.at or None, reason=reply.stop.reason)
        word = "MAX_TOKENS" if reply.stop.reason == "context_window" else "OTHER"
    out: dict[str, Any] = {"finishReason": word, "index": 0}
    if reply.stop.sequence is not None:
        out["finishMessage"] = f"stop sequence: {reply.stop.sequence}"
    return out


def write_usage(usage: Usage) -> dict[str, Any]:
    """Tokens as generateContent counts them: what was thought stands beside what was said."""
    thought = usage.reasoning or 0
    out: dict[str, Any] = {
        "promptTokenCount": usage.input or 0,
        "candidatesTokenCount": max((usage.output or 0) - thought, 0),
        "totalTokenCount": (usage.input or 0) + max(usage.output or 0, thought),
    }
    if usage.reasoning is not None:
        out["thoughtsTokenCount"] = thought
    if usage.cached_read is not None:
        out["cachedContentTokenCount"] = usage.cached_read
    return out


def decoding(request: Fields, name: str) -> Decoding:
    """What the request guarantees: «no per-tool strict flag; functionCallingConfig.mode: ANY/VALIDATED» (section 4).

    Under these modes a call that does not fit is refused after it was written (`MALFORMED_FUNCTION_CALL`): it is validated. Of a function
    that the request does not declare nothing is known.
    """
    if not _declares(request, name):
        return "unknown"
    config = payload.fields(_one(request, "toolConfig")) or {}
    calling = payload.fields(_one(config, "functionCallingConfig")) or {}
    mode = payload.string(calling.get("mode")) or "AUTO"
    return "validated" if mode.upper() in ("ANY", "VALIDATED") else "unconstrained"


def _one(fields: Fields, key: str) -> Any:
    return fields.get(key, fields.get(snake(key)))


def _declares(request: Fields, name: str) -> bool:
    for tool in payload.items(request.get("tools")) or ():
        for declaration in payload.items(_one(payload.fields(tool) or {}, "functionDeclarations")) or ():
            if payload.string((payload.fields(declaration) or {}).get("name")) == name:
                return True
    return False
