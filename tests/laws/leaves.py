"""Tokens in leaves: a generated history is a template whose strings hold markers, and `plant` puts a unique token in each.

Markers: `«»` is a fresh token; `«name»` the same token wherever the name stands (ids); `«!issuer»` a fresh token of a secret that only this
issuer may see again (signature, encrypted payload, file id); the integer `NUMBER` becomes a unique integer.
Tokens look like `tok0007x`: eight characters, so that one fits into base64 without breaking it, and none is part of another.
What must not live here: anything about a dialect.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

Steps = tuple[str | int, ...]

FRESH = "«»"
NUMBER = 909_090_909
_MARKER = re.compile("«(!?)([^«»]*)»")


@dataclass(frozen=True)
class Leaf:
    """One token, and the place at which it stands in the caller's input."""

    at: Steps
    token: str


@dataclass(frozen=True)
class Secret:
    """A token that only its issuer may be sent."""

    at: Steps
    token: str
    issuer: str


@dataclass
class Planted:
    """A history with its tokens; `value` is what the caller would hand over."""

    value: Any
    leaves: list[Leaf] = field(default_factory=list)
    secrets: list[Secret] = field(default_factory=list)
    shared: set[str] = field(default_factory=set)

    def __repr__(self) -> str:
        return repr(self.value)


def root(history: Any) -> Any:
    """The object in which paths start: a bare list is called `messages`."""
    return {"messages": history} if isinstance(history, list) else history


def plant(template: Any) -> Planted:
    """The template rebuilt, no object shared with it, every marker replaced by a token of its own."""
    planted = Planted(None)
    names: dict[str, str] = {}
    count = 0

    def fresh() -> str:
        nonlocal count
        count += 1
        return f"tok{count:04d}x"

    def fill(value: Any, at: Steps) -> Any:
        if isinstance(value, dict):
            return {key: fill(item, (*at, key)) for key, item in value.items()}
        if isinstance(value, list):
            return [fill(item, (*at, index)) for index, item in enumerate(value)]
        if isinstance(value, int) and not isinstance(value, bool) and value == NUMBER:
            number = NUMBER + int(fresh()[3:7])
            planted.leaves.append(Leaf(at, str(number)))
            return number
        if not isinstance(value, str) or "«" not in value:
            return value

        def replace(match: re.Match[str]) -> str:
            if match[1]:
                token = fresh()
                planted.secrets.append(Secret(at, token, match[2]))
            elif match[2]:
                token = names[match[2]] if match[2] in names else names.setdefault(match[2], fresh())
                planted.shared.add(token)
            else:
                token = fresh()
            planted.leaves.append(Leaf(at, token))
            return token

        return _MARKER.sub(replace, value)

    start: Steps = ("messages",) if isinstance(template, list) else ()
    planted.value = fill(template, start)
    return planted


def scoped(template: Any, scope: int) -> Any:
    """The template with its named markers made different from those of any other scope."""
    if isinstance(template, dict):
        return {key: scoped(item, scope) for key, item in template.items()}
    if isinstance(template, list):
        return [scoped(item, scope) for item in template]
    if isinstance(template, str):
        return _MARKER.sub(lambda match: f"«{match[2]}.{scope}»" if match[2] and not match[1] else match[0], template)
    return template


def objects(value: Any) -> Iterator[Any]:
    """Every mutable object (dict, list) of a tree, the root included."""
    stack = [value]
    while stack:
        found = stack.pop()
        if isinstance(found, dict):
            yield found
            stack.extend(found.values())
        elif isinstance(found, list):
            yield found
            stack.extend(found)
