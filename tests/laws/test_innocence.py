"""Promise 3. The caller's input is never changed, not even nested objects, and by default shares no mutable object with the result."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given

import sendable
from sendable import HistoryError
from tests.laws import histories
from tests.laws.leaves import Planted, objects


def snapshot(value: Any) -> str:
    """The whole tree as text: types, key order, NaN and half surrogates included."""
    return repr(value)


def identities(value: Any) -> dict[int, Any]:
    return {id(found): found for found in objects(value)}


@pytest.mark.parametrize(("source", "target"), histories.PAIRS)
def test_the_input_is_left_alone_and_shares_nothing(source: str, target: str) -> None:
    @given(histories.sturdy(source))
    def law(planted: Planted) -> None:
        before, same = snapshot(planted.value), identities(planted.value)
        try:
            result = sendable.normalize(planted.value, to=target)
        except HistoryError:
            assert snapshot(planted.value) == before
            return
        assert snapshot(planted.value) == before
        assert identities(planted.value).keys() == same.keys(), "an object of the input was replaced by an equal one"
        shared = [
            same[number] for number in same.keys() & (identities(result.body) | identities(result.messages)).keys()
        ]
        assert shared == []

    law()


@pytest.mark.parametrize(("source", "target"), histories.PAIRS)
def test_sharing_gives_the_same_result_and_leaves_the_input_alone_too(source: str, target: str) -> None:
    @given(histories.sturdy(source))
    def law(planted: Planted) -> None:
        before, same = snapshot(planted.value), identities(planted.value)
        try:
            result = sendable.normalize(planted.value, to=target, share=True)
        except HistoryError:
            assert snapshot(planted.value) == before
            return
        assert snapshot(planted.value) == before
        assert identities(planted.value).keys() == same.keys()
        assert snapshot(result.body) == snapshot(sendable.normalize(planted.value, to=target).body)

    law()


@pytest.mark.parametrize("target", histories.TARGETS)
def test_changing_the_result_changes_neither_the_input_nor_a_later_result(target: str) -> None:
    @given(histories.sturdy("mixed"))
    def law(planted: Planted) -> None:
        before = snapshot(planted.value)
        try:
            first = sendable.normalize(planted.value, to=target)
        except HistoryError:
            return
        expected = snapshot(first.body)
        for found in list(objects(first.body)):
            found.clear()
        assert snapshot(planted.value) == before
        assert snapshot(sendable.normalize(planted.value, to=target).body) == expected

    law()
