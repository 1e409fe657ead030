"""Answers and streams for clients of generateContent, judged by the official one over a real server: its models take them, its stream holds
the same parts. Not here: recorded answers (test_recorded.py)."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from google import genai
from google.genai import errors, types

import sendable
from sendable.conversation import Text
from sendable.stream import BlockStop, MessageStop, WireEvent
from tests.answers.loopback import provider
from tests.answers.spoken import SPOKEN
from tests.answers.test_anthropic import streamed


def client(url: str) -> genai.Client:
    return genai.Client(api_key="none", vertexai=False, http_options=types.HttpOptions(base_url=url))


def written(dialect: str) -> Any:
    response = sendable.read_response(copy.deepcopy(SPOKEN[dialect].answer), dialect)
    return sendable.write_response(response, "gemini").body


def said(parts: list[types.Part]) -> list[Any]:
    """What parts say: text in a row of one kind together, calls with their arguments; the signatures apart."""
    out: list[Any] = []
    for part in parts:
        if part.function_call is not None:
            out.append((part.function_call.name, part.function_call.args))
        elif part.text:
            if out and isinstance(out[-1], list) and out[-1][0] == bool(part.thought):
                out[-1][1] += part.text
            else:
                out.append([bool(part.thought), part.text])
    return out


def signatures(parts: list[types.Part]) -> list[bytes]:
    return [part.thought_signature for part in parts if part.thought_signature is not None]


def whole(response: types.GenerateContentResponse) -> list[types.Part]:
    assert response.candidates is not None
    content = response.candidates[0].content
    return (content.parts if content is not None else None) or []


@pytest.mark.parametrize("dialect", sorted(SPOKEN))
def test_the_official_client_reads_an_answer_of_every_dialect(dialect: str) -> None:
    body = written(dialect)
    types.GenerateContentResponse.model_validate(body)
    with provider(body) as url, client(url) as google:
        response = google.models.generate_content(model="m", contents="Where?")
    calls = response.function_calls or []
    assert [(call.name, call.args) for call in calls] == [("look", {"at": "shed"}), ("look", {"at": "barn"})]
    assert response.candidates is not None
    assert response.candidates[0].finish_reason == types.FinishReason.STOP


@pytest.mark.parametrize("dialect", sorted(SPOKEN))
def test_its_stream_holds_the_same_parts(dialect: str) -> None:
    wire = streamed(dialect, "gemini")
    for event in wire:
        types.GenerateContentResponse.model_validate(event.data)
    body = written(dialect)
    one = types.GenerateContentResponse.model_validate(body)
    with provider(wire) as url, client(url) as google:
        chunks = list(google.models.generate_content_stream(model="m", contents="Where?"))
    parts = [part for chunk in chunks for part in whole(chunk)]
    assert said(parts) == said(whole(one))
    assert signatures(parts) == signatures(whole(one))
    assert chunks[-1].candidates is not None
    assert chunks[-1].candidates[0].finish_reason == types.FinishReason.STOP
    assert (chunks[-1].usage_metadata, chunks[-1].response_id) == (one.usage_metadata, one.response_id)


def test_an_error_in_the_middle_is_told_in_the_words_of_google() -> None:
    reader, writer = sendable.StreamReader("gemini"), sendable.StreamWriter("gemini")
    error = {"error": {"code": 503, "message": "overloaded", "status": "UNAVAILABLE"}}
    chunk = {"candidates": [{"content": {"role": "model", "parts": [{"text": "Hel"}]}, "index": 0}]}
    wire = [sent for data in (chunk, error) for event in reader.feed(data) for sent in writer.feed(event)]
    assert wire[-1] == WireEvent(None, error)
    with provider(wire) as url, client(url) as google, pytest.raises(errors.ServerError):
        list(google.models.generate_content_stream(model="m", contents="Where?"))


@pytest.mark.parametrize("odd", [[], "said", 7, {"unknown": 1}], ids=repr)
def test_a_part_that_is_none_ends_the_text_before_it(odd: Any) -> None:
    """Nothing of what comes behind it is lost, and the stream ends."""
    chunks = [[{"text": "a"}], [odd], [{"text": "b"}]]
    reader = sendable.StreamReader("gemini")
    events = [
        event
        for parts in chunks
        for event in reader.feed({"candidates": [{"content": {"role": "model", "parts": parts}, "index": 0}]})
    ]
    events += reader.feed({"candidates": [{"finishReason": "STOP", "index": 0}]})
    events += reader.close()
    assert not reader.report.entries
    stops = [event for event in events if isinstance(event, BlockStop)]
    assert [stop.index for stop in stops] == [0, 1, 2]
    assert [stop.block.text for stop in (stops[0], stops[2]) if isinstance(stop.block, Text)] == ["a", "b"]
    assert isinstance(events[-1], MessageStop)
