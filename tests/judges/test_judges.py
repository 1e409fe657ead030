"""The judges against hand-written bodies, against each good history that the generators make, and against mutations of them."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from tests.judges import judge_anthropic, judge_flat, judge_openai_chat, judge_openai_responses, sdk
from tests.judges.bench import complaints
from tests.laws import histories
from tests.laws.dialects import DIALECTS
from tests.laws.leaves import Planted

USER: dict[str, Any] = {"role": "user", "content": "q"}


def chat_call(*ids: str, **extra: Any) -> dict[str, Any]:
    calls = [{"id": one, "type": "function", "function": {"name": "f", "arguments": "{}"}} for one in ids]
    return {"role": "assistant", "content": None, "tool_calls": calls, **extra}


def chat_result(identity: str, content: Any = "r") -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": identity, "content": content}


def use(identity: str, **extra: Any) -> dict[str, Any]:
    return {"type": "tool_use", "id": identity, "name": "f", "input": {}, **extra}


def result(identity: str, **extra: Any) -> dict[str, Any]:
    return {"type": "tool_result", "tool_use_id": identity, "content": "r", **extra}


def said(*blocks: dict[str, Any]) -> dict[str, Any]:
    return {"role": "assistant", "content": list(blocks)}


def user(*blocks: dict[str, Any]) -> dict[str, Any]:
    return {"role": "user", "content": list(blocks)}


def text(value: str) -> dict[str, Any]:
    return {"type": "text", "text": value}


def flat_call(*ids: Any) -> dict[str, Any]:
    return {"role": "assistant", "content": "", "tool_calls": [{"tool_call_id": one, "name": "f"} for one in ids]}


CHAT_BAD: list[tuple[str, list[Any]]] = [
    ("OC5", []),
    ("OC1", [{"role": "bogus", "content": "x"}]),
    ("OC1", ["text"]),
    ("OC4", [{"role": "function", "name": "f", "content": "x"}]),
    ("OC6", [{"role": "user", "content": None}]),
    ("OC6", [{"role": "user", "content": 5}]),
    ("OC7", [{"role": "developer"}]),
    ("OC8", [USER, {"role": "assistant", "content": None}]),
    ("OC8", [USER, {"role": "assistant", "refusal": None}]),
    ("OC9", [USER, {"role": "assistant", "content": "x", "tool_calls": []}]),
    ("OC10", [{"role": "user", "content": []}]),
    ("OC12", [USER, {"role": "assistant", "content": [{"type": "image_url", "image_url": {"url": "u"}}]}]),
    ("OC12", [{"role": "user", "content": [{"type": "hologram"}]}]),
    (
        "OC20",
        [
            USER,
            {
                "role": "assistant",
                "tool_calls": [{"id": "a", "type": "function", "function": {"name": "f", "arguments": {}}}],
            },
            chat_result("a"),
        ],
    ),
    ("OC22", [USER, chat_call("c" * 65), chat_result("c" * 65)]),
    (
        "OC23",
        [
            USER,
            {
                "role": "assistant",
                "tool_calls": [{"id": "a", "type": "function", "function": {"name": "a b", "arguments": ""}}],
            },
            chat_result("a"),
        ],
    ),
    ("OC24", [USER, chat_call("a", "b"), chat_result("a"), USER, chat_result("b")]),
    ("OC24", [USER, chat_call("a")]),
    ("OC25", [USER, chat_result("a")]),
    ("OC25", [USER, chat_call("a"), chat_result("a"), chat_result("a")]),
    ("OC26", [USER, chat_call("a"), chat_result("a", [{"type": "image_url", "image_url": {"url": "u"}}])]),
    ("OC32", [USER, chat_call("a", "a"), chat_result("a"), chat_result("a")]),
    ("UTF8", [{"role": "user", "content": "\ud800"}]),
    ("NUL", [{"role": "user", "content": "a\x00"}]),
    ("JSON", [{"role": "user", "content": "a", "x": float("nan")}]),
]

ANTHROPIC_BAD: list[tuple[str, list[Any]]] = [
    ("AN20", []),
    ("AN1", [{"role": "developer", "content": "x"}]),
    ("AN2", [USER, {"role": "system", "content": "x"}]),
    ("AN9", [said(text("x")), USER]),
    ("AN14", [USER, said({"type": "thinking", "thinking": "t", "signature": "s"})]),
    ("AN13", [USER, said(text("x "))]),
    ("AN15", [{"role": "user", "content": ""}]),
    ("AN15", [user(), said(text("x"))]),
    ("AN17", [user(text(""))]),
    ("AN18", [user(text(" \n"))]),
    ("AN19", [{"role": "user", "content": "x", "bogus": 1}]),
    ("AN19", [USER, said(use("a", index=1)), user(result("a"))]),
    ("AN20", [{"role": "user", "content": None}]),
    ("AN20", [user(use("a"))]),
    ("AN20", [USER, said(result("a"))]),
    ("AN22", [user(*({**text("x"), "cache_control": {"type": "ephemeral"}} for _ in range(5)))]),
    ("AN23", [user({**text("x"), "cache_control": {"type": "ephemeral", "ttl": "2h"}})]),
    (
        "AN19",
        [
            USER,
            said(
                {"type": "thinking", "thinking": "t", "signature": "s", "cache_control": {"type": "ephemeral"}},
                text("x"),
            ),
        ],
    ),
    ("AT1", [USER, said(use("a", input="{}")), user(result("a"))]),
    ("AT2", [USER, said(use("bad id!")), user(result("bad id!"))]),
    ("AT3", [USER, said({"type": "server_tool_use", "id": "call_1", "name": "web_search", "input": {}})]),
    ("AT4", [USER, said(use("a", name="a.b")), user(result("a"))]),
    ("AT5", [USER, said(use("a"))]),
    ("AT5", [USER, said(use("a"), use("b")), user(result("a"))]),
    ("AT5", [USER, said(use("a")), user(text("x"), result("a"))]),
    ("AT5", [USER, said(use("a"), use("b")), user(result("a"), text("x")), user(result("b"))]),
    ("AT6", [user(result("a"))]),
    ("AT6", [USER, said(use("a")), user(result("a")), said(text("x")), user(result("a"))]),
    ("AT7", [USER, said({"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": []}, text("x"))]),
    ("AT8", [USER, said(use("a")), user(result("a"), result("a"))]),
    ("AT8", [USER, said(use("a")), user(result("a")), said(use("a")), user(result("a"))]),
    ("AT10", [USER, said(use("a")), user(result("a", content=[{"type": "input_audio"}]))]),
    ("AH1", [USER, said({"type": "thinking", "thinking": "t"}, text("x"))]),
    ("AH1", [USER, said({"type": "redacted_thinking"}, text("x"))]),
]


def item(kind: str, **fields: Any) -> dict[str, Any]:
    return {"type": kind, **fields}


FN = item("function_call", call_id="a", name="f", arguments="{}")
OUT = item("function_call_output", call_id="a", output="x")
THOUGHT = item("reasoning", id="rs_1", summary=[], encrypted_content="gAAAA")
SAID = item("message", role="assistant", content=[{"type": "output_text", "text": "x", "annotations": []}])

RESPONSES_BAD: list[tuple[str, list[Any]]] = [
    ("OR1", []),
    ("OR1", [{"role": "function", "content": "x"}]),
    ("OR1", [item("bogus_item")]),
    ("OR2", [item("message", role="assistant", content=[{"type": "input_text", "text": "x"}])]),
    ("OR4", [item("message", role="user", content=[{"type": "input_audio"}])]),
    ("OR5", [{**FN, "call_id": "c" * 65}, {**OUT, "call_id": "c" * 65}]),
    ("OR6", [{**FN, "id": "call_1"}, OUT]),
    ("OR6", [{**SAID, "id": "msg_1"}, {**SAID, "id": "msg_1"}]),
    ("OR6", [item("reasoning", summary=[]), SAID]),
    ("OR7", [{**FN, "name": "bad name"}, OUT]),
    ("OR8", [{**FN, "arguments": {}}, OUT]),
    ("OR9", [FN]),
    ("OR9", [item("custom_tool_call", call_id="a", name="f", input="x"), OUT]),
    ("OR10", [OUT]),
    ("OR11", [item("function_call_output", output="x")]),
    ("OR12", [FN, {**OUT, "output": [{"type": "output_text", "text": "x"}]}]),
    ("OR14", [THOUGHT, USER]),
    ("OR16", [item("reasoning", id="rs_1"), SAID]),
    ("OR16", [{**THOUGHT, "content": [{"type": "reasoning_text", "text": "x"}]}, SAID]),
    ("OR22", [item("compaction_trigger"), USER]),
    ("OR22", [item("compaction", id="cmp_1"), USER]),
    ("OR24", [item("web_search_call", id="ws_1", status="completed", action={})]),
    ("OR28", [{"role": "critic", "content": "x"}]),
]

FLAT_BAD: list[tuple[str, list[Any]]] = [
    ("5.1 shape", ["x"]),
    ("5.1 flat", [{**USER, "x": 1}]),
    ("5.1 role", [{"content": "x"}]),
    ("5.1 content", [{"role": "user", "content": None}]),
    ("5.2", [USER, {"role": "system", "content": "x"}]),
    ("5.3 ids", [flat_call("0"), chat_result("0")]),
    ("5.3 ids", [flat_call(7), chat_result("7")]),
    ("5.3 results", [{"role": "tool", "content": "x"}]),
    ("5.3 results", [chat_result("a")]),
    ("5.3 results", [flat_call("a"), chat_result("a"), chat_result("a")]),
    ("5.3 unanswered", [flat_call("a"), USER]),
    ("5.3 unanswered", [flat_call("a")]),
    ("5.3 declarations", [flat_call("a"), chat_result("a"), flat_call("a"), chat_result("a")]),
    ("5.4", [{"role": "assistant", "content": "", "tool_calls": []}]),
]


@pytest.mark.parametrize(("rule", "messages"), CHAT_BAD)
def test_the_chat_judge_refuses(rule: str, messages: list[Any]) -> None:
    assert rule in {finding.rule for finding in judge_openai_chat.judge({"messages": messages})}


@pytest.mark.parametrize(("rule", "messages"), ANTHROPIC_BAD)
def test_the_anthropic_judge_refuses(rule: str, messages: list[Any]) -> None:
    assert rule in {finding.rule for finding in judge_anthropic.judge({"messages": messages})}


@pytest.mark.parametrize(("rule", "items"), RESPONSES_BAD)
def test_the_responses_judge_refuses(rule: str, items: list[Any]) -> None:
    assert rule in {finding.rule for finding in judge_openai_responses.judge({"input": items})}


@pytest.mark.parametrize(
    "items",
    [
        [SAID, USER, {"role": "developer", "content": "x"}],
        [THOUGHT, {**FN, "id": "fc_1"}, USER, OUT],
        [
            item("custom_tool_call", call_id="a", name="f", input="x"),
            *[item("custom_tool_call_output", call_id="a", output="x")] * 2,
        ],
        [item("function_call_output", name="f", output="x"), USER],
    ],
)
def test_good_responses_histories_pass(items: list[Any]) -> None:
    assert complaints("openai-responses", {"input": items}) == []


@pytest.mark.parametrize(("rule", "messages"), FLAT_BAD)
def test_the_flat_judge_refuses(rule: str, messages: list[Any]) -> None:
    assert rule in {finding.rule for finding in judge_flat.judge(messages)}


BAD_BODIES: list[tuple[str, str, dict[str, Any]]] = [
    ("OC23", "openai-chat", {"tools": [{"type": "function", "function": {"name": ""}}]}),
    ("OC28", "openai-chat", {"tools": [{"type": "function", "function": {"name": f"f{n}"}} for n in range(129)]}),
    ("OC29", "openai-chat", {"tools": [], "tool_choice": {"type": "function", "function": {"name": "f"}}}),
    ("SDK", "openai-chat", {"zzz": 1}),
    ("SDK", "openai-chat", {"max_tokens": "many"}),
    ("AT4", "anthropic", {"tools": [{"name": "a", "input_schema": {}}, {"name": "a", "input_schema": {}}]}),
    ("AT4", "anthropic", {"tools": [{"name": "a b", "input_schema": {}}]}),
    ("AT11", "anthropic", {"tool_choice": {"type": "any"}}),
    ("AT11", "anthropic", {"tools": [{"name": "a", "input_schema": {}}], "tool_choice": {"type": "tool", "name": "b"}}),
    ("AN17", "anthropic", {"system": [{"type": "text", "text": ""}]}),
    ("SDK", "anthropic", {"zzz": 1}),
]


@pytest.mark.parametrize(("rule", "target", "extra"), BAD_BODIES)
def test_bad_bodies_are_refused(rule: str, target: str, extra: dict[str, Any]) -> None:
    good = {"model": "m", "max_tokens": 9, "messages": [USER]}
    assert complaints(target, good, whole=True) == []
    assert any(rule in complaint for complaint in complaints(target, {**good, **extra}, whole=True))


def test_a_request_without_max_tokens_is_refused_by_anthropic_and_a_history_is_not() -> None:
    assert complaints("anthropic", {"messages": [USER]}) == []
    assert complaints("anthropic", {"model": "m", "messages": [USER]}, whole=True) != []


CHAT_GOOD: list[list[Any]] = [
    [{"role": "assistant", "content": "hello"}, USER, USER],
    [USER, chat_call("a", "b"), chat_result("b"), chat_result("a", [text("x")]), {"role": "system", "content": "x"}],
    [USER, {"role": "assistant", "content": "", "reasoning_content": "r", "x": 1}],
    [USER, {"role": "assistant", "content": None, "refusal": "no"}],
    [
        USER,
        {"role": "assistant", "tool_calls": [{"id": "a", "type": "custom", "custom": {"name": "f", "input": ""}}]},
        chat_result("a", ""),
    ],
]

ANTHROPIC_GOOD: list[list[Any]] = [
    [USER, USER, said(text("x")), said(text("y"))],
    [USER, {"role": "assistant", "content": []}, USER, {"role": "assistant", "content": ""}],
    [USER, said(use("a"), use("b")), user(result("b")), user(result("a"), text("x"))],
    [{"role": "user", "content": ""}, USER],
    [USER, said({"type": "thinking", "thinking": "", "signature": "s"}), USER],
    [
        USER,
        said(
            {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {}},
            {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": []},
            text("x"),
        ),
    ],
]


@pytest.mark.parametrize("messages", CHAT_GOOD)
def test_good_chat_histories_pass(messages: list[Any]) -> None:
    assert complaints("openai-chat", {"messages": messages}) == []


@pytest.mark.parametrize("messages", ANTHROPIC_GOOD)
def test_good_anthropic_histories_pass(messages: list[Any]) -> None:
    assert complaints("anthropic", {"messages": messages}) == []


@pytest.mark.parametrize(
    ("accepted", "model", "messages"),
    [
        (True, "openai", CHAT_GOOD[1]),
        (False, "openai", [{"role": "bogus", "content": 7}]),
        (
            False,
            "openai",
            [
                USER,
                {
                    "role": "assistant",
                    "tool_calls": [{"id": "a", "type": "function", "function": {"name": "f", "arguments": {}}}],
                },
            ],
        ),
        (False, "openai", [chat_result("a", [{"type": "image_url", "image_url": {"url": "u"}}])]),
        (
            True,
            "openai",
            [{"role": "user", "content": [{"type": "image_url", "image_url": {"url": "u", "zzz": 1}}], "zzz": 1}],
        ),
        (False, "openai", [{"role": "user", "content": [{"type": "image_url", "image_url": {"uri": "u"}}]}]),
        (True, "anthropic", ANTHROPIC_GOOD[5]),
        (
            True,
            "anthropic",
            [USER, said({"type": "mcp_tool_use", "id": "m", "name": "f", "server_name": "s", "input": {}})],
        ),
        (False, "anthropic", [USER, said({"type": "thinking", "thinking": "t"})]),
        (False, "anthropic", [USER, said(use("a", input="{}"))]),
        (False, "anthropic", [{**USER, "zzz": 1}]),
        (False, "anthropic", [user({**text("x"), "cache_control": {"type": "ephemeral", "zzz": 1}})]),
        (False, "anthropic", [USER, said({"type": "text", "text": "x", "zzz": 1})]),
        (False, "anthropic", [{"role": "developer", "content": "x"}]),
    ],
)
def test_the_sdk_models_see_shapes(accepted: bool, model: str, messages: list[Any]) -> None:
    refused = sdk.openai_chat({"messages": messages}) if model == "openai" else sdk.anthropic({"messages": messages})
    assert (refused == []) is accepted


HOMES = ["openai-chat", "anthropic"]


@pytest.mark.parametrize("source", list(DIALECTS))
def test_judges_accept_every_clean_history_of_their_own_dialect(source: str) -> None:
    @given(histories.clean(source))
    def law(planted: Planted) -> None:
        whole = isinstance(planted.value, dict)
        key = DIALECTS[source].list_name
        body = planted.value if whole else {key: planted.value}
        assert complaints(source, body[key] if source == "flat" else body, whole=whole) == []

    law()


Mutation = Callable[[Any, list[Any]], bool]


def drop_result(draw: Any, messages: list[Any]) -> bool:
    """A result is gone: its call is unanswered."""
    lists = [(messages, i) for i, m in enumerate(messages) if m.get("role") == "tool"]
    for message in messages:
        if isinstance(message.get("content"), list):
            lists += [
                (message["content"], i) for i, b in enumerate(message["content"]) if b.get("type") == "tool_result"
            ]
    if lists:
        where, index = draw(st.sampled_from(lists))
        del where[index]
    return bool(lists)


def break_id(draw: Any, messages: list[Any]) -> bool:
    """A result names a call that was never made."""
    nodes = [m for m in messages if m.get("role") == "tool"]
    nodes += [
        b
        for m in messages
        if isinstance(m.get("content"), list)
        for b in m["content"]
        if b.get("type") == "tool_result"
    ]
    if nodes:
        node = draw(st.sampled_from(nodes))
        node["tool_call_id" if "tool_call_id" in node else "tool_use_id"] = "never_made"
    return bool(nodes)


def results_late(draw: Any, messages: list[Any]) -> bool:
    """A user's text stands between a call and its results."""
    spots = [
        i for i, m in enumerate(messages)
        if m.get("role") == "tool" or (isinstance(m.get("content"), list) and m["content"] and m["content"][0].get("type") == "tool_result")
    ]  # fmt: skip
    if spots:
        messages.insert(draw(st.sampled_from(spots)), {"role": "user", "content": "wait"})
    return bool(spots)


def bad_role(draw: Any, messages: list[Any]) -> bool:
    """A role that no provider knows."""
    draw(st.sampled_from(messages))["role"] = "model"
    return True


def blank_text(draw: Any, messages: list[Any]) -> bool:
    """A text block is blank (Anthropic refuses it, Chat does not)."""
    blocks = [
        b for m in messages if isinstance(m.get("content"), list) for b in m["content"] if b.get("type") == "text"
    ]
    if blocks:
        draw(st.sampled_from(blocks))["text"] = "  "
    return bool(blocks)


def no_name(draw: Any, messages: list[Any]) -> bool:
    """A call without a name."""
    nodes = [
        b for m in messages if isinstance(m.get("content"), list) for b in m["content"] if b.get("type") == "tool_use"
    ]
    nodes += [call.get("function", call.get("custom")) for m in messages for call in m.get("tool_calls") or ()]
    if nodes:
        draw(st.sampled_from(nodes))["name"] = ""
    return bool(nodes)


MUTATIONS: list[tuple[str, Mutation]] = [
    *((source, mutation) for source in HOMES for mutation in (drop_result, break_id, results_late, bad_role, no_name)),
    ("anthropic", blank_text),
]


@pytest.mark.parametrize(("source", "mutation"), MUTATIONS)
def test_judges_refuse_what_was_good_and_is_broken(source: str, mutation: Mutation) -> None:
    @given(histories.clean(source), st.data())
    def law(planted: Planted, data: st.DataObject) -> None:
        body = copy.deepcopy(planted.value if isinstance(planted.value, dict) else {"messages": planted.value})
        assume(mutation(data.draw, body["messages"]))
        assert complaints(source, body, whole="model" in body) != []

    law()
