"""Instances in frames: outlines as pycocotools reads them, the published crop rule by hand, levels, and the data kind."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

import snellen
from snellen.data.ovis.crop import crop_box, cut
from snellen.data.ovis.levels import TOLERANCE, level_of, levels_of
from snellen.data.ovis.listing import read_clips
from snellen.data.phantom import export
from snellen.data.segmentation import mask_of, rle, run_lengths
from snellen.errors import UserError
from snellen.models import from_callable

WORLD = "phantom:test?frames=4&n=24&size=40&object_size=0.3..0.6&clutter=0.5&occlusion=0.7"
MASKS = arrays(bool, st.tuples(st.integers(1, 30), st.integers(1, 30)), elements=st.booleans(), fill=st.booleans())


@pytest.fixture(scope="module")
def ovis(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return export(WORLD, "ovis", tmp_path_factory.mktemp("ovis") / "export").out


def entries(folder: Path) -> dict:
    return json.loads((folder / "annotations_test.json").read_text())


@given(MASKS)
@settings(max_examples=100, deadline=None)
def test_run_lengths_plain_and_compressed_are_what_pycocotools_decodes(mask: np.ndarray) -> None:
    oracle = pytest.importorskip("pycocotools.mask")
    height, width = mask.shape
    packed = oracle.encode(np.asfortranarray(mask.astype(np.uint8)))
    compressed = {"size": [height, width], "counts": packed["counts"].decode()}
    plain = {"size": [height, width], "counts": run_lengths(mask)}
    assert oracle.decode(oracle.frPyObjects(plain, height, width)).astype(bool).tolist() == mask.tolist()
    for outline in (compressed, plain):
        np.testing.assert_array_equal(mask_of(json.dumps(outline).encode(), width, height), mask)


@pytest.mark.parametrize(
    ("box", "expected"),
    [
        ((100, 100, 50, 30), (80, 70, 170, 160)),  # 20 wider: 10 above and below, then 20 on every side
        ((100, 100, 30, 51), (70, 80, 160, 171)),  # 21 higher: int(10.5) = 10 on both sides
        ((100.7, 100.2, 40.6, 40.9), (80, 80, 161, 161)),  # int of 141.3 and 141.1
        ((5, 10, 30, 30), (0, 0, 55, 60)),  # clipped, and so not square
        ((280, 180, 40, 40), (260, 160, 300, 200)),
        ((900, 900, 10, 10), (0, 0, 0, 0)),
    ],
)
def test_the_crop_rule_by_hand(box: tuple[float, float, float, float], expected: tuple[int, int, int, int]) -> None:
    assert crop_box(box, 300, 200) == expected


BOXES = st.tuples(*[st.floats(-60, 120)] * 2, *[st.floats(1, 120)] * 2)


@given(BOXES, st.integers(0, 30))
@settings(max_examples=200, deadline=None)
def test_padded_crops_are_square_to_a_pixel_and_hold_the_same_pixels(box, margin: int) -> None:
    frame = np.arange(1, 50 * 70 + 1).reshape(50, 70)
    clipped, padded = crop_box(box, 70, 50, margin), crop_box(box, 70, 50, margin, clip=False)
    if not padded[2]:
        return
    whole = cut(frame, padded)
    assert abs(whole.shape[0] - whole.shape[1]) <= 1
    assert max(whole.shape) <= 70 + 2 * margin  # however far the box reaches out of the frame
    if min(box[:2]) >= 0 and box[0] + box[2] <= 70 and box[1] + box[3] <= 50:
        assert set(whole[whole > 0].tolist()) == set(cut(frame, clipped).reshape(-1).tolist())


def test_half_hidden_is_slight_and_a_pixel_more_severe() -> None:
    assert [level_of(hidden, 10) for hidden in (0, 1, 5, 6, 10)] == [0, 1, 1, 2, 2]
    assert [level_of(hidden, 10_000, 1e-4) for hidden in (1, 2)] == [0, 1]


def test_samples_are_instances_in_frames_with_their_masks_and_levels(ovis: Path) -> None:
    data = snellen.load_data(f"ovis:{ovis}/annotations_test.json?frames={ovis}/test")
    whole = snellen.load_data(f"ovis:{ovis}/annotations_test.json?view=frame")  # found beside the file
    content = entries(ovis)
    words = ["no_occlusion", "slight_occlusion", "severe_occlusion"]
    files = {video["id"]: video["file_names"] for video in content["videos"]}
    listed = {
        f"{files[one['video_id']][frame]}#{one['id']}": (one, frame)
        for one in content["annotations"]
        for frame, box in enumerate(one["bboxes"])
        if box is not None
    }
    assert sorted(data.samples.ids) == sorted(listed)
    assert data.facts == {"boxes", "masks"}
    columns = data.samples.columns
    for position, photo in enumerate(whole.read(range(len(whole)))):
        one, frame = listed[whole.samples.ids[position]]
        assert data.classes[data.samples.labels[position]] == content["categories"][one["category_id"] - 1]["name"]
        assert columns["level"][position] == words.index(one["occlusion"][frame])
        assert (columns["video"][position], columns["instance"][position]) == (str(one["video_id"]), one["id"])
        assert rle(photo.maps["mask"]) == one["segmentations"][frame]
        (crop,) = data.read([position])
        x0, y0, x1, y1 = crop_box(one["bboxes"][frame], 40, 40)
        np.testing.assert_array_equal(crop.image, photo.image[y0:y1, x0:x1])
        np.testing.assert_array_equal(crop.maps["mask"], photo.maps["mask"][y0:y1, x0:x1])
        np.testing.assert_array_equal(crop.boxes, photo.boxes - [x0, y0, x0, y0])


def test_a_model_can_be_asked_at_one_level(ovis: Path) -> None:
    model = from_callable(lambda images: np.eye(12)[[0] * len(images)], size=16, name="discs", version="1")
    text = f"ovis:{ovis}/annotations_test.json?frames={ovis}/test&level=1"
    run = snellen.audit(model, text, "occlusion(areas=[0.3], fills=[black])", quiet=True, report=False)
    levels = run.sql("select distinct level from samples")["level"]
    assert levels.tolist() == [1]


def test_coco_with_levels_is_read_too_and_clips_stay_together(tmp_path: Path) -> None:
    export(WORLD, "coco", tmp_path / "coco")
    clips = read_clips(tmp_path / "coco/annotations/instances_test.json")
    assert len({frame.video for frame in clips.frames}) == 6
    assert {one.level for one in clips.appearances} == {0, 1, 2}
    assert all(one.full and one.visible and not one.reason for one in clips.appearances)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda file: file["annotations"][0].update(video_id=999), "annotation 1: unknown video: video_id 999"),
        (lambda file: file["annotations"][0].update(category_id=77), "annotation 1: unknown class: category_id 77"),
        (lambda file: file["annotations"][0].update(bboxes=[]), "'bboxes' has 0 entries, the video 4 frames"),
    ],
)
def test_annotations_that_belong_to_nothing_are_left_out(ovis: Path, tmp_path: Path, change, message: str) -> None:
    content = entries(ovis)
    change(content)
    (tmp_path / "stray.json").write_text(json.dumps(content))
    data = snellen.load_data(f"ovis:{tmp_path}/stray.json?frames={ovis}/test")
    assert message in data.notices[0]
    assert 1 not in data.samples.columns["instance"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda file: file["annotations"][1].update(id=1), r"annotations\[1\] has the id 1, as one before it"),
        (lambda file: file["videos"][1].update(id=1), r"videos\[1\] has the id 1"),
        (lambda file: file.pop("videos"), "neither 'videos', as OVIS has them, nor 'images'"),
        (lambda file: file["videos"][0]["file_names"].__setitem__(0, "../../../x.png"), "leaves"),
        (lambda file: file["annotations"][0]["bboxes"].__setitem__(0, ["a", 1, 2, 3]), "bboxes"),
    ],
)
def test_bad_annotations_are_refused_in_a_line(ovis: Path, tmp_path: Path, change, message: str) -> None:
    content = entries(ovis)
    change(content)
    (tmp_path / "bad.json").write_text(json.dumps(content))
    with pytest.raises(UserError, match=message):
        snellen.load_data(f"ovis:{tmp_path}/bad.json?frames={ovis}/test")


def test_samples_that_cannot_be_read_say_why(ovis: Path, tmp_path: Path) -> None:
    content = entries(ovis)
    first = content["annotations"][0]
    first["segmentations"][0]["size"] = [7, 7]
    first["segmentations"][1] = None
    content["videos"][0]["file_names"][2] = "000000/img_9999999.png"
    second = content["annotations"][1]
    second["segmentations"][0] = {"size": [40, 40], "counts": [1600]}
    second["bboxes"][1] = None
    (tmp_path / "bad.json").write_text(json.dumps(content))
    text = f"ovis:{tmp_path}/bad.json?frames={ovis}/test&instance="
    wrong, empty = (snellen.load_data(text + str(one["id"])).read(range(4)) for one in (first, second))
    reasons = [getattr(one, "reason", "") for one in wrong]
    assert "is of (7, 7), the image of (40, 40)" in reasons[0]
    assert reasons[1].startswith("no mask")
    assert reasons[2] == "there is no such file"
    assert reasons[3] == ""
    assert empty[0].reason == "empty mask: its mask has no pixels"
    assert empty[1].reason.startswith("no box: its box is null")


def test_a_truncated_file_is_refused_in_a_line(ovis: Path, tmp_path: Path) -> None:
    whole = (ovis / "annotations_test.json").read_bytes()
    for length in (0, 1, len(whole) // 2, len(whole) - 2):
        (tmp_path / "cut.json").write_bytes(whole[:length])
        with pytest.raises(UserError, match="cut.json cannot be read as JSON") as error:
            snellen.load_data(f"ovis:{tmp_path}/cut.json?frames={ovis}/test")
        assert "\n" not in str(error.value)


def test_the_audit_and_the_build_give_every_share_the_same_level() -> None:
    """Exactly half is slight: level 1 is 0–50%, level 2 more than 50% (Kassaw et al. 2024, section 6.2)."""
    assert levels_of([0, 1e-4, 2e-4, 0.5, np.nextafter(0.5, 1), 1, np.nan]).tolist() == [0, 0, 1, 1, 2, 2, -1]
    for full in range(1, 80):
        shares = np.arange(full + 1) / full
        assert levels_of(shares).tolist() == [level_of(hidden, full, TOLERANCE) for hidden in range(full + 1)]
