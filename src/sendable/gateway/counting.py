"""Counting tokens: asked of the target where it can count, else estimated, and then marked as an estimate.

What must not live here: requests for answers (exchange.py).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from sendable.gateway import errors
from sendable.gateway.bodies import look_over
from sendable.gateway.errors import Refused, read_failure
from sendable.gateway.exchange import Failed, prepared, read_head, routed, told_failure
from sendable.gateway.losses import told
from sendable.gateway.upstream import Unreachable, call_of

if TYPE_CHECKING:
    from sendable.gateway.app import Asked, Course, Gateway, Reply

BYTES_PER_TOKEN = 3.5
"""Between English prose (about 4) and code or JSON (about 3); other scripts have more bytes a character and more tokens."""

ESTIMATED = (b"x-sendable-estimate", b"true")


async def count_tokens(gateway: Gateway, asked: Asked, data: bytes, reply: Reply, course: Course) -> None:
    """How many tokens a request has. Only Messages and Gemini count; their own count is passed on to a client of the same dialect."""
    limits = gateway.config.limits
    look_over(data, limits.depth, limits.nodes)
    if asked.dialect == "gemini":
        data = _bare(data)
    head = read_head(data, asked.model, False)
    if head.top is None:
        raise Refused(400, "the body is not a JSON object", code="not_an_object")
    course.model = head.model
    course.route = route = routed(gateway.config, head)
    upstream = gateway.config.upstreams[route.upstreams[0]]
    sent = prepared(asked, head, data, route, upstream, gateway.config, gateway.continuity.trust)
    course.report(sent.report)
    if upstream.dialect != asked.dialect:
        course.ended = "whole"
        count = max(1, round(len(sent.data) / BYTES_PER_TOKEN))
        shown: dict[str, Any] = {"totalTokens": count} if asked.dialect == "gemini" else {"input_tokens": count}
        await reply.json(200, [ESTIMATED, *told(asked.id, course)], msgspec.json.encode(shown))
        return
    await course.attempt(upstream, sent)
    key = asked.key if route.forward_client_key else upstream.key()
    given = {
        name.decode("latin-1"): value.decode("latin-1")
        for name, value in asked.headers.items()
        if name.startswith(b"anthropic-")
    }
    call = call_of(upstream, sent.data, model=sent.model, stream=False, key=key, given=given, counting=True)
    try:
        answer = await gateway.client.send(call)
        try:
            found = await answer.read(1 << 20)
        finally:
            answer.close()
    except Unreachable as error:
        course.attempt_ended(None, error.trouble)
        course.ended = "upstream"
        failure = errors.Failure(
            504 if error.trouble == "timeout" else 502, str(error), code="upstream_" + error.trouble
        )
        await reply.json(failure.status, told(asked.id, course), errors.crossed(failure, asked.dialect, asked.id))
        return
    if answer.status >= 300:
        course.attempt_ended(answer.status, "status")
        failure = read_failure(upstream.dialect, answer.status, found)
        await told_failure(asked, Failed(upstream, failure, False, dict(answer.headers), found), reply, course)
        return
    course.attempt_ended(answer.status, "whole")
    course.ended = "whole"
    await reply.json(200, told(asked.id, course), found)


def _bare(data: bytes) -> bytes:
    """The request that Gemini's counting wraps, if it does."""
    try:
        top = msgspec.json.decode(data, type=dict[str, msgspec.Raw])
    except (msgspec.DecodeError, RecursionError):
        return data
    return bytes(top["generateContentRequest"]) if "generateContentRequest" in top else data
