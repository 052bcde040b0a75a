"""Verdicts on the tables of Marcu & Prügel-Bennett 2022 as lines of a page, with the ceiling of each table."""

from __future__ import annotations

from collections.abc import Sequence

from data_modification_tables import TITLES, Comparison
from verdict_ceilings import DRAWS, Ceiling, ceiling
from verdicts import AGREES, DISAGREES, OPEN, of_table, verdict


def counted_rows(rows: Sequence[Comparison]) -> dict[str, list[Comparison]]:
    """The rows that count for each table."""
    return {number: [one for one in rows if one.table == number and not one.beside] for number in TITLES}


def lines_by_table(rows: Sequence[Comparison]) -> list[list[str]]:
    lines = []
    for number, own in counted_rows(rows).items():
        words = [one.verdict.word for one in own]
        most = _ceiling(own)
        counts = (str(words.count(word)) for word in (AGREES, DISAGREES, OPEN))
        lines.append([number, f"**{of_table(words)}**", "–" if most is None else f"{most.agrees:.0%}", *counts])
    return lines


def _ceiling(rows: Sequence[Comparison]) -> Ceiling | None:
    """None for a table without a row that can be judged."""
    judged = [(one.ours, one.published, one.bound) for one in rows if one.verdict.compared]
    return ceiling(judged) if judged else None


def ceilings_in_words(rows: Sequence[Comparison]) -> str:
    """What the ceilings mean for the verdicts, and what the margin changes."""
    tables = counted_rows(rows)
    known = {number: most for number, own in tables.items() if (most := _ceiling(own)) is not None}
    low = [number for number, most in known.items() if most.agrees < 0.5]
    wrong = max((most.disagrees for most in known.values()), default=0.0)
    weak = f" It is below half for tables {', '.join(low)}: *cannot be told* says little there." if low else ""
    strict = {
        number: of_table([verdict(one.ours, one.published, one.bound, margin=0).word for one in own])
        for number, own in tables.items()
    }
    moved = [
        f"table {number} {word}"
        for number, word in strict.items()
        if word != of_table([one.verdict.word for one in tables[number]])
    ]
    change = f" Without the margin of a tenth {', '.join(moved)}." if moved else ""
    return (
        f"The ceiling is how often a table would agree if the truth were what is published: {DRAWS:,} draws of our number of "
        f"runs from the published means and deviations.{weak} It would then disagree in at most {wrong:.1%} of the draws, so "
        f"*disagrees* is not noise.{change}"
    )


def verdict_line(one: Comparison) -> list[str]:
    result = one.verdict
    if not result.compared:
        return [one.table, one.row, result.word, *["–"] * 4, result.reason]
    pairs = [str(count) for count in (result.same, result.opposite, result.unclear)]
    return [one.table, one.row, result.word, *pairs, f"{result.fitting} of {result.compared}", result.reason]
