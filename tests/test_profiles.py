"""What picks a profile, and what the caller's options do to targets that say nothing of them. A row: history, target, options → codes and output.

Not here: what generated histories become (tests/laws/test_profiles.py), and the cases of providers (tests/cases).
"""

from __future__ import annotations

from typing import Any

import pytest

import sendable
from sendable.targets import TARGETS, target_of, wider_target_of

CALLS = [
    {"role": "user", "content": "both"},
    {
        "role": "assistant",
        "content": None,
        "tool_calls": [
            {"id": f"call_{name}", "type": "function", "function": {"name": name, "arguments": '{"x": 1}'}}
            for name in "ab"
        ],
    },
    {"role": "tool", "tool_call_id": "call_a", "content": "ra"},
    {"role": "tool", "tool_call_id": "call_b", "content": "rb"},
]
PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
PICTURES = [
    {
        "role": "user",
        "content": [
            {"type": "text", "text": "these"},
            *({"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PNG}"}} for _ in range(2)),
        ],
    }
]
INSTRUCTED = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "hi"}]
ANSWERED = [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "Hello."}]


def codes(history: Any, target: str, **options: Any) -> set[str]:
    return set(sendable.check(history, target, options=options).counts)


OF_DIALECTS = [name for name in TARGETS if ":" not in name]


@pytest.mark.parametrize("target", OF_DIALECTS)
def test_images_are_left_out_everywhere_if_the_caller_says_so(target: str) -> None:
    if target != "flat":
        result = sendable.normalize(PICTURES, target, options={"images": False})
        assert result.report.counts == {"MED006": 2}
        assert "[image left out]" in str(result.body)


@pytest.mark.parametrize("target", OF_DIALECTS)
def test_no_more_images_than_the_caller_says(target: str) -> None:
    if target != "flat":
        result = sendable.normalize(PICTURES, target, options={"max_images": 1})
        assert result.report.counts == {"LIM004": 1}
        assert str(result.body).count("[image left out]") == 1
        assert str(result.body).count(PNG) == 1


@pytest.mark.parametrize("target", OF_DIALECTS)
def test_no_role_for_instructions_if_the_caller_says_so(target: str) -> None:
    result = sendable.normalize(INSTRUCTED, target, options={"system_role": False})
    assert result.report.counts.get("SYS002") == 1
    assert "[system instruction] Be brief." in str(result.body)
    assert "'system'" not in str(result.body)


@pytest.mark.parametrize(
    "target", ["openai-chat", "anthropic", "openai-chat:mistral", "openai-chat:kimi", "bedrock-converse"]
)
def test_one_call_a_turn_if_the_caller_says_so(target: str) -> None:
    assert "LIM003" in codes(CALLS, target, parallel_tool_results=False)
    assert "LIM003" in codes(CALLS, target, max_tool_calls_per_message=1)
    assert "LIM003" not in codes(CALLS, target, max_tool_calls_per_message=2)


@pytest.mark.parametrize("target", ["openai-chat", "anthropic", "bedrock-converse", "openai-chat:deepseek"])
def test_the_user_last_if_the_caller_says_so(target: str) -> None:
    assert codes(ANSWERED, target, allow_prefill=False) == {"ORD005"}
    assert codes(ANSWERED, target) == set()


def test_mistral_continues_an_answer_only_on_request() -> None:
    continued = sendable.normalize(ANSWERED, "openai-chat:mistral", options={"allow_prefill": True})
    assert continued.messages[-1] == {"role": "assistant", "content": "Hello.", "prefix": True}
    assert sendable.normalize(continued.body, "openai-chat:mistral").report.entries == ()
    assert sendable.normalize(ANSWERED, "openai-chat:mistral").messages[-1]["role"] == "user"


def test_reasoning_is_one_loss_in_all_its_spellings_and_strict_refuses_it() -> None:
    history = [
        {"role": "user", "content": "2+2"},
        {
            "role": "assistant",
            "content": "4",
            "reasoning": "sum",
            "reasoning_details": [{"type": "reasoning.text", "text": "sum"}],
        },
    ]
    report = sendable.check(history, "openai-chat:no-reasoning-field")
    assert [entry.path for entry in report.entries if entry.because is None] == ["messages[1].reasoning"]
    assert sendable.check(history, "openai-chat:strict", policy="strict").refused
    assert sendable.normalize(history, "openai-chat").messages == history


@pytest.mark.parametrize(
    ("thinking", "reported"),
    [
        ({"options": {"thinking": "disabled"}}, set()),
        ({"options": {"thinking": "enabled"}}, {"RSN008"}),
        ({}, {"RSN008"}),
    ],
)
def test_reasoning_is_asked_for_while_thinking_is_on(thinking: dict[str, Any], reported: set[str]) -> None:
    assert set(sendable.check(CALLS, "openai-chat:deepseek-thinking", **thinking).counts) == reported


def test_a_body_that_switches_thinking_off_needs_no_reasoning() -> None:
    body = {"model": "deepseek-v4", "thinking": {"type": "disabled"}, "messages": CALLS, "tool_choice": "required"}
    assert sendable.normalize(body, "openai-chat:deepseek-thinking").body == body


def test_the_limit_stands_under_the_name_that_a_server_knows() -> None:
    body = {"model": "m", "max_completion_tokens": 10, "messages": ANSWERED[:1]}
    result = sendable.normalize(body, "openai-chat:mistral")
    assert result.body == {"model": "m", "max_tokens": 10, "messages": ANSWERED[:1]}
    assert result.report.entries == ()


def test_a_tool_is_declared_under_the_name_that_its_calls_have() -> None:
    tool = {"type": "function", "function": {"name": "get-weather", "parameters": {"type": "object"}}}
    body = {
        "model": "m",
        "messages": ANSWERED[:1],
        "tools": [tool],
        "tool_choice": {"type": "function", "function": {"name": "get-weather"}},
    }
    result = sendable.normalize(body, "openai-chat:cohere")
    assert result.body["tools"][0]["function"]["name"] == "get_weather"
    assert result.body["tool_choice"]["function"]["name"] == "get_weather"
    assert [str(entry.param) for entry in result.report.entries] == [
        "tools[0].function.name",
        "tool_choice.function.name",
    ]


@pytest.mark.parametrize(
    ("model", "dialect", "target"),
    [
        ("claude-opus-4-8", "anthropic", "anthropic:mid-system:no-prefill"),
        ("anthropic/claude-opus-4.8", "anthropic", "anthropic:mid-system:no-prefill"),
        ("claude-sonnet-4-5-20250929", "anthropic", "anthropic"),
        ("gpt-5.6-terra", "openai-chat", "openai-chat:no-reasoning-field"),
        ("openai/gpt-5", "openai-chat", "openai-chat:no-reasoning-field"),
        ("o1", "openai-chat", "openai-chat:no-reasoning-field"),
        ("openrouter/deepseek/deepseek-v4", "openai-chat", "openai-chat:deepseek-thinking"),
        ("moonshotai/kimi-k2-instruct", "openai-chat", "openai-chat:kimi"),
        ("MiniMax-M2", "openai-chat", "openai-chat"),
        ("gemini-3-pro-preview", "gemini", "gemini:3"),
    ],
)
def test_a_model_picks_its_target(model: str, dialect: str, target: str) -> None:
    found = target_of(model, dialect)
    assert found is not None
    assert found.name == target


def test_an_unknown_model_and_one_of_another_dialect_pick_none() -> None:
    assert target_of("a-model", "openai-chat") is None
    assert target_of("claude-opus-4-8", "openai-chat") is None
    assert target_of("octopus-1", "openai-chat") is None


def test_the_model_that_a_body_names_only_widens() -> None:
    body = {
        "model": "gpt-5-nano",
        "messages": [*ANSWERED[:1], {**ANSWERED[1], "reasoning_content": "hm", "reasoning_signature": "x"}],
    }
    kept = sendable.normalize(body, "openai-chat")
    assert kept.body == body
    assert kept.report.entries == ()
    late = {
        "model": "claude-opus-4-8",
        "max_tokens": 10,
        "messages": [
            {"role": "user", "content": "hi"},
            {"role": "system", "content": "Be brief."},
            {"role": "assistant", "content": "Hello."},
        ],
    }
    assert sendable.normalize(late, "anthropic").body == late
    assert wider_target_of("gpt-5-nano", "openai-chat") is None
    asked = sendable.normalize(body, "openai-chat", model="gpt-5-nano")
    assert "reasoning_content" not in asked.messages[1]


def test_media_of_the_assistant_stand_behind_all_results_of_the_turn() -> None:
    """Also where the results are in two user messages: nothing stands between a call and its results."""
    history = [
        {"role": "user", "content": "listen"},
        {
            "role": "assistant",
            "content": [
                {"type": "input_audio", "input_audio": {"data": "UklGRiQAAABXQVZF", "format": "wav"}},
                {"type": "tool_use", "id": "toolu_1", "name": "search", "input": {}},
                {"type": "tool_use", "id": "toolu_2", "name": "search", "input": {}},
            ],
        },
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "toolu_1", "content": "one"}]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "toolu_2", "content": "two"}]},
    ]
    result = sendable.normalize(history, "openai-chat:strict")
    assert [message["role"] for message in result.messages] == ["user", "assistant", "tool", "tool", "user"]
    assert [(entry.code, entry.verb, entry.path) for entry in result.report.entries] == [
        ("MED005", "move", "messages[1].content[0]")
    ]
    assert not sendable.normalize(result.body, "openai-chat:strict").report.entries


def test_a_client_call_and_a_call_of_the_server_never_share_an_id() -> None:
    """«'tool_use' ids must be unique»: the later one gets an id of its own, and its result with it."""
    page = {"type": "web_search_result", "url": "https://example.com", "title": "t", "encrypted_content": "enc"}
    history = [
        {"role": "user", "content": "look"},
        {
            "role": "assistant",
            "content": [{"type": "tool_use", "id": "srvtoolu_1", "name": "search", "input": {}}],
        },
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "srvtoolu_1", "content": "found"}]},
        {
            "role": "assistant",
            "content": [
                {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {"query": "q"}},
                {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": [page]},
                {"type": "text", "text": "done"},
            ],
        },
        {"role": "user", "content": "thanks"},
    ]
    result = sendable.normalize(history, "anthropic")
    served, found, _ = result.messages[3]["content"]
    assert (served["id"], found["tool_use_id"]) == ("srvtoolu_1_2", "srvtoolu_1_2")
    assert result.messages[1] == history[1]
    assert [(entry.code, entry.verb, entry.param, entry.related) for entry in result.report.entries] == [
        ("PAR004", "rename", "messages[3].content[0].id", ("messages[1].content[0]",))
    ]


def test_the_rename_of_an_id_under_an_alias_names_the_field_in_which_it_stands() -> None:
    """`toolUse.id` is no spelling of Converse's, and read all the same."""
    history = [
        {"role": "user", "content": [{"text": "go"}]},
        {"role": "assistant", "content": [{"toolUse": {"id": "tooluse_1", "name": "search", "input": {}}}]},
        {"role": "user", "content": [{"toolResult": {"toolUseId": "tooluse_1", "content": [{"text": "found"}]}}]},
    ]
    report = sendable.normalize(history, "openai-chat:kimi").report
    assert [(entry.code, entry.param) for entry in report.entries] == [("IDS001", "messages[1].content[0].toolUse.id")]


def test_a_tool_message_that_media_leave_empty_is_no_empty_message_of_the_user() -> None:
    """«message must not be empty in a turn»: an item of role `tool` that held nothing but a document."""
    document = {"type": "input_file", "filename": "a.pdf", "file_data": "data:application/pdf;base64,JVBERi0xLjQK"}
    history = [{"type": "message", "role": "tool", "content": [document]}, {"role": "user", "content": "hi"}]
    result = sendable.normalize(history, "openai-chat:cohere")
    assert result.messages == [{"role": "user", "content": "hi"}]
    assert [(entry.code, entry.verb) for entry in result.report.entries] == [("MED001", "drop"), ("EMP001", "drop")]
