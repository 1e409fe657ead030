"""Make any stored LLM conversation acceptable to any provider, and report every single thing that was lost on the way."""

from sendable.errors import HistoryError, UpstreamError
from sendable.pipeline import JsonResult, Result, check, check_json, normalize, normalize_json
from sendable.report import REPAIR, STRICT, Entry, Report
from sendable.targets import target_names

__all__ = [
    "REPAIR",
    "STRICT",
    "Entry",
    "HistoryError",
    "JsonResult",
    "Report",
    "Result",
    "UpstreamError",
    "check",
    "check_json",
    "normalize",
    "normalize_json",
    "target_names",
]
