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

from sendable.conversation import Fields, Signature, ToolCall
from sendable.dialects.openai_chat.answer import is_json
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
    end. It ends when its arguments are whole and the next call begins, so that clients that take one block after the other need not wait; else
    with the answer, since a fragment of it may still come.
    """

    __slots__ = ("_at", "_calls", "_legacy", "_others")

    def __init__(self, at: At) -> None:
        self._at = at
        self._calls: list[_Call] = []
        self._legacy: _Call | None = None
        # What stands in the list and is no call.
        self._others: list[Any] = []

    def add(self, fragments: Sequence[Any], index: int, out: list[Event]) -> int:
        """One more list of fragments. `index` is the next block's; gives back the next one's then."""
        spoken_of: list[_Call] = []
        for fragment in fragments:
            if type(fragment) is not dict:
                self._others.append(fragment)
                out.append(UnknownEvent(fragment))
            else:
                call = self._whose(fragment, spoken_of)
                spoken_of.append(call)
                index = self._append(call, fragment, index, out)
        return index

    def add_legacy(self, fragment: Fields, index: int, out: list[Event]) -> int:
        """One more fragment of `function_call`, of which a message has but one."""
        if self._legacy is None:
            self._legacy = _Call(None, None, "function_call")
            self._calls.append(self._legacy)
        return self._append(self._legacy, fragment, index, out)

    def begun(self, index: int, out: list[Event]) -> int:
        """Calls that wait, but have a name, begin before what begins now."""
        for call in self._calls:
            if call.index is None and call.name and call.echoed is None:
                index = self._begin(call, index, out)
        return index

    def end(self, index: int, out: list[Event], whole: bool) -> int:
        """The ends of all calls that are open, in their order; `whole`: the answer came to its end."""
        for call in list(self._calls):
            if call.echoed is not None:
                if call.says_again(call.echoed):
                    # The arguments were said once more in full.
                    call.echoed.repaired = True
                    self._calls.remove(call)
                call.echoed = None
        for call in self._calls:
            if call.index is None:
                index = self._begin(call, index, out)
        for call in self._calls:
            if not call.stopped:
                self._stop(call, out, whole)
        return index

    def put_into(self, message: dict[str, Any]) -> dict[str, Any]:
        """The message with its calls as they would have come in one piece."""
        listed = [
            call.wire() for call in self._listed() if call.echoed is None or not call.says_again(call.echoed)
        ]  # keeps: the same arguments once more
        if listed or self._others:
            message = {**message, "tool_calls": [*listed, *self._others]}
        if self._legacy is not None:
            message = {**message, "function_call": self._legacy.wire()}
        return message

    def _listed(self) -> list[_Call]:
        return [call for call in self._calls if call is not self._legacy]  # keeps: a field of its own

    def _begin(self, call: _Call, index: int, out: list[Event]) -> int:
        for earlier in self._calls:
            if earlier.index is None or not earlier.ended():
                break
            if not earlier.stopped:
                self._stop(earlier, out, True)
        call.index = index
        extra = {"field": "function_call"} if call.kind == "function_call" else None
        kind = "custom" if call.kind == "custom" else "function"
        out.append(BlockStart(index, "tool_call", call.id, call.name, kind, extra=extra))
        if call.pieces:
            out.append(ArgumentsDelta(index, "".join(call.pieces)))
        return index + 1

    def _stop(self, call: _Call, out: list[Event], whole: bool) -> None:
        call.stopped = True
        index = call.index or 0
        if call.held:
            out.append(ArgumentsDelta(index, call.held))
            call.pieces.append(call.held)
            call.held = ""
        block = self._block(call)
        if block.signature is not None:
            out.append(SignatureDelta(index, block.signature))
        out.append(BlockStop(index, block, whole, call.repaired))

    def _block(self, call: _Call) -> ToolCall:
        wire, text = call.wire(), "".join(call.pieces)
        if call.kind == "function_call":
            at: At = (self._at, "function_call")
            return ToolCall(None, call.name, text, at, wire, HOME, False, call.rest or None, by_name=True)
        at = ((self._at, "tool_calls"), self._listed().index(call))
        extra = {**call.rest, **{f"{call.kind}.{key}": value for key, value in call.inner.items()}}
        signature = _signature(extra.get(SIGNED))
        if signature is not None:
            del extra[SIGNED]
        regular = call.id is not None
        return ToolCall(
            call.id, call.name, text, at, wire, HOME, regular, extra or None, call.kind, signature=signature
        )

    def _whose(self, fragment: Fields, spoken_of: Sequence[_Call]) -> _Call:
        """The call that a fragment belongs to; a new one if it begins one. `spoken_of`: the calls of the same list before it."""
        kind = "custom" if "custom" in fragment and "function" not in fragment else "function"
        inner = fragment.get(kind)
        if type(inner) is not dict:
            inner = fragment
        place, name, given = _place(fragment.get("index")), inner.get("name"), fragment.get("id")
        given = given if type(given) is str and given else None
        name = name if type(name) is str and name else None
        found = self._found(place, given, name)
        if found is not None and name is not None and place is None and found in spoken_of:
            # Entries of one list that have names, and no index, are as many calls.
            found = None
        elif found is not None and not _begins_another(found, given, name, place):
            if given is not None and given != found.id:
                found.repaired = found.repaired or found.id is not None
                found.id = found.id or given
            found.repaired = found.repaired or (place is not None and found.place is not None and place != found.place)
            return found
        listed = self._listed()
        if found is None and given is None and name is None and listed and not listed[-1].ended():
            # A text that nothing says the call of goes on in the one that is not whole.
            listed[-1].repaired = True
            return listed[-1]
        call = _Call(place, given, kind)
        # Two calls at one index are told apart by their names and ids only.
        call.repaired = found is not None and place is not None
        self._calls.append(call)
        return call

    def _found(self, place: int | None, given: str | None, name: str | None) -> _Call | None:
        """The last call with this id; else the last one at this index; else, where neither is said, the last one."""
        listed = self._listed()
        if given is not None:
            for call in reversed(listed):
                if call.id == given and (place is None or call.place is None or call.place == place or name is None):
                    return call
        if place is not None:
            for call in reversed(listed):
                if call.place == place:
                    return call
            return None
        return listed[-1] if listed else None

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
            more = json.dumps(more, ensure_ascii=False, separators=(",", ":"))
            call.repaired = True
        return self._say(call, more, index, out)

    def _say(self, call: _Call, more: str, index: int, out: list[Event]) -> int:
        """More arguments of a call, or, where they are whole, of another one that nothing else told apart from it."""
        if call.kind == "custom":
            return self._pass(call, more, index, out)
        if call.held and more.strip():
            # `{}` stood for arguments that were to come.
            call.repaired, call.held = True, ""
        if "{" in more:
            if call.ended() and more.lstrip()[:1] == "{":
                # Those once more, or those of another call of the tool: once all is there, it can be told.
                call.repaired = True
                other = _Call(call.place, None, call.kind)
                other.name, other.echoed, other.repaired = call.name, call, True
                self._calls.append(other)
                return self._say(other, more, index, out)
            for between in _BETWEEN.finditer(more):
                cut = between.start() + 1
                if is_json("".join(call.pieces) + more[:cut]):
                    index = self._say(call, more[:cut], index, out)
                    return self._say(call, more[cut:], index, out)
        if not call.pieces and more.strip() == "{}":
            call.held = more
            return index
        return self._pass(call, more, index, out)

    def _pass(self, call: _Call, more: str, index: int, out: list[Event]) -> int:
        call.pieces.append(more)
        if call.stopped:
            # Behind a whole object, and the beginning of none: it is in the body, and no JSON.
            out.append(UnknownEvent(more))
        elif call.index is not None:
            out.append(ArgumentsDelta(call.index, more))
        elif call.name and call.echoed is None:
            index = self.begun(index, out)
        return index


class _Call:
    """One call, as far as it has come. `place`: its index on the wire; `index`: its block's, once it has begun; `held`: a `{}` that may stand for
    arguments to come; `echoed`: the call whose arguments these may be once more; `stopped`: its block has ended."""

    __slots__ = (
        "echoed", "held", "id", "index", "inner", "kind", "name", "pieces", "place", "repaired", "rest", "stopped",
    )  # fmt: skip

    def __init__(self, place: int | None, given: str | None, kind: str) -> None:
        self.place, self.id, self.kind = place, given, kind
        self.name: str | None = None
        self.index: int | None = None
        self.pieces: list[str] = []
        self.held = ""
        self.repaired = self.stopped = False
        self.echoed: _Call | None = None
        # The fields of the call and of its inner object that the hub does not model.
        self.rest: dict[str, Any] = {}
        self.inner: dict[str, Any] = {}

    def says_again(self, other: _Call) -> bool:
        """Whether the arguments are those of the other call once more, or the beginning of them."""
        text, before = "".join(self.pieces) + self.held, "".join(other.pieces) + other.held
        if before.startswith(text):
            return True
        try:
            same: bool = json.loads(text) == json.loads(before)
        except (ValueError, RecursionError):
            return False
        return same

    def ended(self) -> bool:
        """Whether the arguments are a whole object, and no `{}` that may stand for one."""
        return bool(self.pieces) and self.pieces[-1].rstrip()[-1:] == "}" and is_json("".join(self.pieces))

    def called(self, name: str) -> None:
        """One more fragment of the name: the next part of it, or all of it once more."""
        if not self.name:
            self.name = name
        elif self.index is None and name != self.name and not name.startswith(self.name):
            self.name += name
        else:
            self.repaired = True
            self.name = name if self.index is None else self.name

    def wire(self) -> dict[str, Any]:
        """The call as it would have come in one piece."""
        text = "".join(self.pieces) + self.held
        if self.kind == "function_call":
            return {"name": self.name or "", "arguments": text, **self.rest}
        key = "input" if self.kind == "custom" else "arguments"
        whole: dict[str, Any] = {} if self.id is None else {"id": self.id}
        whole["type"] = self.kind
        whole[self.kind] = {"name": self.name or "", key: text, **self.inner}
        return {**whole, **self.rest}


def _begins_another(call: _Call, given: str | None, name: str | None, place: int | None) -> bool:
    """Whether a fragment that seems to belong to a call begins another one. One without a name never does."""
    if name is None or call.name is None:
        return False
    if given is not None and call.id is not None:
        # Another id is another call's, unless the server makes one up for every fragment.
        return given != call.id and (name != call.name or not call.pieces or call.ended())
    if given is not None and place is None:
        return True
    if call.held:
        return name != call.name
    if call.pieces:
        return name != call.name or call.ended()
    # Nothing but a name so far: more of it comes, at the same index.
    return place is None and name != call.name


def _place(value: Any) -> int | None:
    if type(value) is str and value.isdecimal():
        return int(value)
    return value if type(value) is int else None


def _signature(value: Any) -> Signature | None:
    """`extra_content: {google: {thought_signature}}`, as for a whole call (read.py)."""
    signed = value.get("google") if type(value) is dict and len(value) == 1 else None
    found = signed.get("thought_signature") if type(signed) is dict and len(signed) == 1 else None
    return Signature("gemini", "signature", found) if type(found) is str and found.strip() else None
