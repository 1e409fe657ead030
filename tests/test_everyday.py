"""What is read in one pass over the bytes is what is read of the same history as objects of leaves, message by message."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sendable import everyday, normalize_json, payload
from sendable.conversation import UNPAIRED, Conversation
from sendable.dialects.bedrock import BEDROCK
from sendable.dialects.gemini import GEMINI
from sendable.dialects.gemini.read import read_content as read_gemini
from sendable.reading import read
from sendable.report import REPAIR, Ledger, Original
from sendable.rules.pairing import pair
from sendable.survey import survey
from sendable.targets import DIALECTS
from tests.laws import histories
from tests.laws.leaves import Planted

HOMES = ("openai-chat", "anthropic", "flat", "gemini")


def spelled(value: Any) -> Any:
    """A node with everything in it as ordinary values, so that text in bytes and text as such are one."""
    if isinstance(value, msgspec.Raw):
        return payload.plain(value)
    if isinstance(value, msgspec.Struct):
        return (
            type(value).__name__,
            *[spelled(getattr(value, name)) for name in value.__struct_fields__ if name != "holds"],
        )
    if isinstance(value, list | tuple):
        return [spelled(inner) for inner in value]
    if isinstance(value, dict):
        return {key: spelled(inner) for key, inner in value.items()}
    return value


def both(data: bytes, home: str) -> tuple[Conversation, Conversation, Ledger, Ledger] | None:
    """The conversation as it is read in one pass, and as it is read otherwise; None where the first is not possible."""
    found = everyday.decoded(data)
    if found is None:
        return None
    ledgers = Ledger(REPAIR, Original(data)), Ledger(REPAIR, Original(data))
    try:
        one = read(found, DIALECTS[home], tuple(DIALECTS.values()), ledgers[0], framed=True)
    except payload.NotFramed:
        return None
    other = read(payload.framed(data), DIALECTS[home], tuple(DIALECTS.values()), ledgers[1], framed=True)
    return one, other, *ledgers


def alike(data: bytes, home: str) -> bool:
    """Whether the history was read in one pass; then it must have been read right."""
    found = both(data, home)
    if found is None:
        return False
    one, other, first, second = found
    assert spelled(one) == spelled(other)
    assert len(first) == len(second)
    # What is known beforehand is what a look at the messages says, but that calls in lists of content may not be known to be paired.
    seen = survey(other.messages)
    assert one.holds is not None
    assert one.holds | UNPAIRED == seen | UNPAIRED
    assert one.holds & UNPAIRED >= seen & UNPAIRED
    return True


@pytest.mark.parametrize("home", HOMES)
@pytest.mark.parametrize("source", ["openai-chat", "anthropic", "flat"])
def test_histories_are_read_alike(source: str, home: str) -> None:
    @given(st.one_of(histories.clean(source), histories.sturdy(source)), st.booleans(), st.booleans())
    def law(planted: Planted, blanks: bool, escaped: bool) -> None:
        try:
            text = json.dumps(
                planted.value, separators=None if blanks else (",", ":"), ensure_ascii=escaped, allow_nan=False
            )
            data = text.encode()
        except (ValueError, UnicodeEncodeError):
            return
        alike(data, home)

    law()


PLAIN = {
    "gemini": msgspec.structs.replace(GEMINI, read_entry=read_gemini),
    "bedrock-converse": msgspec.structs.replace(BEDROCK, read_list=None),
}
"""The dialects that read a list in one pass, as they are without it."""


def as_plain(data: bytes, home: str) -> bool:
    """Whether a body is read in one pass as it is read otherwise; false where a fault in it is for the slow path."""
    first, second = Ledger(REPAIR, Original(data)), Ledger(REPAIR, Original(data))
    plain = {**DIALECTS, home: PLAIN[home]}
    try:
        one = read(payload.framed(data), DIALECTS[home], tuple(DIALECTS.values()), first, framed=True)
        other = read(payload.framed(data), plain[home], tuple(plain.values()), second, framed=True)
    except payload.NotFramed:
        return False
    assert spelled(one) == spelled(other)
    assert len(first) == len(second)
    return True


@pytest.mark.parametrize("home", PLAIN)
def test_contents_are_read_alike(home: str) -> None:
    @given(st.one_of(histories.clean(home), histories.sturdy(home), histories.sturdy("mixed")), st.booleans())
    def law(planted: Planted, blanks: bool) -> None:
        try:
            data = json.dumps(planted.value, separators=None if blanks else (",", ":"), allow_nan=False).encode()
        except (ValueError, UnicodeEncodeError):
            return
        as_plain(data, home)

    law()


TWICE = '{"text":"x","text":"y"}'
LISTS = {
    "gemini": [
        '{"text":"x"}',
        '{"text":""}',
        '{"text":7}',
        '{"text":"x","thought":true}',
        TWICE,
        '{"functionCall":{"name":"f","args":{"a":1}}}',
        '{"functionCall":{"name":"f","args":null}}',
        '{"functionCall":{"name":"f"}}',
        '{"functionCall":{"name":"f","args":{},"id":"a"}}',
        '{"functionCall":{"name":"f","args":{},"id":" "}}',
        '{"functionCall":{"name":"f","args":{},"id":null}}',
        '{"functionCall":{"name":"f","args":{},"call_id":"a"}}',
        '{"functionCall":{"name":"f","args":{}},"thoughtSignature":"s"}',
        '{"functionCall":{"name":"f","args":{}},"text":"x"}',
        '{"functionCall":null,"text":"x"}',
        '{"functionResponse":{"name":"f","response":{"output":"x"}}}',
        '{"functionResponse":{"name":"f","response":{"error":"x"},"id":"a"}}',
        '{"functionResponse":{"name":"f","response":{"a":1,"b":[2]}}}',
        '{"functionResponse":{"name":"f","response":{}}}',
        '{"functionResponse":{"name":"f","response":"x"}}',
        '{"functionResponse":{"name":"f","response":null}}',
        "{}",
        "7",
    ],
    "bedrock-converse": [
        '{"text":"x"}',
        '{"text":""}',
        '{"text":null}',
        TWICE,
        '{"toolUse":{"toolUseId":"a","name":"f","input":{"a":1}}}',
        '{"toolUse":{"toolUseId":" ","name":"f","input":{}}}',
        '{"toolUse":{"toolUseId":"a","name":"f","input":null}}',
        '{"toolUse":{"toolUseId":"a","name":"f","input":{},"type":"server_tool_use"}}',
        '{"toolUse":{"toolUseId":"a","name":"f","input":{}},"text":"x"}',
        '{"toolResult":{"toolUseId":"a","content":[{"text":"x"}]}}',
        '{"toolResult":{"toolUseId":"a","content":[{"text":"x"},{"text":"y"}],"status":"error"}}',
        '{"toolResult":{"toolUseId":"a","content":[],"status":"success"}}',
        '{"toolResult":{"toolUseId":"a","content":[{"json":{"a":1}}]}}',
        '{"toolResult":{"toolUseId":"a","content":[{"text":7}]}}',
        '{"toolResult":{"toolUseId":"a","content":[{"text":"x"}],"status":"odd"}}',
        '{"cachePoint":{"type":"default"}}',
        "{}",
        '"x"',
    ],
}


@pytest.mark.parametrize(("home", "part"), [(home, part) for home, parts in LISTS.items() for part in parts])
@pytest.mark.parametrize("role", ["user", "model", "assistant"])
def test_parts_are_read_alike(home: str, part: str, role: str) -> None:
    key, inner = ("contents", "parts") if home == "gemini" else ("messages", "content")
    for listed in (f"[{part}]", f'[{{"text":"before"}},{part}]'):
        compact = f'{{"{key}":[{{"role":"{role}","{inner}":{listed}}}]}}'
        assert as_plain(compact.encode(), home) or part == TWICE
        if part != TWICE:
            assert as_plain(json.dumps(json.loads(compact)).encode(), home)


CALLS = '"tool_calls":[{"id":"c1","type":"function","function":{"name":"f","arguments":"{}"}}]'
ESCAPED, QUOTED = r"c\/1", '"c1"'
RESULT = '{"role":"tool","tool_call_id":"c1","content":"done"}'
ASKED = '{"role":"user","content":"q"}'
USE = '{"role":"assistant","content":[{"type":"thinking","thinking":"t","signature":"s"},{"type":"text","text":"x"},{"type":"tool_use","id":"c1","name":"f","input":{"a":1}}]}'
USED = '{"role":"user","content":[{"type":"tool_result","tool_use_id":"c1","content":"done","is_error":true},{"type":"text","text":"y"}]}'
TOOLS = '"tools":[{"type":"function","function":{"name":"f","description":"d","parameters":{"type":"object"},"strict":true}}]'

EVERYDAY = {
    "chat": f'[{{"role":"system","content":"s"}},{ASKED},{{"role":"assistant","content":null,{CALLS}}},{RESULT},{ASKED}]',
    "chat body": f'{{"model":"m","messages":[{ASKED},{{"role":"assistant","content":"x",{CALLS}}},{RESULT}],{TOOLS}}}',
    "developer": f'[{{"role":"developer","content":"s"}},{ASKED}]',
    "a list of parts": '[{"role":"user","content":[{"type":"text","text":"x"},{"type":"image_url","image_url":{"url":"data:image/png;base64,iVBORw0KGgo="}}]}]',
    "messages": f'{{"system":"s","max_tokens":1,"messages":[{ASKED},{USE},{USED}],"tools":[{{"name":"f","input_schema":{{}}}}]}}',
    "results in a list": f'{{"system":"s","messages":[{ASKED},{USE},{{"role":"user","content":[{{"type":"tool_result","tool_use_id":"c1","content":[{{"type":"text","text":"x"}}]}}]}}]}}',
    "unanswered": f'[{ASKED},{{"role":"assistant","content":"x",{CALLS}}},{ASKED}]',
    "an orphan": f"[{ASKED},{RESULT},{ASKED}]",
    "an id twice": f'[{ASKED},{{"role":"assistant","content":"x",{CALLS}}},{RESULT},{{"role":"assistant","content":"x",{CALLS}}},{RESULT}]',
    "a system message between": f'[{ASKED},{{"role":"assistant","content":"x",{CALLS}}},{{"role":"system","content":"s"}},{RESULT}]',
    "a blank id": f'[{ASKED},{{"role":"assistant","content":"",{CALLS.replace("c1", " ")}}},{ASKED}]',
    "an empty list of calls": f'[{ASKED},{{"role":"assistant","content":"x","tool_calls":[]}},{ASKED}]',
    "content that is a number": '[{"role":"user","content":5},{"role":"assistant","content":{"a":1}},{"role":"tool","tool_call_id":"x","content":["a"]}]',
}


@pytest.mark.parametrize("home", HOMES)
@pytest.mark.parametrize("name", EVERYDAY)
def test_everyday_histories_are_read_in_one_pass(name: str, home: str) -> None:
    compact = EVERYDAY[name]
    assert json.dumps(json.loads(compact), separators=(",", ":")) == compact
    assert alike(compact.encode(), home)
    assert alike(json.dumps(json.loads(compact)).encode(), home)


@pytest.mark.parametrize(
    "text",
    [
        f'[{ASKED},{{"role":"assistant","role":"assistant","content":"x"}}]',
        f'[{ASKED},{{"role":"assistant","content":"x","content":"y"}}]',
        f'{{"messages":[{ASKED}],"messages":[{ASKED}]}}',
        f'[{ASKED},{{"role":"assistant","content":"x","name":"n"}}]',
        f'[{ASKED},{{"role":"assistant","content":"x",{CALLS.replace("function", "custom", 1)}}}]',
        f'[{ASKED},{{"role":"assistant","content":"x",{CALLS.replace("c1", ESCAPED)}}}]',
        f'[{ASKED},{{"role":"assistant","content":"x",{CALLS.replace(QUOTED, "7")}}}]',
        f'[{ASKED},{{"role":"assistant","content":"x","tool_calls":null}}]',
        f'[{ASKED},{{"role":"critic","content":"x"}}]',
        f'[{ASKED},{{"role":"assistant"}}]',
        f"[{ASKED},7]",
        json.dumps(json.loads(EVERYDAY["chat"]), indent=1),
    ],
)
def test_what_is_not_everyday_is_read_otherwise(text: str) -> None:
    assert everyday.decoded(text.encode()) is None


@pytest.mark.parametrize(
    "blocks",
    [
        '[{"type":"text","text":"x","text":"y"}]',
        '[{"type":"text","text":"x","cache_control":{"type":"ephemeral"}}]',
        '[{"type":"text","text":7}]',
        '[{"type":"thinking","thinking":"x","signature":" "}]',
        '[{"type":"image","source":{"type":"base64","media_type":"image/png","data":"aa","x":1}}]',
        '[{"type":"tool_use","id":"a","name":"f","input":{"x":1e999}}]',
        '[{"type":"tool_use","id":"a","id":"b","name":"f","input":{}}]',
        '[{"type":"tool_result","tool_use_id":"a","content":null}]',
        '[{"type":"tool_result","tool_use_id":"a","content":"x","is_error":null}]',
        "[]",
        '["x"]',
    ],
)
def test_other_lists_of_content_are_read_alike(blocks: str) -> None:
    data = f'{{"system":"s","messages":[{{"role":"assistant","content":{blocks}}}]}}'.encode()
    found = everyday.decoded(data)
    assert found is not None
    if both(data, "anthropic") is not None:
        assert alike(data, "anthropic")


@pytest.mark.parametrize("source", ["openai-chat", "anthropic", "gemini", "bedrock-converse"])
def test_what_is_known_to_be_paired_is(source: str) -> None:
    """A rule that has nothing to do because of what is known beforehand would do nothing."""

    @given(st.one_of(histories.clean(source), histories.sturdy(source)))
    def law(planted: Planted) -> None:
        ledger = Ledger(REPAIR, Original(planted.value))
        found = read(planted.value, DIALECTS[source], tuple(DIALECTS.values()), ledger)
        if survey(found.messages) & UNPAIRED:
            return
        before = len(ledger)
        for rule in (pair(), pair(repeated="dropped", missing="last"), pair(turn="run"), pair(stands="anywhere")):
            assert rule(found, ledger) is found
        assert len(ledger) == before

    law()


BEYOND = {
    "an argument": ('{"system":"s","messages":[{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"f","input":{"x":%s}}]}]}', "messages[0].content[0].input.x"),
    "an argument beside another block": ('{"system":"s","messages":[{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"f","input":{"x":[1,%s]}},{"type":"odd"}]}]}', "messages[0].content[0].input.x[1]"),
    "a schema": ('{"max_tokens":1,"messages":[{"role":"user","content":"x"}],"tools":[{"name":"f","input_schema":{"maximum":%s}}]}', "tools[0].input_schema.maximum"),
    "a parameter": ('{"temperature":%s,"messages":[{"role":"user","content":"x"}]}', "temperature"),
    "a field of a message": ('[{"role":"user","content":"x","n":%s}]', "messages[0].n"),
    "content": ('[{"role":"user","content":%s},{"role":"user","content":"x"}]', "messages[0].content"),
}  # fmt: skip


@pytest.mark.parametrize("number", ["1e999", "-1E+400", f"1{'0' * 320}.0", "1e0309"])
@pytest.mark.parametrize("name", BEYOND)
def test_a_number_beyond_a_float_is_reported_wherever_it_stands(name: str, number: str) -> None:
    text, param = BEYOND[name]
    result = normalize_json((text % number).encode(), "anthropic")
    assert ("ARG003", param) in [(entry.code, entry.param) for entry in result.report.entries]
    assert number.encode() not in result.data


@pytest.mark.parametrize("number", ["1e308", "-2E+307", "9" * 320, "0.00000000000000000000000012345", "1e-999"])
@pytest.mark.parametrize("name", BEYOND)
def test_a_number_that_is_one_keeps_its_spelling(name: str, number: str) -> None:
    text, _ = BEYOND[name]
    result = normalize_json((text % number).encode(), "anthropic", options={"unknown": "keep"})
    if name not in ("a field of a message", "a parameter"):
        assert number.encode() in result.data
    assert "ARG003" not in result.report.counts


@pytest.mark.parametrize("target", ["anthropic", "gemini", "openai-chat:strict"])
def test_arguments_with_a_number_beyond_a_float_are_no_object(target: str) -> None:
    call = {"id": "c", "type": "function", "function": {"name": "f", "arguments": '{"a": 1e999}'}}
    history = [{"role": "user", "content": "q"}, {"role": "assistant", "content": "", "tool_calls": [call]}]
    report = normalize_json(json.dumps(history).encode(), target).report
    assert [entry.param for entry in report.entries if entry.code == "ARG001"] == [
        "messages[1].tool_calls[0].function.arguments"
    ]
