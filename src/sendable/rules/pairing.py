"""PAR: which result answers which call. One forward walk over positions, not over sets of ids, since stored ids repeat."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal, TypeAlias, final

import msgspec

from sendable import payload
from sendable.codes import (
    IDS002,
    IDS005,
    PAR001,
    PAR002,
    PAR003,
    PAR004,
    PAR005,
    PAR006,
    PAR007,
    PAR008,
    PAR009,
    SYS001,
)
from sendable.conversation import (
    INSTRUCTING,
    NUMBERED,
    SERVER,
    SPECIAL,
    UNPAIRED,
    Block,
    Conversation,
    Message,
    Text,
    ToolCall,
    ToolResult,
    changed,
)
from sendable.report import Ledger
from sendable.rules import Rule, lacks, with_messages

INTERRUPTED = "Tool call was interrupted; no result."


def usable_ids(unusable: frozenset[Any] = frozenset()) -> Rule:
    """Every call has an id that a result can name. A call without one is dropped before any other repair touches it.

    An id is usable if it is text with a character in it, or an integer, and not in `unusable`; a call that its form pairs by name needs
    none. What the drop costs (its result, its turn) follows in `pair` and `filled`, each as an entry of its own.

    Loses: PAR005.
    """

    def usable_ids(conversation: Conversation, ledger: Ledger) -> Conversation:
        if not unusable and lacks(conversation, NUMBERED):
            return conversation
        messages: list[Message] = []
        touched = False
        for message in conversation.messages:
            if message.role == "assistant":
                kept = [
                    block for block in message.blocks if not _unusable(block, unusable, ledger)
                ]  # keeps: the test reports it
                if len(kept) != len(message.blocks):
                    message = changed(message, blocks=tuple(kept))
                    touched = True
            messages.append(message)
        return _known_by_name(with_messages(conversation, messages) if touched else conversation, ledger)

    return usable_ids


@final
class _Waiting:
    """A call that no result has answered yet: where it stands, and in which run of assistant messages."""

    __slots__ = ("answered", "call", "place", "run")

    def __init__(self, call: ToolCall, place: tuple[int, int], run: int) -> None:
        self.call, self.place, self.run = call, place, run
        self.answered = False


def _known_by_name(conversation: Conversation, ledger: Ledger) -> Conversation:
    """Where only one of a call and its result has an id, they are known by their name: the result takes the call's id, or the call the
    result's. A result with neither id nor name answers the first call that waits.

    Source: «Matching is by id if present else by name/order» (GE9); recorded: a call with an id, answered by its name alone (200).

    Loses: IDS005 (for a call that takes an id).
    """
    messages = conversation.messages
    if not any(
        (type(block) is ToolCall or type(block) is ToolResult) and block.by_name
        for message in messages
        for block in message.blocks
    ):
        return conversation
    by_id: dict[Any, list[_Waiting]] = {}
    by_name: dict[Any, list[_Waiting]] = {}
    everyone: list[_Waiting] = []
    new: dict[tuple[int, int], Block] = {}
    run = 0
    for index, message in enumerate(messages):
        run += message.role != "assistant"
        for number, block in enumerate(message.blocks):
            if type(block) is ToolCall and block.executor == "client":
                waiting = _Waiting(block, (index, number), run)
                everyone.append(waiting)
                by_name.setdefault((block.by_name, block.name if type(block.name) is str else None), []).append(waiting)
                if not block.by_name and is_usable(block.id):
                    by_id.setdefault(_key(block), []).append(waiting)
            elif type(block) is ToolResult and block.executor == "client":
                name = block.name if type(block.name) is str and block.name.strip() else None
                if not block.by_name:
                    found = _next(by_id.get(_key(block)) if is_usable(block.id) else None)
                    if found is None and is_usable(block.id) and _key(block) not in by_id:
                        found = _next(by_name.get((True, name)))
                        if found is not None:
                            ledger.synthesize(IDS005, found.call, None, new=str(block.id))
                            new[found.place] = changed(found.call, id=block.id, by_name=False)
                            by_id[_key(block)] = []
                else:
                    found = _next(by_name.get((True, block.name if type(block.name) is str else None)))
                    other = _next(by_name.get((False, name)) if name is not None else everyone)
                    if other is not None and (found is None or other.run > found.run):
                        # A call of a later turn is nearer than one that has waited since an earlier one.
                        found = other
                        new[index, number] = _of(found.call, block, name)
                if found is not None:
                    found.answered = True
    if not new:
        return conversation
    out = [
        _with_new(message, index, new)
        if any((index, number) in new for number in range(len(message.blocks)))
        else message
        for index, message in enumerate(messages)
    ]
    return with_messages(conversation, out)


def _next(waiting: list[_Waiting] | None) -> _Waiting | None:
    """The first of the calls that wait in the last run in which any of them waits."""
    while waiting and waiting[-1].answered:
        waiting.pop()
    found: _Waiting | None = None
    for candidate in reversed(waiting or ()):
        if candidate.run != waiting[-1].run:  # type: ignore[index]
            break
        if not candidate.answered:
            found = candidate
    return found


def _of(call: ToolCall, result: ToolResult, name: str | None) -> ToolResult:
    """A result with the id, or without one the name, of the call that it answers. It is still written as it came if it has a name."""
    known: ToolResult = msgspec.structs.replace(
        result, id=call.id, by_name=call.by_name, name=call.name, intact=result.intact and name is not None
    )
    return known


def _with_new(message: Message, index: int, new: dict[tuple[int, int], Block]) -> Message:
    blocks = tuple([new.get((index, number), block) for number, block in enumerate(message.blocks)])
    intact = message.intact and all(block.intact for block in blocks)
    known: Message = msgspec.structs.replace(message, blocks=blocks, intact=intact)
    return known


def _unusable(block: Block, unusable: frozenset[Any], ledger: Ledger) -> bool:
    if type(block) is not ToolCall or block.by_name or is_usable(block.id, unusable):
        return False
    receipt = ledger.drop(PAR005, block, "id")
    if type(block.id) in (str, int):
        ledger.lost[_key(block)] = receipt
    return True


def is_usable(value: Any, unusable: frozenset[Any] = frozenset()) -> bool:
    """Whether a stored id can be the id of a call."""
    if type(value) is str:
        return value not in unusable and not payload.is_blank(value)
    return type(value) is int and value not in unusable


@final
class _Slot(msgspec.Struct):
    """One call, and the result that answers it."""

    call: ToolCall
    answer: ToolResult | None = None


@final
class _Turn(msgspec.Struct):
    """The calls of one turn. `beside`: how many of their results stand right behind it, with nothing but their like in between; that says
    all about a turn unless it is `unsettled`."""

    last: int
    slots: list[_Slot] = msgspec.field(default_factory=list)
    beside: int = 0
    unsettled: bool = False


_Held: TypeAlias = tuple[_Slot, _Turn]


@final
class _Pairing:
    """What the walk found: the turns, and what becomes of each block that does not stay where it is."""

    __slots__ = ("again", "answered", "first", "gone", "more", "turns", "waiting")

    def __init__(self) -> None:
        # Results beyond the first of a call that may have several, and what pairs calls that were declared more than once.
        self.more: dict[int, _Turn] = {}
        self.again: set[Any] = set()
        self.turns: list[_Turn] = []
        self.gone: set[int] = set()
        # By what pairs: the first call, the calls that no result has answered yet, and the call that was answered last.
        self.first: dict[Any, ToolCall] = {}
        self.waiting: dict[Any, list[_Held]] = {}
        self.answered: dict[Any, _Held] = {}


@final
class _Plan:
    """Where results go: behind a message (after one of its blocks), or before a result that stands; and what is to leave its place."""

    __slots__ = ("before", "behind", "later", "moved")

    def __init__(self) -> None:
        self.behind: dict[int, tuple[Block | None, list[ToolResult]]] = {}
        self.before: dict[int, list[ToolResult]] = {}
        # System messages, and the message behind which each goes.
        self.later: dict[int, int] = {}
        self.moved: set[int] = set()


def _key(block: ToolCall | ToolResult) -> Any:
    """What pairs: the id as text, or the name in a form that has no ids."""
    if block.by_name:
        return (block.name if type(block.name) is str else None,)
    return str(block.id) if type(block.id) is int else block.id


def pair(
    *,
    repeated: Literal["kept", "dropped"] = "kept",
    turn: Literal["message", "run"] = "message",
    missing: Literal["in order", "last"] = "in order",
    stands: Literal["next", "anywhere"] = "next",
    several: frozenset[str] = frozenset(),
    alone: Callable[[ToolResult], bool] = lambda result: False,
    waits: Callable[[ToolCall], bool] = lambda call: False,
) -> Rule:
    """Every call has exactly one result, next to it, and every result has a call.

    In the order of the code: a repeated declaration is kept for a fresh id (`ids.py` gives it), or dropped where the first one owns the
    id; a result answers the nearest earlier unanswered call of its id, within one turn the k-th the k-th; a result without a call is
    dropped, and so is a second one, unless the first is our own synthetic text; a displaced result moves next to its call, a system
    message between them behind the results; an unanswered call gets a synthetic result among the real ones, in the order of the calls,
    or after them. `turn`: whether results follow each message, or a run of assistant messages with calls. `stands`: whether a result
    stands next to its call, or anywhere behind it (then only those of repeated ids move). `several`: the kinds of result of which a call
    may have more than one. `alone`: whether a result belongs to no call at all. `waits`: whether a call may stay unanswered.

    Loses: PAR001, PAR002, PAR003, PAR004, PAR006, SYS001.
    """

    def pair(conversation: Conversation, ledger: Ledger) -> Conversation:
        if lacks(conversation, UNPAIRED):
            return conversation
        messages = conversation.messages
        may = _May(several, alone, conversation.continued, repeated == "kept")
        found = _walk(messages, repeated, turn, may, ledger)
        return _lay_out(conversation, found, _Layout(missing, stands, waits), ledger)

    return pair


@final
class _May(msgspec.Struct, frozen=True):
    """Which results may stand that answer no waiting call. `continued`: the call may be in a part that the provider holds."""

    several: frozenset[str]
    alone: Callable[[ToolResult], bool]
    continued: bool
    # Whether a real result takes the place of our own synthetic one; where the first declaration owns an id, so does the first result.
    replaces: bool


@final
class _Layout(msgspec.Struct, frozen=True):
    """Where results go: those that are missing, and those that came elsewhere; and which calls need none."""

    missing: str
    stands: str
    waits: Callable[[ToolCall], bool]


def _walk(messages: Sequence[Message], repeated: str, unit: str, may: _May, ledger: Ledger) -> _Pairing:
    """Match results to calls, forwards.

    Loses: PAR002, PAR003, PAR004.
    """
    found = _Pairing()
    current: _Turn | None = None
    # The turn behind which nothing but its own results has stood so far.
    beside: _Turn | None = None
    for index, message in enumerate(messages):
        if message.role == "assistant":
            if current is not None and not (unit == "run" and current.last == index - 1):
                current = None
            beside = None
        elif message.role in INSTRUCTING:
            beside = None
        else:
            current = None
        own = 0
        for block in message.blocks:
            if type(block) is ToolCall:
                if block.executor == "provider":
                    continue  # keeps: server pairs are judged by `server_pairs`
                key = _key(block)
                owner = found.first.setdefault(key, block)
                if owner is not block and repeated == "dropped" and not block.by_name:
                    ledger.drop(PAR004, block, "id", related=(owner,))
                    found.gone.add(id(block))
                    continue  # keeps: the lines above report it
                if owner is not block:
                    found.again.add(key)
                if current is None or (unit == "message" and current.last != index):
                    current = _Turn(index)
                    found.turns.append(current)
                current.last = index
                slot = _Slot(block)
                current.slots.append(slot)
                waiting = found.waiting.get(key)
                if waiting is None:
                    found.waiting[key] = [(slot, current)]
                else:
                    waiting.append((slot, current))
            elif type(block) is ToolResult:
                if block.executor == "provider":
                    continue  # keeps: server pairs are judged by `server_pairs`
                turn = _answer(block, may, found, ledger)
                if turn is not None and turn is beside:
                    turn.beside += 1
                    own += 1
        if message.role == "assistant":
            beside = current if current is not None and current.last == index else None
        elif own != len(message.blocks) or not own:
            beside = None
    return found


def _answer(result: ToolResult, may: _May, found: _Pairing, ledger: Ledger) -> _Turn | None:
    """Give a result to the call that it answers, or drop it. The turn of the call that had waited for it, or None.

    Loses: IDS002, PAR002, PAR003.
    """
    key = _key(result)
    pairs = type(key) is str or type(key) is tuple
    waiting = found.waiting.get(key) if pairs else None
    if waiting:
        held = waiting.pop() if len(waiting) == 1 else _first_of_last_turn(waiting)
        slot, turn = held
        slot.answer = result
        found.answered[key] = held
        name = result.name
        if (
            type(name) is str
            and name != slot.call.name
            and name.strip()
            and (result.extra is None or "name" not in result.extra)
        ):
            # Of a form that names the tool on the result; where the name is a field too many, it is stripped as one.
            ledger.rename(IDS002, result, "name", new=slot.call.name if type(slot.call.name) is str else None)
        return turn
    last = found.answered.get(key) if pairs else None
    if last is not None:
        slot, turn = last
        earlier = slot.answer
        assert earlier is not None
        turn.unsettled = True
        if may.replaces and _is_interrupted(earlier) and not _is_interrupted(result):
            # Our own text stood in for the result that has now come.
            ledger.drop(PAR003, earlier, "id", related=(result,))
            found.gone.add(id(earlier))
            slot.answer = result
            return None
        if result.kind in may.several:
            found.more[id(result)] = turn
            return None
        ledger.drop(PAR003, result, "id", related=(slot.call, earlier), differs=not _same(result, earlier))
        found.gone.add(id(result))
        return None
    if may.continued or may.alone(result):
        # Its call is in the part that the provider holds, or there never was one.
        return None
    ledger.drop(PAR002, result, "id", because=ledger.lost.get(key) if pairs else None)
    found.gone.add(id(result))
    return None


def _first_of_last_turn(waiting: list[_Held]) -> _Held:
    """The first of the calls that wait in the nearest turn, which waits no more."""
    nearest = waiting[-1][1]
    return waiting.pop(next(index for index, (_, turn) in enumerate(waiting) if turn is nearest))


def _same(one: ToolResult, other: ToolResult) -> bool:
    """Whether two results say the same, by their texts; what else is in them is compared as it is stored."""

    def said(block: Block) -> Any:
        return payload.string(block.text) if type(block) is Text else payload.plain(block.raw)

    return bool(one.error) == bool(other.error) and [*map(said, one.content)] == [*map(said, other.content)]


def one_result(kinds: frozenset[str]) -> Rule:
    """A call has one result: further ones of a kind of which a call may have several are joined to the first.

    Source: two outputs for one call are normal where a running tool may already say something (Codex 0.171, recorded).

    Loses: PAR007 (a degrade, for each that was joined).
    """

    def one_result(conversation: Conversation, ledger: Ledger) -> Conversation:
        if ("function" not in kinds and lacks(conversation, SPECIAL)) or not any(
            type(block) is ToolResult and block.kind in kinds for m in conversation.messages for block in m.blocks
        ):
            return conversation
        out: list[Message] = []
        first: dict[Any, tuple[int, ToolResult]] = {}
        touched = False
        for message in conversation.messages:
            kept: list[Block] = []
            for block in message.blocks:
                if type(block) is ToolCall and type(block.id) in (str, int):
                    first.pop(_key(block), None)
                elif type(block) is ToolResult and block.kind in kinds and type(block.id) in (str, int):
                    owner = first.get(_key(block))
                    if owner is not None:
                        ledger.degrade(PAR007, block, related=(owner[1],))
                        # An empty text among others says nothing.
                        said = [
                            inner
                            for inner in (*owner[1].content, *block.content)
                            if type(inner) is not Text or not payload.is_empty(inner.text)
                        ]  # keeps: see above
                        joined = changed(owner[1], content=tuple(said))
                        place = owner[0]
                        holder = out[place] if place < len(out) else None
                        if holder is None:
                            kept = [joined if other is owner[1] else other for other in kept]
                        else:
                            blocks = tuple([joined if other is owner[1] else other for other in holder.blocks])
                            out[place] = changed(holder, blocks=blocks)
                        first[_key(block)] = (place, joined)
                        continue  # keeps: the lines above joined it
                    if not _is_interrupted(block):
                        first[_key(block)] = (len(out), block)
                kept.append(block)
            if len(kept) == len(message.blocks) and all(a is b for a, b in zip(kept, message.blocks, strict=True)):
                out.append(message)
                continue  # keeps: the line above
            touched = True
            if kept:
                out.append(changed(message, blocks=tuple(kept)))
        return with_messages(conversation, out) if touched else conversation

    return one_result


def _is_interrupted(result: ToolResult) -> bool:
    only = result.content[0] if len(result.content) == 1 else None
    return (
        type(only) is Text
        and payload.length(only.text) == len(INTERRUPTED)
        and payload.string(only.text) == INTERRUPTED
    )


def _lay_out(conversation: Conversation, found: _Pairing, layout: _Layout, ledger: Ledger) -> Conversation:
    """Put every result next to its call, move nothing that stands right, and invent what is missing.

    Loses: PAR001, PAR006, SYS001.
    """
    messages = conversation.messages
    plan = _Plan()
    turn_of: dict[int, _Turn] | None = None
    for turn in found.turns:
        if turn.unsettled or turn.beside != len(turn.slots):
            turn_of = _turns_of_results(found) if turn_of is None else turn_of
            _place(turn, turn_of, messages, found, plan, layout, ledger)
    inserted, later, moved = plan.behind, plan.later, plan.moved
    if not inserted and not later and not found.gone and not moved and not plan.before:
        return conversation
    deferred: dict[int, list[Message]] = {}
    for index, behind in later.items():
        deferred.setdefault(behind, []).append(messages[index])
    out: list[Message] = []
    for index, message in enumerate(messages):
        if index not in later:
            kept = message
            if found.gone or moved:
                kept = _without(message, found.gone, moved)
            if plan.before:
                kept = _with_missing(out, kept, plan.before)
            _append(out, message, kept, inserted.get(index), moved)
        out.extend(deferred.get(index, ()))
    return with_messages(conversation, out)


def _turns_of_results(found: _Pairing) -> dict[int, _Turn]:
    turn_of = {id(slot.answer): turn for turn in found.turns for slot in turn.slots if slot.answer is not None}
    return turn_of | found.more


def _with_missing(out: list[Message], message: Message, before: dict[int, list[ToolResult]]) -> Message:
    """A message with the synthetic results that belong before results of its own; `out` takes those of a message that is one result."""
    if message.role == "tool":
        out.extend(
            Message("tool", (result,), result.at) for block in message.blocks for result in before.get(id(block), ())
        )
        return message
    blocks: list[Block] = []
    for block in message.blocks:
        blocks.extend(before.get(id(block), ()))
        blocks.append(block)
    return message if len(blocks) == len(message.blocks) else changed(message, blocks=tuple(blocks))


def _append(
    out: list[Message],
    message: Message,
    kept: Message,
    place: tuple[Block | None, list[ToolResult]] | None,
    moved: set[int],
) -> None:
    """One message and the results that now follow it."""
    if place is not None and place[0] is not None and message.role != "tool":
        anchor, results = place
        blocks = list(kept.blocks)
        at = next(index for index, block in enumerate(blocks) if block is anchor) + 1
        out.append(changed(kept, blocks=(*blocks[:at], *results, *blocks[at:])))
        return
    # A message that held nothing but results that moved or went is gone with them.
    if (
        kept.blocks
        or not message.blocks
        or (message.role != "tool" and not any(id(block) in moved for block in message.blocks))
    ):
        out.append(kept)
    if place is not None:
        out.extend(Message("tool", (result,), result.at) for result in place[1])


def _without(message: Message, gone: set[int], moved: set[int]) -> Message:
    kept = [
        block for block in message.blocks if id(block) not in gone and id(block) not in moved
    ]  # keeps: reported where they were marked
    return message if len(kept) == len(message.blocks) else changed(message, blocks=tuple(kept))


def _place(
    turn: _Turn,
    turn_of: dict[int, _Turn],
    messages: Sequence[Message],
    found: _Pairing,
    plan: _Plan,
    layout: _Layout,
    ledger: Ledger,
) -> None:
    """Find which results of a turn already follow it, and say where the others go.

    Loses: PAR001, PAR006, SYS001.
    """
    # Results that follow the turn with nothing but their like in between stand right; a message that also holds other content ends that.
    here: set[int] = set()
    anchor: Block | None = None
    behind = turn.last
    between: list[int] = []
    for next_index in range(turn.last + 1, len(messages)):
        message = messages[next_index]
        if message.role in INSTRUCTING:
            between.append(next_index)
            continue  # keeps: it is moved below if results follow it
        if message.role == "assistant":
            break
        mine = False
        other = False
        for block in message.blocks:
            if type(block) is ToolResult and block.executor == "client":
                if turn_of.get(id(block)) is turn:
                    mine = True
                    anchor = block
                    if id(block) not in found.more:
                        here.add(id(block))
            else:
                other = True
        if mine:
            behind = next_index
        if other or (not mine and any(id(block) not in found.gone for block in message.blocks)) or not message.blocks:
            break
    for system in between:
        if system < behind and layout.stands == "next":
            ledger.move(SYS001, messages[system], related=(turn.slots[0].call,))
            plan.later[system] = behind
    # In a turn where every result stands right, this is all.
    if len(here) == len(turn.slots):
        return
    results: list[ToolResult] = []
    arrived: list[ToolResult] = []
    for slot in turn.slots:
        answer = slot.answer
        if (
            answer is not None
            and id(answer) not in here
            and (layout.stands == "next" or _key(slot.call) in found.again)
        ):
            arrived.append(answer)
    if len(arrived) > 1:
        place = {
            id(block): number for number, block in enumerate(block for message in messages for block in message.blocks)
        }
        arrived.sort(key=lambda result: place[id(result)])
    for result in arrived:
        ledger.move(PAR006, result, related=messages[behind + 1 : behind + 2])
        plan.moved.add(id(result))
        results.append(result)
    # The first real result of a later call, for those that are answered where they stand.
    following: ToolResult | None = None
    absent: list[tuple[ToolResult, ToolResult | None]] = []
    for slot in reversed(turn.slots):
        answer = slot.answer
        if answer is None and not layout.waits(slot.call):
            absent.append((_interrupted(slot.call), following))
        elif answer is not None and id(answer) in here:
            following = answer
    for invented, before in reversed(absent):
        ledger.synthesize(PAR001, invented)
        if before is None or layout.missing == "last":
            results.append(invented)
        else:
            plan.before.setdefault(id(before), []).append(invented)
    if results:
        plan.behind[behind] = (anchor, results)


def _interrupted(call: ToolCall) -> ToolResult:
    """The synthetic result of a call. Its place is the call that made it necessary."""
    return ToolResult(
        call.id,
        (Text(INTERRUPTED, call.at),),
        call.at,
        name=call.name,
        error=True,
        kind=call.kind,
        by_name=call.by_name,
    )


def server_pairs(resumable: bool) -> Rule:
    """A call that the provider executed and its result stand in one assistant turn, in this order; half a pair is dropped.

    A result that was stored in a later message moves behind its call. A call without a result at the very end is kept where the target
    lets it be resumed («pause_turn: send the assistant message back as is», AS6).
    Source: «unexpected 'tool_use_id' found in 'advisor_tool_result' blocks … must have a corresponding 'server_tool_use' block before it»
    (AT7, measured).

    Loses: PAR008, PAR009.
    """

    def server_pairs(conversation: Conversation, ledger: Ledger) -> Conversation:
        if lacks(conversation, SERVER):
            return conversation
        messages = list(conversation.messages)
        open_calls: dict[Any, tuple[int, ToolCall]] = {}
        halves: list[tuple[int, ToolCall]] = []
        touched = False
        for index, message in enumerate(messages):
            blocks: list[Block] = []
            for block in message.blocks:
                if type(block) is ToolCall and block.executor == "provider":
                    if block.id in open_calls:
                        halves.append(open_calls[block.id])
                    open_calls[block.id] = (index, block)
                elif type(block) is ToolResult and block.executor == "provider":
                    owner = open_calls.pop(block.id, None) if type(block.id) in (str, int) else None
                    if owner is None:
                        ledger.drop(PAR008, block, "id")
                        continue  # keeps: the line above reports it
                    if owner[0] != index:
                        ledger.move(PAR009, block, related=(owner[1],))
                        home = messages[owner[0]]
                        messages[owner[0]] = changed(home, blocks=(*home.blocks, block))
                        touched = True
                        continue  # keeps: the lines above put it behind its call
                blocks.append(block)
            if len(blocks) != len(message.blocks):
                messages[index] = changed(message, blocks=tuple(blocks))
                touched = True
        last = len(messages) - 1
        for index, call in (*halves, *open_calls.values()):
            if resumable and index == last and messages[index].blocks and messages[index].blocks[-1] is call:
                continue  # keeps: the provider resumes it
            ledger.drop(PAR008, call, "id")
            holder = messages[index]
            messages[index] = changed(
                holder, blocks=tuple(block for block in holder.blocks if block is not call)
            )  # keeps: reported above
            touched = True
        if not touched:
            return conversation
        # A message whose results all moved away holds nothing any more and has lost nothing.
        kept = [
            message
            for message, before in zip(messages, conversation.messages, strict=True)
            if message.blocks or not before.blocks or ledger.last_about(message.at) is not None
        ]  # keeps: see above
        return with_messages(conversation, kept)

    return server_pairs
