"""What the flat form cannot hold: everything that is neither text, call nor result."""

from __future__ import annotations

from typing import assert_never

from sendable.codes import BLK002, MED001
from sendable.conversation import (
    INSTRUCTING,
    Block,
    Media,
    Message,
    Opaque,
    Reasoning,
    Refusal,
    Text,
    ToolCall,
    ToolResult,
)
from sendable.dialects.flat.read import HOME
from sendable.options import Options
from sendable.report import Ledger, Receipt
from sendable.rules.blocks import FitBlock, Place, drop_call, fit_opaque, misplaced
from sendable.rules.media import flag_in_text
from sendable.rules.reasoning import fit_without


def place(options: Options) -> Place:
    """Every place of the flat form is closed: «a field with no place is a `strip` entry» (architecture 5.1)."""
    return Place(HOME, {}, lambda message: frozenset(), lambda block: "", frozenset(), options.unknown == "keep")


def fit_block(options: Options) -> FitBlock:
    """Text, calls and results as they are; the rest is dropped.

    Loses: BLK001, BLK002, BLK003, MED001, RES001, RSN003, RSN005, RSN006.
    """
    here = place(options)

    def fit_block(block: Block, message: Message, ledger: Ledger) -> Block | Receipt:
        if type(block) is Text:
            return block
        if type(block) is ToolCall:
            if block.executor == "provider":
                return drop_call(BLK002, block, ledger, kind=block.kind)
            return block if message.role == "assistant" else misplaced(block, ledger)
        if type(block) is ToolResult:
            if block.executor == "provider":
                return drop_call(BLK002, block, ledger, kind=block.kind)
            return misplaced(block, ledger) if message.role in INSTRUCTING else flag_in_text(block, ledger)
        if type(block) is Reasoning:
            return fit_without(block, options, ledger)
        if type(block) is Media:
            return ledger.drop(MED001, block, kind=block.kind, source=block.source)
        if type(block) is Refusal:
            ledger.degrade(BLK002, block, kind="refusal")
            return Text(block.text, block.at)
        if type(block) is Opaque:
            return fit_opaque(block, here, ledger)
        assert_never(block)

    return fit_block
