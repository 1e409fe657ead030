"""Turns: what one form stores in several messages, and others in one. Spelling, which nothing is lost by."""

from __future__ import annotations

from sendable.codes import BLK002, ORD003
from sendable.conversation import RUN, SPECIAL, Block, Conversation, Message, Reasoning, ToolCall, ToolResult, changed
from sendable.report import Ledger
from sendable.rules import Rule, lacks, with_messages
from sendable.rules.blocks import Place, fit_fields


def whole_turns(itemized: str, place: Place) -> Rule:
    """A run of assistant messages of a dialect that has no turns is one message, with the blocks in their order.

    The fields of such a message meet the target here, since the whole one has none of its own.
    Source: «An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'» (OC24): calls
    that stand one by one in the list of items are parallel calls of one turn.

    Loses: FLD001, FLD002.
    """

    def whole_turns(conversation: Conversation, ledger: Ledger) -> Conversation:
        if lacks(conversation, RUN):
            return conversation
        out: list[Message] = []
        run: list[Message] = []
        touched = False
        for message in conversation.messages:
            if message.role == "assistant" and message.home == itemized:
                run.append(message)
                touched = touched or len(run) > 1
                continue  # keeps: the run is written below
            out.extend(_one(run, place, ledger))
            run = []
            out.append(message)
        out.extend(_one(run, place, ledger))
        return with_messages(conversation, out) if touched else conversation

    return whole_turns


def _one(run: list[Message], place: Place, ledger: Ledger) -> list[Message]:
    """A run as one message.

    Loses: FLD001, FLD002.
    """
    if len(run) < 2:
        return run
    for message in run:
        if message.extra is not None:
            fit_fields(message, message.extra, frozenset(), place, ledger)
    blocks = tuple([block for message in run for block in message.blocks])
    # The place of an item is that of its block, which may go by itself.
    at = next((message.at for message in run if not message.item), run[0].at)
    whole: Message = changed(
        run[0], at=at, blocks=blocks, raw=None, bare=False, extra=None, item=all(message.item for message in run)
    )
    return [whole]


def no_hollow_items(conversation: Conversation, ledger: Ledger) -> Conversation:
    """No message is an item whose one block is gone: the item was the message, and its own entry tells of it."""
    if all(message.blocks or not message.item for message in conversation.messages):
        return conversation
    return with_messages(
        conversation, [message for message in conversation.messages if message.blocks or not message.item]
    )  # keeps: see above


def ordinary_calls(kinds: frozenset[str]) -> Rule:
    """Every call that the client executes, and its result, is of a kind that the target knows, or an ordinary call of a function.

    Loses: BLK002 (a degrade, for a call and for its result: the tool was the provider's own, and is now a function of that name).
    """

    def ordinary_calls(conversation: Conversation, ledger: Ledger) -> Conversation:
        if "function" in kinds and lacks(conversation, SPECIAL):
            return conversation
        out: list[Message] = []
        touched = False
        for message in conversation.messages:
            if any(_is_special(block, kinds) for block in message.blocks):
                message = changed(message, blocks=tuple([_ordinary(block, kinds, ledger) for block in message.blocks]))
                touched = True
            out.append(message)
        return with_messages(conversation, out) if touched else conversation

    return ordinary_calls


def _is_special(block: Block, kinds: frozenset[str]) -> bool:
    return (
        (type(block) is ToolCall or type(block) is ToolResult)
        and block.executor == "client"
        and block.kind not in kinds
    )


def _ordinary(block: Block, kinds: frozenset[str], ledger: Ledger) -> Block:
    if not _is_special(block, kinds):
        return block
    assert type(block) is ToolCall or type(block) is ToolResult
    ledger.degrade(BLK002, block, kind=block.kind)
    fitted: Block = changed(block, kind="function", extra=None)
    return fitted


def calls_together(conversation: Conversation, ledger: Ledger) -> Conversation:
    """In a run of assistant messages, the calls stand last, behind what was said and thought.

    Source: «No tool output found for tool call call-a.» (DS5, measured): a server that groups calls by their neighbourhood wants all calls
    of a batch before any output, and behind text and reasoning.

    Loses: ORD003 (a move, for each message that stood behind a call).
    """
    out: list[Message] = []
    calls: list[Message] = []
    touched = False
    for message in conversation.messages:
        if message.role != "assistant":
            out.extend(calls)
            calls = []
            out.append(message)
            continue  # keeps: the lines above
        said = [block for block in message.blocks if type(block) is not ToolCall]  # keeps: the calls follow below
        called = [block for block in message.blocks if type(block) is ToolCall]  # keeps: the rest is above
        if called and said:
            if calls or message.blocks != (*said, *called):
                ledger.move(ORD003, message)
                touched = True
            out.append(changed(message, blocks=tuple(said)))
            calls.append(changed(message, blocks=tuple(called), extra=None))
        elif called:
            calls.append(message)
        else:
            if calls:
                ledger.move(ORD003, message)
                touched = True
            out.append(message)
    out.extend(calls)
    return with_messages(conversation, out) if touched else conversation


def is_reasoning(message: Message) -> bool:
    """Whether a message holds reasoning and nothing else."""
    return bool(message.blocks) and all(type(block) is Reasoning for block in message.blocks)
