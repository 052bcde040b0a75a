"""A calibration series, or ladder: more and more of something is planted from rung to rung, and one finding should see it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from math import nan
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from snellen.data import Dataset
    from snellen.report.results import AnyFinding

SIZE = 32  # pixels per side of the images shown
CHANCE = 1 / 12  # what a guess is right, over the classes of the phantom world
TRAIN, TEST = "phantom:train?size={size}&n={images}", "phantom:test?size={size}&n={images}"  # the plain worlds


@dataclass(frozen=True)
class Rung:
    """One step: the planted value, the model and the data, for networks the world to train on first, the training images
    that an audit of the train-test gap is shown, and the audits."""

    x: float
    model: str
    data: str
    train: str
    audit_train: str = ""
    audits: str = ""


@dataclass(frozen=True)
class Ladder:
    """A series: what is planted, in which model and data, and which finding should show it.

    `model`, `data`, `train` and `audits` are texts in which {x} stands for the planted value, {images} for how many images are
    shown and {size} for their side; without `model` small networks are trained on `train`; `audit_train` are training images
    for audits that compare both. `finding` is the name of the finding that is read, from the audits in `audits`; `where` picks
    one of several of that name by its facts, or by its `distortion`, also with {x}. `moves` says which way it should go, or that
    it should stay (`flat`), `truth` its exact expected value where that is known, and `tolerance` how far from it a value from
    600 images may lie, where that is stated. `reads` takes value, low and high from the
    finding where they are not its own, and `value_name` names them then. `make_training_data` makes of `train` and the planted
    value what the networks are shown instead of `train` itself.
    """

    title: str
    planted: str
    says: str
    data: str
    finding: str
    moves: Literal["up", "down", "flat"]
    model: str = ""
    train: str = ""
    audit_train: str = ""
    audits: str = "occlusion([0.5], [black])"
    where: Mapping[str, Any] = field(default_factory=dict)
    values: tuple[float, ...] = (0, 0.2, 0.4, 0.6, 0.8, 1)
    truth: Callable[[float], float] | None = None
    tolerance: float | None = None
    reads: Callable[[AnyFinding], tuple[float, float, float]] | None = None
    value_name: str = ""
    make_training_data: Callable[[Dataset, float], Dataset] | None = None

    def __post_init__(self) -> None:
        if bool(self.model) == bool(self.train):
            raise ValueError("expected either a model that is asked or a world to train on")
        if self.make_training_data is not None and not self.train:
            raise ValueError("expected a world to train on, of which `make_training_data` makes what is shown")

    @property
    def trained(self) -> bool:
        """Whether each rung trains a network."""
        return bool(self.train)

    def rungs(self, images: int, quick: bool = False) -> list[Rung]:
        """Its rungs; `quick` leaves the first, the middle and the last."""
        values = (self.values[0], self.values[len(self.values) // 2], self.values[-1]) if quick else self.values

        def fill(text: str, x: float) -> str:
            return text.format(x=f"{x:g}", images=images, size=SIZE)

        texts = (self.model, self.data, self.train, self.audit_train, self.audits)
        return [Rung(x, *(fill(text, x) for text in texts)) for x in values]

    def pick(self, findings: Sequence[AnyFinding], x: float = nan) -> AnyFinding:
        """The one finding that is read on the rung of a planted value."""
        named = [finding for finding in findings if finding.name == self.finding and finding.on in ("test", "")]
        matches = [finding for finding in named if self._fits(finding, x)]
        if len(matches) != 1:
            raise ValueError(f"expected one finding '{self.finding}' with {dict(self.where)}, got {len(matches)}")
        return matches[0]

    def _fits(self, finding: AnyFinding, x: float) -> bool:
        facts = {**finding.plain_facts, "distortion": next(iter(finding.distortions), "")}
        wanted = {name: _filled(value, x) for name, value in self.where.items()}
        return all(facts.get(name) == value for name, value in wanted.items())


def _filled(value: Any, x: float) -> Any:
    """A text with the planted value in the place of {x}; other values as they are."""
    return value.replace("{x}", f"{x:g}") if isinstance(value, str) else value
