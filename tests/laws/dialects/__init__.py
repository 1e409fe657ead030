"""One module for each dialect in which histories are generated. To add a dialect: one module here, one line below."""

from __future__ import annotations

from tests.laws.dialects import anthropic, bedrock, flat, gemini, openai_chat, openai_responses
from tests.laws.dialects.spoken import Spoken

DIALECTS: dict[str, Spoken] = {
    spoken.name: spoken
    for spoken in (
        flat.SPOKEN,
        openai_chat.SPOKEN,
        openai_responses.SPOKEN,
        anthropic.SPOKEN,
        bedrock.SPOKEN,
        gemini.SPOKEN,
    )
}
