"""The stream law, for all 25 pairs of dialects and generated answers: what is written for one dialect is read there as what was said, in any
chunking, overlapping or not, and a stream that is cut anywhere gives what came, marked, and sendable on the next turn. Not here: recorded
streams and the official clients (test_<dialect>.py)."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import sendable
from sendable.answers import Response
from sendable.conversation import Reasoning, Text, ToolCall
from sendable.fingerprints import canonical_arguments
from sendable.stream import Event, MessageStart, MessageStop, Transitions, UnknownEvent
from tests.answers.streams import Said, said

DIALECTS = ["anthropic", "bedrock-converse", "gemini", "openai-chat", "openai-responses"]


def written(to: str, events: Iterable[Event]) -> list[Any]:
    writer = sendable.StreamWriter(to)
    return [wire.data for event in events for wire in writer.feed(event)]


def read(source: str, wire: Iterable[Any]) -> tuple[list[Event], Response, sendable.Report]:
    """The neutral events of a stream, the answer that they make, and what could not be read."""
    reader, assembler = sendable.StreamReader(source), sendable.Assembler(source)
    events: list[Event] = []
    for data in wire:
        events += reader.feed(data)
    events += reader.close()
    for event in events:
        assembler.feed(event)
    return events, assembler.response(), reader.report


def calls_of(response: Response) -> list[tuple[str, Any]]:
    """The calls by name and arguments; free text stands abroad in an object."""
    return [(call.name, value_of(call)) for call in response.calls]


def value_of(call: ToolCall) -> Any:
    text = canonical_arguments(call)
    return {"input": text} if call.kind == "custom" else json.loads(text)


def text_of(response: Response, kind: type = Text) -> str:
    return "".join(str(block.text) for block in response.blocks if type(block) is kind)  # type: ignore[union-attr]


def assert_is(response: Response, what: Said) -> None:
    assert calls_of(response) == what.calls
    assert text_of(response) == "".join(what.texts)
    assert text_of(response, Reasoning) == "".join(what.thoughts)


def assert_legal(events: list[Event]) -> None:
    transitions = Transitions()
    assert [wrong for event in events if (wrong := transitions.step(event)) is not None] == []
    assert transitions.ended
    assert type(next(event for event in events if type(event) is not UnknownEvent)) is MessageStart
    assert sum(type(event) is MessageStop for event in events) == 1


@pytest.mark.parametrize("to", DIALECTS)
@given(what=said(overlapping=True))
def test_what_is_written_for_a_dialect_is_read_there_as_what_was_said(to: str, what: Said) -> None:
    events, response, report = read(to, written(to, what.events))
    assert not report.entries, str(report)
    assert_legal(events)
    assert_is(response, what)
    assert response.complete
    assert response.stop.reason == ("tool_calls" if what.calls else "end")


@pytest.mark.parametrize("second", DIALECTS)
@pytest.mark.parametrize("first", DIALECTS)
@given(what=said(overlapping=True))
def test_reader_to_writer_to_reader_is_stable(first: str, second: str, what: Said) -> None:
    events, response, _ = read(first, written(first, what.events))
    again, shown, report = read(second, written(second, events))
    assert not report.entries, str(report)
    assert_legal(again)
    assert_is(shown, what)
    if first == second:
        assert shown.to_history() == response.to_history()
        assert (shown.stop.reason, shown.usage.input, shown.usage.output) == (
            response.stop.reason,
            response.usage.input,
            response.usage.output,
        )


@pytest.mark.parametrize("source", DIALECTS)
@given(what=said())
def test_a_stream_is_its_answer_in_one_piece(source: str, what: Said) -> None:
    """What the assembler makes of a stream is what `read_response` makes of the body that it stands for."""
    events, response, _ = read(source, written(source, what.events))
    (stop,) = [event for event in events if type(event) is MessageStop]
    whole = sendable.read_response(json.loads(json.dumps(stop.body)), source)
    assert whole.to_history() == response.to_history()
    assert (whole.stop, whole.usage, whole.id) == (response.stop, response.usage, response.id)
    ended = [event.block for event in events if type(event) is not MessageStop and hasattr(event, "block")]
    if source == "openai-chat":
        # A whole message has one text and one reasoning, however often the stream turned from one to the other.
        for kind in (Text, Reasoning):
            assert "".join(str(block.text) for block in ended if type(block) is kind) == text_of(whole, kind)
        calls = [(block.id, block.name, block.arguments) for block in ended if type(block) is ToolCall]
        assert calls == [(call.id, call.name, call.arguments) for call in whole.calls]
        return
    assert [type(block) for block in ended] == [type(block) for block in whole.blocks]


@pytest.mark.parametrize("source", DIALECTS)
@given(what=said(), data=st.data())
def test_a_stream_that_is_cut_gives_what_came_marked_and_sendable(source: str, what: Said, data: st.DataObject) -> None:
    wire = written(source, what.events)
    last = data.draw(st.integers(0, len(wire)))
    events, response, _ = read(source, wire[:last])
    assert_legal(events)
    assert "".join(what.texts).startswith(text_of(response))
    if not response.complete:
        assert response.stop.reason == "cut"
        for call in response.calls:
            if call.truncated:
                with pytest.raises(sendable.ArgumentsError, match="ended inside"):
                    call.parse()
    results = [{"role": "tool", "tool_call_id": call.id, "content": "done"} for call in response.calls if call.id]
    history = [{"role": "user", "content": "go"}, *response.to_history(), *results, {"role": "user", "content": "on"}]
    for to in (source, "anthropic", "openai-chat"):
        sent = sendable.normalize(history, to)
        assert not sendable.check(sent.body, to).entries


JUNK = st.recursive(
    st.none() | st.booleans() | st.integers(-2, 9) | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(("type", "text", "id", "index")), inner)
    ),
    max_leaves=4,
)


def places_in(value: Any, place: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Every place in a JSON value."""
    steps = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [place, *(deeper for key, inner in steps for deeper in places_in(inner, (*place, key)))]


def damaged(value: Any, place: tuple[Any, ...], junk: Any) -> Any:
    """The value with something else at a place."""
    if not place:
        return junk
    copy = value.copy()
    copy[place[0]] = damaged(value[place[0]], place[1:], junk)
    return copy


@pytest.mark.parametrize("source", DIALECTS)
@given(what=said(), data=st.data())
def test_no_event_makes_a_reader_raise(source: str, what: Said, data: st.DataObject) -> None:
    """Streams of which anything at all has been replaced, left out, or said twice."""
    wire = written(source, what.events)
    for _ in range(data.draw(st.integers(1, 3))):
        index = data.draw(st.integers(0, len(wire) - 1))
        kind = data.draw(st.sampled_from(("damaged", "damaged", "repeated", "left out")))
        if kind == "damaged":
            place = data.draw(st.sampled_from(places_in(wire[index])))
            wire[index] = damaged(wire[index], place, data.draw(JUNK))
        elif kind == "repeated":
            wire.insert(index, wire[index])
        elif len(wire) > 1:
            del wire[index]
    events, response, _ = read(source, [data if isinstance(data, str) else json.dumps(data) for data in wire])
    assert_legal(events)
    history = [{"role": "user", "content": "go"}, *response.to_history(), {"role": "user", "content": "on"}]
    sent = sendable.normalize(history, source)
    assert not sendable.check(sent.body, source).entries


@pytest.mark.parametrize("source", DIALECTS)
@given(junk=st.lists(JUNK, max_size=4))
def test_nor_does_what_is_no_event_at_all(source: str, junk: list[Any]) -> None:
    events, _, _ = read(source, [json.dumps(value) for value in junk])
    assert_legal(events)


@pytest.mark.parametrize("to", DIALECTS)
@given(what=said(overlapping=True))
def test_a_writer_is_given_blocks_one_after_the_other_where_the_dialect_has_them_so(to: str, what: Said) -> None:
    """The bug that at least six gateways share: the fragments of two calls in one block of a client of Messages."""
    if to != "anthropic":
        wire = written(to, what.events)
        assert wire
        return
    open_block: int | None = None
    expected = 0
    for event in written(to, what.events):
        kind = event["type"]
        if kind == "content_block_start":
            assert open_block is None
            assert event["index"] == expected
            open_block, expected = expected, expected + 1
        elif kind in ("content_block_delta", "content_block_stop"):
            assert event["index"] == open_block
            open_block = None if kind == "content_block_stop" else open_block
    assert open_block is None
