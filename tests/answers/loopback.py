"""A provider on loopback that says what a test gives it: a body, or a stream of events, to whoever asks. Not here: tests."""

from __future__ import annotations

import contextlib
import json
import threading
from collections.abc import Iterator, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from sendable.stream import WireEvent


def framed(events: Sequence[WireEvent]) -> bytes:
    """Events as the bytes of an event stream."""
    out: list[str] = []
    for event in events:
        data = event.data if isinstance(event.data, str) else json.dumps(event.data, ensure_ascii=False)
        out.append((f"event: {event.name}\n" if event.name else "") + f"data: {data}\n\n")
    return "".join(out).encode()


@contextlib.contextmanager
def provider(answer: Any) -> Iterator[str]:
    """The base URL of a server that answers every request with a body (a `dict`) or a stream (a list of `WireEvent`)."""
    streamed = isinstance(answer, list)
    data = framed(answer) if streamed else json.dumps(answer).encode()

    class Provider(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers.get("content-length") or 0))
            self.send_response(200)
            self.send_header("content-type", "text/event-stream" if streamed else "application/json")
            self.send_header("content-length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_: Any) -> None:
            """Says nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Provider)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
