"""Claude Code and Codex, as they are, do a task with tools through the gateway, are ended, and resume it; offline.

    python -m bench.clients [--only claude|codex] [--folder DIR]

Needs npm (the clients, 800 MB, are installed into DIR, by default a temporary folder) and the packages of sendable[gateway]. For each client
and each upstream: a gateway with `policy = repair`, a scripted provider that refuses what the real one would refuse, one task of two turns with
three calls of which one fails, and a second one in a new process that resumes the stored session. Prints what was lost, and ends with 1 if
anything did not work, 0 if all did, 75 if npm is missing. No request leaves the machine but those of npm.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from bench.clients.upstream import FINAL, Upstream

PACKAGES = {"claude": "@anthropic-ai/claude-code@2.1.332", "codex": "@openai/codex@0.171.0"}
UPSTREAMS = {"claude": ("openai-chat", "anthropic"), "codex": ("anthropic", "openai-responses")}
BASES = {"openai-chat": "/v1", "openai-responses": "/v1", "anthropic": ""}
ROOT = Path(__file__).resolve().parents[2]


class Gateway:
    """`sendable serve` in a process of its own."""

    def __init__(self, upstream: Upstream, home: Path) -> None:
        self.audit = home / "audit.db"
        self._process = subprocess.Popen(
            [sys.executable, "-m", "sendable", "serve", "--port", "0", "--audit", str(self.audit),
             "--upstream", f"{upstream.dialect}={upstream.url}{BASES[upstream.dialect]}"],
            stderr=subprocess.PIPE, text=True, cwd=home,
            env={**os.environ, "OPENAI_API_KEY": "dummy", "ANTHROPIC_API_KEY": "dummy", "XDG_STATE_HOME": str(home),
                 "SENDABLE_CARRIER_KEY": "a key of this run"},
        )  # fmt: skip
        assert self._process.stderr is not None
        said: list[str] = []
        for line in self._process.stderr:
            said.append(line)
            found = re.search(r"listening on (\S+)", line)
            if found:
                self.url = found[1]
                return
        raise SystemExit("the gateway did not start: " + "".join(said))

    def stop(self) -> None:
        """End it, after what is running."""
        self._process.terminate()
        self._process.wait(30)

    def audited(self, *words: str) -> list[dict[str, Any]]:
        """What the audit says."""
        done = subprocess.run(
            [sys.executable, "-m", "sendable", "audit", *words, "--audit", str(self.audit), "--json"],
            capture_output=True, text=True, check=True,
        )  # fmt: skip
        return [json.loads(line) for line in done.stdout.splitlines()]


def run_claude(program: Path, gateway: str, home: Path, prompt: str, resume: bool) -> subprocess.CompletedProcess[str]:
    """Claude Code once, without a person."""
    return subprocess.run(
        [str(program), "-p", prompt, "--allowedTools", "Bash", "--output-format", "json", "--model", "claude-sonnet-5",
         *(["--continue"] if resume else [])],
        cwd=home / "work", capture_output=True, text=True, timeout=180, check=False, stdin=subprocess.DEVNULL,
        env={
            **_bare(home), "ANTHROPIC_BASE_URL": gateway, "ANTHROPIC_API_KEY": "dummy", "DISABLE_AUTOUPDATER": "1", "DISABLE_TELEMETRY": "1",
            "DISABLE_ERROR_REPORTING": "1", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1", "IS_SANDBOX": "1",
        },
    )  # fmt: skip


def run_codex(program: Path, gateway: str, home: Path, prompt: str, resume: bool) -> subprocess.CompletedProcess[str]:
    """Codex once, without a person."""
    settings = home / ".codex/config.toml"
    settings.parent.mkdir(exist_ok=True)
    settings.write_text(
        'model = "gpt-5.1-codex"\nmodel_provider = "x"\ncheck_for_update_on_startup = false\n'
        "[features]\nplugins = false\napps = false\nremote_plugin = false\n[analytics]\nenabled = false\n"
        f'[model_providers.x]\nname = "x"\nbase_url = "{gateway}/v1"\nenv_key = "X_KEY"\nwire_api = "responses"\n'
    )
    words = ["exec", "resume", "--last"] if resume else ["exec"]
    return subprocess.run(
        [str(program), *words, "--json", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox", prompt],
        cwd=home / "work", capture_output=True, text=True, timeout=180, check=False, stdin=subprocess.DEVNULL,
        env={**_bare(home), "CODEX_HOME": str(settings.parent), "X_KEY": "dummy"},
    )  # fmt: skip


def _bare(home: Path) -> dict[str, str]:
    return {"PATH": os.environ["PATH"], "HOME": str(home), "LANG": "C.UTF-8"}


RUNS = {"claude": run_claude, "codex": run_codex}


def trial(client: str, program: Path, dialect: str) -> bool:
    """One client with one upstream: two runs, and what came of them, printed. Whether all of it worked."""
    with tempfile.TemporaryDirectory(prefix="sendable-clients-") as folder:
        home = Path(folder)
        (home / "work").mkdir()
        upstream = Upstream(dialect)
        gateway = Gateway(upstream, home)
        started, troubles = time.monotonic(), list[str]()
        try:
            for turn, prompt in enumerate(("Do the task.", "Do it again.")):
                done = RUNS[client](program, gateway.url, home, prompt, turn > 0)
                if done.returncode or FINAL not in done.stdout:
                    troubles.append(
                        f"run {turn + 1} ended with {done.returncode}: {(done.stdout + done.stderr)[-600:]}"
                    )
        except subprocess.TimeoutExpired:
            troubles.append("it did not end within 180 s")
        finally:
            gateway.stop()
            upstream.stop()
        rows = gateway.audited("list", "--limit", "1000")
        troubles += [f"the provider refused: {words}" for words in upstream.refused]
        text = json.dumps(upstream.bodies[-1] if upstream.bodies else {})
        troubles += [
            f"{word} was not in the last request" for word in ("first-call", "second-call") if word not in text
        ]
        losses = gateway.audited("losses")
        told = ", ".join(f"{loss['code']} {loss['verb']} x{loss['entries']}" for loss in losses) or "nothing"
        print(
            f"{client} -> {dialect}: {'ok' if not troubles else 'FAILED'}, {len(rows)} requests, {len(upstream.bodies)} reached the provider, "
            f"{time.monotonic() - started:.0f} s; lost: {told}",
            flush=True,
        )
        for trouble in troubles:
            print(f"  {trouble}", flush=True)
        return not troubles


def main() -> int:
    """The exit status."""
    parser = argparse.ArgumentParser(
        prog="python -m bench.clients", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", choices=sorted(PACKAGES))
    parser.add_argument("--folder", type=Path, help="where the clients are installed, and stay")
    told = parser.parse_args()
    if shutil.which("npm") is None:
        print("npm is missing: nothing was run", file=sys.stderr)
        return 75
    with tempfile.TemporaryDirectory(prefix="sendable-npm-") as temporary:
        folder = told.folder or Path(temporary)
        clients = [told.only] if told.only else sorted(PACKAGES)
        missing = [PACKAGES[client] for client in clients if not (folder / "node_modules/.bin" / client).exists()]
        if missing:
            folder.mkdir(parents=True, exist_ok=True)
            subprocess.run(["npm", "install", "--no-fund", "--no-audit", "--silent", *missing], cwd=folder, check=True)
            postinstall = folder / "node_modules/@anthropic-ai/claude-code/install.cjs"
            if postinstall.exists():  # newer versions of npm do not run it by themselves
                subprocess.run(["node", str(postinstall)], cwd=postinstall.parent, check=True)
        worked = [
            trial(client, folder / "node_modules/.bin" / client, dialect)
            for client in clients
            for dialect in UPSTREAMS[client]
        ]
    return 0 if all(worked) else 1


if __name__ == "__main__":
    sys.exit(main())
