"""The words in which the cases of `tests/cases/*.md` speak about an output and its report, the same for every dialect.

Here lives: a reader of finished outputs (`Output`), much simpler than the library's own and sharing nothing with it, and the few plain
functions on reports and texts that the cases use. No case, no expectation and no rule of a provider lives here.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any, Final, Literal, TypeVar

import sendable

Json = Any
"""A plain JSON value; the cases look into it as freely as JSON allows."""

_T = TypeVar("_T")

Place = tuple[int, int]
"""Where something stands in the output: the number of the piece, then the offset inside its text."""

LOSSES: Final = ("drop", "strip", "degrade")
"""The verbs that take something away from what the model would have seen."""

INTERRUPTED: Final = "Tool call was interrupted; no result."
"""The result that stands for one that never came."""


class Absent:
    """The value of a field that the wire does not hold; unlike None, which it may hold."""

    def __repr__(self) -> str:
        return "ABSENT"


ABSENT: Final = Absent()


# What an output is made of. ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Text:
    """Words that one side of the conversation said; the role is `user`, `assistant`, `system` or `developer`."""

    text: str
    role: str
    turn: int
    place: Place
    wire: Json


@dataclass(frozen=True)
class Call:
    """A tool call. `raw_arguments` is what the wire holds, or ABSENT; `arguments` is its value."""

    id: str | None
    name: str
    raw_arguments: Json
    turn: int
    place: Place
    wire: Json

    @property
    def arguments(self) -> Json:
        return strict_json(self.raw_arguments) if isinstance(self.raw_arguments, str) else self.raw_arguments


@dataclass(frozen=True)
class Answer:
    """The result of a tool call; `failed` is the dialect's own mark of an error, where it has one."""

    id: str | None
    name: str | None
    text: str
    failed: bool
    turn: int
    place: Place
    wire: Json


@dataclass(frozen=True)
class Media:
    """An image, a document or a sound; `data` is its base64 without any `data:` prefix, None for a reference."""

    data: str | None
    media_type: str | None
    role: str
    in_result: bool
    turn: int
    place: Place
    wire: Json


@dataclass(frozen=True)
class Thought:
    """Reasoning, readable or encrypted."""

    text: str
    signature: str | None
    turn: int
    place: Place
    wire: Json


@dataclass(frozen=True)
class Other:
    """Anything that is none of the above."""

    role: str
    turn: int
    place: Place
    wire: Json


Piece = Text | Call | Answer | Media | Thought | Other


# Plain functions on JSON, texts and entries. ----------------------------------------------------------------------------------------


def strict_json(text: str) -> Json:
    """The value of a JSON text, as a parser reads it that knows neither NaN nor infinity nor anything after the value."""

    def refuse(word: str) -> Json:
        raise AssertionError(f"not JSON: {word}")

    def finite(word: str) -> float:
        number = float(word)
        assert math.isfinite(number), f"not a finite number: {word}"
        return number

    try:
        return json.loads(text, parse_constant=refuse, parse_float=finite)
    except ValueError as error:
        raise AssertionError(f"not JSON: {text!r} ({error})") from None


def json_text(value: Json) -> str:
    """The value as strict JSON, in its own key order; fails for what JSON or UTF-8 cannot hold."""
    text = json.dumps(value, allow_nan=False, ensure_ascii=False)
    text.encode()
    return text


def strings(value: Json) -> list[str]:
    """Every string inside a value, in order; keys do not count."""
    return [leaf for leaf in leaves(value) if isinstance(leaf, str)]


def keys(value: Json) -> set[str]:
    """Every key of every object inside a value."""
    if isinstance(value, Mapping):
        return set(value) | {key for child in value.values() for key in keys(child)}
    return {key for child in value for key in keys(child)} if isinstance(value, list | tuple) else set()


def kinds(value: Json) -> set[str]:
    """Every string that stands under a `type` key inside a value."""
    if isinstance(value, Mapping):
        own = {value["type"]} if isinstance(value.get("type"), str) else set()
        return own | {kind for child in value.values() for kind in kinds(child)}
    return {kind for child in value for kind in kinds(child)} if isinstance(value, list | tuple) else set()


def leaves(value: Json) -> Iterator[Json]:
    """Everything inside a value that is neither an object nor a list."""
    if isinstance(value, Mapping):
        for child in value.values():
            yield from leaves(child)
    elif isinstance(value, list | tuple):
        for child in value:
            yield from leaves(child)
    else:
        yield value


def shared_objects(one: Json, other: Json) -> list[Json]:
    """The mutable objects that belong to both values: the same object, not an equal one."""

    def mutable(value: Json) -> Iterator[Json]:
        if isinstance(value, dict | list):
            yield value
            for child in value.values() if isinstance(value, dict) else value:
                yield from mutable(child)

    of_one = {id(node) for node in mutable(one)}
    return [node for node in mutable(other) if id(node) in of_one]


def text_of(content: Json) -> str:
    """The words in a content, whether it is a text or a list of blocks; JSON blocks count as their text."""
    if isinstance(content, str):
        return content
    if isinstance(content, Mapping):
        if "json" in content:
            return json.dumps(content["json"], ensure_ascii=False)
        return str(content.get("text") or "")
    return "\n".join(filter(None, map(text_of, content))) if isinstance(content, list) else ""


def altered(value: Json, *steps_and_new: Json) -> Json:
    """A deep copy of the value with one place changed: `altered(history, "messages", 0, "content", "new text")`."""
    *steps, last, new = steps_and_new
    copy = deepcopy(value)
    place = copy
    for step in steps:
        place = place[step]
    place[last] = new
    return copy


def extended(history: Json, *more: Json) -> Json:
    """A deep copy of the history with more messages at its end."""
    return altered(history, message_key(history), [*deepcopy(history[message_key(history)]), *more])


def message_key(body: Json) -> str:
    """The key under which a request body keeps its messages."""
    return next(key for key in ("messages", "input", "contents") if key in body)


def invented_part(text: str, original: str) -> str:
    """What stands in a shortened text between the head and the tail that it kept of the original."""
    head = _common(text, original)
    tail = _common(text[head:][::-1], original[::-1])
    return text[head : len(text) - tail]


def _common(one: str, other: str) -> int:
    return next((i for i, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))


def tells(entry: Json, value: Json) -> bool:
    """Whether the entry holds the value: among its facts, or in the caller's own value that it refers to."""
    for leaf in (*leaves(facts_of(entry)), *leaves(entry.original)):
        if type(leaf) is type(value) and leaf == value:
            return True
        if isinstance(leaf, str) and isinstance(value, str) and value and value in leaf:  # Inside of a longer text.
            return True
    return False


def wording(entry: Json) -> str:
    """What the entry says without showing the caller's values: its message and its facts."""
    return f"{entry.message} {json.dumps(facts_of(entry), default=str)}"


def numbers_in(entry: Json) -> list[int]:
    """The numbers among the facts of an entry."""
    return [fact for fact in leaves(facts_of(entry)) if type(fact) is int]


def facts_of(entry: Json) -> dict[str, Json]:
    return dict(entry.facts or {})


def lies_at(path: str, place: str) -> bool:
    """Whether a path is the place or lies under it."""
    return path == place or path.startswith((f"{place}.", f"{place}["))


# An output, whatever its dialect. ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Output:
    """What `sendable.normalize` gave for one target, and the questions that a case may ask about it.

    A refusal is an output too: it has no messages, and its entries are those of the error.
    """

    target: str
    history: Json
    options: Mapping[str, Json] | None = None
    result: Any = None
    error: Any = None
    _pieces: list[Piece] = field(default_factory=list, compare=False)

    @classmethod
    def of(
        cls, history: Json, target: str, options: Mapping[str, Json] | None = None, *, refusable: bool = False
    ) -> Output:
        """The output for a history; where refusal is acceptable, the refusal."""
        try:
            result = sendable.normalize(history, target, options=options)
        except sendable.HistoryError as error:
            if not refusable:
                raise
            return cls(target, history, options, error=error)
        output = cls(target, history, options, result)
        output._pieces.extend(_PIECES[target.partition(":")[0]](output.messages))
        return output

    @property
    def body(self) -> Json:
        return None if self.result is None else self.result.body

    @property
    def messages(self) -> list[Json]:
        return [] if self.result is None else self.result.messages

    @property
    def report(self) -> Any:
        return self.error.report if self.result is None else self.result.report

    @property
    def entries(self) -> tuple[Any, ...]:
        return tuple(self.report.entries)

    # -- the report

    def named(self, place: str, *verbs: str) -> list[Any]:
        """The entries whose path, param or related path is this place or lies under it, of these verbs if any are given."""
        return [
            entry
            for entry in self.entries
            if (not verbs or entry.verb in verbs)
            and any(lies_at(str(path), place) for path in (entry.path, entry.param, *entry.related))
        ]

    def renamed(self, place: str, old: str, new: str) -> bool:
        """Whether the report says for this place that the one name or id became the other."""
        return any(tells(entry, old) and tells(entry, new) for entry in self.named(place, "rename"))

    def losses(self) -> list[Any]:
        """The entries that say that something was taken away or weakened."""
        return [entry for entry in self.entries if entry.verb in LOSSES]

    # -- the pieces

    def texts(self, by: str | None = None) -> list[str]:
        """What was said in the conversation, piece by piece: by one role, or by all but system and developer."""
        return [
            piece.text
            for piece in self._pieces
            if type(piece) is Text and (piece.role == by if by else piece.role not in ("system", "developer"))
        ]

    def instructions(self) -> str:
        """All that stands in the place for instructions: the top-level field, then system and developer messages."""
        top = [text_of(self.body[key]) for key in ("system", "instructions") if self.body and key in self.body]
        if self.body and "systemInstruction" in self.body:
            top.append(text_of(self.body["systemInstruction"].get("parts", [])))
        return "\n".join([*top, *self.texts("system"), *self.texts("developer")])

    def calls(self) -> list[Call]:
        """The tool calls, in order."""
        return [piece for piece in self._pieces if type(piece) is Call]

    def results(self) -> list[Answer]:
        """The tool results, in order."""
        return [piece for piece in self._pieces if type(piece) is Answer]

    def media(self) -> list[Media]:
        """The images, documents and sounds, in order, those inside of tool results included."""
        return [piece for piece in self._pieces if type(piece) is Media]

    def thoughts(self) -> list[Thought]:
        """The reasoning, in order."""
        return [piece for piece in self._pieces if type(piece) is Thought]

    def roles(self) -> list[str]:
        """The role of every message in the common words; an item that is no message has the role that would say it."""
        return [_role(message) for message in self.messages]

    def said(self, text: str, by: str | None = None) -> bool:
        """Whether the conversation holds this text, alone or inside of a longer one."""
        return any(text in said for said in self.texts(by))

    def speakers(self, text: str) -> list[str]:
        """The roles that say this text."""
        return [piece.role for piece in self._pieces if type(piece) is Text and text in piece.text]

    def where(self, text: str) -> Place:
        """The place at which a text is said or returned first; places compare in reading order."""
        for piece in self._pieces:
            if isinstance(piece, Text | Answer) and text in piece.text:
                return piece.place[0], piece.text.index(text)
        raise AssertionError(f"the output does not hold {text!r}")

    def turn_of(self, text: str) -> int:
        """The index of the output message that holds a text."""
        return self._pieces[self.where(text)[0]].turn

    def call(self, id: str) -> Call:
        """The one call with this id."""
        return _only((call for call in self.calls() if call.id == id), f"call with the id {id!r}")

    def call_named(self, name: str) -> Call:
        """The one call of this tool."""
        return _only((call for call in self.calls() if call.name == name), f"call of {name!r}")

    def call_with(self, **arguments: Json) -> Call:
        """The one call with these arguments."""
        return _only((call for call in self.calls() if call.arguments == arguments), f"call with {arguments!r}")

    def answer_to(self, call: Call) -> Answer:
        """The one result of a call. Where the dialect has no ids: the k-th result of the next message, for the k-th call."""
        if call.id is not None:
            return _only((answer for answer in self.results() if answer.id == call.id), f"result for {call.id!r}")
        siblings = [other for other in self.calls() if other.turn == call.turn]
        answers = [answer for answer in self.results() if answer.turn == call.turn + 1]
        assert len(siblings) == len(answers), f"{len(siblings)} calls, {len(answers)} results"
        answer = answers[siblings.index(call)]
        assert answer.name == call.name, f"{answer.name!r} answers {call.name!r}"
        return answer

    def pairing_holds(self) -> Literal[True]:
        """Every call has one result and every result its call, where the dialect wants it; else an error that says which."""
        adjacent = not self.target.startswith("openai-responses")
        unanswered: list[Call] = []
        for piece in self._pieces:
            if type(piece) is Call:
                assert not (adjacent and unanswered and unanswered[-1].turn != piece.turn), (
                    f"{unanswered[0]} has no result yet"
                )
                assert all(call.id is None or call.id != piece.id for call in unanswered), (
                    f"{piece.id!r} is declared twice"
                )
                unanswered.append(piece)
            elif type(piece) is Answer:
                answered = [call for call in unanswered if (call.id, piece.id) == (None, None) or call.id == piece.id]
                assert answered, f"no open call for {piece}"
                assert piece.name in (None, answered[0].name), f"{piece.name!r} answers {answered[0].name!r}"
                unanswered.remove(answered[0])
            elif (
                adjacent and unanswered and piece.turn != unanswered[-1].turn and not getattr(piece, "in_result", False)
            ):
                raise AssertionError(f"{piece} stands between {unanswered[0]} and its result")
        assert not unanswered, f"{unanswered[0]} has no result"
        ids = [call.id for call in self.calls() if call.id is not None]
        assert len(ids) == len(set(ids)), f"ids repeat: {ids}"
        return True

    def blank_texts(self) -> list[Json]:
        """The places in which the wire holds an empty or blank text where words belong."""
        found: list[Json] = []

        def look(value: Json, key: str = "") -> None:
            if isinstance(value, str):
                if key in ("text", "content", "output") and not value.strip():
                    found.append(value)
            elif isinstance(value, Mapping):
                for name, child in value.items():
                    if name not in ("input", "args", "arguments", "response", "json"):
                        look(child, name)
            elif isinstance(value, list):
                for child in value:
                    look(child, key)

        for message in self.messages:
            look(message)
        return found

    def empty_messages(self) -> list[Json]:
        """The messages that say nothing, call nothing and return nothing."""
        full = {piece.turn for piece in self._pieces if type(piece) is not Text or piece.text.strip()}
        return [message for turn, message in enumerate(self.messages) if turn not in full]

    # -- further runs

    def normalize_again(self, **changed: Any) -> Output:
        """The output of one more run with something changed: `to=`, `options=` or `history=`."""
        return Output.of(
            changed.get("history", self.history), changed.get("to", self.target), changed.get("options", self.options)
        )

    def prefix(self, count: int) -> Output:
        """The output for the first messages of the history only."""
        key = message_key(self.history)
        return self.normalize_again(history={**self.history, key: self.history[key][:count]})

    def words(self) -> dict[str, Any]:
        """The names that a case may use without saying whose they are."""
        own = (
            "body messages report entries history error target named renamed losses texts instructions calls results media thoughts "
            "roles said speakers where turn_of call call_named call_with answer_to pairing_holds blank_texts empty_messages "
            "normalize_again prefix"
        )
        return {
            **{name: getattr(self, name) for name in own.split()},
            "out": self.result,
            **{tool.__name__: tool for tool in (strict_json, json_text, strings, keys, kinds, shared_objects, text_of)},
            **{tool.__name__: tool for tool in (altered, extended, invented_part, tells, wording, numbers_in)},
            "LOSSES": LOSSES,
            "INTERRUPTED": INTERRUPTED,
            "ABSENT": ABSENT,
            "re": re,
        }


def _only(found: Iterable[_T], what: str) -> _T:
    one = list(found)
    assert len(one) == 1, f"{len(one)} times: {what}"
    return one[0]


def _role(message: Json) -> str:
    if "role" in message:
        return "assistant" if message["role"] == "model" else str(message["role"])
    return "tool" if str(message.get("type")).endswith("_output") else "assistant"


# How each dialect writes the pieces. ------------------------------------------------------------------------------------------------


class _Pieces(list[Piece]):
    """The pieces of an output while it is read; knows the message that is being read."""

    def __init__(self) -> None:
        super().__init__()
        self.turn = 0
        self.role = "user"

    @property
    def at(self) -> tuple[int, Place]:
        return self.turn, (len(self), 0)

    def walk(self, messages: list[Json]) -> Iterator[Json]:
        for self.turn, message in enumerate(messages):
            self.role = _role(message)
            yield message

    def text(self, text: Json, wire: Json) -> None:
        if text is not None:
            self.append(Text(str(text), self.role, *self.at, wire))

    def call(self, id: Json, name: Json, arguments: Json, wire: Json) -> None:
        self.append(Call(id, name, arguments, *self.at, wire))

    def answer(self, id: Json, text: str, wire: Json, *, name: Json = None, failed: Json = False) -> None:
        self.append(Answer(id, name, text, bool(failed), *self.at, wire))

    def media(self, data: Json, media_type: Json, wire: Json, *, in_result: bool = False) -> None:
        if isinstance(data, str) and data.startswith("data:"):
            media_type, _, data = data.removeprefix("data:").partition(";base64,")
        self.append(Media(data, media_type, self.role, in_result, *self.at, wire))

    def thought(self, text: Json, signature: Json, wire: Json) -> None:
        self.append(Thought(str(text or ""), signature, *self.at, wire))

    def other(self, wire: Json) -> None:
        self.append(Other(self.role, *self.at, wire))


def _openai_chat(messages: list[Json]) -> list[Piece]:
    pieces = _Pieces()
    for message in pieces.walk(messages):
        content = message.get("content")
        if message.get("role") == "tool":
            pieces.answer(message.get("tool_call_id"), text_of(content), message)
            continue  # A tool message holds its result and nothing else.
        for key in ("reasoning_content", "reasoning"):
            if key in message:
                pieces.thought(message[key], None, message)
        for part in content if isinstance(content, list) else [{"type": "text", "text": content}]:
            if part["type"] == "text":
                pieces.text(part["text"], part)
            elif part["type"] == "image_url":
                pieces.media(part["image_url"]["url"], None, part)
            elif part["type"] == "file":
                pieces.media(part["file"].get("file_data"), None, part)
            else:
                pieces.other(part)
        for call in message.get("tool_calls") or []:
            function = call.get("function", {})
            pieces.call(call.get("id"), function.get("name"), function.get("arguments", ABSENT), call)
    return pieces


def _anthropic(messages: list[Json]) -> list[Piece]:
    pieces = _Pieces()

    def read(block: Json, in_result: bool = False) -> None:
        kind = block["type"]
        source = block.get("source", {})
        if kind == "text":
            if not in_result:
                pieces.text(block["text"], block)
        elif kind == "tool_use":
            pieces.call(block.get("id"), block.get("name"), block.get("input", ABSENT), block)
        elif kind == "tool_result":
            content = block.get("content", "")
            pieces.answer(block.get("tool_use_id"), text_of(content), block, failed=block.get("is_error", False))
            for inner in content if isinstance(content, list) else []:
                read(inner, in_result=True)
        elif kind in ("image", "document"):
            pieces.media(source.get("data"), source.get("media_type"), block, in_result=in_result)
        elif kind in ("thinking", "redacted_thinking"):
            pieces.thought(block.get("thinking"), block.get("signature") or block.get("data"), block)
        elif not in_result:
            pieces.other(block)

    for message in pieces.walk(messages):
        content = message["content"]
        for block in content if isinstance(content, list) else [{"type": "text", "text": content}]:
            read(block)
    return pieces


def _openai_responses(messages: list[Json]) -> list[Piece]:
    pieces = _Pieces()

    def read(part: Json, in_result: bool = False) -> None:
        kind = part["type"]
        if kind in ("input_text", "output_text"):
            if not in_result:
                pieces.text(part["text"], part)
        elif kind == "input_image":
            pieces.media(part.get("image_url"), None, part, in_result=in_result)
        elif kind == "input_file":
            pieces.media(part.get("file_data"), None, part, in_result=in_result)
        else:
            pieces.other(part)

    for item in pieces.walk(messages):
        kind = item.get("type", "message")
        if kind == "message":
            content = item["content"]
            for part in content if isinstance(content, list) else [{"type": "input_text", "text": content}]:
                read(part)
        elif kind == "function_call":
            pieces.call(item.get("call_id"), item.get("name"), item.get("arguments", ABSENT), item)
        elif kind == "custom_tool_call":
            pieces.call(item.get("call_id"), item.get("name"), item.get("input", ABSENT), item)
        elif kind in ("function_call_output", "custom_tool_call_output"):
            output = item.get("output", "")
            pieces.answer(item.get("call_id"), text_of(output), item)
            for part in output if isinstance(output, list) else []:
                read(part, in_result=True)
        elif kind == "reasoning":
            pieces.thought(text_of(item.get("summary", [])), item.get("encrypted_content"), item)
        else:
            pieces.other(item)
    return pieces


def _gemini(messages: list[Json]) -> list[Piece]:
    pieces = _Pieces()

    def read(part: Json, in_result: bool = False) -> None:
        if part.get("thought"):
            pieces.thought(part.get("text"), part.get("thoughtSignature"), part)
        elif "text" in part:
            pieces.text(part["text"], part)
        elif "functionCall" in part:
            call = part["functionCall"]
            pieces.call(call.get("id"), call.get("name"), call.get("args", ABSENT), part)
        elif "functionResponse" in part:
            answer = part["functionResponse"]
            response = answer.get("response")
            values = list(response.values()) if isinstance(response, dict) else []
            value = values[0] if len(values) == 1 else response
            text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
            failed = isinstance(response, dict) and "error" in response
            pieces.answer(answer.get("id"), text, part, name=answer.get("name"), failed=failed)
            for inner in answer.get("parts", []):
                read(inner, in_result=True)
        elif "inlineData" in part:
            pieces.media(part["inlineData"]["data"], part["inlineData"]["mimeType"], part, in_result=in_result)
        elif "fileData" in part:
            pieces.media(None, part["fileData"].get("mimeType"), part, in_result=in_result)
        else:
            pieces.other(part)

    for content in pieces.walk(messages):
        for part in content["parts"]:
            read(part)
    return pieces


def _bedrock(messages: list[Json]) -> list[Piece]:
    pieces = _Pieces()

    def read(block: Json, in_result: bool = False) -> None:
        if "text" in block:
            if not in_result:
                pieces.text(block["text"], block)
        elif "toolUse" in block:
            call = block["toolUse"]
            pieces.call(call.get("toolUseId"), call.get("name"), call.get("input", ABSENT), block)
        elif "toolResult" in block:
            answer = block["toolResult"]
            text = text_of(answer.get("content", []))
            pieces.answer(answer.get("toolUseId"), text, block, failed=answer.get("status") == "error")
            for inner in answer.get("content", []):
                read(inner, in_result=True)
        elif "image" in block:
            image = block["image"]
            pieces.media(image["source"].get("bytes"), f"image/{image['format']}", block, in_result=in_result)
        elif "document" in block:
            document = block["document"]
            pieces.media(
                document["source"].get("bytes"), f"application/{document['format']}", block, in_result=in_result
            )
        elif "reasoningContent" in block:
            reasoning = block["reasoningContent"]
            words = reasoning.get("reasoningText", {})
            pieces.thought(words.get("text"), words.get("signature") or reasoning.get("redactedContent"), block)
        elif not in_result:
            pieces.other(block)

    for message in pieces.walk(messages):
        for block in message["content"]:
            read(block)
    return pieces


_PIECES: Final[dict[str, Callable[[list[Json]], list[Piece]]]] = {
    "openai-chat": _openai_chat,
    "anthropic": _anthropic,
    "openai-responses": _openai_responses,
    "gemini": _gemini,
    "bedrock-converse": _bedrock,
}
