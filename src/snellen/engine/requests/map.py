"""Map requests: which maps of what matters to a model are asked for, and under which key they are kept."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

from snellen.data.canvas import Canvas
from snellen.data.dataset import Dataset
from snellen.distort import Distortion, Nothing
from snellen.engine.settings import COARSE, FINE, Settings
from snellen.explain.methods import method_of
from snellen.hashing import key_of
from snellen.models.subject import Subject


@dataclass(frozen=True)
class MapRequest:
    """One question to every model: where in the images of a dataset (`on`) that lies which speaks for its own answer.

    `layer` is where the map is read: a name in the network, a stage from the end (-2) or stage3; None is the last stage.
    The images are shown as they are, or under a distortion and its seed.
    """

    method: str = "gradcam"
    layer: int | str | None = None
    on: str = "test"
    distortion: Distortion = field(default_factory=Nothing)
    seed: int = 0

    def __post_init__(self) -> None:
        method_of(self.method)  # a name that does not exist is refused here
        if self.clean:  # nothing is drawn, so that requests which differ in the seed alone are the same
            object.__setattr__(self, "seed", 0)

    def __str__(self) -> str:
        where = "" if self.layer is None else f" at layer {self.layer}"
        condition = "" if self.clean else f" under {self.distortion}, seed {self.seed}"
        return f"{self.method}{where} on {self.on}{condition}"

    @property
    def clean(self) -> bool:
        """Whether the images are shown as they are."""
        return isinstance(self.distortion, Nothing)


@dataclass(frozen=True)
class BoundMap:
    """A map request as put to one run of one model.

    `key` is where its maps are kept, in so many `bits` per pixel; `map` are those of the clean images that its own distortion
    needs, if any.
    """

    key: str
    request: MapRequest
    subject: Subject
    canvas: Canvas
    map: BoundMap | None = None
    bits: int = FINE

    @property
    def distortion(self) -> Distortion:
        return self.request.distortion

    @property
    def on(self) -> str:
        return self.request.on

    @property
    def seed(self) -> int:
        return self.request.seed

    @property
    def question(self) -> tuple[str, MapRequest, Canvas]:
        """What is asked: maps that differ in their bits alone are made at once."""
        return self.subject.card.fingerprint, self.request, self.canvas

    @property
    def task(self) -> str:
        """What the model is asked to do, as a sentence about failures names it."""
        return f"when mapped by {self.request}"

    @property
    def passes(self) -> int:
        """About how many forward passes the map of an image costs."""
        return method_of(self.request.method).passes

    def of_shown(self, shown: str, needed: BoundMap | None) -> BoundMap:
        """The request for distorted images: `shown` is their key, `needed` are the maps that the distortion needs."""
        return replace(self, key=key_of([self.key, shown]), map=needed)

    def row(self) -> dict[str, Any]:
        """What is kept beside the maps, so that they are found again."""
        request = self.request
        return {
            "model_fingerprint": self.subject.card.fingerprint,
            "on": request.on,
            "method": request.method,
            "layer": request.layer,
            "distortion": str(request.distortion),
            "seed": request.seed,
            "canvas": str(self.canvas),
            "bits": self.bits,
        }


def bind_map(
    request: MapRequest, subject: Subject, data: Dataset, canvas: Canvas, settings: Settings, *, ranked: bool = False
) -> BoundMap:
    """The request for clean images as put to one run, keyed by everything its maps depend on.

    `ranked`: a distortion orders pixels by their bytes. Where the method has its own for that, they are kept beside the maps that
    measures read, else they follow from these.
    """
    method = method_of(request.method)
    bits = COARSE if ranked and method.own_bytes else settings.map_bits
    facts: list[Any] = [data.fingerprint, str(canvas), subject.card.fingerprint, settings.precision_of(compiled=False)]
    facts += [request.method, request.layer, method.version]
    if method.reference is not None:  # it is estimated from the same data
        facts.append({"reference": method.reference.most})
    if bits != COARSE:  # as all maps once were
        facts.append({"bits": bits})
    return BoundMap(key_of(facts), request, subject, canvas, bits=bits)
