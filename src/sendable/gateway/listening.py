"""Sockets and connections: binding, and a client that is slow or endless before its request is even there.

What must not live here: what a request says (app.py), and when the server starts and ends (serve.py).
"""

from __future__ import annotations

import asyncio
import errno
import socket
from typing import Any, final

import httptools
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

HEAD_SECONDS = 15.0
"""How long the head of a request may take, from the opening of the connection or from its first byte."""

HEAD_BYTES = 256 << 10
"""At what size a head that is not complete is given up. The limit of the configuration, which is told in words, is below."""


class CannotListen(Exception):
    """One line: which address, and why not."""


def listen(host: str, port: int) -> list[socket.socket]:
    """A socket for every address of that host; the same port for all of them if it is 0. Raises `CannotListen`."""
    try:
        found = socket.getaddrinfo(host or None, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    except (OSError, UnicodeError):
        raise CannotListen(f"{host} is no address of this machine") from None
    sockets: list[socket.socket] = []
    for family, kind, protocol, _, address in dict.fromkeys(found):
        opened = socket.socket(family, kind, protocol)
        try:
            opened.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            if family == socket.AF_INET6:
                opened.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
            opened.bind((address[0], port, *address[2:]))
            opened.listen(2048)
        except OSError as error:
            opened.close()
            if sockets and error.errno in (errno.EADDRNOTAVAIL, errno.EAFNOSUPPORT):
                continue  # a name such as localhost also has an address of a family that this machine does not use
            for one in sockets:
                one.close()
            raise CannotListen(f"{shown(host, port)}: {_reason(error)}") from None
        opened.setblocking(False)
        sockets.append(opened)
        port = opened.getsockname()[1]
    return sockets


def shown(host: str, port: int) -> str:
    """`127.0.0.1:8484`, `[::1]:8484`."""
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def _reason(error: OSError) -> str:
    known = {
        errno.EADDRINUSE: "another program listens there already",
        errno.EACCES: "this user may not listen there",
        errno.EADDRNOTAVAIL: "this is no address of this machine",
    }
    return known.get(error.errno or 0, (error.strerror or "it failed").lower())


@final
class Connection(HttpToolsProtocol):
    """uvicorn's connection, which gives up on a head that takes too long or does not end, and answers what cannot be parsed."""

    _due: asyncio.TimerHandle | None = None
    _unfinished = True
    _size = 0

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """The clock of the first head starts."""
        super().connection_made(transport)
        self._begin()

    def connection_lost(self, exc: Exception | None) -> None:
        """No clock is left."""
        self._stop()
        super().connection_lost(exc)

    def on_message_begin(self) -> None:
        """The clock of the next head starts."""
        super().on_message_begin()
        self._begin()

    def on_headers_complete(self) -> None:
        """The head is there."""
        self._stop()
        super().on_headers_complete()

    def data_received(self, data: bytes) -> None:
        """The parser's work, within bounds."""
        self._size += len(data)
        try:
            super().data_received(data)
        except (httptools.HttpParserError, UnicodeError):
            self.send_400_response("Invalid HTTP request received.")
            return
        if self._unfinished and self._size > HEAD_BYTES and not self.transport.is_closing():
            self._give_up()

    def _begin(self) -> None:
        self._stop()
        self._unfinished, self._size = True, 0
        self._due = self.loop.call_later(HEAD_SECONDS, self._give_up)

    def _stop(self) -> None:
        self._unfinished = False
        if self._due is not None:
            self._due.cancel()
            self._due = None

    def _give_up(self) -> None:
        self._stop()
        self.transport.close()


def quiet(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    """What the loop itself has to say: the kind of the exception and its place, never its words, which may be a client's."""
    from sendable.gateway.logs import log, traced

    error = context.get("exception")
    log.error("%s%s", "in the event loop" if error is not None else context.get("message", ""), traced(error))
