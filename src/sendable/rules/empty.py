"""EMP: no message, turn or text that the target refuses because nothing is in it. After everything that can empty a message."""

from __future__ import annotations

from collections.abc import Sequence

from sendable import payload
from sendable.codes import EMP001, EMP002, EMP003, EMP004, EMP005, EMP006
from sendable.conversation import (
    BLANK,
    INSTRUCTING,
    REASONING,
    Block,
    Conversation,
    Message,
    Reasoning,
    Text,
    ToolCall,
    ToolResult,
    changed,
)
from sendable.report import Ledger
from sendable.rules import Rule, lacks, with_messages

PLACEHOLDER = "[response interrupted]"


def dropped_if_emptied(conversation: Conversation, ledger: Ledger) -> Conversation:
    """No message that a rule has emptied (flat); what was stored empty stays.

    Loses: EMP001.
    """
    out: list[Message] = []
    for message in conversation.messages:
        if message.item and not message.blocks:
            continue  # keeps: the item was the message, and its own entry tells of it
        if not _left(message) and _had_something(message, ledger):
            ledger.drop(EMP001, message, because=ledger.last_about(message.at))
        else:
            out.append(message)
    return conversation if len(out) == len(conversation.messages) else with_messages(conversation, out)


def _left(message: Message) -> bool:
    """Whether anything is in a message: a text with a character in it or any other block."""
    for block in message.blocks:
        if not (type(block) is Text and payload.is_empty(block.text) and block.signature is None):
            return True
    return False


def _had_something(message: Message, ledger: Ledger) -> bool:
    """Whether something of the message is gone: rules emptied it, the caller did not store it empty."""
    return not message.intact and ledger.last_about(message.at) is not None


def no_empty_texts(conversation: Conversation, ledger: Ledger) -> Conversation:
    """No text outside of results is the empty text, unless it carries a signature. White space is left alone.

    Source: «required oneof field 'data' must have one initialized field» (GE4, measured, for `{"text": ""}`); a last empty part may hold the
    signature of a streamed answer (GE15).

    Loses: EMP003 (a bare empty text says nothing and goes unreported).
    """
    if lacks(conversation, BLANK):
        return conversation
    out: list[Message] = []
    touched = False
    for message in conversation.messages:
        empty = [
            block
            for block in message.blocks
            if type(block) is Text and payload.is_empty(block.text) and block.signature is None
        ]  # keeps: only looks
        if empty:
            for block in empty:
                _say_blank(block, ledger, quiet=False)
            message = changed(
                message, blocks=tuple([block for block in message.blocks if not any(block is one for one in empty)])
            )  # keeps: the loop above reports them
            touched = True
        out.append(message)
    return with_messages(conversation, out) if touched else conversation


def filled(
    *,
    blank_refused: bool,
    answered_by: frozenset[str] = frozenset(),
    system_too: bool = False,
    whole: bool = False,
    own: str | None = None,
    stored_too: bool = True,
) -> Rule:
    """No user or assistant message is empty; where the target refuses blank text, no text is.

    An empty user message is dropped. An empty assistant message becomes a placeholder, or is dropped if it is the last. `answered_by`
    names fields that only a provider writes: an assistant message that carries one is the provider's own empty answer, which it takes
    back (recorded: 200 for `"content": "", "refusal": null`). `system_too`: an empty system message is dropped as well. `own`: the
    dialect whose untouched assistant message without a block is the provider's own empty answer (recorded: 200 for `{"role": "model"}`).
    `stored_too`: what was stored empty is refused as well, and not only what a rule has emptied.

    Loses: EMP001, EMP002, EMP003, EMP004.
    """

    def filled(conversation: Conversation, ledger: Ledger) -> Conversation:
        if lacks(conversation, BLANK):
            return conversation
        messages = conversation.messages
        cleaned = [_without_blank(message, ledger) if blank_refused else message for message in messages]
        empty = [
            _is_void(message, answered_by, system_too, whole)
            and not (own is not None and _is_own(message, own))
            and (stored_too or _had_something(message, ledger))
            for message in cleaned
        ]
        if not any(empty):
            return (
                conversation
                if all(a is b for a, b in zip(cleaned, messages, strict=True))
                else with_messages(conversation, cleaned)
            )
        last = max(
            (index for index, message in enumerate(cleaned) if not empty[index] and message.role not in INSTRUCTING),
            default=-1,
        )
        out: list[Message] = []
        for index, message in enumerate(cleaned):
            if not empty[index]:
                out.append(message)
                continue  # keeps: the line above
            if message.item and not message.blocks:
                continue  # keeps: the item was the message, and its own entry tells of it
            cause = ledger.last_about(message.at)
            if message.role == "assistant" and index < last:
                ledger.synthesize(EMP002, message, because=cause)
                out.append(changed(message, blocks=(Text(PLACEHOLDER, message.at),), bare=True))
            else:
                ledger.drop(EMP001 if cause is not None else EMP004, message, because=cause)
        return with_messages(conversation, out)

    return filled


def _is_own(message: Message, own: str) -> bool:
    return message.role == "assistant" and message.intact and message.home == own


def _is_void(message: Message, answered_by: frozenset[str], system_too: bool, whole: bool) -> bool:
    if (message.role == "tool" and message.blocks) or (message.role in INSTRUCTING and not system_too):
        return False
    if _left(message) or (message.role in INSTRUCTING and message.extra is not None):
        # A system message may be nothing but its fields: «the directive-only form (content: [] with output_config)» (AN4).
        return False
    fields = payload.fields(message.raw)
    answered = message.intact and fields is not None and bool(message.blocks) and not answered_by.isdisjoint(fields)
    return not (message.role == "assistant" and answered)


def _without_blank(message: Message, ledger: Ledger) -> Message:
    """A message without blank texts, inside its results too. A bare empty text says nothing and goes unreported.

    Loses: EMP003.
    """
    blocks = message.blocks
    for block in blocks:
        if (type(block) is Text and payload.is_blank(block.text)) or (
            type(block) is ToolResult and _holds_blank(block.content)
        ):
            break
    else:
        return message
    kept: list[Block] = []
    only_text = not any(type(block) is not Text for block in blocks)
    for block in blocks:
        if type(block) is Text and payload.is_blank(block.text):
            _say_blank(block, ledger, quiet=only_text and len(blocks) == 1)
        elif type(block) is ToolResult and _holds_blank(block.content):
            inside: list[Block] = []
            for inner in block.content:
                if type(inner) is Text and _is_blank_block(inner):
                    _say_blank(inner, ledger, quiet=False)
                else:
                    inside.append(inner)
            kept.append(changed(block, content=tuple(inside)))
        else:
            kept.append(block)
    fitted: Message = changed(message, blocks=tuple(kept))
    return fitted


def _say_blank(block: Text, ledger: Ledger, quiet: bool) -> None:
    """Report a blank text, unless it is a bare empty string, or the whole message, which `filled` then reports.

    Loses: EMP003.
    """
    bare = type(block.raw) is not dict
    if not (bare and payload.is_empty(block.text)) and not (quiet and bare):
        ledger.drop(EMP003, block)


def _holds_blank(content: Sequence[Block]) -> bool:
    for inner in content:
        if type(inner) is Text and _is_blank_block(inner):
            return True
    return False


def _is_blank_block(text: Text) -> bool:
    """Whether a text inside a result is a blank block: the empty text as the whole content is not one, and may be accepted (13.6)."""
    bare = type(text.raw) is not dict
    return payload.is_blank(text.text) and not (bare and payload.is_empty(text.text))


def said_beside_reasoning(conversation: Conversation, ledger: Ledger) -> Conversation:
    """No assistant message holds nothing but reasoning: words stand for the answer.

    Source: «message must not be empty in a turn» (Cohere, CO3, documented).

    Loses: EMP002.
    """
    if lacks(conversation, REASONING):
        return conversation
    out: list[Message] = []
    touched = False
    for message in conversation.messages:
        blocks = message.blocks
        if message.role == "assistant" and blocks and all(_is_unsaid(block) for block in blocks):
            ledger.synthesize(EMP002, message, because=ledger.last_about(message.at))
            kept = tuple([block for block in blocks if type(block) is Reasoning])  # keeps: the others are blank
            message = changed(message, blocks=(*kept, Text(PLACEHOLDER, message.at)))
            touched = True
        out.append(message)
    return with_messages(conversation, out) if touched else conversation


def _is_unsaid(block: Block) -> bool:
    return type(block) is Reasoning or (type(block) is Text and payload.is_blank(block.text))


def content_is_something(conversation: Conversation, ledger: Ledger) -> Conversation:
    """No message is written as it was stored if its content is an empty list, or if it is an answer of nothing but reasoning: it is
    written anew, with content that is the empty text.

    Source: «Invalid value for 'content': expected a string, got null.» (OC6, OC8, measured): a message without content needs calls, a
    refusal or audio; a list of content has an item at least (OC10); the empty text is accepted (OC11).

    Loses: nothing.
    """
    if lacks(conversation, BLANK | REASONING):
        return conversation
    out: list[Message] = []
    touched = False
    for message in conversation.messages:
        if message.intact and _content_is_nothing(message):
            message = changed(message)
            touched = True
        out.append(message)
    return with_messages(conversation, out) if touched else conversation


def _content_is_nothing(message: Message) -> bool:
    blocks = message.blocks
    if not blocks or (len(blocks) == 1 and type(blocks[0]) is ToolResult and not blocks[0].content):
        fields = payload.fields(message.raw)
        return fields is not None and payload.kind(fields.get("content")) == "list"
    return type(blocks[0]) is Reasoning and all(type(block) is Reasoning for block in blocks)


NO_OUTPUT = "[no output]"


def results_filled(conversation: Conversation, ledger: Ledger) -> Conversation:
    """No tool result is empty, or holds nothing but a blank text. After `filled`, which takes blank blocks out of results.

    Source: «message must not be empty in a turn» (Cohere, CO3, documented); the profile `:strict` takes no empty content anywhere.

    Loses: EMP006.
    """
    out: list[Message] = []
    touched = False
    for message in conversation.messages:
        blocks = tuple([_filled_result(block, ledger) for block in message.blocks])
        if any(a is not b for a, b in zip(blocks, message.blocks, strict=True)):
            message = changed(message, blocks=blocks)
            touched = True
        out.append(message)
    return with_messages(conversation, out) if touched else conversation


def failures_filled(conversation: Conversation, ledger: Ledger) -> Conversation:
    """No result of a failed call is empty.

    Source: «The content field at messages.2.content.0.toolResult cannot be empty when status value is error» (Converse, reported
    2026-06-01). Whether one of a call that went well may be empty was never measured (provider-rules 13.6).

    Loses: EMP006.
    """
    out: list[Message] = []
    touched = False
    for message in conversation.messages:
        if any(type(block) is ToolResult and block.error and not block.content for block in message.blocks):
            blocks = tuple(
                [
                    _filled_result(block, ledger) if type(block) is ToolResult and block.error else block
                    for block in message.blocks
                ]
            )
            message = changed(message, blocks=blocks)
            touched = True
        out.append(message)
    return with_messages(conversation, out) if touched else conversation


def _filled_result(block: Block, ledger: Ledger) -> Block:
    if type(block) is not ToolResult or block.executor != "client":
        return block
    if not all(type(inner) is Text and payload.is_blank(inner.text) for inner in block.content):
        return block
    ledger.synthesize(EMP006, block, because=ledger.last_about(block.at[0] if type(block.at[0]) is tuple else block.at))
    filled: ToolResult = changed(block, content=(Text(NO_OUTPUT, block.at),))
    return filled


def no_trailing_space(conversation: Conversation, ledger: Ledger) -> Conversation:
    """A last assistant turn does not end in white space.

    Source: «messages: final assistant content cannot end with trailing whitespace» (AN13, reported on sonnet-4-5).

    Loses: EMP005.
    """
    if not conversation.messages:
        return conversation
    last = conversation.messages[-1]
    block = last.blocks[-1] if last.blocks else None
    if last.role != "assistant" or type(block) is not Text:
        return conversation
    text = payload.string(block.text) or ""
    if text == text.rstrip():
        return conversation
    ledger.degrade(EMP005, block)
    shorter: Message = changed(
        last, blocks=(*last.blocks[:-1], changed(block, text=payload.quoted(text.rstrip(), block.text), raw=None))
    )
    return with_messages(conversation, [*conversation.messages[:-1], shorter])


def has_calls(message: Message) -> bool:
    """Whether a message holds a call."""
    return any(type(block) is ToolCall for block in message.blocks)
