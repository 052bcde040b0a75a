"""`http://host:port/path` and `https://…`: a model behind a web service, whatever it is written in.

The protocol is in `snellen.models.remote.protocol`, the settings in `snellen.models.remote.address`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np

from snellen.errors import UserError
from snellen.hashing import key_of
from snellen.models.device import Device
from snellen.models.model import Model, from_callable
from snellen.models.remote.address import Address, parse_address
from snellen.models.remote.client import Client
from snellen.models.remote.protocol import read_answer, read_labels, request_of


def http_loader(scheme: str) -> Callable[[str, str | None, Device], Model]:
    """What loads models of `http://…` or `https://…` texts."""

    def load(place: str, argument: str | None = None, device: Device = None) -> Model:
        return from_address(parse_address(f"{scheme}:{place}"))

    return load


def from_address(address: Address, client: Client | None = None) -> Model:
    """The model at an address. Its URL and its answers to the probe images stand for it, as for a callable."""
    service = Service(client or Client(address))
    model = from_callable(service, size=address.size, name=address.name, task=address.task)
    in_words = ["labels"] if address.answers == "labels" else []
    card = replace(
        model.card,
        text=address.url,
        fingerprint=key_of(["http", address.url, address.task, str(model.canvas), *in_words]),
        classes=service.classes,
    )
    return replace(model, card=card)


@dataclass
class Service:
    """A callable from uint8 images [n, H, W, 3] to what the service answers, `batch` of them per request.

    `classes` are those that its first answer named: the later ones must agree.
    """

    client: Client
    classes: tuple[str, ...] | None = field(default=None, init=False)
    _width: int = field(default=-1, init=False, repr=False)

    def __call__(self, images: np.ndarray) -> object:
        batch = self.client.address.batch
        parts = [self._ask(images[start : start + batch]) for start in range(0, len(images), batch)]
        if self.client.address.task == "detection":
            return [boxes for part in parts for boxes in part]
        return np.concatenate(parts)

    def _ask(self, images: np.ndarray) -> np.ndarray:
        address = self.client.address
        source = f"the answer of {address.url}"
        shape = (len(images), images.shape[1], images.shape[2])
        content = self.client.post(request_of(images))
        answers: np.ndarray
        classes: tuple[str, ...] | None
        if address.answers == "labels":
            answers, classes = read_labels(content, len(images), source)
        else:
            answers, classes = read_answer(content, shape, address.task, source)
        width = answers.shape[1] if address.task == "classification" else 0
        if self._width < 0:
            self.classes, self._width = classes, width
        elif classes != self.classes or width != self._width:
            raise UserError(
                f"{source} has other classes than its first one; restart the audit with one model behind it"
            )
        return answers
