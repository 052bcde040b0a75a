"""The models of a run in one ranked table: by clean accuracy, each with the places that it may have."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Protocol

from snellen.audits.families import SURE
from snellen.report.results import AnyFinding, Results
from snellen.report.table import FindingRow, row_of
from snellen.report.words import is_known

MOST_COLUMNS = 8


class Telling(Protocol):
    """A finding and how far it is from nothing, nan where that has no meaning."""

    @property
    def finding(self) -> AnyFinding: ...

    @property
    def strength(self) -> float: ...


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
class ModelRanking:
    """The models in order, best first; `columns` are topics: clean images, by which they are ranked, then what the strongest
    findings of any model are about. `rule` says how places were found."""

    columns: tuple[str, ...]
    models: tuple[RankedModel, ...]
    rule: str


def ranking(results: Results, telling: Sequence[Telling], guessing: Collection[str] = ()) -> ModelRanking | None:
    """The models of a run by clean accuracy; nothing where that is not known of any."""
    clean = {model: finding for model in results.models if (finding := results.clean(model)) is not None}
    known = {model: -finding.value for model, finding in clean.items() if is_known(finding.value)}
    if not known:
        return None
    row = row_of(clean, results)
    columns = [clean, *(_everyones(results, finding) for finding in telling_questions(telling))]
    places = {model: place_of(model, row) for model in results.models}
    order = sorted(results.models, key=lambda model: (places[model], known.get(model, 1.0)))
    ranked = [
        RankedModel(model, *places[model], tuple(column.get(model) for column in columns), model in guessing)
        for model in order
    ]
    topics = tuple(next(iter(column.values())).topic for column in columns)
    return ModelRanking(topics, tuple(ranked), _rule(row))


def telling_questions(telling: Sequence[Telling]) -> list[AnyFinding]:
    """The strongest finding of each kind over all models, strongest first; those without a strength last."""
    kinds: dict[tuple[str, str], Telling] = {}
    for key in telling:
        kind = (key.finding.audit, key.finding.name)
        if kind not in kinds or _strength(key) > _strength(kinds[kind]):
            kinds[kind] = key
    best = sorted(kinds.values(), key=_strength, reverse=True)
    seen: Counter[str] = Counter()
    turns: list[tuple[bool, int, AnyFinding]] = []
    for key in best:  # the first of each audit before the second of any, as in the findings of one model
        turns.append((not key.strength > 0, seen[key.finding.audit], key.finding))
        seen[key.finding.audit] += 1
    turns.sort(key=lambda turn: turn[:2])
    return [finding for *_, finding in turns][: MOST_COLUMNS - 1]


def _strength(key: Telling) -> float:
    return -math.inf if math.isnan(key.strength) else key.strength


def _everyones(results: Results, question: AnyFinding) -> dict[str, AnyFinding]:
    """Each model's answer to the question of one finding."""
    about = (question.audit, question.name, question.on, question.label, question.facts.settings)
    same = [
        finding
        for finding in results.findings
        if (finding.audit, finding.name, finding.on, finding.label, finding.facts.settings) == about
    ]
    return {finding.model: finding for finding in same if finding.model in results.models}


def place_of(model: str, row: FindingRow) -> tuple[int, int]:
    """The first and the last place that a model may have: behind those clearly better, before those clearly worse."""
    if model not in row.findings or not is_known(row.findings[model].value):
        return len(row.findings), len(row.findings)
    others = [other for other in row.findings if other != model]
    better = sum(row.is_clearly_better(other, model) for other in others)
    worse = sum(row.is_clearly_better(model, other) for other in others)
    return 1 + better, len(row.findings) - worse


def _rule(row: FindingRow) -> str:
    """How the places were found, in words."""
    families = dict.fromkeys(pair.corrected_over for pair in row.pairs)
    over = "".join(f" over {family}" for family in families if isinstance(family, str))
    if not row.pairs:
        return "Ranked by clean accuracy; places are apart where 95% intervals do not overlap."
    return f"Ranked by clean accuracy; places are apart where p < {SURE} on the same images, after Holm's correction{over}."
