"""The second opinion on Converse: botocore's own validator (1.44.8, bedrock-runtime 2023-09-30), and a walk for what it does not enforce.

botocore knows unions, members, types and least lengths; it ignores `max`, `pattern` and `enum`, which `_walk` reads from the same service model. It
knows nothing of a conversation: the judge next to this file does.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import Any

import botocore.session  # type: ignore[import-untyped]
from botocore.validate import ParamValidator  # type: ignore[import-untyped]

from tests.judges.judge_bedrock import raw_bytes


@cache
def _shape() -> Any:
    service = botocore.session.get_session().get_service_model("bedrock-runtime")
    return service.operation_model("Converse").input_shape


def bedrock(body: dict[str, Any]) -> list[str]:
    """What the service model refuses in a Converse body; one without a model is a history."""
    given = {"modelId": "m", **body}
    value = _unpacked(_shape(), given)
    report = ParamValidator().validate(value, _shape())
    return [*report.generate_report().splitlines(), *_walk(_shape(), value, "")]


def _unpacked(shape: Any, value: Any) -> Any:
    """The value with bytes where the wire has base64."""
    kind = shape.type_name
    if kind == "blob":
        # Encrypted reasoning of generated histories is a readable token; its own provider alone can judge it.
        return raw_bytes(value) or (value.encode() if isinstance(value, str) else value)
    if kind == "structure" and isinstance(value, dict) and not shape.metadata.get("document"):
        return {
            key: _unpacked(shape.members[key], item) if key in shape.members else item for key, item in value.items()
        }
    if kind == "list" and isinstance(value, list):
        return [_unpacked(shape.member, item) for item in value]
    return value


def _walk(shape: Any, value: Any, at: str) -> Iterator[str]:
    kind, facts = shape.type_name, shape.metadata
    if kind == "structure" and isinstance(value, dict) and not facts.get("document"):
        for key, item in value.items():
            if key in shape.members:
                yield from _walk(shape.members[key], item, f"{at}.{key}")
    elif kind == "list" and isinstance(value, list):
        if len(value) > facts.get("max", len(value)):
            yield f"{at}: more than {facts['max']}"
        for index, item in enumerate(value):
            yield from _walk(shape.member, item, f"{at}[{index}]")
    elif kind == "map" and isinstance(value, dict):
        for key, item in value.items():
            yield from _walk(shape.value, item, f"{at}.{key}")
    elif kind == "string" and isinstance(value, str):
        if len(value) > facts.get("max", len(value)):
            yield f"{at}: longer than {facts['max']}"
        # A model's name is copied and never judged (design, promise 11).
        if "pattern" in facts and at != ".modelId" and not re.fullmatch(facts["pattern"], value):
            yield f"{at}: not of the pattern"
        # `"type": "tool_use"` stands in recorded requests that were accepted, and in no enumeration.
        if shape.enum and value not in shape.enum and not (shape.name == "ToolUseType" and value == "tool_use"):
            yield f"{at}: {value!r} is not in the enumeration"
    elif kind in ("float", "integer") and isinstance(value, int | float) and value > facts.get("max", value):
        yield f"{at}: more than {facts['max']}"
