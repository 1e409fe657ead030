"""RSN: reasoning and signatures. A signature is sent only to the issuer that made it; no rule ever makes one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, TypeVar

import msgspec

from sendable import payload
from sendable.codes import (
    EMP003,
    RSN001,
    RSN002,
    RSN003,
    RSN004,
    RSN005,
    RSN006,
    RSN007,
    RSN008,
    RSN009,
    RSN010,
    RSN011,
    RSN012,
    SHP007,
    Code,
)
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

    What another model of the issuer made is sent as it is: «a model reads its own blocks and those of a fixed set; unreadable blocks are
    dropped without error» (AH6, documented).

    Loses: RSN002, RSN004, RSN005, RSN006, RSN012.
    """
    if options.reasoning is not None:
        return _as_asked(block, options.reasoning, ledger)
    if block.signature is None or payload.is_blank(block.signature.value):
        return ledger.drop(RSN002, block, "signature")
    if issuer_of(block.signature, options) != issuer:
        return ledger.drop(RSN012, block, "signature", issuer=issuer_of(block.signature, options))
    if options.prefix_changed:
        return ledger.drop(RSN004, block, "signature")
    return block


def fit_thought(block: Reasoning, home: str, issuer: str, options: Options, ledger: Ledger) -> Block | Receipt:
    """Reasoning for a target that takes its own back with or without a signature, and no other.

    Source: «thought text parts may be sent back; not required» (GE16).

    Loses: RSN002, RSN004, RSN005, RSN006, RSN010, RSN012.
    """
    if options.reasoning is not None:
        return _as_asked(block, options.reasoning, ledger)
    if block.home != home:
        signed = fit_signed(block, issuer, options, ledger)
        if type(signed) is Reasoning and signed.signature is not None and not _is_base64(signed.signature):
            return ledger.drop(RSN012, block, "signature")
        return signed
    fitted = fit_signature(block, issuer, options, ledger)
    if fitted.signature is None and (fitted.text is None or payload.is_empty(fitted.text)):
        return ledger.drop(RSN002, block)
    return fitted


Signed = TypeVar("Signed", Text, ToolCall, Reasoning)


def fit_signature(block: Signed, issuer: str, options: Options, ledger: Ledger) -> Signed:
    """The block with its signature if that goes back to the issuer that made it, by the same model, behind the same messages.

    Source: «Unable to submit request because Thought signature is not valid» (other model, route or key); «Invalid value at
    'contents[N].parts[M].thought_signature' (TYPE_BYTES), Base64 decoding failed» (GE14, reported).

    Loses: RSN001, RSN004, RSN010.
    """
    signature = block.signature
    if signature is None:
        return block
    if issuer_of(signature, options) != issuer or not _is_base64(signature):
        ledger.strip(RSN001, block, "signature")
    elif options.prefix_changed:
        ledger.strip(RSN004, block, "signature")
    elif not options.same_model:
        ledger.strip(RSN010, block, "signature")
    else:
        return block
    return changed(block, signature=None)


def _is_base64(signature: Signature) -> bool:
    return payload.is_clean_base64(signature.value) or payload.clean_base64(signature.value) is not None


def fit_unsigned(block: Reasoning, own: str, options: Options, ledger: Ledger) -> Block | Receipt:
    """Reasoning for a target with an unsigned field: the readable text goes there, the signature is stripped.

    Other spellings of the field pass at home as they came.

    Loses: EMP003, RSN001, RSN003, RSN005, RSN006.
    """
    if options.reasoning is not None:
        return _as_asked(block, options.reasoning, ledger)
    if options.reasoning_content == "reject":
        return _unplaced(RSN005, block, ledger)
    if block.home == own and block.intact and is_field(block):
        return block
    if block.text is None or (payload.is_empty(block.text) and block.signature is not None):
        return ledger.drop(RSN003, block, "signature")
    if block.signature is not None:
        ledger.strip(RSN001, block, "signature" if type(block.raw) is dict else ())
        fitted: Reasoning = changed(block, signature=None)
        return fitted
    if payload.is_empty(block.text):
        # An answer that was cut before its first thought. An empty field says nothing and fills no message.
        return ledger.drop(EMP003, block)
    return block


def fit_without(block: Reasoning, options: Options, ledger: Ledger) -> Block | Receipt:
    """Reasoning for a target that has no place for it.

    Loses: RSN003, RSN005, RSN006.
    """
    if options.reasoning is not None:
        return _as_asked(block, options.reasoning, ledger)
    return _unplaced(RSN003 if block.text is None else RSN005, block, ledger)


def is_field(block: Reasoning) -> bool:
    """Whether reasoning is the value of a field of its message, rather than a block of its content."""
    return type(block.at[-1]) is str


def _unplaced(code: Code, block: Reasoning, ledger: Ledger) -> Receipt:
    """Drop reasoning. What stands in a field of a message beside another spelling of it goes because of that one.

    Loses: RSN003, RSN005.
    """
    if not is_field(block):
        return ledger.drop(code, block)
    place = (block.at[0], "reasoning")
    receipt = ledger.drop(code, block, because=ledger.lost.get(place))
    ledger.lost.setdefault(place, receipt)
    return receipt


def _as_asked(block: Reasoning, asked: Literal["drop", "text"], ledger: Ledger) -> Block | Receipt:
    if asked == "drop" or block.text is None or payload.is_blank(block.text):
        return _unplaced(RSN003 if block.text is None else RSN005, block, ledger)
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


def signatures_bound(conversation: Conversation, ledger: Ledger) -> Conversation:
    """No signature of a text, call or thought that covers something that a repair has changed: from the first change on they are stripped.

    What was signed stays. Source: as `bound_to_prefix`, for a provider that signs single parts (GE12, GE14).

    Loses: RSN004.
    """
    out: list[Message] = []
    touched = False
    cause: Receipt | None = None
    for message in conversation.messages:
        if message.role == "assistant":
            cause = cause or ledger.changed_before(message.at)
            if cause is not None:
                blocks: list[Block] = []
                for block in message.blocks:
                    unbound = _unbound(block, cause, ledger)
                    if type(unbound) is not Receipt:
                        blocks.append(unbound)
                if len(blocks) != len(message.blocks) or any(
                    a is not b for a, b in zip(blocks, message.blocks, strict=True)
                ):
                    message = changed(message, blocks=tuple(blocks))
                    touched = True
        out.append(message)
    return with_messages(conversation, out) if touched else conversation


def _unbound(block: Block, cause: Receipt, ledger: Ledger) -> Block | Receipt:
    if not (type(block) is Text or type(block) is ToolCall or type(block) is Reasoning) or block.signature is None:
        return block
    if payload.string(block.signature.value) == SKIPPED:
        return block
    if type(block) is Reasoning and (block.text is None or payload.is_empty(block.text)):
        return ledger.drop(RSN004, block, because=cause)
    ledger.strip(RSN004, block, "signature", because=cause)
    unsigned: Block = changed(block, signature=None)
    return unsigned


SKIPPED = "skip_thought_signature_validator"
"""The documented word in place of a signature (GE13): it proves nothing, and nobody made it."""


def first_call_signed(conversation: Conversation, ledger: Ledger) -> Conversation:
    """The first call of every step has a signature: its own, or the documented word that skips the check.

    Source: «Function call is missing a thought_signature in functionCall parts. This is required for tools to work correctly» (GE12; of
    parallel calls only the first, at each step); `skip_thought_signature_validator` for a foreign history (GE13); the whole history is
    signed because it is checked on one route (GE12b).

    Loses: RSN011 (a synthesize, once for a step).
    """
    out: list[Message] = []
    touched = False
    for message in conversation.messages:
        if message.role == "assistant":
            for index, block in enumerate(message.blocks):
                if type(block) is not ToolCall or block.executor == "provider":
                    continue  # keeps: only looks
                if block.signature is None:
                    ledger.synthesize(RSN011, block, "signature")
                    signed = changed(block, signature=Signature("gemini", "signature", SKIPPED))
                    message = changed(message, blocks=(*message.blocks[:index], signed, *message.blocks[index + 1 :]))
                    touched = True
                break
        out.append(message)
    return with_messages(conversation, out) if touched else conversation


def not_last(conversation: Conversation, ledger: Ledger) -> Conversation:
    """The last assistant message does not end in reasoning.

    Source: «The final block in an assistant message cannot be `thinking`.» (AN14, measured).

    Loses: RSN005.
    """
    if lacks(conversation, REASONING):
        return conversation
    messages = list(conversation.messages)
    index = len(messages) - 1
    # An assistant message that held nothing else will go, and the one before it is then the last.
    while index >= 0 and messages[index].role == "assistant" and messages[index].blocks:
        kept = list(messages[index].blocks)
        while kept and type(kept[-1]) is Reasoning:
            ledger.drop(RSN005, kept.pop(), reason="the conversation would end in reasoning")
        if len(kept) == len(messages[index].blocks):
            break
        messages[index] = changed(messages[index], blocks=tuple(kept))
        if kept:
            break
        index -= 1
    if all(now is before for now, before in zip(messages, conversation.messages, strict=True)):
        return conversation
    return with_messages(conversation, messages)


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


def one_spelling(conversation: Conversation, ledger: Ledger) -> Conversation:
    """Reasoning that stands under several keys of one message (`reasoning_content`, `reasoning`, `reasoning_details`) is there once.

    For targets that do not take such a message as it came. What says something else stays.

    Loses: SHP007.
    """
    if lacks(conversation, REASONING):
        return conversation
    out: list[Message] = []
    touched = False
    for message in conversation.messages:
        fields = [
            block for block in message.blocks if type(block) is Reasoning and is_field(block)
        ]  # keeps: only looks
        if len(fields) > 1:
            kept = [
                block for block in message.blocks if not _said_before(block, fields, ledger)
            ]  # keeps: the test reports it
            if len(kept) != len(message.blocks):
                message = changed(message, blocks=tuple(kept))
                touched = True
        out.append(message)
    return with_messages(conversation, out) if touched else conversation


def _said_before(block: Block, fields: Sequence[Reasoning], ledger: Ledger) -> bool:
    if type(block) is not Reasoning or not is_field(block) or block.text is None:
        return False
    said = payload.string(block.text)
    for field in fields:
        if field is block:
            return False
        if field.text is not None and payload.string(field.text) == said:
            ledger.drop(SHP007, block, related=(field,))
            return True
    return False


NOT_RECORDED = "[no reasoning was recorded for this turn]"


def recalled(options: Options, own: str, *, thinks: bool) -> Rule:
    """While thinking is on, every assistant message with calls has readable reasoning under the target's own key.

    Reasoning under another key of the message moves there; where there is none, words say that none was recorded, and nothing is made up.
    `thinks`: whether thinking is on where neither the caller nor the body says so.
    Source: «The reasoning_content in the thinking mode must be passed back to the API.» (DeepSeek, DS2, documented; «empty placeholder is
    not enough», DS4); «thinking is enabled but reasoning_content is missing in assistant tool call message at index N» (Kimi K2, section 9,
    reported). Turns without calls need none (DS3).

    Loses: RSN008, RSN009.
    """

    def recalled(conversation: Conversation, ledger: Ledger) -> Conversation:
        if not thinking_is_on(conversation, options, thinks):
            return conversation
        out: list[Message] = []
        touched = False
        for message in conversation.messages:
            if message.role == "assistant" and any(type(block) is ToolCall for block in message.blocks):
                fitted = _recalled(message, own, ledger)
                touched = touched or fitted is not message
                message = fitted
            out.append(message)
        return with_messages(conversation, out) if touched else conversation

    return recalled


def thinking_is_on(conversation: Conversation, options: Options, thinks: bool) -> bool:
    """Whether the call runs with thinking: as the caller says, else as the body says, else as the target does by itself."""
    if options.thinking is not None:
        return options.thinking == "enabled"
    for setting in conversation.settings:
        fields = payload.fields(setting.value) if setting.name == "thinking" else None
        if fields is not None:
            return payload.string(fields.get("type")) != "disabled"
    return thinks


def _recalled(message: Message, own: str, ledger: Ledger) -> Message:
    """One message with calls.

    Loses: RSN008, RSN009.
    """
    readable: Reasoning | None = None
    for block in message.blocks:
        if type(block) is Reasoning and block.text is not None and not payload.is_empty(block.text):
            if not block.intact or block.at[-1] == own:
                return message
            readable = readable or block
    if readable is None:
        ledger.synthesize(RSN008, message, own)
        return changed(message, blocks=(Reasoning(NOT_RECORDED, None, message.at), *message.blocks))
    if payload.kind(readable.raw) == "list":
        ledger.degrade(RSN009, readable)
    fitted = changed(readable, raw=readable.text)
    return changed(message, blocks=tuple([fitted if block is readable else block for block in message.blocks]))
