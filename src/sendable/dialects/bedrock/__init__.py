"""Amazon Bedrock Converse."""

from __future__ import annotations

from sendable.dialects import Answers, Dialect
from sendable.dialects.bedrock import answer, everyday, read, stream, write

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
    read_list=everyday.read_list,
    read_hoisted=("system", read.read_system),
    write_hoisted=write.write_system,
    answers=Answers(
        claims=answer.claims,
        failure=answer.failure,
        read=answer.read_answer,
        write=answer.write_answer,
        reader=stream.BedrockReader,
        writer=stream.BedrockWriter,
        decoding=answer.decoding,
        one_at_a_time=True,
        issuer="anthropic",
    ),
)
