"""A policy file: TOML that says which losses are allowed, reported or rejected.

    base = "strict"          # or "repair", which is the default
    [codes]
    SYS = "allow"            # a family, any other prefix, or one code; the longest prefix that fits decides
    RSN003 = "report"

What must not live here: opening files, and what the levels do (report.py).
"""

from __future__ import annotations

from difflib import get_close_matches
from typing import Any, cast

import msgspec

from sendable.codes import CODES, Level
from sendable.report import REPAIR, STRICT

BASES: dict[str, dict[str, Level]] = {"repair": REPAIR, "strict": STRICT}
LEVELS: dict[str, Level] = {"allow": "allow", "report": "report", "reject": "reject"}


class PolicyError(ValueError):
    """The file is no policy. The message is one line and names the key."""


def read_policy(data: bytes) -> dict[str, Level]:
    """The level of every code: that of the longest prefix under `[codes]`, else that of `base`.

    Raises `PolicyError` for what is not TOML and for every unknown key, base, code and level.
    """
    table = _read_toml(data)
    for key in table:
        if key not in ("base", "codes"):
            raise PolicyError(f"unknown key `{key}`; a policy has `base` and the table `[codes]`")
    return policy_of(table.get("base", "repair"), table.get("codes", {}))


def policy_of(base: object, codes: object) -> dict[str, Level]:
    """The same from the two values themselves, wherever they were written down."""
    if not isinstance(base, str) or base not in BASES:
        raise PolicyError(f'`base` must be "repair" or "strict", not {base!r}')
    if not isinstance(codes, dict):
        raise PolicyError('`codes` must be a table: a line [codes], and below it lines like PAR002 = "allow"')
    policy = dict(BASES[base])
    chosen: dict[str, Level] = {
        prefix: _level(prefix, level) for prefix, level in cast("dict[str, Any]", codes).items()
    }
    for prefix in sorted(chosen, key=len):
        policy.update((code, chosen[prefix]) for code in CODES if code.startswith(prefix))
    return policy


def _read_toml(data: bytes) -> dict[str, Any]:
    try:
        return msgspec.toml.decode(data, type=dict[str, Any])
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise PolicyError(f"it is not TOML: {error}") from None


def _level(prefix: str, level: object) -> Level:
    if not prefix or not any(code.startswith(prefix) for code in CODES):
        near = get_close_matches(prefix.upper(), [*CODES, *{code[:3] for code in CODES}], n=1)
        raise PolicyError(f"`codes.{prefix}`: no code begins like this{f'; did you mean {near[0]}?' if near else ''}")
    if not isinstance(level, str) or level not in LEVELS:
        raise PolicyError(f'`codes.{prefix}` must be "allow", "report" or "reject", not {level!r}')
    return LEVELS[level]
