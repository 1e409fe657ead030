"""The command, run as people run it: in a process of its own, on files and pipes. Not here: what becomes of which history (laws/, cases/)."""

from __future__ import annotations

import gzip
import json
import os
import pty
import select
import shutil
import signal
import stat
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from sendable.codes import CODES

COMMAND = [sys.executable, "-m", "sendable"]
SECRET = "hunter2-and-a-sentence"

CLEAN: Any = [{"role": "user", "content": f"hello {SECRET}"}]
OPEN_CALL: Any = [
    {"role": "user", "content": f"hello {SECRET}"},
    {"role": "assistant", "content": "", "tool_calls": [
        {"id": "c1", "type": "function", "function": {"name": "search", "arguments": json.dumps({"q": SECRET})}},
    ]},
]  # fmt: skip
ORPHAN: Any = [{"role": "user", "content": "hello"}, {"role": "tool", "tool_call_id": "c9", "content": SECRET}]
NOTHING_LEFT: Any = [{"role": "tool", "tool_call_id": "c9", "content": SECRET}]
SYNTHETIC = {"role": "tool", "tool_call_id": "c1", "content": "Tool call was interrupted; no result."}
OPEN_CALL_LINE = "messages[1].tool_calls[0]  PAR001 unanswered-call  synthesize: no result answers this call"


class Ran:
    """What a finished command left behind."""

    def __init__(self, status: int, out: bytes, err: bytes) -> None:
        self.status, self.out, self.err = status, out, err.decode()

    @property
    def result(self) -> Any:
        return json.loads(self.out)

    @property
    def values(self) -> list[Any]:
        """All JSON values of the output, however they are spread over lines."""
        text, found, place = self.out.decode().strip(), [], 0
        while place < len(text):
            value, place = json.JSONDecoder().raw_decode(text, place)
            found.append(value)
            place += len(text[place:]) - len(text[place:].lstrip())
        return found

    @property
    def rows(self) -> list[Any]:
        """One JSON value a line; None for an empty line."""
        return [json.loads(line) if line else None for line in self.out.decode().removesuffix("\n").split("\n")]


def run(*arguments: str | Path, stdin: bytes | None = None, env: dict[str, str] | None = None) -> Ran:
    done = subprocess.run(
        [*COMMAND, *map(str, arguments)], input=stdin, capture_output=True, timeout=120, check=False,
        stdin=subprocess.DEVNULL if stdin is None else None, env={**os.environ, **(env or {})},
    )  # fmt: skip
    assert b"Traceback" not in done.stderr
    return Ran(done.returncode, done.stdout, done.stderr)


def stored(folder: Path, history: Any, name: str = "history.json") -> Path:
    file = folder / name
    file.write_bytes(history if isinstance(history, bytes) else json.dumps(history).encode())
    return file


def lines_of(*histories: Any) -> bytes:
    return b"".join((h if isinstance(h, bytes) else json.dumps(h).encode()) + b"\n" for h in histories)


# --- normalize ---------------------------------------------------------------------------------------------------------


def test_the_result_goes_to_standard_output_and_the_report_to_standard_error(tmp_path: Path) -> None:
    ran = run("normalize", stored(tmp_path, OPEN_CALL), "--to", "openai-chat")
    assert ran.status == 0
    assert ran.result == [*OPEN_CALL, SYNTHETIC]
    assert ran.err.splitlines()[0].startswith(OPEN_CALL_LINE)
    assert ran.err.splitlines()[-1] == "1 entry: 1 synthesized"


def test_a_clean_history_keeps_its_spelling_and_nothing_is_said(tmp_path: Path) -> None:
    message = b'{"content":"\\u00e9\\/ 1e2","role":"user","x_new":12345678901234567890.50}'
    ran = run("normalize", stored(tmp_path, b'{"model":"m","messages":[' + message + b"]}"), "--to", "openai-chat")
    assert (ran.status, ran.err) == (0, "")
    assert message in ran.out
    assert ran.result["model"] == "m"


def test_a_history_from_a_pipe() -> None:
    ran = run("normalize", "-", "--to", "openai-chat", stdin=json.dumps(OPEN_CALL).encode())
    assert ran.result == [*OPEN_CALL, SYNTHETIC]


def test_without_a_target_the_history_stays_in_its_own_dialect(tmp_path: Path) -> None:
    assert run("normalize", stored(tmp_path, OPEN_CALL)).result == [*OPEN_CALL, SYNTHETIC]


def test_a_body_stays_a_body_and_a_list_a_list(tmp_path: Path) -> None:
    assert run("normalize", stored(tmp_path, {"messages": CLEAN}), "--to", "openai-chat").result == {"messages": CLEAN}
    assert run("normalize", stored(tmp_path, CLEAN), "--to", "openai-chat").result == CLEAN


def test_a_list_that_needs_a_system_field_becomes_an_object(tmp_path: Path) -> None:
    history = [{"role": "system", "content": "be brief"}, {"role": "user", "content": "hi"}]
    result = run("normalize", stored(tmp_path, history), "--to", "anthropic").result
    assert result["messages"] == [{"role": "user", "content": "hi"}]
    assert "be brief" in json.dumps(result["system"])


def test_losses_fail_only_when_asked(tmp_path: Path) -> None:
    assert run("normalize", stored(tmp_path, ORPHAN), "--to", "openai-chat").status == 0
    failed = run("normalize", stored(tmp_path, ORPHAN), "--to", "openai-chat", "--fail-on-loss")
    assert failed.status == 1
    assert failed.result == ORPHAN[:1]
    assert run("normalize", stored(tmp_path, CLEAN), "--to", "openai-chat", "--fail-on-loss").status == 0


def test_a_refusal_writes_nothing_and_says_where(tmp_path: Path) -> None:
    ran = run("normalize", stored(tmp_path, OPEN_CALL), "--to", "openai-chat", "--policy", "strict")
    assert (ran.status, ran.out) == (2, b"")
    assert ran.err.splitlines()[-2:] == [
        "refused: messages[1].tool_calls[0]: no result answers this call (PAR001 unanswered-call)",
        "nothing was written; `sendable explain PAR001` says what to do",
    ]


def test_nothing_left_to_send_is_refused(tmp_path: Path) -> None:
    ran = run("normalize", stored(tmp_path, NOTHING_LEFT), "--to", "openai-chat")
    assert (ran.status, ran.out) == (2, b"")


@pytest.mark.parametrize("value", [5, "text", None, {"a": 1}, True])
def test_what_is_no_history_is_refused(value: Any, tmp_path: Path) -> None:
    ran = run("normalize", stored(tmp_path, value), "--to", "openai-chat")
    assert (ran.status, ran.out) == (2, b"")
    assert "SHP001" in ran.err


def test_options_and_a_policy_reach_the_run(tmp_path: Path) -> None:
    file, policy = stored(tmp_path, ORPHAN), tmp_path / "policy.toml"
    policy.write_text('[codes]\nPAR002 = "reject"\n')
    assert run("normalize", file, "--to", "openai-chat", "--policy", policy).status == 2
    policy.write_text('base = "strict"\n[codes]\nPAR = "allow"\nPAR002 = "report"\n')
    assert run("normalize", file, "--to", "openai-chat", "--policy", policy).status == 0
    policy.write_text('base = "strict"\n[codes]\nPAR = "allow"\n')
    assert run("normalize", file, "--to", "openai-chat", "--policy", policy).err == ""
    assert (
        run(
            "normalize",
            file,
            "--to",
            "openai-chat",
            "--set",
            'thinking="enabled"',
            "--set",
            "store=true",
            "--set",
            "unknown=keep",
        ).status
        == 0
    )


# --- the report --------------------------------------------------------------------------------------------------------


def test_the_whole_report_goes_to_a_file(tmp_path: Path) -> None:
    report = tmp_path / "report.json"
    run("normalize", stored(tmp_path, ORPHAN), "--to", "openai-chat", "--report", report)
    entry = json.loads(report.read_bytes())["entries"][0]
    assert (entry["code"], entry["verb"], entry["path"]) == ("PAR002", "drop", "messages[1]")
    assert "original" not in entry


def test_a_refusal_has_its_report_too(tmp_path: Path) -> None:
    report = tmp_path / "report.json"
    assert (
        run(
            "normalize", stored(tmp_path, ORPHAN), "--to", "openai-chat", "--policy", "strict", "--report", report
        ).status
        == 2
    )
    assert json.loads(report.read_bytes())["refused"] is True


def test_what_people_wrote_is_printed_only_on_request(tmp_path: Path) -> None:
    file, report = stored(tmp_path, [*OPEN_CALL, *ORPHAN[1:], 5]), tmp_path / "report.json"
    for more in ([], ["--policy", "strict"]):
        ran = run("normalize", file, "--to", "openai-chat", "--report", report, *more)
        assert SECRET not in ran.err
        assert SECRET not in report.read_text()
    for form in ("text", "json", "github"):
        assert SECRET.encode() not in run("check", file, "--to", "openai-chat", "--format", form).out
    assert SECRET in run("normalize", file, "--to", "openai-chat", "--report", report, "--values").err
    assert SECRET in report.read_text()
    assert SECRET.encode() in run("check", file, "--to", "openai-chat", "--values").out


@pytest.mark.parametrize(
    "data", [b'[{"role": "user", "content": "%s' % SECRET.encode(), b'{"%s": tru}' % SECRET.encode()]
)
def test_nor_does_an_error_quote_them(data: bytes, tmp_path: Path) -> None:
    assert SECRET not in run("normalize", stored(tmp_path, data), "--to", "openai-chat").err


def test_result_and_report_cannot_share_a_file_nor_overwrite_the_history(tmp_path: Path) -> None:
    file = stored(tmp_path, ORPHAN)
    assert run("normalize", file, "--to", "openai-chat", "-o", tmp_path / "x", "--report", tmp_path / "x").status == 3
    assert run("normalize", file, "--to", "openai-chat", "--report", file).status == 3
    assert json.loads(file.read_bytes()) == ORPHAN


# --- check -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("history", "more", "status"),
    [(CLEAN, [], 0), (OPEN_CALL, [], 1), (OPEN_CALL, ["--policy", "strict"], 2), (5, [], 2), (b"{", [], 3)],
)
def test_check_says_by_its_status_what_would_happen(
    history: Any, more: Sequence[str], status: int, tmp_path: Path
) -> None:
    assert run("check", stored(tmp_path, history), "--to", "openai-chat", *more).status == status


def test_check_writes_its_report_to_standard_output(tmp_path: Path) -> None:
    file = stored(tmp_path, OPEN_CALL)
    ran = run("check", file, "--to", "openai-chat")
    assert ran.err == ""
    assert ran.out.decode().splitlines()[0].startswith(OPEN_CALL_LINE)
    assert run("check", stored(tmp_path, CLEAN, "clean.json"), "--to", "openai-chat").out == b"nothing was lost\n"
    shown = run("check", file, "--to", "openai-chat", "--format", "json").result
    assert [entry["code"] for entry in shown["entries"]] == ["PAR001"]
    assert run("check", file, "--to", "openai-chat", "--format", "github").out.decode() == (
        f"::warning file={file},title=PAR001 unanswered-call::"
        "messages[1].tool_calls[0]: synthesize: no result answers this call\n"
    )


def test_check_of_lines_names_each_line(tmp_path: Path) -> None:
    file = stored(tmp_path, lines_of(CLEAN, b'{"cut', OPEN_CALL), "three.jsonl")
    assert run("check", file, "--to", "openai-chat").out.decode().splitlines() == [
        "line 2: unreadable: it stops in the middle of a JSON value, after 5 bytes; it was cut off",
        run("check", stored(tmp_path, OPEN_CALL), "--to", "openai-chat")
        .out.decode()
        .splitlines()[0]
        .join(["line 3: ", ""]),
        f"{file}: 3 conversations: 1 clean, 1 changed, 1 unreadable; 1 synthesized",
    ]
    rows = run("check", file, "--to", "openai-chat", "--format", "json").rows
    assert [row["line"] for row in rows] == [1, 2, 3]
    assert "error" in rows[1]
    github = run("check", file, "--to", "openai-chat", "--format", "github").out.decode().splitlines()
    assert [line.split(",")[1] for line in github] == ["line=2", "line=3"]


# --- JSON lines --------------------------------------------------------------------------------------------------------


def test_every_line_stays_on_its_line(tmp_path: Path) -> None:
    data = lines_of(CLEAN, b"", OPEN_CALL, b'{"cut', NOTHING_LEFT, b"  ", ORPHAN)
    report = tmp_path / "report.jsonl"
    ran = run("normalize", stored(tmp_path, data, "night.jsonl"), "--to", "openai-chat", "--report", report)
    assert ran.status == 3
    assert ran.rows == [CLEAN, None, [*OPEN_CALL, SYNTHETIC], None, None, None, ORPHAN[:1]]
    assert [json.loads(row)["line"] for row in report.read_text().splitlines()] == [1, 3, 4, 5, 7]
    said = ran.err.splitlines()
    assert any(line.startswith("line 4: unreadable: ") for line in said)
    assert any(line.startswith("line 5: refused: ") for line in said)
    assert any(line.startswith("line 7: messages[1]  PAR002 ") for line in said)
    assert "5 conversations: 1 clean, 2 changed, 1 refused, 1 unreadable; " in said[-1]
    assert said[-1].endswith("; 2 null in the result")


@pytest.mark.parametrize(
    ("histories", "more", "status"),
    [
        ([CLEAN, CLEAN], [], 0),
        ([CLEAN, ORPHAN], [], 0),
        ([CLEAN, ORPHAN], ["--fail-on-loss"], 1),
        ([ORPHAN, NOTHING_LEFT], ["--fail-on-loss"], 2),
        ([NOTHING_LEFT, b"{", ORPHAN], ["--fail-on-loss"], 3),
    ],
)
def test_the_gravest_line_decides(histories: list[Any], more: Sequence[str], status: int) -> None:
    assert run("normalize", "-", "--to", "openai-chat", *more, stdin=lines_of(*histories)).status == status


PRETTY = json.dumps(CLEAN, indent=2).encode()


@pytest.mark.parametrize(
    ("data", "rows"),
    [
        (PRETTY, 1),
        (b"\n\n" + PRETTY + b"\n\n", 1),
        (lines_of(CLEAN), 1),
        (lines_of(CLEAN).rstrip(), 1),
        (lines_of(CLEAN, CLEAN), 2),
        (lines_of(CLEAN, CLEAN).rstrip(), 2),
        (lines_of(CLEAN, CLEAN).replace(b"\n", b"\r\n"), 2),
        (b"\xef\xbb\xbf" + lines_of(CLEAN, CLEAN), 2),
        (b"\xef\xbb\xbf" + PRETTY, 1),
    ],
    ids=["pretty", "pretty-in-space", "one", "one-open", "two", "two-open", "crlf", "bom-lines", "bom-pretty"],
)
def test_content_decides_between_a_document_and_lines(data: bytes, rows: int) -> None:
    ran = run("normalize", "-", "--to", "openai-chat", stdin=data)
    assert ran.status == 0, ran.err
    assert ran.values == [CLEAN] * rows
    assert rows == 1 or ran.rows == [CLEAN] * rows


def test_a_broken_first_line_does_not_make_lines_a_document(tmp_path: Path) -> None:
    ran = run("normalize", "-", "--to", "openai-chat", stdin=lines_of(b'[{"role": "user", "cont', CLEAN))
    assert (ran.status, ran.rows) == (3, [None, CLEAN])
    assert ran.err.startswith("line 1: unreadable: ")


def test_the_name_decides_for_a_single_line(tmp_path: Path) -> None:
    ran = run("normalize", stored(tmp_path, b'{"cut\n', "one.jsonl"), "--to", "openai-chat")
    assert (ran.status, ran.out) == (3, b"null\n")


def test_two_values_on_one_line_are_one_bad_line() -> None:
    ran = run("normalize", "-", "--to", "openai-chat", stdin=b"[] []\n" + lines_of(CLEAN))
    assert "jq -c" in ran.err


def test_lines_are_answered_as_they_come() -> None:
    with subprocess.Popen(
        [*COMMAND, "normalize", "-", "--to", "openai-chat"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(lines_of(CLEAN, OPEN_CALL))
        process.stdin.flush()
        assert json.loads(process.stdout.readline()) == CLEAN
        assert json.loads(process.stdout.readline()) == [*OPEN_CALL, SYNTHETIC]
        process.stdin.close()


asks_linux = pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="asks Linux for the peak")
PEAK = (
    "import re, sys\nfrom sendable.cli import main\n"
    "try:\n    main()\nfinally:\n    print(re.search(r'VmHWM:\\s+(\\d+)', open('/proc/self/status').read())[1], file=sys.stderr)"
)


def peak(file: Path, out: Path) -> int:
    """The most memory, in kB, that the command took for a file."""
    done = subprocess.run(
        [sys.executable, "-c", PEAK, "normalize", str(file), "--to", "anthropic", "-o", str(out)],
        capture_output=True, check=True, timeout=120,
    )  # fmt: skip
    return int(done.stderr.split()[-1])


@asks_linux
def test_memory_does_not_grow_with_the_number_of_lines(tmp_path: Path) -> None:
    history = lines_of([{"role": "user", "content": "x" * 20_000}])
    few, many = (
        peak(stored(tmp_path, history * lines, "many.jsonl"), tmp_path / "out") for lines in (20, 2000)
    )  # 0.4 and 40 MB
    assert many < few + 8_000, f"{few} kB for 20 lines, {many} kB for 2,000"


@asks_linux
@pytest.mark.parametrize(
    "fault", ["", ',{"role":"tool","tool_call_id":"c9","content":"orphan"}', ',{"role":"user","content":"\\ud800"}']
)
def test_a_file_of_200_megabytes_takes_a_small_multiple_of_it(fault: str, tmp_path: Path) -> None:
    """Clean, with something to repair, and with what only the slow path can read."""
    file, out = tmp_path / "large.json", tmp_path / "out.json"
    said = {"user": "wörter " * 7_000, "assistant": "words " * 8_000}
    turn = ",".join(json.dumps({"role": role, "content": text}, ensure_ascii=False) for role, text in said.items())
    with file.open("w", encoding="utf-8") as target:
        target.write("[" + ",".join([turn] * 2_000) + ',{"role":"user","content":"last"}' + fault + "]")
    size = file.stat().st_size
    assert size > 200_000_000
    taken = peak(file, out) * 1024
    assert taken < 4 * size, f"{taken / size:.1f} times the file"
    with out.open(encoding="utf-8") as written:
        assert len(json.load(written)) == 4_001 + ("user" in fault)


# --- -o ----------------------------------------------------------------------------------------------------------------


def test_the_output_replaces_the_old_file_even_if_it_is_the_input(tmp_path: Path) -> None:
    file = stored(tmp_path, OPEN_CALL)
    os.chmod(file, 0o640)
    ran = run("normalize", file, "--to", "openai-chat", "-o", file)
    assert (ran.status, ran.out) == (0, b"")
    assert json.loads(file.read_bytes()) == [*OPEN_CALL, SYNTHETIC]
    assert stat.S_IMODE(file.stat().st_mode) == 0o640
    assert os.listdir(tmp_path) == [file.name]


def test_the_output_follows_a_link(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "real")
    run("normalize", stored(tmp_path, CLEAN), "--to", "openai-chat", "-o", tmp_path / "link")
    assert (tmp_path / "link").is_symlink()
    assert json.loads((tmp_path / "real").read_bytes()) == CLEAN


def test_the_output_may_be_a_device(tmp_path: Path) -> None:
    assert run("normalize", stored(tmp_path, CLEAN), "--to", "openai-chat", "-o", "/dev/null").status == 0
    assert stat.S_ISCHR(os.stat("/dev/null").st_mode)


@pytest.mark.parametrize(("history", "status"), [(NOTHING_LEFT, 2), (b"{", 3)])
def test_a_failure_leaves_the_old_output(history: Any, status: int, tmp_path: Path) -> None:
    out = stored(tmp_path, b"old", "out.json")
    assert run("normalize", stored(tmp_path, history), "--to", "openai-chat", "-o", out).status == status
    assert out.read_bytes() == b"old"
    assert sorted(os.listdir(tmp_path)) == ["history.json", "out.json"]


def _heeds_interrupts() -> None:
    """Undo what a shell does to commands that it starts in the background: they ignore Ctrl-C, and so do their children."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


@pytest.mark.parametrize(
    ("number", "status", "left"),
    [(signal.SIGKILL, -9, 2), (signal.SIGINT, 130, 1), (signal.SIGTERM, 143, 1)],
    ids=["kill", "interrupt", "terminate"],
)
def test_a_signal_in_the_middle_leaves_the_old_output(
    number: signal.Signals, status: int, left: int, tmp_path: Path
) -> None:
    out = stored(tmp_path, b"old", "out.jsonl")
    command = [*COMMAND, "normalize", "-", "--to", "openai-chat", "-o", str(out)]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stderr=subprocess.PIPE, preexec_fn=_heeds_interrupts
    ) as process:
        assert process.stdin is not None
        assert process.stderr is not None
        process.stdin.write(lines_of(CLEAN, OPEN_CALL))
        process.stdin.flush()
        assert process.stderr.readline().startswith(b"line 2: ")  # it is at work
        time.sleep(0.2)
        assert out.read_bytes() == b"old"
        process.send_signal(number)
        assert process.wait(30) == status
        said = process.stderr.read()
    assert out.read_bytes() == b"old"
    assert b"Traceback" not in said
    assert len(os.listdir(tmp_path)) == left  # after SIGKILL nobody is left to remove the unfinished file beside it
    if number == signal.SIGINT:
        assert said.decode().strip() == "sendable: interrupted; no file was changed"


# --- pipes that close, descriptors that are missing -----------------------------------------------------------------------


def test_a_reader_that_goes_away_is_no_traceback(tmp_path: Path) -> None:
    file = stored(tmp_path, lines_of(CLEAN) * 20_000, "many.jsonl")
    with subprocess.Popen(
        [*COMMAND, "normalize", str(file), "--to", "openai-chat"], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert json.loads(process.stdout.readline()) == CLEAN
        process.stdout.close()
        said = process.stderr.read().decode()
        assert process.wait(60) == 141
    assert said == "sendable: the program that read the output has ended; the rest was not written\n"


def test_so_is_a_reader_of_the_report_that_goes_away(tmp_path: Path) -> None:
    file = stored(tmp_path, lines_of(OPEN_CALL) * 5_000, "many.jsonl")
    with subprocess.Popen(
        [*COMMAND, "normalize", str(file), "--to", "openai-chat", "-o", str(tmp_path / "out")], stderr=subprocess.PIPE
    ) as process:
        assert process.stderr is not None
        process.stderr.readline()
        process.stderr.close()
        assert process.wait(60) == 141
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("arguments", [["targets"], ["explain", "PAR002"], ["--help"]])
def test_a_reader_that_never_was(arguments: list[str]) -> None:
    read, write = os.pipe()
    os.close(read)
    done = subprocess.run([*COMMAND, *arguments], stdout=write, stderr=subprocess.PIPE, check=False)
    os.close(write)
    assert b"Traceback" not in done.stderr
    assert b"Exception ignored" not in done.stderr


@pytest.mark.parametrize("redirect", ["<&-", ">&-", "2>&-", ">/dev/full"])
def test_missing_descriptors(redirect: str) -> None:
    command = " ".join([*COMMAND, "normalize - --to openai-chat"])
    done = subprocess.run(
        ["bash", "-c", f"echo '{json.dumps(ORPHAN)}' | {{ {command} {redirect}; }}"], capture_output=True, check=False
    )
    assert done.returncode == (0 if redirect == "2>&-" else 3)
    assert b"Traceback" not in done.stderr
    assert len(done.stderr.splitlines()) <= (3 if redirect != "2>&-" else 0)


# --- input that cannot be read -----------------------------------------------------------------------------------------


TEXT = json.dumps([{"role": "user", "content": "grüße"}], ensure_ascii=False)


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "is empty"),
        (b" \n\n ", "is empty"),
        (TEXT.encode("utf-16"), "UTF-16"),
        (TEXT.encode("utf-16-le"), "UTF-16"),
        (TEXT.encode("utf-16-be"), "UTF-16"),
        (TEXT.encode("utf-32"), "UTF-16 or UTF-32"),
        (TEXT.encode("latin-1"), "byte 0xfc at column 33 is not UTF-8"),
        (TEXT.encode()[:33], "is not UTF-8"),
        (b'[\n {"role": "user"\n  "content": ""}]', "it is not JSON at line 3, column 3"),
        (TEXT.encode()[:20], "it was cut off"),
        (b"hello", "it is not JSON at column 1"),
        (b"\x00" * 40, "UTF-16 or UTF-32"),
        (gzip.compress(TEXT.encode()), "gzip"),
        (b"\x89PNG\r\n\x1a\n\x00\x00", "is not UTF-8"),
        (PRETTY + b"\n" + PRETTY, "a second value begins at line"),
        (b"[" * 200_000, "history.json"),
        (b"[" * 200_000 + b"]" * 200_000, ""),
    ],
    ids=["empty", "blank", "utf-16", "utf-16-le", "utf-16-be", "utf-32", "latin-1", "half-a-letter", "no-comma", "cut", "words", "zeros",
         "gzip", "png", "two-documents", "deep-and-cut", "deep"],
)  # fmt: skip
def test_unreadable_input_is_one_line_and_status_3(data: bytes, words: str, tmp_path: Path) -> None:
    file = stored(tmp_path, data)
    for command in ("normalize", "check"):
        ran = run(command, file, "--to", "openai-chat")
        if data.endswith(b"]]]"):  # JSON, if absurd: a refusal or a repair is as good as an error
            assert ran.status in (1, 2, 3)
            continue
        assert ran.status == 3
        assert ran.out == b""
        assert len(ran.err.splitlines()) == 1
        assert ran.err.startswith("sendable: ")
        assert words in ran.err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["normalize", "nowhere.json", "--to", "openai-chat"], "cannot read nowhere.json: there is no such file"),
        (["normalize", ".", "--to", "openai-chat"], "cannot read .: it is a directory"),
        (["normalize", "bad\nname", "--to", "openai-chat"], r"cannot read bad\nname: there is no such file"),
        (
            ["normalize", "FILE", "--to", "openai-chat", "-o", "nowhere/out"],
            "cannot write nowhere/out: there is no such directory",
        ),
        (["normalize", "FILE", "--to", "openai-chat", "-o", "."], "cannot write .: it is a directory"),
        (["normalize", "FILE", "--to", "openai-caht"], "no target is called openai-caht; did you mean openai-chat?"),
        (["normalize", "FILE", "--to", "zzz"], "no target is called zzz; there are: flat, openai-chat, "),
        (
            ["normalize", "FILE", "--to", "openai-chat", "--from", "zzz"],
            "no dialect is called zzz; there are: anthropic, bedrock-converse, ",
        ),
        (["normalize", "FILE", "--to", "openai-chat", "--set", "wat=1"], "wat"),
        (["normalize", "FILE", "--to", "openai-chat", "--set", "wat"], "--set takes OPTION=JSON, not wat"),
        (
            ["normalize", "FILE", "--to", "openai-chat", "--policy", "lenient"],
            "--policy is strict, repair or the name of a .toml file",
        ),
        (
            ["normalize", "FILE", "--to", "openai-chat", "--policy", "no.toml"],
            "cannot read the policy no.toml: there is no such file",
        ),
        (["normalize", "--to", "openai-chat"], "Missing argument 'FILE|-'"),
        (["check", "FILE"], "Missing option '--to'"),
        (["check", "FILE", "--to", "openai-chat", "--format", "xml"], "'xml' is not one of"),
        (["frobnicate"], "No such command 'frobnicate'"),
        (["explain", "PAR099"], "no loss code is called PAR099; did you mean"),
        (["explain", "unanswered"], "did you mean unanswered-call?"),
        (["explain", "qqqqqqq"], "families: ARG, "),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_bad_usage_is_one_line_and_status_3(arguments: list[str], words: str, tmp_path: Path) -> None:
    file = stored(tmp_path, CLEAN)
    ran = run(*(str(file) if argument == "FILE" else argument for argument in arguments))
    assert ran.status == 3
    assert ran.out == b""
    assert len(ran.err.splitlines()) == 1
    assert ran.err.startswith("sendable: ")
    assert words in ran.err


@pytest.mark.parametrize(
    ("policy", "words"),
    [
        ('base = "lenient"', '`base` must be "repair" or "strict"'),
        ('bass = "strict"', "unknown key `bass`"),
        ('[codes]\nPAR099 = "allow"', "`codes.PAR099`: no code begins like this; did you mean"),
        ('[codes]\nPAR001 = "ignore"', '`codes.PAR001` must be "allow", "report" or "reject"'),
        ("[codes]\nPAR001 = 1", "`codes.PAR001` must be"),
        ('codes = "PAR"', "`codes` must be a table"),
        ("base = ", "it is not TOML"),
        ("\x00", "it is not TOML"),
    ],
)
def test_a_bad_policy_names_the_key(policy: str, words: str, tmp_path: Path) -> None:
    (tmp_path / "policy.toml").write_text(policy)
    ran = run("normalize", stored(tmp_path, CLEAN), "--to", "openai-chat", "--policy", tmp_path / "policy.toml")
    assert ran.status == 3
    assert len(ran.err.splitlines()) == 1
    assert words in ran.err


def test_a_file_that_may_not_be_read(tmp_path: Path) -> None:
    if os.geteuid() == 0:
        pytest.skip("root may read everything")
    file = stored(tmp_path, CLEAN)
    file.chmod(0)
    assert "permission denied" in run("normalize", file, "--to", "openai-chat").err


# --- explain, targets, the program itself ----------------------------------------------------------------------------------


@pytest.mark.parametrize("asked", ["PAR001", "par001", "unanswered-call"])
def test_explain_prints_the_page(asked: str) -> None:
    ran = run("explain", asked)
    assert ran.status == 0
    assert b"PAR001" in ran.out.splitlines()[0]
    assert b"unanswered-call" in ran.out


def test_explain_prints_the_very_page_of_the_checkout() -> None:
    page = Path(__file__).parents[1] / "docs" / "losses" / "PAR001.md"
    if not page.exists():
        pytest.skip("the pages are not there")
    assert run("explain", "PAR001").out == page.read_bytes()


def test_explain_lists_a_family() -> None:
    listed = run("explain", "par").out.decode().splitlines()
    assert [line.split()[0] for line in listed] == sorted(code for code in CODES if code.startswith("PAR"))


def test_targets_are_what_to_takes(tmp_path: Path) -> None:
    names = run("targets").out.decode().split()
    assert {"flat", "openai-chat", "anthropic"} <= set(names)
    for name in names:
        assert run("check", stored(tmp_path, CLEAN), "--to", name).status == 0


def test_help_and_version() -> None:
    for arguments in (["--help"], ["-h"], ["normalize", "--help"], ["check", "--help"], ["--version"]):
        ran = run(*arguments)
        assert (ran.status, ran.err) == (0, "")
        assert ran.out
    assert run().status == 3


def test_the_installed_command_is_the_same() -> None:
    command = shutil.which("sendable", path=str(Path(sys.executable).parent))
    if command is None:
        pytest.skip("the package is not installed here")
    done = subprocess.run([command, "targets"], capture_output=True, check=True)
    assert done.stdout == run("targets").out


def test_the_pages_are_in_the_wheel(tmp_path: Path) -> None:
    pytest.importorskip("hatchling")
    root = Path(__file__).parents[1]
    pages = [page.name for page in (root / "docs" / "losses").glob("*.md")]
    program = f"import os; os.chdir({str(root)!r}); from hatchling.build import build_wheel; print(build_wheel({str(tmp_path)!r}))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    listed = subprocess.run(
        [sys.executable, "-m", "zipfile", "-l", str(tmp_path / done.stdout.split()[-1])],
        capture_output=True,
        text=True,
        check=True,
    )
    assert all(f"sendable/pages/{page}" in listed.stdout for page in pages)


# --- at a terminal -----------------------------------------------------------------------------------------------------


def at_a_terminal(*arguments: str | Path, stdout_too: bool = False) -> tuple[int, str]:
    """Runs the command with a pseudo-terminal as standard error; returns its status and what the terminal showed."""
    ours, theirs = pty.openpty()
    env = {**os.environ, "TERM": "xterm-256color", "COLUMNS": "120"}
    stdout = theirs if stdout_too else subprocess.DEVNULL
    with subprocess.Popen(
        [*COMMAND, *map(str, arguments)], stdin=subprocess.DEVNULL, stdout=stdout, stderr=theirs, env=env
    ) as process:
        os.close(theirs)
        shown, end = b"", time.monotonic() + 60
        while time.monotonic() < end:
            if select.select([ours], [], [], 0.1)[0]:
                try:
                    piece = os.read(ours, 65536)
                except OSError:  # the other side is closed
                    break
                if not piece:
                    break
                shown += piece
        os.close(ours)
        return process.wait(30), shown.decode("utf-8", "replace")


def test_a_file_of_several_conversations_has_a_progress_bar(tmp_path: Path) -> None:
    file = stored(tmp_path, lines_of(CLEAN, OPEN_CALL, b"{") * 300, "night.jsonl")
    status, shown = at_a_terminal("normalize", file, "--to", "openai-chat")
    assert status == 3
    assert "100%" in shown
    assert "900 conversations" in shown
    assert "line 2: messages[1].tool_calls[0]  PAR001 unanswered-call" in shown
    assert "line 900: unreadable: " in shown
    assert "Traceback" not in shown


def test_no_bar_where_it_would_be_in_the_way(tmp_path: Path) -> None:
    many, one = stored(tmp_path, lines_of(CLEAN) * 300, "night.jsonl"), stored(tmp_path, CLEAN)
    assert "%" not in at_a_terminal("normalize", one, "--to", "openai-chat")[1]
    assert "%" not in at_a_terminal("normalize", many, "--to", "openai-chat", stdout_too=True)[1]
    assert run("normalize", many, "--to", "openai-chat").err == f"{many}: 300 conversations: 300 clean\n"
