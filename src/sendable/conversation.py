"""The hub: what every dialect is read into and written from, and nothing that any one dialect calls by its own word.

Nodes are frozen. Each keeps the caller's own object (`raw`, read-only), its place in the caller's input (`at`), the dialect in whose
form it stands (`home`), whether it is still in that form (`intact`: such a node is written as it came), and the fields of its object
that the hub does not model (`extra`). What must not live here: rules, spellings, losses.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Literal, TypeAlias, TypeVar, final

import msgspec

from sendable import payload
from sendable.paths import At
from sendable.payload import Leaf

Fields: TypeAlias = Mapping[str, Any]
Decoding: TypeAlias = Literal["constrained", "validated", "unconstrained", "unknown"]
"""What a provider guarantees about a call's arguments: it could not write anything else than what the schema allows; it checked them
afterwards; nothing; or nobody knows, because the request is not known."""

Role = Literal["system", "developer", "user", "assistant", "tool"]

ROLES: frozenset[str] = frozenset({"system", "developer", "user", "assistant", "tool"})
INSTRUCTING: frozenset[str] = frozenset({"system", "developer"})


@final
class Signature(msgspec.Struct, frozen=True, gc=False):
    """Proof of a provider that it made some reasoning: worth something only to its `issuer`."""

    issuer: str
    kind: Literal["signature", "redacted", "encrypted"]
    value: Leaf


@final
class Text(msgspec.Struct, frozen=True, gc=False):
    """Visible text. `signature`: what its issuer signed it with, in the one form that signs texts."""

    text: Leaf
    at: At
    raw: Leaf = None
    home: str | None = None
    intact: bool = False
    extra: Fields | None = None
    signature: Signature | None = None


@final
class Reasoning(msgspec.Struct, frozen=True, gc=False):
    """What the model thought. `text` is None where it is only held encrypted, in the signature."""

    text: Leaf | None
    signature: Signature | None
    at: At
    raw: Leaf = None
    home: str | None = None
    intact: bool = False
    extra: Fields | None = None


@final
class ToolCall(msgspec.Struct, frozen=True, gc=False):
    """A call of a tool. `arguments` is JSON text or an object, as it arrived; None if absent.

    `kind` is "function", "custom" (arguments are free text), or the provider's own word for a call that it executes itself.
    `by_name`: the form it came from pairs by position and name, without ids. `signature`: what its issuer signed it with, in the one form
    that signs calls.

    Known of a call in an answer only: `decoding`, what the provider guarantees about the arguments, by the request that was sent;
    `truncated`, whether the answer ended inside them; `fingerprint`, the same for the same call in a retried turn, whatever its id;
    `local`, whether the fingerprint knows nothing of the conversation before, because no request was given.
    """

    id: Any
    name: Any
    arguments: Leaf
    at: At
    raw: Leaf = None
    home: str | None = None
    intact: bool = False
    extra: Fields | None = None
    kind: str = "function"
    executor: Literal["client", "provider"] = "client"
    by_name: bool = False
    signature: Signature | None = None
    decoding: Decoding = "unknown"
    truncated: bool = False
    fingerprint: str | None = None
    local: bool = True

    @property
    def arguments_text(self) -> str:
        """The arguments as they arrived: the text, or the JSON of an object; `""` if there were none."""
        text = payload.string(self.arguments)
        if text is not None:
            return text
        return "" if payload.is_null(self.arguments) else str(payload.plain(payload.arguments_text(self.arguments)))

    def parse(self) -> dict[str, Any]:
        """The arguments as an object. Raises `ArgumentsError`, which says where they break and whether the answer was cut there."""
        text = self.arguments_text
        if self.truncated:
            raise ArgumentsError(self, "truncated", "the answer ended inside the arguments", len(text))
        if not text.strip():
            return {}
        try:
            value = json.loads(text)
        except json.JSONDecodeError as error:
            raise ArgumentsError(self, "unparsable", error.msg.lower(), error.pos) from None
        except RecursionError:
            raise ArgumentsError(self, "unparsable", "nested too deeply", 0) from None
        if type(value) is not dict:
            raise ArgumentsError(self, "not an object", "the arguments are JSON but no object", 0)
        return value


@final
class ArgumentsError(ValueError):
    """The arguments of a call are no JSON object. `reason` is "truncated", "unparsable" or "not an object"; `position` a character."""

    def __init__(self, call: ToolCall, reason: str, found: str, position: int) -> None:
        self.name, self.id, self.reason, self.position = call.name, call.id, reason, position
        super().__init__(f"arguments of the call of {call.name!r}: {found} (character {position})")


@final
class ToolResult(msgspec.Struct, frozen=True, gc=False):
    """The answer to a call. `content` holds blocks; `error` is None where the form has no flag."""

    id: Any
    content: tuple[Block, ...]
    at: At
    raw: Leaf = None
    home: str | None = None
    intact: bool = False
    extra: Fields | None = None
    name: Any = None
    error: bool | None = None
    kind: str = "function"
    executor: Literal["client", "provider"] = "client"
    by_name: bool = False


@final
class Media(msgspec.Struct, frozen=True, gc=False):
    """An image, document, audio or video: inline base64, a URL, a provider's file id, or plain text of a document."""

    kind: Literal["image", "document", "audio", "video"]
    source: Literal["base64", "url", "file_id", "text"]
    data: Leaf
    media_type: str | None
    at: At
    raw: Leaf = None
    home: str | None = None
    intact: bool = False
    extra: Fields | None = None
    name: Leaf = None


@final
class Refusal(msgspec.Struct, frozen=True, gc=False):
    """The model's words for why it will not answer."""

    text: Leaf
    at: At
    raw: Leaf = None
    home: str | None = None
    intact: bool = False
    extra: Fields | None = None


@final
class Opaque(msgspec.Struct, frozen=True, gc=False):
    """A block of a kind that only its home knows, or that nobody knows (`home` None)."""

    kind: str
    at: At
    raw: Leaf
    home: str | None = None
    intact: bool = False
    extra: Fields | None = None


Block: TypeAlias = Text | Reasoning | ToolCall | ToolResult | Media | Refusal | Opaque


@final
class Message(msgspec.Struct, frozen=True, gc=False):
    """One message. `role` is as stored until the rules of shape have run."""

    role: str
    blocks: tuple[Block, ...]
    at: At
    raw: Leaf = None
    home: str | None = None
    intact: bool = False
    extra: Fields | None = None
    # Whether the one text in it was stored as a bare string, which is how it is written again.
    bare: bool = False
    # Whether its form has no envelope around its one block: the message is the block, and goes with it.
    item: bool = False


@final
class Setting(msgspec.Struct, frozen=True, gc=False):
    """One parameter of a request body beside its messages. `name` is the hub's word, or the home's own where the hub has none."""

    name: str
    value: Any
    at: At
    raw: Any = None
    home: str | None = None
    intact: bool = False
    extra: Fields | None = None


Node: TypeAlias = Block | Message | Setting


(
    SYSTEM,
    MEDIA,
    REASONING,
    OPAQUE,
    SERVER,
    EXTRA,
    BLANK,
    MANY,
    MIXED,
    LATE,
    STRANGE,
    SPECIAL,
    NUMBERED,
    RUN,
    INSIDE,
    SHOWN,
    UNPAIRED,
) = (1 << bit for bit in range(17))
"""What `Conversation.holds` may say: system or developer messages; media; reasoning; opaque blocks; calls or results of the provider;
fields that the hub does not model; blank texts, and messages and results without blocks; assistant messages of several blocks; results beside other
content or in a user message; system messages behind others; roles that are none of the hub's; calls or results that are not of a function;
calls or results that have no text with a character in it for an id, or pair by their names; assistant messages next to each other; results that hold
anything but texts; media in assistant messages; calls or results of which it is not known that every call has an id of its own and every
result stands right behind its turn."""


@final
class Conversation(msgspec.Struct, frozen=True, gc=False):
    """Everything of one request. `listed`: the caller gave a bare list. `whole`: a body that names a model, and so is one to be sent."""

    messages: Sequence[Message]
    settings: tuple[Setting, ...] = ()
    listed: bool = True
    whole: bool = False
    # The name under which the caller's messages stand: messages, input or contents.
    key: str = "messages"
    # What there may be in it, so that a rule about what is not there returns at once; None if nobody has looked.
    holds: int | None = None
    # Whether a handle that the target owns stands for an earlier part that is not here.
    continued: bool = False


StopReason: TypeAlias = Literal[
    "end",
    "tool_calls",
    "max_tokens",
    "stop_sequence",
    "refusal",
    "pause",
    "context_window",
    "malformed",
    "error",
    "cut",
    "unknown",
]
"""Why an answer ended. "pause": the provider wants it back to go on. "malformed": the model wrote what the provider could not use.
"error": the provider failed inside it. "cut": the stream ended before the answer did. "unknown": the provider's word is none that is known,
or it gave none."""


@final
class Stop(msgspec.Struct, frozen=True, gc=False):
    """Why the answer ended: the closed reason, the provider's own `word`, the stop sequence that was met, and its further details, with
    their place in the answer."""

    reason: StopReason
    word: str | None = None
    sequence: str | None = None
    details: Any = None
    at: At = ()


@final
class Usage(msgspec.Struct, frozen=True, gc=False):
    """Tokens; None where the provider does not say. `input` is everything that was read: `cached_read` and `cached_write` are parts of it,
    as `reasoning` is of `output`. `raw` is the provider's own object."""

    input: int | None = None
    output: int | None = None
    cached_read: int | None = None
    cached_write: int | None = None
    reasoning: int | None = None
    raw: Any = None


@final
class Continuation(msgspec.Struct, frozen=True, gc=False):
    """A handle of state that a provider holds.

    `covers`: the fingerprint of the conversation that it stands for, the answer included; None if that is not known or the provider did
    not keep it, so that it is shown and never sent. `expires`: seconds since 1970, None if the provider does not say. `at`: its place in the
    answer.
    """

    issuer: str
    kind: Literal["response", "conversation", "container", "interaction", "cached_content"]
    id: str
    covers: str | None = None
    expires: float | None = None
    at: At = ()


@final
class Reply(msgspec.Struct, frozen=True, gc=False):
    """One answer of a provider, in the hub's form.

    `messages`: what it said, in the order in which it came. `native`: the provider's own messages or items, as they are stored and sent
    back. `extra`: what of the answer, beside its messages, the hub does not model, by its place. `created`: seconds since 1970.
    """

    id: str | None
    model: str | None
    messages: tuple[Message, ...]
    native: tuple[Any, ...]
    stop: Stop
    usage: Usage
    handles: tuple[Continuation, ...] = ()
    created: int | None = None
    extra: Mapping[At, Any] | None = None
    home: str | None = None
    raw: Any = None

    @property
    def blocks(self) -> tuple[Block, ...]:
        """All blocks, in the order in which the provider sent them."""
        return tuple(block for message in self.messages for block in message.blocks)


NodeType = TypeVar("NodeType", bound=msgspec.Struct)
_replace = msgspec.structs.replace


def changed(node: NodeType, **fields: Any) -> NodeType:
    """The node with other values: it is a new node and no longer written as it came."""
    return _replace(node, intact=False, **fields)
