"""The judges of the profiles of Chat and Anthropic: what a provider's own rows of the rules document add to those of the API that it speaks.

Mistral and Cohere have judges of their own. What must not live here: the rules of Chat and Anthropic themselves.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

from tests.judges import judge_cohere, judge_mistral
from tests.judges.findings import Finding, Findings

_REASONING = ("reasoning_content", "reasoning", "reasoning_details")


def judge(profile: str, body: Any) -> list[Finding]:
    """Everything that the judges of a profile have against a body; a profile is named as in the target, `no-system:no-reasoning-field`."""
    return [finding for part in profile.split(":") for judged in JUDGES.get(part, ()) for finding in judged(body)]


def _calls(body: Any) -> list[tuple[str, Any, Any]]:
    return [
        (f"messages[{index}].tool_calls[{number}]", message, call)
        for index, message in enumerate(body["messages"])
        if message["role"] == "assistant"
        for number, call in enumerate(message.get("tool_calls") or ())
    ]


def _roles(*allowed: str) -> Callable[[Any], Findings]:
    def roles(body: Any) -> Findings:
        for index, message in enumerate(body["messages"]):
            if message["role"] not in allowed:
                yield Finding("role", f"messages[{index}]", f"unknown variant {message['role']!r}")

    return roles


def _parts(*allowed: str) -> Callable[[Any], Findings]:
    def parts(body: Any) -> Findings:
        for index, message in enumerate(body["messages"]):
            content = message.get("content")
            for number, part in enumerate(content if isinstance(content, list) else ()):
                if part.get("type") not in allowed:
                    yield Finding(
                        "parts", f"messages[{index}].content[{number}]", f"a part of type {part.get('type')!r}"
                    )

    return parts


def functions_with_objects(body: Any) -> Findings:
    """OC21 for the relatives of Chat: functions only, and arguments that parse to an object."""
    for at, _, call in _calls(body):
        if call.get("type") != "function":
            yield Finding("OC20", at, "no function")
            continue
        try:
            arguments = json.loads(call["function"]["arguments"])
        except ValueError:
            yield Finding("OC21", at, "arguments must be a valid JSON object string")
            continue
        if not isinstance(arguments, dict):
            yield Finding("OC21", at, "arguments that are no object")


def closed_messages(body: Any) -> Findings:
    """No field of a message beyond those that Chat defines, and none that is null or empty."""
    known = {"role", "content", "name", "tool_calls", "tool_call_id", "refusal", "audio"}
    for index, message in enumerate(body["messages"]):
        for key, value in message.items():
            if key not in known:
                yield Finding("OC14", f"messages[{index}]", f"property {key!r} is unsupported")
            elif value is None or value in ([], {}):
                yield Finding("null", f"messages[{index}]", f"{key} is {value!r}")


def strict(body: Any) -> Findings:
    """Nothing empty, and no unknown field of a part or call."""
    for index, message in enumerate(body["messages"]):
        at = f"messages[{index}]"
        content = message.get("content")
        if isinstance(content, str) and not content.strip():
            yield Finding("empty", at, "empty content")
        for number, part in enumerate(content if isinstance(content, list) else ()):
            kind = part["type"]
            if set(part) != {"type", kind}:
                yield Finding("unknown", f"{at}.content[{number}]", f"keys {sorted(part)}")
            if kind == "text" and not part["text"].strip():
                yield Finding("empty", f"{at}.content[{number}]", "empty text")
    for at, _, call in _calls(body):
        if set(call) != {"id", "type", "function"} or set(call["function"]) != {"name", "arguments"}:
            yield Finding("unknown", at, f"keys {sorted(call)}")


def recalled(body: Any) -> Findings:
    """DS2, section 9: reasoning comes back with every call."""
    if (body.get("thinking") or {}).get("type") == "disabled":
        return
    for at, message, _ in _calls(body):
        if not isinstance(message.get("reasoning_content"), str) or not message["reasoning_content"]:
            yield Finding("DS2", at, "The reasoning_content in the thinking mode must be passed back to the API.")


def unforced(body: Any) -> Findings:
    """DS8."""
    choice = body.get("tool_choice", "auto")
    if (body.get("thinking") or {}).get("type") != "disabled" and choice not in ("auto", "none", None):
        yield Finding("DS8", "tool_choice", "Thinking mode does not support tool_choice")


def no_schema(body: Any) -> Findings:
    """DS9."""
    if (body.get("response_format") or {}).get("type") == "json_schema":
        yield Finding("DS9", "response_format", "json_schema unsupported")


def named_ids(body: Any) -> Findings:
    """Section 10.2: the id says the name, and no number comes twice where none came with another name."""
    seen: set[str] = set()
    for at, _, call in _calls(body):
        match = re.fullmatch(r"functions\.(.+):(\d+)", call["id"])
        if match is None or match[1] != call["function"]["name"]:
            yield Finding("10.2", at, f"the id {call['id']!r} does not name {call['function']['name']!r}")
        if call["id"] in seen:
            yield Finding("10.2", at, "the same id twice")
        seen.add(call["id"])


def template(body: Any) -> Findings:
    """Section 10.3: one system message, in front; then users and plain answers in turn, and nothing but an answer behind results."""
    messages = body["messages"]
    rest = messages[1:] if messages and messages[0]["role"] == "system" else messages
    due, before = "user", None
    for index, message in enumerate(rest, start=len(messages) - len(rest)):
        at, role = f"messages[{index}]", message["role"]
        if role == "system":
            yield Finding("10.3", at, "System message must be at the beginning")
        if role == before and role != "tool":
            yield Finding("10.3", at, f"{role} after {role}")
        if role == "user" and before == "tool":
            yield Finding("10.3", at, "user after tool")
        if role in ("user", "assistant") and not message.get("tool_calls"):
            if role != due:
                yield Finding("10.3", at, "conversation roles must alternate user/assistant/user/assistant/...")
            due = "assistant" if due == "user" else "user"
        before = role


def one_call(body: Any) -> Findings:
    """MiniMax: «tool call result does not follow tool call (2013)»: one call in a turn, its result first in the next."""
    messages = body["messages"]
    for index, message in enumerate(messages):
        content = message["content"] if isinstance(message["content"], list) else []
        calls = [block["id"] for block in content if block["type"] == "tool_use"]
        if len(calls) > 1:
            yield Finding("2013", f"messages[{index}]", "more than one call")
        if calls:
            following = messages[index + 1]["content"] if index + 1 < len(messages) else []
            first = following[0] if isinstance(following, list) and following else {}
            if first.get("tool_use_id") != calls[0]:
                yield Finding("2013", f"messages[{index}]", "tool call result does not follow tool call")
        if any(block["type"].endswith("_tool_result") for block in content):
            yield Finding("9", f"messages[{index}]", "a result of a tool that it does not host")


def unspoken(body: Any) -> Findings:
    """No reasoning, whatever its key."""
    for index, message in enumerate(body["messages"]):
        if any(key in message for key in _REASONING):
            yield Finding("OC14", f"messages[{index}]", "property 'reasoning_content' is unsupported")


_NO_DEVELOPER = _roles("system", "user", "assistant", "tool")
_DEEPSEEK = (_NO_DEVELOPER, _parts("text", "image_url", "file"), no_schema, functions_with_objects)

JUDGES: dict[str, tuple[Callable[[Any], Any], ...]] = {
    "no-reasoning-field": (closed_messages, unspoken),
    "no-system": (_roles("user", "assistant", "tool"),),
    "text-only": (_parts("text", "refusal"),),
    "strict": (closed_messages, unspoken, strict, functions_with_objects),
    "strict-template": (_NO_DEVELOPER, template, functions_with_objects),
    "mistral": (judge_mistral.judge, functions_with_objects),
    "deepseek": _DEEPSEEK,
    "deepseek-thinking": (*_DEEPSEEK, recalled, unforced),
    "kimi": (_NO_DEVELOPER, named_ids, functions_with_objects),
    "kimi-thinking": (_NO_DEVELOPER, named_ids, functions_with_objects, recalled),
    "cohere": (judge_cohere.judge, functions_with_objects),
    "minimax": (one_call,),
}
