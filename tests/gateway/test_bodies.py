"""Request bodies: received within limits, unpacked within limits, looked over before anything parses them."""

from __future__ import annotations

import asyncio
import gzip
import json
from collections.abc import Sequence
from typing import Any

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from sendable.gateway.bodies import ClientLeft, check_images, look_over, receive_body, unpacked
from sendable.gateway.errors import Refused


def received(
    parts: Sequence[bytes], headers: dict[bytes, bytes] | None = None, most: int = 100, seconds: float = 5.0
) -> bytes:
    messages: list[dict[str, Any]] = [
        {"type": "http.request", "body": part, "more_body": index < len(parts) - 1} for index, part in enumerate(parts)
    ]

    async def receive() -> dict[str, Any]:
        if not messages:
            await asyncio.sleep(60)
        return messages.pop(0)

    return asyncio.run(receive_body(receive, headers or {}, most, seconds))


@pytest.mark.parametrize("parts", [[b"abc"], [b"a", b"b", b"c"], [b"abc", b""]])
def test_a_body_in_any_pieces_is_one(parts: list[bytes]) -> None:
    assert received(parts) == b"abc"


@pytest.mark.parametrize(
    ("parts", "headers"),
    [
        ([b"x" * 101], {}),
        ([b"x" * 60, b"x" * 60], {}),
        # Said in the head: refused without reading.
        ([b"x"], {b"content-length": b"101"}),
        ([gzip.compress(b"x" * 101, mtime=0)], {b"content-encoding": b"gzip"}),
        ([gzip.compress(b"x" * 60, mtime=0) * 2], {b"content-encoding": b"gzip"}),
        ([zstandard.compress(b"x" * 101)], {b"content-encoding": b"zstd"}),
    ],
)
def test_a_body_over_the_limit_is_413(parts: list[bytes], headers: dict[bytes, bytes]) -> None:
    with pytest.raises(Refused) as refused:
        received(parts, headers)
    assert refused.value.status == 413


def test_a_slow_client_is_408() -> None:
    async def receive() -> dict[str, Any]:
        if receive.__dict__.setdefault("asked", 0):
            await asyncio.sleep(60)
        receive.__dict__["asked"] = 1
        return {"type": "http.request", "body": b"a", "more_body": True}

    with pytest.raises(Refused) as refused:
        asyncio.run(receive_body(receive, {}, 100, 0.05))
    assert refused.value.status == 408


def test_a_client_that_leaves_is_no_error() -> None:
    async def receive() -> dict[str, Any]:
        return {"type": "http.disconnect"}

    with pytest.raises(ClientLeft):
        asyncio.run(receive_body(receive, {}, 100, 1))


@pytest.mark.parametrize(
    ("data", "encoding"),
    [
        (gzip.compress(b"hello", mtime=0), "gzip"),
        (gzip.compress(b"hel", mtime=0) + gzip.compress(b"lo", mtime=0), "x-gzip"),
        (zstandard.compress(b"hello"), "zstd"),
        (zstandard.compress(gzip.compress(b"hello", mtime=0)), "gzip, zstd"),
        (b"hello", "identity"),
    ],
)
def test_bodies_are_unpacked(data: bytes, encoding: str) -> None:
    assert unpacked(data, encoding, 100) == b"hello"


@pytest.mark.parametrize(
    ("data", "encoding", "status"),
    [
        (b"hello", "gzip", 400), (gzip.compress(b"hello", mtime=0)[:-9], "gzip", 400), (b"hello", "zstd", 400),
        (b"hello", "br", 415), (b"hello", "deflate", 415),
    ],
)  # fmt: skip
def test_what_cannot_be_unpacked_is_refused(data: bytes, encoding: str, status: int) -> None:
    with pytest.raises(Refused) as refused:
        unpacked(data, encoding, 100)
    assert (refused.value.status, refused.value.param) == (status, "Content-Encoding")


def test_a_bomb_is_stopped_at_the_limit() -> None:
    bomb = zstandard.compress(b"\0" * (64 << 20))
    assert len(bomb) < 10_000
    with pytest.raises(Refused) as refused:
        unpacked(bomb, "zstd", 1 << 20)
    assert refused.value.status == 413


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=30,
)


def depth_of(value: Any) -> int:
    if isinstance(value, dict):
        return 1 + max(map(depth_of, value.values()), default=0)
    return 1 + max(map(depth_of, value), default=0) if isinstance(value, list) else 0


@given(json_values, st.booleans())
def test_depth_is_counted_exactly_and_brackets_in_strings_are_none(value: Any, ascii_only: bool) -> None:
    data = json.dumps({"[{": value, 'a"\\': "]}\\"}, ensure_ascii=ascii_only).encode("utf-8", "surrogatepass")
    depth = 1 + depth_of(value)
    look_over(data, depth, 10**6)
    if depth > 1:
        with pytest.raises(Refused) as refused:
            look_over(data, depth - 1, 10**6)
        assert refused.value.code == "too_deep"


def test_very_deep_and_very_many_are_refused_at_once() -> None:
    for data in (b"[" * 10**6, b"[]," * 10**6, b'{"a":' * 10**6):
        with pytest.raises(Refused):
            look_over(data, 100, 1000)


_PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
_SIZE = len(_PIXEL.rstrip("=")) * 3 // 4


@pytest.mark.parametrize(
    ("body", "path"),
    [
        ({"messages": [{"role": "user", "content": [{"type": "text", "text": "a"}, {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{_PIXEL}"}}]}]}, "messages[0].content[1]"),
        ({"messages": [{"role": "user", "content": [{"type": "tool_result", "content": [{"type": "image", "source": {"type": "base64", "data": _PIXEL}}]}]}]}, "messages[0].content[0].content[0]"),
        ({"input": [{"role": "user", "content": [{"type": "input_image", "image_url": f"data:image/png;base64,{_PIXEL}"}]}]}, "input[0].content[0]"),
        ({"input": [{"type": "function_call_output", "output": [{"type": "input_image", "image_url": f"data:image/png;base64,{_PIXEL}"}]}]}, "input[0].output[0]"),
        ({"contents": [{"role": "user", "parts": [{"inlineData": {"mimeType": "image/png", "data": _PIXEL}}]}]}, "contents[0].parts[0]"),
    ],
)  # fmt: skip
def test_images_are_counted_and_weighed_where_they_stand(body: Any, path: str) -> None:
    data = json.dumps(body).encode()
    check_images(data, 1, _SIZE)
    for count, size, code in ((0, None, "too_many_images"), (None, _SIZE - 1, "image_too_large")):
        with pytest.raises(Refused) as refused:
            check_images(data, count, size)
        assert (refused.value.status, refused.value.param, refused.value.code) == (400, path, code)


def test_an_image_that_is_only_a_reference_counts_and_weighs_nothing() -> None:
    body = {
        "messages": [
            {"role": "user", "content": [{"type": "image_url", "image_url": {"url": "https://example.com/a.png"}}] * 2}
        ]
    }
    data = json.dumps(body).encode()
    check_images(data, 2, 0)
    with pytest.raises(Refused) as refused:
        check_images(data, 1, 0)
    assert refused.value.param == "messages[0].content[1]"
