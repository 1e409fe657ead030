"""Answers and streams for clients of Messages, judged by the official one over a real server: its models validate them, its streaming helper
puts the same message together. Not here: recorded answers (test_recorded.py)."""

from __future__ import annotations

import copy
import json
from typing import Any

import anthropic
import pytest
from anthropic.types import Message
from anthropic.types.raw_message_stream_event import RawMessageStreamEvent
from pydantic import TypeAdapter

import sendable
from sendable.answers import events_of
from sendable.stream import WireEvent
from tests.answers.loopback import provider
from tests.answers.spoken import ANTHROPIC, SPOKEN

EVENTS: TypeAdapter[Any] = TypeAdapter(RawMessageStreamEvent)


def streamed(dialect: str, to: str, carrier: bool = False) -> list[WireEvent]:
    """The answer of a dialect, as its provider streams it, written for the clients of another one."""
    response = sendable.read_response(copy.deepcopy(SPOKEN[dialect].answer), dialect)
    first, second = sendable.StreamWriter(dialect), sendable.StreamWriter(to, carrier=carrier)
    reader = sendable.StreamReader(dialect)
    out: list[WireEvent] = []
    for event in events_of(response):
        for wire in first.feed(event):
            for again in reader.feed(wire.data):
                out += second.feed(again)
    for again in reader.close():
        out += second.feed(again)
    return out


def called(url: str, stream: bool) -> Message:
    client = anthropic.Anthropic(base_url=url, api_key="none", max_retries=0)
    asked: Any = {"model": "m", "max_tokens": 100, "messages": [{"role": "user", "content": "Where?"}]}
    if not stream:
        whole: Message = client.messages.create(**asked)
        return whole
    with client.messages.stream(**asked) as events:
        final: Message = events.get_final_message()
    return final


@pytest.mark.parametrize("dialect", sorted(SPOKEN))
def test_the_official_client_reads_an_answer_of_every_dialect(dialect: str) -> None:
    response = sendable.read_response(copy.deepcopy(SPOKEN[dialect].answer), dialect)
    body = sendable.write_response(response, "anthropic", carrier=dialect != "anthropic").body
    assert Message.model_validate(body).model_dump(mode="json", exclude_unset=True) == body
    with provider(body) as url:
        message = called(url, stream=False)
    assert [block.name for block in message.content if block.type == "tool_use"] == ["look", "look"]
    assert message.stop_reason == "tool_use"


@pytest.mark.parametrize("dialect", sorted(SPOKEN))
def test_its_streaming_helper_puts_the_same_message_together(dialect: str) -> None:
    wire = streamed(dialect, "anthropic")
    for event in wire:
        EVENTS.validate_python(event.data, strict=False)
    with provider(wire) as url:
        message = called(url, stream=True)
    response = sendable.read_response(copy.deepcopy(SPOKEN[dialect].answer), dialect)
    whole = sendable.write_response(response, "anthropic").body
    got = message.model_dump(mode="json", exclude_unset=True)
    assert got["content"] == whole["content"]
    assert (got["stop_reason"], got["id"]) == (whole["stop_reason"], whole["id"])
    assert got["usage"]["output_tokens"] == whole["usage"]["output_tokens"]


@pytest.mark.parametrize("dialect", sorted(set(SPOKEN) - {"anthropic"}))
def test_what_the_client_sends_back_restores_the_native_answer(dialect: str) -> None:
    """The carrier rides in redacted thinking, which the client keeps without reading it."""
    for stream in (False, True):
        response = sendable.read_response(copy.deepcopy(SPOKEN[dialect].answer), dialect)
        written: Any = (
            streamed(dialect, "anthropic", carrier=True)
            if stream
            else sendable.write_response(response, "anthropic", carrier=True).body
        )
        with provider(written) as url:
            message = called(url, stream)
        back = [{"role": "user", "content": "Where is the ladder?"}, message.to_param()]
        results = [
            {"type": "tool_result", "tool_use_id": name, "content": text}
            for name, text in SPOKEN[dialect].results.items()
        ]
        history = json.loads(
            json.dumps(
                [*back, {"role": "user", "content": results}], default=lambda block: block.model_dump(mode="json")
            )
        )
        sent = sendable.normalize(history, dialect)
        assert [m for m in sent.messages if m in SPOKEN[dialect].next_turn] == sent.messages[: len(sent.messages)]
        abroad = sendable.normalize(history, "anthropic")
        assert "sendable_carrier" not in json.dumps(abroad.body)


def test_parallel_calls_of_messages_come_one_after_the_other() -> None:
    kinds = [event.data["type"] for event in streamed("openai-chat", "anthropic") if event.name != "message_start"]
    depth = 0
    for kind in kinds:
        depth += {"content_block_start": 1, "content_block_stop": -1}.get(kind, 0)
        assert depth in (0, 1)


def test_an_error_in_the_middle_is_told_in_the_words_of_messages() -> None:
    reader, writer = sendable.StreamReader("anthropic"), sendable.StreamWriter("anthropic")
    error = {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}
    start = {"type": "message_start", "message": {**ANTHROPIC.answer, "content": [], "stop_reason": None}}
    wire = [sent for data in (start, error) for event in reader.feed(data) for sent in writer.feed(event)]
    assert wire[-1] == WireEvent(
        "error", {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}
    )
    with provider(wire) as url, pytest.raises(anthropic.APIStatusError):
        called(url, stream=True)
