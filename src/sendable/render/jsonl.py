"""A report as JSON lines, one entry a line, for logs that are searched: every line can be read without the others.

What must not live here: the whole report as one object (json.py).
"""

from __future__ import annotations

from sendable.render.json import dump, entry_objects
from sendable.report import Report


def render(report: Report, *, values: bool = False) -> bytes:
    """One object for each entry, each ended by a line feed; empty for an empty report. `because` is the number of a line from 0."""
    return b"".join(dump(entry) + b"\n" for entry in entry_objects(report, values=values))
