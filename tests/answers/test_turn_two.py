"""The turn-two law: what a provider said comes back to it exactly as a client that speaks only its dialect would send it, however it was
stored in between. And what the library knows of an answer: what its arguments are worth, whether a call was made before, what a handle
covers. Not here: the form of single dialects (test_<dialect>.py)."""

from __future__ import annotations

import copy
import json
import sqlite3
from collections.abc import Callable
from typing import Any

import pytest

import sendable
from sendable.answers import Response
from sendable.carriers import FIELD
from tests.answers.spoken import ANTHROPIC, CHAT, RESPONSES, SPOKEN, Spoken

DIALECTS = sorted(SPOKEN)
KEYS = {"gemini": "contents", "openai-responses": "input"}


def through_json(messages: list[Any]) -> list[Any]:
    return [json.loads(json.dumps(message)) for message in messages]


def through_sqlite(messages: list[Any]) -> list[Any]:
    """As an application stores them: one row a message, text in, text out."""
    with sqlite3.connect(":memory:") as store:
        store.execute("CREATE TABLE messages (number INTEGER PRIMARY KEY, body TEXT)")
        store.executemany("INSERT INTO messages (body) VALUES (?)", [(json.dumps(message),) for message in messages])
        rows = store.execute("SELECT body FROM messages ORDER BY number").fetchall()
    return [json.loads(body) for (body,) in rows]


def read(spoken: Spoken, dialect: str) -> Response:
    return sendable.read_response(copy.deepcopy(spoken.answer), dialect, request=spoken.request)


def chat_results(spoken: Spoken) -> list[Any]:
    return [{"role": "tool", "tool_call_id": name, "content": text} for name, text in spoken.results.items()]


@pytest.mark.parametrize("store", [through_json, through_sqlite])
@pytest.mark.parametrize("form", ["native", "chat"])
@pytest.mark.parametrize("dialect", DIALECTS)
def test_turn_two(dialect: str, form: str, store: Callable[[list[Any]], list[Any]]) -> None:
    spoken = SPOKEN[dialect]
    asked = spoken.request[KEYS.get(dialect, "messages")]
    stored = store([*asked, *read(spoken, dialect).to_history(form)])  # type: ignore[arg-type]
    results = spoken.next_turn[len(asked) + (4 if dialect == "openai-responses" else 1) :]
    own = {**spoken.request, KEYS.get(dialect, "messages"): [*stored, *results]}
    sent = sendable.normalize(own if form == "native" else [*stored, *results], dialect)
    assert sent.messages == spoken.next_turn
    assert not sent.report.entries, str(sent.report)


@pytest.mark.parametrize("dialect", DIALECTS)
def test_turn_two_in_a_chat_store_with_the_results_of_chat(dialect: str) -> None:
    spoken = SPOKEN[dialect]
    stored = [{"role": "user", "content": "Where is the ladder?"}, *read(spoken, dialect).to_history("chat")]
    sent = sendable.normalize([*through_json(stored), *chat_results(spoken)], dialect)
    assert sent.messages == spoken.next_turn
    assert sent.dropped == 0


@pytest.mark.parametrize("dialect", DIALECTS)
def test_turn_two_as_bytes(dialect: str) -> None:
    spoken = SPOKEN[dialect]
    stored = [{"role": "user", "content": "Where is the ladder?"}, *read(spoken, dialect).to_history("chat")]
    sent = sendable.normalize_json(json.dumps([*stored, *chat_results(spoken)]).encode(), dialect)
    body = json.loads(sent.data)
    assert (body if isinstance(body, list) else body[KEYS.get(dialect, "messages")]) == spoken.next_turn


@pytest.mark.parametrize("to", DIALECTS)
@pytest.mark.parametrize("dialect", DIALECTS)
def test_no_provider_is_ever_sent_a_carrier(dialect: str, to: str) -> None:
    spoken = SPOKEN[dialect]
    stored = [{"role": "user", "content": "Where?"}, *read(spoken, dialect).to_history("chat"), *chat_results(spoken)]
    for history in (stored, [*stored[:1], {**stored[1], "content": "edited"}, *stored[2:]]):
        sent = sendable.normalize(history, to)
        assert FIELD not in json.dumps(sent.body)
        again = sendable.check(sent.body, to)
        assert not again.entries, str(again)
    if dialect != "openai-chat" and to != dialect:
        opened = [entry for entry in sendable.check(stored, to).entries if entry.code.startswith("CAR")]
        assert [(entry.verb, entry.param) for entry in opened] == [("strip", f"messages[1].{FIELD}")]


def test_an_edit_beside_the_carrier_wins() -> None:
    stored = [{"role": "user", "content": "Where?"}, *read(ANTHROPIC, "anthropic").to_history("chat")]
    stored[1]["content"] = "I look everywhere."
    sent = sendable.normalize([*stored, *chat_results(ANTHROPIC)], "anthropic")
    text = json.dumps(sent.messages)
    assert "I look everywhere." in text
    assert "EuYBCkQIBxgCIkDshed" not in text
    assert {"code": "CAR002", "verb": "strip"}.items() <= {
        "code": sent.report.entries[0].code,
        "verb": sent.report.entries[0].verb,
    }.items()


def test_the_carrier_is_gone_before_a_message_is_judged_as_empty() -> None:
    """An answer of sealed reasoning only: for another provider nothing is left, and the carrier does not keep the message alive."""
    answer = {
        **ANTHROPIC.answer,
        "content": [{"type": "redacted_thinking", "data": "Emw"}],
        "stop_reason": "end_turn",
    }
    stored = sendable.read_response(answer).to_history("chat")
    history = [{"role": "user", "content": "a"}, *stored, {"role": "user", "content": "b"}]
    sent = sendable.normalize(history, "gemini")
    assert FIELD not in json.dumps(sent.body)
    assert "RSN" in " ".join(entry.code for entry in sent.report.entries)
    home = sendable.normalize(history, "anthropic")
    assert home.messages[1]["content"] == [{"type": "redacted_thinking", "data": "Emw"}]


# --- what an answer is worth -------------------------------------------------------------------------------------------


def retried(spoken: Spoken) -> dict[str, Any]:
    """The same answer as a provider gives it on a retry: other ids, other order of keys."""
    text = json.dumps(spoken.answer)
    for name in ("msg_01XYZ", "toolu_01A", "toolu_01B"):
        text = text.replace(name, f"{name[:-1]}9{name[-1]}")
    answer: dict[str, Any] = json.loads(text)
    for block in answer["content"]:
        if block["type"] == "tool_use":
            block["input"] = dict(reversed([*block["input"].items(), ("deep", {"b": 1, "a": 2})]))
    return answer


def test_a_retried_turn_has_the_same_fingerprints() -> None:
    first = copy.deepcopy(ANTHROPIC.answer)
    for block in first["content"]:
        if block["type"] == "tool_use":
            block["input"] = {**block["input"], "deep": {"a": 2, "b": 1}}
    once = sendable.read_response(first, request=ANTHROPIC.request)
    twice = sendable.read_response(retried(ANTHROPIC), request=ANTHROPIC.request)
    assert [call.fingerprint for call in once.calls] == [call.fingerprint for call in twice.calls]
    assert not any(call.local for call in once.calls)
    assert len({call.fingerprint for call in once.calls}) == 2


def test_two_equal_calls_of_one_turn_have_two_fingerprints() -> None:
    answer = copy.deepcopy(CHAT.answer)
    calls = answer["choices"][0]["message"]["tool_calls"]
    calls[1]["function"]["arguments"] = ' {"at":"shed"} '
    first, second = sendable.read_response(answer, request=CHAT.request).calls
    assert first.fingerprint != second.fingerprint


def test_without_a_request_a_fingerprint_is_local() -> None:
    assert all(call.local for call in sendable.read_response(CHAT.answer).calls)
    other = {**CHAT.request, "messages": [{"role": "user", "content": "Where is the saw?"}]}
    local, here, there = (
        sendable.read_response(CHAT.answer, request=request).calls[0].fingerprint
        for request in (None, CHAT.request, other)
    )
    assert len({local, here, there}) == 3


@pytest.mark.parametrize("dialect", DIALECTS)
def test_native_and_chat_stores_of_one_conversation_have_one_fingerprint(dialect: str) -> None:
    """The next turn's calls are told apart by what came before; both stores say that it is the same."""
    spoken = SPOKEN[dialect]
    response = read(spoken, dialect)
    native = {**spoken.request, KEYS.get(dialect, "messages"): spoken.next_turn}
    chat = {
        "messages": [
            {"role": "user", "content": "Where is the ladder?"},
            *response.to_history("chat"),
            *chat_results(spoken),
        ]
    }
    plain = {
        "messages": [{key: value for key, value in message.items() if key != FIELD} for message in chat["messages"]]
    }
    prints = [
        [call.fingerprint for call in sendable.read_response(spoken.answer, dialect, request=request).calls]
        for request in (native, chat, plain)
    ]
    assert prints[0] == prints[1] == prints[2]


def test_what_arguments_are_worth_comes_from_the_request() -> None:
    assert {call.decoding for call in read(ANTHROPIC, "anthropic").calls} == {"constrained"}
    loose = {**ANTHROPIC.request, "tools": [{"name": "look", "input_schema": {"type": "object"}}]}
    assert {call.decoding for call in sendable.read_response(ANTHROPIC.answer, request=loose).calls} == {
        "unconstrained"
    }
    assert {call.decoding for call in sendable.read_response(ANTHROPIC.answer).calls} == {"unknown"}
    assert {call.decoding for call in read(RESPONSES, "openai-responses").calls} == {"unconstrained"}


@pytest.mark.parametrize(
    ("text", "reason"), [('{"at": "sh', "unparsable"), ("[1]", "not an object"), ("{'at': 1}", "unparsable")]
)
def test_arguments_that_are_none_say_precisely_why(text: str, reason: str) -> None:
    answer = copy.deepcopy(CHAT.answer)
    answer["choices"][0]["message"]["tool_calls"][0]["function"]["arguments"] = text
    call = sendable.read_response(answer).calls[0]
    assert call.arguments_text == text
    with pytest.raises(sendable.ArgumentsError) as raised:
        call.parse()
    assert raised.value.reason == reason
    assert not isinstance(raised.value, json.JSONDecodeError)
    assert "sh" not in str(raised.value).replace("ash", "")


def test_arguments_that_were_cut_at_the_limit_are_told_apart() -> None:
    answer = copy.deepcopy(CHAT.answer)
    choice = answer["choices"][0]
    choice["finish_reason"] = "length"
    choice["message"]["tool_calls"][1]["function"]["arguments"] = '{"at": "ba'
    first, second = sendable.read_response(answer).calls
    assert (first.truncated, second.truncated) == (False, True)
    assert first.parse() == {"at": "shed"}
    with pytest.raises(sendable.ArgumentsError) as raised:
        second.parse()
    assert raised.value.reason == "truncated"


# --- continuation ------------------------------------------------------------------------------------------------------

STORED = {**RESPONSES.request, "store": True}
RESULTS = RESPONSES.next_turn[-2:]


def test_a_handle_stands_for_what_it_covers_and_only_what_is_new_is_sent() -> None:
    response = sendable.read_response(RESPONSES.answer, request=STORED)
    (handle,) = response.continuation
    assert (handle.kind, handle.id, handle.issuer) == ("response", "resp_1", "openai-responses")
    body = {**STORED, "input": RESPONSES.next_turn}
    sent = sendable.normalize(body, "openai-responses", context=sendable.Continue(handle))
    assert not sent.report.entries, str(sent.report)
    assert sent.body["previous_response_id"] == "resp_1"
    assert sent.body["input"] == RESULTS
    # From a Chat-shaped store it is the same.
    chat = [{"role": "user", "content": "Where is the ladder?"}, *response.to_history("chat"), *chat_results(RESPONSES)]
    assert sendable.normalize(chat, "openai-responses", context=sendable.Continue(handle)).body == {
        "previous_response_id": "resp_1",
        "input": RESULTS,
    }


def test_a_chain_of_handles_goes_on_covering() -> None:
    response = sendable.read_response(RESPONSES.answer, request=STORED)
    context = sendable.Continue(response.continuation[0])
    sent = sendable.normalize({**STORED, "input": RESPONSES.next_turn}, "openai-responses", context=context)
    message = {"type": "message", "role": "assistant", "id": "msg_9", "status": "completed", "content": [
        {"type": "output_text", "text": "In the barn.", "annotations": []}]}  # fmt: skip
    answer = {**RESPONSES.answer, "id": "resp_2", "output": [message]}
    (handle,) = sendable.read_response(answer, request=sent).continuation
    history = [*RESPONSES.next_turn, message, {"role": "user", "content": "Thanks."}]
    third = sendable.normalize({**STORED, "input": history}, "openai-responses", context=sendable.Continue(handle))
    assert third.body["previous_response_id"] == "resp_2"
    assert third.body["input"] == [{"role": "user", "content": "Thanks."}]


@pytest.mark.parametrize(
    ("reason", "change"),
    [
        ("foreign", {"issuer": "gemini"}),
        ("expired", {"expires": 10.0}),
        ("covers nothing", {"covers": None}),
        ("stands for another history", {"covers": "0" * 32}),
    ],
)
def test_a_handle_that_cannot_stand_for_it_is_not_sent(reason: str, change: dict[str, Any]) -> None:
    (handle,) = sendable.read_response(RESPONSES.answer, request=STORED).continuation
    known = {name: getattr(handle, name) for name in ("issuer", "kind", "id", "covers", "expires")}
    context = sendable.Continue(sendable.Continuation(**{**known, **change}), now=20.0)
    sent = sendable.normalize({**STORED, "input": RESPONSES.next_turn}, "openai-responses", context=context)
    assert "previous_response_id" not in sent.body
    assert sent.body["input"] == RESPONSES.next_turn
    assert [(entry.code, entry.verb, entry.facts["reason"]) for entry in sent.report.entries] == [
        ("CON005", "note", reason)
    ]


def test_an_edited_history_is_sent_whole() -> None:
    (handle,) = sendable.read_response(RESPONSES.answer, request=STORED).continuation
    edited = [{"role": "user", "content": "Where is the saw?"}, *RESPONSES.next_turn[1:]]
    sent = sendable.normalize({**STORED, "input": edited}, "openai-responses", context=sendable.Continue(handle))
    assert "previous_response_id" not in sent.body
    assert [entry.facts["reason"] for entry in sent.report.entries if entry.code == "CON005"] == [
        "stands for another history"
    ]


def test_what_is_not_stored_covers_nothing() -> None:
    (handle,) = read(RESPONSES, "openai-responses").continuation
    assert (handle.id, handle.covers) == ("resp_1", None)
    (handle,) = sendable.read_response(RESPONSES.answer).continuation
    assert handle.covers is None


# --- replay ------------------------------------------------------------------------------------------------------------


def test_replay_grows_with_the_square_and_delta_in_proportion() -> None:
    cost = sendable.replay_cost([2_100] * 12, 3.0, system=3_500)
    assert (cost.last_context, cost.replay_tokens, cost.delta_tokens) == (28_700, 205_800, 28_700)
    assert (round(cost.replay_price, 4), round(cost.delta_price, 4)) == (0.6174, 0.0861)
    twice = sendable.replay_cost([2_100] * 24, 3.0, system=3_500)
    assert twice.replay_tokens / cost.replay_tokens > 3.3
    assert twice.delta_tokens / cost.delta_tokens < 2.0
    billed = sendable.replay_cost([2_100] * 12, 3.0, system=3_500, target="openai-responses")
    assert billed.bills_stored_prefix
    assert billed.delta_price == billed.replay_price
    assert "bills the stored prefix" in str(billed)


def test_the_turns_of_a_history_are_its_calls() -> None:
    history = [
        {"role": "system", "content": "x" * 40},
        {"role": "user", "content": "y" * 20},
        {"role": "assistant", "content": "z" * 8},
        {"role": "user", "content": "y" * 20},
    ]
    cost = sendable.replay_cost(history)
    assert cost.estimated
    assert [(turn.new, turn.replayed) for turn in cost.turns] == [(15, 15), (7, 22)]
