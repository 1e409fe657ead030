"""The flat form: `{"role", "content": str, "tool_calls": [{"tool_call_id", "name", "arguments"?}], "tool_call_id"}`, and nothing else."""

from __future__ import annotations

from sendable.dialects import Dialect
from sendable.dialects.flat import read, write

FLAT = Dialect(
    name=read.HOME,
    key="messages",
    blocks={},
    before={},
    after={},
    body_keys=frozenset(),
    read_setting=read.read_setting,
    write=write.write,
    write_settings=write.write_settings,
)
