"""The promises as questions about one run: each function gives what is wrong, as text, and nothing if the promise holds.

The laws ask them of generated histories, tests/test_wire.py of recorded ones.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any

from sendable import Report
from tests.laws.leaves import Leaf, Planted, Steps
from tests.laws.places import BadPath, parse, resolve, within

DROPS = ("drop",)
CHANGES = ("strip", "rename", "degrade")


def excuses(report: Report) -> list[Steps]:
    """The places whose tokens may be missing: what was dropped, and exactly the fields that were stripped, renamed or weakened."""
    places = [parse(str(entry.path)) for entry in report.entries if entry.verb in DROPS]
    return places + [parse(str(entry.param)) for entry in report.entries if entry.verb in CHANGES]


def lost(planted: Planted, body: Any, report: Report) -> list[str]:
    """Tokens that are neither in the output nor excused by an entry (promise 2). A token that stands in several places (an id) needs one excuse."""
    output = json.dumps(body)
    excused = excuses(report)
    missing: dict[str, list[Leaf]] = {}
    for leaf in planted.leaves:
        if leaf.token not in output:
            missing.setdefault(leaf.token, []).append(leaf)
    return [
        f"{token} of {leaves[0].at} is gone in silence"
        for token, leaves in missing.items()
        if not any(within(leaf.at, place) for leaf in leaves for place in excused)
    ]


def unlocated(history: Any, report: Report) -> Iterator[str]:
    """Entries whose places do not resolve in the caller's input (promise 6, section 6)."""
    for entry in report.entries:
        path, param = str(entry.path), str(entry.param)
        try:
            resolve(history, path)
            resolve(history, param, absent_last=True)
            for other in entry.related:
                resolve(history, str(other))
        except BadPath as problem:
            yield f"{entry.code} {entry.verb}: {problem}"
            continue
        if not within(parse(param), parse(path)):
            yield f"{entry.code} {entry.verb}: param {param!r} is not at or under path {path!r}"
        if entry.because is not None and entry.because not in report.entries:
            yield f"{entry.code} {entry.verb} at {path!r}: its cause is not in the report"
        if not isinstance(entry.related, tuple):
            yield f"{entry.code} {entry.verb} at {path!r}: related is {entry.related!r}"


def described(report: Report) -> list[tuple[str, str, str, str]]:
    """What two reports are compared by, and what a failed test shows."""
    return [(str(entry.code), str(entry.verb), str(entry.path), str(entry.param)) for entry in report.entries]


def texts(value: Any) -> Iterator[str]:
    """Every string of a tree, the keys left out, and every string inside a string that is itself JSON."""
    stack = [value]
    while stack:
        found = stack.pop()
        if isinstance(found, dict):
            stack.extend(found.values())
        elif isinstance(found, list):
            stack.extend(found)
        elif isinstance(found, str):
            yield found
            if found[:1] in ("{", "["):
                try:
                    stack.append(json.loads(found))
                except ValueError:
                    stack.append(None)  # text that only looks like JSON: it has been given as it is


def leaves(value: Any, at: Steps = ()) -> Iterator[tuple[Steps, str]]:
    """Every string of a tree with its place."""
    items: Iterable[tuple[Any, Any]] = (
        value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    )
    for step, item in items:
        yield from leaves(item, (*at, step))
    if isinstance(value, str):
        yield at, value
