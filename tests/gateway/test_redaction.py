"""Redaction: what goes up, what comes down, and that neither breaks ids or JSON, whole and in streams cut anywhere."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sendable.gateway.config import Redaction as Rule
from sendable.gateway.errors import Refused
from sendable.gateway.redaction import Redaction, Restore, _aws_frame
from sendable.gateway.streaming import AwsFrames, Frames

EMAIL = Rule("email", r"[a-z]+@[a-z]+\.org")
QUOTED = Rule("note", r"<<[^>]*>>")
"""Finds what is hard to put back: quotes, backslashes, line ends, letters of any kind."""

SECRET = "ann@example.org"
AWKWARD = '<<a "b" \\ \n ü ☃>>'


def up(body: Any, *rules: Rule) -> tuple[Any, Restore]:
    data, restore = Redaction(rules or (EMAIL, QUOTED)).up(json.dumps(body, ensure_ascii=False).encode())
    assert restore is not None
    return json.loads(data), restore


def only(restore: Restore) -> str:
    (placeholder,) = restore.values
    return placeholder


# --- up ------------------------------------------------------------------------------------------------------------------

PLACES: dict[str, Any] = {
    "Chat, string": {"messages": [{"role": "user", "content": "mail X now"}]},
    "Chat, parts": {"messages": [{"role": "user", "content": [{"type": "text", "text": "mail X now"}]}]},
    "Chat, result": {"messages": [{"role": "tool", "tool_call_id": "c", "content": "X"}]},
    "Chat, reasoning": {"messages": [{"role": "assistant", "reasoning_content": "X"}]},
    "Messages, system": {"system": "X", "messages": []},
    "Messages, call": {"messages": [{"role": "assistant", "content": [{"type": "tool_use", "id": "t", "name": "n", "input": {"to": ["X"]}}]}]},
    "Messages, result": {"messages": [{"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t", "content": [{"type": "text", "text": "X"}]}]}]},
    "Messages, plain document": {"messages": [{"role": "user", "content": [{"type": "document", "source": {"type": "text", "media_type": "text/plain", "data": "X"}}]}]},
    "Responses, string": {"input": "X"},
    "Responses, instructions": {"instructions": "X", "input": []},
    "Responses, message": {"input": [{"type": "message", "role": "user", "content": [{"type": "input_text", "text": "X"}]}]},
    "Responses, output": {"input": [{"type": "function_call_output", "call_id": "c", "output": "X"}]},
    "Responses, output parts": {"input": [{"type": "function_call_output", "call_id": "c", "output": [{"type": "input_text", "text": "X"}]}]},
    "Responses, custom input": {"input": [{"type": "custom_tool_call", "call_id": "c", "name": "n", "input": "X"}]},
    "Gemini, part": {"contents": [{"role": "user", "parts": [{"text": "X"}]}]},
    "Gemini, system": {"systemInstruction": {"parts": [{"text": "X"}]}, "contents": []},
    "Gemini, call": {"contents": [{"role": "model", "parts": [{"functionCall": {"name": "n", "args": {"to": "X"}}, "thoughtSignature": "c2ln"}]}]},
    "Gemini, result": {"contents": [{"role": "user", "parts": [{"functionResponse": {"name": "n", "response": {"rows": [{"mail": "X"}]}}}]}]},
    "Converse, call": {"messages": [{"role": "assistant", "content": [{"toolUse": {"toolUseId": "t", "name": "n", "input": {"to": "X"}}}]}]},
    "Converse, result": {"messages": [{"role": "user", "content": [{"toolResult": {"toolUseId": "t", "content": [{"json": {"to": "X"}}]}}]}]},
}  # fmt: skip


@pytest.mark.parametrize("secret", [SECRET, AWKWARD])
@pytest.mark.parametrize("place", PLACES)
def test_each_place_of_text_is_hidden_and_comes_back(place: str, secret: str) -> None:
    plain = json.dumps(PLACES[place])
    body = json.loads(plain.replace("X", json.dumps(secret)[1:-1]))
    hidden, restore = up(body)
    assert hidden == json.loads(plain.replace("X", only(restore)))
    assert json.loads(restore.down(json.dumps(hidden).encode())) == body


@pytest.mark.parametrize("secret", [SECRET, AWKWARD])
def test_arguments_that_are_text_stay_json(secret: str) -> None:
    arguments = json.dumps({"n": 1, "to": [secret], "s": "x"})
    body = {
        "messages": [
            {"role": "assistant", "tool_calls": [{"id": "c", "function": {"name": "n", "arguments": arguments}}]}
        ]
    }
    hidden, restore = up(body)
    inside = hidden["messages"][0]["tool_calls"][0]["function"]["arguments"]
    assert json.loads(inside) == {"n": 1, "to": [only(restore)], "s": "x"}
    back = json.loads(restore.down(json.dumps(hidden).encode()))["messages"][0]["tool_calls"][0]["function"][
        "arguments"
    ]
    assert json.loads(back) == json.loads(arguments)


def test_a_greedy_pattern_stays_inside_a_string_of_the_arguments() -> None:
    body = {"messages": [{"role": "assistant", "tool_calls": [{"function": {"arguments": '{"a":"key=1","b":"x"}'}}]}]}
    hidden, restore = up(body, Rule("rest", "key=.*"))
    assert hidden["messages"][0]["tool_calls"][0]["function"]["arguments"] == f'{{"a":"{only(restore)}","b":"x"}}'


def test_arguments_that_are_no_json_are_text() -> None:
    body = {"messages": [{"role": "assistant", "tool_calls": [{"function": {"arguments": '{"to":"ann@example.org'}}]}]}
    hidden, restore = up(body)
    assert hidden["messages"][0]["tool_calls"][0]["function"]["arguments"] == f'{{"to":"{only(restore)}'


ANYTHING = Rule("all", r"[a-z0-9_@.]+")


def test_ids_names_signatures_media_and_definitions_stay() -> None:
    body = {
        "model": "gpt", "stream": True, "user": "abc", "metadata": {"user_id": "abc"}, "stop": ["abc"],
        "tools": [{"type": "function", "function": {"name": "abc", "description": "abc", "parameters": {"properties": {"text": {"const": "abc"}}}}}],
        "messages": [
            {"role": "assistant", "content": [
                {"type": "redacted_thinking", "data": "abc"},
                {"type": "tool_use", "id": "abc", "name": "abc", "input": {"abc": 12}},
            ]},
            {"role": "user", "content": [
                {"type": "tool_result", "tool_use_id": "abc", "content": "HIDE ME ok"},
                {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "abc"}},
                {"type": "image_url", "image_url": {"url": "https://abc"}},
            ]},
        ],
    }  # fmt: skip
    hidden, restore = up(body, ANYTHING)
    expected = json.loads(json.dumps(body))
    expected["messages"][1]["content"][0]["content"] = f"HIDE ME {only(restore)}"
    assert hidden == expected


def test_bytes_in_which_nothing_is_found_are_the_same_object() -> None:
    data = b'{ "messages" : [ {"role":"user", "content":"1.0"} ], "n": 1.00 }'
    assert Redaction((EMAIL,)).up(data) == (data, None)


def test_bytes_around_what_is_found_keep_their_spelling() -> None:
    data = b'{"messages":[{"role":"user","content":"ann@example.org"},{"x":1.00, "y" : 1e2,"content":"\\u00fc"}],"n":12345678901234567890123}'
    hidden, restore = Redaction((EMAIL,)).up(data)
    assert restore is not None
    assert hidden == data.replace(b"ann@example.org", only(restore).encode())
    assert restore.down(hidden) == data


def test_the_same_value_has_the_same_placeholder_in_every_turn() -> None:
    redaction = Redaction((EMAIL,))
    first, _ = redaction.up(b'{"messages":[{"role":"user","content":"ann@example.org"}]}')
    second, _ = redaction.up(b'{"messages":[{"role":"user","content":"bob@example.org or ann@example.org"}]}')
    assert json.loads(first)["messages"][0]["content"] == json.loads(second)["messages"][0]["content"].split(" or ")[1]


def test_the_earliest_rule_wins_and_nothing_is_hidden_twice() -> None:
    hidden, restore = up({"input": "ann@example.org"}, EMAIL, Rule("word", "[a-z]+"))
    assert hidden == {"input": only(restore)}
    again, _ = Redaction((Rule("word", "[a-z]+"),)).up(json.dumps(hidden).encode())
    assert json.loads(again) == hidden


def signed(text: str) -> dict[str, Any]:
    return {"role": "assistant", "content": [{"type": "thinking", "thinking": text, "signature": "c2ln"}]}


def test_signed_reasoning_goes_back_as_it_was_written() -> None:
    user = {"role": "user", "content": "mail ann@example.org"}
    hidden, restore = up({"messages": [user, signed("ann@example.org, not made@up.org")]})
    assert hidden["messages"][1] == signed(f"{only(restore)}, not made@up.org")


def test_what_was_hidden_once_stays_hidden_when_only_reasoning_is_left_of_it() -> None:
    redaction = Redaction((EMAIL,))
    redaction.up(b'{"messages":[{"role":"user","content":"ann@example.org"}]}')
    data, _ = redaction.up(json.dumps({"messages": [signed("ann@example.org")]}).encode())
    assert b"ann@" not in data


@pytest.mark.parametrize(
    ("data", "code"),
    [
        (b'{"messages":[{"role":"user","content":"ann@example.org","content":"x"}]}', "duplicate_key"),
        (b'{"messages":[{"role":"user","content":"ann@example.org"}', "invalid_json"),
        (b"\xff\xfe\x00ann@example.org", "invalid_json"),
    ],
)
def test_nothing_goes_around_the_rules(data: bytes, code: str) -> None:
    with pytest.raises(Refused) as refused:
        Redaction((EMAIL,)).up(data)
    assert (refused.value.status, refused.value.code) == (400, code)


@pytest.mark.parametrize("other", ['"\\ud800"', "NaN", '"\\udc00 ann@example.org"'])
def test_what_only_a_lenient_parser_reads_hides_nothing(other: str) -> None:
    data = (
        f'{{"messages":[{{"role":"user","content":"ann@example.org"}},{{"role":"user","content":{other}}}]}}'.encode()
    )
    hidden, restore = Redaction((EMAIL,)).up(data)
    assert b"ann@" not in hidden
    assert restore is not None
    json.loads(hidden)


# --- down ----------------------------------------------------------------------------------------------------------------


def test_an_answer_without_placeholder_is_the_same_object() -> None:
    data = b'{ "choices": [ ] }'
    assert Restore({"[email-aaaaaaaa]": SECRET}).down(data) is data


def test_text_that_shall_be_json_stays_json() -> None:
    wanted = {"response_format": {"type": "json_object"}, "messages": [{"role": "user", "content": AWKWARD}]}
    _, restore = up(wanted)
    content = json.dumps({"note": only(restore)})
    back = json.loads(restore.down(json.dumps({"choices": [{"message": {"content": content}}]}).encode()))
    assert json.loads(back["choices"][0]["message"]["content"]) == {"note": AWKWARD}


def test_a_placeholder_of_another_request_is_text() -> None:
    _, restore = up({"input": SECRET})
    data = b'{"output":"[email-zzzzzzzz]"}'
    assert restore.down(data) == data


# --- streams -------------------------------------------------------------------------------------------------------------


def chat(kind: str, piece: str | None) -> tuple[str | None, Any]:
    if piece is None:
        return None, {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}
    delta = {"content": piece} if kind == "text" else {"tool_calls": [{"index": 0, "function": {"arguments": piece}}]}
    return None, {"choices": [{"index": 0, "delta": delta, "finish_reason": None}], "usage": None}


def responses(kind: str, piece: str | None) -> tuple[str | None, Any]:
    event = "response.output_text" if kind == "text" else "response.function_call_arguments"
    name = f"{event}.{'done' if piece is None else 'delta'}"
    return name, {
        "type": name,
        "output_index": 0,
        "content_index": 0,
        "sequence_number": 7,
        **({} if piece is None else {"delta": piece}),
    }


def anthropic(kind: str, piece: str | None) -> tuple[str | None, Any]:
    if piece is None:
        return "content_block_stop", {"type": "content_block_stop", "index": 1}
    delta = (
        {"type": "text_delta", "text": piece} if kind == "text" else {"type": "input_json_delta", "partial_json": piece}
    )
    return "content_block_delta", {"type": "content_block_delta", "index": 1, "delta": delta}


def gemini(kind: str, piece: str | None) -> tuple[str | None, Any]:
    if piece is None:
        return None, {
            "candidates": [
                {"content": {"parts": [{"functionCall": {"name": "n", "args": {}}}]}, "finishReason": "STOP"}
            ]
        }
    return None, {"candidates": [{"content": {"role": "model", "parts": [{"text": piece}]}}]}


def converse(kind: str, piece: str | None) -> tuple[str | None, Any]:
    if piece is None:
        return "contentBlockStop", {"contentBlockIndex": 0}
    return "contentBlockDelta", {
        "contentBlockIndex": 0,
        "delta": {"text": piece} if kind == "text" else {"toolUse": {"input": piece}},
    }


DIALECTS = {
    "openai-chat": chat,
    "openai-responses": responses,
    "anthropic": anthropic,
    "gemini": gemini,
    "bedrock-converse": converse,
}


def wire(dialect: str, event: tuple[str | None, Any]) -> bytes:
    name, data = event
    payload = json.dumps(data).encode()
    if dialect == "bedrock-converse":
        header = b"\x0b:event-type\x07" + len(name or "").to_bytes(2, "big") + (name or "").encode()
        return _aws_frame(header, payload)
    return (f"event: {name}\r\n".encode() if name else b"") + b"data: " + payload + b"\r\n\r\n"


def pieces_of(dialect: str, kind: str, data: bytes) -> str:
    """All text of that kind in a stream, up to the event that ends it."""
    frames = AwsFrames() if dialect == "bedrock-converse" else Frames()
    text = ""
    end = json.dumps(DIALECTS[dialect](kind, None)[1])
    for frame in frames.feed(data):
        event = json.loads(frame.data)
        if {**event, "sequence_number": 7} == {**json.loads(end), "sequence_number": 7}:
            return text
        found = [event]
        while found:
            node = found.pop()
            if isinstance(node, list):
                found += node
            elif isinstance(node, dict):
                for key, value in node.items():
                    if key in ("text", "content", "delta", "partial_json", "arguments", "input") and isinstance(
                        value, str
                    ):
                        text += value
                    else:
                        found.append(value)
    raise AssertionError("the end of the block did not come")


def cuts(draw: Any, whole: Any) -> list[Any]:
    """The whole in pieces, in order; some may be empty."""
    places = sorted(draw(st.lists(st.integers(0, len(whole)), max_size=12)))
    return [whole[a:b] for a, b in zip([0, *places], [*places, len(whole)], strict=True)]


@pytest.mark.parametrize("dialect", DIALECTS)
@given(st.data())
def test_a_stream_cut_anywhere_restores_the_same_text(dialect: str, data: st.DataObject) -> None:
    values = {"[email-abcdefgh]": SECRET, "[note-qrstuvwx]": AWKWARD, "[email-abcdefgz]": "e@f.org"}
    parts = data.draw(
        st.lists(st.sampled_from([*values, "[", "]", "[email-", "[note-abcdefgh]", " x ", "ü"]), max_size=8)
    )
    kind = "text" if dialect == "gemini" else data.draw(st.sampled_from(["text", "json"]))
    text = "".join(parts)
    said = json.dumps({"v": text}, ensure_ascii=False) if kind == "json" else text
    events = [DIALECTS[dialect](kind, piece) for piece in cuts(data.draw, said)] + [DIALECTS[dialect](kind, None)]
    stream = Restore(values).stream(dialect)
    given = b"".join([wire(dialect, event) for event in events])
    got = b"".join([*(stream.feed(chunk) for chunk in cuts(data.draw, given)), stream.close()])
    shown = pieces_of(dialect, kind, got)
    expected = Restore(values).text(text)
    assert (json.loads(shown)["v"] if kind == "json" else shown) == expected
    if expected == said:
        assert got == given or "[" in said


def test_a_stream_without_placeholder_is_the_same_bytes_at_once() -> None:
    stream = Restore({"[email-abcdefgh]": SECRET}).stream("anthropic")
    frame = wire("anthropic", anthropic("text", "a [b] c"))
    assert stream.feed(b": comment\n\n" + frame) == b": comment\n\n" + frame
    assert stream.close() == b""


def test_what_waits_at_the_end_of_a_cut_stream_is_not_lost() -> None:
    stream = Restore({"[email-abcdefgh]": SECRET}).stream("openai-chat")
    first = stream.feed(wire("openai-chat", chat("text", "a [ema")))
    last = stream.close()
    assert b'"a "' in first
    assert b'"[ema"' in last


def test_a_late_piece_names_its_call_only_once_and_numbers_stay_in_order() -> None:
    begun = {
        "choices": [
            {
                "index": 0,
                "delta": {"tool_calls": [{"index": 0, "id": "c", "function": {"name": "n", "arguments": '{"a":"['}}]},
            }
        ]
    }
    stream = Restore({"[email-abcdefgh]": SECRET}).stream("openai-chat")
    got = stream.feed(wire("openai-chat", (None, begun)) + wire("openai-chat", chat("json", None)))
    assert got.count(b'"name"') == 1
    assert got.count(b'"id"') == 1
    numbered = Restore({"[email-abcdefgh]": SECRET}).stream("openai-responses")
    delta, done = responses("text", "["), responses("text", None)
    done[1]["sequence_number"] = 8
    frames = Frames().feed(numbered.feed(wire("openai-responses", delta) + wire("openai-responses", done)))
    assert [json.loads(frame.data)["sequence_number"] for frame in frames] == [7, 8, 9]


# --- both ways -----------------------------------------------------------------------------------------------------------

words = st.sampled_from([SECRET, "bob@example.org", AWKWARD, "<<>>", "plain", '"', "\\", "\n", "[email-abcdefgh]", "☃"])
texts = st.lists(words, max_size=5).map("".join)
leaves: st.SearchStrategy[Any] = st.none() | st.booleans() | st.integers() | texts
values = st.recursive(
    leaves, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3), max_leaves=8
)
objects = st.dictionaries(texts, values, max_size=3)
messages = st.one_of(
    st.fixed_dictionaries({"role": st.just("user"), "content": texts}),
    st.fixed_dictionaries({"role": st.just("user"), "content": st.lists(st.fixed_dictionaries({"type": st.just("text"), "text": texts}), max_size=3)}),
    st.fixed_dictionaries({"role": st.just("assistant"), "content": st.lists(
        st.fixed_dictionaries({"type": st.just("tool_use"), "id": words, "name": words, "input": objects}), max_size=3)}),
    st.fixed_dictionaries({"role": st.just("assistant"), "tool_calls": st.lists(st.fixed_dictionaries({
        "id": words, "function": st.fixed_dictionaries({"name": words, "arguments": objects.map(json.dumps) | texts})}), max_size=3)}),
    st.fixed_dictionaries({"role": st.just("tool"), "tool_call_id": words, "content": texts}),
)  # fmt: skip


def skeleton(value: Any, key: str = "") -> Any:
    """What must not change on the way up: everything but text and arguments."""
    if isinstance(value, dict):
        return {
            k: skeleton(v, k)
            for k, v in value.items()
            if k not in ("input", "arguments", "content") or not isinstance(v, str | dict)
        }
    return [skeleton(item, key) for item in value] if isinstance(value, list) else "" if key == "text" else value


@given(st.lists(messages, max_size=4))
def test_up_changes_nothing_but_text_and_down_gives_it_all_back(history: list[Any]) -> None:
    body = {"model": SECRET, "messages": history}
    data, restore = Redaction((EMAIL, QUOTED)).up(json.dumps(body).encode())
    hidden = json.loads(data)
    assert skeleton(hidden) == skeleton(body)
    if restore is None:
        assert hidden == body
        return
    back = json.loads(restore.down(data))
    for message in (m for one in (back, body) for m in one["messages"]):
        for call in message.get("tool_calls", ()):
            arguments = call["function"]["arguments"]
            try:
                call["function"]["arguments"] = json.loads(arguments)
            except ValueError:
                # Text that is no JSON is restored as if it were: what was a quote in it may have got a backslash.
                call["function"]["arguments"] = None
    assert back == body
