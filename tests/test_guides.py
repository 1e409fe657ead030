"""The client guide says the same in English and in Chinese: the same sections, commands, tables, and names. Not here: whether the prose is well translated."""

from __future__ import annotations

import re
from pathlib import Path

from sendable.gateway.run import CLIENTS
from tests.pages import DOCS, blocks

ENGLISH, CHINESE = DOCS / "clients.md", DOCS / "clients.zh-CN.md"


def shape(page: Path) -> list[str]:
    """What every line is, and not what it says: the level of a heading, a point of a list, a row of so many cells."""
    found: list[str] = []
    for line in re.sub(r"^```.*?^```$", "```", page.read_text(encoding="utf-8"), flags=re.M | re.S).splitlines():
        if mark := re.match(r"#+ |- |```", line):
            found.append(mark[0].strip())
        elif line.startswith("|"):
            found.append(f"row of {line.count('|')}")
    return found


def names(page: Path) -> list[str]:
    """What stands in backquotes, section by section, in no order: a sentence may be turned around."""
    text = re.sub(r"^```.*?^```$", "", page.read_text(encoding="utf-8"), flags=re.M | re.S)
    return [repr(sorted(set(re.findall(r"`([^`]+)`", part)))) for part in re.split(r"^## ", text, flags=re.M)]


def test_both_guides_have_the_same_structure() -> None:
    assert shape(ENGLISH) == shape(CHINESE)


def test_both_guides_show_the_same_commands() -> None:
    english, chinese = ([(block.language, block.text) for block in blocks(page)] for page in (ENGLISH, CHINESE))
    assert english == chinese


def test_both_guides_name_the_same_things() -> None:
    assert names(ENGLISH) == names(CHINESE)


def test_the_second_guide_is_in_chinese() -> None:
    prose = [line for line in CHINESE.read_text(encoding="utf-8").splitlines() if line.startswith("- ")]
    assert prose
    assert all(re.search(r"[\u4e00-\u9fff]", line) for line in prose)


def test_every_client_of_the_guide_can_be_run() -> None:
    listed = re.findall(r"^\| .* \| `(\w+)` \|", ENGLISH.read_text(encoding="utf-8"), flags=re.M)
    assert listed
    assert set(listed) <= set(CLIENTS)
