"""What the gateway is told: one TOML file, or a few flags, as one frozen `Config`.

Here: the keys with their defaults, and errors that name file, line and key. Secrets are never written in a file, only the names of the
environment variables that hold them. What must not live here: anything that opens a socket (serve.py), and what happens to a request.
"""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from fnmatch import translate
from ipaddress import ip_address
from pathlib import Path
from typing import Any, TypeVar, cast, final
from urllib.parse import urlsplit

import msgspec

from sendable.gateway.toml_lines import Key, lines_of
from sendable.options import read_options
from sendable.policies import PolicyError, policy_of
from sendable.render.entries import one_line
from sendable.report import Policy
from sendable.targets import TARGETS, target_names

SCHEMA_VERSION = 1
DEFAULT_PORT = 8484
MISSING_FILE = "there is no such file"

CONFIG_STATUS, KEY_STATUS = 4, 6
"""Exit statuses of a wrong configuration and of a missing key; serve.py has the whole table."""

LOOPBACK_NAMES = ("localhost", "localhost.localdomain", "ip6-localhost")


class ConfigError(ValueError):
    """One line that says where (`file:line: key:`) and what. No value that may be a secret is in it."""

    def __init__(self, message: str, key: str = "", file: str = "", line: int | None = None) -> None:
        where = file if line is None else f"{file}:{line}"
        super().__init__(": ".join(part for part in (where, key, message) if part))
        self.message, self.key, self.file, self.line = message, key, file, line


# --- what the rest of the gateway reads --------------------------------------------------------------------------------


@final
class Server(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Where it listens and how it ends. `in_flight`: requests at once, beyond which it answers 503. Seconds everywhere.

    `probe`: at start, a connection to each upstream is tried; a route none of whose upstreams can be reached ends the start.
    """

    host: str = "127.0.0.1"
    port: int = DEFAULT_PORT
    drain_seconds: float = 30.0
    keep_alive_seconds: float = 75.0
    in_flight: int = 2048
    probe: bool = True


@final
class Limits(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What is taken from a client, and from an upstream. Bytes, counts, seconds; None is no limit.

    `body_bytes`: a request body, unpacked. `header_bytes`: all its headers. `depth`: nesting of the JSON; `nodes`: objects and lists in
    it. `images`, `image_bytes` (each, decoded): before conversion. `wire_bytes`: the body for the upstream, after conversion (413).
    `answer_bytes`: a buffered answer. `receive_seconds`: a whole request body; `send_seconds`: a client that does not read.
    """

    body_bytes: int = 64 << 20
    header_bytes: int = 64 << 10
    depth: int = 200
    nodes: int = 1_000_000
    images: int | None = None
    image_bytes: int | None = None
    wire_bytes: int | None = None
    answer_bytes: int = 64 << 20
    receive_seconds: float = 60.0
    send_seconds: float = 300.0


@final
class Audit(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Where it is written down, and for how long. `path` is an SQLite file; `url_env` names the variable with a database URL."""

    path: str | None = None
    url_env: str | None = None
    bodies: bool = False
    keep_days: float | None = 30.0
    keep_bytes: int | None = 1 << 30

    def place(self) -> str:
        """The URL of the database, or the path of the file (`~` and the default resolved)."""
        return _place(self.url_env, self.path, "audit.db")


@final
class Store(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Where answers and reasoning wait for the next turn. `path` is an SQLite file; `url_env` names the variable with a Redis URL.

    `keep_bytes`: of one client; `item_bytes`: of one value.
    """

    enabled: bool = True
    path: str | None = None
    url_env: str | None = None
    keep_seconds: float = 7 * 86400.0
    keep_bytes: int = 512 << 20
    item_bytes: int = 32 << 20

    def place(self) -> str:
        """The URL of the store, or the path of the file (`~` and the default resolved)."""
        return _place(self.url_env, self.path, "store.db")


@final
class Timeouts(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Seconds: until the connection stands, until the head of the answer is there, between two pieces of it."""

    connect: float = 10.0
    first_byte: float = 600.0
    idle: float = 300.0


@final
class Retries(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How often one upstream is tried again after the first time, on which statuses, and how long is waited in between (seconds).

    `Retry-After` decides the wait if the upstream sends it; one that is longer than `longest_wait` ends the tries.
    """

    most: int = 2
    statuses: tuple[int, ...] = (408, 429, 500, 502, 503, 504, 529)
    first_wait: float = 0.5
    longest_wait: float = 20.0


@final
class Upstream(msgspec.Struct, frozen=True):
    """A provider as it is addressed. `base_url` is the one that this provider's own SDK takes, without a slash at its end.

    `dialect` is that of `target`. `model` is sent instead of what the client asked for; `headers` are sent with every request.
    """

    name: str
    dialect: str
    target: str
    base_url: str
    key_env: str | None = None
    model: str | None = None
    timeouts: Timeouts = Timeouts()
    retries: Retries = Retries()
    headers: dict[str, str] = {}
    region: str | None = None

    def key(self) -> str | None:
        """The provider's key, from the environment, now; None if none is named or the variable is empty."""
        return (os.environ.get(self.key_env) or None) if self.key_env is not None else None


@final
class Redaction(msgspec.Struct, frozen=True):
    """What is hidden from an upstream: what `pattern` finds, under a placeholder that holds `name`."""

    name: str
    pattern: str


@final
class Route(msgspec.Struct, frozen=True):
    """What happens to the models that `match` (a name, or a pattern with `*`, `?` and `[…]`): where they go, and under which rules.

    `upstreams` are tried in order. `policy` is "repair", "strict", or a level for every code. `options` are those of
    `sendable.normalize`. `model` is sent instead of what the client asked for, unless the upstream names its own.
    `forward_client_key`: the upstream gets the key that the client sent, and not ours.
    """

    match: str
    upstreams: tuple[str, ...]
    policy: str | Policy = "repair"
    options: dict[str, Any] = {}
    model: str | None = None
    redact: tuple[Redaction, ...] = ()
    limits: Limits = Limits()
    forward_client_key: bool = False


@final
class ClientKey(msgspec.Struct, frozen=True):
    """A client that may come in: the SHA-256 (hex) of its key, or the variable that holds the key. The key itself is never here."""

    name: str
    sha256: str | None = None
    key_env: str | None = None


@final
class Config(msgspec.Struct, frozen=True):
    """Everything that was told. Immutable: a reload makes a new one."""

    upstreams: dict[str, Upstream]
    routes: tuple[Route, ...]
    server: Server = Server()
    limits: Limits = Limits()
    audit: Audit = Audit()
    store: Store = Store()
    clients: dict[str, ClientKey] = {}
    file: str | None = None

    def route_for(self, model: str | None) -> Route | None:
        """The first route, in the order of the file, that matches the model's name; None if none does.

        A request without a model has the empty name, which only a pattern such as `*` matches.
        """
        name = model or ""
        for route in self.routes:
            if route.match == "*" or route.match == name or _pattern(route.match).match(name):
                return route
        return None

    def model_for(self, route: Route, upstream: Upstream, asked: str | None) -> str | None:
        """The model name that the upstream is asked for: its own, else the route's, else the client's."""
        return upstream.model or route.model or asked

    def but(
        self, host: str | None = None, port: int | None = None, audit: str | None = None, probe: bool | None = None
    ) -> Config:
        """The same with what a flag says instead of the file."""
        given = {"host": host, "port": port, "probe": probe}
        server = msgspec.structs.replace(
            self.server, **{name: told for name, told in given.items() if told is not None}
        )
        kept = self.audit if audit is None else msgspec.structs.replace(self.audit, path=audit, url_env=None)
        return msgspec.structs.replace(self, server=server, audit=kept)

    def aliases(self) -> list[str]:
        """The model names that the routes spell out, in order."""
        return list(dict.fromkeys(route.match for route in self.routes if not _is_pattern(route.match)))

    def to_lines(self) -> list[str]:
        """What a person reads after `check-config`: each route and where it goes. No secret is in it."""
        lines = [
            f"upstream {one.name}: {one.target} at {one.base_url}, key from {one.key_env or 'nowhere'}"
            + (f", model {one.model}" if one.model else "")
            for one in self.upstreams.values()
        ]
        for route in self.routes:
            policy = route.policy if isinstance(route.policy, str) else "its own table"
            lines.append(f"route {route.match} -> {', '.join(route.upstreams)} (policy {policy})")
        return lines


_PATTERNS: dict[str, re.Pattern[str]] = {}


def _pattern(glob: str) -> re.Pattern[str]:
    found = _PATTERNS.get(glob)
    if found is None:
        found = _PATTERNS[glob] = re.compile(translate(glob))
    return found


def _is_pattern(match: str) -> bool:
    return any(sign in match for sign in "*?[")


def _place(url_env: str | None, path: str | None, name: str) -> str:
    if url_env is not None:
        url = os.environ.get(url_env)
        if not url:
            raise ConfigError(f"the environment variable {url_env} is not set")
        return url
    if path is not None:
        return path if path == ":memory:" else str(Path(path).expanduser())
    state = os.environ.get("XDG_STATE_HOME") or "~/.local/state"
    return str(Path(state).expanduser() / "sendable" / name)


def is_loopback(host: str) -> bool:
    """Whether only this machine can be behind that name or address."""
    bare = host.strip("[]").partition("%")[0].lower()
    if bare in LOOPBACK_NAMES or bare.endswith(".localhost"):
        return True
    try:
        return ip_address(bare).is_loopback
    except ValueError:
        return False


# --- from flags --------------------------------------------------------------------------------------------------------

USUAL_KEYS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("openai-chat:deepseek", ("DEEPSEEK_API_KEY", "OPENAI_API_KEY")),
    ("openai-chat:mistral", ("MISTRAL_API_KEY", "OPENAI_API_KEY")),
    ("openai-chat:kimi", ("MOONSHOT_API_KEY", "OPENAI_API_KEY")),
    ("openai-chat:cohere", ("CO_API_KEY", "OPENAI_API_KEY")),
    ("anthropic:minimax", ("MINIMAX_API_KEY", "ANTHROPIC_API_KEY")),
    ("openai-chat", ("OPENAI_API_KEY",)),
    ("openai-responses", ("OPENAI_API_KEY",)),
    ("anthropic", ("ANTHROPIC_API_KEY",)),
    ("gemini", ("GEMINI_API_KEY", "GOOGLE_API_KEY")),
    ("bedrock-converse", ("AWS_BEARER_TOKEN_BEDROCK",)),
)
"""The variables that the SDKs of these targets read, the first prefix that fits; the first one that is set counts."""

AT_HOME: dict[str, Any] = {"unknown": "keep"}
"""A gateway is older than its clients: kinds and fields that nobody knows yet go on to the dialect from which they come."""


def from_flags(
    upstreams: Sequence[str],
    *,
    policy: str | Policy = "repair",
    routes: Sequence[str] = (),
    host: str | None = None,
    port: int | None = None,
    audit: str | None = None,
    client_key_env: str | None = None,
    probe: bool = True,
) -> Config:
    """The `Config` of `--upstream TARGET=URL …`: every model goes to the first one, unless `routes` (`MATCH=NAME[,NAME…]`) say otherwise.

    Keys come from the usual variables. An upstream is called as its target; a second one of the same target gets `-2`, and so on.
    """
    if not upstreams:
        raise ConfigError("at least one is needed: --upstream TARGET=URL, or --config FILE", "--upstream")
    found: dict[str, Upstream] = {}
    for given in upstreams:
        target, equals, url = given.partition("=")
        if not equals or not url:
            raise ConfigError(f"{one_line(given)} is not TARGET=URL, such as openai-chat=https://…/v1", "--upstream")
        problem = _target_problem(target) or _url_problem(url, plain_http=False)
        if problem:
            raise ConfigError(problem, f"--upstream {one_line(target)}")
        name = target
        while name in found:
            name = f"{target}-{len(found) + 1}"
        dialect = TARGETS[target].dialect.name
        found[name] = Upstream(name, dialect, target, url.rstrip("/"), usual_key(target))
    chosen = [_flag_route(given, found, policy) for given in routes]
    chosen.append(Route("*", (next(iter(found)),), policy, dict(AT_HOME)))
    defaults = Server()
    return Config(
        upstreams=found,
        routes=tuple(chosen),
        server=Server(
            host=defaults.host if host is None else host, port=defaults.port if port is None else port, probe=probe
        ),
        audit=Audit(path=audit),
        clients={"flag": ClientKey("flag", key_env=client_key_env)} if client_key_env else {},
    )


def _flag_route(given: str, upstreams: Mapping[str, Upstream], policy: str | Policy) -> Route:
    match, equals, names = given.rpartition("=")
    wanted = tuple(name.strip() for name in names.split(",") if name.strip())
    if not equals or not match or not wanted:
        raise ConfigError(f"{one_line(given)} is not MATCH=NAME[,NAME…], such as 'claude-*=anthropic'", "--route")
    for name in wanted:
        if name not in upstreams:
            raise ConfigError(_no_such("upstream", name, list(upstreams)), f"--route {one_line(match)}")
    return Route(match, wanted, policy, dict(AT_HOME))


def usual_key(target: str) -> str | None:
    """The name of the variable in which this target's key usually is: the first one that is set, else the first one."""
    for prefix, names in USUAL_KEYS:
        if target == prefix or target.startswith((f"{prefix}:", f"{prefix}-")):
            if prefix == "bedrock-converse" and not os.environ.get(names[0]):
                return None  # Amazon's own credentials, which are looked for in many places, sign the request
            return next((name for name in names if os.environ.get(name)), names[0])
    return None


def missing_keys(config: Config) -> list[str]:
    """One line for every upstream whose key is in no variable though it needs one, and for every client key that is not there.

    An upstream on this machine may do without; so may one whose routes all forward the client's key.
    """
    forwarding = {
        name: all(route.forward_client_key for route in config.routes if name in route.upstreams)
        for name in config.upstreams
    }
    lines = [
        f"upstream {one.name}: the environment variable {one.key_env} is not set"
        for one in config.upstreams.values()
        if one.key_env is not None
        and one.key() is None
        and not forwarding[one.name]
        and not is_loopback(urlsplit(one.base_url).hostname or "")
    ]
    lines += [
        f"client {client.name}: the environment variable {client.key_env} is not set"
        for client in config.clients.values()
        if client.key_env is not None and not os.environ.get(client.key_env)
    ]
    return lines


def exposed(config: Config) -> str | None:
    """Why this may not be started: it can be reached from elsewhere, and lets everybody in. None if it may."""
    if config.clients or is_loopback(config.server.host):
        return None
    return (
        f"{config.server.host} can be reached from other machines, and there are no client keys; "
        "add [clients] (`sendable client-key NAME` makes one), or listen on 127.0.0.1"
    )


# --- from a file -------------------------------------------------------------------------------------------------------

T = TypeVar("T")

_TOP = ("schema_version", "server", "limits", "audit", "store", "clients", "upstreams", "routes")
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_HASH = re.compile(r"[0-9a-f]{64}")
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.:\-]*")
_SECRET_HEADERS = frozenset(
    {"authorization", "proxy-authorization", "x-api-key", "x-goog-api-key", "api-key", "cookie"}
)


class _UpstreamTable(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    target: str
    base_url: str
    key_env: str | None = None
    model: str | None = None
    timeouts: Timeouts = Timeouts()
    retries: Retries = Retries()
    headers: dict[str, str] = {}
    region: str | None = None
    plain_http: bool = False


class _RedactionTable(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    pattern: str
    name: str = "hidden"


class _RouteTable(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    match: str
    upstreams: tuple[str, ...]
    policy: str | dict[str, Any] = "repair"
    options: dict[str, Any] = {}
    model: str | None = None
    redact: tuple[_RedactionTable, ...] = ()
    limits: dict[str, Any] = {}
    forward_client_key: bool = False


class _ClientTable(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    sha256: str | None = None
    key_env: str | None = None


def load(path: str | os.PathLike[str]) -> Config:
    """The `Config` of a file. Raises `ConfigError`: cannot be read, is not TOML, or a key that is unknown, missing or wrong."""
    name = os.fspath(path)
    try:
        data = Path(name).read_bytes()
    except FileNotFoundError:
        raise ConfigError(MISSING_FILE, file=name) from None
    except OSError as error:
        raise ConfigError((error.strerror or "it cannot be read").lower(), file=name) from None
    return read_config(data, name)


def read_config(data: bytes, file: str = "config") -> Config:
    """The same from bytes; `file` is what errors call them."""
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        raise ConfigError("it is not UTF-8", file=file, line=line) from None
    try:
        table = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise _not_toml(error, text, file) from None
    except RecursionError:
        raise ConfigError("it is nested too deeply", file=file) from None
    return _Reading(file, lines_of(text)).config(table)


def _not_toml(error: tomllib.TOMLDecodeError, text: str, file: str) -> ConfigError:
    """Only the reason and the place: an excerpt could hold a secret that somebody has written there after all."""
    words = str(error)
    found = re.search(r"\(at line (\d+), column (\d+)\)", words)
    line = int(found.group(1)) if found else text.count("\n") + 1
    column = f" (column {found.group(2)})" if found else ""
    reason = re.sub(r"\s*\(at [^)]*\)\s*$|[:'\"].*", "", words).strip()
    return ConfigError(f"it is not TOML: {reason[:1].lower()}{reason[1:]}{column}", file=file, line=line)


class _Reading:
    """One file: its name and its lines, for errors."""

    def __init__(self, file: str, lines: Mapping[Key, int]) -> None:
        self._file, self._lines = file, lines

    def error(self, message: str, *path: str | int) -> ConfigError:
        """The error at a key; where the key itself is absent, at the nearest table around it."""
        at: Key = path
        while at and at not in self._lines:
            at = at[:-1]
        return ConfigError(message, _shown(path), self._file, self._lines.get(at, 1))

    def config(self, table: dict[str, Any]) -> Config:
        for key in table:
            if key not in _TOP:
                raise self.error(_unknown(key, _TOP), key)
        self._version(table)
        limits = self._section(table, "limits", Limits)
        self._positive(limits, "limits")
        server = self._section(table, "server", Server)
        self._positive(server, "server")
        if server.port > 65535:
            raise self.error("a port is a number from 0 to 65535", "server", "port")
        audit, store = self._section(table, "audit", Audit), self._section(table, "store", Store)
        for name, section in (("audit", audit), ("store", store)):
            self._positive(section, name)
            if section.path is not None and section.url_env is not None:
                raise self.error("`path` and `url_env` say two different places", name, "url_env")
            self._variable(section.url_env, name, "url_env")
        upstreams = {name: self._upstream(name, value) for name, value in self._named(table, "upstreams", True).items()}
        return Config(
            upstreams=upstreams,
            routes=self._routes(table, upstreams, limits),
            server=server,
            limits=limits,
            audit=audit,
            store=store,
            clients={name: self._client(name, value) for name, value in self._named(table, "clients", False).items()},
            file=self._file,
        )

    def _version(self, table: Mapping[str, Any]) -> None:
        if "schema_version" not in table:
            raise self.error(f"it has to be there: schema_version = {SCHEMA_VERSION}", "schema_version")
        if type(table["schema_version"]) is not int or table["schema_version"] != SCHEMA_VERSION:
            raise self.error(f"this sendable reads version {SCHEMA_VERSION} only", "schema_version")

    def _section(self, table: Mapping[str, Any], name: str, kind: type[T]) -> T:
        return self._convert(table.get(name, {}), kind, name)

    def _named(self, table: Mapping[str, Any], name: str, needed: bool) -> dict[str, Any]:
        """A table of tables whose keys are names that people choose."""
        found = table.get(name, {})
        if not isinstance(found, dict):
            raise self.error(f"it must be a table: [{name}.NAME]", name)
        if needed and not found:
            raise self.error(f"at least one is needed: [{name}.NAME]", name)
        for chosen in found:
            if not _NAME.fullmatch(chosen):
                raise self.error("a name has letters, digits, and _ . : - between them", name, chosen)
        return cast("dict[str, Any]", found)

    def _upstream(self, name: str, value: object) -> Upstream:
        at = ("upstreams", name)
        table = self._convert(value, _UpstreamTable, *at)
        problem = _target_problem(table.target)
        if problem:
            raise self.error(problem, *at, "target")
        problem = _url_problem(table.base_url, table.plain_http)
        if problem:
            raise self.error(problem, *at, "base_url")
        self._variable(table.key_env, *at, "key_env")
        self._positive(table.timeouts, *at, "timeouts")
        self._positive(table.retries, *at, "retries")
        for index, status in enumerate(table.retries.statuses):
            if not 400 <= status <= 599:
                raise self.error("only a status from 400 to 599 is an error", *at, "retries", "statuses", index)
        for header, content in table.headers.items():
            if header.lower() in _SECRET_HEADERS:
                raise self.error(
                    "keys stand in the environment; name the variable in `key_env`", *at, "headers", header
                )
            if not re.fullmatch(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+", header) or not re.fullmatch(
                r"[\t -~\x80-\xff]*", content
            ):
                raise self.error("this cannot be an HTTP header", *at, "headers", header)
        return Upstream(
            name,
            TARGETS[table.target].dialect.name,
            table.target,
            table.base_url.rstrip("/"),
            table.key_env,
            table.model,
            table.timeouts,
            table.retries,
            table.headers,
            table.region,
        )

    def _routes(self, table: Mapping[str, Any], upstreams: Mapping[str, Upstream], limits: Limits) -> tuple[Route, ...]:
        """The routes in order; without any, every model goes to the first upstream."""
        given = table.get("routes", [])
        if not isinstance(given, list):
            raise self.error("it must be a list of tables: [[routes]]", "routes")
        if not given:
            return (Route("*", (next(iter(upstreams)),), "repair", dict(AT_HOME), limits=limits),)
        routes: list[Route] = []
        for index, value in enumerate(given):
            route = self._route(index, value, upstreams, limits)
            before = next((n for n, earlier in enumerate(routes) if earlier.match in ("*", route.match)), None)
            if before is not None:
                raise self.error(
                    f"it is never reached: routes[{before}] takes all that it matches", "routes", index, "match"
                )
            routes.append(route)
        return tuple(routes)

    def _route(self, index: int, value: object, upstreams: Mapping[str, Upstream], limits: Limits) -> Route:
        at = ("routes", index)
        table = self._convert(value, _RouteTable, *at)
        if not table.upstreams:
            raise self.error("at least one upstream is needed", *at, "upstreams")
        for place, name in enumerate(table.upstreams):
            if name not in upstreams:
                raise self.error(_no_such("upstream", name, list(upstreams)), *at, "upstreams", place)
            if name in table.upstreams[:place]:
                raise self.error(
                    f"{name} is in the list twice; for more tries set its `retries`", *at, "upstreams", place
                )
        try:
            read_options(table.options)
        except TypeError as error:
            words = str(error).removeprefix("options: ")
            unknown = re.search(r"unknown field `([^`]*)`", words)
            field = unknown or re.search(r"`\$\.([A-Za-z_]+)", words)
            raise self.error(
                "unknown option" if unknown else _plain(words), *at, "options", *((field.group(1),) if field else ())
            ) from None
        merged = {**msgspec.structs.asdict(limits), **table.limits}
        own = self._convert(merged, Limits, *at, "limits")
        self._positive(own, *at, "limits")
        for limit in ("header_bytes", "body_bytes", "depth", "nodes", "receive_seconds"):
            if limit in table.limits:
                # The body says which route it takes.
                raise self.error("it counts before the route is known; it stands in [limits]", *at, "limits", limit)
        return Route(
            table.match,
            table.upstreams,
            self._policy(table.policy, *at, "policy"),
            {**AT_HOME, **table.options},
            table.model,
            self._redactions(table.redact, *at, "redact"),
            own,
            table.forward_client_key,
        )

    def _policy(self, given: str | dict[str, Any], *at: str | int) -> str | Policy:
        if isinstance(given, str):
            if given not in ("repair", "strict"):
                raise self.error(
                    'it must be "repair", "strict", or a table such as {base = "strict", PAR002 = "allow"}', *at
                )
            return given
        base = given.get("base", "repair")
        codes = {
            **given.get("codes", {}),
            **{key: value for key, value in given.items() if key not in ("base", "codes")},
        }
        try:
            return policy_of(base, codes)
        except PolicyError as error:
            named = re.match(r"`(?:codes\.)?([^`]*)`:? ?(.*)", str(error))
            key, words = named.groups() if named else ("", str(error))
            where = (key,) if (*at, key) in self._lines else ("codes", key)
            raise self.error(words, *at, *where) from None

    def _redactions(self, given: tuple[_RedactionTable, ...], *at: str | int) -> tuple[Redaction, ...]:
        for index, one in enumerate(given):
            if not re.fullmatch(r"[A-Za-z0-9]{1,24}", one.name):
                raise self.error("a name has 1 to 24 letters and digits", *at, index, "name")
            try:
                pattern = re.compile(one.pattern)
            except (re.error, RecursionError, OverflowError) as error:
                raise self.error(f"it is no regular expression: {error}", *at, index, "pattern") from None
            if pattern.match(""):
                raise self.error("it matches nothing at all, which is everywhere", *at, index, "pattern")
        return tuple(Redaction(one.name, one.pattern) for one in given)

    def _client(self, name: str, value: object) -> ClientKey:
        at = ("clients", name)
        table = self._convert(value, _ClientTable, *at)
        if (table.sha256 is None) == (table.key_env is None):
            raise self.error("it needs one of `sha256` and `key_env`", *at)
        if table.sha256 is not None and not _HASH.fullmatch(table.sha256.lower()):
            raise self.error("it must be the SHA-256 of the key, 64 hexadecimal digits", *at, "sha256")
        self._variable(table.key_env, *at, "key_env")
        return ClientKey(name, table.sha256.lower() if table.sha256 else None, table.key_env)

    def _variable(self, name: str | None, *at: str | int) -> None:
        if name is not None and not _VARIABLE.fullmatch(name):
            raise self.error("it must be the name of an environment variable; the secret itself never stands here", *at)

    def _positive(self, section: Any, *at: str | int) -> None:
        """No count, size or time is negative, and none of them is not a number."""
        for field, value in msgspec.structs.asdict(section).items():
            if type(value) in (int, float) and not 0 <= value < 1 << 60:
                raise self.error("it must be a number from 0 on", *at, field)

    def _convert(self, value: object, kind: type[T], *at: str | int) -> T:
        try:
            return msgspec.convert(value, kind)
        except msgspec.ValidationError as error:
            raise self._wrong(str(error), value, kind, at) from None

    def _wrong(self, words: str, value: object, kind: type[Any], at: Key) -> ConfigError:
        """msgspec's sentence and its path, as ours."""
        words, _, where = words.partition(" - at `$")
        path: list[str | int] = list(at)
        for name, index in re.findall(r"\.([A-Za-z_][A-Za-z0-9_]*)|\[(\d+)\]", where):
            path.append(name or int(index))
        unknown = re.fullmatch(r"Object contains unknown field `(.*)`", words, re.DOTALL)
        if unknown:
            known = tuple(kind.__struct_fields__) if len(path) == len(at) else _fields(kind, path[len(at) :])
            return self.error(_unknown(unknown.group(1), known), *path, unknown.group(1))
        missing = re.fullmatch(r"Object missing required field `(.*)`", words)
        if missing:
            return self.error("it has to be there", *path, missing.group(1))
        if where.endswith("[...]"):
            # The value of a table whose keys people choose: msgspec does not say which one, and the first wrong one is meant.
            inner: Any = value
            for part in path[len(at) :]:
                inner = inner[part]
            wrong = next((key for key, found in inner.items() if not isinstance(found, str)), None)
            path += [] if wrong is None else [wrong]
        return self.error(_plain(words), *path)


def _fields(kind: type[Any], path: Sequence[str | int]) -> tuple[str, ...]:
    """The keys of a table inside a table."""
    inner: Any = {"timeouts": Timeouts, "retries": Retries, "redact": _RedactionTable}.get(str(path[0]))
    return tuple(inner.__struct_fields__) if inner is not None else ()


def _plain(words: str) -> str:
    words = words.partition(" - at `$")[0]
    for theirs, ours in (("Expected ", "it must be "), ("`object`", "a table"), ("`array`", "a list"), ("`str`", "text"),
                         ("`int`", "a whole number"), ("`float`", "a number"), ("`bool`", "true or false"), (" | null", ""),
                         ("`null`", "absent"), (" | ", " or ")):  # fmt: skip
        words = words.replace(theirs, ours)
    return words


def _shown(path: Sequence[str | int]) -> str:
    """`routes[0].match`; a name with other signs than letters, digits and _ is quoted, as in the file."""
    text = ""
    for part in path:
        if isinstance(part, int):
            text += f"[{part}]"
        else:
            bare = re.fullmatch(r"[A-Za-z0-9_-]+", part)
            text += f"{'.' if text else ''}{part if bare else one_line(msgspec.json.encode(part).decode())}"
    return text


def _unknown(key: str, known: Sequence[str]) -> str:
    if key in ("key", "api_key", "apikey", "token", "secret", "password"):
        return "unknown key; a secret never stands here, only the name of its environment variable, in `key_env`"
    near = get_close_matches(key, known, n=1)
    hint = f"did you mean {near[0]}?" if near else f"there are: {', '.join(known)}" if known else ""
    return f"unknown key{'; ' if hint else ''}{hint}"


def _no_such(kind: str, name: str, known: Sequence[str]) -> str:
    near = get_close_matches(name, known, n=1)
    hint = f"did you mean {near[0]}?" if near else f"there are: {', '.join(known)}"
    return f"no {kind} is called {one_line(name)}; {hint}"


def _target_problem(target: str) -> str | None:
    if target in TARGETS and target != "flat":
        return None
    return _no_such("target", target, [name for name in target_names() if name != "flat"])


def _url_problem(url: str, plain_http: bool) -> str | None:
    try:
        parts = urlsplit(url)
        _ = parts.port
    except ValueError:
        return "this is no URL"
    if parts.scheme not in ("http", "https") or not parts.hostname or any(sign.isspace() for sign in url):
        return "this is no URL of the form https://HOST/…"
    if parts.username is not None or parts.password is not None:
        return "a URL with a name or password in it would end in logs; keys stand in the environment"
    if parts.query or parts.fragment:
        return "a base URL has no ? and no #"
    if parts.scheme == "http" and not plain_http and not is_loopback(parts.hostname):
        return "plain http is for this machine only (keys would be readable on the way); use https"
    return None
