"""The commands of the gateway: `sendable serve | check-config | client-key | run | audit`.

Here: what they are told, and lines for a person. This module imports nothing of the extra `sendable[gateway]`; each command does when it runs.
What must not live here: exit statuses of the server (serve.py), and what is asked of the audit (audit_queries.py).
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Any

import click

from sendable.gateway.config import Config, ConfigError, from_flags, load
from sendable.terminal import CLEAN, Trouble, policy_named, say, shown


@contextmanager
def _extra(command: str) -> Generator[None, None, None]:
    """What the extra holds can be imported, or one line says how to get it."""
    try:
        yield
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] == "sendable":
            raise
        raise Trouble(
            f"`sendable {command}` needs the package {error.name}, which is not installed: pip install 'sendable[gateway]'"
        ) from None


def _line(line: str) -> None:
    say([f"sendable: {line}"])


Command = Callable[..., int]

WIDE = 240


def _where_to(command: Command) -> Command:
    """The options that say which upstreams there are."""
    for option in (
        click.option("--no-probe", is_flag=True, help="Start even if no upstream can be reached yet."),
        click.option("--audit", metavar="FILE", help="The audit, an SQLite file. [default: sendable/audit.db in the state folder]"),
        click.option(
            "--policy", default="repair", metavar="strict|repair|FILE.toml", help="What is allowed, reported, rejected. [default: repair]"
        ),
        click.option(
            "--route", "routes", multiple=True, metavar="MATCH=NAME[,NAME…]",
            help="Models that match go to these upstreams, in this order. A name is its TARGET.",
        ),
        click.option(
            "--upstream", "upstreams", multiple=True, metavar="TARGET=URL",
            help="A target (`sendable targets`) and the URL as that provider's SDK takes it. All models go to the first one.",
        ),
        click.option("--config", "file", metavar="FILE", help="Everything in one TOML file, instead of all these flags."),
    ):  # fmt: skip
        command = option(command)
    return command


@click.command()
@_where_to
@click.option("--host", metavar="H", help="[default: 127.0.0.1; any other needs client keys]")
@click.option("--port", metavar="N", type=click.IntRange(0, 65535), help="0 is any free one. [default: 8484]")
@click.option(
    "--client-key-env",
    metavar="NAME",
    help="The variable with the key that clients have to send. Needed for any host but this one.",
)
def serve(file: str | None, upstreams: tuple[str, ...], routes: tuple[str, ...], policy: str, audit: str | None, no_probe: bool,
          host: str | None, port: int | None, client_key_env: str | None) -> int:  # fmt: skip
    """Start the gateway: put histories right, or refuse them, before a provider sees them.

    Exit status: 0 ended by a signal, 3 bad usage, 4 wrong configuration, 5 the address is busy, 6 a key is missing, 7 no upstream can be
    reached, 8 the audit or the store cannot be opened. SIGHUP reads the file again, SIGTERM ends after the running requests.
    """
    with _extra("serve"):
        from sendable.gateway.serve import CONFIG, CannotStart
        from sendable.gateway.serve import serve as run_server

        try:
            config = _config(file, upstreams, routes, policy, audit, no_probe, host, port, client_key_env)
            return run_server(config, _line, None if file is None else lambda: load(file))
        except ConfigError as error:
            _line(str(error))
            return CONFIG
        except CannotStart as trouble:
            _line(str(trouble))
            return trouble.status


def _config(file: str | None, upstreams: tuple[str, ...], routes: tuple[str, ...], policy: str, audit: str | None, no_probe: bool,
            host: str | None, port: int | None, client_key_env: str | None) -> Config:  # fmt: skip
    """From the file, where address, audit and probing may still be said by flags; else from flags alone."""
    if file is None:
        return from_flags(
            upstreams, policy=policy_named(policy), routes=routes, host=host, port=port, audit=audit, client_key_env=client_key_env,
            probe=not no_probe,
        )  # fmt: skip
    for flag, given in (
        ("--upstream", upstreams), ("--route", routes), ("--policy", policy != "repair"), ("--client-key-env", client_key_env),
    ):  # fmt: skip
        if given:
            raise Trouble(f"{flag} and --config cannot both be given; it stands in the file")
    config = load(file)
    return config.but(host=host, port=port, audit=audit, probe=False if no_probe else None)


@click.command("check-config")
@click.argument("file", metavar="FILE")
def check_config(file: str) -> int:
    """Read a configuration file as `serve` would, say what it does, and start nothing.

    Exit status: 0 it can be started, 4 it is wrong, 6 a key is in no variable.
    """
    from sendable.gateway.config import CONFIG_STATUS, KEY_STATUS, exposed, missing_keys

    try:
        config = load(file)
    except ConfigError as error:
        _line(str(error))
        return CONFIG_STATUS
    open_to_all = exposed(config)
    if open_to_all:
        _line(f"{shown(file)}: {open_to_all}")
        return CONFIG_STATUS
    for line in config.to_lines():
        click.echo(line)
    missing = missing_keys(config)
    for line in missing:
        _line(line)
    return KEY_STATUS if missing else CLEAN


@click.command("client-key")
@click.argument("name", metavar="NAME")
def client_key(name: str) -> int:
    """Make a key for a client: the lines for the configuration file, and the key, which is shown this once."""
    from sendable.gateway.keys import new_key

    if not name.replace("-", "").replace("_", "").isalnum() or not name.isascii():
        raise Trouble("a name has letters, digits, - and _")
    key, sha256 = new_key()
    click.echo(f'[clients.{name}]\nsha256 = "{sha256}"')
    _line(f"the key of {name}, which is kept nowhere: {key}")
    return CLEAN


@click.command(context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False})
@_where_to
@click.option("--model", metavar="NAME", help="The model that the client asks for, where it has to be told one.")
@click.argument("client", metavar="CLIENT")
@click.argument("arguments", metavar="[ARG…]", nargs=-1, type=click.UNPROCESSED)
def run(file: str | None, upstreams: tuple[str, ...], routes: tuple[str, ...], policy: str, audit: str | None, no_probe: bool,
        model: str | None, client: str, arguments: tuple[str, ...]) -> int:  # fmt: skip
    """Run a client (claude, codex, opencode, gemini, qwen, copilot, aider) behind a gateway of its own, and say at its end what was lost.

    Without --config and --upstream, it talks to its own provider. Options of the client come after its name. The exit status is the
    client's; those of `serve` if the gateway cannot be started, 127 if the client is not installed.
    """
    with _extra("run"):
        from sendable.gateway.run import NoSuchClient, known
        from sendable.gateway.run import run as run_client
        from sendable.gateway.serve import CONFIG, CannotStart

        try:
            found = known(client)
            given = upstreams if file is not None or upstreams else (found.home,)
            config = _config(file, given if file is None else (), routes, policy, audit, no_probe, None, None, None)
            return run_client(found, config, arguments, model, _line, at_home=file is None and not upstreams)
        except NoSuchClient as error:
            raise Trouble(str(error)) from None
        except ConfigError as error:
            _line(str(error))
            return CONFIG
        except CannotStart as trouble:
            _line(str(trouble))
            return trouble.status


# --- the audit ---------------------------------------------------------------------------------------------------------


@click.group()
def audit() -> None:
    """Read what the gateway has written down: list, show ID, losses."""


def _of_audit(command: Command) -> Command:
    return click.option(
        "--audit",
        "place",
        metavar="FILE|URL",
        envvar="SENDABLE_AUDIT",
        help="[default: sendable/audit.db in the state folder]",
    )(command)


def _narrowed(command: Command) -> Command:
    for option in (
        click.option("--code", metavar="CODE", help="Only requests with a loss of this code."),
        click.option("--client", metavar="NAME", help="Only this client's."),
        click.option("--route", metavar="MATCH", help="Only those of this route."),
        click.option("--model", metavar="NAME", help="Only those that asked for this model."),
        click.option("--since", metavar="TIME", help="90m, 12h, 7d, or a date."),
    ):
        command = option(command)
    return command


@contextmanager
def _opened(place: str | None) -> Generator[Any, None, None]:
    with _extra("audit"):
        from sendable.gateway.audit_schema import AuditError, default_file, open_database

        try:
            engine = open_database(place or default_file(), create=False)
        except AuditError as error:
            raise Trouble(str(error)) from None
        try:
            yield engine
        finally:
            engine.dispose()


def _filter(
    since: str | None, model: str | None, route: str | None, client: str | None, code: str | None, **more: Any
) -> Any:
    from sendable.gateway import audit_queries

    try:
        start = None if since is None else audit_queries.since(since)
    except ValueError as error:
        raise Trouble(str(error)) from None
    return audit_queries.Filter(since=start, client=client, model=model, route=route, code=code, **more)


def _console() -> Any:
    from rich.console import Console

    found = Console(highlight=False, markup=False, emoji=False)
    if not found.is_terminal:
        found.width = WIDE  # a program reads it: a row is a line
    return found


def _json(value: Any) -> None:
    import msgspec

    click.echo(msgspec.json.encode(value).decode())


@audit.command("list")
@_of_audit
@_narrowed
@click.option(
    "--ended", metavar="HOW", help="Only those that ended so: whole, client, upstream, error, refused, unfinished."
)
@click.option("--losing", is_flag=True, help="Only those that lost something.")
@click.option("--limit", metavar="N", type=click.IntRange(1, 100_000), default=50, show_default=True, help="How many.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object a line.")
def audit_list(place: str | None, since: str | None, model: str | None, route: str | None, client: str | None, code: str | None,
               ended: str | None, losing: bool, limit: int, as_json: bool) -> int:  # fmt: skip
    """The newest requests, each with its losses."""
    with _opened(place) as engine:
        from sendable.gateway import audit_queries

        which = _filter(since, model, route, client, code, ended=ended, losing=losing)
        found = audit_queries.list_requests(engine, which, limit=limit)
        if as_json:
            for row in found:
                _json(row)
        else:
            audit_queries.print_requests(_console(), found)
    return CLEAN


@audit.command("show")
@click.argument("request_id", metavar="ID")
@_of_audit
@click.option("--json", "as_json", is_flag=True, help="As one JSON object.")
def audit_show(request_id: str, place: str | None, as_json: bool) -> int:
    """One request: its attempts, and each loss with its path. The beginning of an id will do."""
    with _opened(place) as engine:
        from sendable.gateway import audit_queries

        found = audit_queries.report(engine, request_id)
        if found is None:
            ids = audit_queries.find_ids(engine, request_id)
            if len(ids) > 1:
                raise Trouble(f"several requests begin with {shown(request_id)}: {', '.join(ids)}")
            found = audit_queries.report(engine, ids[0]) if ids else None
        if found is None:
            raise Trouble(f"the audit has no request {shown(request_id)}")
        if as_json:
            _json(found)
        else:
            audit_queries.print_report(_console(), found)
    return CLEAN


@audit.command("losses")
@_of_audit
@_narrowed
@click.option("--json", "as_json", is_flag=True, help="One JSON object a line.")
def audit_losses(place: str | None, since: str | None, model: str | None, route: str | None, client: str | None, code: str | None,
                 as_json: bool) -> int:  # fmt: skip
    """What was lost, by code, the most frequent first."""
    with _opened(place) as engine:
        from sendable.gateway import audit_queries

        found = audit_queries.losses(engine, _filter(since, model, route, client, code))
        if as_json:
            for loss in found:
                _json(loss)
        else:
            audit_queries.print_losses(_console(), found)
    return CLEAN


COMMANDS: dict[str, click.Command] = {
    "serve": serve,
    "check-config": check_config,
    "client-key": client_key,
    "run": run,
    "audit": audit,
}
