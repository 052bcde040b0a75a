"""Accuracy against alignment, faithfulness and concepts over all models: which pays least in interpretability.

Won et al. (2023) close with this question about training recipes. The section reads what other audits found; it shows nothing
unless a run has several models and at least two of the three criteria.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

from snellen.report.blocks import Block, Chart, Facts, Heading, Panels, lead, note, prose
from snellen.report.results import Finding, Results
from snellen.report.sections.interpretability_charts import against_accuracy
from snellen.report.sections.section import Section
from snellen.report.words import count_of, is_known, join_words, points, signed_index

CRITERIA = {"energy_pg": "alignment", "inter_model_deletion": "faithfulness", "unique_concepts": "concepts"}
BESIDE = {"calibration_error": "calibration"}  # drawn beside them; says nothing about explanations
TITLES = {
    "energy_pg": "EnergyPG",
    "inter_model_deletion": "inter-model deletion",
    "unique_concepts": "different concepts",
    "calibration_error": "calibration error",
}
DIFFER = {  # facts that tell findings of a name apart, and how a title says them
    "method": "by {}",
    "layer": "at layer {}",
    "region": "in the {}",
    "filter": "on chosen images",
    "tile": "with tiles of {} pixels",
    "fill": "filled with {}",
    "evaluation": "{}",
    "request": "of {}",
}
RULE = (
    "The rule: for each criterion the models other than {baseline} are ranked by their values, where several attribution methods "
    "were used by the mean of their ranks; the model with the lowest mean rank over {criteria} pays least. Ranks give every "
    "criterion the same weight and do not see how large a loss is. Accuracy does not count{calibration}. Dashed lines go through "
    "{baseline}; bars are 95% intervals over images, which counts of concepts do not have."
)


@dataclass(frozen=True)
class Measure:
    """One measure of several models: what it is a measure of, what it is called, and the finding of each model."""

    criterion: str
    title: str
    findings: Mapping[str, Finding]

    @property
    def lower_is_better(self) -> bool:
        """Whether a small value is the good one."""
        return next(iter(self.findings.values()))["better"] == "lower"


def interpretability_blocks(results: Results) -> list[Block]:
    """A chart for each measure, the closing sentence and the rule behind it; nothing without two criteria of two models."""
    measures = measures_of(results, {**CRITERIA, **BESIDE})
    criteria = [one for one in dict.fromkeys(one.criterion for one in measures) if one in CRITERIA.values()]
    if len(criteria) < 2:
        return []
    baseline, calibrated = baseline_of(results), len(measures) > len(measures_of(results, CRITERIA))
    sentence = closing_sentence(results)
    rule = RULE.format(
        baseline=baseline, criteria=join_words(criteria), calibration=", nor does calibration" if calibrated else ""
    )
    return [
        Heading("Accuracy and interpretability"),
        lead(
            "Does a model that is right more often also explain itself as well? Right of the dashed line a model is more "
            f"accurate than {baseline}; what it pays for that is how far it lies on the worse side of the other line."
        ),
        Facts(results.keys()),
        Panels(tuple(_chart(one, results) for one in measures)),
        *([prose(sentence)] if sentence else []),
        note(rule),
    ]


def measures_of(results: Results, names: Mapping[str, str]) -> list[Measure]:
    """The measures of some names that at least two models of known accuracy have, in the order of the names."""
    measures = []
    for name, criterion in names.items():
        groups: dict[tuple[str, ...], dict[str, Finding]] = {}
        for one in results.findings:
            if one["name"] == name and is_known(one["value"]) and _accuracy(results, one["model"]) is not None:
                groups.setdefault(_identity(one), {})[one["model"]] = one
        several = {own: findings for own, findings in groups.items() if len(findings) > 1}
        measures += [
            Measure(criterion, _title(name, own, list(several)), findings) for own, findings in several.items()
        ]
    return measures


def baseline_of(results: Results) -> str:
    """The model that others are compared with: that of the audit `explanation`, else the first."""
    names = (one["facts"]["other"] for one in results.findings if one["name"] == "gain_ratio")
    return next(names, None) or next(iter(results.models))


def closing_sentence(results: Results) -> str:
    """Which model pays least, what it pays for which accuracy, and whether its lead may be chance; '' where it is unknown."""
    measures, baseline = measures_of(results, CRITERIA), baseline_of(results)
    models = [model for model in results.models if all(model in one.findings for one in measures)]
    others = [model for model in models if model != baseline]
    if baseline not in models or not others or len({one.criterion for one in measures}) < 2:
        return ""
    changes = {model: _changes(results, measures, model, baseline) for model in others}
    if len(others) == 1:
        return f"Beside {baseline}, {others[0]} has {changes[others[0]]}."
    ranks = mean_ranks(measures, others)
    least = [model for model in others if ranks[model] == min(ranks.values())]
    if len(least) > 1:
        each = "; ".join(f"{model} has {changes[model]}" for model in least)
        return f"{join_words(least)} pay least in interpretability, at the same mean rank. Beside {baseline}, {each}."
    second = min((model for model in others if model not in least), key=lambda model: ranks[model])
    return (
        f"{least[0]} pays least in interpretability: beside {baseline} it has {changes[least[0]]}. "
        f"{_doubt(measures, least[0], second)}"
    )


def mean_ranks(measures: Sequence[Measure], models: Sequence[str]) -> dict[str, float]:
    """The mean rank of each model over the criteria, 1 for the best; models of equal value share the mean of their ranks."""
    criteria = list(dict.fromkeys(one.criterion for one in measures))
    ranks = [(one.criterion, _ranks(one, models)) for one in measures]
    return {
        model: fmean(fmean(rank[model] for own, rank in ranks if own == criterion) for criterion in criteria)
        for model in models
    }


def _ranks(measure: Measure, models: Sequence[str]) -> dict[str, float]:
    values = {model: measure.findings[model]["value"] for model in models}
    sign = -1 if measure.lower_is_better else 1
    return {
        model: 1
        + sum(sign * other > sign * value for other in values.values())
        + (sum(other == value for other in values.values()) - 1) / 2
        for model, value in values.items()
    }


def _changes(results: Results, measures: Sequence[Measure], model: str, baseline: str) -> str:
    """What a model has more or less of than the baseline, measure by measure, and for which accuracy."""
    texts = [f"{_change(one.findings[model], one.findings[baseline])} {one.title}" for one in measures]
    gain = _accuracy(results, model)["value"] - _accuracy(results, baseline)["value"]  # type: ignore[index]
    return f"{join_words(texts)}, with {points(gain)} of accuracy"


def _change(own: Finding, other: Finding) -> str:
    difference = own["value"] - other["value"]
    return f"{points(difference)} of" if own["unit"] == "share" else signed_index(difference)


def _doubt(measures: Sequence[Measure], first: str, second: str) -> str:
    """How far the intervals tell the first from the second."""
    pairs = [(one.findings[first], one.findings[second]) for one in measures]
    known = [pair for pair in pairs if all(is_known(one["low"]) and is_known(one["high"]) for one in pair)]
    overlaps = sum(own["low"] <= other["high"] and other["low"] <= own["high"] for own, other in known)
    if not overlaps:
        return f"Next is {second}."
    chance = ", so their order may be chance" if overlaps == len(known) else ""
    apart = f"{overlaps} of {count_of(len(known), 'measure')}"
    return f"Next is {second}, from which its intervals do not tell it apart in {apart}{chance}."


def _accuracy(results: Results, model: str) -> Finding | None:
    one = results.clean(model)
    return one if one is not None and is_known(one["value"]) else None


def _identity(one: Finding) -> tuple[str, ...]:
    """What tells the findings of one name apart; images that a filter chose are others than all."""
    return tuple(str(one["facts"].get(name)) for name in DIFFER)


def _title(name: str, own: tuple[str, ...], every: Sequence[tuple[str, ...]]) -> str:
    """What a measure is called; of several of one name each says in what it differs."""
    words = [
        text.format(value)
        for value, values, text in zip(own, zip(*every), DIFFER.values())
        if len(set(values)) > 1 and value != "None"
    ]
    return " ".join([TITLES[name], *words])


def _chart(measure: Measure, results: Results) -> Chart:
    title = measure.title[0].upper() + measure.title[1:]
    better = "lower is better" if measure.lower_is_better else "higher is better"
    in_percent = next(iter(measure.findings.values()))["unit"] == "share"
    return Chart(title, against_accuracy(_points(measure, results), better, in_percent))


def _points(measure: Measure, results: Results) -> list[dict[str, Any]]:
    """A row per model in the order of the run: its accuracy and its value, with the ends of both intervals."""
    rows = []
    for place, model in enumerate(results.models):
        if (one := measure.findings.get(model)) is None:
            continue
        accuracy = _accuracy(results, model)
        assert accuracy is not None
        rows.append(
            {
                "model": model,
                "place": place,
                "baseline": model == baseline_of(results),
                **_ends(accuracy, "x"),
                **_ends(one, "y"),
            }
        )
    return rows


def _ends(one: Finding, axis: str) -> dict[str, float]:
    value = one["value"]
    low, high = (one[end] if is_known(one[end]) else value for end in ("low", "high"))
    return {axis: value, f"{axis}_low": low, f"{axis}_high": high}


INTERPRETABILITY = Section(blocks=interpretability_blocks)
