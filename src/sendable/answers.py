"""The flow of an answer, and nothing else: read → `Response` → history, or another dialect's answer; the same for streams.

What must not live here: the form of any provider's answer (dialects/), what an answer in another form loses (rules/, targets.py).
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Literal, assert_never, final

import msgspec

from sendable import fingerprints, payload
from sendable.carriers import Seal, carrier_of, with_carrier
from sendable.clients import answer_rules
from sendable.codes import RSP001, RSP002, RSP003, STM001, STM002, STM003, STM004
from sendable.conversation import (
    Block,
    Continuation,
    Conversation,
    Fields,
    Media,
    Message,
    Opaque,
    Reasoning,
    Refusal,
    Reply,
    Stop,
    Text,
    ToolCall,
    ToolResult,
    Usage,
    changed,
)
from sendable.dialects import Answers, Dialect, ReadEntry
from sendable.errors import UpstreamError
from sendable.options import NONE
from sendable.paths import At
from sendable.pipeline import Result
from sendable.reading import context_for, read, read_entries
from sendable.report import REPAIR, Ledger, Original, Report
from sendable.rules.answers import given_id, without_envelope
from sendable.rules.reasoning import issuer_of
from sendable.soundness import loads, sound
from sendable.stream import (
    DELTAS,
    ArgumentsDelta,
    BlockEvent,
    BlockKind,
    BlockStart,
    BlockStop,
    Event,
    MessageStart,
    MessageStop,
    ReasoningDelta,
    SignatureDelta,
    TextDelta,
    Transitions,
    UnknownEvent,
    WireEvent,
)
from sendable.targets import DIALECTS

Form = Literal["native", "chat"]


@final
class Response:
    """One answer of a provider, whole.

    `blocks` in the order in which the provider sent them; `stop`, `usage`, `continuation` (handles of what the provider holds); `report`:
    what the answer itself says was left out, and what of it has no place here. `body` is the answer as it came, and is never changed.
    """

    __slots__ = ("_request", "body", "dialect", "reply", "report")

    def __init__(self, reply: Reply, dialect: str, report: Report, body: Any, request: Any) -> None:
        self.reply, self.dialect, self.report, self.body, self._request = reply, dialect, report, body, request

    @property
    def id(self) -> str | None:
        """The provider's id of the answer."""
        return self.reply.id

    @property
    def model(self) -> str | None:
        """The model that answered, as the provider names it."""
        return self.reply.model

    @property
    def blocks(self) -> tuple[Block, ...]:
        """All blocks, in the order in which the provider sent them. A kind that is not known is `Opaque`, with all that it holds."""
        return self.reply.blocks

    @property
    def calls(self) -> tuple[ToolCall, ...]:
        """The calls that wait for a result of the caller's."""
        return tuple(block for block in self.blocks if type(block) is ToolCall and block.executor == "client")

    @property
    def text(self) -> str:
        """The visible text, all blocks of it together."""
        return "".join(payload.string(block.text) or "" for block in self.blocks if type(block) is Text)

    @property
    def stop(self) -> Stop:
        """Why the answer ended."""
        return self.reply.stop

    @property
    def usage(self) -> Usage:
        """What it cost, in tokens."""
        return self.reply.usage

    @property
    def continuation(self) -> tuple[Continuation, ...]:
        """Handles of what the provider holds of this conversation."""
        return self.reply.handles

    @property
    def complete(self) -> bool:
        """Whether the answer came to its end: neither the stream nor the provider broke off inside it."""
        return self.reply.stop.reason not in ("cut", "error")

    def to_history(self, form: Form = "native") -> list[Any]:
        """The messages or items to store and to send back on the next turn.

        "native": the provider's own, complete. "chat": one message of Chat, with the native ones in a carrier, an extra field from which
        `normalize` restores them for the same dialect; what is seen of them stands in the message.
        """
        native = [payload.detached(message) for message in self.reply.native]
        if form == "native" or self.dialect == "openai-chat":
            return native
        if form != "chat":
            raise TypeError(f"unknown form {form!r}: native or chat")
        messages = _fitted(self.reply, "openai-chat", Ledger(REPAIR, Original(self.body)))
        written = [payload.detached(message) for message in DIALECTS["openai-chat"].write(messages)]
        return with_carrier(
            written or [{"role": "assistant", "content": None}], carrier_of(native, self.dialect, messages)
        )

    def __repr__(self) -> str:
        return f"<Response {self.dialect} {self.id} {len(self.blocks)} blocks, {self.stop.reason}>"


def read_response(body: Any, source: str | None = None, request: Any = None) -> Response:
    """Read a provider's answer, whole: every block in its order, why it ended, what it cost, what the provider holds of it.

    `body` is the answer as an object, as JSON bytes or text, or as an object of the provider's SDK. `source` is its dialect, else its own
    keys say so. `request` is the body that was sent (or the `Result` of `normalize`): without it nothing is known of what the arguments
    of calls are worth, and no handle covers anything. Raises `UpstreamError` for what is no answer, `TypeError` for an unknown source.

    Loses: RSP005, RSP006.
    """
    value = _decoded(body)
    ledger = Ledger(REPAIR, Original(value))
    fields, dialect, answers = _answer(value if type(value) is dict else sound(value, (), ledger), source)
    reply = answers.read(fields, _entries_of(dialect, ledger), ledger)
    reply = _worth(reply, answers, request)
    return Response(reply, dialect.name, ledger.close(), body if type(body) is dict else fields, request)


def _decoded(body: Any) -> Any:
    """An answer as a value; bytes and text are JSON, or no answer.

    Loses: RSP001 (raised).
    """
    if not isinstance(body, (bytes, bytearray, str)):
        return body
    data = body.encode() if isinstance(body, str) else bytes(body)
    try:
        return loads(data)
    except (ValueError, RecursionError):
        head = data[:200].lstrip().lower()
        found = (
            "nothing at all"
            if not head
            else "an HTML page"
            if head.startswith((b"<!doctype", b"<html"))
            else "an event stream"
            if head.startswith((b"data:", b"event:", b":"))
            else f"{len(data)} bytes that are no JSON"
        )
        raise UpstreamError(RSP001, found) from None


def _answer(value: Any, source: str | None) -> tuple[Fields, Dialect, Answers]:
    """The fields of an answer, and the dialect whose it is.

    Loses: RSP001, RSP002, RSP003 (raised).
    """
    known = {name: dialect.answers for name, dialect in DIALECTS.items() if dialect.answers is not None}
    if source is not None and source not in known:
        raise TypeError(f"unknown source {source!r}; it is one of {', '.join(known)}")
    fields = payload.fields(value)
    if fields is None:
        raise UpstreamError(RSP001, f"a JSON value of the kind {payload.kind(value)}")
    names = [source] if source is not None else list(known)
    claimed = next((name for name in known if known[name].claims(fields)), None)
    for name in names:
        error = known[name].failure(fields) if claimed is None or claimed == name else None
        if error is not None:
            about = payload.string(fields.get("id")) or payload.string(fields.get("request_id"))
            raise UpstreamError(RSP002, _named(error), about, payload.detached(payload.plain(error)))
    if source is not None and claimed is not None and claimed != source and not known[source].claims(fields):
        raise UpstreamError(RSP003, f"an answer of {claimed} where one of {source} was expected", _id(fields))
    whose = source if source is not None else claimed
    if whose is None:
        keys = ", ".join(sorted(key for key in fields if key.isidentifier())[:6]) or "no key at all"
        raise UpstreamError(RSP001, f"an object with {keys}", _id(fields))
    return fields, DIALECTS[whose], known[whose]


def _named(error: Fields) -> str:
    """What kind of error it is, by the words that are never the user's: type, code, status."""
    words = (payload.plain(error.get(key)) for key in ("type", "code", "status", "__type"))
    return " ".join(str(word) for word in words if type(word) in (str, int) and len(str(word)) < 80) or "an error"


def _id(fields: Fields) -> str | None:
    return payload.string(fields.get("id")) or payload.string(fields.get("responseId"))


def _entries_of(dialect: Dialect, ledger: Ledger) -> ReadEntry:
    context = context_for(dialect, tuple(DIALECTS.values()), ledger)

    def read_entry(entry: Any, at: At) -> Sequence[Message]:
        return read_entries(((entry, at),), context)

    return read_entry


def _worth(reply: Reply, answers: Answers, request: Any) -> Reply:
    """The answer with what the request tells of it: decoding and fingerprint of its calls, and what its handles cover."""
    before = fingerprints.NOTHING
    if isinstance(request, Result):
        request, before = request.body, request.before
    fields = payload.fields(request)
    local = request is None
    if not local:
        home = DIALECTS[reply.home or "openai-chat"]
        asked = read(request, home, tuple(DIALECTS.values()), Ledger(REPAIR, Original(request)))
        # With a handle that nobody has explained, the earlier part is the provider's, and not known.
        local = asked.continued and before == fingerprints.NOTHING
        before = fingerprints.NOTHING if local else fingerprints.fingerprint(asked.messages, before)
    prints = fingerprints.of_calls(reply.messages, before)
    messages = tuple(
        msgspec.structs.replace(
            message,
            blocks=tuple(
                msgspec.structs.replace(
                    block,
                    fingerprint=prints[id(block)],
                    local=local,
                    decoding=answers.decoding(fields, str(block.name)) if fields is not None else "unknown",
                )
                if type(block) is ToolCall
                else block
                for block in message.blocks
            ),
        )
        if any(type(block) is ToolCall for block in message.blocks)
        else message
        for message in reply.messages
    )
    covers = None if local else fingerprints.fingerprint(reply.messages, before)
    # The provider's own word counts as well: where nothing may be kept, it says so whatever was asked for.
    kept = all(payload.plain(said.get("store")) is not False for said in (fields or {}, payload.members(reply.raw)))
    handles = tuple(
        msgspec.structs.replace(handle, covers=covers if handle.kind != "response" or kept else None)
        for handle in reply.handles
    )
    return msgspec.structs.replace(reply, messages=messages, handles=handles)


def write_response(response: Response, to: str, *, carrier: bool | Seal = False) -> Result:
    """An answer in the shape of another dialect, for a client that speaks it; what does not fit is an entry.

    `to` is a dialect that a provider speaks. `carrier`: what the dialect cannot hold rides in it, in the slot that its clients send back
    unread; a function instead of `True` gets the carrier first, and gives back the one to use or None (`carriers.Seal`). An answer of the
    same dialect comes back as it is. Raises `TypeError` for an unknown dialect.

    Loses: what the target's blocks cannot hold, ORD003, RSP007, RSP008, RSP009.
    """
    answers = _answers(to)
    ledger = Ledger(REPAIR, Original(response.body))
    if to == response.dialect:
        return Result(payload.detached(payload.plain(response.reply.raw)), ledger.close(), DIALECTS[to].key)
    without_envelope(response.reply, ledger)
    messages = _fitted(response.reply, to, ledger)
    body: Any = answers.write(response.reply, messages, ledger)
    body = payload.detached(payload.plain(body))
    if carrier:
        if answers.carry is None:
            raise TypeError(f"{to} has no slot in which a carrier could ride")
        native = [payload.detached(payload.plain(message)) for message in response.reply.native]
        made = carrier_of(native, response.dialect, messages)
        riding = made if carrier is True else carrier(made, response.reply, messages)
        if riding is not None:
            answers.carry(body, riding)
    return Result(body, ledger.close(), DIALECTS[to].key)


def _answers(to: str) -> Answers:
    answers = DIALECTS[to].answers if to in DIALECTS else None
    if answers is None:
        known = [name for name, dialect in DIALECTS.items() if dialect.answers is not None]
        raise TypeError(f"unknown dialect {to!r}; it is one of {', '.join(known)}")
    return answers


def _fitted(reply: Reply, to: str, ledger: Ledger) -> Sequence[Message]:
    """The messages of an answer as the dialect of a client can hold them."""
    conversation = Conversation(list(reply.messages))
    for rule in answer_rules(to, reply):
        conversation = rule(conversation, ledger)
    return conversation.messages


# --- streams -----------------------------------------------------------------------------------------------------------


@final
class StreamReader:
    """Reads one stream of a provider, event by event; sans-IO, so that any transport will do.

    `feed` takes the data of one event, an object or its JSON as text or bytes (`[DONE]` too), and gives neutral events (`sendable.stream`)
    in a legal order. `close` says that nothing more will come. Neither raises for anything that a provider may send: what cannot be read
    is an entry of `report`, at `events[N]`, and a stream that is cut ends marked, with all that was received.

    Loses: STM001, STM002, STM003, STM004.
    """

    __slots__ = ("_answers", "_count", "_dialect", "_ledger", "_reader", "_transitions", "request", "source")

    def __init__(self, source: str, request: Any = None) -> None:
        self._answers = _answers(source)
        self.source, self.request = source, request
        self._dialect = DIALECTS[source]
        self._reader = self._answers.reader()
        self._transitions = Transitions()
        self._ledger = Ledger(REPAIR, Original(None))
        self._count = -1

    def feed(self, event: Mapping[str, Any] | str | bytes) -> list[Event]:
        """The neutral events of one event of the provider.

        Loses: STM002.
        """
        self._count += 1
        fields = _event(event)
        if fields is None:
            if not _is_end(event):
                self._ledger.fault(STM002, ("events", self._count))
                return self._legal([UnknownEvent(event)])
            out: list[Event] = []
            self._reader.done = True
        elif self._transitions.ended:
            return [UnknownEvent(fields)]
        else:
            out = list(self._reader.feed(fields))
        if self._reader.done and not self._transitions.ended:
            out.extend(self._reader.close())
            out.append(self._stop())
        return self._legal(out)

    def close(self) -> list[Event]:
        """The neutral events of the stream's end, none if the answer has ended before."""
        if self._transitions.ended:
            return []
        return self._legal([*self._start(), *self._reader.close(), self._stop()])

    def _start(self) -> list[Event]:
        return [] if self._transitions.started else [MessageStart(self.source)]

    @property
    def ended(self) -> bool:
        """Whether the answer has come to its end."""
        return self._transitions.ended

    @property
    def report(self) -> Report:
        """What could not be read, so far."""
        return self._ledger.close()

    def _legal(self, events: list[Event]) -> list[Event]:
        """The events that are legal where they stand.

        Loses: STM003, STM004 (a note).
        """
        if len(events) == 1 and type(events[0]) in DELTAS and self._transitions.step(events[0]) is None:
            return events
        out: list[Event] = []
        for event in events:
            if not self._transitions.started and type(event) not in (MessageStart, UnknownEvent):
                out.append(MessageStart(self.source))
                self._transitions.step(out[-1])
            wrong = self._transitions.step(event)
            if wrong is None:
                out.append(event)
                if type(event) is BlockStop and event.repaired:
                    self._ledger.note(STM004, ("events", self._count), block=event.index)
            else:
                self._ledger.fault(STM003, ("events", self._count), found=wrong)
        return out

    def _stop(self) -> MessageStop:
        """The end of the answer, by what the provider said of it.

        Loses: STM001.
        """
        reader, body = self._reader, self._reader.body()
        ledger = Ledger(REPAIR, Original(body))
        reply = self._answers.read(body, _entries_of(self._dialect, ledger), ledger)
        if reader.error is not None:
            reply = msgspec.structs.replace(reply, stop=Stop("error", details=reader.error))
        elif not reader.complete:
            self._ledger.note(STM001, ("events", self._count + 1))
            reply = msgspec.structs.replace(reply, stop=Stop("cut"))
        return MessageStop(reply, body, reader.error)


def _event(event: Mapping[str, Any] | str | bytes) -> Fields | None:
    if isinstance(event, (str, bytes, bytearray)):
        try:
            event = msgspec.json.decode(event)
        except (msgspec.DecodeError, RecursionError, UnicodeError):
            return None
    else:
        dumped: Any = getattr(event, "model_dump", None)  # an object of the provider's SDK
        if dumped is not None:
            event = dumped(mode="json", exclude_unset=True)
    return event if type(event) is dict else payload.fields(event)


def _is_end(event: Any) -> bool:
    return isinstance(event, (str, bytes, bytearray)) and event.strip() in ("[DONE]", b"[DONE]")


@final
class Assembler:
    """Puts the neutral events of a stream together again: `response()` is what `read_response` says of the whole answer.

    Before the end of the stream, `response()` raises `ValueError`; close the reader and feed what it says then.
    """

    __slots__ = ("_request", "_source", "_stop")

    def __init__(self, source: str, request: Any = None) -> None:
        _answers(source)
        self._source, self._request = source, request
        self._stop: MessageStop | None = None

    def feed(self, event: Event) -> None:
        """One more event."""
        if type(event) is MessageStop:
            self._stop = event

    def response(self) -> Response:
        """The answer.

        Loses: STM001.
        """
        if self._stop is None:
            raise ValueError("the stream has not ended: feed what StreamReader.close() gives")
        body = self._stop.body
        ledger = Ledger(REPAIR, Original(body))
        dialect = DIALECTS[self._source]
        answers = _answers(self._source)
        reply = answers.read(body, _entries_of(dialect, ledger), ledger)
        stop = self._stop.reply.stop
        if stop.reason in ("cut", "error"):
            ledger.note(STM001, (), None, error=stop.reason == "error")
            reply = _cut_short(reply, stop)
        return Response(_worth(reply, answers, self._request), self._source, ledger.close(), body, self._request)


def _cut_short(reply: Reply, stop: Stop) -> Reply:
    """The answer with its true end. A call whose arguments are no whole JSON value was cut in them."""
    messages = tuple(
        msgspec.structs.replace(message, blocks=tuple(_marked(block) for block in message.blocks))
        for message in reply.messages
    )
    return msgspec.structs.replace(reply, stop=stop, messages=messages)


def _marked(block: Block) -> Block:
    if type(block) is not ToolCall or block.executor != "client":
        return block
    try:
        json.loads(block.arguments_text)
    except (ValueError, RecursionError):
        return msgspec.structs.replace(block, truncated=True)
    return block


@final
class StreamWriter:
    """Writes neutral events as the stream of a dialect: `feed` gives the events to send, `report` what did not fit.

    `carrier` as for `write_response`. Blocks that overlap come out one after the other where the dialect has them so: of two that are open
    at once, the later one waits until the earlier one ends.

    Loses: what the target's blocks cannot hold, ORD003, RSP007, RSP008, STM003.
    """

    __slots__ = (
        "_answers", "_calls", "_carrier", "_count", "_home", "_id", "_indices", "_ledger", "_open", "_to", "_transitions", "_visible", "_waiting",
        "_writer",
    )  # fmt: skip

    def __init__(self, to: str, *, carrier: bool | Seal = False) -> None:
        self._answers, self._to, self._carrier = _answers(to), to, carrier
        if carrier and self._answers.carry is None:
            raise TypeError(f"{to} has no slot in which a carrier could ride")
        self._writer = self._answers.writer()
        self._ledger = Ledger(REPAIR, Original(None))
        self._transitions = Transitions()
        self._id: str | None = None
        self._home: str | None = None
        self._calls = self._count = 0
        self._open: dict[int, _Open] = {}
        self._indices: dict[int, int] = {}
        # Blocks that have not been passed on to their end, in the order in which they began, with what waits of each.
        self._waiting: dict[int, list[BlockEvent]] = {}
        self._visible: list[Block] = []

    @property
    def report(self) -> Report:
        """What did not fit, so far."""
        return self._ledger.close()

    def feed(self, event: Event) -> list[WireEvent]:
        """The events to send for one neutral event.

        Loses: STM003.
        """
        wrong = self._transitions.step(event)
        if wrong is not None:
            self._ledger.fault(STM003, (), None, found=wrong)
            return []
        if type(event) is TextDelta or type(event) is ReasoningDelta or type(event) is ArgumentsDelta:
            index = event.index
            if self._open[index].live and self._is_next(index):
                # The everyday case: more of the block whose turn it is.
                own = self._indices[index]
                numbered = event if own == index else msgspec.structs.replace(event, index=own)
                return list(self._writer.feed(numbered, self._ledger))
            return self._write(self._ordered(index, self._held(event)))
        if type(event) is UnknownEvent:
            return []  # keeps: what it added to a block is in that block's end
        if type(event) is MessageStart:
            self._id, self._home = event.id, event.home
            return self._write([event])
        if type(event) is MessageStop:
            foreign = self._carrier is not False and event.reply.home != self._to
            if event.reply.home != self._to:
                without_envelope(event.reply, self._ledger)
            return list(self._writer.stop(event, self._carried(event) if foreign else None, self._ledger))
        return self._write(self._ordered(event.index, self._held(event)))

    def _carried(self, event: MessageStop) -> Fields | None:
        """The carrier of an answer whose visible part is the one that was written; None if none is wanted."""
        visible = [Message("assistant", tuple(self._visible), ())]
        made = carrier_of(list(event.reply.native), event.reply.home or "", visible)
        return made if isinstance(self._carrier, bool) else self._carrier(made, event.reply, visible)

    def _write(self, events: Sequence[MessageStart | BlockEvent]) -> list[WireEvent]:
        return [wire for event in events for wire in self._writer.feed(event, self._ledger)]

    def _held(self, event: BlockEvent) -> list[BlockEvent]:
        """What may be passed on of a block at this event: a block begins when it is known what it will be.

        Text and calls of the caller's own functions begin at once, reasoning with its first word, everything else when it is whole.
        """
        if type(event) is BlockStart:
            if event.kind == "tool_call":
                self._calls += 1
                if event.id is None and event.call_kind == "function":
                    event = msgspec.structs.replace(event, id=given_id(self._id, self._calls - 1))
            if self._home != self._to:
                # The block's end, which holds it too, says what became of it.
                event = msgspec.structs.replace(event, extra=None)
            live = event.kind in ("text", "refusal") or (event.kind == "tool_call" and event.call_kind == "function")
            self._open[event.index] = _Open(event, live)
            if event.kind == "refusal":
                event = msgspec.structs.replace(event, kind=self._answers.refusal)
            return [event] if live else []
        block = self._open[event.index]
        if type(event) is BlockStop:
            del self._open[event.index]
            return self._ended(block, event)
        if type(event) is ReasoningDelta and not block.live:
            block.live = True
            return [block.start, event]
        if type(event) is SignatureDelta:
            ours = block.live and issuer_of(event.signature, NONE) == self._answers.issuer
            return [event] if ours else []  # keeps: the block's end says what became of the signature
        return [event] if block.live else []  # keeps: the block's end has all of it

    def _ended(self, block: _Open, event: BlockStop) -> list[BlockEvent]:
        """The end of a block, fitted to the dialect; all of it where nothing of it was passed on before."""
        whole = event.block
        if type(whole) is ToolCall and whole.id is None:
            whole = changed(whole, id=block.start.id)
        fitted = self._fitted(whole)
        self._visible.extend(fitted)
        if block.live:
            return [msgspec.structs.replace(event, block=fitted[0] if fitted else whole)]
        out: list[BlockEvent] = []
        for one in fitted:
            out += _whole(event.index, one)
        return out

    def _fitted(self, block: Block) -> tuple[Block, ...]:
        if block.home == self._to:
            return (block,)
        role = Message("assistant", (block,), block.at, home=block.home)
        conversation = Conversation([role])
        for rule in answer_rules(self._to, None):
            conversation = rule(conversation, self._ledger)
        return tuple(block for message in conversation.messages for block in message.blocks)

    def _is_next(self, index: int) -> bool:
        """Whether more of a block may go out at once: nothing of it waits, and no block before it is open."""
        if not self._answers.one_at_a_time:
            return True
        waiting = self._waiting
        return not waiting.get(index, True) and next(iter(waiting)) == index

    def _ordered(self, index: int, events: list[BlockEvent]) -> list[BlockEvent]:
        """The events with the indices of this stream, each block after the other where the dialect has them so."""
        if not self._answers.one_at_a_time:
            return [self._numbered(event) for event in events]
        self._waiting.setdefault(index, []).extend(events)
        out: list[BlockEvent] = []
        while self._waiting:
            first = next(iter(self._waiting))
            out += [self._numbered(event) for event in self._waiting[first]]
            self._waiting[first] = []
            if first in self._open:
                break
            del self._waiting[first]
        return out

    def _numbered(self, event: BlockEvent) -> BlockEvent:
        index = event.index
        if type(event) is BlockStart:
            self._indices[index] = self._count
            self._count += 1
        own = self._indices[index]
        return event if own == index else msgspec.structs.replace(event, index=own)


class _Open:
    """A block that has begun. `live`: what comes of it is passed on as it comes."""

    __slots__ = ("live", "start")

    def __init__(self, start: BlockStart, live: bool) -> None:
        self.start, self.live = start, live


def events_of(response: Response) -> list[Event]:
    """A whole answer as the neutral events of a stream, for a client that asked for one."""
    reply = response.reply
    out: list[Event] = [MessageStart(response.dialect, reply.id, reply.model, reply.created)]
    beside = _answers(response.dialect).beside
    blocks = [(block, message) for message in reply.messages for block in message.blocks]
    for index, (block, message) in enumerate(blocks):
        start, *rest = _whole(index, block)
        if beside is not None and type(start) is BlockStart and block.home == response.dialect:
            start = msgspec.structs.replace(start, extra=beside(block, message))
        out += [start, *rest]
    out.append(MessageStop(reply, response.body))
    return out


def _whole(index: int, block: Block) -> list[BlockEvent]:
    """All events of a block that comes in one piece."""
    if type(block) is Text or type(block) is Refusal:
        kind: BlockKind = "text" if type(block) is Text else "refusal"
        return [BlockStart(index, kind), TextDelta(index, payload.string(block.text) or ""), BlockStop(index, block)]
    if type(block) is Reasoning:
        out: list[BlockEvent] = [BlockStart(index, "reasoning", sealed=block.text is None)]
        if block.text is not None:
            out.append(ReasoningDelta(index, payload.string(block.text) or ""))
        if block.signature is not None:
            out.append(SignatureDelta(index, block.signature))
        return [*out, BlockStop(index, block)]
    if type(block) is ToolCall and block.executor == "client":
        start = BlockStart(index, "tool_call", block.id, block.name, block.kind)
        return [start, ArgumentsDelta(index, block.arguments_text), BlockStop(index, block)]
    if type(block) is Media:
        return [BlockStart(index, "media"), BlockStop(index, block)]
    if type(block) is ToolCall or type(block) is ToolResult or type(block) is Opaque:
        return [BlockStart(index, "opaque"), BlockStop(index, block)]
    assert_never(block)
