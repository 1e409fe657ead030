"""Frames of event streams, whatever the pieces in which they come; and what a stream that is passed on says of its end."""

from __future__ import annotations

import pytest
from botocore.eventstream import EventStreamBuffer  # type: ignore[import-untyped]
from hypothesis import given
from hypothesis import strategies as st

from sendable.gateway.streaming import AwsFrames, Frame, Frames, NotAStream, Watch, written

STREAM = (
    b'\xef\xbb\xbf: hello\nevent: a\ndata: {"x":1}\n\ndata: one\r\ndata: two\r\n\r\n'
    b"data:tight\rid: 7\r\rdata\n\nretry: 5\n\nevent: only-a-name\n\ndata: [DONE]\n\n"
)
FRAMES = [
    Frame("a", b'{"x":1}'),
    Frame(None, b"one\ntwo"),
    Frame(None, b"tight"),
    Frame(None, b""),
    Frame(None, b"[DONE]"),
]


@given(st.lists(st.integers(0, len(STREAM)), max_size=12))
def test_frames_do_not_depend_on_the_pieces(cuts: list[int]) -> None:
    frames = Frames()
    found: list[Frame] = []
    before = 0
    for cut in [*sorted(cuts), len(STREAM)]:
        found += frames.feed(STREAM[before:cut])
        before = cut
    assert found == FRAMES
    assert not frames.rest


def test_what_is_written_is_read() -> None:
    assert Frames().feed(written("a", b"{}") + written(None, b"[DONE]")) == [Frame("a", b"{}"), Frame(None, b"[DONE]")]


def test_an_event_without_its_end_is_none() -> None:
    frames = Frames()
    assert frames.feed(b"data: a\n") == []
    assert frames.rest


def aws(name: str, payload: bytes, kind: str = "event") -> bytes:
    """One message as botocore reads it."""
    import binascii
    import struct

    headers = b""
    for key, value in ((":message-type", kind), (f":{kind}-type", name), (":content-type", "application/json")):
        headers += bytes([len(key)]) + key.encode() + b"\x07" + struct.pack(">H", len(value)) + value.encode()
    head = struct.pack(">II", 16 + len(headers) + len(payload), len(headers))
    head += struct.pack(">I", binascii.crc32(head))
    return (body := head + headers + payload) + struct.pack(">I", binascii.crc32(body))


AWS = (
    aws("messageStart", b'{"role":"assistant"}')
    + aws("messageStop", b'{"stopReason":"end_turn"}')
    + aws("throttlingException", b"{}", "exception")
)


@given(st.lists(st.integers(0, len(AWS)), max_size=8))
def test_amazons_frames_do_not_depend_on_the_pieces(cuts: list[int]) -> None:
    frames = AwsFrames()
    found: list[Frame] = []
    before = 0
    for cut in [*sorted(cuts), len(AWS)]:
        found += frames.feed(AWS[before:cut])
        before = cut
    assert found == [
        Frame("messageStart", b'{"role":"assistant"}'),
        Frame("messageStop", b'{"stopReason":"end_turn"}'),
        Frame("!throttlingException", b"{}"),
    ]
    assert not frames.rest


def test_amazons_own_reader_reads_the_same() -> None:
    buffer = EventStreamBuffer()
    buffer.add_data(AWS)
    assert [message.payload for message in buffer] == [frame.data for frame in AwsFrames().feed(AWS)]


@pytest.mark.parametrize("broken", [b"data: {}\n\n" * 4, AWS[:20] + b"x" + AWS[21:], b"\0" * 32])
def test_what_is_no_amazon_stream_says_so(broken: bytes) -> None:
    with pytest.raises(NotAStream):
        AwsFrames().feed(broken)


@pytest.mark.parametrize(
    ("dialect", "stream", "ended", "tokens"),
    [
        ("openai-chat", b'data: {"choices":[{"delta":{"content":"a"}}]}\n\n', "cut", None),
        ("openai-chat", b'data: {"choices":[{"delta":{},"finish_reason":"stop"}]}\n\n', "whole", None),
        ("openai-chat", b'data: {"choices":[{"delta":{},"finish_reason":null}]}\n\n', "cut", None),
        ("openai-chat", b'data: {"choices":[],"usage":{"prompt_tokens":3,"completion_tokens":2}}\n\ndata: [DONE]\n\n', "whole", (3, 2)),
        ("openai-chat", b'data: {"error":{"message":"x"}}\n\n', "error", None),
        ("anthropic", b'event: message_start\ndata: {"message":{"usage":{"input_tokens":3,"output_tokens":1}}}\n\nevent: message_delta\ndata: {"usage":{"output_tokens":9}}\n\nevent: message_stop\ndata: {}\n\n', "whole", (3, 9)),
        ("anthropic", b'event: message_start\ndata: {"message":{"usage":{"input_tokens":3,"output_tokens":1,"cache_read_input_tokens":5}}}\n\n', "cut", (8, 1)),
        ("anthropic", b"event: error\ndata: {}\n\n", "error", None),
        ("openai-responses", b'event: response.completed\ndata: {"response":{"usage":{"input_tokens":3,"output_tokens":2}}}\n\n', "whole", (3, 2)),
        ("openai-responses", b"event: response.output_text.delta\ndata: {}\n\n", "cut", None),
        ("gemini", b'data: {"candidates":[{"finishReason": "STOP"}],"usageMetadata":{"promptTokenCount":3,"candidatesTokenCount":2,"thoughtsTokenCount":4}}\n\n', "whole", (3, 6)),
    ],
)  # fmt: skip
def test_a_watched_stream_says_how_it_ended_and_what_it_used(
    dialect: str, stream: bytes, ended: str, tokens: tuple[int, int] | None
) -> None:
    watch = Watch(dialect)
    for index in range(0, len(stream), 7):
        watch.feed(stream[index : index + 7])
    assert watch.ended == ended
    usage = watch.usage
    assert (None if usage is None else (usage.input, usage.output)) == tokens
