"""Hub → Gemini generateContent, in camelCase. Total: what Gemini cannot hold has gone before, with its entry (fit.py and the target's rules)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, assert_never

from sendable import paths, payload
from sendable.conversation import (
    Block,
    Fields,
    Media,
    Message,
    Opaque,
    Reasoning,
    Refusal,
    Setting,
    Signature,
    Text,
    ToolCall,
    ToolResult,
)
from sendable.dialects import Wire, as_it_came
from sendable.dialects.gemini.read import DATA, HOME, INNER, PART, read_result
from sendable.payload import Leaf

SEPARATOR = "\n\n"


def write_block(block: Block) -> Wire:
    """One block as a part."""
    if block.intact and block.home == HOME and type(block.raw) is dict and "type" not in block.raw:
        return as_it_came(block)
    if type(block) is Text:
        return _with_extra(_signed({"text": block.text}, block.signature), block.extra)
    if type(block) is ToolCall:
        call: dict[str, Any] = {} if block.id is None else {"id": block.id}
        call["name"] = block.name
        if block.arguments is not None:
            call["args"] = block.arguments
        return _with_extra(_signed({"functionCall": call}, block.signature), block.extra)
    if type(block) is ToolResult:
        return _write_result(block)
    if type(block) is Reasoning:
        thought = {"text": "" if block.text is None else block.text, "thought": True}
        return _with_extra(_signed(thought, block.signature), block.extra)
    if type(block) is Media:
        return _with_extra(_write_media(block), block.extra)
    if type(block) is Refusal:
        return Wire({"text": block.text})
    if type(block) is Opaque:
        return _without(block)
    assert_never(block)


def _without(block: Opaque) -> Wire:
    """An opaque part as it came, less the fields that a rule stripped."""
    key = (
        next((key for key in payload.members(block.raw) if DATA.get(key) == block.kind), None)
        if type(block.raw) is dict
        else None
    )
    inner = payload.fields(payload.members(block.raw)[key]) if key is not None else None
    if key is None or inner is None:
        return as_it_came(block) if type(block.raw) is dict else Wire({"text": payload.as_json_text(block.raw)})
    kept = {name: value for name, value in inner.items() if name in INNER[block.kind]}  # keeps: the rest is in `extra`
    return _with_extra({block.kind: kept}, block.extra)


def _signed(part: dict[str, Any], signature: Signature | None) -> dict[str, Any]:
    if signature is not None:
        part["thoughtSignature"] = signature.value
    return part


def _write_result(block: ToolResult) -> Wire:
    """A `functionResponse`: «response must be a JSON object (wrap scalars: {"output": …}; errors under "error")» (GE8)."""
    result: dict[str, Any] = {} if block.id is None or block.by_name else {"id": block.id}
    result["name"] = block.name
    media = [block for block in block.content if type(block) is Media]  # keeps: the texts are written below
    texts = [_text(block) for block in block.content if type(block) is not Media]  # keeps: the media are written behind
    said: Leaf = payload.joined(texts, SEPARATOR) if texts else ""
    native = _native_response(block)
    if native is not None and _is_said_by(native, said, bool(block.error)):
        result["response"] = native
    else:
        result["response"] = {"error" if block.error else "output": said}
    if media:
        result["parts"] = [write_block(inner) for inner in media]
    return _with_extra({"functionResponse": result}, block.extra)


def _text(block: Block) -> Leaf:
    if type(block) is Text or type(block) is Refusal:
        return block.text
    return payload.as_json_text(block.raw) or ""


def _native_response(block: ToolResult) -> Leaf | None:
    """The response object in which a result of Gemini's own came."""
    if block.home != HOME or type(block.raw) is not dict:
        return None
    inner = next(
        (
            payload.fields(payload.members(block.raw)[key])
            for key in ("functionResponse", "function_response")
            if key in block.raw
        ),
        block.raw,
    )
    response = (inner or {}).get("response")
    return response if payload.kind(response) == "object" else None


def _is_said_by(response: Leaf, said: Leaf, error: bool) -> bool:
    """Whether a response object still says what the result says now."""
    its_error, its_text = read_result(response)
    return its_error == error and payload.string("" if its_text is None else its_text) == payload.string(said)


def _write_media(block: Media) -> dict[str, Any]:
    named: dict[str, Any] = {} if block.name is None else {"displayName": block.name}
    if block.source == "base64":
        return {"inlineData": {"mimeType": block.media_type or "application/octet-stream", "data": block.data, **named}}
    typed: dict[str, Any] = {} if block.media_type is None else {"mimeType": block.media_type}
    return {"fileData": {**typed, "fileUri": block.data, **named}}


def _with_extra(wire: dict[str, Any], extra: Fields | None) -> Wire:
    """The part with the fields that the hub does not model; a dotted name stands in the one inner object."""
    for key, value in (extra or {}).items():
        outer, dot, name = key.partition(".")
        place = DATA.get(outer)
        if dot and place is not None and type(wire.get(place)) is dict:
            wire[place] = {**wire[place], name: value}
        elif dot and outer in PART:
            wire[outer] = {**wire.get(outer, {}), name: value}
        elif key != "name":
            wire.setdefault(key, value)
    return Wire(wire)


def write(messages: Sequence[Message]) -> list[Wire]:
    """The contents. That each turn is one content is made so by the target's rules."""
    out: list[Wire] = []
    for message in messages:
        if message.intact and message.home == HOME:
            out.append(as_it_came(message))
        else:
            role = "model" if message.role == "assistant" else "user"
            out.append(
                _with_extra({"role": role, "parts": [write_block(block) for block in message.blocks]}, message.extra)
            )
    return out


def write_system(messages: Sequence[Message]) -> Any:
    """The leading system messages as `systemInstruction`: one content, with a part for each text."""
    first = messages[0]
    if len(messages) == 1 and first.intact and first.home == HOME and len(first.at) == 1:
        return first.raw
    parts = [write_block(block) for message in messages for block in message.blocks]
    return {"parts": parts}


# Request fields.

WRITABLE: frozenset[str] = frozenset(
    {
        "model", "max_tokens", "temperature", "top_p", "top_k", "stop", "seed", "n", "presence_penalty", "frequency_penalty", "logprobs",
        "top_logprobs", "effort", "tool", "tool_choice", "format",
    }
)  # fmt: skip
"""The hub's words that generateContent has a field for."""

_NAMES: dict[str, str] = {
    "max_tokens": "maxOutputTokens", "temperature": "temperature", "top_p": "topP", "top_k": "topK", "stop": "stopSequences", "seed": "seed",
    "n": "candidateCount", "presence_penalty": "presencePenalty", "frequency_penalty": "frequencyPenalty",
    "logprobs": "responseLogprobs", "top_logprobs": "logprobs",
}  # fmt: skip


def write_settings(settings: Sequence[Setting]) -> Wire:
    """The request fields. One that is still Gemini's own is written as it came."""
    body: dict[str, Any] = {}
    generation: dict[str, Any] = {}
    declared: list[Any] = []
    own: dict[int, dict[str, Any]] = {}
    for setting in settings:
        if setting.intact and setting.home == HOME and setting.name in ("tool", "native_tool"):
            body.setdefault(_field(setting), [])
            _write_own_tool(setting, own)
        elif setting.intact and setting.home == HOME:
            body.setdefault(_field(setting), setting.raw)
        elif setting.name in _NAMES:
            generation[_NAMES[setting.name]] = setting.value
        elif setting.name == "effort":
            generation["thinkingConfig"] = {"thinkingLevel": str(payload.plain(setting.value)).upper()}
        elif setting.name == "format":
            generation["responseMimeType"] = "application/json"
            if "schema" in setting.value:
                generation["responseJsonSchema"] = setting.value["schema"]
        elif setting.name == "tool":
            declared.append(_write_tool(setting))
        elif setting.name == "tool_choice":
            body["toolConfig"] = {"functionCallingConfig": _write_choice(setting.value)}
        elif "." in setting.name and setting.home == HOME:
            _put(body, setting)
        else:
            body[setting.name] = setting.value
    if generation:
        body["generationConfig"] = {**body.get("generationConfig", {}), **generation}
    if own:
        body["tools"] = [*own.values()]
    if declared:
        body["tools"] = [*body.get("tools", ()), {"functionDeclarations": declared}]
    return Wire(body)


def _put(body: dict[str, Any], setting: Setting) -> None:
    """Something that nobody knows inside of a configuration, which the caller keeps."""
    *outer, name = paths.steps(setting.at)
    for step in outer:
        body[step] = dict(body.get(step) or {})
        body = body[step]
    body[name] = setting.raw


def _field(setting: Setting) -> str:
    """The request field in which a setting stands."""
    at = setting.at
    while type(at[0]) is tuple:
        at = at[0]
    return str(at[0])


def _write_own_tool(setting: Setting, own: dict[int, dict[str, Any]]) -> None:
    """A tool that is still Gemini's own, in the entry of `tools` in which it came; `own` holds these entries by their numbers."""
    at = setting.at
    if type(at[1]) is str:
        own.setdefault(at[0][1], {}).update(setting.raw)
    elif len(at[0]) == 1:
        own[at[1]] = setting.raw
    else:
        own.setdefault(at[0][0][1], {}).setdefault(at[0][1], []).append(setting.raw)


def _write_tool(setting: Setting) -> Any:
    """A declaration. Its parameters are JSON Schema: «parametersJsonSchema» takes all of it, `parameters` only Google's subset."""
    names = {"name": "name", "description": "description", "parameters": "parametersJsonSchema"}
    return {**{names[key]: value for key, value in setting.value.items() if key in names}, **(setting.extra or {})}


_MODES = {"auto": "AUTO", "required": "ANY", "none": "NONE"}


def _write_choice(value: Any) -> Any:
    if value["mode"] == "tool":
        return {"mode": "ANY", "allowedFunctionNames": [value["name"]]}
    return {"mode": _MODES[value["mode"]]}
