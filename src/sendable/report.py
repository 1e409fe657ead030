"""The ledger, which is the only way to lose anything, and the report that it closes into.

Every verb returns a `Receipt`, and nothing else can make one: a function that has to return `Block | Receipt` cannot forget a block.
What must not live here: what is lost when (rules/) and how a report looks (render/).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, Never, final

from sendable import paths
from sendable.codes import CODES, SHP012, Code, Level
from sendable.paths import At

Verb = Literal["drop", "strip", "degrade", "move", "rename", "synthesize", "note", "fault"]
Policy = Mapping[str, Level]
Fact = str | int | float | bool | None

REPAIR: dict[str, Level] = {code.id: code.repair for code in CODES.values()}
"""Repair whatever can be repaired; refuse only what leaves nothing to send. Copy and change it per code."""

STRICT: dict[str, Level] = {code.id: code.strict for code in CODES.values()}
"""Refuse what loses, invents, or is ambiguous. Copy and change it per code."""


def level_of(policy: Policy, code: Code) -> Level:
    """The level of a code under a policy: of the longest prefix that the policy names, else that of repair."""
    for end in range(len(code.id), 0, -1):
        found = policy.get(code.id[:end])
        if found is not None:
            return found
    return code.repair


@final
class Entry:
    """One thing that was dropped, stripped, weakened, moved, renamed, invented or noted, with its place in the caller's own input."""

    __slots__ = ("_at", "_code", "_history", "_param", "_related", "because", "facts", "level", "verb")

    def __init__(
        self,
        code: Code,
        verb: Verb,
        at: At,
        param: At,
        related: tuple[At, ...],
        because: Entry | None,
        facts: dict[str, Fact],
        level: Level,
        history: Any,
    ) -> None:
        self._code, self.verb, self._at, self._param, self._related = code, verb, at, param, related
        self.because, self.facts, self.level, self._history = because, facts, level, history

    @property
    def code(self) -> str:
        """The stable code, such as `PAR002`."""
        return self._code.id

    @property
    def name(self) -> str:
        """The code's name, such as `orphan-tool-result`."""
        return self._code.name

    @property
    def path(self) -> str:
        """The node: a block, call or message of the caller's input; `""` is the whole body."""
        return paths.text(self._at)

    @property
    def param(self) -> str:
        """The field at fault; equal to `path` if it is the whole node."""
        return paths.text(self._param)

    @property
    def related(self) -> tuple[str, ...]:
        """Other places that have to do with it, such as the first declaration of a duplicate id."""
        return tuple(paths.text(at) for at in self._related)

    @property
    def message(self) -> str:
        """What was found, in one line, without path and without payload."""
        return self._code.message

    @property
    def original(self) -> Any:
        """The caller's value at `param`, or at `path` if the field is absent. In memory only: never in a log unless asked for."""
        history = self._history.value()
        value = paths.value_at(history, self._param)
        if value is paths.ABSENT:
            value = paths.value_at(history, self._at)
        return None if value is paths.ABSENT else value

    @property
    def place(self) -> At:
        """The field at fault as a place, its steps not yet written out."""
        return self._param

    def order(self) -> tuple[int, ...]:
        """A sort key: where the field at fault stands in the caller's input as it is written. Parses input that came as bytes."""
        return paths.order(self._history.value(), self._param)

    def __repr__(self) -> str:
        return f"<{self.code} {self.verb} {self.param or self.path or 'the body'}>"


@final
class Receipt:
    """Proof that a loss was reported. Only the ledger makes one."""

    __slots__ = ("entry",)
    entry: Entry

    def __init__(self, only_the_ledger_makes_receipts: Never) -> None:
        raise TypeError("only the ledger makes receipts")


def _receipt(entry: Entry) -> Receipt:
    receipt = object.__new__(Receipt)
    receipt.entry = entry
    return receipt


@final
class Report:
    """Everything that one run changed, in the order in which it happened."""

    __slots__ = ("dropped", "entries", "rejected")

    def __init__(self, entries: Sequence[Entry], dropped: int, rejected: Entry | None) -> None:
        self.entries, self.dropped, self.rejected = tuple(entries), dropped, rejected

    @property
    def counts(self) -> dict[str, int]:
        """How many entries each code has."""
        counts: dict[str, int] = {}
        for entry in self.entries:
            counts[entry.code] = counts.get(entry.code, 0) + 1
        return counts

    @property
    def refused(self) -> bool:
        """Whether the policy rejects at least one entry: there is nothing to send."""
        return self.rejected is not None

    def to_json(self, values: bool = False) -> bytes:
        """The whole report as JSON; with the caller's own values only on request."""
        from sendable.render import json  # only a report that is printed needs its printer

        return json.render(self, values=values)

    def __str__(self) -> str:
        from sendable.render import text

        return text.render(self)

    def __len__(self) -> int:
        return len(self.entries)

    def __repr__(self) -> str:
        return f"<Report {len(self.entries)} entries, {self.dropped} dropped{', refused' if self.refused else ''}>"


@final
class Original:
    """The caller's input, kept for paths and for `entry.original`; bytes are parsed only if somebody asks."""

    __slots__ = ("_parse", "_value")

    def __init__(self, value: Any, parse: Any = None) -> None:
        self._value, self._parse = value, parse

    def value(self) -> Any:
        """The caller's input as Python values."""
        if self._parse is not None:
            self._value, self._parse = self._parse(self._value), None
        return self._value


def _message_of(at: At) -> At:
    """The place of the message in which a place lies."""
    while at and type(at[0]) is tuple:
        at = at[0]
    return at[:2]


def _position(at: At) -> int:
    """Where in the message list a place lies; -1 for what stands before all messages."""
    place = _message_of(at)
    return place[1] if len(place) > 1 and type(place[1]) is int else -1


@final
class Ledger:
    """The one record of a run. No rule knows the policy; it is asked once, when the ledger is closed."""

    __slots__ = ("_entries", "_first", "_history", "_keys", "_last", "_policy", "dropped", "faults", "lost")

    def __init__(self, policy: Policy, history: Original) -> None:
        self._policy, self._history = policy, history
        self._entries: list[Entry] = []
        self._last: dict[Any, Entry] = {}
        # Keys that had to be cleaned, by their place, and what the caller's own object calls them.
        self._keys: dict[At, str] = {}
        self._first: tuple[int, Entry] | None = None
        self.dropped = 0
        # How many things no rule can repair.
        self.faults = 0
        # Calls that are gone, by their id: what they cost (their results) names them as its cause.
        self.lost: dict[Any, Receipt] = {}

    def drop(
        self,
        code: Code,
        node: Any,
        field: str | tuple[Any, ...] | None = None,
        *,
        because: Receipt | None = None,
        related: Sequence[Any] = (),
        **facts: Fact,
    ) -> Receipt:
        """Say that a message, call, result or block is gone."""
        self.dropped += 1
        return self._enter(code, "drop", node, field, because, related, facts)

    def strip(
        self,
        code: Code,
        node: Any,
        field: str | tuple[Any, ...],
        *,
        because: Receipt | None = None,
        related: Sequence[Any] = (),
        **facts: Fact,
    ) -> Receipt:
        """Say that a field is gone."""
        return self._enter(code, "strip", node, field, because, related, facts)

    def degrade(
        self,
        code: Code,
        node: Any,
        field: str | tuple[Any, ...] | None = None,
        *,
        because: Receipt | None = None,
        related: Sequence[Any] = (),
        **facts: Fact,
    ) -> Receipt:
        """Say that a value is there in a weaker form."""
        return self._enter(code, "degrade", node, field, because, related, facts)

    def move(
        self,
        code: Code,
        node: Any,
        field: str | tuple[Any, ...] | None = None,
        *,
        because: Receipt | None = None,
        related: Sequence[Any] = (),
        **facts: Fact,
    ) -> Receipt:
        """Say that something stands in another place."""
        return self._enter(code, "move", node, field, because, related, facts)

    def rename(
        self,
        code: Code,
        node: Any,
        field: str | tuple[Any, ...],
        *,
        because: Receipt | None = None,
        related: Sequence[Any] = (),
        **facts: Fact,
    ) -> Receipt:
        """Say that an id, name or role is another."""
        return self._enter(code, "rename", node, field, because, related, facts)

    def synthesize(
        self,
        code: Code,
        node: Any,
        field: str | tuple[Any, ...] | None = None,
        *,
        because: Receipt | None = None,
        related: Sequence[Any] = (),
        **facts: Fact,
    ) -> Receipt:
        """Say that something was invented."""
        return self._enter(code, "synthesize", node, field, because, related, facts)

    def note(
        self,
        code: Code,
        node: Any,
        field: str | tuple[Any, ...] | None = None,
        *,
        because: Receipt | None = None,
        related: Sequence[Any] = (),
        **facts: Fact,
    ) -> Receipt:
        """Say something that changes nothing."""
        return self._enter(code, "note", node, field, because, related, facts)

    def fault(
        self,
        code: Code,
        node: Any,
        field: str | tuple[Any, ...] | None = None,
        *,
        because: Receipt | None = None,
        related: Sequence[Any] = (),
        **facts: Fact,
    ) -> Receipt:
        """Say what no rule can repair."""
        self.faults += 1
        return self._enter(code, "fault", node, field, because, related, facts)

    def stored_as(self, place: At, key: Any) -> None:
        """Say under which key the caller's own object holds what is read at this place, so that entries name that one."""
        steps = tuple(paths.steps(place))
        if steps in self._keys:
            # Another key that reads the same stood here before, and nothing that was in it is left.
            for inner in [known for known in self._keys if known[: len(steps)] == steps]:
                del self._keys[inner]
        if type(key) is str and key != steps[-1]:
            self._keys[steps] = key

    def _stored(self, at: At) -> At:
        """A place by the keys of the caller's own objects."""
        if not self._keys:
            return at
        steps = tuple(paths.steps(at))
        return tuple([self._keys.get(steps[: end + 1], step) for end, step in enumerate(steps)])

    def _enter(
        self,
        code: Code,
        verb: Verb,
        node: Any,
        field: str | tuple[Any, ...] | None,
        because: Receipt | None,
        related: Sequence[Any],
        facts: dict[str, Fact],
    ) -> Receipt:
        at: At = node if type(node) is tuple else node.at
        if field is None:
            param = at
        elif type(field) is tuple:
            param = (at, *field)
        else:
            raw = getattr(node, "raw", None)
            read = getattr(node, str(field), None) if field in ("id", "name") else None
            param = (at, *paths.spelled(raw, str(field), read)) if raw is not None else (at, field)
        places = tuple(place if type(place) is tuple else place.at for place in related)
        entry = Entry(
            code,
            verb,
            self._stored(at),
            self._stored(param),
            tuple(map(self._stored, places)),
            because.entry if because else None,
            facts,
            level_of(self._policy, code),
            self._history,
        )
        self._entries.append(entry)
        if verb == "drop" or verb == "strip":
            self._last[_message_of(at)] = self._last[at] = entry
        if verb != "note" and verb != "fault":
            effect = min((_position(place) for place in (at, *places)), default=None)
            if effect is not None and not code.unread and (self._first is None or effect < self._first[0]):
                self._first = (effect, entry)
        return _receipt(entry)

    def last_about(self, at: At) -> Receipt | None:
        """The last entry that dropped or stripped something of the message at this place, or exactly what stands there."""
        entry = self._last.get(at)
        return None if entry is None else _receipt(entry)

    def changed_before(self, at: At) -> Receipt | None:
        """The entry with the first effect on what is sent before the message at this place, or None."""
        first = self._first
        if first is None:
            return None
        return _receipt(first[1]) if first[0] < (at[1] if len(at) > 1 and type(at[1]) is int else 0) else None

    def __len__(self) -> int:
        return len(self._entries)

    def close(self) -> Report:
        """The report. Its `rejected` is the first rejected entry in input order, causes before consequences."""
        rejected = [entry for entry in self._entries if entry.level == "reject"]
        first = None
        if rejected:
            history = self._history.value()
            # That nothing is left to send is a consequence of all the others.
            causes = [entry for entry in rejected if entry.code != SHP012.id] or rejected
            first = min(causes, key=lambda entry: paths.order(history, entry._param))  # pyright: ignore[reportPrivateUsage]
            while first.because is not None and first.because.level == "reject":
                first = first.because
        return Report([entry for entry in self._entries if entry.level != "allow"], self.dropped, first)
