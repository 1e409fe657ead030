"""Promise 1. For any JSON value at all as input, the result satisfies every rule that the target enforces, or a `HistoryError` says where. Never another exception.

Judged by tests/judges: our own reading of the provider's rules, and the vendor's SDK types. Refusals of histories in which something is sendable stay below 1 %.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import sendable
from sendable import HistoryError
from sendable.codes import CODES
from tests.judges.bench import complaints
from tests.laws import histories
from tests.laws.dialects import DIALECTS
from tests.laws.leaves import Planted
from tests.laws.places import resolve
from tests.laws.trial import tried, tried_json

LIST_NAMES = ("messages", "input", "contents")


@dataclass
class Tally:
    """How many histories were seen, and what was refused."""

    seen: int = 0
    refused: int = 0
    last: str = ""


def said_where(refusal: HistoryError, history: Any) -> None:
    """A refusal names a code of the table and a place in the input; for the body itself, the name of the list."""
    assert refusal.code in CODES
    assert refusal.report.refused
    assert refusal.param
    if refusal.param not in LIST_NAMES:
        resolve(history, refusal.param, absent_last=True)


@pytest.mark.parametrize(("source", "target"), histories.PAIRS)
def test_generated_histories_are_sent_and_hardly_ever_refused(source: str, target: str) -> None:
    tally = Tally()

    @given(histories.sturdy(source))
    def law(planted: Planted) -> None:
        tally.seen += 1
        try:
            result = sendable.normalize(planted.value, to=target)
        except HistoryError as refusal:
            said_where(refusal, planted.value)
            tally.refused += 1
            tally.last = f"{refusal} {planted!r}"
            return
        whole = isinstance(planted.value, dict) and "model" in planted.value
        assert complaints(target, result.body, whole=whole) == []

    law()
    assert tally.seen > 0
    assert tally.refused * 100 < tally.seen, f"{tally.refused} of {tally.seen} refused, the last one {tally.last}"


@pytest.mark.parametrize(("source", "target"), histories.PAIRS)
def test_whatever_is_left_of_a_damaged_history_is_sendable(source: str, target: str) -> None:
    @given(histories.damaged(source))
    def law(planted: Planted) -> None:
        try:
            result = sendable.normalize(planted.value, to=target)
        except HistoryError as refusal:
            said_where(refusal, planted.value)
            return
        whole = isinstance(planted.value, dict) and "model" in planted.value
        assert complaints(target, result.body, whole=whole) == []

    law()


@pytest.mark.parametrize("target", histories.TARGETS)
def test_any_json_value_is_sent_or_refused(target: str) -> None:
    @given(histories.odd_bodies())
    def law(value: Any) -> None:
        try:
            result = sendable.normalize(value, to=target)
        except HistoryError as refusal:
            said_where(refusal, value)
            return
        assert complaints(target, result.body) == []

    law()


@pytest.mark.parametrize("policy", ["repair", "strict"])
def test_detection_of_any_json_value_raises_nothing_else(policy: str) -> None:
    @given(histories.odd_bodies())
    def law(value: Any) -> None:
        try:
            result = sendable.normalize(value, policy=policy)
        except HistoryError as refusal:
            said_where(refusal, value)
            return
        json.dumps(result.body, allow_nan=False).encode()

    law()


@pytest.mark.parametrize("target", histories.TARGETS)
def test_check_never_raises_for_content(target: str) -> None:
    @given(histories.odd_bodies())
    def law(value: Any) -> None:
        report = sendable.check(value, target)
        try:
            sendable.normalize(value, to=target)
            refused = False
        except HistoryError:
            refused = True
        assert report.refused is refused

    law()


@pytest.mark.parametrize("target", histories.TARGETS)
def test_any_json_text_is_sent_or_refused(target: str) -> None:
    @given(histories.odd_bodies(), st.booleans())
    def law(value: Any, spaced: bool) -> None:
        result, refusal = tried_json(json.dumps(value, indent=1 if spaced else None).encode(), target)
        if result is None:
            assert refusal is not None
            assert refusal.param
            return
        body = json.loads(result.data)
        bare = isinstance(body, list) and target != "flat"
        assert complaints(target, {DIALECTS[target].list_name: body} if bare else body) == []

    law()


@pytest.mark.parametrize("target", histories.TARGETS)
def test_bytes_that_are_no_json_are_refused(target: str) -> None:
    @given(st.binary(max_size=40))
    def law(data: bytes) -> None:
        result, refusal = tried_json(data, target)
        if result is None:
            assert refusal is not None
            assert refusal.param in LIST_NAMES
            return
        json.loads(result.data)

    law()


def nested(depth: int, inner: Any) -> Any:
    for _ in range(depth):
        inner = [inner]
    return inner


@pytest.mark.parametrize("target", histories.TARGETS)
@pytest.mark.parametrize("depth", [200, 5000])
def test_depth_raises_nothing_else(target: str, depth: int) -> None:
    for history in (
        nested(depth, 1),
        [{"role": "user", "content": nested(depth, "x")}, {"role": "user", "content": "y"}],
        [{"role": "user", "content": [{"type": "text", "text": "y"}, {"type": "hologram", "x": nested(depth, "x")}]}],
        [{"role": "user", "content": "y", "x": nested(depth, "x")}],
    ):
        result, refusal = tried(history, target)
        assert refusal is not None or (result is not None and complaints(target, result.body) == [])
    data = b'[{"role": "user", "content": ' + b"[" * depth + b"]" * depth + b"}]"
    told, refusal = tried_json(data, target)
    assert refusal is not None or (told is not None and told.report.entries)
