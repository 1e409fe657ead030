"""What every rendering shows of an entry: in which order, and which words are safe to print.

Reports end in logs and tickets, so no form prints what people wrote: `entry.original` is left out, and of the facts only numbers, flags
and names, unless the reader asked for values. What must not live here: any syntax of one form.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from typing import Any, cast

import msgspec

from sendable.report import Entry, Report, Verb

DONE: dict[Verb, str] = {
    "drop": "dropped", "strip": "stripped", "degrade": "degraded", "move": "moved",
    "rename": "renamed", "synthesize": "synthesized", "note": "noted", "fault": "at fault",
}  # fmt: skip
"""A verb as it stands beside a count."""

WHOLE = frozenset({"drop", "move", "synthesize"})
"""Verbs that are about the node and not about one of its fields."""

_NAME = re.compile(r"[A-Za-z0-9_.:/+*$@|\[\]-]{1,64}\Z")
"""What a fact may look like and still be an id, a name, a media type or a path, and never a sentence."""

_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
"""What could move a terminal's cursor, reverse its text, or end the line of a log."""


def causes_first(report: Report) -> Iterator[tuple[int, Entry]]:
    """Every entry once, with its depth: in the report's own order, a consequence directly under its cause."""
    entries = list(report.entries)
    place = {id(entry): n for n, entry in enumerate(entries)}
    under: dict[int, list[int]] = {}
    roots: list[int] = []
    for n, entry in enumerate(entries):
        cause = place.get(id(entry.because)) if entry.because is not None else None
        if cause is None or cause == n:
            roots.append(n)
        else:
            under.setdefault(cause, []).append(n)
    # A stack and no recursion: a chain of causes may be as long as the history.
    stack = [(n, 0) for n in reversed(roots)]
    while stack:
        n, depth = stack.pop()
        yield depth, entries[n]
        stack.extend((child, depth + 1) for child in reversed(under.get(n, ())))


def place(entry: Entry) -> str:
    """What it happened to: the node that is gone, moved or missing, else the field that changed; the body itself is called `(body)`."""
    first, second = (entry.path, entry.param) if entry.verb in WHOLE else (entry.param, entry.path)
    return one_line(first or second) or "(body)"


def field(entry: Entry) -> str | None:
    """The field that made a whole node go, below the place that is shown; None if there is nothing to add."""
    if entry.verb not in WHOLE or not entry.path or entry.param == entry.path:
        return None
    return one_line(entry.param.removeprefix(entry.path).removeprefix("."))


def deed(entry: Entry) -> str:
    """What was done; where the policy rejects it, what would have been done instead of refusing."""
    return f"reject ({entry.verb})" if entry.level == "reject" else entry.verb


def facts(entry: Entry, values: bool) -> dict[str, Any]:
    """The facts that may be shown: all with `values`, else those that cannot hold what somebody wrote. A `reason` is our own words."""
    return {name: plain(value) for name, value in entry.facts.items() if values or name == "reason" or _harmless(value)}


def one_line(text: str) -> str:
    """The text with everything escaped that would not stay on its line."""
    return _CONTROL.sub(lambda found: found.group().encode("unicode_escape", "surrogatepass").decode(), text)


def plain(value: Any, inside: frozenset[int] = frozenset()) -> Any:
    """Any value as something JSON can hold; what has no JSON form (a set, a cycle, NaN) is shown as Python writes it."""
    if value is None or isinstance(value, str | bool | int):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else repr(value)
    if isinstance(value, msgspec.Raw):
        return plain(msgspec.json.decode(value), inside)
    if id(value) in inside or len(inside) > 100:
        return "…"
    if isinstance(value, Mapping):
        members = cast("dict[Any, Any]", value)
        return {str(name): plain(member, inside | {id(members)}) for name, member in members.items()}
    if isinstance(value, list | tuple):
        items = cast("list[Any]", value)
        return [plain(item, inside | {id(items)}) for item in items]
    return str(value) if type(value).__module__.startswith("sendable.") else repr(value)


def _harmless(value: object) -> bool:
    return not isinstance(value, str) or bool(_NAME.match(value))
