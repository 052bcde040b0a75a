"""Progress on backgrounds: what better models gain on each variant, over any list of models (Xiao et al. 2021, figure 8)."""

from __future__ import annotations

from collections.abc import Sequence

from snellen.audits.finding import Finding, finding
from snellen.distort.words import VARIANTS
from snellen.engine.keep.read_back import Answers
from snellen.measure import trend

FEWEST = 3  # models that a line can be wrong about
ALL = "all models"
GAPS = (("mixed_same", "mixed_rand"), ("mixed_rand", "mixed_next"), ("mixed_same", "mixed_next"))


def progress(everyone: Sequence[Answers], findings: Sequence[Finding], kinds: Sequence[str]) -> list[Finding]:
    """For every variant and every gap between mixed ones: the slope of its accuracy over clean accuracy, one point per model."""
    models = [answers.model for answers in everyone]
    if len(models) < FEWEST:
        return []
    by_kind = {
        (one.model, one.facts["kind"]): one for one in findings if one.audit == "background" and "kind" in one.facts
    }
    clean = {model: by_kind[model, kinds[0]].facts["original"] for model in models}
    findings = []
    for kind in kinds:
        findings.append(_line(kind, "accuracy", clean, {model: by_kind[model, kind].value for model in models}))
    for one, two in GAPS:
        gaps = {model: by_kind[model, one].value - by_kind[model, two].value for model in models}
        findings.append(_line(f"{one} − {two}", "gap", clean, gaps))
    return findings


def _line(of: str, what: str, clean: dict[str, float], values: dict[str, float]) -> Finding:
    line = trend(list(clean.values()), list(values.values()))
    points = [{"model": model, "clean": clean[model], "value": values[model]} for model in clean]
    text = f"{of}: {what} gained for every point of clean accuracy gained, over {line.n} models"
    facts = {"of": of, "what": what, "intercept": line.intercept, "points": points}
    label = f"Progress: {VARIANTS.get(of, of)}"
    return finding("background", "progress", ALL, line, text, unit="index", facts=facts, label=label)
