"""The judge of Gemini against hand-written bodies, and against mutations of good ones."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from tests.judges import judge_gemini, sdk
from tests.judges.bench import complaints
from tests.laws import histories
from tests.laws.leaves import Planted


def user(*parts: dict[str, Any]) -> dict[str, Any]:
    return {"role": "user", "parts": list(parts)}


def model(*parts: dict[str, Any]) -> dict[str, Any]:
    return {"role": "model", "parts": list(parts)}


def text(value: str) -> dict[str, Any]:
    return {"text": value}


def call(name: str = "f", **more: Any) -> dict[str, Any]:
    return {"functionCall": {"name": name, "args": {}, **more}}


def response(name: str = "f", **more: Any) -> dict[str, Any]:
    return {"functionResponse": {"name": name, "response": {"output": "x"}, **more}}


ASKED = user(text("q"))

BAD: list[tuple[str, list[Any]]] = [
    ("GE1", [{"role": "assistant", "parts": [text("x")]}]),
    ("GE1", [ASKED, {"role": "system", "parts": [text("x")]}]),
    ("GE3", []),
    ("GE3", [{"role": "user"}]),
    ("GE3", [user()]),
    ("GE4", [user({})]),
    ("GE4", [user(text(""))]),
    ("GE4", [user({"text": "x", "inlineData": {"mimeType": "image/png", "data": "AAAA"}})]),
    ("GE5", [model(text("x")), ASKED]),
    ("GE5", [ASKED, model(text("x")), model(call()), user(response())]),
    ("GE5", [user(call())]),
    ("GE7", [ASKED, model(call(), call("g")), user(response())]),
    ("GE7", [ASKED, model(call(), call("g")), user(response()), user(response("g"))]),
    ("GE7", [ASKED, model(call())]),
    ("GE7", [ASKED, model(call()), user(text("x")), user(response())]),
    ("GE7", [ASKED, model(call()), user(text("x"), response())]),
    ("GE7", [ASKED, user(response())]),
    ("GE7", [ASKED, model(response())]),
    ("GE7", [ASKED, model(call()), user(response(""))]),
    ("GE7", [ASKED, model(call(id="1")), user(response("call_1", id="1"))]),
    ("GE8", [ASKED, model(call(args="{}")), user(response())]),
    ("GE8", [ASKED, model(call()), user(response(response="x"))]),
    ("GE8", [ASKED, model(call()), user(response(response=["x"]))]),
    ("GE9", [ASKED, model(call(id="1")), user(response(id="2"))]),
    ("GE9", [ASKED, model(call()), user(response("g"))]),
    ("GE10", [ASKED, model(call("1st")), user(response("1st"))]),
    ("GE10", [ASKED, model(call("a b")), user(response("a b"))]),
    ("GE11", [ASKED, model(call()), user(response(parts=[{"text": "x"}]))]),
    ("GE14", [ASKED, model({"text": "x", "thoughtSignature": "not base64!"})]),
    ("GE0", [user({"txt": "x"})]),
    ("GE0", [{"role": "user", "parts": [text("x")], "id": "1"}]),
    ("GE0", [ASKED, model(call(call_id="1")), user(response())]),
]

GOOD: list[list[Any]] = [
    [ASKED],
    [{"parts": [text("q")]}, {"role": "model"}, ASKED],
    [ASKED, ASKED, model(text("x"))],
    [ASKED, model(text("x"), call(), text("y"), call("g")), user(response(), response("g"), text("z"))],
    [ASKED, model(call(id="1"), call(id="2")), user(response(id="2"), response(id="1"))],
    [ASKED, model(call(id="1")), user(response())],
    [ASKED, model({"text": "", "thoughtSignature": "c2ln"}), ASKED],
    [
        ASKED,
        model({"function_call": {"name": "f"}, "thought_signature": "c2ln"}),
        user({"function_response": {"name": "f", "response": {}}}),
    ],
    [
        ASKED,
        model(
            {"executableCode": {"language": "PYTHON", "code": "1"}}, {"codeExecutionResult": {"outcome": "OUTCOME_OK"}}
        ),
        ASKED,
    ],
]


@pytest.mark.parametrize(("rule", "contents"), BAD)
def test_the_judge_refuses(rule: str, contents: list[Any]) -> None:
    assert rule in {finding.rule for finding in judge_gemini.judge({"contents": contents})}


@pytest.mark.parametrize("contents", GOOD)
def test_good_histories_pass(contents: list[Any]) -> None:
    assert complaints("gemini", {"contents": contents}) == []


@pytest.mark.parametrize(
    ("rule", "extra"),
    [
        ("GE0", {"zzz": 1}),
        ("GE2", {"systemInstruction": "x"}),
        ("GE2", {"systemInstruction": {"parts": [{"inlineData": {"mimeType": "image/png", "data": "AAAA"}}]}}),
        ("GE3", {"systemInstruction": {"parts": []}}),
        ("GE4", {"systemInstruction": {"parts": [{"text": ""}]}}),
        ("GE10", {"tools": [{"functionDeclarations": [{"name": "1st"}]}]}),
        ("GE10", {"tools": [{"functionDeclarations": [{"name": f"f{n}"} for n in range(513)]}]}),
        ("GE20", {"cachedContent": "c", "systemInstruction": {"parts": [{"text": "x"}]}}),
        ("GE20", {"cachedContent": "c", "tools": [{"functionDeclarations": [{"name": "f"}]}]}),
        ("SDK", {"generationConfig": {"zzz": 1}}),
        ("SDK", {"toolConfig": {"functionCallingConfig": {"zzz": 1}}}),
    ],
)
def test_bad_bodies_are_refused(rule: str, extra: dict[str, Any]) -> None:
    assert any(rule in complaint for complaint in complaints("gemini", {"contents": [ASKED], **extra}))


def test_gemini_3_wants_the_first_call_of_each_step_signed() -> None:
    contents = [ASKED, model({**call(), "thoughtSignature": "c2ln"}, call("g")), user(response(), response("g"))]
    assert complaints("gemini:3", {"contents": contents}) == []
    again = [*contents, model(call()), user(response())]
    assert [finding.rule for finding in judge_gemini.judge({"contents": again}, three=True)] == ["GE12"]
    assert complaints("gemini", {"contents": again}) == []


@pytest.mark.parametrize(
    "content",
    [
        user({"txt": "x"}),
        model(call(args="{}")),
        user(response(response="x")),
        model({"text": "x", "thoughtSignature": "§"}),
    ],
)
def test_the_sdk_models_see_shapes(content: dict[str, Any]) -> None:
    assert sdk.gemini({"contents": [content]}) != []


Mutation = Callable[[Any, list[Any]], bool]


def _spots(contents: list[Any], *keys: str) -> list[tuple[list[Any], int]]:
    return [
        (content["parts"], number)
        for content in contents
        for number, part in enumerate(content.get("parts") or ())
        if any(key in part for key in keys)
    ]


def drop_response(draw: Any, contents: list[Any]) -> bool:
    """A response is gone: its call is unanswered."""
    if spots := _spots(contents, "functionResponse"):
        parts, number = draw(st.sampled_from(spots))
        del parts[number]
    return bool(spots)


def response_last(draw: Any, contents: list[Any]) -> bool:
    """A text stands before the responses."""
    if spots := _spots(contents, "functionResponse"):
        draw(st.sampled_from(spots))[0].insert(0, {"text": "wait"})
    return bool(spots)


def other_name(draw: Any, contents: list[Any]) -> bool:
    """A response names another function."""
    if spots := _spots(contents, "functionResponse"):
        parts, number = draw(st.sampled_from(spots))
        parts[number]["functionResponse"]["name"] = "never_called"
    return bool(spots)


def scalar_response(draw: Any, contents: list[Any]) -> bool:
    """A response is no object."""
    if spots := _spots(contents, "functionResponse"):
        parts, number = draw(st.sampled_from(spots))
        parts[number]["functionResponse"]["response"] = draw(st.sampled_from(["x", 7, ["x"]]))
    return bool(spots)


def bad_role(draw: Any, contents: list[Any]) -> bool:
    """A role that Gemini does not have."""
    draw(st.sampled_from(contents))["role"] = "assistant"
    return True


def empty_text(draw: Any, contents: list[Any]) -> bool:
    """A text is empty, and nothing is signed with it."""
    if spots := _spots(contents, "text"):
        parts, number = draw(st.sampled_from(spots))
        parts[number] = {"text": ""}
    return bool(spots)


@pytest.mark.parametrize("mutation", [drop_response, response_last, other_name, scalar_response, bad_role, empty_text])
def test_the_judge_refuses_what_was_good_and_is_broken(mutation: Mutation) -> None:
    @given(histories.clean("gemini"), st.data())
    def law(planted: Planted, data: st.DataObject) -> None:
        body = copy.deepcopy(planted.value if isinstance(planted.value, dict) else {"contents": planted.value})
        assume(mutation(data.draw, body["contents"]))
        assert complaints("gemini", body) != []

    law()
