"""What Converse cannot hold, block by block."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, assert_never

from sendable import payload
from sendable.codes import BLK001, BLK002, BLK003, FLD001, MED001
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
from sendable.dialects.bedrock.read import HOME, KEYS, MARK, MEDIA_TYPES, WRAPPED
from sendable.options import Options
from sendable.payload import Leaf
from sendable.report import Ledger, Receipt
from sendable.rules.arguments import fit_arguments
from sendable.rules.blocks import FitBlock, Place, drop_call, fit_opaque, misplaced
from sendable.rules.media import fit_media
from sendable.rules.reasoning import fit_signed

ISSUER = "anthropic"
"""Who made the signed reasoning that Converse takes back: Claude's, also from Anthropic's own API (architecture 6)."""


def place(options: Options) -> Place:
    """Closed everywhere: a union of exactly one known member, of known fields (BE8)."""
    return Place(
        HOME,
        KEYS,
        lambda message: frozenset(),
        kind_of,
        frozenset({MARK}),
        options.unknown == "keep",
        search_result="searchResult",
    )


def kind_of(block: Block) -> str:
    """The kind under which Converse writes a block."""
    if type(block) is Text or type(block) is Refusal:
        return "text"
    if type(block) is ToolCall:
        return "toolUse"
    if type(block) is ToolResult:
        return "toolResult"
    if type(block) is Reasoning:
        return "reasoningContent"
    if type(block) is Media or type(block) is Opaque:
        return block.kind
    assert_never(block)


def takes(block: Media) -> bool:
    """Images, documents, audio and video of a known format: inline, at a place in S3, or a document as text; no URL (BE14–BE16)."""
    if block.source == "text":
        return block.kind == "document"
    if block.source == "file_id":
        # Where the format is missing, only a document may do without.
        return block.media_type in MEDIA_TYPES[block.kind].values() or block.kind == "document"
    if block.source == "base64":
        # An image without a type may still show it in its bytes.
        return block.media_type in MEDIA_TYPES[block.kind].values() or (
            block.media_type is None and block.kind == "image"
        )
    return False


_IN_SYSTEM = frozenset({"cachePoint"})
_IN_RESULTS = frozenset({"searchResult"})
_OPAQUE_IN_MESSAGES = frozenset({"cachePoint", "searchResult", "toolAddition", "toolRemoval", "guardContent"})


def fit_block(options: Options, issuer: str | None = ISSUER, unsigned: bool = True) -> FitBlock:
    """Every block as Converse has it: arguments as an object, reasoning with a signature of `issuer`, no URLs.

    `unsigned`: the models include some that think without signing, so that reasoning of Converse's own form needs no signature.

    Loses: ARG001, ARG002, ARG004, ARG006, BLK001, BLK002, BLK003, FLD001, MED001, MED002, MED003, MED004, RSN002, RSN012, RSN004, RSN005,
    RSN006.
    """
    here = place(options)

    def fit_block(block: Block, message: Message, ledger: Ledger) -> Block | Receipt:
        if type(block) is Text:
            return _plain_text(block, ledger) if message.role in INSTRUCTING else block
        if type(block) is ToolCall:
            if block.executor == "provider" and block.home != HOME:
                return drop_call(BLK002, block, ledger, kind=block.kind)
            if block.executor == "provider" and not (_is(_ID, block.id) and _is(_NAME, block.name)):
                # Its own provider wrote it; nobody can say what it was meant to be.
                return drop_call(BLK001, block, ledger, kind=block.kind)
            return fit_arguments(block, "object", ledger) if message.role == "assistant" else misplaced(block, ledger)
        if type(block) is ToolResult:
            return _fit_result(block, message, ledger)
        if type(block) is Reasoning:
            if message.role != "assistant":
                return misplaced(block, ledger)
            if unsigned and block.signature is None and block.home == HOME and options.reasoning is None:
                return block
            return fit_signed(block, issuer or "", options, ledger)
        if type(block) is Media:
            if message.role in INSTRUCTING and not _is_guarded(block):
                return misplaced(block, ledger)
            return _fit_media(block, ledger)
        if type(block) is Refusal:
            ledger.degrade(BLK002, block, kind="refusal")
            return Text(block.text, block.at)
        if type(block) is Opaque:
            if block.home == HOME and block.kind == "cachePoint" and block.extra is not None and MARK in block.extra:
                return block
            if block.intact and block.home == HOME and message.role in INSTRUCTING and block.kind not in _IN_SYSTEM:
                return misplaced(block, ledger)
            return fit_opaque(block, here, ledger)
        assert_never(block)

    return fit_block


_ID = re.compile(r"[a-zA-Z0-9_.:-]{1,64}")
_NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")


def _is(pattern: re.Pattern[str], value: Any) -> bool:
    return type(value) is str and pattern.fullmatch(value) is not None


def _is_guarded(block: Media) -> bool:
    return block.home == HOME and block.extra is not None and "guardContent" in block.extra


def _plain_text(block: Text, ledger: Ledger, wrappings: tuple[str, ...] = ("citationsContent",)) -> Text:
    """A text without those wrappings of Converse's own that its place does not know.

    Loses: FLD001.
    """
    if block.extra is None or block.home != HOME or block.extra.keys().isdisjoint(wrappings):
        return block
    rest: dict[str, Any] = {}
    for key, value in block.extra.items():
        if key in wrappings:
            ledger.strip(FLD001, block, (key,))
        else:
            rest[key] = value
    bare: Text = changed(block, extra=rest or None)
    return bare


def _fit_result(block: ToolResult, message: Message, ledger: Ledger) -> Block | Receipt:
    """A result with content that a result may hold (BE12): text, JSON, images, documents, video, search results.

    Loses: BLK002, BLK003, FLD001, MED001.
    """
    if block.executor == "provider":
        if block.home != HOME:
            return drop_call(BLK002, block, ledger, kind=block.kind)
        return block if message.role == "assistant" else misplaced(block, ledger)
    kept: list[Block] = []
    for inner in block.content:
        if type(inner) is Text and inner.home is None and payload.is_empty(inner.text):
            continue  # keeps: an empty text as the whole content says nothing, and Converse has a list for it
        if type(inner) is Text:
            kept.append(_plain_text(inner, ledger, WRAPPED))
        elif type(inner) is Media:
            if inner.kind == "audio" or _is_guarded(inner):
                ledger.drop(MED001, inner, kind=inner.kind, source=inner.source)
            else:
                kept.append(inner)
        elif type(inner) is Opaque and (inner.kind in _IN_RESULTS or inner.home != HOME):
            kept.append(inner)
        else:
            ledger.drop(BLK003, inner)
    if all(a is b for a, b in zip(kept, block.content, strict=False)) and len(kept) == len(block.content):
        return block
    fitted: ToolResult = changed(block, content=tuple(kept))
    return fitted


def _fit_media(block: Media, ledger: Ledger) -> Block | Receipt:
    """Media in a form that Converse has, judged again when the bytes have shown what they are.

    Loses: MED001, MED002, MED003, MED004.
    """
    fitted = fit_media(block, takes, HOME, ledger)
    if type(fitted) is Media and fitted is not block and not takes(fitted):
        return ledger.drop(MED001, block, kind=block.kind, source=block.source)
    if type(fitted) is Media and fitted.source == "base64" and fitted.media_type is None:
        return ledger.drop(MED001, block, kind=block.kind, source=block.source)
    return fitted


def cache_point(mark: Leaf, block: Block) -> Opaque | None:
    """The cache point that stands for a mark on a block, or None if the mark is none that Anthropic or Converse knows."""
    fields = payload.fields(mark)
    if fields is None or payload.string(fields.get("type")) != "ephemeral" or not fields.keys() <= {"type", "ttl"}:
        return None
    ttl = payload.string(fields.get("ttl"))
    if ttl not in (None, "5m", "1h"):
        return None
    point: Mapping[str, Any] = {"type": "default", **({"ttl": ttl} if ttl is not None else {})}
    return Opaque("cachePoint", block.at, {"cachePoint": point}, HOME, True)
