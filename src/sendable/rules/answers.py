"""RSP: what an answer loses when it is written in another dialect, for a client that speaks that one.

A client is no provider: it takes reasoning without a signature, calls without results, and ids of any form. What must not live here: what a
provider's answer looks like (dialects/).
"""

from __future__ import annotations

import hashlib

from sendable import payload
from sendable.codes import CON001, IDS005, MED001, RSN001, RSN003, RSP008
from sendable.conversation import Block, Conversation, Media, Message, Reasoning, Reply, ToolCall, changed
from sendable.options import NONE
from sendable.report import Ledger, Receipt
from sendable.rules import Rule, with_messages
from sendable.rules.blocks import FitBlock
from sendable.rules.reasoning import issuer_of


def shown_in(home: str, issuer: str, fit_block: FitBlock, media: bool = False) -> FitBlock:
    """Every block of an answer as a client of the dialect `home` can be shown it.

    Reasoning that can be read is shown, without a signature that is another issuer's; what is sealed is not. Media stay where the dialect
    has answers with media (`media`).

    Loses: MED001, RSN001, RSN003, and what `fit_block` loses.
    """

    def shown(block: Block, message: Message, ledger: Ledger) -> Block | Receipt:
        if block.home == home and block.intact:
            return block
        if type(block) is Reasoning:
            if block.signature is None or issuer_of(block.signature, NONE) == issuer:
                return block
            if block.text is None:
                return ledger.drop(RSN003, block, issuer=issuer_of(block.signature, NONE))
            ledger.strip(RSN001, block, "signature", issuer=issuer_of(block.signature, NONE))
            return changed(block, signature=None)
        if type(block) is Media and not media:
            return ledger.drop(MED001, block, kind=block.kind)
        return fit_block(block, message, ledger)

    return shown


def identified(answer_id: str | None) -> Rule:
    """Every call has an id. One that came without gets an id made of the answer's own and its place, so that no two answers share one.

    Loses: IDS005.
    """

    def identified(conversation: Conversation, ledger: Ledger) -> Conversation:
        count = 0
        out: list[Message] = []
        given: dict[object, str] = {}
        for message in conversation.messages:
            blocks: list[Block] = []
            for block in message.blocks:
                if type(block) is ToolCall and block.executor == "client":
                    if type(block.id) is not str or block.by_name:
                        new = given[block.id] = given_id(answer_id, count)
                        ledger.synthesize(IDS005, block, "id", new=new)
                        block = changed(block, id=new, by_name=False)
                    count += 1
                blocks.append(block)
            out.append(message if not given else changed(message, blocks=tuple(blocks)))
        return with_messages(conversation, out) if given else conversation

    return identified


def given_id(answer_id: str | None, ordinal: int) -> str:
    """The id of a call that came without one: the same whenever the same answer is read."""
    return "call_" + hashlib.sha256(f"{answer_id} {ordinal}".encode("utf-8", "surrogatepass")).hexdigest()[:24]


def without_envelope(reply: Reply, ledger: Ledger) -> None:
    """Say of everything that an answer holds beside its messages, and that only its own dialect has a place for, that it is gone.

    Loses: CON001, RSP008.
    """
    for at, value in (reply.extra or {}).items():
        if not payload.is_inert(value):
            ledger.strip(RSP008, (), at)
    if not payload.is_inert(reply.stop.details):
        ledger.strip(RSP008, (), reply.stop.at)
    for handle in reply.handles:
        if handle.kind != "response":
            ledger.strip(CON001, (), handle.at, kind=handle.kind)


def one_turn(conversation: Conversation, ledger: Ledger) -> Conversation:
    """All of an answer stands in one message. Loses nothing: an answer is one turn, however many items it came in."""
    if len(conversation.messages) < 2:
        return conversation
    first = conversation.messages[0]
    blocks = tuple(block for message in conversation.messages for block in message.blocks)
    return with_messages(conversation, [Message("assistant", blocks, first.at)])
