"""Promise 8. Strict and repair are the same run; strict refuses at the end if an entry is at level *reject*. No rule knows the mode."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import sendable
from sendable import HistoryError
from sendable.codes import CODES
from tests.laws import histories
from tests.laws.leaves import Planted
from tests.laws.verdicts import described


def outcome(history: Any, target: str, policy: Any) -> tuple[Any, HistoryError | None]:
    try:
        return sendable.normalize(history, to=target, policy=policy).body, None
    except HistoryError as refusal:
        return None, refusal


@pytest.mark.parametrize(("source", "target"), histories.PAIRS)
def test_strict_is_repair_that_refuses_at_the_end(source: str, target: str) -> None:
    @given(st.one_of(histories.damaged(source), histories.clean(source)))
    def law(planted: Planted) -> None:
        repaired = sendable.check(planted.value, target, policy="repair")
        strict = sendable.check(planted.value, target, policy="strict")
        assert described(strict) == described(repaired)
        assert strict.dropped == repaired.dropped
        rejected = [entry for entry in repaired.entries if CODES[str(entry.code)].strict == "reject"]
        assert strict.refused is bool(rejected)
        body, refusal = outcome(planted.value, target, "strict")
        if refusal is None:
            assert not strict.refused
            assert body == outcome(planted.value, target, "repair")[0]
        else:
            assert (refusal.code, refusal.param) in {
                (str(entry.code), str(entry.param) or "messages") for entry in rejected
            }
            assert described(refusal.report) == described(strict)

    law()


@pytest.mark.parametrize("target", histories.TARGETS)
def test_a_copied_table_is_a_policy(target: str) -> None:
    @given(histories.sturdy("mixed"), st.sampled_from(sorted(CODES)), st.sampled_from(["report", "reject"]))
    def law(planted: Planted, code: str, level: Any) -> None:
        policy = {**sendable.REPAIR, code: level}
        report = sendable.check(planted.value, target, policy=policy)
        levels = {str(entry.code): policy[str(entry.code)] for entry in report.entries}
        assert report.refused is ("reject" in levels.values())
        assert described(report) == described(sendable.check(planted.value, target))

    law()


def test_the_tables_are_those_of_the_codes() -> None:
    assert dict(sendable.STRICT) == {code.id: code.strict for code in CODES.values()}
    assert dict(sendable.REPAIR) == {code.id: code.repair for code in CODES.values()}
