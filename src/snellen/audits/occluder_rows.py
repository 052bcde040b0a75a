"""What a model answered to images under occluders, one row per image and type: what every table of the audit is made of."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, fields

import numpy as np

from snellen.audits.exam import Exam
from snellen.audits.occluder_types import OccluderType, has_masks, real_levels
from snellen.engine.keep.read_back import Answers, Block
from snellen.measure.occlusion_levels import Bins, occlusion_level
from snellen.measure.occlusion_table import CLEAN

REAL = "real"
HALVES: Bins = ((0, 0), (0, 0.5), (0.5, 1))  # as the levels of real occlusion: nothing, less than half, half or more


@dataclass(frozen=True)
class OccluderRows:
    """Answers of one model; `correct` and `pred` are [runs, rows], all others [rows].

    `kind` is the type of occluder, `none` for unoccluded images and `real` for those that were so when they were taken, `judge`
    the type that ranks models (all lattices of one size are one), `family` real, synthetic, diffuse or lattice. `share` is what
    is hidden, nan where it is not known, and `level` 0, 1 (less than half), 2, or −1 where it is none of these. `relation` says
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
        return OccluderRows(**{one.name: getattr(self, one.name)[..., rows] for one in fields(self)})

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
    shared = set.intersection(*(set(one.images()) for one in everyone))
    order = [key for key in everyone[0].images() if key in shared]
    places = [{key: place for place, key in enumerate(one.images())} for one in everyone]
    return [one.at(np.array([own[key] for key in order], int)) for one, own in zip(everyone, places)]


def has_groups(exam: Exam) -> bool:
    """Whether images come in groups such as videos."""
    return "group" in exam.samples["test"].columns


def _rows(exam: Exam, answers: Answers, types: Sequence[OccluderType]) -> OccluderRows:
    parts = [_as_taken(exam, answers[exam.clean()])]
    unoccluded = {sample for sample, level in zip(parts[0].id.tolist(), parts[0].level.tolist()) if level == 0}
    for one in types:
        rows = _under(exam, answers[one.cell(exam)], one)
        parts.append(rows.at(np.array([sample in unoccluded for sample in rows.id.tolist()], bool)))
    joined = {name: np.concatenate([getattr(part, name) for part in parts], axis=-1) for name in _NAMES}
    return OccluderRows(**{**joined, "group": np.unique(joined["group"].astype(str), return_inverse=True)[1]})


def _as_taken(exam: Exam, block: Block) -> OccluderRows:
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


def _under(exam: Exam, block: Block, one: OccluderType) -> OccluderRows:
    """The unoccluded images under a type of occluder."""
    size = len(block.ids)
    if one.share is not None:
        share = np.full(size, one.share)
    else:
        measured = block.object_covered if has_masks(exam) and block.object_covered is not None else block.covered
        share = np.clip(np.asarray(measured, np.float64), 0, 1)
    level = occlusion_level(share, HALVES)
    kind, judge, family, relation = (np.full(size, name, object) for name in (one.name, one.judge, one.family, ""))
    # One that happens to hide nothing is at no level: the unoccluded images are there already.
    return OccluderRows(
        **_of_block(exam, block), kind=kind, judge=judge, family=family, relation=relation, share=share,
        level=np.where(level == 0, -1, level),
    )  # fmt: skip


def _of_block(exam: Exam, block: Block) -> dict[str, np.ndarray]:
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
        same = np.array([str(one).lower() in ("true", "1") for one in np.asarray(columns["same_class"])[rows].tolist()])
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

    return np.array([number(one) for one in values.tolist()], np.float64)


_NAMES = tuple(one.name for one in fields(OccluderRows))
