"""A report as GitHub workflow commands, which show as annotations on the file in a pull request.

What must not live here: which verb is worse than another for any other reader than GitHub's three levels.
"""

from __future__ import annotations

from sendable.render.entries import causes_first, deed, one_line, place
from sendable.report import Entry, Report

NOTICE = frozenset({"note", "move", "rename"})
"""Verbs after which everything that was stored is still there."""


def render(report: Report, *, file: str | None = None, line: int | None = None) -> str:
    """One `::error`, `::warning` or `::notice` a line: error where the policy rejects, notice where nothing was lost, else warning."""
    return "\n".join(_command(entry, file, line) for _, entry in causes_first(report))


def command(level: str, title: str, words: str, file: str | None = None, line: int | None = None) -> str:
    """One workflow command, escaped as GitHub's own toolkit does it."""
    where = {"file": file, "line": str(line) if line is not None else None, "title": title}
    properties = ",".join(f"{name}={_property(value)}" for name, value in where.items() if value)
    return f"::{level} {properties}::{_data(words)}"


def _command(entry: Entry, file: str | None, line: int | None) -> str:
    level = "error" if entry.level == "reject" else "notice" if entry.verb in NOTICE else "warning"
    words = f"{place(entry)}: {deed(entry)}: {one_line(entry.message)}"
    return command(level, f"{entry.code} {entry.name}", words, file, line)


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
