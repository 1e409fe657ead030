"""Promise 4. Normalizing the result again for the same target changes nothing and reports nothing."""

from __future__ import annotations

import pytest
from hypothesis import given

import sendable
from sendable import HistoryError
from tests.laws import histories
from tests.laws.dialects import DIALECTS
from tests.laws.leaves import Planted
from tests.laws.verdicts import described


@pytest.mark.parametrize(("source", "target"), histories.PAIRS)
def test_the_second_run_changes_nothing_and_reports_nothing(source: str, target: str) -> None:
    @given(histories.sturdy(source))
    def law(planted: Planted) -> None:
        try:
            first = sendable.normalize(planted.value, to=target)
        except HistoryError:
            return
        again = sendable.normalize(first.body, to=target)
        assert described(again.report) == []
        assert again.dropped == 0
        assert again.body == first.body
        if not isinstance(first.body, list) and first.body.keys() == {DIALECTS[target].list_name}:
            bare = sendable.normalize(first.messages, to=target)
            assert described(bare.report) == []
            assert bare.messages == first.messages

    law()


@pytest.mark.parametrize(("source", "target"), histories.PAIRS)
def test_the_same_run_twice_gives_the_same_bytes(source: str, target: str) -> None:
    @given(histories.sturdy(source))
    def law(planted: Planted) -> None:
        try:
            first = sendable.normalize(planted.value, to=target)
        except HistoryError:
            return
        second = sendable.normalize(planted.value, to=target)
        assert repr(first.body) == repr(second.body)
        assert described(first.report) == described(second.report)

    law()
