"""The tables of a set: indices for training and testing, counts, shares, rejects, and levels that disagree."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from snellen.build.csv_table import table
from snellen.build.destination import Destination
from snellen.build.iruo.placing import FULL_MASKS, IMAGES, MASKS, SPLITS, Placed
from snellen.build.iruo.settings import Settings
from snellen.build.iruo.verdict import Verdict
from snellen.data.names import storable
from snellen.data.ovis.clips import Clips
from snellen.data.ovis.levels import LEVELS, UNKNOWN
from snellen.files.spreadsheet import plain_cell

COUNTS, SHARES, REJECTED, DISAGREEMENTS = "counts.csv", "split.csv", "rejected.csv", "disagreements.csv"
INDEX = (
    *("path", "label", "x0", "y0", "x1", "y1", "mask", "full_mask", "id", "group", "video", "frame", "instance"),
    *("level", "stated_level", "hidden", "type", "occluder", "occluder_class"),
    *("crop_x0", "crop_y0", "crop_x1", "crop_y1", "source", "source_checksum"),
)
CORNERS = ("x0", "y0", "x1", "y1")


@dataclass(frozen=True)
class Outcome:
    """What became of a file of annotations: the images of the set, all verdicts, and the classes (in the file → in the set)."""

    clips: Clips
    placed: Sequence[Placed]
    verdicts: Sequence[Verdict]
    classes: Mapping[str, str]

    @property
    def disagreements(self) -> list[Placed]:
        """Images whose stated level is not the one that their masks show."""
        pairs = ((one, {one.verdict.stated, one.verdict.measured}) for one in self.placed)
        return [one for one, levels in pairs if len(levels) == 2 and UNKNOWN not in levels]

    @property
    def rejected(self) -> Counter[str]:
        """Why annotations and appearances were not taken."""
        reasons = [one.reason for one in self.verdicts if one.reason]
        return Counter(reasons + [one.reason for one in self.clips.strays])


@dataclass(frozen=True)
class Share:
    """A class in the split: its images and its videos in either set."""

    train: int
    val: int
    train_videos: int
    val_videos: int

    @property
    def share(self) -> float:
        """The share of its images that is for training; nan where it has none."""
        return self.train / (self.train + self.val) if self.train + self.val else float("nan")


def write_tables(to: Destination, outcome: Outcome, settings: Settings) -> None:
    """Write all tables of a set."""
    labels = {name: number for number, name in enumerate(outcome.classes.values())}
    for split in SPLITS:
        own = [one for one in outcome.placed if one.split == split]
        to.write(f"{split}.csv", table(INDEX, (_index_row(one, outcome, settings) for one in own)))
        for level in LEVELS:  # as mmclassification reads them
            lines = [
                f"{one.file(IMAGES, settings)} {labels[one.category]}\n" for one in own if one.verdict.level == level
            ]
            to.write(f"annos/{split}{level}.txt", "".join(lines).encode())
    columns = ("split", "class", "level", "type")
    counts = Counter((one.split, one.category, one.verdict.level, one.verdict.type) for one in outcome.placed)
    rows = [{**dict(zip(columns, key)), "images": count} for key, count in sorted(counts.items())]
    to.write(COUNTS, table((*columns, "images"), rows))
    shares = shares_of(outcome)
    to.write(SHARES, table(("class", *Share.__annotations__, "share"), [_share_row(*one) for one in shares.items()]))
    to.write(REJECTED, table(_REJECT, _rejects(outcome)))
    to.write(DISAGREEMENTS, table(_DISAGREEMENT, [_disagreement(one, settings) for one in outcome.disagreements]))


def shares_of(outcome: Outcome) -> dict[str, Share]:
    """How each class is split."""
    images: Counter[tuple[str, str]] = Counter((one.category, one.split) for one in outcome.placed)
    videos = Counter(
        (category, split) for category, split, _ in {(o.category, o.split, o.frame.video) for o in outcome.placed}
    )
    return {
        name: Share(*(images[name, split] for split in SPLITS), *(videos[name, split] for split in SPLITS))
        for name in outcome.classes.values()
    }


def _share_row(name: str, share: Share) -> dict[str, Any]:
    return {
        "class": name,
        **{field: getattr(share, field) for field in Share.__annotations__},
        "share": f"{share.share:.4f}".replace("nan", ""),
    }


def _index_row(one: Placed, outcome: Outcome, settings: Settings) -> dict[str, Any]:
    verdict, masks = one.verdict, one.masks
    return {
        "path": one.file(IMAGES, settings),
        "label": one.category,
        **{name: f"{value:g}" for name, value in zip(CORNERS, verdict.box)},
        "mask": one.file(MASKS, settings) if MASKS in masks else "",
        "full_mask": one.file(FULL_MASKS, settings) if FULL_MASKS in masks else "",
        "id": one.name if settings.naming == "instance" else f"{one.name}_{one.appearance.instance}",
        "group": storable(one.frame.video),
        "video": storable(one.frame.video),
        "frame": one.frame.number,
        "instance": one.appearance.instance,
        "level": verdict.level,
        "stated_level": "" if verdict.stated == UNKNOWN else verdict.stated,
        "hidden": "" if verdict.hidden is None else f"{verdict.hidden:.6f}",
        "type": verdict.type,
        "occluder": "" if verdict.occluder is None else verdict.occluder,
        "occluder_class": storable(outcome.classes.get(verdict.occluder_class, verdict.occluder_class)),
        **{f"crop_{name}": value for name, value in zip(CORNERS, verdict.crop)},
        "source": storable(one.frame.file),
        "source_checksum": verdict.source,
    }


_REJECT = ("file", "video", "frame", "instance", "class", "reason", "detail")


def _rejects(outcome: Outcome) -> Iterator[dict[str, Any]]:
    """One row per annotation or appearance that was not taken; for people only."""
    rows: list[tuple[Any, ...]] = [
        ("", "", "", s.instance, s.category, s.reason, s.detail) for s in outcome.clips.strays
    ]
    for verdict in outcome.verdicts:
        if verdict.reason:
            one = outcome.clips.appearances[verdict.row]
            frame = outcome.clips.frames[one.frame]
            place = (frame.file, frame.video, frame.number, one.instance, one.category)
            rows.append((*place, verdict.reason, verdict.detail))
    for row in rows:
        yield {name: plain_cell(storable(cell) if isinstance(cell, str) else cell) for name, cell in zip(_REJECT, row)}


_DISAGREEMENT = ("path", "source", "instance", "class", "stated", "measured", "hidden")


def _disagreement(one: Placed, settings: Settings) -> dict[str, Any]:
    verdict = one.verdict
    facts = (one.file(IMAGES, settings), storable(one.frame.file), one.appearance.instance, one.category)
    return dict(zip(_DISAGREEMENT, (*facts, verdict.stated, verdict.measured, f"{verdict.hidden or 0:.6f}")))
