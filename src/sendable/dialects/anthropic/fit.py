"""What Messages cannot hold, block by block."""

from __future__ import annotations

import re
from typing import assert_never

from sendable.codes import BLK001, BLK002, IDS004, PAR005
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
    changed,
)
from sendable.dialects.anthropic.nested import fit_citations, fit_found
from sendable.dialects.anthropic.read import HOME, KEYS
from sendable.options import Options
from sendable.report import Ledger, Receipt
from sendable.rules.arguments import fit_arguments
from sendable.rules.blocks import FitBlock, Place, drop_call, fit_opaque, misplaced
from sendable.rules.media import fit_media, plain_text
from sendable.rules.reasoning import fit_signed

ISSUER = "anthropic"

# «server_tool_use.id: String should match pattern '^srvtoolu_[a-zA-Z0-9_]+$'» (AT3): no other id can be given to what a server executed.
_SERVER_IDS = {"server_tool_use": re.compile(r"srvtoolu_[a-zA-Z0-9_]+")}
_ANY_ID = re.compile(r"[a-zA-Z0-9_-]+")
_NAME = re.compile(r"[a-zA-Z0-9_-]{1,128}")

SERVER_TOOLS = frozenset(
    {
        "advisor", "web_search", "web_fetch", "code_execution", "bash_code_execution", "text_editor_code_execution",
        "tool_search_tool_regex", "tool_search_tool_bm25",
    }
)  # fmt: skip
"""The tools that the provider executes itself (anthropic 2.14.0); those of an MCP server have any name."""

_MESSAGE = frozenset({"role", "content"})
# «role 'system' supports text, tool_addition, and tool_removal blocks only» (AN7, measured).
_IN_SYSTEM = frozenset({"tool_addition", "tool_removal"})
_SYSTEM = frozenset({"role", "content", "clear_at", "output_config"})


def place(options: Options) -> Place:
    """Closed everywhere: «messages.0.bogus: Extra inputs are not permitted» (AN19, 2026-09). System messages have two more fields (AN8)."""
    return Place(
        HOME,
        KEYS,
        lambda message: _SYSTEM if message.role == "system" else _MESSAGE,
        kind_of,
        frozenset({"cache_control"}),
        options.unknown == "keep",
        search_result="search_result",
    )


def kind_of(block: Block) -> str:
    """The kind under which Messages writes a block."""
    if type(block) is Text or type(block) is Refusal:
        return "text"
    if type(block) is ToolCall:
        return "tool_use" if block.executor == "client" else block.kind
    if type(block) is ToolResult:
        return "tool_result" if block.executor == "client" else block.kind
    if type(block) is Reasoning:
        return "thinking"
    if type(block) is Media or type(block) is Opaque:
        return block.kind
    assert_never(block)


def takes(block: Media) -> bool:
    """Images and documents, inline, by URL or by a file of Anthropic's own (rule AT10, appendix B); no audio, no video."""
    if block.kind == "image":
        return block.source != "text" and (
            block.media_type is None or block.source != "base64" or block.media_type in IMAGES
        )
    return block.kind == "document" and (block.source != "base64" or block.media_type == "application/pdf")


IMAGES = frozenset({"image/jpeg", "image/png", "image/gif", "image/webp"})
"""«media types jpeg/png/gif/webp» (provider-rules 3.5)."""


# «tool_result.content: string or text/image/search_result/document/tool_reference/browser_state» (AT10).
_IN_RESULTS = frozenset({"search_result", "document", "tool_reference", "browser_state"})


def _fit_content(result: ToolResult, ledger: Ledger) -> ToolResult:
    """A result without blocks of a kind that no result holds.

    Loses: BLK003.
    """
    kept: list[Block] = []
    for inner in result.content:
        if type(inner) is Opaque and inner.kind not in _IN_RESULTS:
            misplaced(inner, ledger)
        else:
            kept.append(inner)
    return result if len(kept) == len(result.content) else changed(result, content=tuple(kept))


def fit_block(options: Options, issuer: str = ISSUER) -> FitBlock:
    """Every block as Messages has it: arguments as an object, reasoning only with the issuer's own signature.

    Where another vendor is the issuer, it hosts no tools: «its own `*_tool_result` server blocks» are what MiniMax does not take (section 9,
    measured 2026-09).

    Loses: ARG001, ARG002, ARG004, ARG006, BLK001, BLK002, BLK003, FLD001, FLD010, IDS004, MED001, MED002, MED003, MED004, PAR005, RSN002, RSN012, RSN004, RSN005, RSN006.
    """
    here = place(options)

    def fit_block(block: Block, message: Message, ledger: Ledger) -> Block | Receipt:
        if type(block) is Text:
            cited = block.home == HOME and block.extra is not None and "citations" in block.extra
            return fit_citations(block, ledger) if cited else block
        if type(block) is ToolCall:
            if block.executor == "provider":
                if block.home != HOME or issuer != ISSUER:
                    return drop_call(BLK002, block, ledger, kind=block.kind)
                if type(block.id) is not str or not _SERVER_IDS.get(block.kind, _ANY_ID).fullmatch(block.id):
                    return drop_call(PAR005, block, ledger, kind=block.kind)
                if (
                    type(block.name) is not str
                    or not _NAME.fullmatch(block.name)
                    or (block.kind == "server_tool_use" and block.name not in SERVER_TOOLS)
                ):
                    # What a server executed cannot be given another name.
                    return drop_call(IDS004, block, ledger, kind=block.kind)
            return fit_arguments(block, "object", ledger) if message.role == "assistant" else misplaced(block, ledger)
        if type(block) is ToolResult:
            if block.executor == "client":
                return misplaced(block, ledger) if message.role in INSTRUCTING else _fit_content(block, ledger)
            if block.home != HOME or issuer != ISSUER:
                return drop_call(BLK002, block, ledger, kind=block.kind)
            found = fit_found(block, ledger)
            if found is None:
                return drop_call(BLK001, block, ledger, kind=block.kind)
            return found if message.role == "assistant" else misplaced(found, ledger)
        if type(block) is Reasoning:
            return (
                fit_signed(block, issuer, options, ledger) if message.role == "assistant" else misplaced(block, ledger)
            )
        if type(block) is Media:
            if message.role in ("system", "developer"):
                return misplaced(block, ledger)
            return fit_media(plain_text(block, ledger) if block.source == "text" else block, takes, HOME, ledger)
        if type(block) is Refusal:
            ledger.degrade(BLK002, block, kind="refusal")
            return Text(block.text, block.at)
        if type(block) is Opaque:
            if message.role in ("system", "developer") and block.kind not in _IN_SYSTEM:
                return misplaced(block, ledger)
            return fit_opaque(block, here, ledger)
        assert_never(block)

    return fit_block
