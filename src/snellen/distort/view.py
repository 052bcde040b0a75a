"""What a distortion may know beyond the pixels, and where it draws from."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from snellen.data.keys import sample_keys
from snellen.distort.draws import Draws, on_device
from snellen.distort.law import Law
from snellen.distort.lenders import Lenders
from snellen.distort.strips import Inpaint, boxes_of, filled, lends
from snellen.lazy_torch import torch

if TYPE_CHECKING:
    from torch import Tensor

    from snellen.data.occluders import Occluders


@dataclass(frozen=True)
class Donors:
    """Images of the canvas's size that may be pasted: uint8 [N, 3, H, W], their ids and the pool's fingerprint.

    To lend backgrounds they also have `labels` [N] (−1 = unknown) and `boxes` (float [n, 4] each) or `masks` (bool
    [N, H, W]). `classes` names the labels: first the `order` classes of the data that borrow, in their order, then those
    that only the donors have.
    """

    images: Tensor
    ids: tuple[str, ...]
    fingerprint: str
    labels: np.ndarray | None = None
    boxes: Sequence[np.ndarray] | None = None
    masks: Tensor | None = None
    classes: tuple[str, ...] = ()
    order: int = 0

    @functools.cached_property
    def keys(self) -> np.ndarray:
        """uint64 [N]: the donors' sample keys, by which an image knows itself among them."""
        return sample_keys(self.ids)

    @functools.cached_property
    def rectangles(self) -> np.ndarray:
        """int64 [N, 4]: the box of each donor's object in whole pixels, maximum exclusive."""
        return boxes_of(self.images, self)

    @functools.cached_property
    def lenders(self) -> Lenders:
        """Those of the donors that have a class and a background to give."""
        if self.labels is None:
            raise ValueError("expected the donors' labels, to choose backgrounds by class; pass Donors(…, labels=…)")
        able = lends(self.rectangles, *self.images.shape[2:])
        classes = self.order or int(self.labels.max(initial=-1)) + 1
        return Lenders(self.ids, np.where(able, self.labels, -1), classes)

    @functools.cached_property
    def named(self) -> tuple[np.ndarray, np.ndarray]:
        """The donors' ids and the names of their classes (numbers where these have none), each with "" as the last."""
        labels = [] if self.labels is None else self.labels.tolist()
        classes = ["" if k < 0 else self.classes[k] if k < len(self.classes) else str(k) for k in labels]
        return np.array([*self.ids, ""], dtype=object), np.array([*classes, ""], dtype=object)

    def backgrounds(self, inpaint: Inpaint = "tile") -> Tensor:
        """uint8 [N, 3, H, W]: the donors without their objects; made once, on the donors' device."""
        if inpaint not in self._backgrounds:
            self._backgrounds[inpaint] = filled(self.images, self.rectangles, inpaint)
        return self._backgrounds[inpaint]

    @functools.cached_property
    def _backgrounds(self) -> dict[str, Tensor]:
        return {}


@dataclass  # not frozen: `notes` grow while a distortion runs
class View:
    """One batch's declared facts: sample keys and seed for the draws, and what the distortion `needs`.

    `mean` is the model's normalisation mean in 0…255; `masks` are bool [B, H, W], `empty` [B] says which have no pixel
    (so that a GPU need not be asked); `boxes` are one float [n, 4] array per sample; `saliency` is the asking model's map of
    the clean image, uint8 [B, H, W] (of trials as it is stored), and `ranks` the order of its pixels, where it is already
    known (`ranks_of`).
    `notes` collects per-sample facts for the `shown` table while a distortion runs.
    """

    keys: np.ndarray
    seed: int = 0
    stage: int = 0
    device: torch.device | None = None
    labels: np.ndarray | None = None
    masks: Tensor | None = None
    empty: np.ndarray | None = None
    boxes: Sequence[np.ndarray] | None = None
    mean: tuple[float, float, float] | None = None
    donors: Donors | None = None
    saliency: Tensor | None = None
    ranks: Tensor | None = None
    occluders: Occluders | None = None
    notes: dict[str, np.ndarray] = field(default_factory=dict)

    @classmethod
    def of(cls, ids: Sequence[str], seed: int = 0, **known: object) -> View:
        """The view of samples with these ids."""
        return cls(sample_keys(ids), seed, **known)  # type: ignore[arg-type]

    @property
    def draw(self) -> Draws:
        """The random draws of these samples, from their ids, the seed and the stage alone."""
        return Draws(self.keys, self.seed, self.stage, self.device or torch.device("cpu"))

    def at_stage(self, stage: int) -> View:
        """The same batch at another stage of a chain: other draws, same facts, shared notes."""
        return replace(self, stage=stage)

    def rows(self, start: int, stop: int) -> View:
        """The view of a slice of the batch, with notes of its own."""
        return self._part(lambda values: values[start:stop])

    def at(self, rows: np.ndarray) -> View:
        """The view of some rows of the batch, in their order, with notes of its own."""

        def pick(values: Any) -> Any:
            if isinstance(values, torch.Tensor):
                return values[torch.from_numpy(rows).to(values.device)]
            return values[rows] if isinstance(values, np.ndarray) else [values[row] for row in rows]

        return self._part(pick)

    def _part(self, pick: Callable[[Any], Any]) -> View:
        """The view with what it knows of each sample reduced by `pick`."""
        names = ("keys", "labels", "masks", "empty", "boxes", "saliency", "ranks")
        known = {name: value for name in names if (value := getattr(self, name)) is not None}
        return replace(self, **{name: pick(value) for name, value in known.items()}, notes={})

    def parameter(self, name: str, value: float | Law) -> np.ndarray:
        """float64 [B]: the number itself, or one draw of the law per sample."""
        if isinstance(value, int | float):
            return np.full(len(self.keys), float(value))
        return value.quantile(self.draw.uniform(name))

    def distinct(self, name: str, value: float | Law) -> np.ndarray:
        """float64 [1] where all samples share a number, else one draw of the law per sample, [B]."""
        return np.array([float(value)]) if isinstance(value, int | float) else self.parameter(name, value)

    def tensor(self, values: np.ndarray) -> Tensor:
        """A per-sample array on the images' device."""
        return on_device(values, self.draw.device)

    def exclude(self, samples: np.ndarray) -> None:
        """Flag samples (bool [B]) that no allowed draw could modify: they are shown but count nowhere."""
        self.notes["excluded"] = self.notes.get("excluded", False) | samples


KNOWN: Mapping[str, str] = {
    "labels": "the class of each image",
    "boxes": "the object's box in each image",
    "masks": "the object's mask in each image",
    "mean": "the normalisation mean of the asking model",
    "donors": "a pool of other images (--donors DATA)",
    "saliency": "how much each pixel matters to the asking model, such as snellen.explain.gradcam(model, images)",
    "occluders": "a pool of cut-outs with transparency (--occluders DIR)",
}
