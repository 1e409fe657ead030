"""What a conversation may hold, so that a rule about what is not there returns at once.

An upper bound: a bit that is set says that something may be there, one that is not set that it is not. What must not live here: repairs.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import final

import msgspec

from sendable.conversation import (
    BLANK,
    EXTRA,
    INSIDE,
    INSTRUCTING,
    LATE,
    MANY,
    MEDIA,
    MIXED,
    NUMBERED,
    OPAQUE,
    REASONING,
    ROLES,
    RUN,
    SERVER,
    SHOWN,
    SPECIAL,
    STRANGE,
    SYSTEM,
    UNPAIRED,
    Conversation,
    Media,
    Message,
    Reasoning,
    Text,
    ToolCall,
    ToolResult,
)
from sendable.payload import is_blank


def surveyed(conversation: Conversation) -> Conversation:
    """The same conversation, which now says what it may hold. Changes nothing else."""
    if conversation.holds is not None:
        return conversation
    return msgspec.structs.replace(conversation, holds=survey(conversation.messages))


def survey(messages: Sequence[Message]) -> int:
    """What messages may hold."""
    walk = Survey()
    for message in messages:
        walk.see(message)
    return walk.close()


@final
class Survey:
    """One walk over messages, in their order.

    `before`: the role of the last message. `known`: the ids of all calls so far. `waiting`: those of the last turn whose results are still
    to come; they stand right behind it, or something is not paired.
    """

    __slots__ = ("before", "holds", "known", "waiting")

    def __init__(self) -> None:
        self.holds = 0
        self.before = ""
        self.known: set[str] = set()
        self.waiting: set[str] = set()

    def close(self) -> int:
        """What all messages together may hold."""
        return self.holds | UNPAIRED if self.waiting else self.holds

    def see(self, message: Message) -> None:
        """The next message."""
        role, blocks, before, holds = message.role, message.blocks, self.before, self.holds
        self.before = role
        if message.extra is not None:
            holds |= EXTRA
        if role == "assistant":
            if before == "assistant":
                holds |= RUN
            if len(blocks) > 1:
                holds |= MANY
            if self.waiting:
                holds |= UNPAIRED
        elif role in INSTRUCTING:
            holds |= SYSTEM
            if before and before not in INSTRUCTING:
                holds |= LATE
        elif role not in ROLES:
            holds |= STRANGE
        if not blocks:
            holds |= BLANK
        waiting, results = self.waiting, 0
        for block in blocks:
            if block.extra is not None:
                holds |= EXTRA
            if type(block) is Text:
                if not holds & BLANK and is_blank(block.text):
                    holds |= BLANK
            elif type(block) is ToolResult:
                results += 1
                if block.kind != "function":
                    holds |= SPECIAL
                if role != "tool":
                    holds |= MIXED
                if block.executor == "provider":
                    holds |= SERVER | UNPAIRED
                if type(block.id) is not str or block.by_name or not block.id.strip():
                    holds |= NUMBERED | UNPAIRED
                elif block.id in waiting and block.name is None and role != "assistant":
                    waiting.remove(block.id)
                else:
                    holds |= UNPAIRED
                if not block.content:
                    holds |= BLANK
                for inner in block.content:
                    if inner.extra is not None:
                        holds |= EXTRA
                    if type(inner) is not Text:
                        holds |= OPAQUE | MEDIA | INSIDE
                    elif not holds & BLANK and is_blank(inner.text):
                        holds |= BLANK
            elif type(block) is ToolCall:
                if block.kind != "function":
                    holds |= SPECIAL
                if block.executor == "provider":
                    holds |= SERVER | UNPAIRED
                if type(block.id) is not str or block.by_name or not block.id.strip():
                    holds |= NUMBERED | UNPAIRED
                elif block.id in self.known or role != "assistant":
                    holds |= UNPAIRED
                else:
                    self.known.add(block.id)
                    waiting.add(block.id)
            elif type(block) is Reasoning:
                holds |= REASONING
            elif type(block) is Media:
                holds |= MEDIA | SHOWN if role == "assistant" else MEDIA
            else:
                holds |= OPAQUE
        if waiting and role != "assistant" and (results != len(blocks) or not results):
            holds |= UNPAIRED
        self.holds = holds
