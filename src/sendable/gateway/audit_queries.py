"""What can be asked of an audit, and how the answers look on a terminal: `sendable audit list | show ID | losses`.

What must not live here: how a command is called (commands.py), and any writing.
"""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any, final

import msgspec
from rich.console import Console
from rich.markup import escape
from rich.table import Table
from sqlalchemy import Engine, RowMapping, and_, func, or_, select

from sendable.codes import CODES
from sendable.gateway.audit_schema import attempts, entries, requests
from sendable.render.entries import one_line

_TRIES = (
    select(func.count()).where(attempts.c.request_id == requests.c.id).correlate(requests).scalar_subquery()
).label("attempts")


@final
class Filter(msgspec.Struct, frozen=True):
    """Which requests are meant. `since`: seconds since 1970. `losing`: only those with losses. `code`: those with an entry of this code."""

    since: float | None = None
    client: str | None = None
    model: str | None = None
    route: str | None = None
    ended: str | None = None
    losing: bool = False
    code: str | None = None


ALL = Filter()


@final
class Loss(msgspec.Struct, frozen=True):
    """All entries of one code and verb, together. `first_at` and `last_at` are seconds since 1970."""

    code: str
    name: str
    verb: str
    entries: int
    requests: int
    first_at: float
    last_at: float
    example: str


def _chosen(what: Any, which: Filter) -> Any:
    """A selection from `requests`, narrowed to those that are meant."""
    columns = requests.c
    conditions = [
        column == wanted
        for column, wanted in (
            (columns.client, which.client),
            (columns.model, which.model),
            (columns.route, which.route),
            (columns.ended, which.ended),
        )
        if wanted is not None
    ]  # keeps: only what the caller asks for
    if which.since is not None:
        conditions.append(columns.at >= which.since)
    if which.losing:
        conditions.append(columns.losses > 0)
    if which.code is not None:
        conditions.append(columns.id.in_(select(entries.c.request_id).where(entries.c.code == which.code)))
    return what.where(and_(True, *conditions))


def list_requests(
    engine: Engine, which: Filter = ALL, *, limit: int = 50, before: tuple[float, str] | None = None
) -> list[dict[str, Any]]:
    """The newest requests first, each with the number of its attempts. `before`: the `at` and `id` of the last one of the page before."""
    query = _chosen(select(requests, _TRIES), which)
    if before is not None:
        at, last = before
        query = query.where(or_(requests.c.at < at, and_(requests.c.at == at, requests.c.id < last)))
    with engine.connect() as connection:
        found = connection.execute(query.order_by(requests.c.at.desc(), requests.c.id.desc()).limit(limit))
        return [_request(row) for row in found.mappings()]


def report(engine: Engine, request_id: str) -> dict[str, Any] | None:
    """All that is known of one request: its row, its `attempts` in order, its `entries` in order, and their `counts`; None if unknown."""
    with engine.connect() as connection:
        row = connection.execute(select(requests, _TRIES).where(requests.c.id == request_id)).mappings().one_or_none()
        if row is None:
            return None
        tries = select(attempts).where(attempts.c.request_id == request_id).order_by(attempts.c.number)
        losses = select(entries.c.entry).where(entries.c.request_id == request_id).order_by(entries.c.position)
        shown = _request(row)
        shown["attempts"] = [_attempt(found) for found in connection.execute(tries).mappings()]
        shown["entries"] = [json.loads(text) for text in connection.scalars(losses)]
    counts: dict[str, int] = {}
    for entry in shown["entries"]:
        counts[entry["code"]] = counts.get(entry["code"], 0) + 1
    shown["counts"] = counts
    return shown


def find_ids(engine: Engine, beginning: str, limit: int = 10) -> list[str]:
    """The ids that begin with these characters: nobody types a whole one."""
    query = select(requests.c.id).where(requests.c.id.startswith(beginning, autoescape=True)).order_by(requests.c.id)
    with engine.connect() as connection:
        return list(connection.scalars(query.limit(limit)))


def losses(engine: Engine, which: Filter = ALL) -> list[Loss]:
    """What was lost, by code and verb, the most frequent first. Notes are not losses and not in it."""
    query = _chosen(
        select(
            entries.c.code,
            entries.c.verb,
            func.count().label("entries"),
            func.count(entries.c.request_id.distinct()).label("requests"),
            func.min(entries.c.at).label("first_at"),
            func.max(entries.c.at).label("last_at"),
            func.min(entries.c.place).label("example"),
        ).select_from(entries.join(requests, requests.c.id == entries.c.request_id)),
        which,
    )
    query = query.where(entries.c.verb != "note").group_by(entries.c.code, entries.c.verb)
    with engine.connect() as connection:
        found = [
            Loss(row.code, _name(row.code), row.verb, row.entries, row.requests, row.first_at, row.last_at, row.example)
            for row in connection.execute(query)
        ]
    return sorted(found, key=lambda loss: (-loss.entries, loss.code, loss.verb))


def _name(code: str) -> str:
    known = CODES.get(code)
    return known.name if known is not None else ""


def _request(row: RowMapping) -> dict[str, Any]:
    shown = {name: row[name] for name in row if name not in ("server", "kept_bytes") and not name.endswith("_tokens")}
    usage = {name: row[f"{name}_tokens"] for name in ("input", "output", "cached_read", "cached_write", "reasoning")}
    shown["usage"] = None if all(number is None for number in usage.values()) else usage
    return shown


def _attempt(row: RowMapping) -> dict[str, Any]:
    return {name: row[name] for name in row if name not in ("request_id", "server")}


# --- on the terminal ----------------------------------------------------------------------------------------------------


def since(told: str, now: float | None = None) -> float:
    """A time from `90m`, `12h`, `7d`, or an ISO date; seconds since 1970. Raises `ValueError` with what is expected."""
    units = {"s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0, "w": 7 * 86400.0}
    number, unit = told[:-1], told[-1:]
    if unit in units and number.replace(".", "", 1).isdigit():
        return (time.time() if now is None else now) - float(number) * units[unit]
    try:
        found = datetime.fromisoformat(told)
    except ValueError:
        raise ValueError(f"{told!r} is no time: 90m, 12h, 7d, or a date such as 2026-01-31") from None
    return (found if found.tzinfo is not None else found.astimezone()).timestamp()


def print_requests(console: Console, found: Sequence[dict[str, Any]]) -> None:
    """One line for each request, the newest first."""
    if not found:
        console.print("no requests")
        return
    table = _table(
        "time",
        "id",
        "client",
        "dialect",
        "model",
        "status",
        "ended",
        ">tries",
        ">losses",
        "worst",
        ">in",
        ">out",
        ">seconds",
    )
    for row in found:
        usage = row["usage"] or {}
        table.add_row(*map(_cell, (
            _time(row["at"]), row["id"], row["client"] or "-", row["dialect"], row["model"], row["status"], row["ended"] or "running",
            row["attempts"], row["losses"] or None, row["worst"], usage.get("input"), usage.get("output"), _seconds(row["at"], row["ended_at"]),
        )), style="red" if row["ended"] in ("upstream", "error", "unfinished") else None)  # fmt: skip
    console.print(table)


def print_report(console: Console, found: dict[str, Any]) -> None:
    """One request with its attempts and its losses."""
    usage = found["usage"] or {}
    tokens = ", ".join(f"{name} {number}" for name, number in usage.items() if number is not None)
    for name, value in (
        ("request", found["id"]),
        ("time", f"{_time(found['at'])}, {_seconds(found['at'], found['ended_at'])} s" if found["ended_at"] else _time(found["at"])),
        ("client", found["client"] or "-"),
        ("asked", f"{found['dialect']} {found['path']}, {found['model'] or 'no model'}, {found['body_bytes']} bytes{', stream' if found['stream'] else ''}"),
        ("route", f"{found['route'] or '-'}, {found['policy'] or '-'}"),
        ("ended", f"{found['ended'] or 'running'}, status {found['status'] or '-'}"),
        ("tokens", tokens or "-"),
    ):  # fmt: skip
        console.print(f"{name:8} {escape(one_line(str(value)))}", highlight=False, soft_wrap=True)
    if found["attempts"]:
        table = _table(
            ">try", "upstream", "target", "model", ">bytes", "status", "ended", "error", ">first byte", ">seconds"
        )
        for row in found["attempts"]:
            table.add_row(*map(_cell, (
                row["number"], row["upstream"], row["target"], row["model"], row["wire_bytes"], row["status"], row["ended"] or "running",
                row["error"], _seconds(row["at"], row["first_byte_at"]), _seconds(row["at"], row["ended_at"]),
            )))  # fmt: skip
        console.print(table)
    else:
        console.print("no attempt: nothing was sent to any upstream")
    if not found["entries"]:
        console.print("nothing was lost")
    for entry in found["entries"]:
        place = entry.get("param") or entry.get("path") or "(body)"
        facts = ", ".join(f"{name}={value}" for name, value in (entry.get("facts") or {}).items())
        line = f"{place}  {entry['code']} {entry.get('name', '')}  {entry['verb']}: {entry.get('message', '')}"
        console.print(escape(one_line(f"{line} ({facts})" if facts else line)), highlight=False, soft_wrap=True)


def print_losses(console: Console, found: Sequence[Loss]) -> None:
    """What was lost, one line for each code and verb, and the sum."""
    if not found:
        console.print("nothing was lost")
        return
    table = _table("code", "name", "verb", ">entries", ">requests", "first", "last", "such as")
    for loss in found:
        table.add_row(*map(_cell, (
            loss.code, loss.name, loss.verb, loss.entries, loss.requests, _time(loss.first_at), _time(loss.last_at), loss.example or "(body)",
        )))  # fmt: skip
    console.print(table)
    total = sum(loss.entries for loss in found)
    console.print(f"{total} {'loss' if total == 1 else 'losses'}; sendable explain CODE says what one means")


def _table(*names: str) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    for name in names:
        # An id that is cut is worth nothing: who pipes this into another program wants it whole.
        table.add_column(
            name.lstrip(">"),
            justify="right" if name[0] == ">" else "left",
            overflow="fold",
            no_wrap=name in ("time", "id", "code"),
        )
    return table


def _cell(value: object) -> str:
    return "-" if value is None else escape(one_line(str(value)))


def _time(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).astimezone().strftime("%Y-%m-%d %H:%M:%S")


def _seconds(start: float, end: float | None) -> str | None:
    return None if end is None else f"{max(0.0, end - start):.3f}"
