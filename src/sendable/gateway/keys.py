"""Who may come in: client keys, kept as SHA-256 and compared in constant time.

A key is 256 random bits (`new_key`), so that a plain hash cannot be reversed by trying. What must not live here: where a key stands in a
request (app.py), and keys of providers (config.py).
"""

from __future__ import annotations

import hashlib
import hmac
import os
import secrets
from collections.abc import Iterable
from typing import final

from sendable.gateway.config import ClientKey, Config, ConfigError

PREFIX = "sk-sendable-"


def hashed(key: str) -> str:
    """What stands in the configuration for a key: 64 hexadecimal digits."""
    return hashlib.sha256(key.encode("utf-8", "surrogateescape")).hexdigest()


def new_key() -> tuple[str, str]:
    """A fresh key, and what stands for it in the configuration."""
    key = PREFIX + secrets.token_urlsafe(32)
    return key, hashed(key)


@final
class Keys:
    """The keys of all clients. It holds hashes only."""

    __slots__ = ("_known",)

    def __init__(self, clients: Iterable[ClientKey]) -> None:
        """Raises `ConfigError` if a key is said to be in a variable that is not set."""
        self._known: list[tuple[str, bytes]] = []
        for client in clients:
            digest = client.sha256
            if digest is None:
                key = os.environ.get(client.key_env or "")
                if not key:
                    raise ConfigError(f"the environment variable {client.key_env} is not set", f"clients.{client.name}")
                digest = hashed(key)
            self._known.append((client.name, bytes.fromhex(digest)))

    def check(self, *headers: bytes | None) -> str | None:
        """The name of the client whose key is in one of these header values, or None.

        `Bearer KEY` and the bare key are the same, so that both `Authorization` and `x-api-key` can be given, and both may be there:
        some clients send a dummy in one of them. How long it takes does not depend on how much of a key was right.
        """
        found: str | None = None
        for value in headers:
            if value is None:
                continue  # loses nothing: the client did not send this header
            scheme, _, rest = value.strip().partition(b" ")
            digest = hashlib.sha256(rest.strip() if scheme.lower() == b"bearer" else value.strip()).digest()
            for name, known in self._known:
                if hmac.compare_digest(digest, known) and found is None:
                    found = name
        return found


def keys_of(config: Config) -> Keys | None:
    """The keys of a configuration; None if it has no clients, and everybody on this machine may come in."""
    return Keys(config.clients.values()) if config.clients else None
