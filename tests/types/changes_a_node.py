"""A rule that changes a node in place."""

from __future__ import annotations

from sendable.conversation import Text


def edit(block: Text) -> None:
    block.text = ""  # refused: nodes are frozen
