"""A write_block that forgets opaque blocks."""

from __future__ import annotations

from typing import assert_never

from sendable.conversation import Block, Media, Reasoning, Refusal, Text, ToolCall, ToolResult
from sendable.dialects import Wire


def write_block(block: Block) -> Wire:
    if type(block) is Text:
        return Wire({"text": block.text})
    if type(block) is ToolCall or type(block) is ToolResult:
        return Wire({"id": block.id})
    if type(block) is Reasoning or type(block) is Media or type(block) is Refusal:
        return Wire({"raw": block.raw})
    assert_never(block)  # refused: Opaque is left
