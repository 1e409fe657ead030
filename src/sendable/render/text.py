"""A report in words, one entry a line: where, which code, what was done, what was found. `str(report)` is this.

    messages[3].tool_calls[0]  PAR001 unanswered-call  synthesize: no result answers this call
    1 entry: 1 synthesized

What must not live here: colour, width of a terminal, anything that depends on where the words go.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

from sendable.render.entries import DONE, causes_first, deed, facts, field, one_line, place, plain
from sendable.report import Entry, Report

NOTHING = "nothing was lost"

LONGEST = 500
"""Characters of a caller's value in a line of words; the JSON form has it whole."""


def render(report: Report, *, values: bool = False) -> str:
    """Every entry on a line of its own, consequences indented under their cause, and a closing line that counts them."""
    return "\n".join([*lines(report, values=values), summary(report)])


def lines(report: Report, *, values: bool = False) -> list[str]:
    """The lines of `render` without the closing one."""
    return ["  " * depth + _line(entry, values) for depth, entry in causes_first(report)]


def summary(report: Report) -> str:
    """The closing line: `4 entries: 1 dropped, 1 moved, 2 synthesized`, or that nothing was lost, or what the policy rejects."""
    total = f"{len(report.entries)} {'entry' if len(report.entries) == 1 else 'entries'}"
    if report.refused:
        rejected = sum(entry.level == "reject" for entry in report.entries)
        return f"refused: the policy rejects {rejected} of {total}"
    if not report.entries:
        return NOTHING
    done = Counter(entry.verb for entry in report.entries)
    return f"{total}: " + ", ".join(f"{done[verb]} {word}" for verb, word in DONE.items() if done[verb])


def _line(entry: Entry, values: bool) -> str:
    line = f"{place(entry)}  {entry.code} {entry.name}  {deed(entry)}: {one_line(entry.message)}"
    shown = [f"{name}={_word(value)}" for name, value in facts(entry, values).items()]
    if at := field(entry):
        shown.insert(0, f"field {at}")
    if entry.related:
        shown.append("see " + ", ".join(one_line(path) or "the body" for path in entry.related))
    if values:
        was = _word(plain(entry.original))
        shown.append(f"was {was if len(was) <= LONGEST else was[:LONGEST] + '…'}")
    return f"{line} ({'; '.join(shown)})" if shown else line


def _word(value: Any) -> str:
    if isinstance(value, str):
        return one_line(value) if value and " " not in value else one_line(repr(value))
    from sendable.render.json import dump

    return one_line(dump(value).decode())
