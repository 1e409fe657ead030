"""Hub → hub: one file for each family of codes. A rule takes a conversation and the ledger and gives a conversation back.

A rule returns the same object where it has nothing to do. No rule knows the policy, and none knows a dialect: what differs between
targets is passed in by `targets.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

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
    Conversation,
    Media,
    Message,
    Reasoning,
    Text,
    ToolCall,
    ToolResult,
)
from sendable.payload import is_blank
from sendable.report import Ledger

Rule: TypeAlias = Callable[[Conversation, Ledger], Conversation]


def with_messages(conversation: Conversation, messages: Sequence[Message], holds: int | None = None) -> Conversation:
    """The conversation with other messages. What they may hold has to be looked up again, unless the rule knows it (`holds`)."""
    return msgspec.structs.replace(conversation, messages=messages, holds=holds)


def surveyed(conversation: Conversation) -> Conversation:
    """The same conversation, which now says what it may hold. Changes nothing else."""
    if conversation.holds is not None:
        return conversation
    return msgspec.structs.replace(conversation, holds=_survey(conversation.messages))


def lacks(conversation: Conversation, what: int) -> bool:
    """Whether it is known that a conversation holds nothing of a kind, so that a rule about it has nothing to do."""
    return conversation.holds is not None and not conversation.holds & what


def _survey(messages: Sequence[Message]) -> int:
    """What messages hold, in one walk."""
    holds = 0
    before = ""
    for message in messages:
        role, blocks = message.role, message.blocks
        if message.extra is not None:
            holds |= EXTRA
        if role == "assistant":
            if before == "assistant":
                holds |= RUN
            if len(blocks) > 1:
                holds |= MANY
        elif role in INSTRUCTING:
            holds |= SYSTEM
            if before and before not in INSTRUCTING:
                holds |= LATE
        elif role not in ROLES:
            holds |= STRANGE
        before = role
        if not blocks:
            holds |= BLANK
        for block in blocks:
            if block.extra is not None:
                holds |= EXTRA
            if type(block) is Text:
                if not holds & BLANK and is_blank(block.text):
                    holds |= BLANK
            elif type(block) is ToolResult:
                if block.executor == "provider":
                    holds |= SERVER
                if block.kind != "function":
                    holds |= SPECIAL
                if type(block.id) is not str or block.by_name or not block.id.strip():
                    holds |= NUMBERED
                if role != "tool":
                    holds |= MIXED
                for inner in block.content:
                    if inner.extra is not None:
                        holds |= EXTRA
                    if type(inner) is Text:
                        if not holds & BLANK and is_blank(inner.text):
                            holds |= BLANK
                    else:
                        holds |= OPAQUE | MEDIA | INSIDE
            elif type(block) is ToolCall:
                if block.executor == "provider":
                    holds |= SERVER
                if block.kind != "function":
                    holds |= SPECIAL
                if type(block.id) is not str or block.by_name or not block.id.strip():
                    holds |= NUMBERED
            elif type(block) is Reasoning:
                holds |= REASONING
            elif type(block) is Media:
                holds |= MEDIA | SHOWN if role == "assistant" else MEDIA
            else:
                holds |= OPAQUE
    return holds
