"""The promises for `gemini:3`, which signs: every source, and mixtures. What Gemini 3 signed comes home, nobody else's signature does."""

from __future__ import annotations

import json

import pytest
from hypothesis import given

import sendable
from sendable import HistoryError
from tests.judges.bench import complaints
from tests.laws import histories
from tests.laws.leaves import Planted
from tests.laws.verdicts import described, lost, unlocated

TARGET = "gemini:3"


@pytest.mark.parametrize("source", histories.SOURCES)
def test_what_is_sent_is_accepted_and_says_what_it_cost(source: str) -> None:
    @given(histories.sturdy(source))
    def law(planted: Planted) -> None:
        try:
            result = sendable.normalize(planted.value, to=TARGET)
        except HistoryError:
            return
        assert complaints(TARGET, result.body) == []
        assert lost(planted, result.body, result.report) == [], described(result.report)
        assert list(unlocated(planted.value, result.report)) == []
        again = sendable.normalize(result.body, to=TARGET)
        assert described(again.report) == []
        assert again.body == result.body

    law()


@pytest.mark.parametrize("source", histories.SOURCES)
def test_secrets_go_to_their_issuer_only(source: str) -> None:
    @given(histories.kept_types(source))
    def law(planted: Planted) -> None:
        try:
            result = sendable.normalize(planted.value, to=TARGET)
        except HistoryError:
            return
        output = json.dumps(result.body)
        assert [secret for secret in planted.secrets if secret.issuer != "google" and secret.token in output] == []

    law()


def test_signatures_come_home() -> None:
    @given(histories.clean("gemini"))
    def law(planted: Planted) -> None:
        result = sendable.normalize(planted.value, to=TARGET)
        output = json.dumps(result.body)
        assert {entry.code for entry in result.report.entries} <= {"RSN011"}
        assert [secret for secret in planted.secrets if secret.token not in output] == []

    law()
