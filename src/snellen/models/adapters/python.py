"""`python:package.module:name` or `python:file.py:name`: whatever your own code builds; `file.py:name` for short.

The name is that of a factory, which is called, or of a model that is there already. `@argument` after a factory is passed to
it, so that one factory serves many checkpoints: `python:nets.py:load@a.pt`.
"""

from __future__ import annotations

from pathlib import Path

from snellen.errors import UserError
from snellen.lazy_torch import torch
from snellen.models.device import Device
from snellen.models.maite import is_maite_model
from snellen.models.model import Model, as_model
from snellen.user_code import user_code, user_object


def load_python(name: str, argument: str | None, device: Device) -> Model:
    """The model that a factory returns, or that stands under this name: one of ours, a torch module, one that follows MAITE's
    protocol, or a callable from uint8 arrays to probabilities."""
    thing = user_object(name)
    label = name.rpartition(":")[2] if argument is None else Path(argument).stem
    if isinstance(thing, Model | torch.nn.Module) or is_maite_model(thing):
        if argument is not None:
            raise UserError(f"'{name}' is a model and no factory that takes '@{argument}'; leave that out")
    else:
        if not callable(thing):
            raise UserError(f"'{name}' is {type(thing).__name__}; expected a factory that returns a model, or a model")
        with user_code(f"the factory '{name}'"):
            thing = thing() if argument is None else thing(argument)
    return as_model(thing, None if isinstance(thing, Model) else label, device)
