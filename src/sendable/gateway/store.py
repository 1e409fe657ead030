"""What the gateway remembers for a later request of the same client: four functions, in SQLite for one machine, in Redis for many.

Values are bytes under a key, apart for each client, gone after their time, and bounded: no value larger than `most_bytes`, no more than so
much of one client's. What must not live here: what the values mean (continuity.py).
"""

from __future__ import annotations

import asyncio
import hashlib
import os
import sqlite3
import time
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Protocol, TypeVar, final

T = TypeVar("T")

DAY = 86400.0
VALUE_BYTES = 32 << 20
CLIENT_BYTES = 1 << 30


class StoreError(Exception):
    """The store cannot be reached, or a value is too large for it."""


class Store(Protocol):
    """Where values are kept between requests. `client` is the name of a client's key; nothing is ever found under another one."""

    async def put(self, client: str, key: str, value: bytes, seconds: float | None = None) -> None:
        """The value stands under the key for this time (else the store's own), in the place of an earlier one. Raises `StoreError`."""
        ...

    async def get(self, client: str, key: str) -> bytes | None:
        """The value, or None if there is none or its time is over. Raises `StoreError`."""
        ...

    async def delete(self, client: str, key: str) -> bool:
        """The value is gone; whether there was one. Raises `StoreError`."""
        ...

    async def expire(self) -> int:
        """What is over its time is gone, and beyond the bounds what would go next; how many that were. Called now and then."""
        ...

    async def close(self) -> None:
        """The connection is given up."""
        ...


def open_store(
    place: str | os.PathLike[str] | None = None,
    *,
    seconds: float = 30 * DAY,
    value_bytes: int = VALUE_BYTES,
    client_bytes: int = CLIENT_BYTES,
) -> Store:
    """The store at `place`: a `redis://` URL, or the path of an SQLite file; by default `store.db` beside the audit.

    `seconds`: how long a value stands. `value_bytes`, `client_bytes`: the largest value, and the most of one client. Raises `StoreError`.
    """
    if place is None:
        from sendable.gateway.audit_schema import default_file

        place = default_file().with_name("store.db")
    told = os.fspath(place)
    if told.startswith(("redis://", "rediss://", "unix://")):
        return RedisStore(told, seconds=seconds, value_bytes=value_bytes, client_bytes=client_bytes)
    if "://" in told:
        raise StoreError("the store can be an SQLite file or redis://, not " + told.partition("://")[0])
    return SqliteStore(Path(told).expanduser(), seconds=seconds, value_bytes=value_bytes, client_bytes=client_bytes)


def _checked(value: bytes, most: int) -> None:
    if len(value) > most:
        raise StoreError(f"{len(value)} bytes are too many for the store, which takes {most}")


# --- SQLite -------------------------------------------------------------------------------------------------------------

_TABLE = """
CREATE TABLE IF NOT EXISTS sendable_store (
  client TEXT NOT NULL, key TEXT NOT NULL, value BLOB NOT NULL, bytes INTEGER NOT NULL, until REAL NOT NULL, PRIMARY KEY (client, key)
)
"""
_INDEXES = (
    "CREATE INDEX IF NOT EXISTS sendable_store_until ON sendable_store (until)",
    "CREATE INDEX IF NOT EXISTS sendable_store_sizes ON sendable_store (client, until, bytes)",
)


@final
class SqliteStore:
    """A store in one SQLite file, which several servers of one machine may share. Its work is done in a thread of its own."""

    def __init__(
        self,
        path: Path,
        *,
        seconds: float = 30 * DAY,
        value_bytes: int = VALUE_BYTES,
        client_bytes: int = CLIENT_BYTES,
    ) -> None:
        self._seconds, self._value_bytes, self._client_bytes = seconds, value_bytes, client_bytes
        self._fresh: dict[str, int] = {}
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="sendable-store")
        try:
            path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))
            self._connection = sqlite3.connect(path, timeout=5.0, isolation_level=None, check_same_thread=False)
            self._prepare()
        except (OSError, sqlite3.Error) as error:
            self._thread.shutdown()
            raise StoreError(f"the store at {path} cannot be opened: {_said(error)}") from None

    def _prepare(self) -> None:
        self._connection.execute("PRAGMA auto_vacuum = INCREMENTAL")
        until = time.monotonic() + 5.0
        while True:
            try:
                # The change of the mode does not wait for another one who is making it.
                self._connection.execute("PRAGMA journal_mode = WAL")
                break
            except sqlite3.OperationalError:
                if time.monotonic() > until:
                    raise
                time.sleep(0.02)
        self._connection.execute("PRAGMA synchronous = NORMAL")
        for statement in (_TABLE, *_INDEXES):
            self._connection.execute(statement)

    async def put(self, client: str, key: str, value: bytes, seconds: float | None = None) -> None:
        """See `Store.put`. Where the client has no more room, those of its values go that would go next."""
        _checked(value, min(self._value_bytes, self._client_bytes))
        await self._do(self._put, client, key, value, self._seconds if seconds is None else seconds)

    def _put(self, client: str, key: str, value: bytes, seconds: float) -> None:
        self._connection.execute(
            "INSERT OR REPLACE INTO sendable_store VALUES (?, ?, ?, ?, ?)",
            (client, key, value, len(value), time.time() + seconds),
        )
        # The sum over all values is not taken for each of them: a client may be over its bound by a tenth.
        self._fresh[client] = self._fresh.get(client, 0) + len(value)
        if self._fresh[client] * 10 > self._client_bytes:
            self._expire()

    async def get(self, client: str, key: str) -> bytes | None:
        """See `Store.get`."""
        return await self._do(self._get, client, key)

    def _get(self, client: str, key: str) -> bytes | None:
        found = self._connection.execute(
            "SELECT value FROM sendable_store WHERE client = ? AND key = ? AND until > ?", (client, key, time.time())
        ).fetchone()
        return None if found is None else bytes(found[0])

    async def delete(self, client: str, key: str) -> bool:
        """See `Store.delete`."""
        return await self._do(self._delete, client, key)

    def _delete(self, client: str, key: str) -> bool:
        statement = "DELETE FROM sendable_store WHERE client = ? AND key = ? AND until > ?"
        return self._connection.execute(statement, (client, key, time.time())).rowcount > 0

    async def expire(self) -> int:
        """See `Store.expire`."""
        return await self._do(self._expire)

    def _expire(self) -> int:
        self._fresh.clear()
        gone = self._connection.execute("DELETE FROM sendable_store WHERE until <= ?", (time.time(),)).rowcount
        over = self._connection.execute(
            "SELECT client, SUM(bytes) FROM sendable_store GROUP BY client HAVING SUM(bytes) > ?", (self._client_bytes,)
        ).fetchall()
        for client, total in over:
            oldest = self._connection.execute(
                "SELECT key, bytes FROM sendable_store WHERE client = ? ORDER BY until", (client,)
            )
            keys: list[str] = []
            for key, size in oldest:
                if total <= self._client_bytes:
                    break
                total -= size
                keys.append(key)
            for key in keys:
                self._connection.execute("DELETE FROM sendable_store WHERE client = ? AND key = ?", (client, key))
            gone += len(keys)
        if gone:
            free = self._connection.execute("PRAGMA freelist_count").fetchone()[0]
            for _ in range(min(free, 4000)):
                # It gives back a page for each step of the statement, and the driver takes one step.
                self._connection.execute("PRAGMA incremental_vacuum(1)")
        return gone

    async def close(self) -> None:
        """See `Store.close`."""
        await self._do(self._connection.close)
        self._thread.shutdown()

    async def _do(self, work: Callable[..., T], *arguments: Any) -> T:
        try:
            return await asyncio.get_running_loop().run_in_executor(self._thread, work, *arguments)
        except sqlite3.Error as error:
            raise StoreError(f"the store cannot be used: {_said(error)}") from None


def _said(error: BaseException) -> str:
    """What went wrong, in one line."""
    text = getattr(error, "strerror", None) or str(error)
    return (text.strip().splitlines() or [type(error).__name__])[0]


# --- Redis --------------------------------------------------------------------------------------------------------------

# One client's keys share a hash tag, so that a cluster keeps them in one place. `until` orders the names by the time at which they go, `bytes`
# has their sizes, `total` the sum of these.
_SHARED = """
local name, sizes, until_, total = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local function drop(key)
  local size = tonumber(redis.call('HGET', sizes, key) or '0')
  redis.call('DEL', name .. key)
  redis.call('HDEL', sizes, key)
  redis.call('ZREM', until_, key)
  redis.call('DECRBY', total, size)
end
local function expire(now, most)
  local gone = 0
  for _, key in ipairs(redis.call('ZRANGEBYSCORE', until_, '-inf', now, 'LIMIT', 0, 1000)) do drop(key); gone = gone + 1 end
  while tonumber(redis.call('GET', total) or '0') > most do
    local next_ = redis.call('ZRANGE', until_, 0, 0)
    if #next_ == 0 then redis.call('DEL', total); break end
    drop(next_[1]); gone = gone + 1
  end
  return gone
end
"""
_PUT = (
    _SHARED
    + """
local key, value, now, ends, most = ARGV[1], ARGV[2], tonumber(ARGV[3]), tonumber(ARGV[4]), tonumber(ARGV[5])
drop(key)
local left = math.max(1, math.ceil((ends - now) * 1000))
redis.call('SET', name .. key, value, 'PX', left)
redis.call('HSET', sizes, key, #value)
redis.call('ZADD', until_, ends, key)
redis.call('INCRBY', total, #value)
return expire(now, most)
"""
)
_DELETE = (
    _SHARED
    + """
local found = redis.call('EXISTS', name .. ARGV[1])
drop(ARGV[1])
return found
"""
)
_EXPIRE = _SHARED + "return expire(tonumber(ARGV[1]), tonumber(ARGV[2]))"


@final
class RedisStore:
    """A store in Redis, which the servers of many machines share."""

    def __init__(
        self,
        url: str,
        *,
        seconds: float = 30 * DAY,
        value_bytes: int = VALUE_BYTES,
        client_bytes: int = CLIENT_BYTES,
    ) -> None:
        self._seconds, self._value_bytes, self._client_bytes = seconds, value_bytes, client_bytes
        try:
            import redis
            import redis.asyncio
        except ImportError:
            raise StoreError("a store in Redis needs the package redis (sendable[redis])") from None
        self._error: type[Exception] = redis.RedisError
        try:
            with redis.Redis.from_url(url, socket_connect_timeout=5) as first:
                first.ping()
            self._client: Any = redis.asyncio.Redis.from_url(url, socket_connect_timeout=5, socket_timeout=10)
        except (redis.RedisError, ValueError, OSError) as error:
            raise StoreError(f"the store in Redis cannot be reached: {_said(error)}") from None
        self._put_script = self._client.register_script(_PUT)
        self._delete_script = self._client.register_script(_DELETE)
        self._expire_script = self._client.register_script(_EXPIRE)

    async def put(self, client: str, key: str, value: bytes, seconds: float | None = None) -> None:
        """See `Store.put`. Where the client has no more room, those of its values go that would go next."""
        _checked(value, min(self._value_bytes, self._client_bytes))
        now = time.time()
        until = now + (self._seconds if seconds is None else seconds)
        told: list[bytes | str] = [key, value, repr(now), repr(until), str(self._client_bytes)]
        await self._do(self._put_script(keys=_keys(client), args=told))

    async def get(self, client: str, key: str) -> bytes | None:
        """See `Store.get`."""
        found = await self._do(self._client.get(_keys(client)[0] + key))
        return None if found is None else bytes(found)

    async def delete(self, client: str, key: str) -> bool:
        """See `Store.delete`."""
        return bool(await self._do(self._delete_script(keys=_keys(client), args=[key])))

    async def expire(self) -> int:
        """See `Store.expire`."""
        return await self._do(self._expire_all())

    async def _expire_all(self) -> int:
        gone = 0
        async for name in self._client.scan_iter(match="sendable:{*}:until"):
            keys = _keys_of(bytes(name).decode().removesuffix("until"))
            gone += int(await self._expire_script(keys=keys, args=[repr(time.time()), str(self._client_bytes)]))
        return gone

    async def close(self) -> None:
        """See `Store.close`."""
        await self._do(self._client.aclose())

    async def _do(self, work: Awaitable[T]) -> T:
        try:
            return await work
        except (self._error, OSError) as error:
            raise StoreError(f"the store in Redis cannot be used: {_said(error)}") from None


def _keys(client: str) -> list[str]:
    """The names under which a client's values stand. Its own name may be anything, so it is hashed."""
    return _keys_of("sendable:{" + hashlib.sha256(client.encode("utf-8", "surrogatepass")).hexdigest()[:32] + "}:")


def _keys_of(first: str) -> list[str]:
    return [first + "value:", first + "bytes", first + "until", first + "total"]
