"""Same dialect in and out: bytes as they are, streams as they come, failures in the upstream's own words, and the audit before the first byte."""

from __future__ import annotations

import gzip
import http.client
import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import zstandard

from tests.gateway.live import Gate, Says, Scripted, events, gate, json_of

USER = {"role": "user", "content": "hi"}

CHAT = {
    "id": "c1", "object": "chat.completion", "created": 1, "model": "m", "unheard_of": {"kept": True},
    "choices": [{"index": 0, "message": {"role": "assistant", "content": "hello"}, "finish_reason": "stop"}],
    "usage": {"prompt_tokens": 3, "completion_tokens": 2, "total_tokens": 5},
}  # fmt: skip
MESSAGES = {
    "id": "msg_1", "type": "message", "role": "assistant", "model": "m", "content": [{"type": "text", "text": "hello"}],
    "stop_reason": "end_turn", "stop_sequence": None, "usage": {"input_tokens": 3, "output_tokens": 2},
}  # fmt: skip
RESPONSES = {
    "id": "resp_1", "object": "response", "created_at": 1, "status": "completed", "model": "m",
    "output": [{"type": "message", "id": "msg_1", "role": "assistant", "status": "completed", "content": [{"type": "output_text", "text": "hello", "annotations": []}]}],
    "usage": {"input_tokens": 3, "output_tokens": 2, "total_tokens": 5},
}  # fmt: skip
GEMINI = {
    "candidates": [{"content": {"role": "model", "parts": [{"text": "hello"}]}, "finishReason": "STOP", "index": 0}],
    "usageMetadata": {"promptTokenCount": 3, "candidatesTokenCount": 2, "totalTokenCount": 5},
}  # fmt: skip

# For each dialect: its entrance, the path at which the upstream is asked, a request with odd spelling and unknown fields, an answer.
HOME: dict[str, tuple[str, str, bytes, Any]] = {
    "openai-chat": (
        "/v1/chat/completions", "/v1/chat/completions",
        b'{ "model":"m", "temperature":1.0,"seed":1234567890, "messages":[{"content":"h\\u0069","role":"user","later":{"x":[]}}],"new_field":1e2}', CHAT,
    ),
    "anthropic": (
        "/v1/messages", "/v1/messages",
        b'{"max_tokens": 5,"model":"m","messages":[{"role":"user","content":[{"type":"text","text":"hi","cache_control":{"type":"ephemeral"}}]}],  "new_field":1.50}', MESSAGES,
    ),
    "openai-responses": (
        "/v1/responses", "/v1/responses",
        b'{"input":[{"role":"user","content":"h\\u0069"}], "model":"m","new_field":[1.50],"store":false,"include":["reasoning.encrypted_content"]}', RESPONSES,
    ),
    "gemini": (
        "/v1beta/models/m:generateContent", "/v1beta/models/m:generateContent",
        b'{"contents":[{"role":"user","parts":[{"text":"hi"}]}], "safetySettings":[],"newField":7}', GEMINI,
    ),
}  # fmt: skip


@pytest.mark.parametrize("dialect", list(HOME))
def test_bytes_go_through_as_they_are(dialect: str, tmp_path: Path) -> None:
    path, asked, body, answer = HOME[dialect]
    upstream = Scripted(json_of(answer, x_request_id="up-1"))
    with gate(tmp_path, [(dialect, upstream)]) as front:
        got = front.post(path, body)
        assert (got.status, got.body, got.losses) == (200, json.dumps(answer).encode(), None)
        assert got.headers["x-request-id"] == "up-1"
        assert [(seen.path, seen.body) for seen in upstream.seen] == [(asked, body)]
        (attempt,) = front.tries(got)
        assert (attempt.number, attempt.status, attempt.ended, attempt.target, attempt.wire_bytes) == (
            1,
            200,
            "whole",
            dialect,
            len(body),
        )
        row = front.row(got)
        assert (row.dialect, row.status, row.ended, row.losses, row.input_tokens, row.output_tokens) == (
            dialect,
            200,
            "whole",
            0,
            3,
            2,
        )


def test_kinds_that_nobody_knows_yet_go_through(tmp_path: Path) -> None:
    item = {"type": "new_item", "x": [1.5]}
    upstream = Scripted(json_of(RESPONSES))
    with gate(tmp_path, [("openai-responses", upstream)]) as front:
        got = front.post("/v1/responses", {"model": "m", "input": [{"role": "user", "content": "hi"}, item]})
        assert (got.status, got.losses, upstream.seen[0].json["input"][1]) == (200, None, item)


def test_aliases_slashes_and_query_strings_do_no_harm(tmp_path: Path) -> None:
    upstream = Scripted(json_of(MESSAGES))
    with gate(tmp_path, [("anthropic", upstream)]) as front:
        body = {"model": "m", "max_tokens": 5, "messages": [USER]}
        for path in ("/v1/messages", "/anthropic/v1/messages", "/v1/messages/", "/v1/messages?beta=true&key=sk-secret"):
            assert (
                front.post(path, body, x_api_key="sk-client", anthropic_beta="a-2026", x_stainless_os="Linux").status
                == 200
            )
        assert [seen.query for seen in upstream.seen] == ["", "", "", "beta=true"]
        for seen in upstream.seen:
            assert (
                seen.headers["anthropic-beta"],
                seen.headers["x-stainless-os"],
                seen.headers["anthropic-version"],
            ) == ("a-2026", "Linux", "2023-06-01")
            assert "x-api-key" not in seen.headers
            assert "sk-" not in str(seen.headers)


def test_each_upstream_gets_its_own_key_in_its_own_header(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GEMINI_API_KEY"):
        monkeypatch.setenv(name, f"sk-{name}")
    for dialect, header, value in (
        ("openai-chat", "authorization", "Bearer sk-OPENAI_API_KEY"),
        ("openai-responses", "authorization", "Bearer sk-OPENAI_API_KEY"),
        ("anthropic", "x-api-key", "sk-ANTHROPIC_API_KEY"),
        ("gemini", "x-goog-api-key", "sk-GEMINI_API_KEY"),
    ):
        path, _, body, answer = HOME[dialect]
        upstream = Scripted(json_of(answer))
        with gate(tmp_path, [(dialect, upstream)]) as front:
            assert front.post(path, body, authorization="Bearer sk-client").status == 200
            assert upstream.seen[0].headers[header] == value
            assert "sk-client" not in str(upstream.seen[0].headers)


def test_only_a_route_that_says_so_sends_the_clients_key_on(tmp_path: Path) -> None:
    upstream = Scripted(json_of(CHAT))
    toml = """
schema_version = 1
[upstreams.one]
target = "openai-chat"
base_url = "{0}/v1"
[[routes]]
match = "*"
upstreams = ["one"]
forward_client_key = true
"""
    with gate(tmp_path, [("openai-chat", upstream)], toml=toml) as front:
        assert (
            front.post("/v1/chat/completions", {"model": "m", "messages": [USER]}, x_api_key="sk-client").status == 200
        )
        assert upstream.seen[0].headers["authorization"] == "Bearer sk-client"
        assert "x-api-key" not in upstream.seen[0].headers


@pytest.mark.parametrize("pack", [("gzip", gzip.compress), ("zstd", zstandard.compress)])
def test_packed_bodies_are_taken(pack: tuple[str, Any], tmp_path: Path) -> None:
    name, compress = pack
    upstream = Scripted(json_of(CHAT))
    with gate(tmp_path, [("openai-chat", upstream)]) as front:
        body = json.dumps({"model": "m", "messages": [USER]}).encode()
        assert front.post("/v1/chat/completions", compress(body), content_encoding=name).status == 200
        assert upstream.seen[0].body == body


STREAMS: dict[str, tuple[str, dict[str, Any], Says, bytes]] = {
    "openai-chat": (
        "/v1/chat/completions", {"model": "m", "stream": True, "messages": [USER]},
        events({"id": "c", "choices": [{"index": 0, "delta": {"content": "a"}}]}, 0.15, {"id": "c", "choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}),
        b'data: {"error":',
    ),
    "anthropic": (
        "/v1/messages", {"model": "m", "max_tokens": 5, "stream": True, "messages": [USER]},
        events({"type": "message_start", "message": MESSAGES}, 0.15, {"type": "message_stop"}, end=b""),
        b"event: error\ndata: ",
    ),
    "openai-responses": (
        "/v1/responses", {"model": "m", "stream": True, "input": "hi"},
        events({"type": "response.created", "response": {}}, 0.15, {"type": "response.completed", "response": RESPONSES}, end=b""),
        b"event: error\ndata: ",
    ),
    "gemini": (
        "/v1beta/models/m:streamGenerateContent?alt=sse", {"contents": [{"role": "user", "parts": [{"text": "hi"}]}]},
        events({"candidates": [{"content": {"parts": [{"text": "a"}]}}]}, 0.15, GEMINI, end=b""),
        b'data: {"error":',
    ),
}  # fmt: skip


@pytest.mark.parametrize("dialect", list(STREAMS))
def test_streams_are_passed_on_as_they_come(dialect: str, tmp_path: Path) -> None:
    path, body, says, _ = STREAMS[dialect]
    upstream = Scripted(says)
    with gate(tmp_path, [(dialect, upstream)]) as front:
        connection = http.client.HTTPConnection("127.0.0.1", front.port, timeout=20)
        connection.request("POST", path, json.dumps(body))
        response = connection.getresponse()
        assert response.status == 200
        assert response.headers["content-type"].startswith("text/event-stream")
        began = time.monotonic()
        first = response.read1(65536)
        assert time.monotonic() - began < 0.1
        rest = response.read()
        connection.close()
        assert first + rest == b"".join(piece for piece in says.pieces if isinstance(piece, bytes))
        assert upstream.seen[0].json == body
        assert upstream.seen[0].query == ("alt=sse" if dialect == "gemini" else "")
        (attempt,) = front.tries(response.headers["x-sendable-request-id"])
        assert (attempt.status, attempt.ended) == (200, "whole")


@pytest.mark.parametrize("dialect", list(STREAMS))
@pytest.mark.parametrize("how", ["broken", "ended early"])
def test_a_stream_that_breaks_off_ends_with_the_dialects_own_error(dialect: str, how: str, tmp_path: Path) -> None:
    path, body, says, error = STREAMS[dialect]
    first = says.pieces[0]
    pieces = [first, 0.05, None] if how == "broken" else [first]
    upstream = Scripted(Says(*pieces, kind="text/event-stream"))
    with gate(tmp_path, [(dialect, upstream)]) as front:
        got = front.post(path, body)
        assert isinstance(first, bytes)
        assert got.body.startswith(first)
        assert got.body[len(first) :].lstrip().startswith(error)
        (attempt,) = front.tries(got)
        assert (attempt.ended, attempt.error) == ("upstream", "reset" if how == "broken" else "cut")
        assert front.row(got).ended == "upstream"


@pytest.mark.parametrize("dialect", ["openai-chat", "anthropic"])
def test_an_upstreams_refusal_keeps_its_words(dialect: str, tmp_path: Path) -> None:
    path, _, body, _ = HOME[dialect]
    words = {
        "type": "error",
        "error": {"type": "invalid_request_error", "message": "role 'system' is not supported on this model"},
    }
    upstream = Scripted(json_of(words, 400, request_id="up-9"))
    with gate(tmp_path, [(dialect, upstream)]) as front:
        got = front.post(path, body)
        assert (got.status, got.json, got.headers["request-id"]) == (400, words, "up-9")
        (attempt,) = front.tries(got)
        assert (attempt.status, attempt.ended) == (400, "upstream")


ROUTES = """
schema_version = 1
[upstreams.one]
target = "openai-chat"
base_url = "{0}/v1"
retries = {{most = {most}, first_wait = 0.01, longest_wait = 1.0}}
timeouts = {{connect = 1.0, first_byte = 0.3, idle = 0.3}}
[upstreams.two]
target = "openai-chat"
base_url = "{1}/v1"
model = "second-model"
retries = {{most = 0}}
[[routes]]
match = "*"
upstreams = ["one", "two"]
"""


@pytest.fixture
def two(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[tuple[Gate, Scripted, Scripted]]:
    """A gateway with a first upstream that answers from a script, with so many retries, and a second one that is well."""
    script, most = request.param
    one, other = Scripted(*script), Scripted(json_of(CHAT))
    toml = ROUTES.replace("{most}", str(most))
    with gate(tmp_path, [("one", one), ("two", other)], toml=toml) as front:
        yield front, one, other


def ask(front: Gate, **more: Any) -> Any:
    return front.post("/v1/chat/completions", {"model": "m", "messages": [USER], **more})


BUSY = json_of({"error": {"message": "busy"}}, 529)


@pytest.mark.parametrize("two", [([BUSY, json_of({}, 429, retry_after="0"), json_of(CHAT)], 2)], indirect=True)
def test_busy_upstreams_are_tried_again(two: tuple[Gate, Scripted, Scripted]) -> None:
    front, one, other = two
    got = ask(front)
    assert (got.status, len(one.seen), len(other.seen)) == (200, 3, 0)
    assert [(row.number, row.upstream, row.status, row.ended) for row in front.tries(got)] == [
        (1, "one", 529, "upstream"), (2, "one", 429, "upstream"), (3, "one", 200, "whole"),
    ]  # fmt: skip


@pytest.mark.parametrize("two", [([json_of({}, 429, retry_after="60")], 2)], indirect=True)
def test_an_upstream_that_wants_too_long_a_wait_gives_way_to_the_next(two: tuple[Gate, Scripted, Scripted]) -> None:
    front, one, other = two
    got = ask(front)
    assert (got.status, len(one.seen), [seen.json["model"] for seen in other.seen]) == (200, 1, ["second-model"])
    assert got.losses is None
    assert [(row.upstream, row.model) for row in front.tries(got)] == [("one", "m"), ("two", "second-model")]


@pytest.mark.parametrize("two", [([Says(1.0, b"{}")], 0), ([Says(None)], 0)], indirect=True)
def test_stalls_and_resets_before_the_first_byte_fall_back(two: tuple[Gate, Scripted, Scripted]) -> None:
    front, _, other = two
    got = ask(front)
    assert (got.status, len(other.seen)) in ((200, 1), (504, 0), (502, 0))
    assert front.tries(got)[0].ended == "upstream"


@pytest.mark.parametrize(
    "two", [([json_of({"error": {"message": "no", "type": "invalid_request_error"}}, 400)], 2)], indirect=True
)
def test_what_is_the_callers_fault_is_not_tried_again(two: tuple[Gate, Scripted, Scripted]) -> None:
    front, one, other = two
    got = ask(front)
    assert (got.status, got.json["error"]["message"], len(one.seen), len(other.seen)) == (400, "no", 1, 0)


def test_an_upstream_that_is_not_there_is_502_in_one_attempt(tmp_path: Path) -> None:
    upstream = Scripted(json_of(CHAT))
    toml = """
schema_version = 1
[upstreams.one]
target = "openai-chat"
base_url = "http://127.0.0.1:9/v1"
retries = {{most = 0}}
[[routes]]
match = "*"
upstreams = ["one"]
"""
    with gate(tmp_path, [("openai-chat", upstream)], toml=toml) as front:
        got = ask(front)
        assert (got.status, got.json["error"]["code"]) == (502, "upstream_connect")
        assert [(row.ended, row.error) for row in front.tries(got)] == [("upstream", "connect")]


@pytest.mark.parametrize("stream", [False, True])
def test_a_client_that_leaves_ends_its_call(stream: bool, tmp_path: Path) -> None:
    piece = b'data: {"choices":[{"delta":{"content":"a"}}]}\n\n'
    says = Says(piece, 20.0, kind="text/event-stream") if stream else Says(20.0)
    upstream = Scripted(says)
    with gate(tmp_path, [("openai-chat", upstream)]) as front:
        connection = http.client.HTTPConnection("127.0.0.1", front.port, timeout=20)
        connection.request(
            "POST", "/v1/chat/completions", json.dumps({"model": "m", "stream": stream, "messages": [USER]})
        )
        if stream:
            connection.getresponse().read1(1000)
        else:
            time.sleep(0.3)
        assert connection.sock is not None or stream
        connection.close()
        if stream:
            del connection
        assert upstream.left.wait(5)
        for _ in range(100):
            (row,) = front.rows()
            if row.ended is not None:
                break
            time.sleep(0.02)
        assert (row.ended, row.status) == ("client", 499)
        (attempt,) = front.tries(row.id)
        assert attempt.ended == "client"
        assert front.app.in_flight == 0


def test_the_row_of_an_attempt_is_there_before_its_first_byte(tmp_path: Path) -> None:
    from sqlalchemy import create_engine, text

    found: list[Any] = []

    def look(seen: Any) -> Says:
        engine = create_engine(f"sqlite:///{tmp_path / 'audit.db'}")
        with engine.connect() as connection:
            found.extend(connection.execute(text("select number, ended from sendable_attempts")).all())
        return json_of(CHAT)

    upstream = Scripted(look)
    with gate(tmp_path, [("openai-chat", upstream)]) as front:
        assert ask(front).status == 200
    assert found == [(1, None)]


def test_losses_are_told_in_the_head_and_in_the_report(tmp_path: Path) -> None:
    upstream = Scripted(json_of(CHAT))
    orphan = {"role": "tool", "tool_call_id": "none", "content": "x"}
    with gate(tmp_path, [("openai-chat", upstream)]) as front:
        got = front.post("/v1/chat/completions", {"model": "m", "messages": [USER, orphan]})
        assert got.losses == "1; worst=PAR002"
        report = front.send("GET", f"/v1/requests/{got.id}/report").json
        assert [(entry["code"], entry["verb"], entry["path"]) for entry in report["entries"]] == [
            ("PAR002", "drop", "messages[1]")
        ]
        # An older one is only in the audit.
        front.app.gateway.reports.clear()
        older = front.send("GET", f"/v1/requests/{got.id}/report").json
        assert older["entries"] == report["entries"]
        asked = front.post("/v1/chat/completions", {"model": "m", "messages": [USER, orphan]}, x_sendable_report="body")
        assert [entry["code"] for entry in asked.json["sendable_report"]["entries"]] == ["PAR002"]
        assert {name: asked.json[name] for name in CHAT} == CHAT
        assert front.send("GET", "/v1/requests/req_none/report").status == 404
