"""The pages of the documentation, read for testing: fenced blocks with the line that leads into each, and the examples of losses.

    python -m tests.pages --write     run every example of docs/losses anew and write what came of it into its page; look at the
                                      difference before you commit it, since an example is a promise

Not here: what a page must hold (test_docs.py, test_codes.py, test_adding_a_dialect.py).
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import sendable
from sendable.codes import CODES, Code

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
LOSSES = DOCS / "losses"

_FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_FILE = re.compile(r"`([\w./-]+)`:$")
_EXAMPLE = re.compile(
    r"^(?:To `(?P<target>[\w:.-]+)`(?:, for the model `(?P<model>[\w.:-]+)`)?(?:, with `(?P<options>\{.*?\})`)?"
    r"|(?P<kind>An answer|A stream)(?: of `(?P<source>[\w-]+)`)?(?:, for a client of `(?P<client>[\w-]+)`)?):\n\n"
    r"```(?P<language>json|python|text)\n(?P<history>.*?)^```\n(?P<found>.*?)(?=^To `|^An answer|^A stream|^#|\Z)",
    re.MULTILINE | re.DOTALL,
)
HEADER = "| code | verb | path | param |\n| --- | --- | --- | --- |\n"


class Block(NamedTuple):
    """One fenced block: its language, its text, and the line before it."""

    language: str
    text: str
    lead: str
    line: int

    @property
    def file(self) -> str | None:
        """The file that the block shows, if the line before it ends in its name: "`history.json`:"."""
        named = _FILE.search(self.lead)
        return named[1] if named else None


def blocks(page: Path) -> list[Block]:
    """The fenced blocks of a page, in order."""
    text = page.read_text(encoding="utf-8")
    return [
        Block(found[1], found[2], (text[: found.start()].rstrip().splitlines() or [""])[-1], text.count("\n", 0, found.start()) + 1)
        for found in _FENCE.finditer(text)
    ]  # fmt: skip


class Example(NamedTuple):
    """One example of a loss page: what goes in, and all that the page says comes of it.

    `kind`: a history, an answer or a stream. `target` is where a history goes, or the dialect of the client that is shown an answer.
    """

    page: Path
    number: int
    kind: str
    target: str | None
    source: str | None
    model: str | None
    options: dict[str, Any]
    language: str
    history: str
    found: str

    @property
    def name(self) -> str:
        return f"{self.page.stem}-{self.number}"


def examples(page: Path) -> Iterator[Example]:
    """The examples of a loss page, in order."""
    for number, found in enumerate(_EXAMPLE.finditer(page.read_text(encoding="utf-8")), 1):
        options = json.loads(found["options"] or "{}")
        yield Example(
            page, number, found["kind"] or "A history", found["target"] or found["client"], found["source"], found["model"], options,
            found["language"], found["history"], found["found"].strip(),
        )  # fmt: skip


def outcome(example: Example) -> str:
    """What the library makes of an example, in the words of a page: its entries, and the output or the refusal."""
    if example.kind == "An answer":
        return _outcome_of_answer(example)
    if example.kind == "A stream":
        return _outcome_of_stream(example)
    keywords: dict[str, Any] = {"model": example.model, "options": example.options or None}
    try:
        if example.language == "python":
            names: dict[str, Any] = {}
            exec(example.history, names)
            done = sendable.normalize(names["history"], example.target, context=names.get("context"), **keywords)
            return f"{table(done.report)}\n{laid_out(done.body)}"
        sent = sendable.normalize_json(example.history.strip().encode(), example.target, **keywords)
        return f"{table(sent.report)}\n{laid_out(json.loads(sent.data))}"
    except sendable.HistoryError as refusal:
        return f"{table(refusal.report)}\nRefused: `{refusal.param}`, `{refusal.code}`."


def _outcome_of_answer(example: Example) -> str:
    """What the library reads in an answer, and writes for a client of another dialect if the example has one."""
    try:
        response = sendable.read_response(example.history.strip(), example.source)
    except sendable.UpstreamError as error:
        return f"Refused: `{error.code}`, {error.found}."
    if example.target is None:
        return f"{table(response.report)}\n{laid_out(response.to_history())}"
    written = sendable.write_response(response, example.target)
    return f"{table(response.report, written.report)}\n{laid_out(written.body)}"


def _outcome_of_stream(example: Example) -> str:
    """What the library reads in the events of a stream, one a line, and writes for a client of another dialect."""
    assert example.source is not None
    reader, assembler = sendable.StreamReader(example.source), sendable.Assembler(example.source)
    writer = sendable.StreamWriter(example.target or example.source)
    written = []
    for line in [*example.history.strip().splitlines(), None]:
        for event in reader.close() if line is None else reader.feed(line):
            assembler.feed(event)
            written += [wire.data for wire in writer.feed(event)]
    shown = written if example.target is not None else assembler.response().to_history()
    return f"{table(reader.report, writer.report)}\n{laid_out(shown)}"


def table(*reports: sendable.Report) -> str:
    """The entries of a report as the table of a page. `param` is left empty where it is the whole node."""
    rows = [
        f"| {entry.code} | {entry.verb} | {_cell(entry.path) or 'the body'} | {_cell(entry.param if entry.param != entry.path else '')} |\n"
        for report in reports
        for entry in report.entries
    ]
    return HEADER + "".join(rows) if rows else "No entry.\n"


def _cell(path: str) -> str:
    return f"`{path}`" if path else ""


def laid_out(value: Any) -> str:
    """A result as a page shows it: one message a line."""
    if isinstance(value, list):
        lines = "[\n" + ",\n".join(f"  {_dumped(item)}" for item in value) + "\n]" if value else "[]"
    else:
        parts = []
        for key, item in value.items():
            inner = ",\n".join(f"    {_dumped(member)}" for member in item) if isinstance(item, list) else ""
            parts.append(f"  {json.dumps(key)}: " + (f"[\n{inner}\n  ]" if inner else _dumped(item)))
        lines = "{\n" + ",\n".join(parts) + "\n}"
    return f"```json\n{lines}\n```"


def _dumped(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def index() -> str:
    """The table of all codes on docs/losses/index.md."""
    families = list(dict.fromkeys(code[:3] for code in CODES))
    rows = "".join(
        f"| [{code.id}]({code.id}.md) | {code.name} | {code.message} | {code.strict} | {code.repair} |\n"
        for code in sorted(CODES.values(), key=lambda code: (families.index(code.id[:3]), code.id))
    )
    return f"| code | name | what was found | strict | repair |\n| --- | --- | --- | --- | --- |\n{rows}"


def head(code: Code) -> str:
    """How the page of a code begins: the same words as in codes.py."""
    levels = f"| strict | repair |\n| --- | --- |\n| {code.strict} | {code.repair} |\n"
    if code.repair == "reject" and code.id.startswith("RSP"):
        levels += "\nNo policy has to do with it: there is nothing to read.\n"
    elif code.repair == "reject":
        levels += "\nNo policy can repair this: nothing could be sent. Change the history itself.\n"
    elif code.strict == "reject":
        levels += (
            f'\nRefused under `strict`? Use `repair`, or `{code.id} = "report"` in a [policy file](../policies.md).\n'
        )
    return f"# {code.id} {code.name}\n\n> {code.message}\n\n{levels}"


def written(page: Path) -> str:
    """The text of a loss page with its head as codes.py has it and with what the library makes of its examples today."""
    text = page.read_text(encoding="utf-8")
    if page.stem in CODES:
        text = head(CODES[page.stem]) + text[text.index("\n## ") :]
    of = {example.number: outcome(example) for example in examples(page)}
    number = 0

    def anew(found: re.Match[str]) -> str:
        nonlocal number
        number += 1
        last = found.end() == len(text)
        return found[0][: found.start("found") - found.start()] + f"\n{of[number]}\n" + ("" if last else "\n")

    return _EXAMPLE.sub(anew, text)


def write() -> None:
    """Put what the library does today into every loss page and into the index."""
    for page in sorted(LOSSES.glob("[A-Z]*.md")):
        page.write_text(written(page), encoding="utf-8")
    page = LOSSES / "index.md"
    text = page.read_text(encoding="utf-8")
    page.write_text(text[: text.index("| code |")] + index(), encoding="utf-8")


if __name__ == "__main__" and "--write" in sys.argv:
    write()
