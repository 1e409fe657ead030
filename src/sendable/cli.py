"""The command line: `sendable normalize | check | explain | targets | matrix`; those of the gateway are in gateway/commands.py.

Here: files, pipes, exit statuses, and what a person reads at the terminal. Not here: any decision about a history. This is the only
module that imports click and rich, and only the entry point imports it.

Exit statuses. normalize: 0 done, 1 losses under --fail-on-loss, 2 refused, 3 unreadable input or bad usage. check: 0 nothing to report,
1 entries, 2 would be refused, 3 as before. For JSON lines the gravest of all lines. 130 after Ctrl-C, 141 if the reader of our output
went away.

JSON lines. Line n of the output belongs to line n of the input: a conversation that is refused or cannot be read leaves `null`, an empty
line stays empty. One line is held in memory at a time.
"""

from __future__ import annotations

import codecs
import errno
import io
import json
import os
import re
import signal
import stat
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from difflib import get_close_matches
from importlib.resources import files
from itertools import chain
from pathlib import Path
from typing import IO, Any, Literal, NamedTuple, NoReturn

import click
import msgspec

import sendable
from sendable.codes import CODES
from sendable.errors import HistoryError
from sendable.render import github, text
from sendable.render.entries import DONE, one_line
from sendable.render.json import dump
from sendable.report import Report
from sendable.terminal import (
    CLEAN,
    INTERRUPTED,
    LOSSES,
    READER_GONE,
    REFUSED,
    UNREADABLE,
    ReaderGone,
    Trouble,
    policy_named,
    reason_of,
    say,
    shown,
    told,
)

LOST = frozenset({"drop", "strip", "degrade", "synthesize"})
"""What --fail-on-loss counts: something is gone, weaker, or invented. What was moved, renamed or noted is all still there."""


# --- the commands ------------------------------------------------------------------------------------------------------


def _show_version(context: click.Context, _: click.Parameter, wanted: bool) -> None:
    if wanted:
        from importlib.metadata import PackageNotFoundError, version

        try:
            click.echo(version("sendable"))
        except PackageNotFoundError:
            click.echo("not installed (run from a checkout)")
        context.exit()


GATEWAY = ("audit", "check-config", "client-key", "run", "serve")
"""Commands that stand in gateway/commands.py, which only they import."""


class _Commands(click.Group):
    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted([*super().list_commands(ctx), *GATEWAY])

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in GATEWAY:
            return super().get_command(ctx, cmd_name)
        from sendable.gateway import commands as gateway

        return gateway.COMMANDS[cmd_name]


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.option(
    "--version",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_show_version,
    help="Show the version and exit.",
)
def commands() -> None:
    """Make a stored LLM conversation acceptable to a provider, and say what was lost on the way."""


def _options_of_a_run(target_required: bool) -> Callable[[Callable[..., int]], Callable[..., int]]:
    """The options that normalize and check share."""

    def decorate(command: Callable[..., int]) -> Callable[..., int]:
        for option in (
            click.option(
                "--values", is_flag=True, help="Show the caller's own values in the report. They may be private."
            ),
            click.option(
                "--set",
                "options",
                multiple=True,
                metavar="OPTION=JSON",
                help="A fact about the target or the call, e.g. --set 'thinking=\"enabled\"'. The value is JSON, else text.",
            ),
            click.option(
                "--policy",
                default="repair",
                metavar="strict|repair|FILE.toml",
                help="What is allowed, reported, rejected. [default: repair]",
            ),
            click.option("--model", metavar="NAME", help="The model that will be called; picks the target's profile."),
            click.option(
                "--from",
                "source",
                metavar="SOURCE",
                help="The dialect of the history, if it cannot be told from its shape.",
            ),
            click.option(
                "--to",
                required=target_required,
                metavar="TARGET",
                help="See `sendable targets`." + ("" if target_required else " [default: the history's own dialect]"),
            ),
            click.argument("file", metavar="FILE|-"),
        ):
            command = option(command)
        return command

    return decorate


@commands.command()
@_options_of_a_run(target_required=False)
@click.option(
    "--fail-on-loss", is_flag=True, help="Exit with 1 if anything was dropped, stripped, degraded or invented."
)
@click.option(
    "-o", "--output", metavar="OUT", help="Write the result there, whole or not at all. [default: standard output]"
)
@click.option(
    "--report", "report_to", metavar="FILE", help="Write the whole report there as JSON (JSON lines for JSON lines)."
)
def normalize(file: str, to: str | None, source: str | None, model: str | None, policy: str, options: tuple[str, ...],
              values: bool, fail_on_loss: bool, output: str | None, report_to: str | None) -> int:  # fmt: skip
    """Write the history as TARGET accepts it; say in words, on standard error, what that cost.

    FILE holds one conversation as JSON, or one a line as JSON lines; - is standard input. Exit status: 0 done, 1 losses under
    --fail-on-loss, 2 refused, 3 unreadable input or bad usage; for JSON lines the gravest.

    JSON lines: a line that is refused or unreadable is `null` in the output, so that line n always belongs to line n.
    """
    run = _prove(Run(to, source, model, policy_named(policy), _options(options)))
    if report_to is not None and _same_place(report_to, output or "-"):
        raise Trouble("the result and the report cannot go to the same place; give --report another file")
    if report_to is not None and _same_place(report_to, file):
        raise Trouble("--report would overwrite the history itself; give it another file")
    tally = Tally(LOST if fail_on_loss else frozenset())
    with ExitStack() as opened:
        batch = opened.enter_context(_conversations(file, bar=output is not None or not _is_terminal(1)))
        result = opened.enter_context(_whole_or_nothing(output or "-"))
        ledger = opened.enter_context(_whole_or_nothing(report_to)) if report_to is not None else None
        for number, data in batch.items:
            line = number if batch.lines else None
            done = _normalize_one(run, data)
            tally.add(done)
            if done.unreadable and line is None:
                raise Trouble(f"cannot read {shown(file)}: {done.unreadable}")
            batch.say(_words(done, line, values))
            # Whoever feeds us line by line is answered line by line.
            result.write(_result_row(done, line), at_once=file == "-")
            if ledger is not None:
                ledger.write(_report_row(done, line, values))
        if batch.lines:
            nulls = tally.refused + tally.unreadable
            batch.say([tally.summary(file) + (f"; {nulls} null in the result" if nulls else "")])
        if batch.lines or tally.status != REFUSED:
            result.keep()
        if ledger is not None:
            ledger.keep()
    return tally.status


@commands.command()
@_options_of_a_run(target_required=True)
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "json", "github"]),
    default="text",
    show_default=True,
    help="How the report is written.",
)
def check(file: str, to: str, source: str | None, model: str | None, policy: str, options: tuple[str, ...],
          values: bool, form: Literal["text", "json", "github"]) -> int:  # fmt: skip
    """Say on standard output what `normalize` would do, and do nothing.

    Exit status: 0 nothing to report, 1 entries, 2 would be refused, 3 unreadable input or bad usage; for JSON lines the gravest.
    """
    run = _prove(Run(to, source, model, policy_named(policy), _options(options)))
    tally = Tally(frozenset(DONE))
    with _conversations(file, bar=not _is_terminal(1)) as batch, _whole_or_nothing("-") as out:
        for number, data in batch.items:
            line = number if batch.lines else None
            done = _check_one(run, data)
            tally.add(done)
            if done.unreadable and line is None:
                raise Trouble(f"cannot read {shown(file)}: {done.unreadable}")
            out.write(_check_row(form, done, file, line, values), at_once=file == "-")
        if batch.lines and form == "text":
            out.write(f"{tally.summary(file)}\n".encode())
    return tally.status


@commands.command()
@click.argument("code")
def explain(code: str) -> int:
    """Print the page of a loss code: `sendable explain PAR002`. Its name, or a family such as PAR, will do as well."""
    wanted = code.strip().upper()
    found = [known for known in CODES.values() if wanted in (known.id, known.name.upper())]
    family = [known for known in CODES.values() if len(wanted) == 3 and known.id.startswith(wanted)]
    with _whole_or_nothing("-") as out:
        if found:
            out.write(_page(found[0].id))
        elif family:
            width = max(len(known.name) for known in family)
            out.write("".join(f"{known.id}  {known.name:{width}}  {known.message}\n" for known in family).encode())
        else:
            near = get_close_matches(wanted, [*CODES, *(known.name.upper() for known in CODES.values())], n=1)
            hint = (
                f"did you mean {near[0] if near[0] in CODES else near[0].lower()}?"
                if near
                else f"families: {', '.join(sorted({c[:3] for c in CODES}))}"
            )
            raise Trouble(f"no loss code is called {shown(code)}; {hint}")
    return CLEAN


@commands.command()
def targets() -> int:
    """Print the names that --to takes, one a line."""
    with _whole_or_nothing("-") as out:
        out.write("".join(f"{name}\n" for name in sendable.target_names()).encode())
    return CLEAN


@commands.command()
@click.option("--from", "source", metavar="DIALECT", help="Only what comes from this dialect. [default: all]")
@click.option("--to", metavar="DIALECT", help="Only what goes to this dialect. [default: all]")
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "markdown", "json"]),
    default="text",
    show_default=True,
    help="How the matrix is written.",
)
def matrix(source: str | None, to: str | None, form: Literal["text", "markdown", "json"]) -> int:
    """Say what becomes of each block or property between any two dialects, found by running."""
    from sendable.matrix import cells, pages  # they run the library, and no other command waits for them

    for name in (source, to):
        _known("dialect", name, cells.DIALECTS)
    found = list(cells.cells((source,) if source else cells.DIALECTS, (to,) if to else cells.DIALECTS))
    write = {"text": pages.text, "markdown": pages.markdown, "json": pages.json}[form]
    with _whole_or_nothing("-") as out:
        out.write(write(found).encode())
    return CLEAN


# --- one conversation --------------------------------------------------------------------------------------------------


class Run(NamedTuple):
    """What normalize and check are told, beside the history."""

    to: str | None
    source: str | None
    model: str | None
    policy: Any
    options: Mapping[str, Any]

    def keywords(self) -> dict[str, Any]:
        return {"source": self.source, "model": self.model, "policy": self.policy, "options": self.options or None}


class Done(NamedTuple):
    """What became of one conversation: a blank line, something unreadable, a refusal with its report, or a result with it."""

    report: Report | None = None
    data: bytes | None = None
    refusal: HistoryError | None = None
    unreadable: str | None = None
    blank: bool = False


def _normalize_one(run: Run, data: bytes) -> Done:
    def work() -> Done:
        result = sendable.normalize_json(data.strip(), run.to, **run.keywords())
        return Done(report=result.report, data=bytes(result.data))

    return _guarded(data, work)


def _check_one(run: Run, data: bytes) -> Done:
    assert run.to is not None
    to = run.to
    return _guarded(data, lambda: Done(report=sendable.check_json(data.strip(), to, **run.keywords())))


def _guarded(data: bytes, work: Callable[[], Done]) -> Done:
    """The work on one conversation, which never stops the others. Bytes that are no JSON are unreadable, and not refused."""
    if not data or data.isspace():
        return Done(blank=True)
    unreadable = _not_utf8(data)
    if unreadable:
        return Done(unreadable=unreadable)
    try:
        done = work()
    except HistoryError as refusal:
        done = Done(report=refusal.report, refusal=refusal)
    except RecursionError:
        return Done(unreadable="it is nested too deeply")
    except MemoryError:
        return Done(unreadable="there is not enough memory for it")
    except Exception as error:
        unreadable = _not_json(data)
        if unreadable is None and os.environ.get("SENDABLE_TRACEBACK"):
            raise
        return Done(unreadable=unreadable or _our_fault(error))
    if done.report is not None and "SHP013" in done.report.counts:
        unreadable = _not_json(data) or "it is nested too deeply"
    return Done(unreadable=unreadable) if unreadable else done


def _our_fault(error: BaseException) -> str:
    """An exception that should not exist, without its words: they may hold the history's."""
    trace, where = error.__traceback__, ""
    while trace is not None:
        where, trace = f" at {os.path.basename(trace.tb_frame.f_code.co_filename)}:{trace.tb_lineno}", trace.tb_next
    return (
        f"internal error, {type(error).__name__}{where}: a fault of sendable and not of your input; "
        "please report it (SENDABLE_TRACEBACK=1 shows more)"
    )


def _prove(run: Run) -> Run:
    """The run, once it is known that its target, source and options exist: before any input is read."""
    names = sendable.target_names()
    _known("target", run.to, names)
    _known("dialect", run.source, sorted({name.partition(":")[0] for name in names}))
    try:
        sendable.normalize([{"role": "user", "content": "?"}], run.to, **run.keywords())
    except HistoryError:
        return run  # a policy may refuse even this; the options were understood
    except (TypeError, ValueError) as error:
        raise Trouble(one_line(str(error))) from None
    return run


def _known(kind: str, name: str | None, names: Sequence[str]) -> None:
    if name is not None and name not in names:
        near = get_close_matches(name, names, n=1)
        raise Trouble(
            f"no {kind} is called {shown(name)}; "
            + (f"did you mean {near[0]}?" if near else f"there are: {', '.join(names)}")
        )


def _options(settings: tuple[str, ...]) -> dict[str, Any]:
    options: dict[str, Any] = {}
    for setting in settings:
        name, equals, value = setting.partition("=")
        if not equals or not name:
            raise Trouble(f"--set takes OPTION=JSON, not {shown(setting)}")
        try:
            options[name.strip()] = msgspec.json.decode(value)
        except (msgspec.DecodeError, UnicodeEncodeError):
            options[name.strip()] = value
    return options


# --- reading -----------------------------------------------------------------------------------------------------------


class Batch(NamedTuple):
    """The conversations of one input: (line, bytes) each; `lines` is false for a single document. `say` writes to standard error."""

    lines: bool
    items: Iterator[tuple[int, bytes]]
    say: Callable[[Sequence[str]], None]


@contextmanager
def _conversations(name: str, bar: bool) -> Generator[Batch, None, None]:
    """Opens the input, decides whether it is one document or JSON lines, and shows a bar on a terminal if there are several."""
    with _open_input(name) as stream:
        lines, items = _split(_lines(stream, name), name)
        size = os.fstat(stream.fileno()).st_size if bar and lines and name != "-" and _is_terminal(2) else 0
        if size:
            with _bar(name, size, items) as batch:
                yield batch
        else:
            yield Batch(lines, items, say)


@contextmanager
def _open_input(name: str) -> Generator[IO[bytes], None, None]:
    if name == "-":
        if sys.stdin is None:  # pyright: ignore[reportUnnecessaryComparison] (Python sets it to None if the descriptor is closed)
            raise Trouble("cannot read standard input: it is closed")
        yield sys.stdin.buffer  # not ours to close
        return
    try:
        stream = open(name, "rb")  # noqa: SIM115
    except OSError as error:
        raise Trouble(f"cannot read {shown(name)}: {reason_of(error)}") from None
    except ValueError:
        raise Trouble("cannot read a file whose name holds a NUL character") from None
    with stream:
        yield stream


def _lines(stream: IO[bytes], name: str) -> Iterator[bytes]:
    try:
        yield from stream
    except OSError as error:
        raise Trouble(f"cannot read {shown(name)}: {reason_of(error)}") from None


def _split(stream: Iterator[bytes], name: str) -> tuple[bool, Iterator[tuple[int, bytes]]]:
    """Whether this is JSON lines, and the (line, bytes) of each conversation.

    A name in .jsonl or .ndjson says so. Otherwise the content: its first line is a value and something follows. What is no value
    in its first line is read whole: it is a document, pretty-printed, unless only the first of several lines is broken.
    """
    named = name.lower().endswith((".jsonl", ".ndjson"))
    head: list[bytes] = []
    for line in stream:
        head.append(line)
        if not line.isspace():
            break
    else:
        raise Trouble(f"{shown(name)} is empty: there is no JSON in it")
    head[0] = head[0].removeprefix(codecs.BOM_UTF8)
    _refuse_other_encodings(name, b"".join(head)[:4])
    if named:
        return True, enumerate(chain(head, stream), 1)
    if _complete(head[-1]):
        for line in stream:
            head.append(line)
            if not line.isspace():
                return True, enumerate(chain(head, stream), 1)
        return False, iter([(1, b"".join(head))])
    whole = b"".join(chain(head, stream))
    if not _complete(whole) and _only_some_lines_broken(whole):
        return True, enumerate(io.BytesIO(whole), 1)
    return False, iter([(1, whole)])


def _only_some_lines_broken(whole: bytes) -> bool:
    lines = [line for line in whole.split(b"\n") if line and not line.isspace()]
    starts = all(line.startswith((b"{", b"[")) for line in lines)
    return starts and len(lines[0].strip()) > 1 and any(_complete(line) for line in lines)


def _complete(data: bytes) -> bool:
    """Whether these bytes are exactly one JSON value (NaN and half surrogate pairs count: what to do with them is not decided here)."""
    try:
        msgspec.json.decode(data, type=msgspec.Raw)
        return True
    except RecursionError:
        return True
    except msgspec.DecodeError:
        if not any(odd in data for odd in (b"\\ud", b"\\uD", b"NaN", b"Infinity")):
            return False
    try:
        json.loads(data)
        return True
    except RecursionError:
        return True
    except ValueError:
        return False


def _refuse_other_encodings(name: str, start: bytes) -> None:
    for magic, tool in ((b"\x1f\x8b", "gzip -dc"), (b"\x28\xb5\x2f\xfd", "zstd -dc"), (b"PK\x03\x04", "unzip -p")):
        if start.startswith(magic):
            raise Trouble(f"cannot read {shown(name)}: it is compressed; unpack it with: {tool}")
    if start.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)) or b"\0" in start:
        raise Trouble(
            f"cannot read {shown(name)}: it is UTF-16 or UTF-32; make it UTF-8 with: iconv -f UTF-16 -t UTF-8"
        )


def _not_utf8(data: bytes) -> str | None:
    """Where the bytes stop being UTF-8, or None. In pieces: a large text is not held twice."""
    if data.isascii():
        return None
    decoder = codecs.getincrementaldecoder("utf-8")()
    piece = 1 << 20
    for start in range(0, len(data), piece):
        pending = len(decoder.getstate()[0])
        try:
            decoder.decode(data[start : start + piece], final=start + piece >= len(data))
        except UnicodeDecodeError as error:
            place = start - pending + error.start
            return f"byte 0x{data[place]:02x} at {_line_and_column(data, place)} is not UTF-8"
    return None


def _not_json(data: bytes) -> str | None:
    """Why the bytes are not one JSON value, with the place, or None. Never quotes them."""
    data = data.rstrip()
    if _complete(data):
        return None
    try:
        msgspec.json.decode(data, type=msgspec.Raw)
    except msgspec.DecodeError as error:
        found = re.fullmatch(r"JSON is malformed: (.*) \(byte (\d+)\)", str(error))
        if found is None:
            return f"it stops in the middle of a JSON value, after {len(data)} bytes; it was cut off"
        what, place = found[1], int(found[2])
        if what == "trailing characters":
            return f"a second value begins at {_line_and_column(data, place)}; write one value a line (jq -c .)"
        return f"it is not JSON at {_line_and_column(data, place)}: {what}"
    return None


def _line_and_column(data: bytes, place: int) -> str:
    line = data.count(b"\n", 0, place) + 1
    column = place - (data.rfind(b"\n", 0, place) + 1) + 1
    return f"line {line}, column {column}" if line > 1 or b"\n" in data.strip() else f"column {column}"


# --- writing -----------------------------------------------------------------------------------------------------------


class Sink:
    """Where bytes go: standard output, a device, or a file that replaces the old one only when all of it is there."""

    def __init__(self, name: str, stream: IO[bytes], target: str | None = None) -> None:
        self._name, self._stream, self._target = name, stream, target

    def write(self, data: bytes, at_once: bool = False) -> None:
        with told(self._name):
            self._stream.write(data)
            if at_once:
                self._stream.flush()

    def keep(self) -> None:
        """Everything was written: now it may be seen."""
        with told(self._name):
            self._stream.flush()
            if self._target is not None:
                os.fsync(self._stream.fileno())
                os.replace(self._stream.name, self._target)
                self._target = None

    def close(self) -> None:
        """What is in a file is gone, unless it was kept; what went elsewhere is sent off."""
        if self._target is None:
            self.keep()
        if self._name != "-":
            self._stream.close()
        if self._target is not None:
            os.unlink(self._stream.name)


@contextmanager
def _whole_or_nothing(name: str) -> Generator[Sink, None, None]:
    """A sink whose file appears whole at the end, or not at all if `keep` is never reached. `-` is standard output."""
    with told(name):
        sink = _open_sink(name)
    try:
        yield sink
    finally:
        sink.close()


def _open_sink(name: str) -> Sink:
    if name == "-":
        if sys.stdout is None:  # pyright: ignore[reportUnnecessaryComparison] (Python sets it to None if the descriptor is closed)
            raise Trouble("cannot write to standard output: it is closed")
        return Sink(name, sys.stdout.buffer)
    target = os.path.realpath(name)
    if not os.path.isdir(os.path.dirname(target)):
        raise Trouble(f"cannot write {shown(name)}: there is no such directory")
    try:
        mode = os.stat(target).st_mode
    except FileNotFoundError:
        mask = os.umask(0)
        os.umask(mask)
        mode = stat.S_IFREG | (0o666 & ~mask)
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, "it is a directory")
    if not stat.S_ISREG(mode):
        return Sink(name, open(target, "wb"))
    handle, temporary = tempfile.mkstemp(prefix=".sendable-", suffix=".tmp", dir=os.path.dirname(target))
    os.close(handle)
    os.chmod(temporary, stat.S_IMODE(mode))
    return Sink(name, open(temporary, "wb"), target)


@contextmanager
def _bar(name: str, size: int, items: Iterator[tuple[int, bytes]]) -> Generator[Batch, None, None]:
    """The same conversations under a progress bar on standard error; what is said goes above it."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

    console = Console(stderr=True, highlight=False, markup=False, emoji=False)
    columns = (
        TextColumn("{task.description}", markup=False), BarColumn(), TaskProgressColumn(),
        TextColumn("{task.fields[conversations]} conversations"), TimeRemainingColumn(),
    )  # fmt: skip
    with Progress(*columns, console=console) as progress:
        task = progress.add_task(one_line(os.path.basename(name)), total=size, conversations=0)

        def counted() -> Iterator[tuple[int, bytes]]:
            for number, data in items:
                yield number, data
                progress.update(task, advance=len(data), conversations=number)
            progress.update(task, completed=size)

        def say(lines: Sequence[str]) -> None:
            for line in lines:
                progress.console.print(line, soft_wrap=True)

        yield Batch(True, counted(), say)


# --- words -------------------------------------------------------------------------------------------------------------


class Tally:
    """What became of all conversations of an input. `losses` are the verbs that make the exit status 1."""

    def __init__(self, losses: frozenset[str]) -> None:
        self.status, self._losses = CLEAN, losses
        self.clean = self.changed = self.refused = self.unreadable = 0
        self.verbs: Counter[str] = Counter()

    def add(self, done: Done) -> None:
        status = CLEAN
        if done.unreadable:
            self.unreadable += 1
            status = UNREADABLE
        elif done.report is None:
            return  # a blank line
        elif done.report.refused:
            self.refused += 1
            status = REFUSED
        elif done.report.entries:
            self.changed += 1
            verbs = [entry.verb for entry in done.report.entries]
            self.verbs.update(verbs)
            status = CLEAN if self._losses.isdisjoint(verbs) else LOSSES
        else:
            self.clean += 1
        self.status = max(self.status, status)

    def summary(self, name: str) -> str:
        """`sessions.jsonl: 12 conversations: 8 clean, 2 changed, 1 refused, 1 unreadable; 5 dropped, 2 synthesized`"""
        total = self.clean + self.changed + self.refused + self.unreadable
        kinds = {"clean": self.clean, "changed": self.changed, "refused": self.refused, "unreadable": self.unreadable}
        fate = ", ".join(f"{count} {kind}" for kind, count in kinds.items() if count)
        losses = ", ".join(f"{self.verbs[verb]} {word}" for verb, word in DONE.items() if self.verbs[verb])
        conversations = f"{total} {'conversation' if total == 1 else 'conversations'}"
        return f"{shown(name)}: {conversations}{': ' if fate else ''}{fate}{'; ' if losses else ''}{losses}"


def _words(done: Done, line: int | None, values: bool) -> list[str]:
    """What a person reads about one conversation, each line with its line of the input; nothing where nothing was lost."""
    words = [f"unreadable: {done.unreadable}"] if done.unreadable else []
    if done.report is not None:
        words += text.lines(done.report, values=values)
        if done.refusal is not None:
            words.append(f"refused: {one_line(str(done.refusal))}")
        elif done.report.refused or (done.report.entries and line is None):
            words.append(text.summary(done.report))
    if done.refusal is not None and line is None:
        words.append(f"nothing was written; `sendable explain {done.refusal.code}` says what to do")
    return words if line is None else [f"line {line}: {word}" for word in words]


def _result_row(done: Done, line: int | None) -> bytes:
    """The result, or what stands in its place so that line n stays line n."""
    if done.data is not None:
        return done.data + b"\n"
    return b"" if line is None else b"\n" if done.blank else b"null\n"


def _report_row(done: Done, line: int | None, values: bool) -> bytes:
    if done.unreadable:
        return dump({"line": line, "error": done.unreadable}) + b"\n"
    if done.report is None:
        return b""
    data = done.report.to_json(values=values)
    return data + b"\n" if line is None else b'{"line":%d,' % line + data[1:] + b"\n"


def _check_row(form: str, done: Done, file: str, line: int | None, values: bool) -> bytes:
    if form == "json":
        return _report_row(done, line, values)
    if form == "github":
        name = None if file == "-" else file
        if done.unreadable:
            return f"{github.command('error', 'unreadable', done.unreadable, name, line)}\n".encode()
        row = github.render(done.report, file=name, line=line) if done.report is not None else ""
        return row.encode("utf-8", "backslashreplace") + b"\n" if row else b""
    words = _words(done, line, values)
    if done.report is not None and not done.report.entries and line is None:
        words = [text.summary(done.report)]
    return "".join(f"{word}\n" for word in words).encode("utf-8", "backslashreplace")


def _page(code: str) -> bytes:
    """The code's page: packaged beside this module, or in the checkout that this module stands in."""
    name = f"{code}.md"
    for folder in (files("sendable") / "pages", Path(__file__).resolve().parents[2] / "docs" / "losses"):
        try:
            return (folder / name).read_bytes()
        except (FileNotFoundError, NotADirectoryError):
            continue
    known = CODES[code]
    return f"# {known.id} {known.name}\n\n{known.message}\n\nstrict: {known.strict} · repair: {known.repair}\n".encode()


def _same_place(one: str, other: str) -> bool:
    return os.path.realpath(one) == os.path.realpath(other) if "-" not in (one, other) else one == other


def _is_terminal(number: int) -> bool:
    try:
        return os.isatty(number)
    except OSError:
        return False


# --- the way out -------------------------------------------------------------------------------------------------------


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Runs one command and exits with its status. Whatever happens ends in at most one line, never in a traceback."""
    signal.signal(signal.SIGTERM, _on_terminate)
    status = _status(arguments)
    try:
        sys.stdout.flush()
    except (
        OSError,
        AttributeError,
    ):  # the reader has ended, which was said above, or standard output was closed from the start
        sys.stdout = open(os.devnull, "w")  # noqa: SIM115 (for the interpreter's own last flush)
    sys.exit(status)


def _status(arguments: Sequence[str] | None) -> int:
    try:
        status = commands.main(arguments, prog_name="sendable", standalone_mode=False)
        return status if isinstance(status, int) else CLEAN
    except Trouble as trouble:
        return _last_words(str(trouble), UNREADABLE)
    except click.exceptions.NoArgsIsHelpError as error:
        return _last_words(error.format_message(), UNREADABLE, prefix="")
    except click.ClickException as error:
        hint = f" (see {error.ctx.command_path} --help)" if isinstance(error, click.UsageError) and error.ctx else ""
        return _last_words(f"{' '.join(error.format_message().split())}{hint}", UNREADABLE)
    except (click.Abort, KeyboardInterrupt):
        return _last_words("interrupted; no file was changed", INTERRUPTED)
    except ReaderGone:
        return _last_words("the program that read the output has ended; the rest was not written", READER_GONE)
    except MemoryError:
        return _last_words("there is not enough memory", UNREADABLE)
    except OSError as error:
        return _last_words(f"{one_line(str(error.filename or 'input or output'))}: {reason_of(error)}", UNREADABLE)
    except Exception as error:
        if os.environ.get("SENDABLE_TRACEBACK"):
            raise
        return _last_words(_our_fault(error), UNREADABLE)


def _last_words(line: str, status: int, prefix: str = "sendable: ") -> int:
    try:
        say([f"{prefix}{line}"])
    except (ReaderGone, Trouble):
        return status  # nobody is left to read it; the status says it
    return status


def _on_terminate(number: int, frame: object) -> NoReturn:
    """Ends as the signal would have, but removes unfinished files on the way."""
    raise SystemExit(128 + number)
