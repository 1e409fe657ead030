"""A fit_block that forgets reasoning: what it returns for it is nothing."""

from __future__ import annotations

from typing import assert_never

from sendable.codes import BLK002
from sendable.conversation import Block, Media, Message, Opaque, Refusal, Text, ToolCall, ToolResult
from sendable.report import Ledger, Receipt


def fit_block(block: Block, message: Message, ledger: Ledger) -> Block | Receipt:
    if type(block) is Text:
        return block
    if type(block) is ToolCall or type(block) is ToolResult:
        return block
    if type(block) is Media:
        return ledger.drop(BLK002, block)
    if type(block) is Refusal or type(block) is Opaque:
        return ledger.drop(BLK002, block)
    assert_never(block)  # refused: Reasoning is left
