"""Promise 11. A plain tool-using history that crosses from Chat to Anthropic, or back, reports nothing. A bare list is a history: nothing is invented for it."""

from __future__ import annotations

import json

import pytest
from hypothesis import given

import sendable
from tests.judges.bench import complaints
from tests.laws import histories
from tests.laws.dialects import DIALECTS
from tests.laws.leaves import Planted
from tests.laws.verdicts import described

# Not from Anthropic or Converse to flat: a list of text blocks without a call is written there as JSON text, with an entry (design 5.1).
CROSSINGS = [
    (source, target)
    for source in DIALECTS
    for target in DIALECTS
    if (source, target) not in (("anthropic", "flat"), ("bedrock-converse", "flat"))
]


@pytest.mark.parametrize(("source", "target"), CROSSINGS)
def test_a_plain_history_crosses_without_a_word(source: str, target: str) -> None:
    @given(histories.plain(source))
    def law(planted: Planted) -> None:
        result = sendable.normalize(planted.value, to=target)
        # Plain histories end with the assistant, after which a request of Gemini does not («Requests ending with a model turn are not supported»).
        said = [entry for entry in described(result.report) if target != "gemini" or entry[0] != "ORD005"]
        assert said == []
        assert result.dropped == 0
        output = json.dumps(result.body)
        assert [leaf for leaf in planted.leaves if leaf.token not in output] == []
        assert complaints(target, result.body) == []
        if target != "flat":
            assert result.body.keys() <= {DIALECTS[target].list_name, "system", "systemInstruction"}

    law()


@pytest.mark.parametrize(("source", "target"), [("openai-chat", "anthropic"), ("anthropic", "openai-chat")])
def test_a_plain_history_crosses_strictly_too(source: str, target: str) -> None:
    @given(histories.plain(source))
    def law(planted: Planted) -> None:
        strict = sendable.normalize(planted.value, to=target, policy="strict")
        assert strict.body == sendable.normalize(planted.value, to=target).body

    law()
