"""What Marcu & Prügel-Bennett (2022) printed of the same questions, folded at the end of a chapter."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from snellen.report.blocks import Block, Details, Published, Row, Table, TableCell, heads
from snellen.report.published import PublishedValue, published_table
from snellen.report.results import Results

PAPER = "marcu2022"
NOT_THESE = "they say how far apart trainings have been on other data, not how good these models are."


def published_by_marcu(audit: str, tables: Mapping[str, str]) -> Callable[[Results], list[Block]]:
    """Some printed tables, by number with what each is of, for the chapter of an audit that found something."""

    def blocks(results: Results) -> list[Block]:
        if not results.of_audit(audit):
            return []
        folded = [
            Published("Marcu & Prügel-Bennett 2022", False, f"table {number}: {about}; {NOT_THESE}", (_table(number),))
            for number, about in tables.items()
        ]
        return [Details("Published values", tuple(folded))]

    return blocks


def _table(number: str) -> Table:
    """A printed table as it stands."""
    table = published_table(PAPER, number)
    columns = list(dict.fromkeys(column for row in table.values() for column in row))
    rows = (Row(TableCell(name), tuple(_cell(row.get(column)) for column in columns)) for name, row in table.items())
    return Table(heads("", *columns), tuple(rows), dense=True)


def _cell(value: PublishedValue | None) -> TableCell:
    if value is None:
        return TableCell("–")
    unit = "%" if value.unit == "percent" else ""
    deviation = "" if value.sd is None else f" ± {value.sd:.2f}"
    return TableCell(f"{value.value:.2f}{deviation}{unit}", value.value)
