"""Any Python object at all → a sound JSON value: what every provider's parser accepts and UTF-8 can encode.

A sound value comes back as the same object. What is not sound is replaced piece by piece, and each piece is reported with its place.
Bytes need none of this, since the JSON decoder has already refused what is unsound there. What must not live here: dialects.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from typing import Any

from sendable.codes import ARG003, SHP006, SHP008, SHP009, SHP010
from sendable.paths import At
from sendable.payload import DEEPEST
from sendable.report import Ledger

_ALWAYS = frozenset({int, bool, type(None)})
"""What is sound whatever its value."""

_SURROGATE = re.compile("[\ud800-\udfff]")


class Repeated(dict[str, Any]):
    """An object in which a key stood more than once; `lost` names the keys whose earlier values are gone."""

    lost: tuple[str, ...] = ()


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) == len(pairs):
        return found
    repeated = Repeated(found)
    keys = [key for key, _ in pairs]
    repeated.lost = tuple(key for key in found if keys.count(key) > 1)  # keeps: `sound` reports each of them
    return repeated


def _integer(digits: str) -> int | float:
    # Python refuses to read integers of more than 4,300 digits; `sound` reports infinity.
    return int(digits) if len(digits) < 4300 else math.inf


def loads(data: bytes) -> Any:
    """JSON bytes as Python values, accepting everything that `sound` can then report: half surrogates, NaN, repeated keys, a BOM.

    The standard library's parser, five times slower than msgspec's, because it alone accepts these.
    Raises `ValueError` for what is no JSON and `RecursionError` for what is nested too deeply.
    """
    return json.loads(data.decode("utf-8-sig"), object_pairs_hook=_object, parse_int=_integer)


def sound(value: Any, at: At, ledger: Ledger) -> Any:
    """The same value if it is sound JSON, else a cleaned copy.

    Text: half surrogate pairs become U+FFFD, U+0000 goes. Numbers: what is no number in JSON becomes null. Objects of the official
    SDKs become their JSON. Anything else that JSON does not have, and what contains itself or is nested too deeply, becomes null.

    Loses: SHP006, SHP008, SHP009, SHP010, ARG003.
    """
    return _sound(value, at, ledger, ())


def _sound(value: Any, at: At, ledger: Ledger, above: tuple[int, ...]) -> Any:
    kind = type(value)
    if kind is str:
        if "\0" not in value and (value.isascii() or _encodes(value)):
            return value
        return _sound_text(value, at, ledger)
    if value is None or kind is bool or kind is int:
        return value
    if kind is dict:
        if len(above) >= DEEPEST or id(value) in above:
            ledger.degrade(SHP006, at, reason="contains itself or is nested too deeply")
            return None
        above = (*above, id(value))
        copy: dict[str, Any] | None = None
        for key, inner in value.items():
            if type(key) is not str or "\0" in key or not (key.isascii() or _encodes(key)):
                return _with_text_keys(value, at, ledger, above)
            inner_kind = type(inner)
            if inner_kind in _ALWAYS or (inner_kind is str and inner.isascii() and "\0" not in inner):
                continue  # keeps: it is sound
            kept = _sound(inner, (at, key), ledger, above)
            if kept is not inner:
                copy = dict(value) if copy is None else copy
                copy[key] = kept
        return value if copy is None else copy
    if kind is list or kind is tuple:
        if len(above) >= DEEPEST or id(value) in above:
            ledger.degrade(SHP006, at, reason="contains itself or is nested too deeply")
            return None
        above = (*above, id(value))
        items: list[Any] | None = None
        for index, inner in enumerate(value):
            kept = _sound(inner, (at, index), ledger, above)
            if kept is not inner:
                items = list(value) if items is None else items
                items[index] = kept
        return value if items is None else items
    if kind is float:
        if math.isfinite(value):
            return value
        ledger.degrade(ARG003, at, value=str(value))
        return None
    return _sound_object(value, at, ledger, above)


def _encodes(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _sound_text(text: str, at: At, ledger: Ledger) -> str:
    if "\0" in text:
        ledger.degrade(SHP009, at, count=text.count("\0"))
        text = text.replace("\0", "")
    if not _encodes(text):
        text, count = _SURROGATE.subn("\ufffd", text)
        ledger.degrade(SHP008, at, count=count)
    return text


def _with_text_keys(value: dict[Any, Any], at: At, ledger: Ledger, above: tuple[int, ...]) -> dict[str, Any]:
    """A copy whose keys are all text; a key that is none takes the form that JSON gives it, or is stripped with its value."""
    out: dict[str, Any] = {}
    for key, inner in value.items():
        if isinstance(key, str):
            text = str(key) if "\0" not in key and _encodes(key) else _sound_text(str(key), (at, key), ledger)
        elif key is None or isinstance(key, bool | int | float):
            text = "null" if key is None else str(key).lower() if isinstance(key, bool) else str(key)
            ledger.note(SHP006, at, reason="a key that is no text", key=text)
        else:
            ledger.strip(SHP006, at, (), reason="a key that is no text")
            continue  # keeps: the line above reports it
        if text in out:
            ledger.strip(SHP006, at, (text,), reason="two keys that are the same as text")
        ledger.stored_as((at, text), key)
        out[text] = _sound(inner, (at, text), ledger, above)
    return out


def _sound_object(value: Any, at: At, ledger: Ledger, above: tuple[int, ...]) -> Any:
    """Subclasses of JSON's types, mappings, and objects of the official SDKs; null for everything else."""
    if isinstance(value, bool | int):
        return int(value)
    if isinstance(value, float):
        return _sound(float(value), at, ledger, above)
    if isinstance(value, str):
        return _sound(str.__str__(value), at, ledger, above)
    if isinstance(value, Repeated):
        for key in value.lost:
            ledger.strip(SHP010, at, (key,))
        return _sound(dict(value), at, ledger, above)
    try:
        if hasattr(value, "model_dump"):
            return _sound(value.model_dump(mode="json", by_alias=True, exclude_unset=True), at, ledger, above)
        if isinstance(value, Mapping):
            return _sound(dict(value), at, ledger, above)
        if isinstance(value, list | tuple):
            return _sound(list(value), at, ledger, above)
    except RecursionError:
        raise
    except (
        Exception
    ):  # an object's own methods may raise anything; the object is then no JSON, which the next line says
        ledger.degrade(SHP006, at, type=type(value).__name__)
        return None
    ledger.degrade(SHP006, at, type=type(value).__name__)
    return None
