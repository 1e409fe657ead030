"""Answers and streams for clients of Responses, judged by the official one over a real server: its models validate them, its streaming helper
puts the same response together. Not here: recorded answers (test_recorded.py)."""

from __future__ import annotations

import copy
from typing import Any

import openai
import pytest
from openai.types.responses import Response, ResponseStreamEvent
from pydantic import TypeAdapter

import sendable
from sendable.answers import events_of
from sendable.stream import WireEvent
from tests.answers.loopback import provider
from tests.answers.spoken import RESPONSES, SPOKEN

EVENTS: TypeAdapter[Any] = TypeAdapter(ResponseStreamEvent)


def streamed(dialect: str) -> list[WireEvent]:
    """The answer of a dialect, as its provider streams it, written for the clients of Responses."""
    response = sendable.read_response(copy.deepcopy(SPOKEN[dialect].answer), dialect)
    first, second = sendable.StreamWriter(dialect), sendable.StreamWriter("openai-responses")
    reader = sendable.StreamReader(dialect)
    out: list[WireEvent] = []
    for event in events_of(response):
        for wire in first.feed(event):
            for again in reader.feed(wire.data):
                out += second.feed(again)
    for again in reader.close():
        out += second.feed(again)
    return out


def called(url: str, stream: bool) -> Any:
    client = openai.OpenAI(base_url=url, api_key="none", max_retries=0)
    if not stream:
        return client.responses.create(model="m", input="Where?")
    with client.responses.stream(model="m", input="Where?") as events:
        return events.get_final_response()


@pytest.mark.parametrize("dialect", sorted(SPOKEN))
def test_the_official_client_reads_an_answer_of_every_dialect(dialect: str) -> None:
    response = sendable.read_response(copy.deepcopy(SPOKEN[dialect].answer), dialect)
    body = sendable.write_response(response, "openai-responses", carrier=dialect != "openai-responses").body
    if dialect != "openai-responses":
        assert Response.model_validate(body).model_dump(mode="json", exclude_unset=True) == body
    with provider(body) as url:
        got = called(url, stream=False)
    assert [item.name for item in got.output if item.type == "function_call"] == ["look", "look"]
    assert got.status == "completed"


@pytest.mark.parametrize("dialect", sorted(SPOKEN))
def test_its_streaming_helper_puts_the_same_response_together(dialect: str) -> None:
    wire = streamed(dialect)
    for event in wire[:-1]:
        EVENTS.validate_python(event.data, strict=False)
    assert [event.data["sequence_number"] for event in wire] == list(range(len(wire)))
    with provider(wire) as url:
        got = called(url, stream=True)
    response = sendable.read_response(copy.deepcopy(SPOKEN[dialect].answer), dialect)
    whole = sendable.write_response(response, "openai-responses").body
    assert [item.type for item in got.output] == [item["type"] for item in whole["output"]]
    assert got.output_text == response.text
    assert [(item.call_id, item.name) for item in got.output if item.type == "function_call"] == [
        (call.id, call.name) for call in response.calls
    ]
    ids = [item.id for item in got.output]
    assert len(set(ids)) == len(ids)
    assert (got.status, got.usage.output_tokens) == (whole["status"], response.usage.output)


def test_an_answer_without_an_id_is_given_one_and_says_so() -> None:
    response = sendable.read_response({**copy.deepcopy(SPOKEN["openai-chat"].answer), "id": None}, "openai-chat")
    first, second = (sendable.write_response(response, "openai-responses") for _ in range(2))
    assert first.body["id"] == second.body["id"]
    assert first.body["id"].startswith("resp_")
    assert [entry.verb for entry in first.report.entries if entry.code == "RSP009"] == ["synthesize"]


def test_arguments_that_are_said_twice_are_one_call() -> None:
    """Servers that send `{}` first and the arguments again at the end."""
    item = {"type": "function_call", "id": "fc_1", "call_id": "call_A", "name": "look", "arguments": "{}"}
    whole = {**item, "arguments": '{"at":"shed"}', "status": "completed"}
    wire: list[Any] = [
        {"type": "response.created", "response": {**RESPONSES.answer, "output": [], "status": "in_progress"}},
        {"type": "response.output_item.added", "output_index": 0, "item": item},
        *({"type": "response.function_call_arguments.delta", "output_index": 0, "delta": piece} for piece in ('{"at":', '"shed"}')),
        {"type": "response.function_call_arguments.done", "output_index": 0, "arguments": '{"at":"shed"}'},
        {"type": "response.output_item.done", "output_index": 0, "item": whole},
        {"type": "response.completed", "response": {**RESPONSES.answer, "output": [whole]}},
    ]  # fmt: skip
    for events in (wire, [wire[0], wire[-1]], [wire[0], *wire[4:]]):
        reader, assembler = sendable.StreamReader("openai-responses"), sendable.Assembler("openai-responses")
        for data in events:
            for event in reader.feed(data):
                assembler.feed(event)
        (call,) = assembler.response().calls
        assert (call.id, call.name, call.parse()) == ("call_A", "look", {"at": "shed"})
        assert not reader.report.entries


def test_a_provider_that_fails_inside_its_stream_is_a_response_that_failed() -> None:
    reader, writer = sendable.StreamReader("openai-responses"), sendable.StreamWriter("openai-responses")
    error = {"type": "error", "code": "rate_limit_exceeded", "message": "Slow down.", "param": None}
    start = {"type": "response.created", "response": {**RESPONSES.answer, "output": [], "status": "in_progress"}}
    wire = [sent for data in (start, error) for event in reader.feed(data) for sent in writer.feed(event)]
    assert wire[-1].data["type"] == "response.failed"
    assert wire[-1].data["response"]["error"] == {"code": "rate_limit_exceeded", "message": "Slow down."}
    EVENTS.validate_python(wire[-1].data, strict=False)
