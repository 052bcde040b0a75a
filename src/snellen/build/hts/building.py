"""Build a human testing subset from images with levels of occlusion."""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from snellen.build.clarity import BLURRED, SMALL, Clarity
from snellen.build.counting import show_progress
from snellen.build.crew import crew
from snellen.build.csv_table import table
from snellen.build.destination import Destination, encode_json
from snellen.build.hts.calibration import Trial, choose_bounds, correct_answers, try_bounds
from snellen.build.hts.choosing import choose, lacking, levels_of
from snellen.build.hts.measuring import UNREAD, Measure, Portion, measure_portion
from snellen.build.hts.settings import Settings
from snellen.build.hts.writing import write_set
from snellen.build.iruo.settings import class_folders
from snellen.build.portion_file import POOL, portion_file, read_rows
from snellen.build.summary import SUMMARY, Count, as_json, read_summary
from snellen.data import load_data
from snellen.data.dataset import Dataset, limited
from snellen.errors import UserError
from snellen.files import expand_home
from snellen.hashing import file_sha256
from snellen.models import subjects_of

FACTS, CALIBRATION = "hts.json", "calibration.csv"
PORTION = 16  # images


@dataclass(frozen=True)
class Built:
    """A subset: its folder, its images by class, the bounds that they passed, what was not taken by reason, what to look at.

    `accuracy` is that of the models by which the bounds were chosen, at level 0; nan where they were given.
    """

    out: Path
    images: Mapping[str, int]
    min_pixels: float
    min_sharpness: float
    accuracy: float
    rejected: Mapping[str, int]
    warnings: Sequence[str]

    @property
    def json(self) -> str:
        """The same as JSON."""
        return as_json(self, accuracy=None if np.isnan(self.accuracy) else self.accuracy)


def build(
    data: str | Dataset,
    out: str | Path,
    *,
    limit: int | None = None,
    workers: int | None = None,
    quiet: bool = True,
    **settings: Any,
) -> Built:
    """Choose clear images of `data`, so many per class and level, and write them into the folder `out`.

    `settings` are those of `Settings`, such as per=8. `limit` looks at no more images than that. Any number of `workers`
    (processes; default one per core) gives the same bytes. A stopped build resumes; a finished one is left as it is.
    """
    chosen = Settings(**settings)
    dataset = limited(load_data(data) if isinstance(data, str) else data, limit)
    levels = levels_of(dataset, chosen)
    class_folders(dataset.classes)  # two that would have the same names of files are refused
    facts = {
        "schema": "snellen/hts/1",
        "data": dataset.text,
        "data_fingerprint": dataset.fingerprint,
        "limit": limit,
        **{name: list(value) if isinstance(value, tuple) else value for name, value in asdict(chosen).items()},
        "models": [one.card.fingerprint for text in chosen.calibrate for one in subjects_of(text)],
        "labels_sha256": None if chosen.labels is None else file_sha256(expand_home(chosen.labels)),
    }
    to = Destination(expand_home(out), facts, FACTS, "set built by snellen", ("schema", "data"))
    with to.writing() as missing:
        if missing:
            job = _Job(dataset, levels, chosen, to)
            _build(job, workers, quiet)
    return _built(to.out)


class _Summary(msgspec.Struct):
    """counts.json: what `Built` tells of a subset that is complete."""

    images: dict[str, Count]
    min_pixels: float
    min_sharpness: float
    accuracy: float | None
    rejected: dict[str, Count]
    warnings: list[str]


def _built(out: Path) -> Built:
    summary = read_summary(out, _Summary)
    known = msgspec.structs.asdict(summary)
    return Built(out, **{**known, "accuracy": float("nan") if summary.accuracy is None else summary.accuracy})


@dataclass(frozen=True)
class _Job:
    """What is built: the images, their levels, how, and where to."""

    data: Dataset
    levels: Sequence[int]
    settings: Settings
    to: Destination

    @property
    def pool(self) -> Path:
        return self.to.part / POOL


def _build(job: _Job, workers: int | None, quiet: bool) -> None:
    measures = _measure(job, workers, quiet)
    clarity, accuracy, warnings = _bounds(job, measures)
    choices = choose(job.data, measures, job.levels, clarity, job.settings)
    if not any(one.number for one in choices):
        counts = Counter(one.reason for one in choices).most_common()
        advice = f"lower --min-pixels ({clarity.pixels:g}) or --min-sharpness ({clarity.sharpness:g})"
        raise UserError(
            f"no image is left: {', '.join(f'{n:,} {reason}' for reason, n in counts)}"
            + (f"; {advice}" if {SMALL, BLURRED} & {reason for reason, _ in counts} else "")
        )
    write_set(job.to, job.data, choices)
    few = lacking(choices, job.data.classes, job.settings)
    if few:
        listed = ", ".join(f"{name} at level {level} ({count})" for (name, level), count in list(few.items())[:20])
        warnings.append(f"fewer than {job.settings.per} clear images of {listed}")
    own = Counter(one.category for one in choices if one.number)
    summary = {
        "images": {name: own[name] for name in job.data.classes},
        "min_pixels": clarity.pixels,
        "min_sharpness": clarity.sharpness,
        "accuracy": accuracy,
        "rejected": dict(sorted(Counter(one.reason for one in choices if one.reason).items())),
        "warnings": warnings,
    }
    job.to.write(SUMMARY, encode_json(summary, indent=1))
    shutil.rmtree(job.pool, ignore_errors=True)
    job.to.finish()


def _measure(job: _Job, workers: int | None, quiet: bool) -> list[Measure]:
    """The measures of all images, those of an earlier run as they are."""
    measures: list[Measure] = []
    with crew(workers) as spread, show_progress(len(job.data), quiet) as advance:
        missing = []
        for number, start in enumerate(range(0, len(job.data), PORTION)):
            rows = range(start, min(start + PORTION, len(job.data)))
            earlier = read_rows(portion_file(job.pool, number), Measure)
            if earlier is None or [m.row for m in earlier] != list(rows) or any(m.reason == UNREAD for m in earlier):
                missing.append(Portion(number, rows))
            else:
                measures += earlier
                advance(len(rows))
        for new in spread(partial(measure_portion, job.settings, job.pool), _with_photos(job.data, missing)):
            measures += new
            advance(len(new))
    return sorted(measures, key=lambda one: one.row)


def _with_photos(data: Dataset, portions: Sequence[Portion]) -> Iterator[Portion]:
    for one in portions:
        yield Portion(one.number, one.rows, data.read(one.rows))


def _bounds(job: _Job, measures: Sequence[Measure]) -> tuple[Clarity, float | None, list[str]]:
    """How clear an image must be: as the settings say, or as the models' answers do, with their accuracy and what to tell."""
    if not job.settings.calibrate:
        return job.settings.clarity, None, []
    labels = job.data.samples.labels
    clear = [one for one in measures if job.levels[one.row] == 0 and not one.reason and labels[one.row] >= 0]
    if not clear:
        raise UserError(f"{job.data.text} has no image of level 0 to calibrate with")
    correct, notices = correct_answers(job.data, [one.row for one in clear], job.settings)
    pixels, sharpness = (np.array([getattr(one, name) for one in clear], float) for name in ("pixels", "sharpness"))
    trials = try_bounds(pixels, sharpness, correct)
    rows = ({**asdict(one), "accuracy": f"{one.accuracy:.6f}".replace("nan", "")} for one in trials)
    job.to.write(CALIBRATION, table(tuple(Trial.__annotations__), rows))
    clarity = choose_bounds(trials, job.settings.target)
    best = next(one for one in trials if (one.min_pixels, one.min_sharpness) == (clarity.pixels, clarity.sharpness))
    return clarity, round(best.accuracy, 6), notices
