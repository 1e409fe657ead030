"""MED and RES: images, documents and audio, and what is inside tool results."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

from sendable import paths, payload
from sendable.codes import (
    FLD001,
    LIM004,
    MED001,
    MED002,
    MED003,
    MED004,
    MED005,
    MED006,
    MED007,
    MED008,
    MED009,
    RES001,
    RES002,
    Code,
)
from sendable.conversation import (
    INSIDE,
    MEDIA,
    SHOWN,
    Block,
    Conversation,
    Media,
    Message,
    Text,
    ToolCall,
    ToolResult,
    changed,
)
from sendable.report import Ledger, Receipt
from sendable.rules import Rule, lacks, with_messages

ERROR_MARK = "[tool error] "
"""What says in words that a result is an error, where the target has no flag for it."""

FROM_ASSISTANT = "[from the assistant:]"
"""Stands before media that had to leave an assistant turn, so that they do not seem to be the user's."""

SEE_BELOW = "[see the attachment below]"
"""Stands in a result whose only content had to move behind the results."""


_MEDIA_TYPE = re.compile(r"[\w.+*-]+/[\w.+*-]+ *(;[^,]*)?")


def tidy(block: Media, ledger: Ledger) -> Media | Receipt:
    """Inline data is canonical base64 of the media type that its own bytes show.

    A data URL in place of base64, line breaks, the URL alphabet and missing padding are put right; what is no base64 at all is dropped.

    Loses: MED003, MED004.
    """
    if block.source != "base64":
        if block.media_type is None or _MEDIA_TYPE.fullmatch(block.media_type):
            return block
        ledger.degrade(MED003, block, paths.spelled(block.raw, "media_type"), was=None, now=None)
        return changed(block, media_type=None)
    split = payload.split_data_url(block.data)
    data = block.data if split is None else split[1]
    media_type = block.media_type
    if split is not None and split[0] and (block.kind != "audio" or split[0].startswith("audio/")):
        # What a text calls itself that was stored as a sound makes no picture of it.
        media_type = split[0]
    if media_type is not None and not _MEDIA_TYPE.fullmatch(media_type):
        # A word that is no media type: written in a data URL, it would end it.
        media_type = None
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
    # A type that is none is the caller's own text.
    was = block.media_type if block.media_type is not None and "/" in block.media_type[:40] else None
    fields = paths.spelled(block.raw, "media_type")
    named = media_type != block.media_type and paths.value_at(block.raw, fields) is not paths.ABSENT
    if data is not block.data or not named:
        ledger.degrade(MED003, block, "data", was=was, now=media_type)
    if named:
        ledger.degrade(MED003, block, fields, was=was, now=media_type)
    fitted: Media = changed(block, data=data, media_type=media_type)
    return fitted


def plain_text(block: Media, ledger: Ledger) -> Media:
    """A document of text that is called plain, where the target has no other word: «text/plain» is the one type of a text source.

    Loses: MED003.
    """
    if block.media_type == "text/plain":
        return block
    fields = paths.spelled(block.raw, "media_type")
    given = paths.value_at(block.raw, fields)
    if given is not paths.ABSENT and not payload.is_inert(given):
        ledger.degrade(MED003, block, fields, now="text/plain")
    fitted: Media = changed(block, media_type="text/plain")
    return fitted


def fit_media(
    block: Media,
    takes: Callable[[Media], bool],
    issuer: str,
    ledger: Ledger,
) -> Media | Text | Receipt:
    """Media that the target has a form for, with clean data; a file id only at the provider that issued it, elsewhere words that say so.

    Loses: MED001, MED002, MED003, MED004.
    """
    if block.source == "file_id" and block.home != issuer:
        return in_words(block, ledger, MED002)
    if not takes(block):
        words = _as_text(block)
        if words is not None and takes(words):
            ledger.degrade(MED001, block, "data", kind=block.kind, source=block.source)
            return words
        return ledger.drop(MED001, block, kind=block.kind, source=block.source)
    tidied = tidy(block, ledger)
    if type(tidied) is Media and tidied is not block and not takes(tidied):
        # What the bytes show themselves to be is nothing that the target takes in such a block.
        return ledger.drop(MED001, block, kind=block.kind, source=block.source)
    return tidied


def _as_text(block: Media) -> Media | None:
    """An inline document of text with the text itself as its source, or None if it is no text."""
    if block.kind != "document" or block.source != "base64" or not (block.media_type or "").startswith("text/"):
        return None
    text = payload.text_in_base64(block.data)
    if text is None or payload.is_blank(text):
        return None
    decoded: Media = changed(block, source="text", data=text, media_type="text/plain")
    return decoded


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


def media_out(*, of: Literal["results", "error results"], but_of: str | None = None) -> Rule:
    """No media in tool results (or only not in those that are errors): they follow the results of the turn, in their order.

    A result that held nothing else says so. `but_of`: the dialect whose own untouched results keep theirs.
    Source: «Content blocks are expected to be either text or image_url type» (OC12), text parts only in tool messages (OC26);
    «all content must be type `text` if `is_error` is true» (Anthropic, reported).

    Loses: RES002 (a move, for each).
    """

    def media_out(conversation: Conversation, ledger: Ledger) -> Conversation:
        if lacks(conversation, INSIDE):
            return conversation
        out: list[Message] = []
        waiting: list[Media] = []
        touched = False
        messages = conversation.messages
        for index, message in enumerate(messages):
            before = len(waiting)
            blocks: list[Block] = []
            for block in message.blocks:
                if type(block) is ToolResult and block.executor == "client" and (of == "results" or block.error):
                    if not (block.intact and block.home == but_of):
                        block = _without_media(block, waiting, ledger)
                blocks.append(block)
            if len(waiting) > before:
                touched = True
                message = changed(message, blocks=tuple(blocks))
            # They wait for the last result of the turn, which may stand in a message of its own.
            if waiting and not (index + 1 < len(messages) and _holds_result(messages[index + 1])):
                if message.role == "tool":
                    out.extend((message, _of_user(waiting)))
                else:
                    behind = max(number for number, block in enumerate(blocks) if type(block) is ToolResult) + 1
                    out.append(changed(message, blocks=(*blocks[:behind], *waiting, *blocks[behind:])))
                waiting = []
            else:
                out.append(message)
        return with_messages(conversation, out) if touched else conversation

    return media_out


def _holds_call(message: Message) -> bool:
    return any(type(block) is ToolCall and block.executor == "client" for block in message.blocks)


def _holds_result(message: Message) -> bool:
    return any(type(block) is ToolResult and block.executor == "client" for block in message.blocks)


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

    Loses: MED005 (a move, for each), FLD001 (a field of a message that moved as a whole).
    """
    if lacks(conversation, SHOWN) or not any(
        message.role == "assistant" and any(type(block) is Media for block in message.blocks)
        for message in conversation.messages
    ):
        return conversation
    out: list[Message] = []
    waiting: list[Block] = []
    messages = conversation.messages
    for index, message in enumerate(messages):
        # Nothing stands between the calls or the results of a turn, which may be in several messages.
        between = (_holds_result(message) and index + 1 < len(messages) and _holds_result(messages[index + 1])) or (
            index > 0 and _holds_call(message) and _holds_call(messages[index - 1])
        )
        if waiting and message.role != "tool" and not between:
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
                for key, value in (message.extra or {}).items():
                    if not payload.is_inert(value):
                        ledger.strip(FLD001, message, (key,))
                continue  # keeps: the message held nothing but media, and has moved as a whole
            if moving:
                message = changed(
                    message, blocks=tuple(block for block in message.blocks if type(block) is not Media)
                )  # keeps: moved
        out.append(message)
    if waiting:
        out.append(_of_user(waiting))
    return with_messages(conversation, out)


def in_words(media: Media, ledger: Ledger, code: Code = MED006, **facts: Any) -> Text:
    """Words in place of media, which are gone; the text of a document stays as it is.

    Loses: MED001, MED006, LIM004.
    """
    if media.source == "text":
        ledger.degrade(MED001, media, kind=media.kind, source="text")
        return Text(media.data, media.at)
    ledger.drop(code, media, kind=media.kind, **facts)
    return Text(f"[{media.kind} left out]", media.at)


def text_only(conversation: Conversation, ledger: Ledger) -> Conversation:
    """No media anywhere: words stand in their place, and a document of plain text is its text.

    Source: «Invalid 'messages[3]'. Content blocks are expected to be either text or image_url type.» (OC12, recorded of a text model); the
    option `images`.

    Loses: MED001, MED006.
    """
    if lacks(conversation, MEDIA):
        return conversation
    return _each_media(conversation, lambda media: in_words(media, ledger))


def most_images(most: int) -> Rule:
    """At most so many images: the last ones, since they are what the conversation is about; words stand for the others.

    Source: «Too many images in request: 54 > 30» (section 12, reported); the option `max_images`.

    Loses: LIM004.
    """

    def most_images(conversation: Conversation, ledger: Ledger) -> Conversation:
        images: list[Media] = []

        def counted(media: Media) -> Media:
            if media.kind == "image":
                images.append(media)
            return media

        _each_media(conversation, counted)
        over = {id(media) for media in images[: max(len(images) - most, 0)]}
        if not over:
            return conversation
        return _each_media(
            conversation,
            lambda media: in_words(media, ledger, LIM004, most=most) if id(media) in over else media,
        )

    return most_images


def media_per_message(kind: str, most: int, code: Code) -> Rule:
    """At most so many media of a kind in one message, the first ones; words stand for the others.

    Source: «You can include up to 20 images … up to five documents» (Converse, Message.content, BE14, schema).

    Loses: LIM004, LIM005.
    """

    def media_per_message(conversation: Conversation, ledger: Ledger) -> Conversation:
        if lacks(conversation, MEDIA):
            return conversation
        over: set[int] = set()
        for message in conversation.messages:
            found: list[Media] = []
            for block in message.blocks:
                inside = block.content if type(block) is ToolResult else (block,)
                found.extend(inner for inner in inside if type(inner) is Media and inner.kind == kind)
            over.update(id(media) for media in found[most:])
        if not over:
            return conversation
        return _each_media(
            conversation, lambda media: in_words(media, ledger, code, most=most) if id(media) in over else media
        )

    return media_per_message


def media_sizes(largest: Mapping[str, int]) -> Rule:
    """No inline media of more bytes than the target takes of its kind; words stand in their place.

    Source: «Each image's size … must be no more than 3.75 MB», «Each document's size must be no more than 4.5 MB» (Converse, BE14, schema).

    Loses: MED009.
    """

    def media_sizes(conversation: Conversation, ledger: Ledger) -> Conversation:
        if lacks(conversation, MEDIA):
            return conversation

        def fitted(media: Media) -> Media | Text:
            most = largest.get(media.kind)
            if most is None or media.source != "base64":
                return media
            size = payload.length(media.data) * 3 // 4
            return media if size - 2 <= most else in_words(media, ledger, MED009, size=size, most=most)

        return _each_media(conversation, fitted)

    return media_sizes


def documents_named(legal: re.Pattern[str], clean: Callable[[str], str], longest: int) -> Rule:
    """Every document has a name that the target accepts and that no other document of the request has.

    A name that the caller gave is kept as far as its characters are legal; one that he did not give is a number. Both depend on nothing
    but what stands before, so that a prompt cache still matches when the history grows.
    Source: «document name can only contain alphanumeric characters, whitespace, hyphens, parentheses, and square brackets» and «Messages
    can't contain duplicate document names. Rename the document and retry your request.» (Converse, BE15, reported 2026).

    Loses: MED007 (a rename, for a name that was given).
    """

    def documents_named(conversation: Conversation, ledger: Ledger) -> Conversation:
        if lacks(conversation, MEDIA):
            return conversation
        used: set[str] = set()
        count = 0

        def named(media: Media) -> Media:
            nonlocal count
            if media.kind != "document":
                return media
            count += 1
            given = payload.string(media.name)
            if given is not None and len(given) <= longest and given not in used and legal.fullmatch(given):
                used.add(given)
                return media
            safe = clean(given or "")[:longest].strip() or f"document-{count}"
            new, number = safe, 2
            while new in used:
                new, number = f"{safe[: longest - 12].strip()}-{number}", number + 1
            used.add(new)
            if not payload.is_inert(media.name):
                ledger.rename(MED007, media, "title", new=new)
            fitted: Media = changed(media, name=new)
            return fitted

        return _each_media(conversation, named)

    return documents_named


ATTACHED = "[document attached]"
"""Stands beside a document in a message that says nothing else."""


def text_beside_documents(conversation: Conversation, ledger: Ledger) -> Conversation:
    """Every message with a document also says something.

    Source: «If you include a ContentBlock with a document field in the array, you must also include a ContentBlock with a text field.»
    (Converse, Message.content, BE14, schema).

    Loses: MED008 (a synthetic text).
    """
    if lacks(conversation, MEDIA):
        return conversation
    out: list[Message] = []
    touched = False
    for message in conversation.messages:
        documents = [block for block in message.blocks if type(block) is Media and block.kind == "document"]
        if documents and not any(type(block) is Text for block in message.blocks):
            ledger.synthesize(MED008, documents[0])
            message = changed(message, blocks=(*message.blocks, Text(ATTACHED, documents[0].at)))
            touched = True
        out.append(message)
    return with_messages(conversation, out) if touched else conversation


def _each_media(conversation: Conversation, now: Callable[[Media], Media | Text]) -> Conversation:
    """The conversation with something else, or the same, in place of each media, also of those inside results."""
    out: list[Message] = []
    touched = False
    for message in conversation.messages:
        blocks: list[Block] = []
        for block in message.blocks:
            if type(block) is Media:
                block = now(block)
            elif type(block) is ToolResult and any(type(inner) is Media for inner in block.content):
                content = tuple([now(inner) if type(inner) is Media else inner for inner in block.content])
                if any(a is not b for a, b in zip(content, block.content, strict=True)):
                    block = changed(block, content=content)
            blocks.append(block)
        if any(a is not b for a, b in zip(blocks, message.blocks, strict=True)):
            message = changed(message, blocks=tuple(blocks))
            touched = True
        out.append(message)
    return with_messages(conversation, out) if touched else conversation
