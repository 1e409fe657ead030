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
    INSTRUCTING,
    MANY,
    MEDIA,
    MIXED,
    OPAQUE,
    REASONING,
    SERVER,
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


def with_messages(conversation: Conversation, messages: Sequence[Message]) -> Conversation:
    """The conversation with other messages. What they may hold has to be looked up again."""
    return msgspec.structs.replace(conversation, messages=messages, holds=None)


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
    for message in messages:
        blocks = message.blocks
        if message.extra is not None:
            holds |= EXTRA
        if message.role in INSTRUCTING:
            holds |= SYSTEM
        if not blocks:
            holds |= BLANK
        elif len(blocks) > 1 and message.role == "assistant":
            holds |= MANY
        for block in blocks:
            kind = type(block)
            if block.extra is not None:
                holds |= EXTRA
            if kind is Text:
                if not holds & BLANK and is_blank(block.text):  # type: ignore[union-attr]
                    holds |= BLANK
            elif kind is ToolResult:
                assert type(block) is ToolResult
                if block.executor == "provider":
                    holds |= SERVER
                if message.role != "tool":
                    holds |= MIXED
                for inner in block.content:
                    if inner.extra is not None:
                        holds |= EXTRA
                    if type(inner) is Text:
                        if not holds & BLANK and is_blank(inner.text):
                            holds |= BLANK
                    else:
                        holds |= OPAQUE | MEDIA
            elif kind is ToolCall:
                assert type(block) is ToolCall
                if block.executor == "provider":
                    holds |= SERVER
            elif kind is Reasoning:
                holds |= REASONING
            elif kind is Media:
                holds |= MEDIA
            else:
                holds |= OPAQUE
    return holds
