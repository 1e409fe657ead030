"""Hub → hub: one file for each family of codes. A rule takes a conversation and the ledger and gives a conversation back.

A rule returns the same object where it has nothing to do. No rule knows the policy, and none knows a dialect: what differs between
targets is passed in by `targets.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

import msgspec

from sendable.conversation import Conversation, Message
from sendable.report import Ledger

Rule: TypeAlias = Callable[[Conversation, Ledger], Conversation]


def with_messages(conversation: Conversation, messages: Sequence[Message], holds: int | None = None) -> Conversation:
    """The conversation with other messages. What they may hold has to be looked up again, unless the rule knows it (`holds`)."""
    return msgspec.structs.replace(conversation, messages=messages, holds=holds)


def lacks(conversation: Conversation, what: int) -> bool:
    """Whether it is known that a conversation holds nothing of a kind, so that a rule about it has nothing to do."""
    return conversation.holds is not None and not conversation.holds & what
