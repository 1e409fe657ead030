"""The audit, as the server writes it and as people ask it: on SQLite, and by the same tests on PostgreSQL.

Processes are real and are really killed. What must not live here: the server around it (test_server.py and its like).
"""

from __future__ import annotations

import asyncio
import io
import os
import signal
import sqlite3
import stat
import subprocess
import sys
import textwrap
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console
from sqlalchemy import func, select, update

import sendable
from sendable.gateway import audit_queries, audit_schema
from sendable.gateway.audit import AttemptRow, Audit, AuditError, Ended, RequestRow, default_file, mark_unfinished
from sendable.gateway.audit_queries import Filter
from sendable.render.json import entry_objects
from tests.gateway.services import DATABASES, audit_place

NOW = 1_790_000_000.0


@pytest.fixture(params=DATABASES)
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    with audit_place(request.param, tmp_path) as found:
        yield found


def a_request(request_id: str, at: float = NOW, **other: Any) -> RequestRow:
    fields: dict[str, Any] = {
        "client": "laptop", "dialect": "anthropic", "path": "/v1/messages", "model": "claude-x", "route": "main", "policy": "repair",
        "stream": True, "body_bytes": 1234, **other,
    }  # fmt: skip
    return RequestRow(request_id, at, **fields)


def an_attempt(request_id: str, number: int = 1, at: float = NOW + 0.1) -> AttemptRow:
    return AttemptRow(request_id, number, "backup", "openai-chat", "gpt-x", 999, at)


def entries_of(history: list[Any], to: str) -> list[dict[str, Any]]:
    return entry_objects(sendable.normalize(history, to).report)


ORPHAN = entries_of(
    [{"role": "user", "content": "hi"}, {"role": "tool", "tool_call_id": "no", "content": "SECRET"}], "openai-chat"
)


async def whole(audit: Audit, request_id: str, at: float = NOW, ended: Ended = "whole", **other: Any) -> None:
    """One request with one attempt, from its beginning to its end."""
    audit.request(a_request(request_id, at))
    await audit.attempt_started(an_attempt(request_id, at=at + 0.1))
    audit.attempt_finished(
        request_id, 1, status=200, error=None, first_byte_at=at + 0.2, ended_at=at + 0.9, ended=ended
    )
    audit.finished(request_id, status=200, at=at + 1.0, ended=ended, **other)


def asked(place: str) -> list[dict[str, Any]]:
    engine = audit_schema.open_database(place, create=False)
    try:
        return audit_queries.list_requests(engine)
    finally:
        engine.dispose()


def shown(place: str, request_id: str) -> dict[str, Any]:
    engine = audit_schema.open_database(place, create=False)
    try:
        found = audit_queries.report(engine, request_id)
    finally:
        engine.dispose()
    assert found is not None
    return found


# --- rows ---------------------------------------------------------------------------------------------------------------


def test_a_request_with_one_attempt_and_one_loss(place: str) -> None:
    async def run(audit: Audit) -> dict[str, Any] | None:
        usage = {"input": 10, "output": 20, "cached_read": None, "cached_write": None, "reasoning": 5}
        await whole(audit, "req_1", entries=ORPHAN, worst="PAR002", usage=usage)
        return await audit.report("req_1")

    audit = Audit.open(place)
    try:
        found = asyncio.run(run(audit))
    finally:
        audit.close()
    assert found == {
        "id": "req_1", "at": NOW, "ended_at": NOW + 1.0, "client": "laptop", "dialect": "anthropic", "path": "/v1/messages", "model": "claude-x",
        "route": "main", "policy": "repair", "stream": True, "body_bytes": 1234, "status": 200, "ended": "whole", "losses": 1, "worst": "PAR002",
        "usage": {"input": 10, "output": 20, "cached_read": None, "cached_write": None, "reasoning": 5},
        "attempts": [{
            "number": 1, "at": NOW + 0.1, "first_byte_at": NOW + 0.2, "ended_at": NOW + 0.9, "upstream": "backup", "target": "openai-chat",
            "model": "gpt-x", "wire_bytes": 999, "status": 200, "error": None, "ended": "whole",
        }],
        "entries": ORPHAN, "counts": {"PAR002": 1},
    }  # fmt: skip
    assert shown(place, "req_1") == found


def test_a_refused_request_has_no_attempt(place: str) -> None:
    audit = Audit.open(place)
    audit.request(a_request("req_no"))
    audit.finished("req_no", status=400, at=NOW + 0.01, ended="refused", entries=ORPHAN, worst="PAR002")
    audit.close()
    [row] = asked(place)
    assert (row["ended"], row["status"], row["attempts"], row["losses"]) == ("refused", 400, 0, 1)


def test_each_try_is_a_row(place: str) -> None:
    async def run(audit: Audit) -> None:
        audit.request(a_request("req_1"))
        for number, status in ((1, 503), (2, 429), (3, 200)):
            await audit.attempt_started(an_attempt("req_1", number))
            ended: Ended = "whole" if status == 200 else "upstream"
            audit.attempt_finished(
                "req_1", number, status=status, error=None, first_byte_at=None, ended_at=NOW, ended=ended
            )
        audit.finished("req_1", status=200, at=NOW, ended="whole")

    audit = Audit.open(place)
    asyncio.run(run(audit))
    audit.close()
    assert [(row["number"], row["status"], row["ended"]) for row in shown(place, "req_1")["attempts"]] == [
        (1, 503, "upstream"), (2, 429, "upstream"), (3, 200, "whole"),
    ]  # fmt: skip


@pytest.mark.parametrize("pause", [0.0, 0.15], ids=["in one commit", "in commits of their own"])
def test_it_makes_no_difference_what_is_committed_together(place: str, pause: float) -> None:
    async def run(audit: Audit) -> None:
        audit.request(a_request("req_1", model=None, route=None, policy=None))
        await asyncio.sleep(pause)
        await audit.attempt_started(an_attempt("req_1"))
        await asyncio.sleep(pause)
        audit.attempt_finished("req_1", 1, status=200, error=None, first_byte_at=NOW, ended_at=NOW, ended="client")
        await asyncio.sleep(pause)
        audit.finished("req_1", status=200, at=NOW, ended="client", model="m", route="r", policy="strict")

    audit = Audit.open(place)
    asyncio.run(run(audit))
    audit.close()
    found = shown(place, "req_1")
    assert [found[name] for name in ("ended", "model", "route", "policy")] == ["client", "m", "r", "strict"]
    assert [row["ended"] for row in found["attempts"]] == ["client"]


def test_what_is_known_late_may_be_known_in_part(place: str) -> None:
    async def run(audit: Audit) -> None:
        audit.request(a_request("req_1", model=None, route=None, policy=None))
        await audit.flushed()
        audit.finished("req_1", status=404, at=NOW, ended="refused", model="nobody knows it")

    audit = Audit.open(place)
    asyncio.run(run(audit))
    audit.close()
    assert [shown(place, "req_1")[name] for name in ("model", "route", "policy")] == ["nobody knows it", None, None]


def test_an_attempt_is_committed_when_it_may_go(place: str) -> None:
    async def run(audit: Audit) -> None:
        audit.request(a_request("req_1"))
        await audit.attempt_started(an_attempt("req_1"))
        # Another connection sees both rows now.
        [row] = await asyncio.to_thread(asked, place)
        assert (row["id"], row["attempts"], row["ended"]) == ("req_1", 1, None)

    audit = Audit.open(place)
    try:
        asyncio.run(run(audit))
    finally:
        audit.close()


def test_many_attempts_share_commits(tmp_path: Path) -> None:
    commits = 0
    audit = Audit.open(tmp_path / "audit.db")

    def count(_connection: Any) -> None:
        nonlocal commits
        commits += 1

    from sqlalchemy import event

    event.listen(audit._engine, "commit", count)

    async def run() -> None:
        await asyncio.gather(*(whole(audit, f"req_{number}") for number in range(500)))

    asyncio.run(run())
    audit.close()
    rows = asked(str(tmp_path / "audit.db"))
    assert commits < 100, commits
    assert len(rows) == 50
    engine = audit_schema.open_database(tmp_path / "audit.db", create=False)
    with engine.connect() as connection:
        assert connection.scalar(select(func.count()).select_from(audit_schema.attempts)) == 500
    engine.dispose()


def test_names_that_clients_choose_may_be_anything(place: str) -> None:
    model = "a\x00b\ud800" + "x" * 5000
    entry = {**ORPHAN[0], "param": 'messages[0]["\x00\ud800"]'}
    audit = Audit.open(place)
    audit.request(a_request("req_1", model=model))
    audit.finished("req_1", status=400, at=NOW, ended="refused", entries=[entry])
    audit.close()
    found = shown(place, "req_1")
    assert found["model"] == ("a\ufffdb\ufffd" + "x" * 5000)[:200]
    assert found["entries"][0]["param"] == 'messages[0]["\x00\ud800"]'
    assert audit.lost == 0


def test_a_row_that_cannot_be_stored_takes_no_other_with_it(place: str) -> None:
    audit = Audit.open(place)
    for request_id in ("req_1", "req_2", "req_1", "req_3"):
        audit.request(a_request(request_id))
    audit.close()
    assert {row["id"] for row in asked(place)} == {"req_1", "req_2", "req_3"}
    assert audit.lost == 1


def test_the_same_attempt_twice_is_refused_to_the_second(place: str) -> None:
    async def run(audit: Audit) -> None:
        audit.request(a_request("req_1"))
        await audit.attempt_started(an_attempt("req_1"))
        with pytest.raises(AuditError, match="could not take a row"):
            await audit.attempt_started(an_attempt("req_1"))

    audit = Audit.open(place)
    try:
        asyncio.run(run(audit))
    finally:
        audit.close()
    assert len(shown(place, "req_1")["attempts"]) == 1


# --- what is never in it ------------------------------------------------------------------------------------------------


def everything_in(place: str) -> str:
    engine = audit_schema.open_database(place, create=False)
    with engine.connect() as connection:
        found = [
            repr(row) for table in audit_schema.metadata.sorted_tables for row in connection.execute(select(table))
        ]
    engine.dispose()
    return "\n".join(found)


def test_no_text_of_a_message_is_kept(place: str) -> None:
    entries = [{**ORPHAN[0], "original": "SECRET"}]
    audit = Audit.open(place)
    audit.request(a_request("req_1", body=b"SECRET"))
    audit.finished("req_1", status=200, at=NOW, ended="whole", entries=entries, answer=b"SECRET")
    audit.close()
    assert "req_1" in everything_in(place)
    assert "SECRET" not in everything_in(place)


def test_bodies_are_kept_on_request(place: str) -> None:
    audit = Audit.open(place, bodies=True)
    audit.request(a_request("req_1", body=b"what was asked"))
    audit.finished("req_1", status=200, at=NOW, ended="whole", answer=b"what was answered")
    audit.close()
    assert "what was asked" in everything_in(place)
    assert "what was answered" in everything_in(place)


def test_a_report_is_its_own_clients(place: str) -> None:
    async def run(audit: Audit) -> list[bool]:
        await whole(audit, "req_1")
        return [await audit.report("req_1", client) is not None for client in (None, "laptop", "desktop")]

    audit = Audit.open(place)
    try:
        assert asyncio.run(run(audit)) == [True, True, False]
    finally:
        audit.close()


# --- kill -9 ------------------------------------------------------------------------------------------------------------

SERVER = """
import asyncio, sys
from sendable.gateway.audit import Audit, AttemptRow, RequestRow

async def main() -> None:
    audit = Audit.open(sys.argv[1])
    names = sys.argv[2].split(",")
    for name in names:
        audit.request(RequestRow(name, 1.0, "", "anthropic", "/v1/messages", "m", "main", "repair", True, 10))
    await asyncio.gather(*(audit.attempt_started(AttemptRow(name, 1, "up", "openai-chat", "m", 10, 2.0)) for name in names))
    print("sent", audit.server, flush=True)
    await asyncio.sleep(600)

asyncio.run(main())
"""


def a_server(place: str, *names: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", textwrap.dedent(SERVER), place, ",".join(names)]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert server.stdout is not None
    assert server.stdout.readline().startswith("sent")
    return server


def ends(place: str) -> dict[str, str | None]:
    return {row["id"]: row["ended"] for row in asked(place)}


def test_after_kill_9_what_was_sent_is_there_and_marked_at_the_next_start(place: str) -> None:
    names = [f"req_{number}" for number in range(40)]
    server = a_server(place, *names)
    server.send_signal(signal.SIGKILL)
    server.wait()
    assert ends(place) == dict.fromkeys(names)
    audit = Audit.open(place)
    try:
        assert ends(place) == dict.fromkeys(names, "unfinished")
        for name in names:
            assert [(row["number"], row["ended"]) for row in shown(place, name)["attempts"]] == [(1, "unfinished")]
    finally:
        audit.close()


def test_kill_9_in_the_middle_of_many_commits(place: str) -> None:
    """Whatever the server was told is committed, is there; nothing is there twice, and the database is whole."""
    program = SERVER.replace(
        "await asyncio.gather", "names = []\n    await asyncio.gather"
    ).replace('print("sent", audit.server, flush=True)', textwrap.dedent("""
    async def one(number):
        name = f"load_{number}"
        audit.request(RequestRow(name, 1.0, "", "anthropic", "/v1/messages", "m", "main", "repair", True, 10))
        await audit.attempt_started(AttemptRow(name, 1, "up", "openai-chat", "m", 10, 2.0))
        print(name, flush=True)
        audit.attempt_finished(name, 1, status=200, error=None, first_byte_at=3.0, ended_at=4.0, ended="whole")
        audit.finished(name, status=200, at=4.0, ended="whole")
    print("go", flush=True)
    for start in range(0, 100000, 20):
        await asyncio.gather(*(one(number) for number in range(start, start + 20)))
    """).replace("\n", "\n    "))  # fmt: skip
    server = subprocess.Popen([sys.executable, "-c", program, place, "none"], stdout=subprocess.PIPE, text=True)
    assert server.stdout is not None
    told = [server.stdout.readline()]
    assert told == ["go\n"]
    for _ in range(200):
        told.append(server.stdout.readline())
    server.send_signal(signal.SIGKILL)
    told += server.stdout.read().splitlines(keepends=True)
    server.wait()
    sent = {line.strip() for line in told if line.endswith("\n")} - {"go"}
    audit = Audit.open(place)
    engine = audit._engine
    try:
        with engine.connect() as connection:
            tries = list(connection.execute(select(audit_schema.attempts.c.request_id, audit_schema.attempts.c.ended)))
        found = {row.request_id for row in tries}
        assert sent <= found
        assert len(tries) == len(found)
        assert {row.ended for row in tries} <= {"whole", "unfinished"}
        if engine.dialect.name == "sqlite":
            with engine.connect() as connection:
                assert connection.exec_driver_sql("PRAGMA integrity_check").scalar() == "ok"
    finally:
        audit.close()


# --- several servers ----------------------------------------------------------------------------------------------------


def test_a_start_marks_nothing_of_a_server_that_runs(place: str) -> None:
    server = a_server(place, "req_running")
    try:
        audit = Audit.open(place)
        assert ends(place) == {"req_running": None}
        audit.close()
        assert ends(place) == {"req_running": None}
    finally:
        server.kill()
        server.wait()


def test_another_machine_is_gone_when_it_is_silent(place: str) -> None:
    server = a_server(place, "req_there")
    audit = Audit.open(place)
    try:
        there = audit_schema.servers.c.id != audit.server
        now = time.time()
        with audit._engine.connect().execution_options(writes=True) as connection, connection.begin():
            connection.execute(update(audit_schema.servers).where(there).values(host="elsewhere", seen_at=now))
            assert mark_unfinished(connection, now + 59) == 0
            connection.execute(update(audit_schema.servers).values(seen_at=now + 61).where(~there))
            assert mark_unfinished(connection, now + 61) == 1
        assert ends(place) == {"req_there": "unfinished"}
    finally:
        server.kill()
        server.wait()
        audit.close()


def test_one_that_was_taken_for_gone_says_how_it_ended(place: str) -> None:
    async def run(audit: Audit) -> None:
        audit.request(a_request("req_1"))
        await audit.attempt_started(an_attempt("req_1"))
        with audit._engine.connect().execution_options(writes=True) as connection, connection.begin():
            connection.execute(audit_schema.servers.delete())
            assert mark_unfinished(connection, time.time()) == 1
        audit.attempt_finished("req_1", 1, status=200, error=None, first_byte_at=NOW, ended_at=NOW, ended="whole")
        audit.finished("req_1", status=200, at=NOW, ended="whole")
        with audit._engine.connect().execution_options(writes=True) as connection, connection.begin():
            audit._beat(connection)
            assert connection.scalar(select(func.count()).select_from(audit_schema.servers)) == 1

    audit = Audit.open(place)
    asyncio.run(run(audit))
    audit.close()
    assert ends(place) == {"req_1": "whole"}
    assert [row["ended"] for row in shown(place, "req_1")["attempts"]] == ["whole"]


def test_servers_that_start_at_once_share_a_new_database(place: str) -> None:
    command = [sys.executable, "-c", textwrap.dedent(SERVER), place]
    servers = [
        subprocess.Popen([*command, f"req_{number}"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        for number in range(6)
    ]
    try:
        for server in servers:
            assert server.stdout is not None
            assert server.stderr is not None
            line = server.stdout.readline()
            assert line.startswith("sent"), server.stderr.read()
        assert ends(place) == {f"req_{number}": None for number in range(6)}
    finally:
        for server in servers:
            server.kill()
            server.communicate()


def test_several_servers_write_under_load(place: str) -> None:
    """Three processes with 300 requests each: every row is there, and none is lost."""
    program = textwrap.dedent("""
    import asyncio, sys
    from sendable.gateway.audit import Audit, AttemptRow, RequestRow

    async def one(audit, name):
        audit.request(RequestRow(name, 1.0, "", "anthropic", "/v1/messages", "m", "main", "repair", True, 10))
        await audit.attempt_started(AttemptRow(name, 1, "up", "openai-chat", "m", 10, 2.0))
        audit.attempt_finished(name, 1, status=200, error=None, first_byte_at=3.0, ended_at=4.0, ended="whole")
        audit.finished(name, status=200, at=4.0, ended="whole")

    async def main():
        audit = Audit.open(sys.argv[1])
        for start in range(0, 300, 30):
            await asyncio.gather(*(one(audit, f"{sys.argv[2]}_{number}") for number in range(start, start + 30)))
        audit.close()
        print("lost", audit.lost)

    asyncio.run(main())
    """)
    servers = [
        subprocess.Popen([sys.executable, "-c", program, place, name], stdout=subprocess.PIPE, text=True)
        for name in ("a", "b", "c")
    ]
    assert [server.communicate()[0].strip() for server in servers] == ["lost 0"] * 3
    engine = audit_schema.open_database(place, create=False)
    with engine.connect() as connection:
        for table in (audit_schema.requests, audit_schema.attempts):
            query = select(table.c.ended, func.count()).group_by(table.c.ended)
            assert [tuple(row) for row in connection.execute(query)] == [("whole", 900)]
        assert connection.scalar(select(func.count()).select_from(audit_schema.servers)) == 0
    engine.dispose()


# --- trouble ------------------------------------------------------------------------------------------------------------


def test_an_attempt_does_not_go_while_the_file_is_locked_and_nothing_is_forgotten(tmp_path: Path) -> None:
    place = tmp_path / "audit.db"
    audit = Audit.open(place)
    other = sqlite3.connect(place, isolation_level=None)

    async def run() -> None:
        other.execute("BEGIN IMMEDIATE")
        audit.request(a_request("req_1"))
        with pytest.raises(AuditError, match="database is locked"):
            await audit.attempt_started(an_attempt("req_1"))
        audit.finished("req_1", status=503, at=NOW, ended="error")
        other.execute("ROLLBACK")
        await audit.flushed()

    asyncio.run(run())
    other.close()
    audit.close()
    [row] = asked(str(place))
    assert (row["id"], row["ended"], row["attempts"]) == ("req_1", "error", 0)
    assert audit.lost == 0


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda folder: folder / "missing.db", "there is no audit at"),
        (lambda folder: _written(folder / "text.db", b"no database at all" * 100), "file is not a database"),
        (lambda folder: _written(folder / "empty.db", b""), "is no audit of sendable"),
        (lambda _: "mysql://host/db", "SQLite or PostgreSQL, not in mysql"),
        (lambda _: "postgresql://u:hunter2@127.0.0.1:1/db", "cannot be opened"),
    ],
    ids=["missing", "no database", "empty", "another database", "unreachable"],
)
def test_what_cannot_be_opened_says_why_in_one_line(tmp_path: Path, make: Any, said: str) -> None:
    with pytest.raises(AuditError, match=said) as caught:
        audit_schema.open_database(make(tmp_path), create=False)
    assert "\n" not in str(caught.value)
    assert "hunter2" not in str(caught.value)


def _written(path: Path, data: bytes) -> Path:
    path.write_bytes(data)
    return path


def test_a_newer_audit_is_not_touched(place: str) -> None:
    Audit.open(place).close()
    engine = audit_schema.open_database(place, create=False)
    with engine.connect().execution_options(writes=True) as connection, connection.begin():
        connection.execute(update(audit_schema.about).values(value="99"))
    engine.dispose()
    with pytest.raises(AuditError, match="is of version 99; this sendable knows 1"):
        Audit.open(place)


def test_the_file_is_for_its_owner_only(tmp_path: Path) -> None:
    place = tmp_path / "state" / "sendable" / "audit.db"
    Audit.open(place).close()
    assert stat.S_IMODE(place.stat().st_mode) == 0o600
    assert stat.S_IMODE(place.parent.stat().st_mode) == 0o700


@pytest.mark.parametrize(
    ("state", "expected"),
    [("/var/state", "/var/state/sendable/audit.db"), ("", "HOME/.local/state/sendable/audit.db"), ("relative", "HOME/.local/state/sendable/audit.db")],
)  # fmt: skip
def test_where_it_is_by_default(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, state: str, expected: str) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_STATE_HOME", state)
    assert str(default_file()) == expected.replace("HOME", str(tmp_path))


# --- retention ----------------------------------------------------------------------------------------------------------


def test_what_is_too_old_goes_with_all_that_belongs_to_it(place: str) -> None:
    old, now = time.time() - 10 * 86400, time.time()

    async def fill(audit: Audit) -> None:
        await asyncio.gather(*(whole(audit, f"old_{n}", old, entries=ORPHAN, answer=b"x") for n in range(1200)))
        await whole(audit, "new", now, entries=ORPHAN, answer=b"x")
        audit.request(a_request("old_running", old))
        await audit.attempt_started(an_attempt("old_running", at=old))

    async def wait(audit: Audit) -> None:
        for _ in range(100):
            await asyncio.sleep(0.05)
            if len(await asyncio.to_thread(asked, place)) == 2:
                break
        assert {row["id"] for row in await asyncio.to_thread(asked, place)} == {"new", "old_running"}

    audit = Audit.open(place, bodies=True)
    asyncio.run(fill(audit))
    second = Audit.open(place, keep_days=7)
    asyncio.run(wait(second))
    with second._engine.connect() as connection:
        counts = [
            connection.scalar(select(func.count()).select_from(table))
            for table in (audit_schema.attempts, audit_schema.entries, audit_schema.bodies)
        ]
    assert counts == [2, 1, 1]
    second.close()
    audit.close()


def test_beyond_its_size_the_oldest_go_and_the_file_shrinks(place: str) -> None:
    async def fill(audit: Audit) -> None:
        for start in range(0, 3000, 500):
            await asyncio.gather(
                *(whole(audit, f"req_{n:05}", NOW + n, entries=ORPHAN * 3) for n in range(start, start + 500))
            )

    audit = Audit.open(place)
    asyncio.run(fill(audit))
    audit.close()
    before = os.path.getsize(place) if "://" not in place else 0
    engine = audit_schema.open_database(place, create=False)
    with engine.connect() as connection:
        total = int(connection.scalar(select(func.sum(audit_schema.requests.c.kept_bytes))) or 0)
    if before:
        # Our own count is near to what the file takes.
        assert 0.7 < total / before < 1.3, (total, before)
    small = Audit.open(place, keep_bytes=total // 3)
    until = time.monotonic() + 20
    query = select(func.count(), func.min(audit_schema.requests.c.id), func.sum(audit_schema.requests.c.kept_bytes))
    while time.monotonic() < until:
        time.sleep(0.1)
        with engine.connect() as connection:
            left, first, size = connection.execute(query).one()
        if size <= total // 3:
            break
    small.close()
    engine.dispose()
    assert 900 <= left <= 1000
    assert first == f"req_{3000 - left:05}"
    if before:
        assert os.path.getsize(place) < before * 0.6


# --- questions ----------------------------------------------------------------------------------------------------------


@pytest.fixture
def filled(place: str) -> str:
    rename = [{**ORPHAN[0], "code": "IDS001", "verb": "rename"}]
    note = [{**ORPHAN[0], "code": "CON005", "verb": "note"}]

    async def fill(audit: Audit) -> None:
        await whole(audit, "req_a", NOW, entries=ORPHAN * 2, worst="PAR002")
        await whole(audit, "req_b", NOW + 10, entries=[*ORPHAN, *rename, *note], worst="PAR002")
        await whole(audit, "req_c", NOW + 20, ended="client", entries=note)
        audit.request(a_request("other", NOW + 30, client="desktop", model="[red]gpt[/red]\x1b[31m"))
        audit.finished("other", status=400, at=NOW + 31, ended="refused")

    audit = Audit.open(place)
    asyncio.run(fill(audit))
    audit.close()
    return place


@pytest.mark.parametrize(
    ("which", "expected"),
    [
        (Filter(), ["other", "req_c", "req_b", "req_a"]),
        (Filter(since=NOW + 15), ["other", "req_c"]),
        (Filter(client="desktop"), ["other"]),
        (Filter(model="claude-x", ended="client"), ["req_c"]),
        (Filter(losing=True), ["req_b", "req_a"]),
        (Filter(code="IDS001"), ["req_b"]),
        (Filter(route="none"), []),
    ],
)
def test_which_requests_are_listed(filled: str, which: Filter, expected: list[str]) -> None:
    engine = audit_schema.open_database(filled, create=False)
    assert [row["id"] for row in audit_queries.list_requests(engine, which)] == expected
    engine.dispose()


def test_pages_and_beginnings_of_ids(filled: str) -> None:
    engine = audit_schema.open_database(filled, create=False)
    first = audit_queries.list_requests(engine, limit=3)
    rest = audit_queries.list_requests(engine, limit=3, before=(first[-1]["at"], first[-1]["id"]))
    assert [row["id"] for row in [*first, *rest]] == ["other", "req_c", "req_b", "req_a"]
    assert audit_queries.find_ids(engine, "req_") == ["req_a", "req_b", "req_c"]
    assert audit_queries.find_ids(engine, "re%") == []
    assert audit_queries.report(engine, "nobody") is None
    engine.dispose()


def test_losses_by_code(filled: str) -> None:
    engine = audit_schema.open_database(filled, create=False)
    found = audit_queries.losses(engine)
    assert [(loss.code, loss.name, loss.verb, loss.entries, loss.requests) for loss in found] == [
        ("PAR002", "orphan-tool-result", "drop", 3, 2),
        ("IDS001", sendable_name("IDS001"), "rename", 1, 1),
    ]
    assert (found[0].first_at, found[0].last_at, found[0].example) == (NOW + 1, NOW + 11, ORPHAN[0]["param"])
    assert [loss.entries for loss in audit_queries.losses(engine, Filter(since=NOW + 5, code="IDS001"))] == [1, 1]
    engine.dispose()


def sendable_name(code: str) -> str:
    from sendable.codes import CODES

    return CODES[code].name


def on_a_terminal(what: Any, *arguments: Any) -> str:
    out = io.StringIO()
    what(Console(file=out, width=200, color_system=None), *arguments)
    return out.getvalue()


def test_how_it_looks(filled: str) -> None:
    engine = audit_schema.open_database(filled, create=False)
    listed = on_a_terminal(audit_queries.print_requests, audit_queries.list_requests(engine)).splitlines()
    assert len(listed) == 5
    assert "[red]gpt[/red]\\x1b[31m" in listed[1]
    assert listed[1].split()[2:4] == ["other", "desktop"]
    report = audit_queries.report(engine, "req_b")
    assert report is not None
    text = on_a_terminal(audit_queries.print_report, report)
    assert "messages[1]" in text
    assert "PAR002 orphan-tool-result  drop: " in text
    assert "openai-chat" in text
    refused = audit_queries.report(engine, "other")
    assert refused is not None
    assert "no attempt: nothing was sent to any upstream" in on_a_terminal(audit_queries.print_report, refused)
    losses = on_a_terminal(audit_queries.print_losses, audit_queries.losses(engine))
    assert "4 losses; sendable explain CODE says what one means" in losses
    assert on_a_terminal(audit_queries.print_losses, []) == "nothing was lost\n"
    engine.dispose()


@pytest.mark.parametrize(
    ("told", "expected"), [("90m", NOW - 5400), ("1.5h", NOW - 5400), ("7d", NOW - 7 * 86400), ("2026-01-31T00:00:00+00:00", 1769817600.0)]
)  # fmt: skip
def test_since(told: str, expected: float) -> None:
    assert audit_queries.since(told, NOW) == expected


@pytest.mark.parametrize("told", ["", "yesterday", "7", "d"])
def test_since_of_what_is_no_time(told: str) -> None:
    with pytest.raises(ValueError, match="is no time"):
        audit_queries.since(told)
