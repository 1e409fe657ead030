"""A writer of a stream that forgets an event."""

from collections.abc import Sequence
from typing import assert_never

from sendable.report import Ledger
from sendable.stream import (
    ArgumentsDelta,
    BlockEvent,
    BlockStart,
    BlockStop,
    MessageStart,
    ReasoningDelta,
    TextDelta,
    WireEvent,
)


def feed(event: MessageStart | BlockEvent, ledger: Ledger) -> Sequence[WireEvent]:
    if type(event) is MessageStart or type(event) is BlockStart or type(event) is BlockStop:
        return [WireEvent("block", {})]
    if type(event) is TextDelta or type(event) is ReasoningDelta or type(event) is ArgumentsDelta:
        return [WireEvent("delta", {"text": event.text})]
    assert_never(event)  # refused: a signature
