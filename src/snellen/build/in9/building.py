"""Build all variants of ImageNet-9 from any images with boxes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from snellen.build.content import content_key
from snellen.build.encode import encode_json, names_of
from snellen.build.in9.curation import CurationList, read_curation
from snellen.build.in9.grouping import Grouping, group_classes, rank
from snellen.build.in9.judging import In9Candidate, candidate_content, judge, mask_model
from snellen.build.in9.manifests import In9Outcome, write_manifests
from snellen.build.in9.masks import with_masks
from snellen.build.in9.pool import In9Verdict, read_verdict
from snellen.build.in9.rejections import PAGE, write_rejections
from snellen.build.in9.request import In9Request
from snellen.build.in9.variants import Order, write_files
from snellen.build.runner import Amount, Builder, Built, Site, not_taken
from snellen.data import as_data
from snellen.data.dataset import Dataset, limited
from snellen.data.in9.layout import FACTS, folders
from snellen.distort.background import MIXED
from snellen.distort.lenders import Lenders
from snellen.distort.view import View
from snellen.errors import UserError, choice, option
from snellen.extras import import_package
from snellen.hashing import key_of

CROWDED_OUT = "over-represented"


@dataclass(frozen=True)
class In9Built(Built):
    """A set: its folder, its classes with the images each has, how many were judged, and how many were not taken, by reason."""

    classes: Mapping[str, Amount]
    judged: Amount
    rejected: Mapping[str, Amount]

    @property
    def images(self) -> int:
        """The number of foregrounds, which each variant has once."""
        return sum(self.classes.values())

    @property
    def json(self) -> str:
        values = {**asdict(self), "out": str(self.out), "images": self.images}
        return encode_json(values, indent=1).decode().rstrip()

    @property
    def lines(self) -> list[str]:
        total = f"{self.images:,} of {self.judged:,} images in {len(self.classes)} classes: {self.out}"
        return [total, not_taken(self.rejected, self.out / PAGE)]


class In9Set(Builder[In9Built]):
    """Variants of images with boxes: the images, their classes, and which of them people have rejected (name → reason)."""

    facts_file = FACTS
    inputs = ("data_fingerprint", "classes", "coarse_classes", "grouping", "curation")
    built = In9Built

    def __init__(self, request: In9Request) -> None:
        self.request: In9Request = request
        assert request.data is not None
        data = limited(as_data(request.data), request.limit)
        if "boxes" not in data.facts and not request.all_images:
            raise UserError(
                f"{data.text} has no boxes; use voc:, coco: or boxes: data, or {option('all_images')} for the originals alone"
            )
        if request.masks is not None:
            data = with_masks(data, request.masks)
            if request.masks.startswith("python:"):
                mask_model(request.masks)  # a wrong name is refused before the first image
        self.data = data
        self.groups = group_classes(data, request.classes, request.sub_classes, request.seed)
        self.curation = read_curation(request.curation)
        self.curation.check_size(request.size, request.size, request.curation)
        if request.limit is None:
            _check_ids(self.curation, data, request.curation)
        self.facts = {
            "schema": "snellen/in9/1",
            "data": data.text,
            "data_fingerprint": data.fingerprint,
            "limit": request.limit,
            "classes": list(self.groups.classes),
            "coarse_classes": list(self.groups.coarse),
            "grouping": key_of(self.groups.labels.tolist()),
            "curation": key_of(self.curation.content),
            **request.choices(),
        }

    def check(self) -> None:
        """Refuse a build that would stop at its first image for want of OpenCV."""
        if self.request.all_images:
            return
        if self.request.masks is None:
            import_package("cv2", f"build in9 without {option('masks')}")
        elif self.request.inpaint != "tile":
            import_package("cv2", f"build in9 {choice('inpaint', self.request.inpaint)}")

    def make(self, site: Site) -> Mapping[str, Any]:
        data, groups, request = self.data, self.groups, self.request
        rows = np.flatnonzero((groups.labels >= 0) | _classless(data))
        names = names_of([data.samples.ids[row] for row in rows])
        label = dict(zip(names, groups.labels[rows].tolist()))
        verdicts = self._judge(site, rows.tolist(), names)
        verdicts = [_apply_curation(verdict, self.curation.rejects) for verdict in verdicts]
        verdicts = balanced(verdicts, label, groups, request)
        accepted = sorted((v for v in verdicts if not v.reason), key=lambda verdict: verdict.name)
        orders = _orders(accepted, label, groups, request)
        for files in site.each(partial(_write, request, site.pool, site.to.part), orders, len(orders)):
            site.to.own(*files)
        outcome = In9Outcome(orders, accepted, verdicts, label, self.curation.rejects)
        write_manifests(site.to, outcome, groups, request)
        rejected = Counter(verdict.reason for verdict in verdicts if verdict.reason)
        write_rejections(site.to, data, verdicts, rejected, len(rows), len(data) - len(rows))
        own = Counter(groups.classes[label[verdict.name]] for verdict in accepted)
        return {
            "classes": {name: own[name] for name in groups.classes},
            "judged": len(rows),
            "rejected": dict(sorted(rejected.items())),
        }

    def _judge(self, site: Site, rows: Sequence[int], names: Sequence[str]) -> list[In9Verdict]:
        """What becomes of each image; what became of it in an earlier run, if that read the same."""
        candidates = _candidates(self.data, list(zip(rows, names)), self.curation)
        work, recall = partial(_judge, self.request, site.pool), partial(_recall, self.request, site.pool)
        by_name = {verdict.name: verdict for verdict in site.each(work, candidates, len(names), recall)}
        return [by_name[name] for name in names]


def _judge(request: In9Request, pool: Path, candidate: In9Candidate) -> In9Verdict:
    return judge(candidate, request, pool)


def _recall(request: In9Request, pool: Path, candidate: In9Candidate) -> In9Verdict | None:
    """What an earlier run made of the same image."""
    verdict = read_verdict(pool, candidate.name)
    known = verdict is not None and verdict.content == candidate_content(candidate, request)
    return verdict if known else None


def _write(request: In9Request, pool: Path, out: Path, order: Order) -> list[str]:
    return write_files(order, request, pool, out)


def _candidates(data: Dataset, rows: Sequence[tuple[int, str]], curation: CurationList) -> Iterator[In9Candidate]:
    """The images to judge, read as they are needed."""
    annotated = data.samples.columns.get("annotated")
    for start in range(0, len(rows), data.chunk):
        some = rows[start : start + data.chunk]
        for (row, name), photo in zip(some, data.read([row for row, _ in some])):
            there = annotated is None or bool(annotated[row])
            classed, mend = bool(data.samples.labels[row] >= 0), curation.mends.get(name)
            yield In9Candidate(data.samples.ids[row], name, photo, there, classed, mend)


def _classless(data: Dataset) -> np.ndarray:
    """bool [N]: whose class is not known because no annotation names an object: they are rejected, not passed over."""
    objects = data.samples.columns.get("objects")
    return np.zeros(len(data), bool) if objects is None else (data.samples.labels < 0) & (objects == 0)


def _check_ids(curation: CurationList, data: Dataset, file: str | Path | None) -> None:
    """Refuse a list of which not one image is in the data: it belongs to another set."""
    if curation.named and not curation.named & set(names_of(data.samples.ids)):
        does, name = (
            ("rejects", next(iter(curation.rejects))) if curation.rejects else ("mends", next(iter(curation.mends)))
        )
        raise UserError(f"{file} {does} '{name}', …, and no image of {data.text}; ids are those of curation.csv")


def _apply_curation(verdict: In9Verdict, rejects: Mapping[str, str]) -> In9Verdict:
    """An image that people have rejected is not taken."""
    if verdict.reason or verdict.name not in rejects:
        return verdict
    return replace(verdict, reason="curation", detail=rejects[verdict.name])


def balanced(
    verdicts: list[In9Verdict], label: Mapping[str, int], groups: Grouping, request: In9Request
) -> list[In9Verdict]:
    """The verdicts after each class is cut to the smallest, at random by the seed; no class may be empty."""
    own: list[list[In9Verdict]] = [[] for _ in groups.classes]
    for verdict in verdicts:
        if not verdict.reason:
            own[label[verdict.name]].append(verdict)
    empty = [number for number, members in enumerate(own) if not members]
    if empty:
        raise UserError(_describe_empty(empty, verdicts, label, groups))
    if not request.balance:
        return verdicts
    least = min(map(len, own))
    spare: set[str] = set()
    for members in own:
        spare |= {v.name for v in sorted(members, key=lambda v: rank(request.seed, "balance", v.name))[least:]}
    detail = f"the smallest class has {least}"
    return [replace(v, reason=CROWDED_OUT, detail=detail) if v.name in spare else v for v in verdicts]


def _describe_empty(
    empty: Sequence[int], verdicts: Sequence[In9Verdict], label: Mapping[str, int], groups: Grouping
) -> str:
    parts = []
    for number in empty:
        why = Counter(verdict.reason for verdict in verdicts if label[verdict.name] == number)
        reasons = ", ".join(f"{count} {reason}" for reason, count in why.most_common())
        parts.append(f"'{groups.classes[number]}' ({reasons or 'none in the data'})")
    which = "class" if len(empty) == 1 else f"{len(empty)} classes:"
    return f"no images are left of {which} {'; '.join(parts)}; leave it out ({option('classes')}, ?without=), or add images of it"


def _orders(
    accepted: Sequence[In9Verdict], label: Mapping[str, int], groups: Grouping, request: In9Request
) -> list[Order]:
    """What to write of each image; lenders are drawn as the distortion draws them on the fly."""
    folder, box = folders(groups.classes), {verdict.name: verdict.box for verdict in accepted}
    content = {verdict.name: verdict.content for verdict in accepted}
    lenders_by_image = (
        [{}] * len(accepted) if request.all_images else draw_lenders(accepted, label, len(groups.classes), request)
    )
    orders = []
    for verdict, lender_names in zip(accepted, lenders_by_image):
        lenders_of_image = {kind: (name, box[name]) for kind, name in lender_names.items()}
        made_of = content_key(content[verdict.name], {kind: content[name] for kind, name in lender_names.items()})
        orders.append(Order(verdict.name, folder[label[verdict.name]], verdict.box, lenders_of_image, made_of))
    return orders


def draw_lenders(
    accepted: Sequence[In9Verdict], label: Mapping[str, int], classes: int, request: In9Request
) -> list[Mapping[str, str]]:
    """Who lends each image its background, by variant; a variant for which there is nobody is missing."""
    names = [verdict.name for verdict in accepted]
    labels = np.array([label[name] for name in names], np.int64)
    lenders, view = Lenders(names, labels, classes), View.of(names, request.seed)
    rows = {kind: lenders.choose(view.draw, labels, kind, request.own) for kind in MIXED}
    return [{kind: names[lent[row]] for kind, lent in rows.items() if lent[row] >= 0} for row in range(len(names))]
