"""Promise 2. Nothing in silence: every token is in the output, or excused by an entry at its place.

In the output counts inside JSON strings too. `drop` excuses what is at or under its `path`; `strip`, `rename` and `degrade` what is at or under their
`param`; `move`, `synthesize`, `note` and `fault` excuse nothing.
"""

from __future__ import annotations

import pytest
from hypothesis import given

from tests.laws import histories
from tests.laws.leaves import Planted
from tests.laws.trial import tried
from tests.laws.verdicts import described, lost


@pytest.mark.parametrize(("source", "target"), histories.PAIRS)
def test_every_token_is_sent_or_reported(source: str, target: str) -> None:
    @given(histories.sturdy(source))
    def law(planted: Planted) -> None:
        result, _ = tried(planted.value, target)
        if result is None:
            return
        assert lost(planted, result.body, result.report) == [], described(result.report)
        assert all(entry.path != "" for entry in result.report.entries if entry.verb == "drop"), (
            "dropping the body excuses everything"
        )

    law()


@pytest.mark.parametrize(("source", "target"), histories.PAIRS)
def test_every_token_of_an_undamaged_history_is_sent_or_reported(source: str, target: str) -> None:
    @given(histories.clean(source))
    def law(planted: Planted) -> None:
        result, _ = tried(planted.value, target)
        if result is None:  # a lone empty message is accepted at home, and nothing that could be sent abroad
            return
        assert lost(planted, result.body, result.report) == [], described(result.report)

    law()
