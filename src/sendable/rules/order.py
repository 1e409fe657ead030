"""ORD: order inside a message and between messages."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from sendable.codes import FLD001, ORD001, ORD002, ORD003, ORD004, ORD005
from sendable.conversation import (
    INSTRUCTING,
    Block,
    Conversation,
    Message,
    Reasoning,
    Text,
    ToolCall,
    ToolResult,
    changed,
)
from sendable.report import Ledger
from sendable.rules import with_messages

CONTINUES = "[conversation continues]"


def results_first(conversation: Conversation, ledger: Ledger) -> Conversation:
    """In every message, tool results come before other content.

    Source: «'tool_use' ids were found without 'tool_result' blocks immediately after» also where only text stands before (AT5, measured).

    Loses: ORD001 (a move, for each result that stood behind other content).
    """
    out: list[Message] = []
    touched = False
    for message in conversation.messages:
        if message.role == "user" and _behind_content(message.blocks):
            results: list[Block] = []
            rest: list[Block] = []
            for block in message.blocks:
                if type(block) is ToolResult:
                    if rest:
                        ledger.move(ORD001, block)
                    results.append(block)
                else:
                    rest.append(block)
            message = changed(message, blocks=(*results, *rest))
            touched = True
        out.append(message)
    return with_messages(conversation, out) if touched else conversation


def _behind_content(blocks: tuple[Block, ...]) -> bool:
    content = False
    for block in blocks:
        if type(block) is not ToolResult:
            content = True
        elif content:
            return True
    return False


def alternating(conversation: Conversation, ledger: Ledger) -> Conversation:
    """User and assistant take turns: neighbouring messages of one role are one message, with the same blocks in the same order.

    A message of results counts as the user's. System messages are left alone and part what they stand between.
    Source: «A conversation must alternate between user and assistant roles. Make sure the conversation alternates between user and
    assistant roles and try again.» (Converse, BE4, reported).

    Loses: ORD002 (a move, for each message that the caller wrote separately and that is joined to one before it; gathering the results
    of a turn, and the content behind them, is spelling), FLD001 (a field that both messages have).
    """
    messages = conversation.messages
    if not any(_one_turn(before, message) for before, message in pairwise(messages)):
        return conversation
    out: list[Message] = []
    run: list[Message] = []
    for message in messages:
        if run and not _one_turn(run[-1], message):
            out.append(_joined(run, ledger))
            run = []
        run.append(message)
    out.append(_joined(run, ledger))
    return with_messages(conversation, out)


def _one_turn(before: Message, message: Message) -> bool:
    if before.role in INSTRUCTING or message.role in INSTRUCTING:
        return False
    return (before.role == "assistant") == (message.role == "assistant")


def _joined(run: Sequence[Message], ledger: Ledger) -> Message:
    """The messages of a run as one.

    Loses: ORD002, FLD001.
    """
    first = run[0]
    if len(run) == 1:
        return first
    extra: dict[str, Any] = {}
    for index, message in enumerate(run):
        if index and _is_written(message) and _is_written(run[index - 1]):
            ledger.move(ORD002, message, related=(run[index - 1],))
        for key, value in (message.extra or {}).items():
            if extra.setdefault(key, value) is not value:
                ledger.strip(FLD001, message, (key,))
    role = "user" if any(message.role == "user" for message in run) else first.role
    blocks = tuple([block for message in run for block in message.blocks])
    joined: Message = changed(first, role=role, blocks=blocks, extra=extra or None, bare=False)
    return joined


def _is_written(message: Message) -> bool:
    """Whether the caller wrote this as a message with content of its own: neither invented, nor mere results, nor a list entry that
    is itself one block."""
    if message.raw is None or all(type(block) is ToolResult for block in message.blocks):
        return False
    return not any(block.at == message.at for block in message.blocks)


def calls_last(conversation: Conversation, ledger: Ledger) -> Conversation:
    """In every assistant message: reasoning, then content, then calls, because the target has a field for each.

    Loses: ORD003 (a move, once for a message whose blocks were interleaved otherwise).
    """
    out: list[Message] = []
    touched = False
    for message in conversation.messages:
        if message.role == "assistant" and len(message.blocks) > 1:
            ordered = sorted(message.blocks, key=_rank)
            if any(now is not before for now, before in zip(ordered, message.blocks, strict=True)):
                ledger.move(ORD003, message)
                message = changed(message, blocks=tuple(ordered))
                touched = True
        out.append(message)
    return with_messages(conversation, out) if touched else conversation


def _rank(block: Block) -> int:
    return 0 if type(block) is Reasoning else 2 if type(block) is ToolCall else 1


def user_first(conversation: Conversation, ledger: Ledger) -> Conversation:
    """The first message behind the leading system messages is the user's.

    Source: «messages: first message must use the "user" role» (AN9).

    Loses: ORD004 (a synthetic user message).
    """
    messages = conversation.messages
    index = 0
    while index < len(messages) and messages[index].role in INSTRUCTING:
        index += 1
    if index == len(messages):
        if not messages:
            return conversation
        place = messages[-1].at
    elif messages[index].role in ("user", "tool"):
        return conversation
    else:
        place = messages[index].at
    ledger.synthesize(ORD004, place)
    return with_messages(conversation, [*messages[:index], _continues(place), *messages[index:]])


def _continues(place: tuple[object, ...]) -> Message:
    return Message("user", (Text(CONTINUES, place),), place, bare=True)


def user_last(conversation: Conversation, ledger: Ledger) -> Conversation:
    """The last message is not an assistant's, unless it waits for a server tool to go on.

    Source: «This model does not support assistant message prefill. The conversation must end with a user message.» (AN11).

    Loses: ORD005 (a synthetic user message).
    """
    last = conversation.messages[-1] if conversation.messages else None
    if last is None or last.role != "assistant":
        return conversation
    end = last.blocks[-1] if last.blocks else None
    if type(end) is ToolCall and end.executor == "provider":
        return conversation
    ledger.synthesize(ORD005, last)
    return with_messages(conversation, [*conversation.messages, _continues(last.at)])
