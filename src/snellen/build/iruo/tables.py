"""The tables of a set: indices for training and testing, counts, shares, rejects, levels that disagree; and what to tell."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from snellen.build.destination import Destination
from snellen.build.encode import table
from snellen.build.iruo.placing import FULL_MASKS, IMAGES, MASKS, SPLITS, Placed
from snellen.build.iruo.portion import CropVerdict
from snellen.build.iruo.request import IruoRequest
from snellen.data.names import storable
from snellen.data.ovis.clips import Clips
from snellen.data.ovis.levels import LEVELS, UNKNOWN
from snellen.errors import UserError, choice
from snellen.files.spreadsheet import plain_cell

COUNTS, SHARES, REJECTED, DISAGREEMENTS = "counts.csv", "split.csv", "rejected.csv", "disagreements.csv"
INDEX = (
    *("path", "label", "x0", "y0", "x1", "y1", "mask", "full_mask", "id", "group", "video", "frame", "instance"),
    *("level", "stated_level", "hidden", "type", "occluder", "occluder_class"),
    *("crop_x0", "crop_y0", "crop_x1", "crop_y1", "source", "source_checksum"),
)
CORNERS = ("x0", "y0", "x1", "y1")
AIM = (0.6, 0.8)  # the share of a class's images for training


@dataclass(frozen=True)
class IruoOutcome:
    """What became of a file of annotations: the images of the set, all verdicts, and the classes (in the file → in the set)."""

    clips: Clips
    placed: Sequence[Placed]
    verdicts: Sequence[CropVerdict]
    classes: Mapping[str, str]

    @property
    def disagreements(self) -> list[Placed]:
        """Images whose stated level is not the one that their masks show."""
        pairs = ((image, {image.verdict.stated, image.verdict.measured}) for image in self.placed)
        return [image for image, levels in pairs if len(levels) == 2 and UNKNOWN not in levels]

    @property
    def rejected(self) -> Counter[str]:
        """Why annotations and appearances were not taken."""
        reasons = [verdict.reason for verdict in self.verdicts if verdict.reason]
        return Counter(reasons + [stray.reason for stray in self.clips.strays])


@dataclass(frozen=True)
class SplitShare:
    """A class in the split: its images and its videos in either set."""

    train: int
    val: int
    train_videos: int
    val_videos: int

    @property
    def share(self) -> float:
        """The share of its images that is for training; nan where it has none."""
        return self.train / (self.train + self.val) if self.train + self.val else float("nan")


def write_tables(to: Destination, outcome: IruoOutcome, request: IruoRequest) -> None:
    """Write all tables of a set."""
    labels = {name: number for number, name in enumerate(outcome.classes.values())}
    for split in SPLITS:
        own = [image for image in outcome.placed if image.split == split]
        to.write(f"{split}.csv", table(INDEX, (_index_row(image, outcome, request) for image in own)))
        for level in LEVELS:  # as mmclassification reads them
            lines = [
                f"{image.file(IMAGES, request)} {labels[image.category]}\n"
                for image in own
                if image.verdict.level == level
            ]
            to.write(f"annos/{split}{level}.txt", "".join(lines).encode())
    columns = ("split", "class", "level", "type")
    counts = Counter((image.split, image.category, image.verdict.level, image.verdict.type) for image in outcome.placed)
    rows = [{**dict(zip(columns, key)), "images": count} for key, count in sorted(counts.items())]
    to.write(COUNTS, table((*columns, "images"), rows))
    shares = shares_of(outcome)
    to.write(
        SHARES, table(("class", *SplitShare.__annotations__, "share"), [_share_row(*row) for row in shares.items()])
    )
    to.write(REJECTED, table(_REJECT, _rejects(outcome)))
    to.write(DISAGREEMENTS, table(_DISAGREEMENT, [_disagreement(image, request) for image in outcome.disagreements]))


def shares_of(outcome: IruoOutcome) -> dict[str, SplitShare]:
    """How each class is split."""
    images: Counter[tuple[str, str]] = Counter((image.category, image.split) for image in outcome.placed)
    videos = Counter(
        (category, split) for category, split, _ in {(o.category, o.split, o.frame.video) for o in outcome.placed}
    )
    return {
        name: SplitShare(*(images[name, split] for split in SPLITS), *(videos[name, split] for split in SPLITS))
        for name in outcome.classes.values()
    }


def _share_row(name: str, share: SplitShare) -> dict[str, Any]:
    return {
        "class": name,
        **{field: getattr(share, field) for field in SplitShare.__annotations__},
        "share": f"{share.share:.4f}".replace("nan", ""),
    }


def _index_row(image: Placed, outcome: IruoOutcome, request: IruoRequest) -> dict[str, Any]:
    verdict, masks = image.verdict, image.masks
    return {
        "path": image.file(IMAGES, request),
        "label": image.category,
        **{name: f"{value:g}" for name, value in zip(CORNERS, verdict.box)},
        "mask": image.file(MASKS, request) if MASKS in masks else "",
        "full_mask": image.file(FULL_MASKS, request) if FULL_MASKS in masks else "",
        "id": image.name if request.naming == "instance" else f"{image.name}_{image.appearance.instance}",
        "group": storable(image.group),
        "video": storable(image.frame.video),
        "frame": image.frame.number,
        "instance": image.appearance.instance,
        "level": verdict.level,
        "stated_level": "" if verdict.stated == UNKNOWN else verdict.stated,
        "hidden": "" if verdict.hidden is None else f"{verdict.hidden:.6f}",
        "type": verdict.type,
        "occluder": "" if verdict.occluder is None else verdict.occluder,
        "occluder_class": storable(outcome.classes.get(verdict.occluder_class, verdict.occluder_class)),
        **{f"crop_{name}": value for name, value in zip(CORNERS, verdict.crop)},
        "source": storable(image.frame.file),
        "source_checksum": verdict.source,
    }


_REJECT = ("file", "video", "frame", "instance", "class", "reason", "detail")


def _rejects(outcome: IruoOutcome) -> Iterator[dict[str, Any]]:
    """One row per annotation or appearance that was not taken; for people only."""
    rows: list[tuple[Any, ...]] = [
        ("", "", "", s.instance, s.category, s.reason, s.detail) for s in outcome.clips.strays
    ]
    for verdict in outcome.verdicts:
        if verdict.reason:
            appearance = outcome.clips.appearances[verdict.row]
            frame = outcome.clips.frames[appearance.frame]
            place = (frame.file, frame.video, frame.number, appearance.instance, appearance.category)
            rows.append((*place, verdict.reason, verdict.detail))
    for row in rows:
        yield {name: plain_cell(storable(cell) if isinstance(cell, str) else cell) for name, cell in zip(_REJECT, row)}


_DISAGREEMENT = ("path", "source", "instance", "class", "stated", "measured", "hidden")


def _disagreement(image: Placed, request: IruoRequest) -> dict[str, Any]:
    verdict = image.verdict
    facts = (image.file(IMAGES, request), storable(image.frame.file), image.appearance.instance, image.category)
    return dict(zip(_DISAGREEMENT, (*facts, verdict.stated, verdict.measured, f"{verdict.hidden or 0:.6f}")))


def check_clear(counts: Mapping[tuple[str, int], int], classes: Iterable[str], request: IruoRequest) -> None:
    """Refuse classes of which too few images are not occluded; `counts` has the images of each class and level."""
    few = {name: counts.get((name, 0), 0) for name in classes}
    few = {name: count for name, count in few.items() if count < request.min_clear}
    if few:
        listed = ", ".join(f"'{name}'" for name in few)
        most = max(few.values())
        have = "no image of level 0" if not most else f"fewer than {request.min_clear} images of level 0"
        raise UserError(
            f"{'class' if len(few) == 1 else 'classes'} {listed} with {have} (not occluded); leave out with "
            f"{choice('without', ','.join(few))}, or allow with {choice('min_clear', min(few.values()))}"
        )


def warnings_of(
    shares: Mapping[str, SplitShare], videos_in_both: int, disagreements: int, copies: Mapping[str, str]
) -> list[str]:
    """Lines on shares that are off the aim, on videos in both sets, on levels that disagree, and on videos that have frames of
    another (`copies`: video → that other one)."""
    lines = []
    off = {
        name: share for name, share in shares.items() if share.train + share.val and not AIM[0] <= share.share <= AIM[1]
    }
    if off:
        listed = ", ".join(
            f"{name} {share.share:.0%} of {share.train_videos + share.val_videos} videos" for name, share in off.items()
        )
        lines.append(
            f"{len(off)} of {len(shares)} classes have not 60–80% of their images in train ({SHARES}): {listed}"
        )
    empty = [name for name, share in shares.items() if not share.train + share.val]
    if empty:
        lines.append(f"no images of {', '.join(empty)}")
    if videos_in_both:
        lines.append(f"{videos_in_both} videos are in both train and val; --split video keeps them apart")
    if copies:
        copy, other = next(iter(copies.items()))
        listed = f"such as {storable(copy)}, with {storable(other)}"
        lines.append(f"{len(copies)} videos have frames of another and are kept together with it, {listed}")
    if disagreements:
        lines.append(f"{disagreements} stated levels disagree with the masks ({DISAGREEMENTS})")
    return lines
