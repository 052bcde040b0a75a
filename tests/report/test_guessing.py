"""Accuracies on imbalanced classes beside what is right without looking."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

import snellen
from snellen.exam.run import Run
from snellen.models import Model, from_callable
from snellen.report import markdown_of, page_of
from snellen.report.guessing import Guess
from snellen.report.results import Results
from snellen.report.sections.background import background_sentences
from snellen.report.sections.background_values import background_values
from snellen.report.sections.baseline import clean_sentence
from snellen.report.sections.occlusion import curves_of


@pytest.fixture(scope="module")
def pets(tmp_path_factory: pytest.TempPathFactory) -> str:
    """36 pets, 24 of them dogs: a red (cat) or blue (dog) square on grey, whose box is known."""
    folder = tmp_path_factory.mktemp("pets")
    lines = ["path,label,x0,y0,x1,y1"]
    for pet in range(36):
        image = np.random.default_rng(pet).integers(90, 110, (32, 32, 3)).astype(np.uint8)
        image[12:20, 12:20] = (200, 0, 0) if pet < 12 else (0, 0, 200)
        Image.fromarray(image).save(folder / f"{pet}.png")
        lines.append(f"{pet}.png,{'cat' if pet < 12 else 'dog'},12,12,20,20")
    (folder / "pets.csv").write_text("\n".join(lines) + "\n")
    return f"manifest:{folder}/pets.csv"


def red_is_cat(images: np.ndarray) -> np.ndarray:
    """Cat where the centre is red, else dog: to every background alone it answers dog."""
    return np.eye(2)[np.where(images[:, 16, 16, 0] > 150, 0, 1)]


def model(answer: object, name: str) -> Model:
    return from_callable(answer, size=32, name=name, version="1", classes=["cat", "dog"])  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def run(pets: str, tmp_path_factory: pytest.TempPathFactory) -> Run:
    always = model(lambda images: np.eye(2)[np.ones(len(images), int)], "always")
    audits = "background, occlusion(areas=[0.3], fills=[black])"
    out: Path = tmp_path_factory.mktemp("runs") / "run"
    return snellen.audit([model(red_is_cat, "sees"), always], pets, audits, out, quiet=True, report=False)


def test_one_answer_to_every_background_does_not_suffice(run: Run) -> None:
    (said,) = [text for _, text in background_sentences(Results.of(run), "sees") if "ackgrounds alone" in text]
    assert said == (
        "66.7% of the backgrounds alone are classified correctly by a constant answer: 'dog' to every image. "
        "It is not shown to use them."
    )


def test_unmodified_images_are_compared_with_the_best_constant_answer(run: Run) -> None:
    results = Results.of(run)
    ((_, constant),) = clean_sentence(results, "always")
    assert "not clearly above always answering 'dog' (66.7%; chance 50.0%)" in constant
    assert constant.endswith("It answers 'dog' to every image.")
    ((_, seeing),) = clean_sentence(results, "sees")
    assert "not clearly" not in seeing


def test_lines_and_differences_are_from_the_best_constant_answer(run: Run) -> None:
    results = Results.of(run)
    assert results.guess() == Guess(0.5, pytest.approx(2 / 3), "dog")
    assert [panel.rule for panel in curves_of(results)] == [pytest.approx(2 / 3)]
    values = background_values(results)
    assert values is not None
    assert values.guess.level == pytest.approx(2 / 3)
    page = markdown_of(page_of(run))
    assert "the dashed line is always answering 'dog', which is above chance" in page
    assert "dashed line is chance" not in page


def test_balanced_classes_have_chance_alone() -> None:
    assert Guess(0.25, 0.25).numbers == "chance 25.0%"
    assert Guess(0.25, 0.25).threshold == "chance (25.0%)"
    assert Guess(0.25, 0.4, "cat").numbers == "always 'cat' 40.0%, chance 25.0%"


@pytest.fixture(scope="module")
def without_boxes(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """24 cats and 60 dogs, of which 50 have no box: of the 34 whose object is known most are cats."""
    folder = tmp_path_factory.mktemp("boxes")
    lines = ["path,label,x0,y0,x1,y1"]
    for pet in range(84):
        image = np.random.default_rng(pet).integers(90, 110, (32, 32, 3)).astype(np.uint8)
        image[12:20, 12:20] = (200, 0, 0) if pet < 24 else (0, 0, 200)
        Image.fromarray(image).save(folder / f"{pet}.png")
        lines.append(f"{pet}.png,{'cat' if pet < 24 else 'dog'}," + ("12,12,20,20" if pet < 34 else ",,,"))
    (folder / "pets.csv").write_text("\n".join(lines) + "\n")
    always = model(lambda images: np.eye(2)[np.zeros(len(images), int)], "cat")
    return snellen.audit(always, f"manifest:{folder}/pets.csv", "background", quiet=True, report=False)


def test_the_best_constant_answer_is_that_of_the_images_a_statement_is_about(without_boxes: Run) -> None:
    results = Results.of(without_boxes)
    assert results.guess() == Guess(0.5, pytest.approx(60 / 84), "dog")
    values = background_values(results)
    assert values is not None
    assert values.guess == Guess(0.5, pytest.approx(24 / 34), "cat")
    (said,) = [text for _, text in background_sentences(results, "cat") if "ackgrounds alone" in text]
    assert said.startswith(
        "70.6% of the backgrounds alone are classified correctly by a constant answer: 'cat' to every"
    )
    ((_, clean),) = clean_sentence(results, "cat")
    assert "not clearly above always answering 'dog' (71.4%; chance 50.0%)" in clean
