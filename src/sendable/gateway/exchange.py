"""One request, from its body to the end of its answer: read → route → normalize → try upstreams in order → answer, whole or as a stream.

What must not live here: how an upstream is addressed (upstream.py), how an error is worded (errors.py), what is kept of it all (audit.py).
"""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Mapping, Sequence
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Any, final

import msgspec

from sendable.answers import Assembler, StreamReader, StreamWriter, events_of, read_response, write_response
from sendable.codes import BLK001
from sendable.conversation import Usage
from sendable.errors import HistoryError, UpstreamError
from sendable.gateway import errors
from sendable.gateway.bodies import check_images, look_over
from sendable.gateway.config import Config, Route, Upstream
from sendable.gateway.errors import Failure, Refused
from sendable.gateway.losses import told
from sendable.gateway.metrics import passed_on
from sendable.gateway.streaming import AwsFrames, Frames, NotAStream, Watch, usage_of, written
from sendable.gateway.upstream import Answer, Unreachable, call_of
from sendable.pipeline import check_json, normalize_json
from sendable.render.json import entry_objects
from sendable.report import REPAIR, Policy, Report
from sendable.stream import MessageStop, WireEvent

if TYPE_CHECKING:
    from sendable.gateway.app import Asked, Course, Gateway, Reply
    from sendable.gateway.continuity import Context

Raw = msgspec.Raw

_read_top = msgspec.json.Decoder(dict[str, Raw]).decode
_read_any = msgspec.json.Decoder().decode
_encode = msgspec.json.Encoder().encode


@final
class Head(msgspec.Struct, frozen=True):
    """What the gateway has to know of a body: its top-level fields as bytes (None if they cannot be told apart), its model, and the rest."""

    top: dict[str, Raw] | None
    model: str | None
    stream: bool


def read_head(data: bytes, given_model: str | None = None, given_stream: bool | None = None) -> Head:
    """The head of a body. What cannot be read here is left to the library, which says precisely what is wrong with it."""
    try:
        top = _read_top(data)
    except (msgspec.DecodeError, RecursionError):
        return Head(None, given_model, bool(given_stream))
    model = given_model if given_model is not None else _text(top.get("model"))
    stream = given_stream if given_stream is not None else bytes(top.get("stream", b"")) == b"true"
    return Head(top, model, stream)


def _text(raw: Raw | None) -> str | None:
    value = None if raw is None else _value(raw)
    return value if isinstance(value, str) else None


def _value(raw: Raw) -> Any:
    try:
        return _read_any(raw)
    except (msgspec.DecodeError, RecursionError):
        return None


def routed(config: Config, head: Head) -> Route:
    """The route of a request. Raises `Refused`: 400 for what names no model, 404 for a model that nobody serves."""
    route = config.route_for(head.model)
    if route is not None:
        return route
    if head.top is None:
        raise Refused(400, "the body is not a JSON object", code="not_an_object")
    if head.model is None:
        # As OpenAI words it; without a pattern for any model there is nowhere to send it.
        raise Refused(400, "you must provide a model parameter", "model")
    raise Refused(404, f"The model `{head.model}` does not exist or is not served here", "model", "model_not_found")


async def exchange(gateway: Gateway, asked: Asked, data: bytes, reply: Reply, course: Course) -> None:
    """Answer one request. Every refusal of ours is raised before an upstream is called: `Refused`, or `HistoryError` with the caller's path."""
    config = gateway.config
    limits = config.limits
    look_over(data, limits.depth, limits.nodes)
    head = read_head(data, asked.model, asked.stream)
    course.model, course.stream = head.model, head.stream
    course.route = route = routed(config, head)
    limits = route.limits
    check_images(data, limits.images, limits.image_bytes)
    upstreams = [config.upstreams[name] for name in route.upstreams]
    data, context = await gateway.continuity.incoming(asked, data, head.top, upstreams[0], course)
    restore = None
    if route.redact:
        data, restore = gateway.redaction(route).up(data)
    if data is not asked.body:
        head = read_head(data, asked.model, asked.stream)
    failed: Failed | None = None
    for upstream in upstreams:
        if context.bound and upstream.dialect != asked.dialect:
            continue  # keeps: a handle of the first upstream's means nothing to this one.
        try:
            sent = prepared(asked, head, data, route, upstream, config, gateway.continuity.trust)
        except HistoryError:
            if failed is None:
                raise
            break  # The caller's history was fit for the upstream that it was sent to; that one's failure is the answer.
        if limits.wire_bytes is not None and len(sent.data) > limits.wire_bytes:
            if failed is not None:
                break
            course.report(sent.report)
            raise Refused(
                413, f"the request has {len(sent.data)} bytes on the wire; at most {limits.wire_bytes} are sent",
                sent.key, "request_too_large",
            )  # fmt: skip
        course.report(sent.report)
        found = await tried(gateway, asked, route, upstream, sent, course)
        if not isinstance(found, Failed):
            await delivered(asked, upstream, found, reply, course, gateway, restore, context)
            return
        failed = found
        if not failed.again:
            break
    assert failed is not None
    await told_failure(asked, failed, reply, course)


# --- the request --------------------------------------------------------------------------------------------------------


@final
class Sent(msgspec.Struct, frozen=True):
    """What goes to an upstream: the bytes, what they cost, and which model is asked."""

    data: bytes
    report: Report
    model: str | None
    stream: bool
    key: str = "messages"


_PERFORMED: dict[str, tuple[str, ...]] = {
    "openai-chat": ("stream", "stream_options"),
    "anthropic": ("stream",),
    "openai-responses": ("stream", "stream_options", "store", "include", "background"),
    "gemini": (),
}
"""What the gateway does by itself for a client whose upstream speaks another dialect: it streams, it keeps, it carries reasoning. So the
target has no such field, and nothing is lost."""

_KEYS = {"openai-responses": "input", "gemini": "contents"}


def prepared(
    asked: Asked, head: Head, data: bytes, route: Route, upstream: Upstream, config: Config, trust: Any
) -> Sent:
    """The request as this upstream takes it. Bytes that need no change are the client's own. Raises `HistoryError`."""
    home = upstream.dialect == asked.dialect
    model = config.model_for(route, upstream, head.model)
    top = head.top
    if home:
        if top is not None and model != head.model and "model" in top:
            data = _encode({**top, "model": model})
    elif top is not None:
        kept = {name: value for name, value in top.items() if not _is_performed(asked.dialect, name, value)}
        if model is not None:
            kept["model"] = Raw(_encode(model))
        data = _encode(kept)
    result = normalize_json(
        data,
        upstream.target,
        source=asked.dialect,
        # The name that the operator wrote picks the profile; one that the client wrote can only widen the target that he chose.
        model=upstream.model or route.model,
        policy=route.policy,
        options=route.options,
        trust=trust,
    )
    if home and asked.dialect == "openai-chat" and route.policy == "strict" and route.options.get("unknown") == "keep":
        _known_blocks(data, upstream, route)
    wire = result.data
    if not home and head.stream:
        wire = _streaming(wire, upstream.dialect)
    return Sent(wire, result.report, model, head.stream, _KEYS.get(asked.dialect, "messages"))


_ONLY_BLOCKS: Policy = {**dict.fromkeys(REPAIR, "report"), BLK001.id: "reject"}


def _known_blocks(data: bytes, upstream: Upstream, route: Route) -> None:
    """The strict entrance of Chat lets fields through that nobody knows yet, and no blocks. Raises `HistoryError`."""
    options = {name: value for name, value in route.options.items() if name != "unknown"}
    report = check_json(data, upstream.target, source="openai-chat", policy=_ONLY_BLOCKS, options=options)
    if report.refused:
        raise HistoryError(report)


def _is_performed(dialect: str, name: str, value: Raw) -> bool:
    if name not in _PERFORMED[dialect]:
        return False
    if name == "include":
        return _value(value) in ([], None, ["reasoning.encrypted_content"])
    return name != "background" or bytes(value) in (b"false", b"null")


def _streaming(wire: bytes, dialect: str) -> bytes:
    """The body with the field that asks this dialect for a stream, where it is a field; with the usage, which others always send."""
    if dialect in ("gemini", "bedrock-converse"):
        return wire
    field = b'"stream":true,"stream_options":{"include_usage":true}' if dialect == "openai-chat" else b'"stream":true'
    body = wire.rstrip()
    return body[:-1] + (b"" if body[:-1].rstrip().endswith(b"{") else b",") + field + b"}"


# --- the tries ----------------------------------------------------------------------------------------------------------


@final
class Failed(msgspec.Struct, frozen=True):
    """An upstream did not answer: its own status, headers and body if it said so, and whether another try makes sense."""

    upstream: Upstream
    failure: Failure
    again: bool
    headers: Mapping[str, str] = {}
    data: bytes | None = None


_UNREACHABLE = {"connect": 502, "reset": 502, "timeout": 504}


async def tried(
    gateway: Gateway, asked: Asked, route: Route, upstream: Upstream, sent: Sent, course: Course
) -> Answer | Failed:
    """The answer of an upstream, whose body is still to come, or why there is none, after as many tries as it is allowed.

    Before the first byte of each try goes out, the audit holds its row.
    """
    key = asked.key if route.forward_client_key else upstream.key()
    given = _forwarded(asked, upstream)
    passed_on(course.span, given)
    call = call_of(
        upstream, sent.data, model=sent.model, stream=sent.stream, key=key, given=given,
        query=asked.query if upstream.dialect == asked.dialect else "",
    )  # fmt: skip
    retries = upstream.retries
    last = 1 + retries.most
    for number in range(1, last + 1):
        await course.attempt(upstream, sent)
        try:
            answer = await gateway.client.send(call)
        except Unreachable as error:
            course.attempt_ended(None, error.trouble)
            failed = Failed(
                upstream, Failure(_UNREACHABLE[error.trouble], str(error), code="upstream_" + error.trouble), True
            )
            wait = _pause(retries.first_wait, number)
        else:
            if answer.status < 300:
                course.answered()
                return answer
            failed = await _failed(answer, upstream)
            course.attempt_ended(answer.status, "status")
            wait = _asked_pause(failed.headers, retries.first_wait, number)
        if not failed.again or number == last or wait > retries.longest_wait:
            return failed
        await asyncio.sleep(wait)
    raise AssertionError("the loop ends with an answer or a failure")


async def _failed(answer: Answer, upstream: Upstream) -> Failed:
    """What an upstream says with a status that is no success."""
    status, headers = answer.status, dict(answer.headers)
    try:
        data = await answer.read(1 << 20)
    except Unreachable:
        data = b""
    finally:
        answer.close()
    if status < 400:
        text = f"upstream {upstream.name} answered {status}, a redirection, which is not followed"
        return Failed(upstream, Failure(502, text, code="upstream_redirect"), False)
    again = status in upstream.retries.statuses and headers.get("x-should-retry", "true") != "false"
    return Failed(upstream, errors.read_failure(upstream.dialect, status, data), again, headers, data)


def _pause(first: float, number: int) -> float:
    """How long to wait before the next try, where nobody says how long: twice as long each time, and not all clients at once."""
    return first * float(2 ** (number - 1)) * (0.75 + random.random() / 2)


def _asked_pause(headers: Mapping[str, str], first: float, number: int) -> float:
    """How long the upstream asks to wait: `retry-after-ms`, or `Retry-After` in seconds or as a date."""
    found = {name.lower(): value for name, value in headers.items()}
    try:
        if "retry-after-ms" in found:
            return max(0.0, float(found["retry-after-ms"]) / 1000)
        after = found.get("retry-after")
        if after is None:
            return _pause(first, number)
        if after.strip().replace(".", "", 1).isdigit():
            return float(after)
        return max(0.0, parsedate_to_datetime(after).timestamp() - time.time())
    except ValueError:
        return _pause(first, number)


_KEPT_BACK = frozenset({
    # keys of the client, and what belongs to one connection
    "authorization", "x-api-key", "x-goog-api-key", "api-key", "cookie", "proxy-authorization", "proxy-connection",
    "connection", "keep-alive", "te", "trailer", "transfer-encoding", "upgrade", "host", "expect", "forwarded", "via",
    # what we say ourselves
    "content-length", "content-encoding", "content-type", "accept", "accept-encoding", "traceparent", "tracestate",
})  # fmt: skip


def _forwarded(asked: Asked, upstream: Upstream) -> dict[str, str]:
    """The client's own headers that go on: all but those of its key and its connection, and only to an upstream of its own dialect."""
    if upstream.dialect != asked.dialect:
        agent = asked.headers.get(b"user-agent")
        return {} if agent is None else {"user-agent": agent.decode("latin-1")}
    given: dict[str, str] = {}
    for name, value in asked.headers.items():
        plain = name.decode("latin-1")
        if plain not in _KEPT_BACK and not plain.startswith(("x-forwarded-", "x-sendable-", "sec-")):
            given[plain] = value.decode("latin-1")
    return given


# --- the answer ---------------------------------------------------------------------------------------------------------

_RETURNED = (
    "request-id",
    "x-request-id",
    "retry-after",
    "retry-after-ms",
    "x-should-retry",
    "content-language",
    "warning",
)
_RETURNED_FAMILIES = ("anthropic-", "openai-", "x-ratelimit-", "ratelimit-")


def _returned(headers: Mapping[str, str], home: bool) -> list[tuple[bytes, bytes]]:
    """The upstream's headers that the client sees: limits, ids and times; what is only said in its dialect, only at home."""
    out: list[tuple[bytes, bytes]] = []
    for name, value in headers.items():
        low = name.lower()
        if low in _RETURNED or (home and low.startswith(_RETURNED_FAMILIES)):
            out.append((low.encode("latin-1"), value.encode("latin-1", "replace")))
    return out


async def told_failure(asked: Asked, failed: Failed, reply: Reply, course: Course) -> None:
    """The client hears why: in the upstream's own bytes if it speaks that dialect, else in its own form with the same sentence."""
    failure, home = failed.failure, failed.upstream.dialect == asked.dialect
    headers = [*told(asked.id, course), *_returned(failed.headers, home)]
    course.ended = "upstream"
    if home and failed.data:
        kind = failed.headers.get("content-type", failed.headers.get("Content-Type", "application/json"))
        await reply.whole(failure.status, [(b"content-type", kind.encode("latin-1", "replace")), *headers], failed.data)
        return
    await reply.json(failure.status, headers, errors.crossed(failure, asked.dialect, asked.id))


async def delivered(
    asked: Asked,
    upstream: Upstream,
    answer: Answer,
    reply: Reply,
    course: Course,
    gateway: Gateway,
    restore: Any,
    context: Any,
) -> None:
    """The answer reaches the client, whole or as it comes; the upstream's connection is given back or, if something is left, ended."""
    streamed = answer.headers.get("content-type", "").startswith(
        ("text/event-stream", "application/vnd.amazon.eventstream")
    )
    try:
        if upstream.dialect == asked.dialect:
            if streamed:
                await _passed_stream(asked, upstream, answer, reply, course, restore)
            else:
                await _passed_whole(asked, answer, reply, course, restore)
        elif streamed and course.stream:
            await _crossed_stream(asked, upstream, answer, reply, course, gateway, restore, context)
        else:
            await _crossed_whole(asked, upstream, answer, reply, course, gateway, restore, context, streamed)
    finally:
        answer.close()


async def _passed_whole(asked: Asked, answer: Answer, reply: Reply, course: Course, restore: Any) -> None:
    """The same bytes."""
    try:
        data = await answer.read(course.limits.answer_bytes)
    except Unreachable as error:
        await _broken(asked, error, reply, course, answer.status)
        return
    course.attempt_ended(answer.status, "whole")
    course.ended = "whole"
    if restore is not None:
        data = restore.down(data)
    kind = answer.headers.get("content-type", "application/json").encode("latin-1", "replace")
    headers = [(b"content-type", kind), *told(asked.id, course), *_returned(answer.headers, True)]
    await reply.whole(answer.status, headers, course.with_report(data))
    course.usage = _usage(data)


def _usage(data: bytes) -> Usage | None:
    try:
        top = _read_top(data)
    except (msgspec.DecodeError, RecursionError):
        return None
    return usage_of({key: _value(top[key]) for key in ("usage", "usageMetadata") if key in top})


async def _broken(asked: Asked, error: Unreachable, reply: Reply, course: Course, status: int | None) -> None:
    """An answer that broke off before anything of it was passed on."""
    course.attempt_ended(status, error.trouble)
    course.ended = "upstream"
    failure = Failure(_UNREACHABLE[error.trouble], str(error), code="upstream_" + error.trouble)
    await reply.json(failure.status, told(asked.id, course), errors.crossed(failure, asked.dialect, asked.id))


_STREAM = [
    (b"content-type", b"text/event-stream; charset=utf-8"),
    (b"cache-control", b"no-cache"),
    (b"x-accel-buffering", b"no"),
]
_CUT = "the upstream ended the stream before the answer was complete"


async def _passed_stream(
    asked: Asked, upstream: Upstream, answer: Answer, reply: Reply, course: Course, restore: Any
) -> None:
    """Every piece as it comes. If the upstream breaks off, the client hears that as its dialect says it."""
    watch = Watch(asked.dialect)
    restored = None if restore is None else restore.stream(asked.dialect)
    kind = answer.headers.get("content-type", "text/event-stream").encode("latin-1", "replace")
    await reply.start(
        answer.status,
        [(b"content-type", kind), *_STREAM[1:], *told(asked.id, course), *_returned(answer.headers, True)],
    )
    trouble: str | None = None
    try:
        async for chunk in answer.chunks():
            if restored is not None:
                chunk = restored.feed(chunk)
                if not chunk:
                    continue
            await reply.write(chunk)
            watch.feed(chunk)
    except Unreachable as error:
        trouble = error.trouble
    if restored is not None and (rest := restored.close()):
        await reply.write(rest)
        watch.feed(rest)
    course.usage = watch.usage
    ended = watch.ended if trouble is None or watch.ended != "cut" else "cut"
    course.attempt_ended(answer.status, "whole" if ended == "whole" else trouble or ended)
    course.ended = "whole" if ended == "whole" else "upstream"
    if ended == "cut":
        await reply.write(
            b"\n\n" + errors.event(asked.dialect, Failure(502, _CUT, code="upstream_" + (trouble or "cut")))
        )
    await reply.end()


async def _crossed_whole(
    asked: Asked,
    upstream: Upstream,
    answer: Answer,
    reply: Reply,
    course: Course,
    gateway: Gateway,
    restore: Any,
    context: Any,
    streamed: bool,
) -> None:
    """The answer in the client's own dialect."""
    status = answer.status
    try:
        data = await answer.read(course.limits.answer_bytes)
        if restore is not None and not streamed:
            data = restore.down(data)
        response = _assembled(data, upstream.dialect) if streamed else read_response(data, upstream.dialect)
    except Unreachable as error:
        await _broken(asked, error, reply, course, status)
        return
    except (UpstreamError, NotAStream) as error:
        course.attempt_ended(status, "garbage")
        course.ended = "upstream"
        failure = Failure(502, f"upstream {upstream.name}: {error}", code=getattr(error, "code", None))
        await reply.json(502, told(asked.id, course), errors.crossed(failure, asked.dialect, asked.id))
        return
    course.attempt_ended(status, "whole" if response.complete else "cut")
    course.ended = "whole" if response.complete else "upstream"
    course.usage = response.usage
    course.report(response.report)
    if course.stream:
        await _as_stream(asked, response, reply, course, gateway, context)
        return
    result = write_response(response, asked.dialect, carrier=context.carrier)
    course.report(result.report)
    body = await gateway.continuity.outgoing(asked, context, response, result.body)
    headers = [*told(asked.id, course), *_returned(answer.headers, False)]
    await reply.json(200, headers, course.with_report(_encode(body)))


def _assembled(data: bytes, dialect: str) -> Any:
    """An answer that came as a stream, whole."""
    reader, assembler = StreamReader(dialect), Assembler(dialect)
    for frame in _frames_of(dialect).feed(data + b"\n\n"):
        for event in reader.feed(_event_data(frame, dialect)):
            assembler.feed(event)
    for event in reader.close():
        assembler.feed(event)
    return assembler.response()


def _frames_of(dialect: str) -> Frames | AwsFrames:
    return AwsFrames() if dialect == "bedrock-converse" else Frames()


def _event_data(frame: Any, dialect: str) -> bytes:
    if dialect != "bedrock-converse":
        return frame.data  # type: ignore[no-any-return]
    # The SDK hands out each event under its name; on the wire the name is a header.
    return b'{"' + (frame.name or "").lstrip("!").encode() + b'":' + (frame.data or b"{}") + b"}"


async def _crossed_stream(
    asked: Asked,
    upstream: Upstream,
    answer: Answer,
    reply: Reply,
    course: Course,
    gateway: Gateway,
    restore: Any,
    context: Any,
) -> None:
    """Every event as it comes, in the client's own dialect."""
    dialect = upstream.dialect
    reader = StreamReader(dialect)
    writer = StreamWriter(asked.dialect, carrier=context.carrier)
    frames = _frames_of(dialect)
    restored = None if restore is None else restore.stream(dialect)
    keeper = gateway.continuity.follow(asked, context, dialect)
    await reply.start(200, [*_STREAM, *told(asked.id, course), *_returned(answer.headers, False)])
    stop: MessageStop | None = None
    trouble: str | None = None
    kept = False

    async def sent_on(out: bytes) -> None:
        # What is remembered of an answer is there before its end goes out: the client may come back at once.
        nonlocal kept
        if stop is not None and not kept:
            kept = True
            await keeper.close(_is_whole(stop))
        if out:
            await reply.write(out)

    def crossed(events: Sequence[Any]) -> bytes:
        nonlocal stop
        out: list[bytes] = []
        for event in events:
            if type(event) is MessageStop:
                stop = event
            keeper.event(event)
            for wire in writer.feed(event):
                out.append(_wire(keeper.wire(wire)))
        return b"".join(out)

    try:
        async for chunk in answer.chunks():
            if restored is not None:
                chunk = restored.feed(chunk)
            await sent_on(b"".join([crossed(reader.feed(_event_data(frame, dialect))) for frame in frames.feed(chunk)]))
    except Unreachable as error:
        trouble = error.trouble
    except NotAStream:
        trouble = "garbage"
    out = crossed(reader.close())
    cut = stop is None or stop.reply.stop.reason == "cut"
    if cut:
        out += errors.event(asked.dialect, Failure(502, _CUT, code="upstream_" + (trouble or "cut")))
    await sent_on(out)
    await reply.end()
    whole = stop is not None and _is_whole(stop)
    course.ended = "whole" if whole else "upstream"
    course.attempt_ended(answer.status, "whole" if whole else trouble or ("cut" if cut else "error"))
    course.report(reader.report)
    course.report(writer.report)
    if stop is not None:
        course.usage = stop.reply.usage


def _is_whole(stop: MessageStop) -> bool:
    return stop.reply.stop.reason not in ("cut", "error")


def _wire(event: WireEvent) -> bytes:
    return written(event.name, event.data.encode() if isinstance(event.data, str) else _encode(event.data))


async def _as_stream(asked: Asked, response: Any, reply: Reply, course: Course, gateway: Gateway, context: Any) -> None:
    """A whole answer for a client that asked for a stream: its events all at once."""
    writer = StreamWriter(asked.dialect, carrier=context.carrier)
    keeper = gateway.continuity.follow(asked, context, response.dialect)
    await reply.start(200, [*_STREAM, *told(asked.id, course)])
    out: list[bytes] = []
    for event in events_of(response):
        keeper.event(event)
        out += [_wire(keeper.wire(wire)) for wire in writer.feed(event)]
    await keeper.close(response.complete)
    await reply.write(b"".join(out))
    await reply.end()
    course.report(writer.report)


def entries_of(reports: Sequence[Report], context: Context | None = None) -> list[dict[str, Any]]:
    """The entries of several runs as one list; `because` counts from its beginning. Places are those of the client's own request."""
    out: list[dict[str, Any]] = []
    for report in reports:
        before = len(out)
        for entry in entry_objects(report):
            if context is not None:
                entry["path"], entry["param"] = context.place(entry["path"]), context.place(entry["param"])
                entry["related"] = [context.place(path) for path in entry["related"]]
            if entry["because"] is not None:
                entry["because"] += before
            out.append(entry)
    return out
