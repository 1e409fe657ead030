"""Make any stored LLM conversation acceptable to any provider, and report every single thing that was lost on the way.

The public names, and nothing else. Each is loaded when it is first used, so that a program that may need this library does not wait
for it at every start.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sendable.errors import HistoryError, UpstreamError
    from sendable.pipeline import JsonResult, Result, check, check_json, normalize, normalize_json
    from sendable.report import REPAIR, STRICT, Entry, Report
    from sendable.targets import target_names

_HOMES = {
    "REPAIR": "report",
    "STRICT": "report",
    "Entry": "report",
    "HistoryError": "errors",
    "JsonResult": "pipeline",
    "Report": "report",
    "Result": "pipeline",
    "UpstreamError": "errors",
    "check": "pipeline",
    "check_json": "pipeline",
    "normalize": "pipeline",
    "normalize_json": "pipeline",
    "target_names": "targets",
}

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


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
    return value


def __dir__() -> list[str]:
    return [*__all__, "__doc__", "__name__"]
