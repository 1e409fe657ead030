"""Every cell of the matrix, found by running the sample and asking twice: what the report says, and what is seen in the output.

A cell on which the two do not agree has a `doubt`, which the tests forbid: something is gone without an entry, or there is an entry although
nothing changed. What must not live here: the samples (samples.py), and how a body is seen (look.py).
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any, Literal, final

import msgspec

from sendable.codes import CODES
from sendable.errors import HistoryError
from sendable.matrix.look import Sight, look, shown
from sendable.matrix.samples import SAMPLES, Sample
from sendable.pipeline import normalize
from sendable.report import Entry, Report

DIALECTS = ("flat", "openai-chat", "openai-responses", "anthropic", "gemini", "bedrock-converse")
PROPERTIES = tuple(SAMPLES)
TEXT = "text"

Fate = Literal["kept", "degraded", "dropped"]


@final
class Cell(msgspec.Struct, frozen=True, gc=False):
    """What becomes of one property on the way from one dialect to another; `fate` is None where the source has no such thing.

    `codes` are those of the entries about it, in the order of the table. `doubt` says in words where report and output do not agree.
    """

    name: str
    source: str
    target: str
    fate: Fate | None = None
    codes: tuple[str, ...] = ()
    doubt: str | None = None


def cells(sources: Sequence[str] = DIALECTS, targets: Sequence[str] = DIALECTS) -> Iterator[Cell]:
    """The cells of all ordered pairs of these dialects: by source, then by property, then by target."""
    for source in sources:
        for name in PROPERTIES:
            for target in targets:
                yield cell(name, source, target)


def cell(name: str, source: str, target: str) -> Cell:
    """One cell, found by running its sample."""
    sample = SAMPLES[name].get(source)
    if sample is None:
        return Cell(name, source, target)
    try:
        result = normalize(sample.history, to=target, source=source)
    except HistoryError as refusal:
        return judged(name, source, target, None, refusal.report)
    return judged(name, source, target, result.body, result.report)


def judged(name: str, source: str, target: str, body: Any, report: Report) -> Cell:
    """The cell of one run of a sample, and whether its report says what is seen in its body; no body means that it was refused.

    A note changes nothing and counts for nothing.
    """
    sample = SAMPLES[name][source]
    before, after = look(sample.history, source), look(body, target) if body is not None else []
    fate = _seen(name, sample, before, after, body)
    entries = [entry for entry in report.entries if entry.verb != "note"]
    about = [entry for entry in entries if _is_about(entry, sample.at)]
    others = [entry for entry in entries if entry not in about and not _is_about(entry, sample.beside)]
    if others and name != TEXT:
        # What becomes of the plain messages around it has a row of its own.
        expected, plain = cell(TEXT, source, target).codes, _plain_messages(sample.history)
        others = [entry for entry in others if not (entry.code in expected and _is_about(entry, plain))]
    found = {entry.code for entry in about}
    codes = tuple(code for code in CODES if code in found)
    doubts = list(_doubts(fate, about))
    doubts += [f"an entry about something else: {entry!r}" for entry in others]
    doubts += ["it was refused"] if body is None else []
    if not entries:
        doubts += [
            f"nothing is reported, and the property {other!r} changed: {shown(before, other)} is now {shown(after, other)}"
            for other in PROPERTIES
            if other != name and shown(before, other) != shown(after, other)
        ]
    if not doubts:
        return Cell(name, source, target, fate, codes)
    said = ", ".join(repr(entry) for entry in entries) or "nothing"
    return Cell(
        name, source, target, fate, codes, f"{name}, {source} to {target}: {'; '.join(doubts)} (reported: {said})"
    )


def _seen(name: str, sample: Sample, before: list[Sight], after: list[Sight], body: Any) -> Fate:
    """What the look finds of the property in the output: all of it, something of it, or nothing."""
    was, now = shown(before, name), shown(after, name)
    if was and was == now:
        return "kept"
    text = json.dumps(body, ensure_ascii=False)
    tokens = [json.dumps(token, ensure_ascii=False)[1:-1] for token in sample.tokens]
    return "degraded" if any(token in text for token in tokens) or any(one in now for one in was) else "dropped"


def _doubts(fate: Fate, about: Sequence[Entry]) -> Iterator[str]:
    """Where the entries about a property do not say what became of it."""
    if fate == "kept" and about:
        yield "it is there as it was, and yet there are entries"
    if fate == "degraded" and not about:
        yield "it is changed, and there is no entry"
    if fate == "dropped" and not about:
        yield "it is gone, and there is no entry"
    if fate == "dropped" and about and all(entry.verb not in ("drop", "strip") for entry in about):
        yield "it is gone, and no entry says that it was dropped or stripped"


def _plain_messages(history: Any) -> list[str]:
    """The places of the messages that hold nothing but text."""
    key = next((key for key in ("messages", "input", "contents") if key in history), None)
    listed: list[Any] = history if key is None else history[key]
    return [f"{key or 'messages'}[{number}]" for number, message in enumerate(listed) if _is_plain(message)]


def _is_plain(message: Any) -> bool:
    parts = message.get("content", message.get("parts"))
    return isinstance(parts, str) or (parts is not None and all("text" in part for part in parts))


def _is_about(entry: Entry, places: Sequence[str]) -> bool:
    """Whether an entry concerns one of these places: what it changed is the place, or is in it, or holds it."""
    where = entry.param if entry.verb in ("strip", "degrade", "rename") else entry.path
    return any(_holds(where, place) or _holds(place, where) for place in places)


def _holds(outer: str, inner: str) -> bool:
    return inner == outer or (inner.startswith(outer) and inner[len(outer)] in ".[")
