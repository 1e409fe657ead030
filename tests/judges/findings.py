"""What a judge says, and the rules of the wire itself that every provider shares. What must not live here: a rule of one provider."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Finding:
    """One broken rule: its number in the rules document, and where in the judged body."""

    rule: str
    at: str
    text: str


Findings = Iterator[Finding]


def transport(body: Any) -> Findings:
    """The body must be strict JSON in UTF-8 (JSON: RFC 8259), without U+0000 (case encoding-nul-and-control-characters)."""
    try:
        text = json.dumps(body, allow_nan=False, ensure_ascii=False)
    except (ValueError, TypeError, RecursionError) as error:
        yield Finding("JSON", "", f"not strict JSON: {error}")
        return
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as error:
        yield Finding("UTF8", "", f"not UTF-8: {error.reason}")
    if "\\u0000" in text and _holds_nul(body):
        yield Finding("NUL", "", "a text holds U+0000")


def _holds_nul(value: Any) -> bool:
    stack = [value]
    while stack:
        found = stack.pop()
        if isinstance(found, str) and "\x00" in found:
            return True
        if isinstance(found, dict):
            stack.extend(found)
            stack.extend(found.values())
        elif isinstance(found, list):
            stack.extend(found)
    return False


def is_text(value: Any) -> bool:
    """Whether the value is a string with anything but white space in it."""
    return isinstance(value, str) and bool(value.strip())
