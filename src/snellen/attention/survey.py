"""Attention as a survey: for each image and layer, the share on the visible object, the occluder and the background."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from snellen.attention.pictures import draw_attention
from snellen.data.dataset import Dataset
from snellen.data.keys import sample_keys
from snellen.distort import Covering, Distortion, Nothing, View, moved, show
from snellen.distort.chain import stages_of
from snellen.distort.law import expect_within
from snellen.engine.ask.slides import slides
from snellen.engine.keep.failures import describe_error
from snellen.engine.keep.survey_checkpoint import Checkpoint
from snellen.engine.requests.survey import Ground, SurveyRequest, SurveyTable
from snellen.errors import UserError
from snellen.explain.attention_maps import attention_grids, attention_names
from snellen.lazy_torch import torch
from snellen.measure import attention_mass, patch_shares
from snellen.notation import text_form

if TYPE_CHECKING:
    from torch import Tensor

REGIONS = ("visible", "occluder", "background", "object")  # the first three make up the image
KNOWN = frozenset({"labels", "masks", "mean"})  # what an occluder may need here


@dataclass(frozen=True)
class AttentionMass(SurveyRequest):
    """Where the attention of the object's patches goes under an `occluder`, at some `layers`; none: the three of the paper.

    The table has a row per image and layer: shares of the attention on the object as far as it is visible, on the occluder and
    on the rest, which make 1, and on all of the object, hidden or not; the shares that even attention would have; and the most
    on the visible object, and the least on the occluder, that any attention to whole patches could have. Empty where an image
    has no object, cannot be shown, or is excluded by the occluder. `examples` images, by a hash of their ids, are pictured.
    """

    occluder: Any = field(default_factory=Nothing)
    layers: tuple[int | str, ...] = ()
    examples: int = 4

    def __post_init__(self) -> None:
        object.__setattr__(self, "layers", tuple(self.layers))
        expect_within("examples", self.examples, 0, 100)
        check_occluder(self.occluder)

    __str__ = text_form

    @property
    def needs(self) -> frozenset[str]:
        return frozenset({"masks"}) | self.occluder.needs

    @property
    def version(self) -> str:
        return f"1 {self.occluder.version}"

    @property
    def walks(self) -> int:
        return 1

    def check(self, data: Dataset) -> None:
        """Nothing beyond what it `needs`."""

    def run(self, ground: Ground) -> SurveyTable:
        return _Walker(self, ground).table()


def check_occluder(occluder: Distortion) -> None:
    """Refuse a distortion of which it is not known here which pixels it covers."""
    covers = any(isinstance(stage, Covering) for stage in stages_of(occluder))
    if not covers and not isinstance(occluder, Nothing):
        raise ValueError(f"expected distortions that cover pixels, such as lattice(0.5, 4), got {occluder}")
    if unknown := sorted(occluder.needs - KNOWN):
        raise ValueError(f"expected occluders that need no {unknown[0]}, got {occluder}")


@dataclass(frozen=True)
class _Batch:
    """Images uint8 [n, 3, H, W] that can be shown, what is known of them, their `places` in the listing, and how many were
    `taken`, those that cannot be shown included."""

    images: Tensor
    view: View
    places: np.ndarray
    taken: int


@dataclass(frozen=True)
class _Look:
    """Images as `shown`, their objects, the `regions` bool [n, 4, H, W], the attention at each layer, and which count."""

    shown: Tensor
    masks: Tensor
    regions: np.ndarray
    grids: Mapping[str, Tensor]
    counted: np.ndarray


class _Walker:
    """One survey under way: arrays over all images, nan where nothing is known of one."""

    def __init__(self, request: AttentionMass, ground: Ground) -> None:
        self.request, self.ground = request, ground
        blank = torch.zeros((1, 3, ground.canvas.height, ground.canvas.width), dtype=torch.uint8)
        self.names = attention_names(ground.model, blank.to(ground.model.device or "cpu"), request.layers or None)
        images, layers = len(ground.data), len(self.names)
        self.sums = {
            "mass": torch.full((images, layers, len(REGIONS)), torch.nan, dtype=torch.float64),
            "bound": torch.full((images, layers, 2), torch.nan, dtype=torch.float64),
            "area": torch.full((images, len(REGIONS)), torch.nan, dtype=torch.float64),
            "patch": torch.zeros((layers, 2), dtype=torch.float64),
        }

    def table(self) -> SurveyTable:
        """The walk, from where an earlier attempt stopped, and what it came to."""
        checkpoint = Checkpoint(self.ground.checkpoint)
        start = self._load(*checkpoint.read())
        self.ground.report(start)
        for batch in self._batches(range(start, len(self.ground.data))):
            if len(batch.places):
                self._add(batch.places, self._look(batch))
            start += batch.taken
            checkpoint.keep(0, start, self.sums)
            self.ground.report(batch.taken)
        return SurveyTable(self._rows(), {"layer": self.names, "patch": self.sums["patch"].tolist()})

    def _load(self, walk: int, start: int, arrays: Mapping[str, Tensor]) -> int:
        """Go on from a checkpoint if it is one of this survey's; the position to start at."""
        own, other = (
            {name: (array.shape, array.dtype) for name, array in some.items()} for some in (self.sums, arrays)
        )
        if walk != 0 or own != other or not 0 <= start <= len(self.ground.data):
            return 0
        self.sums = dict(arrays)
        return start

    def _batches(self, positions: range) -> Iterator[_Batch]:
        """The images at some positions, decoded ahead."""
        ground, size = self.ground, self.ground.batch
        starts = range(positions.start, positions.stop, size)
        shards = [range(first, min(first + size, positions.stop)) for first in starts]
        device = ground.model.device or torch.device("cpu")
        with closing(slides(ground.data, shards, [ground.canvas], ground.threads)) as decoded:
            for slide in decoded:
                rows = np.array([row for row, error in enumerate(slide.errors) if not error], np.int64)
                view = View(
                    slide.keys,
                    ground.seed,
                    device=device,
                    labels=ground.data.samples.labels[slide.positions.start : slide.positions.stop],
                    masks=slide.masks[ground.canvas].to(device),
                    mean=ground.model.card.fill,
                )
                images = slide.images[ground.canvas].to(device)[torch.from_numpy(rows).to(device)]
                yield _Batch(images, view.at(rows), slide.positions.start + rows, len(slide.positions))

    def _look(self, batch: _Batch) -> _Look:
        """Show a batch, and see where the model's attention goes."""
        view = batch.view
        assert view.masks is not None  # it `needs` them
        shown, cover = show(self.request.occluder, batch.images, view)
        masks = moved(self.request.occluder, view.masks, view)
        hidden = torch.zeros_like(masks) if cover is None else cover.expand_as(masks)
        try:
            grids = attention_grids(self.ground.model, shown, masks, self.names)
        except UserError:
            raise
        except Exception as error:  # whatever a user's model raises
            model, count = self.ground.model.name, len(shown)
            raise UserError(f"model '{model}' fails on {count} images: {describe_error(error)}") from error
        regions = torch.stack([masks & ~hidden, hidden, ~masks & ~hidden, masks], 1)
        counted = ~np.asarray(view.notes.get("excluded", np.zeros(len(shown), bool)), bool)
        return _Look(shown, masks, regions.cpu().numpy(), grids, counted)

    def _add(self, places: np.ndarray, look: _Look) -> None:
        """Measure what is seen of the images at some places of the listing."""
        rows, counted, regions = torch.from_numpy(places[look.counted]), look.counted, look.regions
        shares = {
            grid: _shares(regions, grid) for grid in {tuple(received.shape[1:]) for received in look.grids.values()}
        }
        for layer, received in enumerate(look.grids.values()):
            own = shares[tuple(received.shape[1:])]
            mass = np.stack([attention_mass(received.cpu().numpy(), own[:, place]) for place in range(len(REGIONS))], 1)
            bound = np.stack([own[:, 0].max((1, 2)), own[:, 1].min((1, 2))], 1)
            self.sums["mass"][rows, layer] = torch.from_numpy(mass[counted])
            self.sums["bound"][rows, layer] = torch.from_numpy(bound[counted])
            sides = zip(regions.shape[2:], received.shape[1:])
            self.sums["patch"][layer] = torch.tensor([pixels / patches for pixels, patches in sides])
        self.sums["area"][rows] = torch.from_numpy(regions.mean((2, 3))[counted])

    def _rows(self) -> list[dict[str, Any]]:
        pictures = self._pictures()
        mass, area, bound = (self.sums[name].numpy() for name in ("mass", "area", "bound"))
        columns = (*REGIONS, *(f"{region}_area" for region in REGIONS), "most_visible", "least_occluder")
        return [
            {
                "unit": image * len(self.names) + layer,
                "sample": sample,
                "layer": name,
                **_known(columns, np.concatenate([mass[image, layer], area[image], bound[image, layer]])),
                "pictures": pictures.get((image, name)),
            }
            for image, sample in enumerate(self.ground.data.samples.ids)
            for layer, name in enumerate(self.names)
        ]

    def _pictures(self) -> dict[tuple[int, str], list[bytes]]:
        """By position and layer, for some images, what is shown and the attention drawn over it."""
        pictures: dict[tuple[int, str], list[bytes]] = {}
        for place in example_places(self.ground.data.samples.ids, self.request.examples):
            for batch in self._batches(range(place, place + 1)):
                if len(batch.places):
                    look = self._look(batch)
                    overlays = draw_attention(look.shown[0].cpu().numpy(), look.grids, look.masks[0].cpu().numpy())
                    pictures |= {(place, name): picture for name, picture in overlays.items()}
        return pictures


def example_places(ids: Sequence[str], count: int) -> list[int]:
    """The positions of the images that are pictured, by a hash of their ids: the same for every model and occluder."""
    return sorted(np.argsort(sample_keys(ids), kind="stable")[:count].tolist()) if len(ids) else []


def _known(names: Sequence[str], values: np.ndarray) -> dict[str, float | None]:
    """The values by name, None for nan, which sums of SQL would not skip."""
    return {name: None if np.isnan(value) else float(value) for name, value in zip(names, values)}


def _shares(regions: np.ndarray, grid: tuple[int, ...]) -> np.ndarray:
    """float64 [B, 4, h, w]: how much of each patch each region covers."""
    height, width = grid
    flat = regions.reshape(-1, *regions.shape[2:])
    return patch_shares(flat, (height, width)).reshape(*regions.shape[:2], height, width)
