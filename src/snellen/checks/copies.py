"""Images that occur twice: in training and test data, or in the test data under two labels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from snellen.checks.doubt import Doubt
from snellen.engine.keep.shard_file import read_rows

SHARE = 0.001  # of the test images; fewer copies move no number that is printed


@dataclass(frozen=True)
class ListedImage:
    """One image of a dataset: its id, its class's name (empty where it is unknown) and the checksum of its content."""

    sample: str
    label: str
    checksum: str


def copies(images: Mapping[str, Sequence[ListedImage]]) -> list[Doubt]:
    """Doubts about copies, from the images of each dataset by role (test, and train where given)."""
    test, train = images.get("test", ()), {one.checksum: one for one in images.get("train", ())}
    first: dict[str, ListedImage] = {}
    both = [(one, train[one.checksum]) for one in test if one.checksum in train]
    labelled = [one for one in test if one.label]
    split = [(one, other) for one in labelled if (other := first.setdefault(one.checksum, one)).label != one.label]
    doubts = []
    if both and len(both) >= SHARE * len(test):
        doubts.append(Doubt(
            "train_and_test",
            f"{len(both):,} of {len(test):,} test images are also training images, to the bit ({_pair(both[0])})",
            "take them out of one of the two; accuracy on images seen in training is not test accuracy",
        ))  # fmt: skip
    if split and len(split) >= SHARE * len(test):
        doubts.append(Doubt(
            "two_labels",
            f"{len(split):,} of {len(test):,} test images occur before under another label ({_pair(split[0])})",
            "correct the labels or drop these images; no model can be right on both",
        ))  # fmt: skip
    return doubts


def read_images(folder: Path, on: str) -> list[ListedImage]:
    """The readable images of one dataset of a run folder."""
    images: list[ListedImage] = []
    for file in sorted((folder / "samples" / on).glob("*.parquet")):
        table = read_rows(file, ["sample", "class", "checksum"])
        rows = zip(*(table[name].to_pylist() for name in ("sample", "class", "checksum")))
        images += [ListedImage(*row) for row in rows if row[2]]
    return images


def _pair(pair: tuple[ListedImage, ListedImage]) -> str:
    one, other = pair
    return f"'{one.sample}', {one.label}, and '{other.sample}', {other.label}"
