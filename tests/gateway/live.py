"""A real gateway on loopback, and a real scripted upstream behind it: both are ASGI applications served by uvicorn in threads.

What must not live here: what any test expects.
"""

from __future__ import annotations

import asyncio
import contextlib
import http.client
import json
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import uvicorn
import uvloop
from sqlalchemy import select

from sendable.gateway.app import App
from sendable.gateway.audit import Audit
from sendable.gateway.audit_schema import attempts, requests
from sendable.gateway.config import Config, from_flags, load
from sendable.gateway.continuity import Continuity


class Served:
    """An ASGI application on a free port of this machine, in a thread of its own."""

    def __init__(self, app: Any, **more: Any) -> None:
        self._server = uvicorn.Server(
            uvicorn.Config(
                app, port=0, interface="asgi3", proxy_headers=False, http="httptools", loop="uvloop", ws="none", log_level="error", server_header=False,
                timeout_graceful_shutdown=1, **more,
            )
        )  # fmt: skip
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._ready = threading.Event()
        self._thread.start()
        assert self._ready.wait(10), "the server did not start"
        self.port: int = self._server.servers[0].sockets[0].getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"

    def _run(self) -> None:
        async def serve() -> None:
            task = asyncio.ensure_future(self._server.serve())
            while not self._server.started and not task.done():
                await asyncio.sleep(0.005)
            self._ready.set()
            await task

        with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            runner.run(serve())

    def stop(self) -> None:
        """End it, and wait until it has ended."""
        self._server.should_exit = True
        self._thread.join(10)


class Seen:
    """One request as it reached the upstream."""

    def __init__(self, path: str, query: str, headers: dict[str, str], body: bytes) -> None:
        self.path, self.query, self.headers, self.body = path, query, headers, body

    @property
    def json(self) -> Any:
        """Its body."""
        return json.loads(self.body)


Piece = bytes | float | None
"""A piece of a scripted answer: bytes to send, seconds to wait, or None to break the connection."""


class Says:
    """A scripted answer: a status, headers, and pieces."""

    def __init__(
        self,
        *pieces: Piece,
        status: int = 200,
        kind: str = "application/json",
        headers: Mapping[str, str] | None = None,
    ) -> None:
        self.pieces, self.status = pieces, status
        self.headers = {"content-type": kind, **(headers or {})}


def json_of(value: Any, status: int = 200, **headers: str) -> Says:
    """An answer that is one JSON value."""
    return Says(
        json.dumps(value).encode(),
        status=status,
        headers={name.replace("_", "-"): text for name, text in headers.items()},
    )


def events(*pieces: Any, end: bytes = b"data: [DONE]\n\n") -> Says:
    """A stream of events: values become `data:` lines (with their type as the event's name, if they have one), others are as they are."""
    out: list[Piece] = []
    for piece in pieces:
        if isinstance(piece, dict):
            name = f"event: {piece['type']}\n" if "type" in piece else ""
            out.append(f"{name}data: {json.dumps(piece)}\n\n".encode())
        else:
            out.append(piece)
    return Says(*out, end, kind="text/event-stream")


class Scripted:
    """An upstream that answers from its script, in order, and with the last answer for ever; it keeps what it was sent."""

    def __init__(self, *script: Says | Callable[[Seen], Says]) -> None:
        self.script = list(script)
        self.seen: list[Seen] = []
        self.left = threading.Event()
        self._served = Served(self._app)
        self.url = self._served.url

    async def _app(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "lifespan":
            await receive()
            await send({"type": "lifespan.startup.complete"})
            await receive()
            await send({"type": "lifespan.shutdown.complete"})
            return
        body = b""
        while True:
            message = await receive()
            body += message.get("body", b"")
            if not message.get("more_body"):
                break
        headers = {name.decode(): value.decode("latin-1") for name, value in scope["headers"]}
        seen = Seen(scope["path"], scope["query_string"].decode(), headers, body)
        self.seen.append(seen)
        says = self.script.pop(0) if len(self.script) > 1 else self.script[0]
        await self._say(says if isinstance(says, Says) else says(seen), receive, send)

    async def _say(self, says: Says, receive: Any, send: Any) -> None:
        watcher = asyncio.ensure_future(self._until_left(receive))
        try:
            await send({
                "type": "http.response.start", "status": says.status,
                "headers": [(name.encode(), value.encode("latin-1")) for name, value in says.headers.items()],
            })  # fmt: skip
            for piece in says.pieces:
                if piece is None:
                    # An application that fails inside its answer: the server breaks the connection.
                    raise ConnectionAbortedError
                if isinstance(piece, float):
                    await asyncio.sleep(piece)
                else:
                    await send({"type": "http.response.body", "body": piece, "more_body": True})
            await send({"type": "http.response.body", "body": b"", "more_body": False})
        finally:
            watcher.cancel()

    async def _until_left(self, receive: Any) -> None:
        while (await receive())["type"] != "http.disconnect":
            pass  # waits
        self.left.set()

    def stop(self) -> None:
        """End it."""
        self._served.stop()


class Answer:
    """What a client got."""

    def __init__(self, status: int, headers: Mapping[str, str], body: bytes) -> None:
        self.status, self.headers, self.body = status, headers, body

    @property
    def json(self) -> Any:
        """Its body."""
        return json.loads(self.body)

    @property
    def losses(self) -> str | None:
        """What the head says of losses."""
        return self.headers.get("x-sendable-losses")

    @property
    def id(self) -> str:
        """The id of the request."""
        return self.headers["x-sendable-request-id"]


class Gate:
    """A gateway with its audit, and a plain client for it."""

    def __init__(self, config: Config, folder: Path, *, keys: Any = None, continuity: Continuity | None = None) -> None:
        self.audit = Audit.open(folder / "audit.db")
        self.app = App(config, self.audit, continuity or Continuity(None, None), keys)
        self._served = Served(self.app)
        self.url, self.port = self._served.url, self._served.port

    def send(self, method: str, path: str, body: Any = None, headers: Mapping[str, str] | None = None) -> Answer:
        """One request, and the whole answer to it."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=20)
        data = body if isinstance(body, bytes) or body is None else json.dumps(body).encode()
        try:
            connection.request(method, path, data, {"content-type": "application/json", **(headers or {})})
            response = connection.getresponse()
            return Answer(
                response.status, {name.lower(): value for name, value in response.getheaders()}, response.read()
            )
        finally:
            connection.close()

    def post(self, path: str, body: Any, **headers: str) -> Answer:
        """A POST."""
        return self.send("POST", path, body, {name.replace("_", "-"): value for name, value in headers.items()})

    def tries(self, answer: Answer | str) -> list[Any]:
        """The audit's rows of the attempts of a request."""
        request_id = answer if isinstance(answer, str) else answer.id
        return self._rows(select(attempts).where(attempts.c.request_id == request_id).order_by(attempts.c.number))

    def row(self, answer: Answer | str) -> Any:
        """The audit's row of a request."""
        request_id = answer if isinstance(answer, str) else answer.id
        return self._rows(select(requests).where(requests.c.id == request_id))[0]

    def report(self, request_id: str) -> Any:
        """The report of a request."""
        return self.send("GET", f"/v1/requests/{request_id}/report").json

    def rows(self) -> list[Any]:
        """The audit's rows of all requests."""
        return self._rows(select(requests).order_by(requests.c.at))

    def _rows(self, statement: Any) -> list[Any]:
        asyncio.run(self.audit.flushed())
        with self.audit._engine.connect() as connection:
            return list(connection.execute(statement).all())

    def stop(self) -> None:
        """End the server and its audit."""
        self._served.stop()
        self.audit.close()


@contextlib.contextmanager
def gate(
    folder: Path, upstreams: Sequence[tuple[str, Scripted]], *, base: str = "", toml: str | None = None, **flags: Any
) -> Iterator[Gate]:
    """A gateway in front of these upstreams, each with its target; `base` is what their SDK adds to a host. `toml` instead of flags may
    name their URLs as `{0}`, `{1}` ….
    """
    if toml is not None:
        file = folder / "gateway.toml"
        file.write_text(toml.format(*[scripted.url for _, scripted in upstreams]))
        config = load(file)
    else:
        config = from_flags([f"{target}={scripted.url}{base_of(target)}" for target, scripted in upstreams], **flags)
    found = Gate(config, folder)
    try:
        yield found
    finally:
        found.stop()
        for _, scripted in upstreams:
            scripted.stop()


def base_of(target: str) -> str:
    """What a base URL has behind its host, as this provider's SDK takes it."""
    return "/v1" if target.startswith("openai") else ""
