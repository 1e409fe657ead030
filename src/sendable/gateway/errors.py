"""Errors as the client's own provider would word them: whole answers, and events inside a stream that has begun.

The words are part of the interface: clients match on them (one recovers from `role 'system' is not supported on this model` and from no other
sentence), so what a provider said is passed on as it said it. What must not live here: who decides that something is an error.
"""

from __future__ import annotations

import re
from typing import Any, Literal, final

import msgspec

from sendable.codes import SYS002
from sendable.errors import HistoryError
from sendable.render.entries import one_line
from sendable.render.json import dump

Client = Literal["openai-chat", "openai-responses", "anthropic", "gemini"]
"""The dialects that a client can speak to us."""


@final
class Refused(Exception):
    """The gateway says no by itself: with a status, a sentence, and where it can the field (`param`) and a word for programs (`code`)."""

    def __init__(self, status: int, message: str, param: str | None = None, code: str | None = None) -> None:
        super().__init__(message)
        self.status, self.message, self.param, self.code = status, message, param, code


@final
class Failure(msgspec.Struct, frozen=True):
    """What went wrong upstream, without a dialect: `status` as the client shall see it, `kind` as the provider named it, if it did."""

    status: int
    message: str
    kind: str | None = None
    code: str | None = None
    param: str | None = None


# «invalid_request_error, authentication_error, permission_error, not_found_error, request_too_large, rate_limit_error, api_error, timeout_error,
# overloaded_error» (the error types of Messages, with their statuses).
_ANTHROPIC_TYPES = {
    400: "invalid_request_error", 401: "authentication_error", 402: "billing_error", 403: "permission_error", 404: "not_found_error",
    413: "request_too_large", 429: "rate_limit_error", 504: "timeout_error", 529: "overloaded_error",
}  # fmt: skip
# OpenAI's types; what is not listed is the caller's fault below 500 and the server's from there on.
_OPENAI_TYPES = {401: "authentication_error", 403: "permission_error", 429: "rate_limit_error"}
_GEMINI_STATUSES = {
    400: "INVALID_ARGUMENT", 401: "UNAUTHENTICATED", 403: "PERMISSION_DENIED", 404: "NOT_FOUND", 408: "DEADLINE_EXCEEDED",
    409: "ABORTED", 413: "INVALID_ARGUMENT", 415: "INVALID_ARGUMENT", 429: "RESOURCE_EXHAUSTED", 499: "CANCELLED",
    501: "UNIMPLEMENTED", 503: "UNAVAILABLE", 504: "DEADLINE_EXCEEDED", 529: "UNAVAILABLE",
}  # fmt: skip


def refusal(error: HistoryError, client: str) -> bytes:
    """A history that the policy rejects, as the body of a 400: the caller's own path in `param`, or in front of the text."""
    message = one_line(str(error))
    if error.code == SYS002.id and client == "anthropic":
        # Measured: with these words the client folds the system text into the user turn and goes on; with others it gives up.
        message = f"{_dotted(error.param)}: role 'system' is not supported on this model"
    return body(client, 400, message, param=error.param, code=error.code)


def _dotted(param: str) -> str:
    """A path as Messages writes it: `messages.1` where we write `messages[1]`; a role is said of its whole message."""
    return re.sub(r"\[(\d+)\]", r".\1", param).removesuffix(".role")


def body(
    client: str,
    status: int,
    message: str,
    *,
    param: str | None = None,
    code: str | None = None,
    kind: str | None = None,
    request_id: str | None = None,
) -> bytes:
    """The JSON body of an error for a client of this dialect. `kind` is the provider's own word for the type, where it has one."""
    return dump(error_object(client, status, message, param=param, code=code, kind=kind, request_id=request_id))


def error_object(
    client: str,
    status: int,
    message: str,
    *,
    param: str | None = None,
    code: str | None = None,
    kind: str | None = None,
    request_id: str | None = None,
) -> dict[str, Any]:
    """The same as a Python value."""
    if client == "anthropic":
        place = f"{param}: {message}" if param and not _named(message, param) else message
        error = {"type": "error", "error": {"type": kind or anthropic_type(status), "message": place}}
        if request_id is not None:
            error["request_id"] = request_id
        return error
    if client == "gemini":
        place = f"{param}: {message}" if param and not _named(message, param) else message
        return {"error": {"code": status, "message": place, "status": kind or gemini_status(status)}}
    return {"error": {"message": message, "type": kind or openai_type(status), "param": param, "code": code}}


def _named(message: str, param: str) -> bool:
    """Whether the text already begins with the place, in either spelling."""
    return message.startswith((param, _dotted(param)))


def anthropic_type(status: int) -> str:
    """The `type` of a Messages error."""
    return _ANTHROPIC_TYPES.get(status) or ("invalid_request_error" if status < 500 else "api_error")


def openai_type(status: int) -> str:
    """The `type` of an OpenAI error."""
    return _OPENAI_TYPES.get(status) or ("invalid_request_error" if status < 500 else "server_error")


def gemini_status(status: int) -> str:
    """The `status` word of a Gemini error."""
    return _GEMINI_STATUSES.get(status) or ("INVALID_ARGUMENT" if status < 500 else "INTERNAL")


def event(client: str, failure: Failure, sequence: int = 0) -> bytes:
    """An error inside a stream that has begun, in the form in which this dialect's clients look for one."""
    shown = error_object(client, failure.status, failure.message, code=failure.code, kind=failure.kind)
    if client == "anthropic":
        return b"event: error\ndata: " + dump(shown) + b"\n\n"
    if client == "openai-responses":
        # «type: error, code, message, param, sequence_number»: an event of its own, beside response.failed.
        fields = {
            "type": "error",
            "code": failure.code or failure.kind or openai_type(failure.status),
            "message": failure.message,
        }
        return b"event: error\ndata: " + dump({**fields, "param": None, "sequence_number": sequence}) + b"\n\n"
    return b"data: " + dump(shown) + b"\n\n"


def read_failure(dialect: str, status: int, data: bytes) -> Failure:
    """What an upstream's error body says, whatever its shape. Total: bytes that are no JSON are quoted as text, cut to a line."""
    try:
        found = msgspec.json.decode(data) if data else None
    except (msgspec.DecodeError, RecursionError):
        found = None
    if isinstance(found, list) and found:
        found = found[0]  # Gemini wraps the error of a stream in a list.
    error = found.get("error", found) if isinstance(found, dict) else None
    if isinstance(error, dict):
        message = error.get("message") or error.get("Message") or error.get("detail")
        kind, code, param = error.get("type"), error.get("code"), error.get("param")
        if isinstance(found, dict) and dialect == "bedrock-converse":
            message = message or found.get("message")
    else:
        message = error if isinstance(error, str) else None
        kind = code = param = None
    if not isinstance(message, str) or not message:
        message = one_line(data[:500].decode("utf-8", "replace")) or f"the upstream answered {status} without a word"
    return Failure(status, message, _word(kind), _word(code), _word(param))


def _word(value: object) -> str | None:
    return value if isinstance(value, str) and value else None


def crossed(failure: Failure, client: str, request_id: str) -> bytes:
    """An upstream's error for a client of another dialect: its sentence stays, its type becomes that of the status."""
    code = failure.code if client.startswith("openai") else None
    return body(client, failure.status, failure.message, param=failure.param, code=code, request_id=request_id)
