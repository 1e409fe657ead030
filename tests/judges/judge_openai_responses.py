"""The judge of OpenAI Responses: the rows of the rules document with severity E that a body alone can break.

Each finding cites its row (OR1 …, DS5). Left out, because the body alone does not decide them: OR15 (which reasoning an item with an id came from), OR17 and
OR18 (whose encrypted content it is; the law of promise 10 sees to foreign ones), OS4 (what the provider still holds). Unknown keys are judged by the SDK
model, which knows the keys. `hosted` is false for servers that host no tools of their own and group calls with their outputs (`:third-party`).
"""

from __future__ import annotations

import re
from typing import Any

from tests.judges.findings import Finding, Findings, transport

_MOST = 10_485_760  # OR29
_ROLES = ("user", "assistant", "system", "developer")  # OR1; the others are not sendable as input (OR28)
_INPUT = {"input_text", "input_image", "input_file"}
_OUTPUT = {"output_text", "refusal"}
# OR6; for the other kinds only the form is known.
_PREFIX = {
    "message": "msg",
    "reasoning": "rs",
    "function_call": "fc",
    "function_call_output": "fc",
    "web_search_call": "ws",
    "custom_tool_call": "ctc",
}
_ID = re.compile(r"[A-Za-z0-9_-]{1,64}\Z")
_NAME = re.compile(r"[a-zA-Z0-9_-]{1,128}\Z")
_NAMESPACE = re.compile(r"[a-zA-Z0-9_-]{1,64}\Z")
# Appendix A: the union of input items, and what each requires beside its type and its id.
_ITEMS: dict[str, set[str]] = {
    "file_search_call": {"queries", "status"},
    "computer_call": {"call_id", "pending_safety_checks", "status"},
    "computer_call_output": {"call_id", "output"},
    "web_search_call": {"action", "status"},
    "function_call": {"arguments", "call_id", "name"},
    "function_call_output": {"output"},
    "tool_search_call": {"arguments"},
    "tool_search_output": {"tools"},
    "additional_tools": {"role", "tools"},
    "configuration_update": set(),
    "reasoning": {"summary"},
    "compaction": {"encrypted_content"},
    "image_generation_call": {"result", "status"},
    "code_interpreter_call": {"code", "container_id", "outputs", "status"},
    "local_shell_call": {"action", "call_id", "status"},
    "local_shell_call_output": {"output"},
    "shell_call": {"action", "call_id"},
    "shell_call_output": {"call_id", "output"},
    "apply_patch_call": {"call_id", "operation", "status"},
    "apply_patch_call_output": {"call_id", "status"},
    "mcp_list_tools": {"server_label", "tools"},
    "mcp_approval_request": {"arguments", "name", "server_label"},
    "mcp_approval_response": {"approval_request_id", "approve"},
    "mcp_call": {"arguments", "name", "server_label"},
    "custom_tool_call_output": {"call_id", "output"},
    "custom_tool_call": {"call_id", "input", "name"},
    "compaction_trigger": set(),
    "item_reference": {"id"},
    "program": {"call_id", "code", "fingerprint"},
    "program_output": {"call_id", "result", "status"},
}
_CALLS = {"function_call": "function_call_output", "custom_tool_call": "custom_tool_call_output"}
_ORDINARY = {"message", "reasoning", *_CALLS, *_CALLS.values()}


def judge(body: Any, *, hosted: bool = True) -> list[Finding]:
    """Every rule that the body breaks; the body holds at least `input`."""
    found = [*transport(body), *_shape(body)]
    if found or isinstance(body["input"], str):
        return found
    items = body["input"]
    return [
        *_ids(items),
        *_pairing(items, _handle(body)),
        *_reasoning(items, hosted),
        *(() if hosted else _strict(items)),
        *_tools(body),
    ]


def _handle(body: dict[str, Any]) -> bool:
    return body.get("previous_response_id") is not None or body.get("conversation") is not None


def _shape(body: Any) -> Findings:
    items = body.get("input") if isinstance(body, dict) else None
    if isinstance(items, str):
        if len(items) > _MOST:
            yield Finding("OR29", "input", "string too long")
        return
    if not isinstance(items, list):
        yield Finding("OR1", "input", "neither a text nor a list of items")
        return
    if not items and not _handle(body):
        yield Finding("OR1", "input", "nothing to answer")
    if body.get("previous_response_id") is not None and body.get("conversation") is not None:
        yield Finding("OS1", "conversation", "mutually exclusive with previous_response_id")
    for index, item in enumerate(items):
        at = f"input[{index}]"
        kind = item.get("type", "message") if isinstance(item, dict) else None
        if kind == "message":
            yield from _message(item, at)
        elif not isinstance(kind, str) or kind not in _ITEMS:
            yield Finding("OR1", at, f"{kind!r} is no item")
        else:
            for key in sorted(_ITEMS[kind] - item.keys()):
                yield Finding(
                    "OR16" if kind == "reasoning" else "OR22" if kind == "compaction" else "OR8",
                    at,
                    f"{kind} without {key}",
                )
            yield from _item(item, kind, at)
        if kind == "compaction_trigger" and index < len(items) - 1:
            yield Finding("OR22", at, "must be the final input item")


def _message(item: dict[str, Any], at: str) -> Findings:
    role, content = item.get("role"), item.get("content")
    if role not in _ROLES:
        yield Finding(
            "OR28" if role in ("unknown", "critic", "discriminator", "tool") else "OR1", at, f"invalid role {role!r}"
        )
        return
    if "phase" in item and role != "assistant" and item["phase"] is not None:
        yield Finding("OR1", at, "a phase is the assistant's")
    if isinstance(content, str):
        if len(content) > _MOST:
            yield Finding("OR29", at, "string too long")
    elif not isinstance(content, list):
        yield Finding("OR1", at, "content is neither a string nor a list")
    else:
        for number, part in enumerate(content):
            yield from _part(
                part,
                _OUTPUT if role == "assistant" else _INPUT,
                f"{at}.content[{number}]",
                "OR2" if role == "assistant" else "OR1",
            )


def _part(part: Any, allowed: set[str], at: str, rule: str) -> Findings:
    kind = part.get("type") if isinstance(part, dict) else None
    if not isinstance(kind, str) or kind not in allowed:
        yield Finding("OR4" if kind == "input_audio" else rule, at, f"{kind!r} cannot stand here")
    elif kind in ("input_text", "output_text", "refusal"):
        text = part.get("refusal" if kind == "refusal" else "text")
        if not isinstance(text, str):
            yield Finding(rule, at, "text that is not a string")
        elif len(text) > _MOST:
            yield Finding("OR29", at, "string too long")
        if kind == "output_text" and not isinstance(part.get("annotations"), list):
            yield Finding("OR1", at, "output_text without annotations")
    elif kind == "input_image":
        if not isinstance(part.get("image_url"), str) and not isinstance(part.get("file_id"), str):
            yield Finding("OR1", at, "an image without its data")
    elif not any(isinstance(part.get(key), str) for key in ("file_id", "file_data", "file_url")):
        yield Finding("OR1", at, "a file without its data")
    elif isinstance(part.get("file_data"), str) and part["file_data"].startswith("data:audio/"):
        yield Finding("OR12", at, "unsupported MIME type")


def _item(item: dict[str, Any], kind: str, at: str) -> Findings:
    call_id = item.get("call_id")
    if kind in ("function_call_output",) and call_id is None:
        if not isinstance(item.get("name"), str):
            yield Finding("OR11", at, "an output with neither a call nor a name")
    elif "call_id" in _ITEMS[kind] and not (isinstance(call_id, str) and 1 <= len(call_id) <= 64):
        yield Finding("OR5", at, f"the call_id {call_id!r} has not 1 to 64 characters")
    elif isinstance(call_id, str) and len(call_id) > 64:
        yield Finding("OR5", at, "the call_id is too long")
    if kind in _CALLS and not (isinstance(item.get("name"), str) and _NAME.match(item["name"])):
        yield Finding("OR7", at, f"a tool cannot be called {item.get('name')!r}")
    if item.get("namespace") is not None and not (
        isinstance(item["namespace"], str) and _NAMESPACE.match(item["namespace"])
    ):
        yield Finding("OR7", at, "not a namespace")
    key = {"function_call": "arguments", "custom_tool_call": "input", "mcp_call": "arguments"}.get(kind)
    if key is not None and not isinstance(item.get(key), str):
        yield Finding("OR8", at, f"{key} is not a string")
    if kind in _CALLS.values():
        output = item.get("output")
        if isinstance(output, list):
            for number, part in enumerate(output):
                yield from _part(part, _INPUT, f"{at}.output[{number}]", "OR12")
        elif not isinstance(output, str):
            yield Finding("OR12", at, "output is neither a string nor a list")
        elif len(output) > _MOST:
            yield Finding("OR29", at, "string too long")
    if kind == "reasoning" and not isinstance(item.get("summary"), list):
        yield Finding("OR16", at, "summary is not a list")
    if kind == "compaction" and not isinstance(item.get("encrypted_content"), str):
        yield Finding("OR22", at, "encrypted_content is not a string")
    if kind == "web_search_call" and not (
        isinstance(item.get("action"), dict) and isinstance(item["action"].get("type"), str)
    ):
        yield Finding("OR24", at, "action without a type")


def _ids(items: list[Any]) -> Findings:
    seen: set[str] = set()
    for index, item in enumerate(items):
        at, kind, identity = f"input[{index}]", item.get("type", "message"), item.get("id")
        if identity is None:
            continue  # an item without an id is judged by what it holds
        if not isinstance(identity, str) or not _ID.match(identity):
            yield Finding("OR6", at, f"invalid id {identity!r}")
        elif kind != "local_shell_call_output":  # whose id is that of its call
            if not identity.startswith(_PREFIX.get(kind, "")):
                yield Finding("OR6", at, f"expected an ID that begins with {_PREFIX[kind]!r}")
            if identity in seen:
                yield Finding("OR6", at, f"duplicate item found with id {identity}")
            seen.add(identity)


def _pairing(items: list[Any], handle: bool) -> Findings:
    calls: dict[str, str] = {}
    answered: set[str] = set()
    for index, item in enumerate(items):
        at, kind = f"input[{index}]", item.get("type")
        if kind in _CALLS:
            if item["call_id"] in calls and item["call_id"] not in answered:
                yield Finding("OR9", at, "one id for two open calls")
            calls[item["call_id"]] = kind
            answered.discard(item["call_id"])
        elif kind in _CALLS.values() and item.get("call_id") is not None:
            own = calls.get(item["call_id"])
            if own is None:
                if not handle:
                    yield Finding("OR10", at, "no tool call found for this output")
            elif _CALLS[own] != kind:
                yield Finding("OR9", at, f"the output of a {own} is no {kind}")
            answered.add(item["call_id"])
    for item in items:
        if item.get("type") in _CALLS and item["call_id"] not in answered and item.get("async") is not True:
            yield Finding("OR9", "input", f"no tool output found for {item['call_id']}")


def _reasoning(items: list[Any], hosted: bool) -> Findings:
    for index, item in enumerate(items):
        if item.get("type") != "reasoning":
            continue  # only reasoning is judged here
        at = f"input[{index}]"
        if item.get("id") is None and not item.get("encrypted_content") and hosted:
            yield Finding("OR6", at, "neither an id nor encrypted content")
        if hosted and item.get("content"):
            yield Finding("OR16", at, "array too long: content has to be empty")
        if item.get("encrypted_content") is not None and not isinstance(item["encrypted_content"], str):
            yield Finding("OR17", at, "encrypted_content is not a string")
        after = next((later for later in items[index + 1 :] if later.get("type") != "reasoning"), None)
        kind = None if after is None else after.get("type", "message")
        made = (
            after is not None
            and kind is not None
            and (after["role"] == "assistant" if kind == "message" else not kind.endswith("_output"))
        )
        if item.get("id") is not None and not (
            made and kind not in ("additional_tools", "configuration_update", "mcp_approval_response")
        ):
            yield Finding("OR14", at, "provided without its required following item")


def _strict(items: list[Any]) -> Findings:
    """DS5: calls of a batch stand together, behind what was said and thought, and directly before their outputs; no hosted items."""
    waiting: set[str] = set()
    before: str | None = None
    for index, item in enumerate(items):
        at, kind = f"input[{index}]", item.get("type", "message")
        if kind not in _ORDINARY:
            yield Finding("DS5", at, f"{kind} is hosted by OpenAI alone")
        elif kind in _CALLS:
            if waiting and before not in _CALLS:
                yield Finding("DS5", at, "a call between another and its output")
            waiting.add(item["call_id"])
        elif kind in _CALLS.values():
            waiting.discard(item.get("call_id"))
        elif waiting:
            yield Finding("DS5", at, f"{kind} stands between a call and its output")
        before = kind


def _tools(body: dict[str, Any]) -> Findings:
    tools = body.get("tools")
    if tools is None:
        return
    if not isinstance(tools, list):
        yield Finding("OR30", "tools", "not a list")
        return
    names: set[str] = set()
    for number, tool in enumerate(tools):
        kind = tool.get("type") if isinstance(tool, dict) else None
        if kind in ("function", "custom"):
            if not isinstance(tool.get("name"), str) or not _NAME.match(tool["name"]):
                yield Finding("OR7", f"tools[{number}]", f"a tool cannot be called {tool.get('name')!r}")
            names.add(str(tool.get("name")))
    choice = body.get("tool_choice")
    if isinstance(choice, dict) and choice.get("type") == "function" and choice.get("name") not in names:
        yield Finding("OR7", "tool_choice", "names a tool that is not declared")
