"""The table of loss codes, and nothing else.

A code is stable for ever: three capitals for the family (the file in `rules/` that decides it) and three digits. It names what was
found, never the remedy. Each has a page, `docs/losses/<CODE>.md`, printed by `sendable explain <CODE>`.
"""

from __future__ import annotations

from typing import Literal, final

import msgspec

Level = Literal["allow", "report", "reject"]


@final
class Code(msgspec.Struct, frozen=True, gc=False):
    """One kind of loss: `id`, `name`, its one-line message, and its level under the two policies.

    `unread`: what it reports is nothing that a model reads, so that no signature over earlier messages covers it: fields beside the
    content, and the boundary between two messages of one role.
    """

    id: str
    name: str
    message: str
    strict: Level = "reject"
    repair: Level = "report"
    unread: bool = False


CODES: dict[str, Code] = {}


def _code(id: str, name: str, message: str, strict: Level = "reject", repair: Level = "report") -> Code:
    CODES[id] = code = Code(id, name, message, strict, repair, unread=id.startswith("FLD") or id == "ORD002")
    return code


# SHP: the shape of the list and of its entries.
SHP001 = _code("SHP001", "not-a-history", "this is neither a list of messages nor a request body", repair="reject")
SHP002 = _code("SHP002", "entry-not-an-object", "an entry of the message list is not an object")
SHP003 = _code("SHP003", "no-role", "the message has no usable role")
SHP004 = _code("SHP004", "unknown-role", "the target has no role of this name")
SHP005 = _code(
    "SHP005", "structured-content", "content that is neither text nor a list of blocks was written as JSON text"
)
SHP006 = _code("SHP006", "unserializable-content", "the value cannot be written as JSON")
SHP007 = _code("SHP007", "ambiguous-message", "one thing is given twice, in two spellings that differ")
SHP008 = _code("SHP008", "lone-surrogate", "half a surrogate pair cannot be encoded as UTF-8")
SHP009 = _code("SHP009", "nul-character", "providers refuse text that holds U+0000")
SHP010 = _code("SHP010", "duplicate-key", "an object holds this key more than once; the last one counts")
SHP011 = _code("SHP011", "role-under-another-name", "the role is spelled in another vendor's word", strict="report")
SHP012 = _code("SHP012", "nothing-to-send", "no message is left to send", repair="reject")
SHP013 = _code("SHP013", "not-json", "the bytes are no JSON", repair="reject")

# BLK: blocks that a place cannot hold.
BLK001 = _code("BLK001", "unknown-block", "no provider is known to accept a block of this kind here")
BLK002 = _code("BLK002", "unwritable-block", "the target has no form for a block of this kind")
BLK003 = _code("BLK003", "misplaced-block", "a message of this role cannot hold a block of this kind")

# FLD: fields that a place cannot hold.
FLD001 = _code("FLD001", "unmodelled-field", "the target has no such field here")
FLD002 = _code("FLD002", "inert-field", "a bookkeeping field of the store or of an earlier answer", strict="report")
FLD003 = _code("FLD003", "replaced-model", "the model was replaced by the one asked for", strict="report")
FLD004 = _code(
    "FLD004", "missing-parameter", "the target requires a parameter that the body does not have", strict="report"
)
FLD005 = _code("FLD005", "weakened-parameter", "the target has only a weaker form of this parameter")

FLD006 = _code("FLD006", "excluded-parameter", "the target refuses this parameter beside others of the request")
FLD007 = _code("FLD007", "lost-cache-mark", "the target has no place for this cache mark", strict="report")
FLD008 = _code(
    "FLD008", "refused-item-id", "the target refuses this id of an item, or an earlier item has it", strict="report"
)
FLD009 = _code(
    "FLD009",
    "unaccompanied-item-id",
    "the id is accepted only behind the reasoning item that led to it, which is gone",
    strict="report",
)
FLD010 = _code("FLD010", "ill-typed-parameter", "the value is of a kind that the parameter never has")

# SYS: system and developer messages.
SYS001 = _code("SYS001", "late-system", "a system message stood where the target takes none", strict="report")
SYS002 = _code("SYS002", "demoted-system", "the target has no place for instructions; they are sent as user text")
SYS003 = _code(
    "SYS003", "joined-system", "the target takes one system message; this one joins the first", strict="report"
)

# PAR: which result answers which call.
PAR001 = _code("PAR001", "unanswered-call", "no result answers this call")
PAR002 = _code("PAR002", "orphan-tool-result", "no call with this id comes before the result")
PAR003 = _code("PAR003", "duplicate-result", "the call already has a result")
PAR004 = _code("PAR004", "duplicate-id", "an earlier call has the same id")
PAR005 = _code("PAR005", "unusable-id", "the call has no id that a result could name")
PAR006 = _code("PAR006", "displaced-result", "other messages stand between the call and its result")
PAR007 = _code("PAR007", "joined-results", "one call has several results and the target allows one")
PAR008 = _code("PAR008", "half-server-call", "a call that the provider executes and its result belong in one turn")
PAR009 = _code(
    "PAR009", "split-server-call", "a server tool result stood in a later message than its call", strict="report"
)

# IDS: ids and names.
IDS001 = _code("IDS001", "id-rewritten", "the target refuses an id of this form", strict="report")
IDS002 = _code("IDS002", "name-rewritten", "the target refuses a tool name of this form", strict="report")
IDS003 = _code("IDS003", "non-string-id", "the id is a number")
IDS004 = _code("IDS004", "nameless-call", "the call has no usable tool name")
IDS005 = _code(
    "IDS005",
    "given-id",
    "the call was stored without ids, in a form that pairs by position; the target needs one",
    strict="report",
)

# EMP: emptiness.
EMP001 = _code("EMP001", "emptied-message", "nothing is left of the message")
EMP002 = _code("EMP002", "placeholder", "an assistant turn with nothing in it cannot be sent")
EMP003 = _code("EMP003", "empty-text", "the target refuses empty or blank text", strict="report")
EMP004 = _code("EMP004", "empty-message", "the message was stored empty", strict="report")
EMP005 = _code(
    "EMP005",
    "trailing-white-space",
    "the target refuses a last assistant turn that ends in white space",
    strict="report",
)
EMP006 = _code(
    "EMP006", "empty-result", "the target refuses a tool result with nothing in it; words stand for it", strict="report"
)

# ORD: order inside and between messages.
ORD001 = _code("ORD001", "results-first", "other content stood before a tool result of the same turn")
ORD002 = _code(
    "ORD002",
    "merged-roles",
    "two messages of one role were joined because the target demands alternation",
    strict="report",
)
ORD003 = _code("ORD003", "flattened-interleaving", "the target cannot interleave text and tool calls in one message")
ORD004 = _code("ORD004", "first-not-user", "the target wants the first message to be the user's")
ORD005 = _code("ORD005", "assistant-last", "the target refuses a conversation that ends with the assistant")
ORD006 = _code(
    "ORD006", "user-after-result", "the target wants the assistant to answer a tool result before the user speaks"
)
ORD007 = _code("ORD007", "misplaced-prefix", "only the last message can be a prefix", strict="report")
ORD008 = _code("ORD008", "text-beside-tools", "the target takes no other content beside tool blocks in one message")

# CON: what the provider holds, and the history only points at.
CON001 = _code(
    "CON001", "foreign-handle", "the handle means something only to the provider that holds the earlier conversation"
)
CON002 = _code("CON002", "unresolvable-reference", "the item is only referred to, and nobody holds it for the target")
CON003 = _code(
    "CON003",
    "sealed-summary",
    "earlier conversation is contained in this summary, which only the provider that made it can read",
)
CON004 = _code("CON004", "repeated-item", "an earlier item has the same id")
CON005 = _code(
    "CON005",
    "unused-handle",
    "the handle cannot stand for a part of this history, which is sent whole",
    strict="report",
)

# ARG: arguments of tool calls.
ARG001 = _code("ARG001", "unparsable-arguments", "the arguments are not JSON; the text was wrapped as it is")
ARG002 = _code("ARG002", "non-object-arguments", "the arguments are JSON but no object; the value was wrapped")
ARG003 = _code("ARG003", "inexact-number", "the number has no JSON form")
ARG004 = _code(
    "ARG004", "empty-arguments", "no arguments were stored; an empty object stands for them", strict="report"
)
ARG006 = _code(
    "ARG006",
    "freeform-arguments",
    "the target has no tools with free text; the text is the one argument `input`",
    strict="report",
)
ARG005 = _code("ARG005", "fragmented-call", "the call was stored as fragments of a stream", strict="report")

# RSN: reasoning and signatures.
RSN001 = _code(
    "RSN001", "foreign-signature", "the signature is only worth something to the issuer that made it", strict="report"
)
RSN012 = _code("RSN012", "foreign-reasoning", "the target takes reasoning only with a signature of its own issuer")
RSN002 = _code("RSN002", "unsigned-reasoning", "the target takes reasoning back only with its signature")
RSN003 = _code("RSN003", "redacted-reasoning", "encrypted reasoning can only be read by the issuer that made it")
RSN004 = _code("RSN004", "changed-prefix", "the signature is bound to messages before it that are no longer the same")
RSN005 = _code("RSN005", "reasoning-unsupported", "the target has no place for this reasoning")
RSN006 = _code(
    "RSN006",
    "reasoning-as-text",
    "reasoning was written as visible text because the caller asked for it",
    strict="report",
)
RSN007 = _code(
    "RSN007",
    "reasoning-required",
    "with thinking on, this turn would have to start with reasoning that the history does not hold",
)
RSN008 = _code(
    "RSN008",
    "placeholder-reasoning",
    "the target wants the reasoning of every turn with calls back, and the history holds none; words that say so stand for it",
    strict="report",
)
RSN009 = _code(
    "RSN009",
    "reasoning-details",
    "the target takes reasoning as plain text; the details beside it are gone",
    strict="report",
)
RSN010 = _code(
    "RSN010",
    "other-model",
    "the reasoning was made by another model of the same issuer, which may not be able to read it",
    strict="report",
)
RSN011 = _code(
    "RSN011",
    "signature-skipped",
    "the target wants a signature on this call that the history does not hold; the documented word that skips the check stands for it",
    strict="report",
)
RSN014 = _code("RSN014", "led-to-nothing", "reasoning has to be followed by the item that it led to")
# RES: what is inside tool results.
RES001 = _code(
    "RES001", "error-flag-flattened", "the target has no error flag on results; it is said in the text", strict="report"
)
RES002 = _code(
    "RES002",
    "media-moved",
    "the target takes no media in such a result; it follows the results of the turn",
    strict="report",
)

# MED: images, documents, audio, files.
MED001 = _code("MED001", "unsupported-media", "the target has no form for this media")
MED002 = _code("MED002", "foreign-file-id", "a file id means something only to the provider that issued it")
MED003 = _code(
    "MED003", "untidy-media", "the data was not clean base64 or the media type not that of its bytes", strict="report"
)
MED004 = _code("MED004", "unreadable-media", "the data is not base64")
MED005 = _code("MED005", "misplaced-media", "a message of this role cannot hold media here")
MED006 = _code("MED006", "media-in-words", "the target takes text only; words stand where the media stood")
MED007 = _code("MED007", "document-renamed", "the target refuses this name of a document", strict="report")
MED008 = _code(
    "MED008",
    "document-without-text",
    "the target takes a document only beside a text in the same message",
    strict="report",
)
MED009 = _code("MED009", "too-large-media", "the target takes no media of this size")

# LIM: limits of size and count.
LIM001 = _code("LIM001", "too-many-cache-marks", "the target takes only so many cache marks", strict="report")
LIM002 = _code("LIM002", "text-too-long", "the target takes no text of this length")
LIM003 = _code("LIM003", "too-many-calls", "the target takes only so many calls in one message", strict="report")
LIM004 = _code("LIM004", "too-many-images", "the target takes only so many images")
LIM005 = _code("LIM005", "too-many-documents", "the target takes only so many documents in one message")

# CAR: native blocks that ride through another dialect.
CAR001 = _code(
    "CAR001", "opened-carrier", "native blocks rode in this field; they were taken out of it", strict="report"
)
CAR002 = _code("CAR002", "edited-carrier", "what the carrier stands for was edited since, so that it was not used")
CAR003 = _code("CAR003", "unreadable-carrier", "the carrier is damaged, or was not sealed with the key that is in use")

# RSP: answers.
RSP001 = _code("RSP001", "not-an-answer", "this is no answer of any provider", repair="reject")
RSP002 = _code("RSP002", "provider-error", "the provider answered with an error", repair="reject")
RSP003 = _code(
    "RSP003", "other-dialect", "the answer is of another dialect than the one that was named", repair="reject"
)
RSP004 = _code("RSP004", "incomplete-answer", "the answer lacks what every answer of its dialect has", repair="reject")
RSP005 = _code("RSP005", "other-candidate", "the answer has further candidates, and one was read")
RSP006 = _code(
    "RSP006",
    "provider-changed-input",
    "the provider says that it left out or changed a part of the request",
    strict="report",
)
RSP007 = _code("RSP007", "stop-reason", "the target has no word for why the answer ended", strict="report")
RSP008 = _code("RSP008", "answer-field", "the target's answers have no such field", strict="report")
RSP009 = _code(
    "RSP009", "given-answer-field", "the target's answers need a field that this one does not have", strict="report"
)

# STM: streams.
STM001 = _code("STM001", "cut-stream", "the stream ended before the answer did")
STM002 = _code("STM002", "unknown-event", "an event of the stream is none that is known", strict="report")
STM003 = _code("STM003", "illegal-event", "an event of the stream may not stand where it stands")
STM004 = _code("STM004", "repaired-call", "the fragments of a call did not fit together as they came", strict="report")
