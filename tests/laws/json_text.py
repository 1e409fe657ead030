"""The source text of each message in a JSON text: what "byte for byte" is compared by."""

from __future__ import annotations

import json

_DECODER = json.JSONDecoder()
_SPACE = " \t\r\n"


def _end(data: str, start: int) -> int:
    while start < len(data) and data[start] in _SPACE:
        start += 1
    return start


def message_texts(data: str) -> list[str]:
    """The source text of every message in the JSON text of a list or of a body with `messages`."""
    position = _end(data, 0)
    if data[position] == "{":
        position = _end(data, position + 1)
        while True:
            key, position = _DECODER.raw_decode(data, position)
            position = _end(data, _end(data, position) + 1)
            if key in ("messages", "input", "contents"):
                break
            _, position = _DECODER.raw_decode(data, position)
            position = _end(data, _end(data, position) + 1)
    texts, position = [], _end(data, position + 1)
    while data[position] != "]":
        _, end = _DECODER.raw_decode(data, position)
        texts.append(data[position:end])
        position = _end(data, end)
        if data[position] == ",":
            position = _end(data, position + 1)
    return texts
