"""What a model answered to images under occluders, one row per image and type, and the level of each on its scale."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, fields, replace

import numpy as np

from snellen.audits.exam import Exam
from snellen.audits.occluders.types import REAL, RIGHT_ANGLE, OccluderType, has_masks, real_levels
from snellen.data.ovis.levels import levels_of
from snellen.engine.keep.read_back import AnswerBlock, Answers
from snellen.measure.occlusion_levels import LATTICE_BINS, Bins, bin_middles, bin_names, occlusion_level
from snellen.measure.occlusion_table import CLEAN

LEVEL_NAMES = ("none", "up to half", "more than half")


@dataclass(frozen=True)
class OccluderRows:
    """Answers of one model; `correct` and `pred` are [runs, rows], all others [rows].

    `kind` is the type of occluder, `none` for unoccluded images and `real` for those that were so when they were taken, `judge`
    the type that ranks models (all lattices of one size are one), `family` real, synthetic, diffuse or lattice. `share` is what
    is hidden, nan where it is not known, and `level` 0, 1 (up to half), 2, or −1 where it is none of these. `relation` says
    whether a real occluder is of the object's class. `group` is drawn whole by every bootstrap.
    """

    correct: np.ndarray
    pred: np.ndarray
    label: np.ndarray
    kind: np.ndarray
    judge: np.ndarray
    family: np.ndarray
    relation: np.ndarray
    share: np.ndarray
    level: np.ndarray
    group: np.ndarray
    id: np.ndarray

    def at(self, rows: np.ndarray) -> OccluderRows:
        """Some of the rows, by places or truth values."""
        return OccluderRows(**{column: getattr(self, column)[..., rows] for column in _COLUMNS})

    def score(self) -> np.ndarray:
        """float [rows]: the mean over runs."""
        return np.asarray(self.correct.mean(0, dtype=np.float64))

    def scores_by_image(self) -> dict[Hashable, float]:
        """The mean over runs by image, as `kind/id`."""
        return {f"{kind}/{sample}": score for (kind, sample), score in zip(self.images(), self.score().tolist())}

    def images(self) -> list[tuple[str, str]]:
        """What was shown: type and id of the image."""
        return list(zip(self.kind.tolist(), self.id.tolist()))


def rows_of(exam: Exam, answers: Answers, types: Sequence[OccluderType]) -> OccluderRows:
    """The answers of one model to the images as they are and under all types."""
    return answers.once(("occluder rows", tuple(types)), lambda: _rows(exam, answers, types))


def common_rows(everyone: Sequence[OccluderRows]) -> list[OccluderRows]:
    """The rows that all models have, in one order."""
    shared = set.intersection(*(set(rows.images()) for rows in everyone))
    order = [key for key in everyone[0].images() if key in shared]
    places = [{key: place for place, key in enumerate(rows.images())} for rows in everyone]
    return [rows.at(np.array([own[key] for key in order], int)) for rows, own in zip(everyone, places)]


def has_groups(exam: Exam) -> bool:
    """Whether images come in groups such as videos."""
    return "group" in exam.samples["test"].columns


def class_names(exam: Exam, numbers: np.ndarray) -> np.ndarray:
    """Names of class numbers, empty where an answer is none of the data's classes."""
    names = np.array([*exam.classes["test"], ""], object)
    return np.asarray(names[np.where(numbers < 0, len(names) - 1, numbers)])


# Levels


@dataclass(frozen=True)
class LevelScale:
    """What levels are on the axis: `levels` of real occlusion and its halves, bins of hidden `shares`, or those of lattices."""

    word: str
    names: tuple[str, ...]
    positions: tuple[float, ...]
    bins: Bins | None = None

    def levels(self, rows: OccluderRows) -> np.ndarray:
        """int64 [rows]: the place on the axis; unoccluded images are at the first, other ones never."""
        if self.bins is None:
            return rows.level
        places = occlusion_level(rows.share, self.bins)
        clean = rows.kind == CLEAN
        return np.where(clean, 0, np.where(places == 0, -1, places))


LEVELS = LevelScale("levels", LEVEL_NAMES, (0, 1, 2))
LATTICES = LevelScale("lattice", bin_names(LATTICE_BINS), bin_middles(LATTICE_BINS), LATTICE_BINS)


def share_scale(bins: Bins) -> LevelScale:
    """The scale of bins of the hidden share."""
    return LevelScale("shares", bin_names(bins), bin_middles(bins), bins)


def right_angles(types: Sequence[OccluderType]) -> list[OccluderType]:
    """The types that are pooled as right angles; none where that is one alone."""
    pooled = [occluder for occluder in types if occluder.pool == RIGHT_ANGLE]
    return pooled if len(pooled) > 1 else []


def pooled_rows(rows: OccluderRows, types: Sequence[OccluderType], bins: Bins) -> OccluderRows:
    """The rows with the level of each on the scale of its family, and right angles as one judge where there are several."""
    judge, level = rows.judge.copy(), rows.level.copy()
    for family, scale in (("diffuse", share_scale(bins)), ("lattice", LATTICES)):
        own = rows.family == family
        level[own] = scale.levels(rows.at(own))
    judge[np.isin(rows.kind.astype(str), [occluder.name for occluder in right_angles(types)])] = RIGHT_ANGLE
    return replace(rows, judge=judge, level=level)


def names_of_levels(types: Sequence[OccluderType], bins: Bins) -> dict[str, tuple[str, ...]]:
    """The names of the levels of each judge of `pooled_rows`."""
    names = {CLEAN: LEVEL_NAMES, REAL: LEVEL_NAMES, RIGHT_ANGLE: bin_names(bins)}
    scales = {"synthetic": LEVEL_NAMES, "diffuse": bin_names(bins), "lattice": LATTICES.names}
    return {**names, **{occluder.judge: scales[occluder.family] for occluder in types}}


# From answers to rows


def _rows(exam: Exam, answers: Answers, types: Sequence[OccluderType]) -> OccluderRows:
    parts = [_as_taken(exam, answers[exam.clean()])]
    unoccluded = {sample for sample, level in zip(parts[0].id.tolist(), parts[0].level.tolist()) if level == 0}
    for occluder in types:
        rows = _under(exam, answers[occluder.cell(exam)], occluder)
        parts.append(rows.at(np.array([sample in unoccluded for sample in rows.id.tolist()], bool)))
    joined = {name: np.concatenate([getattr(part, name) for part in parts], axis=-1) for name in _COLUMNS}
    return OccluderRows(**{**joined, "group": np.unique(joined["group"].astype(str), return_inverse=True)[1]})


def _as_taken(exam: Exam, block: AnswerBlock) -> OccluderRows:
    """The images as they are: unoccluded, or under real occlusion."""
    listing = exam.samples["test"]
    place = {sample: row for row, sample in enumerate(listing.ids)}
    rows = np.array([place[sample] for sample in block.ids], int)
    level = real_levels(listing)[rows]
    kind = np.where(level == 0, CLEAN, REAL).astype(object)
    hidden = listing.columns.get("hidden")
    share = np.full(len(rows), np.nan) if hidden is None else _numbers(np.asarray(hidden)[rows])
    return OccluderRows(
        **_of_block(exam, block), kind=kind, judge=kind, family=kind, relation=_relations(exam, rows, level),
        share=np.where(level == 0, 0.0, share), level=level,
    )  # fmt: skip


def _under(exam: Exam, block: AnswerBlock, occluder: OccluderType) -> OccluderRows:
    """The unoccluded images under a type of occluder."""
    size = len(block.ids)
    if occluder.share is not None:
        share = np.full(size, occluder.share)
    else:
        measured = block.object_covered if has_masks(exam) and block.object_covered is not None else block.covered
        share = np.clip(np.asarray(measured, np.float64), 0, 1)
    level = levels_of(share)
    names = (occluder.name, occluder.judge, occluder.family, "")
    kind, judge, family, relation = (np.full(size, name, object) for name in names)
    # One that happens to hide nothing is at no level: the unoccluded images are there already.
    return OccluderRows(
        **_of_block(exam, block), kind=kind, judge=judge, family=family, relation=relation, share=share,
        level=np.where(level == 0, -1, level),
    )  # fmt: skip


def _of_block(exam: Exam, block: AnswerBlock) -> dict[str, np.ndarray]:
    """The columns that do not depend on what was shown."""
    group = exam.column("group", block.ids)
    return {
        "correct": block.score, "pred": block.pred, "label": block.labels, "id": block.ids,
        "group": block.ids if group is None else group.astype(object),
    }  # fmt: skip


def _relations(exam: Exam, rows: np.ndarray, level: np.ndarray) -> np.ndarray:
    """Whether the occluder of each image is of the object's class: same_class, other_class, unknown, or empty for none."""
    columns = exam.samples["test"].columns
    if "type" in columns:
        relation = np.asarray(columns["type"])[rows].astype(object)
    elif "same_class" in columns:  # of generated worlds
        texts = np.asarray(columns["same_class"])[rows].tolist()
        same = np.array([str(text).lower() in ("true", "1") for text in texts])
        relation = np.where(same, "same_class", "other_class").astype(object)
    else:
        relation = np.full(len(rows), "unknown", object)
    known = np.isin(relation.astype(str), ("same_class", "other_class", "unknown"))
    return np.where(level > 0, np.where(known, relation, "unknown"), "").astype(object)


def _numbers(values: np.ndarray) -> np.ndarray:
    """float64, nan where a value is no number."""

    def number(value: object) -> float:
        try:
            return float(str(value))
        except ValueError:
            return float("nan")

    return np.array([number(value) for value in values.tolist()], np.float64)


_COLUMNS = tuple(column.name for column in fields(OccluderRows))
