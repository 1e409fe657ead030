"""Second opinions: the parameter types of the official SDKs (openai 3.57.0, anthropic 2.14.0), made strict.

The SDK types are open and lazy (`Iterable`, TypedDicts that ignore extra keys); `strictify` rebuilds them so that pydantic looks at everything and
refuses unknown keys. They know shapes only: no pairing, no order, no empty texts. The judges next to this file know those.
"""

from __future__ import annotations

import collections.abc as cabc
import types
import typing
from functools import cache
from typing import Any

import typing_extensions as te
from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError, with_config

_rebuilt: dict[Any, Any] = {}
_CLOSED = ConfigDict(extra="forbid", arbitrary_types_allowed=True)
_OPEN = ConfigDict(extra="ignore", arbitrary_types_allowed=True)
_UNION: Any = typing.Union  # built from values, which a type checker does not follow
_UNIONS: tuple[Any, ...] = (typing.Union, types.UnionType)
_LIST: Any = list
_DICT: Any = dict
_REQUIRED: Any = te.Required
_OPTIONAL: Any = te.NotRequired
_ANNOTATED: Any = te.Annotated


def _is_response(tp: Any) -> bool:
    """Whether a type is a response model, or a union of nothing else: open classes that would accept what the parameter types refuse."""
    origin: Any = te.get_origin(tp)
    if origin is te.Annotated:
        return _is_response(te.get_args(tp)[0])
    if origin in _UNIONS:
        return all(_is_response(one) for one in te.get_args(tp))
    return isinstance(tp, type) and issubclass(tp, BaseModel)


def strictify(tp: Any, config: ConfigDict = _CLOSED) -> Any:
    """The same type with every TypedDict closed (or as `config` says) and every iterable a list."""
    if te.is_typeddict(tp):
        return _rebuilt.get((tp, id(config))) or _rebuild(tp, config)
    origin: Any = te.get_origin(tp)
    arguments: tuple[Any, ...] = te.get_args(tp)
    if origin is te.Required:
        return _REQUIRED[strictify(arguments[0], config)]
    if origin is te.NotRequired:
        return _OPTIONAL[strictify(arguments[0], config)]
    if origin is te.Annotated:
        return _ANNOTATED[(strictify(arguments[0], config), *arguments[1:])]
    if origin in _UNIONS:
        # The unions of anthropic's parameters also hold response models; what is on the wire is plain JSON.
        kept = [one for one in arguments if not _is_response(one)] or list(arguments)
        return _UNION[tuple(strictify(one, config) for one in kept)]
    if origin in (cabc.Iterable, cabc.Sequence, list):
        return _LIST[strictify(arguments[0], config)]
    if origin is dict:
        return _DICT[arguments[0], strictify(arguments[1], config)]
    return tp


def _rebuild(tp: Any, config: ConfigDict) -> Any:
    name: Any = tp.__name__
    make: Any = te.TypedDict
    _rebuilt[tp, id(config)] = make(name, {}, total=False)  # stops the recursion of a type that holds itself
    fields: dict[str, Any] = {}
    for key, hint in te.get_type_hints(tp, include_extras=True).items():
        origin: Any = te.get_origin(hint)
        if origin in (te.Required, te.NotRequired):
            fields[key] = strictify(hint, config)
        else:
            fields[key] = (_REQUIRED if key in tp.__required_keys__ else _OPTIONAL)[strictify(hint, config)]
    _rebuilt[tp, id(config)] = with_config(config)(make(name, fields))
    return _rebuilt[tp, id(config)]


@cache
def _adapter(which: str) -> TypeAdapter[Any]:
    from anthropic.types import MessageParam, TextBlockParam
    from anthropic.types.beta import BetaMessageParam
    from anthropic.types.beta.message_create_params import MessageCreateParamsNonStreaming as BetaOnce
    from anthropic.types.beta.message_create_params import MessageCreateParamsStreaming as BetaStreamed
    from anthropic.types.message_create_params import MessageCreateParamsNonStreaming as Once
    from anthropic.types.message_create_params import MessageCreateParamsStreaming as Streamed
    from openai.types.chat import ChatCompletionMessageParam
    from openai.types.chat.completion_create_params import CompletionCreateParamsNonStreaming as ChatOnce
    from openai.types.chat.completion_create_params import CompletionCreateParamsStreaming as ChatStreamed
    from openai.types.responses import ResponseInputItemParam
    from openai.types.responses.response_create_params import ResponseCreateParamsNonStreaming as ResponseOnce
    from openai.types.responses.response_create_params import ResponseCreateParamsStreaming as ResponseStreamed

    kinds: dict[str, Any] = {
        "openai messages": list[ChatCompletionMessageParam],
        "openai body": ChatOnce,
        "openai streamed body": ChatStreamed,
        "responses items": list[ResponseInputItemParam],
        "responses body": ResponseOnce,
        "responses streamed body": ResponseStreamed,
        "anthropic messages": list[MessageParam],
        "anthropic beta messages": list[BetaMessageParam],
        "anthropic system": str | list[TextBlockParam],
        "anthropic body": Once,
        "anthropic streamed body": Streamed,
        "anthropic beta body": BetaOnce,
        "anthropic beta streamed body": BetaStreamed,
    }
    return TypeAdapter(strictify(kinds[which], _OPEN if which == "openai messages" else _CLOSED))


def _refusals(which: str, value: Any) -> list[str]:
    try:
        _adapter(which).validate_python(value)
    except ValidationError as error:
        return [f"{'.'.join(str(step) for step in found['loc'])}: {found['msg']}" for found in error.errors()]
    return []


# Everything inside a Chat message is an open place: unknown keys there are not measured (OC14), the relatives of the API use them (`reasoning_content` is
# a known extra of this dialect), and the library lets them pass at home. So the types of messages are rebuilt open: keys that the SDK does not know are
# left out before its types are asked, at every level; what stands under a known key is judged. The body around the messages is closed (OC13).
def _opened(message: Any) -> Any:
    if isinstance(message, dict) and message.get("tool_calls", ()) is None:
        return {
            key: value for key, value in message.items() if key != "tool_calls"
        }  # null is accepted (OC8), unknown to the type
    return message


def openai_chat(body: dict[str, Any]) -> list[str]:
    """What the openai SDK's types refuse in a Chat body; a body of messages alone is judged as messages."""
    messages = [_opened(message) for message in body["messages"]]
    if body.keys() == {"messages"}:
        return _refusals("openai messages", messages)
    around = {**body, "model": "m", "messages": []}  # the model is the caller's, copied and never judged (promise 11)
    return _refusals("openai messages", messages) + _refusals(
        "openai streamed body" if body.get("stream") else "openai body", around
    )


# Items are accepted without the ids that the types demand: «send_item_ids=false», `reasoning_item_id_policy="omit"` (OR15a, documented); an assistant
# message without one may hold `output_text`, although the type of the easy form does not say so (OR2, reported by many). So an item gets one before the
# SDK is asked. `status` on custom calls is in no type and was accepted (recorded), as was `client_metadata` beside the items (Codex).
def _identified(item: Any) -> Any:
    if not isinstance(item, dict):
        return item
    kind = item.get("type", "message")
    for key in ("content", "output"):
        if isinstance(item.get(key), list):
            item = {**item, key: [_detailed(part) for part in item[key]]}
    if kind == "message" and item.get("role") == "assistant" and isinstance(item.get("content"), list):
        known = {key: value for key, value in item.items() if value is not None}
        return {"id": "msg_0", "status": "completed", "type": "message", **known}
    if kind == "reasoning":
        known = {key: value for key, value in item.items() if value is not None}
        return {"id": "rs_0", "content": [], **known}
    if kind == "local_shell_call" and isinstance(item.get("action"), dict):
        item = {**item, "action": {"env": {}, **item["action"]}}  # the documents' own examples leave it out
    if kind == "custom_tool_call":
        return {key: value for key, value in item.items() if key != "status"}
    if kind in ("message", "item_reference") or item.get("id") is not None:
        return item
    return {**item, "id": f"{kind}_0"}


def _detailed(part: Any) -> Any:
    """The part with the `detail` that the type of a message's image demands and the documents' own examples leave out."""
    is_image = isinstance(part, dict) and part.get("type") == "input_image"
    return {"detail": "auto", **part} if is_image else part


def openai_responses(body: dict[str, Any]) -> list[str]:
    """What the openai SDK's types refuse in a Responses body; one without parameters is judged as items."""
    items = body["input"] if isinstance(body["input"], str) else [_identified(item) for item in body["input"]]
    if body.keys() <= {"input", "instructions"}:
        refused = [] if isinstance(items, str) else _refusals("responses items", items)
        return refused + ([] if isinstance(body.get("instructions", ""), str) else ["instructions: not a text"])
    # The model is copied and never judged (promise 11).
    known = {key: value for key, value in body.items() if key != "client_metadata" and value is not None} | {
        "model": "m"
    }
    return _refusals("responses streamed body" if body.get("stream") else "responses body", {**known, "input": items})


@cache
def _google(which: str) -> Any:
    from google.genai import types

    kinds: dict[str, Any] = {
        "contents": list[types.Content],
        "systemInstruction": types.Content,
        "tools": list[types.Tool],
        "toolConfig": types.ToolConfig,
        "safetySettings": list[types.SafetySetting],
        "generationConfig": types.GenerationConfig | types.GenerateContentConfig,
    }
    return TypeAdapter(kinds[which])


def gemini(body: dict[str, Any]) -> list[str]:
    """What the types of google-genai 3.6.1 refuse: unknown keys, arguments and responses that are no objects, what is no base64."""
    refused: list[str] = []
    for key, value in body.items():
        camel = key if "_" not in key else key.split("_")[0] + "".join(word.title() for word in key.split("_")[1:])
        if camel in ("contents", "systemInstruction", "tools", "toolConfig", "safetySettings", "generationConfig"):
            try:
                _google(camel).validate_python(value)
            except ValidationError as error:
                refused += [
                    f"{key}.{'.'.join(str(step) for step in found['loc'])}: {found['msg']}" for found in error.errors()
                ]
    return refused


# The sampling parameters are gone from the types of anthropic 2.14.0, and still sent and answered (recorded requests hold `top_k`).
_SAMPLING = {"temperature": (0, 1), "top_p": (0, 1), "top_k": (0, 1_000_000)}


def _sampled(body: dict[str, Any]) -> list[str]:
    given = {key: body[key] for key in _SAMPLING if key in body}
    return [
        f"{key}: not a number between {least} and {most}"
        for key, (least, most) in _SAMPLING.items()
        if key in given and not (isinstance(given[key], int | float) and least <= given[key] <= most)
    ]


def anthropic(body: dict[str, Any]) -> list[str]:
    """What the anthropic SDK's types refuse, GA and beta alike, in a Messages body; one without parameters is judged as messages and system."""
    if body.keys() <= {"messages", "system"}:
        refused = _refusals("anthropic messages", body["messages"]) and _refusals(
            "anthropic beta messages", body["messages"]
        )
        return refused + (_refusals("anthropic system", body["system"]) if "system" in body else [])
    streamed = "streamed " if body.get("stream") else ""
    known = {key: value for key, value in body.items() if key not in _SAMPLING}
    if "model" not in body:
        # No whole request, as everywhere in these judges: what a request needs is asked of one (judge_anthropic, `whole`).
        known = {"max_tokens": 1, **known}
    known["model"] = "m"
    return _sampled(body) + (
        _refusals(f"anthropic {streamed}body", known) and _refusals(f"anthropic beta {streamed}body", known)
    )
