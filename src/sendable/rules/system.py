"""SYS: where system and developer messages stand. Before pairing, so that a late one between a call and its result does no harm."""

from __future__ import annotations

from collections.abc import Sequence

from sendable import payload
from sendable.codes import FLD001, SYS001, SYS002, SYS003
from sendable.conversation import INSTRUCTING, LATE, SYSTEM, Block, Conversation, Message, Text, ToolResult, changed
from sendable.report import Ledger
from sendable.rules import lacks, with_messages


def hoist_system(conversation: Conversation, ledger: Ledger) -> Conversation:
    """System and developer messages stand first, in their own order; so do the rest. None is dropped.

    Loses: SYS001 (a move, for each that stood behind another message).
    """
    if lacks(conversation, LATE):
        return conversation
    front: list[Message] = []
    rest: list[Message] = []
    for message in conversation.messages:
        if message.role in INSTRUCTING:
            if rest:
                # The body itself is related: what stands before every message has changed.
                ledger.move(SYS001, message, related=((),))
            front.append(message)
        else:
            rest.append(message)
    if all(now is before for now, before in zip((*front, *rest), conversation.messages, strict=True)):
        return conversation
    return with_messages(conversation, [*front, *rest])


def answerable(conversation: Conversation, ledger: Ledger) -> Conversation:
    """Where nothing but instructions in a field of the request's own is there, they are written as a message, so that there is one.

    That is spelling, and is not reported.
    """
    if (
        not conversation.messages
        or conversation.continued
        or any(len(message.at) > 1 for message in conversation.messages)
    ):
        return conversation
    if any(message.role not in INSTRUCTING for message in conversation.messages):
        return conversation
    return with_messages(conversation, [changed(message) for message in conversation.messages])


def mid_system(conversation: Conversation, ledger: Ledger) -> Conversation:
    """A system message behind the first turn stands after a user turn and ends the list or comes before an assistant turn.

    One that stands elsewhere waits for the next such place, and joins the front where none follows.
    Source: «messages.1: role 'system' must precede an 'assistant' message or end the array» (AN5, 2026-09); «may not directly follow an
    assistant turn» (AN6); «messages.0: use the top-level 'system' parameter for the initial system prompt» (AN4).

    Loses: SYS001 (a move).
    """
    if lacks(conversation, SYSTEM):
        return conversation
    messages = conversation.messages
    front: list[Message] = []
    out: list[Message] = []
    waiting: list[Message] = []
    for index, message in enumerate(messages):
        if message.role in INSTRUCTING:
            if not out:
                front.append(message)
            elif (out[-1].role in ("user", "tool") and _turn_ends(messages, index)) or (
                out[-1].role in INSTRUCTING and not waiting and _turn_ends(messages, index)
            ):
                out.append(message)
            else:
                waiting.append(message)
            continue  # keeps: each branch above put it somewhere
        if waiting and message.role == "assistant" and out[-1].role in ("user", "tool"):
            out.extend(_moved(waiting, ledger))
            waiting = []
        out.append(message)
    if waiting and out and out[-1].role in ("user", "tool"):
        out.extend(_moved(waiting, ledger))
        waiting = []
    front.extend(_moved(waiting, ledger))
    ordered = [*front, *out]
    return (
        conversation
        if all(now is before for now, before in zip(ordered, messages, strict=True))
        else with_messages(conversation, ordered)
    )


def _turn_ends(messages: Sequence[Message], index: int) -> bool:
    """Whether the run of system messages at `index` is followed by an assistant turn or by nothing."""
    for message in messages[index + 1 :]:
        if message.role not in INSTRUCTING:
            return message.role == "assistant"
    return True


def _moved(waiting: list[Message], ledger: Ledger) -> list[Message]:
    for message in waiting:
        ledger.move(SYS001, message)
    return waiting


MARKS = {"system": "[system instruction] ", "developer": "[developer instruction] "}
"""What stands before the text of instructions that have to come from the user, so that they can be told from his own words."""


def demote_system(conversation: Conversation, ledger: Ledger) -> Conversation:
    """System and developer messages are user messages in their own place, each text under a mark that says what it was.

    Source: «Unsupported value: 'messages[0].role' does not support 'developer' with this model.», the same with 'system' (OC3, o1-mini,
    measured); the option `system_role`.

    Loses: SYS002.
    """
    if lacks(conversation, SYSTEM) or not any(message.role in INSTRUCTING for message in conversation.messages):
        return conversation
    out: list[Message] = []
    for message in conversation.messages:
        if message.role in INSTRUCTING:
            ledger.degrade(SYS002, message, "role", role=message.role)
            blocks = tuple([_marked(block, MARKS[message.role]) for block in message.blocks])
            message = changed(message, role="user", blocks=blocks)
        out.append(message)
    return with_messages(conversation, out)


def _marked(block: Block, mark: str) -> Block:
    if type(block) is not Text or payload.is_blank(block.text):
        return block
    marked: Text = changed(block, text=payload.joined((payload.quoted(mark, block.text), block.text), ""))
    return marked


def one_system(conversation: Conversation, ledger: Ledger) -> Conversation:
    """The leading system messages are one. After `hoist_system`, there is then no other.

    Bare texts become one text; a list of parts stays a list.
    Source: «system turn must be the first in the list» (Cohere, CO2, documented); «System message must be at the beginning» (chat templates
    of llama.cpp and LM Studio, section 10.3, reported 2026-08).

    Loses: SYS003 (a move, for each that joins the first), FLD001 (a field that the first has as well).
    """
    messages = conversation.messages
    leading = 0
    while leading < len(messages) and messages[leading].role in INSTRUCTING:
        leading += 1
    if leading < 2:
        return conversation
    first = messages[0]
    extra = dict(first.extra or {})
    for message in messages[1:leading]:
        ledger.move(SYS003, message, related=(first,))
        for key, value in (message.extra or {}).items():
            if extra.setdefault(key, value) is not value:
                ledger.strip(FLD001, message, (key,))
    blocks = tuple([block for message in messages[:leading] for block in message.blocks])
    texts = [block.text for block in blocks if type(block) is Text and block.extra is None]  # keeps: counted below
    if len(texts) == len(blocks) and all(message.bare for message in messages[:leading]):
        blocks = (changed(blocks[0], text=payload.joined(texts, "\n\n")),)
    joined = changed(first, blocks=blocks, extra=extra or None)
    return with_messages(conversation, [joined, *messages[leading:]])


def system_after_user(conversation: Conversation, ledger: Ledger) -> Conversation:
    """A system message stands first, or behind a user message or another system message, and never last.

    One that stands elsewhere waits for the next such place, and joins the front where none follows.
    Source: «Unexpected role 'system' after role 'assistant'», and the same after 'tool' (mistral-common 1.13.1, MI3); «Expected last role
    User or Tool (or Assistant with prefix) for serving but got …» (MI4).

    Loses: SYS001 (a move).
    """
    messages = conversation.messages
    if lacks(conversation, SYSTEM) or not any(message.role in INSTRUCTING for message in messages):
        return conversation
    end = max((index for index, message in enumerate(messages) if message.role not in INSTRUCTING), default=-1)
    front: list[Message] = []
    out: list[Message] = []
    waiting: list[Message] = []
    for index, message in enumerate(messages):
        if message.role in INSTRUCTING:
            if not out:
                front.append(message)
            elif index < end and not waiting and (out[-1].role in INSTRUCTING or _ends_with_user(out[-1])):
                out.append(message)
            else:
                waiting.append(message)
            continue  # keeps: each branch above put it somewhere
        if waiting and (_ends_with_user(out[-1]) or out[-1].role in INSTRUCTING):
            out.extend(_moved(waiting, ledger))
            waiting = []
        out.append(message)
    front.extend(_moved(waiting, ledger))
    ordered = [*front, *out]
    if all(now is before for now, before in zip(ordered, messages, strict=True)):
        return conversation
    return with_messages(conversation, ordered)


def _ends_with_user(message: Message) -> bool:
    """Whether what is written last of a message is the user's: content, and not a result."""
    return message.role == "user" and not (message.blocks and type(message.blocks[-1]) is ToolResult)
