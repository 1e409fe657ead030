"""Streams of generateContent ↔ neutral events. What must not live here: whole answers (answer.py), parts (read.py, write.py).

A chunk is an answer of its own, with the parts that have come since the last one. There is no event for the end of a part, and none for
the end of the stream: a part ends when another one begins.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any

from sendable import payload
from sendable.codes import STM001
from sendable.conversation import Block, Fields, Media, Message, Opaque, Reasoning, Text, ToolCall, changed
from sendable.dialects import remaining
from sendable.dialects.gemini.answer import CANDIDATE, TOP, ending, heading, read_time, write_usage
from sendable.dialects.gemini.read import DATA, HOME, SIGNATURES, read_media, read_text, signature_of
from sendable.dialects.gemini.write import write_block
from sendable.paths import At
from sendable.report import Ledger
from sendable.stream import (
    ArgumentsDelta,
    BlockEvent,
    BlockStart,
    BlockStop,
    Event,
    MessageStart,
    MessageStop,
    ReasoningDelta,
    SignatureDelta,
    TextDelta,
    UnknownEvent,
    WireEvent,
)

_RUN = frozenset({"text", "thought"})
"""The fields of a part that may go on in the next chunk: «do not merge a signed part with an unsigned one» (GE15)."""

_PARTIAL = frozenset({"partialArgs", "partial_args", "willContinue", "will_continue"})


class GeminiReader:
    """Reads one stream of generateContent."""

    __slots__ = ("_begun", "_candidates", "_first", "_top", "complete", "done", "error")

    def __init__(self) -> None:
        self.complete = self.done = self._begun = False
        self.error: Any = None
        self._top: dict[str, Any] = {}
        # By their index. Only the first one is read; the others are kept for the body.
        self._candidates: dict[int, _Candidate] = {}
        self._first = _Candidate()

    def feed(self, event: Fields) -> Sequence[Event]:
        """The neutral events of one chunk, which is a part of the answer, or of an error object."""
        error = event.get("error")
        if error is not None and "candidates" not in event:
            self.error, self.done = payload.fields(error) or event, True
            return []
        out: list[Event] = []
        listed: Sequence[Any] = ()
        for key, value in event.items():
            name = TOP.get(key, key)
            if name == "candidates":
                listed = payload.items(value) or ()
            elif value is not None and (type(value) is not str or value != self._top.get(name)):
                # Most of what stands beside the parts is said again in every chunk.
                self._top[name] = value if name not in self._top else merged(self._top[name], value)
        if not self._begun:
            self._begun = True
            whose, model = (payload.string(self._top.get(key)) for key in ("responseId", "modelVersion"))
            out.append(MessageStart(HOME, whose, model, read_time(self._top.get("createTime"))))
        for position, candidate in enumerate(listed):
            if type(candidate) is dict:
                index = candidate.get("index", position)
                if index == 0 or type(index) is not int:
                    self._candidates[0] = self._first
                    self._first.add(candidate, out)
                else:
                    self._candidates.setdefault(index, _Candidate()).add(candidate, [])
                    out.append(UnknownEvent(candidate))
            else:
                out.append(UnknownEvent(candidate))
        if not self.complete:
            blocked = self._top.get("promptFeedback")
            self.complete = self._first.ended or (type(blocked) is dict and _is_blocked(blocked))
        return out

    def close(self) -> Sequence[Event]:
        """The ends of the part that is open."""
        out: list[Event] = []
        self._first.end(out, self.complete)
        return out

    def body(self) -> dict[str, Any]:
        """The answer as it would have come in one piece."""
        candidates = [self._candidates[index].body() for index in sorted(self._candidates)]
        listed = {"candidates": candidates} if candidates or "promptFeedback" not in self._top else {}
        return {**listed, **self._top}


def _is_blocked(feedback: Fields) -> bool:
    return bool(feedback.get("blockReason") or feedback.get("block_reason"))


def merged(old: Any, new: Any) -> Any:
    """Two values of one field of successive chunks as one: an empty one says nothing, members and elements add up, else the later one counts.

    «usageMetadata» and «safetyRatings» come with every chunk anew, «groundingMetadata» empty in all but some (recorded).
    """
    if payload.is_inert(new):
        return old
    if type(old) is dict and type(new) is dict:
        return {**old, **{key: merged(old[key], value) if key in old else value for key, value in new.items()}}
    if type(old) is list and type(new) is list:
        return [*old, *[element for element in new if element not in old]]  # keeps: the same element said again
    return new


def _joined(old: Any, new: Any) -> Any:
    """Log probabilities of successive chunks: each has those of its own tokens."""
    if type(old) is dict and type(new) is dict:
        return {**old, **{key: _joined(old[key], value) if key in old else value for key, value in new.items()}}
    return [*old, *new] if type(old) is list and type(new) is list else new


class _Candidate:
    """One candidate, as far as it has come."""

    __slots__ = ("_call", "_content", "_fields", "_open", "_parts", "_place", "_text", "_thought", "ended")

    def __init__(self) -> None:
        self.ended = False
        self._fields: dict[str, Any] = {}
        self._content: dict[str, Any] | None = None
        self._parts: list[dict[str, Any]] = []
        # The number of blocks that have begun, which is the next one's index.
        self._open = 0
        self._place: At = ("candidates", 0, "content", "parts")
        # The text that goes on, and whether it is a thought; the call whose arguments go on.
        self._text: list[str] | None = None
        self._thought = False
        self._call: _Call | None = None

    def add(self, candidate: Fields, out: list[Event]) -> None:
        """What one more chunk holds of the candidate."""
        for key, value in candidate.items():
            if key == "content":
                content = payload.fields(value)
                if content is not None:
                    self._add_content(content, out)
            elif value is not None and not (key == "index" and value == self._fields.get(key)):
                name = CANDIDATE.get(key, key)
                if name not in self._fields:
                    self._fields[name] = value
                elif name in ("logprobsResult", "logprobs_result"):
                    self._fields[name] = _joined(self._fields[name], value)
                else:
                    self._fields[name] = merged(self._fields[name], value)
        if not self.ended and type(self._fields.get("finishReason")) is str:
            self.ended = True

    def _add_content(self, content: Fields, out: list[Event]) -> None:
        if self._content is None:
            self._content = {}
        for key, value in content.items():
            if key != "parts":
                self._content[key] = value
        parts = content.get("parts")
        if type(parts) is dict:
            parts = [parts]
        for part in payload.items(parts) or ():
            if type(part) is dict:
                self._add_part(part, out)
            elif part is not None:
                out.append(UnknownEvent(part))
                self.close(out, True)
                self._add_whole({"text": part} if type(part) is str else {"unknown": part}, out)

    def _add_part(self, part: dict[str, Any], out: list[Event]) -> None:
        text = part.get("text")
        if type(text) is str and part.keys() <= _RUN:
            thought = part.get("thought") is True
            if self._text is None or thought is not self._thought:
                if not text:
                    # «{"text": ""}» beside a last finishReason (recorded): there is nothing in it.
                    return
                self.close(out, True)
                self._begin_text(thought, out)
            if text and self._text is not None:
                self._text.append(text)
                index = self._open - 1
                out.append(ReasoningDelta(index, text) if thought else TextDelta(index, text))
            return
        call = part.get("functionCall", part.get("function_call"))
        if type(call) is dict and (self._call is not None or not _PARTIAL.isdisjoint(call)):
            if self._goes_on(part, call, out):
                return
        self.close(out, True)
        self._add_whole(part, out)

    def _begin_text(self, thought: bool, out: list[Event]) -> None:
        self._text, self._thought = [], thought
        self._parts.append({"text": "", "thought": True} if thought else {"text": ""})
        out.append(BlockStart(self._open, "reasoning" if thought else "text"))
        self._open += 1

    def _goes_on(self, part: dict[str, Any], call: dict[str, Any], out: list[Event]) -> bool:
        """Take a piece of a call: `name` and `willContinue` first, then `partialArgs`, and an empty one at the end (Vertex).

        False for a whole call, which stands for itself.
        """
        begins = "name" in call and not (self._call is not None and self._call.is_same(call))
        if begins and _PARTIAL.isdisjoint(call):
            return False
        if begins or self._call is None:
            self.close(out, True)
            self._call = _Call(part, call, self._open)
            self._parts.append(part)
            name, called = payload.string(call.get("id")), payload.string(call.get("name"))
            out.append(BlockStart(self._open, "tool_call", name, called))
            self._open += 1
        else:
            self._call.add(part, call)
        self._parts[-1] = self._call.part(True)
        if call.get("willContinue", call.get("will_continue")) is not True:
            self.close(out, True)
        return True

    def _add_whole(self, part: dict[str, Any], out: list[Event]) -> None:
        """A part that is complete by itself: everything but plain text."""
        self._parts.append(part)
        for block in self._read(part):
            index = self._open
            self._open += 1
            if type(block) is Text or type(block) is Reasoning:
                # Its other fields come first, so that whoever passes the words on at once has the signature that they belong to.
                out.append(BlockStart(index, "text" if type(block) is Text else "reasoning", extra=_others(part)))
                said = payload.string(block.text) or ""
                if said:
                    out.append(TextDelta(index, said) if type(block) is Text else ReasoningDelta(index, said))
                if block.signature is not None:
                    out.append(SignatureDelta(index, block.signature))
            elif type(block) is ToolCall:
                out.append(BlockStart(index, "tool_call", payload.string(block.id), payload.string(block.name)))
                if block.signature is not None:
                    out.append(SignatureDelta(index, block.signature))
                if block.arguments_text:
                    out.append(ArgumentsDelta(index, block.arguments_text))
            else:
                out.append(BlockStart(index, "media" if type(block) is Media else "opaque"))
            out.append(BlockStop(index, block))

    def _read(self, part: dict[str, Any]) -> Sequence[Block]:
        return _blocks(part, (self._place, len(self._parts) - 1))

    def end(self, out: list[Event], complete: bool) -> None:
        """End what is open at the end of the stream. A call that was to go on is whole only if the model says that it has ended."""
        self.close(out, complete and (self._call is None or self._fields.get("finishReason") == "STOP"))

    def close(self, out: list[Event], whole: bool) -> None:
        """End the text or the call that is open. `whole`: it was the provider that ended it."""
        index, at = self._open - 1, (self._place, len(self._parts) - 1)
        if self._text is not None:
            part = self._parts[-1]
            part["text"] = text = "".join(self._text)
            self._text = None
            block: Block = (
                Reasoning(text, None, at, part, HOME, True) if part.get("thought") else Text(text, at, part, HOME, True)
            )
            out.append(BlockStop(index, block, whole))
        elif self._call is not None:
            call, self._call = self._call, None
            self._parts[-1] = call.part(not whole)
            read = self._read(self._parts[-1])[0]
            if type(read) is ToolCall:
                if read.signature is not None:
                    out.append(SignatureDelta(call.index, read.signature))
                if read.arguments_text:
                    out.append(ArgumentsDelta(call.index, read.arguments_text))
            out.append(BlockStop(call.index, read, whole))

    def body(self) -> dict[str, Any]:
        """The candidate as it would have come in one piece."""
        if self._content is None:
            return dict(self._fields)
        parts = list(self._parts)
        if self._text is not None:
            parts[-1] = {**parts[-1], "text": "".join(self._text)}
        listed = {"parts": parts} if parts else {}
        return {"content": {**listed, **self._content}, **self._fields}


def _blocks(part: dict[str, Any], at: At) -> Sequence[Block]:
    """The blocks of a part: one, or one for each data field where several stand in it; what stands beside them is the first call's."""
    found = [key for key, value in part.items() if key in DATA and value is not None]  # keeps: the rest is beside them
    if len(found) < 2:
        return (_block(found[0] if found else None, part, at),)
    beside = {key: value for key, value in part.items() if key not in DATA}  # keeps: the data are in `found`
    owner = next((key for key in found if DATA[key] == "functionCall"), found[0])
    return [_block(key, {key: part[key], **(beside if key == owner else {})}, at) for key in found]


def _block(key: str | None, part: dict[str, Any], at: At) -> Block:
    """A part whose one data field is `key`, as the hub has it. What a provider executed stays as it came: no answer holds results."""
    if key is None:
        signature = signature_of(part)
        if signature is None:
            return Opaque("untyped", at, part, HOME, True)
        rest = remaining(part, ("thought", *SIGNATURES))
        if part.get("thought") is True:
            return Reasoning("", signature, at, part, HOME, True, rest)
        return Text("", at, part, HOME, True, rest, signature)
    kind, inner = DATA[key], payload.fields(part[key])
    if kind == "text":
        return read_text(part[key], part, at)
    if kind == "functionCall" and inner is not None:
        called, rest = payload.string(inner.get("id")) or None, remaining(part, (key, *SIGNATURES))
        more = remaining(inner, ("id", "name", "args"))
        if more is not None:
            rest = {**(rest or {}), **{f"{key}.{name}": value for name, value in more.items()}}
        name, arguments, signature = payload.string(inner.get("name")), inner.get("args"), signature_of(part)
        return ToolCall(
            called, name, arguments, at, part, HOME, True, rest, by_name=called is None, signature=signature
        )
    if kind in ("inlineData", "fileData") and inner is not None:
        return read_media(key, inner, part, at)
    return Opaque(kind, at, part, HOME, True)


_STEP = re.compile(r"""\.([^.\[]+)|\[(\d+)\]|\['((?:[^'\\]|\\.)*)'\]|\["((?:[^"\\]|\\.)*)"\]""")
_KINDS = ("string", "number", "bool", "null")


class _Call:
    """A call whose arguments come in pieces, each with the path (RFC 9535) of the argument that it belongs to."""

    __slots__ = ("_args", "_call", "_last", "_part", "index")

    def __init__(self, part: dict[str, Any], call: dict[str, Any], index: int) -> None:
        self.index = index
        self._part: dict[str, Any] = {}
        self._call: dict[str, Any] = {}
        self._args: Any = None
        # The path of the text that goes on.
        self._last: str | None = None
        self.add(part, call)

    def is_same(self, call: dict[str, Any]) -> bool:
        """Whether a piece that bears a name is still of this call: relays repeat it in every piece."""
        same_id = "id" not in call or call["id"] == self._call.get("id")
        return same_id and call.get("name") == self._call.get("name") and "args" not in call

    def add(self, part: dict[str, Any], call: dict[str, Any]) -> None:
        """One more piece."""
        for key, value in part.items():
            if DATA.get(key) != "functionCall":
                self._part[key] = value
        for key, value in call.items():
            if key == "args":
                self._args = value if self._args is None else merged(self._args, value)
            elif key in ("partialArgs", "partial_args"):
                for piece in payload.items(value) or ():
                    if type(piece) is dict:
                        self._put(piece)
            elif key not in _PARTIAL:
                self._call[key] = value

    def _put(self, piece: dict[str, Any]) -> None:
        path = piece.get("jsonPath", piece.get("json_path"))
        if type(path) is not str:
            return
        steps = [int(found[1]) if found[1] else found[0] or found[2] or found[3] for found in _STEP.findall(path)]
        value = next(
            (_value(kind, piece[key]) for kind in _KINDS for key in (f"{kind}Value", f"{kind}_value") if key in piece),
            None,
        )
        if self._args is None:
            self._args = {}
        self._args = _with(self._args, steps, value, path == self._last)
        goes_on = piece.get("willContinue", piece.get("will_continue")) is True
        self._last = path if goes_on else None

    def part(self, cut: bool) -> dict[str, Any]:
        """The part as it would have come in one piece. Arguments that were cut are their text, without its end."""
        args = self._args
        if cut:
            args = json.dumps(args or {}, ensure_ascii=False)[:-1]
            args = args[:-1] if self._last is not None and args.endswith('"') else args
        given = {} if args is None else {"args": args}
        return {"functionCall": {**self._call, **given}, **self._part}


def _value(kind: str, value: Any) -> Any:
    if kind == "null":
        return None
    # «Represents a double value»: JSON has one kind of number, and whole ones are written without a point.
    return int(value) if kind == "number" and type(value) is float and value.is_integer() else value


def _with(whole: Any, steps: Sequence[int | str], value: Any, more: bool) -> Any:
    """Arguments with one more value in its place. `more`: it continues the text that stands there."""
    if not steps:
        if more and type(whole) is str and type(value) is str:
            return whole + value
        return value
    first, rest = steps[0], steps[1:]
    if type(first) is int:
        listed = list(whole) if type(whole) is list else []
        while len(listed) <= first and len(listed) < 4096:
            listed.append(None)
        if first < len(listed):
            listed[first] = _with(listed[first], rest, value, more)
        return listed
    fields = dict(whole) if type(whole) is dict else {}
    fields[first] = _with(fields.get(first), rest, value, more)
    return fields


def beside(block: Block, message: Message) -> Fields | None:
    """What stands in a part beside its text, the signature among it; other parts are written whole."""
    return _others(payload.fields(block.raw) or {}) if type(block) is Text or type(block) is Reasoning else None


def _others(part: Fields) -> Fields | None:
    return {key: value for key, value in part.items() if key != "text"} or None  # keeps: the text is the delta


class GeminiWriter:
    """Writes one stream of generateContent."""

    __slots__ = ("_beside", "_heading", "_is_signed", "_said", "_thought")

    def __init__(self) -> None:
        self._heading: dict[str, Any] = {}
        # What stands beside the first words of the block that is open, and whether any of it were written.
        self._beside: dict[str, Any] = {}
        self._said = self._thought = self._is_signed = False

    def feed(self, event: MessageStart | BlockEvent, ledger: Ledger) -> Sequence[WireEvent]:
        """The chunks for one neutral event.

        Loses: STM001.
        """
        if type(event) is TextDelta or type(event) is ReasoningDelta:
            return [self._words(event.text)]
        if type(event) is BlockStart:
            self._said, self._thought = False, event.kind == "reasoning"
            self._beside = dict(event.extra or {}) if event.kind in ("text", "refusal", "reasoning") else {}
            self._is_signed = not self._beside.keys().isdisjoint(SIGNATURES)
            return []
        if type(event) is BlockStop:
            return self._ended(event, ledger)
        if type(event) is MessageStart:
            self._heading = heading(event.id, event.model, event.created)
        return []  # keeps: signatures and arguments are written with the block's end, which has all of them

    def _words(self, text: str) -> WireEvent:
        part: dict[str, Any] = {"text": text, "thought": True} if self._thought else {"text": text}
        if self._beside:
            part.update(self._beside)
            self._beside = {}
        self._said = True
        return self._chunk(part)

    def _ended(self, event: BlockStop, ledger: Ledger) -> list[WireEvent]:
        """What is left to say at the end of a block.

        Loses: STM001.
        """
        block = event.block
        if type(block) is Text or type(block) is Reasoning:
            if self._beside:
                return [self._words("")]
            return self._signed(block)
        if type(block) is ToolCall and not event.whole:
            # Clients take a call for whole: one whose arguments were cut would be executed.
            ledger.drop(STM001, block)
            return []
        if type(block) is ToolCall and block.by_name and block.id is not None:
            # It came without an id, and goes without one.
            block = changed(block, id=None)
        if type(block) is ToolCall or type(block) is Media or type(block) is Opaque:
            return [self._chunk(payload.plain(write_block(block)))]
        return []

    def _signed(self, block: Text | Reasoning) -> list[WireEvent]:
        """A signature that comes after its words stands on an empty text: «signatures may sit on a last empty text part in streams» (GE15)."""
        if block.signature is None or self._is_signed:
            return []  # keeps: it stood beside the first words
        beside: dict[str, Any] = {"thought": True} if self._thought else {}
        return [self._chunk({"text": "", **beside, "thoughtSignature": block.signature.value})]

    def _chunk(self, part: dict[str, Any]) -> WireEvent:
        candidate = {"content": {"parts": [part], "role": "model"}, "index": 0}
        return WireEvent(None, {"candidates": [candidate], **self._heading})

    def stop(self, event: MessageStop, carrier: Fields | None, ledger: Ledger) -> Sequence[WireEvent]:
        """The last chunk: why the answer ended, and what it cost.

        Loses: RSP007.
        """
        reply = event.reply
        if reply.stop.reason == "error" and event.error is not None:
            return [WireEvent(None, {"error": event.error if reply.home == HOME else _error(event.error)})]
        if reply.stop.reason == "cut":
            return []
        if reply.home == HOME and type(event.body) is dict:
            return [WireEvent(None, _rest(event.body))]
        last = {"content": {"parts": [{"text": ""}], "role": "model"}, **ending(reply, ledger)}
        usage = {"usageMetadata": write_usage(reply.usage)}
        return [WireEvent(None, {"candidates": [last], **usage, **self._heading})]


def _rest(body: Fields) -> dict[str, Any]:
    """All of an answer of Gemini's own but what it says, which has been written."""
    out = dict(body)
    if "candidates" in body:
        out["candidates"] = [
            {**candidate, "content": {**candidate["content"], "parts": []}}
            if index == 0 and "content" in candidate
            else candidate
            for index, candidate in enumerate(body["candidates"])
        ]
    return out


def _error(error: Any) -> dict[str, Any]:
    message = (payload.fields(error) or {}).get("message")
    told = message if type(message) is str else "the provider failed"
    return {"code": 500, "message": told, "status": "INTERNAL"}
