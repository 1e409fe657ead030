"""What the reader of Messages knows of nested objects is what the official types say of them."""

from __future__ import annotations

from typing import Any, get_args, get_origin, get_type_hints

import anthropic.types.beta as types
import pytest
import typing_extensions

from sendable.dialects.anthropic.fit import SERVER_TOOLS
from sendable.dialects.anthropic.nested import CITATIONS, FOUND

KNOWN = {**CITATIONS, **{tag: kind for kinds in FOUND.values() for part in kinds for tag, kind in part.items()}}


def inner(hint: Any) -> Any:
    """A type without `Required` and `Annotated` around it."""
    while get_origin(hint) in (typing_extensions.Required, typing_extensions.NotRequired, typing_extensions.Annotated):
        hint = get_args(hint)[0]
    return hint


def official() -> dict[str, Any]:
    """The official type of a request's object by its own word for it."""
    found: dict[str, Any] = {}
    for name in dir(types):
        kind = getattr(types, name)
        if name.endswith("Param") and typing_extensions.is_typeddict(kind):
            for word in get_args(inner(get_type_hints(kind, include_extras=True).get("type"))):
                if isinstance(word, str):
                    found[word] = kind
    return found


OFFICIAL = official()


@pytest.mark.parametrize("tag", KNOWN)
def test_a_nested_object_has_the_fields_of_the_official_type(tag: str) -> None:
    kind, theirs = KNOWN[tag], OFFICIAL[tag]
    hints = get_type_hints(theirs, include_extras=True)
    assert {"type", *kind.__struct_encode_fields__} == set(hints)
    required = kind.__struct_encode_fields__[: len(kind.__struct_fields__) - len(kind.__struct_defaults__)]
    needed = {name for name, hint in hints.items() if get_origin(hint) is typing_extensions.Required}
    assert {"type", *required} == needed


def test_every_result_of_a_server_tool_has_its_content() -> None:
    blocks = {
        word for word in OFFICIAL if word.endswith("_tool_result") and word not in ("tool_result", "mcp_tool_result")
    }
    assert blocks == set(FOUND)


def test_the_tools_that_the_provider_executes_are_those_of_the_official_type() -> None:
    hints = get_type_hints(OFFICIAL["server_tool_use"], include_extras=True)
    assert set(get_args(inner(hints["name"]))) == SERVER_TOOLS
