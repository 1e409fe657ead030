"""All judges of a target behind one question: is this body sendable? What must not live here: a rule."""

from __future__ import annotations

from typing import Any

from tests.judges import (
    converse,
    judge_anthropic,
    judge_bedrock,
    judge_flat,
    judge_gemini,
    judge_openai_chat,
    judge_openai_responses,
    judge_profiles,
    sdk,
)


def complaints(target: str, body: Any, *, whole: bool = False) -> list[str]:
    """Everything that our judge of the target and, where there is one, the vendor's SDK have against the body. `whole`: a request, not a history."""
    dialect, _, profile = target.partition(":")
    if dialect == "flat":
        return [str(finding) for finding in judge_flat.judge(body)]
    if dialect == "openai-chat":
        found = judge_openai_chat.judge(body)
        if profile.startswith("kimi"):
            # Ids that hold a whole name are longer than OpenAI's.
            found = [finding for finding in found if finding.rule != "OC22"]
        return [str(finding) for finding in found or judge_profiles.judge(profile, body)] or [
            f"SDK: {text}" for text in sdk.openai_chat(body)
        ]
    if dialect == "openai-responses":
        return [str(finding) for finding in judge_openai_responses.judge(body, hosted=profile != "third-party")] or [
            f"SDK: {text}" for text in sdk.openai_responses(body)
        ]
    if dialect == "anthropic":
        found = judge_anthropic.judge(
            body, whole=whole, mid_system="mid-system" in profile, prefill="no-prefill" not in profile
        )
        return [str(finding) for finding in found or judge_profiles.judge(profile, body)] or [
            f"SDK: {text}" for text in sdk.anthropic(body)
        ]
    if dialect == "gemini":
        return [str(finding) for finding in judge_gemini.judge(body, three=profile == "3")] or [
            f"SDK: {text}" for text in sdk.gemini(body)
        ]
    if dialect == "bedrock-converse":
        found = judge_bedrock.judge(
            body, whole=whole, prefill="no-prefill" not in profile, apart=profile.startswith("llama")
        )
        return [str(finding) for finding in found] or [f"SDK: {text}" for text in converse.bedrock(body)]
    raise AssertionError(f"no judge for {target}")
