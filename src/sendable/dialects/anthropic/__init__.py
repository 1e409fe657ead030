"""Anthropic Messages."""

from __future__ import annotations

from sendable.dialects import Dialect
from sendable.dialects.anthropic import read, write

ANTHROPIC = Dialect(
    name=read.HOME,
    key="messages",
    blocks=read.BLOCKS,
    before={},
    after={},
    body_keys=read.OWN
    # `thinking` is a field of several servers that speak Chat as well (DS1, section 9).
    - {
        "model",
        "max_tokens",
        "temperature",
        "top_p",
        "stream",
        "metadata",
        "service_tier",
        "thinking",
        "tools",
        "tool_choice",
    },
    read_setting=read.read_setting,
    write=write.write,
    write_settings=write.write_settings,
    read_hoisted=("system", read.read_system),
    write_hoisted=write.write_system,
)
