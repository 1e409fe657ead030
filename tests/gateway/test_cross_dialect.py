"""Any client protocol in front of any upstream dialect, with the official clients: tool loops of parallel calls, thinking, failures; whole and streamed."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import anthropic
import openai
import pytest
from google import genai

from sendable.gateway.config import from_flags, load
from sendable.gateway.continuity import Continuity
from sendable.gateway.store import SqliteStore
from tests.answers.spoken import SPOKEN
from tests.gateway.agents import AGENTS, Broken
from tests.gateway.live import Gate, Says, Scripted, base_of, events
from tests.gateway.providers import FINAL, STREAMED, Provider, error

UPSTREAMS = ("openai-chat", "anthropic", "openai-responses", "gemini")
CALLS = [("look", {"at": "shed"}), ("look", {"at": "barn"})]


class Front:
    """A gateway that remembers, in front of one scripted provider."""

    def __init__(self, folder: Path, dialect: str) -> None:
        self.provider = Provider(dialect)
        self.upstream = Scripted(self.provider)
        config = from_flags([f"{dialect}={self.upstream.url}{base_of(dialect)}"])
        self.gate = Gate(config, folder, continuity=Continuity(SqliteStore(folder / "store.db"), "a key of the tests"))

    def forget(self) -> None:
        """Nothing has been seen yet."""
        self.upstream.seen.clear()
        self.provider.refused.clear()

    def stop(self) -> None:
        """End both."""
        self.gate.stop()
        self.upstream.stop()


@pytest.fixture(scope="module", params=UPSTREAMS)
def front(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Front]:
    """A gateway in front of a provider of this dialect."""
    found = Front(tmp_path_factory.mktemp("cross"), request.param)
    yield found
    found.stop()


@pytest.fixture(params=[False, True], ids=["whole", "stream"])
def stream(request: pytest.FixtureRequest) -> bool:
    """Whether the client asks for a stream."""
    return bool(request.param)


_TURNS: dict[str, tuple[str, Any]] = {
    "openai-chat": ("messages", slice(1, 2)),
    "anthropic": ("messages", slice(1, 2)),
    "openai-responses": ("input", slice(1, -2)),
    "gemini": ("contents", slice(1, 2)),
}
"""Where a request holds the provider's own turn: behind the question, before the two results."""

HOME = {
    "chat": "openai-chat", "messages": "anthropic", "responses": "openai-responses", "responses by handle": "openai-responses", "gemini": "gemini",
}  # fmt: skip


def turn_of(dialect: str, items: Any) -> Any:
    """The provider's turn; arguments as values, for not every client keeps their spacing."""
    turn = json.loads(json.dumps(items[_TURNS[dialect][1]]))
    for item in turn:
        for call in item.get("tool_calls") or ():
            call["function"]["arguments"] = json.loads(call["function"]["arguments"])
        if item.get("type") == "function_call":
            item["arguments"] = json.loads(item["arguments"])
    return turn


@pytest.mark.parametrize("agent", list(AGENTS))
def test_a_tool_loop_comes_to_its_end_and_loses_no_reasoning(agent: str, front: Front, stream: bool) -> None:
    front.forget()
    dialect, before = front.provider.dialect, len(front.gate.rows())
    done = AGENTS[agent](front.gate.url, stream)
    assert (done.words, done.calls, front.provider.refused) == (FINAL, CALLS, [])
    assert len(front.upstream.seen) == 2
    rows = front.gate.rows()[before:]
    assert [(row.status, row.ended, len(front.gate.tries(row.id))) for row in rows] == [(200, "whole", 1)] * 2
    second = front.upstream.seen[1].json
    if agent == "responses by handle" and HOME[agent] == dialect:
        # The provider itself knows what it said.
        assert second["previous_response_id"] == SPOKEN[dialect].answer["id"]
        return
    said = second[_TURNS[dialect][0]]
    if agent == "gemini" and dialect != "gemini":
        # Its dialect has no place for what others seal, and each thing that does not come back has its entry.
        codes = {entry["code"] for row in rows for entry in front.gate.report(row.id)["entries"]}
        assert dialect == "openai-chat" or {code for code in codes if code.startswith("RSN")}
        assert "shed" in str(said)
        assert "barn" in str(said)
        return
    expected = turn_of(dialect, SPOKEN[dialect].next_turn)
    if agent == "chat" and dialect == "openai-chat":
        # Byte for byte: what the client throws away stays away.
        del expected[0]["reasoning_content"]
    # The provider sees its own turn again as it said it: thoughts, signatures, sealed reasoning, the order of text and calls, ids.
    assert turn_of(dialect, said) == expected


# --- failures -------------------------------------------------------------------------------------------------------------

SENTENCE = "role 'system' is not supported on this model"
"""A sentence from which a client recovers."""

STATUSES = {
    400: (openai.BadRequestError, anthropic.BadRequestError),
    429: (openai.RateLimitError, anthropic.RateLimitError),
    500: (openai.InternalServerError, anthropic.InternalServerError),
}


TOML = """
schema_version = 1
[upstreams.one]
target = "{dialect}"
base_url = "{url}"
retries = {{most = 0}}
[[routes]]
match = "*"
upstreams = ["one"]
"""


class Failing:
    """A gateway in front of a provider that fails as it is told, and which is tried once."""

    def __init__(self, folder: Path, dialect: str) -> None:
        self.dialect = dialect
        self.upstream = Scripted(error(dialect, 500, SENTENCE))
        file = folder / "gateway.toml"
        file.write_text(TOML.format(dialect=dialect, url=self.upstream.url + base_of(dialect)))
        self.gate = Gate(load(file), folder)

    def fails(self, says: Says, agent: str, stream: bool) -> tuple[Any, Any]:
        """What the agent raises, and the audit's row of its one request, for which there was one try."""
        self.upstream.script[:] = [says]
        before = len(self.gate.rows())
        with pytest.raises((openai.APIError, anthropic.APIError, genai.errors.APIError, Broken)) as caught:
            AGENTS[agent](self.gate.url, stream)
        (row,) = self.gate.rows()[before:]
        assert len(self.gate.tries(row.id)) == 1
        return caught.value, row

    def stop(self) -> None:
        """End both."""
        self.gate.stop()
        self.upstream.stop()


@pytest.fixture(scope="module", params=UPSTREAMS)
def failing(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Failing]:
    """A gateway in front of a failing provider of this dialect."""
    found = Failing(tmp_path_factory.mktemp("failing"), request.param)
    yield found
    found.stop()


@pytest.mark.parametrize("agent", list(AGENTS))
@pytest.mark.parametrize("status", list(STATUSES))
def test_a_refusal_reaches_the_client_as_its_own_with_the_providers_words(
    agent: str, failing: Failing, status: int, stream: bool
) -> None:
    found, row = failing.fails(error(failing.dialect, status, SENTENCE), agent, stream)
    assert (found.code if agent == "gemini" else found.status_code) == status
    assert isinstance(found, (*STATUSES[status], genai.errors.APIError))
    assert SENTENCE in str(found)
    assert (row.status, row.ended) == (status, "upstream")


@pytest.mark.parametrize("agent", list(AGENTS))
@pytest.mark.parametrize("how", ["broken", "ended early"])
def test_a_stream_that_breaks_off_is_an_error_of_the_client(agent: str, failing: Failing, how: str) -> None:
    begun = list(STREAMED[failing.dialect](SPOKEN[failing.dialect].answer))[: 4 if failing.dialect != "gemini" else 2]
    says = events(*begun, *([None] if how == "broken" else []), end=b"")
    found, row = failing.fails(says, agent, True)
    assert "the upstream ended the stream before the answer was complete" in str(found)
    assert (row.status, row.ended) == (200, "upstream")


@pytest.mark.parametrize("agent", list(AGENTS))
def test_what_is_no_answer_is_a_failure_of_the_upstream(agent: str, failing: Failing) -> None:
    if HOME[agent] == failing.dialect:
        pytest.skip("the same dialect is passed on as it is")
    found, row = failing.fails(Says(b"<html>welcome</html>", kind="text/html"), agent, False)
    assert (found.code if agent == "gemini" else found.status_code) == 502
    assert "html" not in str(found)
    assert (row.status, row.ended) == (502, "upstream")
