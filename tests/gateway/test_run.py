"""`sendable run`: a client of each protocol, as a small program on PATH, is pointed at a gateway of its own, and its losses are printed."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.gateway.live import Scripted, json_of
from tests.gateway.test_commands import ANSWER, environment

CLAUDE = """
import json, os, sys, urllib.request
assert "ANTHROPIC_API_KEY" not in os.environ
body = {"model": "m", "max_tokens": 9, "messages": [
    {"role": "user", "content": "hi"},
    {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c9", "content": "to nothing"}, {"type": "text", "text": "well?"}]},
]}
request = urllib.request.Request(
    os.environ["ANTHROPIC_BASE_URL"] + "/v1/messages?beta=true", json.dumps(body).encode(),
    {"authorization": "Bearer " + os.environ["ANTHROPIC_AUTH_TOKEN"], "content-type": "application/json"},
)
print(json.load(urllib.request.urlopen(request))["content"][0]["text"], *sys.argv[1:])
sys.exit(7)
"""
CODEX = """
import json, os, sys, tomllib, urllib.request
given = [sys.argv[n + 1] for n, word in enumerate(sys.argv) if word == "-c"]
settings = tomllib.loads("\\n".join(given))
provider = settings["model_providers"][settings["model_provider"]]
assert provider["wire_api"] == "responses"
body = {"model": settings["model"], "store": False, "input": [
    {"type": "message", "role": "user", "content": "hi"},
    {"type": "function_call_output", "call_id": "c9", "output": "to nothing"},
]}
request = urllib.request.Request(
    provider["base_url"] + "/responses", json.dumps(body).encode(),
    {"authorization": "Bearer " + os.environ[provider["env_key"]], "content-type": "application/json"},
)
answer = json.load(urllib.request.urlopen(request))
print([part["text"] for item in answer["output"] for part in item["content"]][0], *sys.argv[-1:])
sys.exit(7)
"""


@pytest.fixture
def upstream() -> Iterator[Scripted]:
    found = Scripted(json_of(ANSWER))
    yield found
    found.stop()


def run(tmp_path: Path, *arguments: str, **programs: str) -> subprocess.CompletedProcess[str]:
    """`sendable run …` where these programs, and no others, are on PATH."""
    for name, text in programs.items():
        program = tmp_path / name
        program.write_text(f"#!{sys.executable}\n{text}")
        program.chmod(program.stat().st_mode | stat.S_IXUSR)
    return subprocess.run(
        [sys.executable, "-m", "sendable", "run", "--audit", str(tmp_path / "audit.db"), *arguments],
        capture_output=True, text=True, timeout=60,
        env=environment({"PATH": str(tmp_path), "ANTHROPIC_API_KEY": "of the provider", "PYTHONPATH": os.pathsep.join(sys.path)}),
    )  # fmt: skip


@pytest.mark.parametrize(("name", "text"), [("claude", CLAUDE), ("codex", CODEX)])
def test_a_client_is_pointed_at_the_gateway_and_its_losses_are_printed(
    upstream: Scripted, tmp_path: Path, name: str, text: str
) -> None:
    done = run(
        tmp_path, "--upstream", f"openai-chat={upstream.url}/v1", "--model", "m", name, "--last", "word", **{name: text}
    )
    assert done.returncode == 7, done.stderr
    assert done.stdout.startswith("hello")
    assert done.stdout.rstrip().endswith("word")
    assert "1 request went through the gateway" in done.stderr
    assert "PAR002" in done.stderr
    (seen,) = upstream.seen
    assert all("c9" not in json.dumps(message) for message in seen.json["messages"])
    assert "of the provider" not in str(seen.headers)


def test_a_client_that_is_not_there_or_not_known_is_said_in_one_line(upstream: Scripted, tmp_path: Path) -> None:
    to = ("--upstream", f"openai-chat={upstream.url}/v1")
    absent = run(tmp_path, *to, "claude")
    assert (absent.returncode, absent.stderr) == (127, "sendable: claude is not installed\n")
    unknown = run(tmp_path, *to, "cladue")
    assert unknown.returncode == 3
    assert unknown.stderr == "sendable: no client is called cladue; did you mean claude?\n"
    assert upstream.seen == []


def test_no_client_is_started_if_the_gateway_cannot_be(tmp_path: Path) -> None:
    done = run(tmp_path, "--upstream", "openai-chat=http://127.0.0.1:9/v1", "claude", claude="raise SystemExit(9)")
    assert done.returncode == 7
    assert "127.0.0.1:9" in done.stderr
    assert done.stdout == ""
