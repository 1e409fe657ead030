"""The pages of docs/targets: one for each target, whose codes exist, whose models pick it, and whose example gives exactly what it says.

Not here: what the targets do (tests/test_cases.py, tests/laws/test_profiles.py).
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from sendable.codes import CODES
from sendable.targets import TARGETS, target_of
from tests.pages import DOCS, examples, outcome

FOLDER = DOCS / "targets"


def page_of(target: str) -> Path:
    return FOLDER / f"{target.replace(':', '-')}.md"


def test_each_target_has_its_page_and_each_page_its_target() -> None:
    pages = {page for page in FOLDER.glob("*.md") if page.name != "index.md"}
    assert pages == {page_of(target) for target in TARGETS}


def test_the_index_lists_them_as_they_are() -> None:
    text = (FOLDER / "index.md").read_text(encoding="utf-8")
    for target in TARGETS.values():
        assert f"| [{target.name}]({page_of(target.name).name}) | {target.about} |\n" in text


@pytest.mark.parametrize("target", TARGETS)
def test_a_page_begins_with_the_words_of_its_target(target: str) -> None:
    text = page_of(target).read_text(encoding="utf-8")
    assert text.startswith(f"# {target}\n\n> {TARGETS[target].about}\n\nDialect: `{TARGETS[target].dialect.name}`.\n")
    for part in ("What it accepts", "What becomes of the rest", "Since", "Example"):
        assert f"\n## {part}\n\n" in text


@pytest.mark.parametrize("target", TARGETS)
def test_every_code_that_a_page_names_exists_and_is_linked(target: str) -> None:
    text = page_of(target).read_text(encoding="utf-8")
    named = set(re.findall(r"\b[A-Z]{3}\d{3}\b", text))
    assert named <= CODES.keys()
    for code in re.findall(r"\[([A-Z]{3}\d{3})\]\(../losses/\1.md\)", text):
        assert (DOCS / "losses" / f"{code}.md").is_file()


@pytest.mark.parametrize("target", TARGETS)
def test_the_models_that_a_page_names_pick_its_target(target: str) -> None:
    found = re.search(r"^Picked by `model=` for: (.*)\.$", page_of(target).read_text(encoding="utf-8"), re.MULTILINE)
    for model in re.findall(r"`([^`]+)`", found[1]) if found else ():
        picked = target_of(model, TARGETS[target].dialect.name)
        assert picked is TARGETS[target], model


@pytest.mark.parametrize("target", TARGETS)
def test_the_example_of_a_page_gives_what_it_says(target: str) -> None:
    [example] = examples(page_of(target))
    assert example.target == target
    assert example.found == outcome(example)


@pytest.mark.parametrize("target", TARGETS)
def test_the_links_of_a_page_lead_somewhere(target: str) -> None:
    page = page_of(target)
    for link in re.findall(r"\]\(([^)#]+)\)", page.read_text(encoding="utf-8")):
        assert (page.parent / link).is_file(), link
