"""Server-sent events between bytes and frames, and the little that is read of a stream that is only passed on: did it end, what did it use.

Sans-IO. What must not live here: what events mean to a history (dialects/, through `sendable.StreamReader`), and who reads or writes sockets.
"""

from __future__ import annotations

import binascii
import re
import struct
from typing import Any, Literal, final

import msgspec

from sendable.conversation import Usage

MOST = 32 << 20
"""How many bytes one event may have. The largest are images, at some megabytes of base64."""


class NotAStream(ValueError):
    """The bytes are no stream of events. The message says what they are, without a word of them."""


@final
class Frame(msgspec.Struct, frozen=True, gc=False):
    """One event: its `event:` name, if it has one, and its `data:` lines joined by line feeds."""

    name: str | None
    data: bytes


@final
class Frames:
    """Bytes in any pieces to frames, as the standard says: line ends of all three kinds, comments, a byte order mark, fields without colon.

    An event that no blank line ends is not one; `rest` says whether something of it was there.
    """

    __slots__ = ("_first", "_rest")

    def __init__(self) -> None:
        self._rest = b""
        self._first = True

    def feed(self, chunk: bytes) -> list[Frame]:
        """The frames that this piece completes."""
        data = self._rest + chunk if self._rest else chunk
        if self._first and len(data) >= 3:
            self._first = False
            data = data.removeprefix(b"\xef\xbb\xbf")
        held = b""
        if b"\r" in data:
            if data.endswith(b"\r"):  # It may be the first half of a line end.
                data, held = data[:-1], b"\r"
            data = data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        parts = data.split(b"\n\n")
        self._rest = parts.pop() + held
        if len(self._rest) > MOST:
            raise NotAStream(f"an event has more than {MOST} bytes")
        frames: list[Frame] = []
        for part in parts:
            frame = _frame(part)
            if frame is not None:
                frames.append(frame)
        return frames

    @property
    def rest(self) -> bool:
        """Whether there is a piece of an event that was never ended."""
        return bool(self._rest.strip())


def _frame(part: bytes) -> Frame | None:
    if part.startswith(b"data: ") and b"\n" not in part:
        return Frame(None, part[6:])
    name: str | None = None
    data: list[bytes] = []
    for line in part.split(b"\n"):
        field, _, value = line.partition(b":")
        value = value.removeprefix(b" ")
        if field == b"data":
            data.append(value)
        elif field == b"event":
            name = value.decode("utf-8", "replace")
        # loses nothing: other fields (`id`, `retry`) and comments are not content.
    return Frame(name, b"\n".join(data)) if data else None


def written(name: str | None, data: bytes) -> bytes:
    """One event as bytes."""
    return b"data: " + data + b"\n\n" if name is None else b"event: " + name.encode() + b"\ndata: " + data + b"\n\n"


# Amazon's framing of Converse streams: length, headers, payload, each under a checksum.


@final
class AwsFrames:
    """Bytes of `application/vnd.amazon.eventstream` to frames; the frame's name is the event type, an exception's name is `!` and its type."""

    __slots__ = ("_rest",)

    def __init__(self) -> None:
        self._rest = b""

    def feed(self, chunk: bytes) -> list[Frame]:
        """The frames that this piece completes."""
        data = self._rest + chunk
        frames: list[Frame] = []
        at = 0
        while len(data) - at >= 16:
            total, headers, check = struct.unpack_from(">III", data, at)
            if binascii.crc32(data[at : at + 8]) != check or not 16 <= total <= MOST or headers > total - 16:
                raise NotAStream("this is not an Amazon event stream, or it is damaged")
            if len(data) - at < total:
                break
            if binascii.crc32(data[at : at + total - 4]) != struct.unpack_from(">I", data, at + total - 4)[0]:
                raise NotAStream("an event of the Amazon event stream is damaged")
            named = _aws_headers(data[at + 12 : at + 12 + headers])
            payload = data[at + 12 + headers : at + total - 4]
            kind = named.get(":event-type")
            frames.append(Frame(kind if kind is not None else "!" + named.get(":exception-type", "error"), payload))
            at += total
        self._rest = data[at:]
        if len(self._rest) > MOST:
            raise NotAStream(f"an event has more than {MOST} bytes")
        return frames

    @property
    def rest(self) -> bool:
        """Whether there is a piece of an event that was never ended."""
        return bool(self._rest)


def _aws_headers(data: bytes) -> dict[str, str]:
    """The text headers of an event. Those of other kinds have a length by their kind, and are not needed."""
    lengths = {0: 0, 1: 0, 2: 1, 3: 2, 4: 4, 5: 8, 8: 8, 9: 16}
    found: dict[str, str] = {}
    at = 0
    while at < len(data):
        size = data[at]
        name = data[at + 1 : at + 1 + size].decode("utf-8", "replace")
        at += 1 + size
        if at >= len(data):
            raise NotAStream("an event of the Amazon event stream is damaged")
        kind = data[at]
        at += 1
        if kind in (6, 7):
            length = int.from_bytes(data[at : at + 2], "big")
            if kind == 7:
                found[name] = data[at + 2 : at + 2 + length].decode("utf-8", "replace")
            at += 2 + length
        elif kind in lengths:
            at += lengths[kind]
        else:
            raise NotAStream("an event of the Amazon event stream is damaged")
    return found


Ended = Literal["whole", "error", "cut"]

_FINISHED = re.compile(rb'"finish(?:_reason|Reason)"\s*:\s*"')


@final
class Watch:
    """Reads along a stream that is passed on as it is: whether its provider ended it (`ended`), and its usage.

    Only the few events that say so are parsed.
    """

    __slots__ = ("_dialect", "_done", "_failed", "_frames", "_usage", "first", "id")

    def __init__(self, dialect: str) -> None:
        self._dialect = dialect
        self._frames = Frames() if dialect != "bedrock-converse" else AwsFrames()
        self._done = self._failed = False
        self._usage: dict[str, Any] = {}
        self.id: str | None = None

    def feed(self, chunk: bytes) -> None:
        """Read one piece. What is no event stream is not an error here: it is passed on, and will not have ended."""
        try:
            frames = self._frames.feed(chunk)
        except NotAStream:
            return
        for frame in frames:
            self._look(frame)

    def _look(self, frame: Frame) -> None:
        data, dialect = frame.data, self._dialect
        if dialect == "anthropic":
            if frame.name == "message_stop":
                self._done = True
            elif frame.name == "error":
                self._failed = True
            elif frame.name in ("message_start", "message_delta"):
                self._take(data)
        elif dialect == "openai-responses":
            if frame.name in ("response.completed", "response.incomplete", "response.failed"):
                self._done = True
                self._take(data)
            elif frame.name == "error":
                self._failed = True
        elif dialect == "bedrock-converse":
            if frame.name == "messageStop":
                self._done = True
            elif frame.name == "metadata":
                self._take(data)
            elif frame.name is not None and frame.name.startswith("!"):
                self._failed = True
        else:
            # A server may leave out `[DONE]`, and may send the usage behind the last choice.
            if data == b"[DONE]" or _FINISHED.search(data):
                self._done = True
            elif data.startswith(b'{"error"'):
                self._failed = True
            if b'"usage' in data:
                self._take(data)

    def _take(self, data: bytes) -> None:
        try:
            found = msgspec.json.decode(data)
        except (msgspec.DecodeError, RecursionError):
            return
        if isinstance(found, dict):
            self._usage.update(_counts(found))

    @property
    def ended(self) -> Ended:
        """How the stream ended, asked when no more bytes come."""
        return "error" if self._failed else "whole" if self._done else "cut"

    @property
    def usage(self) -> Usage | None:
        """What the answer used, as far as it was said."""
        return usage_of({"usage": self._usage}) if self._usage else None


def _counts(body: dict[str, Any]) -> dict[str, Any]:
    """The object that counts tokens, wherever this dialect has it."""
    for key in ("usage", "usageMetadata"):
        if isinstance(body.get(key), dict):
            return body[key]  # type: ignore[no-any-return]
    for key in ("message", "response"):
        inner = body.get(key)
        if isinstance(inner, dict) and isinstance(inner.get("usage"), dict):
            return inner["usage"]  # type: ignore[no-any-return]
    return {}


def usage_of(body: Any) -> Usage | None:
    """What an answer says that it used, in any dialect; None if it says nothing."""
    counts = _counts(body) if isinstance(body, dict) else {}
    if not counts:
        return None

    def first(*keys: str) -> int | None:
        for key in keys:
            value: Any = counts
            for step in key.split("."):
                value = value.get(step) if isinstance(value, dict) else None
            if type(value) is int:
                return value
        return None

    # What was read from a cache is part of the input everywhere but in Messages and Converse, which count it beside.
    read = first("input_tokens", "prompt_tokens", "promptTokenCount", "inputTokens")
    cached = first(
        "cache_read_input_tokens",
        "input_tokens_details.cached_tokens",
        "prompt_tokens_details.cached_tokens",
        "cachedContentTokenCount",
        "cacheReadInputTokens",
    )
    stored = first("cache_creation_input_tokens", "cacheWriteInputTokens")
    beside = "cache_read_input_tokens" in counts or "cacheReadInputTokens" in counts
    # Gemini counts its thoughts beside what it says.
    said, thought = first("candidatesTokenCount"), first("thoughtsTokenCount")
    return Usage(
        input=read + (cached or 0) + (stored or 0) if read is not None and beside else read,
        output=first("output_tokens", "completion_tokens", "outputTokens", "candidatesTokenCount")
        if thought is None
        else thought + (said or 0),
        reasoning=first("output_tokens_details.reasoning_tokens", "completion_tokens_details.reasoning_tokens")
        if thought is None
        else thought,
        cached_read=cached,
        cached_write=stored,
    )
