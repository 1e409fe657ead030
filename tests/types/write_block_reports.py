"""A write_block that drops: writing is after everything that may lose something."""

from __future__ import annotations

from sendable.codes import BLK002
from sendable.conversation import Block, Reasoning
from sendable.dialects import Wire
from sendable.report import Ledger


def write_block(block: Block, ledger: Ledger) -> Wire:
    if type(block) is Reasoning:
        return ledger.drop(BLK002, block)  # refused: a receipt is not written
    return Wire({"raw": block.raw})
