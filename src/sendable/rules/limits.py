"""LIM: limits of size and count. Last, since everything before changes what is counted."""

from __future__ import annotations

from typing import Any, TypeAlias, TypeGuard

import msgspec

from sendable import payload
from sendable.codes import LIM001, LIM002, LIM003
from sendable.conversation import (
    EXTRA,
    Block,
    Conversation,
    Message,
    Opaque,
    Setting,
    Text,
    ToolCall,
    ToolResult,
    changed,
)
from sendable.report import Ledger
from sendable.rules import Rule, lacks, with_messages

CUT = " … [cut: {} of {} characters] … "


def cache_marks(most: int, key: str) -> Rule:
    """At most so many cache marks, each of them one that the target knows: the first one and the last ones are kept, since they stand for the longest prefixes.

    Source: «A maximum of 4 blocks with cache_control may be provided. Found 5.» (AN22).

    Loses: LIM001.
    """

    def cache_marks(conversation: Conversation, ledger: Ledger) -> Conversation:
        marked: list[Mark] = []
        over: set[Mark] = set()

        def count(node: Block | Setting, value: object, part: int | None = None) -> None:
            if _is_mark(value):
                marked.append((id(node), part))
            else:
                over.add((id(node), part))

        for setting in conversation.settings:
            fields = payload.fields(setting.raw) if setting.name in ("tool", "native_tool") else None
            if fields is not None and not payload.is_null(fields.get(key)):
                count(setting, fields[key])
            elif setting.name == "tool" and setting.extra is not None and not payload.is_null(setting.extra.get(key)):
                count(setting, setting.extra[key])
        for message in () if lacks(conversation, EXTRA) else conversation.messages:
            for outer in message.blocks:
                for block in (outer, *(outer.content if type(outer) is ToolResult else ())):
                    if _is_raw(block):
                        for part, value in _marks_inside(block, key):
                            count(block, value, part)
                    if block.extra is not None and not payload.is_null(block.extra.get(key)):
                        count(block, block.extra[key])
        over.update(marked[1 : len(marked) - (most - 1)] if len(marked) > most else ())
        if not over:
            return conversation
        settings = tuple([_unmarked_tool(setting, over, key, ledger) for setting in conversation.settings])
        conversation = msgspec.structs.replace(conversation, settings=settings)
        out: list[Message] = []
        for message in conversation.messages:
            blocks = tuple([_unmarked(block, over, key, ledger) for block in message.blocks])
            if any(a is not b for a, b in zip(blocks, message.blocks, strict=True)):
                message = changed(message, blocks=blocks)
            out.append(message)
        return with_messages(conversation, out)

    return cache_marks


Mark: TypeAlias = tuple[int, int | None]
"""A cache mark: the block or tool that carries it, and which part of its content, if the part carries it."""


def _is_raw(block: Block) -> TypeGuard[Opaque | ToolResult]:
    """Whether a block has content that the hub does not model: an opaque kind, or the result of a server's tool."""
    return type(block) is Opaque or (type(block) is ToolResult and block.executor == "provider")


def _marks_inside(block: Opaque | ToolResult, key: str) -> list[tuple[int, object]]:
    """The marks on the parts of a block that the hub does not model, such as a search result."""
    out: list[tuple[int, object]] = []
    for index, part in enumerate(payload.items((payload.fields(block.raw) or {}).get("content")) or ()):
        value = (payload.fields(part) or {}).get(key)
        if not payload.is_null(value):
            out.append((index, value))
    return out


def _is_mark(value: object) -> bool:
    """Whether a mark is one: `{"type": "ephemeral"}`, with a `ttl` of 5m or 1h (AN23)."""
    fields = payload.fields(value) or {}
    return (
        fields.keys() <= {"type", "ttl"}
        and payload.string(fields.get("type")) == "ephemeral"
        and payload.string(fields.get("ttl")) in (None, "5m", "1h")
    )


def _unmarked_tool(setting: Setting, over: set[Mark], key: str, ledger: Ledger) -> Setting:
    if (id(setting), None) not in over:
        return setting
    ledger.strip(LIM001, setting, (key,))
    raw = {
        name: value for name, value in (payload.fields(setting.raw) or {}).items() if name != key
    }  # keeps: reported above
    extra = {name: value for name, value in (setting.extra or {}).items() if name != key}  # keeps: reported above
    return msgspec.structs.replace(setting, raw=raw, extra=extra or None)


def _unmarked(block: Block, over: set[Mark], key: str, ledger: Ledger) -> Block:
    marked = (id(block), None) in over
    if type(block) is ToolResult:
        content = tuple([_unmarked(inner, over, key, ledger) for inner in block.content])
        if any(a is not b for a, b in zip(content, block.content, strict=True)):
            block = changed(block, content=content)
    if _is_raw(block):
        parts = [part for part, _ in _marks_inside(block, key) if (id(block), part) in over]  # keeps: only looks
        if parts:
            block = _unmarked_parts(block, parts, key, ledger)
    if not marked or block.extra is None:
        return block
    ledger.strip(LIM001, block, (key,))
    rest = {name: value for name, value in block.extra.items() if name != key}  # keeps: the line above reports it
    unmarked: Block = changed(block, extra=rest or None)
    return unmarked


def _unmarked_parts(block: Opaque | ToolResult, parts: list[int], key: str, ledger: Ledger) -> Opaque | ToolResult:
    content = list(payload.items(payload.members(block.raw)["content"]) or ())
    for part in parts:
        ledger.strip(LIM001, block, ("content", part, key))
        content[part] = {
            name: value for name, value in (payload.fields(content[part]) or {}).items() if name != key
        }  # keeps: reported
    return changed(block, raw={**payload.members(block.raw), "content": content})


def text_length(most: int) -> Rule:
    """No text longer than so many characters: head and tail are kept, and the cut is said in between.

    Source: «string too long. Expected a string with maximum length 10485760» (OR29).

    Loses: LIM002.
    """

    def text_length(conversation: Conversation, ledger: Ledger) -> Conversation:
        out: list[Message] = []
        touched = False
        for message in conversation.messages:
            blocks = tuple([_cut(block, most, ledger) for block in message.blocks])
            if any(a is not b for a, b in zip(blocks, message.blocks, strict=True)):
                message = changed(message, blocks=blocks)
                touched = True
            out.append(message)
        return with_messages(conversation, out) if touched else conversation

    return text_length


def _cut(block: Block, most: int, ledger: Ledger) -> Block:
    if type(block) is ToolResult:
        content = tuple([_cut(inner, most, ledger) for inner in block.content])
        return (
            changed(block, content=content)
            if any(a is not b for a, b in zip(content, block.content, strict=True))
            else block
        )
    if type(block) is not Text or payload.length(block.text) <= most:
        return block
    text = payload.string(block.text) or ""
    # The mark takes room of its own, and its length hangs on the number in it.
    mark = CUT.format(len(text), len(text))
    room = max(most - len(mark), 0)
    mark = CUT.format(len(text) - room, len(text))
    head = text[: (room + 1) // 2]
    tail = text[len(text) - room // 2 :] if room // 2 else ""
    short = (head + mark + tail)[:most]
    ledger.degrade(LIM002, block, None, was=len(text), now=len(short))
    shorter: Block = changed(
        block, text=payload.quoted(short, block.text), raw=None if type(block.raw) is not dict else block.raw
    )
    return shorter


def calls_per_message(most: int) -> Rule:
    """At most so many calls in one assistant message: it is split, each part followed by its own results; the content stays in the first.

    Source: `max_tool_calls_per_message`, and «tool call result does not follow tool call (2013)» (MiniMax, one call a turn).

    Loses: LIM003 (a move, once for a message).
    """

    def calls_per_message(conversation: Conversation, ledger: Ledger) -> Conversation:
        messages = conversation.messages
        if not any(len(_calls(message)) > most for message in messages):
            return conversation
        out: list[Message] = []
        index = 0
        while index < len(messages):
            message = messages[index]
            index += 1
            calls = _calls(message)
            if len(calls) <= most:
                out.append(message)
                continue  # keeps: the line above
            ledger.move(LIM003, message, calls=len(calls))
            following: list[Message] = []
            while index < len(messages) and any(_is_result(block) for block in messages[index].blocks):
                following.append(messages[index])
                index += 1
            _split(message, calls, following, most, out)
        return with_messages(conversation, out)

    return calls_per_message


def _calls(message: Message) -> list[ToolCall]:
    """The calls of a message that the client executes: the provider's own stay with their results in one message."""
    return [
        block for block in message.blocks if type(block) is ToolCall and block.executor == "client"
    ]  # keeps: only looks


def _is_result(block: Block) -> TypeGuard[ToolResult]:
    return type(block) is ToolResult and block.executor == "client"


def _split(message: Message, calls: list[ToolCall], following: list[Message], most: int, out: list[Message]) -> None:
    results: dict[Any, list[tuple[Message, ToolResult]]] = {}
    rest: list[Message] = []
    for holder in following:
        others = tuple(block for block in holder.blocks if not _is_result(block))  # keeps: the results are taken below
        for block in holder.blocks:
            if _is_result(block):
                results.setdefault((block.name,) if block.by_name else block.id, []).append((holder, block))
        if others:
            rest.append(changed(holder, blocks=others))
    position = 0
    groups: list[list[Block]] = [[]]
    for block in message.blocks:
        if type(block) is ToolCall and block.executor == "client":
            if position and position % most == 0:
                groups.append([])
            position += 1
        groups[-1].append(block)
    for number, group in enumerate(groups):
        out.append(changed(message, blocks=tuple(group), extra=message.extra if number == 0 else None))
        for block in group:
            if type(block) is ToolCall and block.executor == "client":
                queue = results.get((block.name,) if block.by_name else block.id)
                if queue:
                    holder, result = queue.pop(0)
                    out.append(
                        holder
                        if holder.role == "tool" and len(holder.blocks) == 1
                        else Message("tool", (result,), result.at)
                    )
    out.extend(rest)
