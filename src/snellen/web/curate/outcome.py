"""What reviews come to, as files: the list that builders read, masks beside it, and the ids of all images that are left."""

from __future__ import annotations

import io
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from snellen.atomic import encode_json, remove, write_atomic
from snellen.build.encode import table
from snellen.build.in9.curation import CORNERS, MENDED
from snellen.files.spreadsheet import plain_cell
from snellen.web.curate.collection import Collection
from snellen.web.curate.reviews import Review, ReviewerPair, Settled
from snellen.web.curate.store import ReviewStore

LIST, MASKS, KEPT, AGREEMENT = "curation.csv", "masks", "kept.txt", "agreement.json"


@dataclass(frozen=True)
class Curated:
    """What reviewers have decided so far of the images of a set, and where the list of it is; `built` is the set that is left."""

    out: Path
    images: int
    accepted: int
    mended: int
    rejected: int
    differing: int
    agreement: Sequence[ReviewerPair]
    built: Path | None = None

    @property
    def undecided(self) -> int:
        return self.images - self.accepted - self.mended - self.rejected - self.differing

    @property
    def lines(self) -> list[str]:
        counts = f"{self.accepted:,} accepted, {self.mended:,} mended, {self.rejected:,} rejected"
        first = f"{self.images:,} images: {counts}, {self.undecided:,} not reviewed: {self.out / LIST}"
        lines = [first, *map(_in_words, self.agreement)]
        if self.differing:
            lines.append(f"{self.differing:,} judged differently: not in the list; settle them on the page 'Agreement'")
        return [*lines, *([] if self.built is None else [f"the set that is left: {self.built}"])]

    @property
    def json(self) -> str:
        paths = {"out": str(self.out), "built": None if self.built is None else str(self.built)}
        return encode_json({**asdict(self), **paths, "undecided": self.undecided}).decode().rstrip()


def write_outcome(folder: Path, collection: Collection, store: ReviewStore, settled: Settled) -> Curated:
    """Write what is settled into the folder of the reviews."""
    reviews = [settled.reviews[name] for name in collection.names if name in settled.reviews]
    for review in reviews:
        if review.decision == "mend" and (mask := store.mask(review.number)) is not None:
            write_atomic(folder / MASKS / f"{review.sample}.npy", _npy(mask))
    _remove_others(folder / MASKS, {f"{review.sample}.npy" for review in reviews if review.has_mask})
    write_atomic(folder / LIST, table(MENDED, _rows(reviews)))
    rejected = {review.sample for review in reviews if review.decision == "reject"}
    ids = zip(collection.names, collection.data.samples.ids)
    kept_ids = [sample for name, sample in ids if name not in rejected]
    write_atomic(folder / KEPT, "".join(f"{sample}\n" for sample in kept_ids).encode())
    write_atomic(folder / AGREEMENT, encode_json([asdict(pair) for pair in settled.pairs]))
    counts = {
        decision: sum(review.decision == decision for review in reviews) for decision in ("accept", "mend", "reject")
    }
    numbers = (len(collection.names), counts["accept"], counts["mend"], counts["reject"], len(settled.open))
    return Curated(folder, *numbers, settled.pairs)


def _rows(reviews: Sequence[Review]) -> Iterator[Mapping[str, Any]]:
    """The lines of the list; of a mended image the box where it was changed and the file of its mask where that was."""
    for review in reviews:
        mends = review.decision == "mend"
        yield {
            "id": review.sample,
            "decision": "reject" if review.decision == "reject" else "accept",
            "reason": plain_cell(review.why),
            **dict(zip(CORNERS, review.box if mends and review.box else ("",) * 4)),
            "mask": f"{MASKS}/{review.sample}.npy" if mends and review.has_mask else "",
        }


def _remove_others(folder: Path, names: set[str]) -> None:
    """Remove masks of an earlier list that the new one does not have."""
    if folder.is_dir():
        for file in folder.glob("*.npy"):
            if file.name not in names:
                remove(file)


def _npy(mask: np.ndarray) -> bytes:
    content = io.BytesIO()
    np.save(content, mask.astype(np.uint8))
    return content.getvalue()


def _in_words(pair: ReviewerPair) -> str:
    """The agreement of two reviewers in a line."""
    agreement = pair.agreement
    start = f"{pair.first} and {pair.second} decided {agreement.observed:.0%} of {agreement.n:,} images alike"
    if agreement.value != agreement.value:
        return f"{start}; kappa: not defined, both decided alike on all of them"
    interval = "" if agreement.low != agreement.low else f" ({agreement.low:.2f} … {agreement.high:.2f})"
    return f"{start}; kappa {agreement.value:.2f}{interval}"
