"""Runs the cases of `tests/cases/*.md`: each is a history that a provider refused or that lost something in silence.

A case file is Markdown, written to be read:

- a title, what went wrong in the world and who reported it, and the provider's answer as a quotation;
- `Input: …. Targets: …, ….` with the dialects of the input and the targets to which it is sent;
- a `json` block with the input, perhaps a `json options` block, perhaps a `python input` block that completes `history` with
  what JSON cannot say;
- a heading per target, or `every target`; under it each statement of the specification as a `must` or `must not` bullet, followed by
  the `python` block that checks it. The line `May be refused.` under a heading makes a `HistoryError` an acceptable outcome there;
  the checks then see it as `error`, and its report as `report`.
- `In every case`: the statements that hold for each case and target. `ALWAYS` says which they are; they are checked for every pair,
  written down or not.

The words that the checks use are those of `case_language.Output`. Here lives the reader of the files and what holds for every case.
"""

from __future__ import annotations

import ast
import json
import re
import traceback
import warnings
from collections.abc import Callable, Iterator
from copy import deepcopy
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

import sendable
from tests.case_language import Json, Output, json_text, shared_objects

CASES = Path(__file__).parent / "cases"
HANDED = Path(__file__).parents[2] / "shared" / "cases"
"""The cases as they were handed to the project, where they stand beside the checkout."""

TO_COME: frozenset[str] = frozenset()
"""The dialects, with all their profiles, and the profiles whose cases may still wait: none."""

EVERY_TARGET = "every target"
IN_EVERY_CASE = "In every case"


# The file. --------------------------------------------------------------------------------------------------------------------------


@dataclass
class Statement:
    """One sentence of the specification, and the check under it."""

    obligation: str
    sentence: str
    code: str = ""
    line: int = 0


@dataclass
class Case:
    """A case file, read."""

    path: Path
    dialects: list[str] = field(default_factory=list)
    targets: list[str] = field(default_factory=list)
    input: Json = None
    completion: str = ""
    options: dict[str, Json] | None = None
    statements: dict[str, list[Statement]] = field(default_factory=dict)
    refusable: set[str] = field(default_factory=set)

    @property
    def id(self) -> str:
        return self.path.stem

    def history(self) -> Json:
        """A fresh input."""
        history = deepcopy(self.input)
        exec(compile(self.completion, self.path, "exec"), {"history": history})
        return history

    def may_be_refused(self, target: str) -> bool:
        return not self.refusable.isdisjoint({target, EVERY_TARGET})

    def about(self, target: str) -> list[Statement]:
        return [*self.statements.get(EVERY_TARGET, []), *self.statements.get(target, [])]


def read_case(path: Path) -> Case:
    """A case file; whatever in it is not understood is an error that names the line."""
    case = Case(path)
    section = ""
    lines = iter(enumerate(path.read_text(encoding="utf-8").splitlines(), start=1))
    for number, line in lines:
        where = f"{path.name}:{number}"
        if line.startswith("```"):
            block = "\n".join(_until_fence(lines))
            match line.removeprefix("```").split():
                case ["json"]:
                    case.input = json.loads(block)
                case ["json", "options"]:
                    case.options = json.loads(block)
                case ["python", "input"]:
                    case.completion = block
                case ["python"]:
                    statement = case.statements[section][-1]
                    assert not statement.code, f"{where}: a second check under one statement"
                    statement.code, statement.line = block, number
                case other:
                    raise AssertionError(f"{where}: a block of the kind {other}")
        elif line.startswith("## "):
            section = line.removeprefix("## ")
            assert section in (EVERY_TARGET, IN_EVERY_CASE, *case.targets), f"{where}: no target {section!r}"
            assert section not in case.statements, f"{where}: a second section {section!r}"
            case.statements[section] = []
        elif bullet := re.fullmatch(r"- (must|must not): (.*)", line):
            case.statements[section].append(Statement(bullet[1], bullet[2]))
        elif match := re.fullmatch(r"Input: (.*)\. Targets: (.*)\.", line):
            case.dialects, case.targets = (re.findall(r"`([^`]+)`", part) for part in match.groups())
        elif line == "May be refused.":
            case.refusable.add(section)
        else:
            assert not section or not line.strip(), f"{where}: text that checks nothing"
    return case


def _until_fence(lines: Iterator[tuple[int, str]]) -> Iterator[str]:
    for _, line in lines:
        if line == "```":
            return
        yield line


ALL = [read_case(path) for path in sorted(CASES.glob("*.md"))]
PAIRS = [(case, target) for case in ALL for target in case.targets]


def missing_for(case: Case, target: str) -> list[str]:
    """What the library does not offer yet and the pair needs: its target, or the dialect of its input."""
    offered = sendable.target_names()
    return [name for name in dict.fromkeys([target, *case.dialects]) if name not in offered]


# What holds for every case. ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Run:
    """One case, sent to one target."""

    case: Case
    history: Json
    untouched: Json
    output: Output


def input_unchanged(run: Run) -> None:
    assert run.history == run.untouched, "the input was changed"
    assert json.dumps(run.history) == json.dumps(run.untouched), "the input was changed"


def nothing_shared(run: Run) -> None:
    shared = shared_objects(run.history, run.output.body)
    assert not shared, f"input and output share {shared[0]!r}"


def deterministic(run: Run) -> None:
    again = Output.of(run.case.history(), run.output.target, run.case.options, refusable=run.output.error is not None)
    assert json.dumps(again.body) == json.dumps(run.output.body), "two runs gave different bytes"
    assert str(again.report) == str(run.output.report), "two runs gave different reports"


def strict_utf8_json(run: Run) -> None:
    json_text(run.output.body)


def idempotent(run: Run) -> None:
    if run.output.error is None:
        again = run.output.normalize_again(history=run.output.body)
        assert again.body == run.output.body, f"a second run changed the output to {again.body!r}"
        assert json.dumps(again.body) == json.dumps(run.output.body), "a second run changed the bytes"
        # A demand on the caller stands until he meets it: where a case does not ask for silence, it may be said again.
        silent = REPORTS_NOTHING in _sentences(run.case)
        said = [entry for entry in again.entries if silent or entry.verb not in ("note", "fault")]
        assert not said, f"a second run reported {[(entry.code, str(entry.path)) for entry in said]}"


def counted(run: Run) -> None:
    if run.output.error is None:
        drops = sum(entry.verb == "drop" for entry in run.output.entries)
        assert run.output.result.dropped == run.output.report.dropped == drops, "dropped is not the number of drops"


def located(run: Run) -> None:
    for entry in run.output.entries:
        for path in (entry.path, *entry.related):
            assert _resolves(str(path), run.untouched), f"{entry.code}: the input has no {path}"
        assert str(entry.param).startswith(str(entry.path)), f"{entry.code}: {entry.param} is not in {entry.path}"


def _resolves(path: str, history: Json) -> bool:
    for step in re.findall(r'\[(\d+|"(?:[^"\\]|\\.)*")\]|([^.\[\]]+)', path):
        key: Any = json.loads(step[0]) if step[0] else step[1]
        try:
            history = history[key]
        except (LookupError, TypeError):
            return isinstance(history, str)  # What is inside a JSON string has the string's path and its own.
    return True


UNCHANGED = "the caller's input object is deep-equal to a snapshot taken before the call"
REPORTS_NOTHING = "running the normalizer on its own output for the same target changes nothing and reports nothing"

ALWAYS: dict[str, Callable[[Run], None]] = {
    UNCHANGED: input_unchanged,
    "no mutable object belongs to the input and to the output": nothing_shared,
    "two runs give the same bytes and the same report": deterministic,
    "the output is strict JSON and encodes to UTF-8": strict_utf8_json,
    REPORTS_NOTHING: idempotent,
    "the number of dropped things is the number of entries that say so": counted,
    "every path of the report leads into the caller's input": located,
}


# The tests. -------------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("case", "target"), [pytest.param(*pair, id=f"{pair[0].id}-{pair[1]}") for pair in PAIRS if not missing_for(*pair)]
)
def test_case(case: Case, target: str) -> None:
    """Each statement about the target is true, and so is what holds for every case; all that is false is shown at once."""
    history, untouched = case.history(), case.history()
    output = Output.of(history, target, case.options, refusable=case.may_be_refused(target))
    false = []
    for statement in case.about(target):
        try:
            exec(_compiled(case, statement), output.words())
        except Exception as error:
            false.append(f"{statement.obligation}: {statement.sentence}\n{_told(case, statement, error)}")
    for sentence, check in ALWAYS.items():
        try:
            check(Run(case, history, untouched, output))
        except Exception as error:
            false.append(f"always: {sentence}\n    {type(error).__name__}: {error}")
    if false:
        pytest.fail("\n\n".join([*false, f"output: {_shown(output)}", f"report:\n{output.report}"]), pytrace=False)


def _compiled(case: Case, statement: Statement) -> Any:
    tree = ast.parse(statement.code, str(case.path))
    return compile(ast.increment_lineno(tree, statement.line), str(case.path), "exec")


def _told(case: Case, statement: Statement, error: Exception) -> str:
    inside = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == str(case.path)]
    line = inside[0] if inside and inside[0] else statement.line + 1
    source = statement.code.splitlines()[line - statement.line - 1].strip()
    return f"    {case.path.name}:{line}: {source}\n    {type(error).__name__}: {error}"


def _shown(output: Output) -> str:
    return json.dumps(output.body, indent=1) if output.error is None else f"refused, {output.error}"


def test_no_case_waits() -> None:
    """Every case runs for every target, but for the dialects that are still to come; those that wait are listed."""
    missing = {f"{case.id}-{target}": missing_for(case, target) for case, target in PAIRS}
    waiting = {pair: names for pair, names in missing.items() if names}
    forgotten = {
        pair: names
        for pair, names in waiting.items()
        if any(TO_COME.isdisjoint({name, name.partition(":")[0]}) for name in names)
    }
    assert not forgotten, f"cases wait for targets that should be there: {forgotten}"
    if waiting:
        listed = "".join(f"\n  {pair} waits for {' and '.join(names)}" for pair, names in waiting.items())
        warnings.warn(f"{len(waiting)} of {len(PAIRS)} pairs of case and target wait:{listed}", stacklevel=1)


@pytest.mark.parametrize("case", ALL, ids=lambda case: case.id)
def test_every_statement_is_checked(case: Case) -> None:
    """No bullet stands without a check that asserts something, and no target without statements."""
    for section, statements in case.statements.items():
        for statement in statements:
            if section == IN_EVERY_CASE:
                assert statement.sentence in ALWAYS, f"nothing checks: {statement.sentence}"
                assert not statement.code, f"checked twice: {statement.sentence}"
            else:
                nodes = ast.walk(ast.parse(statement.code))
                assert any(isinstance(node, ast.Assert) for node in nodes), f"not checked: {statement.sentence}"
    for target in case.targets:
        assert case.about(target), f"nothing is stated for {target}"


@pytest.mark.skipif(not HANDED.is_dir(), reason="the handed cases are not beside this checkout")
def test_the_handed_cases_are_all_here() -> None:
    """Each handed case has its file here, with the same input, options and targets, and every statement in its own words."""
    here = {case.id: case for case in ALL}
    handed = {path.stem: json.loads(path.read_text(encoding="utf-8")) for path in sorted(HANDED.glob("*.json"))}
    assert handed.keys() <= here.keys(), f"not here: {handed.keys() - here.keys()}"
    for id, source in handed.items():
        case = here[id]
        source["input"].pop("_build", None)
        assert case.history() == source["input"], f"{id}: another input"
        assert case.options == source.get("target_options"), f"{id}: other options"
        assert case.targets == source["target"], f"{id}: other targets"
        written = {
            (statement.obligation, statement.sentence) for part in case.statements.values() for statement in part
        }
        stated = {(key.replace("_", " "), sentence.strip()) for key in ("must", "must_not") for sentence in source[key]}
        assert written == stated, f"{id}: missing {stated - written}, added {written - stated}"


def _sentences(case: Case) -> set[str]:
    return {statement.sentence for part in case.statements.values() for statement in part}
