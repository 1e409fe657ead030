"""Answers of Chat Completions ↔ hub (openai 3.57.0, 2026-11-30), and of the servers that speak it. What must not live here: streams
(stream.py), the parts of a message (read.py, write.py)."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any, assert_never

from msgspec.structs import replace

from sendable import payload
from sendable.carriers import FIELD
from sendable.codes import RSP004, RSP005, RSP007
from sendable.conversation import (
    Block,
    Decoding,
    Fields,
    Media,
    Message,
    Opaque,
    Reasoning,
    Refusal,
    Reply,
    Stop,
    StopReason,
    Text,
    ToolCall,
    ToolResult,
    Usage,
)
from sendable.dialects import ReadEntry, Wire, answer_id
from sendable.dialects.openai_chat.read import HOME
from sendable.dialects.openai_chat.write import write_block
from sendable.errors import UpstreamError
from sendable.paths import At
from sendable.report import Ledger

MESSAGE: At = ("choices", 0, "message")
"""Where the message of an answer stands in it."""

STOPS: dict[str, StopReason] = {
    "stop": "end",
    "tool_calls": "tool_calls",
    "function_call": "tool_calls",
    "length": "max_tokens",
    "content_filter": "refusal",
    # Mistral («stop, length, model_length, error, tool_calls»), DeepSeek, Together, vLLM, and what routers say of a provider that failed.
    "model_length": "context_window",
    "insufficient_system_resource": "error",
    "eos": "end",
    "error": "error",
    "abort": "error",
    "malformed_function_call": "malformed",
}
"""«stop, length, tool_calls, content_filter, function_call» (section 1.3), and the words of other servers that speak Chat."""

_WORDS: dict[StopReason, str] = {
    "end": "stop",
    "tool_calls": "tool_calls",
    "max_tokens": "length",
    "stop_sequence": "stop",
    "refusal": "content_filter",
}
_UNFINISHED = frozenset({"context_window", "cut", "error"})
"""Reasons for which Chat has no word, of answers that did not come to their end."""

_KNOWN = frozenset({"id", "object", "created", "model", "choices", "usage"})
_CHOICE = frozenset({"index", "message", "finish_reason"})
_COUNTED = frozenset({"prompt_tokens", "completion_tokens", "total_tokens", "prompt_cache_hit_tokens", "prompt_cache_miss_tokens", "cached_tokens"})  # fmt: skip
_DETAILS = {
    "prompt_tokens_details": frozenset({"cached_tokens", "cache_write_tokens"}),
    "completion_tokens_details": frozenset({"reasoning_tokens"}),
}


def claims(fields: Fields) -> bool:
    """Whether a body is an answer of Chat, by its own keys."""
    choices = payload.items(fields.get("choices"))
    if choices is None or payload.string(fields.get("object")) == "chat.completion.chunk":
        return False
    first = payload.fields(choices[0]) if choices else None
    return payload.string(fields.get("object")) == "chat.completion" or (first is not None and "message" in first)


def failure(fields: Fields) -> Fields | None:
    """«{"error": {"message", "type", "param", "code"}}» (documented), and how other servers say it: a text, `{"object": "error"}`,
    `{"detail"}`, `{"base_resp": {"status_code"}}`."""
    if payload.items(fields.get("choices")):
        return None
    return error_in(fields)


def error_in(fields: Fields) -> Fields | None:
    """The error object in a body or an event, if there is one."""
    error = fields.get("error")
    if not payload.is_inert(error):
        inner = payload.fields(error)
        if inner is not None:
            return inner
        text = payload.string(error)
        return {"message": text} if text is not None else {"error": error}
    if payload.string(fields.get("object")) == "error" or (len(fields) == 1 and "detail" in fields):
        return fields
    base = payload.fields(fields.get("base_resp"))
    if base is not None and payload.plain(base.get("status_code")) not in (0, None):
        return {"code": payload.plain(base["status_code"]), **base}
    return None


def read_answer(fields: Fields, read_entry: ReadEntry, ledger: Ledger) -> Reply:
    """An answer of Chat: its first choice.

    Loses: RSP004 (raised, where no choice has a message), RSP005.
    """
    whose = payload.string(fields.get("id"))
    choices = payload.items(fields.get("choices")) or ()
    choice = payload.fields(choices[0]) if choices else None
    message = payload.fields(choice.get("message")) if choice is not None else None
    if choice is None or message is None:
        raise UpstreamError(RSP004, "an answer without a message in its choices", whose)
    for index in range(1, len(choices)):
        ledger.drop(RSP005, ("choices", index))
    if payload.string(message.get("role")) != "assistant" or "content" not in message:
        # What an answer says is the assistant's, whatever word for it stands there or is missing.
        message = {**message, "role": "assistant", "content": message.get("content")}
    messages = tuple(_with_thinking(one) for one in read_entry(message, MESSAGE))
    stop = _stop(choice, messages)
    if stop.reason == "max_tokens" and messages:
        messages = (*messages[:-1], _cut(messages[-1]))
    return Reply(
        whose,
        payload.string(fields.get("model")),
        messages,
        (payload.plain(message),),
        stop,
        read_usage(_usage_of(fields, choice)),
        (),
        _count(fields.get("created")),
        _extra(fields, choice, stop),
        HOME,
        fields,
    )


def _with_thinking(message: Message) -> Message:
    """A message whose thinking parts are reasoning: «thinking on the wire is a chunk {type:"thinking", thinking:[text, …]}» (Mistral, MI16)."""
    blocks = tuple(
        thinking_of(block.raw, block.at) or block
        if type(block) is Opaque and block.kind == "thinking" and type(block.raw) is dict
        else block
        for block in message.blocks
    )
    return replace(message, blocks=blocks)


def thinking_of(part: Fields, at: At) -> Reasoning | None:
    """The reasoning of a part that holds it as a list of texts; None if it holds anything else."""
    listed = payload.items(part.get("thinking"))
    if listed is None:
        return None
    texts: list[str] = []
    for entry in listed:
        text = payload.string((payload.fields(entry) or {}).get("text"))
        if text is None:
            return None
        texts.append(text)
    return Reasoning("".join(texts), None, at, part, HOME, True)


def _stop(choice: Fields, messages: Sequence[Message]) -> Stop:
    """Why the answer ended. Servers that end a turn of calls with «stop» mean the calls; what vLLM calls `stop_reason` is the sequence."""
    word = payload.string(choice.get("finish_reason"))
    reason = STOPS.get((word or "").lower(), "unknown")
    error = choice.get("error")
    if not payload.is_inert(error):
        return Stop("error", word, None, payload.plain(error), ("choices", 0, "error"))
    sequence = payload.string(choice.get("stop_reason"))
    blocks = [block for message in messages for block in message.blocks]
    if reason == "end":
        if any(type(block) is ToolCall for block in blocks):
            return Stop("tool_calls", word)
        if any(type(block) is Refusal for block in blocks) and not any(type(block) is Text for block in blocks):
            return Stop("refusal", word)
        if sequence:
            return Stop("stop_sequence", word, sequence)
    return Stop(reason, word)


def _cut(message: Message) -> Message:
    """A message that ended at the limit: a call at its end whose arguments are no JSON was cut there."""
    last = message.blocks[-1] if message.blocks else None
    if type(last) is not ToolCall or last.kind != "function" or is_json(last.arguments_text):
        return message
    return replace(message, blocks=(*message.blocks[:-1], replace(last, truncated=True)))


def is_json(text: str) -> bool:
    """Whether a text is a whole JSON value."""
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


def _usage_of(fields: Fields, choice: Fields) -> Fields:
    """The usage: of the answer, or where other servers put it (Moonshot's choice, Groq's own object)."""
    for value in (
        fields.get("usage"),
        choice.get("usage"),
        (payload.fields(fields.get("x_groq")) or {}).get("usage"),
    ):
        found = payload.fields(value)
        if found:
            return found
    return {}


def read_usage(usage: Fields) -> Usage:
    """«Reasoning tokens are inside completion_tokens» (section 1.3); where the total says that they are not, they are added.

    Cached tokens stand in the details, with DeepSeek as «prompt_cache_hit_tokens» (DS9), with Moonshot as `cached_tokens`.
    """
    read, written = _count(usage.get("prompt_tokens")), _count(usage.get("completion_tokens"))
    inside = payload.fields(usage.get("prompt_tokens_details")) or {}
    outside = payload.fields(usage.get("completion_tokens_details")) or {}
    thought = _count(outside.get("reasoning_tokens"))
    cached = next(
        (
            count
            for value in (
                inside.get("cached_tokens"),
                usage.get("prompt_cache_hit_tokens"),
                usage.get("cached_tokens"),
            )
            if (count := _count(value)) is not None
        ),
        None,
    )
    if (
        read is not None
        and written is not None
        and thought
        and _count(usage.get("total_tokens")) == read + written + thought
    ):
        written += thought
    return Usage(
        read,
        written,
        cached,
        _count(inside.get("cache_write_tokens")),
        thought,
        payload.plain(usage) if usage else None,
    )


def _count(value: Any) -> int | None:
    found = payload.plain(value)
    return found if type(found) is int else None


def _extra(fields: Fields, choice: Fields, stop: Stop) -> dict[At, Any]:
    """What the hub does not model of an answer, by its place. A count of nothing says nothing."""
    extra: dict[At, Any] = {(key,): value for key, value in fields.items() if key not in _KNOWN}  # keeps: modelled
    for key, value in choice.items():
        modelled = key in _CHOICE or key == "error" or (key == "stop_reason" and stop.sequence is not None)
        if not modelled:
            extra["choices", 0, key] = value
    for key, value in (payload.fields(fields.get("usage")) or {}).items():
        if key in _DETAILS:
            for name, count in (payload.fields(value) or {}).items():
                if name not in _DETAILS[key] and payload.plain(count) != 0:
                    extra["usage", key, name] = count
        elif key not in _COUNTED and payload.plain(value) != 0:
            extra["usage", key] = value
    return extra


def write_answer(reply: Reply, messages: Sequence[Message], ledger: Ledger) -> Wire:
    """An answer in the form of Chat, with every field that the official models and types have as required.

    Loses: RSP007.
    """
    blocks = [block for message in messages for block in message.blocks]
    message = write_message(blocks, messages[0].extra if messages else None)
    refused = any(type(block) is Refusal for block in blocks)
    choice: dict[str, Any] = {
        "index": 0,
        "message": message,
        "logprobs": None,
        "finish_reason": stop_word(reply.stop, refused, ledger),
    }
    if reply.stop.sequence is not None:
        choice["stop_reason"] = reply.stop.sequence
    body: dict[str, Any] = {**heading(reply.id, reply.model, reply.created, ledger), "choices": [choice]}
    usage = write_usage(reply.usage)
    return Wire(body if usage is None else {**body, "usage": usage})


def heading(
    name: str | None, model: str | None, created: int | None, ledger: Ledger, kind: str = "chat.completion"
) -> dict[str, Any]:
    """What an answer and every chunk of one begin with. Clients of Chat take any text for an id, and need one.

    Loses: RSP009.
    """
    name = answer_id(name, "chatcmpl-", model, created, ledger)
    return {"id": name, "object": kind, "created": created or 0, "model": model or ""}


def write_message(blocks: Sequence[Block], extra: Fields | None) -> dict[str, Any]:
    """The message of an answer: one text, one refusal, one text of reasoning, and calls, as the pieces of a stream add up to."""
    texts: list[str] = []
    refusals: list[str] = []
    thoughts: list[str] = []
    calls: list[Wire] = []
    others: dict[str, Any] = {}
    for block in blocks:
        if type(block) is Text:
            texts.append(payload.string(block.text) or "")
        elif type(block) is ToolCall:
            calls.append(write_block(block))
        elif type(block) is Reasoning:
            thoughts.append("" if block.text is None else payload.string(block.text) or "")
        elif type(block) is Refusal:
            refusals.append(payload.string(block.text) or "")
        elif type(block) is Opaque or type(block) is Media or type(block) is ToolResult:
            # Nothing of the kind is left for Chat but what is Chat's own.
            others[block.kind] = block.raw
        else:
            assert_never(block)
    message: dict[str, Any] = {
        "role": "assistant",
        "content": "".join(texts) if texts else None,
        "refusal": "".join(refusals) if refusals else None,
    }
    if any(thoughts):
        message["reasoning_content"] = "".join(thoughts)
    if calls:
        message["tool_calls"] = calls
    for key, value in (extra or {}).items():
        others.setdefault(key, value)
    return {**message, **others}


def stop_word(stop: Stop, refused: bool, ledger: Ledger) -> str:
    """The word of Chat for why an answer ended. Where the message has a refusal, that says it, and the word is the ordinary one.

    Loses: RSP007.
    """
    word = _WORDS.get(stop.reason)
    if word is None:
        ledger.degrade(RSP007, (), stop.at or None, reason=stop.reason)
        return "length" if stop.reason in _UNFINISHED else "stop"
    return "stop" if refused and stop.reason == "refusal" else word


def write_usage(usage: Usage) -> dict[str, Any] | None:
    """Tokens as Chat counts them; None where nothing is known of them."""
    if usage.input is None and usage.output is None:
        return None
    read, written = usage.input or 0, usage.output or 0
    out: dict[str, Any] = {"prompt_tokens": read, "completion_tokens": written, "total_tokens": read + written}
    if usage.cached_read is not None or usage.cached_write is not None:
        counts = {"cached_tokens": usage.cached_read, "cache_write_tokens": usage.cached_write}
        out["prompt_tokens_details"] = {
            name: count for name, count in counts.items() if count is not None
        }  # keeps: what is not known
    if usage.reasoning is not None:
        out["completion_tokens_details"] = {"reasoning_tokens": usage.reasoning}
    return out


def carry(body: dict[str, Any], carrier: Fields) -> None:
    """A carrier as a field of the message, which clients that keep the whole message send back."""
    body["choices"][0]["message"][FIELD] = dict(carrier)


_OWN_MODELS = re.compile(r"(gpt-(?!oss)|chatgpt-|codex-|o\d($|-))")


def decoding(request: Fields, name: str) -> Decoding:
    """What the request guarantees: «strict: true» on the function, or a grammar, means that OpenAI's own models can write nothing else;
    what other servers make of it is not said anywhere («response silent»)."""
    model = (payload.string(request.get("model")) or "").rpartition("/")[2].lower()
    promised: Decoding = "constrained" if _OWN_MODELS.match(model) else "unknown"
    for tool in payload.items(request.get("tools")) or ():
        fields = payload.fields(tool) or {}
        for key in ("function", "custom"):
            inner = payload.fields(fields.get(key)) or {}
            if payload.string(inner.get("name")) == name:
                form = payload.fields(inner.get("format")) or {}
                strict = payload.is_true(inner.get("strict")) or payload.string(form.get("type")) == "grammar"
                return promised if strict else "unconstrained"
    for function in payload.items(request.get("functions")) or ():
        if payload.string((payload.fields(function) or {}).get("name")) == name:
            return "unconstrained"
    return "unknown"
