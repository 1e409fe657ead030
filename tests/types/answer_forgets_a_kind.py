"""What a client is shown of an answer, without a decision on media."""

from typing import assert_never

from sendable.codes import BLK002
from sendable.conversation import Block, Message, Opaque, Reasoning, Refusal, Text, ToolCall, ToolResult
from sendable.report import Ledger, Receipt


def shown(block: Block, message: Message, ledger: Ledger) -> Block | Receipt:
    if type(block) is Text or type(block) is Reasoning or type(block) is ToolCall or type(block) is Refusal:
        return block
    if type(block) is ToolResult or type(block) is Opaque:
        return ledger.drop(BLK002, block)
    assert_never(block)  # refused: media
