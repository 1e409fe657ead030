"""Answers and streams for clients of Chat, judged by the official one over a real server, and the fragments of calls as servers are known to send
them. Not here: recorded answers (test_recorded.py)."""

from __future__ import annotations

import copy
import json
from typing import Any

import openai
import pytest
from openai.lib.streaming.chat import ChatCompletionStreamState
from openai.types.chat import ChatCompletion, ChatCompletionChunk

import sendable
from sendable.carriers import FIELD
from sendable.stream import ArgumentsDelta, BlockStop, WireEvent
from tests.answers.loopback import provider
from tests.answers.spoken import CHAT, SPOKEN
from tests.answers.test_anthropic import streamed
from tests.answers.test_streams import assert_legal, calls_of, read, text_of


def asked(url: str) -> tuple[openai.OpenAI, dict[str, Any]]:
    client = openai.OpenAI(base_url=url, api_key="none", max_retries=0)
    return client, {"model": "m", "messages": [{"role": "user", "content": "Where?"}]}


def final(wire: list[WireEvent]) -> dict[str, Any]:
    """What the official client's helper puts together of a stream."""
    with provider(wire) as url:
        client, request = asked(url)
        state: Any = ChatCompletionStreamState()
        for chunk in client.chat.completions.create(**request, stream=True, stream_options={"include_usage": True}):
            state.handle_chunk(chunk)
    got: dict[str, Any] = state.get_final_completion().model_dump(mode="json", exclude_none=True)
    return got


@pytest.mark.parametrize("dialect", sorted(SPOKEN))
def test_the_official_client_reads_an_answer_of_every_dialect(dialect: str) -> None:
    response = sendable.read_response(copy.deepcopy(SPOKEN[dialect].answer), dialect)
    body = sendable.write_response(response, "openai-chat", carrier=dialect != "openai-chat").body
    assert ChatCompletion.model_validate(body, strict=True).model_dump(mode="json", exclude_unset=True) == body
    with provider(body) as url:
        client, request = asked(url)
        message = client.chat.completions.create(**request).choices[0]
    calls = message.message.tool_calls or []
    assert [json.loads(call.function.arguments) for call in calls if call.type == "function"] == [
        {"at": "shed"},
        {"at": "barn"},
    ]
    assert message.finish_reason == "tool_calls"


@pytest.mark.parametrize("dialect", sorted(SPOKEN))
def test_its_streaming_helper_puts_the_same_message_together(dialect: str) -> None:
    wire = streamed(dialect, "openai-chat")
    assert wire[-1].data == "[DONE]"
    for event in wire[:-1]:
        ChatCompletionChunk.model_validate(event.data, strict=True)
    got = final(wire)
    response = sendable.read_response(copy.deepcopy(SPOKEN[dialect].answer), dialect)
    whole = sendable.write_response(response, "openai-chat").body
    message = got["choices"][0]["message"]
    for call in message["tool_calls"]:
        del call["index"]
    for call in whole["choices"][0]["message"]["tool_calls"]:
        # A stream of a dialect that has objects writes them without spaces.
        call["function"]["arguments"] = json.loads(call["function"]["arguments"])
    for call in message["tool_calls"]:
        call["function"] = {
            "name": call["function"]["name"],
            "arguments": json.loads(call["function"]["arguments"]),
        }
    expected = {key: value for key, value in whole["choices"][0]["message"].items() if value is not None}
    assert message == expected
    assert got["choices"][0]["finish_reason"] == "tool_calls"
    assert got["usage"]["completion_tokens"] == whole["usage"]["completion_tokens"]


@pytest.mark.parametrize("dialect", sorted(set(SPOKEN) - {"openai-chat"}))
def test_what_the_client_sends_back_restores_the_native_answer(dialect: str) -> None:
    response = sendable.read_response(copy.deepcopy(SPOKEN[dialect].answer), dialect)
    body = sendable.write_response(response, "openai-chat", carrier=True).body
    messages = [
        body["choices"][0]["message"],
        final(streamed(dialect, "openai-chat", carrier=True))["choices"][0]["message"],
    ]
    for message in messages:
        assert FIELD in message
        results = [
            {"role": "tool", "tool_call_id": name, "content": text} for name, text in SPOKEN[dialect].results.items()
        ]
        history = [{"role": "user", "content": "Where is the ladder?"}, message, *results]
        assert sendable.normalize(history, dialect).messages == SPOKEN[dialect].next_turn
        assert FIELD not in json.dumps(sendable.normalize(history, "openai-chat").body)


def test_an_error_in_the_middle_reaches_the_client_as_one() -> None:
    reader, writer = sendable.StreamReader("openai-chat"), sendable.StreamWriter("openai-chat")
    start = chunk({"role": "assistant", "content": "I lo"})
    error = {"error": {"message": "Overloaded", "type": "server_error", "code": 503}}
    wire = [sent for data in (start, error) for event in reader.feed(data) for sent in writer.feed(event)]
    assert wire[-1].data["error"]["message"] == "Overloaded"
    with pytest.raises(openai.APIError):
        final(wire)


# --- fragments of calls ------------------------------------------------------------------------------------------------


def chunk(delta: dict[str, Any] | None, word: str | None = None, **more: Any) -> dict[str, Any]:
    choices = [] if delta is None else [{"index": 0, "delta": delta, "finish_reason": word}]
    return {"id": "c1", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": choices, **more}


def part(index: Any = None, name: Any = None, arguments: Any = None, id: Any = None) -> dict[str, Any]:
    """One fragment, with only what is given."""
    inner = {key: value for key, value in (("name", name), ("arguments", arguments)) if value is not None}
    out = {key: value for key, value in (("index", index), ("id", id)) if value is not None}
    return {**out, "function": inner}


SHED, BARN = '{"at":"shed"}', '{"at":"barn"}'
ONE = [("look", {"at": "shed"})]
TWO = [("look", {"at": "shed"}), ("look", {"at": "barn"})]

FITTING: dict[str, tuple[list[list[dict[str, Any]]], list[Any]]] = {
    "documented": ([[part(0, "look", "", "a")], [part(0, None, '{"at":')], [part(0, None, '"shed"}')]], ONE),
    "parallel": ([[part(0, "look", SHED, "a")], [part(1, "look", BARN, "b")]], TWO),
    "interleaved": (
        [[part(0, "look", "", "a")], [part(1, "look", "", "b")], [part(0, None, '{"at":'), part(1, None, '{"at":"ba')],
         [part(1, None, 'rn"}')], [part(0, None, '"shed"}')]],
        TWO,
    ),
    "name in two": ([[part(0, "lo", "", "a")], [part(0, "ok")], [part(0, None, SHED)]], ONE),
    "no index": ([[part(None, "look", "", "a")], [part(None, None, SHED)], [part(None, "look", BARN, "b")]], TWO),
    "no index and no id": ([[part(None, "look", SHED), part(None, "look", BARN)]], TWO),
    "empty id and name": ([[part(0, "look", "", "a")], [part(0, "", SHED, "")]], ONE),
    "index as text": ([[part("0", "look", "", "a")], [part("0", None, SHED)], [part("1", "look", BARN, "b")]], TWO),
    "arguments before the name": ([[part(0, None, SHED, "a")], [part(0, "look")]], ONE),
    "no arguments": ([[part(0, "look", "{}", "a")], [part(1, "look", "{}", "b")]], [("look", {}), ("look", {})]),
    "braces in a text": ([[part(0, "look", '{"at":"}', "a")], [part(0, None, '{"}')]], [("look", {"at": "}{"})]),
    "a list of objects": ([[part(0, "look", '{"at":[{}', "a")], [part(0, None, ',{"b":1}]}')]], [("look", {"at": [{}, {"b": 1}]})]),
}  # fmt: skip
REPAIRED: dict[str, tuple[list[list[dict[str, Any]]], list[Any]]] = {
    "name repeated": ([[part(0, "look", "", "a")], [part(0, "look", '{"at":', "a")], [part(0, "look", '"shed"}', "a")]], ONE),
    "name so far": ([[part(0, "lo", "", "a")], [part(0, "look")], [part(0, None, SHED)]], ONE),
    "an id for every fragment": ([[part(0, "look", "", "a")], [part(0, None, '{"at":', "b")], [part(0, None, '"shed"}', "c")]], ONE),
    "one index for all": ([[part(0, "look", SHED, "a")], [part(0, "look", BARN, "b")]], TWO),
    "one index for all, no ids": ([[part(0, "look", SHED)], [part(0, "look", BARN)]], TWO),
    "an index for every fragment": ([[part(0, "look", "", "a")], [part(1, None, '{"at":')], [part(2, None, '"shed"}')]], ONE),
    "an index for every fragment, one id": ([[part(0, "look", "", "a")], [part(1, None, SHED, "a")]], ONE),
    "empty first": ([[part(0, "look", "{}", "a")], [part(0, "look", SHED)]], ONE),
    "in full at the end": ([[part(0, "look", '{"at":', "a")], [part(0, None, '"shed"}')], [part(0, None, '{"at": "shed"}')]], ONE),
    "in full at the end, in pieces": ([[part(0, "look", SHED, "a")], [part(0, None, '{"at":')], [part(0, None, '"shed"}')]], ONE),
    "two in one text": ([[part(0, "look", SHED + BARN, "a")]], TWO),
    "two in one text, cut elsewhere": ([[part(0, "look", SHED[:5], "a")], [part(0, None, SHED[5:] + " " + BARN[:4])], [part(0, None, BARN[4:])]], TWO),
    "an object": ([[part(0, "look", {"at": "shed"}, "a")]], ONE),
}  # fmt: skip


@pytest.mark.parametrize("shape", [*FITTING, *REPAIRED])
def test_fragments_make_the_calls_that_were_meant(shape: str) -> None:
    lists, expected = (FITTING | REPAIRED)[shape]
    wire = [
        chunk({"role": "assistant", "content": None}),
        *(chunk({"tool_calls": one}) for one in lists),
        chunk({}, "tool_calls"),
    ]
    events, response, report = read("openai-chat", [*wire, "[DONE]"])
    assert_legal(events)
    assert calls_of(response) == expected
    assert {entry.code for entry in report.entries} == ({"STM004"} if shape in REPAIRED else set())
    # The deltas of a block are its arguments, whatever the provider sent.
    for event in events:
        if type(event) is BlockStop:
            deltas = [one.text for one in events if type(one) is ArgumentsDelta and one.index == event.index]
            assert "".join(deltas) == event.block.arguments  # type: ignore[union-attr]
    # And a client that takes one block after the other gets them so.
    writer = sendable.StreamWriter("anthropic")
    _, shown, _ = read("anthropic", [sent.data for event in events for sent in writer.feed(event)])
    assert calls_of(shown) == expected
    assert all(call.id for call in shown.calls)


@pytest.mark.parametrize("shape", [*FITTING, *REPAIRED])
def test_fragments_that_are_cut_anywhere_make_legal_streams(shape: str) -> None:
    lists, _ = (FITTING | REPAIRED)[shape]
    for last in range(len(lists) + 1):
        events, response, _ = read("openai-chat", [chunk({"tool_calls": one}) for one in lists[:last]])
        assert_legal(events)
        assert response.stop.reason == "cut"


def test_a_call_ends_when_it_is_whole_and_the_next_one_begins() -> None:
    reader = sendable.StreamReader("openai-chat")
    lists = FITTING["parallel"][0]
    events = [event for one in lists for event in reader.feed(chunk({"tool_calls": one}))]
    assert [event.index for event in events if type(event) is BlockStop] == [0]


def test_the_legacy_function_call_in_pieces() -> None:
    wire = [
        chunk({"role": "assistant", "function_call": {"name": "look", "arguments": ""}}),
        chunk({"function_call": {"arguments": '{"at":'}}),
        chunk({"function_call": {"arguments": '"shed"}'}}),
        chunk({}, "function_call"),
    ]
    events, response, report = read("openai-chat", wire)
    assert_legal(events)
    assert not report.entries
    assert calls_of(response) == ONE
    assert response.stop.reason == "tool_calls"
    assert response.body["choices"][0]["message"]["function_call"] == {"name": "look", "arguments": SHED}


@pytest.mark.parametrize("where", ["last", "extra", "choice", "nowhere"])
def test_usage_wherever_it_stands(where: str) -> None:
    usage = {"prompt_tokens": 3, "completion_tokens": 2, "total_tokens": 5}
    end = chunk({}, "stop")
    wire: list[Any] = [chunk({"role": "assistant", "content": "Here."}), end]
    if where == "last":
        end["usage"] = usage
    elif where == "choice":
        end["choices"][0]["usage"] = usage
    elif where == "extra":
        wire.append(chunk(None, usage=usage))
    events, response, report = read("openai-chat", [*wire, "[DONE]"])
    assert_legal(events)
    assert not report.entries
    assert text_of(response) == "Here."
    assert (response.usage.input, response.usage.output) == ((None, None) if where == "nowhere" else (3, 2))


def test_further_choices_are_kept_and_reported() -> None:
    answer = copy.deepcopy(CHAT.answer)
    answer["choices"].append({"index": 1, "message": {"role": "assistant", "content": "No."}, "finish_reason": "stop"})
    response = sendable.read_response(answer)
    assert [(entry.code, entry.verb, entry.path) for entry in response.report.entries] == [
        ("RSP005", "drop", "choices[1]")
    ]


@pytest.mark.parametrize(
    ("model", "strict", "expected"),
    [("gpt-5.6", True, "constrained"), ("gpt-5.6", False, "unconstrained"), ("deepseek-chat", True, "unknown")],
)
def test_what_arguments_are_worth(model: str, strict: bool, expected: str) -> None:
    request = copy.deepcopy(CHAT.request)
    request["model"], request["tools"][0]["function"]["strict"] = model, strict
    response = sendable.read_response(copy.deepcopy(CHAT.answer), request=request)
    assert {call.decoding for call in response.calls} == {expected}
