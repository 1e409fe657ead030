"""OpenAI Chat Completions."""

from __future__ import annotations

from sendable.dialects import Answers, Dialect
from sendable.dialects.openai_chat import answer, everyday, read, stream, write

OPENAI_CHAT = Dialect(
    name=read.HOME,
    key="messages",
    blocks=read.BLOCKS,
    before=read.BEFORE,
    after=read.AFTER,
    body_keys=read.OWN
    - {"model", "max_tokens", "temperature", "top_p", "stream", "metadata", "service_tier", "tools", "tool_choice"},
    read_setting=everyday.read_setting,
    write=write.write,
    write_settings=write.write_settings,
    answers=Answers(
        claims=answer.claims,
        failure=answer.failure,
        read=answer.read_answer,
        write=answer.write_answer,
        reader=stream.ChatReader,
        writer=stream.ChatWriter,
        decoding=answer.decoding,
        one_at_a_time=True,
        issuer="openai",
        carry=answer.carry,
        refusal="refusal",
    ),
)
