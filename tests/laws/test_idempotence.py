"""Promise 4. Normalizing the result again for the same target changes nothing and reports nothing."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

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


OPTIONS: list[dict[str, Any]] = [
    {"same_model": False},
    {"prefix_changed": True},
    {"store": False},
    {"thinking": "disabled"},
    {"thinking_origin": "google"},
    {"system_role": False},
    {"reasoning_content": "reject"},
    {"text_with_tool_blocks_allowed": False},
    {"parallel_tool_results": False},
    {"interleave_calls_and_outputs": True},
    {"max_images": 1},
    {"max_string_chars": 40},
    {"images": False},
    {"allow_prefill": False},
    {"allow_prefill": True},
    {"reasoning": "text"},
    {"reasoning": "drop"},
    {"unknown": "keep"},
]
"""What a caller may say of target and call. (With thinking on, a bare list may stay unsendable, which is said each time.)"""


@pytest.mark.parametrize("target", histories.TARGETS)
def test_the_second_run_is_quiet_whatever_the_caller_says(target: str) -> None:
    @given(st.sampled_from(histories.SOURCES).flatmap(histories.sturdy), st.sampled_from(OPTIONS))
    def law(planted: Planted, options: dict[str, Any]) -> None:
        try:
            first = sendable.normalize(planted.value, to=target, options=options)
        except HistoryError:
            return
        again = sendable.normalize(first.body, to=target, options=options)
        assert described(again.report) == []
        assert again.body == first.body

    law()
