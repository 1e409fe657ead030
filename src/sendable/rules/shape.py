"""SHP: roles that a target knows, and content in the shape that a target takes. The shape of entries themselves is read in reading.py."""

from __future__ import annotations

from sendable import payload
from sendable.codes import FLD001, SHP004, SHP005, SHP006, SHP011, SHP012
from sendable.conversation import (
    MIXED,
    ROLES,
    STRANGE,
    Block,
    Conversation,
    Message,
    Reasoning,
    Text,
    ToolCall,
    ToolResult,
    changed,
)
from sendable.report import Ledger
from sendable.rules import Rule, lacks, with_messages

ROLE_ALIASES = {
    "human": "user",
    "ai": "assistant",
    "model": "assistant",
    "bot": "assistant",
    "chatbot": "assistant",
    "function": "tool",
}


def known_roles(conversation: Conversation, ledger: Ledger) -> Conversation:
    """Every message has a role of the hub: a role in another vendor's word is renamed, one that nobody has goes with its message.

    Loses: SHP004, SHP011.
    """
    if lacks(conversation, STRANGE) or all(message.role in ROLES for message in conversation.messages):
        return conversation
    messages: list[Message] = []
    for message in conversation.messages:
        if message.role in ROLES:
            messages.append(message)
            continue  # keeps: the line above
        role = ROLE_ALIASES.get(message.role.strip().lower(), message.role.strip().lower())
        if role in ROLES and not (role == "tool" and message.blocks and type(message.blocks[0]) is not ToolResult):
            ledger.rename(SHP011, message, "role", old=message.role[:40], new=role)
            messages.append(changed(message, role=role))
        else:
            ledger.drop(SHP004, message, role=message.role[:40])
    return with_messages(conversation, messages)


def results_from_user(conversation: Conversation, ledger: Ledger) -> Conversation:
    """A message of a role that nobody has is the user's if it holds results: what is written of it are the results, which have no role.

    For the one target that keeps such roles.

    Loses: SHP011.
    """
    if lacks(conversation, STRANGE) or lacks(conversation, MIXED):
        return conversation
    messages: list[Message] = []
    for message in conversation.messages:
        if message.role not in ROLES and any(type(block) is ToolResult for block in message.blocks):
            ledger.rename(SHP011, message, "role", old=message.role[:40], new="user")
            message = changed(message, role="user")
        messages.append(message)
    return with_messages(conversation, messages)


def participants_named(conversation: Conversation, ledger: Ledger) -> Conversation:
    """The name of a participant, where a message has one, is text.

    Source: `name` is a string wherever it is allowed (OC15, schema of openai 3.57.0).

    Loses: FLD001 (of null, which says nothing, without an entry).
    """
    out: list[Message] = []
    touched = False
    for message in conversation.messages:
        extra = message.extra
        if extra is not None and "name" in extra and payload.kind(extra["name"]) != "text":
            if not payload.is_inert(extra["name"]):
                ledger.strip(FLD001, message, ("name",))
            rest = {key: value for key, value in extra.items() if key != "name"}  # keeps: reported above
            message = changed(message, extra=rest or None)
            touched = True
        out.append(message)
    return with_messages(conversation, out) if touched else conversation


def no_developer(conversation: Conversation, ledger: Ledger) -> Conversation:
    """No message has the role `developer`: it is a system message.

    Source: «messages[0].role: unknown variant `developer`, expected one of `system`, `user`, `assistant`, `tool`» (reported of several
    servers, 2026-08); roles «user, assistant, system, tool» (Cohere, CO1), «system, user, assistant, tool» (Mistral, MI1).

    Loses: SHP011 (a rename).
    """
    if not any(message.role == "developer" for message in conversation.messages):
        return conversation
    messages: list[Message] = []
    for message in conversation.messages:
        if message.role == "developer":
            ledger.rename(SHP011, message, "role", old="developer", new="system")
            message = changed(message, role="system")
        messages.append(message)
    return with_messages(conversation, messages)


def tools_answer(conversation: Conversation, ledger: Ledger) -> Conversation:
    """No message of the role of a tool is anything but results: what else it holds, once its results are gone, is the user's.

    Written with that role it would be read as a result that answers nothing.

    Loses: SHP011.
    """
    out: list[Message] = []
    touched = False
    for message in conversation.messages:
        if message.role in ("tool", "function") and not any(type(block) is ToolResult for block in message.blocks):
            ledger.rename(SHP011, message, "role", old=message.role, new="user")
            message = changed(message, role="user")
            touched = True
        out.append(message)
    return with_messages(conversation, out) if touched else conversation


def flat_content(conversation: Conversation, ledger: Ledger) -> Conversation:
    """Every content is one text. A list that holds calls, results or reasoning is read as blocks; any other structure is written whole as JSON.

    Source: the project's source documents (architecture 5.1).

    Loses: SHP005, SHP006.
    """
    messages: list[Message] = []
    touched = False
    for message in conversation.messages:
        fitted = _flat_message(message, ledger)
        touched = touched or fitted is not message
        messages.append(fitted)
    return with_messages(conversation, messages) if touched else conversation


def _flat_message(message: Message, ledger: Ledger) -> Message:
    fields = payload.fields(message.raw)
    content = fields.get("content") if fields is not None else message.raw
    if payload.kind(content) != "list":
        return message if payload.kind(content) == "text" else changed(message)
    if len(message.blocks) == 1 and type(message.blocks[0]) is ToolResult and message.blocks[0].at == message.at:
        result = message.blocks[0]
        return changed(message, blocks=(changed(result, content=(_serialized(content, message, ledger),)),))
    inside = [block for block in message.blocks if _in_content(block, message)]  # keeps: only looks
    if any(type(block) in (ToolCall, ToolResult, Reasoning) for block in inside):
        # Reasoning too, lest its signature be written out in visible text.
        return changed(message)
    rest = [
        block for block in message.blocks if not _in_content(block, message)
    ]  # keeps: the content is the text put before it
    return changed(message, blocks=(_serialized(content, message, ledger), *rest))


def _in_content(block: Block, message: Message) -> bool:
    """Whether a block stands in the content of a message; a request's own system field is its content itself."""
    return block.at[0] == (message.at, "content") or (block.at[0] == message.at and type(block.at[1]) is int)


def _serialized(content: object, message: Message, ledger: Ledger) -> Text:
    text = payload.as_json_text(content)
    field = "content" if content is not message.raw else None
    if text is None:
        ledger.degrade(SHP006, message, field)
    else:
        ledger.degrade(SHP005, message, field)
    return Text("" if text is None else text, (message.at, "content") if field else message.at)


def content_in_lists(home: str) -> Rule:
    """No content is a bare text: the dialect `home` knows lists of blocks only. A matter of spelling, without a loss."""

    def content_in_lists(conversation: Conversation, ledger: Ledger) -> Conversation:
        if not any(message.bare and message.home == home for message in conversation.messages):
            return conversation
        listed = [
            changed(message, bare=False) if message.bare and message.home == home else message
            for message in conversation.messages
        ]
        return with_messages(conversation, listed)

    return content_in_lists


def something_to_send(conversation: Conversation, ledger: Ledger) -> Conversation:
    """Something is left to send.

    Loses: SHP012.
    """
    if not conversation.messages and not ledger.faults:
        ledger.fault(SHP012, (), (conversation.key,))
    return conversation


RULES: tuple[Rule, ...] = (known_roles, flat_content, something_to_send)
