"""`phantom:train?background_bias=0.8&size=32&n=2000`: a generated world whose truth is known."""

from __future__ import annotations

from collections.abc import Mapping

from snellen.data.dataset import Dataset, filtered
from snellen.data.phantom import presence
from snellen.data.phantom.basic import COLOURS
from snellen.data.phantom.dials import DIALS
from snellen.data.phantom.exports import FORMATS, Exported, export
from snellen.data.phantom.listing import COLUMNS
from snellen.data.phantom.paint import Rendered
from snellen.data.phantom.reading import dialled, read_world
from snellen.data.phantom.recipe import EDGE_CLASS
from snellen.data.phantom.truth import Thing, Truth
from snellen.data.phantom.world import World
from snellen.errors import unknown

TASKS = {"class": World.dataset, "presence": presence.dataset}


def phantom(path: str, options: Mapping[str, str]) -> Dataset:
    """The split `train` (4000 images) or `test` (1000) of the world that the options dial; see Dials and World.

    An option named after a column of the listing filters it, as in `?occlusion=1&level=severe`. `task=presence` asks
    whether there is an object instead of which; see presence.py.
    """
    task = options.get("task", "class")
    if task not in TASKS:
        raise unknown("phantom task", task, TASKS)
    wanted = {name: value for name, value in options.items() if name in (*COLUMNS, "label") and name not in DIALS}
    dials = {name: value for name, value in options.items() if name not in (*wanted, "task")}
    return filtered(TASKS[task](dialled(path, dials)), wanted)


__all__ = [
    "COLOURS",
    "DIALS",
    "EDGE_CLASS",
    "FORMATS",
    "Exported",
    "Rendered",
    "Thing",
    "Truth",
    "World",
    "export",
    "phantom",
    "presence",
    "read_world",
]
