"""The flow, and nothing else: detect → read → rules → write → seal."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from itertools import takewhile
from typing import Any, final

import msgspec

from sendable import everyday, payload
from sendable.carriers import Trust
from sendable.codes import SHP013
from sendable.conversation import EXTRA, INSTRUCTING, REASONING, Conversation, Message
from sendable.detect import DEFAULT, by_body, detect
from sendable.errors import HistoryError
from sendable.fingerprints import NOTHING
from sendable.options import Options, read_options
from sendable.paths import At
from sendable.reading import LIST_KEYS, context_for, read, read_entries
from sendable.report import REPAIR, STRICT, Ledger, Original, Policy, Report
from sendable.rules import lacks
from sendable.rules.carriers import open_carriers
from sendable.rules.continuation import Continue, continued
from sendable.soundness import loads
from sendable.survey import surveyed
from sendable.targets import DIALECTS, TARGETS, Target, target_of, wider_target_of


@final
class Result(msgspec.Struct, frozen=True):
    """What to send, and what it cost. `body` is a request body in the target's shape (for `flat`, the list itself).

    `before` is the fingerprint of the earlier conversation for which a handle in `body` stands, where `context` gave it.
    """

    body: Any
    report: Report
    key: str = "messages"
    before: str = NOTHING

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
    context: Continue | None = None,
) -> Result:
    """Make a stored history acceptable to a target, and say what that cost.

    `history` is a list of messages or a whole request body, in any dialect or mixture; it is never changed, and the result shares no
    mutable object with it unless `share` is true. `to` is a target name (`sendable.target_names()`); by default the history's own
    dialect. `source` overrides the dialect in which it is read, `model` picks the profile and replaces the body's model, `policy` is
    "repair", "strict", or a table of levels per code; `options` are facts about target and call. `context` is a handle of what the
    provider holds: if it stands for a beginning of this very history, it is sent with the rest, else the whole history, with a note.

    Raises `HistoryError` if the policy rejects something; in repair that is only what is no history at all or leaves nothing to send.
    `TypeError` for an unknown target, source, policy or option.
    """
    call = Call(to, source, model, _policy(policy), read_options(options), context)
    run = _run(history, call, Original(history))
    report = _seal(run)
    body = _written(run)
    return Result(body if share else payload.detached(body), report, run.target.dialect.key, run.before)


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
    return _run(
        history, Call(to, source, model, _policy(policy), read_options(options)), Original(history)
    ).ledger.close()


def normalize_json(
    data: bytes,
    to: str | None = None,
    *,
    source: str | None = None,
    model: str | None = None,
    policy: str | Policy = "repair",
    options: Mapping[str, Any] | None = None,
    context: Continue | None = None,
    trust: Trust | None = None,
) -> JsonResult:
    """`normalize` from JSON bytes to JSON bytes. Payload keeps its spelling: numbers, key order, escapes.

    A list stays a list if the target needs nothing beside it. What is no JSON is refused with its position. `trust` is asked of every
    carrier (`sendable.carriers`) whether it is one's own; without it, all are.
    """
    run = _run_json(data, Call(to, source, model, _policy(policy), read_options(options), context, trust))
    report = _seal(run)
    body = _written(run)
    if run.conversation.listed and type(body) is dict and len(body) == 1:
        body = body[run.target.dialect.key]
    # Where nothing was touched, the bytes themselves are the answer.
    if run.framed and body is run.history:
        return JsonResult(data, report)
    if run.framed and type(run.history) is dict and body is run.history.get("messages"):
        return JsonResult(payload.bytes_of_messages(data), report)
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
    return _run_json(data, Call(to, source, model, _policy(policy), read_options(options))).ledger.close()


@final
class Call(msgspec.Struct, frozen=True):
    """What the caller asks for, beside the history."""

    to: str | None
    source: str | None
    model: str | None
    policy: Policy
    options: Options
    context: Continue | None = None
    trust: Trust | None = None


@final
class Run(msgspec.Struct, frozen=True):
    """One run up to writing. `framed`: the history is a tree whose payload is bytes. `untouched`: no rule changed anything."""

    history: Any
    framed: bool
    target: Target
    conversation: Conversation
    ledger: Ledger
    untouched: bool
    before: str = NOTHING


def _run(history: Any, call: Call, original: Original, framed: bool = False) -> Run:
    """The whole flow: detect, read, and the target's rules in their order."""
    ledger = Ledger(call.policy, original)
    target = _target(history, call, ledger)
    if call.source is not None and call.source not in DIALECTS:
        raise TypeError(f"unknown source {call.source!r}; it is one of {', '.join(DIALECTS)}")
    home = DIALECTS.get(call.source or by_body(history, DIALECTS) or "", target.dialect)
    stored = surveyed(read(history, home, tuple(DIALECTS.values()), ledger, framed))
    read_in = conversation = surveyed(_opened(stored, target, call.trust, ledger))
    before = NOTHING
    if call.context is not None:
        conversation, before = continued(conversation, call.context, target.dialect.name, ledger)
        conversation = surveyed(conversation)
    for rule in target.rules(call.options, call.model):
        conversation = rule(conversation, ledger)
        if conversation.holds is None:
            conversation = surveyed(conversation)
    untouched = not ledger and read_in is stored and _is_same(conversation, read_in)
    return Run(history, framed, target, conversation, ledger, untouched, before)


def _opened(conversation: Conversation, target: Target, trust: Trust | None, ledger: Ledger) -> Conversation:
    """The conversation without carriers: what rode in them stands in its place."""
    if lacks(conversation, EXTRA | REASONING):
        return conversation
    dialects = tuple(DIALECTS.values())

    def read_native(dialect: str, entries: Sequence[tuple[Any, At]]) -> Sequence[Message]:
        return read_entries(entries, context_for(DIALECTS.get(dialect, target.dialect), dialects, ledger))

    return open_carriers(conversation, read_native, target.dialect.name, trust, ledger)


def _is_same(conversation: Conversation, read_in: Conversation) -> bool:
    """Whether every message is still the one that was read: nothing but what the reader knew of it may be new."""
    if conversation is read_in:
        return True
    return (
        len(conversation.messages) == len(read_in.messages)
        and conversation.settings is read_in.settings
        and all(
            now.raw is was.raw and now.intact for now, was in zip(conversation.messages, read_in.messages, strict=True)
        )
    )


def _run_json(data: bytes, call: Call) -> Run:
    """The flow from bytes: with payload as bytes or, where something in them has to be put right, as ordinary values.

    Loses: SHP013 (a fault).
    """
    original = Original(data, loads)
    try:
        payload.require_clean(data)
        history = everyday.decoded(data)
        return _run(payload.framed(data) if history is None else history, call, original, framed=True)
    except payload.NotFramed:
        pass  # keeps: the slow path below reads everything that the fast one refuses
    try:
        history = loads(data)
    except (ValueError, RecursionError) as error:
        ledger = Ledger(call.policy, Original(None))
        position = error.pos if isinstance(error, json.JSONDecodeError) else None
        ledger.fault(SHP013, (), None, reason=_why(error), position=position)
        raise HistoryError(ledger.close()) from None
    return _run(history, call, original)


def _target(history: Any, call: Call, ledger: Ledger) -> Target:
    """The target by name, or the one that the history itself is for.

    A model that the caller asks for picks the profile of a bare dialect; a profile that he names stands whatever the model.
    """
    to, model = call.to, call.model
    if to is not None and to not in TARGETS:
        raise TypeError(f"unknown target {to!r}; sendable.target_names() lists them")
    name = to if to is not None else detect(history, DIALECTS, ledger) or DEFAULT
    target = TARGETS[name if name in TARGETS else DEFAULT]
    if ":" in target.name:
        return target
    if model is not None:
        return target_of(model, target.dialect.name) or target
    body = payload.fields(history)
    own = payload.string(body.get("model", body.get("modelId"))) if body is not None else None
    # What a body says of its own model can only widen: its provider has accepted, with that model, what it holds.
    return (wider_target_of(own, target.dialect.name) if own is not None else None) or target


def _written(run: Run) -> Any:
    """The conversation in the target's own form. Total: it has no ledger and cannot lose anything."""
    dialect, messages = run.target.dialect, run.conversation.messages
    if run.untouched and _is_native(run):
        if dialect.name == "flat":
            # The flat form is a bare list, also where it stood in a body of nothing else.
            return run.history if run.conversation.listed else run.history[run.conversation.key]
        return {dialect.key: run.history} if run.conversation.listed else run.history
    leading = 0
    if dialect.write_hoisted is not None:
        while leading < len(messages) and messages[leading].role in INSTRUCTING:
            # A target that takes system messages in its list has in its own field only what stood in such a field.
            if not run.target.hoists and len(messages[leading].at) > 1:
                break
            leading += 1
        if leading == len(messages) and not run.target.hoists and not run.conversation.continued:
            # Instructions alone are nothing to answer; as an item they are.
            leading = 0
    listed: list[Any] = list(dialect.write(messages[leading:]))
    if dialect.name == "flat":
        return listed
    body: dict[str, Any] = dict(dialect.write_settings(run.conversation.settings))
    if leading and dialect.write_hoisted is not None and dialect.read_hoisted is not None:
        first = messages[0].at[0]
        key = first if first in dialect.hoisted_aliases and messages[0].intact else dialect.read_hoisted[0]
        body[key] = dialect.write_hoisted(messages[:leading])
    single = None if dialect.write_single is None else dialect.write_single(messages[leading:])
    body[dialect.key] = listed if single is None else single
    return body


def _is_native(run: Run) -> bool:
    """Whether the caller's own list or body, as it is, is what the target takes."""
    name, conversation = run.target.dialect.name, run.conversation
    history = run.history if conversation.listed else run.history.get(conversation.key)
    if type(history) is not list or (not conversation.listed and conversation.key != run.target.dialect.key):
        return False
    messages = conversation.messages
    # System messages of the list itself still have to go to the target's own field.
    leading = takewhile(lambda message: message.role in INSTRUCTING, messages)
    if run.target.hoists and any(len(message.at) > 1 for message in leading):
        return False
    return all([message.intact and message.home == name for message in messages]) and all(
        [setting.intact and setting.home == name for setting in conversation.settings]
    )


def _seal(run: Run) -> Report:
    report = run.ledger.close()
    if report.refused:
        fields = payload.fields(run.history)
        raise HistoryError(report, next((key for key in LIST_KEYS if fields is not None and key in fields), "messages"))
    return report


def _policy(policy: str | Policy) -> Policy:
    if isinstance(policy, str):
        if policy not in ("repair", "strict"):
            raise TypeError(f"unknown policy {policy!r}: repair, strict, or a table of levels per code")
        return REPAIR if policy == "repair" else STRICT
    return policy


def _why(error: Exception) -> str:
    """What is wrong with bytes that are no JSON, without a word of them."""
    if isinstance(error, json.JSONDecodeError):
        return f"{error.msg.rstrip(':').lower()}, line {error.lineno} column {error.colno}"
    if isinstance(error, UnicodeDecodeError):
        return f"not UTF-8 at byte {error.start}"
    return "nested too deeply" if isinstance(error, RecursionError) else "not JSON"
