"""What a client is told of losses in the head of its answer. The entries themselves are in the report (render/json.py)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from sendable import paths
from sendable.report import Entry, Report, Verb

if TYPE_CHECKING:
    from sendable.gateway.app import Course

GRAVITY: tuple[Verb, ...] = ("fault", "drop", "synthesize", "degrade", "strip", "move", "rename")
"""The verbs that lose something, the gravest first. A `note` loses nothing and is not counted."""

ID = b"x-sendable-request-id"
LOSSES = b"x-sendable-losses"


def told(request_id: str, course: Course) -> list[tuple[bytes, bytes]]:
    """The headers of every answer: the request's id and, if there are losses, `3; worst=PAR002`."""
    headers = [(ID, request_id.encode())]
    line = summed_up(course.reports)
    if line is not None:
        headers.append((LOSSES, line.encode()))
    return headers


def summed_up(reports: Sequence[Report]) -> str | None:
    """How many losses there are, and the code of the worst. None if there are none."""
    count = sum([entry.verb != "note" for report in reports for entry in report.entries])
    return f"{count}; worst={worst_of(reports)}" if count else None


def worst_of(reports: Sequence[Report]) -> str | None:
    """The code of the first entry, in input order, of the gravest verb; None if there is nothing but notes."""
    entries = [entry for report in reports for entry in report.entries if entry.verb != "note"]
    if not entries:
        return None
    gravest = min([GRAVITY.index(entry.verb) for entry in entries])
    return first_of([entry for entry in entries if GRAVITY.index(entry.verb) == gravest]).code


def first_of(entries: Sequence[Entry]) -> Entry:
    """The entry that stands first in the input. The input itself is only parsed where two fields of one object are the question."""
    left = [(entry, list(paths.steps(entry.place))) for entry in entries]
    depth = 0
    while len(left) > 1:
        ended = [pair for pair in left if len(pair[1]) <= depth]
        if ended:
            return ended[0][0]
        steps: list[Any] = [pair[1][depth] for pair in left]
        if all(type(step) is int for step in steps):
            least = min(steps)
            left = [pair for pair in left if pair[1][depth] == least]
        elif len(set(steps)) > 1:
            return min((pair[0] for pair in left), key=Entry.order)
        depth += 1
    return left[0][0]
