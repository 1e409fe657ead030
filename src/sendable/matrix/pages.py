"""The matrix as text, as the page docs/matrix.md, and as JSON: pure functions over cells.

What must not live here: what a cell says (cells.py).
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

from sendable.codes import CODES
from sendable.matrix.cells import PROPERTIES, Cell
from sendable.render.json import dump

NOTHING = "–"

HEAD = """\
<!-- written by `sendable matrix --format markdown`, never by hand; tests/test_matrix.py compares -->

# The matrix

What becomes of each block or property on the way from one dialect to another, with default options. Each cell is found by running one small
history of the source dialect and looking for the property in the output.

- **kept**: it is in the output, in the target's own form, and nothing is reported.
- **degraded**: it is there in a weaker form or in another place; the codes say how.
- **dropped**: it is gone; the codes say why.
- {nothing}: the source dialect has no such thing.

A profile of a target may take more or less than the dialect itself, and options change some cells; the pages of the codes say how.
"""


def markdown(cells: Sequence[Cell]) -> str:
    """The page: a table for each source, with a row for each property and a column for each target."""
    parts = [HEAD.format(nothing=NOTHING)]
    for source, rows in _tables(cells):
        targets = [cell.target for cell in rows[0]]
        parts.append(f"## From {source}\n")
        parts.append(
            _row(["", *(f"to {target}" for target in targets)]) + _row(["---"] * (len(targets) + 1)).rstrip("\n")
        )
        parts.extend(_row([row[0].name, *map(_linked, row)]).rstrip("\n") for row in rows)
        parts.append("")
    named = {code for cell in cells for code in cell.codes}
    listed = [code for code in CODES.values() if code.id in named]
    if listed:
        parts.append("## The codes\n")
        parts.extend(f"- [{code.id}](losses/{code.id}.md) {code.name}: {code.message}" for code in listed)
        parts.append("")
    return "\n".join(parts)


def text(cells: Sequence[Cell]) -> str:
    """The same for a terminal; of a single pair, a line for each property that the source has."""
    parts: list[str] = []
    wide = max(map(len, PROPERTIES))
    for source, rows in _tables(cells):
        table = [["", *(cell.target for cell in rows[0])], *([row[0].name, *map(_word, row)] for row in rows)]
        widths = [wide, *(max(len(row[column]) for row in table) for column in range(1, len(table[0])))]
        parts.append(f"from {source}")
        parts.extend(
            "  ".join(word.ljust(width) for word, width in zip(row, widths, strict=True)).rstrip() for row in table
        )
        parts.append("")
    return "\n".join(parts)


def json(cells: Sequence[Cell]) -> str:
    """A list of objects, one a line: `{"from", "to", "property", "fate", "codes"}`; `fate` is null where the source has no such thing."""
    rows = [
        dump(
            {"from": cell.source, "to": cell.target, "property": cell.name, "fate": cell.fate, "codes": cell.codes}
        ).decode()
        for cell in cells
    ]
    return "[" + ",\n".join(rows) + "]\n"


def _tables(cells: Sequence[Cell]) -> list[tuple[str, list[list[Cell]]]]:
    """The cells of each source, by property."""
    return [
        (source, [list(row) for _, row in groupby(table, lambda cell: cell.name)])
        for source, table in groupby(cells, lambda cell: cell.source)
    ]


def _row(words: Sequence[str]) -> str:
    return f"| {' | '.join(words)} |\n"


def _word(cell: Cell) -> str:
    """A cell in words. One that the tests would not let pass is marked."""
    if cell.fate is None:
        return NOTHING
    return " ".join((cell.fate, *cell.codes, *(("(in doubt)",) if cell.doubt else ())))


def _linked(cell: Cell) -> str:
    word = _word(cell)
    for code in cell.codes:
        word = word.replace(code, f"[{code}](losses/{code}.md)")
    return word
