"""Realistic bodies that their provider accepts: `check` says nothing, and they come back as they are (promise: identity).

Written by hand, ten and more for each dialect; those of Gemini and Converse stand in test_gemini.py and test_bedrock.py. Each is first accepted by the
independent judge, so that a slip of the pen is not taken for a fault.
"""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest

import sendable
from tests.judges.bench import complaints
from tests.laws.verdicts import described

PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk"
PDF = "JVBERi0xLjQKJSVFT0Y="
SCHEMA = {"type": "object", "properties": {"q": {"type": "string"}}, "required": ["q"], "additionalProperties": False}
MARK = {"type": "ephemeral"}


def says(role: str, content: Any, **more: Any) -> dict[str, Any]:
    return {"role": role, "content": content, **more}


def text(words: str, **more: Any) -> dict[str, Any]:
    return {"type": "text", "text": words, **more}


# --- Chat --------------------------------------------------------------------------------------------------------------


def call(identity: str, name: str = "look", arguments: str = '{"q": "x"}') -> dict[str, Any]:
    return {"id": identity, "type": "function", "function": {"name": name, "arguments": arguments}}


def answer(identity: str, content: Any = "found") -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": identity, "content": content}


FUNCTION = {
    "type": "function",
    "function": {"name": "look", "description": "Looks.", "parameters": SCHEMA, "strict": True},
}
PICTURE = {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PNG}", "detail": "low"}}

CHAT: dict[str, dict[str, Any]] = {
    "a coding agent": {
        "model": "gpt-5.6",
        "messages": [
            says("developer", "Fix bugs."),
            says("user", "The test fails."),
            says("assistant", "I look.", tool_calls=[call("a"), call("b", arguments="{}")]),
            answer("a"),
            answer("b", "Error: no such file"),
            says("assistant", None, tool_calls=[call("c")]),
            answer("c", [text("line 1"), text("line 2")]),
            says("assistant", "Done."),
            says("user", "Thanks, now the docs."),
        ],
        "tools": [FUNCTION],
        "tool_choice": "auto",
        "parallel_tool_calls": True,
        "reasoning_effort": "high",
        "max_completion_tokens": 4000,
        "store": False,
        "prompt_cache_key": "session-1",
    },
    "pictures": {
        "model": "gpt-5.6",
        "messages": [
            says(
                "user",
                [
                    text("What is it?"),
                    PICTURE,
                    {"type": "image_url", "image_url": {"url": "https://example.com/a.png"}},
                ],
            ),
            says("assistant", "A cat and a dog."),
            says("user", "Which one is larger?"),
        ],
    },
    "sound in and out": {
        "model": "gpt-audio-2",
        "modalities": ["text", "audio"],
        "audio": {"voice": "alloy", "format": "wav"},
        "messages": [
            says("user", [{"type": "input_audio", "input_audio": {"data": "UklGRiQAAABXQVZF", "format": "wav"}}]),
            {"role": "assistant", "audio": {"id": "audio_1"}},
            says("user", "Say it again."),
        ],
    },
    "files": {
        "model": "gpt-5.6",
        "messages": [
            says(
                "user",
                [
                    {"type": "file", "file": {"file_data": f"data:application/pdf;base64,{PDF}", "filename": "a.pdf"}},
                    {"type": "file", "file": {"file_id": "file-1"}},
                    text("Compare them."),
                ],
            )
        ],
    },
    "free-text tools": {
        "model": "gpt-5.6",
        "messages": [
            says("user", "Run it."),
            says(
                "assistant",
                None,
                tool_calls=[{"id": "a", "type": "custom", "custom": {"name": "shell", "input": "ls -l"}}, call("b")],
            ),
            answer("a", "a.py"),
            answer("b"),
        ],
        "tools": [
            {"type": "custom", "custom": {"name": "shell", "description": "Runs.", "format": {"type": "text"}}},
            {
                "type": "custom",
                "custom": {
                    "name": "calc",
                    "format": {"type": "grammar", "grammar": {"syntax": "lark", "definition": "start: NUMBER"}},
                },
            },
            FUNCTION,
        ],
        "tool_choice": {"type": "custom", "custom": {"name": "shell"}},
    },
    "a refusal": {
        "model": "gpt-5.6",
        "messages": [
            says("user", "Do something bad."),
            {"role": "assistant", "content": None, "refusal": "I will not."},
            says("user", "Something good, then."),
            says("assistant", [text("Gladly."), {"type": "refusal", "refusal": "Not the rest."}]),
            says("user", "Fine."),
        ],
    },
    "an answer in a form": {
        "model": "gpt-5.6",
        "messages": [says("system", "Extract."), says("user", "Bob is 7.")],
        "response_format": {"type": "json_schema", "json_schema": {"name": "person", "schema": SCHEMA, "strict": True}},
        "seed": 7,
        "temperature": 0.1,
        "top_p": 0.9,
        "logprobs": True,
        "top_logprobs": 2,
        "stop": ["END"],
        "n": 1,
    },
    "instructions in the middle": {
        "model": "gpt-5.6",
        "messages": [
            says("system", "Be brief."),
            says("user", "Hi."),
            says("assistant", "Hi."),
            says("system", "The user is in Rome."),
            says("developer", [text("Use metric units.")]),
            says("user", "How warm is it?"),
        ],
        "stream": True,
        "stream_options": {"include_usage": True},
    },
    "reasoning of a server that shows it": {
        "model": "qwen3-max",
        "messages": [
            says("user", "2+2?"),
            says("assistant", "4", reasoning_content="Two and two."),
            says("user", "And 3+3?"),
            says("assistant", None, reasoning_content="I ask.", tool_calls=[call("a")]),
            answer("a", "6"),
        ],
        "tools": [FUNCTION],
        "max_tokens": 100,
    },
    "names, a search, and a call in another turn": {
        "model": "gpt-5.6-search-preview",
        "messages": [
            says("user", "I am Ann.", name="ann"),
            says("user", "I am Bob.", name="bob"),
            says("assistant", "Hello both.", name="helper"),
            says("user", "News?", name="ann"),
        ],
        "web_search_options": {"search_context_size": "low"},
        "metadata": {"team": "a"},
        "service_tier": "flex",
        "verbosity": "low",
        "safety_identifier": "u1",
    },
    "arguments as they were written": {
        "model": "gpt-5.6",
        "messages": [
            says("user", "Go."),
            says(
                "assistant",
                "",
                tool_calls=[call("a", arguments='{"n":  12345678901234567890,"f":1.0,"s":"\\u00e9 \\ud83d\\ude80"}')],
            ),
            answer("a", ""),
        ],
    },
}

# --- Messages ----------------------------------------------------------------------------------------------------------


def use(identity: str, name: str = "look", **more: Any) -> dict[str, Any]:
    return {"type": "tool_use", "id": identity, "name": name, "input": {"q": 1}, **more}


def result(identity: str, content: Any = "found", **more: Any) -> dict[str, Any]:
    return {"type": "tool_result", "tool_use_id": identity, "content": content, **more}


def served(identity: str, name: str = "web_search", **given: Any) -> dict[str, Any]:
    return {"type": "server_tool_use", "id": f"srvtoolu_{identity}", "name": name, "input": given or {"query": "x"}}


def thought(words: str) -> dict[str, Any]:
    return {"type": "thinking", "thinking": words, "signature": "c2ln"}


TOOL = {"name": "look", "description": "Looks.", "input_schema": SCHEMA}
IMAGE = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PNG}}
PAPER = {"type": "document", "source": {"type": "base64", "media_type": "application/pdf", "data": PDF}}
HIT = {"type": "web_search_result", "url": "https://example.com", "title": "t", "encrypted_content": "ZQ=="}


def messages(*listed: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"model": "claude-opus-4-8", "max_tokens": 1000, "messages": list(listed), **more}


ANTHROPIC: dict[str, dict[str, Any]] = {
    "a coding agent": messages(
        says("user", [text("Fix it.", cache_control=MARK)]),
        says("assistant", [thought("I look."), text("I look."), use("a"), use("b")]),
        says("user", [result("a"), result("b", "no such file", is_error=True), text("Hurry.")]),
        says("assistant", [thought("Now."), use("c")]),
        says("user", [result("c", [text("one"), IMAGE], cache_control=MARK)]),
        system=[text("You fix bugs.", cache_control={"type": "ephemeral", "ttl": "1h"})],
        tools=[TOOL, {**TOOL, "name": "edit", "cache_control": MARK}],
        tool_choice={"type": "auto", "disable_parallel_tool_use": True},
        thinking={"type": "adaptive"},
        metadata={"user_id": "u"},
        stream=True,
    ),
    "thoughts that nobody can read": messages(
        says("user", "Think."),
        says("assistant", [{"type": "redacted_thinking", "data": "c2VjcmV0"}, thought(""), text("Thought.")]),
        says("user", "Again."),
        thinking={"type": "enabled", "budget_tokens": 2000},
        max_tokens=4000,
    ),
    "text between calls": messages(
        says("user", "Go."),
        says("assistant", [text("First."), use("a"), text("Then."), use("b")]),
        says("user", [result("a"), result("b")]),
        tools=[TOOL],
        stop_sequences=["END"],
        temperature=1,
    ),
    "pictures from everywhere": messages(
        says(
            "user",
            [
                IMAGE,
                {"type": "image", "source": {"type": "url", "url": "https://example.com/a.png"}},
                {"type": "image", "source": {"type": "file", "file_id": "file_1"}},
                text("Which is the cat?"),
            ],
        ),
    ),
    "papers, and what is cited of them": messages(
        says(
            "user",
            [
                {**PAPER, "title": "A", "context": "draft", "citations": {"enabled": True}, "cache_control": MARK},
                {"type": "document", "source": {"type": "text", "media_type": "text/plain", "data": "It is so."}},
                {"type": "document", "source": {"type": "url", "url": "https://example.com/a.pdf"}},
                {"type": "document", "source": {"type": "content", "content": [text("one"), text("two")]}},
                text("What do they say?"),
            ],
        ),
        says(
            "assistant",
            [
                text(
                    "It is so.",
                    citations=[
                        {
                            "type": "char_location",
                            "cited_text": "It is so.",
                            "document_index": 1,
                            "document_title": None,
                            "start_char_index": 0,
                            "end_char_index": 9,
                        }
                    ],
                )
            ],
        ),
        says("user", "Sure?"),
    ),
    "results of a search of one's own": messages(
        says(
            "user",
            [
                {
                    "type": "search_result",
                    "source": "a",
                    "title": "A",
                    "content": [text("one")],
                    "citations": {"enabled": True},
                },
                text("So?"),
            ],
        ),
        says("assistant", [use("a")]),
        says("user", [result("a", [{"type": "search_result", "source": "b", "title": "B", "content": [text("two")]}])]),
        tools=[TOOL],
    ),
    "a search on the web": messages(
        says("user", "News?"),
        says(
            "assistant",
            [
                served("1"),
                {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": [HIT]},
                text(
                    "Some.",
                    citations=[
                        {
                            "type": "web_search_result_location",
                            "cited_text": "x",
                            "encrypted_index": "ZQ==",
                            "title": "t",
                            "url": "https://example.com",
                        }
                    ],
                ),
                served("2"),
                {
                    "type": "web_search_tool_result",
                    "tool_use_id": "srvtoolu_2",
                    "content": {"type": "web_search_tool_result_error", "error_code": "max_uses_exceeded"},
                },
            ],
        ),
        says("user", "More."),
        tools=[{"type": "web_search_20250305", "name": "web_search", "max_uses": 3}],
    ),
    "code that ran": messages(
        says("user", [{"type": "container_upload", "file_id": "file_1"}, text("Plot it.")]),
        says(
            "assistant",
            [
                served("1", "bash_code_execution", command="ls"),
                {
                    "type": "bash_code_execution_tool_result",
                    "tool_use_id": "srvtoolu_1",
                    "content": {
                        "type": "bash_code_execution_result",
                        "stdout": "a",
                        "stderr": "",
                        "return_code": 0,
                        "content": [{"type": "bash_code_execution_output", "file_id": "file_2"}],
                    },
                },
                served("2", "text_editor_code_execution", command="create", path="a", file_text="x"),
                {
                    "type": "text_editor_code_execution_tool_result",
                    "tool_use_id": "srvtoolu_2",
                    "content": {"type": "text_editor_code_execution_create_result", "is_file_update": False},
                },
                text("Plotted."),
            ],
        ),
        says("user", "Good."),
        tools=[{"type": "code_execution_20250825", "name": "code_execution"}],
        container="container_1",
    ),
    "tools of another server": messages(
        says("user", "Ask it."),
        says(
            "assistant",
            [
                {"type": "mcp_tool_use", "id": "mcptoolu_1", "name": "ask", "server_name": "s", "input": {}},
                {"type": "mcp_tool_result", "tool_use_id": "mcptoolu_1", "is_error": False, "content": [text("yes")]},
                text("Yes."),
            ],
        ),
        says("user", "Good."),
        mcp_servers=[{"type": "url", "name": "s", "url": "https://example.com/mcp"}],
        tools=[{"type": "mcp_toolset", "mcp_server_name": "s"}],
    ),
    "tools that are searched": messages(
        says("user", "Find a tool."),
        says(
            "assistant",
            [
                served("1", "tool_search_tool_regex", pattern="look"),
                {
                    "type": "tool_search_tool_result",
                    "tool_use_id": "srvtoolu_1",
                    "content": {
                        "type": "tool_search_tool_search_result",
                        "tool_references": [{"type": "tool_reference", "tool_name": "look"}],
                    },
                },
                use("a"),
            ],
        ),
        says("user", [result("a")]),
        tools=[
            {"type": "tool_search_tool_regex_20251119", "name": "tool_search_tool_regex"},
            {**TOOL, "defer_loading": True},
        ],
    ),
    "an answer in a form": messages(
        says("user", "Bob is 7."),
        output_config={"effort": "low", "format": {"type": "json_schema", "schema": SCHEMA}},
        top_k=5,
        service_tier="auto",
    ),
    "the user of a screen": messages(
        says("user", "Click."),
        says("assistant", [use("a", "computer")]),
        says("user", [result("a", [IMAGE])]),
        says("assistant", "Clicked."),
        says("user", [text("And again.")]),
        tools=[{"type": "computer_20250124", "name": "computer", "display_width_px": 800, "display_height_px": 600}],
    ),
}

MID: dict[str, dict[str, Any]] = {
    "instructions in the middle": messages(
        says("user", "Hi."),
        says("assistant", "Hi."),
        says("user", "What next?"),
        says("system", "The user is in Rome."),
        says("assistant", "Lunch."),
        says("user", "Where?"),
        system="Be brief.",
    ),
}

# --- Responses ---------------------------------------------------------------------------------------------------------


def item(kind: str, **fields: Any) -> dict[str, Any]:
    return {"type": kind, **fields}


def said(words: str, number: int = 1, **more: Any) -> dict[str, Any]:
    part = item("output_text", text=words, annotations=[])
    return item("message", id=f"msg_{number}", status="completed", role="assistant", content=[part], **more)


def sealed(number: int, **more: Any) -> dict[str, Any]:
    return item(
        "reasoning", id=f"rs_{number}", summary=[item("summary_text", text="I look.")], encrypted_content="gAAA", **more
    )


def function(identity: str) -> dict[str, Any]:
    return item(
        "function_call", id=f"fc_{identity}", call_id=identity, name="look", arguments='{"q":1}', status="completed"
    )


def output(identity: str, value: Any = "found") -> dict[str, Any]:
    return item("function_call_output", call_id=identity, output=value)


LOOK = item("function", name="look", description="Looks.", parameters=SCHEMA, strict=True)


def request(*items: Any, **more: Any) -> dict[str, Any]:
    return {"model": "gpt-5.6", "input": list(items), **more}


RESPONSES: dict[str, dict[str, Any]] = {
    "a text": {"model": "gpt-5.6", "input": "Hi.", "instructions": "Be brief.", "store": True},
    "a coding agent that keeps nothing": request(
        says("user", "Fix it."),
        sealed(1),
        said("I look.", phase="commentary"),
        function("a"),
        function("b"),
        output("a"),
        output("b", "Error: no such file"),
        sealed(2),
        said("Done.", 2, phase="final_answer"),
        says("user", "Thanks, now the docs."),
        instructions="You fix bugs.",
        tools=[LOOK],
        tool_choice="auto",
        parallel_tool_calls=True,
        reasoning={"effort": "high", "summary": "auto"},
        include=["reasoning.encrypted_content"],
        store=False,
        stream=True,
        prompt_cache_key="session-1",
    ),
    "pictures and papers": request(
        says(
            "user",
            [
                item("input_text", text="What is it?"),
                item("input_image", image_url=f"data:image/png;base64,{PNG}", detail="low"),
                item("input_image", file_id="file-1", detail="auto"),
                item("input_file", filename="a.pdf", file_data=f"data:application/pdf;base64,{PDF}"),
                item("input_file", file_url="https://example.com/a.pdf"),
            ],
        ),
    ),
    "a picture as a result": request(
        says("user", "Show it."),
        function("a"),
        output(
            "a",
            [
                item("input_text", text="Here."),
                item("input_image", image_url=f"data:image/png;base64,{PNG}", detail="auto"),
            ],
        ),
        tools=[LOOK],
    ),
    "free-text tools": request(
        says("user", "Run it."),
        item("custom_tool_call", id="ctc_1", call_id="a", name="shell", input="ls -l"),
        item("custom_tool_call_output", call_id="a", output="a.py"),
        tools=[
            item(
                "custom",
                name="shell",
                description="Runs.",
                format=item("grammar", syntax="lark", definition="start: WORD"),
            )
        ],
    ),
    "hosted tools": request(
        says("user", "News and numbers?"),
        item("web_search_call", id="ws_1", status="completed", action=item("search", query="news")),
        item("file_search_call", id="fs_1", status="completed", queries=["q"], results=None),
        item("code_interpreter_call", id="ci_1", status="completed", code="1+1", container_id="cntr_1", outputs=None),
        item("image_generation_call", id="ig_1", status="completed", result=PNG),
        said("There."),
        says("user", "More."),
        tools=[
            item("web_search"),
            item("file_search", vector_store_ids=["vs_1"]),
            item("code_interpreter", container=item("auto")),
            item("image_generation"),
        ],
    ),
    "tools of another server": request(
        says("user", "Ask it."),
        item(
            "mcp_list_tools", id="mcpl_1", server_label="s", tools=[{"name": "ask", "input_schema": {"type": "object"}}]
        ),
        item("mcp_approval_request", id="mcpr_1", server_label="s", name="ask", arguments="{}"),
        item("mcp_approval_response", approval_request_id="mcpr_1", approve=True),
        item("mcp_call", id="mcp_1", server_label="s", name="ask", arguments="{}", output="yes"),
        said("Yes."),
        says("user", "Good."),
        tools=[item("mcp", server_label="s", server_url="https://example.com/mcp", require_approval="never")],
    ),
    "the user of a shell": request(
        says("user", "List."),
        item(
            "local_shell_call", id="lsh_1", call_id="a", status="completed", action=item("exec", command=["ls"], env={})
        ),
        item("local_shell_call_output", id="a", output="a.py"),
        tools=[item("local_shell")],
    ),
    "what the provider holds": request(
        says("user", "And now?"), previous_response_id="resp_1", store=True, truncation="auto", metadata={"a": "b"}
    ),
    "a conversation of its own": request(says("user", "And now?"), conversation="conv_1"),
    "an answer in a form": request(
        says("developer", "Extract."),
        says("user", "Bob is 7."),
        text={"format": item("json_schema", name="person", schema=SCHEMA, strict=True), "verbosity": "low"},
        max_output_tokens=100,
        temperature=0.5,
        service_tier="flex",
        safety_identifier="u1",
        tool_choice="none",
    ),
    "instructions in the middle, and items by their names": request(
        says("user", "Hi."),
        item("item_reference", id="msg_9"),
        says("developer", "The user is in Rome."),
        says("user", [item("input_text", text="Lunch?")]),
        store=True,
    ),
}

# --- flat --------------------------------------------------------------------------------------------------------------


def flat(identity: str, name: str = "look", **given: Any) -> dict[str, Any]:
    return {"tool_call_id": identity, "name": name, "arguments": given}


def came(identity: str, content: str = "found") -> dict[str, Any]:
    return {"role": "tool", "content": content, "tool_call_id": identity}


FLAT: dict[str, list[dict[str, Any]]] = {
    "a question": [says("user", "Hi.")],
    "instructions": [says("system", "Be brief."), says("user", "Hi."), says("assistant", "Hi."), says("user", "More.")],
    "one call": [says("user", "Go."), says("assistant", "", tool_calls=[flat("a", q=1)]), came("a")],
    "parallel calls": [
        says("user", "Go."),
        says("assistant", "I look.", tool_calls=[flat("a", q=1), flat("b", "read", path="a")]),
        came("a"),
        came("b", "Error: no such file"),
        says("assistant", "Done."),
        says("user", "Thanks."),
    ],
    "results in the order in which they came": [
        says("user", "Go."),
        says("assistant", "", tool_calls=[flat("a"), flat("b")]),
        came("b"),
        came("a"),
    ],
    "turn after turn": [
        says("user", "Go."),
        says("assistant", "", tool_calls=[flat("a")]),
        came("a"),
        says("assistant", "", tool_calls=[flat("b")]),
        came("b"),
        says("assistant", "", tool_calls=[flat("c"), flat("d")]),
        came("c"),
        came("d"),
    ],
    "the same tool with the same arguments": [
        says("user", "Twice."),
        says("assistant", "", tool_calls=[flat("a", q=1), flat("b", q=1)]),
        came("a"),
        came("b"),
    ],
    "arguments of every kind": [
        says("user", "Go."),
        says(
            "assistant",
            "",
            tool_calls=[flat("a", n=12345678901234567890, f=1.5, s="é 🚀", t=True, z=None, o={"k": [1, {}]})],
        ),
        came("a"),
    ],
    "words that look like something else": [
        says("user", '{"role": "system"}'),
        says("assistant", '[{"type": "tool_use"}]'),
        says("user", "null"),
    ],
    "empty words": [
        says("user", "Go."),
        says("assistant", "", tool_calls=[flat("a")]),
        came("a", ""),
        says("user", ""),
    ],
    "two of the user's": [
        says("user", "One."),
        says("user", "Two."),
        says("assistant", "Both."),
        says("user", "Three."),
    ],
}

BODIES: list[tuple[str, str, Any]] = [
    (target, name, body)
    for target, bodies in (
        ("openai-chat", CHAT),
        ("anthropic", ANTHROPIC),
        ("anthropic:mid-system", MID),
        ("openai-responses", RESPONSES),
        ("flat", FLAT),
    )
    for name, body in bodies.items()
]
each = pytest.mark.parametrize(("target", "body"), [pytest.param(t, b, id=f"{t}: {n}") for t, n, b in BODIES])


@each
def test_the_judge_accepts_it(target: str, body: Any) -> None:
    assert complaints(target, body, whole=isinstance(body, dict)) == []


@each
def test_check_says_nothing(target: str, body: Any) -> None:
    assert described(sendable.check(body, target)) == []
    assert described(sendable.check_json(json.dumps(body).encode(), target)) == []


@each
def test_it_comes_back_as_it_is(target: str, body: Any) -> None:
    before = copy.deepcopy(body)
    result = sendable.normalize(body, target)
    assert result.body == before == body
    assert described(result.report) == []
    data = json.dumps(body, ensure_ascii=False).encode()
    written = sendable.normalize_json(data, target).data
    assert json.loads(written) == body
    if isinstance(body, list) or not isinstance(body.get("input"), str):
        assert written == data


def test_there_are_ten_of_each() -> None:
    assert all(len(bodies) >= 10 for bodies in (CHAT, ANTHROPIC, RESPONSES, FLAT))
