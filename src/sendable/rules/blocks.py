"""BLK and FLD: what a place cannot hold. Every block and every field meets the target here, once."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias, final

import msgspec

from sendable import paths, payload
from sendable.codes import BLK001, BLK002, BLK003, FLD001, FLD002, FLD007, FLD010, RSN001, SHP007, Code
from sendable.conversation import (
    EXTRA,
    MANY,
    OPAQUE,
    Block,
    Conversation,
    Fields,
    Media,
    Message,
    NodeType,
    Opaque,
    Reasoning,
    Text,
    ToolCall,
    ToolResult,
    changed,
)
from sendable.report import Ledger, Receipt
from sendable.rules import Rule, lacks, with_messages

FitBlock: TypeAlias = Callable[[Block, Message, Ledger], Block | Receipt]
"""Total over the closed set: the block in a form that the target can write, or the receipt of its loss."""

BOOKKEEPING: frozenset[str] = frozenset(
    {
        "created", "created_at", "duration_ms", "finish_reason", "id", "index", "model", "object", "parentUuid", "partial_json",
        "status", "stop_reason", "stop_sequence", "timestamp", "updated_at", "usage", "uuid",
    }
)  # fmt: skip
"""Fields that stores and earlier answers leave in a history: nothing in them is meant for a model."""


CACHE_MARKS: frozenset[str] = frozenset({"cache_control", "prompt_cache_breakpoint"})
"""Fields that mark the end of a prefix that the provider is to keep ready: what is said does not change without them, what it costs does."""


def field_code(key: str) -> Code:
    """The code of a field that a place cannot hold."""
    name = key.rpartition(".")[2]
    return FLD007 if name in CACHE_MARKS else FLD002 if key in BOOKKEEPING else FLD001


def _never_signed(block: Text | ToolCall) -> bool:
    return False


@final
class Place(msgspec.Struct, frozen=True, gc=False):
    """What the fields of a target's objects may be.

    `home`: the dialect. `block_keys`, `message_keys`: the fields that are known, where the place is closed; None where it is open.
    `kind_of`: under which kind a block's fields are looked up. `shared`: fields that mean the same in another dialect. `keep`: unknown
    kinds and fields pass at home. `signs`: whether the signature of a text or call goes out with it; without the target's own word for
    it, none does.
    """

    home: str
    block_keys: Mapping[str, frozenset[str] | None] | None
    message_keys: Callable[[Message], frozenset[str]] | None
    kind_of: Callable[[Block], str]
    shared: frozenset[str]
    keep: bool
    # Known fields that hold text and nothing else, where unknown ones may hold anything.
    texts: frozenset[str] = frozenset()
    # By kind and name, fields of media of another dialect that this one has under another name, and the words that they may say here.
    words: Mapping[tuple[str, str], tuple[str, frozenset[str]]] = {}
    # The kind of block as which a search result is written, if there is one.
    search_result: str | None = None
    signs: Callable[[Text | ToolCall], bool] = _never_signed


def fit(fit_block: FitBlock, place: Place) -> Rule:
    """Every block, also inside results, is one that the target can write, with fields that it knows.

    Loses: what `fit_block` loses, FLD001, FLD002, FLD007, RSN001 (the signature of a text or call, where it means nothing).
    """

    def fit(conversation: Conversation, ledger: Ledger) -> Conversation:
        out: list[Message] = []
        touched = False
        holds = conversation.holds
        for message in conversation.messages:
            blocks = message.blocks
            if message.extra is None and len(blocks) == 1 and _is_plain(blocks[0]):
                out.append(message)
                continue  # keeps: the line above
            fitted = _fit_message(message, fit_block, place, ledger)
            if fitted is not message:
                touched = True
                # What fits may hold nothing that it did not before: only then is what was known of it still all.
                if not _is_like(fitted.blocks, blocks):
                    holds = None
            out.append(fitted)
        return with_messages(conversation, out, holds) if touched else conversation

    return fit


def _is_like(fitted: Sequence[Block], blocks: Sequence[Block]) -> bool:
    """Whether blocks are of the kinds that they were before, and results hold the same."""
    return list(map(_held, fitted)) == list(map(_held, blocks))


def _held(block: Block) -> object:
    return id(block.content) if type(block) is ToolResult else type(block)


def _fit_message(message: Message, fit_block: FitBlock, place: Place, ledger: Ledger) -> Message:
    blocks: list[Block] | None = None
    for index, block in enumerate(message.blocks):
        fitted = block if _is_plain(block) else _fit(block, message, fit_block, place, ledger)
        if fitted is not block and blocks is None:
            blocks = list(message.blocks[:index])
        if blocks is not None and type(fitted) is not Receipt:
            blocks.append(fitted)
    if message.extra is not None:
        known = place.message_keys(message) if place.message_keys is not None else None
        message = fit_fields(message, message.extra, known, place, ledger)
    return message if blocks is None else changed(message, blocks=tuple(blocks))


def _is_plain(block: Block) -> bool:
    """Whether a block is text and nothing else. That fits everywhere, and is most of a history."""
    return type(block) is Text and block.extra is None and block.signature is None


def _fit(block: Block, message: Message, fit_block: FitBlock, place: Place, ledger: Ledger) -> Block | Receipt:
    if type(block) is ToolResult:
        for inner in block.content:
            if not _is_plain(inner):
                block = _fit_inside(block, message, fit_block, place, ledger)
                break
    fitted = fit_block(block, message, ledger)
    if type(fitted) is Receipt:
        return fitted
    if (type(fitted) is ToolCall or type(fitted) is Text) and fitted.signature is not None and not place.signs(fitted):
        ledger.strip(RSN001, fitted, "signature")
        fitted = changed(fitted, signature=None)
    if fitted.extra is None:
        return fitted
    known = place.block_keys.get(place.kind_of(fitted), frozenset()) if place.block_keys is not None else None
    return fit_fields(fitted, fitted.extra, known, place, ledger)


def _fit_inside(result: ToolResult, message: Message, fit_block: FitBlock, place: Place, ledger: Ledger) -> ToolResult:
    """A result whose blocks are ones that the target can write inside a result. No result holds calls, results or reasoning of its own."""
    inside: list[Block] = []
    for inner in result.content:
        if _is_plain(inner):
            inside.append(inner)
            continue  # keeps: the line above
        if type(inner) is ToolCall or type(inner) is ToolResult or type(inner) is Reasoning:
            misplaced(inner, ledger)
            continue  # keeps: the line above reports it
        fitted = _fit(inner, message, fit_block, place, ledger)
        if type(fitted) is not Receipt:
            inside.append(fitted)
    if len(inside) == len(result.content) and all(a is b for a, b in zip(inside, result.content, strict=True)):
        return result
    fitted_result: ToolResult = changed(result, content=tuple(inside))
    return fitted_result


def fit_fields(node: NodeType, extra: Fields, known: frozenset[str] | None, place: Place, ledger: Ledger) -> NodeType:
    """The node with only those unmodelled fields that the target knows. What says nothing (null, empty) goes unreported.

    Loses: FLD001, FLD002, FLD007, FLD010.
    """
    home = getattr(node, "home", None)
    media = node if isinstance(node, Media) else None
    kept: dict[str, Any] = {}
    for key, value in extra.items():
        if key in place.texts and home == place.home and payload.kind(value) != "text":
            if not payload.is_inert(value):
                ledger.strip(FLD010, node, (key,))
        elif (home == place.home and (known is None or key in known or place.keep)) or (
            home != place.home and key in place.shared and (known is None or key in known)
        ):
            kept[key] = value
        elif (
            media is not None
            and home != place.home
            and (word := place.words.get((place.kind_of(media), key))) is not None
            and payload.string(value) in word[1]
        ):
            kept[word[0]] = value
        elif not payload.is_inert(value) and not is_alias(node, key, value) and not _is_usual(key, value):
            ledger.strip(field_code(key), node, paths.inside(node.raw, key))  # type: ignore[attr-defined]
    if kept.keys() == extra.keys():
        return node
    return changed(node, extra=kept or None)


def _is_usual(key: str, value: Any) -> bool:
    """Whether a field says what holds anyway: that a message is one and complete, that an image is seen as the model sees fit."""
    name = key.rpartition(".")[2]
    return name in _USUAL and payload.string(value) == _USUAL[name]


_USUAL = {"type": "message", "status": "completed", "detail": "auto"}


def is_alias(node: Any, key: str, value: Any) -> bool:
    """Whether a field is another spelling of the node's id: its value is kept under the target's own key."""
    return key.rpartition(".")[2] in ("call_id", "tool_call_id", "toolCallId", "toolUseId", "tool_use_id", "id") and (
        type(node) in (ToolCall, ToolResult) and (payload.string(value) or payload.plain(value)) == node.id
    )


def respelled(stands_right: Callable[[Block, Message], bool], has_content: Callable[[Message], bool]) -> Rule:
    """Every block that stands in a spelling of another role than its message's is written anew, and so is a message without its content,
    which is an empty one. That is spelling, and is not reported.

    Source: «Invalid value: 'input_text'. Supported values are: 'output_text' and 'refusal'» (OR2).
    """

    def respelled(conversation: Conversation, ledger: Ledger) -> Conversation:
        out: list[Message] = []
        touched = False
        for message in conversation.messages:
            if any(not stands_right(block, message) for block in message.blocks):
                blocks = [block if stands_right(block, message) else changed(block) for block in message.blocks]
                message = changed(message, blocks=tuple(blocks))
                touched = True
            elif message.intact and not has_content(message):
                message = changed(message)
                touched = True
            out.append(message)
        return with_messages(conversation, out) if touched else conversation

    return respelled


def drop_call(code: Code, block: ToolCall | ToolResult, ledger: Ledger, **facts: Any) -> Receipt:
    """Drop a call, so that its result names the drop as its cause; or a result."""
    receipt = ledger.drop(code, block, **facts)
    if type(block) is ToolCall and type(block.id) in (str, int):
        ledger.lost[str(block.id)] = receipt
    return receipt


def misplaced(block: Block, ledger: Ledger) -> Receipt:
    """Drop a block that a message of this role cannot hold.

    Loses: BLK003.
    """
    if type(block) is ToolCall:
        return drop_call(BLK003, block, ledger)
    return ledger.drop(BLK003, block)


def fit_opaque(block: Opaque, place: Place, ledger: Ledger) -> Opaque | Text | Receipt:
    """A block of a kind that the hub does not model: as it is at home, as text where its text is what it is for, else gone.

    A block that is nothing but a cache mark goes as one.

    Loses: BLK001, BLK002, FLD001, FLD007.
    """
    if block.home == place.home and (block.intact or place.keep):
        return block
    if is_mark(block):
        return ledger.drop(FLD007, block)
    if place.search_result is not None and block.kind in _SEARCH_RESULTS and block.intact:
        return _as_search_result(block, place.search_result, place.home, ledger)
    text = _readable(block)
    if text is not None:
        ledger.degrade(BLK002, block, kind=block.kind)
        return Text(text, block.at)
    return ledger.drop(BLK002 if block.intact else BLK001, block, kind=block.kind)


def is_mark(block: Block) -> bool:
    """Whether a block is nothing but a cache mark on what stands before it."""
    return (
        type(block) is Opaque
        and block.kind == "cachePoint"
        and block.extra is not None
        and not CACHE_MARKS.isdisjoint(block.extra)
    )


_SEARCH_RESULTS = ("search_result", "searchResult")
"""What a search found, in the words of Anthropic and of Converse: the same fields, flat or in the one object of the block."""


def _as_search_result(block: Opaque, kind: str, home: str, ledger: Ledger) -> Opaque:
    """A search result as the target has it, with its source, its title, its texts, and whether it may be cited.

    Loses: FLD001, FLD007 (what stands beside a text inside it).
    """
    fields = payload.members(block.raw)
    at: tuple[Any, ...] = (block.kind,) if block.kind in fields else ()
    fields = payload.members(fields[block.kind]) if at else fields
    texts: list[Any] = []
    for index, part in enumerate(payload.objects(fields.get("content")) or ()):
        inner = payload.members(part)
        for key, value in inner.items():
            if key not in ("type", "text") and not payload.is_inert(value):
                ledger.strip(field_code(key), block, (*at, "content", index, key))
        texts.append({**({} if kind in _KEYED else {"type": "text"}), "text": inner.get("text")})
    made: dict[str, Any] = {"source": fields.get("source"), "title": fields.get("title"), "content": texts}
    if not payload.is_null(fields.get("citations")):
        made["citations"] = fields["citations"]
    marks = {key: value for key, value in (block.extra or {}).items() if key in CACHE_MARKS}  # keeps: see below
    raw = {kind: made} if kind in _KEYED else {"type": kind, **made, **marks}
    rest = {
        key: value for key, value in (block.extra or {}).items() if key.rpartition(".")[2] != "citations"
    }  # keeps: it stands in what is written
    written: Opaque = msgspec.structs.replace(block, kind=kind, raw=raw, home=home, extra=rest or None)
    return written


_KEYED = frozenset({"searchResult"})
"""Kinds of block that have no `type`: their one key says what they are."""


def _readable(block: Opaque) -> Any:
    """The text of a block that is a reference or a quotation, under a label that says what it was."""
    if not block.intact:
        return None
    fields = payload.fields(block.raw) or {}
    if block.kind == "tool_reference":
        return f"[tool: {payload.string(fields.get('tool_name'))}]"
    if block.kind in ("search_result", "searchResult"):
        fields = payload.fields(fields.get("searchResult")) or fields
        texts = [
            payload.string((payload.fields(part) or {}).get("text")) or ""
            for part in payload.items(fields.get("content")) or ()
        ]
        return "\n".join(
            [
                "[search result: "
                + (payload.string(fields.get("title")) or "")
                + "] "
                + (payload.string(fields.get("source")) or ""),
                *texts,
            ]
        )
    return None


def known_references(conversation: Conversation, ledger: Ledger) -> Conversation:
    """No result refers to a tool that the request does not declare: the reference becomes text. Without tools nothing can be checked.

    Source: «Tool reference 'mcp__gone__x' not found in available tools» (reported).

    Loses: BLK002.
    """
    if lacks(conversation, OPAQUE):
        return conversation
    declared = {
        _tool_name(setting.value) for setting in conversation.settings if setting.name in ("tool", "native_tool")
    }
    if not declared:
        return conversation
    out: list[Message] = []
    touched = False
    for message in conversation.messages:
        blocks = tuple(
            [_with_known(block, declared, ledger) if type(block) is ToolResult else block for block in message.blocks]
        )
        if any(a is not b for a, b in zip(blocks, message.blocks, strict=True)):
            message = changed(message, blocks=blocks)
            touched = True
        out.append(message)
    return with_messages(conversation, out) if touched else conversation


def _tool_name(raw: Any) -> str | None:
    return payload.string((payload.fields(raw) or {}).get("name"))


def _with_known(result: ToolResult, declared: set[str | None], ledger: Ledger) -> ToolResult:
    content: list[Block] = []
    for block in result.content:
        if type(block) is Opaque and block.kind == "tool_reference" and block.intact:
            if payload.string(payload.members(block.raw).get("tool_name")) not in declared:
                ledger.degrade(BLK002, block, kind=block.kind)
                content.append(Text(_readable(block), block.at))
                continue  # keeps: the lines above put its text there
        content.append(block)
    return (
        result
        if all(a is b for a, b in zip(content, result.content, strict=True))
        else changed(result, content=tuple(content))
    )


def marks_on_blocks(kind: str, key: str) -> Rule:
    """Every cache mark stands on the block that it marks, as the field `key`, and not behind it as a block of its own of `kind`.

    A mark with nothing before it that can bear one stays what it is.
    Source: Anthropic's `cache_control` marks the end of a prefix on its last block; reasoning cannot bear it (appendix B).
    """

    def marks_on_blocks(conversation: Conversation, ledger: Ledger) -> Conversation:
        if lacks(conversation, OPAQUE):
            return conversation
        out: list[Message] = []
        touched = False
        for message in conversation.messages:
            blocks: list[Block] = []
            for block in message.blocks:
                before = blocks[-1] if blocks else None
                mark = block.extra.get(key) if type(block) is Opaque and block.kind == kind and block.extra else None
                if (
                    mark is not None
                    and before is not None
                    and type(before) is not Reasoning
                    and not _bears(before, key)
                ):
                    marked = {**(before.extra or {}), key: mark}
                    # What came in the form of the mark is still in that form.
                    alike = before.home == block.home
                    blocks[-1] = (
                        msgspec.structs.replace(before, extra=marked) if alike else changed(before, extra=marked)
                    )
                else:
                    blocks.append(block)
            if len(blocks) != len(message.blocks):
                message = changed(message, blocks=tuple(blocks))
                touched = True
            out.append(message)
        return with_messages(conversation, out) if touched else conversation

    return marks_on_blocks


def _bears(block: Block, key: str) -> bool:
    return block.extra is not None and key in block.extra


def marks_behind(key: str, kind: str, point: Callable[[Any, Block], Opaque | None]) -> Rule:
    """Every cache mark, given by the field `key` of a block, stands as a block of its own behind that block; inside a result, behind it.

    `point` makes the block, of `kind`, or says by None that the target knows no such mark.
    Source: «cachePoint» is a member of ContentBlock, SystemContentBlock and Tool, and not of ToolResultContentBlock (botocore 1.44.8).

    Loses: FLD007.
    """

    def marks_behind(conversation: Conversation, ledger: Ledger) -> Conversation:
        if lacks(conversation, EXTRA):
            return conversation
        out: list[Message] = []
        touched = False
        for message in conversation.messages:
            blocks: list[Block] = []
            points: list[Opaque] = []
            for index, block in enumerate(message.blocks):
                if type(block) is ToolResult and any(_bears(inner, key) for inner in block.content):
                    content = tuple([_unmarked(inner, key, kind, point, points, ledger) for inner in block.content])
                    block = changed(block, content=content)
                blocks.append(_unmarked(block, key, kind, point, points, ledger))
                # Nothing stands between the results of a turn: the mark goes behind the last of them.
                following = message.blocks[index + 1] if index + 1 < len(message.blocks) else None
                if type(block) is not ToolResult or type(following) is not ToolResult:
                    blocks.extend(points[-1:])
                    points.clear()
            if any(a is not b for a, b in zip(blocks, message.blocks, strict=False)) or len(blocks) != len(
                message.blocks
            ):
                message = changed(message, blocks=tuple(blocks))
                touched = True
            out.append(message)
        return with_messages(conversation, out) if touched else conversation

    return marks_behind


def _unmarked(
    block: Block,
    key: str,
    kind: str,
    point: Callable[[Any, Block], Opaque | None],
    points: list[Opaque],
    ledger: Ledger,
) -> Block:
    """The block without its mark, which is now one of `points`.

    Loses: FLD007.
    """
    if block.extra is None or key not in block.extra or (type(block) is Opaque and block.kind == kind):
        return block
    mark = block.extra[key]
    made = point(mark, block)
    if made is not None:
        points.append(made)
    elif not payload.is_inert(mark):
        ledger.strip(FLD007, block, (key,))
    rest = {
        name: value for name, value in block.extra.items() if name != key
    }  # keeps: the mark is a block, or reported
    unmarked: Block = changed(block, extra=rest or None)
    return unmarked


def one_form(conversation: Conversation, ledger: Ledger) -> Conversation:
    """Nothing is said twice in one message: a call that stands both in `tool_calls` and in the content, reasoning in a field and a block.

    The form that stands outside the content counts; two reasonings that differ are both kept and noted.

    Loses: SHP007.
    """
    if lacks(conversation, MANY):
        return conversation
    out: list[Message] = []
    touched = False
    for message in conversation.messages:
        if message.role == "assistant" and not message.intact and len(message.blocks) > 1:
            fitted = _one_form(message, ledger)
            touched = touched or fitted is not message
            message = fitted
        out.append(message)
    return with_messages(conversation, out) if touched else conversation


def _one_form(message: Message, ledger: Ledger) -> Message:
    in_content = (message.at, "content")
    outside = {
        block.id: block
        for block in message.blocks
        if type(block) is ToolCall and block.at[0] != in_content and type(block.id) is str
    }  # keeps: only looks
    field = next((block for block in message.blocks if type(block) is Reasoning and block.at[0] != in_content), None)
    kept: list[Block] = []
    for block in message.blocks:
        if type(block) is ToolCall and block.at[0] == in_content and type(block.id) is str and block.id in outside:
            ledger.drop(SHP007, block, related=(outside[block.id],))
        elif field is not None and type(block) is Reasoning and block.at[0] == in_content and block.text is not None:
            if payload.string(block.text) == payload.string(field.text):
                # The block holds more (its signature), the field says the same.
                ledger.drop(SHP007, field, related=(block,))
                kept = [other for other in kept if other is not field]  # keeps: the line above reports it
            else:
                ledger.note(SHP007, field, related=(block,))
            field = None
            kept.append(block)
        else:
            kept.append(block)
    return message if len(kept) == len(message.blocks) else changed(message, blocks=tuple(kept))


def nothing_null(conversation: Conversation, ledger: Ledger) -> Conversation:
    """No message is written with an optional field that says nothing: null, or an empty list or object. Without it, it says the same.

    Source: «property 'reasoning_content' is unsupported» and its like are answered to empty fields of a client library's objects as well
    (reported, 2026-05); «Invalid 'messages[1].tool_calls': empty array» (OC9, measured).

    Loses: nothing.
    """
    out: list[Message] = []
    touched = False
    for message in conversation.messages:
        extra = _without_null(message.extra)
        blocks = tuple(
            [
                block if _without_null(block.extra) is block.extra else changed(block, extra=_without_null(block.extra))
                for block in message.blocks
            ]
        )
        if any(a is not b for a, b in zip(blocks, message.blocks, strict=True)):
            message = changed(message, blocks=blocks)
            touched = True
        if extra is not message.extra or (message.intact and type(message.raw) is dict and _says_nothing(message.raw)):
            message = changed(message, extra=extra)
            touched = True
        out.append(message)
    return with_messages(conversation, out) if touched else conversation


def _without_null(extra: Fields | None) -> Fields | None:
    if extra is None or not any(payload.is_inert(value) for value in extra.values()):
        return extra
    return {key: value for key, value in extra.items() if not payload.is_inert(value)} or None  # keeps: it says nothing


def _says_nothing(fields: Fields) -> bool:
    for key, value in fields.items():
        if payload.is_inert(value) and not (key == "content" and payload.kind(value) == "text"):
            return True
    return False
