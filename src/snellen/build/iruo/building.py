"""Build image recognition under occlusion from annotated videos or images."""

from __future__ import annotations

import os
import shutil
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from snellen.atomic import cannot_write
from snellen.build.iruo.classes import chosen_classes
from snellen.build.iruo.placing import FULL_MASKS, IMAGES, MASKS, SPLITS, Placed, drop_overwritten, place_images
from snellen.build.iruo.portion import CropVerdict, FrameTask, crop_files, cut_out, frames_content
from snellen.build.iruo.request import IruoRequest
from snellen.build.iruo.tables import IruoOutcome, check_clear, shares_of, warnings_of, write_tables
from snellen.build.runner import Amount, Builder, Built, Portion, Site, not_taken, reasons_of
from snellen.data.earlier import by_earlier_rules
from snellen.data.ovis.adapter import frames_root
from snellen.data.ovis.clips import outlines_checksum
from snellen.data.ovis.level_table import with_levels
from snellen.data.ovis.levels import UNKNOWN
from snellen.data.ovis.listing import is_table, read_clips
from snellen.data.root import stamps
from snellen.errors import UserError, choice, concerning, option
from snellen.files import expand_home
from snellen.files.remote.remote_path import address_scheme
from snellen.hashing import file_sha256, key_of

FRAMES = 8  # per portion


@dataclass(frozen=True)
class IruoBuilt(Built):
    """A set: its folder, images by split, share for training by class, what was not taken by reason, how many stated levels
    disagree with the masks, how many videos are in both splits, and what to look at."""

    images: Mapping[str, Amount]
    shares: Mapping[str, float]
    rejected: Mapping[str, Amount]
    left_out: Amount
    disagreements: Amount
    videos_in_both: Amount
    warnings: Sequence[str]

    @property
    def lines(self) -> list[str]:
        sizes = ", ".join(f"{count:,} {name}" for name, count in self.images.items())
        total = f"{sum(self.images.values()):,} images ({sizes}) in {len(self.shares)} classes: {self.out}"
        return [total, not_taken(self.rejected, self.out / "rejected.csv")]


class IruoSet(Builder[IruoBuilt]):
    """The instances of a file of annotations; `classes` are those taken, in the file → in the set."""

    facts_file = "iruo.json"
    identity = ("schema", "annotations")
    inputs = ("annotations_sha256", "level_table_sha256", "outlines", "class_names", "frames_fingerprint")
    built = IruoBuilt

    def __init__(self, request: IruoRequest) -> None:
        self.request: IruoRequest = request
        annotations = _text(request.annotations)
        file = expand_home(annotations)
        naming = choice("frames", "DIR")
        self.clips = read_clips(file, request.frames, naming)
        if request.level_table is not None:
            self.clips = with_levels(self.clips, expand_home(request.level_table))
        with concerning(annotations):
            self.classes = chosen_classes(self.clips.classes, request)
        self.root = frames_root(file, self.clips.frames, request.frames, naming)
        self.facts = {
            "schema": "snellen/iruo/1",
            "annotations": annotations,
            "annotations_sha256": file_sha256(file),
            "frames": str(self.root.folder),
            **request.choices(),
            "class_names": list(self.classes.values()),
        }
        if request.level_table is not None:
            self.facts["level_table_sha256"] = file_sha256(expand_home(request.level_table))
        if is_table(file):
            self.facts["outlines"] = outlines_checksum(self.clips)
        self.portions = list(self._portions())
        if not by_earlier_rules():
            taken = stamps([task.path for portion in self.portions for task in portion.tasks])
            self.facts["frames_fingerprint"] = key_of(taken)

    def make(self, site: Site) -> Mapping[str, Any]:
        self._check_stated()
        verdicts = site.rows(self.portions, partial(cut_out, self.request, site.pool), CropVerdict, frames_content)
        verdicts = drop_overwritten(self.clips, sorted(verdicts, key=lambda verdict: verdict.row), self.request)
        taken = [verdict for verdict in verdicts if not verdict.reason]
        if not taken:
            reasons = dict(IruoOutcome(self.clips, (), verdicts, self.classes).rejected.most_common())
            left_out = reasons_of(reasons) or "none is annotated"
            raise UserError(f"{self.request.annotations}: no image is left: {left_out}")
        levels = Counter(
            (self.classes[self.clips.appearances[verdict.row].category], verdict.level) for verdict in taken
        )
        check_clear(levels, self.classes.values(), self.request)
        placed = place_images(self.clips, verdicts, self.classes, self.request)
        portion_of = {row: portion.number for portion in self.portions for task in portion.tasks for row in task.chosen}
        for image in placed:
            self._place(image, site, portion_of[image.verdict.row])
        outcome = IruoOutcome(self.clips, placed, verdicts, self.classes)
        write_tables(site.to, outcome, self.request)
        return self._summary(outcome)

    def _portions(self) -> Iterator[Portion[FrameTask]]:
        """Frames with a chosen instance, a few at a time, with all instances in them."""
        by_frame: dict[int, dict[int, Any]] = {}
        for row, appearance in enumerate(self.clips.appearances):
            by_frame.setdefault(appearance.frame, {})[row] = appearance
        tasks: list[FrameTask] = []
        number = 0
        for position, appearances in sorted(by_frame.items()):
            frame = self.clips.frames[position]
            chosen = [row for row, appearance in appearances.items() if appearance.category in self.classes]
            if chosen:
                path = self.root.find(frame.file, f"frame {frame.number} of video {frame.video}")
                tasks.append(FrameTask(frame, path, appearances, chosen))
            if len(tasks) == FRAMES:
                yield Portion(number, tasks)
                tasks, number = [], number + 1
        if tasks:
            yield Portion(number, tasks)

    def _place(self, image: Placed, site: Site, portion: int) -> None:
        """Give the files of an image their place in the set; they also stay with what is kept of a stopped build, which may
        find another place for them when it resumes."""
        folders = (IMAGES, MASKS, FULL_MASKS)
        for folder, source in zip(folders, crop_files(site.pool, portion, image.verdict.row, self.request)):
            if folder != IMAGES and folder not in image.masks:
                continue
            name = image.file(folder, self.request)
            target = site.to.part / name
            site.to.own(name)
            try:
                target.parent.mkdir(parents=True, exist_ok=True)
                target.unlink(missing_ok=True)
                _link(source, target)
            except FileNotFoundError:
                raise UserError(f"{source} is gone; remove {site.to.part} and do the same again") from None
            except OSError as error:
                raise cannot_write(target, error) from None

    def _check_stated(self) -> None:
        """Refuse classes without a clear image before a frame is read, where the annotations alone tell the levels."""
        used = [
            appearance
            for appearance in self.clips.appearances
            if appearance.category in self.classes and not appearance.reason
        ]
        if not any(appearance.full for appearance in used):
            if used and all(appearance.level == UNKNOWN for appearance in used):
                advice = f"state levels with {option('level_table')}, a CSV file"
                raise UserError(f"{self.request.annotations}: no image is left: {len(used):,} no level; {advice}")
            counts = Counter((self.classes[appearance.category], appearance.level) for appearance in used)
            if counts:
                check_clear(counts, self.classes.values(), self.request)

    def _summary(self, outcome: IruoOutcome) -> dict[str, Any]:
        placed = outcome.placed
        videos = {split: {image.group for image in placed if image.split == split} for split in SPLITS}
        copies = {image.frame.video: image.group for image in placed if image.frame.video != image.group}
        shares = shares_of(outcome)
        both = len(videos["train"] & videos["val"])
        return {
            "images": {split: sum(image.split == split for image in placed) for split in videos},
            "shares": {name: round(share.share, 6) for name, share in shares.items() if share.train + share.val},
            "rejected": dict(sorted(outcome.rejected.items())),
            "left_out": sum(appearance.category not in self.classes for appearance in self.clips.appearances),
            "disagreements": len(outcome.disagreements),
            "videos_in_both": both,
            "warnings": warnings_of(shares, both, len(outcome.disagreements), copies),
        }


def _text(place: object) -> str:
    """A place as it is written, but for what is idle in a path."""
    return str(place) if address_scheme(str(place)) else str(Path(str(place)))


def _link(source: Path, target: Path) -> None:
    """Give a file a second name, or make a copy where the file system knows no such names."""
    try:
        os.link(source, target)
    except FileNotFoundError:
        raise
    except OSError:
        shutil.copyfile(source, target)
