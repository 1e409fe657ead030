"""Gemini generateContent."""

from __future__ import annotations

from sendable.dialects import Answers, Dialect
from sendable.dialects.gemini import answer, everyday, read, stream, write

GEMINI = Dialect(
    name=read.HOME,
    key="contents",
    blocks={},
    before={},
    after={},
    body_keys=read.OWN - {"model", "tools", "store", "toolConfig", "tool_config"},
    read_setting=read.read_setting,
    write=write.write,
    write_settings=write.write_settings,
    keyed=read.KEYED,
    claims=read.claims,
    read_entry=everyday.read_content,
    read_hoisted=("systemInstruction", read.read_system),
    write_hoisted=write.write_system,
    hoisted_aliases=frozenset({"system_instruction"}),
    envelope="openai-chat",
    is_call=read.is_call,
    answers=Answers(
        claims=answer.claims,
        failure=answer.failure,
        read=answer.read_answer,
        write=answer.write_answer,
        reader=stream.GeminiReader,
        writer=stream.GeminiWriter,
        decoding=answer.decoding,
        one_at_a_time=True,
        issuer="google",
        beside=stream.beside,
    ),
)
