"""What is measured: functions from the bytes of a stored history to something that can be sent, each with its name and its goal.

Here: the floor (orjson), the package, and the peers that are installed. Not here: how they are timed (`clock.py`) and what is
printed (`run.py`). A peer does its real conversion, its own parse and its own serialization included.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module, metadata
from importlib.util import find_spec
from typing import Any, Literal

import msgspec
import orjson

Dialect = Literal["openai-chat", "anthropic"]
CHAT: Dialect = "openai-chat"
ANTHROPIC: Dialect = "anthropic"

FLOOR = "orjson loads + dumps"


@dataclass(frozen=True, slots=True)
class Candidate:
    name: str
    call: Callable[[bytes], object]


def floor(data: bytes) -> bytes:
    return orjson.dumps(orjson.loads(data))


def copied(data: bytes) -> bytes:
    """Checks the syntax and copies: what no core can be faster than, and what the memory alone costs as a history grows."""
    return msgspec.json.encode(msgspec.json.decode(data, type=msgspec.Raw))


def untyped(data: bytes) -> bytes:
    return msgspec.json.encode(msgspec.json.decode(data))


def stdlib(data: bytes) -> bytes:
    return json.dumps(json.loads(data), ensure_ascii=False, separators=(",", ":")).encode()


COPY = "msgspec, whole document as Raw"

FLOORS = (
    Candidate(FLOOR, floor),
    Candidate(COPY, copied),
    Candidate("msgspec decode + encode", untyped),
    Candidate("stdlib loads + dumps", stdlib),
)


def ours(to: Dialect) -> Callable[[bytes], bytes]:
    from sendable import normalize_json

    def call(data: bytes) -> bytes:
        written: bytes = normalize_json(data, to).data
        return written

    return call


def peers(source: Dialect, to: Dialect) -> list[Candidate]:
    """The installed peers that convert between the two dialects."""
    found: list[Candidate] = []
    if source == to:
        return found
    if find_spec("litellm"):
        found += litellm_chat() if source == CHAT else litellm_anthropic()
    if find_spec("linguafranca"):
        found += linguafranca(source, to)
    return found


def missing_peers() -> list[str]:
    wanted = {"litellm": "litellm", "linguafranca": "martian-linguafranca"}
    return [package for module, package in wanted.items() if not find_spec(module)]


def litellm_chat() -> list[Candidate]:
    quiet_litellm()
    factory: Any = import_module("litellm.litellm_core_utils.prompt_templates.factory")
    config: Any = import_module("litellm.llms.anthropic.chat.transformation").AnthropicConfig()
    model = "claude-sonnet-4-5"

    def messages_only(data: bytes) -> bytes:
        messages = [m for m in orjson.loads(data)["messages"] if m["role"] != "system"]
        return orjson.dumps(factory.anthropic_messages_pt(messages, model=model, llm_provider="anthropic"))

    def whole(data: bytes) -> bytes:
        body = orjson.loads(data)
        optional = {"max_tokens": body["max_tokens"]}
        settings: dict[str, Any] = {"optional_params": optional, "litellm_params": {}, "headers": {}}
        return orjson.dumps(config.transform_request(model=model, messages=body["messages"], **settings))

    return [
        Candidate("litellm anthropic_messages_pt", messages_only),
        Candidate("litellm transform_request", whole),
    ]


def litellm_anthropic() -> list[Candidate]:
    quiet_litellm()
    module = import_module("litellm.llms.anthropic.messages.adapters.transformation")
    adapter: Any = module.LiteLLMAnthropicMessagesAdapter()

    def whole(data: bytes) -> bytes:
        return orjson.dumps(adapter.translate_anthropic_to_openai(orjson.loads(data))[0])

    return [Candidate("litellm translate_anthropic_to_openai", whole)]


def quiet_litellm() -> None:
    os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")  # else its import asks the network for prices
    litellm: Any = import_module("litellm")
    litellm.suppress_debug_info = True


def linguafranca(source: Dialect, to: Dialect) -> list[Candidate]:
    lf: Any = import_module("linguafranca")
    names = {CHAT: lf.FormatName.OPENAI_CHAT_COMPLETIONS, ANTHROPIC: lf.FormatName.ANTHROPIC_MESSAGES}

    def public(data: bytes) -> bytes:
        body = orjson.loads(data)
        return orjson.dumps(lf.convert_request_json(body, source_format=names[source], target_format=names[to]).value)

    return [Candidate("linguafranca convert_request_json", public)]


def versions() -> dict[str, str]:
    """The installed version of everything that is compared."""
    found: dict[str, str] = {}
    for package in ("sendable", "msgspec", "orjson", "litellm", "martian-linguafranca"):
        try:
            found[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            continue  # a peer that is not installed: run.py says so
    return found
