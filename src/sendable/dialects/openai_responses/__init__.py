"""OpenAI Responses."""

from __future__ import annotations

from sendable.dialects import Answers, Dialect
from sendable.dialects.openai_responses import answer, read, stream, write

OPENAI_RESPONSES = Dialect(
    name=read.HOME,
    key="input",
    blocks=read.BLOCKS,
    before={},
    after={},
    body_keys=frozenset(
        {"instructions", "previous_response_id", "conversation", "max_output_tokens", "max_tool_calls", "truncation"}
    ),
    read_setting=read.read_setting,
    write=write.write,
    write_settings=write.write_settings,
    claims=read.claims,
    read_entry=read.read_entry,
    is_call=read.is_call,
    read_hoisted=("instructions", read.read_instructions),
    write_hoisted=write.write_instructions,
    read_single=read.read_single,
    handles=read.HANDLES,
    write_single=write.write_single,
    answers=Answers(
        claims=answer.claims,
        failure=answer.failure,
        read=answer.read_answer,
        write=answer.write_answer,
        reader=stream.ResponsesReader,
        writer=stream.ResponsesWriter,
        decoding=answer.decoding,
        one_at_a_time=True,
        issuer="openai",
        carry=answer.carry,
        refusal="refusal",
        beside=stream.beside,
    ),
)
