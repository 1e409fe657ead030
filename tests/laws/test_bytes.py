"""Bytes and objects are one: `normalize_json` gives what `normalize` gives, the report included (design, section 4: leaf payloads)."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given

from tests.laws import histories
from tests.laws.dialects import DIALECTS
from tests.laws.leaves import Planted
from tests.laws.trial import tried, tried_json
from tests.laws.verdicts import described

REPEATED = rb"{\"a\": 1, \"a\""
"""Arguments with a key twice (faults.py): the one thing that bytes can carry on as it is, and objects cannot."""


def strict_text(value: Any) -> bytes | None:
    """The value as JSON that every parser reads, or None if there is none."""
    try:
        return json.dumps(value, allow_nan=False, ensure_ascii=False).encode()
    except (ValueError, UnicodeEncodeError):
        return None


def read(value: Any) -> Any:
    """The tree with JSON texts replaced by what they say: bytes keep the caller's own spelling of arguments, objects have none."""
    if isinstance(value, dict):
        return {key: read(item) for key, item in value.items()}
    if isinstance(value, list):
        return [read(item) for item in value]
    if isinstance(value, str) and "\n\n" in value:
        return [read(text) for text in value.split("\n\n")]  # texts that were joined into one
    if isinstance(value, str) and value[:1] in ("{", "["):
        try:
            return json.loads(value)
        except ValueError:
            return value
    return value


@pytest.mark.parametrize(("source", "target"), histories.PAIRS)
def test_objects_and_bytes_give_one_result(source: str, target: str) -> None:
    @given(histories.sturdy(source))
    def law(planted: Planted) -> None:
        data = strict_text(planted.value)
        if data is None or REPEATED in data:
            return
        expected, refusal = tried(planted.value, target)
        result, second = tried_json(data, target)
        if expected is None or result is None:
            assert refusal is not None
            assert second is not None
            assert (second.code, second.param) == (refusal.code, refusal.param)
            return
        assert described(result.report) == described(expected.report)
        assert result.dropped == expected.dropped
        body = json.loads(result.data)
        if isinstance(body, list) and target != "flat":
            assert isinstance(planted.value, list)
            assert read(expected.body) == {DIALECTS[target].list_name: read(body)}
        else:
            assert read(body) == read(expected.body)

    law()
