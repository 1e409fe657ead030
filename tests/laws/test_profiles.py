"""The promises for the profiles of Chat and Anthropic: generated histories of both, and of mixtures, to every profile.

Sendable (judged by the judges of the API and of the provider), conserving, idempotent, located, and accepted at home once they were sent.
"""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given

import sendable
from sendable import HistoryError
from tests.judges.bench import complaints
from tests.laws import histories
from tests.laws.leaves import Planted
from tests.laws.trial import tried
from tests.laws.verdicts import described, lost, unlocated

PROFILES = [
    name for name in sendable.target_names() if name.partition(":")[0] in ("openai-chat", "anthropic") and ":" in name
]
SOURCES = ["openai-chat", "anthropic", "mixed"]
PAIRS = [(source, target) for source in SOURCES for target in PROFILES]


def judged(target: str, history: Any, body: Any) -> list[str]:
    return complaints(target, body, whole=isinstance(history, dict) and "model" in history)


@pytest.mark.parametrize(("source", "target"), PAIRS)
def test_what_is_sent_is_accepted_and_says_what_it_cost(source: str, target: str) -> None:
    @given(histories.sturdy(source))
    def law(planted: Planted) -> None:
        result = sendable.normalize(planted.value, to=target)
        assert judged(target, planted.value, result.body) == [], described(result.report)
        assert lost(planted, result.body, result.report) == [], described(result.report)
        assert list(unlocated(planted.value, result.report)) == []

    law()


@pytest.mark.parametrize(("source", "target"), PAIRS)
def test_what_is_left_of_a_damaged_history_is_accepted(source: str, target: str) -> None:
    @given(histories.damaged(source))
    def law(planted: Planted) -> None:
        result, _ = tried(planted.value, target)
        if result is not None:
            assert judged(target, planted.value, result.body) == [], described(result.report)
            assert list(unlocated(planted.value, result.report)) == []

    law()


@pytest.mark.parametrize(("source", "target"), PAIRS)
def test_the_second_run_changes_nothing_and_reports_nothing(source: str, target: str) -> None:
    @given(histories.sturdy(source))
    def law(planted: Planted) -> None:
        try:
            first = sendable.normalize(planted.value, to=target)
        except HistoryError:
            return
        again = sendable.normalize(first.body, to=target)
        assert described(again.report) == []
        assert again.body == first.body

    law()


@pytest.mark.parametrize("target", PROFILES)
def test_bytes_give_what_values_give(target: str) -> None:
    @given(histories.sturdy("mixed"))
    def law(planted: Planted) -> None:
        from_values = sendable.normalize(planted.value, to=target)
        from_bytes = sendable.normalize_json(json.dumps(planted.value).encode(), to=target)
        assert described(from_bytes.report) == described(from_values.report)

    law()
