"""The audit as the server writes it: one row for each request, one for each attempt, one for each loss.

The row of an attempt is committed before `attempt_started` returns; all that is waiting then goes into the same commit. Everything else is
queued and written by one thread, off the path of the request. What must not live here: the tables (audit_schema.py), what is asked of the
audit (audit_queries.py), what it forgets (retention.py).
"""

from __future__ import annotations

import asyncio
import logging
import os
import re
import socket
import threading
import time
import uuid
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, TypeAlias, final

import msgspec
from sqlalchemy import Connection, Engine, bindparam, delete, exc, insert, select, update

from sendable.gateway import audit_queries, retention
from sendable.gateway.audit_schema import (
    AuditError,
    attempts,
    bodies,
    default_file,
    entries,
    open_database,
    reason,
    requests,
    servers,
)
from sendable.render.json import dump

__all__ = ["AttemptRow", "Audit", "AuditError", "Ended", "RequestRow", "default_file"]

Ended: TypeAlias = Literal["whole", "client", "upstream", "error", "refused", "unfinished"]
"""How it ended: whole; the client left; the upstream broke off or failed; an error of ours; refused here, before any attempt; or the server
itself was gone before it ended."""

LINGER_SECONDS = 0.05
"""How long what nobody waits for is held, so that it goes into the commit of the next attempt."""

HEARTBEAT_SECONDS = 10.0
SILENT_SECONDS = 60.0
"""A server that was not heard of for so long is gone, if nothing shows it earlier."""

RETENTION_SECONDS = 600.0
"""How often it is looked whether something is to be forgotten."""

RETRY_SECONDS = 1.0
MOST_WAITING = 200_000
"""How many rows are held while the database cannot be reached. Beyond it the oldest that nobody waits for are gone, and counted."""

_log = logging.getLogger("sendable.audit")
_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")

# What a row takes, indexes included; measured (tests/gateway/test_audit.py compares the sum with a real file).
_REQUEST_BYTES, _ATTEMPT_BYTES, _ENTRY_BYTES = 420, 220, 160


@final
class RequestRow(msgspec.Struct, frozen=True):
    """A request as it came in. Sizes in bytes, times in seconds since 1970. `body` is only kept if the audit keeps bodies."""

    id: str
    at: float
    client: str
    dialect: str
    path: str
    model: str | None
    route: str | None
    policy: str | None
    stream: bool
    body_bytes: int
    body: bytes | None = None


@final
class AttemptRow(msgspec.Struct, frozen=True):
    """One try at one upstream. `number` counts from 1 for each request."""

    request_id: str
    number: int
    upstream: str
    target: str
    model: str | None
    wire_bytes: int
    at: float


Kind = Literal["request", "request_end", "attempt", "attempt_end", "entry", "body", "nothing"]
Row: TypeAlias = dict[str, Any]
Waiting: TypeAlias = "asyncio.Future[None]"


@final
class _Task:
    """One row to write, and who waits for it."""

    __slots__ = ("kind", "row", "waiting")

    def __init__(self, kind: Kind, row: Row, waiting: Waiting | None = None) -> None:
        self.kind, self.row, self.waiting = kind, row, waiting


@final
class Audit:
    """The audit of one running server. Several servers may share one database."""

    def __init__(
        self,
        engine: Engine,
        *,
        keep_bodies: bool = False,
        keep_seconds: float | None = None,
        keep_bytes: int | None = None,
    ) -> None:
        """For `Audit.open`, which says what the arguments mean."""
        self._engine, self._keep_bodies = engine, keep_bodies
        self._keep_seconds, self._keep_bytes = keep_seconds, keep_bytes
        self.server = uuid.uuid4().hex
        self.lost = 0
        self._condition = threading.Condition()
        self._tasks: list[_Task] = []
        self._urgent = False
        self._closing = False
        self._connection: Connection | None = None
        self._heartbeat_due = time.monotonic() + HEARTBEAT_SECONDS
        self._retention_due = time.monotonic()
        self._thread = threading.Thread(target=self._run, name="sendable-audit", daemon=True)

    @classmethod
    def open(
        cls,
        place: str | os.PathLike[str] | None = None,
        *,
        bodies: bool = False,
        keep_days: float | None = None,
        keep_bytes: int | None = None,
        durable: bool = False,
    ) -> Audit:
        """The audit at `place`: the path of an SQLite file or a `postgresql://` URL; by default `default_file()`.

        Made if it is not there. What a server that is gone had begun is marked as unfinished. `bodies`: keep what clients sent and got, whole.
        `keep_days`, `keep_bytes`: forget what is older, and the oldest beyond so much room. `durable`: a commit also outlives the machine.
        Raises `AuditError` in one line.
        """
        engine = open_database(default_file() if place is None else place, create=True, durable=durable)
        seconds = None if keep_days is None else keep_days * 86400
        audit = cls(engine, keep_bodies=bodies, keep_seconds=seconds, keep_bytes=keep_bytes)
        try:
            with engine.connect().execution_options(writes=True) as connection, connection.begin():
                now = time.time()
                connection.execute(
                    insert(servers),
                    {"id": audit.server, "host": _host(), "process": _process(), "started_at": now, "seen_at": now},
                )
                mark_unfinished(connection, now)
        except exc.SQLAlchemyError as error:
            engine.dispose()
            raise AuditError(f"the audit cannot be written: {reason(error)}") from None
        audit._thread.start()
        return audit

    # --- what the server says ---------------------------------------------------------------------------------------------

    def request(self, row: RequestRow) -> None:
        """A request has come in. Written with the next commit; before its first attempt in any case."""
        self._put(_Task("request", {
            "id": row.id, "server": self.server, "at": row.at, "ended_at": None, "client": _short(row.client), "dialect": row.dialect,
            "path": _short(row.path), "model": _short(row.model), "route": _short(row.route), "policy": row.policy, "stream": row.stream,
            "body_bytes": row.body_bytes, "status": None, "ended": None, "losses": None, "worst": None, "input_tokens": None,
            "output_tokens": None, "cached_read_tokens": None, "cached_write_tokens": None, "reasoning_tokens": None,
            "kept_bytes": _REQUEST_BYTES,
        }))  # fmt: skip
        if self._keep_bodies and row.body is not None:
            self._put(_Task("body", {"request_id": row.id, "side": "request", "body": row.body}))

    async def attempt_started(self, row: AttemptRow) -> None:
        """The row of this attempt is committed when this returns; the first byte may go upstream. Raises `AuditError` if it cannot be."""
        waiting: Waiting = asyncio.get_running_loop().create_future()
        self._put(_Task("attempt", {
            "request_id": row.request_id, "number": row.number, "server": self.server, "at": row.at, "first_byte_at": None, "ended_at": None,
            "upstream": _short(row.upstream), "target": row.target, "model": _short(row.model), "wire_bytes": row.wire_bytes, "status": None,
            "error": None, "ended": None,
        }, waiting))  # fmt: skip
        await waiting

    def attempt_finished(
        self,
        request_id: str,
        number: int,
        *,
        status: int | None,
        error: str | None,
        first_byte_at: float | None,
        ended_at: float,
        ended: Ended,
    ) -> None:
        """An attempt is over. `error` is a word for what went wrong, never a text that a provider wrote."""
        self._put(_Task("attempt_end", {
            "b_request_id": request_id, "b_number": number, "status": status, "error": _short(error), "first_byte_at": first_byte_at,
            "ended_at": ended_at, "ended": ended,
        }))  # fmt: skip

    def finished(
        self,
        request_id: str,
        *,
        status: int,
        at: float,
        ended: Ended,
        entries: Sequence[Mapping[str, Any]] = (),
        worst: str | None = None,
        usage: Mapping[str, int | None] | None = None,
        answer: bytes | None = None,
        model: str | None = None,
        route: str | None = None,
        policy: str | None = None,
    ) -> None:
        """A request is over. `entries` are those of the report as `render.json.entry_objects` gives them, without the caller's values.

        `usage` has the names of `sendable.conversation.Usage`. `model`, `route` and `policy` say what was not known when the request came in.
        """
        kept = _REQUEST_BYTES + _ATTEMPT_BYTES
        for position, entry in enumerate(entries):
            shown = {name: value for name, value in entry.items() if name != "original"}
            text = dump(shown).decode()
            place = _clean(str(entry.get("param") or entry.get("path") or ""))
            kept += _ENTRY_BYTES + len(text) + len(place)
            self._put(_Task("entry", {
                "request_id": request_id, "position": position, "at": at, "code": str(entry.get("code", "")), "verb": str(entry.get("verb", "")),
                "place": place, "entry": text,
            }))  # fmt: skip
        if self._keep_bodies and answer is not None:
            kept += len(answer)
            self._put(_Task("body", {"request_id": request_id, "side": "answer", "body": answer}))
        tokens = {} if usage is None else usage
        self._put(_Task("request_end", {
            "b_id": request_id, "status": status, "ended_at": at, "ended": ended, "worst": worst,
            "losses": sum(entry.get("verb") != "note" for entry in entries), "input_tokens": _count(tokens.get("input")),
            "output_tokens": _count(tokens.get("output")), "cached_read_tokens": _count(tokens.get("cached_read")),
            "cached_write_tokens": _count(tokens.get("cached_write")), "reasoning_tokens": _count(tokens.get("reasoning")),
            "kept_bytes": kept, "b_model": _short(model), "b_route": _short(route), "b_policy": _short(policy),
        }))  # fmt: skip

    async def flushed(self) -> None:
        """Everything that was said before is committed when this returns."""
        waiting: Waiting = asyncio.get_running_loop().create_future()
        self._put(_Task("nothing", {}, waiting))
        await waiting

    async def report(self, request_id: str, client: str | None = None) -> dict[str, Any] | None:
        """All that is known of a request, or None. With `client`, only if the request was that client's."""
        await self.flushed()
        found = await asyncio.to_thread(audit_queries.report, self._engine, request_id)
        return None if found is None or (client is not None and found["client"] != client) else found

    def close(self) -> None:
        """Everything is written, and this server is known to be gone. Nothing may be said to it afterwards."""
        with self._condition:
            self._closing = True
            self._condition.notify()
        self._thread.join()
        try:
            with self._engine.connect().execution_options(writes=True) as connection, connection.begin():
                connection.execute(delete(servers).where(servers.c.id == self.server))
        except exc.SQLAlchemyError as error:
            _log.warning("the audit could not be closed: %s", reason(error))
        self._engine.dispose()

    # --- the thread that writes -------------------------------------------------------------------------------------------

    def _put(self, task: _Task) -> None:
        with self._condition:
            self._tasks.append(task)
            if task.waiting is not None:
                self._urgent = True
                self._condition.notify()
            elif len(self._tasks) == 1:
                self._condition.notify()

    def _run(self) -> None:
        while True:
            with self._condition:
                if not self._tasks and not self._closing:
                    due = min(self._heartbeat_due, self._retention_due) - time.monotonic()
                    if due > 0:
                        self._condition.wait(due)
                if self._tasks and not self._urgent and not self._closing:
                    self._condition.wait(LINGER_SECONDS)
                tasks, self._tasks, self._urgent = self._tasks, [], False
                last = self._closing
            left = self._write(tasks) if tasks else []
            if left and last:
                self._count_lost(len(left), "at the end")
                left = []
            if left:
                self._wait_and_keep(left)
            if last and not tasks:
                self._leave()
                return
            if not last:
                self._do_chores()

    def _wait_and_keep(self, left: list[_Task]) -> None:
        """The database cannot be reached now: what nobody waits for stays, for the next try."""
        with self._condition:
            if not self._closing:
                self._condition.wait(RETRY_SECONDS)
            self._tasks[:0] = left
            if len(self._tasks) <= MOST_WAITING:
                return
            kept = [task for task in self._tasks[:-MOST_WAITING] if task.waiting is not None]
            gone = len(self._tasks) - MOST_WAITING - len(kept)
            self._tasks = [*kept, *self._tasks[-MOST_WAITING:]]
        self._count_lost(gone, "the database cannot be reached")

    def _write(self, tasks: list[_Task]) -> list[_Task]:
        """Write these in one transaction; if one of them cannot be stored at all, each in its own. Returns those to be tried again."""
        try:
            with self._open().begin():
                _write_rows(self._open(), tasks)
        except (exc.OperationalError, exc.InterfaceError, exc.TimeoutError) as error:
            self._leave()
            _log.warning("the audit could not be written, and is tried again: %s", reason(error))
            _answer(tasks, AuditError(f"the audit could not be written: {reason(error)}"))
            return [task for task in tasks if task.waiting is None]
        except Exception as error:
            self._leave()
            if len(tasks) > 1:
                return [left for task in tasks for left in self._write([task])]
            if tasks[0].waiting is None:
                self._count_lost(1, type(error).__name__)
            _answer(tasks, AuditError(f"the audit could not take a row: {type(error).__name__}"))
            return []
        _answer(tasks, None)
        return []

    def _open(self) -> Connection:
        if self._connection is None:
            self._connection = self._engine.connect().execution_options(writes=True)
        return self._connection

    def _leave(self) -> None:
        """The connection is given up; the next write makes a new one if it has to."""
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.close()

    def _count_lost(self, number: int, why: str) -> None:
        self.lost += number
        _log.error("%d rows of the audit are lost: %s", number, why)

    def _do_chores(self) -> None:
        now = time.monotonic()
        if now >= self._heartbeat_due:
            self._heartbeat_due = now + HEARTBEAT_SECONDS
            self._do(self._beat)
        if now >= self._retention_due:
            self._retention_due = now + RETENTION_SECONDS
            if self._keep_seconds is not None or self._keep_bytes is not None:
                if self._do(self._forget):
                    # More than one piece at once would keep an attempt waiting; the next one comes when nothing else is to be written.
                    self._retention_due = now

    def _do(self, chore: Callable[[Connection], bool]) -> bool:
        """Whether there is more of this to do at once."""
        try:
            with self._open().begin():
                return chore(self._open())
        except exc.SQLAlchemyError as error:
            self._leave()
            _log.warning("the audit could not be looked after, and is tried again later: %s", reason(error))
            return False

    def _beat(self, connection: Connection) -> bool:
        now = time.time()
        heard = connection.execute(update(servers).where(servers.c.id == self.server).values(seen_at=now))
        if heard.rowcount == 0:
            # Another one took us for gone (this machine slept); we are not.
            connection.execute(
                insert(servers),
                {"id": self.server, "host": _host(), "process": _process(), "started_at": now, "seen_at": now},
            )
        mark_unfinished(connection, now)
        return False

    def _forget(self, connection: Connection) -> bool:
        before = None if self._keep_seconds is None else time.time() - self._keep_seconds
        gone = retention.forget(connection, before=before, most_bytes=self._keep_bytes)
        if gone:
            retention.give_back(connection)
        return gone >= retention.CHUNK


# --- statements ---------------------------------------------------------------------------------------------------------

_INSERT = {"request": insert(requests), "attempt": insert(attempts), "entry": insert(entries), "body": insert(bodies)}

_END_ATTEMPT = (
    update(attempts)
    .where(attempts.c.request_id == bindparam("b_request_id"), attempts.c.number == bindparam("b_number"))
    .values({name: bindparam(name) for name in ("status", "error", "first_byte_at", "ended_at", "ended")})
)

_END_NAMES = (
    "status", "ended_at", "ended", "worst", "losses", "input_tokens", "output_tokens", "cached_read_tokens", "cached_write_tokens",
    "reasoning_tokens",
)  # fmt: skip
_LATE_NAMES = ("model", "route", "policy")

_END_REQUEST = (
    update(requests)
    .where(requests.c.id == bindparam("b_id"))
    .values({name: bindparam(name) for name in (*_END_NAMES, "kept_bytes")})
)
_END_REQUEST_LATE = _END_REQUEST.values(
    {name: bindparam(f"b_{name}", type_=requests.c[name].type) for name in _LATE_NAMES}
)


def _write_rows(connection: Connection, tasks: Sequence[_Task]) -> None:
    """All rows of one commit: what began and ended in it is written once, as ended."""
    rows: dict[str, list[Row]] = {"request": [], "attempt": [], "entry": [], "body": []}
    begun: dict[Any, Row] = {}
    ended: dict[bool, list[Row]] = {False: [], True: []}
    attempts_ended: list[Row] = []
    for task in tasks:
        row = task.row
        if task.kind == "request":
            row = begun[row["id"]] = dict(row)
            rows["request"].append(row)
        elif task.kind == "attempt":
            row = begun[row["request_id"], row["number"]] = dict(row)
            rows["attempt"].append(row)
        elif task.kind == "request_end":
            first = begun.get(row["b_id"])
            late = {name: row[f"b_{name}"] for name in _LATE_NAMES if row[f"b_{name}"] is not None}
            if first is not None:
                first.update({name: row[name] for name in _END_NAMES}, **late, kept_bytes=row["kept_bytes"])
            elif len(late) == len(_LATE_NAMES):
                ended[True].append(row)
            else:
                plain = {name: value for name, value in row.items() if name not in ("b_model", "b_route", "b_policy")}
                ended[False].append(plain)
                for name, value in late.items():
                    connection.execute(update(requests).where(requests.c.id == row["b_id"]).values({name: value}))
        elif task.kind == "attempt_end":
            first = begun.get((row["b_request_id"], row["b_number"]))
            if first is not None:
                first.update({name: value for name, value in row.items() if name[:2] != "b_"})
            else:
                attempts_ended.append(row)
        elif task.kind == "entry" or task.kind == "body":
            rows[task.kind].append(row)
    for kind, found in rows.items():
        if found:
            connection.execute(_INSERT[kind], found)
    if attempts_ended:
        connection.execute(_END_ATTEMPT, attempts_ended)
    for late_too, statement in ((False, _END_REQUEST), (True, _END_REQUEST_LATE)):
        if ended[late_too]:
            connection.execute(statement, ended[late_too])


def mark_unfinished(connection: Connection, now: float) -> int:
    """What servers had begun that are gone is marked `unfinished`; their rows go. Returns how many attempts that were.

    Gone is a server of this machine whose process is no more, at once; any other one when it was not heard of for `SILENT_SECONDS`.
    """
    host = _host()
    for server in connection.execute(select(servers)).all():
        here = server.host == host and not _is_running(server.process)
        if here or server.seen_at < now - SILENT_SECONDS:
            connection.execute(delete(servers).where(servers.c.id == server.id))
    known = select(servers.c.id)
    marked = connection.execute(
        update(attempts).where(attempts.c.ended.is_(None), attempts.c.server.not_in(known)).values(ended="unfinished")
    )
    connection.execute(
        update(requests).where(requests.c.ended.is_(None), requests.c.server.not_in(known)).values(ended="unfinished")
    )
    return marked.rowcount


def _answer(tasks: Sequence[_Task], error: AuditError | None) -> None:
    """Tell those who wait, all of one loop at once."""
    loops: dict[asyncio.AbstractEventLoop, list[Waiting]] = {}
    for task in tasks:
        if task.waiting is not None:
            loops.setdefault(task.waiting.get_loop(), []).append(task.waiting)
    for loop, waiting in loops.items():
        try:
            loop.call_soon_threadsafe(_settle, waiting, error)
        except RuntimeError:
            _log.debug("nobody waits any more: the loop is closed")


def _settle(waiting: Sequence[Waiting], error: AuditError | None) -> None:
    for future in waiting:
        if future.done():
            continue  # keeps: who waited was cancelled, and the row is there
        if error is None:
            future.set_result(None)
        else:
            future.set_exception(error)


# --- who a server is ----------------------------------------------------------------------------------------------------


def _host() -> str:
    return socket.gethostname()[:255]


def _process() -> str:
    """This process, so that another one with the same number is not taken for it: the number, and when and since which boot it runs."""
    return f"{os.getpid()} {_started(os.getpid())}"


def _is_running(process: str) -> bool:
    """Whether a process of this machine still runs. Where that cannot be seen, it does, until its silence shows otherwise."""
    number, _, started = process.partition(" ")
    if not number.isdigit() or started == "?":
        return True
    return _started(int(number)) in (started, "?")


def _started(number: int) -> str:
    """When and since which boot a process runs; `""` if there is none of this number, `?` where nobody can tell."""
    try:
        boot = _read("/proc/sys/kernel/random/boot_id").strip()
    except OSError:
        return "?"
    try:
        # «(22) starttime: The time the process started after system boot»; the name in brackets before it may hold anything. Field 3 is the
        # state: a zombie does not run.
        fields = _read(f"/proc/{number}/stat").rpartition(")")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return ""
    except OSError:
        return "?"
    return "" if fields[0] in "ZX" else f"{boot} {fields[19]}"


def _read(path: str) -> str:
    with open(path, encoding="utf-8", errors="replace") as file:
        return file.read()


def _clean(text: str) -> str:
    """Text that every database takes: PostgreSQL has no NUL, and a lone surrogate has no UTF-8."""
    return _UNSTORABLE.sub("\N{REPLACEMENT CHARACTER}", text)


def _short(text: str | None) -> str | None:
    """A name as a column holds it. Clients choose some of them, so they may be anything."""
    return None if text is None else _clean(text[:200])


def _count(value: Any) -> int | None:
    return value if type(value) is int and 0 <= value < 2**63 else None
