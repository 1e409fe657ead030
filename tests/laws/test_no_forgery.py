"""Promise 10. A signature, encrypted payload, handle or file id is sent only to the issuer that made it."""

from __future__ import annotations

import json

import pytest
from hypothesis import given

import sendable
from sendable import HistoryError
from tests.laws import histories
from tests.laws.leaves import Planted
from tests.laws.places import parse, within

ISSUERS = {
    "openai-chat": "openai",
    "openai-responses": "openai",
    "anthropic": "anthropic",
    "gemini": "google",
    "bedrock-converse": "anthropic",
}
"""The vendor that reads a target's requests; `flat` is nobody's."""


@pytest.mark.parametrize(("source", "target"), histories.PAIRS)
def test_secrets_go_to_their_issuer_only(source: str, target: str) -> None:
    @given(histories.kept_types(source))
    def law(planted: Planted) -> None:
        try:
            result = sendable.normalize(planted.value, to=target)
        except HistoryError:
            return
        output = json.dumps(result.body)
        # Content that is no text for `flat` is written whole, as JSON text (design 5.1): then it is the caller's text, with an entry that says so.
        quoted = (
            [parse(str(entry.param)) for entry in result.report.entries if entry.code == "SHP005"]
            if target == "flat"
            else []
        )
        foreign = [
            secret
            for secret in planted.secrets
            if secret.issuer != ISSUERS.get(target) and not any(within(secret.at, place) for place in quoted)
        ]
        assert [secret for secret in foreign if secret.token in output] == []

    law()


@pytest.mark.parametrize(("source", "target"), [(home, home) for home in ISSUERS])
def test_secrets_come_home(source: str, target: str) -> None:
    @given(histories.clean(source))
    def law(planted: Planted) -> None:
        output = json.dumps(sendable.normalize(planted.value, to=target).body)
        assert [secret for secret in planted.secrets if secret.token not in output] == []

    law()
