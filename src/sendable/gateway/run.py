"""`sendable run CLIENT`: a gateway of its own around one client, and at the end what was lost.

The gateway listens on a free port of this machine, with a key that only this client gets. Here: how each client is pointed at it, which is all
that is known of a client. What must not live here: what clients send (dialects/).
"""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import shutil
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import final

import msgspec

from sendable.gateway.audit_queries import Filter, list_requests, losses, print_losses
from sendable.gateway.audit_schema import AuditError, open_database
from sendable.gateway.config import ClientKey, Config
from sendable.gateway.keys import new_key
from sendable.gateway.logs import set_up
from sendable.gateway.serve import Say, Service
from sendable.render.entries import one_line

NOT_INSTALLED = 127


class NoSuchClient(Exception):
    """No client of that name is known; the message says which are."""


@final
class Start(msgspec.Struct, frozen=True):
    """What a client is started with: arguments before the user's own, and variables; an empty one is taken away."""

    arguments: tuple[str, ...] = ()
    variables: Mapping[str, str] = {}


@final
class Seat(msgspec.Struct, frozen=True):
    """Where a client shall find the gateway, with which key, asking for which model, and a folder that is gone when it ends."""

    url: str
    key: str
    model: str | None
    folder: Path


@final
class Client(msgspec.Struct, frozen=True):
    """A client: its program, the upstream that it has at home (`TARGET=URL`), and how it is pointed elsewhere."""

    name: str
    program: str
    home: str
    start: Callable[[Seat], Start]
    needs_model: bool = False


_ANTHROPIC = "anthropic=https://api.anthropic.com"
_OPENAI = "openai-chat=https://api.openai.com/v1"


def _claude(seat: Seat) -> Start:
    # A token, and no key: about a key in a variable it asks the user first.
    return Start(
        ("--model", seat.model) if seat.model else (),
        {
            "ANTHROPIC_BASE_URL": seat.url,
            "ANTHROPIC_AUTH_TOKEN": seat.key,
            "ANTHROPIC_API_KEY": "",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        },
    )


def _codex(seat: Seat) -> Start:
    provider = {
        "name": "sendable",
        "base_url": f"{seat.url}/v1",
        "env_key": "SENDABLE_RUN_KEY",
        "wire_api": "responses",
    }
    table = ",".join([f"{name}={json.dumps(value)}" for name, value in provider.items()])
    return Start(
        (
            "-c", f"model_providers.sendable={{{table}}}", "-c", 'model_provider="sendable"',
            *(("-c", f"model={json.dumps(seat.model)}") if seat.model else ()),
        ),
        {"SENDABLE_RUN_KEY": seat.key},
    )  # fmt: skip


def _opencode(seat: Seat) -> Start:
    model = seat.model or ""
    file = seat.folder / "opencode.json"
    file.write_text(json.dumps({
        "provider": {"sendable": {
            "npm": "@ai-sdk/openai-compatible",
            "options": {"baseURL": f"{seat.url}/v1", "apiKey": "{env:SENDABLE_RUN_KEY}"},
            "models": {model: {}},
        }},
        "model": f"sendable/{model}",
    }))  # fmt: skip
    return Start((), {"OPENCODE_CONFIG": str(file), "SENDABLE_RUN_KEY": seat.key})


def _gemini(seat: Seat) -> Start:
    return Start(
        ("--model", seat.model) if seat.model else (),
        {"GOOGLE_GEMINI_BASE_URL": seat.url, "GEMINI_API_KEY": seat.key, "GOOGLE_API_KEY": ""},
    )


def _qwen(seat: Seat) -> Start:
    return Start(
        (),
        {"OPENAI_BASE_URL": f"{seat.url}/v1", "OPENAI_API_KEY": seat.key, "OPENAI_MODEL": seat.model or ""},
    )


def _copilot(seat: Seat) -> Start:
    return Start(
        (),
        {
            "COPILOT_PROVIDER_BASE_URL": f"{seat.url}/v1",
            "COPILOT_PROVIDER_API_KEY": seat.key,
            "COPILOT_PROVIDER_TYPE": "openai",
            "COPILOT_MODEL": seat.model or "",
        },
    )


def _aider(seat: Seat) -> Start:
    return Start(
        ("--model", f"openai/{seat.model}"),
        {"OPENAI_API_BASE": f"{seat.url}/v1", "OPENAI_API_KEY": seat.key},
    )


CLIENTS: dict[str, Client] = {
    client.name: client
    for client in (
        Client("claude", "claude", _ANTHROPIC, _claude),
        Client("codex", "codex", "openai-responses=https://api.openai.com/v1", _codex),
        Client("opencode", "opencode", _OPENAI, _opencode, needs_model=True),
        Client("gemini", "gemini", "gemini=https://generativelanguage.googleapis.com", _gemini),
        Client("qwen", "qwen", _OPENAI, _qwen, needs_model=True),
        Client("copilot", "copilot", _OPENAI, _copilot, needs_model=True),
        Client("aider", "aider", _OPENAI, _aider, needs_model=True),
    )
}


def known(name: str) -> Client:
    """The client of that name. Raises `NoSuchClient`."""
    found = CLIENTS.get(name)
    if found is None:
        near = get_close_matches(name, CLIENTS, n=1)
        raise NoSuchClient(
            f"no client is called {one_line(name)}; "
            + (f"did you mean {near[0]}?" if near else f"there are: {', '.join(CLIENTS)}")
        )
    return found


def run(client: Client, config: Config, arguments: Sequence[str], model: str | None, say: Say, *, at_home: bool) -> int:
    """Run the client until it ends, and print its losses; its exit status. Raises `CannotStart` if the gateway cannot be started.

    `at_home`: it talks to its own provider. If then no key of that provider is in a variable, it keeps the login that it has, and the
    gateway passes that on.
    """
    program = shutil.which(client.program)
    if program is None:
        say(f"{client.program} is not installed")
        return NOT_INSTALLED
    if client.needs_model and model is None:
        raise NoSuchClient(f"{client.name} has to be told a model: sendable run --model NAME {client.name} …")
    set_up()
    key, sha256 = new_key()
    name = f"run-{secrets.token_hex(4)}"
    own_login = at_home and all(upstream.key() is None for upstream in config.upstreams.values())
    service = Service(_for_one_client(config, name, sha256, own_login), say)
    service.open()
    since = time.time()
    thread = threading.Thread(target=service.run, kwargs={"signals": False}, name="sendable-gateway")
    thread.start()
    try:
        with tempfile.TemporaryDirectory(prefix="sendable-run-") as folder:
            start = client.start(Seat(service.url, key, model, Path(folder)))
            status = _until_it_ends([program, *start.arguments, *arguments], _environment(start, own_login, key))
    finally:
        service.stop()
        thread.join()
    _print_losses(config, Filter(since=since, client=None if own_login else name), say)
    return status


def _for_one_client(config: Config, name: str, sha256: str, own_login: bool) -> Config:
    routes = config.routes
    clients = {name: ClientKey(name, sha256=sha256)}
    if own_login:
        # The client's own key is all there is, and it is not one of ours.
        routes = tuple(msgspec.structs.replace(route, forward_client_key=True) for route in routes)
        clients = {}
    server = msgspec.structs.replace(config.server, host="127.0.0.1", port=0, drain_seconds=2.0)
    return msgspec.structs.replace(config, server=server, routes=routes, clients=clients)


def _environment(start: Start, own_login: bool, key: str) -> dict[str, str]:
    found = dict(os.environ)
    for name, value in start.variables.items():
        if own_login and (value in (key, "")):
            continue  # its own login stays
        if value:
            found[name] = value
        else:
            found.pop(name, None)
    return found


def _until_it_ends(command: Sequence[str], environment: Mapping[str, str]) -> int:
    """The client's exit status. Ctrl-C is the client's own business; SIGTERM is passed on."""
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    child: subprocess.Popen[bytes] | None = None

    def pass_on(number: int, frame: object) -> None:
        if child is not None:
            child.send_signal(number)

    signal.signal(signal.SIGTERM, pass_on)
    try:
        child = subprocess.Popen(command, env=environment, preexec_fn=_default_interrupt)
        status = child.wait()
    finally:
        signal.signal(signal.SIGINT, before)
        if child is not None and child.poll() is None:
            child.kill()
    return status if status >= 0 else 128 - status


def _default_interrupt() -> None:
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def _print_losses(config: Config, which: Filter, say: Say) -> None:
    """To standard error: standard output is the client's."""
    from rich.console import Console

    with contextlib.ExitStack() as stack:
        try:
            engine = open_database(config.audit.place(), create=False)
        except AuditError as error:
            say(str(error))
            return
        stack.callback(engine.dispose)
        number = len(list_requests(engine, which, limit=100_000))
        say(f"{number} {'request' if number == 1 else 'requests'} went through the gateway")
        print_losses(Console(stderr=True, highlight=False, markup=False, emoji=False), losses(engine, which))
