"""What may stand inside the blocks of Messages: citations of a text, and what the provider's own tools found.

The objects are named here with their fields (anthropic 2.14.0, 2026-12-01). All are closed, as the blocks are: «messages.0.bogus: Extra
inputs are not permitted» (AN19). What must not live here: the blocks themselves (read.py).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias, final

import msgspec

from sendable import payload
from sendable.codes import FLD001, FLD010
from sendable.conversation import Text, ToolResult, changed
from sendable.payload import Leaf
from sendable.report import Ledger


class _Object(msgspec.Struct, tag_field="type", forbid_unknown_fields=True): ...


class _InDocument(_Object):
    cited_text: str
    document_index: int
    document_title: str | None


@final
class _Characters(_InDocument, tag="char_location"):
    start_char_index: int
    end_char_index: int


@final
class _Pages(_InDocument, tag="page_location"):
    start_page_number: int
    end_page_number: int


@final
class _Blocks(_InDocument, tag="content_block_location"):
    start_block_index: int
    end_block_index: int


@final
class _OnTheWeb(_Object, tag="web_search_result_location"):
    cited_text: str
    encrypted_index: str
    title: str | None
    url: str


@final
class _InResults(_Object, tag="search_result_location"):
    cited_text: str
    search_result_index: int
    source: str
    title: str | None
    start_block_index: int
    end_block_index: int


class _Failure(_Object):
    error_code: str


@final
class _Found(_Object, tag="web_search_result"):
    encrypted_content: str
    title: str
    url: str
    page_age: str | None = None


@final
class _NotFound(_Failure, tag="web_search_tool_result_error"): ...


@final
class _Fetched(_Object, tag="web_fetch_result"):
    url: str
    content: dict[str, Any]
    retrieved_at: str | None = None


@final
class _NotFetched(_Failure, tag="web_fetch_tool_result_error"): ...


@final
class _Output(_Object, tag="code_execution_output"):
    file_id: str


@final
class _Ran(_Object, tag="code_execution_result"):
    content: list[_Output]
    return_code: int
    stderr: str
    stdout: str


@final
class _RanSealed(_Object, tag="encrypted_code_execution_result"):
    content: list[_Output]
    return_code: int
    stderr: str
    encrypted_stdout: str


@final
class _NotRun(_Failure, tag="code_execution_tool_result_error"): ...


@final
class _ShellOutput(_Object, tag="bash_code_execution_output"):
    file_id: str


@final
class _ShellRan(_Object, tag="bash_code_execution_result"):
    content: list[_ShellOutput]
    return_code: int
    stderr: str
    stdout: str


@final
class _ShellNotRun(_Failure, tag="bash_code_execution_tool_result_error"): ...


@final
class _Viewed(_Object, tag="text_editor_code_execution_view_result"):
    content: str
    file_type: str
    num_lines: int | None = None
    start_line: int | None = None
    total_lines: int | None = None


@final
class _Created(_Object, tag="text_editor_code_execution_create_result"):
    is_file_update: bool


@final
class _Replaced(_Object, tag="text_editor_code_execution_str_replace_result"):
    lines: list[str] | None = None
    new_lines: int | None = None
    new_start: int | None = None
    old_lines: int | None = None
    old_start: int | None = None


@final
class _NotEdited(_Failure, tag="text_editor_code_execution_tool_result_error"):
    error_message: str | None = None


@final
class _Tools(_Object, tag="tool_search_tool_search_result"):
    tool_references: list[dict[str, Any]]


@final
class _NoTools(_Failure, tag="tool_search_tool_result_error"):
    error_message: str | None = None


@final
class _Advice(_Object, tag="advisor_result"):
    text: str
    stop_reason: str | None = None


@final
class _SealedAdvice(_Object, tag="advisor_redacted_result"):
    encrypted_content: str
    stop_reason: str | None = None


@final
class _NoAdvice(_Failure, tag="advisor_tool_result_error"): ...


Kinds: TypeAlias = Mapping[str, type[_Object]]


def _by_tag(*kinds: type[_Object]) -> Kinds:
    return {str(kind.__struct_config__.tag): kind for kind in kinds}


CITATIONS: Kinds = _by_tag(_Characters, _Pages, _Blocks, _OnTheWeb, _InResults)
"""What a text may be said after."""

FOUND: Mapping[str, tuple[Kinds, Kinds]] = {
    "web_search_tool_result": (_by_tag(_NotFound), _by_tag(_Found)),
    "web_fetch_tool_result": (_by_tag(_Fetched, _NotFetched), {}),
    "code_execution_tool_result": (_by_tag(_Ran, _RanSealed, _NotRun), {}),
    "bash_code_execution_tool_result": (_by_tag(_ShellRan, _ShellNotRun), {}),
    "text_editor_code_execution_tool_result": (_by_tag(_Viewed, _Created, _Replaced, _NotEdited), {}),
    "tool_search_tool_result": (_by_tag(_Tools, _NoTools), {}),
    "advisor_tool_result": (_by_tag(_Advice, _SealedAdvice, _NoAdvice), {}),
}
"""The content of each server tool's result: the one object that it may be, and the objects of the list that it may be."""


def fit_citations(block: Text, ledger: Ledger) -> Text:
    """A text with only those citations that are ones.

    Loses: FLD001, FLD010.
    """
    extra = block.extra or {}
    said = extra.get("citations")
    if payload.is_null(said):
        return block
    listed = payload.objects(said)
    if listed is None:
        ledger.strip(FLD010, block, ("citations",))
        return changed(block, extra=_without(extra, "citations"))
    kept: list[Any] = []
    for index, entry in enumerate(listed):
        fitted = _fit(entry, CITATIONS, block, ("citations", index), ledger)
        if fitted is None:
            ledger.strip(FLD010, block, ("citations", index))
        else:
            kept.append(fitted)
    if _is_same(kept, listed):
        return block
    fitted_block: Text = changed(block, extra={**extra, "citations": kept} if kept else _without(extra, "citations"))
    return fitted_block


def fit_found(block: ToolResult, ledger: Ledger) -> ToolResult | None:
    """What a server's tool found, as the provider takes it back; None if it is nothing that this tool finds.

    Loses: FLD001.
    """
    content = payload.members(block.raw).get("content")
    known = FOUND.get(block.kind)
    if known is None:
        # MCP: a text, or texts (appendix B).
        return block if payload.kind(content) in ("text", "list", "object") or block.kind == "mcp_tool_result" else None
    single, listed = known
    if payload.kind(content) == "object":
        fitted: Any = _fit(content, single, block, ("content",), ledger)
        same = fitted is content
    else:
        entries = payload.objects(content) if listed else None
        if entries is None:
            return None
        fitted = [_fit(entry, listed, block, ("content", index), ledger) for index, entry in enumerate(entries)]
        same = _is_same(fitted, entries)
        fitted = None if None in fitted else fitted
    if fitted is None or same:
        return None if fitted is None else block
    rebuilt: ToolResult = changed(block, raw={**payload.members(block.raw), "content": fitted})
    return rebuilt


def _fit(value: Leaf, kinds: Kinds, node: Text | ToolResult, at: tuple[Any, ...], ledger: Ledger) -> Any:
    """An object of one of these kinds, without fields that it does not have; None for any other value.

    Loses: FLD001.
    """
    fields = payload.fields(value)
    kind = kinds.get(payload.string(fields.get("type")) or "") if fields is not None else None
    if fields is None or kind is None:
        return None
    known = ("type", *kind.__struct_encode_fields__)
    kept = {key: inner for key, inner in fields.items() if key in known}  # keeps: the others are reported below
    try:
        msgspec.convert({key: payload.plain(inner) for key, inner in kept.items()}, kind)
    except msgspec.ValidationError:
        return None
    for key, inner in fields.items():
        if key not in kept and not payload.is_inert(inner):
            ledger.strip(FLD001, node, (*at, key))
    return value if len(kept) == len(fields) else kept


def _is_same(fitted: Sequence[Any], stored: Sequence[Any]) -> bool:
    return len(fitted) == len(stored) and all(a is b for a, b in zip(fitted, stored, strict=True))


def _without(extra: Mapping[str, Any], key: str) -> Mapping[str, Any] | None:
    return {name: value for name, value in extra.items() if name != key} or None  # keeps: reported above
