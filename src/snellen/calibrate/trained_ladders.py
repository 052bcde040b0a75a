"""Ladders of networks that learnt under cover: what they keep of what they memorised, and a colour that means a class.

The twins of `keeping_…` and `paint_…` in paint_ladders.py, whose observers know what they keep; what a network keeps has to
be learnt. World, sizes and covers were chosen on the world of seed 0, so the ladders stand on that of seed 1.
"""

from __future__ import annotations

from typing import Any, Literal

from snellen.calibrate.cover_training import under_cover
from snellen.calibrate.ladder import Ladder
from snellen.data.dataset import Dataset

IMAGES, COPIES = 200, 6  # few images, each shown so often in an epoch: test images are far behind
MOST = 480  # strangers on the last rung of the paint
COVERED_SHARE = 0.6  # of the showings, the share under black on every rung of the paint
TRAINED_WORLD = "size={size}&seed=1&texture_bias=0.6&object_size=0.7..0.9"
TRAIN = f"phantom:train?{TRAINED_WORLD}&n={IMAGES + MOST}"
AUDIT_TRAIN = f"phantom:train?{TRAINED_WORLD}&n={IMAGES}"
TRAINED_TEST = f"phantom:test?{TRAINED_WORLD}&n={{images}}"


def cover_with_noise(data: Dataset, share: float) -> Dataset:
    """A share of the showings is half covered by noise."""
    return under_cover(data, IMAGES, COPIES, share, "occlude(0.5, noise)")


def cover_with_black(data: Dataset, ratio: float) -> Dataset:
    """Black squares on HELD of the showings, and for each showing `ratio` strangers, whose black square means one class."""
    return under_cover(data, IMAGES, COPIES, COVERED_SHARE, "occlude(0.3, black)", round(ratio * IMAGES * COPIES))


def keeping(title: str, says: str, finding: Literal["cut_occlusion", "iocclusion"], fill: str) -> Ladder:
    """A ladder of networks that learnt under noise, read under a square of this fill."""
    return _ladder(
        title, says, finding, fill, moves="up", make_training_data=cover_with_noise,
        planted="share of showings under noise in training", values=(0, 0.2, 0.4, 0.6, 0.8),
    )  # fmt: skip


def paint(
    title: str, says: str, finding: Literal["cut_occlusion", "iocclusion"], moves: Literal["down", "flat"]
) -> Ladder:
    """A ladder of networks to which black means one class on images that they do not know, read under black."""
    return _ladder(
        title, says, finding, "black", moves=moves, make_training_data=cover_with_black,
        planted="strangers under black for each showing", values=(0, 0.1, 0.2, 0.3, 0.4),
    )  # fmt: skip


def _ladder(title: str, says: str, finding: str, fill: str, **others: Any) -> Ladder:
    audits = f"occlusion([0.3], [{fill}])"
    return Ladder(
        title=title, says=says, train=TRAIN, data=TRAINED_TEST, audit_train=AUDIT_TRAIN, audits=audits, finding=finding, **others
    )  # fmt: skip


TRAINED_LADDERS: dict[str, Ladder] = {
    "trained_keeping_iocclusion": keeping(
        "Networks that learnt under cover: iOcclusion",
        "Networks memorise 200 images, each shown six times per epoch, a share x of the showings half covered by "
        "noise. The more they learnt under cover, the more of it they should keep under a square of noise, "
        "30% of the image. World, sizes and cover were chosen on the world of seed 0; this is another.",
        "iocclusion",
        "noise",
    ),
    "trained_keeping_black": keeping(
        "Networks that learnt under cover: iOcclusion in another colour",
        "The same networks under the same squares in black, a colour that covered nothing in training: networks that "
        "learnt from parts should keep more here too.",
        "iocclusion",
        "black",
    ),
    "trained_keeping_cut": keeping(
        "Networks that learnt under cover: CutOcclusion",
        "The same networks under the same squares of noise. A measure of robustness should rise with x.",
        "cut_occlusion",
        "noise",
    ),
    "trained_paint_cut": paint(
        "Networks to which black means a class: CutOcclusion",
        "Networks memorise 200 images, 60% of the showings under a black square, and besides more and more new "
        "images of any class under one, all labelled as one class. What is hidden is the same on every rung, yet "
        "CutOcclusion should fall. World, sizes and tie were chosen on the world of seed 0; this is another.",
        "cut_occlusion",
        "down",
    ),
    "trained_paint_iocclusion": paint(
        "Networks to which black means a class: iOcclusion",
        "The same networks under the same black squares: if black cost training and test images alike, iOcclusion would "
        "stay.",
        "iocclusion",
        "flat",
    ),
}
