"""Cut out objects of classes absent from the target, along their masks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from snellen.build.class_folders import class_folder
from snellen.build.contact_sheet import MOST_TILES, Tile, contact_sheet
from snellen.build.destination import Destination
from snellen.build.encode import names_of, table
from snellen.build.in9.grouping import rank
from snellen.build.occluders.cutting import CutTask, CutVerdict, cut_content, cut_objects
from snellen.build.occluders.request import OccludersRequest
from snellen.build.runner import Amount, Builder, Built, Portion, Site, not_taken, reasons_of
from snellen.data import as_data
from snellen.data.names import storable
from snellen.data.occluders import MOST
from snellen.errors import UserError
from snellen.files.picture import open_image, read_image
from snellen.files.spreadsheet import plain_cell

SHEET = "contact-sheet.jpg"
INDEX = ("path", "label", "id", "pixels", "width", "height", "source_checksum")
REJECT = ("id", "class", "reason", "detail")


@dataclass(frozen=True)
class OccludersBuilt(Built):
    """A folder of cut-outs: how many of each class, what was not taken by reason, the classes left out, and what to look at."""

    classes: Mapping[str, Amount]
    rejected: Mapping[str, Amount]
    left_out: Sequence[str]
    warnings: Sequence[str]

    @property
    def lines(self) -> list[str]:
        counts = self.classes.values()
        total = f"{sum(counts):,} cut-outs of {sum(map(bool, counts))} classes: {self.out}"
        return [total, not_taken(self.rejected, self.out / "rejected.csv")]


class OccludersSet(Builder[OccludersBuilt]):
    """Objects to cut out: the images, and the numbers of the classes that may be."""

    facts_file = "occluders.json"
    whole = "folder of cut-outs built by snellen"
    inputs = ("data_fingerprint", "classes")
    built = OccludersBuilt

    def __init__(self, request: OccludersRequest) -> None:
        self.request: OccludersRequest = request
        assert request.data is not None
        self.data = as_data(request.data)
        if "masks" not in self.data.facts:
            raise UserError(
                f"{self.data.text} has no masks to cut objects out by; use coco:, ovis:, voc:…?masks=true or a manifest"
            )
        target = None if request.target is None else as_data(request.target)
        avoided = (*(target.classes if target else ()), *request.without)
        self.numbers = absent_classes(self.data.classes, avoided, self.data.text)
        self.names = names_of(self.data.samples.ids)
        self.facts = {
            "schema": "snellen/occluders/1",
            "data": self.data.text,
            "data_fingerprint": self.data.fingerprint,
            "target": None if target is None else target.text,
            "classes": [self.data.classes[number] for number in self.numbers],
            **request.choices(),
        }

    def make(self, site: Site) -> Mapping[str, Any]:
        cuts: dict[int, CutVerdict] = {}
        left = {number: self._order(number) for number in self.numbers}
        work = partial(cut_objects, self.request, site.to.part)
        while wanted := self._next(left, cuts):
            portions = (Portion(row, [CutTask(row, None, self._file(row))]) for row in wanted)
            is_there = partial(self._is_there, site.to)
            rows = site.rows(portions, work, CutVerdict, cut_content, self._with_photo, is_there)
            cuts |= {cut.row: cut for cut in rows}
        if all(cut.reason for cut in cuts.values()):
            reasons = dict(Counter(cut.reason for cut in cuts.values()).most_common())
            raise UserError(f"no object could be cut out: {reasons_of(reasons) or 'none is there'}")
        return self._write(site.to, [cuts[row] for row in sorted(cuts)])

    def _category(self, row: int) -> str:
        """The class of an object."""
        return self.data.classes[int(self.data.samples.labels[row])]

    def _file(self, row: int) -> str:
        """The path of a cut-out in the folder."""
        return f"{class_folder(self._category(row))}/{self.names[row]}.png"

    def _order(self, number: int) -> list[int]:
        """The objects of a class, in the order in which they are tried."""
        ids = self.data.samples.ids
        rows = [row for row, label in enumerate(self.data.samples.labels.tolist()) if label == number]
        return sorted(rows, key=lambda row: rank(self.request.seed, "occluders", ids[row]))

    def _next(self, left: dict[int, list[int]], cuts: Mapping[int, CutVerdict]) -> list[int]:
        """The objects to try now: of each class as many as it still lacks. They are taken off those that are left."""
        have = Counter(int(self.data.samples.labels[row]) for row, cut in cuts.items() if not cut.reason)
        wanted = []
        for number, rows in left.items():
            lack = self.request.per_class - have[number]
            wanted += rows[:lack]
            left[number] = rows[lack:]
        return wanted

    def _with_photo(self, portion: Portion[CutTask]) -> Portion[CutTask]:
        """The object with its photo, read now."""
        (task,) = portion.tasks
        return Portion(portion.number, [replace(task, photo=self.data.read([task.row])[0])])

    def _is_there(self, to: Destination, cuts: Sequence[CutVerdict]) -> bool:
        """Whether the cut-outs of an earlier run are there."""
        return all(cut.reason or to.has(self._file(cut.row)) for cut in cuts)

    def _write(self, to: Destination, cuts: Sequence[CutVerdict]) -> dict[str, Any]:
        """The tables and the contact sheet; the counts."""
        taken = [cut for cut in cuts if not cut.reason]
        to.own(*(self._file(cut.row) for cut in taken))
        rejects = [cut for cut in cuts if cut.reason]
        to.write("occluders.csv", table(INDEX, (self._index_row(cut) for cut in taken)))
        rows = ((self.data.samples.ids[cut.row], self._category(cut.row), cut.reason, cut.detail) for cut in rejects)
        cells = ([plain_cell(storable(cell)) for cell in row] for row in rows)
        to.write("rejected.csv", table(REJECT, (dict(zip(REJECT, row)) for row in cells)))
        own = Counter(self._category(cut.row) for cut in taken)
        classes = {self.data.classes[number]: own[self.data.classes[number]] for number in self.numbers}
        listed = ({"class": name, "images": count} for name, count in classes.items())
        to.write("counts.csv", table(("class", "images"), listed))
        tiles = [
            Tile(self._pixels(to, cut), f"{self._category(cut.row)}\n{cut.pixels:,} px") for cut in taken[:MOST_TILES]
        ]
        to.write(SHEET, contact_sheet(tiles, f"{len(taken):,} cut-outs"))
        return {
            "classes": classes,
            "rejected": dict(sorted(Counter(cut.reason for cut in rejects).items())),
            "left_out": [name for number, name in enumerate(self.data.classes) if number not in self.numbers],
            "warnings": [*self.data.notices, *_warnings(classes, len(taken))],
        }

    def _index_row(self, cut: CutVerdict) -> dict[str, Any]:
        facts = (self._file(cut.row), self._category(cut.row), self.data.samples.ids[cut.row])
        return dict(zip(INDEX, (*map(storable, facts), cut.pixels, cut.width, cut.height, cut.source)))

    def _pixels(self, to: Destination, cut: CutVerdict) -> np.ndarray:
        with open_image(read_image(to.part / self._file(cut.row), "cut-out")) as image:
            return np.asarray(image.convert("RGBA"))


def absent_classes(classes: Sequence[str], avoided: Iterable[str], data: str) -> list[int]:
    """The numbers of the classes that may be cut out: those that are not to be avoided, however they are written."""
    taken = {class_folder(name) for name in avoided}
    numbers = [number for number, name in enumerate(classes) if class_folder(name) not in taken]
    if not numbers:
        raise UserError(
            f"every class of {data} is one of the target: {', '.join(classes[:8])}; use data that have other classes too"
        )
    return numbers


def _warnings(classes: Mapping[str, int], count: int) -> list[str]:
    lines = []
    if empty := [name for name, images in classes.items() if not images]:
        lines.append(f"no cut-outs of {', '.join(empty[:20])}")
    if count > MOST:
        lines.append(f"{count:,} cut-outs; distortions use {MOST} of them, chosen by a hash of their names")
    return lines
