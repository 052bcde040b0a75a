"""`http://host:port/path` and `https://…`: a model behind a web service, whatever it is written in.

The protocol is in `snellen.models.remote.protocol`, the settings in `snellen.models.remote.address`.
"""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from snellen.errors import UserError
from snellen.hashing import key_of
from snellen.models.device import Device
from snellen.models.model import Model, from_callable
from snellen.models.remote.address import Address, parse_address
from snellen.models.remote.client import Declined
from snellen.models.remote.fleet import Fleet, fleet_of
from snellen.models.remote.protocol import read_answer, read_labels, request_of
from snellen.models.tasks import READERS, at_rows

if TYPE_CHECKING:
    from torch import Tensor


def http_loader(scheme: str) -> Callable[[str, str | None, Device], Model]:
    """What loads models of `http://…` or `https://…` texts."""

    def load(place: str, argument: str | None = None, device: Device = None) -> Model:
        return from_address(parse_address(f"{scheme}:{place}"))

    return load


def from_address(address: Address, fleet: Fleet | None = None) -> Model:
    """The model at an address. Its URL stands for it; by its answers to the probe images it is seen whether it drifts."""
    service = Service(fleet or fleet_of(address))
    model = from_callable(service, size=address.size, name=address.name, task=address.task)
    in_words = ["labels"] if address.answers == "labels" else []
    facts = ["http", address.url, address.task, str(model.canvas), *in_words]
    card = replace(
        model.card,
        text=address.url,
        fingerprint=key_of([*facts, *address.of_repeat]),
        service=key_of(facts),
        classes=service.classes,
        at_once=address.at_once,
        varies=True,
    )
    return replace(model, card=card, by_row=service.by_row, fleets=(service.fleet,))


@dataclass
class Service:
    """A callable from uint8 images [n, H, W, 3] to what the service answers, `batch` of them per request.

    `classes` are those that its first answer named: the later ones must agree.
    """

    fleet: Fleet
    classes: tuple[str, ...] | None = field(default=None, init=False)
    _width: int = field(default=-1, init=False, repr=False)
    _lock: threading.Lock = field(default_factory=threading.Lock, init=False, repr=False)

    def __reduce__(self) -> Any:
        return _service, (self.fleet, self.classes, self._width)  # a lock stays where it is

    def __call__(self, images: np.ndarray) -> object:
        """The answers to all images; where the service declines some of them, its reason is raised."""
        answers, _, errors = self.ask(images)
        for declined in errors.values():
            raise declined
        return answers

    def by_row(self, pixels: Tensor) -> tuple[Tensor, dict[int, str]]:
        """What a model answers to images [n, 3, H, W], and by row why there is no answer to some of them."""
        arrays, address = pixels.permute(0, 2, 3, 1).contiguous().cpu().numpy(), self.fleet.address
        answers, rows, errors = self.ask(arrays)
        shape = (len(rows), *arrays.shape[1:3])
        read = READERS[address.task](answers, shape, address.name) if rows else None
        reasons = {row: f"{type(error).__name__}: {error}" for row, error in errors.items()}
        return at_rows(read, rows, (len(arrays), *arrays.shape[1:3]), address.task, self._width), reasons

    def ask(self, images: np.ndarray) -> tuple[object, list[int], dict[int, Declined]]:
        """The answers to the rows that the service takes, these rows, and why it declines others.

        A declined request of several images is asked again image by image: which of them it was is not known.
        """
        batch = self.fleet.address.batch
        answered, declined = self._post(
            images, [range(start, min(start + batch, len(images))) for start in range(0, len(images), batch)]
        )
        singles = [range(row, row + 1) for rows in declined for row in rows if len(rows) > 1]
        errors = {rows[0]: error for rows, error in declined.items() if len(rows) == 1}
        if singles:
            more, refused = self._post(images, singles)
            answered |= more
            errors |= {rows[0]: error for rows, error in refused.items()}
        spans = sorted(answered, key=lambda rows: rows.start)
        parts = [answered[rows] for rows in spans]
        in_order = [row for rows in spans for row in rows]
        if self.fleet.address.task == "detection":
            return [boxes for part in parts for boxes in part], in_order, errors
        return np.concatenate(parts) if parts else np.zeros((0, 0)), in_order, errors

    def _post(
        self, images: np.ndarray, spans: Sequence[range]
    ) -> tuple[dict[range, np.ndarray], dict[range, Declined]]:
        """One request for each span of rows: the answers, and the errors of those that the service declines."""

        bodies = (functools.partial(request_of, images[rows.start : rows.stop]) for rows in spans)

        def read(number: int, content: bytes) -> np.ndarray:
            return self._read(content, (len(spans[number]), *images.shape[1:3]))

        outcomes = dict(zip(spans, self.fleet.post_all(bodies, read)))
        declined = {rows: outcome for rows, outcome in outcomes.items() if isinstance(outcome, Declined)}
        return {rows: outcome for rows, outcome in outcomes.items() if not isinstance(outcome, Declined)}, declined

    def _read(self, content: bytes, shape: tuple[int, int, int]) -> np.ndarray:
        """The answer to one request, whose classes must be those of the first one."""
        address = self.fleet.address
        source = f"the answer of {address.url}"
        answers: np.ndarray
        classes: tuple[str, ...] | None
        if address.answers == "labels":
            answers, classes = read_labels(content, shape[0], source)
        else:
            answers, classes = read_answer(content, shape, address.task, source)
        width = answers.shape[1] if address.task == "classification" else 0
        with self._lock:
            if self._width < 0:
                self.classes, self._width = classes, width
        if classes != self.classes or width != self._width:
            raise UserError(
                f"{source} has other classes than its first one; restart the audit with one model behind it"
            )
        return answers


def _service(fleet: Fleet, classes: tuple[str, ...] | None, width: int) -> Service:
    """A service that has travelled: it knows its classes still."""
    service = Service(fleet)
    service.classes, service._width = classes, width
    return service
