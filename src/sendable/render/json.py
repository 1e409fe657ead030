"""A report as one JSON object, for programs. `report.to_json()` is this.

`{"dropped": 1, "refused": false, "counts": {"PAR002": 1}, "entries": [{"code", "name", "verb", "level", "path", "param", "related",
"because", "facts", "message"}]}`; `because` is the index of the entry that is the cause, or null; `original` is there only with values.
What must not live here: the form of a single line (jsonl.py), and any reading of JSON.
"""

from __future__ import annotations

import json
from typing import Any

from sendable.render.entries import facts, plain
from sendable.report import Entry, Report


def render(report: Report, *, values: bool = False) -> bytes:
    """The whole report as one line of UTF-8 JSON without a line end. Always valid JSON, whatever the history held."""
    return dump(report_object(report, values=values))


def report_object(report: Report, *, values: bool = False) -> dict[str, Any]:
    """The same as a Python object of plain JSON values."""
    return {
        "dropped": report.dropped,
        "refused": report.refused,
        "counts": report.counts,
        "entries": entry_objects(report, values=values),
    }


def entry_objects(report: Report, *, values: bool = False) -> list[dict[str, Any]]:
    """The entries in the report's own order."""
    index = {id(entry): n for n, entry in enumerate(report.entries)}
    return [_entry_object(entry, index.get(id(entry.because)), values) for entry in report.entries]


def dump(value: Any) -> bytes:
    # A lone surrogate has no UTF-8 form; its escape is legal JSON and means the same.
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "backslashreplace")


def _entry_object(entry: Entry, because: int | None, values: bool) -> dict[str, Any]:
    shown: dict[str, Any] = {
        "code": entry.code,
        "name": entry.name,
        "verb": entry.verb,
        "level": entry.level,
        "path": entry.path,
        "param": entry.param,
        "related": list(entry.related),
        "because": because,
        "facts": facts(entry, values),
        "message": entry.message,
    }
    if values:
        shown["original"] = plain(entry.original)
    return shown
