"""What a client of each dialect can be shown of an answer: the rules for answers, in their order, here and only here.

What must not live here: how a rule works (rules/), and what a provider accepts of a history (targets.py).
"""

from __future__ import annotations

from functools import lru_cache

from sendable.conversation import Reply
from sendable.dialects.anthropic import fit as anthropic_fit
from sendable.dialects.bedrock import fit as bedrock_fit
from sendable.dialects.gemini import fit as gemini_fit
from sendable.dialects.openai_chat import fit as chat_fit
from sendable.dialects.openai_responses import fit as responses_fit
from sendable.options import NONE
from sendable.rules import Rule
from sendable.rules.answers import identified, one_turn, shown_in
from sendable.rules.blocks import FitBlock, Place, fit, one_form, respelled
from sendable.rules.continuation import foreign_state
from sendable.rules.order import calls_last
from sendable.rules.turns import no_hollow_items, ordinary_calls
from sendable.targets import STATES

_PLACES: dict[str, tuple[FitBlock, Place, str]] = {
    # Chat has no field for a signature of anybody's; what servers of their own put beside one stands in its own form.
    "openai-chat": (chat_fit.fit_block(NONE, chat_fit.OPENAI), chat_fit.place_of(chat_fit.OPENAI, NONE), ""),
    "openai-responses": (responses_fit.fit_block(NONE, False), responses_fit.place(NONE), "openai"),
    "anthropic": (anthropic_fit.fit_block(NONE), anthropic_fit.place(NONE), "anthropic"),
    "gemini": (gemini_fit.fit_block(NONE), gemini_fit.place(NONE), "google"),
    "bedrock-converse": (bedrock_fit.fit_block(NONE, "anthropic", True), bedrock_fit.place(NONE), "anthropic"),
}
"""How a dialect holds a block, where its fields may stand, and whose signatures mean something in it."""


def answer_rules(to: str, reply: Reply | None) -> list[Rule]:
    """The rules for an answer to a client of the dialect `to`; `reply` gives fresh ids their root."""
    return [*_before(to), *([identified(reply.id)] if reply is not None and to != "gemini" else ()), *_behind(to)]


@lru_cache(maxsize=16)
def _before(to: str) -> list[Rule]:
    fit_block, place, issuer = _PLACES[to]
    turns: list[Rule] = (
        []
        if to == "openai-responses"
        else [foreign_state(to, STATES), ordinary_calls(responses_fit.ORDINARY), one_turn]
    )
    return [*turns, one_form, fit(shown_in(to, issuer, fit_block, media=to == "gemini"), place)]


@lru_cache(maxsize=16)
def _behind(to: str) -> list[Rule]:
    if to == "openai-chat":
        return [calls_last]
    if to == "openai-responses":
        return [respelled(responses_fit.stands_right, responses_fit.has_content), no_hollow_items]
    return []
