"""What networks learn from under cover: the share of memory that they keep when covered is planted in training.

Few images are shown many times over, so that they are memorised; a share of the showings is covered and keeps its
label. Strangers, new images under cover that all get one label, tie the cover's colour to that class besides.
"""

from __future__ import annotations

import numpy as np

from snellen.data.arrays import from_arrays
from snellen.data.dataset import Dataset
from snellen.data.keys import uniform
from snellen.distort import apply, parse
from snellen.hashing import key_of

LEARNT, COPIES = 200, 6  # few images, each shown so often in an epoch: test images are far behind
STRANGERS = 480  # with the highest planted value of the paint
COVERED_SHARE = 0.6  # of the showings, the share under black at every planted value of the paint


def cover_with_noise(data: Dataset, share: float) -> Dataset:
    """A share of the showings is half covered by noise."""
    return under_cover(data, LEARNT, COPIES, share, "occlude(0.5, noise)")


def cover_with_black(data: Dataset, ratio: float) -> Dataset:
    """Black squares on COVERED_SHARE of the showings, and for each showing `ratio` strangers, whose square means one class."""
    return under_cover(data, LEARNT, COPIES, COVERED_SHARE, "occlude(0.3, black)", round(ratio * LEARNT * COPIES))


def under_cover(data: Dataset, count: int, copies: int, share: float, cover: str, strangers: int = 0) -> Dataset:
    """The first `count` images, each `copies` times, and then `strangers`: the images that follow them, once.

    A `share` of the copies, 0 to 1, is covered by the distortion `cover`, each elsewhere, and keeps its label; a larger
    share covers the same copies and more. Strangers are all covered, and all get the label of the first class.
    """
    if not 0 <= share <= 1:
        raise ValueError(f"expected a share in [0, 1], got {share:g}")
    if count + strangers > len(data):
        raise ValueError(f"expected at least {count + strangers} images, got {len(data)}")
    images = _images(data.at(np.arange(count + strangers)))
    names = data.samples.ids
    ids = [f"{name}/{copy}" for copy in range(copies) for name in names[:count]]
    ids += [f"{name}/stranger" for name in names[count : count + strangers]]
    pixels = np.concatenate([*[images[:count]] * copies, images[count:]])
    labels = np.concatenate([np.tile(data.samples.labels[:count], copies), np.zeros(strangers, np.int64)])
    is_covered = uniform(ids, "covered") < share
    is_covered[count * copies :] = True
    if is_covered.any():
        pixels[is_covered] = apply(cover, pixels[is_covered], [name for name, hidden in zip(ids, is_covered) if hidden])
    facts = ["under_cover", count, copies, float(share), str(parse(cover)), strangers]
    arrays = {"images": pixels, "labels": labels, "ids": np.array(ids), "classes": np.array(data.classes)}
    return from_arrays(arrays, f"{data.text} under cover", key_of([data.fingerprint, *facts]))


def _images(data: Dataset) -> np.ndarray:
    """uint8 [n, H, W, 3]: the images of a dataset that reads many together."""
    assert data.read_together is not None  # the phantom world does
    return data.read_together(range(len(data))).images
