"""The source agrees with itself: codes, pages, call sites, docstrings, families and layers, and no shape that loses something in silence.

Read from the syntax tree of src/sendable, so that a rule that nobody runs is judged as well. Not here: what a page shows (test_docs.py).
"""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest

from sendable.codes import CODES
from tests.pages import DOCS, LOSSES, ROOT, blocks

SOURCE = ROOT / "src" / "sendable"
FILES = sorted(SOURCE.rglob("*.py"))
VERBS = {"drop", "strip", "degrade", "move", "rename", "synthesize", "note", "fault"}
CODE = re.compile(r"[A-Z]{3}\d{3}")
LEDGER = re.compile(r"(?:context\.)?ledger\.(?:drop|strip|degrade|move|rename|synthesize|note|fault)\(")
JUDGED = [file for file in FILES if file.parent.name == "rules" or "dialects" in file.parts or file.parent == SOURCE]
"""Everything that may lose something: rules, dialects and the readers above them."""


def where(file: Path) -> str:
    return file.relative_to(SOURCE).as_posix()


@cache
def text_of(file: Path) -> str:
    return file.read_text(encoding="utf-8")


@cache
def tree(file: Path) -> ast.Module:
    return ast.parse(text_of(file))


@cache
def lines(file: Path) -> list[str]:
    return text_of(file).splitlines()


# --- codes, pages, call sites ------------------------------------------------------------------------------------------


def test_every_code_is_defined_once_under_its_own_name() -> None:
    defined: list[str] = []
    names: list[str] = []
    for statement in tree(SOURCE / "codes.py").body:
        if isinstance(statement, ast.Assign) and isinstance(statement.value, ast.Call):
            target, arguments = (
                statement.targets[0],
                [ast.literal_eval(argument) for argument in statement.value.args[:2]],
            )
            assert isinstance(target, ast.Name)
            assert target.id == arguments[0]
            defined.append(arguments[0])
            names.append(arguments[1])
    assert sorted(set(defined)) == sorted(defined), "a code is defined twice"
    assert sorted(set(names)) == sorted(names), "two codes have one name"
    assert set(defined) == set(CODES)


def test_a_message_is_lower_case_and_on_one_line() -> None:
    for code in CODES.values():
        assert re.fullmatch(r"[A-Z]{3}\d{3}", code.id)
        assert re.fullmatch(r"[a-z]+(-[a-z]+)*", code.name), code
        assert not code.message.endswith(".")
        assert "\n" not in code.message
        assert code.message[0].islower(), code


def test_only_what_leaves_nothing_to_send_or_to_read_is_rejected_in_repair() -> None:
    nothing_to_read = {"RSP001", "RSP002", "RSP003", "RSP004"}
    assert {code.id for code in CODES.values() if code.repair == "reject"} == {
        "SHP001",
        "SHP012",
        "SHP013",
    } | nothing_to_read


def test_every_code_has_a_page_and_every_page_a_code() -> None:
    assert {page.stem for page in LOSSES.glob("*.md")} - {"index"} == set(CODES)


class Use(NamedTuple):
    """One place in the source where a code is given to the ledger, or to a function that gives it to the ledger."""

    code: str
    verb: str | None
    file: Path
    line: int
    function: str


def functions(file: Path) -> Iterator[tuple[ast.FunctionDef, tuple[ast.FunctionDef, ...]]]:
    """Every function of a file, each with those that it stands in, the outermost first."""

    def inside(
        node: ast.AST, around: tuple[ast.FunctionDef, ...]
    ) -> Iterator[tuple[ast.FunctionDef, tuple[ast.FunctionDef, ...]]]:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.FunctionDef):
                yield child, around
                yield from inside(child, (*around, child))
            else:
                yield from inside(child, around)

    return inside(tree(file), ())


def own_nodes(function: ast.FunctionDef) -> Iterator[ast.AST]:
    """What stands in a function, and not in a function inside it."""
    waiting: list[ast.AST] = list(ast.iter_child_nodes(function))
    while waiting:
        node = waiting.pop()
        yield node
        if not isinstance(node, ast.FunctionDef):
            waiting.extend(ast.iter_child_nodes(node))


def codes_in(node: ast.AST) -> set[str]:
    return {inner.id for inner in ast.walk(node) if isinstance(inner, ast.Name) and inner.id in CODES}


def verb_of(call: ast.Call) -> str | None:
    """`drop` for `ledger.drop(…)`, and so on."""
    function = call.func
    if isinstance(function, ast.Attribute) and function.attr in VERBS:
        owner = function.value
        if (isinstance(owner, ast.Name) and owner.id == "ledger") or (
            isinstance(owner, ast.Attribute) and owner.attr == "ledger"
        ):
            return function.attr
    return None


@cache
def uses() -> list[Use]:
    found: list[Use] = []
    for file in FILES:
        if file.name == "codes.py":
            continue
        for function, _ in functions(file):
            counted: set[int] = set()
            for node in own_nodes(function):
                if isinstance(node, ast.Call) and (verb := verb_of(node)) is not None and node.args:
                    for name in ast.walk(node.args[0]):
                        if isinstance(name, ast.Name) and name.id in CODES:
                            counted.add(id(name))
                            found.append(Use(name.id, verb, file, node.lineno, function.name))
            for node in own_nodes(function):
                if isinstance(node, ast.Name) and node.id in CODES and id(node) not in counted:
                    found.append(Use(node.id, None, file, node.lineno, function.name))
    return found


def test_every_code_is_used() -> None:
    assert set(CODES) - {use.code for use in uses()} == set()


def test_every_use_is_of_a_known_code() -> None:
    """A name in the form of a code that is imported from nowhere would be a `NameError` only when it happens."""
    for file in FILES:
        for node in ast.walk(tree(file)):
            if isinstance(node, ast.Name) and CODE.fullmatch(node.id):
                assert node.id in CODES, f"{where(file)}:{node.lineno}"


def test_no_code_is_written_as_text() -> None:
    """The ledger is given codes; only it and the command look for one by its text."""
    for file in FILES:
        if where(file) in ("codes.py", "cli.py", "report.py"):
            continue
        for node in ast.walk(tree(file)):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                assert not CODE.fullmatch(node.value), f"{where(file)}:{node.lineno}"


@pytest.mark.parametrize("code", sorted(CODES))
def test_a_page_names_every_verb_that_is_used_with_its_code_and_the_files_that_decide_it(code: str) -> None:
    text = (LOSSES / f"{code}.md").read_text(encoding="utf-8")
    becomes = text[text.index("## What becomes of it") : text.index("## Why")]
    named = set(re.findall(rf"`({'|'.join(VERBS)})`", becomes))
    used = {use.verb for use in uses() if use.code == code and use.verb is not None}
    assert used <= named, "a verb that the page does not name"
    handed_on = any(use.code == code and use.verb is None for use in uses())
    assert handed_on or named <= used, "a verb that is never used"
    decided = re.search(r"^Decided in (.*)\.$", text, re.MULTILINE)
    assert decided is not None
    files = set(re.findall(r"`([\w/.]+)`", decided[1]))
    at_work = {where(use.file) for use in uses() if use.code == code}
    for file in files:
        assert file in at_work or any(place.startswith(f"{file}/") for place in at_work), f"{file} does not use {code}"
    assert any(file in files for file in at_work) or "dialects" in files, "the file that uses it is not named"


# --- docstrings --------------------------------------------------------------------------------------------------------


def loses(function: ast.FunctionDef) -> set[str] | None:
    """The codes after `Loses:` in a docstring; None if there is no such line."""
    text = ast.get_docstring(function)
    if text is None or "Loses:" not in text:
        return None
    return set(CODE.findall(text[text.index("Loses:") :]))


def named_for(function: ast.FunctionDef, around: tuple[ast.FunctionDef, ...], file: Path) -> set[str]:
    """The codes in the docstrings of a function, of those that it stands in, and of those in its file that call it, however far up."""
    everything: dict[str, list[tuple[ast.FunctionDef, tuple[ast.FunctionDef, ...]]]] = defaultdict(list)
    for inner, outer in functions(file):
        everything[inner.name].append((inner, outer))
    found: set[str] = set()
    seen: set[str] = set()
    waiting = [function.name, *(outer.name for outer in around)]
    while waiting:
        name = waiting.pop()
        if name in seen:
            continue
        seen.add(name)
        for inner, outside in everything[name]:
            found |= loses(inner) or set()
            waiting.extend(one.name for one in outside)
        for other, _ in functions(file):
            if any(isinstance(node, ast.Name) and node.id == name for node in own_nodes(other)):
                waiting.append(other.name)
    return found


@pytest.mark.parametrize("file", JUDGED, ids=where)
def test_what_a_function_loses_is_in_its_docstring_or_in_that_of_its_caller(file: Path) -> None:
    if where(file) in ("codes.py", "report.py", "targets.py"):
        return
    for function, around in functions(file):
        used = {use.code for use in uses() if use.file == file and use.function == function.name}
        if used:
            missing = used - named_for(function, around, file)
            assert not missing, f"{where(file)}, {function.name}: Loses: {', '.join(sorted(missing))}"


HANDED = re.compile(r"what `\w+` loses|as `\w+`")


@pytest.mark.parametrize("file", [file for file in FILES if file.parent.name == "rules"], ids=where)
def test_a_docstring_names_no_code_that_its_function_cannot_lose(file: Path) -> None:
    """For rules: each code after `Loses:` is used by the function, or by one that it calls, in this file or another of the rules."""
    reach = reachable()
    for function, _ in functions(file):
        named = loses(function)
        is_given_one = "Code" in ast.unparse(function.args)
        if named is None or is_given_one or HANDED.search(ast.get_docstring(function) or ""):
            continue
        surplus = named - reach[file, function.name]
        assert not surplus, f"{where(file)}, {function.name}: {', '.join(sorted(surplus))}"


@cache
def reachable() -> dict[tuple[Path, str], set[str]]:
    """For every function, the codes in it and in all functions of the source that it names, itself or through others."""
    by_name: dict[str, list[tuple[Path, str]]] = defaultdict(list)
    bodies: dict[tuple[Path, str], tuple[set[str], set[str]]] = {}
    for file in FILES:
        for function, _ in functions(file):
            by_name[function.name].append((file, function.name))
            names = {node.id for node in ast.walk(function) if isinstance(node, ast.Name)}
            codes, called = bodies.get((file, function.name), (set(), set()))
            bodies[file, function.name] = codes | codes_in(function), called | names
    reach = {key: set(codes) for key, (codes, _) in bodies.items()}
    changed = True
    while changed:
        changed = False
        for key, (_, called) in bodies.items():
            more: set[str] = set()
            for name in called:
                for other in by_name.get(name, ()):
                    # A name means the function of its own file, if there is one.
                    if other[0] == key[0] or not any(one[0] == key[0] for one in by_name[name]):
                        more |= reach[other]
            if not more <= reach[key]:
                reach[key] |= more
                changed = True
    return reach


# --- families ----------------------------------------------------------------------------------------------------------


def test_every_code_is_decided_in_a_file_of_its_family() -> None:
    """The table of docs/losses/index.md is true: a reader finds any rule from its code in one step."""
    text = (LOSSES / "index.md").read_text(encoding="utf-8")
    homes = {
        family: re.findall(r"`([\w/]+\.py)`", row)
        for family, row in re.findall(r"^\| ([A-Z]{3}) \|(.*)$", text, re.MULTILINE)
    }
    assert set(homes) == {code[:3] for code in CODES}
    for code in CODES:
        files = {where(use.file) for use in uses() if use.code == code}
        assert files & set(homes[code[:3]]) or code in ELSEWHERE, (
            f"{code} is used in {sorted(files)} and not in {homes[code[:3]]}"
        )
    for code, (file, _) in ELSEWHERE.items():
        files = {where(use.file) for use in uses() if use.code == code}
        assert file in files, code
        assert not files & set(homes[code[:3]]), f"{code} needs no exception"


ELSEWHERE = {
    "ARG003": ("soundness.py", "a number without a JSON form can stand anywhere, not only in arguments"),
    "ARG005": ("dialects/openai_chat/read.py", "the pieces of a stream are joined before there is a call to judge"),
    "FLD008": ("rules/continuation.py", "the ids of items are how a provider knows them again"),
    "FLD009": ("rules/continuation.py", "the same"),
    "LIM005": ("targets.py", "the code of a limit that one rule of media counts for several kinds"),
    "RSN014": ("rules/continuation.py", "it goes by the ids of items"),
    "RSP009": ("dialects/__init__.py", "clients of three dialects demand an id, and one function makes it"),
    "SHP013": ("pipeline.py", "bytes that are no JSON reach no rule"),
}
"""Codes that another file than their family's decides, and why."""


# --- layers ------------------------------------------------------------------------------------------------------------


def module(file: Path) -> str:
    parts = file.relative_to(SOURCE).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


@cache
def imports(file: Path) -> set[str]:
    """The modules of the package that a file imports when it is loaded, without those that a function imports when it is called."""
    found: set[str] = set()
    waiting: list[ast.AST] = list(tree(file).body)
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] == "sendable":
            for alias in node.names:
                whole = ".".join([*node.module.split(".")[1:], alias.name])
                path = SOURCE / whole.replace(".", "/")
                is_module = path.is_dir() or path.with_suffix(".py").is_file()
                found.add(whole if is_module else whole.rpartition(".")[0])
        elif isinstance(node, ast.Import):
            found.update(alias.name.partition(".")[2] for alias in node.names if alias.name.split(".")[0] == "sendable")
        elif isinstance(node, ast.If | ast.Try | ast.With):
            if not (isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)):
                waiting.extend(ast.iter_child_nodes(node))
    return found


def layers() -> dict[str, int]:
    """The layer of every module, from the list in docs/architecture.md."""
    listed = next(block for block in blocks(DOCS / "architecture.md") if "A test reads this list" in block.lead)
    return {name: number for number, line in enumerate(listed.text.splitlines()) for name in line.split()}


def test_every_module_has_a_layer_and_every_name_of_the_list_is_a_module() -> None:
    present = {module(file).split(".")[0] for file in FILES} - {""}
    assert set(layers()) == present


@pytest.mark.parametrize("file", [file for file in FILES if module(file)], ids=where)
def test_a_module_imports_from_its_own_layer_or_from_those_below(file: Path) -> None:
    layer, own = layers(), module(file).split(".")[0]
    for imported in imports(file):
        if imported:
            assert layer[imported.split(".")[0]] <= layer[own], f"{module(file)} imports {imported}"
        else:
            assert own in ("cli", "__main__", "gateway", "render", "matrix"), (
                f"{module(file)} imports the package itself"
            )


@pytest.mark.parametrize("file", [file for file in FILES if "dialects" in file.parts], ids=where)
def test_two_dialects_never_import_each_other(file: Path) -> None:
    own = module(file).split(".")[1:2]
    for imported in imports(file):
        parts = imported.split(".")
        assert parts[0] != "dialects" or parts[1:2] in ([], own), imported


def test_rules_import_neither_dialects_nor_targets() -> None:
    for file in FILES:
        if file.parent.name == "rules":
            assert not {name.split(".")[0] for name in imports(file)} & {
                "dialects",
                "targets",
                "pipeline",
                "reading",
            }, file


def test_rules_know_no_dialect_no_target_and_no_policy_by_name() -> None:
    """What differs between targets is passed in. `flat`, `gemini` and so on as words would be a decision in the wrong place."""
    for file in FILES:
        if file.parent.name != "rules":
            continue
        for node in ast.walk(tree(file)):
            if isinstance(node, ast.Attribute):
                assert node.attr not in ("policy", "_policy", "level"), f"{where(file)}:{node.lineno}"


def test_a_ledger_is_made_in_the_flow_of_a_history_or_an_answer_only() -> None:
    for file in FILES:
        for node in ast.walk(tree(file)):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ("Ledger", "Receipt"):
                assert where(file) in ("pipeline.py", "answers.py", "replay.py"), f"{where(file)}:{node.lineno}"
                assert node.func.id == "Ledger", f"{where(file)}:{node.lineno}"


# --- shapes that lose something in silence -----------------------------------------------------------------------------


def statement_of(file: Path, line: int) -> str:
    """The text of the innermost statement at a line, with the comments in it and behind it."""
    best: ast.stmt | None = None
    for other in ast.walk(tree(file)):
        if isinstance(other, ast.stmt) and other.lineno <= line <= (other.end_lineno or line):
            simple = not isinstance(other, ast.FunctionDef | ast.ClassDef | ast.For | ast.While | ast.With | ast.Try)
            if simple and (best is None or other.lineno >= best.lineno):
                best = other
    first, last = (best.lineno, best.end_lineno or best.lineno) if best is not None else (line, line)
    if isinstance(best, ast.If):
        last = max(best.test.end_lineno or first, line)
    return "\n".join(lines(file)[first - 1 : last])


def is_excused(file: Path, line: int) -> bool:
    text = statement_of(file, line)
    return "# keeps:" in text or LEDGER.search(text) is not None


WORDS = {"key", "kind", "name", "number", "shape", "word"}
"""What a variable is called that goes through words and not through nodes of a conversation."""


def leaves_out(comprehension: ast.AST) -> bool:
    """Whether a comprehension gives the nodes or fields that it goes through themselves, so that its `if` leaves some of them out.

    One that picks known keys (`{key: fields[key] for key in KNOWN if key in fields}`) leaves the rest to whoever asks for what remains.
    """
    if not isinstance(comprehension, ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp):
        return False
    generators = comprehension.generators
    if not any(one.ifs for one in generators):
        return False
    if isinstance(comprehension, ast.DictComp):
        return any(ast.unparse(one.iter).endswith(".items()") for one in generators)
    going_through = {name.id for one in generators for name in ast.walk(one.target) if isinstance(name, ast.Name)}
    return isinstance(comprehension.elt, ast.Name) and comprehension.elt.id in going_through - WORDS


REASONS = {
    ("dialects/gemini/write.py", "_write_tool"): "rules/parameters.py reports what a declaration has no field for",
    ("rules/media.py", "media_per_message"): "only counts",
    ("rules/media.py", "text_beside_documents"): "only looks",
    ("rules/order.py", "tools_apart"): "both halves are sent",
    ("rules/parameters.py", "fit_parameters"): "only looks",
}
"""Functions whose comprehensions leave nothing out of what is sent, where the line itself does not say so."""


def has_reason(file: Path, node: ast.AST) -> bool:
    """Whether `REASONS` speaks for the function, or a function around it, in which a node stands."""
    if not file.is_relative_to(SOURCE):
        return False
    return any(
        (where(file), function.name) in REASONS and any(inner is node for inner in ast.walk(function))
        for function, _ in functions(file)
    )


def loose(file: Path) -> Iterator[tuple[int, str]]:
    """Every shape of a file that can leave something out without a word."""
    inside_any = {
        id(argument)
        for node in ast.walk(tree(file))
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id in ("any", "all", "next", "sum", "max", "min")
        for argument in node.args
    }
    for node in ast.walk(tree(file)):
        shape: str | None = None
        if leaves_out(node):
            if id(node) not in inside_any and not has_reason(file, node):
                shape = "a comprehension with `if`"
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "filter":
            shape = "`filter`"
        elif isinstance(node, ast.Pass | ast.Continue):
            shape = f"a bare `{type(node).__name__.lower()}`"
        elif isinstance(node, ast.ExceptHandler):
            caught = ast.unparse(node.type) if node.type is not None else "everything"
            if node.type is None or {"Exception", "BaseException"} & set(re.findall(r"\w+", caught)):
                shape = f"`except {caught}`"
        line: int = getattr(node, "lineno", 0)
        if shape is not None and not is_excused(file, line):
            yield line, shape


@pytest.mark.parametrize(
    "file", [file for file in FILES if file.parent.name == "rules" or "dialects" in file.parts], ids=where
)
def test_nothing_is_left_out_without_a_word(file: Path) -> None:
    """A filter or a `continue` calls the ledger in its own statement, or says behind `# keeps:` why nothing is lost."""
    found = [f"{where(file)}:{line}: {shape}" for line, shape in loose(file)]
    assert not found, "\n".join(found)


def test_a_reason_is_given_for_a_function_that_exists() -> None:
    present = {(where(file), function.name) for file in FILES for function, _ in functions(file)}
    assert set(REASONS) <= present


@pytest.mark.parametrize(
    "source",
    [
        "kept = [block for block in blocks if good(block)]",
    "kept = tuple(block for block in blocks if good(block))",
    "kept = {key: value for key, value in fields.items() if key in known}",
    "kept = list(filter(good, blocks))",
    "for block in blocks:\n    if not good(block):\n        continue\n    out.append(block)",
    "try:\n    read(block)\nexcept Exception:\n    block = None",
    "if not good(block):\n    pass",
])  # fmt: skip
def test_the_judge_of_shapes_sees_them(source: str, tmp_path: Path) -> None:
    file = tmp_path / "rule.py"
    file.write_text(source)
    assert len(list(loose(file))) == 1


@pytest.mark.parametrize("source", [
    "kept = [block for block in blocks if good(block)]  # keeps: only looks",
    "kept = [block for block in blocks if not ledger.drop(X, block)]",
    "seen = any(block for block in blocks if good(block))",
    "names = [block.name for block in blocks if good(block)]",
    "for block in blocks:\n    if not good(block):\n        continue  # keeps: reported above\n    out.append(block)",
])  # fmt: skip
def test_the_judge_of_shapes_takes_a_reason(source: str, tmp_path: Path) -> None:
    file = tmp_path / "rule.py"
    file.write_text(source)
    assert not list(loose(file))
