"""Cut objects of classes that the target has not out of images with masks."""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import msgspec

from snellen.build.contact_sheet import MOST_TILES, Tile, contact_sheet
from snellen.build.counting import show_progress
from snellen.build.crew import crew
from snellen.build.csv_table import table
from snellen.build.destination import Destination, encode_json
from snellen.build.file_names import names_of
from snellen.build.in9.grouping import rank
from snellen.build.iruo.settings import class_folder
from snellen.build.occluders.cutting import UNREAD, Cut, Task, cut_object
from snellen.build.occluders.settings import Settings, absent_classes
from snellen.build.portion_file import POOL, portion_file, read_rows
from snellen.build.summary import SUMMARY, Count, as_json, read_summary
from snellen.data import load_data
from snellen.data.dataset import Dataset
from snellen.data.names import storable
from snellen.data.occluders import MOST
from snellen.errors import UserError
from snellen.files import expand_home
from snellen.files.picture import open_image, read_image
from snellen.files.spreadsheet import plain_cell

FACTS, SHEET = "occluders.json", "contact-sheet.jpg"
INDEX = ("path", "label", "id", "pixels", "width", "height", "source_checksum")
REJECT = ("id", "class", "reason", "detail")


@dataclass(frozen=True)
class Built:
    """A folder of cut-outs: how many of each class, what was not taken by reason, the classes left out, and what to look at."""

    out: Path
    classes: Mapping[str, int]
    rejected: Mapping[str, int]
    left_out: Sequence[str]
    warnings: Sequence[str]

    @property
    def json(self) -> str:
        """The same as JSON."""
        return as_json(self)


def build(
    data: str | Dataset,
    out: str | Path,
    *,
    target: str | Dataset | None = None,
    workers: int | None = None,
    quiet: bool = True,
    **settings: Any,
) -> Built:
    """Cut objects out of `data`, which must have masks, of classes that `target` has not, into PNGs with transparency.

    The folder `out` can be given as `--occluders`. `settings` are those of `Settings`, such as per_class=4. Any number of
    `workers` (processes; default one per core) gives the same bytes. A stopped build resumes; a finished one is left as it is.
    """
    chosen = Settings(**settings)
    dataset = load_data(data) if isinstance(data, str) else data
    if "masks" not in dataset.facts:
        raise UserError(
            f"{dataset.text} has no masks to cut objects out by; use coco:, ovis:, voc:…?masks=true or a manifest"
        )
    if target is None and not chosen.without:
        raise UserError(
            "expected --target DATA, whose classes the occluders must not have, or --without with such classes"
        )
    other = load_data(target) if isinstance(target, str) else target
    numbers = absent_classes(dataset.classes, other.classes if other else (), chosen, dataset.text)
    facts = {
        "schema": "snellen/occluders/1",
        "data": dataset.text,
        "data_fingerprint": dataset.fingerprint,
        "target": None if other is None else other.text,
        "classes": [dataset.classes[number] for number in numbers],
        **{name: list(value) if isinstance(value, tuple) else value for name, value in asdict(chosen).items()},
    }
    to = Destination(expand_home(out), facts, FACTS, "folder of cut-outs built by snellen", ("schema", "data"))
    with to.writing() as missing:
        if missing:
            _build(_Job(dataset, numbers, chosen, to), workers, quiet)
    return _built(to.out)


class _Summary(msgspec.Struct):
    """counts.json: what `Built` tells of a folder that is complete."""

    classes: dict[str, Count]
    rejected: dict[str, Count]
    left_out: list[str]
    warnings: list[str]


def _built(out: Path) -> Built:
    return Built(out, **msgspec.structs.asdict(read_summary(out, _Summary)))


@dataclass(frozen=True)
class _Job:
    """What is cut out: the images, the numbers of the classes, how, and where to."""

    data: Dataset
    numbers: Sequence[int]
    settings: Settings
    to: Destination
    names: list[str] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "names", names_of(self.data.samples.ids))

    @property
    def pool(self) -> Path:
        return self.to.part / POOL

    def category(self, row: int) -> str:
        """The class of an object."""
        return self.data.classes[int(self.data.samples.labels[row])]

    def file(self, row: int) -> str:
        """The path of a cut-out in the folder."""
        return f"{class_folder(self.category(row))}/{self.names[row]}.png"

    def order(self, number: int) -> list[int]:
        """The objects of a class, in the order in which they are tried."""
        ids = self.data.samples.ids
        rows = [row for row, label in enumerate(self.data.samples.labels.tolist()) if label == number]
        return sorted(rows, key=lambda row: rank(self.settings.seed, "occluders", ids[row]))


def _build(job: _Job, workers: int | None, quiet: bool) -> None:
    cuts: dict[int, Cut] = {}
    left = {number: job.order(number) for number in job.numbers}
    total = sum(min(job.settings.per_class, len(rows)) for rows in left.values())
    with crew(workers) as spread, show_progress(total, quiet) as advance:
        while wanted := _next(left, cuts, job):
            earlier = {row: one for row in wanted if (one := _earlier(job, row)) is not None}
            cuts |= earlier
            new = _tasks(job, [row for row in wanted if row not in earlier])
            for cut in spread(partial(cut_object, job.settings, job.to.part, job.pool), new):
                cuts[cut.row] = cut
            advance(sum(not cuts[row].reason for row in wanted))
    if all(one.reason for one in cuts.values()):
        reasons = Counter(one.reason for one in cuts.values()).most_common()
        raise UserError(
            f"no object could be cut out: {', '.join(f'{count:,} {reason}' for reason, count in reasons) or 'none is there'}"
        )
    _write(job, [cuts[row] for row in sorted(cuts)])
    shutil.rmtree(job.pool, ignore_errors=True)
    job.to.finish()


def _next(left: dict[int, list[int]], cuts: Mapping[int, Cut], job: _Job) -> list[int]:
    """The objects to try now: of each class as many as it still lacks. They are taken off those that are left."""
    have = Counter(int(job.data.samples.labels[row]) for row, one in cuts.items() if not one.reason)
    wanted = []
    for number, rows in left.items():
        lack = job.settings.per_class - have[number]
        wanted += rows[:lack]
        left[number] = rows[lack:]
    return wanted


def _tasks(job: _Job, rows: Sequence[int]) -> Iterator[Task]:
    """The objects with their photos, read as they are needed."""
    for start in range(0, len(rows), job.data.chunk):
        some = rows[start : start + job.data.chunk]
        for row, photo in zip(some, job.data.read(some)):
            yield Task(row, photo, job.file(row))


def _earlier(job: _Job, row: int) -> Cut | None:
    """What an earlier run made of an object; None where it is to be done, also because its file may have come since."""
    cuts = read_rows(portion_file(job.pool, row), Cut)
    fits = cuts is not None and len(cuts) == 1 and cuts[0].row == row and cuts[0].reason != UNREAD
    return cuts[0] if fits and cuts and (cuts[0].reason or job.to.has(job.file(row))) else None


def _write(job: _Job, cuts: Sequence[Cut]) -> None:
    """The tables and the contact sheet."""
    taken = [one for one in cuts if not one.reason]
    rejects = [one for one in cuts if one.reason]
    job.to.write("occluders.csv", table(INDEX, (_index_row(job, one) for one in taken)))
    rows = ((job.data.samples.ids[one.row], job.category(one.row), one.reason, one.detail) for one in rejects)
    cells = ([plain_cell(storable(cell)) for cell in row] for row in rows)
    job.to.write("rejected.csv", table(REJECT, (dict(zip(REJECT, row)) for row in cells)))
    own = Counter(job.category(one.row) for one in taken)
    classes = {job.data.classes[number]: own[job.data.classes[number]] for number in job.numbers}
    listed = ({"class": name, "images": count} for name, count in classes.items())
    job.to.write("counts.csv", table(("class", "images"), listed))
    tiles = [Tile(_pixels(job, one), f"{job.category(one.row)}\n{one.pixels:,} px") for one in taken[:MOST_TILES]]
    job.to.write(SHEET, contact_sheet(tiles, f"{len(taken):,} cut-outs"))
    summary = {
        "classes": classes,
        "rejected": dict(sorted(Counter(one.reason for one in rejects).items())),
        "left_out": [name for number, name in enumerate(job.data.classes) if number not in job.numbers],
        "warnings": _warnings(classes, len(taken)),
    }
    job.to.write(SUMMARY, encode_json(summary, indent=1))


def _index_row(job: _Job, one: Cut) -> dict[str, Any]:
    facts = (job.file(one.row), job.category(one.row), job.data.samples.ids[one.row])
    return dict(zip(INDEX, (*map(storable, facts), one.pixels, one.width, one.height, one.source)))


def _pixels(job: _Job, one: Cut) -> Any:
    import numpy as np

    file = job.to.part / job.file(one.row)
    with open_image(read_image(file, "cut-out")) as image:
        return np.asarray(image.convert("RGBA"))


def _warnings(classes: Mapping[str, int], count: int) -> list[str]:
    lines = []
    if empty := [name for name, images in classes.items() if not images]:
        lines.append(f"no cut-outs of {', '.join(empty[:20])}")
    if count > MOST:
        lines.append(f"{count:,} cut-outs; distortions use {MOST} of them, chosen by a hash of their names")
    return lines
