"""The forms of a report, on reports made by hand with the ledger. Not here: which entries a history gets (laws/, cases/)."""

from __future__ import annotations

import json
from collections.abc import Callable
from html.parser import HTMLParser
from typing import Any

import pytest

from sendable import codes
from sendable.errors import HistoryError
from sendable.render import github, html, http_error, jsonl, text
from sendable.render import json as as_json
from sendable.report import REPAIR, STRICT, Ledger, Original, Policy, Report

HISTORY: Any = [
    {"role": "user", "content": "PRIVATE question"},
    {
        "role": "assistant",
        "content": "",
        "tool_calls": [{"id": "0", "name": "search", "arguments": {"q": "PRIVATE words"}}],
    },
    {"role": "tool", "tool_call_id": "0", "content": "PRIVATE answer"},
    {"role": "assistant", "content": [{"type": "thinking", "signature": "PRIVATE+sig"}], "a key\nwith <b>&": 1},
]

AT_CALL, AT_TURN, AT_RESULT = ("messages", 1, "tool_calls", 0), ("messages", 1), ("messages", 2)


def report(policy: Policy = REPAIR, history: Any = HISTORY) -> Report:
    ledger = Ledger(policy, Original(history))
    call = ledger.drop(codes.PAR005, AT_CALL, "id", id="0")
    ledger.strip(
        codes.RSN001, ("messages", 3, "content", 0), "signature", issuer="anthropic", text="PRIVATE words of somebody"
    )
    turn = ledger.drop(codes.EMP001, AT_TURN, because=call)
    ledger.drop(codes.PAR002, AT_RESULT, because=call, related=[AT_CALL])
    ledger.note(codes.EMP004, AT_TURN, because=turn)
    return ledger.close()


EMPTY = Ledger(REPAIR, Original([])).close()


# --- text --------------------------------------------------------------------------------------------------------------


def test_text_has_one_line_an_entry_and_consequences_under_their_cause() -> None:
    assert text.render(report()).splitlines() == [
        "messages[1].tool_calls[0]  PAR005 unusable-id  drop: the call has no id that a result could name (field id; id=0)",
        "  messages[1]  EMP001 emptied-message  drop: nothing is left of the message",
        "    messages[1]  EMP004 empty-message  note: the message was stored empty",
        "  messages[2]  PAR002 orphan-tool-result  drop: no call with this id comes before the result (see messages[1].tool_calls[0])",
        "messages[3].content[0].signature  RSN001 foreign-signature  strip: the signature is only worth something to the issuer that made it (issuer=anthropic)",
        "5 entries: 3 dropped, 1 stripped, 1 noted",
    ]


def test_str_of_a_report_is_its_text() -> None:
    assert str(report()) == text.render(report())


def test_text_of_a_refusal_counts_no_losses_because_nothing_was_done() -> None:
    lines = text.render(report(STRICT)).splitlines()
    assert lines[0].startswith("messages[1].tool_calls[0]  PAR005 unusable-id  reject (drop): ")
    assert lines[4].startswith("messages[3].content[0].signature  RSN001 foreign-signature  strip: ")
    assert lines[-1] == "refused: the policy rejects 3 of 5 entries"


def test_text_of_nothing() -> None:
    assert text.render(EMPTY) == "nothing was lost"


def test_one_entry_is_no_entries() -> None:
    ledger = Ledger(REPAIR, Original(HISTORY))
    ledger.drop(codes.PAR002, AT_RESULT)
    assert text.render(ledger.close()).splitlines()[-1] == "1 entry: 1 dropped"


def test_the_body_itself_has_a_name() -> None:
    ledger = Ledger(REPAIR, Original(5))
    ledger.fault(codes.SHP001, ())
    assert text.render(ledger.close()).startswith("(body)  SHP001 not-a-history  reject (fault): ")


def test_a_key_cannot_break_the_line_or_move_the_cursor() -> None:
    key = "a\nb\x1b[2J\u202e\ud800"
    ledger = Ledger(REPAIR, Original([{"role": "user", key: 1}]))
    ledger.strip(codes.FLD001, ("messages", 0), (key,), key=key)
    printed = text.render(ledger.close(), values=True)
    assert len(printed.splitlines()) == 2
    assert printed.isprintable() or printed.replace("\n", "").isprintable()
    assert as_json.render(ledger.close()).decode()  # half a surrogate pair has no UTF-8 form, but an escape in JSON


def test_a_long_value_is_cut_in_words_and_whole_in_json() -> None:
    ledger = Ledger(REPAIR, Original([{"role": "tool", "content": "x" * 9000}]))
    ledger.drop(codes.PAR002, ("messages", 0))
    assert len(text.render(ledger.close(), values=True)) < 1000
    assert b"x" * 9000 in as_json.render(ledger.close(), values=True)


def test_a_chain_of_causes_as_long_as_a_history() -> None:
    ledger = Ledger(REPAIR, Original(HISTORY))
    cause = None
    for _ in range(5000):
        cause = ledger.drop(codes.PAR002, AT_RESULT, because=cause)
    assert len(text.render(ledger.close()).splitlines()) == 5001


def test_a_cause_that_the_policy_allows_leaves_its_consequence_a_line_of_its_own() -> None:
    shown = report({**REPAIR, "PAR005": "allow"})
    assert text.render(shown).splitlines()[0].startswith("messages[3].content[0].signature")
    assert any(line.startswith("messages[2]  PAR002") for line in text.render(shown).splitlines())
    assert [entry["because"] for entry in json.loads(as_json.render(shown))["entries"]] == [None, None, None, 1]


# --- privacy -----------------------------------------------------------------------------------------------------------

FORMS: dict[str, Callable[..., str]] = {
    "text": text.render,
    "json": lambda report, values=False: as_json.render(report, values=values).decode(),
    "jsonl": lambda report, values=False: jsonl.render(report, values=values).decode(),
    "html": lambda report, values=False: html.render(report, values=values),
}


@pytest.mark.parametrize("form", FORMS)
def test_no_form_prints_what_people_wrote_unless_asked(form: str) -> None:
    assert "PRIVATE" not in FORMS[form](report())
    assert "PRIVATE" in FORMS[form](report(), values=True)


def test_github_and_http_errors_never_print_it() -> None:
    assert "PRIVATE" not in github.render(report(), file="a.json")
    error = HistoryError(report(STRICT))
    assert b"PRIVATE" not in http_error.render_openai(error) + http_error.render_anthropic(error)


# --- json --------------------------------------------------------------------------------------------------------------


def test_json_is_the_whole_report() -> None:
    assert json.loads(as_json.render(report())) == {
        "dropped": 3,
        "refused": False,
        "counts": {"PAR005": 1, "RSN001": 1, "EMP001": 1, "PAR002": 1, "EMP004": 1},
        "entries": [
            {
                "code": "PAR005", "name": "unusable-id", "verb": "drop", "level": "report", "path": "messages[1].tool_calls[0]",
                "param": "messages[1].tool_calls[0].id", "related": [], "because": None, "facts": {"id": "0"},
                "message": "the call has no id that a result could name",
            },
            {
                "code": "RSN001", "name": "foreign-signature", "verb": "strip", "level": "report", "path": "messages[3].content[0]",
                "param": "messages[3].content[0].signature", "related": [], "because": None, "facts": {"issuer": "anthropic"},
                "message": "the signature is only worth something to the issuer that made it",
            },
            {
                "code": "EMP001", "name": "emptied-message", "verb": "drop", "level": "report", "path": "messages[1]",
                "param": "messages[1]", "related": [], "because": 0, "facts": {}, "message": "nothing is left of the message",
            },
            {
                "code": "PAR002", "name": "orphan-tool-result", "verb": "drop", "level": "report", "path": "messages[2]",
                "param": "messages[2]", "related": ["messages[1].tool_calls[0]"], "because": 0, "facts": {},
                "message": "no call with this id comes before the result",
            },
            {
                "code": "EMP004", "name": "empty-message", "verb": "note", "level": "report", "path": "messages[1]",
                "param": "messages[1]", "related": [], "because": 2, "facts": {}, "message": "the message was stored empty",
            },
        ],
    }  # fmt: skip


def test_to_json_is_the_json_form() -> None:
    assert report().to_json() == as_json.render(report())
    assert report().to_json(values=True) == as_json.render(report(), values=True)
    assert b"\n" not in report().to_json()


def test_json_with_values_holds_what_stood_there() -> None:
    entries = json.loads(as_json.render(report(), values=True))["entries"]
    assert entries[1]["original"] == "PRIVATE+sig"
    assert entries[2]["original"] == HISTORY[1]


def cyclic() -> Any:
    inner: list[Any] = [1]
    inner.append(inner)
    return inner


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ({1, }, "{1}"),
        (float("nan"), "nan"),
        (cyclic(), [1, "…"]),
        (b"\xff", "b'\\xff'"),
        ("\ud800", "\ud800"),
        ({"a": (1, None)}, {"a": [1, None]}),
        (10**40, 10**40),
    ],
    ids=repr,
)  # fmt: skip
def test_values_that_json_cannot_hold_are_shown_as_python_writes_them(value: Any, shown: Any) -> None:
    ledger = Ledger(REPAIR, Original([{"role": "user", "content": value}]))
    ledger.degrade(codes.SHP006, ("messages", 0), ("content",))
    assert json.loads(as_json.render(ledger.close(), values=True))["entries"][0]["original"] == shown


def test_json_lines_has_a_line_for_each_entry() -> None:
    rows = [json.loads(row) for row in jsonl.render(report()).splitlines()]
    assert rows == json.loads(as_json.render(report()))["entries"]
    assert jsonl.render(EMPTY) == b""


# --- github ------------------------------------------------------------------------------------------------------------


def test_github_warns_of_losses_and_notes_the_rest() -> None:
    lines = github.render(report(), file="a,b.json", line=7).splitlines()
    assert lines[0] == (
        "::warning file=a%2Cb.json,line=7,title=PAR005 unusable-id::"
        "messages[1].tool_calls[0]: drop: the call has no id that a result could name"
    )
    assert [line.split(" ")[0] for line in lines] == ["::warning", "::warning", "::notice", "::warning", "::warning"]


def test_github_has_an_error_for_what_is_rejected() -> None:
    assert [line.split(" ")[0] for line in github.render(report(STRICT)).splitlines()] == [
        "::error", "::error", "::warning" if STRICT["EMP004"] == "reject" else "::notice", "::error", "::warning",
    ]  # fmt: skip
    assert github.render(EMPTY) == ""


def test_github_escapes_as_its_toolkit_does() -> None:
    assert github.command("error", "a:b,c", "100%\nof\r") == "::error title=a%3Ab%2Cc::100%25%0Aof%0D"


# --- html --------------------------------------------------------------------------------------------------------------


class Page(HTMLParser):
    """Collects the tags of a page, and every attribute that could fetch something."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.fetches: list[str] = []
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.fetches += [name for name, _ in attrs if name in ("src", "href", "srcset", "action")]


def test_html_is_self_contained_and_has_a_row_for_each_entry() -> None:
    page = Page(html.render(report()))
    assert page.tags.count("tr") == 1 + 5
    assert not page.fetches
    assert not {"script", "link", "img", "iframe", "object"} & set(page.tags)
    assert "@import" not in html.render(report())
    assert "url(" not in html.render(report())


def test_html_escapes_every_word() -> None:
    ledger = Ledger(REPAIR, Original(HISTORY))
    ledger.strip(codes.FLD001, ("messages", 3), ("a key\nwith <b>&",), key="<script>")
    page = html.render(ledger.close(), title="<i>", values=True)
    assert "<b>" not in page
    assert "<script>" not in page
    assert "<i>" not in page
    assert "with &lt;b&gt;&amp;" in page


def test_html_of_nothing_and_of_a_refusal() -> None:
    assert "nothing was lost" in html.render(EMPTY)
    assert "<table>" not in html.render(EMPTY)
    assert 'class="refused"' in html.render(report(STRICT))


# --- http errors -------------------------------------------------------------------------------------------------------


def test_openai_error_body() -> None:
    assert json.loads(http_error.render_openai(HistoryError(report(STRICT)))) == {
        "error": {
            "message": "messages[1].tool_calls[0].id: the call has no id that a result could name (PAR005 unusable-id)",
            "type": "invalid_request_error",
            "param": "messages[1].tool_calls[0].id",
            "code": "PAR005",
        }
    }


def test_anthropic_error_body() -> None:
    assert json.loads(http_error.render_anthropic(HistoryError(report(STRICT)))) == {
        "type": "error",
        "error": {
            "type": "invalid_request_error",
            "message": "messages[1].tool_calls[0].id: the call has no id that a result could name (PAR005 unusable-id)",
        },
    }


def test_the_official_libraries_read_the_error_bodies() -> None:
    error = HistoryError(report(STRICT))
    anthropic_types = pytest.importorskip("anthropic.types")
    anthropic_types.ErrorResponse.model_validate_json(http_error.render_anthropic(error))
