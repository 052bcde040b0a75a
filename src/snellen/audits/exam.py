"""The exam: what audits may know when they declare their questions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from snellen.data.dataset import Samples
from snellen.data.people import PeopleAnswers
from snellen.distort import Distortion, Noise, Nothing, Uniform
from snellen.engine.requests.cell import Cell
from snellen.engine.requests.map import MapRequest
from snellen.engine.requests.trial import Trial

# Mild noise, the yardstick, after Marcu & Prügel-Bennett (2022), B.2. The paper's sigma is up to 0.1; in which units cannot be
# told. At 0.1 of the pixel range CIFAR-10 networks have a DI of 4 to 6, at a quarter of it about the published 0.1. So 0.025 is
# our choice, made to give 0.1: that it does is no evidence that 0.1 is reproduced.
YARDSTICK = Noise(Uniform(0, 0.025))
PUBLISHED_NOISE = Noise(Uniform(0, 0.1))  # the published sigma, in units of the pixel range


@dataclass(frozen=True)
class ChatModel:
    """What is known of a model that replies in words: the `states` of replies that name no class, by the number that stands for
    them in `raw`; its protocol, in words as `called`, and order of options; and `same`, which models share that differ in these
    alone. `chance` is what guessing gets right where the right class is one of a few options, else None."""

    states: Mapping[int, str]
    protocol: str
    order: int
    same: str
    called: str
    chance: float | None = None


@dataclass(frozen=True, kw_only=True)
class Exam:
    """The data, models and settings of one run, by role of the data: `test`, `train` where there is one, and stored variants.

    - `classes`: class names of the test data, and of the train data where there are any
    - `side`: the smallest image side that a model sees, in pixels
    - `donors`: whether there is a donor pool
    - `samples`: the listing of each dataset; `texts`: its data text; `facts`: what is known of its pixels (masks, boxes)
    - `variants`: the roles of modified test images that are stored beside the data, and of `parts` of the test images
    - `cutouts`: the greatest share of the image that one of the user's cut-outs can cover; 0 without a pool
    - `losses`: by model, for each run the training losses of the last epoch on its card (`diversity`, `mix_diversity`,
      `loss`); empty where the card has none
    - `lost`: by model, the classes of the test data that it has no answer for
    - `lists`: the sample ids in the files that audits name, by role and file
    - `responses`: the answers of people in the files that audits name
    - `tree`: the data's own tree of classes, class or node → parent; empty where they have none
    - `chats`: the models that reply in words, by name
    - `task`: what all models are for: classification, segmentation or detection
    - `repeated`: the models whose runs are one service, asked several times
    """

    classes: Mapping[str, Sequence[str]]
    side: int
    seed: int = 0
    donors: bool = False
    samples: Mapping[str, Samples] = field(default_factory=dict)
    texts: Mapping[str, str] = field(default_factory=dict)
    facts: Mapping[str, frozenset[str]] = field(default_factory=dict)
    variants: frozenset[str] = frozenset()
    parts: frozenset[str] = frozenset()
    cutouts: float = 0.0
    losses: Mapping[str, Sequence[Mapping[str, float]]] = field(default_factory=dict)
    lost: Mapping[str, Sequence[str]] = field(default_factory=dict)
    lists: Mapping[tuple[str, str], frozenset[str]] = field(default_factory=dict)
    responses: Mapping[str, PeopleAnswers] = field(default_factory=dict)
    tree: Mapping[str, str] = field(default_factory=dict)
    chats: Mapping[str, ChatModel] = field(default_factory=dict)
    task: str = "classification"
    repeated: frozenset[str] = frozenset()

    @property
    def models(self) -> list[str]:
        """The names of all models."""
        return list(self.losses)

    def column(self, name: str, ids: Iterable[str], on: str = "test") -> np.ndarray | None:
        """A column of the listing for the samples with these ids, [samples]; None where there is no such column."""
        listing = self.samples.get(on)
        if listing is None or name not in listing.columns:
            return None
        row = {sample: i for i, sample in enumerate(listing.ids)}
        return np.asarray(listing.columns[name])[[row[sample] for sample in ids]]

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
        return self.is_stored(cell) or not isinstance(cell.distortion, Nothing)

    def is_stored(self, cell: Cell) -> bool:
        """Whether a cell's images are modified as they are stored, not by a distortion."""
        return cell.on in self.variants and cell.on not in self.parts and isinstance(cell.distortion, Nothing)
