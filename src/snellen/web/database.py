"""Opening a store so that what is confirmed is on disk: an SQLite file, or a PostgreSQL database by its URL.

SQLite runs with a write-ahead log and waits for the disk at every commit (`synchronous=FULL`); PostgreSQL does so by default.
An SQLite file and its copies are for their owner alone, and what is erased is overwritten.
"""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any

import sqlalchemy as sa

from snellen.errors import UserError
from snellen.extras import import_package
from snellen.web.sound_store import first_fault

POSTGRESQL = "postgresql://"
_PRAGMAS = ("journal_mode=WAL", "synchronous=FULL", "foreign_keys=ON", "busy_timeout=30000", "secure_delete=ON")


class Database:
    """A store of one kind and version, at a path (SQLite) or a URL (`postgresql://user:password@host/name`).

    `tables` are made where they are missing. A store of another kind or version is refused in one line and left as it is.
    """

    def __init__(self, place: Path | str, tables: sa.MetaData, kind: str, version: int) -> None:
        self.place = place
        self.is_file = isinstance(place, Path)
        self._writer = (
            threading.Lock() if self.is_file else None
        )  # SQLite has one writer; waiting here is fair and short
        self.engine = _file_engine(place) if isinstance(place, Path) else _url_engine(place)
        if isinstance(place, Path):
            _make_private(place)
        try:
            with self.writing() as connection:
                self._open(connection, tables, kind, version)
        except (sa.exc.DBAPIError, sqlite3.Error) as error:
            raise UserError(
                f"cannot open {self.name}: {_reason(error)}; check the file, or the URL and its server"
            ) from None

    def _open(self, connection: sa.Connection, tables: sa.MetaData, kind: str, version: int) -> None:
        """Make the tables of a store that is new; check what kind of store another is, and whether it is whole."""
        stores = _stores(tables)
        there = sa.inspect(connection).get_table_names()
        is_old = self.is_file and bool(there)
        if not is_old:
            tables.create_all(connection)
        elif stores.name not in there:
            raise self.damaged(f"it has no table '{stores.name}'")
        row = connection.execute(sa.select(stores.c.kind, stores.c.version)).first()
        if row is None and is_old:
            raise self.damaged("it does not say what it is")
        if row is None:
            connection.execute(stores.insert().values(kind=kind, version=version))
        elif tuple(row) != (kind, version):
            raise UserError(
                f"{self.name} is a store '{row.kind}' of version {row.version}, this snellen reads '{kind}' of "
                f"version {version}; use the snellen that made it, or make a new one"
            )
        if is_old and (fault := first_fault(connection, tables)):
            raise self.damaged(fault)

    def damaged(self, fault: str) -> UserError:
        """The error of a store that holds what was never written."""
        return UserError(f"{self.name} is damaged: {fault}; restore a backup, or make a new one")

    @property
    def name(self) -> str:
        """What messages call it: the path, or the URL without its password."""
        return str(self.place) if self.is_file else self.engine.url.render_as_string(hide_password=True)

    @contextmanager
    def writing(self) -> Iterator[sa.Connection]:
        """A transaction that writes: on disk when the body has ended, gone where it raised."""
        if self._writer is None:
            with self.engine.begin() as connection:
                yield connection
            return
        with self._writer, self.engine.connect() as connection, connection.execution_options(writes=True).begin():
            yield connection

    @contextmanager
    def reading(self) -> Iterator[sa.Connection]:
        """A transaction that reads one state of the store."""
        try:
            with self.engine.connect() as connection, connection.begin():
                yield connection
        except (sa.exc.DatabaseError, sqlite3.DatabaseError) as error:
            advice = "stop the server and restore a backup, or check the database"
            raise UserError(f"cannot read {self.name}: {_reason(error)}; {advice}") from None

    def forget(self) -> None:
        """Let nothing of what was erased stay on disk; PostgreSQL's own vacuum does that in its time.

        SQLite keeps earlier states in its write-ahead log, which is emptied here; a reader may put that off to the next time.
        """
        if self._writer is not None:
            with self._writer, closing(sqlite3.connect(self.place, timeout=30)) as connection:
                connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    def backup(self, target: Path) -> None:
        """Copy an SQLite store to a new file while it is in use; the copy is of one moment."""
        if not isinstance(self.place, Path):
            own = "pg_dump --format=custom --file FILE URL"
            raise UserError(f"{self.name} is a PostgreSQL database; back it up by its own: {own}")
        if target.exists():
            raise UserError(f"'{target}' is there already; choose another file")
        try:
            _make_private(target)
            self._copy(target)
        except sqlite3.Error as error:
            raise UserError(f"cannot write {target}: {_reason(error)}; check its folder and the space left") from None

    def _copy(self, target: Path) -> None:
        with closing(sqlite3.connect(self.place)) as source, closing(sqlite3.connect(target)) as copy:
            source.backup(copy)

    def close(self) -> None:
        """Let go of all connections."""
        self.engine.dispose()


def _stores(tables: sa.MetaData) -> sa.Table:
    """The table with one row: what the store is."""
    if "store" in tables.tables:
        return tables.tables["store"]
    return sa.Table(
        "store", tables, sa.Column("kind", sa.String(40), primary_key=True), sa.Column("version", sa.Integer)
    )


def _make_private(path: Path) -> None:
    """Make a file that its owner alone can read, where there is none; SQLite gives its log the same rights.

    One that is there is not opened: closing it would end the locks that others in this process hold.
    """
    with suppress(OSError):  # SQLite says why
        path.touch(0o600, exist_ok=False)


def _file_engine(path: Path) -> sa.Engine:
    engine = sa.create_engine(
        f"sqlite:///{path}", connect_args={"check_same_thread": False}, pool_size=20, max_overflow=40
    )

    @sa.event.listens_for(engine, "connect")
    def _prepare(connection: sqlite3.Connection, _: Any) -> None:
        connection.isolation_level = None  # transactions begin as told below
        for pragma in _PRAGMAS:
            connection.execute(f"PRAGMA {pragma}").close()

    @sa.event.listens_for(engine, "begin")
    def _begin(connection: sa.Connection) -> None:
        writes = connection.get_execution_options().get("writes", False)
        connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")

    return engine


def _url_engine(url: str) -> sa.Engine:
    import_package("pg8000", "a PostgreSQL store")
    if not url.startswith(POSTGRESQL):
        raise UserError(
            f"expected a database as {POSTGRESQL}user:password@host/name, got '{url.partition('@')[2] or url}'"
        )
    try:
        address = sa.make_url(url).set(drivername="postgresql+pg8000")
    except (sa.exc.ArgumentError, ValueError):
        raise UserError(f"cannot read the database's URL; expected {POSTGRESQL}user:password@host/name") from None
    return sa.create_engine(address, pool_size=20, max_overflow=20, pool_pre_ping=True)


def _reason(error: Exception) -> str:
    cause = getattr(error, "orig", None) or error
    facts = cause.args[0] if cause.args else ""
    return str(facts.get("M", facts) if isinstance(facts, dict) else facts).lower()
