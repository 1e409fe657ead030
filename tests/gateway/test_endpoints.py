"""Everything beside the entrances: models, counting, health, metrics, reports; who may come in, and how much one may send."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import anthropic
import openai
import pytest

from sendable.gateway.config import ClientKey, load
from sendable.gateway.keys import Keys, hashed
from tests.gateway.agents import anthropic_client, openai_client
from tests.gateway.live import Gate, Says, Scripted, Seen, base_of, json_of
from tests.gateway.providers import Provider, error

TOML = """
schema_version = 1
[limits]
body_bytes = 20000
header_bytes = 4000
depth = 20
[upstreams.chat]
target = "openai-chat"
base_url = "{chat}"
retries = {{most = 0}}
[upstreams.claude]
target = "anthropic"
base_url = "{claude}"
retries = {{most = 0}}
[[routes]]
match = "small"
upstreams = ["chat"]
[[routes]]
match = "large"
upstreams = ["claude"]
"""


def claude(seen: Seen) -> Says:
    """A provider of Messages that counts, too."""
    return json_of({"input_tokens": 321}) if seen.path.endswith("/count_tokens") else Provider("anthropic")(seen)


class Two:
    """A gateway with two models, of a Chat and of a Messages provider."""

    def __init__(self, folder: Path, keys: Keys | None = None) -> None:
        self.chat, self.claude = Scripted(Provider("openai-chat")), Scripted(claude)
        file = folder / "gateway.toml"
        file.write_text(TOML.format(chat=self.chat.url + base_of("openai-chat"), claude=self.claude.url))
        self.gate = Gate(load(file), folder, keys=keys)

    def stop(self) -> None:
        """End all."""
        self.gate.stop()
        self.chat.stop()
        self.claude.stop()


@pytest.fixture(scope="module")
def two(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Two]:
    """A gateway that anybody may use."""
    found = Two(tmp_path_factory.mktemp("endpoints"))
    yield found
    found.stop()


@pytest.fixture(scope="module")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Two]:
    """A gateway with two clients."""
    clients = [ClientKey(name, sha256=hashed(f"the-key-of-{name}")) for name in ("ann", "bob")]
    found = Two(tmp_path_factory.mktemp("guarded"), Keys(clients))
    yield found
    found.stop()


HI = {"role": "user", "content": "hi"}


def test_one_list_of_models_is_read_by_both_official_clients(two: Two) -> None:
    with openai_client(two.gate.url) as ours, anthropic_client(two.gate.url) as theirs:
        assert [model.id for model in ours.models.list()] == ["small", "large"]
        assert [model.id for model in theirs.models.list()] == ["small", "large"]
        assert (ours.models.retrieve("large").id, theirs.models.retrieve("large").id) == ("large", "large")
        with pytest.raises(openai.NotFoundError):
            ours.models.retrieve("no such model")
        with pytest.raises(anthropic.NotFoundError):
            theirs.models.retrieve("no such model")


def test_an_unknown_model_is_not_found_in_every_dialect(two: Two) -> None:
    with openai_client(two.gate.url) as ours, anthropic_client(two.gate.url) as theirs:
        with pytest.raises(openai.NotFoundError) as caught:
            ours.chat.completions.create(model="other", messages=[{"role": "user", "content": "hi"}])
        assert (caught.value.param, caught.value.code) == ("model", "model_not_found")
        with pytest.raises(openai.NotFoundError):
            ours.responses.create(model="other", input="hi")
        with pytest.raises(anthropic.NotFoundError):
            theirs.messages.create(model="other", max_tokens=5, messages=[{"role": "user", "content": "hi"}])


@pytest.mark.parametrize("path", ["/v1/chat/completions", "/v1/messages", "/v1/responses", "/v1/messages/count_tokens"])
@pytest.mark.parametrize("body", [b"", b"[]", b"{", b"null", b"\xff", b"{}", b'{"model":7}', b'{"model":null}'])
def test_a_request_that_names_no_model_is_refused(path: str, body: bytes, two: Two) -> None:
    answer = two.gate.post(path, body)
    assert (answer.status, two.gate.tries(answer)) == (400, [])


def test_tokens_are_counted_by_the_target_or_estimated_and_said_to_be(two: Two) -> None:
    with anthropic_client(two.gate.url) as client:
        asked: Any = {"messages": [{"role": "user", "content": "hi" * 400}]}
        counted = client.messages.with_raw_response.count_tokens(model="large", **asked)
        assert counted.parse().input_tokens == 321
        assert two.claude.seen[-1].path == "/v1/messages/count_tokens"
        before = len(two.chat.seen)
        estimated = client.messages.with_raw_response.count_tokens(model="small", **asked)
        assert 100 < estimated.parse().input_tokens < 800
        assert len(two.chat.seen) == before
        said = {name for name, _ in estimated.headers.items()} - {name for name, _ in counted.headers.items()}
        assert [name for name in said if "estimate" in name]


def test_health_tells_what_is_being_answered_and_whether_it_drains(tmp_path: Path) -> None:
    two = Two(tmp_path)
    try:
        assert two.gate.send("GET", "/health/live").json == {"status": "live"}
        ready = two.gate.send("GET", "/health/ready")
        assert (ready.status, ready.json) == (200, {"status": "ready", "in_flight": 0})
        two.gate.app.drain()
        draining = two.gate.send("GET", "/health/ready")
        assert (draining.status, draining.json["status"], two.gate.send("GET", "/health/live").status) == (
            503,
            "draining",
            200,
        )
        # What comes all the same is answered.
        assert two.gate.post("/v1/chat/completions", {"model": "small", "messages": [HI]}).status == 200
    finally:
        two.stop()


def test_metrics_are_counted_without_a_word_of_what_was_said(two: Two) -> None:
    secret = "a word that nobody may read"
    body = {"model": "large", "messages": [{"role": "user", "content": secret}, {"role": "tool", "tool_call_id": "x", "content": secret}]}  # fmt: skip
    answer = two.gate.post("/v1/chat/completions", body)
    assert (answer.status, answer.losses is not None) == (200, True)
    page = two.gate.send("GET", "/metrics").body.decode()
    codes = {entry["code"] for entry in two.gate.report(answer.id)["entries"]}
    assert codes
    assert all([code in page for code in codes])
    assert "claude" in page
    assert "nobody" not in page
    assert "nobody" not in json.dumps(two.gate.report(answer.id))


def test_a_report_comes_in_the_body_only_if_it_is_asked_for(two: Two) -> None:
    body = {"model": "large", "messages": [HI, {"role": "tool", "tool_call_id": "x", "content": "y"}]}
    assert "sendable_report" not in two.gate.post("/v1/chat/completions", body).json
    answer = two.gate.post("/v1/chat/completions", body, x_sendable_report="body")
    assert answer.json["sendable_report"]["entries"] == two.gate.report(answer.id)["entries"]


@pytest.mark.parametrize("path", ["/", "/?beta=true", "/v1/models", "/openai/v1/models", "/health/live"])
def test_clients_that_only_knock_are_let_be(path: str, two: Two) -> None:
    answer = two.gate.send("HEAD", path)
    assert (answer.status, answer.body) == (200, b"")


def test_a_websocket_is_told_to_use_http(two: Two) -> None:
    headers = {
        "connection": "Upgrade", "upgrade": "websocket", "sec-websocket-version": "13", "sec-websocket-key": "dGhlIHNhbXBsZSBub25jZQ==",
    }  # fmt: skip
    assert two.gate.send("GET", "/v1/responses", headers=headers).status == 426


@pytest.mark.parametrize(("method", "path", "status"), [
    ("GET", "/v1/nothing", 404), ("GET", "/v1/chat/completions", 405), ("PUT", "/v1/responses/resp_1", 405), ("GET", "/v1/requests/req_1/report", 404),
    ("GET", "/v1/responses/resp_1", 404), ("DELETE", "/v1/responses/resp_1", 404), ("POST", "/health/live", 405),
])  # fmt: skip
def test_what_is_not_served_is_said_so(method: str, path: str, status: int, two: Two) -> None:
    answer = two.gate.send(method, path)
    assert (answer.status, bool(answer.json["error"]["message"])) == (status, True)


# --- limits ---------------------------------------------------------------------------------------------------------------


def test_limits_are_kept_before_anything_goes_up(two: Two) -> None:
    before = len(two.chat.seen)
    deep: Any = "x"
    for _ in range(40):
        deep = [deep]
    body = {"model": "small", "messages": [HI]}
    asked = [
        (413, two.gate.post("/v1/chat/completions", {**body, "messages": [{"role": "user", "content": "x" * 30_000}]})),
        (431, two.gate.post("/v1/chat/completions", body, x_much="x" * 5000)),
        (400, two.gate.post("/v1/chat/completions", {**body, "metadata": deep})),
        (400, two.gate.post("/v1/chat/completions", b"[" * 10_000)),
    ]
    assert [answer.status for _, answer in asked] == [status for status, _ in asked]
    assert len(two.chat.seen) == before
    assert [two.gate.tries(answer) for _, answer in asked] == [[]] * 4


# --- keys -----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("headers", [
    {}, {"authorization": "Bearer wrong"}, {"x-api-key": "wrong"}, {"authorization": "Basic the-key-of-ann"}, {"x-api-key": hashed("the-key-of-ann")},
])  # fmt: skip
def test_without_a_key_nobody_comes_in(headers: dict[str, str], guarded: Two) -> None:
    for path in ("/v1/chat/completions", "/v1/messages", "/v1/responses", "/v1/messages/count_tokens"):
        assert guarded.gate.send("POST", path, {"model": "small"}, headers).status == 401
    for path in ("/v1/models", "/metrics", "/v1/requests/req_1/report", "/v1/responses/resp_1"):
        assert guarded.gate.send("GET", path, headers=headers).status == 401
    assert guarded.gate.send("GET", "/health/ready").status == 200
    assert (guarded.chat.seen, guarded.claude.seen) == ([], [])


def test_both_kinds_of_header_are_taken_and_neither_goes_up(guarded: Two) -> None:
    for headers in ({"authorization": "Bearer the-key-of-ann"}, {"x-api-key": "the-key-of-ann"}):
        answer = guarded.gate.send("POST", "/v1/chat/completions", {"model": "small", "messages": [HI]}, headers)
        assert answer.status == 200
        assert "the-key" not in json.dumps(guarded.chat.seen[-1].headers)
        assert guarded.gate.row(answer).client == "ann"
    guarded.chat.seen.clear()


def test_a_report_is_its_clients_alone(guarded: Two) -> None:
    ann, bob = {"x-api-key": "the-key-of-ann"}, {"x-api-key": "the-key-of-bob"}
    answer = guarded.gate.send("POST", "/v1/chat/completions", {"model": "small", "messages": [HI]}, ann)
    place = f"/v1/requests/{answer.id}/report"
    assert (
        guarded.gate.send("GET", place, headers=ann).status,
        guarded.gate.send("GET", place, headers=bob).status,
    ) == (200, 404)
    guarded.chat.seen.clear()


@pytest.mark.parametrize("status", [404, 429, 500])
def test_a_counting_target_that_fails_is_heard(status: int, tmp_path: Path) -> None:
    two = Two(tmp_path)
    try:
        two.claude.script[:] = [error("anthropic", status, "no count today")]
        with anthropic_client(two.gate.url) as client, pytest.raises(anthropic.APIStatusError) as caught:
            client.messages.count_tokens(model="large", messages=[{"role": "user", "content": "hi"}])
        assert (caught.value.status_code, "no count today" in str(caught.value)) == (status, True)
    finally:
        two.stop()
