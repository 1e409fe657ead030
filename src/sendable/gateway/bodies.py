"""Request bodies: received within limits, unpacked within limits, and looked over before anything parses them deeply.

What must not live here: what a body says (exchange.py), and limits of providers (rules/).
"""

from __future__ import annotations

import asyncio
import re
import zlib
from collections.abc import Awaitable, Callable, Iterator, Mapping
from typing import Any

import msgspec

from sendable.gateway.errors import Refused

Receive = Callable[[], Awaitable[Any]]

_WINDOW = 1 << 20


class ClientLeft(Exception):
    """The client closed the connection before the answer was complete."""


async def receive_body(receive: Receive, headers: Mapping[bytes, bytes], most: int, seconds: float) -> bytes:
    """The whole body, unpacked: never more than `most` bytes of it are held, packed or not.

    Raises `Refused`: 413 over the limit, 415 for an unknown encoding, 400 for what cannot be unpacked, 408 for a client slower than
    `seconds`. `ClientLeft` if it goes away.
    """
    declared = headers.get(b"content-length")
    if declared is not None and declared.isdigit() and int(declared) > most:
        raise Refused(
            413, f"the request body has {int(declared)} bytes; at most {most} are taken", code="body_too_large"
        )
    message = await receive()
    if message["type"] != "http.request":
        raise ClientLeft
    data: bytes = message.get("body", b"")
    if message.get("more_body"):
        try:
            async with asyncio.timeout(seconds):
                data = await _rest(receive, data, most)
        except TimeoutError:
            raise Refused(
                408, f"the request body did not arrive within {seconds:g} seconds", code="body_too_slow"
            ) from None
    if len(data) > most:
        raise Refused(413, f"the request body has more than {most} bytes", code="body_too_large")
    encoding = headers.get(b"content-encoding")
    return data if encoding is None else unpacked(data, encoding.decode("latin-1"), most)


async def _rest(receive: Receive, first: bytes, most: int) -> bytes:
    parts, size = [first], len(first)
    while True:
        message = await receive()
        if message["type"] != "http.request":
            raise ClientLeft
        part = message.get("body", b"")
        parts.append(part)
        size += len(part)
        if size > most:
            raise Refused(413, f"the request body has more than {most} bytes", code="body_too_large")
        if not message.get("more_body"):
            return b"".join(parts)


def unpacked(data: bytes, encoding: str, most: int) -> bytes:
    """The body without its `Content-Encoding`: gzip and zstd, also one around the other. A small bomb is stopped at `most` bytes."""
    for name in reversed([name.strip().lower() for name in encoding.split(",")]):
        if name in ("", "identity"):
            continue
        if name in ("gzip", "x-gzip"):
            data = _gunzipped(data, most)
        elif name == "zstd":
            data = _unzstd(data, most)
        else:
            raise Refused(415, "the request body may be packed with gzip or zstd, or not at all", "Content-Encoding")
    return data


def _gunzipped(data: bytes, most: int) -> bytes:
    out, size = [], 0
    while data:
        member = zlib.decompressobj(31)
        try:
            part = member.decompress(data, most - size + 1)
        except zlib.error:
            raise Refused(
                400, "the request body is not gzip, as its Content-Encoding says", "Content-Encoding"
            ) from None
        size += len(part)
        if size > most:
            raise Refused(413, f"the unpacked request body has more than {most} bytes", code="body_too_large")
        if not member.eof:
            raise Refused(400, "the gzip data of the request body ends early", "Content-Encoding")
        out.append(part)
        data = member.unused_data
    return b"".join(out)


def _unzstd(data: bytes, most: int) -> bytes:
    import zstandard  # of the extra, and only for those who pack so

    out, size = [], 0
    # A window beyond 8 MB would let a few bytes ask for gigabytes.
    reader = zstandard.ZstdDecompressor(max_window_size=8 << 20).stream_reader(data, read_across_frames=True)
    try:
        while part := reader.read(_WINDOW):
            size += len(part)
            if size > most:
                raise Refused(413, f"the unpacked request body has more than {most} bytes", code="body_too_large")
            out.append(part)
    except zstandard.ZstdError:
        raise Refused(400, "the request body is not zstd, as its Content-Encoding says", "Content-Encoding") from None
    return b"".join(out)


_STRINGS = re.compile(rb'"[^"]*"')
_INNERMOST = re.compile(rb"\[\]|\{\}")
_NOT_STRUCTURE = bytes(set(range(256)) - set(b'"[]{}'))


def look_over(data: bytes, depth: int, nodes: int) -> None:
    """Nesting and number of objects and lists are within the limits. Nothing is parsed: brackets outside strings are counted.

    Raises `Refused` (400).
    """
    opened = data.count(b"{") + data.count(b"[")
    if opened <= depth:
        return
    bare = data.replace(b"\\\\", b"").replace(b'\\"', b"").translate(None, _NOT_STRUCTURE)
    bare = _STRINGS.sub(b"", bare)
    opened = bare.count(b"{") + bare.count(b"[")
    if opened > nodes:
        raise Refused(
            400, f"the body holds {opened} objects and lists; at most {nodes} are taken", code="too_many_nodes"
        )
    for _ in range(depth):
        fewer = _INNERMOST.sub(b"", bare)
        if len(fewer) == len(bare):
            # Nothing left, or brackets that do not match: what is no JSON is refused by the parser, with its position.
            return
        bare = fewer
    if bare:
        raise Refused(400, f"the body is nested more than {depth} levels deep", code="too_deep")


_IMAGE_SIGNS = (b"image", b"inline")
_DATA_URL = re.compile(r"data:image/[^,]*,", re.IGNORECASE)


def check_images(data: bytes, count: int | None, size: int | None) -> None:
    """No more images than `count`, and none above `size` bytes (decoded). Raises `Refused` (400) with the image's own path."""
    if (count is None and size is None) or not any(sign in data for sign in _IMAGE_SIGNS):
        return
    try:
        body = msgspec.json.decode(data)
    except (msgspec.DecodeError, RecursionError):
        return  # The parser behind us says what is wrong with it, or can read it.
    for number, (path, weight) in enumerate(_images(body), 1):
        if count is not None and number > count:
            raise Refused(400, f"at most {count} images are taken; this is number {number}", path, "too_many_images")
        if size is not None and weight > size:
            raise Refused(400, f"the image has {weight} bytes; at most {size} are taken", path, "image_too_large")


def _images(body: Any) -> Iterator[tuple[str, int]]:
    """Every image of a body in any dialect: its path and its size in bytes, 0 where it is only a reference."""
    if not isinstance(body, dict):
        return
    for key in ("messages", "input", "contents"):
        listed = body.get(key)
        for index, message in enumerate(_entries(listed)):
            if isinstance(message, dict):
                for inner in ("content", "parts", "output"):
                    yield from _images_in(message.get(inner), f"{key}[{index}].{inner}")


def _entries(listed: Any) -> list[Any]:
    return listed if isinstance(listed, list) else []


def _images_in(listed: Any, at: str) -> Iterator[tuple[str, int]]:
    for index, block in enumerate(_entries(listed)):
        if not isinstance(block, dict):
            continue
        path = f"{at}[{index}]"
        weight = _image_size(block)
        if weight is not None:
            yield path, weight
        for inner in ("content", "output"):
            yield from _images_in(block.get(inner), f"{path}.{inner}")


def _image_size(block: dict[str, Any]) -> int | None:
    """The size of the image that a block is, or None if it is none."""
    if block.get("type") in ("image", "image_url", "input_image"):
        source = block.get("source")
        if isinstance(source, dict):
            return _decoded(source.get("data"))
        url = block.get("image_url")
        url = url.get("url") if isinstance(url, dict) else url
        found = _DATA_URL.match(url) if isinstance(url, str) else None
        return 0 if found is None else _decoded(url[found.end() :]) if isinstance(url, str) else 0
    inline = block.get("inlineData", block.get("inline_data"))
    if isinstance(inline, dict):
        kind = inline.get("mimeType", inline.get("mime_type"))
        return _decoded(inline.get("data")) if isinstance(kind, str) and kind.startswith("image/") else None
    return None


def _decoded(text: Any) -> int:
    """How many bytes base64 text stands for."""
    return len(text.rstrip("=")) * 3 // 4 if isinstance(text, str) else 0
