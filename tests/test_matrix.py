"""The matrix: its page is what a run gives, and every cell is what the report says and what is seen in the output.

Not here: what a conversion should lose (tests/cases, tests/laws).
"""

from __future__ import annotations

import copy
import json
import os
import re
import subprocess
import sys
from itertools import product
from typing import Any

import pytest

import sendable
from sendable.codes import CODES
from sendable.matrix import cells, pages
from sendable.matrix.cells import DIALECTS, PROPERTIES, Cell, judged
from sendable.matrix.look import look, shown
from sendable.matrix.samples import SAMPLES
from sendable.targets import TARGETS
from tests.judges.bench import complaints
from tests.pages import DOCS

PAIRS = list(product(DIALECTS, DIALECTS))
SHOWN = [(name, source) for name in PROPERTIES for source in SAMPLES[name]]
ALL = list(cells.cells())


def run_of(name: str, source: str, target: str) -> tuple[Any, Any]:
    result = sendable.normalize(SAMPLES[name][source].history, to=target, source=source)
    return copy.deepcopy(result.body), result.report


# --- the page ----------------------------------------------------------------------------------------------------------


def test_the_page_is_what_a_run_gives() -> None:
    """Stale? `sendable matrix --format markdown > docs/matrix.md`, and look at the difference before you commit it."""
    assert (DOCS / "matrix.md").read_text() == pages.markdown(ALL)


def test_the_first_line_of_the_page_names_the_command() -> None:
    assert "`sendable matrix --format markdown`" in (DOCS / "matrix.md").read_text().splitlines()[0]


def test_the_page_links_every_code_to_its_page() -> None:
    links = set(re.findall(r"\]\((losses/[A-Z0-9]+\.md)\)", (DOCS / "matrix.md").read_text()))
    assert links == {f"losses/{code}.md" for one in ALL for code in one.codes}
    assert all((DOCS / link).is_file() for link in links)


# --- the cells ---------------------------------------------------------------------------------------------------------


def test_the_dialects_are_all_that_there_are_and_so_are_the_properties() -> None:
    assert sorted(DIALECTS) == sorted({target.dialect.name for target in TARGETS.values()})
    assert len(ALL) == len(DIALECTS) ** 2 * len(PROPERTIES)
    assert set(PROPERTIES) >= {
        "reasoning text", "signature", "encrypted reasoning", "parallel calls", "order of text and calls", "error flag", "strict flag",
        "images in user turns", "images in results", "documents", "audio", "citations", "cache marks", "mid-list system",
        "several results per call", "hosted tools", "continuation",
    }  # fmt: skip


@pytest.mark.parametrize(("source", "target"), PAIRS)
def test_report_and_output_agree(source: str, target: str) -> None:
    doubts = [one.doubt for one in ALL if (one.source, one.target) == (source, target) and one.doubt]
    assert doubts == []


def test_every_code_exists_and_only_what_is_kept_has_none() -> None:
    for one in ALL:
        assert set(one.codes) <= set(CODES)
        assert bool(one.codes) == (one.fate in ("degraded", "dropped")), one


def test_at_home_everything_is_kept() -> None:
    assert [one for one in ALL if one.source == one.target and one.fate not in (None, "kept")] == []


def test_a_dash_stands_where_the_source_has_no_such_thing() -> None:
    assert {(one.name, one.source) for one in ALL if one.fate is not None} == set(SHOWN)


# --- the samples -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "source"), SHOWN)
def test_a_sample_shows_its_property_and_is_accepted_at_home(name: str, source: str) -> None:
    sample = SAMPLES[name][source]
    assert shown(look(sample.history, source), name)
    result = sendable.normalize(sample.history, to=source, source=source)
    assert not result.report.entries, str(result.report)
    assert objections(name, source, source, result.body) == []


@pytest.mark.parametrize(("name", "source"), SHOWN)
def test_no_judge_refuses_what_becomes_of_a_sample(name: str, source: str) -> None:
    for target in DIALECTS:
        assert objections(name, target, source, run_of(name, source, target)[0]) == [], target


def objections(name: str, target: str, source: str, body: Any) -> list[str]:
    """What the judges say of a history; a body without a model is no request, and needs no limit."""
    said = complaints(judge_of(name, target, source), body)
    return [one for one in said if one != "SDK: max_tokens: Field required"]


def judge_of(name: str, target: str, source: str) -> str:
    """Mid-list system messages are a matter of the model that the body names."""
    return "anthropic:mid-system" if name == "mid-list system" and source == target == "anthropic" else target


# --- doubt -------------------------------------------------------------------------------------------------------------


def test_what_is_gone_without_an_entry_is_doubted() -> None:
    body, report = run_of("signature", "anthropic", "bedrock-converse")
    assert judged("signature", "anthropic", "bedrock-converse", body, report) == Cell(
        "signature", "anthropic", "bedrock-converse", "kept"
    )
    del body["messages"][1]["content"][0]["reasoningContent"]["reasoningText"]["signature"]
    found = judged("signature", "anthropic", "bedrock-converse", body, report)
    assert found.fate == "dropped"
    assert "it is gone, and there is no entry" in str(found.doubt)


def test_what_is_changed_without_an_entry_is_doubted() -> None:
    body, report = run_of("order of text and calls", "anthropic", "bedrock-converse")
    blocks = body["messages"][1]["content"]
    blocks[0], blocks[2] = blocks[2], blocks[0]
    found = judged("order of text and calls", "anthropic", "bedrock-converse", body, report)
    assert found.fate == "degraded"
    assert "it is changed, and there is no entry" in str(found.doubt)


def test_an_entry_although_nothing_changed_is_doubted() -> None:
    body, _ = run_of("error flag", "anthropic", "bedrock-converse")
    _, report = run_of("error flag", "anthropic", "openai-chat")
    found = judged("error flag", "anthropic", "bedrock-converse", body, report)
    assert found.fate == "kept"
    assert "it is there as it was, and yet there are entries" in str(found.doubt)


def test_a_drop_that_is_reported_as_something_weaker_is_doubted() -> None:
    body, report = run_of("images in results", "anthropic", "openai-chat")
    del body["messages"][-1]
    found = judged("images in results", "anthropic", "openai-chat", body, report)
    assert "no entry says that it was dropped or stripped" in str(found.doubt)


def test_another_property_that_changes_in_silence_is_doubted() -> None:
    body, report = run_of("parallel calls", "anthropic", "gemini")
    body["contents"][0]["parts"][0]["text"] = "something else"
    assert "the property 'text' changed" in str(judged("parallel calls", "anthropic", "gemini", body, report).doubt)


def test_an_entry_about_something_else_and_a_refusal_are_doubted() -> None:
    body, _ = run_of("strict flag", "openai-chat", "anthropic")
    _, report = run_of("mid-list system", "openai-chat", "anthropic")
    assert "about something else" in str(judged("strict flag", "openai-chat", "anthropic", body, report).doubt)
    assert "refused" in str(judged("strict flag", "openai-chat", "anthropic", None, report).doubt)


# --- the command -------------------------------------------------------------------------------------------------------


def run(*arguments: str) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "sendable", "matrix", *arguments], capture_output=True, check=True, env=os.environ
    )
    assert done.stderr == b""
    return done.stdout.decode()


def test_the_command_writes_the_page() -> None:
    assert run("--format", "markdown") == (DOCS / "matrix.md").read_text()


def test_the_command_writes_json() -> None:
    assert json.loads(run("--from", "anthropic", "--to", "openai-chat", "--format", "json")) == [
        {"from": one.source, "to": one.target, "property": one.name, "fate": one.fate, "codes": [*one.codes]}
        for one in ALL
        if (one.source, one.target) == ("anthropic", "openai-chat")
    ]


def test_the_command_writes_words() -> None:
    lines = run("--to", "openai-chat").splitlines()
    assert [line for line in lines if line.startswith("from ")] == [f"from {dialect}" for dialect in DIALECTS]
    assert "error flag                degraded RES001" in lines


def test_a_cell_in_doubt_says_so_in_every_form_that_people_read() -> None:
    doubted = [Cell("text", "flat", "gemini", "kept", (), "why")]
    assert "kept (in doubt)" in pages.text(doubted)
    assert "kept (in doubt)" in pages.markdown(doubted)


def test_a_dialect_that_does_not_exist_is_one_line() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "sendable", "matrix", "--to", "gemin"], capture_output=True, check=False, env=os.environ
    )
    assert (done.returncode, done.stdout) == (3, b"")
    assert done.stderr.decode() == "sendable: no dialect is called gemin; did you mean gemini?\n"
