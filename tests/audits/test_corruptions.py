"""Common corruptions: the numbers are those of the stored answers, and AlexNet's errors stand below only where they fit."""

from __future__ import annotations

import numpy as np
import pytest

import snellen
from snellen.audits import CorruptionsAudit, parse_audits
from snellen.audits.corruptions import ALEXNET
from snellen.audits.exam import Exam
from snellen.distort.corruptions import COMMON
from snellen.errors import UserError

DATA = "phantom:test?size=32&n=48"


def exam(classes: int = 12, side: int = 224) -> Exam:
    return Exam(classes={"test": [str(number) for number in range(classes)]}, side=side)


def brightest_side(images: np.ndarray) -> np.ndarray:
    """An answer by where the image is brightest: here only answers matter."""
    side = images.mean((2, 3)).argmax(1) * 12 // images.shape[1]
    return np.eye(12)[side]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> snellen.Run:
    models = {"rows": snellen.models.from_callable(brightest_side, name="rows", version="1"), "shape": "observer:shape"}
    return snellen.audit(
        list(models.values()), DATA, "corruptions(kinds=[fog, pixelate, saturate], severities=[1, 3, 5])",
        tmp_path_factory.mktemp("runs") / "run", quiet=True,
    )  # fmt: skip


def found(run: snellen.Run, name: str, model: str) -> list[dict]:
    return [one for one in run.results()["findings"] if (one["name"], one["model"]) == (name, model)]


@pytest.mark.parametrize("model", ["rows", "shape"])
def test_errors_are_those_of_the_stored_answers(run: snellen.Run, model: str) -> None:
    answers = run.predictions()
    own = answers[(answers["model"] == model) & answers["distortion"].str.startswith("corruption(")]
    errors = 1 - own.groupby("distortion")["score"].mean()
    assert len(errors) == 9
    by_kind = errors.groupby(errors.index.str.extract(r"kind=(\w+)")[0].to_numpy()).mean()
    (mean,) = found(run, "mean_corruption_error", model)
    assert mean["value"] == pytest.approx(errors.mean())
    assert mean["facts"]["reference"] == "nobody"
    for one in found(run, "corruption_error", model):
        assert one["value"] == pytest.approx(by_kind[one["facts"]["kind"]])
    clean = 1 - answers[(answers["model"] == model) & (answers["distortion"] == "none()")]["score"].mean()
    (relative,) = found(run, "relative_corruption_error", model)
    assert relative["value"] == pytest.approx(errors.mean() - clean)
    accuracies = {
        (one["facts"]["kind"], one["facts"]["severity"]): one["value"]
        for one in found(run, "corrupted_accuracy", model)
    }
    for (kind, severity), accuracy in accuracies.items():
        (text,) = (text for text in errors.index if f"kind={kind}, severity={severity}" in text)
        assert accuracy == pytest.approx(1 - errors[text])


def test_every_number_has_the_interference_of_its_corruption_beside_it(run: snellen.Run) -> None:
    """The observer knows materials by marks in their pixels, which corruptions erase: all its errors fall on one class."""
    trusts = [one["interference"] for one in found(run, "corrupted_accuracy", "shape")]
    assert all(trust is not None for trust in trusts)
    assert any(trust["flagged"] for trust in trusts)


def test_small_images_get_the_constants_of_small_images(run: snellen.Run) -> None:
    texts = [text for one in found(run, "corrupted_accuracy", "rows") for text in one["distortions"]]
    assert all("constants=cifar" in text for text in texts)
    cells = CorruptionsAudit().cells(exam(side=224))
    assert len(cells) == 75
    assert all("constants=imagenet" in str(cell.distortion) for cell in cells)


def test_errors_are_divided_by_alexnets_only_where_these_are_published() -> None:
    assert set(ALEXNET) == set(COMMON)
    divided = CorruptionsAudit()._divided_by
    assert divided(exam(1000)) is ALEXNET
    assert divided(exam(12)) is None
    assert divided(exam(1000, side=32)) is None
    assert CorruptionsAudit(severities=(1, 3))._divided_by(exam(1000)) is None
    assert CorruptionsAudit(kinds=("fog", "spatter"))._divided_by(exam(1000)) is None
    assert CorruptionsAudit(reference="nobody")._divided_by(exam(1000)) is None
    assert CorruptionsAudit(reference="alexnet")._divided_by(exam(12)) is ALEXNET


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("corruptions(kinds=[rain])", "of corruptions 'rain'"),
        ("corruptions(severities=[0])", "severities from 1 to 5"),
        ("corruptions(severities=[])", "severities from 1 to 5"),
        ("corruptions(severities=[1], reference=alexnet)", "severities"),
        ("corruptions(constants=cifar, reference=alexnet)", "constants=cifar"),
        ("corruptions(kinds=[spatter], reference=alexnet)", "kind spatter"),
    ],
)
def test_what_cannot_be_asked_is_refused_in_one_line(text: str, words: str) -> None:
    with pytest.raises(UserError, match=words):
        parse_audits(text)


def test_the_report_has_a_panel_for_each_corruption(run: snellen.Run) -> None:
    page = (run.path / "report.html").read_text()
    for title in ("Fog", "Pixelate", "Saturate", "Mean corruption error"):
        assert f">{title}<" in page
    assert "not divided by those of another model" in page
