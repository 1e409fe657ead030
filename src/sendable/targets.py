"""Targets: a dialect plus the rules of one provider or model family. The order of the rules is here and only here.

Each rule stands with the provider's sentence that demands it where the rule itself is written (rules/). What must not live here: how a
rule works.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
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
from sendable.dialects.gemini import GEMINI
from sendable.dialects.gemini import fit as gemini_fit
from sendable.dialects.gemini import read as gemini_read
from sendable.dialects.gemini import write as gemini_write
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
from sendable.rules.blocks import (
    Place,
    fit,
    known_references,
    marks_behind,
    marks_on_blocks,
    nothing_null,
    one_form,
    respelled,
)
from sendable.rules.continuation import ItemIds, State, foreign_state, item_ids, may_wait, own_state, stands_alone
from sendable.rules.empty import (
    content_is_something,
    dropped_if_emptied,
    failures_filled,
    filled,
    no_empty_texts,
    no_trailing_space,
    results_filled,
    said_beside_reasoning,
)
from sendable.rules.ids import digest_form, ids, named_results, names, numbered_form, plain_form, word_form
from sendable.rules.limits import cache_marks, calls_per_message, text_length
from sendable.rules.media import (
    documents_named,
    media_from_user,
    media_out,
    media_per_message,
    media_sizes,
    most_images,
    text_beside_documents,
    text_only,
)
from sendable.rules.order import (
    alternating,
    alternating_abroad,
    answered_results,
    asked_last,
    calls_last,
    calls_not_first,
    results_as_called,
    results_first,
    tools_apart,
    user_first,
    user_last,
)
from sendable.rules.pairing import one_result, pair, server_pairs, usable_ids
from sendable.rules.parameters import (
    Parameters,
    fit_parameters,
    marks_on_tools,
    one_of,
    stands_by_itself,
    tools_declared,
    tools_ungrouped,
    unforced_tools,
)
from sendable.rules.reasoning import (
    bound_to_prefix,
    first_call_signed,
    fit_without,
    leads_open_loop,
    not_last,
    one_spelling,
    recalled,
    signatures_bound,
)
from sendable.rules.shape import (
    content_in_lists,
    flat_content,
    known_roles,
    no_developer,
    participants_named,
    results_from_user,
    something_to_send,
    tools_answer,
)
from sendable.rules.system import answerable, demote_system, hoist_system, mid_system, one_system, system_after_user
from sendable.rules.turns import calls_together, no_hollow_items, ordinary_calls, whole_turns

DIALECTS: dict[str, Dialect] = {
    dialect.name: dialect for dialect in (OPENAI_CHAT, OPENAI_RESPONSES, ANTHROPIC, GEMINI, BEDROCK, FLAT)
}
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
        """The rules of this target, in order, for these options. They are composed at the first call that asks for them."""
        return _composed(self.compose, options, model)


@lru_cache(maxsize=256)
def _composed(compose: Compose, options: Options, model: str | None) -> list[Rule]:
    return compose(options, model)


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
    responses_read.HANDLES,
    responses_fit.REFERENCES,
    responses_fit.SUMMARIES,
    # «compaction_trigger must be the final input item» (OR22).
    frozenset({"compaction_trigger"}),
)
STATES = (
    RESPONSES_STATE,
    # «replay is by handle only … on any other provider/model the handle is dead» (section 1.3).
    State("openai-chat", held=frozenset({"audio"}), words=chat_read.transcript),
    # The files and the state of code that ran (appendix B), and a conversation that is kept.
    State("anthropic", frozenset({"container", "thread"})),
    # A prefix that is kept ready (GE20), and an answer that is to be gone on with, «not with another model» (GE21).
    State("gemini", frozenset({"cachedContent", "cached_content", "continuationToken", "continuation_token"})),
)

# What a target that knows functions and free-form tools takes of one call: a result.
_ONE_RESULT = one_result(frozenset({"custom"}))


def _from_items(place: Place) -> list[Rule]:
    """What makes messages of the items of a dialect without turns. First of all, since every rule behind it thinks in turns."""
    return [
        foreign_state(place.home, STATES),
        ordinary_calls(responses_fit.ORDINARY),
        _ONE_RESULT,
        whole_turns("openai-responses", place),
        tools_ungrouped,
    ]


# Mistral, v3 to v11: «must be a-z, A-Z, 0-9, with a length of 9» (MI8).
MISTRAL_IDS = digest_form(9)
# Cohere: «tool names can only contain certain characters (A-Za-z0-9_) and can't begin with a digit» (CO5).
COHERE_NAMES = word_form(64)


# What the caller may say of any target (options.py).


def _roles(options: Options, system_role: bool = True) -> list[Rule]:
    """Known roles; no instructions where the target, or the caller, says that there is no role for them (`system_role`)."""
    instructed = system_role if options.system_role is None else options.system_role
    return [known_roles, *(() if instructed else (demote_system,))]


def _media(options: Options, images: bool = True) -> list[Rule]:
    """No media where the target, or the caller, says that the model takes text only (`images`)."""
    taken = images if options.images is None else options.images
    return [] if taken else [text_only]


def _limits(options: Options, calls: int | None = None) -> list[Rule]:
    """Limits of size and count. `calls`: how many calls a message of this target holds, where the caller does not say."""
    if options.parallel_tool_results is False or options.interleave_calls_and_outputs:
        # «false: one call and one result per turn», «each call directly followed by its output».
        calls = 1
    elif options.max_tool_calls_per_message is not None:
        calls = options.max_tool_calls_per_message
    elif options.parallel_tool_results:
        calls = None
    return [
        *([calls_per_message(calls)] if calls is not None else ()),
        *([text_length(options.max_string_chars)] if options.max_string_chars is not None else ()),
        *_most_images(options),
    ]


def _most_images(options: Options) -> list[Rule]:
    return [most_images(options.max_images)] if options.max_images is not None else []


def _apart(options: Options) -> list[Rule]:
    """No text beside tool blocks (`text_with_tool_blocks_allowed`)."""
    return [alternating, calls_last, tools_apart] if options.text_with_tool_blocks_allowed is False else []


def _flat(options: Options, model: str | None) -> list[Rule]:
    return [
        foreign_state("flat", STATES),
        ordinary_calls(responses_fit.ORDINARY),
        *((demote_system,) if options.system_role is False else ()),
        results_from_user,
        flat_content,
        _ONE_RESULT,
        whole_turns("openai-responses", flat_fit.place(options)),
        hoist_system,
        one_spelling,
        one_form,
        # The source's falsy id.
        usable_ids(frozenset({"0", 0})),
        fit(flat_fit.fit_block(options), flat_fit.place(options)),
        pair(repeated="dropped", missing="last"),
        dropped_if_emptied,
        tools_answer,
        results_first,
        calls_last,
        ids(plain_form(r"(?s).+", 10_000)),
        names(plain_form(r"(?s).*\S.*", 10_000)),
        fit_parameters(Parameters("flat", frozenset(), frozenset()), model, False),
    ]


# «custom: arguments are free text» is OpenAI's alone (section 11).
OPENAI_TOOL_WORDS = frozenset({"name", "description", "parameters", "strict", "freeform"})
# Of the fields that both of OpenAI's APIs have, no other server knows one.
_OPENAI_FIELDS = frozenset({"verbosity", "store", "metadata", "prompt_cache_key", "prompt_cache_retention"})

CHAT_PARAMETERS = Parameters(
    "openai-chat",
    chat_read.OWN,
    chat_write.WRITABLE,
    never_null=chat_read.NEVER_NULL,
    kinds=chat_read.KINDS,
    efforts={word: word for word in ("none", "minimal", "low", "medium", "high", "xhigh")} | {"max": "xhigh"},
    formats={"json_schema": frozenset({"name", "schema", "strict", "description"}), "json_object": frozenset()},
    tool_words=OPENAI_TOOL_WORDS,
)

# Other servers know the limit as `max_tokens` only, have no field for OpenAI's end user, and switch thinking with a field of their own
# (DS1, section 9).
_ELSEWHERE = msgspec.structs.replace(
    CHAT_PARAMETERS,
    own=chat_read.OWN - {"max_completion_tokens"} | {"thinking"},
    writable=chat_write.WRITABLE - {"end_user"} - _OPENAI_FIELDS,
    tool_words=OPENAI_TOOL_WORDS - {"freeform"},
)
# «json_schema unsupported» (DS9, measured 2026-09).
DEEPSEEK_PARAMETERS = msgspec.structs.replace(
    _ELSEWHERE, formats={"json_object": frozenset()}, refused=frozenset({"json_schema"})
)
# «reasoning_effort=… is not supported for this model», below v15 (MI14).
MISTRAL_PARAMETERS = msgspec.structs.replace(
    _ELSEWHERE,
    own=_ELSEWHERE.own - {"reasoning_effort", "thinking"} | {"random_seed", "safe_prompt", "prompt_mode"},
    writable=_ELSEWHERE.writable - {"effort"},
)
# Section 7, and the request of cohere 7.3.1.
COHERE_PARAMETERS = msgspec.structs.replace(
    _ELSEWHERE,
    own=_ELSEWHERE.own
    | {"citation_options", "documents", "k", "p", "priority", "raw_prompting", "safety_mode", "stop_sequences"}
    | {"strict_tools"},
)

# Chat with content that is nothing left out, and with the limit under its first name.
SPARSE_CHAT = msgspec.structs.replace(OPENAI_CHAT, write=chat_write.write_sparse)
OLD_CHAT = msgspec.structs.replace(OPENAI_CHAT, write_settings=chat_write.write_settings_of_old)
OLD_SPARSE_CHAT = msgspec.structs.replace(OLD_CHAT, write=chat_write.write_sparse)

# An answer of OpenAI's own may be empty beside a refusal that is null (recorded).
_CHAT_FILLED = filled(blank_refused=False, answered_by=frozenset({"refusal"}))
_FILLED = filled(blank_refused=False)
_NEVER_EMPTY: tuple[Rule, ...] = (filled(blank_refused=True, system_too=True), results_filled)


def _user_last(options: Options) -> list[Rule]:
    """A last assistant message is accepted (OC16), unless the caller says that it is not."""
    return [user_last] if options.allow_prefill is False else []


def _chat(
    *,
    server: chat_fit.Server = chat_fit.OPENAI,
    system: tuple[Rule, ...] = (),
    system_role: bool = True,
    images: bool = True,
    nonempty: tuple[Rule, ...] = (_CHAT_FILLED,),
    order: tuple[Rule, ...] = (results_first, calls_last),
    identified: tuple[Rule, ...] = (ids(CHAT_IDS), names(CHAT_NAMES)),
    last: Callable[[Options], list[Rule]] = _user_last,
    parameters: Parameters = CHAT_PARAMETERS,
) -> Compose:
    """The rules of a server that speaks Chat. `server`: what its objects hold. `system`: where it takes instructions, if it has a role for
    them. `images`: whether it takes media. `nonempty`, `order`, `identified`: the rules of their place. `last`: how a list ends, and what
    the whole has to hold."""

    def chat(options: Options, model: str | None) -> list[Rule]:
        return [
            *_from_items(chat_fit.place_of(server, options)),
            *_roles(options, system_role),
            *system,
            *((one_spelling,) if options.reasoning == "text" else ()),
            one_form,
            usable_ids(),
            *_media(options, images),
            fit(chat_fit.fit_block(options, server), chat_fit.place_of(server, options)),
            pair(),
            media_out(of="results"),
            media_from_user,
            participants_named,
            *nonempty,
            content_is_something,
            *order,
            *_apart(options),
            *identified,
            *_limits(options),
            *last(options),
            fit_parameters(parameters, model, options.unknown == "keep"),
            something_to_send,
        ]

    return chat


# «reasoning_content in a message to api.openai.com → strip» (OC14); «property 'reasoning_content' is unsupported» (reported, 2026-05).
_WITHOUT_REASONING = chat_fit.Server(
    reasoning=fit_without, message_keys=frozenset({"name"}), block_keys=chat_fit.MESSAGE_KEYS
)
_STRICT = chat_fit.Server(
    arguments=chat_fit.parsed_arguments,
    reasoning=fit_without,
    message_keys=frozenset({"name"}),
    block_keys=chat_fit.NO_KEYS,
)
_MISTRAL = msgspec.structs.replace(
    chat_fit.ABROAD,
    media=chat_fit.takes_images_and_audio,
    message_keys=frozenset({"prefix"}),
    block_keys=chat_fit.NO_KEYS,
)


def _deepseek(thinks: bool) -> Compose:
    return _chat(
        server=msgspec.structs.replace(chat_fit.ABROAD, media=chat_fit.takes_images_and_files),
        system=(no_developer,),
        last=lambda options: [
            *_user_last(options),
            recalled(options, "reasoning_content", thinks=thinks),
            unforced_tools(options, thinks=thinks),
        ],
        parameters=DEEPSEEK_PARAMETERS,
    )


def _kimi(thinks: bool) -> Compose:
    return _chat(
        server=chat_fit.ABROAD,
        system=(no_developer,),
        identified=(names(CHAT_NAMES), ids(numbered_form)),
        last=lambda options: [*_user_last(options), recalled(options, "reasoning_content", thinks=thinks)],
        parameters=_ELSEWHERE,
    )


CHAT_TARGETS: tuple[Target, ...] = (
    Target(
        "openai-chat",
        OPENAI_CHAT,
        _chat(),
        "OpenAI Chat Completions and what speaks it; system messages stay in place",
    ),
    Target(
        "openai-chat:system-first",
        OPENAI_CHAT,
        _chat(system=(hoist_system,)),
        "as openai-chat, with all system messages in front",
    ),
    Target(
        "openai-chat:no-reasoning-field",
        SPARSE_CHAT,
        _chat(server=_WITHOUT_REASONING, nonempty=(_FILLED, nothing_null)),
        "OpenAI's own models: messages are closed and have no field for reasoning",
    ),
    Target("openai-chat:no-system", OPENAI_CHAT, _chat(system_role=False), "models without a role for instructions"),
    Target(
        "openai-chat:no-system:no-reasoning-field",
        SPARSE_CHAT,
        _chat(server=_WITHOUT_REASONING, system_role=False, nonempty=(_FILLED, nothing_null)),
        "both: o1-mini and o1-preview",
    ),
    Target("openai-chat:text-only", OPENAI_CHAT, _chat(images=False), "models that take text only"),
    Target(
        "openai-chat:strict",
        SPARSE_CHAT,
        _chat(server=_STRICT, nonempty=(*_NEVER_EMPTY, nothing_null)),
        "servers that parse arguments and refuse empty content, null and unknown fields",
    ),
    Target(
        "openai-chat:strict-template",
        OLD_CHAT,
        _chat(
            server=chat_fit.ABROAD,
            system=(no_developer, hoist_system, one_system),
            order=(user_first, alternating, results_first, calls_last, answered_results),
            parameters=_ELSEWHERE,
        ),
        "chat templates of open models: one system message in front, then user and assistant in turn",
    ),
    Target(
        "openai-chat:mistral",
        OLD_SPARSE_CHAT,
        _chat(
            server=_MISTRAL,
            system=(no_developer, system_after_user),
            nonempty=(_CHAT_FILLED, nothing_null),
            order=(results_first, calls_last, calls_not_first, system_after_user),
            identified=(ids(MISTRAL_IDS), names(CHAT_NAMES)),
            last=lambda options: [asked_last(options.allow_prefill is True)],
            parameters=MISTRAL_PARAMETERS,
        ),
        "Mistral up to tokenizer v11: ids of nine letters and digits, an order of roles of its own",
    ),
    Target("openai-chat:deepseek", OLD_CHAT, _deepseek(False), "DeepSeek without thinking"),
    Target(
        "openai-chat:deepseek-thinking",
        OLD_CHAT,
        _deepseek(True),
        "DeepSeek in thinking mode: turns with calls hold their reasoning",
    ),
    Target("openai-chat:kimi", OLD_CHAT, _kimi(False), "Kimi K2: ids that name the tool"),
    Target(
        "openai-chat:kimi-thinking",
        OLD_CHAT,
        _kimi(True),
        "as openai-chat:kimi, for models that think: turns with calls hold their reasoning",
    ),
    Target(
        "openai-chat:cohere",
        OLD_CHAT,
        _chat(
            server=msgspec.structs.replace(chat_fit.ABROAD, media=chat_fit.takes_images),
            system=(no_developer, hoist_system, one_system),
            nonempty=(*_NEVER_EMPTY, said_beside_reasoning),
            identified=(ids(CHAT_IDS), names(COHERE_NAMES)),
            parameters=COHERE_PARAMETERS,
        ),
        "Cohere v2: one system message in front, nothing empty, tool names without dashes",
    ),
)


ANTHROPIC_PARAMETERS = Parameters(
    "anthropic",
    anthropic_read.OWN,
    anthropic_write.WRITABLE,
    kinds=anthropic_read.KINDS,
    nulls=False,
    efforts={"minimal": "low"} | {word: word for word in ("low", "medium", "high", "xhigh", "max")},
    formats={"json_schema": frozenset({"schema"})},
    hottest=1.0,
    # «max_tokens: Field required»: a body needs one, and no other value is safe for every model.
    required={"max_tokens": 4096},
    tool_fields=frozenset({"cache_control"}),
)


def _anthropic(
    mid: bool = False, prefill: bool = True, issuer: str = anthropic_fit.ISSUER, calls: int | None = None
) -> Compose:
    def anthropic(options: Options, model: str | None) -> list[Rule]:
        allow_prefill = prefill if options.allow_prefill is None else options.allow_prefill
        empty = filled(blank_refused=True, system_too=True)
        return [
            *_from_items(anthropic_fit.place(options)),
            *_roles(options),
            # «Unexpected role "developer"» (AN1).
            *((no_developer,) if mid else (hoist_system,)),
            one_spelling,
            one_form,
            usable_ids(),
            known_references,
            marks_on_blocks("cachePoint", "cache_control"),
            marks_on_tools("cache_control"),
            *_media(options),
            fit(anthropic_fit.fit_block(options, issuer), anthropic_fit.place(options)),
            # «tool call result does not follow tool call»: where a message holds one call, its result follows that very message.
            pair(turn="run" if calls is None else "message"),
            server_pairs(resumable=True),
            media_out(of="error results"),
            media_from_user,
            empty,
            *((mid_system,) if mid else ()),
            not_last,
            *_apart(options),
            results_first,
            ids(ANTHROPIC_IDS, served=True),
            names(ANTHROPIC_NAMES),
            *_limits(options, calls),
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
            *_roles(options),
            hoist_system,
            one_spelling,
            one_form,
            usable_ids(),
            *_media(options),
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
            # As many as the joined message will have.
            empty,
            alternating,
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


# No rule for ids is known (GE9); a fresh one has at most 64 characters.
GEMINI_IDS = msgspec.structs.replace(plain_form(r"[A-Za-z0-9_-]{1,64}", 64), pattern=re.compile(r"(?s).*\S.*"))
# «Must start with a letter or an underscore. Must be a-z, A-Z, 0-9, or contain underscores, dots, colons and dashes, with a maximum length
# of 128» (GE10).
GEMINI_NAMES = plain_form(r"[A-Za-z_][A-Za-z0-9_.:-]{0,127}", 128)

GEMINI_PARAMETERS = Parameters(
    "gemini",
    gemini_read.OWN,
    gemini_write.WRITABLE,
    kinds=gemini_read.KINDS,
    # Null says what absence says, and the types of google-genai 3.6.1 refuse it.
    nulls=False,
    # Models before 3 have a budget of tokens instead.
    efforts={},
    formats={"json_schema": frozenset({"schema"}), "json_object": frozenset()},
    # «no per-tool strict flag» (section 4).
    tool_words=frozenset({"name", "description", "parameters"}),
)
GEMINI_3_PARAMETERS = msgspec.structs.replace(
    GEMINI_PARAMETERS,
    efforts={word: word for word in ("minimal", "low", "medium", "high", "xhigh")} | {"max": "xhigh"},
)


def _gemini(three: bool = False) -> Compose:
    def gemini(options: Options, model: str | None) -> list[Rule]:
        empty = (no_empty_texts, filled(blank_refused=False, system_too=True, own="gemini"))
        turns = alternating_abroad("gemini")
        return [
            *_from_items(gemini_fit.place(options)),
            *_roles(options),
            hoist_system,
            one_spelling,
            one_form,
            usable_ids(),
            *_media(options),
            fit(gemini_fit.fit_block(options), gemini_fit.place(options)),
            pair(turn="run"),
            # «functionResponse.parts … (newer models); older: separate user part» (GE11).
            *(() if three else (media_out(of="results", but_of="gemini"),)),
            *empty,
            ids(GEMINI_IDS, written=False, needed=False),
            names(GEMINI_NAMES),
            named_results,
            *_limits(options),
            *_apart(options),
            turns,
            results_first,
            results_as_called,
            # A text that was only there for its signature is empty without it.
            *((signatures_bound, *empty, turns, first_call_signed) if three else ()),
            user_first,
            *(() if options.allow_prefill else (user_last,)),
            fit_parameters(GEMINI_3_PARAMETERS if three else GEMINI_PARAMETERS, model, options.unknown == "keep"),
            stands_by_itself(
                frozenset({"cachedContent", "cached_content"}), frozenset({"tools", "toolConfig", "tool_config"})
            ),
            something_to_send,
        ]

    return gemini


RESPONSES_PARAMETERS = Parameters(
    "openai-responses",
    responses_read.OWN,
    responses_write.WRITABLE,
    kinds=responses_read.KINDS,
    efforts={word: word for word in ("none", "minimal", "low", "medium", "high", "xhigh", "max")},
    formats={"json_schema": frozenset({"name", "schema", "strict", "description"}), "json_object": frozenset()},
    tool_words=OPENAI_TOOL_WORDS,
)


def _responses(third_party: bool = False) -> Compose:
    def responses(options: Options, model: str | None) -> list[Rule]:
        interleaved = options.interleave_calls_and_outputs or options.parallel_tool_results is False
        empty = filled(blank_refused=False, stored_too=False)
        waits = pair(
            turn="run",
            # «every function_call needs an output somewhere in input» (OR9): no rule of order, outside of repeated ids.
            stands="anywhere",
            several=frozenset({"custom"}),
            alone=stands_alone("openai-responses"),
            waits=may_wait,
        )
        held: list[Rule] = (
            # A server that hosts nothing holds nothing either.
            [foreign_state("", STATES), ordinary_calls(responses_fit.ORDINARY), _ONE_RESULT, tools_ungrouped]
            if third_party
            else [
                foreign_state("openai-responses", STATES),
                own_state(RESPONSES_STATE, options),
                one_of(("previous_response_id", "conversation")),
            ]
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
            *_roles(options),
            one_spelling,
            one_form,
            usable_ids(),
            *_media(options),
            fit(responses_fit.fit_block(options, third_party), responses_fit.place(options)),
            respelled(responses_fit.stands_right, responses_fit.has_content),
            no_hollow_items,
            *pairs,
            media_from_user,
            empty,
            ids(RESPONSES_IDS),
            names(RESPONSES_NAMES),
            # «Expected a string with maximum length 10485760» (OR29).
            text_length(min(options.max_string_chars or 10_485_760, 10_485_760)),
            *_most_images(options),
            bound_to_prefix,
            empty,
            item_ids(RESPONSES_ITEM_IDS),
            answerable,
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
        *CHAT_TARGETS,
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
            "anthropic:minimax",
            ANTHROPIC,
            _anthropic(issuer="minimax", calls=1),
            "MiniMax behind its Anthropic face: one call a turn",
            True,
        ),
        Target(
            "gemini",
            GEMINI,
            _gemini(),
            "Gemini generateContent; system messages go to systemInstruction, results of a turn stand in one content",
            True,
        ),
        Target(
            "gemini:3",
            GEMINI,
            _gemini(three=True),
            "as gemini, for Gemini 3 and later: the first call of every step is signed, results may hold media",
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

_VENDOR = r"(?:[\w.~-]+/)*"
"""What routers write before a model's name: `openai/`, `openrouter/deepseek/`."""

MODELS: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(_VENDOR + pattern), name)
    for pattern, name in (
        # «introduced with Claude Opus 4.8 … also accepted by claude-sonnet-5» (AN3); prefill refused from 4.6 on (AN11).
        (r"claude-(opus-4[-.]8|(opus|sonnet|haiku|fable|mythos)-[5-9])", "anthropic:mid-system:no-prefill"),
        (r"claude-(opus|sonnet)-4[-.][67]", "anthropic:no-prefill"),
        (r"claude-", "anthropic"),
        # «tool call result does not follow tool call (2013)» (reported, 2026-06).
        (r"(?i:minimax-)", "anthropic:minimax"),
        # «all function_call items of a batch before any output» (DS5, measured).
        (r"deepseek-", "openai-responses:third-party"),
        # «the first functionCall part of each step must carry its thoughtSignature» from Gemini 3 on (GE12).
        (r"(models/)?gemini-([3-9]|\d\d)", "gemini:3"),
        (r"(models/)?gemini-", "gemini"),
        # The same models behind Bedrock, with the prefix of a region («us.», «global.») or of an ARN.
        (
            r"(.*[./])?anthropic\.claude-((opus|sonnet)-4-[678]|(opus|sonnet|haiku|fable|mythos)-5)",
            "bedrock-converse:claude:no-prefill",
        ),
        (r"(.*[./])?anthropic\.claude-", "bedrock-converse:claude"),
        (r"(.*[./])?(meta\.llama|mistral\.)", "bedrock-converse:llama"),
        # «'messages[0].role' does not support 'developer' with this model», the same with 'system' (OC3).
        (r"o1-(mini|preview)", "openai-chat:no-system:no-reasoning-field"),
        # Open weights on servers of others, which have a field for reasoning.
        (r"gpt-oss", "openai-chat"),
        # OpenAI's own (OC14).
        (r"(gpt-|chatgpt-|o[1-9]($|-))", "openai-chat:no-reasoning-field"),
        # «Thinking on by default (V4)» (DS1).
        (r"deepseek-(reasoner|v[4-9])", "openai-chat:deepseek-thinking"),
        (r"deepseek-", "openai-chat:deepseek"),
        # «thinking is enabled but reasoning_content is missing in assistant tool call message at index N» (section 9).
        (r"kimi-(k2-thinking|k2[.-][5-9]|k[3-9])", "openai-chat:kimi-thinking"),
        (r"(kimi-|moonshot-)", "openai-chat:kimi"),
        # Section 6. Above v11 less is refused (MI8a), so that this fits all of them.
        (r"(open-)?(mistral|mixtral|ministral|codestral|devstral|magistral|pixtral|voxtral)-", "openai-chat:mistral"),
        # Section 7.
        (r"(command-|c4ai-)", "openai-chat:cohere"),
        # Nothing is known that these refuse and others take (section 9): their own reasoning may be sent back.
        (r"(?i:glm-|minimax-|qwen|grok-)", "openai-chat"),
    )
)
"""Model names to targets, the first that matches within a dialect: roles, prefill, system placement and reasoning are facts of a model."""

ACCEPTING: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(_VENDOR + pattern), name)
    for pattern, name in (
        # (AN3), as above.
        (r"claude-(opus-4[-.]8|(opus|sonnet|haiku|fable|mythos)-[5-9])", "anthropic:mid-system"),
    )
)
"""What the model that a body names itself accepts beyond its bare target. It never narrows one: what the body's own provider took stays as
it is."""


def target_names() -> list[str]:
    """The names of all targets."""
    return list(TARGETS)


def target_of(model: str, dialect: str) -> Target | None:
    """The target of a model within a dialect, or None if the model is not known there."""
    return _first(MODELS, model, dialect)


def wider_target_of(model: str, dialect: str) -> Target | None:
    """The target that accepts what a bare one does and more, as a model does that is only named in the body; None if there is none."""
    return _first(ACCEPTING, model, dialect)


def _first(table: tuple[tuple[re.Pattern[str], str], ...], model: str, dialect: str) -> Target | None:
    for pattern, name in table:
        if TARGETS[name].dialect.name == dialect and pattern.match(model):
            return TARGETS[name]
    return None
