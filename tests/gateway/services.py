"""The databases that the tests of the gateway may use: always SQLite; PostgreSQL and Redis where the environment names them.

`SENDABLE_TEST_POSTGRESQL` is a `postgresql://` URL whose user may create schemas, `SENDABLE_TEST_REDIS` a `redis://` URL. `.ci/run` sets both.
"""

from __future__ import annotations

import os
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from sqlalchemy import create_engine, make_url, text

DATABASES = ("sqlite", "postgresql")
STORES = ("sqlite", "redis")


@contextmanager
def audit_place(kind: str, folder: Path) -> Iterator[str]:
    """Where an empty audit of this kind can be made; what PostgreSQL held of it is gone afterwards."""
    if kind == "sqlite":
        yield str(folder / "state" / "audit.db")
        return
    told = os.environ.get("SENDABLE_TEST_POSTGRESQL")
    if not told:
        pytest.skip("SENDABLE_TEST_POSTGRESQL names no database; .ci/run starts one")
    schema = f"audit_{uuid.uuid4().hex}"
    engine = create_engine(make_url(told).set(drivername="postgresql+psycopg"), isolation_level="AUTOCOMMIT")
    try:
        with engine.connect() as connection:
            connection.execute(text(f"CREATE SCHEMA {schema}"))
        url = make_url(told).update_query_dict({"options": f"-csearch_path={schema}"})
        yield url.render_as_string(hide_password=False)
        with engine.connect() as connection:
            connection.execute(text(f"DROP SCHEMA {schema} CASCADE"))
    finally:
        engine.dispose()


def store_place(kind: str, folder: Path) -> str:
    """Where an empty store of this kind can be made."""
    if kind == "sqlite":
        return str(folder / "state" / "store.db")
    told = os.environ.get("SENDABLE_TEST_REDIS")
    if not told:
        pytest.skip("SENDABLE_TEST_REDIS names no server; .ci/run starts one")
    return told
