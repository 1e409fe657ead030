"""Amazon Bedrock Converse."""

from __future__ import annotations

from sendable.dialects import Dialect
from sendable.dialects.bedrock import read, write

BEDROCK = Dialect(
    name=read.HOME,
    key="messages",
    blocks={},
    before={},
    after={},
    body_keys=read.OWN - {"system"},
    read_setting=read.read_setting,
    write=write.write,
    write_settings=write.write_settings,
    keyed=read.KEYED,
    read_hoisted=("system", read.read_system),
    write_hoisted=write.write_system,
)
