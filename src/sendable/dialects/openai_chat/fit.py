"""What Chat cannot hold, block by block."""

from __future__ import annotations

from typing import Literal, assert_never

from sendable.codes import BLK002, MED001
from sendable.conversation import Block, Media, Message, Opaque, Reasoning, Refusal, Text, ToolCall, ToolResult
from sendable.dialects.openai_chat.read import HOME
from sendable.options import Options
from sendable.report import Ledger, Receipt
from sendable.rules.arguments import fit_arguments
from sendable.rules.blocks import FitBlock, Place, drop_call, fit_opaque, misplaced
from sendable.rules.media import fit_media, flag_in_text
from sendable.rules.reasoning import fit_unsigned


def place(options: Options) -> Place:
    """Kinds of part are closed («Content blocks are expected to be either text or image_url type», OC12), fields are open (OC14 is
    not measured), the request's own fields are closed (OC13)."""
    return Place(HOME, None, None, lambda block: "", frozenset(), options.unknown == "keep")


def takes(block: Media) -> bool:
    """Images by URL or inline, audio and files inline or by file id (OC12); a document of plain text becomes text before this is asked."""
    if block.kind == "image":
        return block.source in ("base64", "url")
    if block.kind == "audio":
        return block.source == "base64"
    return block.kind == "document" and (
        block.source in ("base64", "file_id") or (block.source == "url" and block.home == HOME)
    )


def fit_block(options: Options, arguments: Literal["text", "parsed text"] = "text") -> FitBlock:
    """Every block as Chat has it: arguments as text, readable reasoning without its signature, errors said in the text.

    Loses: ARG001, ARG002, ARG004, BLK001, BLK002, BLK003, MED001, MED002, MED003, MED004, RES001, RSN001, RSN003, RSN005, RSN006.
    """
    here = place(options)

    def fit_block(block: Block, message: Message, ledger: Ledger) -> Block | Receipt:
        if type(block) is Text:
            return block
        if type(block) is ToolCall:
            if block.executor == "provider":
                return drop_call(BLK002, block, ledger, kind=block.kind)
            if message.role != "assistant":
                return misplaced(block, ledger)
            return fit_arguments(block, arguments, ledger)
        if type(block) is ToolResult:
            if block.executor == "provider":
                return drop_call(BLK002, block, ledger, kind=block.kind)
            return flag_in_text(block, ledger)
        if type(block) is Reasoning:
            return (
                fit_unsigned(block, HOME, options, ledger) if message.role == "assistant" else misplaced(block, ledger)
            )
        if type(block) is Media:
            return _fit_media(block, message, ledger)
        if type(block) is Refusal:
            if message.role == "assistant":
                return block
            ledger.degrade(BLK002, block, kind="refusal")
            return Text(block.text, block.at)
        if type(block) is Opaque:
            return fit_opaque(block, here, ledger)
        assert_never(block)

    return fit_block


def _fit_media(block: Media, message: Message, ledger: Ledger) -> Block | Receipt:
    if message.role in ("system", "developer"):
        return misplaced(block, ledger)
    if block.source == "text":
        ledger.degrade(MED001, block, kind=block.kind, source="text")
        return Text(block.data, block.at)
    return fit_media(block, takes, HOME, ledger)
