"""The judge of the dialect `flat`: the exact shape of design 5.1, the pairing of 5.3 and the order of 5.2. Written from the document, not from the library."""

from __future__ import annotations

from typing import Any

from tests.judges.findings import Finding, Findings, transport

_MESSAGE_KEYS = {"role", "content", "tool_calls", "tool_call_id"}
_CALL_KEYS = {"tool_call_id", "name", "arguments"}


def judge(messages: Any) -> list[Finding]:
    """Every rule of the dialect that the list breaks."""
    return [*transport(messages), *_shape(messages)] or list(_pairing(messages))


def _shape(messages: Any) -> Findings:
    if not isinstance(messages, list):
        yield Finding("5.1", "", "not a list")
        return
    for index, message in enumerate(messages):
        at = f"[{index}]"
        if not isinstance(message, dict):
            yield Finding("5.1 shape", at, "an entry that is not an object")
            continue
        for key in message.keys() - _MESSAGE_KEYS:
            yield Finding("5.1 flat", at, f"no place for the key {key!r}")
        if not isinstance(message.get("role"), str) or not message["role"]:
            yield Finding("5.1 role", at, "no usable role")
        if not isinstance(message.get("content"), str):
            yield Finding("5.1 content", at, "content is not a string")
        if "tool_call_id" in message and not _usable(message["tool_call_id"]):
            yield Finding("5.3 ids", at, "the result's id is not usable")
        if message.get("role") == "tool" and "tool_call_id" not in message:
            yield Finding("5.3 results", at, "a tool message that answers nothing")
        if "tool_calls" in message:
            yield from _calls(message["tool_calls"], at)


def _calls(calls: Any, at: str) -> Findings:
    if not isinstance(calls, list) or not calls:
        yield Finding("5.4", at, "tool_calls is not a list with calls in it")
        return
    for number, call in enumerate(calls):
        where = f"{at}.tool_calls[{number}]"
        if not isinstance(call, dict):
            yield Finding("5.1 flat", where, "a call that is not an object")
            continue
        for key in call.keys() - _CALL_KEYS:
            yield Finding("5.1 flat", where, f"no place for the key {key!r}")
        if not _usable(call.get("tool_call_id")):
            yield Finding("5.3 ids", where, "the call's id is not usable")
        if not isinstance(call.get("name"), str) or not call["name"].strip():
            yield Finding("5.3 ids", where, "the call has no usable name")


def _usable(identity: Any) -> bool:
    return isinstance(identity, str) and bool(identity.strip()) and identity != "0"


def _pairing(messages: list[Any]) -> Findings:
    declared: set[str] = set()
    open_ids: list[str] = []
    conversation = False
    for index, message in enumerate(messages):
        at = f"[{index}]"
        if message["role"] in ("system", "developer"):
            if conversation:
                yield Finding("5.2", at, "a system message after the conversation began")
        else:
            conversation = True
        if "tool_call_id" in message:
            if message["tool_call_id"] in open_ids:
                open_ids.remove(message["tool_call_id"])
            else:
                yield Finding("5.3 results", at, "a result that no call of the turn before it waits for")
        elif open_ids:
            yield Finding("5.3 unanswered", at, f"calls without a result: {open_ids}")
            open_ids = []
        for call in message.get("tool_calls", ()):
            if call["tool_call_id"] in declared:
                yield Finding("5.3 declarations", at, "an id is declared twice")
            declared.add(call["tool_call_id"])
            open_ids.append(call["tool_call_id"])
    if open_ids:
        yield Finding("5.3 unanswered", f"[{len(messages)}]", f"calls without a result: {open_ids}")
