"""What goes wrong with stored histories: each fault is a function that damages a template in place.

Faults find their spots by key names that all dialects share, so that a new dialect gets them for nothing. What must not live here: the shape of a
whole dialect.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator
from typing import Any

from hypothesis import strategies as st

from tests.laws.dialects import DIALECTS
from tests.laws.dialects.spoken import one_of

Draw = Any
Fault = Callable[[Draw, list[Any]], None]
Spot = tuple[dict[str, Any], str]

_CALL_IDS = ("id", "tool_call_id", "call_id", "toolCallId", "toolUseId", "tool_use_id")
_NAMES = ("name",)
_ARGUMENTS = ("arguments", "input", "args")
_CONTENTS = ("content", "text", "thinking", "reasoning_content", "refusal", "parts", "response")
_HANDLES = (
    "signature",
    "data",
    "file_id",
    "encrypted_content",
    "url",
    "file_data",
    "media_type",
    "mimeType",
    "thoughtSignature",
    "fileUri",
)

HUGE = 12345678901234567890123456789
BAD_IDS: list[Any] = [
    None,
    "",
    "  ",
    0,
    "0",
    7,
    HUGE,
    True,
    1.5,
    {"x": "«»"},
    ["«»"],
    "bad id! «»",
    "id_«»" + "y" * 90,
    "é«»",
]
BAD_NAMES: list[Any] = [None, "", " ", 5, {"n": "«»"}, "has space «»", "dots.and$«»", "n" * 120 + "«»", "日本«»"]
BAD_ARGUMENTS: list[Any] = [
    None, "", " ", "{broken «»", '"text «»"', '[1, "«»"]', "null", "12", '{"a": NaN, "b": "«»"}', '{"a": 1, "a": "«»"}', '{"a": 1e999, "b": "«»"}',
    {"o": "«»"}, [], ["«»"], 5, math.nan, {"a": math.inf, "b": "«»"}, {"a": "\ud800 «»"}, '{"a": "\\ud800 «»"}', {"a": {"b": "\x00 «»"}}, True, HUGE,
]  # fmt: skip
BAD_CONTENTS: list[Any] = [
    None, "", "  ", "\n", "\x00", "a\x00«»\x00b", "\ud800", "\udfff «»", 5, 909_090_909, -1.5, True, False, math.nan, -math.inf, HUGE, {}, {"k": "«»"},
    {"type": "text", "text": "«»"}, [], ["«»"], [["«»"]], [None], [5, "«»"], [{"text": "«»"}], [{"type": "hologram_v9", "payload": {"k": "«»"}}],
    [{"type": 7, "x": "«»"}], [{"type": "text"}], [{"type": "text", "text": ""}], [{"type": "text", "text": 5}], [{"type": "text", "text": " "}, "«»"],
    {"k": math.nan, "t": "«»"}, "«»",
]  # fmt: skip
BAD_ROLES: list[Any] = [
    "human",
    "ai",
    "model",
    "ipython",
    "User",
    "",
    " ",
    None,
    5,
    ["user"],
    {"r": "«»"},
    "role «»",
    "function",
    "tool",
    "developer",
    "system",
]
GARBAGE: list[Any] = [
    None,
    5,
    909_090_909,
    True,
    "just «»",
    "",
    [],
    ["«»"],
    {},
    {"x": "«»"},
    math.nan,
    [{"role": "user", "content": "«»"}],
    {"content": "no role «»"},
]
UNKNOWN_VALUES: list[Any] = ["«»", 909_090_909, None, {"a": ["«»"]}, [], math.nan, "\ud800«»", "\x00«»"]
UNKNOWN_KEYS = [
    "timestamp",
    "uuid",
    "x_«k»",
    "odd key",
    "",
    "kéy",
    'q"uote',
    "a.b[0]",
    "cache_control",
    "index",
    "tool_calls",
    "usage",
    "stop_reason",
]


def _spots(value: Any, keys: tuple[str, ...]) -> list[Spot]:
    return [(node, key) for node in _nodes(value) for key in keys if key in node]


def _nodes(value: Any) -> Iterator[dict[str, Any]]:
    if isinstance(value, dict):
        yield value
        for item in value.values():
            yield from _nodes(item)
    elif isinstance(value, list):
        for item in value:
            yield from _nodes(item)


def _set(keys: tuple[str, ...], values: list[Any]) -> Fault:
    def fault(draw: Draw, messages: list[Any]) -> None:
        if spots := _spots(messages, keys):
            node, key = draw(st.sampled_from(spots))
            node[key] = copied(draw(one_of(values)))

    return fault


def _absent(keys: tuple[str, ...]) -> Fault:
    def fault(draw: Draw, messages: list[Any]) -> None:
        if spots := _spots(messages, keys):
            node, key = draw(st.sampled_from(spots))
            del node[key]

    return fault


def copied(value: Any) -> Any:
    """The tree again, sharing no dict and no list with the original."""
    if isinstance(value, dict):
        return {key: copied(item) for key, item in value.items()}
    if isinstance(value, list):
        return [copied(item) for item in value]
    return value


def same_id(draw: Draw, messages: list[Any]) -> None:
    """One id where another stood: a duplicate, an orphan, or a wrong answer."""
    spots = _spots(messages, _CALL_IDS)
    if len(spots) > 1:
        (node, key), (other, other_key) = draw(st.sampled_from(spots)), draw(st.sampled_from(spots))
        node[key] = copied(other[other_key])


def foreign_id(draw: Draw, messages: list[Any]) -> None:
    """One id that the target may refuse, in every place where it stands."""
    spots = _spots(messages, _CALL_IDS)
    if spots:
        node, key = draw(st.sampled_from(spots))
        old = node[key]
        new = draw(
            one_of(
                [
                    "call.«f»|fc:1",
                    "«f»" + "z" * 70,
                    "functions.search:0",
                    "0",
                    0,
                    41,
                    "srvtoolu_«f»",
                    "call 1",
                    HUGE,
                    "é",
                ]
            )
        )
        for node, key in spots:
            if type(node[key]) is type(old) and node[key] == old:
                node[key] = new


def alias(draw: Draw, messages: list[Any]) -> None:
    """An id under another vendor's key, or under two keys that may differ."""
    if spots := _spots(messages, _CALL_IDS):
        node, key = draw(st.sampled_from(spots))
        other = draw(st.sampled_from([name for name in _CALL_IDS if name != key]))
        how = draw(st.integers(0, 2))
        if how == 0:
            node[other] = node.pop(key)
        else:
            node[other] = node[key] if how == 1 else "other_«»"


def unknown_key(draw: Draw, messages: list[Any]) -> None:
    """A key that no dialect knows, or that means nothing where it stands."""
    if nodes := list(_nodes(messages)):
        draw(st.sampled_from(nodes))[draw(st.sampled_from(UNKNOWN_KEYS)).replace("«k»", "key")] = copied(
            draw(one_of(UNKNOWN_VALUES))
        )


def lose(draw: Draw, messages: list[Any]) -> None:
    """A message is gone."""
    if messages:
        del messages[draw(st.integers(0, len(messages) - 1))]


def cut_front(draw: Draw, messages: list[Any]) -> None:
    """The history was truncated at the front, as memory limits do, perhaps between a call and its result."""
    del messages[: draw(st.integers(1, 4))]


def cut_end(draw: Draw, messages: list[Any]) -> None:
    """The history ends early: the process died."""
    del messages[max(1, len(messages) - draw(st.integers(1, 3))) :]


def repeat(draw: Draw, messages: list[Any]) -> None:
    """A message was stored twice."""
    if messages:
        message = draw(st.sampled_from(messages))
        messages.insert(draw(st.integers(0, len(messages))), copied(message))


def displace(draw: Draw, messages: list[Any]) -> None:
    """A message stands elsewhere: early results, late results, late system messages."""
    if messages:
        message = messages.pop(draw(st.integers(0, len(messages) - 1)))
        messages.insert(draw(st.integers(0, len(messages))), message)


def garbage(draw: Draw, messages: list[Any]) -> None:
    """An entry that is no message."""
    messages.insert(draw(st.integers(0, len(messages))), copied(draw(one_of(GARBAGE))))


def intrude(draw: Draw, messages: list[Any]) -> None:
    """A whole message of any dialect stands anywhere, between a call and its result too."""
    spoken = DIALECTS[draw(st.sampled_from(sorted(DIALECTS)))]
    step = draw(st.one_of(spoken.user, spoken.assistant, spoken.system, st.just(spoken.orphan)))
    position = draw(st.integers(0, len(messages)))
    messages[position:position] = copied(step)


def stray_block(draw: Draw, messages: list[Any]) -> None:
    """A block of any dialect and kind stands in a list of content."""
    lists = [node[key] for node, key in _spots(messages, ("content", "parts")) if isinstance(node[key], list)]
    spoken = DIALECTS[draw(st.sampled_from(sorted(DIALECTS)))]
    if lists:
        blocks = draw(st.sampled_from(lists))
        blocks.insert(draw(st.integers(0, len(blocks))), copied(draw(spoken.blocks)))


def stray_content(draw: Draw, messages: list[Any]) -> None:
    """A message's content is a list of blocks of any dialect."""
    if spots := _spots(messages, ("content", "parts")):
        node, key = draw(st.sampled_from(spots))
        spoken = DIALECTS[draw(st.sampled_from(sorted(DIALECTS)))]
        node[key] = copied(draw(st.lists(spoken.blocks, min_size=1, max_size=2)))


def lose_block(draw: Draw, messages: list[Any]) -> None:
    """A block, call or result is gone from a list."""
    lists = [
        node[key]
        for node, key in _spots(messages, ("content", "parts", "tool_calls"))
        if isinstance(node[key], list) and node[key]
    ]
    if lists:
        blocks = draw(st.sampled_from(lists))
        del blocks[draw(st.integers(0, len(blocks) - 1))]


def shuffle_blocks(draw: Draw, messages: list[Any]) -> None:
    """The blocks of one list stand in another order."""
    lists = [
        node[key] for node, key in _spots(messages, ("content", "parts", "tool_calls")) if isinstance(node[key], list)
    ]
    if lists:
        draw(st.sampled_from(lists)).reverse()


def odd_calls(draw: Draw, messages: list[Any]) -> None:
    """`tool_calls` is no list of calls, or an empty one."""
    nodes = [message for message in messages if isinstance(message, dict)]
    if nodes:
        draw(st.sampled_from(nodes))["tool_calls"] = copied(
            draw(one_of([[], {}, "«»", None, 5, [None], ["«»"], [{}], [{"x": "«»"}], {"0": {"id": "«»"}}]))
        )


def too_many_marks(draw: Draw, messages: list[Any]) -> None:
    """Every block of content asks to be cached, which is more often than a provider takes."""
    for node in _nodes(messages):
        for block in node["content"] if isinstance(node.get("content"), list) else ():
            if isinstance(block, dict):
                block["cache_control"] = {"type": "ephemeral"}
    messages.extend(
        {"role": "user", "content": [{"type": "text", "text": "«»", "cache_control": {"type": "ephemeral"}}]}
        for _ in range(draw(st.integers(1, 5)))
    )


def legacy_call(draw: Draw, messages: list[Any]) -> None:
    """The `function_call` of 2023, with its `role: function` answer, or without."""
    call = {
        "role": "assistant",
        "content": None,
        "function_call": {"name": "search", "arguments": json.dumps({"q": "«»"}, ensure_ascii=False)},
    }
    answer = {"role": "function", "name": "search", "content": "«»"}
    position = draw(st.integers(0, len(messages)))
    messages[position:position] = [call, answer][: draw(st.integers(1, 2))]


FAULTS: dict[str, Fault] = {
    "bad id": _set(_CALL_IDS, BAD_IDS),
    "no id": _absent(_CALL_IDS),
    "same id": same_id,
    "foreign id": foreign_id,
    "alias": alias,
    "bad name": _set(_NAMES, BAD_NAMES),
    "no name": _absent(_NAMES),
    "bad arguments": _set(_ARGUMENTS, BAD_ARGUMENTS),
    "no arguments": _absent(_ARGUMENTS),
    "bad content": _set(_CONTENTS, BAD_CONTENTS),
    "no content": _absent(_CONTENTS),
    "bad handle": _set(
        _HANDLES,
        ["", " ", None, 5, "«»", "not base64 «»!", {"x": "«»"}, "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAA«»"],
    ),
    "no handle": _absent(_HANDLES),
    "bad role": _set(("role",), BAD_ROLES),
    "no role": _absent(("role",)),
    "bad type": _set(
        ("type",),
        ["hologram_v9", "", None, 5, "text", "tool_use", "tool_result", "thinking", "image", "input_text", "function"],
    ),
    "no type": _absent(("type",)),
    "unknown key": unknown_key,
    "lose": lose,
    "cut front": cut_front,
    "cut end": cut_end,
    "repeat": repeat,
    "displace": displace,
    "garbage": garbage,
    "intrude": intrude,
    "stray block": stray_block,
    "stray content": stray_content,
    "lose block": lose_block,
    "shuffle blocks": shuffle_blocks,
    "odd calls": odd_calls,
    "legacy call": legacy_call,
    "too many marks": too_many_marks,
}
"""Every fault by its name."""

LATE_FAULTS = frozenset({"too many marks", "displace", "repeat", "lose", "same id", "foreign id", "alias", "bad role", "bad id", "no id", "intrude", "stray block",
    "stray content", "shuffle blocks", "lose block", "bad type", "odd calls", "legacy call", "cut front", "no role", "no type"})  # fmt: skip
"""The faults that may make a later message answer or complete an earlier call, stand as a late system message, or hit a counted limit."""


@st.composite
def damaged(
    draw: st.DrawFn, history: st.SearchStrategy[list[Any]], names: list[str] | None = None, most: int = 3
) -> list[Any]:
    """A history with one or more faults in it."""
    messages: list[Any] = copied(draw(history))
    for name in draw(st.lists(st.sampled_from(names or sorted(FAULTS)), min_size=1, max_size=most)):
        FAULTS[name](draw, messages)
    return messages
