"""Every object on every background: one trial per object, which ends at the first background that fools the model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np

from snellen.distort.background import Background
from snellen.distort.strips import replaced
from snellen.distort.view import Donors
from snellen.engine.requests.trial import Stage, Trial, TrialSteps
from snellen.lazy_torch import torch
from snellen.notation import text_form

if TYPE_CHECKING:
    from torch import Tensor

Rule = Literal["any", "background"]
FIRST_ROUND, LARGEST_ROUND, MATRIX_ROUND = 8, 1024, 256  # objects
SUCCESS, DOUBT = 255, 127  # what a try may be worth
WEIGHT = 2.0  # how many tries the wider knowledge counts for


@dataclass(frozen=True)
class EveryBackground(Trial):
    """Paste each object on every background of the donors, or on `backgrounds` of them, chosen by a hash of their ids.

    `rule=any`: an answer other than the object's class counts as fooled; `background`: only the background's own class does,
    and only backgrounds of other classes are tried. A trial ends at the first success, and the backgrounds are tried in the
    order of what the rounds before it learnt; with `rates` all are tried and every answer is kept. The object is its mask, or
    with `foreground=box` its box. Donors lose their objects (tiled); with `bare` they are backgrounds already.

    Columns: `fooled`; without `rates` also `background` (the id of the first that did), `answer` (the class it was taken for),
    `tried` (backgrounds up to it) and what each was `worth` (uint8: 255 for success, else up to 127 by the model's doubt);
    with `rates` instead `pred`, the class answered on each background in the order of the `things`. An image without object
    or label has none of them.
    """

    rule: Rule = "any"
    backgrounds: int = 0
    rates: bool = False
    foreground: Literal["mask", "box"] = "mask"
    bare: bool = False
    version: ClassVar[int] = 1
    own_data: ClassVar[bool] = True
    whole_pool: ClassVar[bool] = True
    speaks_of_things: ClassVar[bool] = True

    __str__ = text_form

    @property
    def needs(self) -> frozenset[str]:
        return frozenset({"masks" if self.foreground == "mask" else "boxes", "labels", "donors"})

    @property
    def donor_objects(self) -> bool:
        return not self.bare

    def rounds(self, samples: int) -> list[range]:
        """Small ones first, growing by half, so that the order is learnt early; each learns from all before it."""
        size, start, rounds = MATRIX_ROUND if self.rates else FIRST_ROUND, 0, []
        while start < samples:
            rounds.append(range(start, min(start + size, samples)))
            start += size
            size = size if self.rates else min(size + size // 2, LARGEST_ROUND)
        return rounds

    def most(self, samples: int, donors: int) -> int:
        """How many images are asked at most."""
        return samples * (min(self.backgrounds, donors) if self.backgrounds else donors)

    def begin(self, stage: Stage) -> PastingRound:
        return PastingRound(self, stage)

    def places(self, donors: Donors) -> np.ndarray:
        """int64 [B]: which donors lend their backgrounds, in the order they are first tried in: by a hash of their ids."""
        if donors.labels is None:
            raise ValueError("expected the donors' labels, to know what a background shows; pass Donors(…, labels=…)")
        able = np.flatnonzero((donors.labels if self.bare else donors.lenders.labels) >= 0)
        order = able[np.argsort(donors.keys[able], kind="stable")]
        return order[: self.backgrounds] if self.backgrounds else order

    def things(self, donors: Donors | None) -> dict[str, list[Any]]:
        """The backgrounds in the order of `pred`: place among the donors, id, class number and name."""
        assert donors is not None
        assert donors.labels is not None
        places = self.places(donors)
        ids, names = (words[places].tolist() for words in donors.named)
        return {"place": places.tolist(), "background": ids, "label": donors.labels[places].tolist(), "class": names}

    def pictures(self, donors: Donors | None, places: Sequence[int]) -> Tensor:
        """uint8 [n, 3, H, W]: the backgrounds of some donors, for a report."""
        assert donors is not None
        return self.lend(donors)[torch.tensor(places, device=donors.images.device)]

    def lend(self, donors: Donors) -> Tensor:
        """uint8 [N, 3, H, W]: what each donor lends."""
        return donors.images if self.bare else donors.backgrounds()


@dataclass(frozen=True)
class PastedObject:
    """A question: the object of one row on some backgrounds."""

    row: int
    places: np.ndarray

    def __len__(self) -> int:
        return len(self.places)


class PastingRound:
    """One round of `EveryBackground`."""

    def __init__(self, trial: EveryBackground, stage: Stage) -> None:
        assert stage.view.donors is not None
        assert stage.view.labels is not None
        donors = stage.view.donors
        assert donors.labels is not None
        self.trial, self.images, self.labels = trial, stage.images, stage.view.labels
        self.around = ~Background("only_fg", foreground=trial.foreground).object_of(stage.images, stage.view)
        self.usable = ~stage.view.notes.get("excluded", np.zeros(len(self.labels), bool)) & (self.labels >= 0)
        self.backgrounds, self.ids, self.classes = trial.lend(donors), donors.ids, donors.labels
        self.places = trial.places(donors)
        self.orders = {} if trial.rates else self._orders(stage)

    def start(self, row: int, room: int) -> TrialSteps:
        if not self.usable[row] or not len(self.places):
            return _nothing()
        return self._all(row, room) if self.trial.rates else self._until_fooled(row, room)

    def show(self, questions: Sequence[PastedObject]) -> Tensor:
        rows = np.repeat([question.row for question in questions], [len(question) for question in questions])
        row, place = (torch.from_numpy(values).to(self.images.device, non_blocking=True)
                      for values in (rows, np.concatenate([question.places for question in questions])))  # fmt: skip
        return replaced(self.images[row], self.around[row], self.backgrounds[place])

    def _until_fooled(self, row: int, room: int) -> TrialSteps:
        """Backgrounds in their order, until one succeeds. The longer none does, the more are tried at once: an eighth of what
        was tried may be in vain, where the others leave room."""
        label = int(self.labels[row])
        order, tried, worth = self.orders[label], 0, np.zeros(0, np.uint8)
        while tried < len(order):
            some = order[tried : tried + min(room, 1 + tried // 8)]
            reply = yield PastedObject(row, some)
            fooled = self._is_fooled(reply.pred, some, label)
            worth = np.concatenate([worth, _worth(fooled, reply.confidence)])
            if fooled.any():
                first = int(np.argmax(fooled))
                tried += first + 1
                return {
                    "fooled": True,
                    "background": self.ids[some[first]],
                    "answer": int(reply.pred[first]),
                    "tried": tried,
                    "worth": worth[:tried],
                }
            tried, room = tried + len(some), reply.room
        return {"fooled": False if tried else None, "background": "", "answer": label, "tried": tried, "worth": worth}

    def _all(self, row: int, room: int) -> TrialSteps:
        """Every background."""
        label, tried, answers = int(self.labels[row]), 0, []
        while tried < len(self.places):
            some = self.places[tried : tried + room]
            reply = yield PastedObject(row, some)
            answers.append(reply.pred.astype(np.int16))
            tried, room = tried + len(some), reply.room
        pred = np.concatenate(answers)
        eligible = self._is_eligible(self.places, label)
        return {
            "fooled": bool((self._is_fooled(pred, self.places, label)).any()) if eligible.any() else None,
            "pred": pred,
        }

    def _is_fooled(self, pred: np.ndarray, places: np.ndarray, label: int) -> np.ndarray:
        """bool: whether these answers on these backgrounds count as fooled."""
        if self.trial.rule == "any":
            return pred != label
        return self._is_eligible(places, label) & (pred == self.classes[places])

    def _is_eligible(self, places: np.ndarray, label: int) -> np.ndarray:
        """bool: the backgrounds that may fool an object of this class."""
        return np.full(len(places), self.trial.rule == "any") | (self.classes[places] != label)

    def _orders(self, stage: Stage) -> dict[int, np.ndarray]:
        """Class of objects → the order in which its trials try the backgrounds, by what all earlier rounds found."""
        classes = int(stage.labels.max(initial=0)) + 1
        record = Record(classes, len(self.places))
        orders = self._rank(record)
        for positions in self.trial.rounds(len(stage.labels)):
            if stage.positions[0] in positions:
                break
            for at in positions:
                label, row = int(stage.labels[at]), stage.earlier.get(at, {})
                if row.get("fooled") is not None:
                    record.add(label, orders[label], np.asarray(row["worth"]) / SUCCESS)
            orders = self._rank(record)
        return {label: self.places[order] for label, order in orders.items()}

    def _rank(self, record: Record) -> dict[int, np.ndarray]:
        """Class → numbers of the backgrounds that may fool its objects, the most promising first."""
        ranked = best_first(record)
        return {label: order[self._is_eligible(self.places[order], label)] for label, order in enumerate(ranked)}


def _worth(fooled: np.ndarray, confidence: np.ndarray) -> np.ndarray:
    """uint8: what a try tells of a background: all for a success, else by how unsure the model became."""
    return np.where(fooled, SUCCESS, np.clip(DOUBT * (1 - confidence), 0, DOUBT)).astype(np.uint8)


def _nothing() -> TrialSteps:
    """A trial that asks nothing, since there is no object."""
    return {"fooled": None}
    yield  # makes it a generator


def vulnerable(row: Mapping[str, Any] | None) -> float:
    """1 for an object that was fooled, 0 for one that was not, nan where nothing is known."""
    fooled = None if row is None or row["error"] else row.get("fooled")
    return float("nan") if fooled is None else float(fooled)


@dataclass
class Record:
    """How often each of `things` was tried on objects of each of `classes`, and the sum of what the tries were worth."""

    classes: int
    things: int
    tries: np.ndarray = field(init=False)
    worth: np.ndarray = field(init=False)

    def __post_init__(self) -> None:
        self.tries, self.worth = np.zeros((2, self.classes, self.things))

    def add(self, label: int, order: np.ndarray, worth: np.ndarray) -> None:
        """One object of a class, on which the first of the order were tried: what each was worth, 1 for a success."""
        things = order[: len(worth)]
        self.tries[label, things] += 1
        self.worth[label, things] += worth


def best_first(record: Record) -> np.ndarray:
    """int64 [classes, things]: for each class all things, the most promising first, ties in their own order.

    The mean worth on a class is drawn towards that on all classes, and that towards the mean of all things.
    """
    tries, worth = record.tries.sum(0), record.worth.sum(0)
    mean = (worth.sum() + 1) / (tries.sum() + 2)
    overall = (worth + WEIGHT * mean) / (tries + WEIGHT)
    return np.argsort(-(record.worth + WEIGHT * overall) / (record.tries + WEIGHT), axis=1, kind="stable")
