"""The judge of Mistral: mistral-common 1.13.1, the code that its servers validate a request with, for the tokenizers v11 and v13.

Two rules are written out here. MI4 and MI5 (`prefix`), because `from_openai` loses the mark, which is then put back; and the order of a leading
`tool` message, which the validator never looks at (its own hole). What must not live here: rules of any other provider.
"""

from __future__ import annotations

import warnings
from typing import Any

from mistral_common.exceptions import MistralCommonException
from mistral_common.protocol.instruct.messages import AssistantMessage
from mistral_common.protocol.instruct.request import ChatCompletionRequest
from mistral_common.protocol.instruct.validator import ValidationMode, get_validator
from mistral_common.tokens.tokenizers.base import TokenizerVersion
from pydantic import ValidationError

from tests.judges.findings import Finding, Findings

VERSIONS = (TokenizerVersion.v11, TokenizerVersion.v13)


def judge(body: Any) -> list[Finding]:
    """Every rule that the messages break, in either version."""
    return list(_judge(body["messages"]))


def _judge(messages: list[Any]) -> Findings:
    for index, message in enumerate(messages):
        if message.get("role") == "tool" and (
            index == 0 or messages[index - 1].get("role") not in ("assistant", "tool")
        ):
            yield Finding("MI3", f"messages[{index}]", "a tool message that follows no call")
        if "prefix" in message and (message.get("role") != "assistant" or index + 1 < len(messages)):
            yield Finding("MI5", f"messages[{index}]", "Assistant message with prefix True must be last message")
    for version in VERSIONS:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                request = ChatCompletionRequest.from_openai([_unmarked(message) for message in messages], model="m")
                last = request.messages[-1] if request.messages else None
                if isinstance(last, AssistantMessage) and messages[-1].get("prefix") is True:
                    last.prefix = True
                get_validator(version, ValidationMode.serving).validate_request(request)
        except (MistralCommonException, ValidationError, ValueError, TypeError) as error:
            yield Finding("MI", version.value, str(error)[:300])


def _unmarked(message: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in message.items() if key != "prefix"}
