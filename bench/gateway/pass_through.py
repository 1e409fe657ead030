"""The bare pass-through that the gateway is compared with: a raw ASGI application and the aiohttp client, on uvicorn, uvloop and httptools.

It is what a gateway on this stack costs before it does anything: it reads the body, sends it on, and hands back what comes, chunk by chunk. It
converts nothing, writes no audit, checks no limit. `python -m bench.gateway.pass_through URL` prints its port on a line of its own.
"""

from __future__ import annotations

import socket
import sys
from typing import Any

import aiohttp
import uvicorn

FROM_CLIENT = (b"content-type", b"authorization", b"accept")
FROM_UPSTREAM = ("content-type",)


class PassThrough:
    """The application. Every path goes to the same path of `upstream`."""

    def __init__(self, upstream: str) -> None:
        self._upstream = upstream
        self._session: aiohttp.ClientSession | None = None

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "lifespan":
            await self._lifespan(receive, send)
            return
        if scope["method"] == "GET":
            await send({"type": "http.response.start", "status": 200, "headers": []})
            await send({"type": "http.response.body", "body": b"{}"})
            return
        chunks: list[bytes] = []
        while True:
            message = await receive()
            chunks.append(message.get("body", b""))
            if not message.get("more_body"):
                break
        headers = {name.decode(): value.decode() for name, value in scope["headers"] if name in FROM_CLIENT}
        assert self._session is not None
        async with self._session.post(self._upstream + scope["path"], data=b"".join(chunks), headers=headers) as answer:
            back = [(name.encode(), answer.headers[name].encode()) for name in FROM_UPSTREAM if name in answer.headers]
            if answer.content_length is not None:
                back.append((b"content-length", str(answer.content_length).encode()))
            await send({"type": "http.response.start", "status": answer.status, "headers": back})
            async for chunk in answer.content.iter_any():
                await send({"type": "http.response.body", "body": chunk, "more_body": True})
            await send({"type": "http.response.body", "body": b""})

    async def _lifespan(self, receive: Any, send: Any) -> None:
        await receive()
        self._session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(limit=0), timeout=aiohttp.ClientTimeout(total=None), auto_decompress=False
        )
        await send({"type": "lifespan.startup.complete"})
        await receive()
        await self._session.close()
        await send({"type": "lifespan.shutdown.complete"})


def main() -> None:
    """Serve on a free port of this machine until told to end."""
    listening = socket.create_server(("127.0.0.1", 0), backlog=2048)
    print(listening.getsockname()[1], flush=True)
    config = uvicorn.Config(
        PassThrough(sys.argv[1]),
        loop="uvloop", http="httptools", ws="none", interface="asgi3", lifespan="on", log_config=None, access_log=False,
    )  # fmt: skip
    uvicorn.Server(config).run(sockets=[listening])


if __name__ == "__main__":
    main()
