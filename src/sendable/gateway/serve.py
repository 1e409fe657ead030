"""Starting and ending the server: everything that can be wrong is found before the first request, and said in one line.

    status  what it means
    0       ended as it was told to (SIGTERM, SIGINT), after the running requests
    3       bad usage, or the packages of sendable[gateway] are not installed
    4       the configuration is wrong, or would let everybody in
    5       the address cannot be listened on (busy, not allowed, not of this machine)
    6       a key is in no variable
    7       no upstream of a route can be reached
    8       the audit or the store cannot be opened

SIGHUP reads the file again; if it is wrong, the old one stays. SIGTERM and SIGINT: not ready any more, no new connection, what is running is
finished within `drain_seconds`; a second signal ends it at once. What must not live here: requests (app.py), and the command line (commands.py).
"""

from __future__ import annotations

import asyncio
import contextlib
import gc
import os
import signal
import socket
from collections.abc import Callable, Generator
from urllib.parse import urlsplit

import uvicorn

from sendable.gateway.app import App
from sendable.gateway.audit import Audit, AuditError
from sendable.gateway.config import CONFIG_STATUS, KEY_STATUS, Config, ConfigError, exposed, missing_keys
from sendable.gateway.continuity import KEY_VARIABLE, Continuity
from sendable.gateway.keys import keys_of
from sendable.gateway.listening import CannotListen, Connection, listen, quiet, shown
from sendable.gateway.logs import set_up
from sendable.gateway.store import Store, StoreError, open_store

ENDED, CONFIG, ADDRESS, KEY, UNREACHABLE, STATE = 0, CONFIG_STATUS, 5, KEY_STATUS, 7, 8

PROBE_SECONDS = 3.0
EXPIRE_SECONDS = 600.0

Say = Callable[[str], None]


class CannotStart(Exception):
    """One line that says why, and the exit status that says so to programs."""

    def __init__(self, message: str, status: int) -> None:
        super().__init__(message)
        self.status = status


def checked(config: Config) -> Config:
    """The configuration, if a server may be started with it. Nothing is opened. Raises `CannotStart`."""
    try:
        open_to_all = exposed(config)
        if open_to_all:
            raise CannotStart(open_to_all, CONFIG)
        missing = missing_keys(config)
        if missing:
            raise CannotStart("; ".join(missing), KEY)
        keys_of(config)
        for section in (config.audit, config.store):
            section.place()
    except ConfigError as error:
        raise CannotStart(str(error), KEY if "environment variable" in error.message else CONFIG) from None
    return config


class _Uvicorn(uvicorn.Server):
    """uvicorn without its signals: ours mean something else, and a drained server ends with 0."""

    @contextlib.contextmanager
    def capture_signals(self) -> Generator[None, None, None]:
        """Nothing is captured."""
        yield


class Service:
    """A gateway with everything that it holds open. `open` finds all that is wrong; `run` serves until `stop`, or until a signal if told so."""

    def __init__(self, config: Config, say: Say, again: Callable[[], Config] | None = None) -> None:
        """`again` reads the configuration anew, for SIGHUP."""
        self.config, self._say, self._again = config, say, again
        self._sockets: list[socket.socket] = []
        self._audit: Audit | None = None
        self._store: Store | None = None
        self._app: App | None = None
        self._server: _Uvicorn | None = None
        self._loop: asyncio.AbstractEventLoop | None = None

    @property
    def url(self) -> str:
        """Where it listens, as a client takes it."""
        host = self.config.server.host
        if host in ("", "0.0.0.0", "::"):
            host = "::1" if host == "::" else "127.0.0.1"
        return f"http://{shown(host, self.port)}"

    @property
    def port(self) -> int:
        """The port, also where the system has chosen it."""
        return int(self._sockets[0].getsockname()[1])

    def open(self) -> None:
        """Keys, audit, store and address are there, and the upstreams can be reached. Raises `CannotStart`; then nothing stays open."""
        config = checked(self.config)
        try:
            audit = config.audit
            self._audit = Audit.open(
                audit.place(), bodies=audit.bodies, keep_days=audit.keep_days, keep_bytes=audit.keep_bytes
            )
            store = config.store
            if store.enabled:
                self._store = open_store(
                    store.place(),
                    seconds=store.keep_seconds,
                    value_bytes=store.item_bytes,
                    client_bytes=store.keep_bytes,
                )
            self._sockets = listen(config.server.host, config.server.port)
            if config.server.probe:
                asyncio.run(self._probe(config))
            continuity = Continuity(self._store, os.environ.get(KEY_VARIABLE), seconds=store.keep_seconds)
            self._app = App(config, self._audit, continuity, keys_of(config))
        except (AuditError, StoreError) as error:
            self.close()
            raise CannotStart(str(error), STATE) from None
        except CannotListen as error:
            self.close()
            raise CannotStart(str(error), ADDRESS) from None
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Sockets, store and audit are closed; everything said is written."""
        for one in self._sockets:
            one.close()
        if self._store is not None:
            asyncio.run(self._store.close())
            self._store = None
        if self._audit is not None:
            self._audit.close()
            self._audit = None

    def run(self, signals: bool = True, ready: Callable[[], None] | None = None) -> None:
        """Serve until the end. `ready` is called when the first request can come."""
        try:
            with asyncio.Runner(loop_factory=_loop_factory()) as runner:
                runner.run(self._serve(signals, ready))
        finally:
            self.close()

    def stop(self) -> None:
        """End it as SIGTERM does, from any thread."""
        if self._loop is not None and not self._loop.is_closed():
            with contextlib.suppress(RuntimeError):  # it has ended in between
                self._loop.call_soon_threadsafe(self._end)

    # --- inside the loop ------------------------------------------------------------------------------------------------

    async def _serve(self, signals: bool, ready: Callable[[], None] | None) -> None:
        assert self._app is not None
        loop = self._loop = asyncio.get_running_loop()
        loop.set_exception_handler(quiet)
        server = self.config.server
        self._server = _Uvicorn(
            uvicorn.Config(
                self._app,
                http=Connection,
                ws="none",
                interface="asgi3",
                lifespan="on",
                log_config=None,
                access_log=False,
                proxy_headers=False,
                server_header=False,
                timeout_keep_alive=int(server.keep_alive_seconds),
                timeout_graceful_shutdown=max(1, int(server.drain_seconds)),
            )
        )
        if signals:
            for number in (signal.SIGTERM, signal.SIGINT):
                loop.add_signal_handler(number, self._end)
            if hasattr(signal, "SIGHUP"):
                loop.add_signal_handler(signal.SIGHUP, self._reload)
        chores = asyncio.ensure_future(self._expire())
        started = asyncio.ensure_future(self._when_started(ready))
        # What is there now lives as long as the server: the collector need not look at it again.
        gc.collect()
        gc.freeze()
        try:
            await self._server.serve(sockets=self._sockets)
        finally:
            started.cancel()
            chores.cancel()
            if self._store is not None:  # here, in the loop that its connections belong to
                store, self._store = self._store, None
                await store.close()

    async def _when_started(self, ready: Callable[[], None] | None) -> None:
        assert self._server is not None
        while not self._server.started:
            await asyncio.sleep(0.005)
        if ready is not None:
            ready()

    def _end(self) -> None:
        if self._server is None or self._app is None:
            return
        if self._server.should_exit:
            self._say("ending at once")
            self._server.force_exit = True
            return
        running = self._app.in_flight
        self._say(
            f"ending; {running} {'request is' if running == 1 else 'requests are'} still running"
            if running
            else "ending"
        )
        self._app.drain()
        self._server.should_exit = True

    def _reload(self) -> None:
        """The file as it is now, from the next request on. What it says about address, audit and store counts at the next start."""
        if self._again is None or self._app is None:
            self._say("there is no configuration file to read again")
            return
        try:
            config = checked(self._again())
            keys = keys_of(config)
        except (ConfigError, CannotStart) as error:
            self._say(f"not reloaded: {error}")
            return
        later = [name for name in ("server", "audit", "store") if getattr(config, name) != getattr(self.config, name)]
        self.config = config
        self._app.reload(config, keys)
        count = len(config.routes)
        self._say(
            f"reloaded {config.file}: {count} {'route' if count == 1 else 'routes'}"
            + (
                f"; what has changed under {', '.join(f'[{name}]' for name in later)} counts at the next start"
                if later
                else ""
            )
        )

    async def _expire(self) -> None:
        """Now and then, what is over its time goes."""
        while self._store is not None:
            with contextlib.suppress(StoreError):  # it is tried again, and each request says what it could not keep
                await self._store.expire()
            await asyncio.sleep(EXPIRE_SECONDS)

    async def _probe(self, config: Config) -> None:
        """At least one upstream of every route takes connections; a line for each that does not. Raises `CannotStart`."""
        names = list(dict.fromkeys(name for route in config.routes for name in route.upstreams))
        troubles = dict(zip(names, await asyncio.gather(*(_unreachable(config, name) for name in names)), strict=True))
        for route in config.routes:
            if all(troubles[name] for name in route.upstreams):
                raise CannotStart(
                    f"route {route.match}: {'; '.join(str(troubles[name]) for name in route.upstreams)}", UNREACHABLE
                )
        for trouble in troubles.values():
            if trouble:
                self._say(f"warning: {trouble}")


async def _unreachable(config: Config, name: str) -> str | None:
    """Why no connection to that upstream can be opened, or None. One that is just being started is waited for, a little."""
    upstream = config.upstreams[name]
    parts = urlsplit(upstream.base_url)
    host = parts.hostname or ""
    port = parts.port or (443 if parts.scheme == "https" else 80)
    why = ""
    try:
        async with asyncio.timeout(min(PROBE_SECONDS, upstream.timeouts.connect or PROBE_SECONDS)):
            for pause in (0.1, 0.3, 0.6, None):
                try:
                    _, writer = await asyncio.open_connection(host, port)
                except socket.gaierror:
                    why = "its name is unknown"
                    break
                except OSError as error:
                    why = (
                        "the connection is refused"
                        if isinstance(error, ConnectionRefusedError)
                        else "there is no way to it"
                    )
                    if pause is not None:
                        await asyncio.sleep(pause)
                    continue
                writer.close()
                return None
    except TimeoutError:
        why = why or "it does not answer"
    return f"upstream {name} cannot be reached at {shown(host, port)}: {why}"


def _loop_factory() -> Callable[[], asyncio.AbstractEventLoop] | None:
    try:
        import uvloop
    except ImportError:  # Windows has none
        return None
    return uvloop.new_event_loop


def _more_files() -> None:
    """As many connections as the system allows this process."""
    try:
        import resource
    except ImportError:  # Windows
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = 65536 if hard == resource.RLIM_INFINITY else hard
    if soft < wanted:
        with contextlib.suppress(ValueError, OSError):  # the old limit does
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


def serve(config: Config, say: Say, again: Callable[[], Config] | None = None) -> int:
    """Serve until told to end; the exit status. Raises `CannotStart`."""
    set_up()
    _more_files()
    service = Service(config, say, again)
    service.open()
    models = ", ".join(f"{route.match} -> {route.upstreams[0]}" for route in config.routes[:5])
    service.run(ready=lambda: say(f"listening on {service.url} ({models})"))
    return ENDED
