"""Gemini: recorded requests come home untouched and cross to everybody, bodies as people write them are left alone, and each rule of
section 4 as a row: input → codes → output."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import sendable
from tests.judges.bench import complaints
from tests.laws.dialects import DIALECTS
from tests.laws.json_text import message_texts
from tests.laws.verdicts import described, unlocated

WIRE = Path(__file__).resolve().parents[1].parent / "shared" / "wire" / "gemini"
RECORDINGS = [
    path
    for path in sorted(WIRE.glob("*request.json"))
    if not path.with_name(path.name.replace("request.json", "error.json")).exists()
]
needed = pytest.mark.skipif(not RECORDINGS, reason="no recorded requests: ../shared/wire is not beside this checkout")
each = pytest.mark.parametrize("path", RECORDINGS or [Path()], ids=[path.stem for path in RECORDINGS] or ["none"])


@needed
@each
def test_a_recorded_request_comes_home_untouched(path: Path) -> None:
    text = path.read_text()
    assert complaints("gemini", json.loads(text)) == []
    result = sendable.normalize(json.loads(text), to="gemini")
    assert described(result.report) == []
    assert result.body == json.loads(text)
    written = sendable.normalize_json(text.encode(), to="gemini")
    assert described(written.report) == []
    assert message_texts(written.data.decode()) == message_texts(text)
    assert json.loads(written.data) == json.loads(text)


@needed
@each
@pytest.mark.parametrize("target", [name for name in DIALECTS if name != "gemini"])
def test_a_recorded_request_crosses(path: Path, target: str) -> None:
    body = {"model": "some-model", **json.loads(path.read_text())}
    before = repr(body)
    result = sendable.normalize(body, to=target)
    assert repr(body) == before
    assert complaints(target, result.body, whole=True) == []
    assert list(unlocated(body, result.report)) == []
    again = sendable.normalize(result.body, to=target)
    assert described(again.report) == []
    assert again.body == result.body


SIGNATURE = "EpEFCo4FAQw51sfAMqqfWjsxHCzgQK7tXTE-zUH7IxFVnQGSrx_S3Y6YJo9w"


def user(*parts: dict[str, Any]) -> dict[str, Any]:
    return {"role": "user", "parts": list(parts)}


def model(*parts: dict[str, Any]) -> dict[str, Any]:
    return {"role": "model", "parts": list(parts)}


def text(value: str, **more: Any) -> dict[str, Any]:
    return {"text": value, **more}


def call(name: str, args: Any = None, **more: Any) -> dict[str, Any]:
    return {"functionCall": {"name": name, "args": {} if args is None else args}, **more}


def response(name: str, value: Any, **more: Any) -> dict[str, Any]:
    return {"functionResponse": {"name": name, "response": value, **more}}


ASKED = user(text("q"))
WEATHER = {
    "name": "weather",
    "description": "now",
    "parameters": {"type": "OBJECT", "properties": {"c": {"type": "STRING"}}},
}

HOME: dict[str, dict[str, Any]] = {
    "a list of texts": {"contents": [ASKED, model(text("a"), text("b")), user(text("c"))]},
    "no roles": {"contents": [{"parts": [text("q")]}]},
    "thinking, with and without a signature": {
        "contents": [ASKED, model(text("hm", thought=True), text("a", thoughtSignature=SIGNATURE)), ASKED]
    },
    "a signature on an empty text": {"contents": [ASKED, model(text("a"), text("", thoughtSignature=SIGNATURE)), ASKED]},
    "parallel calls without ids": {
        "contents": [
            ASKED,
            model(text("both"), call("weather", {"c": "Oslo"}, thoughtSignature=SIGNATURE), call("weather", {"c": "Rome"})),
            user(response("weather", {"output": "snow"}), response("weather", {"sky": "sun", "degrees": 30})),
        ],
        "tools": [{"functionDeclarations": [WEATHER]}],
        "toolConfig": {"functionCallingConfig": {"mode": "ANY", "allowedFunctionNames": ["weather"]}},
    },
    "calls with ids, answered in another order and by name": {
        "contents": [
            ASKED,
            model({"functionCall": {"id": "1", "name": "a"}}, {"functionCall": {"id": "2", "name": "b"}}),
            user(response("b", {"error": "no"}, id="2"), response("a", {}, id="1")),
            model({"functionCall": {"id": "3", "name": "a"}}),
            user(response("a", {"output": [1, 2]})),
        ]
    },
    "snake case": {
        "contents": [
            user({"inline_data": {"mime_type": "image/png", "data": "iVBORw0KGgo="}}),
            model({"function_call": {"name": "f", "args": {}}, "thought_signature": SIGNATURE}),
            user({"function_response": {"name": "f", "response": {"result": "x"}}}),
        ],
        "system_instruction": {"parts": [text("be brief")]},
        "generation_config": {"max_output_tokens": 10, "top_p": 0.5},
        "safety_settings": [],
    },
    "media of all kinds": {
        "contents": [
            user(
                {"inlineData": {"mimeType": "image/png", "data": "iVBORw0KGgo="}},
                {"inlineData": {"mimeType": "audio/wav", "data": "UklGRg=="}},
                {"fileData": {"mimeType": "video/mp4", "fileUri": "https://www.youtube.com/watch?v=x"}, "videoMetadata": {"fps": 1}},
                {"fileData": {"fileUri": "https://generativelanguage.googleapis.com/v1beta/files/abc", "mimeType": "application/pdf"}},
                {"fileData": {"fileUri": "gs://bucket/a.pdf", "mimeType": "application/pdf"}},
            )
        ]
    },
    "bytes as the SDK writes them": {"contents": [user({"inlineData": {"mimeType": "image/jpeg", "data": "_9j_4AAQ"}})]},
    "media in a response": {
        "contents": [
            ASKED,
            model(call("camera")),
            user(response("camera", {"output": ""}, parts=[{"inlineData": {"mimeType": "image/png", "data": "iVBORw0KGgo="}}])),
        ]
    },
    "an image that the model made": {
        "contents": [ASKED, model({"inlineData": {"mimeType": "image/png", "data": "iVBORw0KGgo="}, "thoughtSignature": SIGNATURE}), ASKED],
        "generationConfig": {"responseModalities": ["IMAGE"], "imageConfig": {"aspectRatio": "1:1"}},
    },
    "code that Google ran, tools that it called": {
        "contents": [
            ASKED,
            model(
                {"executableCode": {"language": "PYTHON", "code": "1"}},
                {"codeExecutionResult": {"outcome": "OUTCOME_OK", "output": "1"}},
                {"toolCall": {"id": "t", "toolType": "GOOGLE_SEARCH_WEB", "args": {}}},
                {"toolResponse": {"id": "t", "toolType": "GOOGLE_SEARCH_WEB", "response": {}}},
                text("one"),
            ),
            ASKED,
        ],
        "tools": [{"codeExecution": {}}, {"googleSearch": {}, "urlContext": {}}],
    },
    "two user turns and an empty answer": {"contents": [ASKED, ASKED, {"role": "model"}, {"role": "model", "parts": []}, ASKED]},
    "a cached prefix": {"contents": [ASKED], "cachedContent": "cachedContents/1", "labels": {"k": "v"}},
    "everything else of a body": {
        "model": "gemini-2.5-flash",
        "contents": [ASKED],
        "systemInstruction": {"role": "system", "parts": [text("a"), text("b")]},
        "tools": [{"functionDeclarations": [WEATHER, {"name": "none"}]}, {}],
        "toolConfig": {"functionCallingConfig": {"mode": "VALIDATED"}, "retrievalConfig": {"languageCode": "en"}},
        "safetySettings": [{"category": "HARM_CATEGORY_HARASSMENT", "threshold": "BLOCK_NONE"}],
        "generationConfig": {
            "responseMimeType": "text/x.enum", "responseSchema": {"type": "STRING", "enum": ["a"]}, "speechConfig": {},
            "thinkingConfig": {"thinkingBudget": 0, "includeThoughts": False}, "stopSequences": [],
        },
    },
}  # fmt: skip
"""Requests that Gemini takes, as people write them."""


@pytest.mark.parametrize("name", HOME)
def test_at_home_nothing_is_touched(name: str) -> None:
    body, before = HOME[name], json.dumps(HOME[name])
    result = sendable.normalize(body, to="gemini")
    assert described(result.report) == []
    assert result.body == json.loads(before)
    spelled = json.dumps(body, indent=1, ensure_ascii=True)
    written = sendable.normalize_json(spelled.encode(), to="gemini")
    assert described(written.report) == []
    assert message_texts(written.data.decode()) == message_texts(spelled)
    assert not sendable.check(body, "gemini").entries


CHAT_CALL = {"id": "c1", "type": "function", "function": {"name": "f", "arguments": '{"a":1}'}}
CHAT = [{"role": "user", "content": "q"}, {"role": "assistant", "content": None, "tool_calls": [CHAT_CALL]}]

ROWS: list[tuple[str, str, Any, list[tuple[str, str, str]], list[Any]]] = [
    (
        "a role that Gemini does not have (GE1)",
        "gemini",
        [{"role": "function", "parts": [text("q")]}, ASKED],
        [("SHP004", "drop", "messages[0]")],
        [ASKED],
    ),
    (
        "a part with two kinds of data is two parts, and the signature is the call's (GE4)",
        "gemini",
        [ASKED, model({"text": "t", "functionCall": {"name": "f", "args": {}}, "thoughtSignature": "c2ln"}), user(response("f", {}))],
        [],
        [ASKED, model(text("t"), call("f", thoughtSignature="c2ln")), user(response("f", {}))],
    ),
    (
        "an empty part goes (GE4)",
        "gemini",
        [user(text(""), text("q"), {})],
        [("BLK001", "drop", "messages[0].parts[2]"), ("EMP003", "drop", "messages[0].parts[0]")],
        [ASKED],
    ),
    (
        "a call behind words of the model is of the same turn (GE5), its results are in one content (GE7)",
        "gemini",
        [ASKED, model(text("t")), model(call("f")), model(call("g")), user(response("f", {})), user(response("g", {})), user(text("z"))],
        [("ORD002", "move", "messages[2]"), ("ORD002", "move", "messages[3]")],
        [ASKED, model(text("t"), call("f"), call("g")), user(response("f", {}), response("g", {})), user(text("z"))],
    ),
    (
        "the first turn is the user's (GE5)",
        "gemini",
        [model(text("t")), ASKED],
        [("ORD004", "synthesize", "messages[0]")],
        [user(text("[conversation continues]")), model(text("t")), ASKED],
    ),
    (
        "an answer by another name is the call's, for one id (GE7)",
        "gemini",
        [ASKED, model({"functionCall": {"id": "1", "name": "f"}}), user(response("g", {}, id="1"))],
        [("IDS002", "rename", "messages[2].parts[0]")],
        [ASKED, model({"functionCall": {"id": "1", "name": "f"}}), user({"functionResponse": {"id": "1", "name": "f", "response": {}}})],
    ),
    (
        "a call without an id takes that of its answer (GE9)",
        "gemini",
        [ASKED, model(call("f")), user(response("f", {}, id="1"))],
        [("IDS005", "synthesize", "messages[1].parts[0]")],
        [ASKED, model({"functionCall": {"id": "1", "name": "f", "args": {}}}), user(response("f", {}, id="1"))],
    ),
    (
        "arguments are an object (GE8)",
        "gemini",
        [ASKED, model(call("f", "[1]")), user(response("f", "done"))],
        [("ARG002", "degrade", "messages[1].parts[0]")],
        [ASKED, model(call("f", {"_raw": [1]})), user(response("f", {"output": "done"}))],
    ),
    (
        "a name that Gemini refuses (GE10)",
        "gemini",
        [ASKED, model(call("1 f")), user(response("1 f", {}))],
        [("IDS002", "rename", "messages[1].parts[0]")],
        [ASKED, model(call("_1_f")), user(response("_1_f", {}))],
    ),
    (
        "media of a foreign result follow it (GE11)",
        "gemini",
        [*CHAT, {"role": "tool", "tool_call_id": "c1", "content": [{"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw0KGgo="}}]}],
        [("RES002", "move", "messages[2].content[0]")],
        [
            ASKED,
            model({"functionCall": {"id": "c1", "name": "f", "args": {"a": 1}}}),
            user(
                response("f", {"output": "[see the attachment below]"}, id="c1"),
                {"inlineData": {"mimeType": "image/png", "data": "iVBORw0KGgo="}},
            ),
        ],
    ),
    (
        "and stand in it from 3 on, whose first call is signed (GE11, GE12, GE13)",
        "gemini:3",
        [*CHAT, {"role": "tool", "tool_call_id": "c1", "content": [{"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw0KGgo="}}]}],
        [("RSN011", "synthesize", "messages[1].tool_calls[0]")],
        [
            ASKED,
            model({"functionCall": {"id": "c1", "name": "f", "args": {"a": 1}}, "thoughtSignature": "skip_thought_signature_validator"}),
            user(response("f", {"output": ""}, id="c1", parts=[{"inlineData": {"mimeType": "image/png", "data": "iVBORw0KGgo="}}])),
        ],
    ),
    (
        "of parallel calls the first is signed, in each step (GE12)",
        "gemini:3",
        [ASKED, model(call("f"), call("g")), user(response("f", {}), response("g", {})), model(call("f", thoughtSignature="c2ln")), user(response("f", {}))],
        [("RSN011", "synthesize", "messages[1].parts[0]")],
        [
            ASKED,
            model(call("f", thoughtSignature="skip_thought_signature_validator"), call("g")),
            user(response("f", {}), response("g", {})),
            model(call("f", thoughtSignature="c2ln")),
            user(response("f", {})),
        ],
    ),
    (
        "a signature covers what stands before it",
        "gemini:3",
        [ASKED, model(call("f", thoughtSignature="c2ln")), ASKED, model(text("a", thoughtSignature="c2ln")), ASKED],
        [("PAR001", "synthesize", "messages[1].parts[0]"), ("RSN004", "strip", "messages[3].parts[0]")],
        [
            ASKED,
            model(call("f", thoughtSignature="c2ln")),
            user(response("f", {"error": "Tool call was interrupted; no result."}), text("q")),
            model(text("a")),
            ASKED,
        ],
    ),
    (
        "what is no base64 is no signature (GE14)",
        "gemini",
        [ASKED, model(text("a", thoughtSignature="not base64!")), ASKED],
        [("RSN001", "strip", "messages[1].parts[0]")],
        [ASKED, model(text("a")), ASKED],
    ),
    (
        "the last turn is the user's",
        "gemini",
        [ASKED, model(text("a"))],
        [("ORD005", "synthesize", "messages[1]")],
        [ASKED, model(text("a")), user(text("[conversation continues]"))],
    ),
    (
        "results of Chat stand in the order of the calls, under the names of their tools, and an error is said as one",
        "gemini",
        [
            {"role": "user", "content": "q"},
            {
                "role": "assistant",
                "content": [
                    {"type": "tool_use", "id": "a", "name": "f", "input": {}},
                    {"type": "tool_use", "id": "b", "name": "g", "input": {}},
                ],
            },
            {
                "role": "user",
                "content": [
                    {"type": "tool_result", "tool_use_id": "b", "content": [{"type": "text", "text": "x"}, {"type": "text", "text": "y"}]},
                    {"type": "tool_result", "tool_use_id": "a", "content": "no", "is_error": True},
                ],
            },
        ],
        [],
        [
            ASKED,
            model({"functionCall": {"id": "a", "name": "f", "args": {}}}, {"functionCall": {"id": "b", "name": "g", "args": {}}}),
            user(response("f", {"error": "no"}, id="a"), response("g", {"output": "x\n\ny"}, id="b")),
        ],
    ),
]  # fmt: skip


@pytest.mark.parametrize(
    ("target", "history", "report", "contents"), [row[1:] for row in ROWS], ids=[row[0] for row in ROWS]
)
def test_a_rule(target: str, history: Any, report: list[tuple[str, str, str]], contents: list[Any]) -> None:
    result = sendable.normalize(history, to=target)
    assert [(entry.code, entry.verb, str(entry.path)) for entry in result.report.entries] == report
    assert result.messages == contents
    assert complaints(target, result.body) == []
    assert not sendable.normalize(result.body, to=target).report.entries


@pytest.mark.parametrize(
    ("target", "param"),
    [
        ("openai-chat", "contents[1].parts[0].thoughtSignature"),
        ("openai-responses", "contents[1].parts[0].thoughtSignature"),
        ("anthropic", "contents[1].parts[0].thoughtSignature"),
        ("bedrock-converse", "contents[1].parts[0].thoughtSignature"),
        ("flat", "contents[1].parts[0].thoughtSignature"),
    ],
)
def test_a_signature_stays_at_home(target: str, param: str) -> None:
    history = {"contents": [ASKED, model(text("a", thoughtSignature="c2ln")), ASKED]}
    result = sendable.normalize(history, to=target)
    assert [(entry.code, entry.verb, str(entry.param)) for entry in result.report.entries] == [
        ("RSN001", "strip", param)
    ]
    assert "c2ln" not in json.dumps(result.body)


def test_system_messages_are_instructions_wherever_they_stood() -> None:
    history = [
        {"role": "system", "content": "a"},
        {"role": "user", "content": "q"},
        {"role": "developer", "content": "b"},
    ]
    result = sendable.normalize(history, to="gemini")
    assert result.body == {"systemInstruction": {"parts": [text("a"), text("b")]}, "contents": [ASKED]}
    assert [(entry.code, str(entry.path)) for entry in result.report.entries] == [("SYS001", "messages[2]")]
    for instruction in ("a", [text("a")], text("a"), {"parts": text("a")}):
        body = sendable.normalize({"contents": [ASKED], "system_instruction": instruction}, to="gemini").body
        assert body == {"systemInstruction": {"parts": [text("a")]}, "contents": [ASKED]}


def test_parameters_of_chat_in_the_words_of_gemini() -> None:
    schema = {"type": "object", "properties": {"q": {"type": "string"}}}
    body = {
        "model": "gemini-3-flash", "messages": [{"role": "user", "content": "q"}], "temperature": 0.5, "max_tokens": 9, "stop": "x", "seed": 7, "n": 1,
        "stream": False, "reasoning_effort": "low", "user": "u",
        "tools": [{"type": "function", "function": {"name": "f", "description": "d", "parameters": schema, "strict": True}}],
        "tool_choice": {"type": "function", "function": {"name": "f"}},
        "response_format": {"type": "json_schema", "json_schema": {"name": "answer", "schema": schema, "strict": True}},
    }  # fmt: skip
    result = sendable.normalize(body, to="gemini:3")
    assert result.body == {
        "model": "gemini-3-flash",
        "tools": [{"functionDeclarations": [{"name": "f", "description": "d", "parametersJsonSchema": schema}]}],
        "toolConfig": {"functionCallingConfig": {"mode": "ANY", "allowedFunctionNames": ["f"]}},
        "generationConfig": {
            "temperature": 0.5, "maxOutputTokens": 9, "stopSequences": ["x"], "seed": 7, "candidateCount": 1,
            "thinkingConfig": {"thinkingLevel": "LOW"}, "responseMimeType": "application/json", "responseJsonSchema": schema,
        },
        "contents": [ASKED],
    }  # fmt: skip
    assert [(entry.code, str(entry.param)) for entry in result.report.entries] == [
        ("FLD001", "tools[0].function.strict"),
        ("FLD001", "user"),
        ("FLD002", "response_format.json_schema.name"),
        ("FLD001", "response_format.json_schema.strict"),
    ]
    assert complaints("gemini:3", result.body) == []


def test_parameters_of_gemini_in_the_words_of_chat() -> None:
    body = {
        "model": "m",
        "contents": [ASKED],
        "tools": [{"functionDeclarations": [WEATHER]}, {"googleSearch": {}}],
        "toolConfig": {"functionCallingConfig": {"mode": "ANY"}},
        "generationConfig": {
            "temperature": 0.5, "topP": 0.9, "topK": 3, "maxOutputTokens": 9, "stopSequences": ["x"], "seed": 7,
            "thinkingConfig": {"thinkingLevel": "HIGH", "includeThoughts": True},
            "responseMimeType": "application/json", "responseSchema": {"type": "OBJECT", "properties": {"type": {"type": "STRING"}}},
        },
        "safetySettings": [{"category": "HARM_CATEGORY_HARASSMENT", "threshold": "BLOCK_NONE"}],
    }  # fmt: skip
    result = sendable.normalize(body, to="openai-chat")
    assert result.body == {
        "model": "m",
        "tools": [
            {
                "type": "function",
                "function": {
                    "name": "weather",
                    "description": "now",
                    "parameters": {"type": "object", "properties": {"c": {"type": "string"}}},
                },
            }
        ],
        "tool_choice": "required",
        "temperature": 0.5, "top_p": 0.9, "max_completion_tokens": 9, "stop": ["x"], "seed": 7, "reasoning_effort": "high",
        "response_format": {
            "type": "json_schema",
            "json_schema": {"name": "answer", "schema": {"type": "object", "properties": {"type": {"type": "string"}}}},
        },
        "messages": [{"role": "user", "content": [{"type": "text", "text": "q"}]}],
    }  # fmt: skip
    assert [(entry.code, str(entry.param)) for entry in result.report.entries] == [
        ("FLD001", "tools[1].googleSearch"),
        ("FLD001", "generationConfig.topK"),
        ("FLD001", "generationConfig.thinkingConfig.includeThoughts"),
        ("FLD001", "safetySettings"),
    ]


def test_a_cached_prefix_stands_alone() -> None:
    body = {"contents": [ASKED], "cachedContent": "c", "systemInstruction": {"parts": [text("a")]}}
    result = sendable.normalize(body, to="gemini")
    assert "cachedContent" not in result.body
    assert [(entry.code, str(entry.path)) for entry in result.report.entries] == [("FLD006", "cachedContent")]


@pytest.mark.parametrize(
    ("name", "target"),
    [("gemini-3-flash-preview", "gemini:3"), ("models/gemini-3.5-pro", "gemini:3"), ("gemini-2.5-flash", "gemini")],
)
def test_the_model_picks_the_target(name: str, target: str) -> None:
    signed = "thoughtSignature" in json.dumps(sendable.normalize([*CHAT], to="gemini", model=name).body)
    assert signed is (target == "gemini:3")


def test_a_list_of_contents_is_known_by_its_parts() -> None:
    assert sendable.normalize([ASKED, model(call("f")), user(response("f", {}))]).body == {
        "contents": [ASKED, model(call("f")), user(response("f", {}))]
    }
