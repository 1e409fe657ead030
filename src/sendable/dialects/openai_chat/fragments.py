"""The fragments of calls in a stream of Chat, put together. What must not live here: everything else of a stream (stream.py).

«tool_calls[].index» says which call a fragment belongs to, and its texts go on (openai 3.57.0). Many servers do otherwise: every call has index 0,
the index is missing, each fragment has an id of its own or repeats the name, the arguments come as an object, as `{}` first, once more in full, or
those of two calls in one text. What did not fit as it came is marked `repaired`; a call is never made of the fragments of two.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any

from sendable import payload
from sendable.conversation import Fields, Opaque, Signature, ToolCall
from sendable.dialects.openai_chat.read import HOME, SIGNED
from sendable.paths import At
from sendable.stream import ArgumentsDelta, BlockStart, BlockStop, Event, SignatureDelta, UnknownEvent

_BETWEEN = re.compile(r"\}\s*\{")
"""Where the arguments of one call may end and those of another one begin."""

_FORMS = frozenset({"index", "id", "type", "function", "custom", "name", "arguments"})
_INNER = frozenset({"name", "arguments", "input"})


class Calls:
    """The calls of one message, as far as they have come.

    A call begins in the neutral stream when its name is known to be whole: with its first arguments, with whatever begins next, or at the
    end. Calls end with the answer, since a fragment of any of them may still come.
    """

    __slots__ = ("_at", "_calls", "_legacy", "_others")

    def __init__(self, at: At) -> None:
        self._at = at
        self._calls: list[_Call] = []
        self._legacy: _Call | None = None
        # What stands in the list and is no call.
        self._others: list[Any] = []

    def add(self, fragments: Sequence[Any], index: int, out: list[Event], legacy: bool = False) -> int:
        """One more list of fragments, or one `function_call` (`legacy`). `index` is the next block's; gives back the next one's then."""
        for fragment in fragments:
            if type(fragment) is not dict:
                self._others.append(fragment)
                out.append(UnknownEvent(fragment))
            elif legacy:
                if self._legacy is None:
                    self._legacy = _Call(None, None, "function_call")
                    self._calls.append(self._legacy)
                index = self._append(self._legacy, fragment, index, out)
            else:
                index = self._append(self._whose(fragment), fragment, index, out)
        return index

    def begun(self, index: int, out: list[Event]) -> int:
        """Calls that wait, but have a name, begin before what begins now."""
        for call in self._calls:
            if call.index is None and call.name and call.echoed is None:
                index = _begin(call, index, out)
        return index

    def end(self, index: int, out: list[Event], whole: bool) -> int:
        """The ends of all calls, in their order; `whole`: the answer came to its end."""
        for call in list(self._calls):
            if call.echoed is not None and _same(call.text, call.echoed.text):
                # The arguments were said once more in full.
                call.echoed.repaired = True
                self._calls.remove(call)
        for call in self._calls:
            if call.index is None:
                index = _begin(call, index, out)
        for place, call in enumerate(self._calls):
            if call.held:
                out.append(ArgumentsDelta(call.index or 0, call.held))
                call.pieces.append(call.held)
                call.held = ""
            block = self._block(call, place)
            if block.signature is not None:
                out.append(SignatureDelta(call.index or 0, block.signature))
            out.append(BlockStop(call.index or 0, block, whole, call.repaired))
        return index

    def _block(self, call: _Call, place: int) -> ToolCall:
        wire = call.wire()
        if call.kind == "function_call":
            at: At = (self._at, "function_call")
            return ToolCall(None, call.name, call.text, at, wire, HOME, False, call.rest or None, by_name=True)
        place = [other for other in self._calls if other is not self._legacy].index(call)
        extra = dict(call.rest)
        if call.inner:
            extra.update({f"{call.kind}.{key}": value for key, value in call.inner.items()})
        signature = _signature(call.rest.get(SIGNED))
        if signature is not None:
            del extra[SIGNED]
        at = ((self._at, "tool_calls"), place)
        return ToolCall(
            call.id, call.name, call.text, at, wire, HOME, call.id is not None, extra or None, call.kind, signature=signature
        )

    def put_into(self, message: dict[str, Any]) -> dict[str, Any]:
        """The message with its calls as they would have come in one piece."""
        listed = [call.wire() for call in self._calls if call is not self._legacy and not call.is_echo]  # keeps: its own field
        if listed or self._others:
            message = {**message, "tool_calls": [*listed, *self._others]}
        if self._legacy is not None:
            message = {**message, "function_call": self._legacy.wire()}
        return message

    def _whose(self, fragment: Fields) -> _Call:
        """The call that a fragment belongs to; a new one if it begins one."""
        kind = "custom" if "custom" in fragment and "function" not in fragment else "function"
        inner = fragment.get(kind)
        if type(inner) is not dict:
            inner = fragment
        place, name, given = _place(fragment.get("index")), inner.get("name"), fragment.get("id")
        given = given if type(given) is str and given else None
        found = self._found(place, given)
        if found is not None and not _begins_another(found, given, name, place):
            if given is not None and found.id is None:
                found.id = given
            elif given is not None and given != found.id:
                found.repaired = True
            if place is not None and found.place is not None and place != found.place:
                found.repaired = True
            return found
        last = self._last()
        if found is None and given is None and not name and last is not None and not last.ended():
            # A text without anything that says whose it is goes on in the call that is not whole.
            last.repaired = True
            return last
        call = _Call(place, given, kind)
        # Two calls at one index are told apart by their names and ids only.
        call.repaired = found is not None and place is not None and found.place == place
        self._calls.append(call)
        return call

    def _found(self, place: int | None, given: str | None) -> _Call | None:
        """The last call with this id; else the last one at this index; else, where neither is said, the last one."""
        calls = [call for call in self._calls if call is not self._legacy]  # keeps: a field of its own
        if given is not None:
            for call in reversed(calls):
                if call.id == given and (place is None or call.place is None or call.place == place):
                    return call
        if place is not None:
            return next((call for call in reversed(calls) if call.place == place), None)
        return calls[-1] if calls else None

    def _last(self) -> _Call | None:
        return next((call for call in reversed(self._calls) if call is not self._legacy), None)

    def _append(self, call: _Call, fragment: Fields, index: int, out: list[Event]) -> int:
        """What a fragment adds to its call."""
        inner = fragment.get(call.kind)
        if type(inner) is not dict:
            inner = fragment
        name = inner.get("name")
        if type(name) is str and name:
            call.called(name)
        if len(fragment) > 2:
            for key, value in fragment.items():
                if key not in _FORMS and value is not None:
                    call.rest[key] = value
        if inner is not fragment:
            for key, value in inner.items():
                if key not in _INNER and value is not None:
                    call.inner[key] = value
        more = inner.get("input" if call.kind == "custom" else "arguments")
        if more is None or more == "":
            return index
        if type(more) is not str:
            more = json.dumps(payload.plain(more), ensure_ascii=False, separators=(",", ":"))
            call.repaired = True
        return self._say(call, more, index, out)

    def _say(self, call: _Call, more: str, index: int, out: list[Event]) -> int:
        """More arguments of a call, or, where they are whole, of another one that nothing else told apart from it."""
        if call.kind == "custom":
            return self._pass(call, more, index, out)
        if call.held and more.strip():
            # `{}` stood for arguments that were to come.
            call.repaired = True
            call.held = ""
        if "{" in more:
            if call.ended() and more.lstrip()[:1] == "{":
                call.repaired = True
                other = _Call(call.place, None, call.kind)
                other.name, other.echoed, other.repaired = call.name, call, True
                self._calls.append(other)
                return self._say(other, more, index, out)
            for between in _BETWEEN.finditer(more):
                cut = between.start() + 1
                if _is_whole("".join(call.pieces) + more[:cut]):
                    index = self._say(call, more[:cut], index, out)
                    return self._say(call, more[cut:], index, out)
        if not call.pieces and more.strip() == "{}":
            call.held = more
            return index
        return self._pass(call, more, index, out)

    def _pass(self, call: _Call, more: str, index: int, out: list[Event]) -> int:
        if call.index is None and call.name and call.echoed is None:
            index = self.begun(index, out)
        call.pieces.append(more)
        if call.index is not None and len(call.pieces) > call.passed:
            call.passed = len(call.pieces)
            out.append(ArgumentsDelta(call.index, more))
        return index


class _Call:
    """One call, as far as it has come. `place`: its index on the wire; `index`: its block's, once it has begun; `held`: a `{}` that may stand for
    arguments to come; `echoed`: the call whose arguments these may be once more; `passed`: how many pieces have been passed on."""

    __slots__ = (
        "echoed", "held", "id", "index", "inner", "kind", "name", "passed", "pieces", "place", "repaired", "rest",
    )  # fmt: skip

    def __init__(self, place: int | None, given: str | None, kind: str) -> None:
        self.place, self.id, self.kind = place, given, kind
        self.name: str | None = None
        self.index: int | None = None
        self.pieces: list[str] = []
        self.passed = 0
        self.held = ""
        self.repaired = False
        self.echoed: _Call | None = None
        # The fields of the call and of its inner object that the hub does not model.
        self.rest: dict[str, Any] = {}
        self.inner: dict[str, Any] = {}

    @property
    def text(self) -> str:
        """The arguments so far."""
        return "".join(self.pieces) + self.held

    @property
    def is_echo(self) -> bool:
        """Whether the arguments are those of the call before it once more."""
        return self.echoed is not None and _same(self.text, self.echoed.text)

    def ended(self) -> bool:
        """Whether the arguments are a whole object."""
        return bool(self.pieces) and self.pieces[-1].rstrip()[-1:] == "}" and _is_whole("".join(self.pieces))

    def called(self, name: str) -> None:
        """One more fragment of the name: the next part of it, or all of it once more."""
        if not self.name:
            self.name = name
        elif name == self.name:
            self.repaired = True
        elif name.startswith(self.name) and self.index is None:
            self.name, self.repaired = name, True
        elif self.index is None:
            self.name += name
        else:
            self.repaired = True

    def wire(self) -> dict[str, Any]:
        """The call as it would have come in one piece."""
        if self.kind == "function_call":
            return {"name": self.name or "", "arguments": self.text, **self.rest}
        key = "input" if self.kind == "custom" else "arguments"
        whole: dict[str, Any] = {} if self.id is None else {"id": self.id}
        whole["type"] = self.kind
        whole[self.kind] = {"name": self.name or "", key: self.text, **self.inner}
        return {**whole, **self.rest}


def _begin(call: _Call, index: int, out: list[Event]) -> int:
    call.index = index
    extra = {"field": "function_call"} if call.kind == "function_call" else None
    kind = "custom" if call.kind == "custom" else "function"
    out.append(BlockStart(index, "tool_call", call.id, call.name, kind, extra=extra))
    if call.pieces:
        out.append(ArgumentsDelta(index, "".join(call.pieces)))
        call.passed = len(call.pieces)
    return index + 1


def _begins_another(call: _Call, given: str | None, name: Any, place: int | None) -> bool:
    """Whether a fragment that seems to belong to a call begins another one. One without a name never does."""
    if type(name) is not str or not name:
        return False
    if given is not None and call.id is not None:
        if given == call.id:
            return False
        # Another id: another call, unless the server makes one up for every fragment.
        return not (name == call.name and bool(call.pieces) and not call.ended())
    if place is None and given is not None:
        return call.id is None and call.name is not None
    if call.held or (not call.pieces and place is not None):
        return call.name is not None and bool(call.held) and name != call.name
    return call.ended() or (call.name is not None and name != call.name)


def _place(value: Any) -> int | None:
    if type(value) is str and value.isdecimal():
        return int(value)
    return value if type(value) is int else None


def _is_whole(text: str) -> bool:
    """Whether a text is a whole JSON value."""
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


def _same(one: str, other: str) -> bool:
    """Whether two texts say the same arguments."""
    if one == other:
        return True
    try:
        same: bool = json.loads(one) == json.loads(other)
    except (ValueError, RecursionError):
        return False
    return same


def _signature(value: Any) -> Signature | None:
    """`extra_content: {google: {thought_signature}}`, as for a whole call (read.py)."""
    signed = value.get("google") if type(value) is dict and len(value) == 1 else None
    found = signed.get("thought_signature") if type(signed) is dict and len(signed) == 1 else None
    return Signature("gemini", "signature", found) if type(found) is str and found.strip() else None
