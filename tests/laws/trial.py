"""One run, whatever comes of it: a result, or the refusal. Any other exception is a failure of promise 1 and goes through."""

from __future__ import annotations

from typing import Any, NamedTuple

import sendable
from sendable import HistoryError


class Trial(NamedTuple):
    """A result or a refusal; exactly one of the two is there."""

    result: sendable.Result | None
    refusal: HistoryError | None

    @property
    def report(self) -> sendable.Report:
        """The report of the run, refused or not."""
        if self.refusal is not None:
            return self.refusal.report
        assert self.result is not None
        return self.result.report


def tried(history: Any, target: str | None = None, **options: Any) -> Trial:
    """`normalize`, with a refusal as a value."""
    try:
        return Trial(sendable.normalize(history, to=target, **options), None)
    except HistoryError as refusal:
        return Trial(None, refusal)


class JsonTrial(NamedTuple):
    """The same for bytes."""

    result: sendable.JsonResult | None
    refusal: HistoryError | None


def tried_json(data: bytes, target: str | None = None, **options: Any) -> JsonTrial:
    """`normalize_json`, with a refusal as a value."""
    try:
        return JsonTrial(sendable.normalize_json(data, to=target, **options), None)
    except HistoryError as refusal:
        return JsonTrial(None, refusal)
