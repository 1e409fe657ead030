"""The flat form → hub. Its messages are the plain envelope that `reading.py` reads; its calls are one spelling among those of Chat."""

from __future__ import annotations

from collections.abc import Sequence

from sendable.conversation import Setting
from sendable.paths import At
from sendable.payload import Leaf

HOME = "flat"


def read_setting(key: str, value: Leaf, at: At) -> Sequence[Setting]:
    """A field beside the messages; the flat form gives it no meaning."""
    return (Setting(key, value, at, value, HOME, True),)
