"""`snellen build occluders`: objects of classes absent from the target, cut out along their masks."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from PIL import Image

import snellen
from snellen import distort
from snellen.build.occluders import build
from snellen.build.occluders import building as building_module
from snellen.build.occluders.building import OccludersBuilt, _warnings
from snellen.build.occluders.cutting import cut_out
from snellen.cli import main
from snellen.data.occluders import read_occluders
from snellen.data.phantom import export
from snellen.errors import UserError

WORLD = "phantom:test?size=48&n=48&object_size=0.3..0.6&clutter=0.3&occlusion=0.3"
TARGET = "phantom:train?size=16&n=12&classes=disc,star"


@pytest.fixture(scope="module")
def coco(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return export(WORLD, "coco", tmp_path_factory.mktemp("objects") / "coco").out


@pytest.fixture(scope="module")
def data(coco: Path) -> str:
    return f"ovis:{coco}/annotations/instances_test.json?frames={coco}/test&view=frame"


@pytest.fixture(scope="module")
def built(coco: Path, data: str) -> OccludersBuilt:
    return build(data, coco.parent / "objects", target=TARGET, per_class=2, min_pixels=60, workers=1)


def test_cut_outs_are_the_pixels_of_their_masks(built: OccludersBuilt, data: str) -> None:
    source = snellen.load_data(data)
    place = {sample: row for row, sample in enumerate(source.samples.ids)}
    index = pd.read_csv(built.out / "occluders.csv")
    assert len(index) == sum(built.classes.values()) > 12
    for row in index.itertuples():
        photo = source.read([place[row.id]])[0]
        mask = photo.maps["mask"] != 0
        ys, xs = np.nonzero(mask)
        window = slice(ys.min(), ys.max() + 1), slice(xs.min(), xs.max() + 1)
        rgba = np.asarray(Image.open(built.out / row.path))
        np.testing.assert_array_equal(rgba[1:-1, 1:-1, 3] == 255, mask[window])
        np.testing.assert_array_equal(rgba[1:-1, 1:-1, :3], photo.image[window] * mask[window][:, :, None])
        assert not rgba[0].any()
        assert (row.pixels, row.width, row.height) == (mask.sum(), rgba.shape[1], rgba.shape[0])
        assert min(ys.min(), xs.min(), 47 - ys.max(), 47 - xs.max()) > 0
        assert row.pixels >= 60


def test_no_cut_out_is_of_a_class_of_the_target(built: OccludersBuilt) -> None:
    index = pd.read_csv(built.out / "occluders.csv")
    assert not set(index["label"]) & {"disc", "star"}
    assert set(built.left_out) == {"disc", "star"}
    assert max(Counter(index["label"]).values()) == 2
    rejects = pd.read_csv(built.out / "rejected.csv")
    assert Counter(rejects["reason"]) == Counter(built.rejected)
    assert set(built.rejected) <= {"touches the border", "too few pixels"}


def test_the_folder_is_one_of_occluders(built: OccludersBuilt) -> None:
    pool = read_occluders(built.out)
    assert len(pool.ids) == sum(built.classes.values())
    images = np.zeros((4, 48, 48, 3), np.uint8)
    out = distort.apply("cutout_object(0.25)", images, occluders=str(built.out))
    assert (out.reshape(4, -1).max(1) > 0).all()
    square = cut_out(np.full((5, 6, 3), 9, np.uint8), np.ones((5, 6), bool))  # without any hole
    assert distort.apply("cutout_object(1)", images, occluders=[square]).max() == 9


def test_a_stopped_build_resumes_and_ends_with_the_same_files(
    built: OccludersBuilt, data: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real, rows = building_module.cut_objects, []

    def stopping(*words: Any) -> Any:
        rows.append(words[-1].number)
        if len(rows) == 4:
            raise KeyboardInterrupt
        return real(*words)

    monkeypatch.setattr(building_module, "cut_objects", stopping)
    chosen: dict[str, Any] = dict(target=TARGET, per_class=2, min_pixels=60, workers=1)
    with pytest.raises(KeyboardInterrupt):
        build(data, tmp_path / "set", **chosen)
    build(data, tmp_path / "set", **chosen)
    assert max(Counter(rows[:3] + rows[4:]).values()) == 1  # nothing came twice but the one that was stopped
    made, whole = (
        {path.relative_to(out): path.read_bytes() for path in out.rglob("*.*") if path.name != "settings.yaml"}
        for out in (tmp_path / "set", built.out)
    )
    assert made == whole


def test_what_cannot_be_is_refused(data: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    np.savez(tmp_path / "a.npz", images=np.zeros((2, 8, 8, 3), np.uint8), labels=[0, 1])
    with pytest.raises(UserError, match="has no masks to cut objects out by"):
        build(f"arrays:{tmp_path}/a.npz", tmp_path / "set", target=TARGET)
    with pytest.raises(UserError, match="expected target, data whose classes the occluders must not have"):
        build(data, tmp_path / "set")
    with pytest.raises(UserError, match="every class of .* is one of the target: disc, ring"):
        build(data, tmp_path / "set", target="phantom:test?size=16&n=12")
    with pytest.raises(UserError, match="no object could be cut out: .* too few pixels"):
        build(data, tmp_path / "set", target=TARGET, min_pixels=10**6, per_class=1, workers=1)
    with pytest.raises(UserError, match="expected per_class from 1 to 10,000, got 0"):
        build(data, tmp_path / "set", target=TARGET, per_class=0)
    with pytest.raises(SystemExit) as ended:
        main(["build", "occluders", "--data", data, "--without", "Disc, star", "--per-class", "1", "--no-whole",
              "--min-pixels", "40", "--workers", "1", "--out", str(tmp_path / "some")])  # fmt: skip
    assert not ended.value.code
    assert "10 cut-outs of 10 classes" in capsys.readouterr().out


def test_classes_without_cutouts_are_named() -> None:
    assert _warnings({"cat": 3, "dog": 2}, 5) == []
    assert _warnings({"cat": 0, "dog": 2, "cow": 0}, 2) == ["no cut-outs of cat, cow"]
