"""A scripted Chat upstream, written by hand as a protocol so that it costs little beside what is measured.

What it does is told by the model's name in the body, so that every request says what is to happen to it:

    plain…          a buffered answer
    sNxT…           a stream of N events, one every T milliseconds (0: as fast as the connection takes them); each says when it was made
    reset…          the connection is reset before a byte
    cut…            a stream whose connection is reset after ten events
    half…           a stream that ends after ten events without its end: no finish reason, no last chunk
    stall…          a stream that says nothing more after ten events
    garbage…        bytes that are not HTTP
    nonsense…       a good status, and a body that is not JSON
    500…            status 500 with the provider's error

`GET /stats` says how many connections are open, how many are in the middle of an answer, and how often each model was asked for.
`python -m bench.gateway.upstream` prints its port on a line of its own.
"""

from __future__ import annotations

import asyncio
import json
import re
import socket
import struct
import time
from collections import Counter
from typing import Any, ClassVar

import httptools
import uvloop

MODEL = re.compile(rb'"model"\s*:\s*"([^"]*)"')
STREAM = re.compile(r"s(\d+)x(\d+)")
STREAMED = re.compile(rb'"stream"\s*:\s*true')
ABRUPT = struct.pack("ii", 1, 0)
BEFORE_TROUBLE = 10


def _message(status: str, kind: str, body: bytes) -> bytes:
    return f"HTTP/1.1 {status}\r\ncontent-type: {kind}\r\ncontent-length: {len(body)}\r\n\r\n".encode() + body


def _json(value: Any) -> bytes:
    return json.dumps(value, separators=(",", ":")).encode()


USAGE = {"prompt_tokens": 200, "completion_tokens": 50, "total_tokens": 250}
HEAD = {"id": "chatcmpl-1", "created": 1764547200, "model": "gpt-x"}
PLAIN = _message("200 OK", "application/json", _json({
    **HEAD, "object": "chat.completion",
    "choices": [{"index": 0, "finish_reason": "stop", "logprobs": None,
                 "message": {"role": "assistant", "content": "It is mild. " * 20, "refusal": None}}],
    "usage": USAGE,
}))  # fmt: skip
NONSENSE = _message("200 OK", "application/json", b'{"choices": [')
FAILED = _message("500 Internal Server Error", "application/json",
                  b'{"error":{"message":"The server had an error","type":"server_error","param":null,"code":null}}')  # fmt: skip
STREAM_HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"


def _event(value: Any) -> bytes:
    line = b"data: " + (value if isinstance(value, bytes) else _json(value)) + b"\n\n"
    return b"%x\r\n%b\r\n" % (len(line), line)


def _delta(delta: dict[str, str], finish: str | None = None) -> dict[str, Any]:
    return {
        **HEAD, "object": "chat.completion.chunk", "choices": [{"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}],
    }  # fmt: skip


_BEFORE, _AFTER = _json(_delta({"content": "@"})).split(b"@")
FIRST = _event(_delta({"role": "assistant", "content": ""}))
LAST = (
    _event(_delta({}, "stop"))
    + _event({**HEAD, "object": "chat.completion.chunk", "choices": [], "usage": USAGE})
    + _event(b"[DONE]") + b"0\r\n\r\n"
)  # fmt: skip


def _made_now() -> bytes:
    return _event(_BEFORE + b"t=%d " % time.monotonic_ns() + _AFTER)


class Upstream(asyncio.Protocol):
    """One connection."""

    opened: ClassVar[set[Upstream]] = set()
    asked: ClassVar[Counter[str]] = Counter()
    most = 0

    def connection_made(self, transport: Any) -> None:
        self._to: asyncio.Transport = transport
        self._parser = httptools.HttpRequestParser(self)
        self._body: list[bytes] = []
        self._url = b""
        self._answer: asyncio.Task[None] | None = None
        self.opened.add(self)
        Upstream.most = max(Upstream.most, len(self.opened))

    def connection_lost(self, error: Exception | None) -> None:
        self.opened.discard(self)
        if self._answer is not None:
            self._answer.cancel()

    def data_received(self, data: bytes) -> None:
        self._parser.feed_data(data)

    def on_url(self, url: bytes) -> None:
        self._url += url

    def on_body(self, data: bytes) -> None:
        self._body.append(data)

    def on_message_complete(self) -> None:
        url, self._url, body = self._url, b"", b"".join(self._body)
        self._body.clear()
        if url.endswith(b"/stats"):
            busy = sum(one._answer is not None and not one._answer.done() for one in self.opened)
            told = {"open": len(self.opened) - 1, "busy": busy, "most": self.most, "asked": self.asked}
            self._to.write(_message("200 OK", "application/json", _json(told)))
            return
        found = MODEL.search(body)
        if found is None:  # a probe
            self._to.write(_message("404 Not Found", "application/json", b"{}"))
            return
        model = found[1].decode()
        self.asked[model] += 1
        if model.startswith("reset"):
            self._abort()
        elif model.startswith("garbage"):
            self._to.write(b"\x00\xff\x13 this is no HTTP \xfe\r\n\r\n")
            self._to.close()
        elif model.startswith("nonsense"):
            self._to.write(NONSENSE)
        elif model.startswith("500"):
            self._to.write(FAILED)
        elif STREAMED.search(body):
            self._answer = asyncio.ensure_future(self._stream(model))
        else:
            self._to.write(PLAIN)

    def _abort(self) -> None:
        self._to.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, ABRUPT)
        self._to.abort()

    async def _stream(self, model: str) -> None:
        told = STREAM.match(model)
        count, every = (int(told[1]), int(told[2]) / 1000) if told else (BEFORE_TROUBLE, 0.002)
        self._to.write(STREAM_HEAD + FIRST)
        loop = asyncio.get_running_loop()
        due = loop.time()
        for _ in range(count):
            if every:
                due += every
                await asyncio.sleep(max(0.0, due - loop.time()))
            self._to.write(_made_now())
        if model.startswith("cut"):
            self._abort()
        elif model.startswith("half"):
            self._to.write_eof()
        elif model.startswith("stall"):
            await asyncio.sleep(3600)
        else:
            self._to.write(LAST)


async def _serve() -> None:
    listening = socket.create_server(("127.0.0.1", 0), backlog=2048)
    server = await asyncio.get_running_loop().create_server(Upstream, sock=listening)
    print(listening.getsockname()[1], flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    uvloop.run(_serve())
