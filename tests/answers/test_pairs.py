"""The stream law over pairs: one answer whole and as the stream in which its provider would send it, side by side in tests/wire/<dialect>/.

The streams are written by hand after the providers' documentation, with what is hard in them: fragments of two calls in turns, pings, usage in a
chunk of its own, a signature behind the words. Recorded streams are in test_recorded.py, generated ones in test_streams.py.
"""

from __future__ import annotations

import copy
import json
import tracemalloc
from pathlib import Path
from typing import Any

import pytest

import sendable
from tests.answers.spoken import SPOKEN

WIRE = Path(__file__).resolve().parents[1] / "wire"
NAMES = sorted(path.relative_to(WIRE).as_posix()[: -len(".answer.json")] for path in WIRE.glob("*/*.answer.json"))


def pair(name: str) -> tuple[str, Any, list[Any]]:
    """The dialect, the answer, and the events of its stream."""
    answer, stream = (json.loads((WIRE / f"{name}.{kind}.json").read_bytes()) for kind in ("answer", "stream"))
    return name.partition("/")[0], answer, stream


def assembled(dialect: str, stream: list[Any]) -> sendable.Response:
    reader, assembler = sendable.StreamReader(dialect), sendable.Assembler(dialect)
    for data in stream:
        for event in reader.feed(copy.deepcopy(data)):
            assembler.feed(event)
    for event in reader.close():
        assembler.feed(event)
    # Nothing is unreadable; that a stream was cut is a note.
    assert {entry.code for entry in reader.report.entries} <= {"STM001"}
    return assembler.response()


def said(response: sendable.Response) -> Any:
    """All that an answer says."""
    calls = [(call.id, call.name, call.parse(), call.kind) for call in response.calls]
    handles = [(handle.kind, handle.id) for handle in response.continuation]
    usage = response.usage
    counts = usage.input, usage.output, usage.cached_read, usage.cached_write, usage.reasoning
    kinds = [type(block).__name__ for block in response.blocks]
    return (
        response.id,
        response.model,
        kinds,
        response.text,
        calls,
        handles,
        counts,
        response.stop.reason,
        response.stop.word,
    )


def test_there_is_a_pair_of_every_dialect() -> None:
    assert {name.partition("/")[0] for name in NAMES} == set(SPOKEN)


@pytest.mark.parametrize("name", NAMES)
def test_a_stream_is_its_answer_in_one_piece(name: str) -> None:
    dialect, answer, stream = pair(name)
    whole, streamed = sendable.read_response(answer, dialect), assembled(dialect, stream)
    assert said(streamed) == said(whole)
    assert streamed.to_history() == whole.to_history()


@pytest.mark.parametrize("name", NAMES)
def test_a_stream_that_ends_after_any_event_is_marked_and_sendable(name: str) -> None:
    dialect, answer, stream = pair(name)
    whole = sendable.read_response(answer, dialect)
    for count in range(len(stream)):
        response = assembled(dialect, stream[:count])
        assert whole.text.startswith(response.text)
        assert response.stop.reason == "cut" or said(response)[:6] == said(whole)[:6], count
        results = [{"role": "tool", "tool_call_id": call.id, "content": "done"} for call in response.calls if call.id]
        history = [
            {"role": "user", "content": "go"},
            *response.to_history(),
            *results,
            {"role": "user", "content": "on"},
        ]
        sent = sendable.normalize(history, dialect)
        assert not sendable.check(sent.body, dialect).entries


@pytest.mark.parametrize("to", sorted(SPOKEN))
@pytest.mark.parametrize("name", NAMES)
def test_what_is_written_for_another_dialect_says_the_same(name: str, to: str) -> None:
    dialect, _, stream = pair(name)
    reader, writer = sendable.StreamReader(dialect), sendable.StreamWriter(to)
    wire = [sent.data for data in stream for event in reader.feed(copy.deepcopy(data)) for sent in writer.feed(event)]
    wire += [sent.data for event in reader.close() for sent in writer.feed(event)]
    again, first = assembled(to, wire), assembled(dialect, stream)
    assert again.text == first.text
    assert [(call.id, call.name, call.parse()) for call in again.calls] == [
        (call.id, call.name, call.parse()) for call in first.calls
    ]
    assert again.stop.reason == first.stop.reason


def test_a_reader_holds_no_more_than_the_message() -> None:
    """20,000 events of one text: what is held grows with the text, and not with the number of events."""
    head, tail = pair("anthropic/look")[2][:1], pair("anthropic/look")[2][-2:]
    start = {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}
    piece = json.dumps({"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "word "}})
    reader, writer = sendable.StreamReader("anthropic"), sendable.StreamWriter("openai-chat")
    for data in (*head, start):
        for event in reader.feed(data):
            writer.feed(event)
    tracemalloc.start()
    try:
        for _ in range(20_000):
            for event in reader.feed(piece):
                writer.feed(event)
        held = tracemalloc.get_traced_memory()[0]
    finally:
        tracemalloc.stop()
    for data in ({"type": "content_block_stop", "index": 0}, *tail):
        for event in reader.feed(data):
            writer.feed(event)
    assert reader.ended
    assert held < 20 * 20_000 * len("word "), f"{held} bytes for a text of {20_000 * 5}"
