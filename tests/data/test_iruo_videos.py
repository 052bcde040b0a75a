"""Videos and classes as people list them: one video under two ids, names in any script, occluders without a box."""

from __future__ import annotations

import json
from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from snellen.build import hts, in9, iruo, occluders
from snellen.build.class_folders import class_folder
from snellen.build.iruo.split import split_by_video
from snellen.data import load_data
from snellen.data.earlier import earlier_rules
from snellen.data.phantom import export

WORLD = "phantom:test?frames=4&n=48&size=40&object_size=0.35..0.6&clutter=0.3&occlusion=0.6"
OTHER_NAMES = ("猫", "बिल्ली", "Café", "🐱", "Giant Panda")


@pytest.fixture(scope="module")
def ovis(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return export(WORLD, "ovis", tmp_path_factory.mktemp("videos") / "export").out


def changed(ovis: Path, out: Path, change: Callable[[dict[str, Any]], object]) -> Path:
    content = json.loads((ovis / "annotations_test.json").read_text())
    change(content)
    out.write_text(json.dumps(content, ensure_ascii=False))
    return out


def index_of(out: Path) -> pd.DataFrame:
    return pd.concat([pd.read_csv(out / f"{split}.csv").assign(split=split) for split in ("train", "val")])


def list_twice(content: dict[str, Any]) -> None:
    """Every video once more under another id, with its annotations."""
    for video in list(content["videos"]):
        content["videos"].append({**video, "id": video["id"] + 100})
    for annotation in list(content["annotations"]):
        more = {"id": annotation["id"] + 1000, "video_id": annotation["video_id"] + 100}
        content["annotations"].append({**annotation, **more})


@pytest.mark.parametrize("split", ["video", "class"])
def test_one_video_under_two_ids_is_in_one_set(ovis: Path, tmp_path: Path, split: Any) -> None:
    file = changed(ovis, tmp_path / "twice.json", list_twice)
    built = iruo.build(file, ovis / "test", tmp_path / "set", workers=1, min_clear=0, split=split)
    index = index_of(built.out)
    if split == "video":
        assert (index.groupby("source_checksum")["split"].nunique() == 1).all()
        assert built.videos_in_both == 0
    assert (index.groupby(["source_checksum", "label"])["split"].nunique() == 1).all()
    assert (index["group"] == (index["video"] - 1) % 100 + 1).all()  # the first of the two
    assert any(line.startswith("12 videos have frames of another") for line in built.warnings)


def test_classes_keep_names_of_any_script(ovis: Path, tmp_path: Path) -> None:
    def rename(content: dict[str, Any]) -> None:
        for category, name in zip(content["categories"], OTHER_NAMES):
            category["name"] = name

    file = changed(ovis, tmp_path / "named.json", rename)
    built = iruo.build(file, ovis / "test", tmp_path / "set", workers=1, min_clear=0)
    assert {"猫", "बिल्ली", "café", "🐱", "giant_panda"} <= set(index_of(built.out)["label"])
    data = load_data(f"manifest:{built.out}/train.csv")
    assert "猫" in data.classes
    chosen = hts.build(data, tmp_path / "hts", per=1, levels=False, min_pixels=0, min_sharpness=0, workers=1)
    assert "猫" in chosen.images
    cut = occluders.build(data, tmp_path / "cut", without=("猫",), min_pixels=9, whole=False, workers=1)
    assert cut.left_out == ["猫"]  # and not what was called `class` with it
    assert (cut.out / "café").is_dir()
    variants = in9.build(data, tmp_path / "in9", "all", size=16, masks="data", workers=1, balance=False, largest=1.0)
    assert {"猫", "café", "🐱"} <= set(load_data(f"in9:{variants.out}/original").classes)


def test_two_names_are_never_one_folder_for_want_of_letters() -> None:
    assert class_folder("猫") != class_folder("犬")
    assert class_folder("e\u0301") == class_folder("é")  # two ways to write it
    assert class_folder("a\u200bb/c") == "a_b_c"
    assert len(class_folder("猫" * 100).encode()) <= 200
    assert class_folder("猫" * 100) != class_folder("猫" * 101)


def test_a_set_whose_classes_were_named_by_the_earlier_rule_is_known(ovis: Path, tmp_path: Path) -> None:
    def rename(content: dict[str, Any]) -> None:
        content["categories"][0]["name"] = "Café"

    file = changed(ovis, tmp_path / "named.json", rename)
    with earlier_rules():
        first = iruo.build(file, ovis / "test", tmp_path / "set", workers=1, min_clear=0)
    assert "caf" in first.shares
    before = {path: path.stat().st_mtime_ns for path in first.out.rglob("*")}
    assert iruo.build(file, ovis / "test", tmp_path / "set", workers=1, min_clear=0) == first
    assert {path: path.stat().st_mtime_ns for path in first.out.rglob("*")} == before


def test_a_set_built_of_polygons_as_pillow_filled_them_is_known(tmp_path: Path) -> None:
    out = export("phantom:test?n=24&size=32&object_size=0.3..0.6", "coco", tmp_path / "coco").out
    file = out / "annotations" / "instances_test.json"
    content = json.loads(file.read_text())
    for one in content["annotations"]:
        x, y, wide, high = one["bbox"]
        one["segmentation"] = [[x, y, x + wide, y, x + wide, y + high, x, y + high]]
    file.write_text(json.dumps(content))
    data = f"coco:{file}?images={out}/test"
    settings: dict[str, Any] = {"without": ("disc",), "min_pixels": 9, "whole": False, "workers": 1}
    with earlier_rules():
        former = load_data(data).fingerprint
        first = occluders.build(data, tmp_path / "set", **settings)
    assert load_data(data).fingerprint != former  # what is asked of new masks has another key
    assert occluders.build(data, tmp_path / "set", **settings) == first


def hide_boxes(content: dict[str, Any]) -> None:
    """No occluder has a box, all have masks."""
    for one in content["annotations"]:
        if one["role"] == "occluder":
            one["bboxes"] = [None] * len(one["bboxes"])


def test_an_occluder_without_a_box_is_known_by_its_mask(ovis: Path, tmp_path: Path) -> None:
    whole = iruo.build(ovis / "annotations_test.json", ovis / "test", tmp_path / "whole", workers=1, min_clear=0)
    file = changed(ovis, tmp_path / "boxless.json", hide_boxes)
    boxless = iruo.build(file, ovis / "test", tmp_path / "boxless", workers=1, min_clear=0)
    columns = ["instance", "frame", "level", "hidden", "type", "occluder", "occluder_class"]
    known = index_of(whole.out).set_index("id")[columns]
    left = index_of(boxless.out).set_index("id")[columns]
    assert (known["type"] != "none").sum() > 10
    assert boxless.rejected["no box"] > 0
    pd.testing.assert_frame_equal(left.sort_index(), known.loc[left.index].sort_index())


def test_few_videos_are_split_as_near_to_the_share_as_can_be() -> None:
    """One class: an exhaustive search over all splits with images in both sets says how near."""
    draws = np.random.default_rng(3)
    for _ in range(60):
        count = int(draws.integers(2, 10))
        sizes = draws.integers(1, 60, count)
        videos = np.repeat(np.arange(count), sizes)
        same = np.zeros(len(videos), int)
        train = split_by_video(videos, same, same, 0.7)
        sides = [np.array(one) for one in product((0, 1), repeat=count) if 0 < sum(one) < count]
        best = min(abs(one @ sizes / sizes.sum() - 0.7) for one in sides)
        assert abs(train.mean() - 0.7) == pytest.approx(best), sizes
        assert (split_by_video(videos, same, same, 0.7) == train).all()


def test_levels_do_not_draw_a_class_far_from_the_share() -> None:
    """Each video has a level of its own: none can be in both sets, and 70% of the class still is for training."""
    videos = np.repeat(np.arange(3), [60, 20, 20])
    train = split_by_video(videos, np.zeros(100, int), videos, 0.7)
    assert train.mean() == 0.8


def test_an_annotation_that_belongs_to_nothing_is_left_out_with_a_notice(ovis: Path, tmp_path: Path) -> None:
    whole = load_data(f"ovis:{ovis}/annotations_test.json?frames={ovis}/test")
    assert whole.notices == ()

    def lose(content: dict[str, Any]) -> None:
        content["annotations"][0]["video_id"] = 99

    file = changed(ovis, tmp_path / "stray.json", lose)
    data = load_data(f"ovis:{file}?frames={ovis}/test")
    assert set(data.samples.ids) == {one for one in whole.samples.ids if not one.endswith("#1")}
    reason = "annotation 1: unknown video: video_id 99 is not in 'videos'"
    assert data.notices == (f"1 annotation is left out of ovis:{file} ({reason})",)
    chosen = hts.build(data, tmp_path / "hts", per=1, min_pixels=0, min_sharpness=0, workers=1)
    assert chosen.warnings[0] == data.notices[0]
