"""The tables of the audit, and how a database with them is opened: SQLite and PostgreSQL from one description.

No column is for message text except those of `bodies`, which is empty unless somebody asked for it; none is for keys.
What must not live here: who writes (audit.py), what is deleted when (retention.py), what is asked of it (audit_queries.py).
"""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any, final

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Connection,
    Double,
    Engine,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    String,
    Table,
    Text,
    create_engine,
    event,
    exc,
    insert,
    select,
    text,
)
from sqlalchemy.engine import URL, make_url
from sqlalchemy.schema import CreateIndex, CreateTable

VERSION = 1
"""Of the tables. A newer one is refused; an older one will be brought up to this."""

BUSY_SECONDS = 5.0
"""How long a write waits for another server that is writing the same SQLite file. A commit takes well under a millisecond."""

metadata = MetaData()

about = Table(
    "sendable_about",
    metadata,
    Column("name", String(40), primary_key=True),
    Column("value", Text, nullable=False),
)

servers = Table(
    # The servers that run now. A row whose server is gone is deleted, and what it had begun is marked.
    "sendable_servers",
    metadata,
    Column("id", String(40), primary_key=True),
    Column("host", String(255), nullable=False),
    Column("process", String(255), nullable=False),
    Column("started_at", Double, nullable=False),
    Column("seen_at", Double, nullable=False),
)

requests = Table(
    "sendable_requests",
    metadata,
    Column("id", String(80), primary_key=True),
    Column("server", String(40), nullable=False),
    Column("at", Double, nullable=False),
    Column("ended_at", Double),
    Column("client", String(200), nullable=False),
    Column("dialect", String(40), nullable=False),
    Column("path", String(200), nullable=False),
    Column("model", String(200)),
    Column("route", String(200)),
    Column("policy", String(40)),
    Column("stream", Boolean, nullable=False),
    Column("body_bytes", BigInteger, nullable=False),
    Column("status", Integer),
    Column("ended", String(20)),
    Column("losses", Integer),
    Column("worst", String(10)),
    Column("input_tokens", BigInteger),
    Column("output_tokens", BigInteger),
    Column("cached_read_tokens", BigInteger),
    Column("cached_write_tokens", BigInteger),
    Column("reasoning_tokens", BigInteger),
    # How many bytes all that is kept of this request takes, about. Retention by size adds these up.
    Column("kept_bytes", BigInteger, nullable=False),
    Index("sendable_requests_by_time", "at"),
    Index("sendable_requests_open", "ended", "server"),
)

attempts = Table(
    "sendable_attempts",
    metadata,
    Column("request_id", String(80), primary_key=True),
    Column("number", Integer, primary_key=True),
    Column("server", String(40), nullable=False),
    Column("at", Double, nullable=False),
    Column("first_byte_at", Double),
    Column("ended_at", Double),
    Column("upstream", String(200), nullable=False),
    Column("target", String(80), nullable=False),
    Column("model", String(200)),
    Column("wire_bytes", BigInteger, nullable=False),
    Column("status", Integer),
    Column("error", String(200)),
    Column("ended", String(20)),
    Index("sendable_attempts_open", "ended", "server"),
)

entries = Table(
    "sendable_entries",
    metadata,
    Column("request_id", String(80), primary_key=True),
    Column("position", Integer, primary_key=True),
    Column("at", Double, nullable=False),
    Column("code", String(10), nullable=False),
    Column("verb", String(20), nullable=False),
    Column("place", Text, nullable=False),
    # The whole entry, as `report.to_json()` writes it.
    Column("entry", Text, nullable=False),
    Index("sendable_entries_by_code", "code", "at"),
)

bodies = Table(
    "sendable_bodies",
    metadata,
    Column("request_id", String(80), primary_key=True),
    Column("side", String(10), primary_key=True),
    Column("body", LargeBinary, nullable=False),
)

_TABLES = (about, servers, requests, attempts, entries, bodies)

_CREATION = 0x53454E44
"""The number of the lock under which PostgreSQL's tables are made: two servers may start at once."""


@final
class AuditError(Exception):
    """The audit cannot be opened, or a row that has to be there before the first byte goes upstream could not be written."""


def default_file() -> Path:
    """`$XDG_STATE_HOME/sendable/audit.db`, else under `~/.local/state`."""
    state = os.environ.get("XDG_STATE_HOME") or ""
    # «All paths set in these environment variables must be absolute. If an implementation encounters a relative path […] it should consider
    # the path invalid and ignore it.» (XDG Base Directory Specification)
    folder = Path(state) if os.path.isabs(state) else Path.home() / ".local" / "state"
    return folder / "sendable" / "audit.db"


def address_of(place: str | os.PathLike[str]) -> URL:
    """A database URL as it is (`postgresql://…`), anything else as the path of an SQLite file. Raises `AuditError`."""
    told = os.fspath(place)
    if "://" not in told:
        return URL.create("sqlite", database=os.path.abspath(os.path.expanduser(told)))
    try:
        url = make_url(told)
    except (exc.ArgumentError, ValueError):
        raise AuditError("the audit's database URL cannot be read") from None
    if url.drivername in ("postgresql", "postgres"):
        return url.set(drivername="postgresql+psycopg")
    if url.get_backend_name() not in ("sqlite", "postgresql"):
        raise AuditError(f"the audit can be kept in SQLite or PostgreSQL, not in {url.get_backend_name()}")
    return url


def shown(url: URL) -> str:
    """Where the audit is, without the password."""
    return url.database or "memory" if url.get_backend_name() == "sqlite" else url.render_as_string(hide_password=True)


def open_database(place: str | os.PathLike[str], *, create: bool, durable: bool = False) -> Engine:
    """An engine for a database that has our tables; with `create`, they are made if they are not there.

    Raises `AuditError` in one line for whatever stands in the way.
    """
    url = address_of(place)
    where = shown(url)
    if url.get_backend_name() == "sqlite":
        _prepare_file(Path(url.database or ""), create)
    try:
        engine = create_engine(url, pool_pre_ping=url.get_backend_name() != "sqlite")
        if url.get_backend_name() == "sqlite":
            _tune_sqlite(engine, durable)
        try:
            _check_tables(engine, where, create)
        except BaseException:
            engine.dispose()
            raise
    except ImportError as error:
        raise AuditError(f"the audit at {where} needs a package that is not installed: {error.name}") from None
    except exc.SQLAlchemyError as error:
        raise AuditError(f"the audit at {where} cannot be opened: {reason(error)}") from None
    return engine


def reason(error: BaseException) -> str:
    """What the database itself says, in one line, without statement and values."""
    inner = getattr(error, "orig", None) or error
    lines = str(inner).strip().splitlines()
    return f"{type(inner).__name__}: {lines[0]}" if lines else type(inner).__name__


def _prepare_file(path: Path, create: bool) -> None:
    if path.is_file():
        return
    if not create:
        raise AuditError(f"there is no audit at {path}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        # For the eyes of its owner only; SQLite gives its other two files the same rights.
        os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))
    except OSError as error:
        raise AuditError(f"the audit at {path} cannot be made: {error.strerror}") from None


def _tune_sqlite(engine: Engine, durable: bool) -> None:
    """WAL, so that readers and the writer do not wait for each other; every transaction is ours to begin.

    A commit is safe from the death of the process at once. From the death of the machine it is with `durable` (an fsync for each commit);
    without, the last seconds may be missing then, and the file is whole in either case.
    """

    @event.listens_for(engine, "connect")
    def on_connect(connection: Any, _record: Any) -> None:
        connection.isolation_level = None
        cursor = connection.cursor()
        cursor.execute(f"PRAGMA busy_timeout = {int(BUSY_SECONDS * 1000)}")
        # Has an effect on a new file only, and only before WAL: what is deleted can be given back a little at a time.
        cursor.execute("PRAGMA auto_vacuum = INCREMENTAL")
        _into_wal(cursor)
        cursor.execute(f"PRAGMA synchronous = {'FULL' if durable else 'NORMAL'}")
        cursor.execute(f"PRAGMA journal_size_limit = {64 * 1024 * 1024}")
        cursor.close()

    @event.listens_for(engine, "begin")
    def on_begin(connection: Connection) -> None:
        # A transaction that first reads and then writes fails at once if another one wrote in between; one that says so first waits.
        writes = connection.get_execution_options().get("writes", False)
        connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")


def _into_wal(cursor: Any) -> None:
    """The file is in WAL mode. The change itself does not wait for other connections («database is locked»), so it is tried again."""
    until = time.monotonic() + BUSY_SECONDS
    while True:
        try:
            mode = cursor.execute("PRAGMA journal_mode = WAL").fetchone()[0]
        except Exception:
            if time.monotonic() > until:
                raise
            mode = None
        if mode in ("wal", "memory") or time.monotonic() > until:
            return
        time.sleep(0.02)


def _check_tables(engine: Engine, where: str, create: bool) -> None:
    """The tables are there, and are ours. They are made only if they are not: making an index waits for those who write."""
    with engine.connect() as connection, connection.begin():
        there = engine.dialect.has_table(connection, about.name)
        found = connection.scalar(_VERSION_KEPT) if there else None
    if found is None and create:
        with engine.connect().execution_options(writes=True) as connection, connection.begin():
            found = _made(connection)
    if found is None:
        raise AuditError(f"{where} is no audit of sendable")
    if not found.isdigit() or int(found) > VERSION:
        raise AuditError(f"the audit at {where} is of version {found}; this sendable knows {VERSION}")


_VERSION_KEPT = select(about.c.value).where(about.c.name == "version")


def _made(connection: Connection) -> str | None:
    """The version of the tables, which are made if nobody else has made them meanwhile."""
    if connection.dialect.name == "postgresql":
        connection.execute(text("SELECT pg_advisory_xact_lock(:number)"), {"number": _CREATION})
    connection.execute(CreateTable(about, if_not_exists=True))
    found = connection.scalar(_VERSION_KEPT)
    if found is not None:
        return str(found)
    for table in _TABLES:
        connection.execute(CreateTable(table, if_not_exists=True))
        for index in sorted(table.indexes, key=lambda index: str(index.name)):
            connection.execute(CreateIndex(index, if_not_exists=True))
    connection.execute(insert(about), {"name": "version", "value": str(VERSION)})
    return str(VERSION)
