"""`snellen build hts`: clear images, so many per class and level, and bounds that are chosen by models."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from PIL import Image

import snellen
from snellen.build.clarity import Clarity, sharpness_of
from snellen.build.hts import build
from snellen.build.hts import building as building_module
from snellen.build.hts.building import HtsBuilt
from snellen.build.hts.calibration import BoundsTrial, choose_bounds, try_bounds
from snellen.cli import main
from snellen.errors import UserError

DATA = "phantom:test?size=32&n=180&occlusion=0.6"
BOUND = 4000.0


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> HtsBuilt:
    out = tmp_path_factory.mktemp("hts") / "set"
    return build(DATA, out, per=2, min_pixels=1000, min_sharpness=BOUND, workers=1)


@settings(max_examples=40, deadline=None)
@given(arrays(np.uint8, st.tuples(st.integers(1, 9), st.integers(1, 9), st.just(3))))
def test_sharpness_is_the_variance_of_opencvs_laplacian(image: np.ndarray) -> None:
    cv2 = pytest.importorskip("cv2")
    assert sharpness_of(image) == pytest.approx(cv2.Laplacian(image, cv2.CV_64F).var(), rel=1e-9, abs=1e-9)


def test_sharpness_by_hand() -> None:
    """One white pixel on black, 3 × 3: −4 in the middle, 1 beside it. Mirrored borders add 1 more at each of the four sides."""
    image = np.zeros((3, 3, 3), np.uint8)
    image[1, 1] = 1
    expected = np.array([[0, 2, 0], [2, -4, 2], [0, 2, 0]]) * 1.0
    assert sharpness_of(image) == pytest.approx(expected.var())
    assert sharpness_of(np.full((4, 5, 3), 7, np.uint8)) == 0
    assert Clarity(9, 1).refuse(9, 5) == ("too few pixels", "9 pixels, not more than 9")
    assert Clarity(9, 1).refuse(10, 1.0) == ("not sharp", "sharpness 1.00, not more than 1")
    assert Clarity(9, 1).refuse(10, 1.5) == ("", "")


def test_each_class_and_level_has_so_many_clear_images(built: HtsBuilt) -> None:
    data = snellen.load_data(DATA)
    index = pd.read_csv(built.out / "index.csv", keep_default_na=False)
    counts = Counter(zip(index["label"], index["level"]))
    assert max(counts.values()) == 2
    assert (index["sharpness"] > BOUND).all()
    place = {sample: row for row, sample in enumerate(data.samples.ids)}
    words = ["none", "slight", "severe"]
    for row in index.itertuples():
        photo = data.read([place[row.id]])[0]
        np.testing.assert_array_equal(np.asarray(Image.open(built.out / row.path)), photo.image)
        np.testing.assert_array_equal(np.asarray(Image.open(built.out / row.mask)), photo.maps["mask"] != 0)
        assert words[row.level] == data.samples.columns["level"][place[row.id]]
        assert row.path == f"images/{row.label}_o{row.level}_n{row.path[-5]}.png"
    rejects = pd.read_csv(built.out / "rejected.csv")
    assert Counter(rejects["reason"]) == Counter(built.rejected)
    assert len(rejects) + len(index) == len(data)
    assert set(built.rejected) == {"not sharp", "not needed"}
    assert (rejects[rejects["reason"] == "not sharp"]["sharpness"] <= BOUND).all()
    assert pd.read_csv(built.out / "counts.csv")["images"].sum() == sum(built.images.values()) == len(index)
    spare = rejects[rejects["reason"] == "not needed"]
    assert all(counts[name, level] == 2 for name, level in zip(spare["class"], spare["level"]))
    lacks = sum(counts[name, level] < 2 for name in data.classes for level in range(3))
    assert bool(lacks) == any("fewer than 2 clear images" in line for line in built.warnings)


def test_the_subset_is_also_had_without_copies_and_has_contact_sheets(built: HtsBuilt) -> None:
    ids = set(pd.read_csv(built.out / "index.csv")["id"])
    assert set(snellen.load_data(f"{DATA}&ids={built.out}/ids.txt").samples.ids) == ids
    assert set(snellen.load_data(f"manifest:{built.out}/index.csv").samples.ids) == ids
    for name, tiles in (("kept", len(ids)), ("rejected", built.rejected["not sharp"])):
        with Image.open(built.out / f"contact-sheet-{name}.jpg") as sheet:
            assert sheet.height > 26 + 128 * (tiles // 12)


def test_the_seed_chooses_other_images_and_a_stopped_build_resumes(
    built: HtsBuilt, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stop(*_: Any) -> None:
        raise KeyboardInterrupt

    chosen: dict[str, Any] = dict(per=2, min_pixels=1000, min_sharpness=BOUND, workers=1)
    with monkeypatch.context() as patch:
        patch.setattr(building_module, "write_set", stop)
        with pytest.raises(KeyboardInterrupt):
            build(DATA, tmp_path / "set", **chosen)
        (tmp_path / "set/.part/.pool/000001.json").write_text("damaged")
    portions: list[int] = []
    real = building_module.measure_portion
    monkeypatch.setattr(building_module, "measure_portion", lambda *a: portions.append(a[-1].number) or real(*a))
    build(DATA, tmp_path / "set", **chosen)
    assert portions == [1]
    assert (tmp_path / "set/index.csv").read_bytes() == (built.out / "index.csv").read_bytes()
    build(DATA, tmp_path / "other", **chosen, seed=1)
    assert (tmp_path / "other/ids.txt").read_bytes() != (built.out / "ids.txt").read_bytes()


def test_bounds_that_models_choose_by_hand() -> None:
    """Ten sizes × ten sharpnesses; a model is right where an image has more than 40 pixels and a sharpness above 3."""
    pixels, sharpness = (axis.ravel() for axis in np.meshgrid(np.arange(10, 110, 10), np.arange(1, 11)))
    right = (pixels > 40) & (sharpness > 3)
    trials = try_bounds(pixels.astype(float), sharpness.astype(float), right[None])
    assert trials[0] == BoundsTrial(0, 0, 100, 0.42)
    assert max(one.accuracy for one in trials if one.images) == 1
    whole = choose_bounds(trials, 1.0)
    passing = (pixels > whole.pixels) & (sharpness > whole.sharpness)
    np.testing.assert_array_equal(passing, right)
    half = choose_bounds(trials, 0.6)  # one bound is enough: 7 of 10 sharpnesses, or 6 of 10 sizes
    kept = (pixels > half.pixels) & (sharpness > half.sharpness)
    assert right[kept].mean() >= 0.6
    best = max(one.images for one in trials if one.accuracy >= 0.6)
    assert kept.sum() == best == 70
    assert choose_bounds(trials, 0.4) == Clarity(0, 0)
    with pytest.raises(UserError, match="no bounds give an accuracy of 90.0% at level 0: the best is 50.0% on"):
        choose_bounds(try_bounds(pixels, sharpness, np.stack([right, ~right])), 0.9)
    with pytest.raises(UserError, match="at least 10 clear images of level 0"):
        choose_bounds(try_bounds(pixels[:5], sharpness[:5], right[None, :5]), 0.5)


def test_models_choose_the_bounds(tmp_path: Path) -> None:
    """Recorded answers that are right where the image is sharp: the bound that comes out is that sharpness."""
    data = snellen.load_data(DATA)
    photos = data.read(range(len(data)))
    sharp = np.array([sharpness_of(photo.image) for photo in photos])
    clear = np.array([level == "none" for level in data.samples.columns["level"]])
    bound = float(np.quantile(sharp[clear], 0.4))
    names = [data.classes[(label + (value <= bound)) % 12] for label, value in zip(data.samples.labels, sharp)]
    rows = pd.DataFrame({"sample": data.samples.ids, "pred": names})
    rows.to_csv(tmp_path / "answers.csv", index=False)
    chosen = build(
        DATA, tmp_path / "set", per=2, calibrate=(f"predictions:{tmp_path}/answers.csv",), target=1.0, workers=1
    )
    assert bound * 0.9 < chosen.min_sharpness <= sharp[clear & (sharp > bound)].min()
    assert (chosen.min_pixels, chosen.accuracy) == (0, 1.0)
    table = pd.read_csv(tmp_path / "set/calibration.csv")
    assert table["images"].max() == clear.sum()
    assert table["accuracy"].iloc[0] == pytest.approx((sharp > bound)[clear].mean(), abs=1e-6)
    with pytest.raises(UserError, match="no bounds give an accuracy of 100.0%"):
        build(DATA, tmp_path / "b", calibrate=("observer:guess",), target=1.0, workers=1)


def test_what_cannot_be_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    np.savez(tmp_path / "a.npz", images=np.zeros((2, 8, 8, 3), np.uint8), labels=[0, 1])
    with pytest.raises(UserError, match="has no column 'level'; use the index of snellen build iruo, or levels=False"):
        build(f"arrays:{tmp_path}/a.npz", tmp_path / "set")
    with pytest.raises(UserError, match=r"no image is left: 2 too few pixels; lower min_pixels \(10000\)"):
        build(f"arrays:{tmp_path}/a.npz", tmp_path / "set", levels=False, workers=1)
    with pytest.raises(UserError, match="expected per from 1 to 100,000, got 0"):
        build(DATA, tmp_path / "other", per=0)
    with pytest.raises(UserError, match="expected target from 0 to 1, got 2"):
        build(DATA, tmp_path / "other", target=2)
    with pytest.raises(SystemExit) as ended:
        main(["build", "hts", "--data", f"arrays:{tmp_path}/a.npz", "--no-levels", "--min-pixels", "0",
              "--min-sharpness", "0", "--out", str(tmp_path / "all"), "--workers", "1"])  # fmt: skip
    assert not ended.value.code
    printed = capsys.readouterr()
    assert f"2 images in 2 classes: {tmp_path / 'all'}" in printed.out
    assert snellen.load_data(f"manifest:{tmp_path}/all/index.csv").facts == frozenset()


def test_where_no_bounds_reach_the_target_the_most_accurate_are_named() -> None:
    trials = [
        BoundsTrial(0, 0, 40, 0.5),
        BoundsTrial(900, 0, 20, 0.75),
        BoundsTrial(900, 8, 12, 0.75),
        BoundsTrial(0, 9, 5, 0.9),
    ]
    with pytest.raises(UserError, match=r"the best is 75.0% on 20 images, with min_pixels=900"):
        choose_bounds(trials, 0.8)
