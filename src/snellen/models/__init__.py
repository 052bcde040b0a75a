"""Models to audit: adapters from networks, files and functions to one shape of model."""

from __future__ import annotations

from snellen.errors import UserError
from snellen.lazy_names import finder, lister
from snellen.models.card import Card
from snellen.models.device import Device
from snellen.models.model import Model, as_model, from_callable, from_torch
from snellen.models.subject import Subject, subjects_of

_HOMES = {
    "observers": "snellen.models.observers",  # they need the phantom world
    "from_labels": "snellen.models.text_answers",
    "from_maite": "snellen.models.maite",
}

__all__ = [
    "Card", "Model", "Subject", "as_model", "from_callable", "from_labels", "from_maite", "from_torch", "load_model", "observers",
    "subjects_of",
]  # fmt: skip
__getattr__ = finder(__name__, _HOMES)
__dir__ = lister(__all__)


def load_model(text: str, device: Device = None) -> Model:
    """The model a text names, such as `timm:resnet18.a1_in1k` or `zoo:resnet20@file.safetensors`.

    >>> from snellen.models import load_model
    >>> load_model("observer:texture").name
    'texture'
    """
    subjects = subjects_of(text, device)
    if len(subjects) > 1:
        raise UserError(f"'{text}' names {len(subjects)} runs; load one of them, or audit them together")
    return subjects[0].model(device).named(subjects[0].name)
