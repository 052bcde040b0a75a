"""`python:package.module:name` or `python:file.py:name`: the dataset that your own code makes; `file.py:name` for short.

The name is that of a dataset, or of a factory that returns one. `@argument` after a factory is passed to it.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from snellen.data.dataset import Dataset, filter_rows
from snellen.data.torch_data import from_torch_data
from snellen.errors import UserError
from snellen.user_code import user_code, user_object


def load_python(path: str, options: Mapping[str, str]) -> Dataset:
    """One of ours, of torch's, or one that follows MAITE's protocol, whose `__getitem__` tells it from a factory."""
    name, at, argument = path.partition("@")
    thing, text = user_object(name), f"python:{path}"
    is_factory = isinstance(thing, type) or not (isinstance(thing, Dataset) or _has_items(thing))
    if is_factory and not callable(thing):
        raise UserError(f"'{name}' is {type(thing).__name__}; expected a dataset, or a factory that returns one")
    if at and not is_factory:
        raise UserError(f"'{name}' is a dataset and no factory that takes '@{argument}'; leave that out")
    if is_factory:
        with user_code(f"the factory '{name}'"):
            thing = thing(argument) if at else thing()
    if isinstance(thing, Dataset):
        return filter_rows(thing, options)
    if not _has_items(thing) or isinstance(thing, str | Path):
        raise UserError(f"the factory '{name}' returned {type(thing).__name__}; expected a dataset")
    with user_code(f"the dataset '{name}'"):
        return filter_rows(from_torch_data(thing, text), options)


def _has_items(thing: object) -> bool:
    """Whether a thing is read by position, or is a loader of one that is."""
    return hasattr(thing, "__getitem__") or hasattr(thing, "dataset")
