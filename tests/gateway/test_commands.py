"""`sendable serve`, `check-config`, `client-key` and `audit` as a person runs them: real processes, their lines, and their exit statuses."""

from __future__ import annotations

import contextlib
import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from tests.gateway.live import Says, Scripted, json_of

ANSWER = {
    "id": "chatcmpl-1", "object": "chat.completion", "created": 1, "model": "m",
    "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "hello"}}],
    "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2},
}  # fmt: skip
ORPHAN = {
    "model": "m",
    "messages": [
        {"role": "user", "content": "hi"},
        {"role": "tool", "tool_call_id": "c9", "content": "an answer to nothing"},
        {"role": "user", "content": "well?"},
    ],
}
SLOW = 0.8


def environment(more: Mapping[str, str] | None = None) -> dict[str, str]:
    """Ours, without any key of a provider."""
    ours = {name: value for name, value in os.environ.items() if not name.endswith("_API_KEY")}
    return {**ours, **(more or {})}


def run(*arguments: str, env: Mapping[str, str] | None = None) -> tuple[int, str, str]:
    """Exit status, standard output, standard error."""
    done = subprocess.run(
        [sys.executable, "-m", "sendable", *arguments], capture_output=True, text=True, timeout=60, env=environment(env)
    )
    return done.returncode, done.stdout, done.stderr


class Serving:
    """A `sendable serve` that listens."""

    def __init__(self, *arguments: str, env: Mapping[str, str] | None = None) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "sendable", "serve", "--port", "0", *arguments],
            stderr=subprocess.PIPE, text=True, env=environment(env),
        )  # fmt: skip
        found = re.search(r"listening on (http://\S+)", self.line("listening"))
        assert found is not None
        self.url = found[1]

    def line(self, word: str) -> str:
        """The next line that has the word."""
        assert self.process.stderr is not None
        for line in self.process.stderr:
            if word in line:
                return line
        raise AssertionError(f"it ended with {self.process.wait()}, and never said {word}")

    def ask(self, body: Any, path: str = "/v1/chat/completions", **headers: str) -> tuple[dict[str, str], Any]:
        """Headers and body of the answer. Raises `HTTPError`."""
        request = urllib.request.Request(
            self.url + path, json.dumps(body).encode(), {"content-type": "application/json", **headers}
        )
        with urllib.request.urlopen(request, timeout=20) as answer:
            return {name.lower(): value for name, value in answer.headers.items()}, json.load(answer)

    def end(self) -> int:
        """SIGTERM; the exit status."""
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(20)


@contextlib.contextmanager
def serving(*arguments: str, env: Mapping[str, str] | None = None) -> Iterator[Serving]:
    """A server that is gone at the end."""
    server = Serving(*arguments, env=env)
    try:
        yield server
    finally:
        server.process.kill()
        server.process.wait()
        if server.process.stderr is not None:
            server.process.stderr.close()


@pytest.fixture
def upstream() -> Iterator[Scripted]:
    found = Scripted(json_of(ANSWER))
    yield found
    found.stop()


@pytest.fixture
def audit(tmp_path: Path) -> str:
    return str(tmp_path / "audit.db")


def config(tmp_path: Path, url: str, more: str = "", match: str = "*") -> str:
    """A file with one upstream and one route."""
    file = tmp_path / "gateway.toml"
    file.write_text(
        f'schema_version = 1\n[upstreams.one]\ntarget = "openai-chat"\nbase_url = "{url}/v1"\n'
        f'[[routes]]\nmatch = "{match}"\nupstreams = ["one"]\n{more}'
    )
    return str(file)


# --- serving -----------------------------------------------------------------------------------------------------------


def test_it_serves_without_a_file_and_the_audit_is_read_on_the_terminal(upstream: Scripted, audit: str) -> None:
    with serving("--upstream", f"openai-chat={upstream.url}/v1", "--audit", audit) as server:
        headers, body = server.ask(ORPHAN)
        assert body["choices"][0]["message"]["content"] == "hello"
        assert headers["x-sendable-losses"].startswith("1; worst=PAR002")
        assert [message["role"] for message in upstream.seen[0].json["messages"]] == ["user", "user"]
        assert server.end() == 0
    request = headers["x-sendable-request-id"]
    status, out, _ = run("audit", "list", "--audit", audit, "--json")
    (row,) = [json.loads(line) for line in out.splitlines()]
    assert (status, row["id"]) == (0, request)
    status, out, _ = run("audit", "show", request[:12], "--audit", audit, "--json")
    shown = json.loads(out)
    assert status == 0
    assert len(shown["attempts"]) == 1
    assert "PAR002" in out
    assert "an answer to nothing" not in out
    status, out, _ = run("audit", "losses", "--audit", audit)
    assert status == 0
    assert "PAR002" in out
    for command in (["list"], ["show", request]):
        status, out, _ = run("audit", *command, "--audit", audit)
        assert status == 0
        assert "openai-chat" in out


def test_strict_refuses_before_any_attempt(upstream: Scripted, audit: str) -> None:
    with serving("--upstream", f"openai-chat={upstream.url}/v1", "--audit", audit, "--policy", "strict") as server:
        with pytest.raises(urllib.error.HTTPError) as refused:
            server.ask(ORPHAN)
        assert refused.value.code == 400
        assert json.load(refused.value)["error"]["param"] == "messages[1].tool_call_id"
        assert server.end() == 0
    assert upstream.seen == []
    _, out, _ = run("audit", "list", "--audit", audit, "--json")
    (row,) = [json.loads(line) for line in out.splitlines()]
    assert json.loads(run("audit", "show", row["id"], "--audit", audit, "--json")[1])["attempts"] == []


def test_sigterm_ends_after_the_running_request(audit: str) -> None:
    slow = Scripted(Says(SLOW, json.dumps(ANSWER).encode()))
    try:
        with serving("--upstream", f"openai-chat={slow.url}/v1", "--audit", audit) as server:
            with ThreadPoolExecutor(1) as pool:
                asked = pool.submit(server.ask, {"model": "m", "messages": [{"role": "user", "content": "hi"}]})
                while not slow.seen:
                    time.sleep(0.01)
                server.process.send_signal(signal.SIGTERM)
                assert "1 request is still running" in server.line("ending")
                assert asked.result(20)[1]["choices"][0]["message"]["content"] == "hello"
            assert server.process.wait(20) == 0
    finally:
        slow.stop()


def test_sighup_reads_the_file_again_and_keeps_the_old_one_if_it_is_wrong(
    upstream: Scripted, audit: str, tmp_path: Path
) -> None:
    other = Scripted(json_of({**ANSWER, "id": "chatcmpl-2"}))
    question = {"model": "m", "messages": [{"role": "user", "content": "hi"}]}
    try:
        with serving("--config", config(tmp_path, upstream.url), "--audit", audit) as server:
            assert server.ask(question)[1]["id"] == "chatcmpl-1"
            config(tmp_path, other.url)
            server.process.send_signal(signal.SIGHUP)
            assert "1 route" in server.line("reloaded")
            assert server.ask(question)[1]["id"] == "chatcmpl-2"
            config(tmp_path, upstream.url, "wrong = 1\n")
            server.process.send_signal(signal.SIGHUP)
            assert "wrong" in server.line("not reloaded")
            assert server.ask(question)[1]["id"] == "chatcmpl-2"
            assert server.end() == 0
    finally:
        other.stop()


# --- what keeps it from starting ------------------------------------------------------------------------------------------


def said(status: int, *arguments: str, env: Mapping[str, str] | None = None) -> str:
    """The one line with which it did not start."""
    found, out, err = run("serve", *arguments, env=env)
    assert found == status, err
    assert out == ""
    (line,) = err.splitlines()
    return line


def test_each_trouble_is_one_line_and_a_status_of_its_own(upstream: Scripted, audit: str, tmp_path: Path) -> None:
    flags = ["--upstream", f"openai-chat={upstream.url}/v1", "--audit", audit]
    with socket.socket() as busy:
        busy.bind(("127.0.0.1", 0))
        busy.listen()
        assert "another program listens there" in said(5, *flags, "--port", str(busy.getsockname()[1]))
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        nobody = free.getsockname()[1]
        line = said(7, "--upstream", f"openai-chat=http://127.0.0.1:{nobody}/v1", "--audit", audit, "--port", "0")
        assert f"127.0.0.1:{nobody}" in line
    away = ["--upstream", "openai-chat=https://llm.invalid/v1", "--audit", audit]
    assert "OPENAI_API_KEY" in said(6, *away)
    assert "name is unknown" in said(7, *away, "--port", "0", env={"OPENAI_API_KEY": "key"})
    assert "client" in said(4, *flags, "--host", "0.0.0.0")
    assert "openai-chatt" in said(4, "--upstream", f"openai-chatt={upstream.url}/v1")
    assert "http" in said(4, "--upstream", "openai-chat=http://llm.invalid/v1")
    assert said(8, *flags[:2], "--port", "0", "--audit", str(tmp_path))
    wrong = config(tmp_path, upstream.url, "wrong = 1\n")
    assert re.search(r"gateway\.toml.*8.*wrong", said(4, "--config", wrong))


def test_a_wish_that_makes_no_sense_is_bad_usage(tmp_path: Path, upstream: Scripted) -> None:
    file = config(tmp_path, upstream.url)
    status, _, err = run("serve", "--config", file, "--upstream", f"openai-chat={upstream.url}")
    assert status == 3
    assert "cannot both be given" in err
    assert run("audit", "list", "--audit", str(tmp_path / "none.db"))[0] == 3


# --- check-config, client-key ---------------------------------------------------------------------------------------------


def test_check_config_says_what_a_file_does_and_starts_nothing(tmp_path: Path, upstream: Scripted) -> None:
    status, out, err = run("check-config", config(tmp_path, upstream.url))
    assert (status, err) == (0, "")
    assert "openai-chat" in out
    assert upstream.seen == []
    status, _, err = run("check-config", config(tmp_path, upstream.url, "wrong = 1\n"))
    assert status == 4
    assert len(err.splitlines()) == 1
    file = Path(config(tmp_path, "https://llm.invalid"))
    file.write_text(file.read_text().replace("[[routes]]", 'key_env = "NO_SUCH_KEY"\n[[routes]]'))
    status, _, err = run("check-config", str(file))
    assert status == 6
    assert "NO_SUCH_KEY" in err


def test_a_client_key_is_known_by_its_hash(tmp_path: Path, upstream: Scripted, audit: str) -> None:
    status, lines, err = run("client-key", "laptop")
    assert status == 0
    key = err.split()[-1]
    assert key not in lines
    question = {"model": "m", "messages": [{"role": "user", "content": "hi"}]}
    with serving("--config", config(tmp_path, upstream.url, lines), "--audit", audit) as server:
        for headers in ({}, {"authorization": "Bearer wrong"}):
            with pytest.raises(urllib.error.HTTPError) as refused:
                server.ask(question, **headers)
            assert refused.value.code == 401
        assert upstream.seen == []
        server.ask(question, authorization=f"Bearer {key}")
        server.ask(question, **{"x-api-key": key})
        assert server.end() == 0
    assert len(upstream.seen) == 2
    assert all(key not in str(seen.headers) for seen in upstream.seen)
    assert key.encode() not in b"".join(file.read_bytes() for file in tmp_path.glob("audit.db*"))
