"""A refusal as the body of an HTTP 400, in the form of the provider that the client believes to talk to.

Client libraries show `message`, and match on `code` and `param` (OpenAI) or on `type` (Anthropic, which has no field for a place; but every
message of ours begins with it, as Anthropic's own do). What must not live here: status codes, headers, and upstream errors.
"""

from __future__ import annotations

from sendable.errors import HistoryError
from sendable.render.entries import one_line
from sendable.render.json import dump


def render_openai(error: HistoryError) -> bytes:
    """`{"error": {"message", "type", "param", "code"}}`, as Chat Completions and Responses answer."""
    return dump({"error": {
        "message": one_line(str(error)), "type": "invalid_request_error", "param": error.param, "code": error.code,
    }})  # fmt: skip


def render_anthropic(error: HistoryError) -> bytes:
    """`{"type": "error", "error": {"type", "message"}}`, as Messages answers."""
    return dump({"type": "error", "error": {"type": "invalid_request_error", "message": one_line(str(error))}})
