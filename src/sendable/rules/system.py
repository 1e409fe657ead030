"""SYS: where system and developer messages stand. Before pairing, so that a late one between a call and its result does no harm."""

from __future__ import annotations

from collections.abc import Sequence

from sendable.codes import SYS001
from sendable.conversation import INSTRUCTING, Conversation, Message
from sendable.report import Ledger
from sendable.rules import with_messages


def hoist_system(conversation: Conversation, ledger: Ledger) -> Conversation:
    """System and developer messages stand first, in their own order; so do the rest. None is dropped.

    Loses: SYS001 (a move, for each that stood behind another message).
    """
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
    # The everyday list begins with its system message: nothing stood late, so nothing was built.
    if all(now is before for now, before in zip((*front, *rest), conversation.messages, strict=True)):
        return conversation
    return with_messages(conversation, [*front, *rest])


def mid_system(conversation: Conversation, ledger: Ledger) -> Conversation:
    """A system message behind the first turn stands after a user turn and ends the list or comes before an assistant turn.

    One that stands elsewhere waits for the next such place, and joins the front where none follows.
    Source: «messages.1: role 'system' must precede an 'assistant' message or end the array» (AN5, 2026-09); «may not directly follow an
    assistant turn» (AN6); «messages.0: use the top-level 'system' parameter for the initial system prompt» (AN4).

    Loses: SYS001 (a move).
    """
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
