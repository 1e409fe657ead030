"""The generators of whole histories, for any source dialect and for mixtures.

`clean(source)` is accepted by the source's own provider, `damaged` has faults, `sturdy` has faults and still something to send, `plain` is the plain
tool-using history of promise 11, `orderly` has no message that reaches back (promise 9), `json_values` is anything at all. All of them give `Planted`
values. What must not live here: the shape of any dialect (tests/laws/dialects/) and any fault (tests/laws/faults.py).
"""

from __future__ import annotations

import math
from typing import Any

from hypothesis import strategies as st

from tests.laws import faults
from tests.laws.dialects import DIALECTS
from tests.laws.dialects.spoken import OBJECTS, Step, one_of
from tests.laws.leaves import Planted, plant, scoped

SOURCES = [*DIALECTS, "mixed"]
"""What a history may be written in."""

TARGETS = list(DIALECTS)
"""The targets on which the laws are tested."""

PAIRS = [(source, target) for source in SOURCES for target in TARGETS]
"""All ordered pairs, and the mixtures into every target."""

_MIXED_CALLS = ["openai-chat", "anthropic", "flat"]


@st.composite
def _crossed_turn(draw: st.DrawFn) -> Step:
    """One tool turn in which the shapes of several dialects stand in the same messages."""
    texts: list[Any] = [{"type": "text", "text": "«»"}] if draw(st.booleans()) else []
    blocks, calls, results = [*texts], [], []
    for number in range(draw(st.integers(1, 3))):
        arguments: Any = draw(one_of([*OBJECTS, '{"q": "«»"}']))
        shape = draw(st.sampled_from(_MIXED_CALLS))
        id_key = draw(st.sampled_from(["id", "call_id", "tool_call_id", "toolCallId", "toolUseId", "tool_use_id"]))
        identity = f"mix_«{number}»"
        if shape == "anthropic":
            blocks.append(
                {
                    "type": "tool_use",
                    id_key if draw(st.booleans()) else "id": identity,
                    "name": "search",
                    "input": arguments,
                }
            )
        elif shape == "openai-chat":
            text = arguments if isinstance(arguments, str) else '{"q": "«»"}'
            calls.append(
                {
                    id_key if draw(st.booleans()) else "id": identity,
                    "type": "function",
                    "function": {"name": "search", "arguments": text},
                }
            )
        else:
            calls.append({"tool_call_id": identity, "name": "search", "arguments": arguments})
        if draw(st.booleans()):
            results.append(
                {
                    "role": "tool",
                    "tool_call_id": identity,
                    "content": draw(one_of(["«»", [{"type": "text", "text": "«»"}]])),
                }
            )
        else:
            role = draw(st.sampled_from(["user", "tool"]))
            results.append(
                {"role": role, "content": [{"type": "tool_result", "tool_use_id": identity, "content": "«»"}]}
            )
    assistant: dict[str, Any] = {"role": "assistant", "content": blocks or draw(one_of(["", None, "«»"]))}
    if calls:
        assistant["tool_calls"] = calls
    return [assistant, *results]


@st.composite
def _crossed_message(draw: st.DrawFn) -> Step:
    """A message whose list of content holds blocks of two dialects."""
    blocks = [
        draw(DIALECTS[name].blocks)
        for name in draw(st.lists(st.sampled_from(sorted(DIALECTS)), min_size=1, max_size=3))
    ]
    return [{"role": draw(st.sampled_from(["user", "assistant", "system"])), "content": blocks}]


def _step(source: str) -> st.SearchStrategy[Step]:
    if source == "mixed":
        spoken = list(DIALECTS.values())
        return st.one_of(
            _crossed_turn(),
            _crossed_message(),
            *(one.tool_turn for one in spoken),
            *(one.user for one in spoken),
            *(one.assistant for one in spoken),
        )
    one = DIALECTS[source]
    return st.one_of(one.tool_turn, one.user, one.assistant, *((one.system,) if one.late_system else ()))


def _unmarked(messages: list[Any], most: int) -> list[Any]:
    """The messages with no more cache marks than a provider takes (the counted limit is a fault, tested by name)."""
    left = most

    def walk(value: Any) -> Any:
        nonlocal left
        if isinstance(value, dict):
            kept = {}
            for key, item in value.items():
                if key in ("cache_control", "prompt_cache_breakpoint"):
                    left -= 1
                    if left < 0:
                        continue  # one mark too many: leaving it out is the whole point
                kept[key] = walk(item)
            return kept
        return [walk(item) for item in value] if isinstance(value, list) else value

    result: list[Any] = walk(messages)
    return result


@st.composite
def steps(draw: st.DrawFn, source: str, least: int = 0, most: int = 4) -> list[Any]:
    """A realistic history as a template: it starts as the dialect's histories start, and any steps follow."""
    first = DIALECTS[source if source != "mixed" else draw(st.sampled_from(sorted(DIALECTS)))]
    messages: list[Any] = list(draw(st.one_of(st.just(first.first), first.user)))
    if not first.late_system and draw(st.booleans()):
        messages = [*draw(first.system), *messages]
    for scope in range(draw(st.integers(least, most))):
        messages = [*messages, *scoped(draw(_step(source)), scope)]
    return _unmarked(messages, 3)


@st.composite
def _enclosed(draw: st.DrawFn, source: str, messages: st.SearchStrategy[list[Any]]) -> Any:
    """The messages as a bare list, or in a whole body of the dialect."""
    found = draw(messages)
    one = DIALECTS[source if source != "mixed" else draw(st.sampled_from(sorted(DIALECTS)))]
    return draw(one.body(found)) if draw(st.integers(0, 3)) == 3 else found


def clean(source: str) -> st.SearchStrategy[Planted]:
    """Histories that the source's own provider accepts as they are (bare lists and whole bodies)."""
    return _enclosed(source, steps(source)).map(plant)


def damaged(source: str) -> st.SearchStrategy[Planted]:
    """Histories with faults; perhaps nothing sendable is left in them."""
    return _enclosed(source, faults.damaged(steps(source))).map(plant)


@st.composite
def _sturdy(draw: st.DrawFn, source: str) -> list[Any]:
    messages = draw(st.one_of(faults.damaged(steps(source)), faults.damaged(steps(source)), steps(source)))
    anchor = {"role": "user", "content": "«»"}
    return [*messages, anchor] if draw(st.booleans()) else [anchor, *messages]


def sturdy(source: str) -> st.SearchStrategy[Planted]:
    """Histories with and without faults in which one plain user message is sendable whatever happens to the rest."""
    return _enclosed(source, _sturdy(source)).map(plant)


def plain(source: str) -> st.SearchStrategy[Planted]:
    """The plain tool-using history of promise 11, as a bare list."""
    return DIALECTS[source].plain.map(plant)


_MILD = sorted(set(faults.FAULTS) - faults.LATE_FAULTS)


@st.composite
def _orderly(draw: st.DrawFn, source: str) -> list[Any]:
    def without_late_system(messages: list[Any]) -> list[Any]:
        return [
            m
            for i, m in enumerate(messages)
            if i == 0 or not (isinstance(m, dict) and m.get("role") in ("system", "developer"))
        ]

    history = st.builds(without_late_system, steps(source, least=1))
    return draw(st.one_of(history, faults.damaged(history, _MILD, most=2)))


def orderly(source: str) -> st.SearchStrategy[Planted]:
    """Bare lists in which no later message answers an earlier call late, is a system message, or hits a counted limit."""
    return _orderly(source).map(plant)


def kept_types(source: str) -> st.SearchStrategy[Planted]:
    """Histories with faults that leave every block recognizable as what it is: a secret is still seen to be one."""
    names = sorted(
        set(faults.FAULTS) - {"bad type", "no type", "bad handle", "no content", "bad content", "bad role", "no role"}
    )
    return _enclosed(source, st.one_of(steps(source, least=1), faults.damaged(steps(source, least=1), names))).map(
        plant
    )


_ENTRY_FAULTS = [
    "bad id",
    "no id",
    "same id",
    "foreign id",
    "bad name",
    "lose",
    "cut front",
    "cut end",
    "repeat",
    "displace",
    "garbage",
    "no role",
]


def whole_entries() -> st.SearchStrategy[Planted]:
    """Bare lists of `flat` in which each message stays one message or goes as a whole: what is counted can be counted again."""
    return st.one_of(faults.damaged(steps("flat", least=1), _ENTRY_FAULTS, most=4), steps("flat")).map(plant)


def unordered(source: str) -> st.SearchStrategy[Planted]:
    """Bare lists in which any of these may happen."""
    return st.one_of(faults.damaged(steps(source, least=1)), steps(source, least=1)).map(plant)


_WORDS = [
    "role", "content", "type", "text", "tool_calls", "tool_call_id", "id", "function", "name", "arguments", "messages", "system", "input", "tool_use",
    "tool_result", "tool_use_id", "thinking", "signature", "image_url", "url", "source", "data", "tools", "model", "user", "assistant", "tool", "",
    "contents", "parts", "function_call", "refusal", "audio", "max_tokens", "functionCall", "toolConfig", "tool_choice", "metadata",
]  # fmt: skip
_UNCLEAN = ["con\x00tent", "te\x00xt", "x\x00", "\ud800", "type\ud800"]
"""Keys that no provider's parser takes: words of the format among them, which a reader knows again once they are clean."""

_SCALARS: st.SearchStrategy[Any] = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.sampled_from([*_WORDS, "«»", "\x00", "\ud800"]),
    st.text(max_size=8),
    st.just(math.nan),
    st.just(faults.HUGE),
)


def json_values() -> st.SearchStrategy[Any]:
    """Any JSON value at all (NaN, infinities, half surrogates and huge integers included), with the words that readers look for as its keys."""
    keys = st.one_of(st.sampled_from([*_WORDS, *_UNCLEAN]), st.text(max_size=4))
    return st.recursive(
        _SCALARS,
        lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(keys, inner, max_size=5)),
        max_leaves=25,
    )


def odd_bodies() -> st.SearchStrategy[Any]:
    """Nearly histories: lists of nearly messages, and bodies of nearly parameters, around any JSON values."""
    value = json_values()
    roles = st.one_of(st.sampled_from(["user", "assistant", "tool", "system", "developer", "function"]), value)
    message = st.fixed_dictionaries(
        {"role": roles},
        optional={"content": value, "tool_calls": value, "tool_call_id": value, "name": value, "function_call": value},
    )
    kinds = st.sampled_from(
        ["message", "reasoning", "function_call", "function_call_output", "web_search_call", "x_call"]
    )
    keys = ("role", "id", "call_id", "name", "arguments", "output", "summary", "content", "encrypted_content", "status")
    item = st.fixed_dictionaries({"type": st.one_of(kinds, value)}, optional=dict.fromkeys(keys, value))
    listed = st.lists(st.one_of(message, item, value), max_size=4)
    words = (
        "model",
        "system",
        "tools",
        "tool_choice",
        "max_tokens",
        "stop",
        "metadata",
        "thinking",
        "x",
        "instructions",
    )
    bodies = [
        st.fixed_dictionaries({name: st.one_of(listed, value)}, optional=dict.fromkeys(words, value))
        for name in sorted({spoken.list_name for spoken in DIALECTS.values()})
    ]
    return st.one_of(value, listed, *bodies)
