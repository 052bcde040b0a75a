"""On which images what a search chose is reported: those that were not searched, or all, marked as chosen on them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from snellen.audits.exam import Exam
from snellen.engine.keep.read_back import AnswerBlock

FEWEST = 30  # images that were not searched, on which a value can be reported


@dataclass(frozen=True)
class UnsearchedImages:
    """The ids of the test images that no search looked at, nor at others of their group; `chosen` where these are too few to
    report on, so that values are of all images and too low."""

    ids: frozenset[str]

    @classmethod
    def of(cls, exam: Exam, images: int, subsets: int = 1) -> UnsearchedImages:
        """Where `subsets` searches look at so many images each, in the order of a hash of their ids; 0: at all."""
        listing = exam.samples["test"]
        order = listing.hash_order
        if exam.task == "classification":  # of which a search looks at those with a label
            order = order[np.asarray(listing.labels)[order] >= 0]
        left = order[images * subsets :] if images else order[:0]
        if (groups := exam.column("group", listing.ids)) is not None:
            left = left[~np.isin(groups[left], groups[order[: images * subsets]])]
        return cls(frozenset(listing.ids[row] for row in left))

    @property
    def chosen(self) -> bool:
        """Whether values are of the images on which the edits were chosen."""
        return len(self.ids) < FEWEST

    def rows(self, block: AnswerBlock) -> np.ndarray:
        """bool [samples]: those of a block that are reported."""
        if self.chosen:
            return np.ones(len(block.ids), bool)
        return np.array([sample in self.ids for sample in block.ids], bool)

    @property
    def words(self) -> str:
        """Which images, at the end of a text."""
        if not self.chosen:
            return "on the images that were not searched"
        return (
            f"on all images: {len(self.ids)} were not searched, too few to report on alone, so this value is chosen and errs "
            "towards the worse"
        )
