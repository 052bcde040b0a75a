"""What follows from alignments: findings about one model, and about each model beside a baseline."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from snellen.audits.alignment import HIT, SWEEP, Alignment, Reading, common
from snellen.audits.exam import Exam
from snellen.audits.finding import Finding, finding
from snellen.measure import Comparison, accuracy, compare, energy_gain, holm, standard_error

AUDIT = "explanation"
NAMES = ("energy_pg", "ehr", "wsol", "wsol_iou", "pointing_game")
COMPARED = (*(f"{name}_difference" for name in NAMES), "gain_ratio", "wsol_disagreement")
LABELS = {
    "energy_pg": "EnergyPG: energy on the object",
    "ehr": "EHR: heat on the object",
    "wsol": f"WSOL: boxes with IoU of at least {HIT:g}",
    "wsol_iou": "WSOL: mean IoU of the boxes",
    "pointing_game": "Pointing game: peak on the object",
}
TOPICS = {
    "energy_pg": "EnergyPG",
    "ehr": "EHR",
    "wsol": "WSOL",
    "wsol_iou": "the IoU of WSOL",
    "pointing_game": "the pointing game",
}
PAIRS = 6  # images of which a page shows that WSOL and EnergyPG disagree


def alignment_findings(
    exam: Exam, model: str, alignment: Alignment, reading: Reading, more: Mapping[str, Any]
) -> list[Finding]:
    """The means over images of one model; `more` are facts that all of them carry, `examples` of the first alone."""
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
    examples = {"examples": more["examples"]} if "examples" in more else {}
    facts = {
        **identity(reading),
        **{name: value for name, value in more.items() if name != "examples"},
        "even": float(alignment.share[known].mean()) if known.any() else float("nan"),
        "empty_maps": int(np.isnan(alignment.energy_pg[:, known]).sum()),
        "without_object": int((~known).sum()),
    }
    findings = []
    for name in NAMES:
        scores = scores_of(alignment, name)
        own = {**facts, "standard_error": standard_error(scores, groups)}
        own |= examples if name == "energy_pg" else {"sweep": _sweep(alignment)} if name == "wsol" else {}
        findings.append(
            finding(
                AUDIT, name, model, accuracy(scores, groups), texts[name], better="higher", facts=own,
                per_run=_per_run(scores), **_words(name, reading),
            )
        )  # fmt: skip
    return findings


def comparison_findings(
    exam: Exam, pair: tuple[str, str], alignments: tuple[Alignment, Alignment], reading: Reading
) -> list[Finding]:
    """How a model differs from the baseline on the images that both have: `pair` names them, the model first."""
    ids = common(alignments)
    own, other = (one.of(ids) for one in alignments)
    groups = exam.column("group", ids)
    differences = [compare(scores_of(own, name), scores_of(other, name), groups) for name in NAMES]
    corrected = holm([one.p for one in differences])
    findings = []
    for name, one, p in zip(NAMES, differences, corrected):
        corrected_one = replace(one, detectable=one.detectable_among(len(NAMES)))
        findings.append(_difference(pair, name, corrected_one, float(p), reading))
    return [*findings, _gain(pair, (own, other), reading, groups), _disagreement(pair, (own, other), reading, groups)]


def identity(reading: Reading) -> dict[str, Any]:
    """The facts that tell findings of one name apart."""
    layer = reading.request.layer
    return {
        "method": reading.request.method,
        "region": reading.region,
        "layer": layer,
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


def _difference(pair: tuple[str, str], name: str, difference: Comparison, p: float, reading: Reading) -> Finding:
    model, other = pair
    sure = "clearly" if p < 0.05 else "not clearly"
    text = (
        f"{TOPICS[name]} less that of {other} on the same images: {sure} different (p = {p:.2g} after Holm's correction of "
        f"{len(NAMES)} comparisons)"
    )
    facts = {
        **identity(reading),
        "other": other,
        "p": difference.p,
        "p_corrected": p,
        "detectable": difference.detectable,
    }
    label = f"{LABELS[name]}{_by(reading)}, less that of {other}"
    topic = f"the difference in {TOPICS[name]} to {other}"
    return finding(
        AUDIT, f"{name}_difference", model, difference, text, unit="difference", facts=facts, label=label, topic=topic
    )


def _gain(pair: tuple[str, str], alignments: tuple[Alignment, Alignment], reading: Reading, groups: Any) -> Finding:
    own, other = alignments
    gain = energy_gain(_energies(own), _energies(other), groups)
    text = f"energy gained on the object by energy gained in all, over the maps of {pair[1]} on the same images"
    known = own.share > 0
    facts = {
        **identity(reading), "other": pair[1], "gain_inside": gain.inside, "gain_whole": gain.whole,
        "even": float(own.share[known].mean()) if known.any() else float("nan"),
    }  # fmt: skip
    label = f"Gain ratio{_by(reading)} over {pair[1]}"
    return finding(AUDIT, "gain_ratio", pair[0], gain, text, unit="index", facts=facts, label=label)


def _disagreement(
    pair: tuple[str, str], alignments: tuple[Alignment, Alignment], reading: Reading, groups: Any
) -> Finding:
    """Of the first runs: an image on which WSOL prefers one model and EnergyPG the other (figure 6)."""
    own, other = alignments
    by_box = own.iou[0, 0] - other.iou[0, 0]
    by_energy = own.energy_pg[0] - other.energy_pg[0]
    known = ~np.isnan(by_box + by_energy)
    apart = np.where(known, by_box * by_energy < 0, np.nan)
    strength = np.where(apart == 1, np.minimum(np.abs(by_box), np.abs(by_energy)), 0)
    strongest = [int(place) for place in np.argsort(-strength, kind="stable")[:PAIRS] if strength[place] > 0]
    pairs = [{"own": own.example(own.ids[place]), "other": other.example(own.ids[place])} for place in strongest]
    text = f"share of images on which WSOL prefers one model, EnergyPG the other: this one or {pair[1]}"
    facts = {
        **identity(reading), "other": pair[1], "pairs": pairs,
        "wsol_prefers_it": float(np.mean(by_box[apart == 1] > 0)) if (apart == 1).any() else float("nan"),
    }  # fmt: skip
    label = f"WSOL and EnergyPG disagree{_by(reading)}, beside {pair[1]}"
    return finding(AUDIT, "wsol_disagreement", pair[0], accuracy(apart, groups), text, facts=facts, label=label)


def _energies(alignment: Alignment) -> tuple[np.ndarray, np.ndarray]:
    """The energies inside and in all, nan where there is no map or no object."""
    missing = np.isnan(alignment.energy_pg)
    return np.where(missing, np.nan, alignment.inside), np.where(missing, np.nan, alignment.whole)


def _sweep(alignment: Alignment) -> list[dict[str, Any]]:
    """By threshold, the share of boxes found and the mean IoU."""
    rows = []
    for place, threshold in enumerate(SWEEP, 1):
        iou, hits = alignment.iou[:, place], alignment.hits[:, place]
        rows.append(
            {"threshold": threshold, "iou": _mean(iou), "share": _mean(hits), "standard_error": standard_error(iou)}
        )
    return rows


def _words(name: str, reading: Reading) -> dict[str, str]:
    return {"label": LABELS[name] + _by(reading), "topic": TOPICS[name] + _by(reading)}


def _by(reading: Reading) -> str:
    return f" ({reading.request.method})"


def _per_run(scores: np.ndarray) -> tuple[float, ...]:
    return tuple(_mean(run) for run in scores)


def _mean(scores: np.ndarray) -> float:
    return float(np.nanmean(scores)) if not np.isnan(scores).all() else float("nan")
