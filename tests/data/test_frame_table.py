"""Tables of frames with masks in files, and tables of levels beside annotations, through `build iruo`."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from PIL import Image

import snellen
from snellen.build.iruo import build
from snellen.data.ovis.level_table import with_levels
from snellen.data.ovis.listing import read_clips
from snellen.data.phantom import export
from snellen.errors import UserError

HEAD = "path,mask,label,level"


@pytest.fixture
def clips(tmp_path: Path) -> Path:
    """Two videos of three frames, 40 × 30, whose object moves; the last mask is empty."""
    lines = [HEAD]
    for video, label in (("park", "dog"), ("street", "car")):
        (tmp_path / video).mkdir()
        for frame in range(3):
            image = np.random.default_rng(frame).integers(0, 255, (30, 40, 3)).astype(np.uint8)
            mask = np.zeros((30, 40), bool)
            if (video, frame) != ("street", 2):
                mask[5:15, 4 + 5 * frame : 12 + 5 * frame] = True
            Image.fromarray(image).save(tmp_path / video / f"{frame}.png")
            Image.fromarray(mask).save(tmp_path / video / f"{frame}_mask.png")
            lines.append(f"{video}/{frame}.png,{video}/{frame}_mask.png,{label},{('none', 'slight', '2')[frame]}")
    (tmp_path / "frames.csv").write_text("\n".join(lines) + "\n")
    return tmp_path


def test_frames_are_cut_out_by_their_masks_and_levels(clips: Path) -> None:
    built = build(clips / "frames.csv", None, clips / "set", workers=1, margin=3, format="png")
    index = pd.concat(pd.read_csv(built.out / f"{split}.csv") for split in ("train", "val")).set_index("source")
    assert built.rejected == {"empty mask": 1}
    assert index["level"].to_dict() == {
        f"{v}/{i}.png": i for v in ("park", "street") for i in range(3) if (v, i) != ("street", 2)
    }
    for source, row in index.iterrows():
        frame = int(str(source)[-5])
        assert (row["video"], row["frame"]) == (str(source).split("/")[0], frame)
        x0, y0, x1, y1 = row[["crop_x0", "crop_y0", "crop_x1", "crop_y1"]]
        assert (x0, y0, x1, y1) == (max(0, 4 + 5 * frame - 1 - 3), 2, 12 + 5 * frame + 1 + 3, 18)
        image, mask = (np.asarray(Image.open(built.out / row[name])) for name in ("path", "mask"))
        whole = np.asarray(Image.open(clips / str(source)))
        np.testing.assert_array_equal(image, whole[y0:y1, x0:x1])
        assert (mask > 0).sum() == 80
    assert set(index["type"]) == {"none", "unknown"}


def test_a_table_is_data_too(clips: Path) -> None:
    data = snellen.load_data(f"ovis:{clips}/frames.csv?level=1")
    assert (data.samples.ids, data.classes) == (("park/1.png#1", "street/1.png#1"), ("dog", "car"))
    assert data.facts == {"boxes", "masks"}
    assert [int(photo.maps["mask"].sum()) for photo in data.read([0, 1])] == [80, 80]
    mask = np.asarray(Image.open(clips / "park/1_mask.png")).copy()
    mask[0, 0] = True
    Image.fromarray(mask).save(clips / "park/1_mask.png")
    assert snellen.load_data(f"ovis:{clips}/frames.csv?level=1").fingerprint != data.fingerprint
    build(clips / "frames.csv", None, clips / "set", workers=1)
    Image.fromarray(~mask).save(clips / "park/1_mask.png")
    with pytest.raises(UserError, match="holds another export"):
        build(clips / "frames.csv", None, clips / "set", workers=1)


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("park/0.png,,dog,0", "no mask"),
        ("park/0.png,park/none.png,dog,0", "broken mask"),
        ("park/0.png,park/0.png,dog,much", "unknown level"),
        ("park/0.png,street/2_mask.png,dog,0", "empty mask"),
    ],
)
def test_rows_that_cannot_be_used_are_listed(clips: Path, line: str, reason: str) -> None:
    text = (clips / "frames.csv").read_text()
    (clips / "frames.csv").write_text(f"{text}{line}\n")
    built = build(clips / "frames.csv", None, clips / "set", workers=1)
    assert built.rejected[reason] == (2 if reason == "empty mask" else 1)


def test_tables_of_frames_that_cannot_be_are_refused(clips: Path) -> None:
    def refused(content: str, message: str) -> None:
        (clips / "frames.csv").write_text(content)
        with pytest.raises(UserError, match=message):
            build(clips / "frames.csv", None, clips / "set", workers=1)

    refused(HEAD + "\n", "lists no frames")
    refused("path,label\na,b\n", "has no column 'mask'")
    refused(f"{HEAD}\n../a.png,../b.png,dog,0\n", "line 2: path '../b.png' leaves")
    same = "park/0.png,park/0_mask.png,dog"
    refused(
        f"{HEAD},instance\n{same},0,4\n{same},0,4\n", "line 3: frame 'park/0.png' has the instance 4 in a line before"
    )
    refused(
        f"{HEAD},video\n{same},0,a\n{same},0,b\n",
        "line 3: frame 'park/0.png' is of another video in a line before: 'a'",
    )
    refused(f"{HEAD}\n{same},\n", "no image is left: 1 no level; state levels with level_table")


def test_levels_beside_annotations_count_instead(tmp_path: Path) -> None:
    export("phantom:test?frames=3&n=12&size=48&occlusion=0.6", "ovis", tmp_path / "ovis")
    file, table = tmp_path / "ovis/annotations_test.json", tmp_path / "levels.csv"
    clips = read_clips(file)
    first, last = clips.appearances[0], clips.appearances[-1]
    video = clips.frames[first.frame].video
    path = clips.frames[last.frame].file
    table.write_text(
        f"video,frame,path,instance,level\n,,,,severe\n{video},,,,0\n{video},1,,,1\n,,{path},{last.instance},none\n"
    )
    levels = {(one.frame, one.instance): one.level for one in with_levels(clips, table).appearances}
    for one in clips.appearances:
        frame = clips.frames[one.frame]
        expected = 2 if frame.video != video else 1 if frame.number == 1 else 0
        assert levels[one.frame, one.instance] == (0 if one == last else expected)
    built = build(file, None, tmp_path / "set", level_table=table, levels="stated", workers=1, min_clear=0, size=16)
    counts = pd.read_csv(built.out / "counts.csv").groupby("level")["images"].sum().to_dict()
    assert counts == {level: list(levels.values()).count(level) for level in set(levels.values())}

    def refused(content: str, message: str) -> None:
        table.write_text(content)
        with pytest.raises(UserError, match=message):
            with_levels(clips, table)

    refused("level\n0\n", "has none of the columns path, video, frame, instance")
    refused("video,level\n1,0\n1,much\n", "line 3: 'much' is no level; expected 0, 1, 2, none, slight or severe")
    refused("video,frame,level\n1,0,0\n1,77,0\n", "line 3: no annotated instance has video 1, frame 77")
    refused("video,frame,level\n1,x,0\n", "line 2: expected a whole number in 'frame'")


def test_davis_goes_through_the_crop_and_mask_path(shared: Path, tmp_path: Path) -> None:
    """Real frames with levels that were written after looking at them; the masks are of what is visible."""
    table = Path(__file__).resolve().parents[2] / "examples" / "maintainers" / "davis_levels.csv"
    frames = shared / "davis"
    built = build(table, frames, tmp_path / "set", workers=1, size=32)
    assert (sum(built.images.values()), built.rejected, built.videos_in_both) == (54, {}, 0)
    counts = pd.read_csv(built.out / "counts.csv").groupby(["class", "level"])["images"].sum().to_dict()
    assert {key: counts[key] for key in counts if key[0] in ("cyclist", "dog")} == {
        ("cyclist", 0): 6, ("cyclist", 1): 5, ("cyclist", 2): 1, ("dog", 0): 8, ("dog", 1): 9, ("dog", 2): 1,
    }  # fmt: skip
    index = pd.concat(pd.read_csv(built.out / f"{split}.csv") for split in ("train", "val"))
    areas = {
        row.source: np.asarray(Image.open(frames / row.source.replace(".jpg", "_mask.png")))
        for row in index.itertuples()
    }
    for row in index.itertuples():
        ys, xs = np.nonzero(areas[row.source])
        assert row.crop_x0 <= xs.min() <= xs.max() < row.crop_x1
        assert row.crop_y0 <= ys.min() <= ys.max() < row.crop_y1
