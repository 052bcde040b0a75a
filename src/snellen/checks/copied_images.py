"""Images that occur twice: in training and test data, or in the test data under two labels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from snellen.checks.doubt import Doubt
from snellen.engine.keep.store import Store

if TYPE_CHECKING:
    import pyarrow as pa

SHARE = 0.001  # of the test images; fewer copies move no number that is printed


@dataclass(frozen=True)
class ListedImage:
    """One image of a dataset: its id, its class's name (empty where it is unknown) and the checksum of its content."""

    sample: str
    label: str
    checksum: str


def copies(images: Mapping[str, Sequence[ListedImage]]) -> list[Doubt]:
    """Doubts about copies, from the images of each dataset by role (test, and train where given).

    >>> from snellen.checks import ListedImage, copies
    >>> test, train = [ListedImage("a.png", "cat", "5e1f")], [ListedImage("b.png", "cat", "5e1f")]
    >>> [doubt.name for doubt in copies({"test": test, "train": train})]
    ['train_and_test']
    """
    test, train = images.get("test", ()), {image.checksum: image for image in images.get("train", ())}
    first: dict[str, ListedImage] = {}
    both = [(image, train[image.checksum]) for image in test if image.checksum in train]
    labelled = [image for image in test if image.label]
    split = [
        (image, before)
        for image in labelled
        if (before := first.setdefault(image.checksum, image)).label != image.label
    ]
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


def stored_copies(store: Store, roles: Sequence[str]) -> list[Doubt]:
    """The same for the readable images of a run's datasets. Most have no copies, which needs no list of their images."""
    import pyarrow as pa
    import pyarrow.compute as pc

    tables = {on: _listing(store, on) for on in roles if on in ("test", "train")}
    if "test" not in tables:
        return []
    checksums = tables["test"]["checksum"]
    known = tables["train"]["checksum"] if "train" in tables else pa.array([], pa.string())
    repeated = pc.count_distinct(checksums).as_py() < len(checksums)
    if not repeated and not pc.any(pc.is_in(checksums, value_set=known)).as_py():
        return []
    return copies({on: [ListedImage(**row) for row in table.to_pylist()] for on, table in tables.items()})


def _listing(store: Store, on: str) -> pa.Table:
    """The sample, label and checksum of the readable images of one dataset."""
    import pyarrow as pa
    import pyarrow.compute as pc

    schema = pa.schema([(name, pa.string()) for name in ("sample", "class", "checksum")])
    files = sorted((store.folder / "samples" / on).glob("*.parquet"))
    parts = [store.rows(file, schema.names).select(schema.names).cast(schema) for file in files]
    table = pa.concat_tables([schema.empty_table(), *parts]).rename_columns(["sample", "label", "checksum"])
    return table.filter(pc.not_equal(table["checksum"].fill_null(""), ""))


def _pair(pair: tuple[ListedImage, ListedImage]) -> str:
    image, copy = pair
    return f"'{image.sample}', {image.label}, and '{copy.sample}', {copy.label}"
