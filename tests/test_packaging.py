"""The container and the service start the gateway with options that it has, as nobody, and ask it how it is. Not here: building an image, which needs a network."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from sendable.gateway.commands import COMMANDS
from tests.pages import ROOT

DOCKERFILE = (ROOT / "Dockerfile").read_text(encoding="utf-8")
SERVICE = ROOT / "contrib/sendable.service"


def accepted(arguments: list[str]) -> None:
    """The command takes these arguments; nothing is run."""
    command = COMMANDS[arguments[0]]
    with command.make_context(arguments[0], list(arguments[1:])):
        pass


def test_the_container_runs_the_gateway_as_nobody() -> None:
    run = re.findall(r"^CMD (\[.*\])$", DOCKERFILE, re.M)[-1]
    accepted(json.loads(run))
    last = DOCKERFILE.rsplit("\nFROM ", 1)[1]
    assert re.search(r"^USER (?!root)\w+$", last, re.M)
    assert re.search(r"^ENTRYPOINT \[\"sendable\"\]$", last, re.M)


def test_the_container_asks_the_gateway_how_it_is() -> None:
    asked = re.search(r"^HEALTHCHECK .*?127\.0\.0\.1:(\d+)(/[\w/]+)", DOCKERFILE, re.M | re.S)
    assert asked is not None
    assert asked[1] == re.findall(r"^EXPOSE (\d+)$", DOCKERFILE, re.M)[0]
    openapi = json.loads((ROOT / "src/sendable/gateway/openapi.json").read_bytes())
    assert asked[2] in openapi["paths"]


def test_the_container_copies_what_exists() -> None:
    for copied in re.findall(r"^COPY (?!--from)(.+) \S+$", DOCKERFILE, re.M):
        for source in copied.split():
            assert (ROOT / source).exists(), source


def test_the_service_runs_commands_that_exist() -> None:
    unit = SERVICE.read_text(encoding="utf-8")
    for line in re.findall(r"^Exec(?:Start|StartPre)=\S+/sendable (.*)$", unit, re.M):
        accepted(line.split())
    assert "DynamicUser=yes" in unit


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="systemd-analyze is not installed")
def test_the_service_is_what_systemd_takes(tmp_path: Path) -> None:
    unit = tmp_path / SERVICE.name
    unit.write_text(SERVICE.read_text(encoding="utf-8").replace("/usr/local/bin/sendable", "/bin/true"))
    done = subprocess.run(
        ["systemd-analyze", "verify", str(unit)], capture_output=True, text=True, check=False, timeout=60
    )
    assert (done.returncode, done.stderr) == (0, "")
