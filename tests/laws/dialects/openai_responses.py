"""Generated histories in the dialect `openai-responses`: the items that api.openai.com takes back, with and without ids and types."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import strategies as st

from tests.laws.dialects.spoken import (
    CLOSING_TEXTS,
    OBJECTS,
    PDF,
    PNG,
    TEXTS,
    TOOL_NAMES,
    Message,
    Spoken,
    Step,
    one_of,
    written,
)
from tests.laws.leaves import scoped

_TEXT_PARTS: list[dict[str, Any]] = [
    {"type": "input_text", "text": "«»"},
    {"type": "input_text", "text": "see «»\n"},
    {"type": "input_text", "text": "«»", "prompt_cache_breakpoint": {"mode": "explicit"}},
]
_MEDIA_PARTS: list[dict[str, Any]] = [
    {"type": "input_image", "detail": "auto", "image_url": f"data:image/png;base64,{PNG}«»"},
    {"type": "input_image", "detail": "low", "image_url": "https://example.com/«».png"},
    {"type": "input_image", "detail": "auto", "file_id": "file-«!openai»"},
    {"type": "input_file", "filename": "«».pdf", "file_data": f"data:application/pdf;base64,{PDF}«»"},
    {"type": "input_file", "file_url": "https://example.com/«».pdf"},
    {"type": "input_file", "file_id": "file-«!openai»"},
]
_SAID: list[dict[str, Any]] = [
    {"type": "output_text", "text": "«»", "annotations": []},
    {"type": "output_text", "text": "«» 日本語", "annotations": [], "logprobs": []},
    {
        "type": "output_text",
        "text": "«»",
        "annotations": [
            {"type": "url_citation", "url": "https://example.com/«»", "title": "«»", "start_index": 0, "end_index": 1}
        ],
    },
    {"type": "refusal", "refusal": "«»"},
]
_HOSTED: list[dict[str, Any]] = [
    {"type": "web_search_call", "id": "ws_«»", "status": "completed", "action": {"type": "search", "query": "«»"}},
    {"type": "file_search_call", "id": "fs_«»", "status": "completed", "queries": ["«»"], "results": None},
    {
        "type": "code_interpreter_call",
        "id": "ci_«»",
        "status": "completed",
        "code": "print('«»')",
        "container_id": "cntr_«!openai»",
        "outputs": [{"type": "logs", "logs": "«»"}],
    },
    {"type": "image_generation_call", "id": "ig_«»", "status": "completed", "result": f"{PNG}«»"},
    {"type": "mcp_call", "id": "mcp_«»", "name": "search", "server_label": "«»", "arguments": "{}", "output": "«»"},
    {"type": "additional_tools", "role": "developer", "tools": [{"type": "local_shell"}]},
    {"type": "configuration_update", "reasoning": {"effort": "low"}},
    {"type": "item_reference", "id": "msg_«!openai»"},
    {"type": "compaction", "id": "cmp_«»", "encrypted_content": "gAAAA«!openai»"},
]


def _reasoning(number: int) -> st.SearchStrategy[dict[str, Any]]:
    identity = f"rs_«r{number}»"
    return one_of(
        [
            {"type": "reasoning", "id": identity, "summary": [], "encrypted_content": "gAAAA«!openai»"},
            {"type": "reasoning", "id": identity, "summary": [{"type": "summary_text", "text": "«»"}]},
            {
                "type": "reasoning",
                "id": identity,
                "summary": [{"type": "summary_text", "text": "«»"}, {"type": "summary_text", "text": "«»"}],
                "content": None,
                "encrypted_content": "gAAAA«!openai»",
            },
            {"type": "reasoning", "id": identity, "summary": [], "content": []},
        ]
    )


def _output(number: int) -> st.SearchStrategy[Any]:
    return st.one_of(one_of([*TEXTS, ""]), st.lists(one_of([*_TEXT_PARTS, *_MEDIA_PARTS]), min_size=1, max_size=2))


@st.composite
def _message(draw: st.DrawFn, number: int = 0) -> dict[str, Any]:
    """What the assistant said, in each of the forms that it has."""
    shape = draw(st.integers(0, 3))
    if shape == 0:
        return {"role": "assistant", "content": draw(one_of(CLOSING_TEXTS))}
    content = draw(st.lists(one_of(_SAID), min_size=1, max_size=2))
    phase = draw(one_of([{}, {}, {"phase": "commentary"}, {"phase": "final_answer"}]))
    if shape == 1:
        return {"type": "message", "role": "assistant", "content": content, **phase}
    return {
        "type": "message",
        "id": f"msg_«m{number}»",
        "status": "completed",
        "role": "assistant",
        "content": content,
        **phase,
    }


@st.composite
def _tool_turn(draw: st.DrawFn) -> Step:
    items: list[Message] = []
    results: list[Message] = []
    if draw(st.booleans()):
        items.append(draw(_reasoning(0)))
    if draw(st.integers(0, 2)) == 2:
        items.append(draw(_message(0)))
    for number in range(draw(st.integers(1, 3))):
        identity, name = f"call_«{number}»", draw(one_of(TOOL_NAMES))
        kind = draw(st.integers(0, 7))
        if kind == 7:
            command = {"type": "exec", "command": ["ls", "«»"], "env": {}}
            items.append(
                {
                    "type": "local_shell_call",
                    "id": f"lsh_«i{number}»",
                    "call_id": identity,
                    "status": "completed",
                    "action": command,
                }
            )
            results.append({"type": "local_shell_call_output", "id": identity, "output": "«»"})
        elif kind == 6:
            call = {"type": "custom_tool_call", "call_id": identity, "name": name, "input": "raw «»"}
            items.append({**call, **draw(one_of([{}, {"id": f"ctc_«i{number}»"}, {"namespace": "space"}]))})
            for _ in range(draw(st.integers(1, 2))):
                results.append(
                    {"type": "custom_tool_call_output", "call_id": identity, "output": draw(_output(number))}
                )
        else:
            text = json.dumps(draw(one_of(OBJECTS)), ensure_ascii=False, indent=draw(one_of([None, None, 1])))
            extras: list[dict[str, Any]] = [
                {},
                {"id": f"fc_«i{number}»", "status": "completed"},
                {"id": f"fc_«i{number}»", "namespace": "space"},
            ]
            items.append(
                {"type": "function_call", "call_id": identity, "name": name, "arguments": text, **draw(one_of(extras))}
            )
            results.append({"type": "function_call_output", "call_id": identity, "output": draw(_output(number))})
    if draw(st.booleans()):
        results.reverse()
    return [*items, *results]


@st.composite
def _user(draw: st.DrawFn) -> Step:
    if draw(st.booleans()):
        return [{"role": "user", "content": draw(one_of([*TEXTS, ""]))}]
    content = draw(st.lists(one_of([*_TEXT_PARTS, *_MEDIA_PARTS]), min_size=1, max_size=3))
    return [draw(one_of([{}, {"type": "message"}])) | {"role": "user", "content": content}]


@st.composite
def _assistant(draw: st.DrawFn) -> Step:
    items: Step = []
    for number in range(draw(st.integers(0, 2))):
        items.append(draw(_reasoning(number)))
        if draw(st.integers(0, 2)) == 0:
            items.append(draw(one_of(_HOSTED[:5])))
    if draw(st.integers(0, 5)) == 0:
        return [draw(one_of(_HOSTED))]
    return [*items, draw(_message(0))]


@st.composite
def _plain(draw: st.DrawFn) -> list[Message]:
    messages: list[Message] = [{"role": "system", "content": draw(one_of(TEXTS))}] if draw(st.booleans()) else []
    for scope in range(draw(st.integers(1, 3))):
        said = draw(st.lists(one_of(TEXTS).map(lambda text: {"role": "assistant", "content": text}), max_size=1))
        calls = [
            {
                "type": "function_call",
                "call_id": f"call_«{number}»",
                "name": draw(one_of(TOOL_NAMES)),
                "arguments": json.dumps(draw(one_of(OBJECTS))),
            }
            for number in range(draw(st.integers(1, 3)))
        ]
        turn: list[Message] = [
            {"role": "user", "content": draw(one_of(TEXTS))},
            *said,
            *calls,
            *(
                {"type": "function_call_output", "call_id": call["call_id"], "output": draw(one_of(TEXTS))}
                for call in calls
            ),
            {"role": "assistant", "content": draw(one_of(CLOSING_TEXTS))},
        ]
        messages = [*messages, *scoped(turn, scope)]
    return messages


_TOOL = {
    "type": "function",
    "name": "search",
    "description": "«»",
    "parameters": {"type": "object", "properties": {"q": {"type": "string"}}},
    "strict": None,
}
_SCHEMA = {"type": "json_schema", "name": "answer", "schema": {"type": "object", "title": "«»"}, "strict": False}
_PARAMETERS: list[dict[str, Any]] = [
    {},
    {"instructions": "be brief «»"},
    {"temperature": 0.5, "max_output_tokens": 100},
    {"tools": [_TOOL], "tool_choice": "auto"},
    {"tools": [_TOOL, {"type": "web_search"}], "parallel_tool_calls": False, "metadata": {"k": "«»"}},
    {"reasoning": {"effort": "low", "summary": "auto"}, "text": {"format": _SCHEMA, "verbosity": "low"}},
    {"safety_identifier": "«»", "stream": True, "truncation": "auto", "include": ["reasoning.encrypted_content"]},
    {"previous_response_id": "resp_«!openai»"},
]


def _body(messages: list[Message]) -> st.SearchStrategy[dict[str, Any]]:
    return one_of(_PARAMETERS).map(lambda extras: {"model": "some-model", "input": messages, **extras})


def _sequence(messages: list[Message]) -> list[tuple[str, str]]:
    found: list[tuple[str, str]] = []
    for message in messages:
        kind = message.get("type", "message")
        if kind != "message":
            found.append(("tool" if kind.endswith("_output") else "assistant", written(message)))
            continue
        content, role = message.get("content"), message["role"]
        found.extend((role, written(part)) for part in (content if isinstance(content, list) else [content]))
        rest = {key: value for key, value in message.items() if key not in ("role", "content", "type")}
        found.extend((role, written({key: rest[key]})) for key in sorted(rest))
    return found


SPOKEN = Spoken(
    name="openai-responses",
    list_name="input",
    user=_user(),
    assistant=_assistant(),
    tool_turn=_tool_turn(),
    system=st.tuples(
        one_of(["system", "developer"]), st.one_of(one_of(TEXTS), st.lists(one_of(_TEXT_PARTS), min_size=1, max_size=2))
    ).map(lambda pair: [{"role": pair[0], "content": pair[1]}]),
    plain=_plain(),
    body=_body,
    blocks=one_of([*_TEXT_PARTS, *_MEDIA_PARTS, *_SAID]),
    orphan=[{"type": "function_call_output", "call_id": "call_«»", "output": "«»"}],
    first=[{"role": "user", "content": "«»"}],
    late_system=True,
    sequence=_sequence,
)
