"""A fit_block that says None for a block that it drops."""

from __future__ import annotations

from sendable.conversation import Block, Media, Message
from sendable.report import Ledger, Receipt


def fit_block(block: Block, message: Message, ledger: Ledger) -> Block | Receipt:
    if type(block) is Media:
        return None  # refused: a loss without a receipt
    return block
