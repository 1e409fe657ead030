"""CAR: native blocks that rode through another dialect are taken out of their carrier again. No target is sent a carrier.

What must not live here: the form of a carrier (carriers.py), and how native blocks are read (passed in).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import msgspec

from sendable import payload
from sendable.carriers import FIELD, Trust, is_marked, parsed, seen_in
from sendable.codes import CAR001, CAR002, CAR003
from sendable.conversation import EXTRA, REASONING, Block, Conversation, Message, Reasoning, changed
from sendable.paths import At
from sendable.payload import Leaf
from sendable.report import Ledger
from sendable.rules import lacks

ReadNative: TypeAlias = Callable[[str, Sequence[tuple[Leaf, At]]], Sequence[Message]]
"""Reads messages of the dialect of this name, each with its place; none if there is no such dialect."""


def open_carriers(
    conversation: Conversation,
    read_native: ReadNative,
    to: str,
    trust: Trust | None,
    ledger: Ledger,
) -> Conversation:
    """No message holds a carrier: the native messages stand in the place of what was seen of them, or the seen part stands alone.

    Native messages are taken only if what stands beside the carrier is what was written beside it. For the dialect `to` that is a
    restoration and no loss; for another one, the blocks go through its rules like any others.

    Loses: CAR001, CAR002, CAR003.
    """
    if lacks(conversation, EXTRA | REASONING):
        return conversation
    out: list[Message] = []
    opened = False
    for message in conversation.messages:
        found = _carrier_in(message)
        if found is None:
            out.append(message)
            continue  # keeps: the line above
        opened = True
        place, value, rest = found
        carrier = parsed(value)
        native = payload.items((carrier or {}).get("native"))
        dialect = payload.string((carrier or {}).get("dialect"))
        if carrier is None or native is None or dialect is None or (trust is not None and not trust(carrier)):
            ledger.strip(CAR003, message, place)
            out.append(rest) if rest.blocks or not rest.item else None
            continue  # keeps: the line above
        before = _seen_before(out, rest, payload.string(carrier.get("visible")))
        if before is None:
            ledger.strip(CAR002, message, place)
            out.append(rest) if rest.blocks or not rest.item else None
            continue  # keeps: the line above
        if dialect != to:
            ledger.strip(CAR001, message, place)
        at = (message.at, *place)
        whole = payload.fields(value) is not None
        entries = [(entry, (at, "native", index) if whole else at) for index, entry in enumerate(native)]
        del out[len(out) - before :]
        out.extend(read_native(dialect, entries))
    if not opened:
        return conversation
    return msgspec.structs.replace(conversation, messages=out, holds=None)


def _seen_before(messages: Sequence[Message], rest: Message, visible: str | None) -> int | None:
    """In how many of the last messages, beside the rest of the carrier's own, stands what was written beside it; None if it was edited.

    A message holds all of it. Of items, which are messages of their own, those before the carrier's hold it.
    """
    if seen_in([rest]) == visible:
        return 0
    if rest.item:
        for count in range(1, len(messages) + 1):
            if messages[-count].role != "assistant":
                return None
            if seen_in([*messages[len(messages) - count :], rest]) == visible:
                return count
    return None


def _carrier_in(message: Message) -> tuple[tuple[Any, ...], Leaf, Message] | None:
    """The carrier of a message: its place in the message, its value, and the message without it."""
    if message.extra is not None and FIELD in message.extra:
        rest = {key: value for key, value in message.extra.items() if key != FIELD}  # keeps: it is given back beside
        return (FIELD,), message.extra[FIELD], changed(message, extra=rest or None)
    for index, block in enumerate(message.blocks):
        if type(block) is Reasoning and block.signature is not None and is_marked(block.signature.value):
            blocks = (*message.blocks[:index], *message.blocks[index + 1 :])
            return _inside(message, block), block.signature.value, changed(message, blocks=blocks)
    return None


def _inside(message: Message, block: Block) -> tuple[Any, ...]:
    """The place of a block inside its message; `()` where the message is the block."""
    return tuple(step for step in block.at[1:]) if block.at[:1] == (message.at,) else ()
