"""What goes on from one request to the next: handles that we issued, carriers with our seal, reasoning for clients that throw it away."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import openai
import pytest

from sendable.gateway.config import ClientKey, from_flags
from sendable.gateway.continuity import Continuity
from sendable.gateway.keys import Keys, hashed
from sendable.gateway.store import SqliteStore
from tests.answers.spoken import ANTHROPIC
from tests.gateway.agents import openai_client, responses_by_handle
from tests.gateway.live import Gate, Scripted
from tests.gateway.providers import FINAL, QUESTION, SCHEMA, Provider

KEY = "a key of the tests"
TOOL = {"type": "function", "name": "look", "parameters": SCHEMA}
CHAT_TOOL = {"type": "function", "function": {"name": "look", "parameters": SCHEMA}}
THOUGHT = ANTHROPIC.answer["content"][0]


class Front:
    """A gateway in front of an Anthropic model that thinks."""

    def __init__(self, folder: Path, *, key: str | None = KEY, keys: Keys | None = None) -> None:
        self.folder = folder
        self.provider = Provider("anthropic")
        self.upstream = Scripted(self.provider)
        config = from_flags([f"anthropic={self.upstream.url}"])
        self.gate = Gate(config, folder, keys=keys, continuity=Continuity(SqliteStore(folder / "store.db"), key))

    def ask(self, body: dict[str, Any], **headers: str) -> Any:
        """One request of Responses."""
        return self.gate.post("/v1/responses", {"model": "m", "tools": [TOOL], **body}, **headers)

    def chat(self, messages: list[Any], **more: Any) -> Any:
        """One request of Chat."""
        return self.gate.post(
            "/v1/chat/completions", {"model": "m", "messages": messages, "tools": [CHAT_TOOL], **more}
        )

    def sent(self) -> list[Any]:
        """The messages of the last request that went up."""
        found: list[Any] = self.upstream.seen[-1].json["messages"]
        return found

    def codes(self, answer: Any) -> set[str]:
        """The codes of what was lost."""
        return {entry["code"] for entry in self.gate.report(answer.id)["entries"]}

    def stop(self) -> None:
        """End both."""
        self.gate.stop()
        self.upstream.stop()


@pytest.fixture
def front(tmp_path: Path) -> Iterator[Front]:
    """A gateway with a store and a key."""
    found = Front(tmp_path)
    yield found
    found.stop()


def outputs(answer: Any) -> list[Any]:
    """A result for each call of an answer of Responses."""
    return [
        {"type": "function_call_output", "call_id": item["call_id"], "output": "nothing"}
        for item in answer.json["output"]
        if item["type"] == "function_call"
    ]


def results(message: dict[str, Any]) -> list[Any]:
    """A result for each call of a message of Chat."""
    return [{"role": "tool", "tool_call_id": call["id"], "content": "nothing"} for call in message["tool_calls"]]


# --- handles --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
def test_what_we_issued_can_be_read_and_deleted_with_the_official_client(front: Front, stream: bool) -> None:
    with openai_client(front.gate.url) as client:
        asked: Any = {"model": "m", "input": QUESTION, "tools": [{**TOOL, "strict": True}]}
        if stream:
            with client.responses.stream(**asked) as events:
                list(events)
                made: Any = events.get_final_response()
        else:
            made = client.responses.create(**asked)
        read: Any = client.responses.retrieve(made.id)
        assert [item.type for item in read.output] == [item.type for item in made.output]
        assert (read.id, read.store, read.previous_response_id) == (made.id, True, None)
        client.responses.delete(made.id)
        with pytest.raises(openai.NotFoundError):
            client.responses.retrieve(made.id)
        with pytest.raises(openai.BadRequestError) as caught:
            client.responses.create(model="m", input="go on", previous_response_id=made.id)
        assert caught.value.param == "previous_response_id"


def test_a_chain_of_handles_holds_the_whole_history(front: Front) -> None:
    first = front.ask({"input": QUESTION, "instructions": "only now"})
    second = front.ask({"input": outputs(first), "previous_response_id": first.json["id"]})
    third = front.ask({"input": "thanks", "previous_response_id": second.json["id"]})
    assert (third.status, third.json["previous_response_id"]) == (200, second.json["id"])
    messages = front.sent()
    assert [message["role"] for message in messages] == ["user", "assistant", "user", "assistant", "user"]
    assert messages[1]["content"] == ANTHROPIC.answer["content"]
    # «the instructions from a previous response will not be carried over to the next response» (OpenAI's reference, 2026-12-01)
    assert "system" not in front.upstream.seen[-1].json
    # Both branches of a history go on from the same answer.
    again = front.ask({"input": "another way", "previous_response_id": second.json["id"]})
    assert (again.status, front.provider.refused) == (200, [])


@pytest.mark.parametrize("handle", ["resp_unknown", "", 7, ["resp_1"]])
def test_a_handle_that_nobody_issued_is_refused_and_not_ignored(front: Front, handle: Any) -> None:
    answer = front.ask({"input": QUESTION, "previous_response_id": handle})
    assert (answer.status, answer.json["error"]["param"]) == (400, "previous_response_id")
    assert (front.upstream.seen, front.gate.tries(answer)) == ([], [])


def test_an_answer_that_was_not_to_be_stored_is_not(front: Front) -> None:
    answer = front.ask({"input": QUESTION, "store": False})
    assert answer.json["store"] is False
    assert front.gate.send("GET", f"/v1/responses/{answer.json['id']}").status == 404
    assert front.ask({"input": "go on", "previous_response_id": answer.json["id"]}).status == 400


def test_a_conversation_is_its_providers_alone(front: Front) -> None:
    answer = front.ask({"input": QUESTION, "conversation": "conv_1"})
    assert (answer.status, answer.json["error"]["param"], front.upstream.seen) == (400, "conversation", [])


def test_clients_do_not_see_each_others_answers(tmp_path: Path) -> None:
    front = Front(
        tmp_path, keys=Keys([ClientKey(name, sha256=hashed(f"one-key-of-{name}")) for name in ("ann", "bob")])
    )
    try:
        ann, bob = "Bearer one-key-of-ann", "Bearer one-key-of-bob"
        made = front.ask({"input": QUESTION}, authorization=ann)
        place = f"/v1/responses/{made.json['id']}"
        assert front.gate.send("GET", place, headers={"authorization": bob}).status == 404
        assert front.gate.send("DELETE", place, headers={"authorization": bob}).status == 404
        more = {"input": outputs(made), "previous_response_id": made.json["id"]}
        assert front.ask(more, authorization=bob).status == 400
        assert front.gate.send("GET", place, headers={"authorization": ann}).status == 200
        assert front.ask(more, authorization=ann).status == 200
    finally:
        front.stop()


def test_places_are_those_of_the_clients_own_input(front: Front) -> None:
    first = front.ask({"input": QUESTION})
    stray = {"type": "function_call_output", "call_id": "call_stray", "output": "what?"}
    answer = front.ask({"input": [*outputs(first), stray], "previous_response_id": first.json["id"]})
    paths = {entry["param"] for entry in front.gate.report(answer.id)["entries"] if entry["code"].startswith("PAR")}
    assert (answer.status, paths) == (200, {"input[2].call_id"})


def test_an_answer_is_there_after_a_restart(tmp_path: Path) -> None:
    front = Front(tmp_path)
    made = front.ask({"input": QUESTION})
    front.stop()
    front = Front(tmp_path)
    try:
        answer = front.ask({"input": outputs(made), "previous_response_id": made.json["id"]})
        assert (answer.status, front.sent()[1]["content"]) == (200, ANTHROPIC.answer["content"])
    finally:
        front.stop()


# --- carriers -------------------------------------------------------------------------------------------------------------


def sealed_items(answer: Any) -> list[Any]:
    """The items of an answer, as a client without a server's memory sends them again."""
    return [{"role": "user", "content": QUESTION}, *answer.json["output"], *outputs(answer)]


STATELESS = {"store": False, "include": ["reasoning.encrypted_content"]}


def test_sealed_reasoning_comes_back_and_forged_reasoning_does_not(front: Front) -> None:
    made = front.ask({"input": QUESTION, **STATELESS})
    items = sealed_items(made)
    front.ask({"input": items, **STATELESS})
    assert front.sent()[1]["content"] == ANTHROPIC.answer["content"]
    forged = copy.deepcopy(items)
    touched = 0
    for item in forged:
        if item.get("encrypted_content"):
            text = item["encrypted_content"]
            middle = len(text) // 2
            item["encrypted_content"] = text[:middle] + ("A" if text[middle] != "A" else "B") + text[middle + 1 :]
            touched += 1
    assert touched
    answer = front.ask({"input": forged, **STATELESS})
    assert (answer.status, front.provider.refused) == (200, [])
    assert THOUGHT["signature"] not in json.dumps(front.sent())
    assert any([code.startswith(("RSN", "CAR")) for code in front.codes(answer)])


def test_another_servers_seal_is_not_believed(tmp_path: Path) -> None:
    one, other = tmp_path / "one", tmp_path / "other"
    one.mkdir()
    other.mkdir()
    first, second = Front(one), Front(other, key="another key")
    try:
        items = sealed_items(first.ask({"input": QUESTION, **STATELESS}))
        answer = second.ask({"input": items, **STATELESS})
        assert answer.status == 200
        assert THOUGHT["signature"] not in json.dumps(second.sent())
        assert any([code.startswith(("RSN", "CAR")) for code in second.codes(answer)])
    finally:
        first.stop()
        second.stop()


def test_without_a_key_no_carrier_leaves_and_handles_still_work(tmp_path: Path) -> None:
    front = Front(tmp_path, key=None)
    try:
        made = front.ask({"input": QUESTION, **STATELESS})
        assert not [item for item in made.json["output"] if item.get("encrypted_content")]
        assert responses_by_handle(front.gate.url, False).words == FINAL
    finally:
        front.stop()


# --- clients that throw fields away ---------------------------------------------------------------------------------------


def bare(message: dict[str, Any]) -> dict[str, Any]:
    """A message of Chat with what Chat has, and nothing else."""
    return {name: message[name] for name in ("role", "content", "tool_calls") if message.get(name) is not None}


def test_a_client_that_throws_reasoning_away_gets_it_back_in_every_later_turn(front: Front) -> None:
    asked: list[Any] = [{"role": "user", "content": QUESTION}]
    made = bare(front.chat(asked).json["choices"][0]["message"])
    asked += [made, *results(made)]
    last = bare(front.chat(asked).json["choices"][0]["message"])
    asked += [last, {"role": "user", "content": "thanks"}]
    answer = front.chat(asked)
    assert (answer.status, front.sent()[1]["content"]) == (200, ANTHROPIC.answer["content"])
    assert front.provider.refused == []


def test_what_was_said_behind_another_beginning_is_not_restored(front: Front) -> None:
    asked: list[Any] = [{"role": "user", "content": QUESTION}]
    made = bare(front.chat(asked).json["choices"][0]["message"])
    answer = front.chat([{"role": "user", "content": "Another question"}, made, *results(made)])
    assert answer.status == 200
    assert THOUGHT["signature"] not in json.dumps(front.sent())


def test_what_the_client_changed_is_not_overwritten(front: Front) -> None:
    asked: list[Any] = [{"role": "user", "content": QUESTION}]
    made = bare(front.chat(asked).json["choices"][0]["message"])
    made["content"] = "I said something else."
    answer = front.chat([*asked, made, *results(made)])
    assert answer.status == 200
    assert "I said something else." in json.dumps(front.sent())
    assert "I look in the shed." not in json.dumps(front.sent())
