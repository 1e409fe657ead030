"""Recorded answers and streams of real providers: nothing of them is lost, at home and for the clients of every other dialect.

The recordings are read from `../shared/wire` (from the repository root) and never copied into the project; without them these tests are
skipped, with the reason. A recorded body and a recorded stream are two different calls. Not here: what the official clients say (test_<dialect>.py).
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import sendable
from sendable.conversation import Opaque
from sendable.paths import text as spelled
from tests.answers.spoken import SPOKEN
from tests.answers.test_streams import assert_legal, calls_of, read, text_of

WIRE = Path(__file__).resolve().parents[2].parent / "shared" / "wire"
FOLDERS = {
    "anthropic": "anthropic",
    "bedrock": "bedrock-converse",
    "gemini": "gemini",
    "openai_chat": "openai-chat",
    "openai_responses": "openai-responses",
}
KEYS = {"gemini": "contents", "openai-responses": "input"}


def found(kind: str) -> list[tuple[str, Path]]:
    return [(name, path) for folder, name in FOLDERS.items() for path in sorted((WIRE / folder).glob(f"*{kind}.json"))]


def named(recordings: list[tuple[str, Path]]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize(
        ("dialect", "path"),
        recordings or [("", Path())],
        ids=[f"{path.parent.name}/{path.stem}" for _, path in recordings] or ["none"],
    )


ANSWERS, STREAMS = found("response"), found("response-streaming")
needed = pytest.mark.skipif(not ANSWERS, reason="no recorded answers: ../shared/wire is not beside this checkout")


def request_of(path: Path) -> Any:
    """The request that was answered, if it was recorded."""
    name = path.name.replace("response-streaming.json", "request.json").replace("response.json", "request.json")
    asked = path.with_name(name)
    return json.loads(asked.read_text()) if asked.exists() else None


@needed
def test_there_are_recordings_of_every_dialect() -> None:
    assert {dialect for dialect, _ in ANSWERS} == {dialect for dialect, _ in STREAMS} == set(SPOKEN)
    assert len(ANSWERS) > 180
    assert len(STREAMS) > 120


@needed
@named(ANSWERS)
def test_an_answer_is_known_by_itself_and_comes_back_as_it_was(dialect: str, path: Path) -> None:
    body = json.loads(path.read_text())
    response = sendable.read_response(body, request=request_of(path))
    assert response.dialect == dialect
    assert sendable.write_response(response, dialect).body == body
    assert sendable.read_response(path.read_bytes(), dialect).to_history() == response.to_history()
    # Gemini's OTHER and NO_IMAGE are words for what the hub has none for.
    assert response.stop.reason not in ("unknown", "cut", "error") or response.stop.word in ("OTHER", "NO_IMAGE")
    assert response.usage.output is not None
    assert not [block for block in response.blocks if type(block) is Opaque and block.home is None]


@needed
@named(ANSWERS)
def test_what_was_said_is_sent_back_natively_from_a_chat_store(dialect: str, path: Path) -> None:
    response = sendable.read_response(json.loads(path.read_text()), dialect)
    native = response.to_history()
    if not native:
        return
    stored = json.loads(json.dumps(response.to_history("chat")))
    asked = [{"role": "user", "content": "go on"}]
    answered = [{"role": "tool", "tool_call_id": call.id or call.name, "content": "done"} for call in response.calls]
    options = {"store": False}
    whole = sendable.normalize([*asked, *native, *answered, *asked], dialect, options=options)
    again = sendable.normalize([*asked, *stored, *answered, *asked], dialect, options=options)
    assert again.messages == whole.messages


@needed
@named(ANSWERS)
@pytest.mark.parametrize("to", sorted(SPOKEN))
def test_an_answer_for_another_client_loses_nothing_in_silence(dialect: str, path: Path, to: str) -> None:
    body = json.loads(path.read_text())
    response = sendable.read_response(body, dialect)
    shown = sendable.write_response(response, to)
    reread = sendable.read_response(shown.body, to)
    assert calls_of(reread) == calls_of(response)
    if to != dialect:
        assert_nothing_is_lost(body, shown.body, [*response.report.entries, *shown.report.entries])


def assert_nothing_is_lost(body: Any, written: Any, entries: list[sendable.Entry]) -> None:
    """Every text of an answer is in the body that was written, or under an entry, or a word of the format."""
    text = json.dumps(written, ensure_ascii=False)
    # Arguments are an object in one dialect and text in another.
    held = text + text.replace('\\"', '"').replace(" ", "") + text.replace("\\\\", "\\")
    excused = [str(place) for entry in entries for place in (entry.path, entry.param)]
    for place, value in leaves(body):
        spelled_out = json.dumps(value, ensure_ascii=False)[1:-1]
        if value in WORDS or value in held or value.replace(" ", "") in held or spelled_out in held:
            continue
        where = spelled(place)
        assert any(where == one or where.startswith((f"{one}.", f"{one}[")) for one in excused if one), (
            where,
            value[:80],
        )


def leaves(value: Any, place: tuple[Any, ...] = ()) -> list[tuple[tuple[Any, ...], str]]:
    if isinstance(value, dict):
        return [leaf for key, inner in value.items() for leaf in leaves(inner, (*place, key))]
    if isinstance(value, list):
        return [leaf for index, inner in enumerate(value) for leaf in leaves(inner, (*place, index))]
    return [(place, value)] if isinstance(value, str) and value else []


# Words of the formats themselves, which every dialect says differently: kinds, roles, reasons, states.
WORDS = {
    "message", "assistant", "model", "end_turn", "tool_use", "stop", "tool_calls", "length", "max_tokens", "chat.completion", "response",
    "completed", "incomplete", "STOP", "MAX_TOKENS", "text", "thinking", "function", "function_call", "reasoning", "output_text",
    "summary_text", "pause_turn", "refusal", "stop_sequence", "content_filter", "SAFETY", "redacted_thinking", "in_progress", "auto",
    "max_output_tokens",
}  # fmt: skip


@needed
@named(STREAMS)
def test_a_stream_is_read_whole_and_written_again(dialect: str, path: Path) -> None:
    wire = json.loads(path.read_text())
    events, response, report = read(dialect, wire)
    assert not report.entries, str(report)
    assert_legal(events)
    assert response.complete
    writer = sendable.StreamWriter(dialect)
    again, reread, report = read(dialect, [event.data for one in events for event in writer.feed(one)])
    assert not report.entries, str(report)
    assert not writer.report.entries, str(writer.report)
    assert_legal(again)
    assert reread.to_history() == response.to_history()
    assert (reread.stop.reason, reread.usage.input, reread.usage.output) == (
        response.stop.reason,
        response.usage.input,
        response.usage.output,
    )


@needed
@named(STREAMS)
def test_every_text_of_a_stream_is_in_the_answer(dialect: str, path: Path) -> None:
    """Nothing that a provider streamed is missing from what is assembled: every long text of the events is in the body, piece by piece."""
    wire = json.loads(path.read_text())
    _, response, _ = read(dialect, wire)
    held = json.dumps(response.body, ensure_ascii=False)
    for event in wire:
        if event.get("type") in ("response.output_item.added", "response.completed"):
            # Reasoning is sealed anew in each of its events; the seal of an item's end is the one that is taken.
            continue
        for place, value in leaves(event):
            if place[-1] in (
                "text",
                "thinking",
                "signature",
                "thoughtSignature",
                "encrypted_content",
                "content",
                "data",
            ):
                assert json.dumps(value, ensure_ascii=False)[1:-1] in held, (place, value[:60])


@needed
@named(STREAMS)
def test_a_stream_that_is_cut_at_any_event_is_marked_and_sendable(dialect: str, path: Path) -> None:
    wire = json.loads(path.read_text())
    # Long streams are cut at a hundred places.
    for last in range(0, len(wire), max(len(wire) // 100, 1)):
        events, response, _ = read(dialect, wire[:last])
        assert_legal(events)
        results = [{"role": "tool", "tool_call_id": call.id, "content": "done"} for call in response.calls if call.id]
        asked = [{"role": "user", "content": "go"}]
        sent = sendable.normalize([*asked, *response.to_history(), *results, *asked], dialect)
        assert not sendable.check(sent.body, dialect).entries


@needed
@named(STREAMS)
@pytest.mark.parametrize("to", sorted(SPOKEN))
def test_a_stream_reaches_the_clients_of_every_dialect(dialect: str, path: Path, to: str) -> None:
    events, response, _ = read(dialect, json.loads(path.read_text()))
    writer = sendable.StreamWriter(to)
    again, shown, report = read(to, [event.data for one in events for event in writer.feed(one)])
    assert not report.entries, str(report)
    assert_legal(again)
    assert calls_of(shown) == calls_of(response)
    assert text_of(response) in text_of(shown) or to == dialect
