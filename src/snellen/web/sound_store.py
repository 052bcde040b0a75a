"""Whether an SQLite store is as it was written: SQLite itself keeps no checksums, and takes any value in any column."""

from __future__ import annotations

from collections.abc import Iterator

import sqlalchemy as sa

from snellen.errors import one_line

_KINDS = (  # what `typeof` may say of a column's values
    (sa.Boolean, "'integer'"),
    (sa.Integer, "'integer'"),
    (sa.Float, "'real', 'integer'"),
    (sa.LargeBinary, "'blob'"),
    (sa.String, "'text'"),
)
LONGEST = 200  # characters of SQLite's own words
FARTHEST = 1e15  # of any number: times in ms, and ids


def first_fault(connection: sa.Connection, tables: sa.MetaData) -> str | None:
    """What is wrong first with a store of these tables: pages, a table or a column that is gone, a value that nothing wrote."""
    verdict = connection.exec_driver_sql("PRAGMA quick_check(1)").scalars().first()
    if verdict != "ok":
        return one_line(str(verdict))[:LONGEST]
    return next(_faults(connection, tables), None) or _orphan(connection)


def _orphan(connection: sa.Connection) -> str | None:
    """A row that refers to none: SQLite enforces that only on connections that ask for it."""
    row = connection.exec_driver_sql("PRAGMA foreign_key_check").first()
    return None if row is None else f"a row of '{row[0]}' belongs to one of '{row[2]}' that is not there"


def _faults(connection: sa.Connection, tables: sa.MetaData) -> Iterator[str]:
    there = sa.inspect(connection)
    names = there.get_table_names()
    for table in tables.tables.values():
        if table.name not in names:
            yield f"it has no table '{table.name}'"
            return
        columns = {column["name"] for column in there.get_columns(table.name)}
        if missing := [column.name for column in table.columns if column.name not in columns]:
            yield f"its table '{table.name}' has no column '{missing[0]}'"
            return
        for column in table.columns:
            if wrong := connection.exec_driver_sql(_wrong_values(table.name, column)).scalar():
                yield f"{wrong:,} values of '{table.name}.{column.name}' are of another type, or out of range"


def _wrong_values(table: str, column: sa.Column) -> str:
    """SQL that counts the values which a column does not take."""
    kinds = next(kinds for kind, kinds in _KINDS if isinstance(column.type, kind))
    name = f'"{column.name}"'
    right = f"typeof({name}) in ({kinds})"
    if isinstance(column.type, sa.Boolean):
        right += f" and {name} in (0, 1)"
    elif isinstance(column.type, sa.Integer | sa.Float):
        right += f" and abs({name}) <= {FARTHEST:.0f}"
    if column.nullable:
        right = f"{name} is null or ({right})"
    return f'select count(*) from "{table}" where not ({right})'
