"""Losing something without an entry is a type error: both checkers refuse each snippet of `types/`, and accept the complete forms.

A snippet marks the line that has to be refused with `# refused:`; an error anywhere else would prove something else.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

FOLDER = Path(__file__).parent / "types"
ROOT = FOLDER.parent.parent
SNIPPETS = sorted(FOLDER.glob("*.py"))
REFUSED = [snippet for snippet in SNIPPETS if "# refused:" in snippet.read_text()]


def marked(snippet: Path) -> set[int]:
    """The lines that a checker has to refuse."""
    return {number for number, line in enumerate(snippet.read_text().splitlines(), 1) if "# refused:" in line}


@cache
def errors_of_mypy() -> dict[str, set[int]]:
    """The lines in which mypy finds errors, by file name."""
    command = [sys.executable, "-m", "mypy", "--strict", "--no-error-summary", "--no-color-output", *map(str, SNIPPETS)]
    answer = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=False)
    assert answer.returncode in (0, 1), answer.stdout + answer.stderr
    found: dict[str, set[int]] = {}
    for name, line in re.findall(r"(\w+\.py):(\d+): error:", answer.stdout):
        found.setdefault(name, set()).add(int(line))
    return found


@cache
def errors_of_pyright() -> dict[str, set[int]]:
    """The lines in which pyright finds errors, by file name."""
    command = [sys.executable, "-m", "pyright", "--outputjson", "--pythonpath", sys.executable, *map(str, SNIPPETS)]
    answer = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=False)
    assert answer.returncode in (0, 1), answer.stdout[-2000:] + answer.stderr[-2000:]
    found: dict[str, set[int]] = {}
    for finding in json.loads(answer.stdout)["generalDiagnostics"]:
        if finding["severity"] == "error":
            found.setdefault(Path(finding["file"]).name, set()).add(finding["range"]["start"]["line"] + 1)
    return found


def test_there_are_snippets() -> None:
    """The folder holds what has to be refused, and one file that has to be accepted."""
    assert len(REFUSED) >= 10
    assert [snippet.name for snippet in SNIPPETS if snippet not in REFUSED] == ["complete.py"]


@pytest.mark.parametrize("snippet", REFUSED, ids=lambda snippet: snippet.stem)
def test_mypy_refuses(snippet: Path) -> None:
    """mypy finds an error in the marked line, and nowhere else."""
    assert errors_of_mypy().get(snippet.name, set()) == marked(snippet)


@pytest.mark.parametrize("snippet", REFUSED, ids=lambda snippet: snippet.stem)
def test_pyright_refuses(snippet: Path) -> None:
    """pyright finds an error in the marked line, and nowhere else."""
    assert errors_of_pyright().get(snippet.name, set()) == marked(snippet)


def test_the_complete_forms_are_accepted() -> None:
    """What differs from the snippets in nothing but completeness has no error."""
    assert "complete.py" not in errors_of_mypy()
    assert "complete.py" not in errors_of_pyright()
