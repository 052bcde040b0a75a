"""The sample filter of Won et al. 2023, section 5.1: images that every model is sure of, with objects of a middling size."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from snellen.audits.alignment import Alignment, common
from snellen.engine.keep.read_back import Answers
from snellen.engine.requests.cell import Cell


@dataclass(frozen=True)
class SampleFilter:
    """Images count whose true class has a probability above `confidence` for all runs of all models, and whose objects cover
    more than `smallest` and less than `largest` of the image that each model sees."""

    confidence: float
    smallest: float
    largest: float

    def chosen(
        self, everyone: Sequence[Answers], alignments: Sequence[Alignment], clean: Cell
    ) -> tuple[list[str], dict[str, int]]:
        """The ids of the images that count, and how many there are: in all, sure, of a fitting size, and both."""
        ids = common(alignments)
        sure = set.intersection(*(self._sure(answers, clean) for answers in everyone))
        sized = set.intersection(*(self._sized(one) for one in alignments))
        both = [sample for sample in ids if sample in sure and sample in sized]
        counts = {
            "images": len(ids),
            "confident": sum(sample in sure for sample in ids),
            "sized": sum(sample in sized for sample in ids),
            "chosen": len(both),
        }
        return both, counts

    def _sure(self, answers: Answers, clean: Cell) -> set[str]:
        block = answers[clean]
        return {str(sample) for sample in block.ids[(block.label_prob > self.confidence).all(0)]}

    def _sized(self, alignment: Alignment) -> set[str]:
        fits = (alignment.share > self.smallest) & (alignment.share < self.largest)
        return {sample for sample, one in zip(alignment.ids, fits) if one}
