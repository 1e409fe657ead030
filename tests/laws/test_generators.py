"""The generators are themselves under test: what they promise to the laws must hold before a law means anything."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given

from tests.laws import histories
from tests.laws.leaves import Planted, objects, plant, root
from tests.laws.places import BadPath, parse, resolve, within


def value_at(history: Any, at: tuple[str | int, ...]) -> Any:
    value = root(history)
    for step in at:
        value = value[step]
    return value


@pytest.mark.parametrize("source", histories.SOURCES)
def test_every_leaf_holds_its_token_where_it_says(source: str) -> None:
    @given(histories.damaged(source))
    def law(planted: Planted) -> None:
        for leaf in planted.leaves:
            found = value_at(planted.value, leaf.at)
            assert leaf.token in (found if isinstance(found, str) else str(found))
        single = [leaf.token for leaf in planted.leaves if leaf.token not in planted.shared]
        assert len(single) == len(set(single))
        assert "«" not in json.dumps(planted.value, ensure_ascii=False)

    law()


@pytest.mark.parametrize("source", histories.SOURCES)
def test_a_history_shares_no_object_with_itself(source: str) -> None:
    @given(histories.damaged(source))
    def law(planted: Planted) -> None:
        seen = [id(found) for found in objects(planted.value)]
        assert len(seen) == len(set(seen))

    law()


def test_plant_gives_named_markers_one_token_and_secrets_their_issuer() -> None:
    planted = plant([{"id": "c_«a»", "ref": "c_«a»", "sig": "«!anthropic»", "n": 909_090_909}])
    assert planted.value == [{"id": "c_tok0001x", "ref": "c_tok0001x", "sig": "tok0002x", "n": 909_090_912}]
    assert [(secret.at, secret.token, secret.issuer) for secret in planted.secrets] == [
        (("messages", 0, "sig"), "tok0002x", "anthropic")
    ]


def test_paths_are_read_as_the_interface_writes_them() -> None:
    history = [{"content": [{"odd key": {"a": 1}}]}]
    assert parse("") == ()
    assert resolve(history, "") == {"messages": history}
    assert resolve(history, 'messages[0].content[0]["odd key"].a') == 1
    assert resolve(history, "messages[0].tool_call_id", absent_last=True) is None
    assert within(("messages", 0, "content"), ("messages", 0))
    assert not within(("messages", 0), ("messages", 0, "content"))


@pytest.mark.parametrize(
    "bad",
    [
        "messages[1]",
        "messages[0].role",
        "messages.[0]",
        ".messages",
        "messages[0].content[0].odd key",
        "messages[-1]",
        'messages[0]["content"]',
    ],
)
def test_paths_that_lead_nowhere_are_refused(bad: str) -> None:
    with pytest.raises(BadPath):
        resolve([{"content": [{"odd key": 1}]}], bad)
