"""Recorded requests that real providers accepted: at home they come back untouched, abroad the laws hold.

The recordings are read from `../shared/wire` (from the repository root) and never copied into the project; without them these tests are skipped, with the
reason. A request with an `.error.json` beside it was refused, and is no part of this.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import sendable
from tests.judges.bench import complaints
from tests.laws.json_text import message_texts
from tests.laws.places import within
from tests.laws.verdicts import described, excuses, leaves, texts, unlocated

WIRE = Path(__file__).resolve().parents[1].parent / "shared" / "wire"
FOLDERS = {
    "openai_chat": "openai-chat",
    "openai_responses": "openai-responses",
    "anthropic": "anthropic",
    "gemini": "gemini",
    "bedrock": "bedrock-converse",
}
TARGETS = ("flat", *FOLDERS.values())
KEYS = {"openai-responses": "input", "gemini": "contents"}

# Words of the format itself, said differently by every dialect: nobody's content.
_STRUCTURE = {"type", "role", "media_type", "detail", "format", "mode", "ttl", "status"}


def recordings() -> list[tuple[str, Path]]:
    """Every accepted request with the dialect in which it was sent."""
    return [
        (dialect, path)
        for folder, dialect in FOLDERS.items()
        for path in sorted((WIRE / folder).glob("*request.json"))
        if not path.with_name(path.name.replace("request.json", "error.json")).exists()
    ]


RECORDINGS = recordings()
needed = pytest.mark.skipif(not RECORDINGS, reason="no recorded requests: ../shared/wire is not beside this checkout")
each = pytest.mark.parametrize(
    ("dialect", "path"),
    RECORDINGS or [("", Path())],
    ids=[f"{path.parent.name}/{path.stem}" for _, path in RECORDINGS] or ["none"],
)


def home(dialect: str, body: dict[str, Any]) -> str:
    """The profile to which the body was sent: a model that takes system messages in its list is another target (AN3)."""
    mid = dialect == "anthropic" and any(message["role"] == "system" for message in body["messages"])
    return "anthropic:mid-system" if mid else dialect


@needed
def test_there_are_recordings_of_every_dialect() -> None:
    assert {dialect for dialect, _ in RECORDINGS} == set(FOLDERS.values())
    assert len(RECORDINGS) > 100


@needed
@each
def test_the_judges_accept_what_the_provider_accepted(dialect: str, path: Path) -> None:
    body = json.loads(path.read_text())
    assert complaints(home(dialect, body), body, whole=True) == []


@needed
@each
def test_at_home_it_comes_back_equal_and_unreported(dialect: str, path: Path) -> None:
    body = json.loads(path.read_text())
    result = sendable.normalize(body, to=home(dialect, body))
    assert described(result.report) == []
    assert result.dropped == 0
    assert result.body == json.loads(path.read_text())
    assert repr(result.messages) == repr(body[KEYS.get(dialect, "messages")])


@needed
@each
def test_at_home_its_messages_come_back_byte_for_byte(dialect: str, path: Path) -> None:
    text = path.read_text()
    result = sendable.normalize_json(text.encode(), to=home(dialect, json.loads(text)))
    assert described(result.report) == []
    body = json.loads(text)
    if isinstance(body[KEYS.get(dialect, "messages")], list):
        assert message_texts(result.data.decode()) == message_texts(text)
    assert json.loads(result.data) == body


@needed
@each
@pytest.mark.parametrize("target", TARGETS)
def test_abroad_the_laws_hold(dialect: str, path: Path, target: str) -> None:
    body = json.loads(path.read_text())
    if target == dialect:
        target = home(dialect, body)
    result = sendable.normalize(body, to=target)
    assert repr(body) == repr(json.loads(path.read_text()))
    # Gemini's requests name their model in the address alone.
    whole = "model" in body or "modelId" in body
    assert complaints(target, result.body, whole=whole) == []
    assert list(unlocated(body, result.report)) == []
    again = sendable.normalize(result.body, to=target)
    assert described(again.report) == []
    assert again.body == result.body
    assert gone(body, result) == [], described(result.report)


def said(text: str) -> list[str]:
    """What a string says: the strings inside it if it is JSON, else itself."""
    try:
        inner = json.loads(text)
    except ValueError:
        return [text]
    return list(texts(inner)) if isinstance(inner, dict | list) else [text]


def gone(body: dict[str, Any], result: sendable.Result) -> list[str]:
    """Strings of the messages and the instructions that are neither sent nor excused. A string that is JSON counts by what is in it."""
    sent, excused, missing = "\n".join(texts(result.body)), excuses(result.report), []
    for key in ("messages", "input", "contents", "system", "instructions", "systemInstruction"):
        for at, text in leaves(body.get(key), (key,)):
            content = said(text)
            if at[-1] in _STRUCTURE or any(within(at, place) for place in excused):
                continue
            missing += [f"{at}: {part[:60]!r}" for part in content if part not in sent]
    return missing
