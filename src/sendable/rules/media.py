"""MED and RES: images, documents and audio, and what is inside tool results."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal

from sendable import payload
from sendable.codes import MED001, MED002, MED003, MED004, MED005, RES001, RES002
from sendable.conversation import MEDIA, Block, Conversation, Media, Message, Text, ToolResult, changed
from sendable.report import Ledger, Receipt
from sendable.rules import Rule, lacks, with_messages

ERROR_MARK = "[tool error] "
"""What says in words that a result is an error, where the target has no flag for it."""

FROM_ASSISTANT = "[from the assistant:]"
"""Stands before media that had to leave an assistant turn, so that they do not seem to be the user's."""

SEE_BELOW = "[see the attachment below]"
"""Stands in a result whose only content had to move behind the results."""


def tidy(block: Media, ledger: Ledger) -> Media | Receipt:
    """Inline data is canonical base64 of the media type that its own bytes show.

    A data URL in place of base64, line breaks, the URL alphabet and missing padding are put right; what is no base64 at all is dropped.

    Loses: MED003, MED004.
    """
    if block.source != "base64":
        return block
    split = payload.split_data_url(block.data)
    data = block.data if split is None else split[1]
    media_type = (split[0] if split is not None and split[0] else None) or block.media_type
    if not payload.is_clean_base64(data):
        cleaned = payload.clean_base64(data)
        if cleaned is None:
            return ledger.drop(MED004, block, "data")
        data = cleaned
    head = payload.base64_head(data)
    shown = payload.media_type_of(head) if head is not None else None
    if shown is not None and block.kind in ("image", "document"):
        media_type = shown
    if data is block.data and media_type == block.media_type:
        return block
    ledger.degrade(MED003, block, "data", was=block.media_type, now=media_type)
    fitted: Media = changed(block, data=data, media_type=media_type)
    return fitted


def fit_media(
    block: Media,
    takes: Callable[[Media], bool],
    issuer: str,
    ledger: Ledger,
) -> Media | Receipt:
    """Media that the target has a form for, with clean data; a file id only at the provider that issued it.

    Loses: MED001, MED002, MED003, MED004.
    """
    if block.source == "file_id" and block.home != issuer:
        return ledger.drop(MED002, block)
    if not takes(block):
        return ledger.drop(MED001, block, kind=block.kind, source=block.source)
    return tidy(block, ledger)


def flag_in_text(result: ToolResult, ledger: Ledger) -> ToolResult:
    """A result whose error flag is said in its text, because the target has none.

    Loses: RES001.
    """
    if result.error is None:
        return result
    if not result.error:
        unflagged: ToolResult = changed(result, error=None)
        return unflagged
    if result.raw is not None:
        # Our own synthetic result says in its text what happened.
        ledger.degrade(RES001, result, "error")
    content = list(result.content)
    first = content[0] if content else None
    if result.raw is None:
        return changed_result(result, tuple(content))
    if type(first) is Text:
        mark = payload.quoted(ERROR_MARK, first.text)
        content[0] = changed(first, text=payload.joined((mark, first.text), ""))
    else:
        content.insert(0, Text(ERROR_MARK.strip(), result.at))
    return changed_result(result, tuple(content))


def changed_result(result: ToolResult, content: tuple[Block, ...]) -> ToolResult:
    """A result with other content and without its flag."""
    fitted: ToolResult = changed(result, content=content, error=None)
    return fitted


def media_out(*, of: Literal["results", "error results"]) -> Rule:
    """No media in tool results (or only not in those that are errors): they follow the results of the turn, in their order.

    A result that held nothing else says so.
    Source: «Content blocks are expected to be either text or image_url type» (OC12), text parts only in tool messages (OC26);
    «all content must be type `text` if `is_error` is true» (Anthropic, reported).

    Loses: RES002 (a move, for each).
    """

    def media_out(conversation: Conversation, ledger: Ledger) -> Conversation:
        if lacks(conversation, MEDIA):
            return conversation
        out: list[Message] = []
        waiting: list[Media] = []
        touched = False
        for message in conversation.messages:
            if waiting and message.role != "tool":
                out.append(_of_user(waiting))
                waiting = []
            moving: list[Media] = []
            blocks: list[Block] = []
            for block in message.blocks:
                if type(block) is ToolResult and block.executor == "client" and (of == "results" or block.error):
                    block = _without_media(block, moving, ledger)
                blocks.append(block)
            if moving:
                touched = True
                if message.role == "tool":
                    message = changed(message, blocks=tuple(blocks))
                    waiting.extend(moving)
                else:
                    behind = max(index for index, block in enumerate(blocks) if type(block) is ToolResult) + 1
                    message = changed(message, blocks=(*blocks[:behind], *moving, *blocks[behind:]))
            out.append(message)
        if waiting:
            out.append(_of_user(waiting))
        return with_messages(conversation, out) if touched else conversation

    return media_out


def _of_user(media: Sequence[Block]) -> Message:
    return Message("user", tuple(media), media[0].at)


def _without_media(result: ToolResult, moving: list[Media], ledger: Ledger) -> ToolResult:
    kept: list[Block] = []
    for inner in result.content:
        if type(inner) is Media:
            ledger.move(RES002, inner)
            moving.append(inner)
        else:
            kept.append(inner)
    if len(kept) == len(result.content):
        return result
    if not kept:
        kept.append(Text(SEE_BELOW, result.at))
    fitted: ToolResult = changed(result, content=tuple(kept))
    return fitted


def media_from_user(conversation: Conversation, ledger: Ledger) -> Conversation:
    """Media stand in user messages only: those of an assistant turn move to the next user message, or to one of their own,
    under a label.

    Source: «Invalid value: 'input_text'. Supported values are: 'output_text' and 'refusal'» and their like: assistant content is text.

    Loses: MED005 (a move, for each).
    """
    if lacks(conversation, MEDIA) or not any(
        message.role == "assistant" and any(type(block) is Media for block in message.blocks)
        for message in conversation.messages
    ):
        return conversation
    out: list[Message] = []
    waiting: list[Block] = []
    for message in conversation.messages:
        if waiting and message.role != "tool":
            if message.role == "user":
                results = sum(type(block) is ToolResult for block in message.blocks)
                message = changed(message, blocks=(*message.blocks[:results], *waiting, *message.blocks[results:]))
            else:
                out.append(_of_user(waiting))
            waiting = []
        if message.role == "assistant":
            moving = [block for block in message.blocks if type(block) is Media]  # keeps: moved below
            for block in moving:
                ledger.move(MED005, block)
                waiting.extend((Text(FROM_ASSISTANT, block.at), block))
            if moving and len(moving) == len(message.blocks):
                continue  # keeps: the message held nothing but media, and has moved as a whole
            if moving:
                message = changed(
                    message, blocks=tuple(block for block in message.blocks if type(block) is not Media)
                )  # keeps: moved
        out.append(message)
    if waiting:
        out.append(_of_user(waiting))
    return with_messages(conversation, out)
