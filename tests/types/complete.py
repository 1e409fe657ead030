"""The complete forms, which both checkers must accept: the snippets beside this one differ from it in one thing each."""

from __future__ import annotations

from typing import assert_never

from sendable.codes import BLK002
from sendable.conversation import Block, Media, Message, Opaque, Reasoning, Refusal, Text, ToolCall, ToolResult
from sendable.dialects import Wire
from sendable.report import Ledger, Receipt


def fit_block(block: Block, message: Message, ledger: Ledger) -> Block | Receipt:
    if type(block) is Text:
        return block
    if type(block) is ToolCall or type(block) is ToolResult:
        return block
    if type(block) is Reasoning or type(block) is Media:
        return ledger.drop(BLK002, block)
    if type(block) is Refusal or type(block) is Opaque:
        return ledger.drop(BLK002, block)
    assert_never(block)


def write_block(block: Block) -> Wire:
    if type(block) is Text:
        return Wire({"text": block.text})
    if type(block) is ToolCall or type(block) is ToolResult:
        return Wire({"id": block.id})
    if type(block) is Reasoning or type(block) is Media:
        return Wire({"raw": block.raw})
    if type(block) is Refusal or type(block) is Opaque:
        return Wire({"raw": block.raw})
    assert_never(block)
