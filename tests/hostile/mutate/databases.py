"""SQLite: a value of a row changed, rows or a table gone, doubled or emptied, another kind of store."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from random import Random

from . import nasty
from .unfit import Unfit

BYTES = (b"", b"\xff\xfe", b"\x00" * 100)


def mutate(file: Path, draw: Random) -> str:
    try:
        with closing(sqlite3.connect(file)) as connection, connection:
            return _change(connection, draw)
    except sqlite3.Error as error:  # a constraint that holds, or a file that is damaged already
        raise Unfit from error


def _change(connection: sqlite3.Connection, draw: Random) -> str:
    tables = [row[0] for row in connection.execute("select name from sqlite_master where type = 'table' order by name")]
    own = [name for name in tables if not name.startswith("sqlite_")]
    if not own:
        raise Unfit
    table = draw.choice(own)
    columns = [row[1] for row in connection.execute(f'pragma table_info("{table}")')]
    rows = [row[0] for row in connection.execute(f'select rowid from "{table}"')]
    how = draw.choice(["value", "value", "value", "delete", "empty", "drop", "column"])
    column = draw.choice(columns)
    if how == "value" and rows:
        value = draw.choice([None, nasty.text(draw), nasty.number(draw), draw.choice(BYTES)])
        value = str(value) if isinstance(value, int) and not -(2**63) <= value < 2**63 else value
        try:
            connection.execute(f'update "{table}" set "{column}" = ? where rowid = ?', (value, draw.choice(rows)))
        except UnicodeEncodeError as error:
            raise Unfit from error
    elif how == "delete" and rows:
        connection.execute(f'delete from "{table}" where rowid = ?', (draw.choice(rows),))
    elif how == "empty":
        connection.execute(f'delete from "{table}"')
    elif how == "column":
        connection.execute(f'alter table "{table}" rename column "{column}" to other')
    else:
        how = "drop"
        connection.execute(f'drop table "{table}"')
    return f"sqlite: {how} of {table}.{column}"
