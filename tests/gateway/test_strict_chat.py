"""The strict entrance of Chat: histories of Anthropic's form inside Chat requests, on four profiles, streamed and not, redacted and not.

Each row is a situation; what is refused is refused here, with the caller's own path, and the audit has no attempt for it; what is taken has
exactly one.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.gateway.live import Gate, Says, Scripted, events, gate, json_of
from tests.gateway.test_same_dialect import CHAT

PROFILES = (
    "openai-chat:system-first",
    "openai-chat:strict",
    "openai-chat:deepseek-thinking",
    "openai-chat:no-reasoning-field",
)
WITHOUT_REASONING = ("openai-chat:strict", "openai-chat:no-reasoning-field")

CONFIG = """
schema_version = 1
[limits]
images = 2
image_bytes = 100
wire_bytes = 60000
[upstreams.one]
target = "TARGET"
base_url = "{0}/v1"
retries = {{most = 0}}
[[routes]]
match = "hidden-*"
upstreams = ["one"]
policy = "strict"
redact = [{{name = "email", pattern = '[a-z]+@example\\.com'}}]
[[routes]]
match = "repaired"
upstreams = ["one"]
[[routes]]
match = "*"
upstreams = ["one"]
policy = "strict"
"""


def answer(seen: Any) -> Says:
    """What a Chat server answers, in the mode that it is asked for."""
    if seen.json.get("stream"):
        return events(
            {
                "id": "c",
                "choices": [{"index": 0, "delta": {"role": "assistant", "content": "ok"}, "finish_reason": "stop"}],
            }
        )
    return json_of(CHAT)


@pytest.fixture(scope="module", params=PROFILES)
def front(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[str, Gate, Scripted]]:
    """A gateway in front of a Chat server of this profile."""
    upstream = Scripted(answer)
    toml = CONFIG.replace("TARGET", request.param)
    with gate(tmp_path_factory.mktemp("strict"), [(request.param, upstream)], toml=toml) as found:
        yield request.param, found, upstream


@pytest.fixture(params=["plain", "hidden"])
def model(request: pytest.FixtureRequest) -> str:
    """A model whose route redacts, or not."""
    return f"{request.param}-model"


@pytest.fixture(params=[False, True], ids=["whole", "stream"])
def stream(request: pytest.FixtureRequest) -> bool:
    """Whether the client asks for a stream."""
    return bool(request.param)


PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
USER = {"role": "user", "content": "write to ann@example.com"}
USE = {"type": "tool_use", "id": "t1", "name": "f", "input": {"to": "ann@example.com", "n": 1}}
SECOND = {"type": "tool_use", "id": "t2", "name": "f", "input": {}}
IMAGE = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PIXEL[:120]}}
SMALL = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "iVBORw0KGgo="}}


def text(words: str) -> dict[str, Any]:
    return {"type": "text", "text": words}


def result(call: Any = "t1", **more: Any) -> dict[str, Any]:
    return {"type": "tool_result", "tool_use_id": call, "content": "done", **more}


def thinking(words: str = "hm") -> dict[str, Any]:
    return {"type": "thinking", "thinking": words, "signature": "c2ln"}


def user(*blocks: Any, **more: Any) -> dict[str, Any]:
    return {"role": "user", "content": list(blocks), **more}


def said(*blocks: Any, **more: Any) -> dict[str, Any]:
    return {"role": "assistant", "content": list(blocks), **more}


def without(block: dict[str, Any], key: str) -> dict[str, Any]:
    return {name: value for name, value in block.items() if name != key}


NATIVE = {"id": "t1", "type": "function", "function": {"name": "f", "arguments": "{}"}}
ANSWERED = {"role": "tool", "tool_call_id": "t1", "content": "done"}

# name: the messages, the `param` of the refusal.
REFUSED: dict[str, tuple[list[Any], str]] = {
    "both forms of a call": ([USER, said(USE, tool_calls=[NATIVE]), user(result())], "messages[1].content[0]"),
    "both forms of reasoning": ([USER, said(thinking(), text("a"), reasoning_content="other")], "messages[1].reasoning_content"),
    "both forms of a result": ([USER, said(USE), {"role": "tool", "tool_call_id": "t1", "content": [result()]}], "messages[2].tool_call_id"),
    "two ids of a call": ([USER, {"role": "assistant", "content": None, "tool_calls": [{**NATIVE, "call_id": "x"}]}, ANSWERED], "messages[1].tool_calls[0].call_id"),
    "a call without id": ([USER, said(without(USE, "id"))], "messages[1].content[0].id"),
    "a call whose id is null": ([USER, said({**USE, "id": None})], "messages[1].content[0].id"),
    "a call whose id is blank": ([USER, said({**USE, "id": " "})], "messages[1].content[0].id"),
    "a call whose id is a number": ([USER, said({**USE, "id": 7}), user(result(7))], "messages[1].content[0].id"),
    "a call without result": ([USER, said(USE), USER], "messages[1].content[0]"),
    "a native call without result": ([USER, {"role": "assistant", "content": None, "tool_calls": [NATIVE]}, USER], "messages[1].tool_calls[0]"),
    "a result without call": ([USER, user(result())], "messages[1].content[0].tool_use_id"),
    "a native result without call": ([USER, ANSWERED], "messages[1].tool_call_id"),
    "two calls of one id": ([USER, said(USE, USE), user(result(), result())], "messages[1].content[1].id"),
    "a call with an earlier id": ([USER, said(USE), user(result()), said(USE), user(result())], "messages[3].content[0].id"),
    "two results of one call": ([USER, said(USE), user(result(), result())], "messages[2].content[1].tool_use_id"),
    "text before a result": ([USER, said(USE), user(text("first"), result())], "messages[2].content[1]"),
    "text between results": ([USER, said(USE, SECOND), user(result(), text("mid"), result("t2"))], "messages[2].content[2]"),
    "a message before the result": ([USER, said(USE), USER, user(result())], "messages[3].content[0]"),
    "a message between results": ([USER, said(USE, SECOND), user(result()), USER, user(result("t2"))], "messages[4].content[0]"),
    "a message to be split, with a name": ([USER, said(USE), user(result(), text("after"), name="ann")], "messages[2].name"),
    "a message to be split, with a field": ([USER, said(USE), user(result(), text("after"), later=1)], "messages[2].later"),
    "an unknown block": ([user(text("a"), {"type": "hologram"})], "messages[0].content[1]"),
    "an unknown block beside a result": ([USER, said(USE), user(result(), {"type": "hologram"})], "messages[2].content[1]"),
    "an unknown block in a result": ([USER, said(USE), user(result(content=[text("a"), {"type": "hologram"}]))], "messages[2].content[0].content[1]"),
    "a document in a result": ([USER, said(USE), user(result(content=[{"type": "document", "source": {"type": "url", "url": "https://example.com/a.pdf"}}]))], "messages[2].content[0].content[0]"),
    "a call of the server": ([USER, said({"type": "server_tool_use", "id": "s1", "name": "web_search", "input": {}}, text("a"))], "messages[1].content[0]"),
    "a call of the user's": ([USER, user(USE)], "messages[1].content[0]"),
    "nothing but a call of the user's": ([user(USE)], "messages[0].content[0]"),
    "a call in a system message": ([{"role": "system", "content": [USE]}, USER], "messages[0].content[0]"),
    "a result of the assistant's": ([USER, said(result())], "messages[1].content[0].tool_use_id"),
    "thinking of the user's": ([user(thinking(), text("a"))], "messages[0].content[0]"),
    "an image of the assistant's": ([USER, said(SMALL)], "messages[1].content[0]"),
    "behind a system message that moves": ([USER, {"role": "system", "content": "late"}, said(USE), {"role": "developer", "content": "later"}, user(text("first"), result())], "messages[4].content[1]"),
    "an image that is too large": ([user(text("a"), {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{'A' * 400}"}})], "messages[0].content[1]"),
    "an image that is too large in a result": ([USER, said(USE), user(result(content=[text("a"), {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "A" * 400}}]))], "messages[2].content[0].content[1]"),
    "too many images": ([user(SMALL, SMALL), USER, user(SMALL)], "messages[2].content[0]"),
}  # fmt: skip


def ask(front: Gate, model: str, messages: list[Any], stream: bool, **more: Any) -> Any:
    return front.post("/v1/chat/completions", {"model": model, "messages": messages, "stream": stream, **more})


@pytest.mark.parametrize("situation", list(REFUSED))
def test_what_is_refused_has_the_callers_path_and_no_attempt(
    situation: str, front: tuple[str, Gate, Scripted], model: str, stream: bool
) -> None:
    _, gateway, upstream = front
    messages, param = REFUSED[situation]
    if situation == "both forms of reasoning" and front[0] in WITHOUT_REASONING:
        param = "messages[1].content[0]"
    before = len(upstream.seen)
    got = ask(gateway, model, messages, stream)
    assert (got.status, got.json["error"]["param"]) == (400, param)
    assert set(got.json["error"]) == {"message", "type", "param", "code"}
    assert got.json["error"]["type"] == "invalid_request_error"
    assert gateway.tries(got) == []
    assert len(upstream.seen) == before
    assert gateway.row(got).ended == "refused"


@pytest.mark.parametrize("situation", ["redacted thinking", "thinking"])
def test_reasoning_that_has_no_place_is_refused(
    situation: str, front: tuple[str, Gate, Scripted], model: str, stream: bool
) -> None:
    target, gateway, _ = front
    block = thinking() if situation == "thinking" else {"type": "redacted_thinking", "data": "eHh4"}
    got = ask(gateway, model, [USER, said(block, text("a"))], stream)
    if situation == "thinking" and target not in WITHOUT_REASONING:
        assert (got.status, len(gateway.tries(got))) == (200, 1)
        return
    assert got.status == 400
    assert got.json["error"]["param"].startswith("messages[1].content[0]")
    assert gateway.tries(got) == []


def test_what_is_too_large_on_the_wire_is_413_with_no_attempt(
    front: tuple[str, Gate, Scripted], model: str, stream: bool
) -> None:
    _, gateway, _ = front
    # In words: the pattern of the redacted route tries each letter of one long word with all that follow.
    got = ask(gateway, model, [{"role": "user", "content": "a " * 35_000}], stream)
    assert (got.status, got.json["error"]["param"]) == (413, "messages")
    assert gateway.tries(got) == []


SYSTEM, LATE = {"role": "system", "content": "be kind"}, {"role": "system", "content": "be brief"}
CALL = {"id": "t1", "type": "function", "function": {"name": "f", "arguments": '{"to": "ann@example.com", "n": 1}'}}
CALL_2 = {"id": "t2", "type": "function", "function": {"name": "f", "arguments": "{}"}}


def called(*calls: Any, content: Any = None) -> dict[str, Any]:
    return {"role": "assistant", "content": content, "tool_calls": list(calls)}


def done(call: str = "t1", content: Any = "done") -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": call, "content": content}


# name: the messages, and what an upstream that takes instructions in front gets.
TAKEN: dict[str, tuple[list[Any], list[Any]]] = {
    "a native history": ([SYSTEM, USER, called(CALL), ANSWERED, USER], [SYSTEM, USER, called(CALL), ANSWERED, USER]),
    "a call and its result": ([USER, said(text("a"), USE), user(result())], [USER, called(CALL, content="a"), done()]),
    "calls without text": ([USER, said(USE, SECOND), user(result(), result("t2"))], [USER, called(CALL, CALL_2), done(), done("t2")]),
    "results in the order in which they came": ([USER, said(USE, SECOND), user(result("t2"), result())], [USER, called(CALL, CALL_2), done("t2"), done()]),
    "a failed result": ([USER, said(USE), user(result(is_error=True))], [USER, called(CALL), done(content="[tool error] done")]),
    "text behind the results": ([USER, said(USE), user(result(), text("go on"))], [USER, called(CALL), done(), {"role": "user", "content": "go on"}]),
    "a late system message": ([USER, {"role": "assistant", "content": "a"}, LATE, USER], [LATE, USER, {"role": "assistant", "content": "a"}, USER]),
    "a system message between a call and its result": ([SYSTEM, USER, said(USE), LATE, user(result())], [SYSTEM, LATE, USER, called(CALL), done()]),
    "a developer message between results": ([USER, said(USE, SECOND), user(result()), {"role": "developer", "content": "d"}, user(result("t2"))], [{"role": "developer", "content": "d"}, USER, called(CALL, CALL_2), done(), done("t2")]),
}  # fmt: skip


def plain(messages: Any) -> Any:
    """Messages without what only spelling makes different: arguments as values, one text as a string, a missing content as null."""
    out = copy.deepcopy(messages)
    for message in out:
        message.setdefault("content", None)
        message.pop("reasoning_content", None)
        content = message["content"]
        if isinstance(content, list) and len(content) == 1 and content[0]["type"] == "text":
            message["content"] = content[0]["text"]
        for call in message.get("tool_calls", ()):
            call["function"]["arguments"] = json.loads(call["function"]["arguments"])
    return out


@pytest.mark.parametrize("situation", list(TAKEN))
def test_what_is_taken_reaches_the_upstream_in_one_attempt(
    situation: str, front: tuple[str, Gate, Scripted], stream: bool
) -> None:
    target, gateway, upstream = front
    given, wanted = TAKEN[situation]
    kept = copy.deepcopy(given)
    got = ask(gateway, "plain-model", given, stream)
    assert got.status == 200, got.body
    assert given == kept
    (attempt,) = gateway.tries(got)
    assert (attempt.status, attempt.ended, attempt.target) == (200, "whole", target)
    sent = upstream.seen[-1].json["messages"]
    if target == "openai-chat:system-first":
        assert plain(sent) == plain(wanted)
    elif target == "openai-chat:deepseek-thinking":
        # No developer role there.
        assert sorted(str(m.get("tool_calls")) for m in plain(sent)) == sorted(
            str(m.get("tool_calls")) for m in plain(wanted)
        )
    # A second pass changes nothing more.
    again = ask(gateway, "plain-model", sent, stream)
    assert (again.status, again.losses, upstream.seen[-1].json["messages"]) == (200, None, sent)


@pytest.mark.parametrize("situation", list(TAKEN))
def test_redaction_changes_no_id_and_is_undone(situation: str, front: tuple[str, Gate, Scripted], stream: bool) -> None:
    _, gateway, upstream = front
    given, _ = TAKEN[situation]
    plainly = ask(gateway, "plain-model", given, stream)
    open_ = upstream.seen[-1].json["messages"]
    hidden = ask(gateway, "hidden-model", given, stream)
    assert (plainly.status, hidden.status) == (200, 200)
    sent = upstream.seen[-1].json["messages"]
    assert "ann@example.com" not in json.dumps(sent)
    assert [(m["role"], m.get("tool_call_id"), [c["id"] for c in m.get("tool_calls", ())]) for m in sent] == [
        (m["role"], m.get("tool_call_id"), [c["id"] for c in m.get("tool_calls", ())]) for m in open_
    ]


@pytest.mark.parametrize("policy", ["strict", "repair"])
def test_ordinary_thinking_becomes_reasoning_content(
    policy: str, front: tuple[str, Gate, Scripted], stream: bool
) -> None:
    target, gateway, upstream = front
    history = [USER, said(thinking("the plan"), USE), user(result())]
    got = ask(gateway, "repaired" if policy == "repair" else "plain-model", history, stream)
    if target in WITHOUT_REASONING:
        if policy == "strict":
            assert (got.status, got.json["error"]["param"], gateway.tries(got)) == (400, "messages[1].content[0]", [])
            return
        assert got.losses == "1; worst=RSN005"
        assert "the plan" not in json.dumps(upstream.seen[-1].json)
    else:
        assert upstream.seen[-1].json["messages"][1]["reasoning_content"] == "the plan"
        assert got.losses == "1; worst=RSN001"
    assert got.status == 200
    assert "c2ln" not in upstream.seen[-1].body.decode()
    assert len(gateway.tries(got)) == 1


def test_images_of_a_result_keep_their_order_and_follow_it(front: tuple[str, Gate, Scripted], stream: bool) -> None:
    _, gateway, upstream = front
    inside = [text("one"), SMALL, text("two")]
    got = ask(gateway, "plain-model", [USER, said(USE), user(result(content=inside, is_error=True))], stream)
    assert got.status == 200, got.body
    messages = upstream.seen[-1].json["messages"]
    tool = next(message for message in messages if message["role"] == "tool")
    assert [part["text"] for part in tool["content"]] == ["[tool error] one", "two"]
    assert messages[messages.index(tool) + 1]["content"][0]["image_url"]["url"].startswith(
        "data:image/png;base64,iVBORw0KGgo"
    )


def test_a_bare_target_keeps_system_messages_in_place(tmp_path: Path) -> None:
    upstream = Scripted(json_of(CHAT))
    with gate(tmp_path, [("openai-chat", upstream)], policy="strict") as gateway:
        got = ask(gateway, "m", [USER, said(USE), LATE, user(result()), LATE, USER], False)
        assert got.status == 200
        assert [message["role"] for message in upstream.seen[-1].json["messages"]] == [
            "user",
            "assistant",
            "tool",
            "system",
            "system",
            "user",
        ]


def test_the_key_of_an_upstream_is_not_read_for_a_refusal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from sendable.gateway.config import Upstream

    asked: list[str] = []

    def key(self: Upstream) -> None:
        asked.append(self.name)

    monkeypatch.setattr(Upstream, "key", key)
    upstream = Scripted(json_of(CHAT))
    with gate(tmp_path, [("openai-chat", upstream)], policy="strict") as gateway:
        assert ask(gateway, "m", [USER, ANSWERED], False).status == 400
        assert asked == []
        assert ask(gateway, "m", [USER], False).status == 200
        assert asked == ["openai-chat"]
