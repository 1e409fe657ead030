"""What the audit forgets: requests older than an age, and the oldest ones when all together take too much room.

A little at a time, so that no attempt waits for it. What must not live here: when it is done (audit.py).
"""

from __future__ import annotations

from sqlalchemy import Connection, delete, func, select

from sendable.gateway.audit_schema import attempts, bodies, entries, requests

CHUNK = 500
"""How many requests go at once: about ten milliseconds of work."""

PAGES = 2000
"""How many pages go back to the disk at once."""


def forget(connection: Connection, *, before: float | None, most_bytes: int | None) -> int:
    """Delete up to `CHUNK` of the requests that ended and began before a time, or that make the audit larger than so many bytes.

    Returns how many went; if that is `CHUNK`, there may be more. The room is what is kept of the requests by our own count, the same for every
    database: what a file takes on disk is about that.
    """
    gone: list[str] = []
    if before is not None:
        old = select(requests.c.id).where(requests.c.at < before, requests.c.ended.is_not(None))
        gone = list(connection.scalars(old.order_by(requests.c.at).limit(CHUNK)))
    if most_bytes is not None and len(gone) < CHUNK:
        gone += _too_many(connection, most_bytes, gone)
    for table in (attempts, entries, bodies):
        for ids in _groups(gone):
            connection.execute(delete(table).where(table.c.request_id.in_(ids)))
    for ids in _groups(gone):
        connection.execute(delete(requests).where(requests.c.id.in_(ids)))
    return len(gone)


def give_back(connection: Connection) -> None:
    """The room of what was forgotten goes back to the disk, where the database does not do that by itself."""
    if connection.dialect.name == "sqlite":
        cursor = connection.connection.cursor()
        free = int(cursor.execute("PRAGMA freelist_count").fetchone()[0])
        for _ in range(min(free, PAGES)):
            # It gives back a page for each step of the statement, and the driver takes one step.
            cursor.execute("PRAGMA incremental_vacuum(1)")
        cursor.close()


def _too_many(connection: Connection, most_bytes: int, gone: list[str]) -> list[str]:
    total = int(connection.scalar(select(func.coalesce(func.sum(requests.c.kept_bytes), 0))) or 0)
    if total <= most_bytes:
        return []
    oldest = select(requests.c.id, requests.c.kept_bytes).where(requests.c.ended.is_not(None)).order_by(requests.c.at)
    out: list[str] = []
    known = set(gone)
    for row in connection.execute(oldest.limit(CHUNK)):
        if total <= most_bytes or len(gone) + len(out) >= CHUNK:
            break
        total -= row.kept_bytes
        if row.id not in known:
            out.append(row.id)
    return out


def _groups(ids: list[str]) -> list[list[str]]:
    """Few enough for one statement: an old SQLite takes 999 values."""
    return [ids[start : start + CHUNK] for start in range(0, len(ids), CHUNK)]
