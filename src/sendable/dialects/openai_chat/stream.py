"""Streams of Chat Completions ↔ neutral events. What must not live here: whole answers (answer.py), parts (read.py, write.py), and how the
fragments of calls are put together (fragments.py).

A chunk says nothing about where a text or a call ends: a text ends when something else begins, calls end with the answer, since a fragment of
any of them may still come.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, assert_never

from msgspec.structs import replace

from sendable import payload
from sendable.carriers import FIELD
from sendable.codes import ORD003
from sendable.conversation import Block, Fields, Opaque, Reasoning, Refusal, Signature, Text, ToolCall
from sendable.dialects.openai_chat.answer import MESSAGE, error_in, heading, stop_word, thinking_of, write_usage
from sendable.dialects.openai_chat.fragments import Calls
from sendable.dialects.openai_chat.read import DETAILS, HOME
from sendable.dialects.openai_chat.write import write_block
from sendable.paths import At
from sendable.report import Ledger
from sendable.stream import (
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
    UnknownEvent,
    WireEvent,
)

_MODELLED = frozenset({"id", "object", "created", "model", "choices", "usage", "obfuscation", "error"})
"""Fields of a chunk. «obfuscation» is padding of random length and says nothing (documented)."""

_CHOICE = frozenset({"index", "delta", "finish_reason", "message"})
_SPOKEN: dict[str, BlockKind] = {
    "content": "text",
    "reasoning_content": "reasoning",
    "reasoning": "reasoning",
    "refusal": "refusal",
}
"""Fields of a delta that are texts of which more comes."""


class ChatReader:
    """Reads one stream of Chat."""

    __slots__ = ("_choices", "_first", "_head", "_last", "_started", "_top", "complete", "done", "error")

    def __init__(self) -> None:
        self.complete = self.done = self._started = False
        self.error: Any = None
        self._head: dict[str, Any] = {}
        self._top: dict[str, Any] = {}
        self._last: dict[str, Any] = {}
        # By their index. One is read; the others are kept for the body.
        self._choices: dict[int, _Choice] = {}
        self._first = _Choice()

    def feed(self, event: Fields) -> Sequence[Event]:
        """The neutral events of one chunk, or of an error object."""
        out: list[Event] = []
        head, last = self._head, self._last
        for key, value in event.items():
            # Most chunks repeat what the one before them said.
            if key not in _MODELLED and value is not None and not (key in last and last[key] == value):
                last[key] = value
                self._top[key] = merged(self._top.get(key), value, False)
        listed = event.get("choices")
        if not self._started:
            for key in ("id", "model", "created"):
                if event.get(key) and key not in head:
                    head[key] = event[key]
            if listed or "id" in head:
                self._started = True
                created = head.get("created")
                out.append(
                    MessageStart(
                        HOME,
                        payload.string(head.get("id")),
                        payload.string(head.get("model")),
                        created if type(created) is int else None,
                    )
                )
        usage = event.get("usage")
        if usage:
            self._top["usage"] = usage
        if type(listed) is list:
            for position, choice in enumerate(listed):
                if type(choice) is not dict:
                    out.append(UnknownEvent(choice))
                    continue  # keeps: the line above
                index = choice.get("index", position)
                if index == 0 or type(index) is not int:
                    self._choices[0] = self._first
                    self._first.add(choice, out)
                else:
                    self._choices.setdefault(index, _Choice()).add(choice, [])
                    out.append(UnknownEvent(choice))
            if not self.complete and self._first.word:
                self.complete = True
        error = None if listed and "error" not in event else error_in(event)
        if error is not None:
            self.error, self.done = error, True
        elif not listed and "usage" not in event and "object" not in event:
            out.append(UnknownEvent(event))
        return out

    def close(self) -> Sequence[Event]:
        """The ends of everything that is open."""
        out: list[Event] = []
        self._first.end(out, self.complete)
        return out

    def body(self) -> dict[str, Any]:
        """The answer as it would have come in one piece."""
        choices = [self._choices[index].body(index) for index in sorted(self._choices)]
        if 0 not in self._choices:
            choices.insert(0, self._first.body(0))
        return {**self._head, "object": "chat.completion", "choices": choices, **self._top}


def merged(old: Any, new: Any, text: bool = True) -> Any:
    """Two values of one field of successive chunks as one: what is said again counts once, members and elements add up, texts go on (`text`),
    else the later one counts."""
    if old is None or old == new:
        return new
    if new is None:
        return old
    if type(old) is dict and type(new) is dict:
        return {**old, **{key: merged(old.get(key), value, text) for key, value in new.items()}}
    if type(old) is list and type(new) is list:
        # Some servers send all that there is with every chunk, some send what is new.
        return new if new[: len(old)] == old else _listed(old, new)
    if text and type(old) is str and type(new) is str:
        return old + new
    return new


def _listed(old: list[Any], new: list[Any]) -> list[Any]:
    """Two lists as one: entries that bear an index go on in the entry of the same index and kind, the others are new."""
    out = list(old)
    for entry in new:
        place = entry.get("index") if type(entry) is dict else None
        found = None
        if place is not None:
            found = next(
                (
                    position
                    for position, other in enumerate(out)
                    if type(other) is dict and other.get("index") == place and other.get("type") == entry.get("type")
                ),
                None,
            )
        if found is None:
            out.append(entry)
        else:
            out[found] = _continued(out[found], entry)
    return out


_NAMES = frozenset({"type", "index", "format", "id"})


def _continued(old: dict[str, Any], new: dict[str, Any]) -> dict[str, Any]:
    """An entry of a list that goes on: its texts go on, its names are names."""
    out = dict(old)
    for key, value in new.items():
        if key in _NAMES:
            out[key] = value if value is not None else out.get(key)
        elif type(value) is str and type(out.get(key)) is str:
            # The same word twice is twice said, in a text that goes on.
            out[key] = out[key] + value
        else:
            out[key] = merged(out.get(key), value)
    return out


class _Choice:
    """One choice, as far as it has come."""

    __slots__ = ("_calls", "_fields", "_index", "_message", "_parts", "_place", "_run", "_spelling", "_texts", "word")

    def __init__(self) -> None:
        self.word: str | None = None
        self._fields: dict[str, Any] = {}
        # The message, in the order in which its fields came; texts are put in at the end.
        self._message: dict[str, Any] = {"role": "assistant", "content": None}
        self._texts: dict[str, list[str]] = {}
        # The parts of content that is a list.
        self._parts: list[dict[str, Any]] | None = None
        self._place: At = MESSAGE
        self._run: _Run | None = None
        # The number of blocks that have begun, which is the next one's index.
        self._index = 0
        self._calls = Calls(MESSAGE)
        # Under which key the reasoning comes; the same under another key is kept for the body.
        self._spelling: str | None = None

    def add(self, choice: Fields, out: list[Event]) -> None:
        """What one more chunk holds of the choice."""
        delta = choice.get("delta")
        if type(delta) is dict:
            for key, value in delta.items():
                if value is not None:
                    self._add(key, value, out)
        elif not self._index and not self._texts and type(choice.get("message")) is dict:
            # A server that sends the answer in one chunk. Beside deltas, it says the same once more.
            for key, value in choice["message"].items():
                if value is not None:
                    self._add(key, value, out)
        word = choice.get("finish_reason")
        if word and type(word) is str:
            self.word = word
        if len(choice) > 3 or "delta" not in choice:
            for key, value in choice.items():
                if value is not None and key not in _CHOICE:
                    self._fields[key] = _added(self._fields.get(key), value, key)

    def _add(self, key: str, value: Any, out: list[Event]) -> None:
        if key in _SPOKEN and type(value) is str:
            if value:
                self._say(key, value, out)
        elif key == "tool_calls":
            self._call(value if type(value) is list else [value], out)
        elif key == "role":
            if type(value) is str and value:
                self._message["role"] = value
        elif key == "content":
            for part in value if type(value) is list else [value]:
                self._add_part(part if type(part) is dict else {"type": "text", "text": part}, out)
        elif key == "function_call" and type(value) is dict:
            self._call([value], out, legacy=True)
        else:
            self._message[key] = merged(self._message.get(key), value)
            out.append(UnknownEvent({key: value}))

    def _say(self, key: str, text: str, out: list[Event]) -> None:
        kind = _SPOKEN[key]
        pieces = self._texts.get(key)
        if pieces is None:
            pieces = self._texts[key] = []
            self._message[key] = None
        if kind == "reasoning" and key != self._spelling:
            if self._spelling is not None:
                pieces.append(text)
                return
            self._spelling = key
        if key == "content" and self._parts is not None:
            self._add_part({"type": "text", "text": text}, out)
            return
        pieces.append(text)
        run = self._run
        if run is None or run.key != key:
            self._end_run(out, True)
            extra = None if key == "content" or key == "refusal" else {"field": key}
            run = self._begin(_Run(kind, key, self._index, (MESSAGE, key)), extra, out)
        run.pieces.append(text)
        out.append(ReasoningDelta(run.index, text) if kind == "reasoning" else TextDelta(run.index, text))

    def _begin(self, run: _Run, extra: Fields | None, out: list[Event]) -> _Run:
        self._index = self._calls.begun(self._index, out)
        run.index = self._index
        self._index += 1
        self._run = run
        out.append(BlockStart(run.index, run.kind, extra=extra))
        return run

    def _end_run(self, out: list[Event], whole: bool) -> None:
        run = self._run
        if run is not None:
            self._run = None
            out.append(BlockStop(run.index, run.block(), whole))

    def _add_part(self, part: dict[str, Any], out: list[Event]) -> None:
        """A part of content that is a list (Mistral): texts and thoughts go on in the next one of their kind."""
        if self._parts is None:
            self._parts = []
            said = self._texts.pop("content", None)
            if said:
                self._parts.append({"type": "text", "text": "".join(said)})
        kind, listed = part.get("type"), part.get("thinking")
        plain = kind == "text" and type(part.get("text")) is str and len(part) == 2
        thought = kind == "thinking" and type(listed) is list and all(map(_is_text, listed))
        key = "part text" if plain else "part thinking" if thought else None
        run = self._run
        if key is None:
            self._end_run(out, True)
            self._parts.append(part)
            place = ((MESSAGE, "content"), len(self._parts) - 1)
            self._index = self._calls.begun(self._index, out)
            out.append(BlockStart(self._index, "opaque"))
            out.append(BlockStop(self._index, Opaque(str(kind), place, part, HOME, True)))
            self._index += 1
            return
        text = part["text"] if plain else "".join(entry["text"] for entry in listed or ())
        if run is None or run.key != key:
            self._end_run(out, True)
            last = self._parts[-1] if self._parts else None
            place = ((MESSAGE, "content"), len(self._parts))
            part_kind: BlockKind = "text" if plain else "reasoning"
            run = _Run(part_kind, key, self._index, place)
            if plain and last is not None and _is_text(last) and len(last) == 2:
                # A text that went on behind a call is one text of the message.
                run.part, run.place = last, ((MESSAGE, "content"), len(self._parts) - 1)
            else:
                run.part = {"type": "text", "text": ""} if plain else {"type": "thinking", "thinking": []}
                self._parts.append(run.part)
            self._begin(run, {"part": kind}, out)
        held: Any = run.part
        if plain:
            held["text"] += text
        else:
            for entry in listed or ():
                thoughts = held["thinking"]
                if thoughts and len(entry) == 2 and len(thoughts[-1]) == 2:
                    thoughts[-1] = {**thoughts[-1], "text": thoughts[-1]["text"] + entry["text"]}
                else:
                    thoughts.append(dict(entry))
            held.update(
                {name: value for name, value in part.items() if name not in ("type", "thinking")}
            )  # keeps: above
        run.pieces.append(text)
        if text:
            out.append(TextDelta(run.index, text) if plain else ReasoningDelta(run.index, text))

    def _call(self, fragments: list[Any], out: list[Event], legacy: bool = False) -> None:
        begun: list[Event] = []
        if legacy:
            self._index = self._calls.add_legacy(fragments[0], self._index, begun)
        else:
            self._index = self._calls.add(fragments, self._index, begun)
        if self._run is not None and any(type(event) is BlockStart for event in begun):
            # The text before a call has ended.
            self._end_run(out, True)
        out.extend(begun)

    def end(self, out: list[Event], whole: bool) -> None:
        """The ends of all that is open, in the order in which the message has it; `whole`: the answer came to its end."""
        self._end_run(out, whole)
        for block, kind in self._later():
            self._index = self._calls.begun(self._index, out)
            out.append(BlockStart(self._index, kind, sealed=type(block) is Reasoning and block.text is None))
            if type(block) is Reasoning and block.text is not None:
                out.append(ReasoningDelta(self._index, payload.string(block.text) or ""))
            if type(block) is Reasoning and block.signature is not None:
                out.append(SignatureDelta(self._index, block.signature))
            out.append(BlockStop(self._index, block, whole))
            self._index += 1
        self._index = self._calls.end(self._index, out, whole)

    def _later(self) -> list[tuple[Block, BlockKind]]:
        """The blocks of fields that are whole only at the end. Reasoning that was streamed under another key is not said again."""
        found: list[tuple[Block, BlockKind]] = []
        details = self._message.get("reasoning_details")
        if details:
            said = _detailed(details, (MESSAGE, "reasoning_details"))
            if type(said) is not Reasoning:
                found.append((said, "opaque"))
            elif self._spelling is None or said.signature is not None:
                text = said.text if self._spelling is None else None
                found.append((replace(said, text=text), "reasoning"))
        audio = self._message.get("audio")
        if audio is not None:
            found.append((Opaque("audio", (MESSAGE, "audio"), audio, HOME, True), "opaque"))
        return found

    def body(self, index: int) -> dict[str, Any]:
        """The choice as it would have come in one piece."""
        message = dict(self._message)
        for key, pieces in self._texts.items():
            message[key] = "".join(pieces) or None
        if self._parts is not None:
            message["content"] = self._parts
        return {
            "index": index,
            "message": self._calls.put_into(message),
            "finish_reason": self.word,
            **self._fields,
        }


def _added(old: Any, new: Any, key: str) -> Any:
    """Log probabilities of successive chunks: each has those of its own tokens. Of anything else, what is said again counts once."""
    if key == "logprobs" and type(old) is dict and type(new) is dict:
        said = {name: _added(old.get(name), value, key) for name, value in new.items()}
        return {**old, **said}
    if key == "logprobs" and type(old) is list and type(new) is list:
        return [*old, *new]
    return merged(old, new, False)


def _is_text(entry: Any) -> bool:
    return type(entry) is dict and entry.get("type") == "text" and type(entry.get("text")) is str


class _Run:
    """A text, reasoning or refusal that goes on. `part` is the part of content that it stands in, where content is a list."""

    __slots__ = ("index", "key", "kind", "part", "pieces", "place")

    def __init__(self, kind: BlockKind, key: str, index: int, place: At) -> None:
        self.kind: BlockKind = kind
        self.key, self.index, self.place = key, index, place
        self.pieces: list[str] = []
        self.part: dict[str, Any] | None = None

    def block(self) -> Block:
        """The block, whole."""
        text = "".join(self.pieces)
        if self.part is not None and self.kind == "reasoning":
            return thinking_of(self.part, self.place) or Reasoning(text, None, self.place, self.part, HOME, True)
        if self.kind == "reasoning":
            return Reasoning(text, None, self.place, text, HOME, True)
        if self.kind == "refusal":
            return Refusal(text, self.place, text, HOME, True)
        return Text(text, self.place, text, HOME, True)


def _detailed(details: Any, at: At) -> Block:
    """`reasoning_details`, once they are whole, as a block, by the same rule as in a whole message (read.py)."""
    entries = details if type(details) is list else []
    if not entries or not all(type(entry) is dict and entry.get("type") in DETAILS for entry in entries):
        return Opaque("reasoning_details", at, details, HOME, True)
    said = [entry.get("text") or entry.get("summary") for entry in entries]
    texts = [text for text in said if type(text) is str]  # keeps: the rest is sealed, and in the signature
    sealed = any(entry.get("signature") or entry.get("data") for entry in entries)
    if not texts and not sealed:
        return Opaque("reasoning_details", at, details, HOME, True)
    signature = Signature("reasoning_details", "signature" if texts else "encrypted", details) if sealed else None
    return Reasoning("\n\n".join(texts) if texts else None, signature, at, details, HOME, True)


_SAID = frozenset({"role", "content", "tool_calls", "function_call"})
"""Fields of a message that a stream has said before it ends."""


class ChatWriter:
    """Writes one stream of Chat."""

    __slots__ = ("_calls", "_flattened", "_head", "_home", "_keys", "_places", "_refused", "_written")

    def __init__(self) -> None:
        self._head: dict[str, Any] = {}
        self._home = self._refused = self._flattened = False
        # Under which key the text of a block goes, and the place of a call among the calls, by the block's index.
        self._keys: dict[int, str] = {}
        self._places: dict[int, tuple[int, str]] = {}
        self._calls = 0
        # The fields of the message that have been written.
        self._written: set[Any] = set(_SAID)

    def feed(self, event: MessageStart | BlockEvent, ledger: Ledger) -> Sequence[WireEvent]:
        """The chunks for one neutral event.

        Loses: ORD003 (a move, once), RSP009.
        """
        if type(event) is TextDelta or type(event) is ReasoningDelta:
            return [self._said(event.index, event.text)]
        if type(event) is ArgumentsDelta:
            return [self._chunk(self._call(event.index, {"arguments": event.text}))]
        if type(event) is SignatureDelta:
            return []  # keeps: a block's end has it
        if type(event) is BlockStart:
            return self._started(event, ledger)
        if type(event) is BlockStop:
            return self._ended(event)
        if type(event) is MessageStart:
            self._home = event.home == HOME
            self._head = heading(event.id, event.model, event.created, ledger, "chat.completion.chunk")
            return [self._chunk({"role": "assistant", "content": None})]
        assert_never(event)

    def _chunk(self, delta: dict[str, Any], word: str | None = None, more: Fields | None = None) -> WireEvent:
        choice = {"index": 0, "delta": delta, "finish_reason": word, **(more or {})}
        return WireEvent(None, {**self._head, "choices": [choice]})

    def _said(self, index: int, text: str) -> WireEvent:
        key = self._keys[index]
        if key == "thinking":
            text_part = {"type": "thinking", "thinking": [{"type": "text", "text": text}]}
            return self._chunk({"content": [text_part]})
        return self._chunk({key: text})

    def _call(self, index: int, inner: dict[str, Any], **fields: Any) -> dict[str, Any]:
        place, kind = self._places[index]
        if kind == "function_call":
            return {"function_call": inner}
        if kind == "custom" and "arguments" in inner:
            inner["input"] = inner.pop("arguments")
        return {"tool_calls": [{"index": place, **fields, kind: inner}]}

    def _started(self, event: BlockStart, ledger: Ledger) -> list[WireEvent]:
        """The beginning of a block. Clients of Chat have one text and a list of calls, wherever in between a text stood.

        Loses: ORD003 (a move, once), RSP009.
        """
        field = (event.extra or {}).get("field")
        if event.kind == "tool_call":
            kind = "function_call" if field == "function_call" else event.call_kind
            self._places[event.index] = (self._calls, kind)
            if kind == "function_call":
                return [self._chunk({"function_call": {"name": event.name or "", "arguments": ""}})]
            self._calls += 1
            inner = {"name": event.name or "", "arguments": ""}
            return [self._chunk(self._call(event.index, inner, id=event.id, type=event.call_kind))]
        if event.kind in ("text", "reasoning", "refusal"):
            if self._calls and not self._home and not self._flattened:
                ledger.move(ORD003, ())
                self._flattened = True
            key = "content" if event.kind == "text" else "refusal" if event.kind == "refusal" else "reasoning_content"
            if type(field) is str:
                key = field
            self._refused = self._refused or key == "refusal"
            if not event.sealed:
                self._written.add(key)
            self._keys[event.index] = "thinking" if (event.extra or {}).get("part") == "thinking" else key
        return []

    def _ended(self, event: BlockStop) -> list[WireEvent]:
        """The end of a block: of a call, what it has beside name and arguments; of a part of another kind, all of it."""
        block = event.block
        if type(block) is ToolCall and event.index in self._places:
            place, kind = self._places[event.index]
            whole: dict[str, Any] = payload.plain(write_block(block))
            rest: dict[str, Any] = {
                key: value for key, value in whole.items() if key not in ("id", "type", kind)
            }  # keeps: written before
            if kind == "function_call":
                return []
            inner = {
                key: value
                for key, value in (whole.get(kind) or {}).items()
                if key not in ("name", "arguments", "input")
            }  # keeps: written before
            if not rest and not inner:
                return []
            return [self._chunk({"tool_calls": [{"index": place, **rest, **({kind: inner} if inner else {})}]})]
        if type(block) is Opaque and not self._is_field(block):
            return [self._chunk({"content": [payload.plain(block.raw)]})]
        return []  # keeps: texts have been written, and fields of the message are at its end

    def _is_field(self, block: Opaque) -> bool:
        return bool(block.at) and type(block.at[-1]) is str

    def stop(self, event: MessageStop, carrier: Fields | None, ledger: Ledger) -> Sequence[WireEvent]:
        """The end of the answer: why, and what it cost, then `[DONE]`. An answer that was cut has no end.

        Loses: RSP007.
        """
        out: list[WireEvent] = []
        if carrier is not None:
            out.append(self._chunk({FIELD: dict(carrier)}))
        choice, top = self._rest(event)
        message = choice.pop("message", {})
        if message:
            out.append(self._chunk(message))
        stop = event.reply.stop
        if stop.reason == "error":
            return [*out, WireEvent(None, {"error": _told(event.error)})]
        if stop.reason == "cut":
            return out
        if stop.sequence is not None:
            choice.setdefault("stop_reason", stop.sequence)
        out.append(self._chunk({}, stop_word(stop, self._refused, ledger), choice))
        usage = write_usage(event.reply.usage)
        if usage is not None or top:
            out.append(WireEvent(None, {**self._head, "choices": [], "usage": usage, **top}))
        return [*out, WireEvent(None, "[DONE]")]

    def _rest(self, event: MessageStop) -> tuple[dict[str, Any], dict[str, Any]]:
        """What an answer of Chat has beside what has been written: of its choice, with the message's, and of the body."""
        choices = event.body.get("choices") if self._home and type(event.body) is dict else None
        choice = choices[0] if type(choices) is list and choices else None
        if type(choice) is not dict:
            return {}, {}
        rest: dict[str, Any] = {
            key: value for key, value in choice.items() if key not in _CHOICE and value is not None
        }  # keeps: the rest is written in its own place
        message = choice.get("message")
        if type(message) is dict:
            rest["message"] = {
                key: value for key, value in message.items() if key not in self._written and value is not None
            }  # keeps: written before
        top = {
            key: value for key, value in event.body.items() if key not in _MODELLED or key == "usage"
        }  # keeps: the rest is the heading of every chunk
        return rest, top


def _told(error: Any) -> dict[str, Any]:
    """A provider's error in the words of Chat: «message, type, param, code» (documented)."""
    fields = payload.fields(error) or {}
    kind, code = (payload.plain(fields.get(key)) for key in ("type", "code"))
    return {
        "message": payload.string(fields.get("message")) or "the provider failed",
        "type": kind if type(kind) is str else "server_error",
        "param": None,
        "code": code if type(code) is str or type(code) is int else None,
    }
