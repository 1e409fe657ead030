"""Targets: a dialect plus the rules of one provider or model family. The order of the rules is here and only here.

Each rule stands with the provider's sentence that demands it where the rule itself is written (rules/). What must not live here: how a
rule works.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Literal, final

import msgspec

from sendable.codes import LIM004, LIM005
from sendable.dialects import Dialect
from sendable.dialects.anthropic import ANTHROPIC
from sendable.dialects.anthropic import fit as anthropic_fit
from sendable.dialects.anthropic import read as anthropic_read
from sendable.dialects.anthropic import write as anthropic_write
from sendable.dialects.bedrock import BEDROCK
from sendable.dialects.bedrock import fit as bedrock_fit
from sendable.dialects.bedrock import read as bedrock_read
from sendable.dialects.bedrock import write as bedrock_write
from sendable.dialects.flat import FLAT
from sendable.dialects.flat import fit as flat_fit
from sendable.dialects.openai_chat import OPENAI_CHAT
from sendable.dialects.openai_chat import fit as chat_fit
from sendable.dialects.openai_chat import read as chat_read
from sendable.dialects.openai_chat import write as chat_write
from sendable.dialects.openai_responses import OPENAI_RESPONSES
from sendable.dialects.openai_responses import fit as responses_fit
from sendable.dialects.openai_responses import read as responses_read
from sendable.dialects.openai_responses import write as responses_write
from sendable.options import Options
from sendable.rules import Rule
from sendable.rules.blocks import Place, fit, known_references, marks_behind, marks_on_blocks, one_form, respelled
from sendable.rules.continuation import ItemIds, State, foreign_state, item_ids, may_wait, own_state, stands_alone
from sendable.rules.empty import dropped_if_emptied, failures_filled, filled, no_trailing_space
from sendable.rules.ids import ids, names, plain_form
from sendable.rules.limits import cache_marks, calls_per_message, text_length
from sendable.rules.media import (
    documents_named,
    media_from_user,
    media_out,
    media_per_message,
    media_sizes,
    text_beside_documents,
)
from sendable.rules.order import alternating, calls_last, results_first, tools_apart, user_first, user_last
from sendable.rules.pairing import one_result, pair, server_pairs, usable_ids
from sendable.rules.parameters import Parameters, fit_parameters, tools_declared
from sendable.rules.reasoning import bound_to_prefix, leads_open_loop, not_last
from sendable.rules.shape import content_in_lists, flat_content, known_roles, something_to_send
from sendable.rules.system import hoist_system, mid_system
from sendable.rules.turns import calls_together, no_hollow_items, ordinary_calls, whole_turns

DIALECTS: dict[str, Dialect] = {dialect.name: dialect for dialect in (OPENAI_CHAT, OPENAI_RESPONSES, ANTHROPIC, BEDROCK, FLAT)}
"""Every dialect, by name; where two know a block, the first one counts."""

Compose = Callable[[Options, str | None], list[Rule]]


@final
class Target(msgspec.Struct, frozen=True):
    """Where a history is to be sent: its dialect, its whole ordered list of rules, and a line about it.

    `hoists`: leading system messages go into the dialect's own request field.
    """

    name: str
    dialect: Dialect
    compose: Compose
    about: str
    hoists: bool = False

    def rules(self, options: Options, model: str | None) -> list[Rule]:
        """The rules of this target, in order, for these options."""
        return self.compose(options, model)


# Ids and names.

# Any id up to 64 characters is accepted; a fresh one has at most 40 («Expected a string with maximum length 40», OC22: changed over time).
CHAT_IDS = msgspec.structs.replace(plain_form(r"[A-Za-z0-9_-]{1,40}", 40), pattern=re.compile(r"(?s)(?=.*\S).{1,64}"))
# «a–z A–Z 0–9 _ -, ≤ 64» (OC23).
CHAT_NAMES = plain_form(r"[A-Za-z0-9_-]{1,64}", 64)
# «String should match pattern '^[a-zA-Z0-9_-]+$'» (AT2); no length limit was seen, a fresh id has at most 64.
ANTHROPIC_IDS = msgspec.structs.replace(plain_form(r"[A-Za-z0-9_-]{1,64}", 64), pattern=re.compile(r"[a-zA-Z0-9_-]+"))
# «String should match pattern '^[a-zA-Z0-9_-]{1,128}$'» (AT4); a fresh name has at most 64, which is safe everywhere.
ANTHROPIC_NAMES = msgspec.structs.replace(
    plain_form(r"[A-Za-z0-9_-]{1,64}", 64), pattern=re.compile(r"[a-zA-Z0-9_-]{1,128}")
)


# «Expected a string with maximum length 64» (OR5); other characters than these are refused in ids of items and taken in none of ours.
RESPONSES_IDS = plain_form(r"[A-Za-z0-9_-]{1,64}", 64)
# «1–128 ^[a-zA-Z0-9_-]+$» (OR7); a fresh name has at most 64, which is safe everywhere.
RESPONSES_NAMES = msgspec.structs.replace(
    plain_form(r"[A-Za-z0-9_-]{1,64}", 64), pattern=re.compile(r"[a-zA-Z0-9_-]{1,128}")
)

RESPONSES_STATE = State(
    "openai-responses",
    responses_fit.HANDLES,
    responses_fit.REFERENCES,
    responses_fit.SUMMARIES,
    # «compaction_trigger must be the final input item» (OR22).
    frozenset({"compaction_trigger"}),
)
STATES = (RESPONSES_STATE,)

# What a target that knows functions and free-form tools takes of one call: a result.
_ONE_RESULT = one_result(frozenset({"custom"}))


def _from_items(place: Place) -> list[Rule]:
    """What makes messages of the items of a dialect without turns. First of all, since every rule behind it thinks in turns."""
    return [
        foreign_state(place.home, STATES),
        ordinary_calls(responses_fit.ORDINARY),
        _ONE_RESULT,
        whole_turns("openai-responses", place),
    ]


def _limits(options: Options) -> list[Rule]:
    return [
        *(
            [calls_per_message(options.max_tool_calls_per_message)]
            if options.max_tool_calls_per_message is not None
            else ()
        ),
        *([text_length(options.max_string_chars)] if options.max_string_chars is not None else ()),
    ]


def _flat(options: Options, model: str | None) -> list[Rule]:
    return [
        foreign_state("flat", STATES),
        ordinary_calls(responses_fit.ORDINARY),
        flat_content,
        _ONE_RESULT,
        whole_turns("openai-responses", flat_fit.place(options)),
        hoist_system,
        one_form,
        # The source's falsy id.
        usable_ids(frozenset({"0", 0})),
        fit(flat_fit.fit_block(options), flat_fit.place(options)),
        pair(repeated="dropped", missing="last"),
        dropped_if_emptied,
        results_first,
        ids(plain_form(r"(?s).+", 10_000)),
        names(plain_form(r"(?s).*\S.*", 10_000)),
        fit_parameters(Parameters("flat", frozenset(), frozenset()), model, False),
    ]


def _chat(hoists: bool) -> Compose:
    def chat(options: Options, model: str | None) -> list[Rule]:
        return [
            *_from_items(chat_fit.place(options)),
            known_roles,
            *((hoist_system,) if hoists else ()),
            one_form,
            usable_ids(),
            fit(chat_fit.fit_block(options), chat_fit.place(options)),
            pair(),
            media_out(of="results"),
            media_from_user,
            filled(blank_refused=False, answered_by=frozenset({"refusal"})),
            results_first,
            calls_last,
            ids(CHAT_IDS),
            names(CHAT_NAMES),
            *_limits(options),
            fit_parameters(CHAT_PARAMETERS, model, options.unknown == "keep"),
            something_to_send,
        ]

    return chat


CHAT_PARAMETERS = Parameters(
    "openai-chat",
    chat_read.OWN,
    chat_write.WRITABLE,
    efforts={word: word for word in ("none", "minimal", "low", "medium", "high", "xhigh")} | {"max": "xhigh"},
    formats={"json_schema": frozenset({"name", "schema", "strict", "description"}), "json_object": frozenset()},
)

ANTHROPIC_PARAMETERS = Parameters(
    "anthropic",
    anthropic_read.OWN,
    anthropic_write.WRITABLE,
    efforts={"minimal": "low"} | {word: word for word in ("low", "medium", "high", "xhigh", "max")},
    formats={"json_schema": frozenset({"schema"})},
    hottest=1.0,
    # «max_tokens: Field required»: a body needs one, and no other value is safe for every model.
    required={"max_tokens": 4096},
)


def _anthropic(mid: bool = False, prefill: bool = True) -> Compose:
    def anthropic(options: Options, model: str | None) -> list[Rule]:
        allow_prefill = prefill if options.allow_prefill is None else options.allow_prefill
        empty = filled(blank_refused=True, system_too=True)
        return [
            *_from_items(anthropic_fit.place(options)),
            known_roles,
            *(() if mid else (hoist_system,)),
            one_form,
            usable_ids(),
            known_references,
            marks_on_blocks("cachePoint", "cache_control"),
            fit(anthropic_fit.fit_block(options), anthropic_fit.place(options)),
            pair(turn="run"),
            server_pairs(resumable=True),
            media_out(of="error results"),
            media_from_user,
            empty,
            *((mid_system,) if mid else ()),
            not_last,
            results_first,
            ids(ANTHROPIC_IDS),
            names(ANTHROPIC_NAMES),
            *_limits(options),
            cache_marks(4, "cache_control"),
            bound_to_prefix,
            empty,
            user_first,
            no_trailing_space if allow_prefill else user_last,
            leads_open_loop(options),
            fit_parameters(ANTHROPIC_PARAMETERS, model, options.unknown == "keep"),
            something_to_send,
        ]

    return anthropic


# «[a-zA-Z0-9_.:-]+», 1–64 (BE9).
BEDROCK_IDS = plain_form(r"[a-zA-Z0-9_.:-]{1,64}", 64)
# «Member must satisfy regular expression pattern: [a-zA-Z0-9_-]+», 1–64 (BE9, reported 2026-09).
BEDROCK_NAMES = plain_form(r"[a-zA-Z0-9_-]{1,64}", 64)
# «alphanumeric characters, whitespace characters (no more than one in a row), hyphens, parentheses, and square brackets» (BE15).
_DOCUMENT_NAME = re.compile(r"[A-Za-z0-9()\[\]-]+( [A-Za-z0-9()\[\]-]+)*")


def _document_name(given: str) -> str:
    """A document's name with what Converse does not allow written as hyphens; empty if it had nothing else."""
    return re.sub(r" +", " ", re.sub(r"[^A-Za-z0-9()\[\] -]+", "-", given)).strip(" -")


BEDROCK_PARAMETERS = Parameters(
    "bedrock-converse",
    bedrock_read.OWN,
    bedrock_write.WRITABLE,
    efforts={"minimal": "low"} | {word: word for word in ("low", "medium", "high", "xhigh", "max")},
    formats={"json_schema": frozenset({"schema", "name", "description"})},
    hottest=1.0,
    # toolChoice is a union of auto, any and tool (botocore 1.44.8).
    tool_modes=frozenset({"auto", "required", "tool"}),
    tool_fields=frozenset({"cache_control"}),
)

# What only Claude takes among the additionalModelRequestFields.
LLAMA_PARAMETERS = msgspec.structs.replace(
    BEDROCK_PARAMETERS, writable=BEDROCK_PARAMETERS.writable - {"thinking", "top_k"}
)


def _bedrock(*, model_family: Literal["any", "claude", "llama"] = "any", prefill: bool = True) -> Compose:
    def bedrock(options: Options, model: str | None) -> list[Rule]:
        allow_prefill = prefill if options.allow_prefill is None else options.allow_prefill
        together = options.text_with_tool_blocks_allowed
        apart = model_family == "llama" if together is None else not together
        empty = filled(blank_refused=True, system_too=True)
        issuer = None if model_family == "llama" else bedrock_fit.ISSUER
        return [
            *_from_items(bedrock_fit.place(options)),
            content_in_lists("bedrock-converse"),
            known_roles,
            hoist_system,
            one_form,
            usable_ids(),
            fit(bedrock_fit.fit_block(options, issuer, model_family == "any"), bedrock_fit.place(options)),
            pair(turn="run"),
            server_pairs(resumable=True),
            media_from_user,
            not_last,
            empty,
            failures_filled,
            results_first,
            ids(BEDROCK_IDS),
            names(BEDROCK_NAMES),
            *_limits(options),
            # «up to 20 images … no more than 3.75 MB», «up to five documents … no more than 4.5 MB» (BE14).
            media_sizes({"image": 3_932_160, "document": 4_718_592}),
            media_per_message("image", 20, LIM004),
            media_per_message("document", 5, LIM005),
            bound_to_prefix,
            empty,
            alternating,
            user_first,
            *((calls_last, tools_apart) if apart else ()),
            documents_named(_DOCUMENT_NAME, _document_name, 200),
            text_beside_documents,
            no_trailing_space if allow_prefill else user_last,
            marks_behind("cache_control", "cachePoint", bedrock_fit.cache_point),
            *((leads_open_loop(options),) if issuer is not None else ()),
            fit_parameters(
                BEDROCK_PARAMETERS if issuer is not None else LLAMA_PARAMETERS, model, options.unknown == "keep"
            ),
            tools_declared(("toolConfig",), model),
            something_to_send,
        ]

    return bedrock


RESPONSES_PARAMETERS = Parameters(
    "openai-responses",
    responses_read.OWN,
    responses_write.WRITABLE,
    efforts={word: word for word in ("none", "minimal", "low", "medium", "high", "xhigh", "max")},
    formats={"json_schema": frozenset({"name", "schema", "strict", "description"}), "json_object": frozenset()},
)


def _responses(third_party: bool = False) -> Compose:
    def responses(options: Options, model: str | None) -> list[Rule]:
        interleaved = options.interleave_calls_and_outputs
        empty = filled(blank_refused=False, stored_too=False)
        waits = pair(
            turn="run",
            # «every function_call needs an output somewhere in input» (OR9): no rule of order, outside of repeated ids.
            stands="anywhere",
            several=frozenset({"custom"}),
            alone=stands_alone,
            waits=may_wait,
        )
        held: list[Rule] = (
            # A server that hosts nothing holds nothing either.
            [foreign_state("", STATES), ordinary_calls(responses_fit.ORDINARY), _ONE_RESULT]
            if third_party
            else [own_state(RESPONSES_STATE, options)]
        )
        pairs: list[Rule] = (
            [pair(turn="message"), calls_per_message(1)]
            if interleaved
            else [calls_together, pair(turn="run")]
            if third_party
            else [waits]
        )
        return [
            *held,
            known_roles,
            one_form,
            usable_ids(),
            fit(responses_fit.fit_block(options, third_party), responses_fit.place(options)),
            respelled(responses_fit.stands_right),
            no_hollow_items,
            *pairs,
            media_from_user,
            empty,
            ids(RESPONSES_IDS),
            names(RESPONSES_NAMES),
            # «Expected a string with maximum length 10485760» (OR29).
            text_length(min(options.max_string_chars or 10_485_760, 10_485_760)),
            bound_to_prefix,
            empty,
            item_ids(RESPONSES_ITEM_IDS),
            fit_parameters(RESPONSES_PARAMETERS, model, options.unknown == "keep"),
            something_to_send,
        ]

    return responses


RESPONSES_ITEM_IDS = ItemIds(
    "openai-responses",
    responses_fit.kind_of,
    responses_fit.PREFIXES,
    responses_fit.NEEDS_ID,
    # The id of this output is that of its call (appendix A).
    frozenset({"local_shell_call_output"}),
)


TARGETS: dict[str, Target] = {
    target.name: target
    for target in (
        Target("flat", FLAT, _flat, "role, text, calls by tool_call_id; nothing else"),
        Target(
            "openai-chat",
            OPENAI_CHAT,
            _chat(False),
            "OpenAI Chat Completions and what speaks it; system messages stay in place",
        ),
        Target(
            "openai-chat:system-first", OPENAI_CHAT, _chat(True), "as openai-chat, with all system messages in front"
        ),
        Target(
            "openai-responses",
            OPENAI_RESPONSES,
            _responses(),
            "OpenAI Responses: items in any order; system messages stay in place, `instructions` where they were a field of the request",
        ),
        Target(
            "openai-responses:third-party",
            OPENAI_RESPONSES,
            _responses(third_party=True),
            "as openai-responses, for servers that host no tools, hold no state and group calls with their outputs",
        ),
        Target(
            "anthropic", ANTHROPIC, _anthropic(), "Anthropic Messages; system messages go to the top-level field", True
        ),
        Target(
            "anthropic:mid-system",
            ANTHROPIC,
            _anthropic(mid=True),
            "as anthropic, with system messages in mid-conversation",
            True,
        ),
        Target(
            "anthropic:no-prefill",
            ANTHROPIC,
            _anthropic(prefill=False),
            "as anthropic, for models that refuse a last assistant turn",
            True,
        ),
        Target(
            "anthropic:mid-system:no-prefill",
            ANTHROPIC,
            _anthropic(mid=True, prefill=False),
            "both: Claude from Opus 4.8 and Sonnet 5 on",
            True,
        ),
        Target(
            "bedrock-converse",
            BEDROCK,
            _bedrock(),
            "Amazon Bedrock Converse; system messages go to the top-level field, user and assistant take turns",
            True,
        ),
        Target(
            "bedrock-converse:claude",
            BEDROCK,
            _bedrock(model_family="claude"),
            "as bedrock-converse, for Claude: no reasoning without its signature",
            True,
        ),
        Target(
            "bedrock-converse:claude:no-prefill",
            BEDROCK,
            _bedrock(model_family="claude", prefill=False),
            "both: Claude from Opus 4.6 and Sonnet 4.6 on, which refuse a last assistant turn",
            True,
        ),
        Target(
            "bedrock-converse:llama",
            BEDROCK,
            _bedrock(model_family="llama"),
            "as bedrock-converse, for models that take no text beside tool blocks and no reasoning of Claude's",
            True,
        ),
    )
}

MODELS: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(pattern), name)
    for pattern, name in (
        # «introduced with Claude Opus 4.8 … also accepted by claude-sonnet-5» (AN3); prefill refused from 4.6 on (AN11).
        (r"claude-(opus-4-8|opus-5|sonnet-5|haiku-5|fable-5|mythos-5)", "anthropic:mid-system:no-prefill"),
        (r"claude-(opus|sonnet)-4-[67]", "anthropic:no-prefill"),
        (r"claude-", "anthropic"),
        # «all function_call items of a batch before any output» (DS5, measured).
        (r"deepseek-", "openai-responses:third-party"),
        # The same models behind Bedrock, with the prefix of a region («us.», «global.») or of an ARN.
        (r"(.*[./])?anthropic\.claude-((opus|sonnet)-4-[678]|(opus|sonnet|haiku|fable|mythos)-5)", "bedrock-converse:claude:no-prefill"),
        (r"(.*[./])?anthropic\.claude-", "bedrock-converse:claude"),
        (r"(.*[./])?(meta\.llama|mistral\.)", "bedrock-converse:llama"),
    )
)
"""Model names to targets, the first that matches: roles, prefill and system placement are facts of a model."""


def target_names() -> list[str]:
    """The names of all targets."""
    return list(TARGETS)


def target_of(model: str, dialect: str) -> Target | None:
    """The target of a model within a dialect, or None if the model is not known there."""
    for pattern, name in MODELS:
        if pattern.match(model) and TARGETS[name].dialect.name == dialect:
            return TARGETS[name]
    return None
