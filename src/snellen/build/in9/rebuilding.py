"""A built set after people have looked at it: without what they rejected, with the boxes and masks that they mended.

Nothing is segmented or scaled again. A file is copied, byte for byte, where the mask, the box and the borrowed background that it
shows are as they were; else it is made of the stored original. An image whose lender is gone draws another among those that are
left, as a build of these would; all others keep theirs.
"""

from __future__ import annotations

import io
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from snellen.atomic import write_atomic
from snellen.build.in9.building import In9Built, balanced, draw_lenders
from snellen.build.in9.curation import Mend, read_curation
from snellen.build.in9.manifests import In9Outcome, write_manifests
from snellen.build.in9.pool import In9Verdict, keep_image
from snellen.build.in9.rejections import write_rejections
from snellen.build.in9.request import In9Request, RebuildRequest
from snellen.build.in9.stored_set import earlier_list, read_set
from snellen.build.in9.variants import Order, encode_variant, files_of, portrait, variant
from snellen.build.runner import Builder, Site
from snellen.data.dataset import Dataset, Unreadable
from snellen.data.in9.layout import FACTS, MASKS, PROVENANCE
from snellen.data.in9.reading import load_in9
from snellen.data.root import Root
from snellen.distort.background import MIXED
from snellen.errors import UserError
from snellen.files import expand_home, read_bytes
from snellen.hashing import key_of

if TYPE_CHECKING:
    from snellen.data.dataset import Photo

BOXED, MASKED = ("only_bg_b", "only_bg_t"), ("no_fg", "only_fg", "bg_blurred")  # what a variant depends on


@dataclass(frozen=True)
class Revision:
    """An image of the new set: the order by which its files were written, the one they have now, and which variants are made
    again; all others, and its mask unless that is `mended`, are copied."""

    before: Order
    now: Order
    again: frozenset[str]
    mended: bool


class In9Rebuild(Builder[In9Built]):
    """The set that is left of a built one by a list of people's decisions."""

    facts_file = FACTS
    inputs = ("curated_fingerprint", "curation")
    built = In9Built

    def __init__(self, request: RebuildRequest) -> None:
        self.request: RebuildRequest = request
        assert request.data is not None
        self.stored = read_set(expand_home(request.data))
        self.set_request = replace(self.stored.request, balance=request.balance and self.stored.request.balance)
        earlier = read_curation(earlier_list(self.stored.folder))
        self.curation = read_curation(request.curation)
        self._check_list()
        self.rejects = {**earlier.rejects, **self.curation.rejects}
        self.facts = {
            **self.stored.facts,
            "balance": self.set_request.balance,
            "curation": key_of([*sorted(self.rejects.items()), *self.curation.content]),
            "curated": str(request.data),
            "curated_fingerprint": self.stored.fingerprint,
        }

    def _check_list(self) -> None:
        names = {verdict.name for verdict in self.stored.verdicts}
        known = names | {verdict.name for verdict in self.stored.refused}
        stranger = next((name for name in sorted(self.curation.named) if name not in known), None)
        if stranger is not None:
            raise UserError(
                f"{self.request.curation} names '{stranger[:80]}', and {self.stored.folder} has no such image; "
                f"ids are those of its curation.csv"
            )
        gone = next((name for name in sorted(self.curation.mends) if name not in names), None)
        if gone is not None:
            raise UserError(
                f"{self.request.curation} mends '{gone[:80]}', which is not in the set; only images in it can be"
            )
        self.curation.check_size(self.set_request.size, self.set_request.size, self.request.curation)

    def former(self) -> dict[str, Any]:
        """No earlier version rebuilt sets."""
        return self.facts

    def make(self, site: Site) -> Mapping[str, Any]:
        stored, request = self.stored, self.set_request
        data = load_in9(str(stored.folder / "original"), {"split": request.split})
        changed = self._changed(data)
        verdicts = [self._judge(verdict, changed) for verdict in stored.verdicts]
        self._check_classes(verdicts)
        verdicts = balanced(verdicts, stored.label, stored.groups, request)
        accepted = [verdict for verdict in verdicts if not verdict.reason]
        orders = self._orders(accepted)
        revisions = [_revision(stored.orders[order.name], order, changed.get(order.name, Mend())) for order in orders]
        self._keep_sources(site.pool, data, revisions, changed)
        work = partial(write_revision, request, stored.folder, site.pool, site.to.part)
        for files in site.each(work, revisions, len(revisions)):
            site.to.own(*files)
        every = [*verdicts, *stored.refused]
        write_manifests(
            site.to, In9Outcome(orders, accepted, every, stored.label, self.rejects), stored.groups, request
        )
        out = [replace(verdict, source=verdict.name) for verdict in verdicts]
        counts = Counter(verdict.reason for verdict in verdicts if verdict.reason)
        write_rejections(site.to, data, out, counts, len(verdicts), len(stored.refused))
        own = Counter(stored.groups.classes[stored.label[verdict.name]] for verdict in accepted)
        return {
            "classes": {name: own[name] for name in stored.groups.classes},
            "judged": len(every),
            "rejected": dict(sorted(Counter(verdict.reason for verdict in every if verdict.reason).items())),
        }

    def _check_classes(self, verdicts: Sequence[In9Verdict]) -> None:
        """Refuse a list that leaves a class without images."""
        left = {self.stored.label[verdict.name] for verdict in verdicts if not verdict.reason}
        empty = [name for label, name in enumerate(self.stored.groups.classes) if label not in left]
        if empty:
            raise UserError(
                f"{self.request.curation} leaves no image of class '{empty[0]}' in {self.stored.folder}; accept some of it, or "
                "build a set without that class"
            )

    def _judge(self, verdict: In9Verdict, changed: Mapping[str, Mend]) -> In9Verdict:
        """An image of the set, with what people changed of it, or rejected."""
        if verdict.name in self.rejects:
            return replace(verdict, reason="curation", detail=self.rejects[verdict.name])
        mend = changed.get(verdict.name, Mend())
        if mend.mask is not None:
            verdict = replace(verdict, mask_share=float(mend.mask.mean()), seed=-1)
        return verdict if mend.box is None else replace(verdict, box=mend.box)

    def _changed(self, data: Dataset) -> dict[str, Mend]:
        """What the list really changes: a mask or a box that is as it was changes nothing."""
        changed: dict[str, Mend] = {}
        for name, mend in self.curation.mends.items():
            box = None if mend.box == self.stored.orders[name].box else mend.box
            mask = mend.mask
            if mask is not None and np.array_equal(mask, _photo(data, name).maps["mask"]):
                mask = None
            if box is not None or mask is not None:
                changed[name] = Mend(box, mask)
        return changed

    def _orders(self, accepted: Sequence[In9Verdict]) -> list[Order]:
        """What to write of each image: lenders stay while they are in the set; others are drawn as a build of it draws them."""
        stored, box = self.stored, {verdict.name: verdict.box for verdict in accepted}
        fresh = draw_lenders(accepted, stored.label, len(stored.groups.classes), self.set_request)
        orders = []
        for verdict, names in zip(accepted, fresh):
            before = stored.orders[verdict.name]
            former = {kind: lender for kind, (lender, _) in before.lenders.items() if lender in box}
            lenders = {kind: former.get(kind, name) for kind, name in names.items()}
            lent = {kind: (lender, box[lender]) for kind, lender in lenders.items()}
            orders.append(Order(verdict.name, before.folder, verdict.box, lent))
        return orders

    def _keep_sources(
        self, pool: Path, data: Dataset, revisions: Sequence[Revision], changed: Mapping[str, Mend]
    ) -> None:
        """Put into the pool the images, with their masks as they are now, of which variants are made."""
        box = {revision.now.name: revision.now.box for revision in revisions}
        needed = {revision.now.name for revision in revisions if revision.again}
        needed |= {revision.now.lenders[kind][0] for revision in revisions for kind in revision.again if kind in MIXED}
        for name in sorted(needed):
            photo, mask = _photo(data, name), changed.get(name, Mend()).mask
            image = np.ascontiguousarray(photo.image.transpose(2, 0, 1))
            keep_image(pool, In9Verdict(name, name, box=box[name]), image, photo.maps["mask"] if mask is None else mask)


def _photo(data: Dataset, name: str) -> Photo:
    """An original of the set with its mask."""
    photo = data.read([data.samples.rows[name]])[0]
    if isinstance(photo, Unreadable) or "mask" not in photo.maps:
        why = photo.reason if isinstance(photo, Unreadable) else "there is no mask of it"
        raise UserError(f"{data.text}: '{name[:80]}' cannot be read: {why}; build the set again, or reject the image")
    return photo


def _revision(before: Order, now: Order, mend: Mend) -> Revision:
    """Which variants of an image are made again."""
    mixed = {kind for kind, lender in now.lenders.items() if before.lenders.get(kind) != lender}
    again = {*mixed, *(BOXED if mend.box is not None else ())}
    if mend.mask is not None:
        again |= {*MASKED, *now.lenders}
    return Revision(before, now, frozenset(again), mend.mask is not None)


def write_revision(request: In9Request, source: Path, pool: Path, out: Path, revision: Revision) -> list[str]:
    """Write the files of an image into the folder `out`; their paths in the set."""
    written = list(_written(request, source, pool, revision))
    for name, content in written:
        write_atomic(out / name, content())
    return [name for name, _ in written]


def _written(
    request: In9Request, source: Path, pool: Path, revision: Revision
) -> Iterator[tuple[str, Callable[[], bytes]]]:
    """Each file of an image, and what gives its content."""
    order, root = revision.now, Root(source, "a set of one folder")
    before = files_of(revision.before, request)
    for kind, file in files_of(order, request).items():
        if kind in revision.again:
            yield file, partial(_encoded, kind, order, request, pool)
        else:
            yield file, partial(_stored, root.find(before[kind], PROVENANCE))
    mask = f"{MASKS}/{request.split}/{order.folder}/{order.name}.npy"
    yield mask, partial(_mask, pool, order) if revision.mended else partial(_stored, root.find(mask, PROVENANCE))


def _encoded(kind: str, order: Order, request: In9Request, pool: Path) -> bytes:
    return encode_variant(variant(kind, portrait(pool, order.name, order.box), order, request, pool), request)


def _stored(file: Path) -> bytes:
    return read_bytes(file, "image of the set")


def _mask(pool: Path, order: Order) -> bytes:
    content = io.BytesIO()
    np.save(content, portrait(pool, order.name, order.box).mask[0].numpy().astype(np.uint8))
    return content.getvalue()
