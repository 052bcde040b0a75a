"""Which model is best under which occluder, and whether types agree on it (Kassaw et al. 2024, tables 2 and A2, figure 9)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from snellen.audits.facts import UNSET, FindingFacts, Number, UnsetType
from snellen.audits.families import corrected
from snellen.audits.finding import Finding, finding
from snellen.audits.occluders.rows import LEVEL_NAMES, OccluderRows
from snellen.audits.occluders.types import AUDIT, REAL
from snellen.measure import (
    Estimate,
    equal_models_p,
    friedman,
    occlusion_residual,
    proxy_taus,
    rank_bootstrap,
)
from snellen.measure.occlusion_table import CLEAN

EVERYONE = "all models"
PROXY_FAMILY = "τ with real occlusion: all types and levels"
RESIDUAL_FAMILY = "models beside the line of clean accuracy: all models, families of occluders and levels"
FAMILIES = {"synthetic": (REAL, "synthetic"), "diffuse": ("diffuse", "lattice")}  # which types rank models together


class JudgedFacts(FindingFacts, frozen=True, kw_only=True):
    """The images of one family of occluders at one level, and the types that judge the models."""

    family: str
    level: int
    level_name: str
    judges: tuple[str, ...]


class MeanRankFacts(JudgedFacts, frozen=True, kw_only=True):
    """A model's rank and accuracy by each judge (type), and the chance to swap places with each other model."""

    ranks: dict[str, Number]
    accuracies: dict[str, Number]
    swap: dict[str, Number]


class AgreementFacts(JudgedFacts, frozen=True, kw_only=True):
    """Whether the judges rank `models` models alike: Friedman's Q with its p and method, and Kendall's W (0 to 1).

    `p_images` is how often equal models would differ as far in accuracy on these images; runs before it was kept do not say.
    """

    q: Number
    p: Number
    w: Number
    method: str
    models: int
    p_images: Number | UnsetType = UNSET

    @property
    def where(self) -> str:
        """The images inside a sentence."""
        return _where(self.family, self.judges, self.level_name)


class ProxyFacts(JudgedFacts, frozen=True, kw_only=True):
    """The type that is compared with real occlusion, p of its τ, that after Holm's correction (`corrected_over` which tests), and
    τ's interval over other images."""

    type: str
    p: Number
    images_low: Number
    images_high: Number
    p_corrected: Number | UnsetType = UNSET
    corrected_over: str | UnsetType = UNSET


class OcclusionResidualFacts(JudgedFacts, frozen=True, kw_only=True):
    """A model's clean and occluded accuracy (`real`: under real occlusion alone), how far it is off the line of all models
    (studentised, p, and p after Holm's correction, `corrected_over` which tests), and that line."""

    real: bool
    clean: Number
    occluded: Number
    t: Number
    p: Number
    p_holm: Number
    slope: Number
    intercept: Number
    corrected_over: str | UnsetType = UNSET

    @property
    def where(self) -> str:
        """The occluded images inside a sentence."""
        return f"{'real occlusion' if self.real else f'{self.family} occluders'}, {self.level_name} hidden"


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
    def judges(self) -> tuple[str, ...]:
        """The types, in order of their first image."""
        return tuple(dict.fromkeys(self.judge.tolist()))

    def accuracy(self) -> np.ndarray:
        """float [models, judges]."""
        return np.stack([self.correct[:, self.judge == judge].mean(1) for judge in self.judges], axis=1)

    @property
    def occluded(self) -> np.ndarray:
        """float [models]: accuracy under real occlusion, or the mean over the types where there is none."""
        return self.accuracy()[:, self.judges.index(REAL)] if REAL in self.judges else self.accuracy().mean(1)

    def facts(self) -> dict[str, Any]:
        """What tells findings of other families and levels apart."""
        return {"family": self.family, "level": self.level, "level_name": self.level_name, "judges": self.judges}

    @property
    def level_name(self) -> str:
        """How much is hidden."""
        return LEVEL_NAMES[self.level]

    @property
    def where(self) -> str:
        """The images inside a sentence."""
        return _where(self.family, self.judges, self.level_name)


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
    test, accuracies = friedman(judged.accuracy()), judged.accuracy()
    ranks = rank_bootstrap(judged.correct, judged.judge, judged.group)
    findings = []
    for place, model in enumerate(judged.models):
        mean, low, high = (float(values[place]) for values in (ranks.ranks, ranks.low, ranks.high))
        swap = dict(zip(judged.models, ranks.swap[place].tolist()))
        facts = MeanRankFacts(
            **judged.facts(), ranks=dict(zip(judged.judges, test.ranks[place].tolist())),
            accuracies=dict(zip(judged.judges, accuracies[place].tolist())),
            swap={other: chance for other, chance in swap.items() if other != model},
        )  # fmt: skip
        findings.append(finding(
            AUDIT, "mean_rank", model, Estimate(mean, low, high, judged.correct.shape[1]),
            f"mean rank among {len(judged.models)} models, {judged.where}", unit="index", better="lower", facts=facts,
            label=f"Mean rank: {judged.where}",
        ))  # fmt: skip
    models, types, nowhere = len(judged.models), len(judged.judges), (float("nan"), float("nan"))
    agreement = AgreementFacts(
        **judged.facts(), q=test.q, p=test.p, w=test.w, method=test.method, models=models,
        p_images=equal_models_p(judged.correct, judged.judge, judged.group),
    )  # fmt: skip
    text = (
        f"Friedman's test that {types} types rank {models} models alike, {judged.where}: "
        f"p = {test.p:.2g} by {_METHODS[test.method]}"
    )
    extent = f"how far {types} types agree on the order of the models, 0 to 1, {judged.where}"
    return [
        *findings,
        Finding(AUDIT, "friedman_q", EVERYONE, test.q, *nowhere, types, text, unit="index", facts=agreement,
                label=f"Do models differ (Friedman's Q): {judged.where}"),
        Finding(AUDIT, "kendall_w", EVERYONE, test.w, *nowhere, types, extent, unit="index", facts=agreement,
                label=f"Do types agree on the order (Kendall's W): {judged.where}"),
    ]  # fmt: skip


_METHODS = {
    "chi2": "χ²", "exact": "all orders (too few types for χ²)", "permutation": "9,999 permutations (too few types for χ²)",
    "none": "no test: nothing to tell apart",
}  # fmt: skip


def proxy_findings(every: Sequence[Judged]) -> list[Finding]:
    """Kendall's τ of each synthetic type with real occlusion, at each level: is it a proxy for these data?"""
    tests = [
        (judged, name, tau)
        for judged in every
        if REAL in judged.judges
        for name, tau in proxy_taus(judged.correct, judged.judge, REAL, judged.group).items()
    ]
    family = corrected([tau.p for *_, tau in tests], PROXY_FAMILY)
    findings = []
    for (judged, name, tau), p in zip(tests, family.p):
        facts = ProxyFacts(
            **judged.facts(), type=str(name), p=tau.p, images_low=tau.images_low, images_high=tau.images_high,
            p_corrected=p, corrected_over=family.words,
        )  # fmt: skip
        text = (
            f"Kendall's τ of the order of {tau.n} models under {name} occluders with that under real ones, "
            f"{judged.level_name} hidden; the interval is about other models"
        )
        label = f"Same order of models as under real occlusion (τ): {name}, {judged.level_name} hidden"
        findings.append(finding(AUDIT, "proxy_tau", EVERYONE, tau, text, unit="index", facts=facts, label=label))
    return findings


def residual_findings(every: Sequence[Judged], clean: Sequence[float]) -> list[Finding]:
    """What each model has under occlusion beyond what its clean accuracy tells; real occlusion alone where there is any."""
    lines = [
        (judged, judged.occluded, occlusion_residual(clean, judged.occluded))
        for judged in every
        if len(judged.models) > 2
    ]
    family = corrected([p for *_, residuals in lines for p in residuals.p.tolist()], RESIDUAL_FAMILY)
    p_values, findings = iter(family.p), []
    for judged, occluded, residuals in lines:
        for place, model in enumerate(judged.models):
            facts = OcclusionResidualFacts(
                **judged.facts(), real=REAL in judged.judges, clean=float(clean[place]), occluded=float(occluded[place]),
                t=float(residuals.t[place]), p=float(residuals.p[place]), p_holm=next(p_values),
                slope=residuals.line.value, intercept=residuals.line.intercept, corrected_over=family.words,
            )  # fmt: skip
            estimate = Estimate(float(residuals.residual[place]), float("nan"), float("nan"), len(judged.models))
            findings.append(finding(
                AUDIT, "occlusion_residual", model, estimate,
                f"accuracy under {facts.where}, above the line of all models on clean accuracy", unit="difference",
                better="higher", facts=facts, label=f"Beyond clean accuracy: {facts.where}",
            ))  # fmt: skip
    return findings


def clean_accuracies(everyone: Sequence[OccluderRows]) -> list[float]:
    """Each model's accuracy on unoccluded images."""
    return [
        float(rows.score()[rows.kind == CLEAN].mean()) if (rows.kind == CLEAN).any() else float("nan")
        for rows in everyone
    ]


def _where(family: str, judges: Sequence[str], level_name: str) -> str:
    return f"{'real and ' if REAL in judges else ''}{family} occluders, {level_name} hidden"
