"""The two errors of the library: the caller's fault and the provider's. Anything else that is raised is a fault of ours."""

from __future__ import annotations

from typing import Any, final

from sendable.codes import Code
from sendable.report import Report


@final
class HistoryError(ValueError):
    """The history cannot be sent under this policy. `report` says everything, `param` and `code` the first reason."""

    report: Report
    param: str
    code: str
    status_hint = 400

    def __init__(self, report: Report, key: str = "messages") -> None:
        entry = report.rejected
        assert entry is not None
        self.report = report
        self.param = entry.param or entry.path or key
        self.code = entry.code
        super().__init__(f"{self.param}: {entry.message} ({entry.code} {entry.name})")


@final
class UpstreamError(ValueError):
    """A provider's answer is none. `code` says what it is instead, `found` what was seen of it (never its text), `response_id` whose.

    `status_hint` is an HTTP status for one's own caller. `error` is the provider's own error object where it sent one.
    """

    def __init__(self, code: Code, found: str, response_id: str | None = None, error: Any = None) -> None:
        self.code, self.name, self.found, self.response_id, self.error = code.id, code.name, found, response_id, error
        self.status_hint = 502
        whose = f" (response {response_id})" if response_id else ""
        super().__init__(f"{code.message}: {found}{whose} ({code.id} {code.name})")
