"""The carrier: native blocks that ride through another dialect, so that the next turn can send back what that dialect cannot hold.

One format, an object: `{"sendable_carrier": 1, "dialect", "native", "visible", "mac"?}`. It stands in the field of that name of a Chat message,
or as JSON text in a slot that clients send back unread (`encrypted_content`, `redacted_thinking.data`); either is known by its marker, without
any key. `native` are the provider's own messages or items, `visible` is a checksum over what of them was written beside it: the fingerprint and
the ids of the calls. What must not live here: where a dialect has such a slot (dialects/), and what becomes of a carrier in a history
(rules/carriers.py).
"""

from __future__ import annotations

import hashlib
import hmac
import json
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from sendable import payload
from sendable.conversation import Fields, Message, Reply, ToolCall
from sendable.fingerprints import fingerprint
from sendable.payload import Leaf

FIELD = "sendable_carrier"
"""The field of a message in which a carrier stands, and the marker inside it."""

_TEXT = '{"' + FIELD + '":'

Trust: TypeAlias = Callable[[Fields], bool]
"""Says whether a carrier was made by us; the gateway asks for its seal."""

Seal: TypeAlias = Callable[[dict[str, Any], Reply, Sequence[Message]], Fields | None]
"""Gets a carrier, the answer that it is of, and what of it is written beside it. Gives back the carrier that rides along; None for none."""


def carrier_of(native: Sequence[Any], dialect: str, visible: Sequence[Message]) -> dict[str, Any]:
    """A carrier of native messages, beside which `visible` is written."""
    return {
        FIELD: 1,
        "dialect": dialect,
        "native": list(native),
        "visible": seen_in(visible),
    }


def as_text(carrier: Fields) -> str:
    """A carrier as text, for a slot that holds text. The marker comes first."""
    rest = {key: value for key, value in carrier.items() if key != FIELD}  # keeps: the marker is put in front
    return json.dumps({FIELD: carrier[FIELD], **rest}, ensure_ascii=False, separators=(",", ":"))


def with_carrier(messages: list[Any], carrier: Fields) -> list[Any]:
    """Messages of Chat with a carrier on the last one."""
    return [*messages[:-1], {**messages[-1], FIELD: dict(carrier)}]


def is_marked(value: Leaf) -> bool:
    """Whether a value is a carrier, or the text of one."""
    fields = payload.fields(value)
    if fields is not None:
        return FIELD in fields
    text = payload.string(value)
    return text is not None and text.startswith(_TEXT)


def sealed(carrier: Fields, key: bytes) -> dict[str, Any]:
    """The carrier with a seal (HMAC-SHA256) under a key that only its maker has."""
    return {**carrier, "mac": _mac(carrier, key)}


def is_sealed(carrier: Fields, key: bytes) -> bool:
    """Whether a carrier bears the seal of this key, and nothing of it was changed since."""
    mac = payload.string(carrier.get("mac"))
    return mac is not None and hmac.compare_digest(mac, _mac(carrier, key))


def _mac(carrier: Fields, key: bytes) -> str:
    plain = {name: payload.plain(value) for name, value in carrier.items() if name != "mac"}  # keeps: the seal itself
    text = json.dumps(plain, sort_keys=True, separators=(",", ":"))
    return hmac.new(key, text.encode("utf-8", "surrogatepass"), hashlib.sha256).hexdigest()


def seen_in(messages: Sequence[Message]) -> str:
    """What is seen of an answer: what it says, and the ids of its calls."""
    ids = [str(block.id) for message in messages for block in message.blocks if type(block) is ToolCall]
    said = json.dumps([fingerprint(messages), ids])
    return hashlib.sha256(said.encode("utf-8", "surrogatepass")).hexdigest()[:32]


def parsed(value: Leaf) -> Fields | None:
    """A carrier as an object, or None if it is damaged."""
    fields = payload.fields(value)
    if fields is None:
        try:
            fields = payload.fields(json.loads(payload.string(value) or ""))
        except (ValueError, RecursionError):
            return None
    return fields if fields is not None and payload.plain(fields.get(FIELD)) == 1 else None
