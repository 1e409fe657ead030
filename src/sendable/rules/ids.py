"""IDS: ids and tool names that the target takes, the same on a call and its result.

A fresh id or name is chosen from what stands before it, so that it does not change when the history grows; a natural one that comes
later and is the same is the one that is rewritten.
"""

from __future__ import annotations

import hashlib
import re
import string
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from typing import Any, final

import msgspec

from sendable import payload
from sendable.codes import IDS001, IDS002, IDS003, IDS004, IDS005, PAR004
from sendable.conversation import NUMBERED, Block, Conversation, Fields, Message, Setting, ToolCall, ToolResult, changed
from sendable.report import Ledger
from sendable.rules import Rule, lacks, with_messages
from sendable.rules.blocks import is_alias

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
        if not accepted.fullmatch(safe):
            # Only the first character can still be wrong: a name may have to begin with a letter or `_`.
            safe = f"_{safe}"[:longest]
        if accepted.fullmatch(safe):
            yield safe
        number = 2
        while True:
            end = f"_{number}"
            yield safe[: longest - len(end)] + end
            number += 1

    return Form(accepted, candidates)


def word_form(longest: int) -> Form:
    """A form of letters, digits and underscores that does not begin with a digit."""
    accepted = re.compile(rf"[A-Za-z_][A-Za-z0-9_]{{0,{longest - 1}}}")

    def candidates(value: str) -> Iterator[str]:
        safe = re.sub(r"[^A-Za-z0-9_]", "_", value) or "_"
        safe = ("_" + safe if safe[0].isdigit() else safe)[:longest]
        yield safe
        number = 2
        while True:
            end = f"_{number}"
            yield safe[: longest - len(end)] + end
            number += 1

    return Form(accepted, candidates)


_ALPHABET = string.digits + string.ascii_letters


def digest_form(length: int) -> Form:
    """A form of exactly so many letters and digits. A fresh one is a digest of the stored one, so that two that differ only in their tails
    stay different, and the same one is the same in every run."""

    def candidates(value: str) -> Iterator[str]:
        number = 0
        while True:
            hashed = hashlib.blake2b(
                f"{number}:{value}".encode("utf-8", "surrogatepass"), digest_size=length * 2
            ).digest()
            yield "".join(_ALPHABET[byte % len(_ALPHABET)] for byte in hashed[:length])
            number += 1

    return Form(re.compile(f"[A-Za-z0-9]{{{length}}}"), candidates)


@lru_cache(maxsize=1024)
def _numbered(name: str, before: int) -> Form:
    def candidates(value: str) -> Iterator[str]:
        number = before
        while True:
            yield f"functions.{name}:{number}"
            number += 1

    return Form(re.compile(re.escape(f"functions.{name}:") + r"\d+"), candidates)


def numbered_form(call: ToolCall, before: int) -> Form:
    """The form `functions.NAME:N`, of which N counts all calls of the conversation. After `names`.

    Source: «`functions.{name}:{idx}` with a conversation-global counter» (Kimi's tool call guidance, section 10.2, reported): renderers
    read the tool's name from the id.
    """
    return _numbered(str(call.name), before)


def ids(
    form: Form | Callable[[ToolCall, int], Form], *, written: bool = True, needed: bool = True, served: bool = False
) -> Rule:
    """Every call has a text id that the target accepts and no other call has, and its result the same.

    A number becomes its decimal text. Repeated ids are told apart by position: within a turn the k-th result answers the k-th call.
    `form`: the same for all, or given by a call and the number of calls before it. `written`: the target writes ids, so that one that a
    form without ids never had is reported. `needed`: every call needs one, also one that pairs by its name. `served`: a call that the
    provider executed shares its id with no other either. After `server_pairs`.

    Loses: IDS001, IDS003, IDS005, PAR004.
    """

    def ids(conversation: Conversation, ledger: Ledger) -> Conversation:
        if isinstance(form, Form) and lacks(conversation, NUMBERED) and _all_stand(conversation.messages, form, served):
            return conversation
        used: set[str] = set()
        # For each stored id of the turn, the new ids of its calls in order, and how many results have taken theirs.
        waiting: dict[Any, list[str]] = {}
        # The new id that the last result of each stored id has taken: a further one answers the same call.
        taken: dict[Any, str] = {}
        # The new id of the last call of each stored id that the provider executed: its result follows in the same turn.
        own_ids: dict[Any, str] = {}
        out: list[Message] = []
        touched = False
        first: dict[str, ToolCall] = {}
        before = 0
        for message in conversation.messages:
            blocks: list[Block] | None = None
            for index, block in enumerate(message.blocks):
                if not needed and (type(block) is ToolCall or type(block) is ToolResult) and block.by_name:
                    continue  # keeps: the target pairs it by its name
                if type(block) is ToolCall and block.executor == "client":
                    own = form(block, before) if callable(form) else form
                    before += 1
                    new = _fresh(block, own, used, first, written, ledger)
                    waiting.setdefault(_pairs_by(block), []).append(new)
                elif type(block) is ToolResult and block.executor == "client":
                    queue = waiting.get(_pairs_by(block))
                    new = queue.pop(0) if queue else taken.get(_pairs_by(block), block.id)
                    taken[_pairs_by(block)] = str(new)
                elif served and type(block) is ToolCall:
                    new = own_ids[block.id] = _told_apart(block, used, first, ledger)
                elif served and type(block) is ToolResult:
                    new = own_ids.get(block.id, block.id)
                else:
                    continue  # keeps: only calls and results have ids to rewrite
                if new != block.id or type(block.id) is not str or block.by_name:
                    blocks = list(message.blocks) if blocks is None else blocks
                    blocks[index] = changed(block, id=new, by_name=False, extra=_without_aliases(block))
            if blocks is not None:
                message = changed(message, blocks=tuple(blocks))
                touched = True
            out.append(message)
        return with_messages(conversation, out) if touched else conversation

    return ids


def _without_aliases(block: ToolCall | ToolResult) -> Fields | None:
    """The other fields of a block whose id is now another one: without those that spell the old one, which the rename speaks of."""
    if block.extra is None:
        return None
    return {
        key: value for key, value in block.extra.items() if not is_alias(block, key, value)
    } or None  # keeps: see above


def _all_stand(messages: Sequence[Message], form: Form, served: bool) -> bool:
    """Whether every call keeps its id, of ids that are all text: then its result does as well."""
    used: set[str] = set()
    for message in messages:
        for block in message.blocks:
            if type(block) is ToolCall and block.executor == "client":
                if not _stands(block.id, form, used):
                    return False
                used.add(block.id)
            elif served and type(block) is ToolCall:
                if block.id in used:
                    return False
                used.add(block.id)
    return True


def _stands(stored: str, form: Form, used: set[str]) -> bool:
    """Whether a stored id can stay what it is."""
    return stored not in used and form.pattern.fullmatch(stored) is not None


def _told_apart(call: ToolCall, used: set[str], first: dict[str, ToolCall], ledger: Ledger) -> str:
    """The id of a call that the provider executed, which has a form of its own: «'tool_use' ids must be unique» (AT8).

    Loses: PAR004.
    """
    new, number = str(call.id), 2
    while new in used:
        new, number = f"{call.id}_{number}", number + 1
    if new != call.id:
        ledger.rename(PAR004, call, "id", related=(first[call.id],) if call.id in first else (), old=call.id, new=new)
    used.add(new)
    first.setdefault(call.id, call)
    return new


def _pairs_by(block: ToolCall | ToolResult) -> Any:
    if block.by_name:
        return (block.name if type(block.name) is str else None,)
    return str(block.id) if type(block.id) is int else block.id


def _fresh(
    call: ToolCall, form: Form, used: set[str], first: dict[str, ToolCall], written: bool, ledger: Ledger
) -> str:
    """The id of one call.

    Loses: IDS001, IDS003, IDS005, PAR004.
    """
    stored = call.id
    text = f"call_{call.name}" if call.by_name else str(stored)
    if type(stored) is str and _stands(stored, form, used):
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

    A call without a usable name is named `invalid_tool_call`, in the output only. A declared tool whose name the target refuses gets the
    same new name as its calls, in `tools` and in `tool_choice`.

    Loses: IDS002, IDS004.
    """

    def names(conversation: Conversation, ledger: Ledger) -> Conversation:
        messages = conversation.messages
        declared = [name for setting in conversation.settings if (name := _declared(setting)) is not None]
        if all(map(form.pattern.fullmatch, declared)) and _all_acceptable(messages, form):
            return conversation
        renamed: dict[str, str] = {}
        used = set(declared)
        settings = tuple([_renamed(setting, form, renamed, used, ledger) for setting in conversation.settings])
        if any(a is not b for a, b in zip(settings, conversation.settings, strict=True)):
            conversation = msgspec.structs.replace(conversation, settings=settings)
        out: list[Message] = []
        new_names: dict[Any, str] = {}
        for message in messages:
            blocks: list[Block] | None = None
            for index, block in enumerate(message.blocks):
                if type(block) is ToolCall and block.executor == "client":
                    if _acceptable(block, form):
                        used.add(block.name)
                        continue  # keeps: the name stands
                    new = _new_name(block, form, renamed, used, ledger)
                    new_names[_pairs_by(block)] = new
                    blocks = list(message.blocks) if blocks is None else blocks
                    blocks[index] = changed(block, name=new)
                elif type(block) is ToolResult and block.executor == "client" and _pairs_by(block) in new_names:
                    blocks = list(message.blocks) if blocks is None else blocks
                    blocks[index] = changed(block, name=new_names[_pairs_by(block)])
            out.append(message if blocks is None else changed(message, blocks=tuple(blocks)))
        return with_messages(conversation, out)

    return names


def _declared(setting: Setting) -> str | None:
    """The name of the tool that a setting declares or chooses."""
    if setting.name in ("tool", "tool_choice") and type(setting.value) is dict:
        return payload.string(setting.value.get("name"))
    return None


def _renamed(setting: Setting, form: Form, renamed: dict[str, str], used: set[str], ledger: Ledger) -> Setting:
    """A declaration, or a choice, of a tool under a name that the target accepts.

    Loses: IDS002.
    """
    name = _declared(setting)
    if name is None or not name.strip() or form.pattern.fullmatch(name):
        return setting
    if name not in renamed:
        new = next(candidate for candidate in form.candidates(name) if candidate not in used)
        renamed[name] = new
        used.add(new)
    ledger.rename(IDS002, setting, "name", new=renamed[name])
    fitted: Setting = changed(setting, value={**setting.value, "name": renamed[name]})
    return fitted


def _all_acceptable(messages: Sequence[Message], form: Form) -> bool:
    """Whether every call keeps its name. A history has many calls of few names: each is looked at once."""
    seen: set[str] = set()
    for message in messages:
        for block in message.blocks:
            if type(block) is ToolCall and not (type(block.name) is str and block.name in seen):
                if not _acceptable(block, form):
                    return False
                if type(block.name) is str and block.executor == "client":
                    seen.add(block.name)
    return True


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


def named_results(conversation: Conversation, ledger: Ledger) -> Conversation:
    """Every result has the name of its call. One that had none, or the same, gets it without a word. After `names`.

    Source: «functionResponse.name "call_1073557" does not match functionCall.name / Name cannot be empty» (case
    toolname-gemini-response-name-missing, 2026-08-30).

    Loses: IDS002 (a result that had another name).
    """
    called: dict[Any, Any] = {}
    out: list[Message] = []
    touched = False
    for message in conversation.messages:
        blocks: list[Block] | None = None
        for index, block in enumerate(message.blocks):
            if type(block) is ToolCall and block.executor == "client":
                called[_pairs_by(block)] = block.name
            elif type(block) is ToolResult and block.executor == "client":
                name = called.get(_pairs_by(block), block.name)
                if name != block.name:
                    if (
                        type(block.name) is str
                        and block.name.strip()
                        and block.extra is not None
                        and "name" in block.extra
                    ):
                        # One that stood in a field of its own was reported with the pair.
                        ledger.rename(IDS002, block, "name", new=name)
                    blocks = list(message.blocks) if blocks is None else blocks
                    blocks[index] = changed(block, name=name)
        if blocks is not None:
            message = changed(message, blocks=tuple(blocks))
            touched = True
        out.append(message)
    return with_messages(conversation, out) if touched else conversation
