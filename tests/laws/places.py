"""An independent reading of paths: `messages[2].content[0]`, `messages[0]["odd key"]`, `""` for the whole body.

Written from the interface, not from the library, so that the law of promise 6 does not trust what it judges.
"""

from __future__ import annotations

import json
import re
from typing import Any

from tests.laws.leaves import Steps, root

_STEP = re.compile(
    r"""(?P<dot>\.)?(?P<name>[A-Za-z_][A-Za-z0-9_]*)|\[(?P<index>0|[1-9][0-9]*)\]|\[(?P<key>"(?:[^"\\]|\\.)*")\]""",
    re.DOTALL,
)


class BadPath(AssertionError):
    """The text is no path, or leads nowhere in the caller's input."""


def parse(text: str) -> Steps:
    """The steps of a path; `BadPath` if it is not written as section 6 of the design says."""
    steps: list[str | int] = []
    position = 0
    while position < len(text):
        match = _STEP.match(text, position)
        if match is None:
            raise BadPath(f"{text!r} is no path from character {position}")
        if match["name"] is not None:
            if bool(match["dot"]) != (position > 0):
                raise BadPath(f"{text!r}: a dot stands between steps and nowhere else")
            steps.append(match["name"])
        elif match["index"] is not None:
            steps.append(int(match["index"]))
        else:
            key = json.loads(match["key"], strict=False)
            if re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", key):
                raise BadPath(f"{text!r}: {key!r} needs no quotes")
            steps.append(key)
        position = match.end()
    return tuple(steps)


def resolve(history: Any, text: str, *, absent_last: bool = False) -> Any:
    """The caller's own value at a path. With `absent_last`, the last step may be a key that its object does not have (then None)."""
    value = root(history)
    steps = parse(text)
    for position, step in enumerate(steps):
        if isinstance(step, int):
            if not isinstance(value, list) or step >= len(value):
                raise BadPath(f"{text!r}: there is no item {step} in the input")
            value = value[step]
        elif isinstance(value, dict) and step in value:
            value = value[step]
        elif absent_last and position == len(steps) - 1:
            return None
        else:
            raise BadPath(f"{text!r}: there is no {step!r} in the input")
    return value


def within(at: Steps, place: Steps) -> bool:
    """Whether `at` is the place itself or under it."""
    return at[: len(place)] == place
