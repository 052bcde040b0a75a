"""The section on mixing of the page of explanations: the interval of a recipe, what is said of it, and whence it comes."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import ttest_ind

from .replication_scripts import script

ROOT = Path(__file__).resolve().parents[2]
NAMES = {"baseline": "baseline", "cutmix": "CutMix"}


def row(name: str, model: str, runs: list[float], method: str = "", **more: str) -> dict[str, str]:
    """A kept finding."""
    ends = {"low": "", "high": "", "n": "450", "filter": "", **more}
    return {
        "name": name, "model": model, "method": method, "value": str(np.mean(runs)), "per_run": " ".join(map(str, runs)), **ends,
    }  # fmt: skip


def findings(*rows: dict[str, str]):
    models = [row("accuracy", name, [0.7, 0.7], low="0.7", high="0.7") for name in NAMES]
    return script("recipe_contrasts").Findings([*models, *rows])


def test_without_noise_of_images_a_contrast_is_the_t_test_of_the_runs() -> None:
    contrasts = script("recipe_contrasts")
    own, first = [0.50, 0.53, 0.52], [0.40, 0.44, 0.41]
    column = contrasts.Column("energy_pg", "gradcam", scale=1)
    one = contrasts.contrast(
        findings(row("energy_pg", "baseline", first, "gradcam"), row("energy_pg", "cutmix", own, "gradcam")),
        column,
        "cutmix",
    )
    wanted = ttest_ind(own, first)
    interval = wanted.confidence_interval(0.95)
    assert (one.value, one.p) == (pytest.approx(0.1), pytest.approx(wanted.pvalue))
    assert (one.low, one.high) == (pytest.approx(interval.low), pytest.approx(interval.high))
    assert one.apart


def test_the_interval_over_images_joins_that_over_runs_at_a_right_angle() -> None:
    """Runs give ± 3, images ± 4 (the difference's own interval): together ± 5."""
    contrasts = script("recipe_contrasts")
    spread = 3 / 4.302652729911275  # Student's t of two degrees, of √(v / 2 + v / 2)
    runs = [-spread / math.sqrt(2), spread / math.sqrt(2)]
    column = contrasts.Column("energy_pg", "gradcam", scale=1)
    rows = [row("energy_pg", name, runs, "gradcam") for name in NAMES]
    rows.append(row("energy_pg_difference", "cutmix", [0.0], "gradcam", low="-4", high="4"))
    one = contrasts.contrast(findings(*rows), column, "cutmix")
    assert (one.low, one.high, one.p) == (pytest.approx(-5), pytest.approx(5), 1)


def test_the_interval_of_a_recipe_holds_the_true_difference() -> None:
    """Five recipes of two runs, noise of runs and of images of the same size: at least 93% of 400 worlds."""
    contrasts = script("recipe_contrasts")
    draws, held = np.random.default_rng(0), 0
    recipes = ["baseline", "a", "b", "c", "d"]
    for _ in range(400):
        runs = {name: draws.normal(0, 1, 2) for name in recipes}
        shift = draws.normal(0, 1)  # what these images add to the difference
        rows = [row("accuracy", name, [0.0, 0.0]) for name in recipes]
        rows += [row("ehr", name, list(runs[name] + (shift if name == "a" else 0)), "iba") for name in recipes]
        rows.append(row("ehr_difference", "a", [0.0], "iba", low=str(-1.959964), high=str(1.959964)))
        one = contrasts.contrast(contrasts.Findings(rows), contrasts.Column("ehr", "iba", scale=1), "a")
        held += one.low <= 0 <= one.high
    assert held >= 0.93 * 400


def test_holms_rule_by_hand() -> None:
    """0.01 ≤ 0.05/3 and 0.02 ≤ 0.05/2, then 0.06 > 0.05."""
    contrasts = script("recipe_contrasts")
    some = [contrasts.Contrast(1, 0, 2, p, False) if p else None for p in (0.02, None, 0.06, 0.01)]
    assert contrasts.corrected(some) == {0, 3}


@pytest.mark.parametrize(
    ("energy", "told"),
    [(0.50, "reversal of WSOL:** by IBA CutMix finds 10.0 points more"), (0.60, "Not settled, the reversal")],
)
def test_a_reversal_is_told_where_outlines_rise_and_energies_do_not(energy: float, told: str) -> None:
    rows = []
    for method in ("gradcam", "iba"):
        found = 0.5 if method == "iba" else 0.4
        for name, base, other in (
            ("wsol", 0.4, found),
            ("energy_pg", 0.5, energy),
            ("ehr", 0.3, 0.3),
            ("pointing_game", 0.7, 0.7),
        ):
            rows += [
                row(name, "baseline", [base, base + 0.001], method),
                row(name, "cutmix", [other, other + 0.001], method),
            ]
        rows += [row("inter_model_deletion", name, [30.0, 31.0], method) for name in NAMES]
    rows += [row(name, model, [10.0, 11.0]) for name in ("unique_concepts", "detector_share") for model in NAMES]
    text = "\n".join(script("interpretability_words").findings_in_words(findings(*rows), NAMES))
    assert told in text
    assert "Only of" not in text


def test_the_page_has_the_section_that_the_kept_findings_give() -> None:
    """Change the CSV or the script, and make the page again; the reversal and what two runs leave open are told."""
    page = (ROOT / "docs/results/explanations.md").read_text(encoding="utf-8")
    maker = script("interpretability_page")
    section = maker.section(
        script("recipe_contrasts").read_findings(ROOT / "docs" / "results" / "data" / "won2023.csv")
    )
    assert section in page
    assert maker.put_in(page, section) == page
