"""IDS: ids and tool names that the target takes, the same on a call and its result.

A fresh id or name is chosen from what stands before it, so that it does not change when the history grows; a natural one that comes
later and is the same is the one that is rewritten.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any, final

import msgspec

from sendable.codes import IDS001, IDS002, IDS003, IDS004, IDS005, PAR004
from sendable.conversation import Block, Conversation, Message, ToolCall, ToolResult, changed
from sendable.report import Ledger
from sendable.rules import Rule, with_messages

NAMELESS = "invalid_tool_call"


@final
class Form(msgspec.Struct, frozen=True):
    """What an id or name may look like: the pattern that is accepted as it is, and the candidates for one that is not."""

    pattern: re.Pattern[str]
    candidates: Callable[[str], Iterator[str]]


def plain_form(pattern: str, longest: int) -> Form:
    """A form whose fresh values keep what can be kept: other characters become `_`, the end is cut, a number makes it unique."""
    accepted = re.compile(pattern)

    def candidates(value: str) -> Iterator[str]:
        safe = re.sub(r"[^A-Za-z0-9_-]", "_", value)[:longest] or "call"
        if accepted.fullmatch(safe):
            yield safe
        number = 2
        while True:
            end = f"_{number}"
            yield safe[: longest - len(end)] + end
            number += 1

    return Form(accepted, candidates)


def ids(form: Form, *, written: bool = True) -> Rule:
    """Every call has a text id that the target accepts and no other call has, and its result the same.

    A number becomes its decimal text. Repeated ids are told apart by position: within a turn the k-th result answers the k-th call.
    `written`: the target writes ids, so that one that a form without ids never had is reported.

    Loses: IDS001, IDS003, IDS005, PAR004.
    """

    def ids(conversation: Conversation, ledger: Ledger) -> Conversation:
        used: set[str] = set()
        # For each stored id of the turn, the new ids of its calls in order, and how many results have taken theirs.
        waiting: dict[Any, list[str]] = {}
        out: list[Message] = []
        touched = False
        first: dict[str, ToolCall] = {}
        for message in conversation.messages:
            blocks: list[Block] | None = None
            for index, block in enumerate(message.blocks):
                if type(block) is ToolCall and block.executor == "client":
                    new = _fresh(block, form, used, first, written, ledger)
                    waiting.setdefault(_pairs_by(block), []).append(new)
                elif type(block) is ToolResult and block.executor == "client":
                    queue = waiting.get(_pairs_by(block))
                    new = queue.pop(0) if queue else block.id
                else:
                    continue  # keeps: only calls and results have ids to rewrite
                if new != block.id or type(block.id) is not str or block.by_name:
                    blocks = list(message.blocks) if blocks is None else blocks
                    blocks[index] = changed(block, id=new, by_name=False)
            if blocks is not None:
                message = changed(message, blocks=tuple(blocks))
                touched = True
            out.append(message)
        return with_messages(conversation, out) if touched else conversation

    return ids


def _pairs_by(block: ToolCall | ToolResult) -> Any:
    if block.by_name:
        return (block.name,)
    return str(block.id) if type(block.id) is int else block.id


def _fresh(
    call: ToolCall, form: Form, used: set[str], first: dict[str, ToolCall], written: bool, ledger: Ledger
) -> str:
    """The id of one call.

    Loses: IDS001, IDS003, IDS005, PAR004.
    """
    stored = call.id
    text = f"call_{call.name}" if call.by_name else str(stored)
    if type(stored) is str and stored not in used and form.pattern.fullmatch(stored):
        used.add(stored)
        first.setdefault(stored, call)
        return stored
    if text not in used and form.pattern.fullmatch(text):
        new = text
    else:
        new = next(candidate for candidate in form.candidates(text) if candidate not in used)
    used.add(new)
    if call.by_name:
        if written:
            ledger.synthesize(IDS005, call, None, new=new)
    elif text in first:
        ledger.rename(PAR004, call, "id", related=(first[text],), old=text, new=new)
    elif type(stored) is int:
        ledger.rename(IDS003, call, "id", old=stored, new=new)
    else:
        ledger.rename(IDS001, call, "id", old=text, new=new)
    first.setdefault(text, call)
    return new


def names(form: Form) -> Rule:
    """Every call has a name that the target accepts: the same new name for the same old one, and never one that another tool has.

    A call without a usable name is named `invalid_tool_call`, in the output only.

    Loses: IDS002, IDS004.
    """

    def names(conversation: Conversation, ledger: Ledger) -> Conversation:
        messages = conversation.messages
        if not any(
            type(block) is ToolCall and not _acceptable(block, form) for message in messages for block in message.blocks
        ):
            return conversation
        renamed: dict[str, str] = {}
        used = {
            setting.value["name"]
            for setting in conversation.settings
            if setting.name == "tool" and type(setting.value.get("name")) is str
        }
        out: list[Message] = []
        new_names: dict[str, str] = {}
        for message in messages:
            blocks: list[Block] | None = None
            for index, block in enumerate(message.blocks):
                if type(block) is ToolCall and block.executor == "client":
                    if _acceptable(block, form):
                        used.add(block.name)
                        continue  # keeps: the name stands
                    new = _new_name(block, form, renamed, used, ledger)
                    new_names[str(block.id)] = new
                    blocks = list(message.blocks) if blocks is None else blocks
                    blocks[index] = changed(block, name=new)
                elif type(block) is ToolResult and str(block.id) in new_names:
                    blocks = list(message.blocks) if blocks is None else blocks
                    blocks[index] = changed(block, name=new_names[str(block.id)])
            out.append(message if blocks is None else changed(message, blocks=tuple(blocks)))
        return with_messages(conversation, out)

    return names


def _acceptable(call: ToolCall, form: Form) -> bool:
    return call.executor == "provider" or (type(call.name) is str and form.pattern.fullmatch(call.name) is not None)


def _new_name(call: ToolCall, form: Form, renamed: dict[str, str], used: set[str], ledger: Ledger) -> str:
    if type(call.name) is not str or not call.name.strip():
        ledger.rename(IDS004, call, "name", new=NAMELESS)
        return NAMELESS
    new = renamed.get(call.name)
    if new is None:
        new = renamed[call.name] = next(candidate for candidate in form.candidates(call.name) if candidate not in used)
        used.add(new)
    ledger.rename(IDS002, call, "name", new=new)
    return new
