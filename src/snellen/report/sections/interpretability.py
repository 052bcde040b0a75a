"""Accuracy against alignment, faithfulness and concepts over all models: which pays least in interpretability.

Won et al. (2023) close with this question about training recipes. The section reads what other audits found; it shows nothing
unless a run has several models and at least two of the three criteria.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from snellen.audits.alignment_facts import AlignmentFacts, FilterCounts, GainFacts
from snellen.audits.concepts import ConceptFacts
from snellen.audits.deletion_curves import CurveFacts
from snellen.audits.facts import UNSET, FindingFacts, Number
from snellen.audits.stored_finding import apart
from snellen.report.blocks import Block, Chart, FactLine, Heading, Panels, lead, note, prose
from snellen.report.results import AnyFinding, Results
from snellen.report.sections.interpretability_charts import AccuracyPoint, Ends, against_accuracy
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
RULE = (
    "The rule: for each criterion the models other than {baseline} are ranked by their values, where several attribution methods "
    "were used by the mean of their ranks; the model with the lowest mean rank over {criteria} pays least. Ranks give every "
    "criterion the same weight and do not see how large a loss is. Accuracy does not count{calibration}. Dashed lines go through "
    "{baseline}; bars are 95% intervals over images, which counts of concepts do not have."
)


@dataclass(frozen=True)
class Traits:
    """What tells measures of one name apart; None where it does not apply. Images that a filter chose are others than all."""

    method: str | None = None
    layer: int | str | None = None
    region: str | None = None
    chosen: FilterCounts | None = None
    tile: int | None = None
    fill: str | None = None
    evaluation: str | None = None
    request: str | None = None
    settings: str | None = None

    @classmethod
    def of(cls, facts: FindingFacts) -> Traits:
        """Those of a finding, by its facts."""
        own = None if facts.settings is UNSET else facts.settings
        if isinstance(facts, AlignmentFacts):
            chosen = None if facts.filter is UNSET else facts.filter
            return cls(method=facts.method, layer=facts.layer, region=facts.region, chosen=chosen, settings=own)
        if isinstance(facts, CurveFacts):
            tile, fill = facts.tile, facts.fill
            return cls(facts.method, facts.layer, tile=tile, fill=fill, evaluation=facts.evaluation, settings=own)
        if isinstance(facts, ConceptFacts):
            return cls(layer=facts.layer, request=facts.request, settings=own)
        return cls(settings=own)

    def words(self) -> list[tuple[object, str]]:
        """Each trait and how a title says it."""
        return [
            (self.method, f"by {self.method}"),
            (self.layer, f"at layer {self.layer}"),
            (self.region, f"in the {self.region}"),
            (self.chosen, "on chosen images"),
            (self.tile, f"with tiles of {self.tile} pixels"),
            (self.fill, f"filled with {self.fill}"),
            (self.evaluation, str(self.evaluation)),
            (self.request, f"of {self.request}"),
            (self.settings, f"({self.settings})"),
        ]


@dataclass(frozen=True)
class Known:
    """A number that is known, and the ends of its interval."""

    value: float
    low: Number
    high: Number

    @classmethod
    def of(cls, finding: AnyFinding | None) -> Known | None:
        """That of a finding; None where it has none."""
        if finding is None or not is_known(finding.value):
            return None
        return cls(finding.value, finding.low, finding.high)


@dataclass(frozen=True)
class Measure:
    """One measure of several models: what it is a measure of, what it is called, its unit and better side, and the values."""

    criterion: str
    title: str
    unit: str
    lower_is_better: bool
    values: Mapping[str, Known]


def interpretability_blocks(results: Results) -> list[Block]:
    """A chart for each measure, the closing sentence and the rule behind it; nothing without two criteria of two models."""
    measures = measures_of(results, {**CRITERIA, **BESIDE})
    every = dict.fromkeys(measure.criterion for measure in measures)
    criteria = [criterion for criterion in every if criterion in CRITERIA.values()]
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
        FactLine(results.keys()),
        Panels(tuple(_chart(measure, results) for measure in measures)),
        *([prose(sentence)] if sentence else []),
        note(rule),
    ]


def measures_of(results: Results, names: Mapping[str, str]) -> list[Measure]:
    """The measures of some names that at least two models of known accuracy have, in the order of the names."""
    measures = []
    for name, criterion in names.items():
        groups: dict[Traits, dict[str, Known]] = {}
        findings = [finding for finding in results.findings if finding.name == name]
        for finding in findings:
            if (known := Known.of(finding)) and Known.of(results.clean(finding.model)):
                groups.setdefault(Traits.of(finding.facts), {})[finding.model] = known
        several = {traits: values for traits, values in groups.items() if len(values) > 1}
        for traits, values in several.items():
            title, lower = _title(name, traits, list(several)), findings[0].better == "lower"
            measures.append(Measure(criterion, title, findings[0].unit, lower, values))
    return measures


def baseline_of(results: Results) -> str:
    """The model that others are compared with: that of the audit `explanation`, else the first."""
    names = (finding.facts.other for finding in results.having(GainFacts))
    return next(names, None) or next(iter(results.models))


def closing_sentence(results: Results) -> str:
    """Which model pays least, what it pays for which accuracy, and whether its lead may be chance; '' where it is unknown."""
    measures, baseline = measures_of(results, CRITERIA), baseline_of(results)
    models = [model for model in results.models if all(model in measure.values for measure in measures)]
    others = [model for model in models if model != baseline]
    if baseline not in models or not others or len({measure.criterion for measure in measures}) < 2:
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
    criteria = list(dict.fromkeys(measure.criterion for measure in measures))
    ranks = [(measure.criterion, _ranks(measure, models)) for measure in measures]
    return {
        model: fmean(fmean(rank[model] for own, rank in ranks if own == criterion) for criterion in criteria)
        for model in models
    }


def _ranks(measure: Measure, models: Sequence[str]) -> dict[str, float]:
    values = {model: measure.values[model].value for model in models}
    sign = -1 if measure.lower_is_better else 1
    return {
        model: 1
        + sum(sign * other > sign * value for other in values.values())
        + (sum(other == value for other in values.values()) - 1) / 2
        for model, value in values.items()
    }


def _changes(results: Results, measures: Sequence[Measure], model: str, baseline: str) -> str:
    """What a model has more or less of than the baseline, measure by measure, and for which accuracy."""
    texts = [f"{_change(measure, model, baseline)} {measure.title}" for measure in measures]
    own, other = Known.of(results.clean(model)), Known.of(results.clean(baseline))
    gain = own.value - other.value if own and other else None
    return f"{join_words(texts)}, with {points(gain)} of accuracy"


def _change(measure: Measure, model: str, baseline: str) -> str:
    difference = measure.values[model].value - measure.values[baseline].value
    return f"{points(difference)} of" if measure.unit == "share" else signed_index(difference)


def _doubt(measures: Sequence[Measure], first: str, second: str) -> str:
    """How far the intervals tell the first from the second."""
    pairs = [(measure.values[first], measure.values[second]) for measure in measures]
    known = [pair for pair in pairs if all(is_known(number.low) and is_known(number.high) for number in pair)]
    overlaps = sum(not apart(*pair) for pair in known)
    if not overlaps:
        return f"Next is {second}."
    chance = ", so their order may be chance" if overlaps == len(known) else ""
    some = f"{overlaps} of {count_of(len(known), 'measure')}"
    return f"Next is {second}, from which its intervals do not tell it apart in {some}{chance}."


def _title(name: str, own: Traits, every: Sequence[Traits]) -> str:
    """What a measure is called; of several of one name each says in what it differs."""
    values = zip(*([value for value, _ in traits.words()] for traits in every))
    differ = [len(set(some)) > 1 for some in values]
    words = [text for (value, text), differs in zip(own.words(), differ) if differs and value is not None]
    return " ".join([TITLES[name], *words])


def _chart(measure: Measure, results: Results) -> Chart:
    title = measure.title[0].upper() + measure.title[1:]
    better = "lower is better" if measure.lower_is_better else "higher is better"
    return Chart(title, against_accuracy(_points(measure, results), better, measure.unit == "share"))


def _points(measure: Measure, results: Results) -> list[AccuracyPoint]:
    """A point per model in the order of the run: its accuracy and its value, with the ends of both intervals."""
    baseline = baseline_of(results)
    every = []
    for place, model in enumerate(results.models):
        accuracy, value = Known.of(results.clean(model)), measure.values.get(model)
        if accuracy and value:
            every.append(AccuracyPoint(model, place, model == baseline, _ends(accuracy), _ends(value)))
    return every


def _ends(known: Known) -> Ends:
    low, high = known.low, known.high
    return Ends(known.value, low if is_known(low) else known.value, high if is_known(high) else known.value)


INTERPRETABILITY = Section(blocks=interpretability_blocks)
