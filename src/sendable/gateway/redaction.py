"""What a route hides from its upstreams: what its patterns find goes up as a placeholder, and comes down again as it was.

Here: the text and the arguments of a request body, of an answer, and of the events of a stream. Ids, names, signatures, base64, tool
definitions, and keys and numbers inside arguments are never touched, and neither is any byte of a value in which nothing was found. What must
not live here: when it happens (exchange.py), and SSE for anybody else (streaming.py).

A placeholder, `[email-k3f9a2xd]`, is made from the value under a secret key: the same value gets the same one in every turn, so that caches hit
and signed reasoning comes back as it was written. It holds no character that JSON escapes at any depth.
"""

from __future__ import annotations

import base64
import binascii
import hmac
import json
import os
import re
import secrets
import struct
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Any, Literal, cast, final

import msgspec

from sendable.gateway.config import Redaction as Rule
from sendable.gateway.errors import Refused

Raw = msgspec.Raw
Kind = Literal["text", "json"]

KEY_VARIABLE = "SENDABLE_CARRIER_KEY"
"""With it, replicas and later processes make the same placeholders; without it, each process has its own."""

REMEMBERED = 20_000

_TEXT_KEYS = frozenset({
    "text", "content", "input", "output", "instructions", "system", "system_instruction", "systemInstruction", "thinking",
    "reasoning", "reasoning_content", "reasoning_text", "refusal", "result", "error", "query", "code", "stdout", "stderr", "context",
    "summary", "title", "cited_text", "transcript", "filename",
})  # fmt: skip
"""Fields whose strings are for a reader. Everything inside of what is under `_VALUE_KEYS` is, too."""
_VALUE_KEYS = frozenset({"arguments", "args", "input", "response", "json", "variables"})
_CLOSED = frozenset({
    "tools", "tool_choice", "toolConfig", "tool_config", "functions", "response_format", "format", "output_config", "output_format", "schema",
    "metadata", "client_metadata", "safety_settings", "safetySettings", "generationConfig", "generation_config", "cache_control",
    "context_management", "include", "stop", "stop_sequences", "signature", "thoughtSignature", "thought_signature", "encrypted_content",
    "sendable_carrier", "image_url", "inlineData", "inline_data", "fileData", "file_data", "file", "image", "bytes",
})  # fmt: skip
"""Nothing under these is text of the conversation: definitions, settings, signatures, media."""
_MODELS_OWN = frozenset({"assistant", "model"})
_MODELS_ITEMS = frozenset({"function_call", "custom_tool_call", "reasoning"})
_SIGNATURES = ("signature", "thoughtSignature", "thought_signature", "encrypted_content")

_STRING = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*"(\s*:)?', re.DOTALL)
_PLACEHOLDER = re.compile(r"\[[A-Za-z0-9]{1,24}-[a-z2-7]{8,52}\]")

_object = msgspec.json.Decoder(dict[str, Raw]).decode
_list = msgspec.json.Decoder(list[Raw]).decode
_any = msgspec.json.Decoder().decode
_encode = msgspec.json.Encoder().encode


def _secret() -> bytes:
    given = os.environ.get(KEY_VARIABLE)
    return hmac.digest(given.encode(), b"sendable redaction", "sha256") if given else secrets.token_bytes(32)


_KEY = _secret()


@final
class Redaction:
    """The compiled rules of one route, and which values were seen under them (as placeholders; the values are not kept)."""

    def __init__(self, rules: Sequence[Rule]) -> None:
        self.rules = [(rule.name, re.compile(rule.pattern)) for rule in rules]
        self.seen: OrderedDict[str, None] = OrderedDict()

    def up(self, data: bytes) -> tuple[bytes, Restore | None]:
        """The body for the upstream, and what restores its answer; the same bytes and None where nothing was found.

        Raises `Refused` (400) for what is no JSON and for a key that stands twice in one object: nothing may go around the rules.
        """
        work = _Up(self)
        data = _proved(data)
        try:
            changed = work.body(Raw(data))
        except RecursionError:
            raise Refused(400, "the body is nested too deeply", code="too_deep") from None
        if not work.values:
            return data, None
        for placeholder in work.outside:
            self.seen[placeholder] = None
            self.seen.move_to_end(placeholder)
        while len(self.seen) > REMEMBERED:
            self.seen.popitem(last=False)
        return bytes(changed), Restore(work.values, _asks_for_json(data))


@final
class _Up:
    """One body on its way up. `values`: what each placeholder stands for. `outside`: those whose value the model did not write itself."""

    def __init__(self, redaction: Redaction) -> None:
        self._rules, self._seen = redaction.rules, redaction.seen
        self.values: dict[str, str] = {}
        self.outside: set[str] = set()
        self._known_only = False

    def body(self, raw: Raw) -> Raw:
        """Twice through the body: first all but reasoning that is signed, then that.

        Such reasoning has to come back as it was written. What was hidden when it was written is hidden again; what the model itself has
        made up in it stays, since a change would make the provider refuse the turn.
        """
        first = self._node(raw, None, False, False) or raw
        self._known_only = True
        return self._node(first, None, False, False) or first

    def _node(self, raw: Raw, key: str | None, own: bool, signed: bool) -> Raw | None:
        """The value with placeholders, or None if it stays as it is. `own`: the model wrote it. `signed`: it is reasoning under a signature."""
        data = bytes(raw).lstrip()
        sign = data[:1]
        if sign == b"{":
            return self._object(data, key, own, signed)
        if sign == b"[":
            items = _items(data)
            changed = False
            for index, item in enumerate(items):
                new = self._node(item, key, own, signed)
                if new is not None:
                    items[index], changed = new, True
            return Raw(b"[" + b",".join([bytes(item) for item in items]) + b"]") if changed else None
        if sign == b'"' and key in _TEXT_KEYS and signed == self._known_only:
            return self._string(data, own)
        return None

    def _object(self, data: bytes, key: str | None, own: bool, signed: bool) -> Raw | None:
        fields = _fields(data)
        role, kind = _word(fields.get("role")), _word(fields.get("type"))
        own = own or role in _MODELS_OWN or kind in _MODELS_ITEMS
        signed = signed or _is_signed(fields)
        changed = False
        for name, value in fields.items():
            if name in _CLOSED:
                continue  # not text of the conversation
            if name in _VALUE_KEYS and key is not None and _opens(value, b"{["):
                new = (
                    self._values(bytes(value), own)
                    if not self._known_only and not _is_list_of_blocks(name, value)
                    else None
                )
                if new is None and _is_list_of_blocks(name, value):
                    new = self._node(value, name, own, signed)
            elif name == "arguments" and _opens(value, b'"'):
                new = None if self._known_only else self._json_text(bytes(value).strip(), own)
            elif name == "data" and kind == "text" and _opens(value, b'"'):
                # A document of Messages that is plain text: {"type": "text", "media_type": "text/plain", "data": …}.
                new = None if self._known_only else self._string(bytes(value).strip(), own)
            else:
                new = self._node(value, name if name in _TEXT_KEYS or _opens(value, b"{[") else None, own, signed)
            if new is not None:
                fields[name], changed = new, True
        return _written_fields(fields) if changed else None

    def _values(self, data: bytes, own: bool) -> Raw | None:
        """Every string in it but the keys; all other bytes stay."""
        out, at = [], 0
        for token in _STRING.finditer(data):
            if token.group(1) is None:
                new = self._string(token.group(), own)
                if new is not None:
                    out += [data[at : token.start()], bytes(new)]
                    at = token.end()
        return Raw(b"".join([*out, data[at:]])) if out else None

    def _json_text(self, data: bytes, own: bool) -> Raw | None:
        """JSON inside a string. What is no JSON is text."""
        text = _string(data)
        try:
            inside = text.encode()
            json.loads(inside)
        except (ValueError, RecursionError):
            return self._string(data, own)
        inner = self._values(inside, own)
        return None if inner is None else Raw(_quoted(bytes(inner).decode()))

    def _string(self, data: bytes, own: bool) -> Raw | None:
        text = _string(data)
        hidden = self._hidden(text, own)
        return None if hidden == text else Raw(_quoted(hidden))

    def _hidden(self, text: str, own: bool) -> str:
        """The text with a placeholder for each thing found: the earliest first, then in the order of the rules; nothing twice."""
        found = sorted(
            (
                (match.start(), order, match.end(), name)
                for order, (name, pattern) in enumerate(self._rules)
                for match in pattern.finditer(text)
                if match.end() > match.start()
            ),
        )
        if not found:
            return text
        kept = [match.span() for match in _PLACEHOLDER.finditer(text)]
        out, at = [], 0
        for start, _, end, name in found:
            if start < at or any(start < right and left < end for left, right in kept):
                continue  # inside of what is hidden already, or of a placeholder that came back unrestored
            placeholder = self._placeholder(name, text[start:end])
            if self._known_only and placeholder not in self.outside and placeholder not in self._seen:
                continue  # the model wrote it by itself: see `body`
            self.values[placeholder] = text[start:end]
            if not own and not self._known_only:
                self.outside.add(placeholder)
            out += [text[at:start], placeholder]
            at = end
        return "".join([*out, text[at:]])

    def _placeholder(self, name: str, value: str) -> str:
        digest = hmac.digest(_KEY, f"{name}\0{value}".encode("utf-8", "surrogatepass"), "sha256")
        letters = base64.b32encode(digest).decode().lower().rstrip("=")
        placeholder = f"[{name}-{letters[:8]}]"
        # Two values that begin alike are told apart by more letters: all of them are never alike.
        return placeholder if self.values.get(placeholder, value) == value else f"[{name}-{letters}]"


def _is_signed(fields: Mapping[str, Raw]) -> bool:
    """Whether its provider wants the text in it back as it was written."""
    return any(name in fields and not _opens(fields[name], b"n") for name in _SIGNATURES)


def _is_list_of_blocks(name: str, value: Raw) -> bool:
    """`input` of Responses is the list of messages; that of a call is its arguments."""
    return name == "input" and _opens(value, b"[")


def _opens(value: Raw, signs: bytes) -> bool:
    return bytes(value).lstrip()[:1] in [bytes([sign]) for sign in signs]


def _word(value: Raw | None) -> str | None:
    return _string(bytes(value)) if value is not None and _opens(value, b'"') else None


class _Twice(ValueError):
    pass


def _proved(data: bytes) -> bytes:
    """The body, once it is known that every reader reads the same in it."""
    try:
        json.loads(data.decode("utf-8-sig"), object_pairs_hook=_once, parse_int=_unread)
    except _Twice:
        raise Refused(400, "a key stands twice in one object of the body", code="duplicate_key") from None
    except (ValueError, RecursionError):
        raise Refused(400, "the body is not valid JSON", code="invalid_json") from None
    return data.removeprefix(b"\xef\xbb\xbf")


def _unread(digits: str) -> None:
    """Python would refuse a very long integer, and nobody asks for it here."""


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise _Twice
    return found


# What only a lenient parser reads (half a surrogate pair, NaN) stays as it is: the pipeline repairs and reports it.


def _fields(data: bytes) -> dict[str, Raw]:
    try:
        return _object(data)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return {name: Raw(_loosely(value)) for name, value in json.loads(data).items()}


def _items(data: bytes) -> list[Raw]:
    try:
        return _list(data)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return [Raw(_loosely(value)) for value in json.loads(data)]


def _loosely(value: object) -> bytes:
    return json.dumps(value, separators=(",", ":")).encode()


def _written_fields(fields: Mapping[str, Raw]) -> Raw:
    return Raw(b"{" + b",".join([_quoted(name) + b":" + bytes(value) for name, value in fields.items()]) + b"}")


def _string(data: bytes) -> str:
    try:
        return str(_any(data))
    except (msgspec.DecodeError, UnicodeDecodeError):
        return str(json.loads(data))


def _quoted(text: str) -> bytes:
    try:
        return _encode(text)
    except UnicodeEncodeError:
        return json.dumps(text).encode()


def _asks_for_json(data: bytes) -> bool:
    """Whether the answer's text shall be JSON, so that what is restored in it has to be escaped."""
    body = _fields(data) if data.lstrip()[:1] == b"{" else {}
    wanted = [
        body.get(name) for name in ("response_format", "text", "output_format", "output_config", "generationConfig")
    ]
    return any(
        value is not None and re.search(rb'"(?:json_schema|json_object|application/json)"', bytes(value))
        for value in wanted
    )


# --- the way down ------------------------------------------------------------------------------------------------------


@final
class Restore:
    """Puts back what one request has hidden, in its own answer and nowhere else. `escaped`: the answer's text is JSON."""

    def __init__(self, values: Mapping[str, str], escaped: bool = False) -> None:
        self.values = dict(values)
        self._text: Kind = "json" if escaped else "text"
        longest_first = sorted(values, key=len, reverse=True)
        self._any = re.compile("|".join(re.escape(placeholder) for placeholder in longest_first))
        self._any_bytes = re.compile(self._any.pattern.encode())

    def down(self, data: bytes) -> bytes:
        """A whole answer. Bytes that hold no placeholder come back as they are."""
        if not self._any_bytes.search(data):
            return data
        key = b""
        out, at = [], 0
        for token in _STRING.finditer(data):
            if token.group(1) is not None:
                key = token.group()[: -len(token.group(1))]
            elif self._any_bytes.search(token.group()):
                text = ""
                with suppress(ValueError):  # no JSON: it goes on as it came
                    text = _string(token.group())
                if not text:
                    continue  # said above
                kind: Kind = "json" if key in _JSON_TEXTS else self._text if key in _SHOWN else "text"
                out += [data[at : token.start()], _quoted(self.text(text, kind))]
                at = token.end()
        return b"".join([*out, data[at:]])

    def text(self, text: str, kind: Kind = "text") -> str:
        """The text with its values; `json`: it is JSON itself, and they stand inside its strings."""

        def value(match: re.Match[str]) -> str:
            found = self.values[match.group()]
            return json.dumps(found, ensure_ascii=False)[1:-1] if kind == "json" else found

        return self._any.sub(value, text)

    def cut(self, text: str) -> tuple[str, str]:
        """What is certain of a text that goes on, and its end, which may be the beginning of a placeholder."""
        at = text.rfind("[")
        if at < 0:
            return text, ""
        end = text[at:]
        open_ = any(len(end) < len(placeholder) and placeholder.startswith(end) for placeholder in self.values)
        return (text[:at], end) if open_ else (text, "")

    def stream(self, dialect: str) -> RestoredStream | RestoredAwsStream:
        """The same for a stream of that dialect."""
        events = _Events(self, dialect, self._text)
        return RestoredAwsStream(events) if dialect == "bedrock-converse" else RestoredStream(events)


_SHOWN = frozenset({b'"text"', b'"content"', b'"output_text"'})
_JSON_TEXTS = frozenset({b'"arguments"', b'"partial_json"'})


Alone = Callable[[str], dict[str, Any]]


@final
class _Slot:
    """A piece of text in an event: where it goes on (`channel`), where it stands, and an event that brings such a piece `alone`."""

    __slots__ = ("alone", "channel", "holder", "key", "kind")

    def __init__(
        self, channel: tuple[Any, ...], holder: dict[str, Any], key: str, alone: Alone, kind: Kind = "text"
    ) -> None:
        self.channel, self.holder, self.key, self.alone, self.kind = channel, holder, key, alone, kind


@final
class _Events:
    """The events of one stream. Where a piece ends in what may be half a placeholder, that end waits for the next piece of its channel.

    A channel begins with the name of its events, or None where events have none.
    """

    def __init__(self, restore: Restore, dialect: str, text: Kind) -> None:
        self._restore = restore
        self._text: Kind = text
        self._slots = _SLOTS[dialect]
        self._held: dict[tuple[Any, ...], tuple[str, Alone]] = {}
        self._added = 0

    def event(self, data: bytes, name: str | None) -> list[tuple[str | None, bytes]]:
        """What goes on instead of an event: mostly itself, as the same bytes; sometimes a piece that had waited goes first."""
        try:
            event = _any(data)
        except (msgspec.DecodeError, RecursionError):
            return [*(self.rest() if data.strip() == b"[DONE]" else []), (name, data)]
        if not isinstance(event, dict):
            return [(name, data)]
        event = cast("dict[str, Any]", event)
        slots, ended = self._slots(event, name)
        here = {slot.channel for slot in slots}
        before = [self._release(channel) for channel in list(self._held) if channel not in here and ended(channel)]
        changed = False
        for slot in slots:
            given = slot.holder[slot.key]
            text = (self._held.pop(slot.channel)[0] if slot.channel in self._held else "") + given
            sure, waiting = (text, "") if ended(slot.channel) else self._restore.cut(text)
            if waiting:
                self._held[slot.channel] = (waiting, slot.alone)
            kind: Kind = "json" if slot.kind == "json" else self._text
            sure = self._restore.text(sure, kind)
            if sure != given:
                slot.holder[slot.key] = sure
                changed = True
        if self._added and type(event.get("sequence_number")) is int:
            event["sequence_number"] += self._added
            changed = True
        return [*before, (name, self._restore.down(_encode(event) if changed else data))]

    def rest(self) -> list[tuple[str | None, bytes]]:
        """All that still waits."""
        return [self._release(channel) for channel in list(self._held)]

    def _release(self, channel: tuple[Any, ...]) -> tuple[str | None, bytes]:
        """An event with what had waited, and nothing else."""
        text, alone = self._held.pop(channel)
        event = alone(text)
        if type(event.get("sequence_number")) is int:
            self._added += 1
            event["sequence_number"] += self._added
        return channel[0], _encode(event)


Ended = Callable[[tuple[Any, ...]], bool]
Slots = tuple[list[_Slot], Ended]


def _nothing(channel: tuple[Any, ...]) -> bool:
    return False


def _objects(value: object) -> Iterable[dict[str, Any]]:
    return [entry for entry in value if isinstance(entry, dict)] if isinstance(value, list) else ()


def _object_in(holder: Mapping[str, Any], key: str) -> dict[str, Any]:
    found = holder.get(key)
    return cast("dict[str, Any]", found) if isinstance(found, dict) else {}


def _under(*keys: str) -> Alone:
    """Text under a key, or under a key under a key."""

    def alone(text: str) -> dict[str, Any]:
        found: Any = text
        for key in reversed(keys):
            found = {key: found}
        return cast("dict[str, Any]", found)

    return alone


def _of_call(number: Any, kind: str, key: str) -> Alone:
    return lambda text: {"tool_calls": [{"index": number, kind: {key: text}}]}


def _in_delta(event: Mapping[str, Any], delta: Alone, more: Mapping[str, Any]) -> Alone:
    return lambda text: {**event, "delta": {**more, **delta(text)}}


def _chat(event: dict[str, Any], name: str | None) -> Slots:
    slots: list[_Slot] = []
    ended: set[Any] = set()

    def alone(at: Any, delta: Callable[[str], dict[str, Any]]) -> Alone:
        about = {key: value for key, value in event.items() if key not in ("choices", "usage")}
        return lambda text: {**about, "choices": [{"index": at, "delta": delta(text), "finish_reason": None}]}

    for choice in _objects(event.get("choices")):
        at, delta = choice.get("index", 0), _object_in(choice, "delta")
        for key in ("content", "reasoning_content", "reasoning", "refusal"):
            if isinstance(delta.get(key), str):
                slots.append(_Slot((name, at, key), delta, key, alone(at, _under(key))))
        for call in _objects(delta.get("tool_calls")):
            number = call.get("index", 0)
            for kind, key in (("function", "arguments"), ("custom", "input")):
                held = _object_in(call, kind)
                if isinstance(held.get(key), str):
                    only = alone(at, _of_call(number, kind, key))
                    slots.append(_Slot((name, at, number), held, key, only, "json" if key == "arguments" else "text"))
        if choice.get("finish_reason") is not None:
            ended.add(at)
    return slots, lambda channel: channel[1] in ended


def _responses(event: dict[str, Any], name: str | None) -> Slots:
    kind = event.get("type")
    if not isinstance(kind, str):
        return [], _nothing
    place = (event.get("output_index"), event.get("content_index"), event.get("summary_index"))
    if kind.endswith(".delta"):
        if not isinstance(event.get("delta"), str):
            return [], _nothing
        text: Kind = "json" if kind.endswith("_arguments.delta") else "text"
        return [_Slot((name, kind, *place), event, "delta", lambda late: {**event, "delta": late}, text)], _nothing
    if kind == "response.output_item.done":
        return [], lambda channel: channel[2] == place[0]
    if kind.endswith(".done"):
        begun = kind.removesuffix("done") + "delta"
        return [], lambda channel: channel[1:] == (begun, *place)
    over = kind in ("response.completed", "response.incomplete", "response.failed", "error")
    return [], lambda channel: over


_ANTHROPIC_DELTAS: tuple[tuple[str, Kind], ...] = (("text", "text"), ("thinking", "text"), ("partial_json", "json"))


def _anthropic(event: dict[str, Any], name: str | None) -> Slots:
    at, kind = event.get("index"), event.get("type")
    if kind == "content_block_delta":
        delta = _object_in(event, "delta")
        return [
            _Slot((name, at, key), delta, key, _in_delta(event, _under(key), {"type": delta.get("type")}), form)
            for key, form in _ANTHROPIC_DELTAS
            if isinstance(delta.get(key), str)
        ], _nothing
    if kind == "content_block_stop":
        return [], lambda channel: channel[1] == at
    over = kind in ("message_delta", "message_stop", "error")
    return [], lambda channel: over


def _gemini(event: dict[str, Any], name: str | None) -> Slots:
    """Text of a candidate; anything else that comes after it, or the candidate's end, ends it."""
    slots: list[_Slot] = []
    ended: set[Any] = set()
    about = {key: value for key, value in event.items() if key not in ("candidates", "usageMetadata")}

    def alone(at: Any, given: Any, thought: bool) -> Alone:
        index = {} if given is None else {"index": at}
        mark = {"thought": True} if thought else {}
        return lambda text: {
            **about,
            "candidates": [{"content": {"role": "model", "parts": [{"text": text, **mark}]}, **index}],
        }

    for candidate in _objects(event.get("candidates")):
        given = candidate.get("index")
        at = given or 0
        for part in _objects(_object_in(candidate, "content").get("parts")):
            thought = bool(part.get("thought"))
            if isinstance(part.get("text"), str):
                slots.append(_Slot((name, at, thought), part, "text", alone(at, given, thought)))
                ended.add((at, not thought))
                ended.discard((at, thought))
            else:
                ended.update((at, each) for each in (True, False))
        if candidate.get("finishReason") is not None:
            ended.update((at, each) for each in (True, False))
    return slots, lambda channel: channel[1:] in ended


def _converse(event: dict[str, Any], name: str | None) -> Slots:
    at = event.get("contentBlockIndex")
    if name == "contentBlockDelta":
        delta = _object_in(event, "delta")
        found: tuple[tuple[dict[str, Any], tuple[str, ...], Kind], ...] = (
            (delta, ("text",), "text"),
            (_object_in(delta, "reasoningContent"), ("reasoningContent", "text"), "text"),
            (_object_in(delta, "toolUse"), ("toolUse", "input"), "json"),
        )
        return [
            _Slot((name, at, keys[0]), holder, keys[-1], _in_delta(event, _under(*keys), {}), kind)
            for holder, keys, kind in found
            if isinstance(holder.get(keys[-1]), str)
        ], _nothing
    over = name in ("messageStop", "metadata")
    return [], lambda channel: over or (name == "contentBlockStop" and channel[1] == at)


_SLOTS: dict[str, Callable[[dict[str, Any], str | None], Slots]] = {
    "openai-chat": _chat,
    "openai-responses": _responses,
    "anthropic": _anthropic,
    "gemini": _gemini,
    "bedrock-converse": _converse,
}


_BREAK = re.compile(rb"\r?\n\r?\n|\r\r")


@final
class RestoredStream:
    """Server-sent events in any pieces. An event in which nothing is restored goes on as the bytes that it was."""

    def __init__(self, events: _Events) -> None:
        self._events, self._rest = events, b""

    def feed(self, chunk: bytes) -> bytes:
        """What goes on now; an event goes on when it is complete."""
        data = self._rest + chunk
        out, at = [], 0
        for found in _BREAK.finditer(data):
            out.append(self._event(data[at : found.start()], found.group()))
            at = found.end()
        self._rest = data[at:]
        return b"".join(out)

    def close(self) -> bytes:
        """What was still waiting when the stream ended, and the piece of an event that was never completed."""
        late, self._rest = self._rest, b""
        return b"".join([*(_written(name, data) for name, data in self._events.rest()), late])

    def _event(self, frame: bytes, end: bytes) -> bytes:
        name: str | None = None
        lines: list[bytes] = []
        for line in frame.splitlines():
            field, _, value = line.removeprefix(b"\xef\xbb\xbf").partition(b":")
            if field == b"data":
                lines.append(value.removeprefix(b" "))
            elif field == b"event":
                name = value.strip().decode("utf-8", "replace")
        if not lines:
            return frame + end
        data = b"\n".join(lines)
        events = self._events.event(data, name)
        last = events.pop()
        before = b"".join([_written(late, held) for late, held in events])
        return before + (frame + end if last[1] == data else _written(name, last[1]))


def _written(name: str | None, data: bytes) -> bytes:
    return b"data: " + data + b"\n\n" if name is None else b"event: " + name.encode() + b"\ndata: " + data + b"\n\n"


@final
class RestoredAwsStream:
    """Amazon's framing: length, headers, payload, each under a checksum, which are made anew where a payload has changed."""

    def __init__(self, events: _Events) -> None:
        self._events, self._rest = events, b""
        self._headers: dict[str, bytes] = {}

    def feed(self, chunk: bytes) -> bytes:
        """What goes on now; a frame goes on when it is complete."""
        data = self._rest + chunk
        out, at = [], 0
        while len(data) - at >= 16:
            total, size = struct.unpack_from(">II", data, at)
            if total < 16 + size or len(data) - at < total:
                break
            headers, payload = data[at + 12 : at + 12 + size], data[at + 12 + size : at + total - 4]
            name = self._name(headers)
            events = self._events.event(payload, name)
            last = events.pop()
            out += [self._late(late, held) for late, held in events]
            out.append(data[at : at + total] if last[1] == payload else _aws_frame(headers, last[1]))
            at += total
        self._rest = data[at:]
        return b"".join(out)

    def close(self) -> bytes:
        """What was still waiting when the stream ended, and the piece of a frame that was never completed."""
        late, self._rest = self._rest, b""
        return b"".join([*(self._late(name, data) for name, data in self._events.rest()), late])

    def _late(self, name: str | None, data: bytes) -> bytes:
        return _aws_frame(self._headers.get(name or "", b""), data)

    def _name(self, headers: bytes) -> str | None:
        """The type of an event; its headers are kept for one of the same type."""
        found = re.search(rb"\x0b:event-type\x07(..)", headers, re.DOTALL)
        if found is None:
            return None
        name = headers[found.end() : found.end() + int.from_bytes(found.group(1), "big")].decode("utf-8", "replace")
        self._headers[name] = headers
        return name


def _aws_frame(headers: bytes, payload: bytes) -> bytes:
    prelude = struct.pack(">II", 16 + len(headers) + len(payload), len(headers))
    body = prelude + struct.pack(">I", binascii.crc32(prelude)) + headers + payload
    return body + struct.pack(">I", binascii.crc32(body))
