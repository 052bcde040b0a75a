"""Build image recognition under occlusion from annotated videos or images."""

from __future__ import annotations

import os
import shutil
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

import msgspec

from snellen.atomic import cannot_write
from snellen.build.counting import show_progress
from snellen.build.crew import crew
from snellen.build.destination import Destination, encode_json
from snellen.build.iruo.placing import FULL_MASKS, IMAGES, MASKS, Placed, drop_overwritten, place_images
from snellen.build.iruo.portion import FrameTask, Portion, crop_files, cut_out
from snellen.build.iruo.settings import Settings, chosen_classes
from snellen.build.iruo.tables import Outcome, shares_of, write_tables
from snellen.build.iruo.verdict import Verdict
from snellen.build.iruo.warnings import check_clear, warnings_of
from snellen.build.portion_file import POOL, portion_file, read_rows
from snellen.build.summary import SUMMARY, Count, as_json, read_summary
from snellen.data.ovis.adapter import UNREAD, frames_root
from snellen.data.ovis.clips import Clips, outlines_checksum
from snellen.data.ovis.level_table import with_levels
from snellen.data.ovis.levels import UNKNOWN
from snellen.data.ovis.listing import is_table, read_clips
from snellen.data.root import Root
from snellen.errors import UserError, concerning
from snellen.files import expand_home
from snellen.hashing import file_sha256

FACTS = "iruo.json"
FRAMES = 8  # per portion


@dataclass(frozen=True)
class Built:
    """A set: its folder, images by split, share for training by class, what was not taken by reason, how many stated levels
    disagree with the masks, how many videos are in both splits, and what to look at."""

    out: Path
    images: Mapping[str, int]
    shares: Mapping[str, float]
    rejected: Mapping[str, int]
    left_out: int
    disagreements: int
    videos_in_both: int
    warnings: Sequence[str]

    @property
    def json(self) -> str:
        """The same as JSON."""
        return as_json(self)


def build(
    annotations: str | Path,
    frames: str | Path | None,
    out: str | Path,
    *,
    level_table: str | Path | None = None,
    workers: int | None = None,
    quiet: bool = True,
    **settings: Any,
) -> Built:
    """Cut the instances that `annotations` (JSON of OVIS, YouTube-VIS or COCO, or a table) describe out of frames, into `out`.

    `frames` is the folder of the frames; None looks beside the file. `level_table` is a CSV file of levels that count instead of
    those of the annotations. `settings` are those of `Settings`, such as
    split="class". Any number of `workers` (processes; default one per core) gives the same bytes. A stopped build resumes; a
    finished one is left as it is.
    """
    chosen = Settings(**settings)
    file = expand_home(annotations)
    clips = read_clips(file, frames)
    if level_table is not None:
        clips = with_levels(clips, expand_home(level_table))
    with concerning(annotations):
        names = chosen_classes(clips.classes, chosen)
    root = frames_root(file, clips.frames, frames, "--frames DIR")
    facts = {
        "schema": "snellen/iruo/1",
        "annotations": str(annotations),
        "annotations_sha256": file_sha256(file),
        "frames": str(root.folder),
        **{name: list(value) if isinstance(value, tuple) else value for name, value in asdict(chosen).items()},
        "class_names": list(names.values()),
    }
    if level_table is not None:
        facts["level_table_sha256"] = file_sha256(expand_home(level_table))
    if is_table(file):
        facts["outlines"] = outlines_checksum(clips)
    to = Destination(expand_home(out), facts, FACTS, "set built by snellen", ("schema", "annotations"))
    with to.writing() as missing:
        if missing:
            job = _Job(clips, names, chosen, root, to)
            _build(job, workers, quiet)
    return _built(to.out)


class _Summary(msgspec.Struct):
    """counts.json: what `Built` tells of a set that is complete."""

    images: dict[str, Count]
    shares: dict[str, float]
    rejected: dict[str, Count]
    left_out: Count
    disagreements: Count
    videos_in_both: Count
    warnings: list[str]


def _built(out: Path) -> Built:
    return Built(out, **msgspec.structs.asdict(read_summary(out, _Summary)))


@dataclass(frozen=True)
class _Job:
    """What is built: the annotations, the classes (in the file → in the set), how, where the frames are, and where to."""

    clips: Clips
    classes: Mapping[str, str]
    settings: Settings
    root: Root
    to: Destination

    @property
    def pool(self) -> Path:
        return self.to.part / POOL


def _build(job: _Job, workers: int | None, quiet: bool) -> None:
    _check_stated(job)
    portion_of: dict[int, int] = {}
    verdicts: list[Verdict] = []
    with crew(workers) as spread, show_progress(len(job.clips.frames), quiet) as advance:
        missing = []
        for portion in _portions(job):
            portion_of |= {row: portion.number for task in portion.frames for row in task.chosen}
            earlier = _earlier(job.pool, portion)
            if earlier is None:
                missing.append(portion)
            else:
                verdicts += earlier
                advance(len(portion.frames))
        for portion, new in spread(partial(cut_out, job.settings, job.pool), missing):
            verdicts += new
            advance(len(portion.frames))
    verdicts = drop_overwritten(job.clips, sorted(verdicts, key=lambda one: one.row), job.settings)
    if not any(not one.reason for one in verdicts):
        raise UserError(f"no image is left: {_reasons(Outcome(job.clips, (), verdicts, job.classes))}")
    check_clear(Counter((job.classes[job.clips.appearances[one.row].category], one.level) for one in verdicts if not one.reason),
                job.classes.values(), job.settings)  # fmt: skip
    placed = place_images(job.clips, verdicts, job.classes, job.settings)
    for one in placed:
        _move(one, job, portion_of[one.verdict.row])
    outcome = Outcome(job.clips, placed, verdicts, job.classes)
    write_tables(job.to, outcome, job.settings)
    job.to.write(SUMMARY, encode_json(_summary(outcome, job), indent=1))
    shutil.rmtree(job.pool, ignore_errors=True)
    job.to.finish()


def _portions(job: _Job) -> Iterator[Portion]:
    """Frames with a chosen instance, a few at a time, with all instances in them."""
    by_frame: dict[int, dict[int, Any]] = {}
    for row, one in enumerate(job.clips.appearances):
        by_frame.setdefault(one.frame, {})[row] = one
    tasks: list[FrameTask] = []
    number = 0
    for position, appearances in sorted(by_frame.items()):
        frame = job.clips.frames[position]
        chosen = [row for row, one in appearances.items() if one.category in job.classes]
        if chosen:
            path = job.root.find(frame.file, f"frame {frame.number} of video {frame.video}")
            tasks.append(FrameTask(frame, path, appearances, chosen))
        if len(tasks) == FRAMES:
            yield Portion(number, tasks)
            tasks, number = [], number + 1
    if tasks:
        yield Portion(number, tasks)


def _earlier(pool: Path, portion: Portion) -> list[Verdict] | None:
    """The verdicts of an earlier run on a portion; None where it is to be done, also because a frame may have come since."""
    verdicts = read_rows(portion_file(pool, portion.number), Verdict)
    rows = [row for task in portion.frames for row in task.chosen]
    if verdicts is None or [one.row for one in verdicts] != rows:
        return None
    return None if any(one.reason in UNREAD for one in verdicts) else verdicts


def _move(one: Placed, job: _Job, portion: int) -> None:
    """Move the files of an image to their place in the set, unless an earlier run has."""
    folders = (IMAGES, MASKS, FULL_MASKS)
    for folder, source in zip(folders, crop_files(job.pool, portion, one.verdict.row, job.settings)):
        if folder != IMAGES and folder not in one.masks:
            continue
        target = job.to.part / one.file(folder, job.settings)
        try:
            if source.exists():
                target.parent.mkdir(parents=True, exist_ok=True)
                os.replace(source, target)
            elif not target.exists():
                raise UserError(f"{source} is gone; remove {job.to.part} and run the same command again")
        except OSError as error:
            raise cannot_write(target, error) from None


def _check_stated(job: _Job) -> None:
    """Refuse classes without a clear image before a frame is read, where the annotations alone tell the levels."""
    used = [one for one in job.clips.appearances if one.category in job.classes and not one.reason]
    if not any(one.full for one in used):
        if used and all(one.level == UNKNOWN for one in used):
            raise UserError(
                f"no image is left: {len(used):,} no level; state levels with --level-table FILE, a CSV file"
            )
        counts = Counter((job.classes[one.category], one.level) for one in used)
        if counts:
            check_clear(counts, job.classes.values(), job.settings)


def _summary(outcome: Outcome, job: _Job) -> dict[str, Any]:
    videos = {split: {one.frame.video for one in outcome.placed if one.split == split} for split in ("train", "val")}
    shares = shares_of(outcome)
    both = len(videos["train"] & videos["val"])
    return {
        "images": {split: sum(one.split == split for one in outcome.placed) for split in videos},
        "shares": {name: round(share.share, 6) for name, share in shares.items() if share.train + share.val},
        "rejected": dict(sorted(outcome.rejected.items())),
        "left_out": sum(one.category not in job.classes for one in outcome.clips.appearances),
        "disagreements": len(outcome.disagreements),
        "videos_in_both": both,
        "warnings": warnings_of(shares, both, len(outcome.disagreements)),
    }


def _reasons(outcome: Outcome) -> str:
    counts = outcome.rejected.most_common()
    return ", ".join(f"{count:,} {reason}" for reason, count in counts) or "none is annotated"
