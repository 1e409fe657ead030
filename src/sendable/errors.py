"""The two errors of the library: the caller's fault and the provider's. Anything else that is raised is a fault of ours."""

from __future__ import annotations

from typing import final

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
    """A provider's answer or stream breaks its own protocol."""

    status_hint = 502
