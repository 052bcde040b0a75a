"""A model's card: all that a plan needs to know of it, without torch."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

from snellen.data.canvas import Canvas
from snellen.files import fit

Task = Literal["classification", "segmentation", "detection"]
IMAGENET_MEAN = (0.485, 0.456, 0.406)
IMAGENET_STD = (0.229, 0.224, 0.225)
LARGEST = 10_000  # pixels of a canvas's side
MOST_CLASSES = 100_000


@dataclass(frozen=True)
class Card:
    """What a plan knows of a model: names, canvas, normalisation, fingerprint and what it can do.

    `classes` may hold synonyms separated by commas; None where the model does not name them. `canvas` None means the
    data's own size. `mean` and `std` are of pixels in 0…1, None where the model normalises inside. `probes` are stored
    answers to the probe images, for callables that cannot be fingerprinted by their content. `stated` is the clean accuracy
    its maker states, 0 to 1, where one does. `losses` are the training losses of its last epoch by name, where it was
    trained here. `gradients` says that white-box methods can be used on it (it is a torch network), `live` that it answers
    about any image, not only about recorded ones, `support` that it is known by construction which pixels it answers by, `unsure`
    that it may name a class without saying how surely, which is kept as a confidence of nan. `at_once` is how many images a call
    should have at least, for a model that works on many of them at a time. `varies` says that it is a service, which may answer
    otherwise from day to day: its name is its identity, `probes` tell how far it moved. `service` is the fingerprint that all
    repeats of one service share. `chance` is the share that guessing gets right, where that is not 1 in all classes.
    """

    name: str
    text: str
    fingerprint: str
    classes: tuple[str, ...] | None = None
    canvas: Canvas | None = None
    mean: tuple[float, float, float] | None = None
    std: tuple[float, float, float] | None = None
    task: Task = "classification"
    notices: tuple[str, ...] = ()
    probes: tuple[tuple[float, ...], ...] | None = None
    stated: float | None = None
    losses: Mapping[str, float] | None = None
    gradients: bool = False
    live: bool = True
    support: bool = False
    unsure: bool = False
    at_once: int = 0
    varies: bool = False
    service: str = ""
    chance: float | None = None

    @property
    def fill(self) -> tuple[float, float, float] | None:
        """The colour (0…255) that is zero after normalising; the ImageNet mean where the model normalises inside."""
        r, g, b = self.mean or IMAGENET_MEAN
        return 255 * r, 255 * g, 255 * b

    def to_json(self) -> dict[str, Any]:
        """All fields by name, as run.json has them."""
        return asdict(self)

    @classmethod
    def from_json(cls, facts: Mapping[str, Any], source: Path | str = "the model's card") -> Card:
        """The card of what `to_json` gave; fields that an earlier version did not have may be missing."""
        return fit(facts, cls, source)
