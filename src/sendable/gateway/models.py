"""`GET /v1/models`: one list that OpenAI's and Anthropic's clients can both read.

What must not live here: which upstream a model goes to (config.py).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec

SINCE = "1970-01-01T00:00:00Z"
"""When a model was made is known to its provider only; both clients want a date."""


def one(
    name: str, owner: str = "sendable", shown: str | None = None, since: str = SINCE, created: int = 0
) -> dict[str, Any]:
    """A model with the fields of both: `object`, `created`, `owned_by` for the one, `type`, `display_name`, `created_at` for the other."""
    return {
        "id": name, "object": "model", "created": created, "owned_by": owner,
        "type": "model", "display_name": shown or name, "created_at": since,
    }  # fmt: skip


def listed(models: Iterable[dict[str, Any]]) -> bytes:
    """The whole list, each name once, in order; it has one page."""
    found = list({model["id"]: model for model in models}.values())
    return msgspec.json.encode({
        "object": "list", "data": found, "has_more": False,
        "first_id": found[0]["id"] if found else None, "last_id": found[-1]["id"] if found else None,
    })  # fmt: skip


def read_models(data: bytes) -> list[dict[str, Any]]:
    """The models of an upstream's own list, in whatever form it has it; nothing for what is no list."""
    try:
        body = msgspec.json.decode(data)
    except (msgspec.DecodeError, RecursionError):
        return []
    entries = body.get("data", body.get("models")) if isinstance(body, dict) else body
    found: list[dict[str, Any]] = []
    for entry in entries if isinstance(entries, list) else ():
        if not isinstance(entry, dict):
            continue  # loses nothing: a list of names that holds something else says nothing with it
        name = entry.get("id") or entry.get("name")
        if isinstance(name, str) and name:
            created = entry.get("created")
            found.append(one(
                name.removeprefix("models/"), entry.get("owned_by") or "upstream", entry.get("display_name"),
                entry.get("created_at") or SINCE, created if type(created) is int else 0,
            ))  # fmt: skip
    return found
