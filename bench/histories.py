"""Histories to measure with: one list of events, by seed, written as a Chat body and as an Anthropic body.

Here: the events, the faults put into them, and the two renderings. Standard library only, and nothing of the package itself,
so that a history can never be wrong in the same way as the code that it measures.

The shape is that of stored agent sessions: 41 to 43 % of the Chat messages are tool results; arguments are 100 B to 4 KB and
results 200 B to 20 KB, log-uniform; about 15 % of the texts are not ASCII, emoji included; one image of 50 KB (base64) in
50 messages; 1 to 3 parallel calls. `scale=0.05, images=0` makes short chats, where the cost of a message outweighs that of a byte.
"""

from __future__ import annotations

import base64
import json
import math
from dataclasses import dataclass, field
from random import Random
from typing import Any, Literal

FAULTS = ("lost result", "duplicate result", "duplicate id", "late system")

Json = dict[str, Any]


@dataclass(slots=True)
class Call:
    id: str
    name: str
    arguments: Json
    results: list[str]
    """Exactly one in a clean history; none if it was lost, two if it was stored twice."""


@dataclass(slots=True)
class Event:
    role: Literal["system", "user", "assistant"]
    text: str
    calls: list[Call] = field(default_factory=list)
    image: str = ""


class Source:
    """All randomness: texts cut from two pools made once, so that 40 MB take about a second."""

    def __init__(self, seed: int, scale: float) -> None:
        self.random = Random(seed)
        self.scale = scale
        words = [self.word() for _ in range(600)]
        joints = (
            " ",
            " ",
            " ",
            " ",
            " ",
            ", ",
            ". ",
            "\n",
            "\n    ",
            ' "',
            '", ',
            "\t",
            "/",
            " = ",
            "(",
            ");\n",
            "{",
            "}",
        )
        self.ascii = "".join(self.random.choice(words) + self.random.choice(joints) for _ in range(40_000))
        foreign = (
            "Überprüfung",
            "naïve",
            "данные",
            "ответ",
            "検索",
            "結果",
            "天气",
            "مرحبا",
            "✓",
            "→",
            "🙂",
            "🚀",
            "👩‍💻",
            "ﬁle",
        )
        self.foreign = "".join(
            self.random.choice(foreign if self.random.random() < 0.3 else words) + self.random.choice(joints)
            for _ in range(40_000)
        )

    def word(self) -> str:
        return "".join(self.random.choice("etaoinshrdlucmfwypvbgkjqxz") for _ in range(self.random.randint(2, 10)))

    def size(self, low: int, high: int) -> int:
        return max(1, round(math.exp(self.random.uniform(math.log(low), math.log(high))) * self.scale))

    def text(self, low: int, high: int) -> str:
        """A text of about that many bytes that begins and ends with a letter."""
        size = self.size(low, high)
        pool = self.foreign if self.random.random() < 0.15 else self.ascii
        start = self.random.randrange(len(pool) - 40_000)
        return f"T{pool[start : start + size]}."

    def arguments(self) -> Json:
        return {
            "path": f"src/{self.word()}/{self.word()}.py",
            "limit": self.random.randint(1, 10**6),
            "ratio": round(self.random.random(), 6),
            "recursive": self.random.random() < 0.5,
            "tags": [self.word() for _ in range(self.random.randint(0, 3))],
            "edit": {"line": self.random.randint(1, 900), "before": None, "after": self.text(10, 4_000)},
        }

    def id(self) -> str:
        return f"call_{self.random.getrandbits(96):024x}"


def events(n: int, *, seed: int = 9, scale: float = 1.0, images: int = 1, faults: int = 0) -> list[Event]:
    """Events whose Chat rendering has exactly `n` messages (before faults), the last one the user's; `images` in 50 messages.

    With `faults`, exactly that many are put in, of the four kinds in turn, each at a place of its own. Raises `ValueError` if
    the history is too short for so many.
    """
    source = Source(seed, scale)
    random = source.random
    made = [Event("system", source.text(400, 2_000))]
    written = 1
    while written < n:
        made.append(Event("user", source.text(100, 2_000)))
        written += 1
        for _ in range(random.choices((1, 2, 3), (30, 43, 27))[0]):
            calls = random.choices((1, 2, 3), (60, 30, 10))[0]
            if written + 1 + calls + 2 > n:  # room for an answer and for the last user message
                break
            said = source.text(50, 1_000) if random.random() < 0.5 else ""
            made.append(
                Event(
                    "assistant",
                    said,
                    [
                        Call(
                            source.id(), f"tool_{random.randrange(12)}", source.arguments(), [source.text(200, 20_000)]
                        )
                        for _ in range(calls)
                    ],
                )
            )
            written += 1 + calls
        if written + 2 <= n:
            made.append(Event("assistant", source.text(100, 4_000)))
            written += 1
    give_images(made, source, images * n // 50)
    put_faults(made, source, faults)
    return made


def give_images(made: list[Event], source: Source, count: int) -> None:
    users = [event for event in made if event.role == "user"]
    for event in source.random.sample(users, min(count, len(users))):
        event.image = base64.b64encode(b"\x89PNG\r\n\x1a\n" + source.random.randbytes(37_492)).decode()


def put_faults(made: list[Event], source: Source, count: int) -> None:
    steps = [event for event in made if event.calls]
    late = count // 4
    calls = [call for step in steps for call in step.calls][1:]
    if count - late > len(calls) or late > len(steps) or (count > 2 and not calls):
        raise ValueError(f"{count} faults do not fit: {len(calls)} calls, {len(steps)} steps")
    original = next((step.calls[0].id for step in steps), "")
    for number, call in enumerate(source.random.sample(calls, count - late)):
        kind = FAULTS[number % 3]
        if kind == "lost result":
            call.results.clear()
        elif kind == "duplicate result":
            call.results.append(call.results[0])
        else:
            call.id = original
    if late:
        chosen = {id(step) for step in source.random.sample(steps, late)}
        rebuilt: list[Event] = []
        for event in made:
            rebuilt.append(event)
            if id(event) in chosen:
                rebuilt.append(Event("system", source.text(50, 300)))
        made[:] = rebuilt


def chat(made: list[Event]) -> Json:
    """The events as an OpenAI Chat Completions body."""
    messages: list[Json] = []
    for event in made:
        if event.image:
            url = {"url": f"data:image/png;base64,{event.image}"}
            parts: list[Json] = [{"type": "text", "text": event.text}, {"type": "image_url", "image_url": url}]
            messages.append({"role": event.role, "content": parts})
            continue
        if not event.calls:
            messages.append({"role": event.role, "content": event.text})
            continue
        calls = [
            {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": compact(call.arguments)}}
            for call in event.calls
        ]
        messages.append({"role": "assistant", "content": event.text or None, "tool_calls": calls})
        messages += [
            {"role": "tool", "tool_call_id": call.id, "content": result}
            for call in event.calls
            for result in call.results
        ]
    tools = [
        {"type": "function", "function": {"name": name, "description": about, "parameters": schema}}
        for name, about, schema in tool_list()
    ]
    return {"model": "gpt-4.1", "max_tokens": 4096, "messages": messages, "tools": tools}


def anthropic(made: list[Event]) -> Json:
    """The same events as an Anthropic Messages body. A late system message stays where it is, as a message."""
    first, rest = made[0], made[1:]
    messages: list[Json] = []
    for event in rest:
        if event.image:
            image = {"type": "base64", "media_type": "image/png", "data": event.image}
            blocks: list[Json] = [{"type": "text", "text": event.text}, {"type": "image", "source": image}]
            messages.append({"role": event.role, "content": blocks})
            continue
        if not event.calls:
            messages.append({"role": event.role, "content": event.text})
            continue
        blocks = [{"type": "text", "text": event.text}] if event.text else []
        blocks += [{"type": "tool_use", "id": c.id, "name": c.name, "input": c.arguments} for c in event.calls]
        messages.append({"role": "assistant", "content": blocks})
        results: list[Json] = [
            {"type": "tool_result", "tool_use_id": call.id, "content": result}
            for call in event.calls
            for result in call.results
        ]
        if results:
            messages.append({"role": "user", "content": results})
    tools = [{"name": name, "description": about, "input_schema": schema} for name, about, schema in tool_list()]
    return {
        "model": "claude-sonnet-4-5",
        "max_tokens": 4096,
        "system": first.text,
        "messages": messages,
        "tools": tools,
    }


def tool_list() -> list[tuple[str, str, Json]]:
    properties: Json = {
        "path": {"type": "string", "description": "relative to the work tree"},
        "limit": {"type": "integer", "minimum": 1},
        "ratio": {"type": "number"},
        "recursive": {"type": "boolean"},
        "tags": {"type": "array", "items": {"type": "string"}},
        "edit": {"type": "object"},
    }
    schema: Json = {"type": "object", "properties": properties, "required": ["path"]}
    return [(f"tool_{number}", f"Tool number {number} of the session.", schema) for number in range(12)]


def compact(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def encoded(body: Json) -> bytes:
    """The bytes of a body as an SDK sends them: compact, not escaped to ASCII."""
    return compact(body).encode()
