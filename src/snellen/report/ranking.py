"""The models of a run in one ranked table: by clean accuracy, each with the places that it may have."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from snellen.audits.families import SURE
from snellen.report.comparison import comparison_questions
from snellen.report.results import AnyFinding, Results
from snellen.report.table import FindingRow, row_of
from snellen.report.words import is_known


@dataclass(frozen=True)
class RankedModel:
    """A model with its first and last possible place, and its finding for each column (None: it has none)."""

    model: str
    first: int
    last: int
    findings: tuple[AnyFinding | None, ...]
    guesses: bool = False

    @property
    def place(self) -> str:
        """`2`, or `1–3` where models are not clearly different."""
        return str(self.first) if self.first == self.last else f"{self.first}–{self.last}"


@dataclass(frozen=True)
class Ranking:
    """The models in order, best first; `columns` are short names, the first is what they are ranked by."""

    columns: tuple[str, ...]
    models: tuple[RankedModel, ...]
    rule: str


def ranking(results: Results, guessing: Collection[str] = ()) -> Ranking | None:
    """The models of a run by clean accuracy; nothing where that is not known of any."""
    questions = comparison_questions(results)
    if not questions.get("clean"):
        return None
    order = [
        "clean",
        *sorted((name for name in questions if name != "clean"), key=lambda name: not _is_accuracy(questions[name])),
    ]
    row = row_of(questions["clean"], results)
    places = {model: place_of(model, row) for model in results.models}
    known = {model: -(finding.value or 0.0) for model, finding in row.findings.items() if is_known(finding.value)}
    models = sorted(results.models, key=lambda model: (places[model], known.get(model, 1.0)))
    ranked = [
        RankedModel(model, *places[model], tuple(questions[name].get(model) for name in order), model in guessing)
        for model in models
    ]
    return Ranking(tuple(order), tuple(ranked), _rule(row))


def place_of(model: str, row: FindingRow) -> tuple[int, int]:
    """The first and the last place that a model may have: behind those clearly better, before those clearly worse."""
    others = [other for other in row.findings if other != model]
    if model not in row.findings or not is_known(row.findings[model].value):
        return len(row.findings), len(row.findings)
    better = sum(row.is_clearly_better(other, model) for other in others)
    worse = sum(row.is_clearly_better(model, other) for other in others)
    return 1 + better, len(row.findings) - worse


def _is_accuracy(column: dict[str, AnyFinding]) -> bool:
    first = next(iter(column.values()))
    return first.unit == "share" and first.better == "higher"


def _rule(row: FindingRow) -> str:
    """How the places were found, in words."""
    families = dict.fromkeys(pair.corrected_over for pair in row.pairs)
    over = "".join(f" over {family}" for family in families if isinstance(family, str))
    if not row.pairs:
        return "Ranked by clean accuracy; places are apart where 95% intervals do not overlap."
    return f"Ranked by clean accuracy; places are apart where p < {SURE} on the same images, after Holm's correction{over}."
