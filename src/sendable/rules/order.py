"""ORD: order inside a message and between messages."""

from __future__ import annotations

from sendable.codes import ORD001, ORD003, ORD004, ORD005
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
