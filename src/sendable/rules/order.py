"""ORD: order inside a message and between messages."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

from sendable import payload
from sendable.codes import FLD001, ORD001, ORD002, ORD003, ORD004, ORD005, ORD006, ORD007, ORD008
from sendable.conversation import (
    INSTRUCTING,
    MANY,
    MIXED,
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
from sendable.rules import Rule, lacks, with_messages
from sendable.rules.blocks import is_mark

CONTINUES = "[conversation continues]"
GOES_ON = "[results received]"
"""What an assistant message says that only stands between two of the user's."""


def results_first(conversation: Conversation, ledger: Ledger) -> Conversation:
    """In every message, tool results come before other content.

    Source: «'tool_use' ids were found without 'tool_result' blocks immediately after» also where only text stands before (AT5, measured).

    Loses: ORD001 (a move, for each result that stood behind other content).
    """
    if lacks(conversation, MIXED):
        return conversation
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
    return _in_turns(conversation, _one_turn, ledger)


def alternating_abroad(home: str) -> Rule:
    """User and assistant take turns, as in `alternating`; but untouched neighbours that the target itself made may stay two messages.

    They are joined where a call or its result is at stake: a call stands in the one turn before its results, and these in one message.
    Source: «Please ensure that function call turn comes immediately after a user turn or after a function response turn» (GE5), «… the
    number of function response parts is equal to the number of function call parts of the function call turn» (GE7); alternation of plain
    text is the vendor's invariant and no error of the wire (GE6).

    Loses: ORD002, FLD001 (as `alternating`).
    """

    def stays(before: Message, message: Message) -> bool:
        if not (before.intact and message.intact and before.home == message.home == home):
            return False
        if message.role == "assistant":
            return not _holds(before, ToolCall) and not _holds(message, ToolCall)
        return not _holds(message, ToolResult)

    def alternating_abroad(conversation: Conversation, ledger: Ledger) -> Conversation:
        return _in_turns(
            conversation, lambda before, message: _one_turn(before, message) and not stays(before, message), ledger
        )

    return alternating_abroad


def _holds(message: Message, kind: type) -> bool:
    return any(type(block) is kind for block in message.blocks)


def _in_turns(conversation: Conversation, is_one: Callable[[Message, Message], bool], ledger: Ledger) -> Conversation:
    messages = conversation.messages
    if not any(is_one(before, message) for before, message in pairwise(messages)):
        return conversation
    out: list[Message] = []
    run: list[Message] = []
    for message in messages:
        if run and not is_one(run[-1], message):
            out.append(_joined(run, ledger))
            run = []
        run.append(message)
    out.append(_joined(run, ledger))
    return with_messages(conversation, out)


def results_as_called(conversation: Conversation, ledger: Ledger) -> Conversation:
    """In a message that is written anew, the results stand in the order of their calls. Nothing else moves, and nothing is reported.

    Source: «order = call order is safest» (GE7).
    """
    out: list[Message] = []
    touched = False
    calls: tuple[Block, ...] = ()
    for message in conversation.messages:
        if message.role == "assistant":
            calls = message.blocks
        elif not message.intact and sum(type(block) is ToolResult for block in message.blocks) > 1:
            ordered = _as_called(message.blocks, calls)
            if any(now is not before for now, before in zip(ordered, message.blocks, strict=True)):
                message = changed(message, blocks=ordered)
                touched = True
        out.append(message)
    return with_messages(conversation, out) if touched else conversation


def _as_called(blocks: tuple[Block, ...], calls: tuple[Block, ...]) -> tuple[Block, ...]:
    waiting: dict[Any, list[ToolResult]] = {}
    for block in blocks:
        if type(block) is ToolResult:
            waiting.setdefault((block.name,) if block.by_name else block.id, []).append(block)
    ordered: list[ToolResult] = []
    for call in calls:
        queue = waiting.get((call.name,) if call.by_name else call.id) if type(call) is ToolCall else None
        if queue:
            ordered.append(queue.pop(0))
    ordered.extend(result for queue in waiting.values() for result in queue)
    following = iter(ordered)
    return tuple([next(following) if type(block) is ToolResult else block for block in blocks])


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
    if lacks(conversation, MANY):
        return conversation
    out: list[Message] = []
    touched = False
    for message in conversation.messages:
        if message.role == "assistant" and len(message.blocks) > 1:
            ranks = [_rank(block) for block in message.blocks]
            if ranks != sorted(ranks):
                ordered = sorted(message.blocks, key=_rank)
                ledger.move(ORD003, message)
                message = changed(message, blocks=tuple(ordered))
                touched = True
        out.append(message)
    return with_messages(conversation, out) if touched else conversation


def _rank(block: Block) -> int:
    # What the provider executed is content: its call stands before its result.
    return 0 if type(block) is Reasoning else 2 if type(block) is ToolCall and block.executor == "client" else 1


def tools_apart(conversation: Conversation, ledger: Ledger) -> Conversation:
    """No message holds other content beside calls or results. After `alternating` and `calls_last`.

    What stood beside them has a message of its own: before the calls, behind the results. Between two messages of one role stands a
    synthetic one of the other.
    Source: «Conversation blocks and tool result blocks cannot be provided in the same turn» (Llama and Mistral behind Converse, reported
    2025-11-23).

    Loses: ORD008 (a move for each block that no longer stands beside its calls or results; a synthetic message).
    """
    out: list[Message] = []
    for message in conversation.messages:
        tools: list[Block] = []
        rest: list[Block] = []
        side = rest
        for block in message.blocks:
            if not is_mark(block):
                # A mark stays behind what it marks.
                side = tools if _is_tools(block) else rest
            if not _is_silent(block):
                side.append(block)
        if not tools or not rest:
            out.append(message)
            continue  # keeps: the line above
        for block in rest:
            ledger.move(ORD008, block)
        calls_first = message.role != "assistant"
        parts = (tools, rest) if calls_first else (rest, tools)
        between = parts[1][0].at
        ledger.synthesize(ORD008, between)
        other = "assistant" if calls_first else "user"
        out.append(changed(message, blocks=tuple(parts[0]), bare=False))
        out.append(Message(other, (Text(GOES_ON if calls_first else CONTINUES, between),), between, bare=True))
        out.append(changed(message, blocks=tuple(parts[1]), bare=False, extra=None))
    return conversation if len(out) == len(conversation.messages) else with_messages(conversation, out)


def _is_tools(block: Block) -> bool:
    """Whether a block is a call or result of the client's. What a provider executed is content like any other."""
    return (type(block) is ToolCall or type(block) is ToolResult) and block.executor == "client"


def _is_silent(block: Block) -> bool:
    """Whether a block is an empty text that was stored as such beside calls: it says nothing, and no message is made of it."""
    return (
        type(block) is Text and type(block.raw) is not dict and payload.is_empty(block.text) and block.signature is None
    )


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


def calls_not_first(conversation: Conversation, ledger: Ledger) -> Conversation:
    """The very first message holds no call.

    Source: «Unexpected tool call id X in tool results»: the validator looks for calls from the second message on (mistral-common 1.13.1,
    MI7).

    Loses: ORD004 (a synthetic user message).
    """
    first = conversation.messages[0] if conversation.messages else None
    if first is None or not any(type(block) is ToolCall for block in first.blocks):
        return conversation
    ledger.synthesize(ORD004, first)
    return with_messages(conversation, [_continues(first.at), *conversation.messages])


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


ANSWER_MISSING = "[no answer was recorded]"


def answered_results(conversation: Conversation, ledger: Ledger) -> Conversation:
    """The assistant speaks between a tool result and the user. After `alternating`.

    Source: «After the optional system message, conversation roles must alternate user/assistant/user/assistant/...» (chat templates that
    count users and plain answers only, section 10.3), so that a user message behind results comes where an answer is due.

    Loses: ORD006 (a synthetic assistant message).
    """
    out: list[Message] = []
    touched = False
    for message in conversation.messages:
        results = sum(type(block) is ToolResult for block in message.blocks)
        if message.role == "user" and 0 < results < len(message.blocks):
            spoken = message.blocks[results]
            ledger.synthesize(ORD006, spoken)
            out.append(changed(message, role="tool", blocks=message.blocks[:results], extra=None))
            out.append(Message("assistant", (Text(ANSWER_MISSING, spoken.at),), spoken.at, bare=True))
            message = changed(message, blocks=message.blocks[results:])
            touched = True
        out.append(message)
    return with_messages(conversation, out) if touched else conversation


def asked_last(prefix: bool) -> Rule:
    """The last message is the user's or a result; or the assistant's, if it is marked as the beginning of the answer (`prefix`), which
    no other message is.

    `prefix`: the caller wants a last assistant message to be continued, so that it gets the mark.
    Source: «Expected last role User or Tool (or Assistant with prefix) for serving but got assistant» (MI4, code 3230), «Assistant
    message with prefix True must be last message» (MI5), «Conversation must start with a user message or system message» (MI2).

    Loses: ORD004, ORD005 (a synthetic user message, or the mark), ORD007.
    """

    def asked_last(conversation: Conversation, ledger: Ledger) -> Conversation:
        messages = conversation.messages
        if not messages:
            return conversation
        last = len(messages) - 1
        out: list[Message] = []
        for index, message in enumerate(messages):
            if (
                message.extra is not None
                and "prefix" in message.extra
                and (index < last or message.role != "assistant")
            ):
                mark = message.extra["prefix"]
                if payload.is_true(mark) or (payload.kind(mark) != "bool" and not payload.is_inert(mark)):
                    ledger.strip(ORD007, message, ("prefix",))
                rest = {key: value for key, value in message.extra.items() if key != "prefix"}  # keeps: reported above
                message = changed(message, extra=rest or None)
            out.append(message)
        end = out[-1]
        if end.role == "assistant":
            if not payload.is_true((end.extra or {}).get("prefix")):
                if prefix:
                    ledger.synthesize(ORD005, end, "prefix")
                    out[-1] = changed(end, extra={**(end.extra or {}), "prefix": True})
                else:
                    ledger.synthesize(ORD005, end)
                    out.append(_continues(end.at))
        elif end.role in INSTRUCTING:
            ledger.synthesize(ORD004, end)
            out.append(_continues(end.at))
        if len(out) == len(messages) and all(a is b for a, b in zip(out, messages, strict=True)):
            return conversation
        return with_messages(conversation, out)

    return asked_last
