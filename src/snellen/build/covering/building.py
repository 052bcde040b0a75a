"""Build a set of images under occluders from images with masks."""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

import msgspec

from snellen.build.counting import show_progress
from snellen.build.covering.portion import EVERY_TYPE, UNREAD, Candidate, Entry, Portion, cover_portion
from snellen.build.covering.settings import Settings
from snellen.build.covering.tables import Outcome, group_of, write_tables
from snellen.build.crew import crew
from snellen.build.destination import Destination, encode_json
from snellen.build.file_names import names_of
from snellen.build.portion_file import POOL, portion_file, read_rows
from snellen.build.summary import SUMMARY, Count, as_json, read_summary
from snellen.data import load_data
from snellen.data.dataset import Dataset, limited
from snellen.data.in9.layout import folders
from snellen.data.occluders import read_occluders
from snellen.data.ovis.levels import stated_level
from snellen.distort import Distortion
from snellen.errors import UserError
from snellen.files import expand_home

TRAIN, TEST = "train", "val"
OCCLUDED, UNKNOWN_CLASS = "occluded already", "unknown class"
PORTION = 8  # images
FEW = 0.5  # of the images of a type: with fewer a user is told


@dataclass(frozen=True)
class Built:
    """A set: its folder, images by split and by type, what was not taken by reason, and what to look at."""

    out: Path
    images: Mapping[str, int]
    types: Mapping[str, int]
    rejected: Mapping[str, int]
    warnings: Sequence[str]

    @property
    def json(self) -> str:
        """The same as JSON."""
        return as_json(self)


@dataclass(frozen=True)
class Sides:
    """The images to cover, by split, and how many of each were to be taken at most."""

    data: Mapping[str, Dataset]
    limit: int | None

    @classmethod
    def of(cls, data: str | Dataset | None, train: str | Dataset | None, limit: int | None) -> Sides:
        """The images to test and to train with; they must have masks."""
        sides = {split: one for split, one in ((TRAIN, train), (TEST, data)) if one is not None}
        if not sides:
            raise UserError("expected images to cover: --data DATA, --train DATA or both")
        known = {split: load_data(one) if isinstance(one, str) else one for split, one in sides.items()}
        for one in known.values():
            if "masks" not in one.facts:
                raise UserError(
                    f"{one.text} has no masks, so how much of an object is hidden cannot be known; use data with masks, such as "
                    "the index of snellen build iruo, coco:, voc:…?masks=true or a manifest with a column 'mask'"
                )
        return cls({split: limited(one, limit) for split, one in known.items()}, limit)

    @property
    def classes(self) -> tuple[str, ...]:
        """The classes of all sides."""
        return tuple(dict.fromkeys(name for one in self.data.values() for name in one.classes))


class _Summary(msgspec.Struct):
    """counts.json: what `Built` tells of a set that is complete."""

    images: dict[str, Count]
    types: dict[str, Count]
    rejected: dict[str, Count]
    warnings: list[str]


@dataclass(frozen=True)
class _Job:
    """What is built: the images, the occluders by type, how, and where to."""

    sides: Sides
    kinds: Mapping[str, Distortion]
    settings: Settings
    to: Destination

    @property
    def pool(self) -> Path:
        return self.to.part / POOL


def build_covered(sides: Sides, settings: Settings, out: str | Path, workers: int | None, quiet: bool) -> Built:
    """Cover every image of both sides by every occluder of the settings, into the folder `out`."""
    kinds = settings.distortions()
    name = settings.set_name
    facts = {
        "schema": f"snellen/{name}/1",
        "data": {split: one.text for split, one in sides.data.items()},
        "data_fingerprints": {split: one.fingerprint for split, one in sides.data.items()},
        "limit": sides.limit,
        **{field: list(value) if isinstance(value, tuple) else value for field, value in asdict(settings).items()},
        "distortions": {type: f"{distortion} version {distortion.version}" for type, distortion in kinds.items()},
        "classes": list(sides.classes),
    }
    folder = getattr(settings, "occluders", None)
    if folder is not None:
        facts["occluders_fingerprint"] = read_occluders(folder).fingerprint
    to = Destination(expand_home(out), facts, f"{name}.json", "set built by snellen", ("schema", "data"))
    with to.writing() as missing:
        if missing:
            job = _Job(sides, kinds, settings, to)
            _build(job, workers, quiet)
    return _built(to.out)


def _built(out: Path) -> Built:
    return Built(out, **msgspec.structs.asdict(read_summary(out, _Summary)))


def _build(job: _Job, workers: int | None, quiet: bool) -> None:
    entries: list[Entry] = []
    candidates: dict[tuple[str, int], Candidate] = {}
    total = sum(map(len, job.sides.data.values()))
    with crew(workers) as spread, show_progress(total, quiet) as advance:
        missing = []
        for portion in _portions(job):
            candidates |= {(one.split, one.row): one for one in portion.candidates}
            earlier = _earlier(job, portion)
            if earlier is None:
                missing.append(portion)
            else:
                entries += earlier
                advance(len(portion.candidates))
        work = partial(cover_portion, job.settings, job.kinds, job.to.part, job.pool)
        for portion, new in spread(work, (_with_photos(job, one) for one in missing)):
            entries += new
            advance(len(portion.candidates))
    order = {split: place for place, split in enumerate(job.sides.data)}
    entries.sort(key=lambda one: (order[one.split], one.row))  # stable: the types stay in their order
    outcome = Outcome(job.sides.data, candidates, entries, job.kinds)
    if not any(one.type != "none" for one in outcome.images):
        reasons = ", ".join(f"{count:,} {reason}" for reason, count in outcome.rejected.most_common())
        raise UserError(f"no covered image is left: {reasons or 'no type but none is chosen'}")
    write_tables(job.to, outcome, job.settings)
    job.to.write(SUMMARY, encode_json(_summary(outcome, job.settings), indent=1))
    shutil.rmtree(job.pool, ignore_errors=True)
    job.to.finish()


def _portions(job: _Job) -> Iterator[Portion]:
    """All images, a few at a time, not yet read."""
    folder = dict(zip(job.sides.classes, folders(job.sides.classes)))
    number = 0
    for split, data in job.sides.data.items():
        names = names_of(data.samples.ids)
        for start in range(0, len(data), PORTION):
            candidates = []
            for row in range(start, min(start + PORTION, len(data))):
                label = int(data.samples.labels[row])
                own = folder[data.classes[label]] if label >= 0 else ""
                reason, detail = _refuse(data, row, job.settings)
                candidates.append(
                    Candidate(row, data.samples.ids[row], split, own, names[row], reason=reason, detail=detail)
                )
            yield Portion(number, candidates)
            number += 1


def _refuse(data: Dataset, row: int, settings: Settings) -> tuple[str, str]:
    """Why an image is not taken, by the listing alone."""
    if data.samples.labels[row] < 0:
        return UNKNOWN_CLASS, "it has no label"
    level = data.samples.columns.get("level")
    if level is not None and not settings.occluded and (stated_level(str(level[row])) or 0) > 0:
        return OCCLUDED, f"its level is {level[row]}; allow with --occluded"
    return "", ""


def _with_photos(job: _Job, portion: Portion) -> Portion:
    """The portion with its photos, read now."""
    wanted = [one for one in portion.candidates if not one.reason]
    data = job.sides.data[portion.candidates[0].split]
    photos = dict(zip((one.row for one in wanted), data.read([one.row for one in wanted]))) if wanted else {}
    return Portion(
        portion.number, [Candidate(**{**vars(one), "photo": photos.get(one.row)}) for one in portion.candidates]
    )


def _earlier(job: _Job, portion: Portion) -> list[Entry] | None:
    """What an earlier run made of a portion; None where it is to be done, also because a file may have come since."""
    entries = read_rows(portion_file(job.pool, portion.number), Entry)
    if entries is None or any(one.reason == UNREAD or one.type not in (EVERY_TYPE, *job.kinds) for one in entries):
        return None
    known = [(one.split, one.row) for one in portion.candidates]
    return entries if list(dict.fromkeys((one.split, one.row) for one in entries)) == known else None


def _summary(outcome: Outcome, settings: Settings) -> dict[str, Any]:
    images = outcome.images
    types = Counter(one.type for one in images)
    return {
        "images": {split: sum(one.split == split for one in images) for split in outcome.data},
        "types": {type: types[type] for type in outcome.kinds},
        "rejected": dict(sorted(outcome.rejected.items())),
        "warnings": [*settings.notes(), *_warnings(outcome, types)],
    }


def _warnings(outcome: Outcome, types: Mapping[str, int]) -> list[str]:
    """Lines on types that few images are left of, classes without any, and images of both sides."""
    lines = []
    whole = types["none"]
    few = {type: types[type] for type in outcome.kinds if types[type] < FEW * whole}
    if few:
        listed = ", ".join(f"{type} ({count:,})" for type, count in few.items())
        lines.append(f"fewer than half of {whole:,} images are left of {listed}; see rejected.csv")
    for split, data in outcome.data.items():
        there = {outcome.label(one) for one in outcome.images if one.split == split}
        empty = [name for name in data.classes if name not in there]
        if empty:
            lines.append(f"no images of {', '.join(empty[:20])} in {split}")
    groups = [
        {group_of(data, row) for row in {one.row for one in outcome.images if one.split == split}}
        for split, data in outcome.data.items()
    ]
    if len(groups) == 2 and (both := groups[0] & groups[1]):
        lines.append(f"{len(both):,} images or videos are in both {TRAIN} and {TEST}, such as {sorted(both)[0]}")
    return lines
