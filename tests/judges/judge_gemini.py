"""Is this body sendable to Gemini generateContent? Written from section 4 of the rules document (the rows of severity E), and from nothing of the library.

Both spellings of a key are read (GE22). The rows that only Vertex enforces (GE18, GE19) and the unverified ones (GE24) are left out.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterator
from typing import Any

from tests.judges.findings import Finding, Findings, transport

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_.:-]{0,127}\Z")  # GE10
_BODY = {
    "contents", "model", "systemInstruction", "tools", "toolConfig", "safetySettings", "generationConfig", "cachedContent", "labels",
    "serviceTier", "store", "continuationToken",
}  # fmt: skip
# Appendix C: the data of a part, of which it has exactly one (GE4), and what may stand beside them.
_DATA = {
    "text", "functionCall", "functionResponse", "inlineData", "fileData", "executableCode", "codeExecutionResult", "toolCall", "toolResponse",
    "audioTranscription",
}  # fmt: skip
_BESIDE = {
    "thought", "thoughtSignature", "mediaResolution", "videoMetadata", "partMetadata", "mediaProcessing", "speechMetadata", "documentMetadata",
    "spreadsheetMetadata", "audioMetadata",
}  # fmt: skip
_INNER = {
    "functionCall": {"id", "name", "args", "partialArgs", "willContinue"},
    "functionResponse": {"id", "name", "response", "parts", "willContinue", "scheduling"},
    "inlineData": {"data", "mimeType", "displayName"},
    "fileData": {"fileUri", "mimeType", "displayName"},
    "executableCode": {"code", "language", "id"},
    "codeExecutionResult": {"outcome", "output", "id"},
    "toolCall": {"id", "toolType", "args"},
    "toolResponse": {"id", "toolType", "response"},
}


def _camel(key: str) -> str:
    return re.sub(r"_([a-z])", lambda match: match[1].upper(), key)


def _fields(value: Any) -> dict[str, Any]:
    """The members that are set, in camelCase. Null is an unset member."""
    return {_camel(key): item for key, item in value.items() if item is not None} if isinstance(value, dict) else {}


def judge(body: Any, *, three: bool = False) -> list[Finding]:
    """Every rule that the body breaks. `three`: as Gemini 3 and later judge it."""
    found = list(transport(body))
    if found:
        return found
    fields = _fields(body)
    found = [Finding("GE0", key, "an unknown field of the request") for key in sorted(fields.keys() - _BODY)]
    contents = fields.get("contents")
    if not isinstance(contents, list) or not contents:
        return [*found, Finding("GE3", "contents", "contents is not specified")]
    for index, content in enumerate(contents):
        found.extend(_content(content, f"contents[{index}]"))
    found.extend(_body_fields(fields))
    if found:
        return found
    return [*_order(contents), *(_signed(contents) if three else ())]


def _content(content: Any, at: str) -> Findings:
    if not isinstance(content, dict):
        yield Finding("GE0", at, "a content is no object")
        return
    fields = _fields(content)
    for key in sorted(fields.keys() - {"role", "parts"}):
        yield Finding("GE0", at, f"an unknown field {key!r} of a content")
    role = fields.get("role", "user")
    if role not in ("user", "model"):
        yield Finding("GE1", at, "please use a valid role: user, model")
    parts = fields.get("parts", [])
    if not isinstance(parts, list):
        yield Finding("GE0", at, "parts is no list")
    elif not parts and role != "model":  # recorded: 200 for `{"role": "model"}` between two user turns
        yield Finding("GE3", at, "it must include at least one parts field")
    else:
        for number, part in enumerate(parts):
            yield from _part(part, f"{at}.parts[{number}]", str(role))


def _part(part: Any, at: str, role: str) -> Findings:
    if not isinstance(part, dict):
        yield Finding("GE0", at, "a part is no object")
        return
    fields = _fields(part)
    for key in sorted(fields.keys() - _DATA - _BESIDE):
        yield Finding("GE0", at, f"an unknown field {key!r} of a part")
    data = sorted(fields.keys() & _DATA)
    if len(data) != 1:
        yield Finding("GE4", at, f"exactly one data field per part, not {data}")
        return
    signature = fields.get("thoughtSignature")
    if signature not in (None, "") and not _is_base64(signature):
        yield Finding("GE14", at, "thought_signature (TYPE_BYTES), Base64 decoding failed")
    kind = data[0]
    if kind == "text":
        if not isinstance(fields["text"], str):
            yield Finding("GE0", at, "text is no string")
        elif not fields["text"] and not signature:
            yield Finding("GE4", at, "required oneof field 'data' must have one initialized field")
        return
    inner = fields[kind]
    if not isinstance(inner, dict):
        yield Finding("GE0", at, f"{kind} is no object")
        return
    values = _fields(inner)
    for key in sorted(values.keys() - _INNER.get(kind, values.keys())):
        yield Finding("GE0", at, f"an unknown field {key!r} of {kind}")
    if kind == "functionCall":
        yield from _call(values, at, role)
    elif kind == "functionResponse":
        yield from _response(values, at, role)
    elif kind == "inlineData":
        if not isinstance(values.get("mimeType"), str) or not _is_base64(values.get("data")):
            yield Finding("GE0", at, "inline data without a media type, or that is no base64")
    elif kind == "fileData" and not isinstance(values.get("fileUri"), str):
        yield Finding("GE23", at, "a file without a URI")


def _is_base64(value: Any) -> bool:
    """Protobuf's JSON: bytes in base64 of either alphabet, padded or not."""
    if not isinstance(value, str) or not re.fullmatch(r"[A-Za-z0-9+/_-]+=*", value):
        return False
    try:
        base64.b64decode(
            value.rstrip("=").replace("-", "+").replace("_", "/") + "=" * (-len(value.rstrip("=")) % 4), validate=True
        )
    except binascii.Error:
        return False
    return True


def _call(call: dict[str, Any], at: str, role: str) -> Findings:
    if role != "model":
        yield Finding("GE5", at, "a functionCall outside of a model turn")
    if not isinstance(call.get("args", {}), dict):
        yield Finding("GE8", at, "args is no object")
    if not isinstance(call.get("id", ""), str):
        yield Finding("GE9", at, "the id is no string")
    if not isinstance(call.get("name"), str) or not _NAME.match(call["name"]):
        yield Finding("GE10", at, "the name of the function")


def _response(response: dict[str, Any], at: str, role: str) -> Findings:
    if role != "user":
        yield Finding("GE7", at, "a functionResponse outside of a user turn")
    if not isinstance(response.get("response", {}), dict):
        yield Finding("GE8", at, "response is no object: Proto field is not repeating, cannot start list")
    if not isinstance(response.get("id", ""), str):
        yield Finding("GE9", at, "the id is no string")
    if not isinstance(response.get("name"), str) or not response["name"]:
        yield Finding("GE7", at, "Name cannot be empty")
    parts = response.get("parts", [])
    for number, part in enumerate(parts if isinstance(parts, list) else [None]):
        inner = _fields(part)
        if not inner.keys() & {"inlineData", "fileData"}:
            yield Finding("GE11", f"{at}.parts[{number}]", "a part of a response that holds no media")
        elif "inlineData" in inner and not _is_base64(_fields(inner["inlineData"]).get("data")):
            yield Finding("GE11", f"{at}.parts[{number}]", "inline data that is no base64")


def _body_fields(fields: dict[str, Any]) -> Findings:
    system = fields.get("systemInstruction")
    if system is not None:
        if not isinstance(system, dict):
            yield Finding("GE2", "systemInstruction", "no content")
        else:
            parts = _fields(system).get("parts", [])
            if not isinstance(parts, list) or not parts:
                yield Finding("GE3", "systemInstruction", "it must include at least one parts field")
            else:
                for number, part in enumerate(parts):
                    at = f"systemInstruction.parts[{number}]"
                    yield from _part(part, at, "user")
                    if "text" not in _fields(part):
                        yield Finding("GE2", at, "instructions are text")
    given = fields.get("tools")
    tools = given if isinstance(given, list) else []
    declared = [_fields(declaration) for tool in tools for declaration in _fields(tool).get("functionDeclarations", [])]
    if len(declared) > 512:
        yield Finding("GE10", "tools", "more than 512 declarations")
    for declaration in declared:
        if not isinstance(declaration.get("name"), str) or not _NAME.match(declaration["name"]):
            yield Finding("GE10", "tools", "the name of a declared function")
    if "cachedContent" in fields and fields.keys() & {"tools", "toolConfig", "systemInstruction"}:
        yield Finding("GE20", "cachedContent", "Tool config, tools and system instruction are in the cached content")


def _parts(content: dict[str, Any], kind: str) -> list[dict[str, Any]]:
    return [_fields(_fields(part)[kind]) for part in _fields(content).get("parts", []) if kind in _fields(part)]


def _order(contents: list[Any]) -> Findings:
    roles = [_fields(content).get("role", "user") for content in contents]
    if roles[0] != "user":
        yield Finding("GE5", "contents[0]", "the history does not start with a user turn")
    for index, content in enumerate(contents):
        at = f"contents[{index}]"
        calls, responses = _parts(content, "functionCall"), _parts(content, "functionResponse")
        if calls:
            if index and roles[index - 1] != "user":
                yield Finding(
                    "GE5",
                    at,
                    "function call turn comes immediately after a user turn or after a function response turn",
                )
            following = _parts(contents[index + 1], "functionResponse") if index + 1 < len(contents) else []
            if len(following) != len(calls):
                yield Finding(
                    "GE7", at, "the number of function response parts is equal to the number of function call parts"
                )
            else:
                yield from _pairs(calls, following, at)
        if responses:
            if not index or not _parts(contents[index - 1], "functionCall"):
                yield Finding("GE7", at, "function response turn comes immediately after a function call turn")
            kinds = ["functionResponse" in _fields(part) for part in _fields(content)["parts"]]
            if not all(kinds[: len(responses)]):
                yield Finding("GE7", at, "responses stand before other parts")


def _pairs(calls: list[dict[str, Any]], responses: list[dict[str, Any]], at: str) -> Findings:
    """By id if there is one, else by name and order (GE9)."""
    waiting = list(calls)
    for response in responses:
        match = next(_matching(response, waiting), None)
        if match is None:
            yield Finding("GE9", at, "a response that answers no call of the turn before")
            return
        if match.get("name") != response.get("name"):
            yield Finding("GE7", at, "functionResponse.name does not match functionCall.name")
        waiting.remove(match)
    ids = [call["id"] for call in calls if call.get("id")]
    if len(ids) != len(set(ids)):
        yield Finding("GE9", at, "two calls of one id")


def _matching(response: dict[str, Any], waiting: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    if response.get("id"):
        yield from (call for call in waiting if call.get("id") == response["id"])
    else:
        yield from (call for call in waiting if call.get("name") == response.get("name"))


def _signed(contents: list[Any]) -> Findings:
    """GE12, of the whole history (GE12b)."""
    for index, content in enumerate(contents):
        parts = [_fields(part) for part in _fields(content).get("parts", [])]
        first = next((part for part in parts if "functionCall" in part), None)
        if first is not None and not first.get("thoughtSignature"):
            yield Finding(
                "GE12", f"contents[{index}]", "function call is missing a thought_signature in functionCall parts"
            )
