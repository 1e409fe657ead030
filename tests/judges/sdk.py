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
_STRICT = ConfigDict(extra="forbid", arbitrary_types_allowed=True)
_UNION: Any = typing.Union  # built from values, which a type checker does not follow
_UNIONS: tuple[Any, ...] = (typing.Union, types.UnionType)
_LIST: Any = list
_DICT: Any = dict
_REQUIRED: Any = te.Required
_OPTIONAL: Any = te.NotRequired
_ANNOTATED: Any = te.Annotated


def strictify(tp: Any) -> Any:
    """The same type with every TypedDict closed and every iterable a list."""
    if te.is_typeddict(tp):
        return _rebuilt[tp] if tp in _rebuilt else _close(tp)
    origin: Any = te.get_origin(tp)
    arguments: tuple[Any, ...] = te.get_args(tp)
    if origin is te.Required:
        return _REQUIRED[strictify(arguments[0])]
    if origin is te.NotRequired:
        return _OPTIONAL[strictify(arguments[0])]
    if origin is te.Annotated:
        return _ANNOTATED[(strictify(arguments[0]), *arguments[1:])]
    if origin in _UNIONS:
        # The unions of anthropic's parameters also hold response models; what is on the wire is plain JSON.
        kept = [one for one in arguments if not (isinstance(one, type) and issubclass(one, BaseModel))] or list(
            arguments
        )
        return _UNION[tuple(strictify(one) for one in kept)]
    if origin in (cabc.Iterable, cabc.Sequence, list):
        return _LIST[strictify(arguments[0])]
    if origin is dict:
        return _DICT[arguments[0], strictify(arguments[1])]
    return tp


def _close(tp: Any) -> Any:
    name: Any = tp.__name__
    make: Any = te.TypedDict
    _rebuilt[tp] = make(name, {}, total=False)  # stops the recursion of a type that holds itself
    fields: dict[str, Any] = {}
    for key, hint in te.get_type_hints(tp, include_extras=True).items():
        origin: Any = te.get_origin(hint)
        if origin in (te.Required, te.NotRequired):
            fields[key] = strictify(hint)
        else:
            fields[key] = (_REQUIRED if key in tp.__required_keys__ else _OPTIONAL)[strictify(hint)]
    _rebuilt[tp] = with_config(_STRICT)(make(name, fields))
    return _rebuilt[tp]


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

    kinds: dict[str, Any] = {
        "openai messages": list[ChatCompletionMessageParam],
        "openai body": ChatOnce,
        "openai streamed body": ChatStreamed,
        "anthropic messages": list[MessageParam],
        "anthropic beta messages": list[BetaMessageParam],
        "anthropic system": str | list[TextBlockParam],
        "anthropic body": Once,
        "anthropic streamed body": Streamed,
        "anthropic beta body": BetaOnce,
        "anthropic beta streamed body": BetaStreamed,
    }
    return TypeAdapter(strictify(kinds[which]))


def _refusals(which: str, value: Any) -> list[str]:
    try:
        _adapter(which).validate_python(value)
    except ValidationError as error:
        return [f"{'.'.join(str(step) for step in found['loc'])}: {found['msg']}" for found in error.errors()]
    return []


# The message, part and call levels of Chat are open places: unknown keys there are neither measured nor refused (OC14), the relatives of the API use
# them (`reasoning_content` is a known extra of this dialect), and the library lets them pass at home. The SDK types have no such keys, so they
# are left out before the SDK is asked; what stands under a known key is asked as it is.
_MESSAGE_KEYS = {
    "assistant": {"role", "content", "name", "refusal", "audio", "function_call", "tool_calls"},
    "tool": {"role", "content", "tool_call_id"},
    "function": {"role", "content", "name"},
}
_PART_KEYS = {"type", "text", "refusal", "image_url", "input_audio", "file", "prompt_cache_breakpoint"}
_CALL_KEYS = {"id", "type", "function", "custom"}


def _closed(value: Any, keys: set[str]) -> Any:
    return {key: item for key, item in value.items() if key in keys} if isinstance(value, dict) else value


def _closed_message(message: Any) -> Any:
    if not isinstance(message, dict):
        return message
    role = message.get("role")
    kept = _closed(message, _MESSAGE_KEYS.get(role if isinstance(role, str) else "", {"role", "content", "name"}))
    if isinstance(kept.get("content"), list):
        kept["content"] = [_closed(part, _PART_KEYS) for part in kept["content"]]
    if isinstance(kept.get("tool_calls"), list):
        kept["tool_calls"] = [_closed(call, _CALL_KEYS) for call in kept["tool_calls"]]
    if kept.get("tool_calls", ()) is None:
        del kept["tool_calls"]  # accepted (OC8: "each of these set to null is no substitute"), unknown to the type
    return kept


def openai_chat(body: dict[str, Any]) -> list[str]:
    """What the openai SDK's types refuse in a Chat body; a body of messages alone is judged as messages."""
    messages = [_closed_message(message) for message in body["messages"]]
    if body.keys() == {"messages"}:
        return _refusals("openai messages", messages)
    return _refusals("openai streamed body" if body.get("stream") else "openai body", {**body, "messages": messages})


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
    return _sampled(body) + (
        _refusals(f"anthropic {streamed}body", known) and _refusals(f"anthropic beta {streamed}body", known)
    )
