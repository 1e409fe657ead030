"""Promise 9. No clock, no randomness. Stable prefix: the output for the first n messages, without its last turn, is a prefix of the output for any longer history.

Compared as (role, block), message boundaries ignored. One law for histories in which no later message answers or completes an earlier call, is a system
message, or hits a counted limit: equality. One in which these happen: the entries must name which.
"""

from __future__ import annotations

import os
import subprocess
import sys
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import sendable
from sendable import HistoryError, Report
from tests.laws import histories
from tests.laws.dialects import DIALECTS
from tests.laws.leaves import Planted
from tests.laws.places import parse
from tests.laws.verdicts import described

Sequence = list[tuple[str, str]]


def sequence(target: str, result: sendable.Result) -> Sequence:
    return DIALECTS[target].sequence(result.messages)


def tokens_between(planted: Planted, start: int, end: int) -> set[str]:
    return {leaf.token for leaf in planted.leaves if isinstance(leaf.at[1], int) and start <= leaf.at[1] < end}


def speaks(message: Any) -> bool:
    """Whether an entry is the assistant's: by its role or, where it is an item without one, because it is nobody's output."""
    if not isinstance(message, dict):
        return False
    kind = message.get("type")
    is_item = isinstance(kind, str) and "role" not in message and not kind.endswith("_output")
    return message.get("role") in ("assistant", "model") or is_item


def goes_on(before: Any, message: Any) -> bool:
    """Whether two entries are items of one turn."""
    return speaks(before) and speaks(message) and not ("role" in before and "role" in message)


def settled(target: str, planted: Planted, n: int, result: sendable.Result) -> Sequence:
    """The output for the first n messages without what was written from or invented after its last turn."""
    found = sequence(target, result)
    turns = [i for i, message in enumerate(planted.value[:n]) if speaks(message)]
    while turns and turns[-1] > 0 and goes_on(planted.value[turns[-1] - 1], planted.value[turns[-1]]):
        turns[-1] -= 1
    if not turns:  # nobody has answered yet: what was invented at the end (a user message, so that instructions can be sent) goes as after a turn
        said = tokens_between(planted, 0, n)
        while found and not any(token in found[-1][1] for token in said):
            found.pop()
        return found
    late = tokens_between(planted, turns[-1], n) - tokens_between(planted, 0, turns[-1])
    for position, (_, block) in enumerate(found):
        if any(token in block for token in late):
            # What stands before it and says nothing (an empty content) is of the same turn.
            while position and not any(
                token in found[position - 1][1] for token in tokens_between(planted, 0, turns[-1])
            ):
                position -= 1
            return found[:position]
    # The last turn left nothing that can be recognized (it was dropped, or holds no token): everything from the last assistant block on is its.
    answers = [position for position, (role, _) in enumerate(found) if role == "assistant"]
    return found[: answers[-1]] if answers else found


def run(history: Any, target: str) -> sendable.Result | None:
    try:
        return sendable.normalize(history, to=target)
    except HistoryError:
        return None


@pytest.mark.parametrize(("source", "target"), histories.PAIRS)
def test_what_has_been_sent_is_sent_again_and_more_follows(source: str, target: str) -> None:
    @given(histories.orderly(source), st.data())
    def law(planted: Planted, data: st.DataObject) -> None:
        n = data.draw(st.integers(0, len(planted.value)), label="n")
        short, long = run(planted.value[:n], target), run(planted.value, target)
        if short is None or long is None:
            return
        before = settled(target, planted, n, short)
        assert sequence(target, long)[: len(before)] == before

    law()


def reaches_back(entry: sendable.Entry, n: int) -> bool:
    """Whether an entry of the longer run names a late answer or a hoisted system message, by a message after the first n."""
    places = [parse(str(entry.path)), *(parse(str(other)) for other in entry.related)]
    late = any(len(place) > 1 and isinstance(place[1], int) and place[1] >= n for place in places)
    return late and str(entry.code)[:3] in ("SYS", "PAR")


def limited(short: Report, long: Report) -> bool:
    """Whether the longer run reports a counted limit that the shorter one does not: its entry stands where the limit cuts, not where it was crossed."""
    return any(found not in described(short) for found in described(long) if found[0].startswith("LIM"))


def completed(short: Report, long: Report) -> bool:
    """Whether a call that was unanswered (or half a pair) in the shorter run is answered in the longer one."""

    def open_calls(report: Report) -> set[tuple[str, str]]:
        return {
            (str(entry.code), str(entry.path))
            for entry in report.entries
            if str(entry.code) in ("PAR001", "PAR008", "PAR009")
        }

    return bool(open_calls(short) - open_calls(long))


@pytest.mark.parametrize(("source", "target"), histories.PAIRS)
def test_what_reaches_back_is_named(source: str, target: str) -> None:
    @given(histories.unordered(source), st.data())
    def law(planted: Planted, data: st.DataObject) -> None:
        n = data.draw(st.integers(0, len(planted.value)), label="n")
        short, long = run(planted.value[:n], target), run(planted.value, target)
        if short is None or long is None:
            return
        before = settled(target, planted, n, short)
        if sequence(target, long)[: len(before)] != before:
            named = any(reaches_back(entry, n) for entry in long.report.entries)
            named = named or completed(short.report, long.report) or limited(short.report, long.report)
            assert named, (described(short.report), described(long.report))

    law()


def chat_turn(identity: str, text: str) -> list[dict[str, Any]]:
    call = {"id": identity, "type": "function", "function": {"name": "search", "arguments": "{}"}}
    return [
        {"role": "user", "content": "q"},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": identity, "content": text},
    ]


@pytest.mark.parametrize("target", ["openai-chat", "anthropic"])
@pytest.mark.parametrize("odd", ["c1", "c 1", "x" * 80, 7, "functions.search:0"])
def test_a_fresh_id_is_kept_when_a_later_natural_id_equals_it(target: str, odd: Any) -> None:
    history = [*chat_turn(odd, "one"), *chat_turn(odd, "two"), {"role": "user", "content": "end"}]
    first = sendable.normalize(history, to=target)
    ids = sorted({found for message in first.messages for found in ids_in(message)})
    fresh = [identity for identity in ids if identity != odd]
    assert fresh
    for identity in fresh:
        longer = [*history, *chat_turn(identity, "three")]
        second = sendable.normalize(longer, to=target)
        before = DIALECTS[target].sequence(first.messages)
        assert DIALECTS[target].sequence(second.messages)[: len(before)] == before
        late = [found for message in second.messages[len(first.messages) :] for found in ids_in(message)]
        assert late
        assert not set(late) & set(ids)
        assert any(
            entry.verb == "rename" and str(entry.path).startswith(f"messages[{len(history) + 1}]")
            for entry in second.report.entries
        )


def ids_in(message: Any) -> list[str]:
    """The ids of the calls and results in one message of Chat or Anthropic."""
    blocks = message["content"] if isinstance(message.get("content"), list) else []
    nodes = [message, *blocks, *(message.get("tool_calls") or ())]
    return [node[key] for node in nodes for key in ("id", "tool_call_id", "tool_use_id") if key in node]


_ONE_RUN = """
import json, sendable
call = {"id": 7, "type": "function", "function": {"name": "a b", "arguments": "{"}, "u": 1, "v": 2, "w": 3}
history = [
    {"role": "user", "content": [{"type": "text", "text": "q", "b": 1, "a": 2, "c": 3}], "z": 1, "y": 2, "x": 3},
    {"role": "assistant", "content": None, "tool_calls": [call, {**call, "id": "7"}, {**call, "id": "8"}], "k": 1, "l": 2},
    {"role": "tool", "tool_call_id": "9", "content": "r", "m": 1, "n": 2},
]
body = {"model": "m", "messages": history, "user": "u", "metadata": {"k": "v"}, "seed": 1, "logprobs": True, "n": 2, "tool_choice": "auto", "x": 1}
for target in ("flat", "openai-chat", "anthropic"):
    result = sendable.normalize(body, to=target)
    print(json.dumps(result.body), [(e.code, e.verb, str(e.path), str(e.param)) for e in result.report.entries])
"""


def test_another_process_with_another_hash_seed_says_the_same() -> None:
    runs = {
        subprocess.run(
            [sys.executable, "-c", _ONE_RUN],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("0", "1", "2", "3")
    }
    assert len(runs) == 1
