"""`snellen build iruo` end to end on clips of the phantom world, whose truth is known."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from PIL import Image

import snellen
from snellen.build.iruo import build
from snellen.build.iruo import building as building_module
from snellen.build.iruo.building import IruoBuilt, IruoSet
from snellen.build.iruo.portion import measure_hiding
from snellen.cli import main
from snellen.data.ovis.crop import crop_box
from snellen.data.phantom import export
from snellen.errors import UserError

WORLD = "phantom:test?frames=4&n=96&size=48&object_size=0.35..0.6&clutter=0.3&occlusion=0.6"
WORDS = ["no_occlusion", "slight_occlusion", "severe_occlusion"]


@pytest.fixture(scope="module")
def ovis(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return export(WORLD, "ovis", tmp_path_factory.mktemp("iruo") / "export").out


@pytest.fixture(scope="module")
def built(ovis: Path) -> IruoBuilt:
    return build(ovis / "annotations_test.json", ovis / "test", ovis.parent / "set", workers=1, format="png")


def content_of(folder: Path) -> dict[str, Any]:
    return json.loads((folder / "annotations_test.json").read_text())


def changed(folder: Path, out: Path, change: Any) -> Path:
    """The annotations after a change, in a file of their own."""
    content = content_of(folder)
    change(content)
    out.write_text(json.dumps(content))
    return out


def index_of(out: Path) -> pd.DataFrame:
    tables = [
        pd.read_csv(out / f"{split}.csv", keep_default_na=False).assign(split=split) for split in ("train", "val")
    ]
    return pd.concat(tables, ignore_index=True)


def tree_of(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and path.name != "settings.yaml"
    }


def test_every_instance_in_every_frame_is_cut_out_with_its_masks(ovis: Path, built: IruoBuilt) -> None:
    oracle = pytest.importorskip("pycocotools.mask")
    content, index = content_of(ovis), index_of(built.out)
    files = {video["id"]: video["file_names"] for video in content["videos"]}
    count = 0
    for one in content["annotations"]:
        name = content["categories"][one["category_id"] - 1]["name"]
        for frame, box in enumerate(one["bboxes"]):
            if box is None:
                continue
            count += 1
            (row,) = index[(index["instance"] == one["id"]) & (index["frame"] == frame)].itertuples()
            assert (row.label, row.level, row.video) == (name, WORDS.index(one["occlusion"][frame]), one["video_id"])
            assert row.hidden == pytest.approx(one["hidden"][frame], abs=1e-6)
            x0, y0, x1, y1 = crop_box(box, 48, 48)
            assert (row.crop_x0, row.crop_y0, row.crop_x1, row.crop_y1) == (x0, y0, x1, y1)
            assert [row.x0, row.y0] == [box[0] - x0, box[1] - y0]
            whole = np.asarray(Image.open(ovis / "test" / files[one["video_id"]][frame]))
            np.testing.assert_array_equal(np.asarray(Image.open(built.out / row.path)), whole[y0:y1, x0:x1])
            for column, outlines in (("mask", "segmentations"), ("full_mask", "full_segmentations")):
                mask = np.asarray(Image.open(built.out / getattr(row, column)))
                np.testing.assert_array_equal(mask, oracle.decode(one[outlines][frame])[y0:y1, x0:x1] * 255)
    assert len(index) == count == sum(built.images.values())


def test_counts_are_those_of_the_annotations(ovis: Path, built: IruoBuilt) -> None:
    content = content_of(ovis)
    expected = Counter(
        (content["categories"][one["category_id"] - 1]["name"], WORDS.index(word))
        for one in content["annotations"]
        for word in one["occlusion"]
        if word
    )
    counts = pd.read_csv(built.out / "counts.csv")
    assert counts.groupby(["class", "level"])["images"].sum().to_dict() == dict(expected)
    assert set(counts["type"]) == {"none", "same_class", "other_class"}
    assert counts[counts["level"] == 0]["type"].unique().tolist() == ["none"]
    assert (counts["images"].sum(), built.rejected, built.disagreements) == (sum(expected.values()), {}, 0)
    for split in ("train", "val"):
        lines = [(built.out / "annos" / f"{split}{level}.txt").read_text().splitlines() for level in range(3)]
        assert sum(map(len, lines)) == built.images[split]
        path, label = lines[0][0].split(" ")
        assert content["categories"][int(label)]["name"] == Path(path).parent.name


def test_the_occluder_of_the_object_is_the_one_that_the_world_planted(ovis: Path, built: IruoBuilt) -> None:
    content, index = content_of(ovis), index_of(built.out)
    facts = {one["id"]: one for one in content["annotations"]}
    hidden = index[(index["level"] > 0) & index["instance"].map(lambda one: facts[one]["role"] == "object")]
    assert len(hidden) > 20
    planted = 0
    for row in hidden.itertuples():
        other = facts[int(row.occluder)]
        assert other["video_id"] == row.video
        assert row.type == (
            "same_class" if facts[row.instance]["category_id"] == other["category_id"] else "other_class"
        )
        planted += other["role"] == "occluder"
    assert planted == len(hidden)


def test_the_occluder_hides_most_and_one_that_is_not_annotated_is_unknown() -> None:
    full = np.zeros((4, 6), bool)
    full[:, :4] = True
    seen = full.copy()
    seen[:, 1:4] = False
    left, right = np.zeros((4, 6), bool), np.zeros((4, 6), bool)
    left[:, 1], right[:, 2:] = True, True
    hiding = measure_hiding(0, full, {0: seen, 1: left, 2: right})
    assert (hiding.hidden, hiding.full, hiding.occluder, hiding.covered, hiding.share) == (12, 16, 2, 8, 0.75)
    assert measure_hiding(0, full, {0: seen}).occluder is None


def test_no_video_is_in_both_sets(built: IruoBuilt) -> None:
    index = index_of(built.out)
    assert set(index[index["split"] == "train"]["video"]) & set(index[index["split"] == "val"]["video"]) == set()
    assert built.videos_in_both == 0
    shares = pd.read_csv(built.out / "split.csv").set_index("class")
    counts = index.groupby(["label", "split"]).size().unstack(fill_value=0)
    for name, row in shares.iterrows():
        assert (row["train"], row["val"]) == (counts.loc[name, "train"], counts.loc[name, "val"])
        assert row["share"] == pytest.approx(row["train"] / (row["train"] + row["val"]), abs=1e-4)


def test_the_published_split_has_videos_in_both_sets_and_the_build_says_so(ovis: Path, tmp_path: Path) -> None:
    leaking = build(ovis / "annotations_test.json", None, tmp_path / "set", workers=1, split="class-level")
    index = index_of(leaking.out)
    both = set(index[index["split"] == "train"]["video"]) & set(index[index["split"] == "val"]["video"])
    assert leaking.videos_in_both == len(both) > 0
    assert f"{len(both)} videos are in both train and val; --split video keeps them apart" in leaking.warnings
    tracks = index.groupby("instance")["split"].nunique()
    assert (tracks == 2).any()  # the very same object, at other levels


def test_the_indices_are_read_by_manifest_and_boxes(built: IruoBuilt) -> None:
    data = snellen.load_data(f"manifest:{built.out}/val.csv?level=2")
    rows = index_of(built.out).query("split == 'val' and level == 2")
    assert sorted(data.samples.ids) == sorted(rows["id"])
    assert data.facts == {"boxes", "masks"}
    for photo in data.read(range(len(data))):
        ys, xs = np.nonzero(photo.maps["mask"])
        assert photo.boxes.tolist() == [[xs.min(), ys.min(), xs.max() + 1, ys.max() + 1]]
    assert len(snellen.load_data(f"boxes:{built.out}/train.csv")) == built.images["train"]


def test_a_level_that_disagrees_with_the_masks_is_reported(ovis: Path, tmp_path: Path) -> None:
    def corrupt(content: dict[str, Any]) -> None:
        one = next(one for one in content["annotations"] if one["occlusion"][0] == "no_occlusion")
        one["occlusion"][0] = "severe_occlusion"

    file = changed(ovis, tmp_path / "wrong.json", corrupt)
    measured = build(file, ovis / "test", tmp_path / "measured", workers=1)
    (row,) = pd.read_csv(measured.out / "disagreements.csv").itertuples()
    assert (row.stated, row.measured, row.hidden) == (2, 0, 0)
    assert row.path.startswith("images/0/")
    assert (measured.disagreements, measured.warnings[-1]) == (
        1,
        "1 stated levels disagree with the masks (disagreements.csv)",
    )
    stated = build(file, ovis / "test", tmp_path / "stated", workers=1, levels="stated")
    assert stated.disagreements == 1
    assert pd.read_csv(stated.out / "disagreements.csv")["path"][0].startswith("images/2/")


def test_a_stopped_build_resumes_and_ends_with_the_same_files(
    ovis: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    arguments = (ovis / "annotations_test.json", ovis / "test")
    whole = tree_of(build(*arguments, tmp_path / "whole", workers=1).out)
    cut_out, moved, calls = building_module.cut_out, IruoSet._place, Counter[str]()

    def stop_cutting(*words: Any) -> Any:
        calls["cut"] += 1
        if calls["cut"] == 3:
            raise KeyboardInterrupt
        return cut_out(*words)

    def stop_moving(*words: Any) -> Any:
        calls["moved"] += 1
        if calls["moved"] == 10:
            raise KeyboardInterrupt
        return moved(*words)

    for place, name, stop in ((building_module, "cut_out", stop_cutting), (IruoSet, "_place", stop_moving)):
        monkeypatch.setattr(place, name, stop)
        with pytest.raises(KeyboardInterrupt):
            build(*arguments, tmp_path / "stopped", workers=1)
    monkeypatch.setattr(IruoSet, "_place", moved)
    build(*arguments, tmp_path / "stopped", workers=1)
    assert calls["cut"] == 13  # 96 frames in portions of 8; only the one that was stopped came twice
    assert tree_of(tmp_path / "stopped") == whole


def test_damaged_verdicts_are_made_again(ovis: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def stop(*_: Any) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(building_module, "write_tables", stop)
        patch.setattr(IruoSet, "_place", lambda *_: None)
        with pytest.raises(KeyboardInterrupt):
            build(ovis / "annotations_test.json", ovis / "test", tmp_path / "set", workers=1)
    pool = tmp_path / "set" / ".part" / ".pool"
    first = pool / "000000.json"
    first.write_bytes(first.read_bytes().replace(b'"level":0', b'"level":1'))
    (pool / "000001.json").write_text("nothing")
    build(ovis / "annotations_test.json", ovis / "test", tmp_path / "set", workers=1)
    build(ovis / "annotations_test.json", ovis / "test", tmp_path / "whole", workers=1)
    assert tree_of(tmp_path / "set") == tree_of(tmp_path / "whole")


def test_processes_change_no_byte(ovis: Path, tmp_path: Path) -> None:
    arguments = (ovis / "annotations_test.json", ovis / "test")
    alone, together = (build(*arguments, tmp_path / str(number), workers=number) for number in (1, 2))
    assert tree_of(alone.out) == tree_of(together.out)


def test_published_names_have_no_instance_and_the_last_of_a_class_stays(ovis: Path, tmp_path: Path) -> None:
    def double(content: dict[str, Any]) -> None:
        """Each object once more, 2 pixels to the right."""
        for one in list(content["annotations"]):
            if one["role"] == "object":
                boxes = [box and [box[0] + 2, *box[1:]] for box in one["bboxes"]]
                content["annotations"].append({**one, "id": one["id"] + 1000, "bboxes": boxes})

    file = changed(ovis, tmp_path / "double.json", double)
    published = build(file, ovis / "test", tmp_path / "set", workers=1, naming="published", levels="stated")
    index = index_of(published.out)
    row = index.iloc[0]
    stem = row["source"].removesuffix(".png").replace("/", "_")
    name = f"{row['video'] - 1}_{row['frame']:05d}_{stem}.jpg"
    assert row["path"] == f"images/{row['level']}/{row['split']}/{row['label']}/{name}"
    objects = {one["id"] for one in content_of(ovis)["annotations"] if one["role"] == "object"}
    assert not objects & set(index["instance"])
    assert published.rejected["same name"] >= 96
    assert list(index["id"]) == [f"{Path(path).stem}_{one}" for path, one in zip(index["path"], index["instance"])]
    assert not index["path"].duplicated().any()
    assert len(tree_of(published.out / "images")) == len(index)


def test_coco_with_levels_is_built_too(tmp_path: Path) -> None:
    export(WORLD, "coco", tmp_path / "coco", limit=24)
    built = build(tmp_path / "coco/annotations/instances_test.json", tmp_path / "coco/test", tmp_path / "set", workers=1,
                  min_clear=0)  # fmt: skip
    assert (built.disagreements, built.videos_in_both, built.rejected) == (0, 0, {})
    content = json.loads((tmp_path / "coco/annotations/instances_test.json").read_text())
    assert sum(built.images.values()) == len(content["annotations"])


def test_classes_can_be_chosen_and_others_still_hide(ovis: Path, tmp_path: Path) -> None:
    some = build(
        ovis / "annotations_test.json", None, tmp_path / "some", workers=1, classes=("Disc", "star"), min_clear=0
    )
    index = index_of(some.out)
    assert set(index["label"]) == {"disc", "star"}
    assert set(index["occluder_class"]) - {"disc", "star", ""}
    rest = build(
        ovis / "annotations_test.json", None, tmp_path / "rest", workers=1, without=("disc", "star"), min_clear=0
    )
    assert sum(some.images.values()) == rest.left_out
    with pytest.raises(UserError, match="unknown class in classes 'sta'; did you mean 'star'"):
        build(ovis / "annotations_test.json", None, tmp_path / "none", classes=("sta",))


def test_scaled_crops_are_of_one_size_with_their_boxes_and_masks(ovis: Path, built: IruoBuilt, tmp_path: Path) -> None:
    scaled = build(ovis / "annotations_test.json", None, tmp_path / "set", workers=1, size=96, pad=True, format="png")
    data = snellen.load_data(f"manifest:{scaled.out}/train.csv")
    for photo in data.read(range(0, len(data), 7)):
        assert photo.image.shape == (96, 96, 3)
        ys, xs = np.nonzero(photo.maps["mask"])
        np.testing.assert_allclose(photo.boxes[0], [xs.min(), ys.min(), xs.max() + 1, ys.max() + 1], atol=1.5)


def test_the_command_says_what_it_made(ovis: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["build", "iruo", "--annotations", str(ovis / "annotations_test.json"), "--out", str(tmp_path / "set")]
    with pytest.raises(SystemExit) as ended:
        main([*words, "--workers", "1", "--split", "class"])
    assert not ended.value.code
    printed = capsys.readouterr()
    assert "in 12 classes" in printed.out
    assert "not taken: none" in printed.out
    assert "videos are in both train and val" in printed.err
    facts = json.loads((tmp_path / "set/iruo.json").read_text())
    assert (facts["split"], len(facts["annotations_sha256"])) == ("class", 64)
    with pytest.raises(SystemExit):
        main([*words, "--split", "video"])
    assert "holds another export" in capsys.readouterr().err
