"""A write_block that writes nothing for a block."""

from __future__ import annotations

from sendable.conversation import Block, Reasoning
from sendable.dialects import Wire


def write_block(block: Block) -> Wire:
    if type(block) is Reasoning:
        return None  # refused: a writer cannot lose anything
    return Wire({"raw": block.raw})
