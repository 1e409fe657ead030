"""What `import sendable` may pull in: nothing that does I/O, draws on a terminal, or is slow to import. Not here: how fast it is (bench/)."""

from __future__ import annotations

import subprocess
import sys

import pytest

UNWANTED = (
    "click", "rich", "asyncio", "ssl", "socket", "http", "urllib", "subprocess", "orjson", "dataclasses", "multiprocessing", "logging",
    "importlib.metadata", "importlib.resources", "inspect", "pathlib", "tempfile", "shutil", "signal", "concurrent", "email", "xml",
    "sqlite3", "difflib", "argparse", "unittest", "pydantic", "openai", "anthropic", "sendable.cli", "sendable.policies",
)  # fmt: skip

PROGRAM = """
import msgspec, sys
before = set(sys.modules)
import sendable
print("\\n".join(sorted(set(sys.modules) - before)))
"""


def _imported(program: str) -> set[str]:
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    return set(done.stdout.split())


@pytest.fixture(scope="module")
def imported() -> set[str]:
    return _imported(PROGRAM)


@pytest.mark.parametrize("name", UNWANTED)
def test_the_library_alone_imports_no(name: str, imported: set[str]) -> None:
    assert not {module for module in imported if module == name or module.startswith(f"{name}.")}


def test_nor_does_a_run_of_it() -> None:
    run = PROGRAM.replace(
        "import sendable\n", 'import sendable\nsendable.normalize([{"role": "user", "content": "hi"}], "anthropic")\n'
    )
    assert not {module.split(".")[0] for module in _imported(run)} & {name for name in UNWANTED if "." not in name}


def test_words_are_imported_only_when_a_report_is_printed(imported: set[str]) -> None:
    assert not {module for module in imported if module.startswith("sendable.render")}
