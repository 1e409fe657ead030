"""Promise 6. Every entry's path resolves in the caller's original input: `path` and `related` fully, `param` up to an absent last field."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given

import sendable
from sendable import HistoryError, Report
from tests.laws import histories
from tests.laws.leaves import Planted
from tests.laws.places import BadPath, resolve
from tests.laws.verdicts import unlocated

NAMED = (
    "id",
    "name",
    "title",
    "filename",
    "displayName",
    "tool_call_id",
    "tool_use_id",
    "call_id",
    "toolCallId",
    "toolUseId",
    "role",
    "type",
)


def report_of(history: Any, target: str) -> Report:
    try:
        return sendable.normalize(history, to=target).report
    except HistoryError as refusal:
        return refusal.report


@pytest.mark.parametrize(("source", "target"), histories.PAIRS)
def test_every_place_is_the_callers_own(source: str, target: str) -> None:
    @given(histories.damaged(source))
    def law(planted: Planted) -> None:
        assert list(unlocated(planted.value, report_of(planted.value, target))) == []

    law()


@pytest.mark.parametrize("target", histories.TARGETS)
def test_every_place_in_any_json_value_is_the_callers_own(target: str) -> None:
    @given(histories.odd_bodies())
    def law(value: Any) -> None:
        assert list(unlocated(value, report_of(value, target))) == []

    law()


@pytest.mark.parametrize("target", histories.TARGETS)
def test_the_original_is_the_callers_value_at_the_place(target: str) -> None:
    @given(histories.damaged("mixed"))
    def law(planted: Planted) -> None:
        for entry in report_of(planted.value, target).entries:
            try:
                expected = resolve(planted.value, str(entry.param))
            except BadPath:
                expected = resolve(planted.value, str(entry.path))
            if str(entry.path):  # the whole body may be wrapped, so that a list has a name
                assert entry.original is expected or repr(entry.original) == repr(expected)

    law()


@pytest.mark.parametrize("target", histories.TARGETS)
def test_no_payload_is_in_what_is_printed(target: str) -> None:
    @given(histories.damaged("mixed"))
    def law(planted: Planted) -> None:
        report = report_of(planted.value, target)
        json_report = report.to_json()
        printed = str(report) + (json_report.decode() if isinstance(json_report, bytes) else str(json_report))
        # Ids and tool names may be said (they are what a reader looks for); nothing else that the caller stored.
        payload = [
            leaf.token for leaf in planted.leaves if leaf.token not in planted.shared and leaf.at[-1] not in NAMED
        ]
        assert [token for token in payload if token in printed] == []

    law()
