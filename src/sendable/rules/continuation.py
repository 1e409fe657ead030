"""CON: what the provider holds and the history only points at, and the ids of items by which it knows them again."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, final

import msgspec

from sendable import paths, payload
from sendable.codes import (
    BLK001,
    BLK002,
    BLK003,
    CON001,
    CON002,
    CON003,
    CON004,
    CON005,
    FLD008,
    FLD009,
    RSN002,
    RSN014,
    Code,
)
from sendable.conversation import (
    OPAQUE,
    Block,
    Continuation,
    Conversation,
    Message,
    Opaque,
    Reasoning,
    Setting,
    Text,
    ToolCall,
    ToolResult,
    changed,
)
from sendable.fingerprints import NOTHING, boundaries
from sendable.options import Options
from sendable.payload import Leaf
from sendable.report import Ledger, Receipt
from sendable.rules import Rule, lacks, with_messages
from sendable.rules.turns import is_reasoning


@final
class Continue:
    """A handle to go on from (`response.continuation`), for `normalize(…, context=Continue(handle))`.

    `now` is the time against which its expiry is judged, in seconds since 1970; by default the time at which this is made.
    """

    __slots__ = ("handle", "now")

    def __init__(self, handle: Continuation, now: float | None = None) -> None:
        self.handle, self.now = handle, time.time() if now is None else now


FIELDS: dict[tuple[str, str], str] = {
    ("openai-responses", "response"): "previous_response_id",
    ("openai-responses", "conversation"): "conversation",
}
"""In which request field of a dialect a handle of a kind stands."""


def continued(conversation: Conversation, context: Continue, home: str, ledger: Ledger) -> tuple[Conversation, str]:
    """Only what is new, behind the handle, and the fingerprint of what the handle stands for; or all of it, without a handle.

    The handle is used if it is the target's own, has not expired, and stands for a beginning of this very history, by fingerprint. What a
    provider does not keep with it stays: «The instructions from a previous response will not be carried over» (OpenAI, documented).

    Loses: CON005 (a note).
    """
    handle = context.handle
    field = FIELDS.get((home, handle.kind)) if handle.issuer == home else None
    if field is None:
        reason = "foreign"
    elif conversation.continued:
        reason = "the body has a handle of its own"
    elif handle.expires is not None and handle.expires <= context.now:
        reason = "expired"
    elif handle.covers is None:
        reason = "covers nothing"
    else:
        for count, found in boundaries(conversation.messages):
            if found == handle.covers and count < len(conversation.messages):
                kept = [message for message in conversation.messages[:count] if len(message.at) == 1]  # keeps: held
                setting = Setting(field, handle.id, (field,), home=home)
                return (
                    msgspec.structs.replace(
                        conversation,
                        messages=[*kept, *conversation.messages[count:]],
                        settings=(*conversation.settings, setting),
                        listed=False,
                        continued=True,
                        holds=None,
                    ),
                    found,
                )
        reason = "stands for another history"
    ledger.note(CON005, (), None, reason=reason, kind=handle.kind)
    return conversation, NOTHING


@final
class State(msgspec.Struct, frozen=True):
    """How a dialect points at what its provider holds.

    `handles`: request fields that stand for an earlier part of the conversation, or for something else that the provider holds.
    `references`: kinds of block that stand for an item. `summaries`: kinds that hold earlier conversation, sealed. `last`: kinds that are
    only accepted at the very end. `held`: kinds of block that stand for content that the provider holds; `words` gives what was said in
    one, if that is known.
    """

    home: str
    handles: frozenset[str] = frozenset()
    references: frozenset[str] = frozenset()
    summaries: frozenset[str] = frozenset()
    last: frozenset[str] = frozenset()
    held: frozenset[str] = frozenset()
    words: Callable[[Opaque], Leaf | None] = lambda block: None


def foreign_state(home: str, states: Sequence[State]) -> Rule:
    """Nothing points at what another provider than the target's holds, and no item is left that only the other one knows.

    Source: «Previous response with id 'resp_abc' not found.» (OS4), «Item with id 'rs_…' not found.» (OS5), and by their like at every
    provider that never saw the item.

    Loses: BLK001, BLK002, CON001, CON002, CON003.
    """
    foreign = [
        state for state in states if state.home != home
    ]  # keeps: the target's own state is no business of this rule

    kinds: dict[tuple[str, str], Code] = {}
    words: dict[tuple[str, str], Callable[[Opaque], Leaf | None]] = {}
    handles: set[tuple[str, str]] = set()
    for state in foreign:
        kinds.update({(state.home, kind): CON002 for kind in state.references})
        kinds.update({(state.home, kind): CON003 for kind in state.summaries})
        kinds.update({(state.home, kind): CON001 for kind in state.held})
        words.update({(state.home, kind): state.words for kind in state.held})
        handles.update((state.home, name) for name in state.handles)
    homes = {state.home for state in foreign}

    def foreign_state(conversation: Conversation, ledger: Ledger) -> Conversation:
        return _without_messages(_without_handles(conversation, handles, ledger), kinds, words, homes, ledger)

    return foreign_state


def _without_handles(conversation: Conversation, handles: set[tuple[str, str]], ledger: Ledger) -> Conversation:
    """The conversation without request fields that stand for an earlier part.

    Loses: CON001.
    """
    kept: list[Setting] = []
    for setting in conversation.settings:
        if (setting.home or "", setting.name) in handles:
            if not payload.is_inert(setting.value):
                ledger.strip(CON001, setting, ())
            continue  # keeps: the line above reports it
        kept.append(setting)
    if len(kept) == len(conversation.settings):
        return conversation
    return msgspec.structs.replace(conversation, settings=tuple(kept), continued=False)


def _without_messages(
    conversation: Conversation,
    kinds: Mapping[tuple[str, str], Code],
    words: Mapping[tuple[str, str], Callable[[Opaque], Leaf | None]],
    homes: set[str],
    ledger: Ledger,
) -> Conversation:
    """The conversation without references, sealed summaries, held content, and items that only their home knows.

    Loses: BLK001, BLK002, CON001, CON002, CON003.
    """
    if lacks(conversation, OPAQUE):
        return conversation
    out: list[Message] = []
    touched = False
    for message in conversation.messages:
        if any(type(block) is Opaque and _is_foreign(block, message, kinds, homes) for block in message.blocks):
            blocks: list[Block] = []
            for block in message.blocks:
                if type(block) is Opaque and _is_foreign(block, message, kinds, homes):
                    key = (block.home or "", block.kind)
                    said = words[key](block) if key in words else None
                    if said is not None:
                        ledger.degrade(CON001, block, kind=block.kind)
                        blocks.append(Text(said, block.at))
                    else:
                        ledger.drop(kinds.get(key, BLK002 if block.intact else BLK001), block, kind=block.kind)
                else:
                    blocks.append(block)
            touched = True
            if not blocks and message.item:
                continue  # keeps: the item was the message, and its entry is above
            message = changed(message, blocks=tuple(blocks))
        out.append(message)
    return with_messages(conversation, out) if touched else conversation


def _is_foreign(block: Opaque, message: Message, kinds: Mapping[tuple[str, str], Code], homes: set[str]) -> bool:
    if (block.home or "", block.kind) in kinds:
        # A summary that can be read is text, wherever it goes.
        return payload.kind((payload.fields(block.raw) or {}).get("content")) != "text"
    return message.item and block.home in homes


def own_state(state: State, options: Options) -> Rule:
    """What the target's own provider holds can be pointed at, as long as it keeps it; what has to be the last item is the last.

    A handle makes the history the continuation of a part that is not here: a result may answer a call of that part. Where nothing is kept
    (`store: false`, in the body or as an option), references and reasoning without its encrypted content point at nothing.
    Source: «Item with id 'rs_…' not found. Items are not persisted when store is false» (OS5, reported).

    Loses: BLK003, CON002, RSN002.
    """

    def own_state(conversation: Conversation, ledger: Ledger) -> Conversation:
        kept = options.store
        for setting in conversation.settings:
            if setting.home != state.home:
                continue  # keeps: only looks
            if setting.name == "store" and payload.kind(setting.value) == "bool" and not payload.is_true(setting.value):
                kept = False
        if conversation.continued and not options.store:
            conversation = _unheld(conversation, state, ledger)
        out: list[Message] = []
        last = len(conversation.messages) - 1
        for index, message in enumerate(conversation.messages):
            only = message.blocks[0] if message.item and message.blocks else None
            if type(only) is Opaque and only.home == state.home and only.kind in state.references and not kept:
                ledger.drop(CON002, only, kind=only.kind)
            elif type(only) is Opaque and only.home == state.home and only.kind in state.last and index < last:
                ledger.drop(BLK003, only, kind=only.kind)
            elif (
                type(only) is Reasoning
                and only.home == state.home
                and only.signature is None
                and only.raw is not None
                and not kept
            ):
                ledger.drop(RSN002, only, "signature", reason="the provider keeps no items")
            else:
                out.append(message)
        return conversation if len(out) == len(conversation.messages) else with_messages(conversation, out)

    return own_state


def _unheld(conversation: Conversation, state: State, ledger: Ledger) -> Conversation:
    """The conversation without its handle, because the caller says that nothing is kept behind it.

    Loses: CON002.
    """
    kept: list[Setting] = []
    for setting in conversation.settings:
        if setting.home == state.home and setting.name in state.handles and not payload.is_inert(setting.value):
            ledger.strip(CON002, setting, ())
        else:
            kept.append(setting)
    return msgspec.structs.replace(conversation, settings=tuple(kept), continued=False)


_ID = re.compile(r"[A-Za-z0-9_-]{1,64}")


@final
class ItemIds(msgspec.Struct, frozen=True):
    """What a target demands of the ids of items.

    `kind_of`: the kind under which a block is written. `prefixes`: how the id of a kind begins. `needed`: the kinds that are nothing
    without their id. `unrelated`: the kinds whose id is that of their call.
    """

    home: str
    kind_of: Callable[[Block], str]
    prefixes: Mapping[str, str]
    needed: frozenset[str]
    unrelated: frozenset[str]


def item_ids(known: ItemIds) -> Rule:
    """Every item id is one that the provider gave to an item of this kind, and stands once; reasoning is followed by what it led to.

    An id that the provider would refuse goes from an item that does without one; another item goes with it. Reasoning that nothing of the
    assistant's follows goes, and an item directly behind reasoning that is gone loses the id that demands it.
    Source: «Invalid 'input[3].id': '__fake_id__'. Expected an ID that begins with 'fc'.», «Duplicate item found with id msg_17…» (OR6);
    «Item 'rs_68c4…' of type 'reasoning' was provided without its required following item.» (OR14, measured); «Item 'fc_07f6' of type
    'function_call' was provided without its required 'reasoning' item: 'rs_07f6'.» (OR15).

    Loses: CON004, CON005, FLD008, FLD009, RSN014.
    """

    def item_ids(conversation: Conversation, ledger: Ledger) -> Conversation:
        messages = conversation.messages
        out: list[Message] = []
        seen: set[str] = set()
        touched = False
        for index, message in enumerate(messages):
            fitted: Message | None = message
            if message.home == known.home:
                fitted = (
                    _fit_item(message, messages, index, known, seen, ledger)
                    if message.item
                    else _fit_message(message, known, seen, ledger)
                )
            touched = touched or fitted is not message
            if fitted is not None:
                out.append(fitted)
        return with_messages(conversation, out) if touched else conversation

    return item_ids


def _fit_message(message: Message, known: ItemIds, seen: set[str], ledger: Ledger) -> Message:
    """A message with an id that can be sent, or without one.

    Loses: FLD008, FLD009.
    """
    extra = message.extra
    if extra is None or "id" not in extra:
        return message
    receipt = _judged(message, extra["id"], "message", known, seen, ledger)
    if receipt is None:
        return message
    # `status` belongs to the form with an id; completed is what holds anyway.
    usual = payload.string(extra.get("status")) == "completed" or payload.is_null(extra.get("status"))
    if not usual:
        ledger.strip(FLD008, message, ("status",), because=receipt)
    rest = {key: value for key, value in extra.items() if key not in ("id", "status")}  # keeps: reported above
    fitted: Message = changed(message, extra=rest or None)
    return fitted


def _fit_item(
    message: Message, messages: Sequence[Message], index: int, known: ItemIds, seen: set[str], ledger: Ledger
) -> Message | None:
    """An item with an id that can be sent, without one, or None with its entry.

    Loses: CON004, CON005, FLD008, FLD009, RSN014.
    """
    block = message.blocks[0]
    if block.home != known.home or type(block.raw) is not dict:
        return message
    kind = known.kind_of(block)
    stored = block.raw.get("id") if type(block) is Opaque else (block.extra or {}).get("id")
    if type(block) is Reasoning and not payload.is_null(stored) and not _is_followed(messages, index):
        ledger.drop(RSN014, block)
        return None
    if payload.is_null(stored) or kind in known.unrelated:
        return message
    needs = kind in known.needed or (type(block) is Reasoning and block.signature is None)
    if needs and _refused(stored, kind, known, seen):
        ledger.drop(RSN014 if type(block) is Reasoning else CON004, block, "id")
        return None
    if _judged(block, stored, kind, known, seen, ledger) is None:
        return message
    rest = {key: value for key, value in block.raw.items() if key != "id"}  # keeps: `_judged` reported it
    extra = {key: value for key, value in (block.extra or {}).items() if key != "id"}  # keeps: `_judged` reported it
    fitted: Block = changed(block, raw=rest, extra=extra or None)
    whole: Message = changed(message, blocks=(fitted,))
    return whole


def _is_followed(messages: Sequence[Message], index: int) -> bool:
    """Whether something of the assistant's, other than more reasoning, comes directly behind a message."""
    for message in messages[index + 1 :]:
        if message.role != "assistant":
            return False
        if not is_reasoning(message):
            return True
    return False


def _refused(stored: Any, kind: str, known: ItemIds, seen: set[str]) -> bool:
    text = payload.string(stored)
    return (
        text is None or text in seen or _ID.fullmatch(text) is None or not text.startswith(known.prefixes.get(kind, ""))
    )


def _judged(
    node: Message | Block, stored: Any, kind: str, known: ItemIds, seen: set[str], ledger: Ledger
) -> Receipt | None:
    """The receipt for an id that cannot be sent, or None for one that can.

    Loses: FLD008, FLD009.
    """
    if _refused(stored, kind, known, seen):
        return ledger.strip(FLD008, node, ("id",))
    cause = _reasoning_gone_before(node, ledger)
    if cause is not None and type(node) is not Reasoning and type(node) is not ToolResult:
        return ledger.strip(FLD009, node, ("id",), because=cause)
    seen.add(payload.string(stored) or "")
    return None


def _reasoning_gone_before(node: Message | Block, ledger: Ledger) -> Receipt | None:
    """The entry that dropped the reasoning directly before an item, or None."""
    at = node.at
    # An item stands in the list itself, or in the list of a carrier.
    listed = len(at) == 2 or (len(at) == 3 and at[1] == "native")
    if not listed or type(at[-1]) is not int or at[-1] == 0:
        return None
    before = (*at[:-1], at[-1] - 1)
    receipt = ledger.last_about(before)
    if receipt is None or receipt.entry.verb != "drop" or receipt.entry.code[:3] != "RSN":
        return None
    return receipt if receipt.entry.path == paths.text(before) else None


def may_wait(call: ToolCall) -> bool:
    """Whether a call says that its result may come later («async», OR26)."""
    return call.extra is not None and payload.is_true(call.extra.get("async"))


def stands_alone(home: str) -> Callable[[ToolResult], bool]:
    """Whether a result of this dialect belongs to no call: it has no id at all, and names the tool that it is from (OR11)."""

    def stands_alone(result: ToolResult) -> bool:
        return result.home == home and result.id is None and result.name is not None and not result.by_name

    return stands_alone
