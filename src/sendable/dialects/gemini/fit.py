"""What generateContent cannot hold, block by block."""

from __future__ import annotations

from typing import TypeVar, assert_never

import msgspec

from sendable import paths, payload
from sendable.codes import BLK002, FLD001, MED001, RSN001
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
from sendable.dialects.gemini.read import HOME, KEYS, RESULT_PART, SIGNATURES, media_kind
from sendable.options import Options
from sendable.payload import Leaf
from sendable.report import Ledger, Receipt
from sendable.rules.arguments import fit_arguments
from sendable.rules.blocks import FitBlock, Place, drop_call, fit_opaque, misplaced
from sendable.rules.media import fit_media
from sendable.rules.reasoning import fit_signature, fit_thought

ISSUER = "google"

Carrying = TypeVar("Carrying", ToolResult, Media, Opaque)
Inner = TypeVar("Inner", Text, Media)


def place(options: Options) -> Place:
    """Closed everywhere: «Unknown name "txt"», as the SDK says `extra_forbidden` (`gen`). Signatures were judged by `fit_block`."""
    return Place(
        HOME,
        KEYS,
        lambda message: frozenset(),
        kind_of,
        # The name of its tool, which Chat may write on a result, is what Gemini wants there.
        frozenset({"name"}),
        options.unknown == "keep",
        signs=lambda block: True,
    )


def kind_of(block: Block) -> str:
    """The data field of a part under which a block is written."""
    if type(block) is Text or type(block) is Refusal or type(block) is Reasoning:
        return "text"
    if type(block) is ToolCall:
        return "functionCall"
    if type(block) is ToolResult:
        return "functionResponse"
    if type(block) is Media:
        return "inlineData" if block.source == "base64" else "fileData"
    if type(block) is Opaque:
        return block.kind
    assert_never(block)


def takes(block: Media) -> bool:
    """Anything inline, by URL («fileData.fileUri must be reachable», GE23) or by a file of Google's own."""
    return block.source != "text" and (block.source == "base64" or not payload.is_blank(block.data))


def fit_block(options: Options) -> FitBlock:
    """Every block as generateContent has it: arguments as an object, thoughts only its own, signatures only Google's.

    Loses: ARG001, ARG002, ARG004, ARG006, BLK001, BLK002, BLK003, MED001, MED002, MED003, MED004, RSN001, RSN002, RSN012, RSN004, RSN005, RSN006,
    RSN010.
    """
    here = place(options)

    def fit_block(block: Block, message: Message, ledger: Ledger) -> Block | Receipt:
        if type(block) is Text:
            return fit_signature(block, ISSUER, options, ledger)
        if type(block) is ToolCall:
            if block.executor == "provider":
                return drop_call(BLK002, block, ledger, kind=block.kind)
            if message.role != "assistant":
                return misplaced(block, ledger)
            if block.home == HOME and payload.is_null(block.arguments):
                # A call of Gemini's own may leave them out.
                return fit_signature(block, ISSUER, options, ledger)
            return fit_signature(fit_arguments(block, "object", ledger), ISSUER, options, ledger)
        if type(block) is ToolResult:
            if block.executor == "provider":
                return drop_call(BLK002, block, ledger, kind=block.kind)
            return _well_signed(_fit_content(block, ledger), ledger)
        if type(block) is Reasoning:
            if message.role != "assistant":
                return misplaced(block, ledger)
            return fit_thought(block, HOME, ISSUER, options, ledger)
        if type(block) is Media:
            media = _fit_media(block, message, ledger)
            return _well_signed(media, ledger) if type(media) is Media else media
        if type(block) is Refusal:
            ledger.degrade(BLK002, block, kind="refusal")
            return Text(block.text, block.at)
        if type(block) is Opaque:
            if message.role in INSTRUCTING and block.home == HOME:
                return misplaced(block, ledger)
            kept = fit_opaque(block, here, ledger)
            return _well_signed(kept, ledger) if type(kept) is Opaque else kept
        assert_never(block)

    return fit_block


def _well_signed(block: Carrying, ledger: Ledger) -> Carrying:
    """A block without a signature of its own, whose part may have one: it stays beside it if it can be one.

    Loses: RSN001.
    """
    if block.extra is None or block.home != HOME:
        return block
    odd = [key for key in SIGNATURES if key in block.extra and not _may_sign(block.extra[key])]
    if not odd:
        return block
    for key in odd:
        ledger.strip(RSN001, block, (key,))
    kept = {key: value for key, value in block.extra.items() if key not in odd}  # keeps: reported above
    return changed(block, extra=kept or None)


def _may_sign(value: Leaf) -> bool:
    return payload.kind(value) == "text" and (payload.is_empty(value) or payload.clean_base64(value) is not None)


def _fit_content(result: ToolResult, ledger: Ledger) -> ToolResult:
    """A result with nothing in it but texts and media: a response is one text, and its parts have fewer fields than others.

    Loses: BLK003, FLD001, RSN001.
    """
    kept: list[Block] = []
    for inner in result.content:
        if type(inner) is Text:
            if inner.signature is not None:
                ledger.strip(RSN001, inner, "signature")
                inner = changed(inner, signature=None)
            kept.append(_with_fields(inner, frozenset(), ledger))
        elif type(inner) is Media:
            kept.append(_with_fields(inner, RESULT_PART, ledger))
        else:
            misplaced(inner, ledger)
    if len(kept) == len(result.content) and all(a is b for a, b in zip(kept, result.content, strict=True)):
        return result
    fitted: ToolResult = changed(result, content=tuple(kept))
    return fitted


def _with_fields(block: Inner, known: frozenset[str], ledger: Ledger) -> Inner:
    """A block inside a result with none but these fields.

    Loses: FLD001.
    """
    kept = {
        key: value for key, value in (block.extra or {}).items() if key.partition(".")[0] in known
    }  # keeps: see below
    if len(kept) == len(block.extra or ()):
        return block
    for key in block.extra or ():
        if key not in kept:
            ledger.strip(FLD001, block, paths.inside(block.raw, key))
    return changed(block, extra=kept or None)


def _fit_media(block: Media, message: Message, ledger: Ledger) -> Block | Receipt:
    if message.role in INSTRUCTING:
        return misplaced(block, ledger)
    if block.source == "text":
        ledger.degrade(MED001, block, kind=block.kind, source="text")
        return Text(block.data, block.at)
    if block.home == HOME and block.intact and block.source == "base64" and _is_webs(block):
        return block
    fitted = fit_media(block, takes, HOME, ledger)
    if type(fitted) is Media and fitted.media_type != block.media_type and media_kind(fitted.media_type) != block.kind:
        # Gemini has one word for all media: what the bytes show is what is counted.
        return msgspec.structs.replace(fitted, kind=media_kind(fitted.media_type))
    return fitted


def _is_webs(block: Media) -> bool:
    """Whether inline data is base64 in the alphabet of URLs, in which Google's own SDK writes it: the API takes both."""
    text = payload.string(block.data) if not payload.is_clean_base64(block.data) else None
    return (
        text is not None
        and not text.startswith("data:")
        and text.isascii()
        and text.replace("-", "a").replace("_", "a").rstrip("=").isalnum()
    )
