"""Anthropic Messages."""

from __future__ import annotations

from sendable.dialects import Answers, Dialect
from sendable.dialects.anthropic import answer, everyday, read, stream, write

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
    read_setting=everyday.read_setting,
    write=write.write,
    write_settings=write.write_settings,
    read_hoisted=("system", read.read_system),
    write_hoisted=write.write_system,
    read_list=everyday.read_list,
    answers=Answers(
        claims=answer.claims,
        failure=answer.failure,
        read=answer.read_answer,
        write=answer.write_answer,
        reader=stream.AnthropicReader,
        writer=stream.AnthropicWriter,
        decoding=answer.decoding,
        one_at_a_time=True,
        issuer="anthropic",
        carry=answer.carry,
    ),
)
