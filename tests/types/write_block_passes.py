"""A write_block whose arm for reasoning does nothing."""

from __future__ import annotations

from sendable.conversation import Block, Reasoning
from sendable.dialects import Wire


def write_block(block: Block) -> Wire:  # refused: an arm returns nothing
    if type(block) is Reasoning:
        pass
    else:
        return Wire({"raw": block.raw})
