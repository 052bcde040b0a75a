"""The tables of a set of covered images: indices, counts, and what is not in it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from snellen.build.covering.portion import COVERS, FULL_MASKS, IMAGES, MASKS, Candidate, Entry
from snellen.build.covering.settings import NONE, Settings
from snellen.build.csv_table import table
from snellen.build.destination import Destination
from snellen.data.dataset import Dataset
from snellen.data.names import storable
from snellen.data.ovis.levels import level_of
from snellen.distort import Distortion
from snellen.distort.occluders.lattice import Lattice
from snellen.files.spreadsheet import plain_cell
from snellen.measure.occlusion_levels import GATE_BINS, LATTICE_BINS, bin_names, occlusion_level

COUNTS, REJECTED = "counts.csv", "rejected.csv"
TOLERANCE = 1e-4  # of a hidden share, up to which it is level 0 (Kassaw et al. 2024)
CORNERS = ("x0", "y0", "x1", "y1")
GROUPS = ("group", "video")
INDEX = (
    *("path", "label", *CORNERS, "mask", "full_mask", "cover", "id", "group", "type", "level", "band", "hidden"),
    *("object_pixels", "hidden_pixels", "covered", "occluder", "distortion", "seed", "source", "source_checksum"),
)
COUNTED = ("split", "class", "level", "type", "band")
_REJECT = ("split", "id", "class", "type", "reason", "detail")


@dataclass(frozen=True)
class Outcome:
    """What became of the images: the datasets by split, candidates by split and position, and all entries."""

    data: Mapping[str, Dataset]
    candidates: Mapping[tuple[str, int], Candidate]
    entries: Sequence[Entry]
    kinds: Mapping[str, Distortion]

    @property
    def images(self) -> list[Entry]:
        """The entries that are images of the set."""
        return [one for one in self.entries if not one.reason]

    @property
    def rejected(self) -> Counter[str]:
        """Why images were not taken."""
        return Counter(one.reason for one in self.entries if one.reason)

    def candidate(self, one: Entry) -> Candidate:
        """The image of an entry."""
        return self.candidates[one.split, one.row]

    def label(self, one: Entry) -> str:
        """The class of an entry; empty where it is not known."""
        data = self.data[one.split]
        number = int(data.samples.labels[one.row])
        return data.classes[number] if number >= 0 else ""

    def level(self, one: Entry) -> int:
        """0, 1 or 2, as of images under real occlusion."""
        return level_of(one.hidden, one.object, TOLERANCE)

    def band(self, one: Entry) -> str:
        """The published bin of the hidden share, such as 10–30%; of a lattice that of the image. Empty where it is in none."""
        distortion = self.kinds[one.type]
        bins, share = GATE_BINS, one.share
        if isinstance(distortion, Lattice):
            bins, share = LATTICE_BINS, distortion.share
        place = int(occlusion_level([0.0 if one.type == NONE else share], bins)[0])
        return bin_names(bins)[place] if place >= 0 else ""


def write_tables(to: Destination, outcome: Outcome, settings: Settings) -> None:
    """Write all tables of a set."""
    for split in outcome.data:
        rows = (_index_row(one, outcome, settings) for one in outcome.images if one.split == split)
        to.write(f"{split}.csv", table(INDEX, rows))
    keys = ((one.split, outcome.label(one), outcome.level(one), one.type, outcome.band(one)) for one in outcome.images)
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


def _index_row(one: Entry, outcome: Outcome, settings: Settings) -> dict[str, Any]:
    candidate = outcome.candidate(one)
    return {
        "path": candidate.file(IMAGES, one.type),
        "label": outcome.label(one),
        **dict(zip(CORNERS, one.box)),
        "mask": candidate.file(MASKS, one.type),
        "full_mask": candidate.file(FULL_MASKS, one.type),
        "cover": candidate.file(COVERS, one.type),
        "id": storable(f"{one.type}/{candidate.id}"),
        "group": storable(group_of(outcome.data[one.split], one.row)),
        "type": one.type,
        "level": outcome.level(one),
        "band": outcome.band(one),
        "hidden": f"{one.share:.6f}",
        "object_pixels": one.object,
        "hidden_pixels": one.hidden,
        "covered": f"{one.covered / one.pixels:.6f}",
        "occluder": storable(one.donor),
        "distortion": str(outcome.kinds[one.type]),
        "seed": settings.seed,
        "source": storable(candidate.id),
        "source_checksum": one.source,
    }


def _rejects(outcome: Outcome) -> Iterator[dict[str, Any]]:
    """One row per image, or image of a type, that is not in the set; for people only."""
    for one in outcome.entries:
        if one.reason:
            row = (one.split, outcome.candidate(one).id, outcome.label(one), one.type, one.reason, one.detail)
            yield {name: plain_cell(storable(cell)) for name, cell in zip(_REJECT, row)}
