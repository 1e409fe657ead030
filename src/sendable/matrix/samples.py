"""One small history for each property and each dialect that has it, in the dialect's own form; a dialect that is missing has no such thing.

Data, and nothing else. What must not live here: what becomes of a history (cells.py), and how it is seen (look.py).
"""

from __future__ import annotations

from typing import Any, final

import msgspec


@final
class Sample(msgspec.Struct, frozen=True, gc=False):
    """A history that shows one property.

    `at`: the places of the property in it, where an entry is about the property. `beside`: places of other properties, which have rows of
    their own. `tokens`: what is still found somewhere in the output as long as anything of the property is left.
    """

    history: Any
    at: tuple[str, ...]
    tokens: tuple[str, ...] = ()
    beside: tuple[str, ...] = ()


PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
PDF = "JVBERi0xLjQKMSAwIG9iago8PC9UeXBlL0NhdGFsb2c+PgplbmRvYmoKdHJhaWxlcgo8PC9Sb290IDEgMCBSPj4KJSVFT0YK"
WAV = "UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQAAAAA="
SIGNATURE = "RXFRQkNrWUlDQmdDS2tEMm1hdHJpeHNpZ25hdHVyZQ=="
SEALED = "RW1vUUNrWUlDQmdDS2tEMm1hdHJpeHNlYWxlZA=="
FERNET = "gAAAAABmatrixencryptedcontent0123456789abcdef=="

QUESTION = "How is the weather in Paris?"
THOUGHT = "The user wants the weather, so I look it up."
ANSWER = "It is sunny."
PAGE = "https://weather.example/paris"
SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"city": {"type": "string"}},
    "required": ["city"],
    "additionalProperties": False,
}


# How each dialect says the everyday things.


def _chat(role: str, content: Any, **more: Any) -> dict[str, Any]:
    return {"role": role, "content": content, **more}


def _chat_call(call_id: str, city: str) -> dict[str, Any]:
    return {
        "id": call_id,
        "type": "function",
        "function": {"name": "weather", "arguments": f'{{"city":"{city}"}}'},
    }


def _chat_result(call_id: str, text: str) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": call_id, "content": text}


def _flat_call(call_id: str, city: str) -> dict[str, Any]:
    return {"tool_call_id": call_id, "name": "weather", "arguments": {"city": city}}


def _item(role: str, *parts: dict[str, Any]) -> dict[str, Any]:
    return {"type": "message", "role": role, "content": [*parts]}


def _in(text: str, **more: Any) -> dict[str, Any]:
    return {"type": "input_text", "text": text, **more}


def _out(text: str, *annotations: dict[str, Any]) -> dict[str, Any]:
    return {"type": "output_text", "text": text, "annotations": [*annotations]}


def _function_call(call_id: str, city: str) -> dict[str, Any]:
    return {"type": "function_call", "call_id": call_id, "name": "weather", "arguments": f'{{"city":"{city}"}}'}


def _function_output(call_id: str, output: Any) -> dict[str, Any]:
    return {"type": "function_call_output", "call_id": call_id, "output": output}


def _text(text: str, **more: Any) -> dict[str, Any]:
    return {"type": "text", "text": text, **more}


def _tool_use(call_id: str, city: str) -> dict[str, Any]:
    return {"type": "tool_use", "id": call_id, "name": "weather", "input": {"city": city}}


def _tool_result(call_id: str, content: Any, **more: Any) -> dict[str, Any]:
    return {"type": "tool_result", "tool_use_id": call_id, "content": content, **more}


def _content(role: str, *parts: dict[str, Any]) -> dict[str, Any]:
    return {"role": role, "parts": [*parts]}


def _gemini_call(call_id: str, city: str, **more: Any) -> dict[str, Any]:
    return {"functionCall": {"id": call_id, "name": "weather", "args": {"city": city}}, **more}


def _gemini_result(call_id: str, response: Any, **more: Any) -> dict[str, Any]:
    return {"functionResponse": {"id": call_id, "name": "weather", "response": response, **more}}


def _turn(role: str, *blocks: dict[str, Any]) -> dict[str, Any]:
    return {"role": role, "content": [*blocks]}


def _converse_call(call_id: str, city: str) -> dict[str, Any]:
    return {"toolUse": {"toolUseId": call_id, "name": "weather", "input": {"city": city}}}


def _converse_result(call_id: str, *content: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"toolResult": {"toolUseId": call_id, "content": [*content], **more}}


# The properties, in the order of the page.

_TEXT = {
    dialect: Sample(
        [_chat("user", QUESTION), _chat("assistant", ANSWER), _chat("user", "Thanks.")], ("messages",), (ANSWER,)
    )
    for dialect in ("flat", "openai-chat", "anthropic")
} | {
    "openai-responses": Sample(
        [_item("user", _in(QUESTION)), _item("assistant", _out(ANSWER)), _item("user", _in("Thanks."))],
        ("messages",),
        (ANSWER,),
    ),
    "gemini": Sample(
        [
            _content("user", {"text": QUESTION}),
            _content("model", {"text": ANSWER}),
            _content("user", {"text": "Thanks."}),
        ],
        ("messages",),
        (ANSWER,),
    ),
    "bedrock-converse": Sample(
        [_turn("user", {"text": QUESTION}), _turn("assistant", {"text": ANSWER}), _turn("user", {"text": "Thanks."})],
        ("messages",),
        (ANSWER,),
    ),
}

_REASONING_TEXT = {
    "openai-chat": Sample(
        [_chat("user", QUESTION), _chat("assistant", ANSWER, reasoning_content=THOUGHT), _chat("user", "Thanks.")],
        ("messages[1].reasoning_content",),
        (THOUGHT,),
    ),
    "openai-responses": Sample(
        [
            _item("user", _in(QUESTION)),
            {
                "type": "reasoning",
                "id": "rs_1",
                "summary": [{"type": "summary_text", "text": THOUGHT}],
                "encrypted_content": FERNET,
            },
            _item("assistant", _out(ANSWER)),
            _item("user", _in("Thanks.")),
        ],
        ("messages[1].summary",),
        (THOUGHT,),
        ("messages[1].encrypted_content", "messages[1].id"),
    ),
    "anthropic": Sample(
        [
            _chat("user", QUESTION),
            _turn("assistant", {"type": "thinking", "thinking": THOUGHT, "signature": SIGNATURE}, _text(ANSWER)),
            _chat("user", "Thanks."),
        ],
        ("messages[1].content[0].thinking",),
        (THOUGHT,),
        ("messages[1].content[0].signature",),
    ),
    "gemini": Sample(
        [
            _content("user", {"text": QUESTION}),
            _content("model", {"text": THOUGHT, "thought": True}, {"text": ANSWER}),
            _content("user", {"text": "Thanks."}),
        ],
        ("messages[1].parts[0]",),
        (THOUGHT,),
    ),
    "bedrock-converse": Sample(
        [
            _turn("user", {"text": QUESTION}),
            _turn(
                "assistant",
                {"reasoningContent": {"reasoningText": {"text": THOUGHT, "signature": SIGNATURE}}},
                {"text": ANSWER},
            ),
            _turn("user", {"text": "Thanks."}),
        ],
        ("messages[1].content[0].reasoningContent.reasoningText.text",),
        (THOUGHT,),
        ("messages[1].content[0].reasoningContent.reasoningText.signature",),
    ),
}

_SIGNATURE = {
    # As a router writes it, which has it from the provider behind it.
    "openai-chat": Sample(
        [
            _chat("user", QUESTION),
            _chat(
                "assistant",
                ANSWER,
                reasoning_details=[
                    {
                        "type": "reasoning.text",
                        "text": THOUGHT,
                        "signature": SIGNATURE,
                        "format": "anthropic-claude-v1",
                        "index": 0,
                    }
                ],
            ),
            _chat("user", "Thanks."),
        ],
        ("messages[1].reasoning_details",),
        (SIGNATURE,),
    ),
    "anthropic": Sample(
        _REASONING_TEXT["anthropic"].history,
        ("messages[1].content[0].signature",),
        (SIGNATURE,),
        ("messages[1].content[0].thinking",),
    ),
    "gemini": Sample(
        [
            _content("user", {"text": QUESTION}),
            _content("model", _gemini_call("c1", "Paris", thoughtSignature=SIGNATURE)),
            _content("user", _gemini_result("c1", {"output": "sunny"})),
        ],
        ("messages[1].parts[0].thoughtSignature",),
        (SIGNATURE,),
    ),
    "bedrock-converse": Sample(
        _REASONING_TEXT["bedrock-converse"].history,
        ("messages[1].content[0].reasoningContent.reasoningText.signature",),
        (SIGNATURE,),
        ("messages[1].content[0].reasoningContent.reasoningText.text",),
    ),
}

_ENCRYPTED = {
    # As a router writes it.
    "openai-chat": Sample(
        [
            _chat("user", QUESTION),
            _chat(
                "assistant",
                ANSWER,
                reasoning_details=[
                    {"type": "reasoning.encrypted", "data": FERNET, "format": "openai-responses-v1", "index": 0}
                ],
            ),
            _chat("user", "Thanks."),
        ],
        ("messages[1].reasoning_details",),
        (FERNET,),
    ),
    "openai-responses": Sample(
        _REASONING_TEXT["openai-responses"].history,
        ("messages[1].encrypted_content",),
        (FERNET,),
        ("messages[1].summary", "messages[1].id"),
    ),
    "anthropic": Sample(
        [
            _chat("user", QUESTION),
            _turn("assistant", {"type": "redacted_thinking", "data": SEALED}, _text(ANSWER)),
            _chat("user", "Thanks."),
        ],
        ("messages[1].content[0]",),
        (SEALED,),
    ),
    "bedrock-converse": Sample(
        [
            _turn("user", {"text": QUESTION}),
            _turn("assistant", {"reasoningContent": {"redactedContent": SEALED}}, {"text": ANSWER}),
            _turn("user", {"text": "Thanks."}),
        ],
        ("messages[1].content[0]",),
        (SEALED,),
    ),
}

_PARALLEL = {
    "flat": Sample(
        [
            _chat("user", QUESTION),
            _chat("assistant", "", tool_calls=[_flat_call("c1", "Paris"), _flat_call("c2", "Rome")]),
            _chat_result("c1", "sunny"),
            _chat_result("c2", "rainy"),
        ],
        ("messages[1]", "messages[2]", "messages[3]"),
        ("c1", "c2"),
    ),
    "openai-chat": Sample(
        [
            _chat("user", QUESTION),
            _chat("assistant", None, tool_calls=[_chat_call("c1", "Paris"), _chat_call("c2", "Rome")]),
            _chat_result("c1", "sunny"),
            _chat_result("c2", "rainy"),
        ],
        ("messages[1]", "messages[2]", "messages[3]"),
        ("c1", "c2"),
    ),
    "openai-responses": Sample(
        [
            _item("user", _in(QUESTION)),
            _function_call("c1", "Paris"),
            _function_call("c2", "Rome"),
            _function_output("c1", "sunny"),
            _function_output("c2", "rainy"),
        ],
        ("messages[1]", "messages[2]", "messages[3]", "messages[4]"),
        ("c1", "c2"),
    ),
    "anthropic": Sample(
        [
            _chat("user", QUESTION),
            _turn("assistant", _tool_use("c1", "Paris"), _tool_use("c2", "Rome")),
            _turn("user", _tool_result("c1", "sunny"), _tool_result("c2", "rainy")),
        ],
        ("messages[1]", "messages[2]"),
        ("c1", "c2"),
    ),
    "gemini": Sample(
        [
            _content("user", {"text": QUESTION}),
            _content("model", _gemini_call("c1", "Paris"), _gemini_call("c2", "Rome")),
            _content("user", _gemini_result("c1", {"output": "sunny"}), _gemini_result("c2", {"output": "rainy"})),
        ],
        ("messages[1]", "messages[2]"),
        ("c1", "c2"),
    ),
    "bedrock-converse": Sample(
        [
            _turn("user", {"text": QUESTION}),
            _turn("assistant", _converse_call("c1", "Paris"), _converse_call("c2", "Rome")),
            _turn("user", _converse_result("c1", {"text": "sunny"}), _converse_result("c2", {"text": "rainy"})),
        ],
        ("messages[1]", "messages[2]"),
        ("c1", "c2"),
    ),
}

# The dialects with a list for calls alone can say text before calls; the others can also say it between them.
_ORDER = {
    "flat": Sample(
        [
            _chat("user", QUESTION),
            _chat("assistant", "First Paris.", tool_calls=[_flat_call("c1", "Paris")]),
            _chat_result("c1", "sunny"),
        ],
        ("messages[1]",),
        ("First Paris.", "c1"),
    ),
    "openai-chat": Sample(
        [
            _chat("user", QUESTION),
            _chat("assistant", "First Paris.", tool_calls=[_chat_call("c1", "Paris")]),
            _chat_result("c1", "sunny"),
        ],
        ("messages[1]",),
        ("First Paris.", "c1"),
    ),
    "openai-responses": Sample(
        [
            _item("user", _in(QUESTION)),
            _item("assistant", _out("First Paris.")),
            _function_call("c1", "Paris"),
            _item("assistant", _out("Then Rome.")),
            _function_call("c2", "Rome"),
            _function_output("c1", "sunny"),
            _function_output("c2", "rainy"),
        ],
        ("messages[1]", "messages[2]", "messages[3]", "messages[4]"),
        ("First Paris.", "c1", "Then Rome.", "c2"),
    ),
    "anthropic": Sample(
        [
            _chat("user", QUESTION),
            _turn(
                "assistant",
                _text("First Paris."),
                _tool_use("c1", "Paris"),
                _text("Then Rome."),
                _tool_use("c2", "Rome"),
            ),
            _turn("user", _tool_result("c1", "sunny"), _tool_result("c2", "rainy")),
        ],
        ("messages[1]",),
        ("First Paris.", "c1", "Then Rome.", "c2"),
    ),
    "gemini": Sample(
        [
            _content("user", {"text": QUESTION}),
            _content(
                "model",
                {"text": "First Paris."},
                _gemini_call("c1", "Paris"),
                {"text": "Then Rome."},
                _gemini_call("c2", "Rome"),
            ),
            _content("user", _gemini_result("c1", {"output": "sunny"}), _gemini_result("c2", {"output": "rainy"})),
        ],
        ("messages[1]",),
        ("First Paris.", "c1", "Then Rome.", "c2"),
    ),
    "bedrock-converse": Sample(
        [
            _turn("user", {"text": QUESTION}),
            _turn(
                "assistant",
                {"text": "First Paris."},
                _converse_call("c1", "Paris"),
                {"text": "Then Rome."},
                _converse_call("c2", "Rome"),
            ),
            _turn("user", _converse_result("c1", {"text": "sunny"}), _converse_result("c2", {"text": "rainy"})),
        ],
        ("messages[1]",),
        ("First Paris.", "c1", "Then Rome.", "c2"),
    ),
}

_ERROR = {
    "anthropic": Sample(
        [
            _chat("user", QUESTION),
            _turn("assistant", _tool_use("c1", "Paris")),
            _turn("user", _tool_result("c1", "no such city", is_error=True)),
        ],
        ("messages[2].content[0]",),
        ("[tool error]",),
    ),
    "gemini": Sample(
        [
            _content("user", {"text": QUESTION}),
            _content("model", _gemini_call("c1", "Paris")),
            _content("user", _gemini_result("c1", {"error": "no such city"})),
        ],
        ("messages[2].parts[0]",),
        ("[tool error]",),
    ),
    "bedrock-converse": Sample(
        [
            _turn("user", {"text": QUESTION}),
            _turn("assistant", _converse_call("c1", "Paris")),
            _turn("user", _converse_result("c1", {"text": "no such city"}, status="error")),
        ],
        ("messages[2].content[0]",),
        ("[tool error]",),
    ),
}

_STRICT = {
    "openai-chat": Sample(
        {
            "messages": [_chat("user", QUESTION)],
            "tools": [{"type": "function", "function": {"name": "weather", "parameters": SCHEMA, "strict": True}}],
        },
        ("tools[0]",),
    ),
    "openai-responses": Sample(
        {
            "input": [_item("user", _in(QUESTION))],
            "tools": [{"type": "function", "name": "weather", "parameters": SCHEMA, "strict": True}],
        },
        ("tools[0]",),
    ),
    "anthropic": Sample(
        {
            "messages": [_chat("user", QUESTION)],
            "tools": [{"name": "weather", "input_schema": SCHEMA, "strict": True}],
        },
        ("tools[0]",),
    ),
    "bedrock-converse": Sample(
        {
            "messages": [_turn("user", {"text": QUESTION})],
            "toolConfig": {
                "tools": [{"toolSpec": {"name": "weather", "inputSchema": {"json": SCHEMA}, "strict": True}}]
            },
        },
        ("toolConfig.tools[0]",),
    ),
}

_IMAGES = {
    "openai-chat": Sample(
        [
            _chat(
                "user",
                [
                    _text("What is this?"),
                    {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PNG}"}},
                    _text("Be brief."),
                ],
            )
        ],
        ("messages[0].content[1]",),
        (PNG,),
    ),
    "openai-responses": Sample(
        [
            _item(
                "user",
                _in("What is this?"),
                {"type": "input_image", "image_url": f"data:image/png;base64,{PNG}", "detail": "auto"},
                _in("Be brief."),
            )
        ],
        ("messages[0].content[1]",),
        (PNG,),
    ),
    "anthropic": Sample(
        [
            _turn(
                "user",
                _text("What is this?"),
                {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PNG}},
                _text("Be brief."),
            )
        ],
        ("messages[0].content[1]",),
        (PNG,),
    ),
    "gemini": Sample(
        [
            _content(
                "user",
                {"text": "What is this?"},
                {"inlineData": {"mimeType": "image/png", "data": PNG}},
                {"text": "Be brief."},
            )
        ],
        ("messages[0].parts[1]",),
        (PNG,),
    ),
    "bedrock-converse": Sample(
        [
            _turn(
                "user",
                {"text": "What is this?"},
                {"image": {"format": "png", "source": {"bytes": PNG}}},
                {"text": "Be brief."},
            )
        ],
        ("messages[0].content[1]",),
        (PNG,),
    ),
}

_IMAGES_IN_RESULTS = {
    "openai-responses": Sample(
        [
            _item("user", _in(QUESTION)),
            _function_call("c1", "Paris"),
            _function_output(
                "c1",
                [
                    _in("the radar"),
                    {"type": "input_image", "image_url": f"data:image/png;base64,{PNG}", "detail": "auto"},
                ],
            ),
        ],
        ("messages[2].output[1]",),
        (PNG,),
    ),
    "anthropic": Sample(
        [
            _chat("user", QUESTION),
            _turn("assistant", _tool_use("c1", "Paris")),
            _turn(
                "user",
                _tool_result(
                    "c1",
                    [
                        _text("the radar"),
                        {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PNG}},
                    ],
                ),
            ),
        ],
        ("messages[2].content[0].content[1]",),
        (PNG,),
    ),
    "gemini": Sample(
        [
            _content("user", {"text": QUESTION}),
            _content("model", _gemini_call("c1", "Paris")),
            _content(
                "user",
                _gemini_result(
                    "c1", {"output": "the radar"}, parts=[{"inlineData": {"mimeType": "image/png", "data": PNG}}]
                ),
            ),
        ],
        ("messages[2].parts[0].functionResponse.parts[0]",),
        (PNG,),
    ),
    "bedrock-converse": Sample(
        [
            _turn("user", {"text": QUESTION}),
            _turn("assistant", _converse_call("c1", "Paris")),
            _turn(
                "user",
                _converse_result("c1", {"text": "the radar"}, {"image": {"format": "png", "source": {"bytes": PNG}}}),
            ),
        ],
        ("messages[2].content[0].toolResult.content[1]",),
        (PNG,),
    ),
}

_DOCUMENTS = {
    "openai-chat": Sample(
        [
            _chat(
                "user",
                [
                    _text("Sum this up."),
                    {
                        "type": "file",
                        "file": {"filename": "report.pdf", "file_data": f"data:application/pdf;base64,{PDF}"},
                    },
                ],
            )
        ],
        ("messages[0].content[1]",),
        (PDF,),
    ),
    "openai-responses": Sample(
        [
            _item(
                "user",
                _in("Sum this up."),
                {
                    "type": "input_file",
                    "filename": "report.pdf",
                    "file_data": f"data:application/pdf;base64,{PDF}",
                },
            )
        ],
        ("messages[0].content[1]",),
        (PDF,),
    ),
    "anthropic": Sample(
        [
            _turn(
                "user",
                _text("Sum this up."),
                {
                    "type": "document",
                    "source": {"type": "base64", "media_type": "application/pdf", "data": PDF},
                    "title": "Report",
                },
            )
        ],
        ("messages[0].content[1]",),
        (PDF,),
    ),
    "gemini": Sample(
        [
            _content(
                "user",
                {"text": "Sum this up."},
                {"inlineData": {"mimeType": "application/pdf", "data": PDF, "displayName": "Report"}},
            )
        ],
        ("messages[0].parts[1]",),
        (PDF,),
    ),
    "bedrock-converse": Sample(
        [
            _turn(
                "user",
                {"text": "Sum this up."},
                {"document": {"format": "pdf", "name": "Report", "source": {"bytes": PDF}}},
            )
        ],
        ("messages[0].content[1]",),
        (PDF,),
    ),
}

_AUDIO = {
    "openai-chat": Sample(
        [
            _chat(
                "user",
                [_text("What is said?"), {"type": "input_audio", "input_audio": {"data": WAV, "format": "wav"}}],
            )
        ],
        ("messages[0].content[1]",),
        (WAV,),
    ),
    "gemini": Sample(
        [_content("user", {"text": "What is said?"}, {"inlineData": {"mimeType": "audio/wav", "data": WAV}})],
        ("messages[0].parts[1]",),
        (WAV,),
    ),
    "bedrock-converse": Sample(
        [_turn("user", {"text": "What is said?"}, {"audio": {"format": "wav", "source": {"bytes": WAV}}})],
        ("messages[0].content[1]",),
        (WAV,),
    ),
}

_CITATIONS = {
    "openai-chat": Sample(
        [
            _chat("user", QUESTION),
            _chat(
                "assistant",
                ANSWER,
                annotations=[
                    {
                        "type": "url_citation",
                        "url_citation": {"url": PAGE, "title": "Weather", "start_index": 0, "end_index": 12},
                    }
                ],
            ),
            _chat("user", "Thanks."),
        ],
        ("messages[1].annotations",),
        (PAGE,),
    ),
    "openai-responses": Sample(
        [
            _item("user", _in(QUESTION)),
            _item(
                "assistant",
                _out(
                    ANSWER,
                    {"type": "url_citation", "url": PAGE, "title": "Weather", "start_index": 0, "end_index": 12},
                ),
            ),
            _item("user", _in("Thanks.")),
        ],
        ("messages[1].content[0].annotations",),
        (PAGE,),
    ),
    "anthropic": Sample(
        [
            _chat("user", QUESTION),
            _turn(
                "assistant",
                _text(
                    ANSWER,
                    citations=[
                        {
                            "type": "web_search_result_location",
                            "cited_text": "Paris: sunny",
                            "encrypted_index": SEALED,
                            "title": "Weather",
                            "url": PAGE,
                        }
                    ],
                ),
            ),
            _chat("user", "Thanks."),
        ],
        ("messages[1].content[0].citations",),
        (PAGE,),
    ),
    "bedrock-converse": Sample(
        [
            _turn("user", {"text": QUESTION}),
            _turn(
                "assistant",
                {
                    "citationsContent": {
                        "content": [{"text": ANSWER}],
                        "citations": [
                            {
                                "title": "Weather",
                                "sourceContent": [{"text": "Paris: sunny"}],
                                "location": {"web": {"url": PAGE, "domain": "weather.example"}},
                            }
                        ],
                    }
                },
            ),
            _turn("user", {"text": "Thanks."}),
        ],
        ("messages[1].content[0].citationsContent",),
        (PAGE,),
    ),
}

_CACHE = {
    "openai-chat": Sample(
        [_chat("user", [_text("A long text.", prompt_cache_breakpoint={"mode": "explicit"}), _text(QUESTION)])],
        ("messages[0].content[0].prompt_cache_breakpoint",),
        ("prompt_cache_breakpoint",),
    ),
    "openai-responses": Sample(
        [_item("user", _in("A long text.", prompt_cache_breakpoint={"mode": "explicit"}), _in(QUESTION))],
        ("messages[0].content[0].prompt_cache_breakpoint",),
        ("prompt_cache_breakpoint",),
    ),
    "anthropic": Sample(
        [_turn("user", _text("A long text.", cache_control={"type": "ephemeral"}), _text(QUESTION))],
        ("messages[0].content[0].cache_control",),
        ("cache_control",),
    ),
    "bedrock-converse": Sample(
        [_turn("user", {"text": "A long text."}, {"cachePoint": {"type": "default"}}, {"text": QUESTION})],
        ("messages[0].content[1]",),
        ("cachePoint",),
    ),
}

LATE = "From now on answer in French."

_MID_SYSTEM = {
    "openai-chat": Sample(
        [_chat("user", QUESTION), _chat("system", LATE), _chat("assistant", ANSWER), _chat("user", "Thanks.")],
        ("messages[1]",),
        (LATE,),
    ),
    "openai-responses": Sample(
        [
            _item("user", _in(QUESTION)),
            _item("system", _in(LATE)),
            _item("assistant", _out(ANSWER)),
            _item("user", _in("Thanks.")),
        ],
        ("messages[1]",),
        (LATE,),
    ),
    # From Opus 4.8 and Sonnet 5 on: the model that the body names says that it takes them.
    "anthropic": Sample(
        {
            "model": "claude-opus-4-8",
            "max_tokens": 1024,
            "messages": [
                _chat("user", QUESTION),
                _chat("system", LATE),
                _chat("assistant", ANSWER),
                _chat("user", "Thanks."),
            ],
        },
        ("messages[1]",),
        (LATE,),
        ("model", "max_tokens"),
    ),
}

_SEVERAL = {
    "openai-responses": Sample(
        [
            _item("user", _in("Run it.")),
            {"type": "custom_tool_call", "call_id": "c1", "name": "shell", "input": "make"},
            {"type": "custom_tool_call_output", "call_id": "c1", "output": "compiling"},
            {"type": "custom_tool_call_output", "call_id": "c1", "output": "linked"},
        ],
        ("messages[2]", "messages[3]"),
        ("compiling", "linked"),
        # Abroad the free text becomes an argument.
        ("messages[1].input",),
    ),
}

_HOSTED = {
    "openai-responses": Sample(
        [
            _item("user", _in(QUESTION)),
            {
                "type": "web_search_call",
                "id": "ws_1",
                "status": "completed",
                "action": {"type": "search", "query": "forecast today"},
            },
            _item("assistant", _out(ANSWER)),
            _item("user", _in("Thanks.")),
        ],
        ("messages[1]",),
        ("ws_1", "forecast today"),
    ),
    "anthropic": Sample(
        [
            _chat("user", QUESTION),
            _turn(
                "assistant",
                {
                    "type": "server_tool_use",
                    "id": "srvtoolu_01",
                    "name": "web_search",
                    "input": {"query": "forecast today"},
                },
                {
                    "type": "web_search_tool_result",
                    "tool_use_id": "srvtoolu_01",
                    "content": [
                        {
                            "type": "web_search_result",
                            "url": PAGE,
                            "title": "Weather",
                            "encrypted_content": SEALED,
                        }
                    ],
                },
                _text(ANSWER),
            ),
            _chat("user", "Thanks."),
        ],
        ("messages[1].content[0]", "messages[1].content[1]"),
        ("srvtoolu_01", "forecast today", PAGE),
    ),
    "gemini": Sample(
        [
            _content("user", {"text": "What is the 20th prime?"}),
            _content(
                "model",
                {"executableCode": {"language": "PYTHON", "code": "print(prime(20))"}},
                {"codeExecutionResult": {"outcome": "OUTCOME_OK", "output": "seventy-one\n"}},
                {"text": "It is 71."},
            ),
            _content("user", {"text": "Thanks."}),
        ],
        ("messages[1].parts[0]", "messages[1].parts[1]"),
        ("print(prime(20))", "seventy-one"),
    ),
    "bedrock-converse": Sample(
        [
            _turn("user", {"text": QUESTION}),
            _turn(
                "assistant",
                {
                    "toolUse": {
                        "toolUseId": "srv1",
                        "name": "nova_grounding",
                        "input": {"query": "forecast today"},
                        "type": "server_tool_use",
                    }
                },
                {
                    "toolResult": {
                        "toolUseId": "srv1",
                        "content": [{"text": "sunny says the page"}],
                        "status": "success",
                        "type": "nova_grounding_result",
                    }
                },
                {"text": ANSWER},
            ),
            _turn("user", {"text": "Thanks."}),
        ],
        ("messages[1].content[0]", "messages[1].content[1]"),
        ("srv1", "forecast today", "sunny says the page"),
    ),
}

_CONTINUATION = {
    "openai-chat": Sample(
        [
            _chat("user", QUESTION),
            _chat("assistant", ANSWER, audio={"id": "audio_0123456789"}),
            _chat("user", "Thanks."),
        ],
        ("messages[1].audio",),
        ("audio_0123456789",),
    ),
    "openai-responses": Sample(
        {"previous_response_id": "resp_0123456789", "input": [_item("user", _in("And tomorrow?"))]},
        ("previous_response_id",),
        ("resp_0123456789",),
    ),
    "anthropic": Sample(
        {"container": "container_0123456789", "messages": [_chat("user", "And tomorrow?")]},
        ("container",),
        ("container_0123456789",),
    ),
    "gemini": Sample(
        {"cachedContent": "cachedContents/0123456789", "contents": [_content("user", {"text": "And tomorrow?"})]},
        ("cachedContent",),
        ("cachedContents/0123456789",),
    ),
}

SAMPLES: dict[str, dict[str, Sample]] = {
    "text": _TEXT,
    "reasoning text": _REASONING_TEXT,
    "signature": _SIGNATURE,
    "encrypted reasoning": _ENCRYPTED,
    "parallel calls": _PARALLEL,
    "order of text and calls": _ORDER,
    "error flag": _ERROR,
    "strict flag": _STRICT,
    "images in user turns": _IMAGES,
    "images in results": _IMAGES_IN_RESULTS,
    "documents": _DOCUMENTS,
    "audio": _AUDIO,
    "citations": _CITATIONS,
    "cache marks": _CACHE,
    "mid-list system": _MID_SYSTEM,
    "several results per call": _SEVERAL,
    "hosted tools": _HOSTED,
    "continuation": _CONTINUATION,
}
"""Each property, and the history that shows it in each dialect that has it."""
