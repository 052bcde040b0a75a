"""Annotations that are wrong: each is refused in one line, or counted as a reject with its reason."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from PIL import Image

from snellen.build.iruo import build
from snellen.cli import main
from snellen.data import load_data
from snellen.data.phantom import export
from snellen.errors import UserError

WORLD = "phantom:test?frames=4&n=48&size=40&object_size=0.35..0.6"
Change = Callable[[dict[str, Any]], object]


@pytest.fixture(scope="module")
def ovis(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Twelve clips of one object each; annotation 1 is in video 1, and so on."""
    return export(WORLD, "ovis", tmp_path_factory.mktemp("iruo") / "export").out


def changed(ovis: Path, out: Path, change: Change) -> Path:
    content = json.loads((ovis / "annotations_test.json").read_text())
    change(content)
    out.write_text(json.dumps(content))
    return out


def first(content: dict[str, Any]) -> dict[str, Any]:
    return content["annotations"][0]


def put(name: str, value: Any) -> Change:
    """Another value in the first frame of the first annotation."""
    return lambda content: first(content)[name].__setitem__(0, value)


EMPTY = {"size": [40, 40], "counts": [1600]}


@pytest.mark.parametrize(
    ("change", "reason", "count", "detail"),
    [
        (put("bboxes", None), "no box", 1, "its box is null"),
        (put("segmentations", None), "no mask", 1, "its mask is null"),
        (put("segmentations", EMPTY), "empty mask", 1, "its mask has no pixels"),
        (put("full_segmentations", EMPTY), "empty mask", 1, "its full mask has no pixels"),
        (put("segmentations", {"size": [9, 9], "counts": [81]}), "broken mask", 1, "is of (9, 9)"),
        (put("segmentations", {"size": [40, 40], "counts": [7, 7]}), "broken mask", 1, "do not make the 40x40 pixels"),
        (put("segmentations", {"size": [40, 40], "counts": "é"}), "broken mask", 1, "not COCO's text"),
        (put("bboxes", [3, 3, 0.5, 9]), "tiny box", 1, "0.5x9 pixels"),
        (put("bboxes", [300, 3, 9, 9]), "box outside", 1, "does not meet the frame of 40x40"),
        (put("occlusion", "rather_occluded"), "unknown level", 1, "'rather_occluded' is none of"),
        (lambda content: first(content).update(video_id=99), "unknown video", 1, "video_id 99 is not in 'videos'"),
        (lambda content: first(content).update(category_id=99), "unknown class", 1, "category_id 99 is not in"),
        (lambda content: first(content).update(bboxes=[None]), "wrong length", 1, "'bboxes' has 1 entries"),
        (lambda content: first(content).update(iscrowd=1), "crowd", 4, "several objects"),
        (
            lambda content: content["videos"][0]["file_names"].__setitem__(0, "000000/gone.png"),
            "missing frame",
            1,
            "000000/gone.png: there is no such file",
        ),
        (lambda content: content["videos"][0].update(width=41), "frame size differs", 4, "41x40 pixels, the frame has"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_counted_with_its_reason(
    ovis: Path, tmp_path: Path, change: Change, reason: str, count: int, detail: str
) -> None:
    file = changed(ovis, tmp_path / "wrong.json", change)
    built = build(file, ovis / "test", tmp_path / "set", workers=1, min_clear=0)
    assert built.rejected == {reason: count}
    rows = pd.read_csv(built.out / "rejected.csv")
    assert len(rows) == count
    assert (rows["instance"] == 1).all()
    assert rows["detail"].str.contains(detail, regex=False).all()


def test_an_absent_object_is_no_reject(ovis: Path, tmp_path: Path) -> None:
    def leave(content: dict[str, Any]) -> None:
        for name in ("bboxes", "segmentations", "full_segmentations", "occlusion"):
            first(content)[name][0] = None

    file = changed(ovis, tmp_path / "gap.json", leave)
    whole = build(ovis / "annotations_test.json", ovis / "test", tmp_path / "whole", workers=1, min_clear=0)
    built = build(file, ovis / "test", tmp_path / "set", workers=1, min_clear=0)
    assert built.rejected == {}
    assert sum(built.images.values()) == sum(whole.images.values()) - 1
    names = {path.name: path for path in (whole.out / "seg-masks").rglob("*.png")}
    for path in (built.out / "seg-masks").rglob("*.png"):  # a gap does not shift the masks that follow
        assert path.read_bytes() == names[path.name].read_bytes()


def test_an_unreadable_frame_is_counted(ovis: Path, tmp_path: Path) -> None:
    out = export(WORLD, "ovis", tmp_path / "copy").out
    (out / "test/000000/img_0000001.png").write_bytes(b"no image")
    built = build(out / "annotations_test.json", out / "test", tmp_path / "set", workers=1, min_clear=0)
    assert built.rejected == {"unreadable frame": 1}


def test_a_frame_that_came_since_a_build_was_stopped_is_taken(
    ovis: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = export(WORLD, "ovis", tmp_path / "copy").out
    frame = out / "test/000000/img_0000001.png"
    content = frame.read_bytes()
    frame.unlink()

    def stop(*_: Any) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("snellen.build.iruo.building.write_tables", stop)
        with pytest.raises(KeyboardInterrupt):
            build(out / "annotations_test.json", out / "test", tmp_path / "set", workers=1, min_clear=0)
    frame.write_bytes(content)
    built = build(out / "annotations_test.json", out / "test", tmp_path / "set", workers=1, min_clear=0)
    assert built.rejected == {}
    assert sum(built.images.values()) == 48
    assert len(list((built.out / "images").rglob("*.jpg"))) == 48


def test_without_levels_and_full_masks_every_image_is_a_reject(ovis: Path, tmp_path: Path) -> None:
    def bare(content: dict[str, Any]) -> None:
        for one in content["annotations"]:
            del one["occlusion"], one["full_segmentations"]

    file = changed(ovis, tmp_path / "bare.json", bare)
    with pytest.raises(UserError, match="no image is left: 48 no level"):
        build(file, ovis / "test", tmp_path / "set", workers=1, min_clear=0)


def test_levels_are_measured_where_none_is_stated_and_stated_where_no_mask_is_full(ovis: Path, tmp_path: Path) -> None:
    whole = build(ovis / "annotations_test.json", ovis / "test", tmp_path / "whole", workers=1)
    levels = pd.read_csv(whole.out / "train.csv").set_index("id")["level"]
    for name in ("occlusion", "full_segmentations"):

        def bare(content: dict[str, Any], name: str = name) -> None:
            for one in content["annotations"]:
                del one[name]

        file = changed(ovis, tmp_path / "bare.json", bare)
        built = build(file, ovis / "test", tmp_path / name, workers=1)
        pd.testing.assert_series_equal(pd.read_csv(built.out / "train.csv").set_index("id")["level"], levels)


@pytest.mark.parametrize("full", [True, False])
def test_a_class_that_is_always_occluded_is_named(ovis: Path, tmp_path: Path, full: bool) -> None:
    def cover(content: dict[str, Any]) -> None:
        one = first(content)
        category = one["category_id"]
        content["annotations"] = [a for a in content["annotations"] if a is one or a["category_id"] != category]
        for other in content["annotations"]:
            other.pop("full_segmentations") if not full else None
        if full:
            one["full_segmentations"] = [{"size": [40, 40], "counts": [0, 1600]}] * 4
        one["occlusion"] = ["severe_occlusion"] * 4

    content = json.loads((ovis / "annotations_test.json").read_text())
    name = content["categories"][first(content)["category_id"] - 1]["name"]
    file = changed(ovis, tmp_path / "covered.json", cover)
    with pytest.raises(UserError, match=f"'{name}'.* with no image of level 0 .*without=.*{name}"):
        build(file, ovis / "test", tmp_path / "set", workers=1)
    assert build(file, ovis / "test", tmp_path / "some", workers=1, min_clear=0).images["train"] > 0


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b'{"videos": [{"id": 1, "file_na', "cannot be read as JSON"),
        (b'{"annotations": [], "categories": []}', "neither 'videos'"),
        (b'{"annotations": null, "categories": [], "videos": []}', "annotations"),
        (b'{"annotations": [], "categories": [], "videos": []}', "lists no frames"),
        (b"", "cannot be read as JSON"),
    ],
)
def test_a_file_that_is_no_listing_is_one_line(
    tmp_path: Path, content: bytes, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "bad.json").write_bytes(content)
    with pytest.raises(SystemExit) as ended:
        main(["build", "iruo", "--annotations", str(tmp_path / "bad.json"), "--out", str(tmp_path / "set")])
    assert ended.value.code == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert message in line
    assert "bad.json" in line
    assert not (tmp_path / "set").exists()


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"split": "videos"}, "unknown split 'videos'; did you mean 'video'"),
        ({"share": 1.5}, "expected share from 0.05 to 0.95, got 1.5"),
        ({"margin": -1}, "expected margin from 0 to 1,000, got -1"),
        ({"workers": 0}, "expected workers from 1 to 1,024, got 0"),
    ],
)
def test_settings_that_make_no_sense_are_refused(
    ovis: Path, tmp_path: Path, settings: dict[str, Any], message: str
) -> None:
    with pytest.raises(UserError, match=message):
        build(ovis / "annotations_test.json", ovis / "test", tmp_path / "set", **settings)


def test_paths_that_leave_the_frames_are_refused(
    ovis: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = changed(ovis, tmp_path / "out.json", lambda c: c["videos"][0]["file_names"].__setitem__(0, "/etc/passwd"))
    with pytest.raises(
        UserError, match="path '/etc/passwd' leaves .*; add frames='DIR' to name the folder it may be in$"
    ):
        build(file, ovis / "test", tmp_path / "set", workers=1)
    with pytest.raises(SystemExit, match="2"):
        main(
            [
                "build",
                "iruo",
                "--annotations",
                str(file),
                "--frames",
                str(ovis / "test"),
                "--out",
                str(tmp_path / "set"),
            ]
        )
    assert capsys.readouterr().err.strip().endswith("; add --frames DIR to name the folder it may be in")
    with pytest.raises(UserError, match=r"; add \?frames=DIR to name the folder it may be in$"):
        load_data(f"ovis:{file}?frames={ovis}/test")


def test_a_mask_of_unknown_values_names_no_option_that_there_is_not(ovis: Path, tmp_path: Path) -> None:
    """`manifest:` has `?mask=1`, `ovis:` has not."""
    video = ovis / "test" / "000000"
    Image.fromarray(np.arange(40 * 40, dtype=np.uint8).reshape(40, 40) % 5 + 1).save(tmp_path / "mask.png")
    shutil.copy(video / "img_0000001.png", tmp_path / "frame.png")
    (tmp_path / "frames.csv").write_text("path,mask,label,level\nframe.png,mask.png,cat,0\n")
    (tmp_path / "listing.csv").write_text("path,mask,label\nframe.png,mask.png,cat\n")
    with pytest.raises(UserError, match="no image is left: 1 broken mask"):
        build(tmp_path / "frames.csv", tmp_path, tmp_path / "set", workers=1)
    (photo,) = load_data(f"ovis:{tmp_path}/frames.csv").read([0])
    assert photo.reason.endswith("one label beside 255; save the object as 255")  # type: ignore[union-attr]
    (photo,) = load_data(f"manifest:{tmp_path}/listing.csv").read([0])
    assert photo.reason.endswith("say which values are the object, as in ?mask=1")  # type: ignore[union-attr]
