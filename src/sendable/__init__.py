"""Make any stored LLM conversation acceptable to any provider, and report every single thing that was lost on the way.

The public names, and nothing else. Each is loaded when it is first used, so that a program that may need this library does not wait
for it at every start.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sendable.answers import Assembler, Response, StreamReader, StreamWriter, read_response, write_response
    from sendable.conversation import ArgumentsError, Continuation
    from sendable.errors import HistoryError, UpstreamError
    from sendable.pipeline import JsonResult, Result, check, check_json, normalize, normalize_json
    from sendable.replay import ReplayCost, replay_cost
    from sendable.report import REPAIR, STRICT, Entry, Report
    from sendable.rules.continuation import Continue
    from sendable.targets import target_names

_HOMES = {
    "REPAIR": "report",
    "STRICT": "report",
    "ArgumentsError": "conversation",
    "Assembler": "answers",
    "Continuation": "conversation",
    "Continue": "rules.continuation",
    "Entry": "report",
    "HistoryError": "errors",
    "JsonResult": "pipeline",
    "ReplayCost": "replay",
    "Report": "report",
    "Response": "answers",
    "Result": "pipeline",
    "StreamReader": "answers",
    "StreamWriter": "answers",
    "UpstreamError": "errors",
    "check": "pipeline",
    "check_json": "pipeline",
    "normalize": "pipeline",
    "normalize_json": "pipeline",
    "read_response": "answers",
    "replay_cost": "replay",
    "write_response": "answers",
    "target_names": "targets",
}

__all__ = [
    "REPAIR",
    "STRICT",
    "ArgumentsError",
    "Assembler",
    "Continuation",
    "Continue",
    "Entry",
    "HistoryError",
    "JsonResult",
    "ReplayCost",
    "Report",
    "Response",
    "Result",
    "StreamReader",
    "StreamWriter",
    "UpstreamError",
    "check",
    "check_json",
    "normalize",
    "normalize_json",
    "read_response",
    "replay_cost",
    "target_names",
    "write_response",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
    return value


def __dir__() -> list[str]:
    return [*__all__, "__doc__", "__name__"]
