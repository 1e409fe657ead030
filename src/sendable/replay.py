"""What it costs to send a whole conversation with every call, against sending only what is new behind a handle.

What must not live here: what a provider charges today (the caller says so), and whether a handle may be used (rules/continuation.py).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, final

import msgspec

from sendable import payload
from sendable.conversation import (
    INSTRUCTING,
    Conversation,
    Media,
    Message,
    Reasoning,
    Refusal,
    Text,
    ToolCall,
    ToolResult,
)
from sendable.detect import by_body
from sendable.reading import read
from sendable.report import REPAIR, Ledger, Original
from sendable.targets import DIALECTS, TARGETS

BILLS_STORED_PREFIX: dict[str, bool] = {"openai-responses": True}
"""Dialects with handles, and whether their provider bills what a handle stands for as if it had been sent: «even when using
previous_response_id, all previous input tokens for responses in the chain are billed as input tokens» (OpenAI, documented)."""


@final
class Turn(msgspec.Struct, frozen=True):
    """One call of the model. `new`: tokens that no call before had sent. `replayed`: tokens of the whole prefix. Prices in the caller's unit."""

    number: int
    new: int
    replayed: int
    replay_price: float
    delta_price: float


@final
class ReplayCost(msgspec.Struct, frozen=True):
    """The calls one by one, and their sums.

    `last_context`: tokens that the model reads in the last call. `replay_tokens`: the sum of all prefixes, which is what is sent without
    handles; it grows with the square of the number of calls. `delta_tokens`: the sum of what was new, which is what is sent with them; it
    grows in proportion. `bills_stored_prefix`: the provider bills the prefix either way, so that a handle saves bytes and no money.
    `estimated`: the tokens were estimated from the characters of a history, four to a token.
    """

    turns: tuple[Turn, ...]
    bills_stored_prefix: bool
    estimated: bool

    @property
    def last_context(self) -> int:
        """Tokens that the model reads in the last call."""
        return self.turns[-1].replayed if self.turns else 0

    @property
    def replay_tokens(self) -> int:
        """The sum of all prefixes."""
        return sum(turn.replayed for turn in self.turns)

    @property
    def delta_tokens(self) -> int:
        """The sum of all that was new."""
        return sum(turn.new for turn in self.turns)

    @property
    def replay_price(self) -> float:
        """What the prefixes cost."""
        return sum(turn.replay_price for turn in self.turns)

    @property
    def delta_price(self) -> float:
        """What is billed with handles."""
        return sum(turn.delta_price for turn in self.turns)

    def __str__(self) -> str:
        about = "tokens are estimates, four characters to a token\n" if self.estimated else ""
        rows = "".join(
            f"{turn.number:>4}  {turn.new:>9,}  {turn.replayed:>9,}  {turn.replay_price:>9.4f}  {turn.delta_price:>9.4f}\n"
            for turn in self.turns
        )
        bill = (
            "this provider bills the stored prefix as if it had been sent: a handle saves bytes, no money\n"
            if self.bills_stored_prefix
            else ""
        )
        return (
            f"{about}call        new   replayed     replay      delta\n{rows}"
            f" sum  {self.delta_tokens:>9,}  {self.replay_tokens:>9,}  {self.replay_price:>9.4f}  {self.delta_price:>9.4f}\n"
            f"new: sent with a handle, grows in proportion to the calls; replayed: sent without, grows with their square\n{bill}"
        )


def replay_cost(
    turns: Sequence[int] | Any,
    price: float | Mapping[str, float] = 0.0,
    *,
    system: int = 0,
    target: str | None = None,
    bills_stored_prefix: bool | None = None,
    count: Callable[[str], int] | None = None,
) -> ReplayCost:
    """What replay costs against delta, call by call and summed.

    `turns` are the tokens that each call adds (its input, and the answer before it), or a history, of which every assistant turn is one
    call. `price` is for a million input tokens (or a mapping with `input`). `system`: tokens of the system prompt, sent with the first
    call; a history brings its own. `target` says whether the provider bills the stored prefix, unless `bills_stored_prefix` does. `count`
    counts the tokens of a text; by default four characters are one, which is an estimate. Raises `TypeError` for an unknown target.
    """
    rate = float(price["input"] if isinstance(price, Mapping) else price) / 1_000_000
    if target is not None and target not in TARGETS:
        raise TypeError(f"unknown target {target!r}; sendable.target_names() lists them")
    if bills_stored_prefix is None:
        bills_stored_prefix = BILLS_STORED_PREFIX.get(TARGETS[target].dialect.name, False) if target else False
    numbers = isinstance(turns, Sequence) and all(type(turn) is int for turn in turns)
    sizes = list(turns) if numbers else _sizes(turns, count or _estimate)
    out: list[Turn] = []
    context = 0
    for number, size in enumerate(sizes, 1):
        new = size + (system if number == 1 else 0)
        context += new
        billed = context if bills_stored_prefix else new
        out.append(Turn(number, new, context, context * rate, billed * rate))
    return ReplayCost(tuple(out), bills_stored_prefix, not numbers and count is None)


def _estimate(text: str) -> int:
    return -(-len(text) // 4)


def looked_at(history: Any, source: str) -> Conversation:
    """A history in the hub's form, only to be looked at: whatever is made of it is read again, and reports what it loses then."""
    return read(history, DIALECTS[source], tuple(DIALECTS.values()), Ledger(REPAIR, Original(history)))


def _sizes(history: Any, count: Callable[[str], int]) -> list[int]:
    """The tokens that each call of a history adds: all since the call before, its answer included. Media count nothing."""
    conversation = looked_at(history, by_body(history, DIALECTS) or "openai-chat")
    sizes: list[int] = []
    waiting = 0
    asked = False
    for message in conversation.messages:
        if message.role == "assistant" and asked:
            sizes.append(waiting)
            waiting, asked = 0, False
        waiting += sum(count(text) for text in _texts(message))
        asked = asked or (message.role != "assistant" and message.role not in INSTRUCTING)
    return [*sizes, waiting] if asked else sizes


def _texts(message: Message) -> list[str]:
    out: list[str] = []
    for block in message.blocks:
        for inner in block.content if type(block) is ToolResult else (block,):
            if type(inner) is ToolCall:
                out.append(f"{inner.name} {inner.arguments_text}")
            elif type(inner) is Text or type(inner) is Reasoning or type(inner) is Refusal:
                out.append(payload.string(inner.text) or "")
            elif type(inner) is not Media:
                out.append(str(payload.plain(payload.as_json_text(inner.raw)) or ""))
    return out
