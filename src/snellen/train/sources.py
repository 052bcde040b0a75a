"""What goes into a training: its datasets, read and checked before anything is trained."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from snellen.data import as_data, load_data
from snellen.data.dataset import Dataset, limited
from snellen.errors import UserError
from snellen.files import expand_home
from snellen.models.compositional import is_compositional, parse_compositional
from snellen.train.ada import Ada
from snellen.train.device_dataset import has_label_maps
from snellen.train.feature_augmentation import Dfa
from snellen.train.groupdro import Groupdro, SampleGroups, groups_of
from snellen.train.hold_out import group_column, hold_out
from snellen.train.init_from import Start
from snellen.train.recipe import Recipe
from snellen.train.request import TrainRequest
from snellen.train.robust import Way, parse_robust
from snellen.train.shift.tuple_set import WorstTuple, fingerprint_of, read_tuples
from snellen.train.shift.ways import Rda, Searching


@dataclass(frozen=True, kw_only=True)
class Sources:
    """The datasets of a training, and what else goes into it."""

    data: Dataset
    training: Dataset
    held_out: Dataset | None
    test: Dataset | None
    partner: Dataset | None
    start: Start | None
    groups: SampleGroups | None
    tuples: Sequence[WorstTuple]
    identity: dict[str, Any] = field(repr=False)

    @classmethod
    def of(cls, request: TrainRequest, data: Dataset | None = None) -> Sources:
        """Read and check them; nothing is trained yet."""
        data = data or limited(as_data(request.data), request.limit)
        test = None if request.test is None else as_data(request.test)
        partner = None if request.partner is None else as_data(request.partner)
        _check(request.how, data, test, partner)
        training, held_out = hold_out(data, request.holdout) if request.holdout else (data, None)
        start = Start.of(request.init) if request.init is not None else None
        way = parse_robust(request.how.robust)
        groups = groups_of(training, way) if isinstance(way, Groupdro) else None
        tuples = _stored_tuples(way)
        identity = {
            "data": data.text,
            "fingerprint": data.fingerprint,
            "holdout": request.holdout,
            "holdout_by": group_column(data) if request.holdout else None,
            "partner": partner.fingerprint if partner is not None else None,
            "init": start.fingerprint if start is not None else None,
            "groups": groups.fingerprint if groups is not None else None,
            "edit_set": way.fingerprint if isinstance(way, Rda) else None,
            "start_set": fingerprint_of(tuples) if tuples is not None else None,
            "occluders": way.pool.fingerprint if isinstance(way, Dfa) else None,
            "backgrounds": _backgrounds(request.how.arch),
        }
        return cls(
            data=data, training=training, held_out=held_out, test=test, partner=partner, start=start, groups=groups,
            tuples=tuples or (), identity=identity,
        )  # fmt: skip


def _backgrounds(arch: str) -> str | None:
    """The fingerprint of the images that a compositional network knows clutter from; None where it names none."""
    settings = parse_compositional(arch) if is_compositional(arch) else None
    return load_data(settings.backgrounds).fingerprint if settings is not None and settings.backgrounds else None


def _stored_tuples(way: Way | None) -> Sequence[WorstTuple] | None:
    """The tuples of edits that a training begins with; None where it names no file of them."""
    if not isinstance(way, Searching) or way.start is None:
        return None
    return read_tuples(expand_home(way.start))


def _check(recipe: Recipe, data: Dataset, test: Dataset | None, partner: Dataset | None) -> None:
    for dataset in (data, test, partner):
        if dataset is not None and not len(dataset):
            raise UserError(f"{dataset.text} holds no images")
    way = parse_robust(recipe.robust)
    if has_label_maps(data) and isinstance(way, Groupdro):
        raise UserError(f"groupdro weighs groups of images, but {data.text} is learnt pixel by pixel")
    if has_label_maps(data) and isinstance(way, Ada):
        raise UserError(f"ada is for classes of whole images, but {data.text} is learnt pixel by pixel; try esda")
    if has_label_maps(data) and isinstance(way, Dfa):
        raise UserError(f"dfa is for classes of whole images, but {data.text} is learnt pixel by pixel")
    if not has_label_maps(data):
        present = np.unique(data.samples.labels[data.samples.labels >= 0])
        if len(present) < 2:
            known = f"only the class '{data.classes[present[0]]}'" if len(present) else "no known class"
            raise UserError(f"{data.text} shows {known}; training needs at least two")
    if test is not None and test.classes != data.classes:
        raise UserError(f"{test.text} has other classes than {data.text}: {_few(test.classes)} ≠ {_few(data.classes)}")


def _few(classes: tuple[str, ...]) -> str:
    return ", ".join(classes[:4]) + (f", … ({len(classes)})" if len(classes) > 4 else "")
