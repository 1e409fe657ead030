"""What Responses cannot hold, block by block."""

from __future__ import annotations

from typing import Any, assert_never

from sendable import payload
from sendable.codes import BLK001, BLK002, FLD001, FLD004, MED001, RSN001, RSN002, RSN005, RSN012
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
from sendable.dialects.openai_responses.read import HOME, ITEMS, KEYS, OPAQUE, is_sound
from sendable.options import Options
from sendable.report import Ledger, Receipt
from sendable.rules.arguments import fit_arguments
from sendable.rules.blocks import FitBlock, Place, drop_call, fit_opaque, misplaced
from sendable.rules.media import fit_media, flag_in_text
from sendable.rules.reasoning import ISSUERS, fit_signed, fit_without, issuer_of

ISSUER = "openai"

ORDINARY = frozenset({"function", "custom"})
"""The kinds of call that every server of this API executes nothing for: the client does."""

OWN_CALLS = frozenset({"local_shell_call", "shell_call", "apply_patch_call"})
"""Calls of OpenAI's own tools that the client executes; a third party has no such tools."""

SUMMARIES = frozenset({"compaction"})
REFERENCES = frozenset({"item_reference"})
PREFIXES: dict[str, str] = {
    "message": "msg",
    "reasoning": "rs",
    "function_call": "fc",
    "function_call_output": "fc",
    "web_search_call": "ws",
    "custom_tool_call": "ctc",
    "custom_tool_call_output": "ctc",
}
"""«Invalid 'input[3].id': '__fake_id__'. Expected an ID that begins with 'fc'.» (OR6)."""

NEEDS_ID = frozenset(OPAQUE) - {"additional_tools", "configuration_update", "compaction_trigger", "compaction"}
"""Items that are nothing without their id (appendix A): they cannot lose it, and go."""


_MESSAGE = frozenset({"id", "status"})
"""The fields of a message beside its type, role and content; one of an assistant has its `phase` too."""


def place(options: Options) -> Place:
    """Closed: the request types name every field (appendix A), and what a provider adds to its answers is in none (OR27)."""
    return Place(
        HOME, KEYS, lambda message: _MESSAGE | {"phase"} if message.role == "assistant" else _MESSAGE, kind_of, frozenset({"prompt_cache_breakpoint"}), options.unknown == "keep",
        words={("input_image", "image_url.detail"): ("detail", frozenset({"low", "high", "auto", "original"}))},
    )  # fmt: skip


def kind_of(block: Block) -> str:
    """The kind under which Responses writes a block."""
    raw = (
        payload.string(payload.members(block.raw).get("type"))
        if type(block.raw) is dict and block.home == HOME
        else None
    )
    if raw is not None and raw in KEYS:
        return raw
    if type(block) is Text:
        return "input_text"
    if type(block) is Refusal:
        return "refusal"
    if type(block) is ToolCall:
        return {"function": "function_call", "custom": "custom_tool_call"}.get(block.kind, block.kind)
    if type(block) is ToolResult:
        return {"function": "function_call_output", "custom": "custom_tool_call_output"}.get(
            block.kind, f"{block.kind}_output"
        )
    if type(block) is Reasoning:
        return "reasoning"
    if type(block) is Media:
        return "input_image" if block.kind == "image" else "input_file"
    if type(block) is Opaque:
        return block.kind
    assert_never(block)


def stands_right(block: Block, message: Message) -> bool:
    """Whether a part is spelled as the role of its message demands.

    «Invalid value: 'input_text'. Supported values are: 'output_text' and 'refusal'» (OR2).
    """
    if type(block) is not Text or block.home != HOME or type(block.raw) is not dict:
        return True
    spelled = payload.string(payload.members(block.raw).get("type"))
    return spelled == ("output_text" if message.role == "assistant" else "input_text")


def takes(block: Media) -> bool:
    """Images and files, inline, by URL or by file id, in user messages and in outputs (OR12); no audio (OR4), no video."""
    if block.kind == "image":
        return block.source != "text"
    return block.kind == "document" and block.source != "text" and not (block.media_type or "").startswith("audio/")


def fit_block(options: Options, third_party: bool = False) -> FitBlock:
    """Every block as Responses has it: arguments as text, errors said in the text, reasoning only with OpenAI's own encrypted content.

    `third_party`: a server that speaks this API and hosts no tools of its own: it takes readable reasoning back and nothing sealed.

    Loses: ARG002, ARG004, BLK001, BLK002, BLK003, FLD001, FLD004, MED001, MED002, MED003, MED004, RES001, RSN001, RSN002, RSN003, RSN004, RSN012,
    RSN005, RSN006.
    """
    here = place(options)

    def fit_block(block: Block, message: Message, ledger: Ledger) -> Block | Receipt:
        if type(block) is Text:
            return _fit_text(block, message, ledger)
        if type(block) is ToolCall:
            if message.role != "assistant":
                return misplaced(block, ledger)
            if block.executor == "provider":
                return drop_call(BLK002, block, ledger, kind=block.kind)
            if block.kind in OWN_CALLS:
                return block if block.intact else drop_call(BLK001, block, ledger, kind=block.kind)
            return fit_arguments(block, "text", ledger)
        if type(block) is ToolResult:
            if block.executor == "provider":
                return drop_call(BLK002, block, ledger, kind=block.kind)
            return block if block.kind not in ORDINARY else flag_in_text(block, ledger)
        if type(block) is Reasoning:
            if message.role != "assistant":
                return misplaced(block, ledger)
            return _fit_reasoning(block, options, third_party, ledger)
        if type(block) is Media:
            return _fit_media(block, message, third_party, ledger)
        if type(block) is Refusal:
            if message.role == "assistant":
                return block
            ledger.degrade(BLK002, block, kind="refusal")
            return Text(block.text, block.at)
        if type(block) is Opaque:
            return _fit_opaque(block, message, here, third_party, ledger)
        assert_never(block)

    return fit_block


_SHAPED = frozenset({"annotations", "logprobs", "prompt_cache_breakpoint"})


def has_content(message: Message) -> bool:
    """Whether a message of this API holds its required `content`, which is a list where it has an id or a status (openai 3.57.0)."""
    if message.item or type(message.raw) is not dict or message.home != HOME:
        return True
    kind = payload.kind(message.raw.get("content"))
    return kind == "list" or (kind == "text" and "id" not in message.raw and "status" not in message.raw)


def _fit_text(block: Text, message: Message, ledger: Ledger) -> Text:
    """A text with the fields that a part of its message's role has.

    Loses: FLD001.
    """
    if block.extra is None:
        return block
    kept: dict[str, Any] = {}
    other = KEYS["input_text" if message.role == "assistant" else "output_text"] - {"type", "text"}
    for key, value in block.extra.items():
        if key in other or (key in _SHAPED and not is_sound(key, value)):
            if not payload.is_inert(value):
                ledger.strip(FLD001, block, (key,))
        else:
            kept[key] = value
    if len(kept) == len(block.extra):
        return block
    fitted: Text = changed(block, extra=kept or None)
    return fitted


def _fit_opaque(block: Opaque, message: Message, here: Place, third_party: bool, ledger: Ledger) -> Block | Receipt:
    if block.home == HOME and block.kind in ITEMS:
        if not message.item:
            return ledger.drop(BLK001, block, kind=block.kind)
        if third_party:
            return ledger.drop(BLK002, block, kind=block.kind)
    return fit_opaque(block, here, ledger)


def _fit_media(block: Media, message: Message, third_party: bool, ledger: Ledger) -> Block | Receipt:
    if block.source == "text":
        ledger.degrade(MED001, block, kind=block.kind, source="text")
        return Text(block.data, block.at)
    if message.role in INSTRUCTING and len(message.at) == 1:
        # The field `instructions` is a text.
        return misplaced(block, ledger)
    mark = (block.extra or {}).get("prompt_cache_breakpoint")
    if mark is not None and not is_sound("prompt_cache_breakpoint", mark):
        if not payload.is_inert(mark):
            ledger.strip(FLD001, block, ("prompt_cache_breakpoint",))
        rest = {
            key: value for key, value in (block.extra or {}).items() if key != "prompt_cache_breakpoint"
        }  # keeps: reported
        block = changed(block, extra=rest or None)
    # A file of OpenAI's is the same file under either of its APIs.
    own = block.home if not third_party and block.home is not None and ISSUERS.get(block.home) == ISSUER else HOME
    return fit_media(block, takes, own, ledger)


def _fit_reasoning(block: Reasoning, options: Options, third_party: bool, ledger: Ledger) -> Block | Receipt:
    """A reasoning item that the provider takes back.

    One without encrypted content stands for itself by its id, while the provider keeps its items (`continuation.py` judges that).
    """
    if options.reasoning is not None or block.home != HOME:
        return fit_without(block, options, ledger) if third_party else fit_signed(block, ISSUER, options, ledger)
    if third_party:
        return _unsealed(block, options, ledger)
    if block.signature is None:
        if options.prefix_changed or payload.kind((block.extra or {}).get("id")) != "text":
            return ledger.drop(RSN002, block, "signature")
    else:
        kept = fit_signed(block, ISSUER, options, ledger)
        if type(kept) is Receipt:
            return kept
    return _whole(_without(block, "content", ledger), ledger)


def _unsealed(block: Reasoning, options: Options, ledger: Ledger) -> Block | Receipt:
    """Readable reasoning as a third party wrote it («The reasoning_text in the thinking mode must be passed back», DS5); no seal of OpenAI's.

    A seal that does not show its maker is the server's own.
    """
    foreign = block.signature is not None and issuer_of(block.signature, options) == ISSUER
    if block.text is None and (block.signature is None or foreign):
        return ledger.drop(RSN002 if block.signature is None else RSN012, block, "signature")
    if foreign:
        ledger.strip(RSN001, block, "signature")
        rest = {
            key: value for key, value in payload.members(block.raw).items() if key != "encrypted_content"
        }  # keeps: reported above
        block = changed(block, signature=None, raw=rest)
    return _whole(block, ledger)


def _without(block: Reasoning, key: str, ledger: Ledger) -> Reasoning:
    """The item without readable reasoning beside its summary.

    «Invalid 'input[22].content': array too long. Expected an array with maximum length 0» (OR16).
    """
    if payload.is_inert(payload.members(block.raw).get(key)):
        return block
    ledger.strip(RSN005, block, (key,))
    rest = {
        name: value for name, value in payload.members(block.raw).items() if name != key
    }  # keeps: the line above reports it
    extra = {name: value for name, value in (block.extra or {}).items() if name != key}  # keeps: reported above
    fitted: Reasoning = changed(block, raw=rest, extra=extra or None)
    return fitted


def _whole(block: Reasoning, ledger: Ledger) -> Reasoning:
    """The item with a summary («Missing required parameter: 'input[22].summary'.», OR16) and without fields of a shape that nobody reads."""
    raw = dict(payload.members(block.raw))
    extra = dict(block.extra or {})
    for key in ("summary", "content", "encrypted_content"):
        if key in extra:
            if not payload.is_inert(extra[key]):
                ledger.strip(FLD001, block, (key,))
            del extra[key], raw[key]
    if payload.kind(raw.get("summary")) != "list":
        if not payload.is_null(payload.members(block.raw).get("summary")) or "summary" not in payload.members(
            block.raw
        ):
            ledger.note(FLD004, block, ("summary",))
        raw["summary"] = []
    elif len(raw) == len(payload.members(block.raw)):
        return block
    fitted: Reasoning = changed(block, raw=raw, extra=extra or None)
    return fitted
