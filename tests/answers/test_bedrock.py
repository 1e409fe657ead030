"""Answers and streams for clients of Converse, judged by botocore: its parser and its service model take what we write, and miss no member
of it. Not here: recorded answers (test_recorded.py), and the binary frames of the stream, which its transport makes."""

from __future__ import annotations

import base64
import copy
import json
from typing import Any

import botocore.session  # type: ignore[import-untyped]
import pytest
from botocore.model import Shape  # type: ignore[import-untyped]
from botocore.parsers import RestJSONParser  # type: ignore[import-untyped]

import sendable
from sendable.stream import WireEvent
from tests.answers.spoken import BEDROCK, SPOKEN
from tests.answers.test_anthropic import streamed

SERVICE = botocore.session.get_session().get_service_model("bedrock-runtime")
WHOLE = SERVICE.operation_model("Converse").output_shape
EVENTS = SERVICE.operation_model("ConverseStream").output_shape.members["stream"].members


def wrong(shape: Shape, value: Any, place: str = "") -> list[str]:
    """Where a value is not what the service model says: members it does not know, required ones that are missing, other types and words."""
    kind = shape.type_name
    if kind == "structure" and not getattr(shape, "is_document_type", False):
        if not isinstance(value, dict):
            return [f"{place}: no object"]
        out = [f"{place}.{key}: missing" for key in shape.required_members if key not in value]
        out += [f"{place}.{key}: unknown" for key in value if key not in shape.members]
        if getattr(shape, "is_tagged_union", False) and len(value) != 1:
            out.append(f"{place}: {len(value)} members of a union")
        known = [key for key in value if key in shape.members]
        return out + [one for key in known for one in wrong(shape.members[key], value[key], f"{place}.{key}")]
    if kind == "list":
        if not isinstance(value, list):
            return [f"{place}: no list"]
        return [one for index, part in enumerate(value) for one in wrong(shape.member, part, f"{place}[{index}]")]
    if kind in ("string", "blob"):
        words = getattr(shape, "enum", [])
        return [] if isinstance(value, str) and (not words or value in words) else [f"{place}: {value!r}"]
    if kind in ("integer", "long"):
        return [] if type(value) is int and value >= 0 else [f"{place}: {value!r}"]
    return []


def parsed(body: Any) -> Any:
    """A body as the official client gives it to its caller."""
    response = {"body": json.dumps(body).encode(), "headers": {}, "status_code": 200}
    found = RestJSONParser().parse(response, WHOLE)
    del found["ResponseMetadata"]
    for block in found["output"]["message"]["content"]:
        said = block.get("reasoningContent", {})
        if "redactedContent" in said:
            said["redactedContent"] = base64.b64encode(said["redactedContent"]).decode()
    return found


def put_together(wire: list[WireEvent]) -> Any:
    """The message of a stream, as AWS's examples put it together: text and input by their index, the rest as it comes."""
    blocks: dict[int, dict[str, Any]] = {}
    open_at: int | None = None
    for event in wire:
        ((name, fields),) = event.data.items()
        if name == "contentBlockStart":
            blocks[fields["contentBlockIndex"]] = {"toolUse": {**fields["start"]["toolUse"], "input": ""}}
        elif name == "contentBlockDelta":
            index, delta = fields["contentBlockIndex"], fields["delta"]
            assert open_at in (None, index)
            open_at = index
            if "text" in delta:
                block = blocks.setdefault(index, {"text": ""})
                block["text"] += delta["text"]
            elif "toolUse" in delta:
                blocks[index]["toolUse"]["input"] += delta["toolUse"]["input"]
            else:
                said = blocks.setdefault(index, {"reasoningContent": {"reasoningText": {}}})["reasoningContent"]
                for key, value in delta["reasoningContent"].items():
                    held = said if key == "redactedContent" else said["reasoningText"]
                    held[key] = held.get(key, "") + value
        elif name == "contentBlockStop":
            open_at = None
    for block in blocks.values():
        if "toolUse" in block:
            block["toolUse"]["input"] = json.loads(block["toolUse"]["input"])
        said = block.get("reasoningContent", {})
        if "redactedContent" in said:
            del said["reasoningText"]
    return [blocks[index] for index in sorted(blocks)]


@pytest.mark.parametrize("dialect", sorted(SPOKEN))
def test_the_official_client_reads_an_answer_of_every_dialect(dialect: str) -> None:
    response = sendable.read_response(copy.deepcopy(SPOKEN[dialect].answer), dialect)
    body = sendable.write_response(response, "bedrock-converse").body
    assert wrong(WHOLE, body) == []
    got = parsed(body)
    assert got == body
    calls = [block["toolUse"]["name"] for block in got["output"]["message"]["content"] if "toolUse" in block]
    assert calls == ["look", "look"]
    assert got["stopReason"] == "tool_use"


@pytest.mark.parametrize("dialect", sorted(SPOKEN))
def test_a_stream_for_its_clients_is_of_the_service_and_puts_the_same_message_together(dialect: str) -> None:
    wire = streamed(dialect, "bedrock-converse")
    for event in wire:
        ((name, fields),) = event.data.items()
        assert name == event.name
        assert wrong(EVENTS[name], fields, name) == []
    assert [event.name for event in (wire[0], *wire[-2:])] == ["messageStart", "messageStop", "metadata"]
    response = sendable.read_response(copy.deepcopy(SPOKEN[dialect].answer), dialect)
    whole = sendable.write_response(response, "bedrock-converse").body
    assert put_together(wire) == whole["output"]["message"]["content"]
    assert wire[-2].data["messageStop"]["stopReason"] == whole["stopReason"]
    assert wire[-1].data["metadata"]["usage"] == whole["usage"]


def test_what_has_no_place_in_converse_is_reported() -> None:
    response = sendable.read_response(copy.deepcopy(SPOKEN["anthropic"].answer), "anthropic")
    entries = sendable.write_response(response, "bedrock-converse").report.entries
    assert {"id", "model"} <= {entry.param for entry in entries if entry.code == "RSP008"}


@pytest.mark.parametrize("name", ["throttlingException", "modelStreamErrorException"])
def test_an_exception_in_the_middle_is_told_as_one(name: str) -> None:
    reader, writer = sendable.StreamReader("bedrock-converse"), sendable.StreamWriter("bedrock-converse")
    wire: list[dict[str, Any]] = [
        {"messageStart": {"role": "assistant"}},
        {"contentBlockDelta": {"delta": {"text": "Hel"}, "contentBlockIndex": 0}},
        {name: {"message": "too much"}},
    ]
    sent = [one for data in wire for event in reader.feed(data) for one in writer.feed(event)]
    assert sent[-1] == WireEvent(name, {name: {"message": "too much"}})
    assert wrong(EVENTS[name], sent[-1].data[name]) == []


def test_sealed_reasoning_and_citations_are_blocks_of_their_own() -> None:
    citation = {"title": "notes", "location": {"documentChar": {"documentIndex": 0, "start": 1, "end": 4}}}
    deltas = [
        (0, {"reasoningContent": {"redactedContent": "c2VhbGVk"}}),
        (1, {"text": "As noted."}),
        (1, {"citation": citation}),
    ]
    wire: list[dict[str, Any]] = [{"messageStart": {"role": "assistant"}}]
    for index, delta in deltas:
        wire.append({"contentBlockDelta": {"delta": delta, "contentBlockIndex": index}})
    wire += [{"contentBlockStop": {"contentBlockIndex": index}} for index in (0, 1)]
    wire += [{"messageStop": {"stopReason": "end_turn"}}, {"metadata": {"usage": BEDROCK.answer["usage"]}}]
    reader, assembler = sendable.StreamReader("bedrock-converse"), sendable.Assembler("bedrock-converse")
    for event in [*(event for data in wire for event in reader.feed(data)), *reader.close()]:
        assembler.feed(event)
    (message,) = assembler.response().to_history()
    assert message["content"] == [
        {"reasoningContent": {"redactedContent": "c2VhbGVk"}},
        {"citationsContent": {"content": [{"text": "As noted."}], "citations": [citation]}},
    ]
