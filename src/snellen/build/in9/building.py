"""Build all variants of ImageNet-9 from any images with boxes."""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from snellen.build.counting import show_progress
from snellen.build.crew import crew
from snellen.build.destination import Destination, encode_json
from snellen.build.file_names import names_of
from snellen.build.in9.curation import read_curation
from snellen.build.in9.grouping import Grouping, group_classes, rank
from snellen.build.in9.judging import Candidate, judge, mask_model
from snellen.build.in9.manifests import Outcome, write_manifests
from snellen.build.in9.masks import with_masks
from snellen.build.in9.pool import Verdict, read_verdict
from snellen.build.in9.rejections import write_rejections
from snellen.build.in9.settings import Settings, as_published
from snellen.build.in9.variants import Order, write_files
from snellen.build.portion_file import POOL
from snellen.build.summary import SUMMARY, Count, as_json, read_summary
from snellen.data import load_data
from snellen.data.dataset import Dataset, limited
from snellen.data.in9.layout import FACTS, folders
from snellen.distort.background import MIXED
from snellen.distort.lenders import Lenders
from snellen.distort.view import View
from snellen.errors import UserError
from snellen.extras import import_package
from snellen.files import expand_home
from snellen.hashing import key_of

CROWDED_OUT = "over-represented"


@dataclass(frozen=True)
class Built:
    """A set: its folder, its classes with the images each has, how many were judged, and how many were not taken, by reason."""

    out: Path
    classes: Mapping[str, int]
    judged: int
    rejected: Mapping[str, int]

    @property
    def images(self) -> int:
        """The number of foregrounds, which each variant has once."""
        return sum(self.classes.values())

    @property
    def json(self) -> str:
        """The same as JSON."""
        return as_json(self, images=self.images)


def build(
    data: str | Dataset,
    out: str | Path,
    classes: str | Path | None = None,
    *,
    workers: int | None = None,
    limit: int | None = None,
    curation: str | Path | None = None,
    quiet: bool = True,
    published: bool = False,
    **settings: Any,
) -> Built:
    """Build every variant of the images of `data` that pass the filters into the folder `out`.

    `classes` is nine, all or a CSV file (see `group_classes`); `settings` are those of `Settings`, such as size=224. Any
    number of `workers` (processes; default one per core) gives the same bytes. `curation` names a list of images to leave
    out. `published` makes every choice as the paper did (`as_published`). A stopped build resumes; a finished one is left as
    it is.
    """
    chosen = Settings(**(as_published(settings) if published else settings))
    dataset = limited(load_data(data) if isinstance(data, str) else data, limit)
    if "boxes" not in dataset.facts and not chosen.all_images:
        raise UserError(
            f"{dataset.text} has no boxes; use voc:, coco: or boxes: data, or --all-images for the originals alone"
        )
    if chosen.masks is not None:
        dataset = with_masks(dataset, chosen.masks)
        if chosen.masks.startswith("python:"):
            mask_model(chosen.masks)  # a wrong name is refused before the first image
    groups = group_classes(dataset, classes, chosen.fine, chosen.seed)
    rejects = read_curation(curation)
    if limit is None:
        _check_rejects(rejects, dataset, curation)
    facts = {
        "schema": "snellen/in9/1",
        "data": dataset.text,
        "data_fingerprint": dataset.fingerprint,
        "limit": limit,
        "classes": list(groups.classes),
        "coarse_classes": list(groups.coarse),
        "grouping": key_of(groups.labels.tolist()),
        "curation": key_of(sorted(rejects.items())),
        **asdict(replace(chosen, fine=None)),
        "fine": list(chosen.fine) if chosen.fine else None,
    }
    to = Destination(expand_home(out), facts, FACTS, "set built by snellen", ("schema", "data"))
    if not (to.out / FACTS).exists():  # a finished set needs nothing
        _check_opencv(chosen)
    with to.writing() as missing:
        if missing:
            job = _Job(dataset, groups, chosen, rejects, to)
            _build(job, workers, quiet)
    return _built(to.out)


class _Counts(msgspec.Struct):
    """counts.json: what `Built` tells of a set that is complete."""

    classes: dict[str, Count]
    judged: Count
    rejected: dict[str, Count]


def _built(out: Path) -> Built:
    counts = read_summary(out, _Counts)
    return Built(out, counts.classes, counts.judged, counts.rejected)


def _check_opencv(settings: Settings) -> None:
    """Refuse a build that would stop at its first image for want of OpenCV."""
    if settings.all_images:
        return
    if settings.masks is None:
        import_package("cv2", "build in9 without --masks")
    elif settings.inpaint != "tile":
        import_package("cv2", f"build in9 --inpaint {settings.inpaint}")


@dataclass(frozen=True)
class _Job:
    """What is built: the images, their classes, how, which of them people have rejected (name → reason), and where to."""

    data: Dataset
    groups: Grouping
    settings: Settings
    rejects: Mapping[str, str]
    to: Destination


def _build(job: _Job, workers: int | None, quiet: bool) -> None:
    data, groups, settings, to = job.data, job.groups, job.settings, job.to
    rows = np.flatnonzero((groups.labels >= 0) | _classless(data))
    names = names_of([data.samples.ids[row] for row in rows])
    label = dict(zip(names, groups.labels[rows].tolist()))
    pool = to.part / POOL
    verdicts: list[Verdict] = []
    with crew(workers) as spread:
        with show_progress(len(rows), quiet) as advance:
            by_name = {name: read_verdict(pool, name) for name in names}
            new = [(row, name) for row, name in zip(rows.tolist(), names) if by_name[name] is None]
            for verdict in spread(partial(_judge, settings, pool), _candidates(data, new)):
                by_name[verdict.name] = verdict
                advance(1)
            verdicts = [verdict for name in names if (verdict := by_name[name]) is not None]
        verdicts = [_apply_curation(verdict, job.rejects) for verdict in verdicts]
        verdicts = _balance(verdicts, label, groups, settings)
        accepted = sorted((v for v in verdicts if not v.reason), key=lambda verdict: verdict.name)
        orders = _orders(accepted, label, groups, settings)
        with show_progress(len(orders), quiet) as advance:
            for _ in spread(partial(_write, settings, pool, to.part), orders):
                advance(1)
    write_manifests(to, Outcome(orders, accepted, verdicts, label, job.rejects), groups, settings)
    rejected = Counter(verdict.reason for verdict in verdicts if verdict.reason)
    write_rejections(to, data, verdicts, rejected, len(rows), len(data) - len(rows))
    own = Counter(groups.classes[label[verdict.name]] for verdict in accepted)
    counts = {
        "classes": {name: own[name] for name in groups.classes},
        "judged": len(rows),
        "rejected": dict(sorted(rejected.items())),
    }
    to.write(SUMMARY, encode_json(counts, indent=1))
    shutil.rmtree(pool, ignore_errors=True)
    to.finish()


def _judge(settings: Settings, pool: Path, candidate: Candidate) -> Verdict:
    return judge(candidate, settings, pool)


def _write(settings: Settings, pool: Path, out: Path, order: Order) -> str:
    return write_files(order, settings, pool, out)


def _candidates(data: Dataset, rows: Sequence[tuple[int, str]]) -> Iterator[Candidate]:
    """The images to judge, read as they are needed."""
    annotated = data.samples.columns.get("annotated")
    for start in range(0, len(rows), data.chunk):
        some = rows[start : start + data.chunk]
        for (row, name), photo in zip(some, data.read([row for row, _ in some])):
            there = annotated is None or bool(annotated[row])
            yield Candidate(data.samples.ids[row], name, photo, there, bool(data.samples.labels[row] >= 0))


def _classless(data: Dataset) -> np.ndarray:
    """bool [N]: whose class is not known because no annotation names an object: they are rejected, not passed over."""
    objects = data.samples.columns.get("objects")
    return np.zeros(len(data), bool) if objects is None else (data.samples.labels < 0) & (objects == 0)


def _check_rejects(rejects: Mapping[str, str], data: Dataset, file: str | Path | None) -> None:
    """Refuse a list of which not one image is in the data: it belongs to another set."""
    if rejects and not rejects.keys() & set(names_of(data.samples.ids)):
        raise UserError(
            f"{file} rejects '{next(iter(rejects))}', …, and no image of {data.text}; ids are those of curation.csv"
        )


def _apply_curation(verdict: Verdict, rejects: Mapping[str, str]) -> Verdict:
    """An image that people have rejected is not taken."""
    if verdict.reason or verdict.name not in rejects:
        return verdict
    return replace(verdict, reason="curation", detail=rejects[verdict.name])


def _balance(verdicts: list[Verdict], label: Mapping[str, int], groups: Grouping, settings: Settings) -> list[Verdict]:
    """The verdicts after each class is cut to the smallest, at random by the seed; no class may be empty."""
    own: list[list[Verdict]] = [[] for _ in groups.classes]
    for verdict in verdicts:
        if not verdict.reason:
            own[label[verdict.name]].append(verdict)
    empty = [number for number, members in enumerate(own) if not members]
    if empty:
        raise UserError(_describe_empty(empty, verdicts, label, groups))
    if not settings.balance:
        return verdicts
    least = min(map(len, own))
    spare: set[str] = set()
    for members in own:
        spare |= {v.name for v in sorted(members, key=lambda v: rank(settings.seed, "balance", v.name))[least:]}
    detail = f"the smallest class has {least}"
    return [replace(v, reason=CROWDED_OUT, detail=detail) if v.name in spare else v for v in verdicts]


def _describe_empty(
    empty: Sequence[int], verdicts: Sequence[Verdict], label: Mapping[str, int], groups: Grouping
) -> str:
    parts = []
    for number in empty:
        why = Counter(verdict.reason for verdict in verdicts if label[verdict.name] == number)
        reasons = ", ".join(f"{count} {reason}" for reason, count in why.most_common())
        parts.append(f"'{groups.classes[number]}' ({reasons or 'none in the data'})")
    which = "class" if len(empty) == 1 else f"{len(empty)} classes:"
    return f"no images are left of {which} {'; '.join(parts)}; leave it out (--classes, ?without=), or add images of it"


def _orders(accepted: Sequence[Verdict], label: Mapping[str, int], groups: Grouping, settings: Settings) -> list[Order]:
    """What to write of each image; lenders are drawn as the distortion draws them on the fly."""
    names = [verdict.name for verdict in accepted]
    labels = np.array([label[name] for name in names], np.int64)
    folder, box = folders(groups.classes), {verdict.name: verdict.box for verdict in accepted}
    lenders_by_kind = {}
    if not settings.all_images:
        lenders, view = Lenders(names, labels, len(groups.classes)), View.of(names, settings.seed)
        lenders_by_kind = {kind: lenders.choose(view.draw, labels, kind, settings.own) for kind in MIXED}
    orders = []
    for row, verdict in enumerate(accepted):
        lender_names = {kind: names[rows[row]] for kind, rows in lenders_by_kind.items() if rows[row] >= 0}
        lenders_of_image = {kind: (name, box[name]) for kind, name in lender_names.items()}
        orders.append(Order(verdict.name, folder[label[verdict.name]], verdict.box, lenders_of_image))
    return orders
