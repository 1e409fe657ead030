"""The judge of Converse against hand-written bodies: each row of the rules document that it knows, broken once."""

from __future__ import annotations

from typing import Any

import pytest

from tests.judges import converse, judge_bedrock

ASK: dict[str, Any] = {"role": "user", "content": [{"text": "q"}]}
SAY: dict[str, Any] = {"role": "assistant", "content": [{"text": "a"}]}


def call(*ids: str, **extra: Any) -> dict[str, Any]:
    uses = [{"toolUse": {"toolUseId": one, "name": "f", "input": {}, **extra}} for one in ids]
    return {"role": "assistant", "content": uses}


def answer(*ids: str, after: tuple[Any, ...] = (), **extra: Any) -> dict[str, Any]:
    results = [{"toolResult": {"toolUseId": one, "content": [{"text": "r"}], **extra}} for one in ids]
    return {"role": "user", "content": [*results, *after]}


def paper(name: str = "paper", **extra: Any) -> dict[str, Any]:
    return {"document": {"format": "pdf", "name": name, "source": {"bytes": "JVBERi0xLjQK"}, **extra}}


PICTURE = {"image": {"format": "png", "source": {"bytes": "iVBORw0KGgo="}}}

BAD: list[tuple[str, list[Any]]] = [
    ("BE1", [{"role": "tool", "content": [{"text": "x"}]}]),
    ("BE3", []),
    ("BE3", [SAY]),
    ("BE4", [ASK, ASK]),
    ("BE4", [ASK, SAY, SAY]),
    ("BE6", [{"role": "user", "content": [{"text": " \n"}]}]),
    ("BE6", [ASK, call("a"), answer("a", content=[{"text": ""}])]),
    ("BE7", [{"role": "user", "content": []}]),
    ("BE7", [{"role": "user", "content": "bare"}]),
    ("BE8", [{"role": "user", "content": [{"text": "x", **PICTURE}]}]),
    ("BE8", [{"role": "user", "content": [{"json": {}}]}]),
    ("BE8", [{"role": "user", "content": [{"type": "text"}]}]),
    ("BE9", [ASK, call("a b"), answer("a b")]),
    ("BE9", [ASK, call("x" * 65), answer("x" * 65)]),
    ("BE9", [ASK, call("a", name="a.b"), answer("a")]),
    ("BE10", [ASK, call("a", "b"), answer("a")]),
    ("BE10", [ASK, call("a")]),
    ("BE10", [ASK, call("a"), ASK]),
    ("BE11", [ASK, SAY, answer("a")]),
    ("BE11", [ASK, call("a"), answer("a", "a")]),
    ("BE12", [ASK, call("a"), answer("a", status="failed")]),
    ("BE12", [ASK, call("a"), answer("a", content="bare")]),
    ("case empty-bedrock-error-result", [ASK, call("a"), answer("a", content=[], status="error")]),
    ("BE14", [{"role": "user", "content": [paper()]}]),
    ("BE14", [ASK, {"role": "assistant", "content": [PICTURE]}]),
    ("BE14", [{"role": "user", "content": [PICTURE] * 21}]),
    ("BE14", [{"role": "user", "content": [{"text": "x"}, *(paper(f"p{n}") for n in range(6))]}]),
    ("BE15", [{"role": "user", "content": [{"text": "x"}, paper("a.pdf")]}]),
    ("BE15", [{"role": "user", "content": [{"text": "x"}, paper("two  spaces")]}]),
    ("BE15", [{"role": "user", "content": [{"text": "x"}, paper(format="odt")]}]),
    ("case files-bedrock-duplicate-document-names", [{"role": "user", "content": [{"text": "x"}, paper(), paper()]}]),
    ("BE16", [{"role": "user", "content": [{"image": {"format": "png", "source": {"url": "https://x"}}}]}]),
    ("BE16", [{"role": "user", "content": [{"image": {"format": "png", "source": {"bytes": "no base64"}}}]}]),
    ("BE17", [ASK, {"role": "assistant", "content": [{"reasoningContent": {}}, {"text": "a"}]}]),
    ("BE17", [{"role": "user", "content": [{"reasoningContent": {"reasoningText": {"text": "t"}}}]}]),
    ("0.1", [ASK, call("a"), {"role": "user", "content": [{"text": "x"}, *answer("a")["content"]]}]),
    ("0.1", [ASK, {"role": "assistant", "content": [{"text": "a "}]}]),
]

GOOD: list[list[Any]] = [
    [ASK],
    [ASK, SAY, ASK],
    [ASK, call("a", "b"), answer("b", "a", after=({"text": "and"},)), SAY],
    [
        ASK,
        call("tooluse_1.a:b-c", type="tool_use"),
        answer("tooluse_1.a:b-c", content=[{"json": {"n": 1}}], status="success"),
    ],
    [{"role": "user", "content": [{"text": "x"}, paper(), PICTURE, {"cachePoint": {"type": "default", "ttl": "1h"}}]}],
    [ASK, {"role": "assistant", "content": [{"reasoningContent": {"reasoningText": {"text": "t"}}}, {"text": "a"}]}],
]


@pytest.mark.parametrize(("rule", "messages"), BAD)
def test_a_broken_rule_is_found(rule: str, messages: list[Any]) -> None:
    assert rule in {finding.rule for finding in judge_bedrock.judge({"messages": messages})}


@pytest.mark.parametrize("messages", GOOD)
def test_what_is_good_is_accepted_by_both(messages: list[Any]) -> None:
    assert judge_bedrock.judge({"messages": messages}) == []
    assert converse.bedrock({"messages": messages}) == []


def test_the_facts_of_a_model_and_the_parts_of_a_request_are_judged() -> None:
    def rules(body: dict[str, Any], **facts: bool) -> set[str]:
        return {finding.rule for finding in judge_bedrock.judge(body, **facts)}

    tools = {"messages": [ASK, call("a"), answer("a", after=({"text": "x"},))]}
    assert rules({"messages": [ASK, SAY]}, prefill=False) == {"BE5"}
    assert rules(tools, apart=True) == {"case ordering-bedrock-text-next-to-results-non-claude"}
    assert rules(tools, whole=True) == {"BE13"}
    assert rules({"messages": [ASK], "toolConfig": {"tools": []}}) == {"BE13"}
    assert rules({"messages": [ASK], "system": [{"image": {}}]}) == {"BE8"}


def test_botocore_and_the_walk_refuse_what_the_service_model_says() -> None:
    assert converse.bedrock({"messages": [{"role": "bogus", "content": [{"text": "x"}]}]})
    assert converse.bedrock({"messages": [ASK, call("x" * 65), answer("x")]})
    assert converse.bedrock({"messages": [{"role": "user", "content": [{"txt": "x"}]}]})
    assert converse.bedrock({"messages": [ASK], "inferenceConfig": {"temperature": 1.5}})
