"""The outline counts what searches and surveys will show, beside the cells."""

from __future__ import annotations

from pathlib import Path

import snellen
from snellen.train import Recipe, train

DATA = "phantom:test?size=32&n=30"


def test_searches_count_with_all_their_evaluations() -> None:
    audit = "shift(random=20, evaluations=40, restarts=2, images=10)"
    outline = snellen.audit("observer:shape", DATA, audit, dry_run=True).to_json()
    assert len(outline["searches"]) == 3
    assert outline["search_passes_at_most"] == 10 * (20 + 2 * 40)
    assert outline["forward_passes"] == 2 * 30  # clean images and the yardstick
    assert "trials" not in outline
    assert "survey_passes" not in outline


def test_a_search_over_all_images_counts_them() -> None:
    outline = snellen.audit("observer:shape", DATA, "shift(random=20, evaluations=40, images=0)", dry_run=True)
    assert outline.search_passes_at_most == 30 * 60


def test_a_survey_counts_with_its_walks(tmp_path: Path) -> None:
    (path,) = train(Recipe(epochs=1), "phantom:train?size=32&n=64", tmp_path)
    outline = snellen.audit(str(path), DATA, "concepts", dry_run=True).to_json()
    assert outline["survey_passes"] == 2 * 30
    assert outline["estimated_seconds"] >= 0
    assert "searches" not in outline
