"""Everything that the documentation shows is run here, and fails when it is no longer what happens.

Python blocks run in the order of their page, and print what the `text` block behind them says. Console blocks are run as commands, and
their output is compared but for white space, since a page may lay out JSON. Examples of losses give exactly these entries and this output.
Not here: whether there is a page for everything (test_codes.py).
"""

from __future__ import annotations

import contextlib
import inspect
import io
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import sendable
from sendable.codes import CODES
from sendable.options import Options
from sendable.targets import TARGETS
from tests.pages import DOCS, LOSSES, ROOT, Block, Example, blocks, examples, head, index, laid_out, outcome, table

PAGES = [ROOT / "README.md", *sorted(DOCS.glob("*.md"))]
LOSS_PAGES = sorted(LOSSES.glob("[A-Z]*.md"))
EXAMPLES = [example for page in LOSS_PAGES for example in examples(page)]
LONGEST = 3500
"""Characters of a loss page without its examples."""


def name(page: Path) -> str:
    return page.name


# --- the examples of losses --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.name)
def test_an_example_gives_exactly_what_its_page_says(example: Example) -> None:
    assert example.found == outcome(example)


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.name)
def test_an_example_shows_the_code_of_its_page(example: Example) -> None:
    # In the table of entries, or as the error that is raised where there is no answer to report about.
    assert any(shown in example.found for shown in (f"| {example.page.stem} |", f"Refused: `{example.page.stem}`,"))


READABLE = [
    example
    for example in EXAMPLES
    if example.kind == "A history" and example.language == "json" and example.page.stem not in ("SHP010", "SHP013")
]
"""Examples that are the same as bytes and as objects: not those that no JSON parser would give to anybody."""


@pytest.mark.parametrize("example", READABLE, ids=lambda example: example.name)
def test_an_example_is_the_same_for_objects_and_its_result_needs_nothing_more(example: Example) -> None:
    history: Any = json.loads(example.history)
    # What only the caller can know stays worth a note however often it is said.
    options = {key: value for key, value in example.options.items() if key != "same_model"}
    assert example.target is not None
    report = sendable.check(history, example.target, model=example.model, options=example.options)
    assert example.found.startswith(table(report).strip())
    if report.refused:
        return
    result = sendable.normalize(history, example.target, model=example.model, options=example.options)
    body = result.body
    if isinstance(history, list) and isinstance(body, dict) and len(body) == 1:
        body = result.messages
    assert example.found.endswith(laid_out(body))
    again = sendable.check(body, example.target, model=example.model, options=options)
    assert not again.entries, str(again)


@pytest.mark.parametrize("page", LOSS_PAGES, ids=name)
def test_a_loss_page_begins_with_the_words_of_the_table_and_has_every_part(page: Path) -> None:
    text = page.read_text()
    assert text.startswith(head(CODES[page.stem]))
    parts = re.findall(r"^## (.*)$", text, re.MULTILINE)
    assert parts in (
        ["What was found", "What becomes of it", "Why", "Example"],
        ["What was found", "What becomes of it", "Why", "Examples"],
    )
    assert list(examples(page)), "the page has no example"
    assert len(text) - sum(len(example.history) + len(example.found) for example in examples(page)) < LONGEST


@pytest.mark.parametrize("page", LOSS_PAGES, ids=name)
def test_every_fence_of_a_loss_page_belongs_to_an_example(page: Path) -> None:
    """A block that no test reads could say anything."""
    outputs = sum("```json" in example.found for example in examples(page))
    assert len(blocks(page)) == len(list(examples(page))) + outputs


def test_the_index_lists_every_code_as_it_is() -> None:
    text = (LOSSES / "index.md").read_text()
    assert text[text.index("| code |") :] == index()
    families = {code[:3] for code in CODES}
    assert set(re.findall(r"^\| ([A-Z]{3}) \|", text, re.MULTILINE)) == families


# --- python ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("page", [page for page in PAGES if page.stem != "adding-a-dialect"], ids=name)
def test_the_python_of_a_page_runs_and_prints_what_it_says(page: Path) -> None:
    names: dict[str, Any] = {}
    listed = blocks(page)
    for block, behind in zip(listed, [*listed[1:], None], strict=False):
        if block.language == "python":
            printed = io.StringIO()
            with contextlib.redirect_stdout(printed):
                exec(compile("\n" * block.line + block.text, str(page), "exec"), names)
            expected = behind.text if behind is not None and behind.language == "text" else ""
            assert printed.getvalue() == expected, f"{page.name}, line {block.line}"


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_every_block_of_a_page_is_of_a_kind_that_is_tested(page: Path) -> None:
    for block, before in zip(blocks(page), [None, *blocks(page)], strict=False):
        assert block.language in {"python", "console", "sh", "text", "json", "toml"}, block
        if block.language in {"json", "toml"}:
            assert block.file or page.stem == "adding-a-dialect", f"line {block.line}: not a file that a command reads"
        if block.language == "text":
            printed = before is not None and before.language == "python"
            assert printed or page.stem == "architecture", block


# --- commands ----------------------------------------------------------------------------------------------------------


def commands(block: Block) -> list[tuple[str, str]]:
    """The commands of a console block, each with the output that is shown below it."""
    found = re.split(r"^\$ ", block.text, flags=re.MULTILINE)[1:]
    return [(part.partition("\n")[0], part.partition("\n")[2]) for part in found]


@pytest.fixture
def desk(tmp_path: Path) -> tuple[Path, dict[str, str]]:
    """A folder with examples/ in it, and an environment in which `sendable` is this checkout's command."""
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    programs = tmp_path / "bin"
    programs.mkdir()
    script = programs / "sendable"
    script.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m sendable "$@"\n')
    script.chmod(0o755)
    paths = [str(ROOT / "src"), *filter(None, [os.environ.get("PYTHONPATH")])]
    return tmp_path, {
        **os.environ,
        "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": os.pathsep.join(paths),
    }


@pytest.mark.parametrize("page", [page for page in PAGES if "```console" in page.read_text()], ids=name)
def test_the_commands_of_a_page_do_what_it_says(page: Path, desk: tuple[Path, dict[str, str]]) -> None:
    folder, environment = desk
    for block in blocks(page):
        if block.language in {"json", "toml"} and block.file:
            (folder / block.file).write_text(block.text)
        if block.language != "console":
            continue
        for command, shown in commands(block):
            done = subprocess.run(
                ["sh", "-c", command], cwd=folder, env=environment, text=True, encoding="utf-8", check=False,
                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=60,
            )  # fmt: skip
            assert "".join(done.stdout.split()) == "".join(shown.split()), f"$ {command}\n{done.stdout}"


def test_the_commands_for_a_fresh_machine_exist() -> None:
    import dev

    readme = (ROOT / "README.md").read_text()
    named = {command for page in PAGES for command in re.findall(r"python3 dev\.py (\w+)", page.read_text())}
    assert {"examples", "test"} <= named <= set(dev.COMMANDS)
    assert "python3 dev.py examples" in readme
    assert "python3 dev.py test" in readme


def test_the_first_screen_has_the_problem_a_command_and_its_output() -> None:
    screen = "\n".join((ROOT / "README.md").read_text().splitlines()[:45])
    assert "must be followed by tool messages" in screen, "the provider's 400"
    assert "$ sendable normalize" in screen
    assert "PAR001 unanswered-call" in screen


# --- what the pages name -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("page", [*PAGES, *LOSS_PAGES], ids=name)
def test_codes_targets_and_files_that_a_page_names_exist(page: Path) -> None:
    text = page.read_text()
    assert set(re.findall(r"\b[A-Z]{3}\d{3}\b", text)) <= set(CODES), "a code that does not exist"
    for target in re.findall(
        r"`((?:openai-chat|openai-responses|anthropic|gemini|bedrock-converse)(?::[\w.-]+)*)`", text
    ):
        assert target in TARGETS, target
    for file in re.findall(r"`((?:rules|dialects|render)/[\w/]+\.py)`", text):
        assert (ROOT / "src/sendable" / file).is_file() or page.stem == "adding-a-dialect", file


@pytest.mark.parametrize("page", [*PAGES, *LOSS_PAGES, LOSSES / "index.md"], ids=name)
def test_links_of_a_page_lead_somewhere(page: Path) -> None:
    for link in re.findall(r"\]\(([^)#]+)(?:#[\w-]*)?\)", page.read_text()):
        if "://" not in link:
            assert (page.parent / link).exists(), link


@pytest.mark.parametrize("page", [*PAGES, *LOSS_PAGES, LOSSES / "index.md", ROOT / "mkdocs.yml"], ids=name)
def test_a_page_names_no_place_of_a_machine(page: Path) -> None:
    found = re.findall(r"(?<![\w.`(])/(?:home|root|tmp|usr|work|Users|opt)/[\w/.-]*", page.read_text())
    assert not found


def test_every_option_is_explained() -> None:
    text = (DOCS / "python.md").read_text()
    table = text[text.index("| option |") :]
    assert set(Options.__struct_fields__) == {
        word for row in re.findall(r"^\| (`.*?) \|", table, re.MULTILINE) for word in re.findall(r"`(\w+)`", row)
    }


def test_the_signature_of_normalize_is_what_it_is() -> None:
    plain = inspect.signature(sendable.normalize)
    bare = [parameter.replace(annotation=inspect.Parameter.empty) for parameter in plain.parameters.values()]
    shown = str(inspect.Signature(bare)).replace("'", '"')
    assert f"`normalize{shown}`" in (DOCS / "python.md").read_text()


def test_every_public_name_is_explained() -> None:
    text = "".join(page.read_text() for page in (DOCS / "python.md", DOCS / "policies.md"))
    assert {public for public in sendable.__all__ if not re.search(rf"\b{public}\b", text)} == set()


def test_every_option_of_the_command_is_explained() -> None:
    from click import Context, Group

    from sendable.cli import commands as group

    text = (DOCS / "cli.md").read_text()
    top = Context(group)
    names = group.list_commands(top)
    found = [group.get_command(top, name) for name in names]
    found += [inner for command in found if isinstance(command, Group) for inner in command.commands.values()]
    for command in found:
        assert command is not None
        for parameter in command.params:
            if parameter.param_type_name == "option":
                longest = max(parameter.opts, key=len)
                assert f"`{longest}" in text or f"{parameter.opts[0]} " in text, (command.name, longest)
    assert set(re.findall(r"^sendable ([\w-]+)", text, re.MULTILINE)) == set(names)


def test_every_target_is_on_the_readme_or_its_profiles_are_said_to_be_listed() -> None:
    readme = (ROOT / "README.md").read_text()
    assert {name for name in TARGETS if ":" not in name} <= set(re.findall(r"`([\w-]+)`", readme))


@pytest.mark.skipif(
    shutil.which("mkdocs", path=str(Path(sys.executable).parent)) is None, reason="mkdocs is not installed"
)
def test_the_site_is_built_without_a_warning_and_asks_nobody_for_anything(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(tmp_path / "site")]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    for file in (tmp_path / "site").rglob("*.html"):
        fetched = re.findall(r"<(?:script|link|img|iframe)\b[^>]*?(?:src|href)=\"([^\"]+)\"", file.read_text())
        assert not [address for address in fetched if address.startswith(("http:", "https:", "//"))], file
