"""Converse at home and abroad: realistic bodies come back as they are, and what is said of them elsewhere, entry by entry."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest

import sendable
from tests.judges.bench import complaints

PDF, PNG = "JVBERi0xLjQKJSVFT0Y=", "iVBORw0KGgoAAAANSUhEUgAA"
TOOL = {"toolSpec": {"name": "look", "description": "Looks.", "inputSchema": {"json": {"type": "object"}}}}
POINT = {"cachePoint": {"type": "default"}}


def user(*blocks: Any) -> dict[str, Any]:
    return {"role": "user", "content": list(blocks)}


def assistant(*blocks: Any) -> dict[str, Any]:
    return {"role": "assistant", "content": list(blocks)}


def text(words: str) -> dict[str, Any]:
    return {"text": words}


def use(identity: str, name: str = "look", **extra: Any) -> dict[str, Any]:
    return {"toolUse": {"toolUseId": identity, "name": name, "input": {"q": identity}, **extra}}


def result(identity: str, *content: Any, **extra: Any) -> dict[str, Any]:
    return {"toolResult": {"toolUseId": identity, "content": list(content) or [text("found")], **extra}}


def thought(words: str, signature: str) -> dict[str, Any]:
    return {"reasoningContent": {"reasoningText": {"text": words, "signature": signature}}}


def paper(name: str) -> dict[str, Any]:
    return {"document": {"format": "pdf", "name": name, "source": {"bytes": PDF}}}


PICTURE = {"image": {"format": "png", "source": {"bytes": PNG}}}
CITED = {
    "citationsContent": {
        "content": [text("It says so.")],
        "citations": [{"title": "paper", "location": {"documentPage": {"documentIndex": 0, "start": 1, "end": 2}}}],
    }
}

AT_HOME: dict[str, dict[str, Any]] = {
    "plain": {"modelId": "us.anthropic.claude-haiku-4-5-20251001-v1:0", "messages": [user(text("hi"))]},
    "parallel tools": {
        "modelId": "m",
        "toolConfig": {"tools": [TOOL], "toolChoice": {"tool": {"name": "look"}}},
        "messages": [
            user(text("both")),
            assistant(text("Looking."), use("a"), use("b")),
            user(result("b", {"json": {"n": 1.50}}), result("a", status="error"), text("go on")),
        ],
    },
    "reasoning": {
        "modelId": "anthropic.claude-opus-4-1-20250805-v1:0",
        "toolConfig": {"tools": [TOOL]},
        "additionalModelRequestFields": {"thinking": {"type": "enabled", "budget_tokens": 2000}},
        "messages": [
            user(text("think")),
            assistant(thought("hm", "sig1"), {"reasoningContent": {"redactedContent": "ZW5j"}}, use("a")),
            user(result("a", text("x"), PICTURE)),
        ],
    },
    "reasoning without a signature": {
        "modelId": "openai.gpt-oss-120b-1:0",
        "messages": [
            user(text("q")),
            assistant({"reasoningContent": {"reasoningText": {"text": "hm"}}}, text("a")),
            user(text("why?")),
        ],
    },
    "cache points": {
        "modelId": "m",
        "system": [text("Be brief."), {"cachePoint": {"type": "default", "ttl": "1h"}}],
        "toolConfig": {"tools": [TOOL, POINT]},
        "messages": [user(text("long"), POINT, text("short"))],
    },
    "documents": {
        "modelId": "m",
        "messages": [user(paper("one"), paper("two (2) [x]"), text("compare")), assistant(CITED)],
    },
    "media of all kinds": {
        "messages": [
            user(
                PICTURE,
                {"image": {"format": "jpeg", "source": {"s3Location": {"uri": "s3://some-bucket/a.jpg"}}}},
                {"video": {"format": "mp4", "source": {"bytes": "AAAA"}}},
                {"audio": {"format": "wav", "source": {"bytes": "UklGRg=="}}},
                {
                    "document": {
                        "format": "txt",
                        "name": "words",
                        "source": {"text": "abc"},
                        "citations": {"enabled": True},
                    }
                },
                text("what is it?"),
            )
        ]
    },
    "server tools": {
        "modelId": "us.amazon.nova-2-lite-v1:0",
        "toolConfig": {"tools": [{"systemTool": {"name": "nova_grounding"}}]},
        "messages": [
            user(text("news?")),
            assistant(
                use("s1", "nova_grounding", type="server_tool_use"),
                result("s1", type="nova_grounding_result"),
                CITED,
            ),
            user(text("more")),
        ],
    },
    "guardrails": {
        "modelId": "m",
        "guardrailConfig": {"guardrailIdentifier": "abc", "guardrailVersion": "1", "trace": "enabled"},
        "system": [{"guardContent": {"text": {"text": "rules", "qualifiers": ["grounding_source"]}}}],
        "messages": [
            user(
                {"guardContent": {"text": {"text": "q"}}},
                {"guardContent": {"image": {"format": "png", "source": {"bytes": PNG}}}},
            )
        ],
    },
    "every parameter": {
        "modelId": "m",
        "inferenceConfig": {"maxTokens": 10, "temperature": 0.10, "topP": 1, "stopSequences": ["x"]},
        "outputConfig": {
            "textFormat": {
                "type": "json_schema",
                "structure": {"jsonSchema": {"schema": '{"type": "object"}', "name": "n", "description": "d"}},
            },
            "effort": "high",
        },
        "additionalModelRequestFields": {"top_k": 3, "anything": [1]},
        "additionalModelResponseFieldPaths": ["/x"],
        "requestMetadata": {"k": "v"},
        "performanceConfig": {"latency": "optimized"},
        "serviceTier": {"type": "flex"},
        "promptVariables": {"a": {"text": "b"}},
        "messages": [user({"searchResult": {"source": "https://x", "title": "t", "content": [text("c")]}}, text("q"))],
    },
    "a store of a JavaScript client": {
        "messages": [
            user(
                {
                    "document": {
                        "format": "pdf",
                        "name": "p",
                        "source": {"bytes": {"0": 37, "1": 80, "2": 68, "3": 70, "4": 45}},
                    }
                },
                text("q"),
            )
        ]
    },
}


@pytest.mark.parametrize("body", AT_HOME.values(), ids=AT_HOME)
@pytest.mark.parametrize("to", [None, "bedrock-converse"])
def test_what_converse_accepts_comes_back_as_it_is(body: dict[str, Any], to: str | None) -> None:
    assert complaints("bedrock-converse", body, whole="modelId" in body) == []
    given = copy.deepcopy(body)
    result = sendable.normalize(body, to=to)
    assert (result.body, list(result.report.entries)) == (given, [])
    assert repr(result.body) == repr(given)
    assert json.loads(sendable.normalize_json(json.dumps(body).encode(), to=to).data) == given


def entries(report: sendable.Report) -> list[tuple[str, str, str]]:
    return [(entry.code, entry.verb, entry.param) for entry in report.entries]


def test_cache_points_and_cache_marks_are_one_thing() -> None:
    result = sendable.normalize(AT_HOME["cache points"], to="anthropic")
    assert result.body["system"] == [
        {"type": "text", "text": "Be brief.", "cache_control": {"type": "ephemeral", "ttl": "1h"}}
    ]
    assert result.body["tools"][0]["cache_control"] == {"type": "ephemeral"}
    assert result.messages[0]["content"][0] == {"type": "text", "text": "long", "cache_control": {"type": "ephemeral"}}
    assert entries(result.report) == [("FLD004", "note", "max_tokens")]
    back = sendable.normalize(result.body, to="bedrock-converse")
    assert back.report.counts == {}
    assert {**back.body, "inferenceConfig": None} == {**AT_HOME["cache points"], "inferenceConfig": None}


def test_a_cache_point_with_nothing_to_mark_is_dropped_abroad() -> None:
    result = sendable.normalize([user(POINT, text("q"))], to="anthropic")
    assert entries(result.report) == [("FLD007", "drop", "messages[0].content[0]")]


def test_a_mark_inside_a_result_goes_behind_the_results() -> None:
    mark = {"cache_control": {"type": "ephemeral"}}
    call = {"type": "tool_use", "name": "look", "input": {}}
    history = [
        {"role": "user", "content": "q"},
        {"role": "assistant", "content": [{**call, "id": "a"}, {**call, "id": "b"}]},
        {
            "role": "user",
            "content": [
                {"type": "tool_result", "tool_use_id": "a", "content": [{"type": "text", "text": "x", **mark}]},
                {"type": "tool_result", "tool_use_id": "b", "content": "y"},
            ],
        },
    ]
    result = sendable.normalize(history, to="bedrock-converse")
    assert entries(result.report) == []
    assert [next(iter(block)) for block in result.messages[2]["content"]] == ["toolResult", "toolResult", "cachePoint"]


def test_signed_reasoning_crosses_to_anthropic_and_back() -> None:
    body = AT_HOME["reasoning"]
    there = sendable.normalize(body, to="anthropic")
    assert [block["type"] for block in there.messages[1]["content"]] == ["thinking", "redacted_thinking", "tool_use"]
    assert there.body["thinking"] == {"type": "enabled", "budget_tokens": 2000}
    back = sendable.normalize(there.body, to="bedrock-converse")
    assert back.messages[1] == body["messages"][1]
    assert back.report.counts == {}


def test_only_models_that_do_not_sign_are_sent_unsigned_reasoning() -> None:
    messages = AT_HOME["reasoning without a signature"]["messages"]
    assert entries(sendable.normalize(messages, to="bedrock-converse:claude").report) == [
        ("RSN002", "drop", "messages[1].content[0].signature")
    ]


def test_a_document_alone_gets_words_and_an_untitled_one_a_name() -> None:
    source = {"type": "base64", "media_type": "application/pdf", "data": PDF}
    result = sendable.normalize(
        [{"role": "user", "content": [{"type": "document", "source": source}]}], to="bedrock-converse"
    )
    assert result.messages == [user(paper("document-1"), text("[document attached]"))]
    assert entries(result.report) == [("MED008", "synthesize", "messages[0].content[0]")]


def test_more_media_than_a_message_may_hold_are_said_in_words() -> None:
    result = sendable.normalize([user(*[PICTURE] * 22, text("q"))], to="bedrock-converse")
    assert entries(result.report) == [
        ("LIM004", "drop", "messages[0].content[20]"),
        ("LIM004", "drop", "messages[0].content[21]"),
    ]
    assert result.messages[0]["content"][20:] == [text("[image left out]"), text("[image left out]"), text("q")]


def test_tools_are_declared_for_a_request_and_not_for_a_history() -> None:
    history = [user(text("q")), assistant(use("a")), user(result("a"))]
    request = sendable.normalize({"modelId": "m", "messages": history}, to="bedrock-converse")
    assert request.body["toolConfig"] == {
        "tools": [{"toolSpec": {"name": "look", "inputSchema": {"json": {"type": "object"}}}}]
    }
    assert entries(request.report) == [("FLD004", "note", "toolConfig")]
    assert sendable.normalize(history, to="bedrock-converse").body == {"messages": history}


def test_two_bodies_with_a_system_field_are_told_apart() -> None:
    converse = {"system": [text("s")], "messages": [user(text("q"))]}
    anthropic = {"system": "s", "messages": [{"role": "user", "content": "q"}]}
    assert sendable.normalize(converse).body == converse
    assert sendable.normalize(anthropic).body == anthropic
    assert sendable.normalize(anthropic, to="bedrock-converse").body == converse


def test_content_as_a_bare_text_becomes_a_list() -> None:
    result = sendable.normalize([{"role": "user", "content": "q"}], to="bedrock-converse", source="bedrock-converse")
    assert result.messages == [user(text("q"))]
    assert entries(result.report) == []


def test_words_guarded_or_cited_are_words_abroad() -> None:
    result = sendable.normalize(
        [user({"guardContent": {"text": {"text": "q"}}}), assistant(CITED), user(text("r"))], to="openai-chat"
    )
    assert [message["content"] for message in result.messages] == [
        [{"type": "text", "text": words}] for words in ("q", "It says so.", "r")
    ]
    assert entries(result.report) == [
        ("FLD001", "strip", "messages[0].content[0].guardContent"),
        ("FLD001", "strip", "messages[1].content[0].citationsContent"),
    ]
