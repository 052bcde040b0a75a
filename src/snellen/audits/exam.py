"""The exam: what audits may know when they declare their cells, and the shape every audit has."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Protocol

import numpy as np

from snellen.audits.finding import Finding
from snellen.data.dataset import Samples
from snellen.distort import Distortion, Noise, Nothing, Uniform
from snellen.engine.keep.read_back import Answers
from snellen.engine.requests.cell import Cell
from snellen.engine.requests.map import MapRequest
from snellen.engine.requests.trial import Trial

# Mild noise, the yardstick of paper 000 B.2. Its sigma of up to 0.1 is taken in normalised units, 0.025 of the pixel range:
# CIFAR-10 networks then show the published DI of about 0.1, where 0.1 of the pixel range costs 30 points and gives over 4.
YARDSTICK = Noise(Uniform(0, 0.025))


@dataclass(frozen=True)
class Exam:
    """The datasets at hand by role (`test`, and `train` where given) with their classes, the smallest image side that a
    model sees, the seed, and whether donors are there; each dataset's listing, and by model one entry a run of what its
    card says of the last epoch's training losses (`diversity`, `mix_diversity`, `loss`; empty where it says nothing). `cutouts`
    is the greatest share that one of the user's cut-outs can cover, 0 without a pool. `facts` says what is known of a
    dataset's pixels (masks, boxes); `variants` are the roles of modified test images that lie on disk. `texts` are the
    data as they are written, `lists` the sample ids in the files that audits name (by role and file), and `lost` by
    model the test data's classes that it has no answer for."""

    classes: Mapping[str, Sequence[str]]
    side: int
    seed: int = 0
    donors: bool = False
    samples: Mapping[str, Samples] = field(default_factory=dict)
    losses: Mapping[str, Sequence[Mapping[str, float]]] = field(default_factory=dict)
    cutouts: float = 0.0
    facts: Mapping[str, frozenset[str]] = field(default_factory=dict)
    variants: frozenset[str] = frozenset()
    texts: Mapping[str, str] = field(default_factory=dict)
    lists: Mapping[tuple[str, str], frozenset[str]] = field(default_factory=dict)
    lost: Mapping[str, Sequence[str]] = field(default_factory=dict)

    @property
    def models(self) -> list[str]:
        """The names of all models that are asked."""
        return list(self.losses)

    def column(self, name: str, ids: Iterable[str], on: str = "test") -> np.ndarray | None:
        """What the listing says of the samples with these ids, [samples]; None where it has no such column."""
        held = self.samples.get(on)
        if held is None or name not in held.columns:
            return None
        row = {sample: i for i, sample in enumerate(held.ids)}
        return np.asarray(held.columns[name])[[row[sample] for sample in ids]]

    def cell(self, distortion: Distortion, on: str = "test") -> Cell:
        """The question of a distortion on one of the datasets."""
        return Cell(distortion, on, self.seed)

    def map(
        self,
        layer: int | str | None = None,
        method: str = "gradcam",
        distortion: Distortion | None = None,
        on: str = "test",
    ) -> MapRequest:
        """The question of what matters to a model in the images of one of the datasets, clean unless a distortion is given."""
        return MapRequest(method, layer, on, Nothing() if distortion is None else distortion, self.seed)

    def trial(self, trial: Trial, on: str = "test") -> Cell:
        """The question of a trial, which asks as it goes, on one of the datasets."""
        return Cell(trial, on, self.seed)

    def clean(self, on: str = "test") -> Cell:
        """The question without distortion."""
        return self.cell(Nothing(), on)

    def yardstick(self, on: str = "test") -> Cell:
        """The question under mild noise, against which interference is compared."""
        return self.cell(YARDSTICK, on)

    def unmodified(self, cell: Cell) -> str:
        """The role of the images that a cell's are compared with: its own, or the test images for stored variants."""
        return "test" if cell.on in self.variants else cell.on

    def modified(self, cell: Cell) -> bool:
        """Whether a cell shows other pixels than the data's own."""
        return cell.on in self.variants or not isinstance(cell.distortion, Nothing)


def maps_of(audit: Any, exam: Exam) -> list[MapRequest]:
    """The maps that an audit asks for; most ask for none."""
    return list(audit.maps(exam)) if hasattr(audit, "maps") else []


def lists_of(audit: Any) -> list[tuple[str, str]]:
    """The lists of sample ids that an audit reads, as role and file."""
    return list(audit.lists()) if hasattr(audit, "lists") else []


def trials_of(audit: Any, exam: Exam) -> list[Cell]:
    """The trials that an audit asks for; most ask for none."""
    return audit.trials(exam) if hasattr(audit, "trials") else []


class Audit(Protocol):
    """A protocol: the cells it asks for, then what it concludes about one model from the answers. No I/O, no batches.

    One that compares models has a method `compare(exam, everyone, findings)`, which is given all answers and findings and
    concludes last. An audit that asks for maps too has a method `maps(exam)`, which gives a list of map requests; it
    reads them back by `answers.maps(request)`.
    One whose questions depend on answers also has `trials(exam) → list[Cell]`.
    """

    title: ClassVar[str]

    def cells(self, exam: Exam) -> list[Cell]: ...
    def conclude(self, exam: Exam, answers: Answers) -> list[Finding]: ...
