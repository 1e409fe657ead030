"""docs/adding-a-dialect.md, followed literally: its files are written into a copy of the package, and its program is run there.

Not here: whether the real dialects are right (laws/, cases/).
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.pages import DOCS, ROOT, Block, blocks

PAGE = DOCS / "adding-a-dialect.md"
PROGRAMS = [block for block in blocks(PAGE) if block.language == "python" and block.file is None]
OUTPUTS = [block for block in blocks(PAGE) if block.language == "text"]


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that holds the package with the dialect of the page in it, and the page's history."""
    folder = tmp_path_factory.mktemp("checkout")
    shutil.copytree(ROOT / "src" / "sendable", folder / "sendable", ignore=shutil.ignore_patterns("__pycache__"))
    for block in blocks(PAGE):
        if block.file is not None:
            _put(folder, block)
    return folder


def _put(folder: Path, block: Block) -> None:
    assert block.file is not None
    if block.language == "json":
        (folder / block.file).write_text(block.text)
        return
    file = folder / "sendable" / block.file
    file.parent.mkdir(exist_ok=True)
    before = file.read_text() + "\n\n" if file.exists() else ""
    file.write_text(before + block.text)


def _run(checkout: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": str(checkout), "PYTHONDONTWRITEBYTECODE": "1"}
    return subprocess.run(
        [sys.executable, *arguments], cwd=checkout, env=environment, capture_output=True, text=True, check=False
    )


def test_the_page_has_every_part_of_a_dialect() -> None:
    files = [block.file for block in blocks(PAGE) if block.language == "python" and block.file is not None]
    assert files == [*(f"dialects/script/{part}.py" for part in ("read", "fit", "write", "__init__")), "targets.py"]
    assert len(PROGRAMS) == len(OUTPUTS) == 1


def test_the_program_of_the_page_prints_what_it_says(checkout: Path) -> None:
    done = _run(checkout, "-c", PROGRAMS[0].text)
    assert done.stderr == ""
    assert done.stdout == OUTPUTS[0].text


HISTORY = [
    {"role": "system", "content": "be brief"},
    {"role": "user", "content": "show me"},
    {"role": "assistant", "content": [
        {"type": "thinking", "thinking": "hm", "signature": "EqQBCg"}, {"type": "tool_use", "id": "c1", "name": "look", "input": {"a": 1}},
    ]},
    {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c1", "content": "there", "is_error": True}, {"type": "text", "text": "x"}]},
    {"who": "bot", "says": "done", "mood": "good", "asks": ["what?"]},
]  # fmt: skip
EXPECTED = {
    "entries": [
        ["RSN005", "drop", "messages[2].content[0]"],
        ["RES001", "degrade", "messages[3].content[0].is_error"],
        ["BLK001", "drop", "messages[4].asks[0]"],
        ["FLD001", "strip", "messages[4].mood"],
    ],
    "messages": [
        {"who": "author", "says": "be brief"},
        {"who": "user", "says": "show me"},
        {"who": "bot", "says": "", "asks": [{"ref": "c1", "tool": "look", "with": {"a": 1}}]},
        {"who": "tool", "says": "[tool error] there", "ref": "c1"},
        {"who": "user", "says": "x"},
        {"who": "bot", "says": "done"},
    ],
}

PROGRAM = """
import json, sendable
history = json.loads(input())
objects = sendable.normalize(history, "script")
data = sendable.normalize_json(json.dumps(history).encode(), "script")
assert json.loads(data.data) == objects.messages, data.data
assert not sendable.check(objects.body, "script").entries
for target in sendable.target_names():
    sent = sendable.normalize(objects.body, target)
    assert not sendable.check(sent.body, target).entries, target
print(json.dumps({
    "entries": [[entry.code, entry.verb, entry.param] for entry in objects.report.entries],
    "messages": objects.messages,
}))
"""


def test_a_mixed_history_goes_in_with_its_losses_and_out_to_every_target(checkout: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": str(checkout)}
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], cwd=checkout, env=environment, input=json.dumps(HISTORY) + "\n",
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.stderr == ""
    assert json.loads(done.stdout) == EXPECTED


@pytest.mark.parametrize("broken", [None, "return fit_opaque(", "return ledger.drop(MED001"])
def test_the_type_checker_accepts_the_page_and_lists_what_is_left_undecided(checkout: Path, broken: str | None) -> None:
    """With a line of `fit_block` taken out, it no longer type-checks."""
    pytest.importorskip("mypy")
    file = checkout / "sendable/dialects/script/fit.py"
    whole = file.read_text()
    if broken is not None:
        lines = [
            line if broken not in line else f"{line[: len(line) - len(line.lstrip())]}pass"
            for line in whole.split("\n")
        ]
        file.write_text("\n".join(lines))
    try:
        done = _run(
            checkout,
            "-m",
            "mypy",
            "--strict",
            "--follow-imports=silent",
            "--config-file=",
            "sendable/dialects/script",
            "sendable/targets.py",
        )
    finally:
        file.write_text(whole)
    assert (done.returncode == 0) == (broken is None), done.stdout
    assert broken is None or "script/fit.py" in done.stdout
