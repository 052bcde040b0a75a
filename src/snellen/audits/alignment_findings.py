"""What follows from alignments: findings about one model, and about each model beside a baseline."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from snellen.audits.alignment import EVEN, HIT, SWEEP, Alignment, MapReading, common
from snellen.audits.alignment_facts import (
    AlignmentDifferenceFacts,
    AlignmentFacts,
    DisagreementFacts,
    EnergyFacts,
    FilterCounts,
    GainFacts,
    MapPair,
    WsolFacts,
    WsolPoint,
)
from snellen.audits.exam import Exam
from snellen.audits.facts import UNSET, FindingFacts
from snellen.audits.families import SURE, FamilyOfTests, corrected
from snellen.audits.finding import Finding, finding
from snellen.measure import Comparison, accuracy, compare, energy_gain, standard_error

AUDIT = "explanation"
NAMES = ("energy_pg", "ehr", "wsol", "wsol_iou", "pointing_game")
COMPARED = (*(f"{name}_difference" for name in NAMES), "gain_ratio", "wsol_disagreement")
FACTS: dict[str, type[FindingFacts]] = {
    **dict.fromkeys(NAMES, AlignmentFacts),
    **dict.fromkeys((f"{name}_difference" for name in NAMES), AlignmentDifferenceFacts),
    "energy_pg": EnergyFacts,
    "wsol": WsolFacts,
    "gain_ratio": GainFacts,
    "wsol_disagreement": DisagreementFacts,
}
LABELS = {
    "energy_pg": "Share of the map on the object (EnergyPG)",
    "ehr": "Highest parts of the map on the object (EHR)",
    "wsol": f"Boxes from maps with IoU of at least {HIT:g} (WSOL)",
    "wsol_iou": "Mean IoU of boxes from maps (WSOL)",
    "pointing_game": "Peak of the map on the object (pointing game)",
}
TOPICS = {
    "energy_pg": "EnergyPG",
    "ehr": "EHR",
    "wsol": "WSOL",
    "wsol_iou": "the IoU of WSOL",
    "pointing_game": "the pointing game",
}
FAMILY = "differences of maps to the baseline: all measures, models and methods"
PAIRS = 6  # images of which a page shows that WSOL and EnergyPG disagree


def alignment_findings(
    exam: Exam, model: str, alignment: Alignment, reading: MapReading, examples: int, chosen: FilterCounts | None = None
) -> list[Finding]:
    """The means over images of one model, some `examples` beside the first; `chosen` says which images a filter left."""
    groups = exam.column("group", alignment.ids)
    what = "mask" if reading.region == "mask" else "boxes"
    texts = {
        "energy_pg": f"share of the map's energy inside the object's {what}, mean over images",
        "ehr": f"effective heat ratio of the maps in the object's {what}, mean over images",
        "wsol": f"share of images on which the box around the map's pixels of at least {reading.threshold:g} of the maximum "
        f"has an IoU of at least {HIT:g} with the object's",
        "wsol_iou": "IoU of that box with the object's that fits best, mean over images",
        "pointing_game": f"share of maps whose highest value lies inside the object's {what}",
    }
    known = alignment.share > 0
    shared = {
        **_identity(reading),
        "filter": UNSET if chosen is None else chosen,
        "object_share": _mean(alignment.share[known]),
        "empty_maps": int(np.isnan(alignment.energy_pg[:, known]).sum()),
        "without_object": int((~known).sum()),
    }
    findings = []
    for name in NAMES:
        scores = scores_of(alignment, name)
        even = np.where(np.isnan(scores), np.nan, even_of(alignment, name))
        own: dict[str, Any] = {**shared, "even": _mean(even), "standard_error": standard_error(scores, groups)}
        if name == "energy_pg":
            own["examples"] = alignment.examples(examples)
        if name == "wsol":
            own["sweep"] = _sweep(alignment)
        findings.append(
            finding(
                AUDIT, name, model, accuracy(scores, groups), texts[name], better="higher", facts=FACTS[name](**own),
                per_run=tuple(_mean(run) for run in scores), **_words(name, reading),
            )
        )  # fmt: skip
    return findings


@dataclass(frozen=True)
class AlignmentPair:
    """A model beside the baseline: their names, and what is measured of their maps on the images that both have."""

    model: str
    other: str
    own: Alignment
    beside: Alignment
    reading: MapReading
    groups: np.ndarray | None

    @classmethod
    def of(
        cls, exam: Exam, names: tuple[str, str], alignments: tuple[Alignment, Alignment], reading: MapReading
    ) -> AlignmentPair:
        """Two models and what is measured of them on all their images, the model first."""
        ids = common(alignments)
        own, beside = (alignment.of(ids) for alignment in alignments)
        return cls(*names, own, beside, reading, exam.column("group", ids))


def comparison_findings(pairs: Sequence[AlignmentPair]) -> list[Finding]:
    """How models differ from the baseline; the tests of all measures of all pairs, by whichever method, are one family."""
    tests = [(pair, name) for pair in pairs for name in NAMES]
    differences = [
        compare(scores_of(pair.own, name), scores_of(pair.beside, name), pair.groups) for pair, name in tests
    ]
    family = corrected([difference.p for difference in differences], FAMILY)
    findings: list[Finding] = []
    for place, pair in enumerate(pairs):
        some = range(place * len(NAMES), (place + 1) * len(NAMES))
        findings += [_difference(pair, tests[test][1], differences[test], family.p[test], family) for test in some]
        findings += [_gain(pair), _disagreement(pair)]
    return findings


def _identity(reading: MapReading) -> dict[str, Any]:
    """The fields of `MapReadingFacts`, which tell findings of one name apart."""
    return {
        "method": reading.request.method,
        "region": reading.region,
        "layer": reading.request.layer,
        "threshold": reading.threshold,
        "component": reading.component,
    }


def scores_of(alignment: Alignment, name: str) -> np.ndarray:
    """The scores behind a finding, float [runs, samples] in 0…1."""
    values = {
        "energy_pg": alignment.energy_pg,
        "ehr": alignment.ehr,
        "wsol": alignment.hits[:, 0],
        "wsol_iou": alignment.iou[:, 0],
        "pointing_game": alignment.pointing,
    }
    return values[name]


def even_of(alignment: Alignment, name: str) -> np.ndarray:
    """The scores of even maps behind a finding, float [samples] in 0…1; nan where no object is in the image."""
    if name == "wsol":
        iou = even_of(alignment, "wsol_iou")
        return np.where(np.isnan(iou), np.nan, iou >= HIT)
    return alignment.even[EVEN.index(name)]


def _difference(pair: AlignmentPair, name: str, difference: Comparison, p: float, family: FamilyOfTests) -> Finding:
    sure = "clearly" if p < SURE else "not clearly"
    text = (
        f"{TOPICS[name]} less that of {pair.other} on the same images: {sure} different (p = {p:.2g} after Holm's correction "
        f"over {family.words})"
    )
    facts = AlignmentDifferenceFacts(
        **_identity(pair.reading), other=pair.other, p=difference.p, p_corrected=p,
        detectable=difference.detectable_among(family.tests), corrected_over=family.words,
    )  # fmt: skip
    label = f"{LABELS[name]}{_by(pair.reading)}, minus that of {pair.other}"
    topic = f"the difference in {TOPICS[name]} to {pair.other}"
    return finding(
        AUDIT,
        f"{name}_difference",
        pair.model,
        difference,
        text,
        unit="difference",
        facts=facts,
        label=label,
        topic=topic,
    )


def _gain(pair: AlignmentPair) -> Finding:
    gain = energy_gain(_energies(pair.own), _energies(pair.beside), pair.groups)
    text = f"energy gained on the object by energy gained in all, over the maps of {pair.other} on the same images"
    counted = ~(np.isnan(pair.own.energy_pg).any(0) | np.isnan(pair.beside.energy_pg).any(0))
    even = _mean(pair.own.share[counted])  # the ratio of sums, where the same is gained everywhere in every image
    facts = GainFacts(
        **_identity(pair.reading), other=pair.other, gain_inside=gain.inside, gain_whole=gain.whole, even=even
    )
    label = f"Gain ratio{_by(pair.reading)} over {pair.other}"
    return finding(AUDIT, "gain_ratio", pair.model, gain, text, unit="index", facts=facts, label=label)


def _disagreement(pair: AlignmentPair) -> Finding:
    """Of the first runs: an image on which WSOL prefers one model and EnergyPG the other (figure 6)."""
    own, other = pair.own, pair.beside
    by_box = own.iou[0, 0] - other.iou[0, 0]
    by_energy = own.energy_pg[0] - other.energy_pg[0]
    known = ~np.isnan(by_box + by_energy)
    apart = np.where(known, by_box * by_energy < 0, np.nan)
    strength = np.where(apart == 1, np.minimum(np.abs(by_box), np.abs(by_energy)), 0)
    strongest = [int(place) for place in np.argsort(-strength, kind="stable")[:PAIRS] if strength[place] > 0]
    pairs = tuple(MapPair(own.example(own.ids[place]), other.example(own.ids[place])) for place in strongest)
    text = f"share of images on which WSOL prefers one model, EnergyPG the other: this one or {pair.other}"
    prefers_it = float(np.mean(by_box[apart == 1] > 0)) if (apart == 1).any() else float("nan")
    facts = DisagreementFacts(**_identity(pair.reading), other=pair.other, pairs=pairs, wsol_prefers_it=prefers_it)
    label = f"WSOL and EnergyPG disagree{_by(pair.reading)}, beside {pair.other}"
    estimate = accuracy(apart, pair.groups)
    return finding(AUDIT, "wsol_disagreement", pair.model, estimate, text, facts=facts, label=label)


def _energies(alignment: Alignment) -> tuple[np.ndarray, np.ndarray]:
    """The energies inside and in all, nan where there is no map or no object."""
    missing = np.isnan(alignment.energy_pg)
    return np.where(missing, np.nan, alignment.inside), np.where(missing, np.nan, alignment.whole)


def _sweep(alignment: Alignment) -> tuple[WsolPoint, ...]:
    """WSOL by threshold, over all runs."""
    places = enumerate(SWEEP, 1)
    curves = ((threshold, alignment.iou[:, place], alignment.hits[:, place]) for place, threshold in places)
    return tuple(WsolPoint(threshold, _mean(iou), _mean(hits), standard_error(iou)) for threshold, iou, hits in curves)


def _words(name: str, reading: MapReading) -> dict[str, str]:
    return {"label": LABELS[name] + _by(reading), "topic": TOPICS[name] + _by(reading)}


def _by(reading: MapReading) -> str:
    return f" ({reading.request.method})"


def _mean(scores: np.ndarray) -> float:
    return float(np.nanmean(scores)) if not np.isnan(scores).all() else float("nan")
