"""Leaf payloads: the only functions that look into a JSON value, whichever form it has.

A leaf is a Python value or a `msgspec.Raw` (the caller's own bytes, already known to be JSON). One set of readers, rules and writers
serves both, because they ask these functions and never the value itself. What must not live here: anything that knows a dialect.
"""

from __future__ import annotations

import base64
import binascii
import codecs
import json
import math
import re
import struct
from collections.abc import Mapping, Sequence
from typing import Any, Literal

import msgspec
from msgspec import Raw

Leaf = object
Kind = Literal["text", "list", "object", "number", "bool", "null", "other"]


class NotFramed(Exception):
    """These bytes hold something that has to be decoded to be put right, or no JSON at all."""


_PLAIN: dict[type, Kind] = {
    str: "text", dict: "object", list: "list", type(None): "null", bool: "bool", int: "number", float: "number", tuple: "list",
}  # fmt: skip
# The first byte says what a JSON value is. Of all ways to one byte of a `Raw`, this is the cheapest: half the time of a memoryview.
_first = struct.Struct("c").unpack_from
_RAW: dict[tuple[bytes], Kind] = {
    (b'"',): "text", (b"{",): "object", (b"[",): "list", (b"n",): "null", (b"t",): "bool", (b"f",): "bool",
    **{(digit.encode(),): "number" for digit in "-0123456789"},
}  # fmt: skip
_TEXT, _OBJECT, _LIST, _NULL, _TRUE, _FALSE = ((byte,) for byte in (b'"', b"{", b"[", b"n", b"t", b"f"))
# The first character of a text, where it settles that the text is not blank: printable, and no escape.
_second = struct.Struct("xB").unpack_from
_PRINTED = frozenset((byte,) for byte in range(33, 128) if byte not in b'"\\')

_decode_str = msgspec.json.Decoder(str).decode
_decode_any = msgspec.json.Decoder().decode
_decode_raw = msgspec.json.Decoder(Raw).decode
_decode_fields = msgspec.json.Decoder(dict[str, Raw]).decode
_decode_items = msgspec.json.Decoder(list[Raw]).decode
_decode_objects = msgspec.json.Decoder(list[dict[str, Raw]]).decode
_encode = msgspec.json.encode

DEEPEST = 200
"""Levels of nesting beyond which a value is not serializable: parsers of several providers stop at a few hundred."""


def kind(value: Leaf) -> Kind:
    """The JSON kind of a leaf, without decoding it; "other" for what is no JSON value."""
    if type(value) is Raw:
        return _RAW[_first(value)]
    found = _PLAIN.get(type(value))
    if found is not None:
        return found
    if isinstance(value, str):
        return "text"
    if isinstance(value, Mapping) or hasattr(value, "model_dump"):
        return "object"
    if isinstance(value, bool | int | float):
        return "number"
    return "other"


def string(value: Leaf) -> str | None:
    """The text of a leaf, or None if it is not text. Decodes: for ids, names, roles and kinds, not for payload."""
    if type(value) is str:
        return value
    if type(value) is Raw:
        try:
            return _decode_str(value)
        except msgspec.ValidationError:
            # It is JSON, and no text.
            return None
    return str(value) if isinstance(value, str) else None


def fields(value: Leaf) -> dict[str, Any] | None:
    """The members of an object, or None if it is none. The dictionary belongs to the caller: read it, never write it."""
    if type(value) is dict:
        return value
    if type(value) is Raw:
        if _first(value) != _OBJECT:
            return None
        found = _decode_fields(value)
        compact = _size(found, value)
        if compact != len(value):
            _require_all_keys(value, compact, 2 * len(found) - 1)
        return found
    return None


def members(value: Leaf) -> Mapping[str, Any]:
    """The members of an object; none if it is none."""
    return fields(value) or {}


def items(value: Leaf) -> Sequence[Any] | None:
    """The elements of a list, or None if it is none."""
    if type(value) is list or type(value) is tuple:
        return value
    if type(value) is Raw:
        return _decode_items(value) if _first(value) == _LIST else None
    return None


def objects(value: Leaf) -> Sequence[Any] | None:
    """The elements of a list, those that are objects as their members, or None if it is no list."""
    if type(value) is Raw:
        if _first(value) != _LIST:
            return None
        try:
            # One pass over the bytes where all elements are objects, as they are in content and in lists of calls.
            found = _decode_objects(value)
        except msgspec.ValidationError:
            return _decode_items(value)
        compact = _size(found, value)
        if compact != len(value):
            _require_all_keys(value, compact, 2 * sum(map(len, found)) - 1)
        return found
    return items(value)


def _size(found: Any, value: Raw) -> int:
    """How many bytes objects of leaves that were read from `value` have when they are written again, without blanks."""
    if len(value) < 4096:
        return len(_encode(found))
    # An image is not copied to be counted.
    if type(found) is list:
        return sum([_size(inner, value) + 1 for inner in found]) + (1 if found else 2)
    return sum([len(_encode(key)) + len(inner) + 2 for key, inner in found.items()]) + (1 if found else 2)


def plain(value: Leaf) -> Any:
    """The leaf as an ordinary Python value, with every number as it was spelled as far as Python can hold it."""
    if type(value) is Raw:
        # The standard library, because it alone keeps integers of any length.
        return json.loads(bytes(value))
    return value


def is_text(value: Leaf) -> bool:
    """Whether the leaf is text."""
    return type(value) is str or (type(value) is Raw and _first(value) == _TEXT)


def is_object(value: Leaf) -> bool:
    """Whether the leaf is an object."""
    return type(value) is dict or (type(value) is Raw and _first(value) == _OBJECT)


def is_list(value: Leaf) -> bool:
    """Whether the leaf is a list."""
    return type(value) in (list, tuple) or (type(value) is Raw and _first(value) == _LIST)


def shows(value: Leaf) -> bool | None:
    """Whether a leaf is text with a character in it; None for what is no text."""
    if type(value) is Raw and _first(value) == _TEXT and _second(value) in _PRINTED:
        return True
    return None if not is_text(value) else not is_blank(value)


def is_null(value: Leaf) -> bool:
    """Whether the leaf is JSON null (an absent field is given as None)."""
    return value is None or (type(value) is Raw and _first(value) == _NULL)


def is_true(value: Leaf) -> bool:
    """Whether the leaf is JSON true."""
    return value is True or (type(value) is Raw and _first(value) == _TRUE)


def is_false(value: Leaf) -> bool:
    """Whether the leaf is JSON false."""
    return value is False or (type(value) is Raw and _first(value) == _FALSE)


def is_inert(value: Leaf) -> bool:
    """Whether the leaf says nothing: null, an empty text, list or object."""
    if type(value) is Raw:
        return _first(value) == _NULL or (len(value) <= 8 and _decode_any(value) in ("", [], {}))
    return value is None or (type(value) in (str, list, dict, tuple) and not value)


def is_empty(text: Leaf) -> bool:
    """Whether a text leaf is the empty text."""
    return len(text) == 2 if type(text) is Raw else not text


def is_blank(text: Leaf) -> bool:
    """Whether a text leaf holds nothing but white space."""
    if type(text) is str:
        return not text or text.isspace()
    if type(text) is Raw:
        # A printable ASCII character in front settles it without decoding a long payload.
        if _second(text) in _PRINTED:
            return False
        decoded = _decode_str(text)
        return not decoded or decoded.isspace()
    return not str(text).strip()


def says(text: Leaf, word: str) -> bool:
    """Whether a text leaf is a word, with nothing but white space around it."""
    if type(text) is Raw:
        return len(text) < len(word) + 16 and _decode_str(text).strip() == word
    return str(text).strip() == word


def length(text: Leaf) -> int:
    """The number of characters of a text leaf."""
    if type(text) is Raw:
        raw = bytes(text)
        return len(raw) - 2 if raw.isascii() and b"\\" not in raw else len(_decode_str(text))
    return len(str(text))


def quoted(text: str, like: Leaf) -> Leaf:
    """Our own text in the form of `like`: Python for Python, bytes for bytes."""
    return Raw(_encode(text)) if type(like) is Raw else text


def joined(texts: Sequence[Leaf], separator: str) -> Leaf:
    """Several text leaves as one, with a separator between them."""
    if len(texts) == 1:
        return texts[0]
    if any(type(text) is Raw for text in texts):
        inner = _encode(separator)[1:-1]
        return Raw(
            b'"' + inner.join(bytes(text)[1:-1] if type(text) is Raw else _encode(text)[1:-1] for text in texts) + b'"'
        )
    return separator.join(str(text) for text in texts)


def as_json_text(value: Leaf) -> Leaf | None:
    """The JSON text of a value as a text leaf (`json.dumps` defaults, not ASCII-escaped), or None if it has none."""
    if type(value) is Raw:
        if kind(value) not in ("object", "list", "text"):
            # A number keeps its spelling.
            return Raw(b'"' + bytes(value) + b'"')
        try:
            return Raw(_encode(json.dumps(plain(value), ensure_ascii=False, allow_nan=False)))
        except ValueError:
            # A number beyond a float: the slow path reports it.
            raise NotFramed from None
    try:
        return json.dumps(value, ensure_ascii=False)
    except (TypeError, ValueError, RecursionError):
        return None


# From bytes to leaves.


_SLICE = 8_192


def framed(data: bytes) -> Any:
    """JSON bytes as a tree in which all payload is still bytes: a body of leaves, its message list as a list of objects of leaves.

    Raises `NotFramed` for what only a full parse can judge: half surrogates, repeated keys. After `require_clean`.
    """
    try:
        if data[:1] == b"[" or data.lstrip()[:1] == b"[":
            messages = _decode_list(data)
            if _all_objects(messages):
                _require_all_keys(data, len(_encode(messages)), 2 * sum(map(len, messages)) - 1)
            return messages
        try:
            # One pass over the bytes for the bodies that hold `messages` and known fields.
            body = _body_fields(_decode_body(data))
        except msgspec.ValidationError:
            body = _decode_fields(data)
            for key in ("messages", "input", "contents"):
                if key in body and _first(body[key]) == _LIST:
                    body[key] = _decode_list(body[key])
        lists = [
            body[key] for key in ("messages", "input", "contents") if type(body.get(key)) is list
        ]  # keeps: only looks
        listed: Any = lists[0] if lists else []
        compact = len(_encode(body))
        if compact != len(data):
            keys = len(body) + sum(map(len, listed)) if _all_objects(listed) else 0
            _require_all_keys(data, compact, 2 * keys - (2 if listed else 1))
        return body
    except (msgspec.MsgspecError, RecursionError):
        raise NotFramed from None


def require_clean(data: bytes) -> None:
    """Raise `NotFramed` for bytes that are no UTF-8 (a BOM included) or hold U+0000."""
    # From the end, where CPython's search for six bytes is three times faster.
    if not _is_utf8(data) or data.rfind(b"\\u0000") >= 0:
        raise NotFramed


# Every number beyond a float has an exponent of three digits, or three hundred digits. Two searches, since one that begins with a letter is
# four times as fast as one that begins with a choice.
_exponent, _other_exponent = re.compile(rb"e\+?[0-9]{3}").search, re.compile(rb"E\+?[0-9]{3}").search
_digits = re.compile(rb"[0-9]{290}").search


def require_finite(value: Leaf) -> None:
    """Raise `NotFramed` if a leaf of bytes holds a number beyond a float, at any level, or is nested too deeply to be looked at."""
    try:
        if type(value) is Raw and not _is_finite(value):
            raise NotFramed
    except RecursionError:
        raise NotFramed from None


def _is_finite(value: Raw) -> bool:
    first = _first(value)
    if first == _TEXT:
        return True
    if len(value) > 512:
        # What is long is texts, for the most part, and these are not looked into.
        if first == _OBJECT:
            return all(map(_is_finite, _decode_fields(value).values()))
        if first == _LIST:
            return all(map(_is_finite, _decode_items(value)))
    data = bytes(value)
    if _exponent(data) or _other_exponent(data) or (len(data) > 290 and _digits(data)):
        return _count(_arguments(data.decode())) is not None
    return True


def _decode_list(raw: Raw | bytes) -> Any:
    try:
        return _decode_objects(raw)
    except msgspec.ValidationError:
        # Some entry is no object.
        return _decode_items(raw)


def _all_objects(listed: Sequence[Any]) -> bool:
    return not listed or type(listed[0]) is dict


def _require_all_keys(data: bytes | Raw, compact: int, spaces: int) -> None:
    """Raise `NotFramed` if an object in `data` held a key twice, of which the decoder silently kept the last.

    Written again, what was decoded has the length of the input if the input was compact, or had `spaces` blanks more if it was written
    by `json.dumps`. Only where neither is so (indented, escaped keys) does it have to be parsed to be sure.
    """
    length = len(data)
    if compact != length and compact + spaces != length and _has_repeated_key(bytes(data).decode()):
        raise NotFramed


COMMON = (
    "model", "system", "instructions", "tools", "tool_choice", "max_tokens", "max_completion_tokens", "temperature", "top_p", "top_k",
    "stop", "stop_sequences", "stream", "stream_options", "metadata", "user", "response_format", "reasoning_effort", "thinking",
    "parallel_tool_calls", "output_config", "seed", "n", "store", "service_tier",
)  # fmt: skip
_decode_body = msgspec.json.Decoder(
    msgspec.defstruct(
        "_Body",
        [("messages", list[dict[str, Raw]]), *((key, Raw, None) for key in COMMON)],
        forbid_unknown_fields=True,
        gc=False,
    )
).decode


def _body_fields(body: Any) -> dict[str, Any]:
    return {
        key: value for key in ("messages", *COMMON) if (value := getattr(body, key)) is not None
    }  # keeps: None is an absent field


_decode_one = msgspec.json.Decoder(msgspec.defstruct("_Listed", [("messages", Raw)], gc=False)).decode


def bytes_of_messages(data: bytes) -> bytes:
    """The message list of a body, as it is written there."""
    listed: Any = _decode_one(data)
    return bytes(listed.messages)


def _is_utf8(data: bytes) -> bool:
    """Whether bytes are UTF-8, in windows: decoding a large text with one emoji as a whole costs four times its memory."""
    if data.isascii():
        return True
    start = 0
    try:
        while start < len(data):
            window = data[start : start + _SLICE]
            # A character that the window cuts in two is left to the next one, unless there is none.
            start += (
                len(window)
                if window.isascii()
                else codecs.utf_8_decode(window, "strict", start + _SLICE >= len(data))[1]
            )
    except UnicodeDecodeError:
        return False
    return True


# Arguments of tool calls: JSON text on one side, an object on the other.


def arguments_text(value: Leaf) -> Leaf:
    """An object of arguments as one text leaf; the bytes stay as they were spelled."""
    if type(value) is Raw:
        return Raw(_encode(bytes(value).decode()))
    return _compact(value)


def arguments_value(text: Leaf) -> Any:
    """The JSON value that a text of arguments holds, or None if it holds none. Numbers keep their spelling in bytes.

    Nothing that Python would change in silence is accepted, nor what providers refuse: NaN, numbers beyond a float, repeated keys,
    half surrogates, U+0000.
    """
    decoded = string(text)
    # From the end, as in `framed`.
    if decoded is None or decoded.rfind("\\u0000") >= 0:
        return None
    if type(text) is Raw:
        try:
            value_in_bytes = _decode_raw(decoded)
            return value_in_bytes if _is_finite(value_in_bytes) else None
        except (msgspec.DecodeError, ValueError, RecursionError):
            return None
    try:
        value = _arguments(decoded)
    except (ValueError, RecursionError):
        return None
    found = _count(value)
    # Every key has a colon; as many colons as keys means that no key was lost to a later one of the same name.
    if found is None or (decoded.count(":") != found and _has_repeated_key(decoded)):
        return None
    if "\\ud" in decoded.lower():
        try:
            json.dumps(value, ensure_ascii=False).encode()
        except UnicodeEncodeError:
            return None
    return value


def _no_constant(name: str) -> None:
    raise ValueError(name)


# Made once: `json.dumps` and `json.loads` make theirs anew in every call that says more than nothing.
_compact = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode
_arguments = json.JSONDecoder(parse_constant=_no_constant).decode


def _count(value: Any, depth: int = 0) -> int | None:
    """How many keys a value holds at all levels; None if it holds a number beyond a float or is too deep."""
    if type(value) is dict:
        if depth > DEEPEST:
            return None
        total = len(value)
        for inner in value.values():
            if type(inner) in (dict, list, float):
                count = _count(inner, depth + 1)
                if count is None:
                    return None
                total += count
        return total
    if type(value) is list:
        if depth > DEEPEST:
            return None
        total = 0
        for inner in value:
            if type(inner) in (dict, list, float):
                count = _count(inner, depth + 1)
                if count is None:
                    return None
                total += count
        return total
    if type(value) is float and not math.isfinite(value):
        return None
    return 0


def _has_repeated_key(text: str) -> bool:
    repeated = False

    def pairs(found: list[tuple[str, Any]]) -> None:
        nonlocal repeated
        repeated = repeated or len({key for key, _ in found}) != len(found)

    json.loads(text, object_pairs_hook=pairs)
    return repeated


# Media: data URLs and base64.


def data_url(media_type: str, data: Leaf) -> Leaf:
    """A data URL around a base64 leaf, without decoding it."""
    if type(data) is Raw:
        return Raw(b'"data:' + _encode(media_type)[1:-1] + b";base64," + bytes(data)[1:])
    return f"data:{media_type};base64,{data}"


def split_data_url(url: Leaf) -> tuple[str, Leaf] | None:
    """Media type and base64 leaf of a `data:…;base64,…` URL, or None if it is none."""
    if type(url) is Raw:
        view = memoryview(url)
        if bytes(view[1:6]) != b"data:":
            return None
        head = bytes(view[1:200])
        comma = head.find(b",")
        # A backslash before the comma is an escape (PHP writes `\/`): decode instead of slicing.
        if comma < 0 or b"\\" in head[:comma]:
            split = split_data_url(_decode_str(url))
            return (split[0], Raw(_encode(split[1]))) if split else None
        found = _media_type(head[:comma].decode("ascii", "replace"))
        return (found, Raw(b'"' + bytes(view[comma + 2 :]))) if found is not None else None
    text = string(url)
    if text is None or not text.startswith("data:"):
        return None
    start, _, data = text.partition(",")
    found = _media_type(start) if _ else None
    return (found, data) if found is not None else None


def _media_type(head: str) -> str | None:
    """`data:image/png;base64` → `image/png`; None if it is not base64."""
    head = head[5:]
    return head[:-7] if head.endswith(";base64") else None


_SIGNATURES: tuple[tuple[bytes, int, str], ...] = (
    (b"\x89PNG\r\n\x1a\n", 0, "image/png"),
    (b"\xff\xd8\xff", 0, "image/jpeg"),
    (b"GIF87a", 0, "image/gif"),
    (b"GIF89a", 0, "image/gif"),
    (b"WEBP", 8, "image/webp"),
    (b"%PDF-", 0, "application/pdf"),
)


def base64_head(data: Leaf) -> bytes | None:
    """The first bytes behind a base64 leaf, or None if it does not begin as clean base64."""
    head = (
        bytes(memoryview(data)[1:25]).rstrip(b'"') if type(data) is Raw else str(data)[:24].encode("ascii", "replace")
    )
    try:
        return base64.b64decode(head[: len(head) // 4 * 4], validate=True)
    except binascii.Error:
        return None


def media_type_of(head: bytes) -> str | None:
    """The media type that the bytes themselves show, or None."""
    for magic, offset, name in _SIGNATURES:
        if head[offset : offset + len(magic)] == magic:
            return name
    return None


_BASE64 = bytes.maketrans(b"-_", b"+/")
_BASE64_ONLY = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"


_PADDED = (b'""', b'"="', b'"=="')


def is_clean_base64(data: Leaf) -> bool:
    """Whether a leaf is canonical base64: the standard alphabet, padded, no white space."""
    raw = bytes(data) if type(data) is Raw else b'"%b"' % str(data).encode("ascii", "replace")
    # What is left without the alphabet: the quotes, and the padding if it is where it belongs.
    left = raw.translate(None, _BASE64_ONLY)
    return len(raw) % 4 == 2 and len(raw) > len(left) and left in _PADDED and raw.endswith(left[1:])


def clean_base64(data: Leaf) -> Leaf | None:
    """The same bytes in canonical base64, or None if the leaf is no base64 at all."""
    text = string(data)
    if text is None:
        return None
    raw = b"".join(text.encode("ascii", "replace").split()).translate(_BASE64).rstrip(b"=")
    if not raw or raw.translate(None, _BASE64_ONLY) or len(raw) % 4 == 1:
        return None
    return quoted((raw + b"=" * (-len(raw) % 4)).decode(), data)


def text_in_base64(data: Leaf) -> Leaf | None:
    """The text that a base64 leaf holds, or None if it is not base64 of UTF-8 text."""
    cleaned = clean_base64(data)
    if cleaned is None:
        return None
    try:
        text = base64.b64decode(string(cleaned) or "", validate=True).decode()
    except (binascii.Error, UnicodeDecodeError):
        return None
    return None if "\0" in text else quoted(text, data)


# From the caller's objects to JSON, and from our output to objects of its own.


def detached(value: Any) -> Any:
    """A copy that shares no mutable object with `value` (sound JSON values only)."""
    if type(value) is dict:
        return {key: detached(inner) if type(inner) in (dict, list, tuple) else inner for key, inner in value.items()}
    if type(value) is list or type(value) is tuple:
        return [detached(inner) if type(inner) in (dict, list, tuple) else inner for inner in value]
    return value


def encoded(value: Any) -> bytes:
    """JSON bytes of a tree whose leaves may be bytes; integers of any length."""
    try:
        return _encode(value)
    except (msgspec.MsgspecError, OverflowError):
        # msgspec refuses integers beyond 64 bits, which ids and hashes in stored arguments do have.
        return json.dumps(_without_raw(value), ensure_ascii=False, separators=(",", ":")).encode()


def _without_raw(value: Any) -> Any:
    if type(value) is Raw:
        return plain(value)
    if type(value) is dict:
        return {key: _without_raw(inner) for key, inner in value.items()}
    if type(value) is list or type(value) is tuple:
        return [_without_raw(inner) for inner in value]
    return value
