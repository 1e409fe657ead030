"""The stored histories in examples/: each is refused by a provider today, and sendable afterwards. Not here: what exactly becomes of them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import sendable

FOLDER = Path(__file__).parents[1] / "examples"
HISTORIES = sorted(FOLDER.glob("*.json"))
ACROSS = ("openai-chat", "anthropic", "flat")


def target_of(file: Path) -> str:
    return file.name.split(".")[-2].replace("+", ":")


def load(file: Path) -> Any:
    return json.loads(file.read_bytes())


def entries(report: sendable.Report) -> list[tuple[str, str, str, str]]:
    return sorted((entry.code, entry.verb, entry.path, entry.param) for entry in report.entries)


def arguments_read(value: Any) -> Any:
    """The tree with JSON text replaced by what it says: bytes keep the caller's own spelling of arguments, objects have none."""
    if isinstance(value, dict):
        return {key: arguments_read(item) for key, item in value.items()}
    if isinstance(value, list):
        return [arguments_read(item) for item in value]
    return json.loads(value) if isinstance(value, str) and value.startswith("{") else value


EXPECTED = {
    "ids-restart-every-turn.anthropic.json": {"PAR004"},
    "interrupted-parallel-call.openai-chat.json": {"PAR001"},
    "steered-mid-run.openai-chat.json": {"PAR006"},
    "thinking-images-error.anthropic.json": {"ORD001", "EMP003"},
    "trimmed-window.openai-chat.json": {"PAR002", "PAR003"},
}
"""Codes without which the example would show nothing."""


def test_every_example_is_listed_here_and_explained_in_the_readme() -> None:
    assert {file.name for file in HISTORIES} == set(EXPECTED)
    readme = (FOLDER / "README.md").read_text()
    assert all(file.name in readme for file in FOLDER.iterdir() if file.name != "README.md")


@pytest.mark.parametrize("file", HISTORIES, ids=lambda file: file.name)
def test_it_is_not_sendable_as_it_is(file: Path) -> None:
    report = sendable.check(load(file), target_of(file))
    assert not report.refused
    assert EXPECTED[file.name] <= set(report.counts)


@pytest.mark.parametrize("file", HISTORIES, ids=lambda file: file.name)
def test_strict_refuses_it_and_says_where_or_only_renames(file: Path) -> None:
    report = sendable.check(load(file), target_of(file), policy="strict")
    if report.refused:
        with pytest.raises(sendable.HistoryError) as caught:
            sendable.normalize(load(file), target_of(file), policy="strict")
        assert caught.value.param
    else:
        assert report.entries


@pytest.mark.parametrize("file", HISTORIES, ids=lambda file: file.name)
@pytest.mark.parametrize("target", ACROSS)
def test_it_is_sendable_afterwards_wherever_it_goes(file: Path, target: str) -> None:
    body = sendable.normalize(load(file), target).body
    again = sendable.check(body, target)
    assert not again.entries, str(again)


@pytest.mark.parametrize("file", HISTORIES, ids=lambda file: file.name)
@pytest.mark.parametrize("target", ACROSS)
def test_bytes_and_objects_agree(file: Path, target: str) -> None:
    data = file.read_bytes()
    by_bytes, by_object = sendable.normalize_json(data, target), sendable.normalize(load(file), target)
    assert entries(by_bytes.report) == entries(by_object.report)
    assert arguments_read(json.loads(by_bytes.data)) in (
        arguments_read(by_object.body),
        arguments_read(by_object.messages),
    )


def test_the_night_of_sessions_holds_one_of_each() -> None:
    lines = (FOLDER / "one-night.openai-chat.jsonl").read_bytes().splitlines()
    fates = []
    for line in lines:
        try:
            history = json.loads(line)
        except ValueError:
            fates.append("unreadable")
            continue
        report = sendable.check(history, "openai-chat")
        fates.append("refused" if report.refused else "changed" if report.entries else "clean")
    assert fates == ["clean", "changed", "unreadable", "changed", "refused", "clean"]


def test_the_images_are_images() -> None:
    images = [
        inner["source"]["data"]
        for message in load(FOLDER / "thinking-images-error.anthropic.json")["messages"]
        if isinstance(message["content"], list)
        for block in message["content"]
        if block["type"] == "tool_result" and isinstance(block["content"], list)
        for inner in block["content"]
        if inner["type"] == "image"
    ]
    assert len(set(images)) == 2
    assert all(image.startswith("iVBORw0KGgo") for image in images)
