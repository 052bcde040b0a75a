"""Delivery: planted dependence on encoding and size, and planted noise of the model, are measured as such."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import snellen
from snellen.measure import compare
from snellen.models import from_callable
from snellen.report import page_of
from snellen.report.blocks import Chapter, Chart
from snellen.report.charts import BREAK
from snellen.report.words import percent

from ..report.reading import every

DATA = "phantom:test?size=32&n=240"
CLASSES = list(snellen.load_data("phantom:test?size=32&n=1").classes)


def coin(image: np.ndarray, salt: object) -> float:
    """A number in 0…1 that hangs on the pixels."""
    digest = hashlib.blake2b(image.tobytes() + str(salt).encode(), digest_size=8).digest()
    return int.from_bytes(digest, "big") / 2**64


def audit(answer: Any, tmp_path: Path, audits: str = "delivery([jpeg(30), rescale(0.25)])") -> Any:
    model = from_callable(
        lambda images: np.eye(len(CLASSES))[[answer(image) for image in images]], CLASSES, name="m", version="1"
    )
    return snellen.audit(model, DATA, audits, tmp_path / "run", quiet=True)


def values(run: Any) -> dict[str, dict[str, Any]]:
    """The findings of the audit by name and, but for the floor, distortion."""
    return {
        f["name"] if f["name"] == "changed_again" else f"{f['name']} {f['distortions'][0]}": f
        for f in run.results()["findings"]
        if f["audit"] == "delivery"
    }


def test_a_model_that_depends_on_nothing_changes_no_answer(tmp_path: Path) -> None:
    found = values(audit(lambda image: 0, tmp_path))
    assert [found[name]["value"] for name in found if not name.startswith("delivered")] == [0, 0, 0]
    assert found["answers_changed jpeg(quality=30)"]["facts"]["beyond"] == 0
    assert found["changed_again"]["high"] < 0.02


def test_answers_that_hang_on_the_pixels_change_with_the_delivery_and_not_with_the_second_asking(
    tmp_path: Path,
) -> None:
    """A class is drawn by the pixels: any change of them changes it in 11 of 12 images."""
    run = audit(lambda image: int(coin(image, "") * len(CLASSES)), tmp_path)
    found = values(run)
    assert found["changed_again"]["value"] == 0
    for text in ("jpeg(quality=30)", "rescale(share=0.25)"):
        change = found[f"answers_changed {text}"]
        assert change["low"] <= 11 / 12 <= change["high"]
        assert change["facts"]["beyond"] == pytest.approx(change["value"])
        assert change["facts"]["p_corrected"] < 0.001
        assert change["facts"]["corrected_over"].startswith("2 tests")
        assert found[f"delivered_accuracy {text}"]["value"] < 0.2
    page = (run.path / "report.html").read_text()
    assert "<h2>Delivery</h2>" in page
    assert "rescaled to 25% of its size and back" in page


def test_the_chapter_draws_every_delivery_and_its_headline_names_the_one_that_changes_most(tmp_path: Path) -> None:
    run = audit(lambda image: int(coin(image, "") * 12) if image.std() < 40 else 0, tmp_path)
    found = values(run)
    (chapter,) = (chapter for chapter in every(Chapter, page_of(run)) if chapter.anchor == "delivery")
    (drawn,) = (chart.spec for chart in every(Chart, chapter))
    shown = {row["question"].replace(BREAK, " "): row["value"] for row in drawn["data"]["values"]}
    words = {"the same pixels": "changed_again", "JPEG of quality 30": "answers_changed jpeg(quality=30)"}
    words["rescaled to 25% of its size and back"] = "answers_changed rescale(share=0.25)"
    assert shown == {said: found[name]["value"] for said, name in words.items()}
    assert len(set(shown.values())) == 3
    most = max(shown, key=lambda said: shown[said])
    headline = "".join(getattr(part, "text", part) for part in chapter.headline)
    assert headline.startswith(f"Answers changed most: {percent(shown[most])} [")
    assert headline.endswith(f" by {most}")


def test_noise_of_the_model_is_its_floor_and_no_effect_of_the_delivery(tmp_path: Path) -> None:
    """A class is wrong in 20% of all askings, whatever is shown: two askings differ in 2 · 0.2 · 0.8 of the images."""
    draws = np.random.default_rng(11)
    found = values(audit(lambda image: int(draws.random() < 0.2), tmp_path))
    floor = found["changed_again"]
    assert floor["low"] <= 0.32 <= floor["high"]
    for text in ("jpeg(quality=30)", "rescale(share=0.25)"):
        facts = found[f"answers_changed {text}"]["facts"]
        assert facts["beyond_low"] <= 0 <= facts["beyond_high"]
        assert facts["p_corrected"] > 0.05


def test_answers_that_become_wrong_and_right_are_told_apart(tmp_path: Path) -> None:
    data = snellen.load_data(DATA)
    labels = {photo.image.tobytes(): int(label) for photo, label in zip(data.read(range(240)), data.samples.labels)}  # type: ignore[union-attr]
    found = values(audit(lambda image: labels.get(image.tobytes(), 0), tmp_path, "delivery([jpeg(30)])"))
    facts = found["answers_changed jpeg(quality=30)"]["facts"]
    share = float((data.samples.labels != 0).mean())
    assert (facts["worse"], facts["better"]) == (pytest.approx(share), 0)
    assert found["answers_changed jpeg(quality=30)"]["value"] == pytest.approx(share)


def test_a_delivery_without_effect_is_called_one_in_5_of_100_reports_at_most() -> None:
    """Three askings of a model that errs by its own coin: what is sent changes no more than what is asked again."""
    draws = np.random.default_rng(7)
    reports, alarms, holds = 200, 0, 0
    for _ in range(reports):
        clean, again, sent = draws.random((3, 120)) < 0.25
        beyond = compare((clean != sent).astype(float), (clean != again).astype(float))
        alarms += beyond.p < 0.05
        holds += beyond.low <= 0 <= beyond.high
    assert alarms <= 0.05 * reports + 3 * (0.05 * 0.95 * reports) ** 0.5
    assert holds >= 0.93 * reports - 3 * (0.07 * 0.93 * reports) ** 0.5
