"""What all commands say to the person at the terminal: one line for each trouble, and the exit statuses.

What must not live here: any command (cli.py, gateway/commands.py). This module needs neither click nor rich.
"""

from __future__ import annotations

import errno
import sys
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sendable.policies import PolicyError, read_policy
from sendable.render.entries import one_line

CLEAN, LOSSES, REFUSED, UNREADABLE, INTERRUPTED, READER_GONE = 0, 1, 2, 3, 130, 141


class Trouble(Exception):
    """One clear line for the person at the terminal; the command ends with status 3."""


class ReaderGone(Exception):
    """The program that reads our output has ended."""


@contextmanager
def told(name: str) -> Generator[None, None, None]:
    """A failure to write, said in one line."""
    try:
        yield
    except BrokenPipeError:
        raise ReaderGone from None
    except OSError as error:
        raise Trouble(f"cannot write {shown(name, output=True)}: {reason_of(error)}") from None


def say(lines: Sequence[str]) -> None:
    """Lines to standard error. Raises `ReaderGone` if nobody reads it any more."""
    if lines and sys.stderr is not None:  # pyright: ignore[reportUnnecessaryComparison]
        with told("standard error"):
            sys.stderr.write("".join(f"{line}\n" for line in lines))
            sys.stderr.flush()


def policy_named(name: str) -> Any:
    """What `--policy` says: `strict`, `repair`, or the policy in a file. Raises `Trouble`."""
    if name in ("repair", "strict"):
        return name
    if not name.endswith(".toml"):
        raise Trouble(f"--policy is strict, repair or the name of a .toml file, not {shown(name)}")
    try:
        return read_policy(Path(name).read_bytes())
    except OSError as error:
        raise Trouble(f"cannot read the policy {shown(name)}: {reason_of(error)}") from None
    except PolicyError as error:
        raise Trouble(f"{shown(name)} is no policy: {one_line(str(error))}") from None


def shown(name: str, output: bool = False) -> str:
    """The name of a file as a message shows it, in one line; `-` in words."""
    return one_line(name) if name != "-" else "standard output" if output else "standard input"


def reason_of(error: OSError) -> str:
    """Why the system refused, in a few words."""
    known = {errno.ENOENT: "there is no such file", errno.EISDIR: "it is a directory"}
    return known.get(error.errno or 0, (error.strerror or "it failed").lower())
