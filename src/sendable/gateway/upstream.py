"""The client of the gateway: one small interface, its aiohttp form, and how each provider is addressed.

A base URL is the one that this provider's own SDK takes. What must not live here: retries, fallbacks and what an answer means (exchange.py).
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from typing import Any, Literal, Protocol, final
from urllib.parse import quote

import aiohttp
import msgspec

from sendable.gateway.config import Upstream

Trouble = Literal["connect", "timeout", "reset"]


class Unreachable(Exception):
    """No answer, or not all of it: `trouble` says what kind. `begun` says whether the head of an answer had come."""

    def __init__(self, trouble: Trouble, message: str) -> None:
        super().__init__(message)
        self.trouble: Trouble = trouble


@final
class Call(msgspec.Struct, frozen=True):
    """One request to an upstream. `body` is None for a GET."""

    url: str
    headers: Mapping[str, str]
    body: bytes | None
    upstream: Upstream


class Answer(Protocol):
    """What an upstream answers: its head now, its bytes as they come. It has to be closed, which aborts what is still open."""

    @property
    def status(self) -> int: ...
    @property
    def headers(self) -> Mapping[str, str]:
        """Looked up without regard to case."""
        ...

    async def read(self, most: int) -> bytes:
        """The whole body; `Unreachable` if it breaks off or has more than `most` bytes."""
        ...

    def chunks(self) -> AsyncIterator[bytes]:
        """The body in the pieces in which it arrives; `Unreachable` if it breaks off."""
        ...

    def close(self) -> None: ...


class Client(Protocol):
    """Sends a call and gives back the head of its answer, or raises `Unreachable`. Cancelling the task aborts the call."""

    async def send(self, call: Call) -> Answer: ...
    async def close(self) -> None: ...


@final
class AiohttpClient:
    """The one session of the process: connections are kept and shared, nothing is redirected, no cookie is held, no proxy is guessed."""

    def __init__(self) -> None:
        self._session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(limit=0, ttl_dns_cache=60, keepalive_timeout=30),
            cookie_jar=aiohttp.DummyCookieJar(),
            skip_auto_headers=("User-Agent", "Accept", "Accept-Encoding", "Content-Type"),
            timeout=aiohttp.ClientTimeout(total=None),
            read_bufsize=1 << 18,
            auto_decompress=True,
        )
        self._timeouts: dict[int, tuple[Upstream, aiohttp.ClientTimeout]] = {}

    async def send(self, call: Call) -> AiohttpAnswer:
        """The head of the answer, within the upstream's time-outs."""
        upstream = call.upstream
        try:
            async with asyncio.timeout(upstream.timeouts.first_byte):
                response = await self._session.request(
                    "GET" if call.body is None else "POST",
                    call.url,
                    data=call.body,
                    headers=call.headers,
                    allow_redirects=False,
                    timeout=self._timeout(upstream),
                )
        except TimeoutError:
            # aiohttp's own time-outs are of this class too.
            raise Unreachable("timeout", f"upstream {upstream.name} did not answer in time") from None
        except aiohttp.ClientConnectorError:
            raise Unreachable("connect", f"upstream {upstream.name} cannot be reached") from None
        except (aiohttp.ClientError, OSError):
            raise Unreachable("reset", f"upstream {upstream.name} closed the connection before it answered") from None
        return AiohttpAnswer(response, upstream)

    def _timeout(self, upstream: Upstream) -> aiohttp.ClientTimeout:
        held = self._timeouts.get(id(upstream))
        if held is None or held[0] is not upstream:
            times = upstream.timeouts
            timeout = aiohttp.ClientTimeout(total=None, sock_connect=times.connect, sock_read=times.idle)
            if len(self._timeouts) > 1000:  # Every reload brings new upstreams.
                self._timeouts.clear()
            held = self._timeouts[id(upstream)] = (upstream, timeout)
        return held[1]

    async def close(self) -> None:
        """End every connection."""
        await self._session.close()


@final
class AiohttpAnswer:
    """An answer of aiohttp."""

    __slots__ = ("_response", "_upstream")

    def __init__(self, response: aiohttp.ClientResponse, upstream: Upstream) -> None:
        self._response, self._upstream = response, upstream

    @property
    def status(self) -> int:
        """The HTTP status."""
        return self._response.status

    @property
    def headers(self) -> Mapping[str, str]:
        """The headers of the head."""
        return self._response.headers

    async def read(self, most: int) -> bytes:
        """The whole body, at most `most` bytes of it."""
        parts: list[bytes] = []
        size = 0
        async for part in self.chunks():
            parts.append(part)
            size += len(part)
            if size > most:
                self.close()
                raise Unreachable("reset", f"the answer of upstream {self._upstream.name} has more than {most} bytes")
        return parts[0] if len(parts) == 1 else b"".join(parts)

    async def chunks(self) -> AsyncIterator[bytes]:
        """The pieces as they come."""
        content = self._response.content
        try:
            while True:
                part = await content.readany()
                if not part:
                    if content.at_eof():
                        return
                    continue
                yield part
        except TimeoutError:
            raise Unreachable("timeout", f"upstream {self._upstream.name} stopped sending") from None
        except (aiohttp.ClientError, OSError):
            raise Unreachable("reset", f"upstream {self._upstream.name} broke off its answer") from None

    def close(self) -> None:
        """Give the connection back, or end it if something of the answer is still to come."""
        # What was read to the end has gone back to the pool already.
        self._response.close()


# How each provider is addressed.

_JSON = {"Content-Type": "application/json", "Accept-Encoding": "identity"}


def call_of(
    upstream: Upstream,
    body: bytes,
    *,
    model: str | None,
    stream: bool,
    key: str | None,
    given: Mapping[str, str],
    query: str = "",
    counting: bool = False,
) -> Call:
    """The call that asks this upstream for an answer to `body`.

    `given` are the client's own headers that may go on; `query` its query string, where the dialect is the same. `counting` asks for a
    count of tokens instead, which only Messages and Gemini have.
    """
    base, dialect = upstream.base_url, upstream.dialect
    headers = {**given, **_JSON, "Accept": "text/event-stream" if stream else "application/json"}
    if dialect == "openai-chat":
        url = f"{base}/chat/completions"
    elif dialect == "openai-responses":
        url = f"{base}/responses"
    elif dialect == "anthropic":
        # Its SDK takes the URL without the version; one that has it is meant the same.
        url = f"{base.removesuffix('/v1')}/v1/messages{'/count_tokens' if counting else ''}"
        headers.setdefault("anthropic-version", "2023-06-01")
    elif dialect == "gemini":
        version = "" if base.endswith(("/v1", "/v1beta", "/v1alpha")) else "/v1beta"
        name = quote((model or "").removeprefix("models/"), safe="-._~/:")
        verb = "countTokens" if counting else "streamGenerateContent?alt=sse" if stream else "generateContent"
        url = f"{base}{version}/models/{name}:{verb}"
    else:
        url = f"{base}/model/{quote(model or '', safe='')}/{'converse-stream' if stream else 'converse'}"
        headers["Accept"] = "application/vnd.amazon.eventstream" if stream else "application/json"
    if query:
        url = f"{url}{'&' if '?' in url else '?'}{query}"
    headers.update(upstream.headers)
    if dialect == "bedrock-converse" and key is None:
        headers.update(_signed(upstream, url, headers, body))
    elif key is not None:
        name, value = credential(dialect, key)
        headers[name] = value
    return Call(url, headers, body, upstream)


def credential(dialect: str, key: str) -> tuple[str, str]:
    """The header in which this provider takes its key."""
    if dialect == "anthropic":
        return "x-api-key", key
    if dialect == "gemini":
        return "x-goog-api-key", key
    return "Authorization", f"Bearer {key}"


def models_call(upstream: Upstream, key: str | None) -> Call:
    """The call that asks an upstream which models it has."""
    base = upstream.base_url
    if upstream.dialect == "anthropic":
        base = f"{base.removesuffix('/v1')}/v1"
    headers = {"Accept": "application/json", "Accept-Encoding": "identity", **upstream.headers}
    if key is not None:
        name, value = credential(upstream.dialect, key)
        headers[name] = value
    return Call(f"{base}/models", headers, None, upstream)


def _signed(upstream: Upstream, url: str, headers: Mapping[str, str], body: bytes) -> dict[str, str]:
    """Amazon's signature (SigV4) over the call, by botocore, with the credentials that it finds in the usual places."""
    # The extra `sendable[bedrock]`; botocore has no types.
    from botocore.auth import SigV4Auth  # type: ignore[import-untyped]
    from botocore.awsrequest import AWSRequest  # type: ignore[import-untyped]

    session: Any = _aws_session()
    request = AWSRequest(method="POST", url=url, data=body, headers={"Content-Type": headers["Content-Type"]})
    credentials = session.get_credentials()
    if credentials is None:
        raise Unreachable("connect", f"upstream {upstream.name}: no AWS credentials were found")
    region = upstream.region or session.get_config_variable("region") or "us-east-1"
    SigV4Auth(credentials.get_frozen_credentials(), "bedrock", region).add_auth(request)
    return dict(request.headers.items())


_aws: list[Any] = []


def _aws_session() -> Any:
    if not _aws:
        import botocore.session  # type: ignore[import-untyped]

        _aws.append(botocore.session.get_session())
    return _aws[0]
