"""In which line each key of a TOML file stands, so that an error about a value can name its line.

What must not live here: what the keys mean (config.py), and whether the file is TOML: `tomllib` has accepted it before it comes here.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from typing import Any

Key = tuple[str | int, ...]

_TOKEN = re.compile(
    r'(?P<long>"""(?:[^\\]|\\.)*?"{3,5}|\'\'\'.*?\'{3,5})'
    r'|(?P<text>"(?:[^"\\\n]|\\.)*"|\'[^\'\n]*\')'
    r"|(?P<comment>\#[^\n]*)"
    r"|(?P<line>\r?\n)"
    r"|(?P<space>[ \t]+)"
    r"|(?P<mark>[\[\]{}=,.])"
    r"|(?P<bare>[^\s\[\]{}=,.\#\"']+)",
    re.DOTALL,
)


def lines_of(text: str) -> dict[Key, int]:
    """The line (from 1) of every table, entry and array element of a valid document, by its path: `("routes", 0, "match")`.

    A table that has several headers, or is only implied by dotted keys, stands where it is first named.
    """
    return _Scan(text).found


class _Scan:
    """One walk over the tokens. Valid TOML is taken for granted: nothing is checked."""

    def __init__(self, text: str) -> None:
        self.found: dict[Key, int] = {}
        self._tokens = list(_tokens(text))
        self._at = 0
        self._tables: dict[Key, int] = {}
        table: Key = ()
        while self._skip(lines=True):
            table = self._header() if self._now() == "[" else self._pair(table)

    def _now(self) -> str:
        return self._tokens[self._at][0] if self._at < len(self._tokens) else ""

    def _line(self) -> int:
        return self._tokens[self._at][1]

    def _skip(self, lines: bool) -> bool:
        """Past what means nothing; whether anything is left."""
        while self._at < len(self._tokens) and (self._now().isspace() or self._now().startswith("#")):
            if not lines and "\n" in self._now():
                break
            self._at += 1
        return self._at < len(self._tokens)

    def _names(self) -> tuple[str, ...]:
        """A dotted key. The next token is the one behind it."""
        names: list[str] = []
        while True:
            self._skip(lines=False)
            names.append(_name(self._now()))
            self._at += 1
            self._skip(lines=False)
            if self._now() != ".":
                return tuple(names)
            self._at += 1

    def _header(self) -> Key:
        line = self._line()
        self._at += 1
        listed = self._now() == "["
        self._at += listed
        names = self._names()
        self._at += 2 if listed else 1
        path: Key = ()
        for name in names[:-1]:
            path = self._inside((*path, name), line)
        path = (*path, names[-1])
        self.found.setdefault(path, line)
        if listed:
            self._tables[path] = self._tables.get(path, -1) + 1
            path = (*path, self._tables[path])
            self.found[path] = line
        return path

    def _inside(self, path: Key, line: int) -> Key:
        """The table of that name, or the last one where there is an array of them."""
        self.found.setdefault(path, line)
        return (*path, self._tables[path]) if path in self._tables else path

    def _pair(self, table: Key) -> Key:
        """`key = value` in a table; gives the table back."""
        line = self._line()
        names = self._names()
        self._at += 1  # the equals sign
        path = table
        for name in names:
            path = (*path, name)
            self.found.setdefault(path, line)
        self._value(path)
        return table

    def _value(self, path: Key) -> None:
        self._skip(lines=True)
        if self._now() == "[":
            self._at += 1
            index = 0
            while self._skip(lines=True) and self._now() != "]":
                self.found[(*path, index)] = self._line()
                self._value((*path, index))
                index += 1
                self._skip(lines=True)
                self._at += self._now() == ","
            self._at += 1
        elif self._now() == "{":
            self._at += 1
            while self._skip(lines=True) and self._now() != "}":
                self._pair(path)
                self._skip(lines=True)
                self._at += self._now() == ","
            self._at += 1
        else:
            # A plain value may have more than one token: 1.5, and 1979-05-27 07:32:00 with its one space.
            while self._now() and self._now() not in "]},\n\r\n" and not self._now().startswith("#"):
                self._at += 1


def _tokens(text: str) -> Iterator[tuple[str, int]]:
    line = 1
    for token in _TOKEN.finditer(text):
        yield token.group(), line
        line += token.group().count("\n")


def _name(token: str) -> str:
    """The name that a part of a key spells."""
    if token[:1] not in ('"', "'"):
        return token
    found: dict[str, Any] = tomllib.loads(f"name = {token}")
    return str(found["name"])
