"""What the server writes to standard error while it runs: one line each, without a word of any message.

The words of an exception may be a client's; what is logged of one is its kind and its place. What must not live here: the audit.
"""

from __future__ import annotations

import logging
import os
import sys
import traceback
from typing import Any, final

log = logging.getLogger("sendable.gateway")


def traced(error: BaseException | None) -> str:
    """`: KeyError at exchange.py:12, app.py:30`, the innermost place first; nothing without an error."""
    if error is None:
        return ""
    frames = traceback.extract_tb(error.__traceback__)[::-1]
    places = ", ".join(f"{os.path.basename(frame.filename)}:{frame.lineno}" for frame in frames[:12])
    return f": {type(error).__name__} at {places or 'an unknown place'}"


@final
class _OneLine(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        error = record.exc_info[1] if record.exc_info else None
        words = record.getMessage().partition("\n")[0]
        return f"{self.formatTime(record)} {record.levelname.lower()} {record.name}: {words}{traced(error)}"


def set_up() -> None:
    """Warnings and errors go to standard error; with SENDABLE_TRACEBACK set, with all that Python has to say."""
    out: logging.StreamHandler[Any] = logging.StreamHandler(sys.stderr)
    if not os.environ.get("SENDABLE_TRACEBACK"):
        out.setFormatter(_OneLine())
    root = logging.getLogger()
    root.handlers[:] = [out]
    root.setLevel(logging.WARNING)
    # A request that is no HTTP is the sender's trouble, and none that an operator can do anything about.
    logging.getLogger("uvicorn.error").setLevel(logging.ERROR)
