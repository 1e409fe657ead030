"""What goes on from one request to the next: answers that we issued and the client points at, and reasoning that its dialect cannot hold.

Reasoning rides in a carrier (`sendable.carriers`), sealed with our key, through the client; for clients of Chat that throw such a field away it
also waits in the store. A `previous_response_id` that we issued stands for a history in the store, and is put back into the request.
What must not live here: the form of a carrier, where the values are kept (store.py), and any request to an upstream.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import logging
import re
import secrets
from collections.abc import Coroutine, Mapping, Sequence
from typing import TYPE_CHECKING, Any, final

import msgspec
import zstandard

from sendable.carriers import FIELD, Seal, is_sealed, sealed
from sendable.conversation import Fields, Message, Opaque, Reasoning, Reply, Text, ToolCall
from sendable.errors import HistoryError
from sendable.fingerprints import boundaries, fingerprint
from sendable.gateway.errors import Refused
from sendable.gateway.store import Store, StoreError
from sendable.replay import looked_at
from sendable.stream import Event, WireEvent
from sendable.targets import DIALECTS

if TYPE_CHECKING:
    from sendable.gateway.app import Asked, Course
    from sendable.gateway.config import Upstream

KEY_VARIABLE = "SENDABLE_CARRIER_KEY"
"""The environment variable with the key of the seals. All servers that the same clients reach need the same one."""

_log = logging.getLogger("sendable.continuity")
_decode = msgspec.json.decode
_encode = msgspec.json.encode
Raw = msgspec.Raw

EXPIRE_SECONDS = 600.0


def not_found(response_id: str) -> Refused:
    """The refusal of a handle that nobody here knows, in the provider's words and with its code."""
    # «Previous response with id 'resp_abc' not found.», code previous_response_not_found, param previous_response_id (OpenAI)
    return Refused(
        400,
        f"Previous response with id '{response_id}' not found.",
        "previous_response_id",
        "previous_response_not_found",
    )


@final
class Continuity:
    """The memory between requests. Without a store nothing is remembered, and a handle is refused unless the target owns it."""

    def __init__(self, store: Store | None, key: str | bytes | None, *, seconds: float | None = None) -> None:
        """`key` is the key of the seals: without one no carrier leaves, and one that a client sends is not believed."""
        self._store, self._seconds = store, seconds
        self.issues = bool(key)
        # What waits in the store needs a seal too when it is put back, if only for one request.
        given = key.encode() if isinstance(key, str) else key
        self._key = given or secrets.token_bytes(32)
        # What is on its way into the store: a client may come back sooner.
        self._pending: dict[tuple[str, str], bytes] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._expire_at = 0.0

    def trust(self, carrier: Fields) -> bool:
        """Whether a carrier bears our seal."""
        return is_sealed(carrier, self._key)

    def sealed(self, carrier: Fields) -> Fields | None:
        """The carrier as it leaves; None if there is no key, so that nobody could know it again."""
        return sealed(carrier, self._key) if self.issues else None

    # --- a request comes in -----------------------------------------------------------------------------------------------

    async def incoming(
        self, asked: Asked, data: bytes, top: Mapping[str, Raw] | None, upstream: Upstream, course: Course | None
    ) -> tuple[bytes, Context]:
        """The request with what its client only points at or has thrown away, and what has to be known of it when its answer comes.

        Raises `Refused`: 400 for a handle that neither we issued nor the target owns, 503 if the store cannot be asked.
        """
        context = Context(self, asked.client, asked.dialect, upstream.dialect)
        if top is not None and asked.dialect == "openai-responses":
            data = await self._expanded(asked, data, top, upstream, context)
        elif top is not None and asked.dialect == "openai-chat" and upstream.dialect != "openai-chat":
            data = await self._restored(asked.client, data, top, upstream.dialect)
        context.data = data
        if course is not None and context.shift:
            course.context = context
        return data, context

    async def _expanded(
        self, asked: Asked, data: bytes, top: Mapping[str, Raw], upstream: Upstream, context: Context
    ) -> bytes:
        """The request with the history for which its handle stands, in the place of the handle."""
        context.keeps = _value(top.get("store")) is not False
        home = upstream.dialect == asked.dialect
        if not home and _value(top.get("conversation")) is not None:
            # A conversation is held by its provider, and by nobody else.
            raise Refused(
                400,
                "Conversation not found: the model is served by another provider.",
                "conversation",
                "conversation_not_found",
            )
        handle = _value(top.get("previous_response_id"))
        if handle is None:
            return data
        record = await self._record(asked.client, handle) if isinstance(handle, str) else None
        if record is None:
            if home:
                # Its provider issued it, and says itself what is wrong with it.
                context.bound = True
                return data
            raise not_found(str(handle)[:200])
        earlier = record.items
        given = top.get("input")
        value = _value(given)
        if isinstance(value, str):
            context.text_input = True
            now: list[Raw] = [Raw(_encode({"role": "user", "content": value}))]
        elif isinstance(value, list):
            now = _decode(given or b"[]", type=list[Raw])
        else:
            now = []
        context.shift, context.previous = len(earlier), str(handle)
        kept = {name: part for name, part in top.items() if name != "previous_response_id"}
        kept["input"] = Raw(_encode([*earlier, *now]))
        return _encode(kept)

    async def _record(self, client: str, response_id: str) -> Record | None:
        found = await self._get(client, f"response:{response_id}")
        return None if found is None else _decode(zstandard.decompress(found), type=Record)

    async def _get(self, client: str, key: str) -> bytes | None:
        held = self._pending.get((client, key))
        if held is not None or self._store is None:
            return held
        try:
            return await self._store.get(client, key)
        except StoreError as error:
            raise Refused(503, str(error), code="store_unavailable") from None

    async def _restored(self, client: str, data: bytes, top: Mapping[str, Raw], home: str) -> bytes:
        """The request with the carriers that its client has thrown away: on each turn with calls of which the store knows one."""
        if self._store is None or b'"tool_calls"' not in data:
            return data
        try:
            entries = _decode(top.get("messages", b""), type=list[Raw])
            plain: list[Any] = [_decode(entry) for entry in entries]
        except (msgspec.DecodeError, RecursionError):
            return data
        wanted = [
            (index, ids)
            for index, message in enumerate(plain)
            if isinstance(message, dict) and FIELD not in message and (ids := _call_ids(message))
        ]  # keeps: turns without calls need nothing
        # If the newest turn is not known, no other is: most conversations have no reasoning at all, and end here.
        if not wanted or await self._get(client, _calls_key(wanted[-1][1])) is None:
            return data
        before = _prefixes({"messages": plain}, [index for index, _ in wanted])
        found = await asyncio.gather(
            *(self._get(client, _reasoning_key(ids, before[index])) for index, ids in wanted if index in before)
        )
        known = [index for index, _ in wanted if index in before]
        touched = False
        for index, value in zip(known, found, strict=True):
            if value is None:
                continue  # keeps: nothing was remembered of this turn
            carrier = _decode(zstandard.decompress(value))
            if carrier.get("dialect") != home:
                continue  # keeps: another provider's reasoning, which this one could not read
            fields = _decode(entries[index], type=dict[str, Raw])
            entries[index] = Raw(_encode({**fields, FIELD: sealed(carrier, self._key)}))
            touched = True
        return _encode({**top, "messages": entries}) if touched else data

    # --- an answer goes out -----------------------------------------------------------------------------------------------

    async def outgoing(self, asked: Asked, context: Context, response: Any, body: Any) -> Any:
        """The answer as the client gets it; it is remembered if the client may come back to it."""
        keeper = self.follow(asked, context, response.dialect)
        body = keeper.issued(body)
        await keeper.close(response.complete)
        return body

    def follow(self, asked: Asked, context: Context, dialect: str) -> Keeper:
        """Watches one answer go out, event by event."""
        return Keeper(self, context, "resp_" + asked.id.removeprefix("req_"), dialect)

    def remember(self, client: str, key: str, value: bytes) -> None:
        """The value is found under the key from now on; it reaches the store meanwhile."""
        if self._store is None:
            return
        self._pending[client, key] = value
        self._start(self._put(self._store, client, key, value))
        loop = asyncio.get_running_loop()
        if loop.time() >= self._expire_at:
            self._expire_at = loop.time() + EXPIRE_SECONDS
            self._start(self._expire(self._store))

    def _start(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _put(self, store: Store, client: str, key: str, value: bytes) -> None:
        try:
            await store.put(client, key, value, self._seconds)
        except StoreError as error:
            _log.warning("an answer cannot be continued later: %s", error)
        finally:
            if self._pending.get((client, key)) is value:
                del self._pending[client, key]

    async def _expire(self, store: Store) -> None:
        try:
            await store.expire()
        except StoreError as error:
            _log.warning("the store was not tidied up: %s", error)

    # --- what was issued --------------------------------------------------------------------------------------------------

    async def get(self, response_id: str, client: str) -> dict[str, Any] | None:
        """The answer of this id that we issued to this client, as it got it."""
        record = await self._record(client, response_id)
        return None if record is None else _decode(record.response)

    async def delete(self, response_id: str, client: str) -> bool:
        """It is forgotten; whether there was one."""
        await self.settled()
        if self._store is None:
            return False
        try:
            return await self._store.delete(client, f"response:{response_id}")
        except StoreError as error:
            raise Refused(503, str(error), code="store_unavailable") from None

    async def settled(self) -> None:
        """All that was to be remembered is in the store."""
        while self._tasks:
            await asyncio.gather(*self._tasks)

    async def close(self) -> None:
        """Everything is in the store, and that is closed."""
        await self.settled()
        if self._store is not None:
            await self._store.close()


@final
class Record(msgspec.Struct, frozen=True):
    """An answer that we issued: the whole history up to it, itself included, and itself as the client got it."""

    items: list[Raw]
    response: Raw


@final
class Context:
    """What has to be known of a request when its answer comes. `bound`: it holds a handle that only a target of its own dialect can follow.

    `shift`: how many items of the store were put before the client's own; `place` gives a path as the client knows it.
    """

    __slots__ = (
        "_continuity",
        "bound",
        "client",
        "data",
        "dialect",
        "home",
        "keeps",
        "previous",
        "remembered",
        "shift",
        "text_input",
    )

    def __init__(self, continuity: Continuity, client: str, dialect: str, home: str) -> None:
        self._continuity, self.client, self.dialect, self.home = continuity, client, dialect, home
        self.data = b""
        self.keeps = False
        self.bound = False
        self.shift = 0
        self.text_input = False
        self.previous: str | None = None
        # What of the answer the client's dialect cannot hold, and the ids of the calls beside it.
        self.remembered: tuple[dict[str, Any], list[str]] | None = None

    @property
    def carrier(self) -> bool | Seal:
        """For `write_response` and `StreamWriter`: what becomes of what the client's dialect cannot hold."""
        answers = DIALECTS[self.dialect].answers
        return False if answers is None or answers.carry is None else self._seal

    def _seal(self, carrier: dict[str, Any], reply: Reply, visible: Sequence[Message]) -> Fields | None:
        if reply.stop.reason in ("cut", "error") or not holds_more(reply):
            return None
        ids = [str(block.id) for message in visible for block in message.blocks if type(block) is ToolCall]
        if ids and self.dialect == "openai-chat":
            self.remembered = carrier, ids
        if not ids and self.dialect == "anthropic":
            # A client takes the last block for the result: behind final words, Claude Code 2.1.332 shows nothing at all (measured 2026-12-01).
            # What a provider wants to see again is the reasoning of a turn that goes on; what does not ride has its entry.
            return None
        return self._continuity.sealed(carrier)

    def place(self, path: str) -> str:
        """A path of the request as it went on, in the request as the client sent it."""
        found = _ITEM.match(path)
        if not self.shift or found is None:
            return path
        index = int(found[1]) - self.shift
        if index < 0:
            return "previous_response_id"
        return "input" if self.text_input else f"input[{index}]{path[found.end() :]}"

    def reword(self, error: HistoryError) -> None:
        """The refusal names the place as the client knows it."""
        before, after = error.param, self.place(error.param)
        if after != before:
            error.param = after
            error.args = (str(error).replace(before, after, 1),)


_ITEM = re.compile(r"input\[(\d+)\]")


def holds_more(reply: Reply) -> bool:
    """Whether an answer has anything that another dialect may have no place for and its provider wants to see again."""
    for message in reply.messages:
        for block in message.blocks:
            if type(block) is Opaque or (type(block) is Reasoning and block.text is None):
                return True
            # Reasoning that nobody signed is shown as it is, and comes back as it is.
            if (
                type(block) is Text or type(block) is ToolCall or type(block) is Reasoning
            ) and block.signature is not None:
                return True
    return False


@final
class Keeper:
    """Watches one answer go out, and remembers it when it is whole."""

    __slots__ = ("_body", "_context", "_continuity", "_dialect", "_id")

    def __init__(self, continuity: Continuity, context: Context, response_id: str, dialect: str) -> None:
        self._continuity, self._context, self._id, self._dialect = continuity, context, response_id, dialect
        self._body: Any = None

    def event(self, event: Event) -> None:
        """A neutral event of the answer. Nothing has to be known of it: the carrier comes by itself (`Context.carrier`)."""

    def wire(self, event: WireEvent) -> WireEvent:
        """An event as the client gets it."""
        if self._context.dialect != "openai-responses" or not isinstance(event.data, dict):
            return event
        response = event.data.get("response")
        if not isinstance(response, dict):
            return event
        return WireEvent(event.name, {**event.data, "response": self.issued(response)})

    def issued(self, body: Any) -> Any:
        """An answer under an id that is ours: the upstream's may be no id of Responses, and need not be unique."""
        if self._context.dialect == "openai-responses" and isinstance(body, dict) and "id" in body:
            body = {
                **body,
                "id": self._id,
                "previous_response_id": self._context.previous,
                "store": self._context.keeps,
            }
        self._body = body
        return body

    async def close(self, whole: bool) -> None:
        """The answer has gone out; one that broke off is not remembered."""
        context, continuity = self._context, self._continuity
        if not whole:
            return
        if context.remembered is not None:
            carrier, ids = context.remembered
            before = _prefix(context.data)
            if before is not None:
                continuity.remember(context.client, _reasoning_key(ids, before), _packed(carrier))
                continuity.remember(context.client, _calls_key(ids), b"1")
        if context.dialect == "openai-responses" and context.keeps and isinstance(self._body, dict):
            record = Record([*_items(context.data), *_raw_items(self._body.get("output"))], Raw(_encode(self._body)))
            continuity.remember(context.client, f"response:{self._id}", _packed(record))


def _packed(value: Any) -> bytes:
    return zstandard.compress(_encode(value), 1)


def _items(data: bytes) -> list[Raw]:
    """The items of a request; a text is a message of the user's."""
    given = _decode(data, type=dict[str, Raw]).get("input")
    value = _value(given)
    if isinstance(value, str):
        return [Raw(_encode({"role": "user", "content": value}))]
    return _decode(given or b"[]", type=list[Raw]) if isinstance(value, list) else []


def _raw_items(value: Any) -> list[Raw]:
    return [Raw(_encode(item)) for item in value] if isinstance(value, list) else []


def _value(raw: Raw | None) -> Any:
    if raw is None:
        return None
    try:
        return _decode(raw)
    except (msgspec.DecodeError, RecursionError):
        return None


# --- the keys of reasoning ----------------------------------------------------------------------------------------------


def _call_ids(message: dict[str, Any]) -> list[str]:
    """The ids of the calls of an assistant's message of Chat."""
    calls = message.get("tool_calls")
    if message.get("role") != "assistant" or not isinstance(calls, list):
        return []
    return [str(call.get("id")) for call in calls if isinstance(call, dict)]


def _calls_key(ids: Sequence[str]) -> str:
    return "calls:" + _digest(list(ids))


def _reasoning_key(ids: Sequence[str], before: str) -> str:
    return "reasoning:" + _digest([before, *ids])


def _digest(what: list[str]) -> str:
    return hashlib.sha256(json.dumps(what).encode("utf-8", "surrogatepass")).hexdigest()


def _read(body: dict[str, Any]) -> Sequence[Message]:
    """The messages of a request of Chat. What is reported on the way is reported again when the request is made fit for its target."""
    return looked_at(body, "openai-chat").messages


def _prefix(data: bytes) -> str | None:
    """The fingerprint of all that a request says, which is what comes before its answer."""
    try:
        return fingerprint(_read(_decode(data)))
    except (msgspec.DecodeError, RecursionError):
        return None


def _prefixes(body: dict[str, Any], indices: Sequence[int]) -> dict[int, str]:
    """The fingerprints of what comes before these messages, by their index in the request."""
    messages = _read(body)
    marks = dict(boundaries(messages))
    out: dict[int, str] = {}
    for position, message in enumerate(messages):
        index = message.at[1] if len(message.at) == 2 else None
        if type(index) is int and index in indices and index not in out:
            # Where the same one goes on speaking there is no boundary, and the earlier part is asked by itself.
            out[index] = marks[position] if position in marks else fingerprint(messages[:position])
    return out
