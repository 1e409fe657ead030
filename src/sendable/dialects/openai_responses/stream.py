"""The event stream of Responses ↔ neutral events (openai 3.57.0, 2026-11-30). What must not live here: whole answers (answer.py)."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, assert_never

from sendable import payload
from sendable.conversation import Block, Fields, Message, Opaque, Reasoning, Refusal, Signature, Text, ToolCall
from sendable.dialects import answer_id
from sendable.dialects.openai_responses.answer import (
    carrier_item,
    ending,
    heading,
    item_id,
    item_of,
    message_item,
    told,
)
from sendable.dialects.openai_responses.read import HOME
from sendable.dialects.openai_responses.write import write_block
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

_CALLS = {
    "function_call": ("function", "arguments", None),
    "custom_tool_call": ("custom", "input", None),
    "local_shell_call": ("local_shell_call", "action", "local_shell"),
    "shell_call": ("shell_call", "action", "shell"),
    "apply_patch_call": ("apply_patch_call", "operation", "apply_patch"),
}
"""Items that are calls of the client's: the kind of call, where its arguments stand, its name where the item has none."""

_PARTS: dict[str, tuple[BlockKind, str]] = {"output_text": ("text", "text"), "refusal": ("refusal", "refusal")}
_TEXTS = {
    "response.output_text": "text",
    "response.refusal": "refusal",
    "response.reasoning_summary_text": "summary",
    "response.reasoning_text": "content",
    "response.function_call_arguments": "arguments",
    "response.custom_tool_call_input": "input",
}
"""The events that come as `.delta` and `.done`, and the field that they fill."""

_LATER = ("response.completed", "response.incomplete", "response.failed", "response.cancelled")


class _Item:
    """One item of the output. `index`: of its block, where it is one block; `parts`: of the open parts of a message, by their place."""

    __slots__ = ("begun", "done", "fields", "index", "open", "pieces", "sent", "thoughts")

    def __init__(self, fields: dict[str, Any]) -> None:
        self.fields = fields
        self.index: int | None = None
        # The parts of a message that have begun and have not ended, by their place in it; and those that have.
        self.open: dict[int, int] = {}
        self.begun: set[int] = set()
        # The pieces of the text that the last part holds under a key; of a call's arguments; and of which part of a reasoning the last words
        # were. Put together once, since a text that grows by every event would be copied by every event.
        self.pieces: tuple[dict[str, Any], str, list[str]] | None = None
        self.sent: list[str] = []
        self.thoughts: tuple[str, int] | None = None
        self.done = False

    def add(self, part: dict[str, Any], key: str, text: str) -> None:
        """More of the text that a part holds under a key."""
        if self.pieces is None or self.pieces[0] is not part:
            self.settle()
            self.pieces = (part, key, [payload.string(part.get(key)) or ""])
        self.pieces[2].append(text)

    def settle(self) -> None:
        """Put the pieces together: before this, the part that they belong to does not hold all of its text."""
        if self.pieces is not None:
            part, key, texts = self.pieces
            part[key], self.pieces = "".join(texts), None


class ResponsesReader:
    """Reads one stream of Responses."""

    __slots__ = ("_count", "_items", "_response", "complete", "done", "error")

    def __init__(self) -> None:
        self.complete = self.done = False
        self.error: Any = None
        self._response: dict[str, Any] = {}
        self._items: dict[int, _Item] = {}
        self._count = 0

    def feed(self, event: Fields) -> Sequence[Event]:
        """The neutral events of one event: `response.*`, `error`."""
        kind = payload.string(event.get("type")) or ""
        if kind in ("response.created", "response.queued", "response.in_progress"):
            known = bool(self._response)
            self._response.update(payload.fields(event.get("response")) or {})
            name, model = (payload.string(self._response.get(key)) for key in ("id", "model"))
            created = self._response.get("created_at")
            time = int(created) if type(created) is int or type(created) is float else None
            return [] if known else [MessageStart(HOME, name, model, time)]
        if kind in _LATER:
            return self._end(kind, payload.fields(event.get("response")) or {})
        if kind == "error":
            self.error = payload.fields(event.get("error")) or {
                key: value for key, value in event.items() if key not in ("type", "sequence_number")
            }  # keeps: all of it is the error
            self.done = True
            return []
        place = event.get("output_index")
        if type(place) is not int or not kind.startswith("response."):
            return [UnknownEvent(event)]
        item = payload.fields(event.get("item"))
        if kind == "response.output_item.added" and item is not None:
            return self._added(place, item) if place not in self._items else []
        if kind == "response.output_item.done" and item is not None:
            return self._finished(place, item, True)
        return self._inside(kind, place, event)

    def _end(self, kind: str, response: Fields) -> list[Event]:
        out: list[Event] = []
        for place, item in enumerate(payload.items(response.get("output")) or ()):
            fields = payload.fields(item)
            if fields is not None and (place not in self._items or not self._items[place].done):
                out += self._finished(place, fields, True)
        self._response.update(response)
        self.complete = self.done = True
        if kind == "response.failed":
            self.error = payload.fields(response.get("error")) or {}
        return out

    def _added(self, place: int, item: Fields) -> list[Event]:
        """An item begins: a block of its own, or a message, whose parts are the blocks."""
        fields = dict(item)
        entry = self._items[place] = _Item(fields)
        kind = payload.string(fields.get("type")) or ""
        if kind == "message":
            # Its parts come with events of their own; what came with it already is read at its end.
            fields["content"] = []
            return []
        self._count += 1
        entry.index = index = self._count - 1
        own = {"id": fields["id"]} if payload.string(fields.get("id")) else None
        if kind in _CALLS:
            called, _, name = _CALLS[kind]
            found = payload.string(fields.get("call_id")), name or payload.string(fields.get("name"))
            return [BlockStart(index, "tool_call", *found, call_kind=called, extra=own)]
        if kind == "reasoning":
            return [BlockStart(index, "reasoning", extra=own)]
        return [BlockStart(index, "opaque")]

    def _inside(self, kind: str, place: int, event: Fields) -> list[Event]:
        """More of an item, or the end of a part of it."""
        base, _, step = kind.rpartition(".")
        key = _TEXTS.get(base)
        if key in ("text", "refusal") or base == "response.content_part":
            part = payload.fields(event.get("part"))
            if base == "response.content_part" and (
                part is None or payload.string(part.get("type")) == "reasoning_text"
            ):
                return [UnknownEvent(event)]
            out = self._begun(place, "message")
            return out + self._in_part(place, step, key, part, event) or [UnknownEvent(event)]
        if key in ("summary", "content"):
            inner = event.get("summary_index" if key == "summary" else "content_index")
            if step != "delta" or type(inner) is not int:
                return []
            out = self._begun(place, "reasoning")
            return out + self._thought(place, key, inner, payload.string(event.get("delta")) or "")
        if key in ("arguments", "input"):
            out = self._begun(place, "function_call" if key == "arguments" else "custom_tool_call")
            return out + self._argument(place, step, key, event)
        return [UnknownEvent(event)]

    def _begun(self, place: int, kind: str) -> list[Event]:
        """An item that begins with what is in it, because the event that says so did not come."""
        if place in self._items:
            return []
        return self._added(place, {"type": kind, **({"role": "assistant"} if kind == "message" else {})})

    def _in_part(self, place: int, step: str, key: str | None, part: Fields | None, event: Fields) -> list[Event]:
        entry, inner = self._items[place], event.get("content_index")
        if type(inner) is not int or entry.done or entry.fields.get("type") != "message" or inner < 0:
            return []
        content: list[dict[str, Any]] = entry.fields["content"]
        if inner < len(content) and inner not in entry.open:
            return []
        if part is None:
            part = (
                {"type": "output_text", "text": "", "annotations": []}
                if key == "text"
                else {"type": "refusal", "refusal": ""}
            )
        out: list[Event] = []
        if inner not in entry.open:
            if inner != len(content):
                return []
            content.append(dict(part))
            entry.open[inner] = self._count
            self._count += 1
            out += self._part_begins(entry, inner, step == "added")
        have = content[inner]
        known = _PARTS.get(payload.string(have.get("type")) or "")
        if known is None or (key is not None and key != known[1]):
            if key is None and step == "done":
                content[inner] = dict(part)
                out += self._part_ends(place, inner, True)
            return out
        index = entry.open[inner]
        if key is not None:
            more = payload.string(event.get("delta" if step == "delta" else key)) or ""
            if step != "delta":
                entry.settle()
                before = payload.string(have.get(key)) or ""
                more = more[len(before) :] if more.startswith(before) else ""
            if more:
                entry.add(have, key, more)
                out.append(TextDelta(index, more))
        elif step == "done":
            out += self._completed(place, inner, part)
            out += self._part_ends(place, inner, True)
        return out

    def _part_begins(self, entry: _Item, inner: int, shown: bool) -> list[Event]:
        part, index = entry.fields["content"][inner], entry.open[inner]
        kind, key = _PARTS.get(payload.string(part.get("type")) or "", ("opaque", ""))
        out: list[Event] = [BlockStart(index, kind, extra=_of_message(entry.fields) if kind != "opaque" else None)]
        if kind != "opaque":
            text = (payload.string(part.get(key)) or "") if shown else ""
            part[key] = text
            if text:
                out.append(TextDelta(index, text))
        return out

    def _completed(self, place: int, inner: int, part: Fields) -> list[Event]:
        """A part as it is when it ends. Its text is what was streamed, unless more of it comes now."""
        entry = self._items[place]
        entry.settle()
        have, index = entry.fields["content"][inner], entry.open[inner]
        key = _PARTS[have["type"]][1]
        if payload.string(part.get("type")) != have["type"]:
            return []
        before, whole = payload.string(have.get(key)) or "", payload.string(part.get(key)) or ""
        out: list[Event] = []
        if whole.startswith(before) and whole != before:
            out.append(TextDelta(index, whole[len(before) :]))
            before = whole
        entry.fields["content"][inner] = {**part, key: before}
        return out

    def _part_ends(self, place: int, inner: int, whole: bool) -> list[Event]:
        entry = self._items[place]
        entry.settle()
        index = entry.open.pop(inner)
        entry.begun.add(inner)
        return [BlockStop(index, _part(entry.fields["content"][inner], ("output", place, "content", inner)), whole)]

    def _thought(self, place: int, key: str, inner: int, text: str) -> list[Event]:
        """More of a summary or of readable reasoning; parts of it are apart as in a whole answer."""
        entry = self._items[place]
        if entry.done or entry.fields.get("type") != "reasoning" or entry.index is None or not text:
            return []
        first, entry.thoughts = entry.thoughts is None, entry.thoughts or (key, inner)
        out: list[Event] = []
        if entry.thoughts != (key, inner):
            entry.thoughts = (key, inner)
        elif not first:
            inner = -1
        if inner >= 0:
            if not first:
                out.append(ReasoningDelta(entry.index, "\n\n"))
            parts = entry.fields[key] = list(payload.items(entry.fields.get(key)) or ())
            parts.append({"type": "summary_text" if key == "summary" else "reasoning_text", "text": ""})
        entry.add(entry.fields[key][-1], "text", text)
        out.append(ReasoningDelta(entry.index, text))
        return out

    def _argument(self, place: int, step: str, key: str, event: Fields) -> list[Event]:
        entry = self._items[place]
        known = _CALLS.get(payload.string(entry.fields.get("type")) or "")
        if entry.done or entry.index is None or known is None or known[1] != key:
            return []
        if step == "done":
            entry.fields[key] = payload.string(event.get(key)) or "".join(entry.sent)
            return []
        text = payload.string(event.get("delta")) or ""
        entry.sent.append(text)
        return [ArgumentsDelta(entry.index, text)] if text else []

    def _finished(self, place: int, item: Fields, whole: bool) -> list[Event]:
        """An item as it is when it ends: what of it was not streamed comes now."""
        out: list[Event] = [] if place in self._items else self._added(place, item)
        entry = self._items[place]
        if entry.done or item.get("type") != entry.fields.get("type"):
            return out
        if entry.index is None:
            return out + self._message_ends(place, item, whole)
        entry.done = True
        entry.settle()
        old, entry.fields, sent = entry.fields, dict(item), "".join(entry.sent)
        index, kind, repaired = entry.index, payload.string(item.get("type")) or "", False
        if kind in _CALLS:
            key = _CALLS[kind][1]
            said = item.get(key)
            if kind in ("function_call", "custom_tool_call"):
                last = payload.string(said) or payload.string(old.get(key)) or sent
                if last.startswith(sent):
                    out += [ArgumentsDelta(index, last[len(sent) :])] if last != sent else []
                else:
                    repaired = True
                    last = sent if _is_json(sent) or not _is_json(last) else last
                entry.fields[key] = last
            for name in ("call_id", "name"):
                if name in old and not item.get(name):
                    entry.fields[name] = old[name]
        elif kind == "reasoning" and entry.thoughts is not None:
            for key in ("summary", "content"):
                if old.get(key) and not item.get(key):
                    entry.fields[key] = old[key]
        read = _block(entry.fields, ("output", place))
        if type(read) is Reasoning:
            if entry.thoughts is None and read.text is not None:
                out.append(ReasoningDelta(index, payload.string(read.text) or ""))
            if read.signature is not None:
                out.append(SignatureDelta(index, read.signature))
        return [*out, BlockStop(index, read, whole, repaired)]

    def _message_ends(self, place: int, item: Fields, whole: bool) -> list[Event]:
        entry = self._items[place]
        out: list[Event] = []
        for inner, value in enumerate(payload.items(item.get("content")) or ()):
            part = payload.fields(value)
            content = entry.fields["content"]
            if part is None:
                break
            if inner == len(content):
                content.append(dict(part))
                entry.open[inner] = self._count
                self._count += 1
                out += self._part_begins(entry, inner, True)
            if inner in entry.open:
                if payload.string(content[inner].get("type")) in _PARTS:
                    out += self._completed(place, inner, part)
                out += self._part_ends(place, inner, whole)
        for inner in sorted(entry.open):
            out += self._part_ends(place, inner, whole)
        entry.fields = {**item, "content": entry.fields["content"]}
        entry.done = True
        return out

    def close(self) -> Sequence[Event]:
        """The ends of the items that are open."""
        return [
            event
            for place in sorted(self._items)
            if not self._items[place].done
            for event in self._finished(place, self._cut(place), False)
        ]  # keeps: what is done has ended

    def _cut(self, place: int) -> dict[str, Any]:
        """An item that does not go on, with all that came of it."""
        entry = self._items[place]
        entry.settle()
        fields = dict(entry.fields)
        kind = payload.string(fields.get("type")) or ""
        if kind in ("function_call", "custom_tool_call") and entry.sent:
            fields[_CALLS[kind][1]] = "".join(entry.sent)
        if fields.get("status") == "in_progress":
            fields["status"] = "incomplete"
        return fields

    def body(self) -> dict[str, Any]:
        """The response as it would have come in one piece."""
        for item in self._items.values():
            item.settle()
        output = [self._items[place].fields for place in sorted(self._items)]
        return {"object": "response", "status": "in_progress", **self._response, "output": output}


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


def _part(part: dict[str, Any], at: At) -> Block:
    """A part of a message that has come in whole, as the hub has it."""
    known = _PARTS.get(payload.string(part.get("type")) or "")
    if known is None or payload.kind(part.get(known[1])) != "text":
        return Opaque(str(part.get("type")), at, part, HOME)
    extra = {key: value for key, value in part.items() if key not in ("type", known[1])} or None  # keeps: modelled
    if known[0] == "text":
        return Text(part["text"], at, part, HOME, True, extra)
    return Refusal(part["refusal"], at, part, HOME, True, extra)


def _block(item: dict[str, Any], at: At) -> Block:
    """An item that has come in whole, as the hub has it."""
    kind = payload.string(item.get("type")) or ""
    if kind in _CALLS:
        called, key, name = _CALLS[kind]
        extra = {k: v for k, v in item.items() if k not in ("type", "call_id", "name", key)} or None  # keeps: modelled
        return ToolCall(
            item.get("call_id"), name or item.get("name"), item.get(key), at, item, HOME, True, extra, called
        )
    if kind == "reasoning":
        texts = [
            payload.string((payload.fields(part) or {}).get("text")) or ""
            for key in ("summary", "content")
            for part in payload.items(item.get(key)) or ()
        ]  # keeps: every part
        sealed = payload.string(item.get("encrypted_content"))
        signature = Signature(HOME, "encrypted", sealed) if sealed and sealed.strip() else None
        return Reasoning("\n\n".join(texts) if texts else None, signature, at, item, HOME, True)
    return Opaque(kind, at, item, HOME, True)


def beside(block: Block, message: Message) -> Fields | None:
    """The fields of the item that stand beside its words: its id, the phase of a message."""
    if type(block) is Text or type(block) is Refusal:
        return _of_message(payload.fields(message.raw) or {})
    name = payload.string((payload.fields(block.raw) or {}).get("id"))
    return {"id": name} if name and (type(block) is Reasoning or type(block) is ToolCall) else None


def _of_message(item: Fields) -> Fields | None:
    modelled = ("type", "role", "content", "status")
    return {name: value for name, value in item.items() if name not in modelled} or None  # keeps: the others


class ResponsesWriter:
    """Writes one stream of Responses: every item and part with all its events, numbered."""

    __slots__ = ("_begun", "_item", "_items", "_name", "_own", "_parts", "_sent", "_sequence")

    def __init__(self) -> None:
        self._sequence = 0
        self._name = ""
        self._begun: dict[str, Any] = {}
        self._items: list[dict[str, Any]] = []
        # The item that is open, and the fields of its home that tell a message from the next one.
        self._item: dict[str, Any] | None = None
        self._own: Fields | None = None
        self._parts = 0
        # The pieces of what was said of the open part or item.
        self._sent: list[str] = []

    def feed(self, event: MessageStart | BlockEvent, ledger: Ledger) -> Sequence[WireEvent]:
        """The events of Responses for one neutral event.

        Loses: RSP009.
        """
        if type(event) is TextDelta:
            return self._text(event.text)
        if type(event) is ArgumentsDelta:
            return self._arguments(event.text)
        if type(event) is ReasoningDelta:
            return self._thought(event.text)
        if type(event) is SignatureDelta:
            return []  # keeps: the item's end has it
        if type(event) is BlockStart:
            return self._started(event)
        if type(event) is BlockStop:
            return self._ended(event)
        if type(event) is MessageStart:
            self._name = answer_id(event.id, "resp_", event.model, event.created, ledger)
            self._begun = heading(self._name, event.model, event.created)
            return [self._event(kind, response=self._begun) for kind in ("response.created", "response.in_progress")]
        assert_never(event)

    def _event(self, kind: str, **fields: Any) -> WireEvent:
        out = WireEvent(kind, payload.detached({"type": kind, "sequence_number": self._sequence, **fields}))
        self._sequence += 1
        return out

    def _more(self, kind: str, place: str | None, text: str) -> dict[str, Any]:
        """The fields of an event that says more of the open item, as `_of_item` has them; nothing in it has to be detached."""
        event: dict[str, Any] = {
            "type": kind,
            "sequence_number": self._sequence,
            "item_id": (self._item or {}).get("id"),
            "output_index": len(self._items),
        }
        self._sequence += 1
        if place is not None:
            event[place] = self._parts if place == "content_index" else 0
        event["delta"] = text
        return event

    def _of_item(self, kind: str, **fields: Any) -> WireEvent:
        item = self._item or {}
        return self._event(kind, item_id=item.get("id"), output_index=len(self._items), **fields)

    def _added(self, item: dict[str, Any]) -> WireEvent:
        self._item, self._sent = item, []
        return self._event("response.output_item.added", output_index=len(self._items), item=item)

    def _done(self, item: dict[str, Any]) -> WireEvent:
        out = self._event("response.output_item.done", output_index=len(self._items), item=item)
        self._items.append(item)
        self._item = None
        return out

    def _message(self, own: Fields | None) -> list[WireEvent]:
        """The message in which the next part stands, which may be open already."""
        if self._item is not None and self._item.get("type") == "message" and own == self._own:
            return []
        out = self._close()
        self._own, self._parts = own, 0
        return [*out, self._added(message_item(self._name, len(self._items), own))]

    def _close(self, whole: bool = True) -> list[WireEvent]:
        """The end of the message that is open, if one is."""
        if self._item is None:
            return []
        return [self._done({**self._item, "status": "completed" if whole else "incomplete"})]

    def _started(self, event: BlockStart) -> list[WireEvent]:
        if event.kind == "text" or event.kind == "refusal":
            out = self._message(event.extra)
            key = "text" if event.kind == "text" else "refusal"
            part = (
                {"type": "output_text", "text": "", "annotations": [], "logprobs": []}
                if key == "text"
                else {"type": key, key: ""}
            )
            (self._item or {})["content"].append(part)
            self._sent = []
            return [*out, self._of_item("response.content_part.added", content_index=self._parts, part=part)]
        if event.kind == "opaque" or event.kind == "media" or event.sealed:
            return []  # keeps: written whole, at its end
        out, place, own = self._close(), len(self._items), (event.extra or {}).get("id")
        if event.kind == "reasoning":
            name = own or item_id(self._name, place, "rs")
            return [*out, self._added({"id": name, "type": "reasoning", "summary": []})]
        if event.call_kind != "function":
            self._sent = []
            return out  # keeps: written whole, at its end
        item = {
            "id": own or item_id(self._name, place, "fc"),
            "type": "function_call",
            "call_id": event.id,
            "name": event.name or "",
            "arguments": "",
            "status": "in_progress",
        }
        return [*out, self._added(item)]

    def _text(self, text: str) -> list[WireEvent]:
        part = (self._item or {})["content"][-1]
        self._sent.append(text)
        if part["type"] == "refusal":
            return [WireEvent("response.refusal.delta", self._more("response.refusal.delta", "content_index", text))]
        event = self._more("response.output_text.delta", "content_index", text)
        event["logprobs"] = []
        return [WireEvent("response.output_text.delta", event)]

    def _arguments(self, text: str) -> list[WireEvent]:
        if self._item is None or not text:
            return []  # keeps: the item's end has all of it
        self._sent.append(text)
        kind = "response.function_call_arguments.delta"
        return [WireEvent(kind, self._more(kind, None, text))]

    def _thought(self, text: str) -> list[WireEvent]:
        out: list[WireEvent] = []
        if not self._sent:
            empty = {"type": "summary_text", "text": ""}
            out.append(self._of_item("response.reasoning_summary_part.added", summary_index=0, part=empty))
        self._sent.append(text)
        kind = "response.reasoning_summary_text.delta"
        out.append(WireEvent(kind, self._more(kind, "summary_index", text)))
        return out

    def _ended(self, event: BlockStop) -> list[WireEvent]:
        block = event.block
        if type(block) is Text or type(block) is Refusal:
            return self._part_ended(payload.plain(write_block(block, "assistant", {})))
        if type(block) is Opaque and "content" in block.at:
            part = payload.plain(write_block(block, "assistant", {}))
            out = [*self._message(self._own)]
            (self._item or {})["content"].append(part)
            told_of = [
                self._of_item(f"response.content_part.{step}", content_index=self._parts, part=part)
                for step in ("added", "done")
            ]
            self._parts += 1
            return [*out, *told_of]
        began = self._item if self._item is not None and self._item.get("type") != "message" else None
        out = [] if began is not None else self._close()
        item = item_of(block, self._name, len(self._items))
        if began is None and type(block) is ToolCall and block.kind == "custom":
            out.append(self._added({**item, "input": ""}))
            out.append(self._of_item("response.custom_tool_call_input.delta", delta=item["input"]))
            out.append(self._of_item("response.custom_tool_call_input.done", input=item["input"]))
            return [*out, self._done(item)]
        if began is None:
            return [*out, self._added(item), self._done(item)]
        # The item that began keeps its id.
        item["id"] = began["id"]
        if not event.whole and "status" in item:
            item["status"] = "incomplete"
        if type(block) is Reasoning and self._sent:
            part = {"type": "summary_text", "text": "".join(self._sent)}
            out.append(self._of_item("response.reasoning_summary_text.done", summary_index=0, text=part["text"]))
            out.append(self._of_item("response.reasoning_summary_part.done", summary_index=0, part=part))
        elif type(block) is ToolCall:
            said = item["arguments"] = block.arguments_text if event.repaired or not self._sent else "".join(self._sent)
            out.append(self._of_item("response.function_call_arguments.done", arguments=said, name=item["name"]))
        return [*out, self._done(item)]

    def _part_ended(self, part: dict[str, Any]) -> list[WireEvent]:
        content, said = (self._item or {})["content"], "".join(self._sent)
        key = "refusal" if content[-1]["type"] == "refusal" else "text"
        # What was said is said: a block that became another kind at its end keeps the text that went out.
        part = {**part, key: said} if key in part else {**content[-1], key: said}
        content[-1] = part
        more: dict[str, Any] = {"logprobs": []} if key == "text" else {}
        out: list[WireEvent] = []
        for number, note in enumerate(payload.items(part.get("annotations")) or ()):
            out.append(
                self._of_item(
                    "response.output_text.annotation.added",
                    content_index=self._parts,
                    annotation_index=number,
                    annotation=note,
                )
            )
        name = "output_text" if key == "text" else "refusal"
        out.append(self._of_item(f"response.{name}.done", content_index=self._parts, **{key: said}, **more))
        out.append(self._of_item("response.content_part.done", content_index=self._parts, part=part))
        self._parts += 1
        return out

    def stop(self, event: MessageStop, carrier: Fields | None, ledger: Ledger) -> Sequence[WireEvent]:
        """The end of the answer: why, and what it cost. An answer that was cut has no such end.

        Loses: RSP007.
        """
        reply = event.reply
        out = self._close(reply.stop.reason not in ("cut", "error"))
        if carrier is not None:
            item = carrier_item(self._name, len(self._items), carrier)
            out += [self._added(item), self._done(item)]
        if reply.stop.reason == "cut":
            return out
        own = payload.fields(reply.raw) or {} if reply.home == HOME else {}
        body = {**self._begun, **own, **ending(reply, ledger), "id": self._name, "output": self._items}
        if reply.home == HOME and reply.stop.reason != "error":
            body.update(
                {key: own[key] for key in ("status", "incomplete_details", "usage") if key in own}
            )  # keeps: the rest is in it
        if reply.stop.reason == "error":
            body["error"] = told(event.error or reply.stop.details)
        return [*out, self._event(f"response.{body['status']}", response=body)]
