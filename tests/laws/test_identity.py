"""Promise 5. A history that the target already accepts comes back equal, with an empty report; through `normalize_json` byte for byte."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import sendable
from tests.judges.bench import complaints
from tests.laws import histories
from tests.laws.dialects import DIALECTS
from tests.laws.json_text import message_texts
from tests.laws.leaves import Planted
from tests.laws.verdicts import described


def test_message_texts_reads_the_source_text() -> None:
    body = '{"a" : [1], "messages":[ {"n": 1.50e+1,"k":"\\u00e9"} ,\n{ } ]}'
    assert message_texts(body) == ['{"n": 1.50e+1,"k":"\\u00e9"}', "{ }"]
    assert message_texts('[{"a": [1, {}]}]') == ['{"a": [1, {}]}']
    assert message_texts("[]") == []


@pytest.mark.parametrize("dialect", list(DIALECTS))
def test_what_is_accepted_comes_back_equal_and_unreported(dialect: str) -> None:
    @given(histories.clean(dialect))
    def law(planted: Planted) -> None:
        whole = isinstance(planted.value, dict)
        key = DIALECTS[dialect].list_name
        messages = planted.value[key] if whole else planted.value
        body = messages if dialect == "flat" else planted.value if whole else {key: messages}
        assert complaints(dialect, body, whole=whole) == []
        result = sendable.normalize(planted.value, to=dialect)
        assert described(result.report) == []
        assert result.dropped == 0
        assert result.body == body
        assert repr(result.messages) == repr(messages)  # key order and number types included

    law()


def calls(messages: list[Any]) -> bool:
    """Whether a client call stands in the list: what the dialect of a bare list is known by."""
    blocks = [block for message in messages if isinstance(message.get("content"), list) for block in message["content"]]
    items = [message for message in messages if str(message.get("type")).endswith("_call")]
    parts = [part for message in messages for part in message.get("parts") or ()]
    return (
        any(message.get("tool_calls") for message in messages)
        or bool(items)
        or any(
            block.get("type") == "tool_use" or "toolUse" in block or "functionCall" in block or "function_call" in block
            for block in [*blocks, *parts]
        )
    )


@pytest.mark.parametrize("dialect", list(DIALECTS))
def test_what_is_accepted_is_known_by_its_calls(dialect: str) -> None:
    @given(histories.clean(dialect))
    def law(planted: Planted) -> None:
        assume(isinstance(planted.value, list) and calls(planted.value))
        result = sendable.normalize(planted.value)
        assert described(result.report) == []
        assert result.messages == planted.value

    law()


def respelled(draw: st.DrawFn, value: Any) -> str:
    """The value as JSON text with white space, escapes and number spellings that no serializer would choose."""
    text = json.dumps(value, ensure_ascii=draw(st.booleans()), indent=draw(st.sampled_from([None, 0, 3])))
    text = text.replace(": 2.5", ": 2.50e0").replace('"role"', draw(st.sampled_from(['"role"', '"rol\\u0065"'])))
    return text.replace("user", draw(st.sampled_from(["user", "us\\u0065r"])))


spelled = st.composite(respelled)


@pytest.mark.parametrize("dialect", list(DIALECTS))
def test_what_is_accepted_comes_back_byte_for_byte(dialect: str) -> None:
    @given(histories.clean(dialect), st.data())
    def law(planted: Planted, data: st.DataObject) -> None:
        text = data.draw(spelled(planted.value))
        result = sendable.normalize_json(text.encode(), to=dialect)
        assert described(result.report) == []
        assert result.dropped == 0
        assert message_texts(result.data.decode()) == message_texts(text)
        if isinstance(planted.value, list):
            assert isinstance(json.loads(result.data), list)

    law()
