"""iOcclusion through the occlusion audit, on models whose train-test gap is planted."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

import snellen
from snellen.audits import Exam, parse_audits
from snellen.cli.printing import PrintChoice, print_run
from snellen.errors import UserError
from snellen.models import Model, from_callable


@pytest.fixture
def splits(tmp_path: Path) -> tuple[str, str]:
    """400 test and 400 train images of 20 × 20 pixels of two classes; blue tells the split (10 or 200), red the class.

    Every pixel is the same, so a model reads both from any pixel that is not covered; green numbers the image in its class.
    """
    texts = []
    for name, blue in (("test", 10), ("train", 200)):
        number = np.arange(400)
        colour = np.stack([60 * (number % 2 + 1), number // 2 % 200 + 1, np.full(400, blue)], 1)
        images = np.broadcast_to(colour[:, None, None], (400, 20, 20, 3)).astype(np.uint8)
        ids = np.array([f"{name}-{i}" for i in number])
        np.savez(tmp_path / f"{name}.npz", images=images, labels=number % 2, classes=["dark", "light"], ids=ids)
        texts.append(f"arrays:{tmp_path}/{name}.npz")
    return texts[0], texts[1]


def reads(images: np.ndarray, clean_gap: float, covered_gap: float) -> np.ndarray:
    """Right on all training images, wrong on the given share of test images, clean or covered.

    It reads the colour that most of the image shows, and sees that something is covered by any other.
    """
    told = []
    for image in images:
        colours, counts = np.unique(image.reshape(-1, 3), axis=0, return_counts=True)
        own = [(n, tuple(c)) for c, n in zip(colours, counts) if c[2] in (10, 200) and c[0] in (60, 120)]
        noisy = len(colours) > 40  # mild noise is answered as clean
        red, green, blue = np.median(image.reshape(-1, 3), axis=0) if noisy or not own else max(own)[1]
        covered = len(colours) > 1 and not noisy
        missed = (covered_gap if covered else clean_gap) if blue < 100 else 0
        told.append((red > 90) ^ (green <= 200 * missed))
    return np.eye(2)[np.array(told, int)]


def observer(clean_gap: float, covered_gap: float) -> Model:
    version = f"{clean_gap}/{covered_gap}"
    return from_callable(
        lambda images: reads(images, clean_gap, covered_gap), size=20, name="observer", version=version
    )


def test_a_planted_gap_is_found_and_its_parts_are_told(splits: tuple[str, str]) -> None:
    """10 % of test images missed when clean, 25% when covered, no training image: iOcclusion 2.5."""
    run = snellen.audit(observer(0.1, 0.25), splits[0], "occlusion([0.25])", train=splits[1], quiet=True, report=False)
    (found,) = [one for one in run.results()["findings"] if one["name"] == "iocclusion"]
    assert found["value"] == pytest.approx(2.5)
    assert found["low"] < 2.5 < found["high"]
    facts = found["facts"]
    assert (facts["numerator"], facts["denominator"], facts["signed"]) == pytest.approx((0.25, 0.1, 2.5))
    assert facts["gap_low"] > 0
    assert found["on"] == "test"
    assert "one run: no spread over runs" in found["text"]
    assert found["interference"] is not None
    (mean,) = [one for one in run.results()["findings"] if one["name"] == "mean_iocclusion"]
    assert [mean[key] for key in ("value", "low", "high")] == pytest.approx(
        [found[key] for key in ("value", "low", "high")]
    )
    assert "one run: no spread over runs" in mean["text"]


def test_every_masking_and_share_is_asked_and_squares_keep_their_curve(splits: tuple[str, str]) -> None:
    text = "occlusion([0.25, 0.5], [black], [occlude, tiles(5), fourier(spectrum=isotropic)])"
    run = snellen.audit(observer(0.1, 0.2), splits[0], text, train=splits[1], quiet=True, report=False)
    found = run.findings()
    listed = found.query("name == 'iocclusion'")
    assert list(zip(listed["masking"], listed["area"])) == [
        (kind, area) for kind in ("occlude", "tiles", "fourier") for area in (0.25, 0.5)
    ]
    assert listed["value"].tolist() == pytest.approx([2.0] * 6)
    assert (found["name"] == "occluded_accuracy").sum() == 2
    assert found.query("name == 'cut_occlusion'")["value"].item() == pytest.approx(0.8)


def test_the_printed_table_tells_maskings_apart(splits: tuple[str, str], capsys: pytest.CaptureFixture[str]) -> None:
    text = "occlusion([0.25], [black, white], [occlude, fourier], validate=true), augmentation([occlude(0.1), tiles(2, 0.5)])"
    run = snellen.audit(observer(0.1, 0.2), splits[0], text, train=splits[1], quiet=True, report=False)
    print_run(run, PrintChoice(every=True))
    cells = [re.split(r"  +", line.strip()) for line in capsys.readouterr().out.splitlines() if line.startswith("  ")]
    rows = [(row[0], row[-1]) for row in cells if "iocclusion" in row[0] or row[0] in ("affinity", "direction")]
    assert len(set(rows)) == len(rows) > 10
    assert ("iocclusion", "Train–test gap left (iOcclusion) under white Fourier mask of 25%") in rows
    assert ("iocclusion_fill_gap", "Effect of the fill on iOcclusion, squares: black minus white") in rows


def test_without_training_images_it_says_what_to_add(
    splits: tuple[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    run = snellen.audit(observer(0.1, 0.2), splits[0], "occlusion([0.25])", quiet=True, report=False)
    (found,) = [one for one in run.results()["findings"] if one["name"] == "iocclusion"]
    assert found["value"] is None
    assert "add --train DATA" in found["text"]
    print_run(run, PrintChoice(every=True))
    assert capsys.readouterr().out.count("– iOcclusion needs the training images too: add --train DATA") == 1


def test_no_gap_is_said_and_not_divided_by(splits: tuple[str, str]) -> None:
    text = "occlusion([0.25], [black, white], validate=true)"
    run = snellen.audit(observer(0, 0.25), splits[0], text, train=splits[1], quiet=True, report=False)
    found = {one["name"]: one for one in run.results()["findings"]}
    assert found["iocclusion"]["facts"]["gapless"] == 1
    for name in ("iocclusion", "mean_iocclusion", "iocclusion_fill_gap"):
        assert found[name]["value"] is None
        assert "nothing to divide by" in found[name]["text"]
        assert "nan" not in found[name]["text"]


def test_validating_sets_the_fill_gaps_of_both_measures_side_by_side(splits: tuple[str, str]) -> None:
    """A model that misses another 30 % of all covered images when the fill is white: the gap stays, accuracy falls."""

    def answer(images: np.ndarray) -> np.ndarray:
        told = reads(images, 0.1, 0.2)
        white = (images == 255).all(-1).mean((1, 2)) > 0.1
        green = np.median(images[..., 1].reshape(len(images), -1), axis=1)
        flipped = white & (green > 140)
        told[flipped] = told[flipped][:, ::-1]
        return told

    model = from_callable(answer, size=20, name="white", version="1")
    text = "occlusion([0.25], [black, white], validate=true)"
    run = snellen.audit(model, splits[0], text, train=splits[1], quiet=True, report=False)
    (gap,) = [one for one in run.results()["findings"] if one["name"] == "iocclusion_fill_gap"]
    facts = gap["facts"]
    assert facts["iocclusion"] == pytest.approx(2.0)
    assert facts["iocclusion_other"] == pytest.approx(2.0, abs=0.05)
    assert facts["cut_relative"] == pytest.approx(0.3 / 0.65, abs=0.03)
    assert facts["relative"] < 0.05
    assert gap["value"] == pytest.approx(facts["iocclusion"] - facts["iocclusion_other"])
    assert gap["low"] <= gap["value"] <= gap["high"]
    assert gap["high"] - gap["low"] < 1.5  # drawn together: far narrower than iOcclusion's own
    names = {one["name"] for one in run.results()["findings"] if one["audit"] == "occlusion"}
    (audit,) = parse_audits(text)
    assert names == set(audit.names)


def test_bad_maskings_are_told() -> None:
    with pytest.raises(UserError, match=r"expected maskings that cover a share, such as tiles\(4\), got shuffle"):
        parse_audits("occlusion(maskings=[shuffle(4)])")
    with pytest.raises(UserError, match="validate compares fills; give at least two"):
        parse_audits("occlusion(fills=[black], validate=true)")


@pytest.mark.parametrize(
    "text",
    [
        "occlusion([0.3], [black, stripes], [tiles, fourier(spectrum=isotropic)], validate=true)",
        "augmentation([mix(cutmix) | noise(0.1), occlude])",
        "shape(2)",
    ],
)
def test_audits_with_distortions_inside_parse_back(text: str) -> None:
    (audit,) = parse_audits(text)
    assert parse_audits(str(audit)) == [audit]
    assert "tiles(grid=4" in str(audit) or not text.startswith("occlusion")


def test_train_cells_are_asked_only_with_training_images() -> None:
    (audit,) = parse_audits("occlusion([0.3, 0.5])")
    alone, both = Exam(classes={"test": "ab"}, side=32), Exam(classes={"test": "ab", "train": "ab"}, side=32)
    assert {cell.on for cell in audit.cells(alone)} == {"test"}
    assert sum(cell.on == "train" for cell in audit.cells(both)) == 3  # clean, and two shares in one fill
    assert len(audit.cells(alone)) == 4
