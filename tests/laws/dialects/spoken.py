"""What a module of this folder offers, and the words that every dialect may say.

All strategies give *templates*: JSON values whose strings hold the markers of `tests/laws/leaves.py`. A step is a list of messages that may follow
any other step. What must not live here: the shape of any one dialect.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from hypothesis import strategies as st

Message = Any
Step = list[Message]
Steps = st.SearchStrategy[Step]


@dataclass(frozen=True)
class Spoken:
    """One dialect's share of the generators."""

    name: str
    list_name: str
    """The key under which a whole body holds its messages."""
    user: Steps
    assistant: Steps
    """An assistant step without client tool calls."""
    tool_turn: Steps
    """Calls, and every result, in the order that the provider demands."""
    system: Steps
    """A system or developer message inside the list (an empty step where the dialect has none)."""
    late_system: bool
    """Whether the provider takes such a message anywhere, and not at the front only."""
    plain: st.SearchStrategy[list[Message]]
    """A whole plain tool-using history: text, calls, results. It crosses to any dialect without a loss."""
    body: Callable[[list[Message]], st.SearchStrategy[dict[str, Any]]]
    """A whole request body around a list of messages."""
    blocks: st.SearchStrategy[Any]
    """One block of any kind that this dialect writes into a list of content, wherever it may be put."""
    orphan: Step
    """A step with one result that no call asked for."""
    first: Step
    """The step with which a history of this dialect may begin."""
    sequence: Callable[[list[Message]], list[tuple[str, str]]]
    """The messages as (role, block) in order, message boundaries ignored; a block is JSON text."""


def written(block: Any) -> str:
    """A block as text that two runs can be compared by."""
    return json.dumps(block, sort_keys=True)


def one_of(templates: list[Any]) -> st.SearchStrategy[Any]:
    """One of the templates. They are never handed out for writing: `plant` rebuilds what it fills."""
    return st.sampled_from(templates)


TEXTS = [
    "«»",
    "a question about «»",
    "«»\n",
    "line one «»\nline two",
    "  «» ",
    'quotes " and \\ «»',
    "«» 日本語 🙂 é",
    '{"json": "«»"}',
]
"""Texts that every provider accepts."""

CLOSING_TEXTS = ["«»", "the answer is «»", "«».", "«» 日本語 🙂"]
"""Texts that may end a history everywhere: no white space at the end."""

OBJECTS: list[dict[str, Any]] = [
    {},
    {"q": "«»"},
    {"path": "notes «».md", "n": 909_090_909},
    {"deep": {"list": [1, 2.5, None, True, "«»"], "empty": {}}, "text": "«»"},
    {"expected": "5e400", "actual": "00123 «»", "flag": "true", "x": None},
]
"""Arguments as objects."""

TOOL_NAMES = ["search", "read_file", "get-weather", "T1"]

# A PNG's first bytes in base64; the token after it keeps the text valid, since both have a length divisible by four.
PNG = "iVBORw0KGgoAAAANSUhEUgAA"
PDF = "JVBERi0xLjQK"
WAV = "UklGRiQAAABXQVZF"
