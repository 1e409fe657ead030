"""Agents made of the official clients: each asks, runs the calls that come back, and goes on until there are only words.

What must not live here: what any test expects, and anything that a plain user of the client would not do.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, NamedTuple

import anthropic
import openai
from google import genai
from google.genai import types

from tests.gateway.providers import QUESTION, RESULTS, SCHEMA


class Done(NamedTuple):
    """What an agent has at the end: the last words, and the calls that it ran, each as name and arguments."""

    words: str | None
    calls: list[tuple[str, Any]]


class Broken(Exception):
    """A stream said that it failed."""


Agent = Callable[[str, bool], Done]
"""Takes the URL of a server, and whether to stream. Raises what its client raises."""

MOST = 4


def openai_client(url: str) -> openai.OpenAI:
    """OpenAI's client of this server."""
    return openai.OpenAI(base_url=f"{url}/v1", api_key="k", max_retries=0, timeout=20)


def anthropic_client(url: str) -> anthropic.Anthropic:
    """Anthropic's client of this server."""
    return anthropic.Anthropic(base_url=url, api_key="k", max_retries=0, timeout=20)


def chat(url: str, stream: bool) -> Done:
    """An agent of Chat that keeps only what Chat has: every other field of an answer it throws away, as most do."""
    calls: list[tuple[str, Any]] = []
    messages: list[Any] = [{"role": "user", "content": QUESTION}]
    asked: Any = {
        "model": "m",
        "messages": messages,
        "tools": [{"type": "function", "function": {"name": "look", "parameters": SCHEMA, "strict": True}}],
    }
    with openai_client(url) as client:
        for _ in range(MOST):
            if stream:
                with client.chat.completions.stream(**asked) as events:
                    for _event in events:
                        pass  # read to the end
                    message: Any = events.get_final_completion().choices[0].message
            else:
                message = client.chat.completions.create(**asked).choices[0].message
            if not message.tool_calls:
                return Done(message.content, calls)
            kept = [
                {"id": call.id, "type": "function", "function": {"name": call.function.name, "arguments": call.function.arguments}}
                for call in message.tool_calls
            ]  # fmt: skip
            messages.append({"role": "assistant", "content": message.content, "tool_calls": kept})
            for call in message.tool_calls:
                given = json.loads(call.function.arguments)
                calls.append((call.function.name, given))
                messages.append({"role": "tool", "tool_call_id": call.id, "content": RESULTS[given["at"]]})
    raise AssertionError("the agent never came to an end")


def messages(url: str, stream: bool) -> Done:
    """An agent of Messages, which sends back the content of an answer as it came."""
    calls: list[tuple[str, Any]] = []
    history: list[Any] = [{"role": "user", "content": QUESTION}]
    asked: Any = {
        "model": "m", "max_tokens": 2000, "messages": history, "tools": [{"name": "look", "input_schema": SCHEMA}],
    }  # fmt: skip
    with anthropic_client(url) as client:
        for _ in range(MOST):
            if stream:
                with client.messages.stream(**asked) as events:
                    message: Any = events.get_final_message()
            else:
                message = client.messages.create(**asked)
            uses = [block for block in message.content if block.type == "tool_use"]
            if not uses:
                return Done("".join([block.text for block in message.content if block.type == "text"]), calls)
            history.append({"role": "assistant", "content": message.content})
            results: list[Any] = []
            for use in uses:
                calls.append((use.name, use.input))
                results.append({"type": "tool_result", "tool_use_id": use.id, "content": RESULTS[use.input["at"]]})
            history.append({"role": "user", "content": results})
    raise AssertionError("the agent never came to an end")


def _responses(url: str, stream: bool, handles: bool) -> Done:
    calls: list[tuple[str, Any]] = []
    items: list[Any] = [{"role": "user", "content": QUESTION}]
    asked: Any = {"model": "m", "tools": [{"type": "function", "name": "look", "parameters": SCHEMA, "strict": True}]}
    if not handles:
        asked |= {"store": False, "include": ["reasoning.encrypted_content"]}
    with openai_client(url) as client:
        for _ in range(MOST):
            if stream:
                with client.responses.stream(**asked, input=items) as events:
                    for event in events:
                        if event.type == "error":
                            # The client hands this event out, and leaves it to its user to fail.
                            raise Broken(event.message)
                    response: Any = events.get_final_response()
            else:
                response = client.responses.create(**asked, input=items)
            uses = [item for item in response.output if item.type == "function_call"]
            if not uses:
                return Done(response.output_text, calls)
            if handles:
                asked["previous_response_id"], items = response.id, []
            else:
                items += [_sent_again(item) for item in response.output]
            for use in uses:
                given = json.loads(use.arguments)
                calls.append((use.name, given))
                items.append({"type": "function_call_output", "call_id": use.call_id, "output": RESULTS[given["at"]]})
    raise AssertionError("the agent never came to an end")


def _sent_again(item: Any) -> dict[str, Any]:
    """An item of an answer as an item of the next input; what the client's helper has parsed is no field of it."""
    plain: dict[str, Any] = item.to_dict(mode="json")
    plain.pop("parsed_arguments", None)
    for part in plain.get("content") or ():
        part.pop("parsed", None)
    return plain


def responses(url: str, stream: bool) -> Done:
    """An agent of Responses that holds its history itself: it sends every item again, with its sealed reasoning."""
    return _responses(url, stream, False)


def responses_by_handle(url: str, stream: bool) -> Done:
    """An agent of Responses that points at the answer before by its id."""
    return _responses(url, stream, True)


def gemini(url: str, stream: bool) -> Done:
    """An agent of generateContent, which sends back the parts of an answer as they came."""
    calls: list[tuple[str, Any]] = []
    history: list[Any] = [types.Content(role="user", parts=[types.Part(text=QUESTION)])]
    tool = types.Tool(
        function_declarations=[types.FunctionDeclaration(name="look", description="Look there", parameters_json_schema=SCHEMA)]
    )  # fmt: skip
    settings = types.GenerateContentConfig(
        tools=[tool], automatic_function_calling=types.AutomaticFunctionCallingConfig(disable=True)
    )
    client = genai.Client(api_key="k", http_options=types.HttpOptions(base_url=url, timeout=20_000))
    for _ in range(MOST):
        parts: list[types.Part] = []
        if stream:
            for chunk in client.models.generate_content_stream(model="m", contents=history, config=settings):
                parts += _parts(chunk)
        else:
            parts = _parts(client.models.generate_content(model="m", contents=history, config=settings))
        uses = [part.function_call for part in parts if part.function_call is not None]
        if not uses:
            return Done("".join([part.text for part in parts if part.text and not part.thought]), calls)
        history.append(types.Content(role="model", parts=parts))
        results: list[types.Part] = []
        for use in uses:
            given = use.args or {}
            calls.append((use.name or "", given))
            response = types.FunctionResponse(id=use.id, name=use.name, response={"output": RESULTS[given["at"]]})
            results.append(types.Part(function_response=response))
        history.append(types.Content(role="user", parts=results))
    raise AssertionError("the agent never came to an end")


def _parts(answer: types.GenerateContentResponse) -> list[types.Part]:
    candidate = (answer.candidates or [types.Candidate()])[0]
    return list((candidate.content or types.Content()).parts or ())


AGENTS: dict[str, Agent] = {
    "chat": chat,
    "messages": messages,
    "responses": responses,
    "responses by handle": responses_by_handle,
    "gemini": gemini,
}
