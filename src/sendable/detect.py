"""Which dialect a history is in: from its own shape, never from a guess about who wrote it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from sendable import everyday, payload
from sendable.codes import SHP007
from sendable.dialects import Dialect
from sendable.paths import At
from sendable.report import Ledger

DEFAULT = "openai-chat"

_DATED = re.compile(r"_20\d{6}\Z")
"""How only Anthropic names the tools that it defines: `web_search_20250305`."""


def detect(history: Any, dialects: Mapping[str, Dialect], ledger: Ledger | None = None) -> str | None:
    """The dialect of a history, or None if nothing in it decides.

    A body by its own keys; a list by its first call, else by its first block that only one dialect has. Calls of two dialects leave it
    open: the ledger, if one is given, then says where both stand.

    Loses: SHP007 (a fault).
    """
    body = payload.fields(history)
    if body is not None:
        by_key = _by_keys(body, dialects)
        if by_key is not None:
            return by_key
        listed = next(
            (body[key] for key in ("messages", "input", "contents") if payload.items(body.get(key)) is not None), None
        )
    else:
        listed = history
    first: tuple[str, At] | None = None
    by_block: str | None = None
    for name, at, is_call in _signs(listed, dialects):
        if not is_call:
            by_block = by_block or name
        elif first is None:
            first = (name, at)
            if ledger is None:
                break
        elif first[0] != name and ledger is not None:
            ledger.fault(SHP007, at, related=(first[1],), one=first[0], other=name)
            return first[0]
    return first[0] if first is not None else by_block


def by_body(history: Any, dialects: Mapping[str, Dialect]) -> str | None:
    """The dialect of a body by its own keys, or None: for a list, or where no key decides.

    What no key and no shape of its own decides is read as the target's own: never by a message that comes later, so that a longer
    history is read as the shorter one was.
    """
    body = payload.fields(history)
    return None if body is None else _by_keys(body, dialects)


def _by_keys(body: Mapping[str, Any], dialects: Mapping[str, Dialect]) -> str | None:
    if "contents" in body:
        return "gemini"
    if "input" in body:
        return "openai-responses"
    if "toolConfig" in body or "inferenceConfig" in body or "modelId" in body:
        return "bedrock-converse"
    if "system" in body:
        # Both Anthropic and Converse have this field; a block without a `type` is Converse's.
        first = next((name for name, _, _ in _signs(body.get("messages"), dialects)), None)
        inside = [_keyed_owner(payload.fields(block) or {}, dialects) for block in payload.items(body["system"]) or ()]
        return "bedrock-converse" if "bedrock-converse" in (first, *inside[:1]) else "anthropic"
    for dialect in dialects.values():
        if not dialect.body_keys.isdisjoint(body):
            return dialect.name
    tools = payload.items(body.get("tools"))
    for tool in tools or ():
        fields = payload.fields(tool) or {}
        if "input_schema" in fields or _DATED.search(payload.string(fields.get("type")) or ""):
            return "anthropic"
        if "function" in fields or payload.fields(fields.get("custom")) is not None:
            return "openai-chat"
    return None


def _keyed_owner(block: Mapping[str, Any], dialects: Mapping[str, Dialect]) -> str | None:
    """The one dialect that has a block without a `type` in its list of content, told by the key that says its kind."""
    if "type" in block:
        return None
    owners = [
        dialect.name
        for dialect in dialects.values()
        if dialect.claims is None and not dialect.keyed.keys().isdisjoint(block)
    ]
    return owners[0] if len(owners) == 1 else None


def _signs(listed: Any, dialects: Mapping[str, Dialect]) -> Iterator[tuple[str, At, bool]]:
    """Every call and every block that only one dialect has, in order: its dialect, its place, whether it is a call."""
    entries = payload.items(listed) or ()
    for index, entry in enumerate(entries):
        fields = everyday.fields(entry) if everyday.is_everyday(entries) else payload.fields(entry)
        if fields is None:
            continue  # keeps: only looks
        if "type" in fields or "parts" in fields:
            for dialect in dialects.values():
                if dialect.claims is not None and dialect.is_call is not None and dialect.claims(fields):
                    yield dialect.name, ("messages", index), dialect.is_call(fields)
        for number, call in enumerate(payload.items(fields.get("tool_calls")) or ()):
            call_fields = payload.fields(call) or {}
            if "function" in call_fields or "custom" in call_fields:
                yield "openai-chat", ("messages", index, "tool_calls", number), True
            elif "tool_call_id" in call_fields:
                yield "flat", ("messages", index, "tool_calls", number), True
        if payload.fields(fields.get("function_call")) is not None:
            yield "openai-chat", ("messages", index, "function_call"), True
        for number, block in enumerate(payload.items(fields.get("content")) or ()):
            block_fields = payload.fields(block) or {}
            kind = payload.string(block_fields.get("type"))
            if kind is None:
                owner = _keyed_owner(block_fields, dialects)
                if owner is not None:
                    yield owner, ("messages", index, "content", number), "toolUse" in block_fields
                continue  # keeps: only looks
            owners = [dialect.name for dialect in dialects.values() if kind in dialect.blocks]
            if len(owners) == 1:
                yield owners[0], ("messages", index, "content", number), kind == "tool_use"
        if payload.string(fields.get("reasoning_content")):
            yield "openai-chat", ("messages", index), False
