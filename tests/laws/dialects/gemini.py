"""Generated histories in the dialect `gemini`: contents as generateContent takes them back, with and without ids and signatures."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from tests.laws.dialects.spoken import (
    CLOSING_TEXTS,
    OBJECTS,
    PDF,
    PNG,
    TEXTS,
    TOOL_NAMES,
    WAV,
    Message,
    Spoken,
    Step,
    one_of,
    written,
)
from tests.laws.leaves import scoped

_SIGNATURE = "c2ln«!google»"
_TEXT_PARTS: list[dict[str, Any]] = [
    {"text": "«»"},
    {"text": " «»\nmore"},
    {"text": "«»", "partMetadata": {"note": "«»"}},
]
_MEDIA_PARTS: list[dict[str, Any]] = [
    {"inlineData": {"mimeType": "image/png", "data": f"{PNG}«»"}},
    {"inline_data": {"mime_type": "image/png", "data": f"{PNG}«»"}},
    {"inlineData": {"mimeType": "application/pdf", "data": f"{PDF}«»", "displayName": "«».pdf"}},
    {"inlineData": {"mimeType": "audio/wav", "data": f"{WAV}«»"}},
    {"fileData": {"mimeType": "video/mp4", "fileUri": "https://example.com/«».mp4"}, "videoMetadata": {"fps": 1}},
    {
        "fileData": {
            "mimeType": "application/pdf",
            "fileUri": "https://generativelanguage.googleapis.com/v1beta/files/«!google»",
        }
    },
    {"fileData": {"fileUri": "https://example.com/«».png", "mimeType": "image/png"}},
]
_THOUGHTS: list[dict[str, Any]] = [
    {"text": "«»", "thought": True},
    {"thought": True, "text": "«»", "thoughtSignature": _SIGNATURE},
]
_SAID: list[dict[str, Any]] = [
    {"text": "«»"},
    {"text": "«»", "thoughtSignature": _SIGNATURE},
    {"text": "", "thoughtSignature": _SIGNATURE},
]
_RAN: list[dict[str, Any]] = [
    {"executableCode": {"language": "PYTHON", "code": "print('«»')"}},
    {"codeExecutionResult": {"outcome": "OUTCOME_OK", "output": "«»\n"}},
    {"toolCall": {"id": "tc_«»", "toolType": "GOOGLE_SEARCH_WEB", "args": {"q": "«»"}}},
    {"toolResponse": {"id": "tc_«»", "toolType": "GOOGLE_SEARCH_WEB", "response": {"r": "«»"}}},
]
_RESPONSES: list[dict[str, Any]] = [
    {"output": "«»"},
    {"result": "«» done"},
    {"error": "«»"},
    {"output": ["«»", 909_090_909]},
    {"temperature": "«»", "unit": {"name": "«»"}},
    {"output": ""},
    {},
]


@st.composite
def _tool_turn(draw: st.DrawFn) -> Step:
    parts: list[dict[str, Any]] = []
    results: list[dict[str, Any]] = []
    if draw(st.integers(0, 2)) == 2:
        parts.append(draw(one_of(_THOUGHTS)))
    if draw(st.booleans()):
        parts.append(draw(one_of([*_TEXT_PARTS, *_SAID[1:]])))
    if draw(st.integers(0, 6)) == 6:
        parts.extend(_RAN[:2])
    named, answered_by_name = draw(st.booleans()), draw(st.booleans())
    # Results without ids stand in the order of their calls; two calls of one name can otherwise not be told apart (GE9).
    names = draw(st.lists(one_of(TOOL_NAMES), min_size=1, max_size=3))
    for number, name in enumerate(names):
        call: dict[str, Any] = {"name": name}
        if draw(st.integers(0, 4)) > 0:
            call["args"] = draw(one_of(OBJECTS))
        result: dict[str, Any] = {"name": name, "response": draw(one_of(_RESPONSES))}
        if named:
            call["id"] = f"call_«{number}»"
            if not answered_by_name:
                result["id"] = call["id"]
        if draw(st.integers(0, 5)) == 5:
            result["parts"] = [draw(one_of([_MEDIA_PARTS[0], _MEDIA_PARTS[2]]))]
        part: dict[str, Any] = {"functionCall" if draw(st.booleans()) else "function_call": call}
        if number == 0 and draw(st.booleans()):
            part["thoughtSignature"] = _SIGNATURE
        parts.append(part)
        results.append({"functionResponse": result})
    if named and not answered_by_name and draw(st.booleans()):
        results.reverse()
    after: list[Any] = draw(st.lists(one_of([*_TEXT_PARTS, *_MEDIA_PARTS]), max_size=1))
    return [{"role": "model", "parts": parts}, {"role": "user", "parts": [*results, *after]}]


@st.composite
def _user(draw: st.DrawFn) -> Step:
    role: dict[str, Any] = {"role": "user"} if draw(st.integers(0, 3)) else {}
    return [{**role, "parts": draw(st.lists(one_of([*_TEXT_PARTS, *_MEDIA_PARTS]), min_size=1, max_size=3))}]


@st.composite
def _assistant(draw: st.DrawFn) -> Step:
    parts: list[Any] = [*draw(st.lists(one_of(_THOUGHTS), max_size=2)), *(_RAN if draw(st.integers(0, 3)) == 3 else ())]
    said = [*draw(st.lists(one_of([*_TEXT_PARTS, _MEDIA_PARTS[0]]), max_size=1)), *parts, draw(one_of(_SAID))]
    answer: dict[str, Any] = {"role": "model"} if draw(st.integers(0, 7)) == 7 else {"role": "model", "parts": said}
    # A history ends with the user: what a last turn of the model does is not known (GE24).
    return [answer, {"role": "user", "parts": [{"text": draw(one_of(TEXTS))}]}]


@st.composite
def _plain(draw: st.DrawFn) -> list[Message]:
    messages: list[Message] = []
    for scope in range(draw(st.integers(1, 3))):
        said = [{"text": text} for text in draw(st.lists(one_of(TEXTS), max_size=1))]
        calls = [
            {"id": f"call_«{number}»", "name": draw(one_of(TOOL_NAMES)), "args": draw(one_of(OBJECTS))}
            for number in range(draw(st.integers(1, 3)))
        ]
        results = [
            {
                "id": call["id"],
                "name": call["name"],
                "response": {draw(one_of(["output", "result"])): draw(one_of(TEXTS))},
            }
            for call in calls
        ]
        turn: list[Message] = [
            {"role": "user", "parts": [{"text": draw(one_of(TEXTS))}]},
            {"role": "model", "parts": [*said, *({"functionCall": call} for call in calls)]},
            {"role": "user", "parts": [{"functionResponse": result} for result in results]},
            {"role": "model", "parts": [{"text": draw(one_of(CLOSING_TEXTS))}]},
        ]
        messages = [*messages, *scoped(turn, scope)]
    return [*messages, {"role": "user", "parts": [{"text": draw(one_of(TEXTS))}]}]


_DECLARED = {
    "name": "search",
    "description": "«»",
    "parameters": {"type": "OBJECT", "properties": {"q": {"type": "STRING", "description": "«»"}}},
}
_SCHEMA = {"type": "object", "title": "«»"}
_PARAMETERS: list[dict[str, Any]] = [
    {},
    {"systemInstruction": {"parts": [{"text": "be brief «»"}]}},
    {"system_instruction": {"role": "user", "parts": [{"text": "«»"}, {"text": "«»"}]}},
    {"tools": [{"functionDeclarations": [_DECLARED]}], "toolConfig": {"functionCallingConfig": {"mode": "AUTO"}}},
    {
        "tools": [{"functionDeclarations": [_DECLARED]}, {"googleSearch": {}}],
        "tool_config": {"function_calling_config": {"mode": "ANY", "allowed_function_names": ["search"]}},
    },
    {"generationConfig": {"temperature": 0.5, "topK": 3, "stopSequences": ["«»"], "maxOutputTokens": 100, "seed": 7}},
    {"generationConfig": {"responseMimeType": "application/json", "responseJsonSchema": _SCHEMA}},
    {"generationConfig": {"thinkingConfig": {"thinkingLevel": "LOW", "includeThoughts": True}, "candidateCount": 1}},
    {"cachedContent": "cachedContents/«!google»", "labels": {"k": "«»"}},
    {"safetySettings": [{"category": "HARM_CATEGORY_HARASSMENT", "threshold": "BLOCK_NONE"}]},
]


def _body(messages: list[Message]) -> st.SearchStrategy[dict[str, Any]]:
    # Gemini has its model in the URL; in a store it stands in the body, and other providers want it there.
    return one_of(_PARAMETERS).map(lambda extras: {"model": "some-model", **extras, "contents": messages})


def _sequence(messages: list[Message]) -> list[tuple[str, str]]:
    found: list[tuple[str, str]] = []
    for message in messages:
        role = "assistant" if message.get("role") == "model" else "user"
        # An empty answer is a turn too: what was invented behind it is not settled.
        found.extend((role, written(part)) for part in message.get("parts") or [{}])
    return found


SPOKEN = Spoken(
    name="gemini",
    list_name="contents",
    user=_user(),
    assistant=_assistant(),
    tool_turn=_tool_turn(),
    system=st.just([]),
    plain=_plain(),
    body=_body,
    blocks=one_of(
        [
            *_TEXT_PARTS,
            *_MEDIA_PARTS,
            *_THOUGHTS,
            *_SAID[1:],
            *_RAN,
            {"functionCall": {"name": "search", "args": {"q": "«»"}}},
            {"functionCall": {"id": "call_«»", "name": "search"}, "thoughtSignature": _SIGNATURE},
            {"functionResponse": {"name": "search", "response": {"output": "«»"}}},
        ]
    ),
    orphan=[{"role": "user", "parts": [{"functionResponse": {"name": "search", "response": {"output": "«»"}}}]}],
    first=[{"role": "user", "parts": [{"text": "«»"}]}],
    late_system=False,
    sequence=_sequence,
)
