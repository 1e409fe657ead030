"""The server: a raw ASGI application, its table of endpoints, and what it holds of each request while it is answered.

What must not live here: how a request is converted and sent (exchange.py), and starting, binding and signals (serve.py).
"""

from __future__ import annotations

import asyncio
import logging
import re
import time
import traceback
import uuid
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Mapping, MutableMapping, Sequence
from pathlib import Path
from typing import Any, final
from urllib.parse import unquote

import msgspec
from opentelemetry.trace import Span, Status, StatusCode

from sendable.conversation import Usage
from sendable.errors import HistoryError
from sendable.gateway import counting, errors, models
from sendable.gateway.audit import AttemptRow, Audit, AuditError, Ended, RequestRow
from sendable.gateway.bodies import ClientLeft, receive_body
from sendable.gateway.config import Config, Limits, Route, Upstream
from sendable.gateway.continuity import Context, Continuity
from sendable.gateway.errors import Refused
from sendable.gateway.exchange import Sent, entries_of, exchange
from sendable.gateway.keys import Keys
from sendable.gateway.losses import told, worst_of
from sendable.gateway.metrics import CONTENT_TYPE, Metrics
from sendable.gateway.redaction import Redaction
from sendable.gateway.upstream import AiohttpClient, Client, Unreachable, models_call
from sendable.report import Report

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Any]]
Send = Callable[[Any], Awaitable[None]]
Header = tuple[bytes, bytes]

_log = logging.getLogger("sendable.gateway")

REMEMBERED = 2000
"""Of how many requests the report is held in memory. Older ones are in the audit."""


@final
class Asked:
    """One request as it came: who asks, in which dialect, and with what."""

    __slots__ = ("at", "body", "client", "dialect", "headers", "id", "key", "left", "model", "path", "query", "stream")

    def __init__(self, dialect: str, path: str, headers: Mapping[bytes, bytes], query: str) -> None:
        self.id = "req_" + uuid.uuid4().hex
        self.at = time.time()
        self.dialect, self.path, self.headers, self.query = dialect, path, headers, query
        # The client's name, by its key, and the key itself: only routes that say so send it on.
        self.client: str = ""
        self.key: str | None = None
        # What the path says, where it does: Gemini has model and stream there.
        self.model: str | None = None
        self.stream: bool | None = None
        self.body: bytes = b""
        # Whether the client has gone away.
        self.left = False

    def __repr__(self) -> str:
        return f"<Asked {self.id} {self.dialect}>"


@final
class Reply:
    """The answer to a client, as far as it has been sent."""

    __slots__ = ("_send", "_write_seconds", "first", "status")

    def __init__(self, send: Send, write_seconds: float = 60.0) -> None:
        self._send, self._write_seconds = send, write_seconds
        # The status that went out, and when; 0 before.
        self.status = 0
        self.first: float | None = None

    async def start(self, status: int, headers: Sequence[Header]) -> None:
        """Send the head."""
        self.status, self.first = status, time.time()
        await self._send({"type": "http.response.start", "status": status, "headers": headers})

    async def write(self, data: bytes) -> None:
        """Send a piece; a client that does not take it within the limit is left."""
        try:
            async with asyncio.timeout(self._write_seconds):
                await self._send({"type": "http.response.body", "body": data, "more_body": True})
        except TimeoutError:
            raise ClientLeft from None

    async def end(self) -> None:
        """Say that nothing more comes."""
        await self._send({"type": "http.response.body", "body": b"", "more_body": False})

    async def whole(self, status: int, headers: Sequence[Header], data: bytes) -> None:
        """Send everything."""
        await self.start(status, [*headers, (b"content-length", b"%d" % len(data))])
        await self._send({"type": "http.response.body", "body": data})

    async def json(self, status: int, headers: Sequence[Header], data: bytes) -> None:
        """Send a JSON body."""
        await self.whole(status, [(b"content-type", b"application/json"), *headers], data)


_ENDED: dict[str, Ended] = {"whole": "whole", "client": "client", "fault": "error", "shutdown": "error"}
"""Words for the end of a try, as the audit counts them; all others are the upstream's doing."""


@final
class Course:
    """What became of one request so far: it writes the audit's rows, and is asked for what the client is told."""

    __slots__ = (
        "_asked", "_audit", "_first", "_metrics", "_number", "_open", "context", "ended", "in_body", "model", "reports", "route", "span", "stream",
        "upstream", "usage", "wrote_request",
    )  # fmt: skip

    def __init__(self, asked: Asked, audit: Audit, metrics: Metrics, span: Span) -> None:
        self._asked, self._audit, self._metrics, self.span = asked, audit, metrics, span
        self.route: Route | None = None
        # Set if the request went on with a history that the client only pointed at: places have to be named as the client knows them.
        self.context: Context | None = None
        self.model: str | None = None
        self.stream = False
        self.reports: list[Report] = []
        # Who ended the answer.
        self.ended: Ended = "refused"
        self.usage: Usage | None = None
        self.upstream: Upstream | None = None
        self.in_body = asked.headers.get(b"x-sendable-report") == b"body"
        self.wrote_request = False
        self._number = 0
        self._open = False
        self._first: float | None = None

    @property
    def policy(self) -> str | None:
        """The policy of the route, in a word."""
        if self.route is None:
            return None
        return self.route.policy if isinstance(self.route.policy, str) else "table"

    @property
    def limits(self) -> Limits:
        """The limits of the route."""
        return self.route.limits if self.route is not None else Limits()

    def report(self, report: Report) -> None:
        """Add what one run lost."""
        if report.entries:
            self.reports.append(report)

    def request_row(self) -> None:
        """Put the request's own row into the audit; queued."""
        if self.wrote_request:
            return
        self.wrote_request = True
        asked, route = self._asked, self.route
        self._audit.request(
            RequestRow(
                id=asked.id,
                at=asked.at,
                client=asked.client,
                dialect=asked.dialect,
                path=asked.path,
                model=self.model,
                route=route.match if route is not None else None,
                policy=self.policy,
                stream=self.stream,
                body_bytes=len(asked.body),
            )
        )

    async def attempt(self, upstream: Upstream, sent: Sent) -> None:
        """The row of a try is committed when this returns."""
        self.request_row()
        self._number += 1
        self.upstream = upstream
        self._first = None
        row = AttemptRow(
            request_id=self._asked.id,
            number=self._number,
            upstream=upstream.name,
            target=upstream.target,
            model=sent.model,
            wire_bytes=len(sent.data),
            at=time.time(),
        )
        self._open = True
        try:
            await self._audit.attempt_started(row)
        except AuditError as error:
            # What cannot be written down is not sent.
            self._open = False
            self._number -= 1
            raise Refused(503, f"the request was not sent: {error}", code="audit_unavailable") from None
        self.ended = "upstream"

    def answered(self) -> None:
        """The head of an answer has come."""
        self._first = time.time()

    def attempt_ended(self, status: int | None, how: str) -> None:
        """A try has ended: "whole", "client", or a word for what went wrong; queued."""
        if not self._open or self.upstream is None:
            return
        self._open = False
        self._metrics.attempt(self.upstream.name, how if status is None or how != "status" else str(status))
        self._audit.attempt_finished(
            self._asked.id,
            self._number,
            status=status,
            error=None if how in ("whole", "client") else how,
            first_byte_at=self._first,
            ended_at=time.time(),
            ended=_ENDED.get(how, "upstream"),
        )

    def with_report(self, data: bytes) -> bytes:
        """The body of an answer, with the report in it if the client asked for that (`x-sendable-report: body`)."""
        if not self.in_body or not data.rstrip().endswith(b"}"):
            return data
        shown = msgspec.json.encode({"id": self._asked.id, "entries": entries_of(self.reports, self.context)})
        return data.rstrip()[:-1] + b',"sendable_report":' + shown + b"}"


@final
class Gateway:
    """What all requests share: configuration, the client of upstreams, the audit, what is kept between requests, and the counters."""

    def __init__(self, config: Config, audit: Audit, continuity: Continuity, keys: Keys | None) -> None:
        self.config, self.audit, self.continuity, self.keys = config, audit, continuity, keys
        self.metrics = Metrics()
        self.in_flight = 0
        self.draining = False
        self.reports: OrderedDict[str, tuple[str, dict[str, Any]]] = OrderedDict()
        self._client: Client | None = None
        self._redactions: dict[int, tuple[Route, Redaction]] = {}

    @property
    def client(self) -> Client:
        """The client of upstreams; made at the first use, inside the running loop."""
        if self._client is None:
            self._client = AiohttpClient()
        return self._client

    async def close(self) -> None:
        """End every connection to an upstream."""
        if self._client is not None:
            await self._client.close()
            self._client = None

    def redaction(self, route: Route) -> Redaction:
        """The compiled redaction of a route."""
        held = self._redactions.get(id(route))
        if held is None or held[0] is not route:
            held = self._redactions[id(route)] = (route, Redaction(route.redact))
        return held[1]

    def reload(self, config: Config, keys: Keys | None) -> None:
        """From the next request on, this configuration."""
        self.config, self.keys = config, keys
        self._redactions = {}

    def remember(self, asked: Asked, report: dict[str, Any]) -> None:
        """Keep the report of a request at hand."""
        self.reports[asked.id] = (asked.client, report)
        if len(self.reports) > REMEMBERED:
            self.reports.popitem(last=False)


@final
class App:
    """The ASGI application. `reload` changes its configuration, `drain` makes it not ready; it neither opens nor closes the audit."""

    def __init__(self, config: Config, audit: Audit, continuity: Continuity, keys: Keys | None = None) -> None:
        self.gateway = Gateway(config, audit, continuity, keys)

    @property
    def in_flight(self) -> int:
        """How many requests are being answered."""
        return self.gateway.in_flight

    def reload(self, config: Config, keys: Keys | None = None) -> None:
        """From the next request on, this configuration."""
        self.gateway.reload(config, keys)

    def drain(self) -> None:
        """Not ready any more; what is being answered goes on."""
        self.gateway.draining = True

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request, or live through the start and the end of the server."""
        kind = scope["type"]
        if kind == "http":
            await answer(self.gateway, scope, receive, send)
        elif kind == "websocket":
            await receive()
            await _no_websocket(send, scope)
        elif kind == "lifespan":
            await self._live(receive, send)

    async def _live(self, receive: Receive, send: Send) -> None:
        while True:
            message = await receive()
            if message["type"] == "lifespan.startup":
                await send({"type": "lifespan.startup.complete"})
            else:
                await self.gateway.close()
                await send({"type": "lifespan.shutdown.complete"})
                return


# --- endpoints ----------------------------------------------------------------------------------------------------------

_OPENAPI = Path(__file__).with_name("openapi.json")
_UPGRADE = b"WebSocket is not served here; send the same request over HTTP"

ENTRANCES = {
    "/v1/chat/completions": "openai-chat",
    "/v1/messages": "anthropic",
    "/v1/responses": "openai-responses",
}
_GEMINI = re.compile(
    r"/v1(?:beta|alpha)?/models/(?P<model>.+):(?P<verb>generateContent|streamGenerateContent|countTokens)\Z"
)
_REPORT = re.compile(r"/v1/requests/([^/]+)/report\Z")
_RESPONSE = re.compile(r"/v1/responses/([^/]+)\Z")
_MODEL = re.compile(r"/v1/models/(.+)\Z")
_KNOWN = frozenset({*ENTRANCES, "/openapi.json", "/metrics", "/v1/models", "/v1/messages/count_tokens"})
_OPEN = frozenset({"/health/live", "/health/ready", "/openapi.json", "/"})
"""Paths that need no key: they tell nothing. Metrics name routes and upstreams, so they need one."""


async def answer(gateway: Gateway, scope: Scope, receive: Receive, send: Send) -> None:
    """Find the endpoint, check the key, answer. Whatever happens, the client gets an answer in its own dialect."""
    headers: dict[bytes, bytes] = dict(scope["headers"])
    path, method = _plain_path(scope["path"]), scope["method"]
    limits = gateway.config.limits
    reply = Reply(send, limits.send_seconds)
    if b"websocket" in headers.get(b"upgrade", b"").lower():
        await reply.json(426, [(b"upgrade", b"HTTP/1.1")], errors.body("openai-chat", 426, _UPGRADE.decode()))
        return
    dialect = ENTRANCES.get(path) if method == "POST" else None
    asked = Asked(dialect or _dialect_for(path, headers), path, headers, _query(scope))
    gateway.in_flight += 1
    try:
        size = sum([len(name) + len(value) for name, value in scope["headers"]])
        if size > limits.header_bytes:
            raise Refused(431, f"the headers have {size} bytes; at most {limits.header_bytes} are taken")
        if path not in _OPEN:
            _identify(gateway, asked)
            if gateway.in_flight > gateway.config.server.in_flight:
                raise Refused(
                    503, "too many requests are being answered at once; try again in a moment", code="overloaded"
                )
        if dialect is not None:
            await entered(gateway, asked, receive, reply)
        else:
            await _elsewhere(gateway, asked, method, receive, reply)
    except Refused as refused:
        shown = errors.body(
            asked.dialect, refused.status, refused.message, param=refused.param, code=refused.code, request_id=asked.id
        )
        extra = [(b"www-authenticate", b"Bearer")] if refused.status == 401 else []
        await reply.json(refused.status, [(b"x-sendable-request-id", asked.id.encode()), *extra], shown)
    except ClientLeft:
        return
    finally:
        gateway.in_flight -= 1


def _plain_path(path: str) -> str:
    """A path without the alias in front of it and the slash behind it."""
    for alias in ("/openai/", "/anthropic/"):
        if path.startswith(alias):
            path = path[len(alias) - 1 :]
    return path.rstrip("/") or "/"


def _dialect_for(path: str, headers: Mapping[bytes, bytes]) -> str:
    """In whose words an error outside of the entrances is told."""
    if b"anthropic-version" in headers or path.startswith("/v1/messages"):
        return "anthropic"
    return "gemini" if _GEMINI.match(path) else "openai-chat"


_SECRET = re.compile(r"(?i)(?:^|&)(?:key|api[-_]?key|access_token|token)=[^&]*")


def _query(scope: Scope) -> str:
    """The query string that may go on: without keys, and without what the gateway says itself."""
    raw: bytes = scope.get("query_string", b"")
    if not raw:
        return ""
    text = _SECRET.sub("", raw.decode("latin-1"))
    return "&".join([part for part in text.split("&") if part and part != "alt=sse"])


def _identify(gateway: Gateway, asked: Asked) -> None:
    """The client has a key that we know, if keys are needed. Raises `Refused` (401)."""
    headers = asked.headers
    given = headers.get(b"x-api-key") or headers.get(b"x-goog-api-key")
    if given is None:
        scheme, _, rest = headers.get(b"authorization", b"").partition(b" ")
        given = rest.strip() if scheme.lower() == b"bearer" and rest else None
    asked.key = given.decode("latin-1") if given else None
    if gateway.keys is None:
        return
    client = gateway.keys.check(
        headers.get(b"authorization"), headers.get(b"x-api-key"), headers.get(b"x-goog-api-key")
    )
    if client is None:
        raise Refused(401, "Incorrect API key provided" if given else "No API key was provided", code="invalid_api_key")
    asked.client = client


async def entered(gateway: Gateway, asked: Asked, receive: Receive, reply: Reply, work: Any = exchange) -> None:
    """Answer a request at one of the entrances, and leave its whole course in the audit, whatever happens."""
    metrics = gateway.metrics
    course = Course(asked, gateway.audit, metrics, metrics.span(asked.dialect, asked.headers))
    limits = gateway.config.limits
    watcher: asyncio.Future[None] | None = None
    status: int | None = None
    try:
        asked.body = await receive_body(receive, asked.headers, limits.body_bytes, limits.receive_seconds)
        watcher = _watch(receive, asked)
        await work(gateway, asked, asked.body, reply, course)
    except HistoryError as error:
        course.report(error.report)
        if course.context is not None:
            course.context.reword(error)
        await _refuse(asked, reply, course, 400, errors.refusal(error, asked.dialect))
    except Refused as refused:
        shown = errors.body(
            asked.dialect, refused.status, refused.message, param=refused.param, code=refused.code, request_id=asked.id
        )
        await _refuse(asked, reply, course, refused.status, shown)
    except ClientLeft:
        asked.left = True
    except asyncio.CancelledError:
        if not asked.left:
            course.attempt_ended(None, "shutdown")
            raise
        task = asyncio.current_task()
        if task is not None:
            task.uncancel()
    except Exception as error:
        # A fault of ours: the client hears that. The log has where it was, and nothing that an exception may quote of the request.
        _log.error("%s: %s in\n%s", asked.id, type(error).__name__, "".join(traceback.format_tb(error.__traceback__)))
        course.ended = "error"
        course.attempt_ended(None, "fault")
        status = 500
        if reply.status == 0:
            shown = errors.body(
                asked.dialect, 500, "the gateway failed; the request was not answered", request_id=asked.id
            )
            await reply.json(500, told(asked.id, course), shown)
        elif course.stream:
            await reply.write(errors.event(asked.dialect, errors.Failure(500, "the gateway failed inside the answer")))
            await reply.end()
    finally:
        if watcher is not None:
            watcher.cancel()
        if asked.left:
            course.ended, status = "client", 499
            course.attempt_ended(reply.status or None, "client")
        _finish(gateway, asked, reply, course, status or reply.status)


async def _refuse(asked: Asked, reply: Reply, course: Course, status: int, shown: bytes) -> None:
    await reply.json(status, told(asked.id, course), shown)


def _watch(receive: Receive, asked: Asked) -> asyncio.Future[None]:
    """Ends the running task when the client goes away; with it goes its call to the upstream."""
    task = asyncio.current_task()
    assert task is not None

    async def until_gone() -> None:
        while True:
            message = await receive()
            if message["type"] == "http.disconnect":
                asked.left = True
                task.cancel()
                return

    return asyncio.ensure_future(until_gone())


def _finish(gateway: Gateway, asked: Asked, reply: Reply, course: Course, status: int) -> None:
    """Put the end of a request into audit, metrics and span; nothing here waits."""
    course.request_row()
    now = time.time()
    entries = entries_of(course.reports, course.context)
    usage = course.usage
    gateway.audit.finished(
        asked.id,
        status=status,
        at=now,
        ended=course.ended,
        entries=entries,
        worst=worst_of(course.reports),
        usage=None if usage is None else msgspec.structs.asdict(usage),
    )
    gateway.remember(asked, {
        "id": asked.id, "status": status, "ended": course.ended, "model": course.model,
        "route": course.route.match if course.route is not None else None,
        "upstream": course.upstream.name if course.upstream is not None else None,
        "entries": entries,
    })  # fmt: skip
    metrics = gateway.metrics
    route = course.route.match if course.route is not None else ""
    first = None if reply.first is None else reply.first - asked.at
    metrics.request(asked.dialect, route, status, now - asked.at, first)
    metrics.losses(entries)
    if course.upstream is not None and course.ended == "whole":
        metrics.used(course.upstream.name, course.upstream.dialect, course.model, now - asked.at, usage)
    if course.span.is_recording():
        _describe(course, asked, status)
    course.span.end()


def _describe(course: Course, asked: Asked, status: int) -> None:
    span, usage = course.span, course.usage
    span.set_attribute("gen_ai.operation.name", "chat")
    span.set_attribute("sendable.request.id", asked.id)
    span.set_attribute("http.response.status_code", status)
    span.set_attribute("sendable.losses", sum([len(report.entries) for report in course.reports]))
    if course.model is not None:
        span.set_attribute("gen_ai.request.model", course.model)
    if course.upstream is not None:
        span.set_attribute("sendable.upstream", course.upstream.name)
    if usage is not None and usage.input is not None:
        span.set_attribute("gen_ai.usage.input_tokens", usage.input)
    if usage is not None and usage.output is not None:
        span.set_attribute("gen_ai.usage.output_tokens", usage.output)
    if status >= 500 or course.ended == "upstream":
        span.set_status(Status(StatusCode.ERROR))


async def _elsewhere(gateway: Gateway, asked: Asked, method: str, receive: Receive, reply: Reply) -> None:
    """Every endpoint but the three entrances."""
    path = asked.path
    if path == "/health/live":
        await _plain(reply, method, 200, {"status": "live"})
    elif path == "/health/ready":
        ready = not gateway.draining
        shown = {"status": "ready" if ready else "draining", "in_flight": gateway.in_flight - 1}
        await _plain(reply, method, 200 if ready else 503, shown)
    elif path == "/":
        await _plain(reply, method, 200, {"name": "sendable"})
    elif path == "/openapi.json" and method in ("GET", "HEAD"):
        await reply.json(200, [], b"" if method == "HEAD" else _OPENAPI.read_bytes())
    elif path == "/metrics" and method in ("GET", "HEAD"):
        page = gateway.metrics.page(gateway.in_flight - 1)
        await reply.whole(200, [(b"content-type", CONTENT_TYPE.encode())], b"" if method == "HEAD" else page)
    elif path == "/v1/models" and method in ("GET", "HEAD"):
        await reply.json(200, [], b"" if method == "HEAD" else models.listed(await _models(gateway, asked)))
    elif path == "/v1/messages/count_tokens" and method == "POST":
        await entered(gateway, asked, receive, reply, counting.count_tokens)
    elif method == "POST" and (found := _GEMINI.match(path)):
        asked.dialect, asked.model = "gemini", unquote(found["model"])
        asked.stream = found["verb"] == "streamGenerateContent"
        counted = found["verb"] == "countTokens"
        await entered(gateway, asked, receive, reply, counting.count_tokens if counted else exchange)
    elif (found := _REPORT.match(path)) and method == "GET":
        await _report(gateway, asked, found[1], reply)
    elif (found := _RESPONSE.match(path)) and method in ("GET", "DELETE"):
        await _issued(gateway, asked, method, found[1], reply)
    elif (found := _MODEL.match(path)) and method == "GET":
        await _model(gateway, asked, unquote(found[1]), reply)
    elif path in _KNOWN or any([pattern.match(path) for pattern in (_REPORT, _RESPONSE, _MODEL, _GEMINI)]):
        raise Refused(405, f"{method} is not served at this path", code="method_not_allowed")
    else:
        raise Refused(404, "nothing is served at this path", code="unknown_path")


async def _plain(reply: Reply, method: str, status: int, shown: dict[str, Any]) -> None:
    if method not in ("GET", "HEAD"):
        raise Refused(405, f"{method} is not served at this path", code="method_not_allowed")
    await reply.json(status, [], b"" if method == "HEAD" else msgspec.json.encode(shown))


async def _models(gateway: Gateway, asked: Asked) -> list[dict[str, Any]]:
    """The aliases of the routes; where none has a name of its own, what the first upstream says that it has."""
    named = gateway.config.aliases()
    if named:
        return [models.one(name) for name in named]
    upstream = next(iter(gateway.config.upstreams.values()), None)
    if upstream is None:
        return []
    if upstream.model is not None or upstream.dialect not in ("openai-chat", "openai-responses", "anthropic"):
        return [models.one(upstream.model)] if upstream.model is not None else []
    try:
        async with asyncio.timeout(10):
            found = await gateway.client.send(models_call(upstream, upstream.key()))
            try:
                data = await found.read(4 << 20)
            finally:
                found.close()
    except (Unreachable, TimeoutError):
        return []
    return models.read_models(data) if found.status == 200 else []


async def _model(gateway: Gateway, asked: Asked, name: str, reply: Reply) -> None:
    for model in await _models(gateway, asked):
        if model["id"] == name:
            await reply.json(200, [], msgspec.json.encode(model))
            return
    raise Refused(404, f"The model `{name}` does not exist or is not served here", "model", "model_not_found")


async def _report(gateway: Gateway, asked: Asked, request_id: str, reply: Reply) -> None:
    """The whole report of a request, to the client whose request it was."""
    held = gateway.reports.get(request_id)
    if held is None:
        found = await gateway.audit.report(request_id)
        held = None if found is None else (str(found.get("client") or ""), found)
    if held is None or held[0] != asked.client:
        raise Refused(404, "no request of this id is known", code="unknown_request")
    await reply.json(200, [], msgspec.json.encode(held[1]))


async def _issued(gateway: Gateway, asked: Asked, method: str, response_id: str, reply: Reply) -> None:
    """An answer that we issued to a Responses client."""
    asked.dialect = "openai-responses"
    missing = Refused(404, f"Response with id '{response_id}' not found.", code="response_not_found")
    if method == "DELETE":
        if not await gateway.continuity.delete(response_id, asked.client):
            raise missing
        await reply.json(200, [], msgspec.json.encode({"id": response_id, "object": "response", "deleted": True}))
        return
    found = await gateway.continuity.get(response_id, asked.client)
    if found is None:
        raise missing
    await reply.json(200, [], msgspec.json.encode(found))


async def _no_websocket(send: Send, scope: Scope) -> None:
    if "websocket.http.response" not in scope.get("extensions", {}):
        await send({"type": "websocket.close", "code": 1008})
        return
    shown = errors.body("openai-chat", 426, _UPGRADE.decode())
    headers = [(b"content-type", b"application/json"), (b"upgrade", b"HTTP/1.1")]
    await send({"type": "websocket.http.response.start", "status": 426, "headers": headers})
    await send({"type": "websocket.http.response.body", "body": shown})
