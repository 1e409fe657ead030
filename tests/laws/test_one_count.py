"""Promise 7. `dropped` is the number of entries with verb `drop`: one for each message, call, result or block removed."""

from __future__ import annotations

import pytest
from hypothesis import given

import sendable
from sendable import HistoryError
from tests.laws import histories
from tests.laws.leaves import Planted
from tests.laws.places import parse
from tests.laws.trial import tried
from tests.laws.verdicts import described


@pytest.mark.parametrize(("source", "target"), histories.PAIRS)
def test_the_count_is_the_number_of_drops(source: str, target: str) -> None:
    @given(histories.damaged(source))
    def law(planted: Planted) -> None:
        report = sendable.check(planted.value, target)
        drops = [entry for entry in report.entries if entry.verb == "drop"]
        assert report.dropped == len(drops)
        places = [str(entry.path) for entry in drops]
        assert len(places) == len(set(places)), f"one thing was dropped twice: {described(report)}"
        assert all(entry.verb in VERBS for entry in report.entries)
        assert sum(report.counts.values()) == len(report.entries)
        trial = tried(planted.value, target)
        assert trial.report.dropped == report.dropped
        assert trial.result is None or trial.result.dropped == report.dropped

    law()


VERBS = ("drop", "strip", "degrade", "move", "rename", "synthesize", "note", "fault")


def test_entries_in_and_messages_out_agree_with_the_count() -> None:
    """Counted again from outside: each message of `flat` stays, or has exactly one drop of its own; each new one has a `synthesize`."""

    @given(histories.whole_entries())
    def law(planted: Planted) -> None:
        try:
            result = sendable.normalize(planted.value, to="flat")
        except HistoryError:
            return
        gone = [entry for entry in result.report.entries if entry.verb == "drop" and len(parse(str(entry.path))) == 2]
        new = [entry for entry in result.report.entries if entry.verb == "synthesize"]
        assert len(result.messages) == len(planted.value) - len(gone) + len(new), described(result.report)

    law()


def test_calls_in_and_calls_out_agree_with_the_count() -> None:
    """The same for calls: a call is sent, or has a drop of its own (also when its whole turn goes)."""

    @given(histories.whole_entries())
    def law(planted: Planted) -> None:
        try:
            result = sendable.normalize(planted.value, to="flat")
        except HistoryError:
            return
        dropped = {str(entry.path) for entry in result.report.entries if entry.verb == "drop"}
        stored = {
            f"messages[{index}].tool_calls[{number}]"
            for index, message in enumerate(planted.value)
            if isinstance(message, dict) and isinstance(message.get("tool_calls"), list) and message.get("role")
            for number in range(len(message["tool_calls"]))
        }
        sent = sum(len(message.get("tool_calls", ())) for message in result.messages)
        assert sent == len(stored) - len(stored & dropped), described(result.report)

    law()
