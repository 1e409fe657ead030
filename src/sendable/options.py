"""Facts about the target and the call that the caller knows and the history does not show."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, final

import msgspec


@final
class Options(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What may be said in `options`; an absent key means: as the body or the target says.

    `thinking`: the call runs with extended thinking. `thinking_origin`: the issuer of the reasoning in the history. `same_model`: that
    reasoning was made by the very model that is called. `prefix_changed`: something before it was changed outside. `store`: the provider
    keeps the items. `system_role`: the target has a system role. `reasoning_content="reject"`: it refuses the field.
    `text_with_tool_blocks_allowed`, `parallel_tool_results`, `interleave_calls_and_outputs`, `images`, `allow_prefill`: what the target
    takes. `max_tool_calls_per_message`, `max_images`, `max_string_chars`: limits (counts; characters). `reasoning`: drop reasoning
    everywhere, or write it as visible text. `unknown`: keep kinds and fields that nobody knows, at home.
    """

    thinking: Literal["enabled", "disabled"] | None = None
    thinking_origin: str | None = None
    same_model: bool = True
    prefix_changed: bool = False
    store: bool = True
    system_role: bool | None = None
    reasoning_content: Literal["reject"] | None = None
    text_with_tool_blocks_allowed: bool | None = None
    parallel_tool_results: bool | None = None
    interleave_calls_and_outputs: bool = False
    max_tool_calls_per_message: int | None = None
    max_images: int | None = None
    max_string_chars: int | None = None
    images: bool | None = None
    allow_prefill: bool | None = None
    reasoning: Literal["drop", "text"] | None = None
    unknown: Literal["drop", "keep"] = "drop"


NONE = Options()


def read_options(given: Mapping[str, Any] | None) -> Options:
    """The options of a call. An unknown key or a value of the wrong type is a `TypeError` that names it."""
    if not given:
        return NONE
    try:
        return msgspec.convert(dict(given), Options)
    except msgspec.ValidationError as error:
        raise TypeError(f"options: {error}") from None
