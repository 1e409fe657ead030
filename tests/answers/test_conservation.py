"""Conservation for answers: a unique token in every leaf of an answer is in the `Response`, in the written body, or under an entry.

The tokens stand in every text of the rich answers of spoken.py, and in unknown fields and an unknown block beside them. Words of which the
format has a closed list (types, roles, why it ended) are left as they are.
"""

from __future__ import annotations

import json
from typing import Any

import pytest

import sendable
from tests.answers.spoken import SPOKEN
from tests.laws.leaves import Planted, plant
from tests.laws.verdicts import described, lost

_WORDS = frozenset(
    [
        "type",
        "role",
        "object",
        "status",
        "stop_reason",
        "stop_sequence",
        "finish_reason",
        "finishReason",
        "stopReason",
        "phase",
        "model",
        "modelVersion",
        "tool_choice",
        "name",
        "mimeType",
    ]
)
_UNKNOWN: dict[str, Any] = {
    "anthropic": {"type": "novel_block", "novelty": "«»"},
    "openai-responses": {"type": "novel_item", "novelty": "«»"},
    "gemini": {"novelPart": {"novelty": "«»"}},
    "bedrock-converse": {"novelBlock": {"novelty": "«»"}},
}
"""A block that nobody knows. A message of Chat has no list of blocks; there an unknown field is the same."""


def marked(value: Any, key: str = "") -> Any:
    """The answer with a marker in every text that is no word of the format."""
    if key == "tools":  # the request's, told again
        return value
    if isinstance(value, dict):
        return {name: marked(inner, name) for name, inner in value.items()}
    if isinstance(value, list):
        return [marked(inner, key) for inner in value]
    if isinstance(value, str) and key == "arguments":
        return json.dumps(marked(json.loads(value)), ensure_ascii=False)
    if isinstance(value, str) and key not in _WORDS:
        return "«»"
    return value


def blocks_of(answer: dict[str, Any], dialect: str) -> list[Any]:
    """The list in which an answer's blocks stand."""
    if dialect == "gemini":
        return answer["candidates"][0]["content"]["parts"]  # type: ignore[no-any-return]
    if dialect == "bedrock-converse":
        return answer["output"]["message"]["content"]  # type: ignore[no-any-return]
    return answer["output" if dialect == "openai-responses" else "content"]  # type: ignore[no-any-return]


def novel(dialect: str) -> Planted:
    """The answer of a dialect with its tokens, and with what nobody knows yet."""
    template = marked(SPOKEN[dialect].answer)
    template["novel_field"] = {"novelty": "«»"}
    if dialect == "openai-chat":
        template["choices"][0]["novel_field"] = "«»"
        template["choices"][0]["message"]["novel_field"] = "«»"
    else:
        blocks_of(template, dialect).insert(2, _UNKNOWN[dialect])
    return plant(template)


@pytest.mark.parametrize("dialect", SPOKEN)
def test_every_token_of_an_answer_is_read(dialect: str) -> None:
    planted = novel(dialect)
    response = sendable.read_response(planted.value, dialect)
    held = [response.to_history(), response.reply.extra and list(response.reply.extra.values()), response.id]
    held += [response.stop.sequence, response.stop.details, response.usage.raw]
    held += [handle.id for handle in response.continuation]
    assert lost(planted, held, response.report) == [], described(response.report)


@pytest.mark.parametrize("to", SPOKEN)
@pytest.mark.parametrize("dialect", SPOKEN)
def test_every_token_of_an_answer_is_written_or_reported(dialect: str, to: str) -> None:
    planted = novel(dialect)
    written = sendable.write_response(sendable.read_response(planted.value, dialect), to)
    assert lost(planted, written.body, written.report) == [], described(written.report)


@pytest.mark.parametrize("dialect", SPOKEN)
def test_every_token_of_an_answer_is_in_the_history_that_knows_chat_only(dialect: str) -> None:
    """Whatever the message of Chat does not show rides in its carrier."""
    planted = novel(dialect)
    response = sendable.read_response(planted.value, dialect)
    native, chat = response.to_history(), response.to_history("chat")
    said = {leaf.token for leaf in planted.leaves if leaf.token in json.dumps(native)}
    assert said
    assert {token for token in said if token not in json.dumps(chat)} == set()
