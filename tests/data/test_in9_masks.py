"""The masks of `snellen build in9`: GrabCut as published, at another size, and against true masks."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from snellen.build.in9.masks import with_masks
from snellen.build.in9.request import In9Request
from snellen.build.in9.segment import grabcut_seed, segment_object
from snellen.data import Photo, from_arrays, load_data
from snellen.data.in9 import build
from snellen.data.in9.layout import file_name
from snellen.errors import UserError

cv2 = pytest.importorskip("cv2")


def test_masks_are_those_of_a_direct_call(photographs: str) -> None:
    """The published call: GC_INIT_WITH_RECT, five iterations, models of zeros; foreground is 1 or 3."""
    data = load_data(photographs)
    for row in range(4):
        photo = data.read([row])[0]
        assert isinstance(photo, Photo)
        assert photo.boxes is not None
        name = file_name(data.samples.ids[row])
        ours = segment_object(photo.image, photo.boxes[0], name, In9Request(data="x", out="x", size=56))
        x0, y0, x1, y1 = (int(v) for v in photo.boxes[0])
        mask = np.zeros(photo.image.shape[:2], np.uint8)
        cv2.setRNGSeed(grabcut_seed(0, name, ours.tries - 1))
        cv2.grabCut(
            photo.image,
            mask,
            (x0, y0, x1 - x0, y1 - y0),
            np.zeros((1, 65)),
            np.zeros((1, 65)),
            5,
            cv2.GC_INIT_WITH_RECT,
        )
        assert ours.mask is not None
        assert np.array_equal(ours.mask, np.isin(mask, (1, 3)))
        assert ours.seed == grabcut_seed(0, name, ours.tries - 1)


@pytest.mark.parametrize("side", [40, 160])
def test_masks_made_at_another_size_fit_the_photo(photographs: str, side: int, tmp_path: Path) -> None:
    """Phantoms are easy: what GrabCut finds at half or twice the size is nearly the object, on a canvas of the photo's size."""
    made = build(photographs, tmp_path / "set", size=80, scale=80, workers=1, segment_size=side, limit=30)
    data = load_data(f"{photographs}?masks=true")
    truth = {file_name(sample): row for row, sample in enumerate(data.samples.ids)}
    overlap = []
    for file in sorted((made.out / "fg_mask").rglob("*.npy")):
        photo = data.read([truth[file.stem]])[0]
        assert isinstance(photo, Photo)
        mask, true = np.load(file) > 0, photo.maps["mask"]
        overlap.append((mask & true).sum() / (mask | true).sum())
    assert np.median(overlap) > 0.8


@pytest.mark.slow
def test_grabcut_finds_pets_better_than_their_boxes_do(shared: Path) -> None:
    """Oxford pets with true masks (1 pet, 2 background, 3 unsure), the first of every fifth."""
    found, boxed = [], []
    for file in sorted((shared / "pets" / "masks").glob("*.png"))[::15]:
        truth, image = (np.asarray(Image.open(one)) for one in (file, shared / "pets" / "images" / f"{file.stem}.jpg"))
        down, across = np.flatnonzero((truth != 2).any(1)), np.flatnonzero((truth != 2).any(0))
        box = np.array([across[0], down[0], across[-1] + 1, down[-1] + 1], float)
        made = segment_object(image, box, file.stem, In9Request(data="x", out="x"))
        if made.mask is None:
            continue
        known, inside = truth != 3, np.zeros(truth.shape, bool)
        inside[down[0] : down[-1] + 1, across[0] : across[-1] + 1] = True
        for mask, scores in ((made.mask, found), (inside, boxed)):
            scores.append((mask & (truth == 1) & known).sum() / ((mask | (truth == 1)) & known).sum())
    assert len(found) >= 7
    assert np.mean(found) > np.mean(boxed) + 0.1


@pytest.mark.parametrize("sample", [".", "..", "/"])
def test_ids_that_name_no_file_have_no_mask(tmp_path: Path, sample: str) -> None:
    images = np.zeros((1, 8, 8, 3), np.uint8)
    content = {"images": images, "labels": np.zeros(1, np.int64), "ids": np.array([sample]), "classes": np.array(["a"])}
    (tmp_path / "masks").mkdir()
    with pytest.raises(UserError, match=r"no mask of any image in .*masks'; looked for"):
        with_masks(from_arrays(content, "memory:odd", "odd"), str(tmp_path / "masks"))
