"""The hub: what every dialect is read into and written from, and nothing that any one dialect calls by its own word.

Nodes are frozen. Each keeps the caller's own object (`raw`, read-only), its place in the caller's input (`at`), the dialect in whose
form it stands (`home`), whether it is still in that form (`intact`: such a node is written as it came), and the fields of its object
that the hub does not model (`extra`). What must not live here: rules, spellings, losses.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, TypeAlias, TypeVar, final

import msgspec

from sendable.paths import At
from sendable.payload import Leaf

Fields: TypeAlias = Mapping[str, Any]
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
) = (1 << bit for bit in range(16))
"""What `Conversation.holds` may say: system or developer messages; media; reasoning; opaque blocks; calls or results of the provider;
fields that the hub does not model; blank texts and messages without blocks; assistant messages of several blocks; results beside other
content or in a user message; system messages behind others; roles that are none of the hub's; calls or results that are not of a function;
calls or results that have no text with a character in it for an id, or pair by their names; assistant messages next to each other; results that hold
anything but texts; media in assistant messages."""


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


NodeType = TypeVar("NodeType", bound=msgspec.Struct)
_replace = msgspec.structs.replace


def changed(node: NodeType, **fields: Any) -> NodeType:
    """The node with other values: it is a new node and no longer written as it came."""
    return _replace(node, intact=False, **fields)
