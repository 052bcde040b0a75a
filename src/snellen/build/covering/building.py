"""Build a set of images under occluders from images with masks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from snellen.build.covering.portion import (
    COVERS,
    FULL_MASKS,
    IMAGES,
    MASKS,
    CoverTask,
    CoverVerdict,
    cover_content,
    cover_portion,
)
from snellen.build.covering.request import CoverRequest
from snellen.build.covering.tables import CoverOutcome, group_of, write_tables
from snellen.build.encode import names_of
from snellen.build.runner import Amount, Builder, Built, Portion, Site, not_taken, reasons_of
from snellen.data import as_data
from snellen.data.dataset import Dataset, limited
from snellen.data.in9.layout import folders
from snellen.data.occluders import read_occluders
from snellen.data.ovis.levels import stated_level
from snellen.errors import UserError

TRAIN, TEST = "train", "val"
OCCLUDED, UNKNOWN_CLASS = "occluded already", "unknown class"
PORTION = 8  # images
FEW = 0.5  # of the images of a type: with fewer a user is told


@dataclass(frozen=True)
class CoveredBuilt(Built):
    """A set: its folder, images by split and by type, what was not taken by reason, and what to look at."""

    images: Mapping[str, Amount]
    types: Mapping[str, Amount]
    rejected: Mapping[str, Amount]
    warnings: Sequence[str]

    @property
    def lines(self) -> list[str]:
        sizes = ", ".join(f"{count:,} {name}" for name, count in self.images.items())
        total = f"{sum(self.images.values()):,} images ({sizes}) of {len(self.types)} types: {self.out}"
        return [total, not_taken(self.rejected, self.out / "rejected.csv")]


class CoveredSet(Builder[CoveredBuilt]):
    """Every image of both sides under every occluder: `data` by split, and the occluders by type (`kinds`)."""

    inputs = ("data_fingerprints", "occluders_fingerprint", "classes")
    built = CoveredBuilt

    def __init__(self, request: CoverRequest) -> None:
        self.request: CoverRequest = request
        self.data = _sides(request)
        self.kinds = request.distortions()
        self.classes = tuple(dict.fromkeys(name for data in self.data.values() for name in data.classes))
        self.facts = {
            "schema": f"snellen/{request.set_name}/1",
            "data": {split: data.text for split, data in self.data.items()},
            "data_fingerprints": {split: data.fingerprint for split, data in self.data.items()},
            "limit": request.limit,
            **request.choices(),
            "distortions": {
                type: f"{distortion} version {distortion.version}" for type, distortion in self.kinds.items()
            },
            "classes": list(self.classes),
        }
        folder = getattr(request, "occluders", None)
        if folder is not None:
            self.facts["occluders_fingerprint"] = read_occluders(folder).fingerprint

    @property
    def facts_file(self) -> str:  # type: ignore[override]
        return f"{self.request.set_name}.json"

    def make(self, site: Site) -> Mapping[str, Any]:
        portions = list(self._portions())
        tasks = {(task.split, task.row): task for portion in portions for task in portion.tasks}
        work = partial(cover_portion, self.request, self.kinds, site.to.part)
        content = partial(cover_content, self.facts.get("occluders_fingerprint", ""))
        verdicts = site.rows(portions, work, CoverVerdict, content, self._with_photos)
        order = {split: place for place, split in enumerate(self.data)}
        verdicts.sort(key=lambda verdict: (order[verdict.split], verdict.row))  # stable: the types stay in their order
        outcome = CoverOutcome(self.data, tasks, verdicts, self.kinds)
        if not any(image.type != "none" for image in outcome.images):
            reasons = reasons_of(dict(outcome.rejected.most_common()))
            raise UserError(f"no covered image is left: {reasons or 'no type but none is chosen'}")
        for image in outcome.images:
            site.to.own(*(outcome.task(image).file(kind, image.type) for kind in (IMAGES, COVERS, MASKS, FULL_MASKS)))
        write_tables(site.to, outcome, self.request)
        types = Counter(image.type for image in outcome.images)
        notices = [notice for data in self.data.values() for notice in data.notices]
        return {
            "images": {split: sum(image.split == split for image in outcome.images) for split in self.data},
            "types": {type: types[type] for type in self.kinds},
            "rejected": dict(sorted(outcome.rejected.items())),
            "warnings": [*self.request.notes(), *notices, *_warnings(outcome, types)],
        }

    def _portions(self) -> Iterator[Portion[CoverTask]]:
        """All images, a few at a time, not yet read."""
        folder = dict(zip(self.classes, folders(self.classes)))
        number = 0
        for split, data in self.data.items():
            names = names_of(data.samples.ids)
            for start in range(0, len(data), PORTION):
                tasks = []
                for row in range(start, min(start + PORTION, len(data))):
                    label = int(data.samples.labels[row])
                    own = folder[data.classes[label]] if label >= 0 else ""
                    reason, detail = self._refuse(data, row)
                    tasks.append(
                        CoverTask(row, data.samples.ids[row], split, own, names[row], reason=reason, detail=detail)
                    )
                yield Portion(number, tasks)
                number += 1

    def _refuse(self, data: Dataset, row: int) -> tuple[str, str]:
        """Why an image is not taken, by the listing alone."""
        if data.samples.labels[row] < 0:
            return UNKNOWN_CLASS, "it has no label"
        level = data.samples.columns.get("level")
        if level is not None and not self.request.occluded and (stated_level(str(level[row])) or 0) > 0:
            return OCCLUDED, f"its level is {level[row]}; allow with --occluded"
        return "", ""

    def _with_photos(self, portion: Portion[CoverTask]) -> Portion[CoverTask]:
        """The portion with its photos, read now."""
        rows = [task.row for task in portion.tasks if not task.reason]
        data = self.data[portion.tasks[0].split]
        photos = dict(zip(rows, data.read(rows))) if rows else {}
        return Portion(portion.number, [replace(task, photo=photos.get(task.row)) for task in portion.tasks])


def _sides(request: CoverRequest) -> dict[str, Dataset]:
    """The images to train and to test with, by split; they must have masks."""
    sides = {split: data for split, data in ((TRAIN, request.train), (TEST, request.data)) if data is not None}
    known = {split: as_data(data) for split, data in sides.items()}
    for data in known.values():
        if "masks" not in data.facts:
            raise UserError(
                f"{data.text} has no masks, so how much of an object is hidden cannot be known; use data with masks, such as "
                "the index of snellen build iruo, coco:, voc:…?masks=true or a manifest with a column 'mask'"
            )
    return {split: limited(data, request.limit) for split, data in known.items()}


def _warnings(outcome: CoverOutcome, types: Mapping[str, int]) -> list[str]:
    """Lines on types that few images are left of, classes without any, and images of both sides."""
    lines = []
    whole = types["none"]
    few = {type: types[type] for type in outcome.kinds if types[type] < FEW * whole}
    if few:
        listed = ", ".join(f"{type} ({count:,})" for type, count in few.items())
        lines.append(f"fewer than half of {whole:,} images are left of {listed}; see rejected.csv")
    for split, data in outcome.data.items():
        there = {outcome.label(image) for image in outcome.images if image.split == split}
        empty = [name for name in data.classes if name not in there]
        if empty:
            lines.append(f"no images of {', '.join(empty[:20])} in {split}")
    groups = [
        {group_of(data, row) for row in {image.row for image in outcome.images if image.split == split}}
        for split, data in outcome.data.items()
    ]
    if len(groups) == 2 and (both := groups[0] & groups[1]):
        lines.append(f"{len(both):,} images or videos are in both {TRAIN} and {TEST}, such as {sorted(both)[0]}")
    return lines
