"""Processes of the benchmark: they are started, asked for their port, looked at through /proc, and ended by their own ids."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parents[2]
TICK = os.sysconf("SC_CLK_TCK")
START_SECONDS = 30.0
QUIET_SECONDS = 1.0


class Process:
    """A server under measurement, with its children."""

    def __init__(self, *arguments: str, port: int | None = None, **environment: str) -> None:
        """`arguments` follow `python`. The port is read from the first line with one, if it is not told. Raises `RuntimeError` if it does not start."""
        self._said = tempfile.TemporaryFile("w+b")  # noqa: SIM115
        started = time.monotonic()
        paths = os.pathsep.join((str(HERE / "src"), str(HERE)))
        self._process = subprocess.Popen(
            [sys.executable, *arguments], stdout=self._said, stderr=self._said, cwd=HERE,
            env={**os.environ, "PYTHONPATH": paths, **environment},
        )  # fmt: skip
        self.pid = self._process.pid
        self.port = port or 0
        while True:
            said = self.said()
            found = re.search(r"^(?:\S*: listening on http://127\.0\.0\.1:)?(\d+)\b", said, re.MULTILINE)
            if found and _answers(int(found[1])):
                self.port = int(found[1])
                break
            if self._process.poll() is not None or time.monotonic() > started + START_SECONDS:
                self.end()
                raise RuntimeError(f"{' '.join(arguments)} did not start: {said[-500:]}")
            time.sleep(0.02)
        self.started_in = time.monotonic() - started
        self.url = f"http://127.0.0.1:{self.port}"

    def said(self) -> str:
        """What it has printed."""
        return os.pread(self._said.fileno(), 1 << 20, 0).decode(errors="replace")

    def cpu(self) -> float:
        """Seconds of user and system time, of it and its children."""
        return sum(_cpu(pid) for pid in self._tree())

    def resident(self, most: bool = False) -> float:
        """MB resident now, or at most so far."""
        return sum(_status(pid, "VmHWM" if most else "VmRSS") for pid in self._tree()) / 1024

    def descriptors(self) -> int:
        """How many files and sockets it holds open."""
        return len(os.listdir(f"/proc/{self.pid}/fd"))

    def kill(self) -> None:
        """`kill -9`."""
        self._process.kill()
        self._process.wait()

    def end(self) -> None:
        """End it politely, or not."""
        if self._process.poll() is None:
            self._process.send_signal(signal.SIGTERM)
            try:
                self._process.wait(10)
            except subprocess.TimeoutExpired:
                self.kill()
        self._said.close()

    def _tree(self) -> list[int]:
        found, at = [self.pid], 0
        while at < len(found):
            try:
                for task in Path(f"/proc/{found[at]}/task").iterdir():
                    found += [int(pid) for pid in (task / "children").read_text().split()]
            except OSError:
                pass  # it has ended in between
            at += 1
        return found


def _answers(port: int) -> bool:
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/stats", timeout=2):
            return True
    except urllib.error.HTTPError:
        return True
    except OSError:
        return False


def _cpu(pid: int) -> float:
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / TICK


def _status(pid: int, name: str) -> int:
    try:
        found = re.search(rf"^{name}:\s+(\d+)", Path(f"/proc/{pid}/status").read_text(), re.MULTILINE)
    except OSError:
        return 0
    return int(found[1]) if found else 0


def stats(upstream: Process) -> dict[str, Any]:
    """What the scripted upstream has seen."""
    with urllib.request.urlopen(upstream.url + "/stats", timeout=10) as answer:
        told: dict[str, Any] = json.load(answer)
    return told


def pass_through(upstream: Process) -> Process:
    """The bare pass-through before it."""
    return Process("-m", "bench.gateway.pass_through", upstream.url)


def gateway(config: Path) -> Process:
    """`sendable serve` before it, as a user starts it."""
    return Process("-m", "sendable", "serve", "--config", str(config), OPENAI_API_KEY="dummy")


def configuration(folder: Path, upstream: Process, port: int = 0, retries: int = 0) -> Path:
    """A file for `sendable serve`: every model to `upstream`, the audit on, time-outs that a benchmark can wait for."""
    path = folder / "gateway.toml"
    path.write_text(
        f'''schema_version = 1
[server]
port = {port}
[audit]
path = "{folder / "audit.db"}"
[store]
path = "{folder / "store.db"}"
[upstreams.scripted]
target = "openai-chat"
base_url = "{upstream.url}/v1"
key_env = "OPENAI_API_KEY"
timeouts = {{ connect = 5.0, first_byte = 30.0, idle = 3.0 }}
retries = {{ most = {retries}, first_wait = 0.05 }}
[[routes]]
match = "*"
upstreams = ["scripted"]
'''
    )
    return path


def settled(server: Process, upstream: Process, seconds: float = 15.0) -> dict[str, Any]:
    """The upstream's figures once it is in the middle of nothing, or after `seconds`."""
    until = time.monotonic() + seconds
    while True:
        told = stats(upstream)
        if not told["busy"] or time.monotonic() > until:
            time.sleep(QUIET_SECONDS)
            return stats(upstream)
        time.sleep(0.1)


def do(job: dict[str, Any]) -> dict[str, Any]:
    """Have the load of bench/gateway/load.py done by a process of its own. Raises `RuntimeError` if that process fails."""
    paths = os.pathsep.join((str(HERE / "src"), str(HERE)))
    done = subprocess.run(
        [sys.executable, "-m", "bench.gateway.load"], input=json.dumps(job).encode(), capture_output=True, cwd=HERE,
        env={**os.environ, "PYTHONPATH": paths}, timeout=580,
    )  # fmt: skip
    if done.returncode:
        raise RuntimeError(done.stderr.decode(errors="replace")[-800:])
    seen: dict[str, Any] = json.loads(done.stdout)
    return seen
