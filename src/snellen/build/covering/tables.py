"""The tables of a set of covered images: indices, counts, and what is not in it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from snellen.build.covering.portion import COVERS, FULL_MASKS, IMAGES, MASKS, CoverTask, CoverVerdict
from snellen.build.covering.request import NONE, CoverRequest
from snellen.build.destination import Destination
from snellen.build.encode import table
from snellen.data.dataset import Dataset
from snellen.data.names import storable
from snellen.data.ovis.levels import TOLERANCE, level_of
from snellen.distort import Distortion
from snellen.distort.occluders.lattice import Lattice
from snellen.files.spreadsheet import plain_cell
from snellen.measure.occlusion_levels import GATE_BINS, LATTICE_BINS, bin_names, occlusion_level

COUNTS, REJECTED = "counts.csv", "rejected.csv"
CORNERS = ("x0", "y0", "x1", "y1")
GROUPS = ("group", "video")
INDEX = (
    *("path", "label", *CORNERS, "mask", "full_mask", "cover", "id", "group", "type", "level", "band", "hidden"),
    *("object_pixels", "hidden_pixels", "covered", "occluder", "distortion", "seed", "source", "source_checksum"),
)
COUNTED = ("split", "class", "level", "type", "band")
_REJECT = ("split", "id", "class", "type", "reason", "detail")


@dataclass(frozen=True)
class CoverOutcome:
    """What became of the images: the datasets by split, tasks by split and position, and all verdicts."""

    data: Mapping[str, Dataset]
    tasks: Mapping[tuple[str, int], CoverTask]
    verdicts: Sequence[CoverVerdict]
    kinds: Mapping[str, Distortion]

    @property
    def images(self) -> list[CoverVerdict]:
        """The verdicts that are images of the set."""
        return [image for image in self.verdicts if not image.reason]

    @property
    def rejected(self) -> Counter[str]:
        """Why images were not taken."""
        return Counter(image.reason for image in self.verdicts if image.reason)

    def task(self, image: CoverVerdict) -> CoverTask:
        """The image of an image."""
        return self.tasks[image.split, image.row]

    def label(self, image: CoverVerdict) -> str:
        """The class of an image; empty where it is not known."""
        data = self.data[image.split]
        number = int(data.samples.labels[image.row])
        return data.classes[number] if number >= 0 else ""

    def level(self, image: CoverVerdict) -> int:
        """0, 1 or 2, as of images under real occlusion."""
        return level_of(image.hidden, image.object, TOLERANCE)

    def band(self, image: CoverVerdict) -> str:
        """The published bin of the hidden share, such as 10–30%; of a lattice that of the image. Empty where it is in none."""
        distortion = self.kinds[image.type]
        bins, share = GATE_BINS, image.share
        if isinstance(distortion, Lattice):
            bins, share = LATTICE_BINS, distortion.share
        place = int(occlusion_level([0.0 if image.type == NONE else share], bins)[0])
        return bin_names(bins)[place] if place >= 0 else ""


def write_tables(to: Destination, outcome: CoverOutcome, request: CoverRequest) -> None:
    """Write all tables of a set."""
    for split in outcome.data:
        rows = (_index_row(image, outcome, request) for image in outcome.images if image.split == split)
        to.write(f"{split}.csv", table(INDEX, rows))
    keys = (
        (image.split, outcome.label(image), outcome.level(image), image.type, outcome.band(image))
        for image in outcome.images
    )
    counts = sorted(Counter(keys).items())
    to.write(
        COUNTS, table((*COUNTED, "images"), ({**dict(zip(COUNTED, key)), "images": count} for key, count in counts))
    )
    to.write(REJECTED, table(_REJECT, _rejects(outcome)))


def group_of(data: Dataset, row: int) -> str:
    """What images belong together with: the group or video of the source, else the source itself."""
    columns = data.samples.columns
    known = next((name for name in GROUPS if name in columns), None)
    return str(columns[known][row]) if known and str(columns[known][row]) else data.samples.ids[row]


def _index_row(image: CoverVerdict, outcome: CoverOutcome, request: CoverRequest) -> dict[str, Any]:
    task = outcome.task(image)
    return {
        "path": task.file(IMAGES, image.type),
        "label": outcome.label(image),
        **dict(zip(CORNERS, image.box)),
        "mask": task.file(MASKS, image.type),
        "full_mask": task.file(FULL_MASKS, image.type),
        "cover": task.file(COVERS, image.type),
        "id": storable(f"{image.type}/{task.id}"),
        "group": storable(group_of(outcome.data[image.split], image.row)),
        "type": image.type,
        "level": outcome.level(image),
        "band": outcome.band(image),
        "hidden": f"{image.share:.6f}",
        "object_pixels": image.object,
        "hidden_pixels": image.hidden,
        "covered": f"{image.covered / image.pixels:.6f}",
        "occluder": storable(image.donor),
        "distortion": str(outcome.kinds[image.type]),
        "seed": request.seed,
        "source": storable(task.id),
        "source_checksum": image.source,
    }


def _rejects(outcome: CoverOutcome) -> Iterator[dict[str, Any]]:
    """One row per image, or image of a type, that is not in the set; for people only."""
    for image in outcome.verdicts:
        if image.reason:
            row = (image.split, outcome.task(image).id, outcome.label(image), image.type, image.reason, image.detail)
            yield {name: plain_cell(storable(cell)) for name, cell in zip(_REJECT, row)}
