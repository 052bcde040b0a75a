"""What networks learn from under cover: the share of memory that they keep when covered is planted in training.

Few images are shown many times over, so that they are learnt by heart; a share of the showings is covered and keeps its
label. Strangers, new images under cover that all get one label, tie the cover's colour to that class besides.
"""

from __future__ import annotations

import numpy as np

from snellen.data.arrays import from_arrays
from snellen.data.dataset import Dataset
from snellen.data.keys import uniform
from snellen.distort import apply, parse
from snellen.hashing import key_of


def under_cover(data: Dataset, learnt: int, copies: int, share: float, cover: str, strangers: int = 0) -> Dataset:
    """The first `learnt` images, each `copies` times, and then `strangers`: the images that follow them, once.

    A `share` of the copies, 0 to 1, is covered by the distortion `cover`, each elsewhere, and keeps its label; a larger
    share covers the same copies and more. Strangers are all covered, and all get the label of the first class.
    """
    if not 0 <= share <= 1:
        raise ValueError(f"expected a share in [0, 1], got {share:g}")
    if learnt + strangers > len(data):
        raise ValueError(f"expected at least {learnt + strangers} images, got {len(data)}")
    images = _images(data.at(np.arange(learnt + strangers)))
    names = data.samples.ids
    ids = [f"{name}/{copy}" for copy in range(copies) for name in names[:learnt]]
    ids += [f"{name}/stranger" for name in names[learnt : learnt + strangers]]
    shown = np.concatenate([*[images[:learnt]] * copies, images[learnt:]])
    labels = np.concatenate([np.tile(data.samples.labels[:learnt], copies), np.zeros(strangers, np.int64)])
    covered = uniform(ids, "covered") < share
    covered[learnt * copies :] = True
    if covered.any():
        shown[covered] = apply(cover, shown[covered], [name for name, one in zip(ids, covered) if one])
    asked = ["under_cover", learnt, copies, float(share), str(parse(cover)), strangers]
    held = {"images": shown, "labels": labels, "ids": np.array(ids), "classes": np.array(data.classes)}
    return from_arrays(held, f"{data.text} under cover", key_of([data.fingerprint, *asked]))


def _images(data: Dataset) -> np.ndarray:
    """uint8 [n, H, W, 3]: the images of a dataset that reads many together."""
    assert data.read_together is not None  # the phantom world does
    return data.read_together(range(len(data))).images
