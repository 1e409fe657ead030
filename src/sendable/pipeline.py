"""The flow, and nothing else: detect → read → rules → write → seal."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, final

import msgspec

from sendable import payload
from sendable.codes import SHP013
from sendable.conversation import Conversation
from sendable.detect import DEFAULT, detect
from sendable.errors import HistoryError
from sendable.options import read_options
from sendable.reading import LIST_KEYS, read
from sendable.report import REPAIR, STRICT, Ledger, Original, Policy, Report
from sendable.soundness import loads
from sendable.targets import DIALECTS, TARGETS, Target, target_of


@final
class Result(msgspec.Struct, frozen=True):
    """What to send, and what it cost. `body` is a request body in the target's shape (for `flat`, the list itself)."""

    body: Any
    report: Report
    key: str = "messages"

    @property
    def messages(self) -> Any:
        """The message list: `messages`, `input` or `contents`."""
        return self.body if type(self.body) is list else self.body[self.key]

    @property
    def dropped(self) -> int:
        """How many messages, calls, results and blocks are gone."""
        return self.report.dropped


@final
class JsonResult(msgspec.Struct, frozen=True):
    """What to send, as JSON bytes, and what it cost."""

    data: bytes
    report: Report

    @property
    def dropped(self) -> int:
        """How many messages, calls, results and blocks are gone."""
        return self.report.dropped


def normalize(
    history: Any,
    to: str | None = None,
    *,
    source: str | None = None,
    model: str | None = None,
    policy: str | Policy = "repair",
    options: Mapping[str, Any] | None = None,
    share: bool = False,
) -> Result:
    """Make a stored history acceptable to a target, and say what that cost.

    `history` is a list of messages or a whole request body, in any dialect or mixture; it is never changed, and the result shares no
    mutable object with it unless `share` is true. `to` is a target name (`sendable.target_names()`); by default the history's own
    dialect. `source` overrides the dialect in which it is read, `model` picks the profile and replaces the body's model, `policy` is
    "repair", "strict", or a table of levels per code; `options` are facts about target and call.

    Raises `HistoryError` if the policy rejects something; in repair that is only what is no history at all or leaves nothing to send.
    `TypeError` for an unknown target, policy or option.
    """
    ledger = Ledger(_policy(policy), Original(history))
    conversation, target = _normalized(history, to, source, model, options, ledger)
    report = _seal(ledger, target, history)
    body = _written(conversation, target)
    return Result(body if share else payload.detached(body), report, target.dialect.key)


def check(
    history: Any,
    to: str,
    *,
    source: str | None = None,
    model: str | None = None,
    policy: str | Policy = "repair",
    options: Mapping[str, Any] | None = None,
) -> Report:
    """What `normalize` would report, without the result: the same run. Never raises for content; `report.refused` says so."""
    ledger = Ledger(_policy(policy), Original(history))
    _normalized(history, to, source, model, options, ledger)
    return ledger.close()


def normalize_json(
    data: bytes,
    to: str | None = None,
    *,
    source: str | None = None,
    model: str | None = None,
    policy: str | Policy = "repair",
    options: Mapping[str, Any] | None = None,
) -> JsonResult:
    """`normalize` from JSON bytes to JSON bytes. Payload keeps its spelling: numbers, key order, escapes.

    A list stays a list if the target needs nothing beside it. What is no JSON is refused with its position.
    """
    ledger, history, framed = _parsed(data, policy)
    conversation, target = _normalized(history, to, source, model, options, ledger, framed)
    report = _seal(ledger, target, history)
    body = _written(conversation, target)
    if body is history:
        # Nothing was touched: the bytes are the answer.
        return JsonResult(data, report)
    if conversation.listed and type(body) is dict and len(body) == 1:
        body = body[target.dialect.key]
    return JsonResult(payload.encoded(body), report)


def check_json(
    data: bytes,
    to: str,
    *,
    source: str | None = None,
    model: str | None = None,
    policy: str | Policy = "repair",
    options: Mapping[str, Any] | None = None,
) -> Report:
    """`check` of JSON bytes. What is no JSON is a `HistoryError`."""
    ledger, history, framed = _parsed(data, policy)
    _normalized(history, to, source, model, options, ledger, framed)
    return ledger.close()


def _normalized(
    history: Any,
    to: str | None,
    source: str | None,
    model: str | None,
    options: Mapping[str, Any] | None,
    ledger: Ledger,
    framed: bool = False,
) -> tuple[Conversation, Target]:
    """The whole flow up to writing: one conversation in the target's terms, and the target."""
    said = read_options(options)
    target = _target(history, to, model, ledger)
    home = DIALECTS[source or detect(history, DIALECTS) or target.dialect.name]
    conversation = read(history, home, tuple(DIALECTS.values()), ledger, framed)
    for rule in target.rules(said, model):
        conversation = rule(conversation, ledger)
    return conversation, target


def _target(history: Any, to: str | None, model: str | None, ledger: Ledger) -> Target:
    """The target by name, or the one that the history itself is for; a model narrows a bare dialect to its profile."""
    if to is not None and to not in TARGETS:
        raise TypeError(f"unknown target {to!r}; sendable.target_names() lists them")
    name = to if to is not None else detect(history, DIALECTS, ledger) or DEFAULT
    target = TARGETS[name if name in TARGETS else DEFAULT]
    if ":" in target.name:
        return target
    if model is not None:
        return target_of(model, target.dialect.name) or target
    body = payload.fields(history)
    own = payload.string(body.get("model")) if body is not None else None
    # A body that names a model is judged by what that model accepts.
    return (target_of(own, target.dialect.name) if own is not None else None) or target


def _written(conversation: Conversation, target: Target) -> Any:
    """The conversation in the target's own form. Total: it has no ledger and cannot lose anything."""
    dialect = target.dialect
    messages = conversation.messages
    leading = 0
    if target.hoists:
        while leading < len(messages) and messages[leading].role in ("system", "developer"):
            leading += 1
    listed: list[Any] = list(dialect.write(messages[leading:]))
    if dialect.name == "flat":
        return listed
    body: dict[str, Any] = dict(dialect.write_settings(conversation.settings))
    if leading and dialect.write_hoisted is not None and dialect.read_hoisted is not None:
        body[dialect.read_hoisted[0]] = dialect.write_hoisted(messages[:leading])
    body[dialect.key] = listed
    return body


def _seal(ledger: Ledger, target: Target, history: Any) -> Report:
    report = ledger.close()
    if report.refused:
        fields = payload.fields(history)
        key = next((key for key in LIST_KEYS if fields is not None and key in fields), "messages")
        raise HistoryError(report, key)
    return report


def _policy(policy: str | Policy) -> Policy:
    if isinstance(policy, str):
        if policy not in ("repair", "strict"):
            raise TypeError(f"unknown policy {policy!r}: repair, strict, or a table of levels per code")
        return REPAIR if policy == "repair" else STRICT
    return policy


def _parsed(data: bytes, policy: str | Policy) -> tuple[Ledger, Any, bool]:
    """The bytes as a history whose payload is not decoded (true) or, where that cannot be, as ordinary values (false).

    Loses: SHP013 (a fault).
    """
    ledger = Ledger(_policy(policy), Original(data, loads))
    try:
        return ledger, payload.framed(data), True
    except payload.NotFramed:
        pass  # keeps: the slow path below reads everything that the fast one refuses
    try:
        return ledger, loads(data), False
    except (ValueError, RecursionError) as error:
        position = error.pos if isinstance(error, json.JSONDecodeError) else None
        ledger = Ledger(_policy(policy), Original(None))
        ledger.fault(SHP013, (), None, reason=_why(error), position=position)
        raise HistoryError(ledger.close()) from None


def _why(error: Exception) -> str:
    """What is wrong with bytes that are no JSON, without a word of them."""
    if isinstance(error, json.JSONDecodeError):
        return f"{error.msg.rstrip(':').lower()}, line {error.lineno} column {error.colno}"
    if isinstance(error, UnicodeDecodeError):
        return f"not UTF-8 at byte {error.start}"
    return "nested too deeply" if isinstance(error, RecursionError) else "not JSON"
