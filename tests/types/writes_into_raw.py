"""A rule that writes into the caller's own object."""

from __future__ import annotations

from sendable.conversation import Message


def edit(message: Message) -> None:
    message.raw["content"] = ""  # refused: what the caller stored is read-only
