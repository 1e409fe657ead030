"""Scripted providers in four dialects: a rich answer with two calls, then, when both have their results, words. Whole or as a stream.

Each refuses what the provider would refuse (tests/judges), in the provider's own form. Written by hand, with nothing of `sendable`: it is what
the gateway is judged by. Not here: what any test expects.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from tests.answers.spoken import SPOKEN
from tests.gateway.live import Says, Seen, events, json_of
from tests.judges.bench import complaints

FINAL = "The ladder is in the barn."
RESULTS = {"shed": "nothing", "barn": "a ladder"}
QUESTION = "Where is the ladder?"
SCHEMA = {
    "type": "object",
    "properties": {"at": {"type": "string"}},
    "required": ["at"],
    "additionalProperties": False,
}

Json = dict[str, Any]


class Provider:
    """Answers requests of its dialect; `refused` has what it had against those that it did not take, and its `answers` can be replaced."""

    def __init__(self, dialect: str) -> None:
        self.dialect = dialect
        self.refused: list[str] = []
        self.calling: Json = SPOKEN[dialect].answer
        self.final: Json = final(dialect)

    def __call__(self, seen: Seen) -> Says:
        """The next answer."""
        body = seen.json
        wrong = complaints(self.dialect, body, whole=True)
        if wrong:
            self.refused.append(wrong[0])
            return error(self.dialect, 400, wrong[0])
        answer = self.final if _answered(self.dialect, body) else self.calling
        if body.get("stream") or ":streamGenerateContent" in seen.path:
            end = b"data: [DONE]\n\n" if self.dialect == "openai-chat" else b""
            return events(*STREAMED[self.dialect](answer), end=end)
        return json_of(answer)


def _answered(dialect: str, body: Json) -> bool:
    """Whether the results of both calls are there."""
    word = {
        "anthropic": '"tool_result"', "openai-chat": '"role": "tool"', "openai-responses": '"function_call_output"', "gemini": '"functionResponse"',
    }  # fmt: skip
    return json.dumps(body).count(word[dialect]) >= 2


def error(dialect: str, status: int, message: str) -> Says:
    """A refusal as this provider writes it."""
    if dialect == "anthropic":
        kind = "invalid_request_error" if status == 400 else "rate_limit_error" if status == 429 else "api_error"
        return json_of({"type": "error", "error": {"type": kind, "message": message}}, status)
    if dialect == "gemini":
        word = "INVALID_ARGUMENT" if status == 400 else "RESOURCE_EXHAUSTED" if status == 429 else "INTERNAL"
        return json_of({"error": {"code": status, "message": message, "status": word}}, status)
    return json_of(
        {"error": {"message": message, "type": "invalid_request_error", "param": None, "code": None}}, status
    )


def final(dialect: str) -> Json:
    """The words at the end."""
    answer = SPOKEN[dialect].answer
    if dialect == "anthropic":
        return {**answer, "content": [{"type": "text", "text": FINAL}], "stop_reason": "end_turn"}
    if dialect == "openai-chat":
        choice = {"index": 0, "message": {"role": "assistant", "content": FINAL}, "finish_reason": "stop"}
        return {**answer, "choices": [choice]}
    if dialect == "openai-responses":
        text = {"type": "output_text", "text": FINAL, "annotations": [], "logprobs": []}
        item = {"type": "message", "id": "msg_9", "role": "assistant", "status": "completed", "content": [text]}
        return {**answer, "output": [item]}
    content = {"role": "model", "parts": [{"text": FINAL}]}
    return {**answer, "candidates": [{"content": content, "finishReason": "STOP", "index": 0}]}


# --- the same answers as streams ------------------------------------------------------------------------------------------


def _halves(text: str) -> tuple[str, str]:
    return text[: len(text) // 2], text[len(text) // 2 :]


def _messages(answer: Json) -> Iterator[Json]:
    yield {"type": "message_start", "message": {**answer, "content": [], "stop_reason": None}}
    yield {"type": "ping"}
    for index, block in enumerate(answer["content"]):
        kind = block["type"]
        empty: dict[str, Json] = {
            "text": {"text": ""},
            "thinking": {"thinking": "", "signature": ""},
            "tool_use": {"input": {}},
        }
        yield {"type": "content_block_start", "index": index, "content_block": {**block, **empty.get(kind, {})}}
        deltas: list[Json] = []
        if kind == "text":
            deltas = [{"type": "text_delta", "text": half} for half in _halves(block["text"])]
        elif kind == "thinking":
            deltas = [{"type": "thinking_delta", "thinking": half} for half in _halves(block["thinking"])]
            deltas.append({"type": "signature_delta", "signature": block["signature"]})
        elif kind == "tool_use":
            text = json.dumps(block["input"])
            deltas = [{"type": "input_json_delta", "partial_json": half} for half in ("", *_halves(text))]
        for delta in deltas:
            yield {"type": "content_block_delta", "index": index, "delta": delta}
        yield {"type": "content_block_stop", "index": index}
    yield {
        "type": "message_delta", "delta": {"stop_reason": answer["stop_reason"], "stop_sequence": None},
        "usage": {"output_tokens": answer["usage"]["output_tokens"]},
    }  # fmt: skip
    yield {"type": "message_stop"}


def _chat(answer: Json) -> Iterator[Json]:
    choice = answer["choices"][0]
    head = {name: answer[name] for name in ("id", "created", "model")} | {"object": "chat.completion.chunk"}

    def chunk(delta: Json, finish: str | None = None) -> Json:
        return {**head, "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}

    message = choice["message"]
    yield chunk({"role": "assistant", "content": ""})
    for field in ("reasoning_content", "content"):
        for half in _halves(message.get(field) or ""):
            yield chunk({field: half})
    for index, call in enumerate(message.get("tool_calls") or ()):
        function = call["function"]
        yield chunk({"tool_calls": [{**call, "index": index, "function": {"name": function["name"], "arguments": ""}}]})
        for half in _halves(function["arguments"]):
            yield chunk({"tool_calls": [{"index": index, "function": {"arguments": half}}]})
    yield chunk({}, choice["finish_reason"])
    yield {**head, "choices": [], "usage": answer["usage"]}


def _responses(answer: Json) -> Iterator[Json]:
    number = 0

    def event(kind: str, **more: Any) -> Json:
        nonlocal number
        number += 1
        return {"type": f"response.{kind}", "sequence_number": number - 1, **more}

    running = {**answer, "status": "in_progress", "output": [], "usage": None}
    yield event("created", response=running)
    yield event("in_progress", response=running)
    for index, item in enumerate(answer["output"]):
        at: Json = {"item_id": item["id"], "output_index": index}
        if item["type"] == "reasoning":
            yield event("output_item.added", output_index=index, item={**item, "summary": []})
            for place, part in enumerate(item["summary"]):
                here = {**at, "summary_index": place}
                yield event("reasoning_summary_part.added", **here, part={**part, "text": ""})
                for half in _halves(part["text"]):
                    yield event("reasoning_summary_text.delta", **here, delta=half)
                yield event("reasoning_summary_text.done", **here, text=part["text"])
                yield event("reasoning_summary_part.done", **here, part=part)
        elif item["type"] == "message":
            yield event("output_item.added", output_index=index, item={**item, "content": [], "status": "in_progress"})
            for place, part in enumerate(item["content"]):
                here = {**at, "content_index": place}
                yield event("content_part.added", **here, part={**part, "text": ""})
                for half in _halves(part["text"]):
                    yield event("output_text.delta", **here, delta=half, logprobs=[])
                yield event("output_text.done", **here, text=part["text"], logprobs=[])
                yield event("content_part.done", **here, part=part)
        else:
            yield event(
                "output_item.added", output_index=index, item={**item, "arguments": "", "status": "in_progress"}
            )
            for half in _halves(item["arguments"]):
                yield event("function_call_arguments.delta", **at, delta=half)
            yield event("function_call_arguments.done", **at, name=item["name"], arguments=item["arguments"])
        yield event("output_item.done", output_index=index, item=item)
    yield event("completed", response=answer)


def _gemini(answer: Json) -> Iterator[Json]:
    candidate = answer["candidates"][0]
    parts = candidate["content"]["parts"]
    for index, part in enumerate(parts):
        one: Json = {"content": {"role": "model", "parts": [part]}, "index": 0}
        if index == len(parts) - 1:
            one["finishReason"] = candidate["finishReason"]
        yield {**answer, "candidates": [one]}


STREAMED = {"anthropic": _messages, "openai-chat": _chat, "openai-responses": _responses, "gemini": _gemini}
