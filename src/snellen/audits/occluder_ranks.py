"""Which model is best under which occluder, and whether types agree on it (Kassaw et al. 2024, tables 2 and A2, figure 9)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from snellen.audits.finding import Finding, finding
from snellen.audits.occluder_levels import AUDIT, LEVEL_NAMES
from snellen.audits.occluder_rows import REAL, OccluderRows
from snellen.measure import (
    Estimate,
    friedman,
    holm,
    occlusion_residual,
    proxy_taus,
    rank_bootstrap,
)
from snellen.measure.occlusion_table import CLEAN

EVERYONE = "all models"
FAMILIES = {"synthetic": (REAL, "synthetic"), "diffuse": ("diffuse", "lattice")}  # which types rank models together


@dataclass(frozen=True)
class Judged:
    """The images of one family and level that all models answered: `correct` [models, images], the judge and group of each."""

    family: str
    level: int
    models: tuple[str, ...]
    correct: np.ndarray
    judge: np.ndarray
    group: np.ndarray

    @property
    def judges(self) -> list[str]:
        """The types, in order of their first image."""
        return list(dict.fromkeys(self.judge.tolist()))

    def accuracy(self) -> np.ndarray:
        """float [models, judges]."""
        return np.stack([self.correct[:, self.judge == one].mean(1) for one in self.judges], axis=1)

    def facts(self) -> dict[str, Any]:
        """What tells findings of other families and levels apart."""
        return {
            "family": self.family,
            "level": self.level,
            "level_name": LEVEL_NAMES[self.level],
            "judges": self.judges,
        }

    @property
    def where(self) -> str:
        """The images inside a sentence."""
        also = "real and " if REAL in self.judges else ""
        return f"{also}{self.family} occluders, {LEVEL_NAMES[self.level]} hidden"


def judged_images(models: Sequence[str], everyone: Sequence[OccluderRows]) -> list[Judged]:
    """The images that rank models, for each family and level that has any; `everyone` have the same rows."""
    first, correct = everyone[0], np.stack([rows.score() for rows in everyone])
    parts = []
    for family, members in FAMILIES.items():
        for level in (1, 2):
            own = np.isin(first.family.astype(str), members) & (first.level == level)
            if own.any():
                parts.append(Judged(family, level, tuple(models), correct[:, own], first.judge[own], first.group[own]))
    return parts


def rank_findings(judged: Judged) -> list[Finding]:
    """Mean ranks with the chance that two models swap, and whether the judges agree; nothing for a single judge."""
    if len(judged.judges) < 2:
        return []
    test = friedman(judged.accuracy())
    ranks = rank_bootstrap(judged.correct, judged.judge, judged.group)
    facts, images = judged.facts(), judged.correct.shape[1]
    findings = []
    for place, model in enumerate(judged.models):
        mean, low, high = (float(values[place]) for values in (ranks.ranks, ranks.low, ranks.high))
        estimate = Estimate(mean, low, high, images)
        swap = dict(zip(judged.models, ranks.swap[place].tolist()))
        own = {"ranks": dict(zip(judged.judges, test.ranks[place].tolist())),
               "accuracies": dict(zip(judged.judges, judged.accuracy()[place].tolist())),
               "swap": {other: chance for other, chance in swap.items() if other != model}}  # fmt: skip
        findings.append(finding(
            AUDIT, "mean_rank", model, estimate, f"mean rank among {len(judged.models)} models, {judged.where}", unit="index",
            better="lower", facts={**facts, **own}, label=f"Mean rank: {judged.where}",
        ))  # fmt: skip
    facts = {**facts, "q": test.q, "p": test.p, "w": test.w, "method": test.method, "models": len(judged.models)}
    nowhere = (float("nan"), float("nan"))
    agreement = (
        f"Friedman's test that {len(judged.judges)} types rank {len(judged.models)} models alike, {judged.where}: "
        f"p = {test.p:.2g} by {_METHODS[test.method]}"
    )
    extent = f"how far {len(judged.judges)} types agree on the order of the models, 0 to 1, {judged.where}"
    return [
        *findings,
        Finding(AUDIT, "friedman_q", EVERYONE, test.q, *nowhere, len(judged.judges), agreement, unit="index", facts=facts,
                label=f"Friedman's Q: {judged.where}"),
        Finding(AUDIT, "kendall_w", EVERYONE, test.w, *nowhere, len(judged.judges), extent, unit="index", facts=facts,
                label=f"Kendall's W: {judged.where}"),
    ]  # fmt: skip


_METHODS = {
    "chi2": "χ²", "exact": "all orders (too few types for χ²)", "permutation": "9,999 permutations (too few types for χ²)",
    "none": "no test: nothing to tell apart",
}  # fmt: skip


def proxy_findings(judged: Judged) -> list[Finding]:
    """Kendall's τ of each synthetic type with real occlusion: is it a proxy for these data?"""
    if REAL not in judged.judges:
        return []
    findings = []
    for name, tau in proxy_taus(judged.correct, judged.judge, REAL, judged.group).items():
        facts = {
            **judged.facts(),
            "type": str(name),
            "p": tau.p,
            "images_low": tau.images_low,
            "images_high": tau.images_high,
        }
        text = (
            f"Kendall's τ of the order of {tau.n} models under {name} occluders with that under real ones, "
            f"{LEVEL_NAMES[judged.level]} hidden; the interval is about other models"
        )
        label = f"τ with real occlusion: {name}, {LEVEL_NAMES[judged.level]} hidden"
        findings.append(finding(AUDIT, "proxy_tau", EVERYONE, tau, text, unit="index", facts=facts, label=label))
    return findings


def residual_findings(judged: Judged, clean: Sequence[float]) -> list[Finding]:
    """What each model has under occlusion beyond what its clean accuracy tells; real occlusion alone where there is any."""
    if len(judged.models) < 3:
        return []
    real = REAL in judged.judges
    occluded = judged.accuracy()[:, judged.judges.index(REAL)] if real else judged.accuracy().mean(1)
    residuals = occlusion_residual(clean, occluded)
    corrected = holm(residuals.p)
    what = "real occlusion" if real else f"{judged.family} occluders"
    findings = []
    for place, model in enumerate(judged.models):
        facts = {
            **judged.facts(), "real": real, "clean": float(clean[place]), "occluded": float(occluded[place]),
            "t": float(residuals.t[place]), "p": float(residuals.p[place]), "p_holm": float(corrected[place]),
            "slope": residuals.line.value, "intercept": residuals.line.intercept,
        }  # fmt: skip
        estimate = Estimate(float(residuals.residual[place]), float("nan"), float("nan"), len(judged.models))
        text = (
            f"accuracy under {what}, {LEVEL_NAMES[judged.level]} hidden, above the line of all models on clean accuracy"
        )
        label = f"Beyond clean accuracy: {what}, {LEVEL_NAMES[judged.level]} hidden"
        more: dict[str, Any] = {"unit": "difference", "better": "higher", "facts": facts, "label": label}
        findings.append(finding(AUDIT, "occlusion_residual", model, estimate, text, **more))
    return findings


def clean_accuracies(everyone: Sequence[OccluderRows]) -> list[float]:
    """Each model's accuracy on unoccluded images."""
    return [
        float(rows.score()[rows.kind == CLEAN].mean()) if (rows.kind == CLEAN).any() else float("nan")
        for rows in everyone
    ]
