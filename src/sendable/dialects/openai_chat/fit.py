"""What Chat cannot hold, block by block: OpenAI's own server, and what other servers that speak Chat take otherwise.

What must not live here: which server takes what (targets.py puts the parts together).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeAlias, assert_never, final

import msgspec

from sendable.codes import BLK002, CON001, MED001
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
)
from sendable.dialects.openai_chat.read import HOME, transcript
from sendable.options import Options
from sendable.report import Ledger, Receipt
from sendable.rules.arguments import fit_arguments
from sendable.rules.blocks import FitBlock, Place, drop_call, fit_opaque, misplaced
from sendable.rules.media import fit_media, flag_in_text
from sendable.rules.reasoning import ISSUERS, fit_unsigned

BlockKeys: TypeAlias = Mapping[str, frozenset[str] | None]
FitReasoning: TypeAlias = Callable[[Reasoning, Options, Ledger], Block | Receipt]

NO_KEYS: BlockKeys = {}
"""No object takes a field that the hub does not model: «no null or unknown keys»."""

MESSAGE_KEYS: BlockKeys = {
    **dict.fromkeys(("text", "image", "audio", "document", "refusal", "reasoning", "call", "opaque")),
    "result": frozenset({"name"}),
}
"""A message takes no other fields; its parts and calls are open. A tool message is the result itself."""


def place(options: Options, message_keys: frozenset[str] | None = None, block_keys: BlockKeys | None = None) -> Place:
    """Kinds of part are closed («Content blocks are expected to be either text or image_url type», OC12), fields are open (OC14 is
    not measured) unless a server closes them, the request's own fields are closed (OC13)."""
    return Place(
        HOME,
        block_keys,
        None if message_keys is None else lambda message: message_keys,
        kind_of,
        frozenset(),
        options.unknown == "keep",
        frozenset({"name"}),
        # `original` is a word of Responses alone (openai 3.57.0).
        {("image", "detail"): ("image_url.detail", frozenset({"low", "high", "auto"}))} if block_keys is None else {},
        signs=lambda block: block.home == HOME and block_keys is None,
    )


def kind_of(block: Block) -> str:
    """Under which kind the fields of a block are looked up."""
    if type(block) is Text:
        return "text"
    if type(block) is ToolCall:
        return "call"
    if type(block) is ToolResult:
        return "result"
    if type(block) is Media:
        return block.kind
    if type(block) is Reasoning:
        return "reasoning"
    if type(block) is Refusal:
        return "refusal"
    if type(block) is Opaque:
        return "opaque"
    assert_never(block)


# What a server takes: each part is a function, and OpenAI's own is the default.


def takes(block: Media) -> bool:
    """Images by URL or inline, audio and files inline or by file id (OC12); a document of plain text becomes text before this is asked."""
    if block.kind == "image":
        return block.source in ("base64", "url")
    if block.kind == "audio":
        return block.source == "base64"
    return block.kind == "document" and (
        block.source in ("base64", "file_id") or (block.source == "url" and block.home == HOME)
    )


def takes_images(block: Media) -> bool:
    """«text or image_url only» (Cohere, CO7)."""
    return block.kind == "image" and block.source in ("base64", "url")


def takes_images_and_audio(block: Media) -> bool:
    """User chunks: text, image (from v3), audio (from v7) (Mistral, MI11)."""
    return takes_images(block) or (block.kind == "audio" and block.source == "base64")


def takes_images_and_files(block: Media) -> bool:
    """«unknown variant video_url, expected one of text, image_url, file» (DeepSeek, DS9, measured 2026-09)."""
    return takes_images(block) or (block.kind == "document" and block.source == "base64")


def any_arguments(call: ToolCall, ledger: Ledger) -> ToolCall:
    """Any text, and custom tools with free text (OC20, OC21).

    Loses: ARG002, ARG004.
    """
    return fit_arguments(call, "text", ledger)


def parsed_arguments(call: ToolCall, ledger: Ledger) -> ToolCall:
    """The JSON text of an object, in functions only: «Emit valid JSON objects (compatibles do parse it)» (OC21), «custom (freeform) tool
    call: wrap» (section 11), «tool call must be of type function» (CO4).

    Loses: ARG001, ARG002, ARG004, ARG006.
    """
    if call.kind == "custom":
        call = fit_arguments(call, "object", ledger)
    return fit_arguments(call, "parsed text", ledger)


def in_field(block: Reasoning, options: Options, ledger: Ledger) -> Block | Receipt:
    """Readable reasoning goes to `reasoning_content`, without a signature.

    Loses: EMP003, RSN001, RSN003, RSN005, RSN006.
    """
    return fit_unsigned(block, HOME, options, ledger)


def as_it_came(block: Refusal, ledger: Ledger) -> Block:
    """OpenAI's own part, or field."""
    return block


def as_text(block: Refusal, ledger: Ledger) -> Block:
    """«refusal: text» (section 11).

    Loses: BLK002.
    """
    ledger.degrade(BLK002, block, kind="refusal")
    return Text(block.text, block.at)


def with_handles(block: Opaque, here: Place, ledger: Ledger) -> Block | Receipt:
    """What only Chat knows passes at home; `audio` is a handle of OpenAI's own.

    Loses: BLK001, BLK002.
    """
    return fit_opaque(block, here, ledger)


def without_handles(block: Opaque, here: Place, ledger: Ledger) -> Block | Receipt:
    """«replay is by handle only … on any other provider/model the handle is dead» (section 1.3): the words stay, if they were stored.

    Loses: BLK001, BLK002, CON001.
    """
    if block.home == HOME and block.intact:
        said = transcript(block)
        if said is None:
            return ledger.drop(CON001, block, kind=block.kind)
        ledger.degrade(CON001, block, kind=block.kind)
        return Text(said, block.at)
    return fit_opaque(block, here, ledger)


@final
class Server(msgspec.Struct, frozen=True):
    """What one server that speaks Chat takes. `message_keys`, `block_keys`: see `place`."""

    arguments: Callable[[ToolCall, Ledger], ToolCall] = any_arguments
    reasoning: FitReasoning = in_field
    media: Callable[[Media], bool] = takes
    refusal: Callable[[Refusal, Ledger], Block] = as_it_came
    opaque: Callable[[Opaque, Place, Ledger], Block | Receipt] = with_handles
    message_keys: frozenset[str] | None = None
    block_keys: BlockKeys | None = None
    # Whose files it can open.
    issuer: str | None = "openai"


OPENAI = Server()

ABROAD = Server(arguments=parsed_arguments, refusal=as_text, opaque=without_handles, issuer=None)
"""What is OpenAI's alone (free-text tools, refusals, audio handles) is known to no other server."""


def place_of(server: Server, options: Options) -> Place:
    """Which fields a server takes."""
    return place(options, server.message_keys, server.block_keys)


def fit_block(options: Options, server: Server = OPENAI) -> FitBlock:
    """Every block as Chat has it: arguments as text, readable reasoning without its signature, errors said in the text.

    Loses: ARG001, ARG002, ARG004, ARG006, BLK001, BLK002, BLK003, CON001, EMP003, MED001, MED002, MED003, MED004, RES001, RSN001, RSN003, RSN005, RSN006.
    """
    here = place_of(server, options)

    def fit_block(block: Block, message: Message, ledger: Ledger) -> Block | Receipt:
        if type(block) is Text:
            return block
        if type(block) is ToolCall:
            if block.executor == "provider":
                return drop_call(BLK002, block, ledger, kind=block.kind)
            if message.role != "assistant":
                return misplaced(block, ledger)
            return server.arguments(block, ledger)
        if type(block) is ToolResult:
            if block.executor == "provider":
                return drop_call(BLK002, block, ledger, kind=block.kind)
            return misplaced(block, ledger) if message.role in INSTRUCTING else flag_in_text(block, ledger)
        if type(block) is Reasoning:
            return server.reasoning(block, options, ledger) if message.role == "assistant" else misplaced(block, ledger)
        if type(block) is Media:
            return _fit_media(block, message, server, ledger)
        if type(block) is Refusal:
            return server.refusal(block, ledger) if message.role == "assistant" else as_text(block, ledger)
        if type(block) is Opaque:
            if message.role != "assistant" and block.home == HOME and type(block.at[-1]) is str:
                # A field of an assistant's message, such as `audio`.
                return misplaced(block, ledger)
            return server.opaque(block, here, ledger)
        assert_never(block)

    return fit_block


def _fit_media(block: Media, message: Message, server: Server, ledger: Ledger) -> Block | Receipt:
    if message.role in ("system", "developer"):
        return misplaced(block, ledger)
    if block.source == "text":
        ledger.degrade(MED001, block, kind=block.kind, source="text")
        return Text(block.data, block.at)
    # A file of OpenAI's is the same file under either of its APIs.
    same = block.home is not None and server.issuer is not None and ISSUERS.get(block.home) == server.issuer
    return fit_media(block, server.media, block.home if same and block.home is not None else HOME, ledger)
