"""Our own OpenAPI file is true, and nothing that can be sent makes the gateway fail: schemathesis, and bodies that nobody would write."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from sendable.gateway.config import load
from sendable.gateway.continuity import Continuity
from sendable.gateway.store import SqliteStore
from tests.gateway.live import Gate, Scripted, base_of
from tests.gateway.providers import Provider

OPENAPI = Path(__file__).parents[2] / "src" / "sendable" / "gateway" / "openapi.json"
SCHEMA: Any = schemathesis.openapi.from_dict(json.loads(OPENAPI.read_text()))

TARGETS = ("openai-chat", "anthropic", "openai-responses", "gemini")
"""Each answers to a model of its own name; the first also to every other one."""


@pytest.fixture(scope="module")
def front(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Gate]:
    """A gateway in front of a provider of each dialect."""
    folder = tmp_path_factory.mktemp("openapi")
    upstreams = {target: Scripted(Provider(target)) for target in TARGETS}
    lines = ["schema_version = 1"]
    for target, scripted in upstreams.items():
        lines += [
            f"[upstreams.{target}]",
            f'target = "{target}"',
            f'base_url = "{scripted.url}{base_of(target)}"',
            "retries = {most = 0}",
        ]
    for match, target in [*zip(TARGETS, TARGETS, strict=True), ("*", TARGETS[0])]:
        lines += ["[[routes]]", f'match = "{match}"', f'upstreams = ["{target}"]']
    file = folder / "gateway.toml"
    file.write_text("\n".join(lines))
    found = Gate(load(file), folder, continuity=Continuity(SqliteStore(folder / "store.db"), "a key of the tests"))
    yield found
    found.stop()
    for scripted in upstreams.values():
        scripted.stop()


# The scripted providers refuse what theirs would, and the gateway passes that on: so a 4xx is no failure of the gateway's, and a 5xx is.
@SCHEMA.parametrize()  # type: ignore[untyped-decorator]
@settings(
    max_examples=12,
    deadline=None,
    database=None,
    derandomize=True,
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=list(HealthCheck),
)
def test_no_request_makes_the_gateway_fail(case: Any, front: Gate) -> None:
    response = case.call(base_url=front.url, timeout=20)
    assert response.status_code < 500, response.text
    case.validate_response(
        response,
        checks=[not_a_server_error, status_code_conformance, content_type_conformance, response_schema_conformance],
    )


# --- bodies that nobody would write ---------------------------------------------------------------------------------------

ENTRANCES = {
    "/v1/chat/completions": "messages",
    "/v1/messages": "messages",
    "/v1/messages/count_tokens": "messages",
    "/v1/responses": "input",
    "/v1beta/models/gemini:generateContent": "contents",
    "/v1beta/models/anthropic:generateContent": "contents",
}

_ODD = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.floats() | st.text(max_size=6) | st.sampled_from((
        "user", "assistant", "tool", "system", "text", "tool_use", "tool_result", "function_call", "function_call_output", "reasoning", "image", "data:,",
    )),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(
        st.sampled_from((
            "role", "content", "type", "text", "id", "call_id", "tool_calls", "tool_call_id", "tool_use_id", "input", "name", "arguments", "function",
            "parts", "functionCall", "functionResponse", "args", "response", "thinking", "signature", "encrypted_content", "image_url", "source", "data",
        )), inner, max_size=4,
    ),
    max_leaves=12,
)  # fmt: skip


@pytest.mark.parametrize("path", list(ENTRANCES))
@settings(max_examples=60, deadline=None, database=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(
    history=st.lists(_ODD, max_size=4) | _ODD,
    more=st.dictionaries(st.sampled_from(("tools", "system", "stream", "store", "max_tokens", "instructions", "previous_response_id")), _ODD, max_size=2),
    model=st.sampled_from(TARGETS) | _ODD,
)  # fmt: skip
def test_odd_values_are_answered(path: str, history: Any, more: Any, model: Any, front: Gate) -> None:
    answer = front.post(path, json.dumps({"model": model, ENTRANCES[path]: history, **more}).encode())
    assert answer.status < 500, answer.body


DAMAGE: dict[str, Callable[[bytes, random.Random], bytes]] = {
    "cut": lambda data, dice: data[: dice.randrange(len(data))],
    "a byte changed": lambda data, dice: (
        data[: (at := dice.randrange(len(data)))] + bytes([dice.randrange(256)]) + data[at + 1 :]
    ),
    "a piece twice": lambda data, dice: data[: (at := dice.randrange(len(data)))] + data[dice.randrange(len(data)) :] + data[at:],
    "noise": lambda data, dice: dice.randbytes(dice.randrange(200)),
}  # fmt: skip


@pytest.mark.parametrize("how", list(DAMAGE))
@pytest.mark.parametrize("path", list(ENTRANCES))
def test_damaged_bodies_are_answered(path: str, how: str, front: Gate) -> None:
    dice = random.Random(f"{path} {how}")
    history = [
        {"role": "user", "content": "hi \ud83d"},
        {"role": "assistant", "content": [{"type": "text", "text": "yes"}]},
    ]
    whole = json.dumps({"model": "anthropic", "max_tokens": 5, ENTRANCES[path]: history}).encode()
    for _ in range(25):
        answer = front.post(path, DAMAGE[how](whole, dice))
        assert answer.status < 500, answer.body
        assert answer.json["error"] if answer.status >= 400 else answer.json


@pytest.mark.parametrize("packing", ["gzip", "zstd", "br", "deflate", "identity, gzip", "nonsense"])
def test_bodies_that_are_not_packed_as_they_say_are_refused(packing: str, front: Gate) -> None:
    answer = front.post("/v1/chat/completions", {"model": "m", "messages": []}, content_encoding=packing)
    assert (answer.status in (400, 415), "error" in answer.json) == (True, True)
