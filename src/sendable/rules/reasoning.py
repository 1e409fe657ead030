"""RSN: reasoning and signatures. A signature is sent only to the issuer that made it; no rule ever makes one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import msgspec

from sendable import payload
from sendable.codes import RSN001, RSN002, RSN003, RSN004, RSN005, RSN006, RSN007
from sendable.conversation import (
    REASONING,
    Block,
    Conversation,
    Message,
    Reasoning,
    Setting,
    Signature,
    Text,
    ToolCall,
    ToolResult,
    changed,
)
from sendable.options import Options
from sendable.report import Ledger, Receipt
from sendable.rules import Rule, lacks, with_messages

ISSUERS: dict[str, str] = {
    "anthropic": "anthropic",
    # Anthropic, Bedrock and Vertex Claude count as one issuer (architecture 6).
    "bedrock-converse": "anthropic",
    "openai-chat": "openai",
    "openai-responses": "openai",
    "gemini": "google",
}
"""The vendor of the dialect in which a signature stands."""

_FORMS: tuple[tuple[str, str], ...] = (
    # Fernet tokens, as OpenAI's encrypted content begins.
    ("gAAAA", "openai"),
    ("skip_thought_signature_validator", "google"),
)


def issuer_of(signature: Signature, options: Options) -> str:
    """Who made a signature: as the caller says, else what its own form shows, else the vendor of the dialect in which it stands."""
    if options.thinking_origin is not None:
        return options.thinking_origin
    value = payload.string(signature.value) or ""
    for start, issuer in _FORMS:
        if value.startswith(start):
            return issuer
    return ISSUERS.get(signature.issuer, signature.issuer)


def fit_signed(block: Reasoning, issuer: str, options: Options, ledger: Ledger) -> Block | Receipt:
    """Reasoning for a target that takes it back only with its own signature: unchanged, or gone.

    Loses: RSN001, RSN002, RSN004, RSN005, RSN006.
    """
    if options.reasoning is not None:
        return _as_asked(block, options.reasoning, ledger)
    if block.signature is None:
        return ledger.drop(RSN002, block, "signature")
    if issuer_of(block.signature, options) != issuer:
        return ledger.drop(RSN001, block, "signature", issuer=issuer_of(block.signature, options))
    if options.prefix_changed:
        return ledger.drop(RSN004, block, "signature")
    return block


def fit_unsigned(block: Reasoning, own: str, options: Options, ledger: Ledger) -> Block | Receipt:
    """Reasoning for a target with an unsigned field: the readable text goes there, the signature is stripped.

    Loses: RSN001, RSN003, RSN005, RSN006.
    """
    if options.reasoning is not None:
        return _as_asked(block, options.reasoning, ledger)
    if options.reasoning_content == "reject":
        return ledger.drop(RSN005, block)
    if block.text is None or (payload.is_empty(block.text) and block.signature is not None):
        return ledger.drop(RSN003, block, "signature")
    if block.signature is not None:
        ledger.strip(RSN001, block, "signature")
        fitted: Reasoning = changed(block, signature=None)
        return fitted
    return block


def fit_without(block: Reasoning, options: Options, ledger: Ledger) -> Block | Receipt:
    """Reasoning for a target that has no place for it.

    Loses: RSN003, RSN005, RSN006.
    """
    if options.reasoning is not None:
        return _as_asked(block, options.reasoning, ledger)
    return ledger.drop(RSN003 if block.text is None else RSN005, block)


def _as_asked(block: Reasoning, asked: Literal["drop", "text"], ledger: Ledger) -> Block | Receipt:
    if asked == "drop" or block.text is None or payload.is_blank(block.text):
        return ledger.drop(RSN003 if block.text is None else RSN005, block)
    ledger.degrade(RSN006, block)
    return Text(block.text, block.at)


def bound_to_prefix(conversation: Conversation, ledger: Ledger) -> Conversation:
    """No reasoning whose signature covers something that a repair has changed: from the first change on it is dropped.

    Source: «Invalid `signature` in `thinking` block. The block is bound to a different conversation.» (AH5, 2026-08-31 on).

    Loses: RSN004.
    """
    if lacks(conversation, REASONING):
        return conversation
    out: list[Message] = []
    touched = False
    cause: Receipt | None = None
    for message in conversation.messages:
        if any(type(block) is Reasoning for block in message.blocks):
            if cause is None:
                cause = ledger.changed_before(message.at)
            if cause is not None:
                kept = tuple(
                    block for block in message.blocks if not _bound(block, cause, ledger)
                )  # keeps: the test reports it
                message = changed(message, blocks=kept)
                touched = True
        out.append(message)
    return with_messages(conversation, out) if touched else conversation


def _bound(block: Block, cause: Receipt, ledger: Ledger) -> bool:
    if type(block) is not Reasoning or block.signature is None:
        return False
    ledger.drop(RSN004, block, "signature", because=cause)
    return True


def not_last(conversation: Conversation, ledger: Ledger) -> Conversation:
    """The last assistant message does not end in reasoning.

    Source: «The final block in an assistant message cannot be `thinking`.» (AN14, measured).

    Loses: RSN005.
    """
    last = conversation.messages[-1] if conversation.messages else None
    if last is None or last.role != "assistant" or not last.blocks or type(last.blocks[-1]) is not Reasoning:
        return conversation
    kept = list(last.blocks)
    while kept and type(kept[-1]) is Reasoning:
        ledger.drop(RSN005, kept.pop(), reason="the conversation would end in reasoning")
    return with_messages(conversation, [*conversation.messages[:-1], changed(last, blocks=tuple(kept))])


def leads_open_loop(options: Options) -> Rule:
    """With thinking on, the assistant turn of an open tool loop begins with reasoning; where the history holds none, thinking goes off.

    A body then says `thinking: disabled` in place of what it said. Of a bare list only the caller can switch it off: that is said, and
    nothing is invented.
    Source: «Expected `thinking` or `redacted_thinking`, but found `tool_use`. When `thinking` is enabled, a final `assistant` message
    must start with a thinking block» (AH4). Adaptive thinking is not known to demand it.

    Loses: RSN007.
    """

    def leads_open_loop(conversation: Conversation, ledger: Ledger) -> Conversation:
        setting = next((setting for setting in conversation.settings if setting.name == "thinking"), None)
        fields = payload.fields(setting.value) if setting is not None else None
        in_body = fields is not None and payload.string(fields.get("type")) == "enabled"
        if not in_body and options.thinking != "enabled":
            return conversation
        call = _open_call(conversation.messages)
        if call is None:
            return conversation
        if conversation.listed:
            ledger.fault(RSN007, call)
            return conversation
        off = Setting("thinking", {"type": "disabled"}, ("thinking",))
        if setting is None:
            ledger.synthesize(RSN007, call, None, thinking="disabled")
            return msgspec.structs.replace(conversation, settings=(*conversation.settings, off))
        if fields is not None and payload.string(fields.get("type")) == "disabled":
            return conversation
        ledger.degrade(RSN007, setting, (), related=(call,), thinking="disabled")
        kept = tuple(off if other is setting else other for other in conversation.settings)
        return msgspec.structs.replace(conversation, settings=kept)

    return leads_open_loop


def _open_call(messages: Sequence[Message]) -> ToolCall | None:
    """The first call of the last assistant turn, if results end the list and the turn does not begin with reasoning."""
    for message in reversed(messages):
        if message.role == "assistant":
            if message.blocks and type(message.blocks[0]) is not Reasoning:
                for block in message.blocks:
                    if type(block) is ToolCall and block.executor == "client":
                        return block
            return None
        if any(type(block) is not ToolResult for block in message.blocks):
            return None
    return None
