"""`phantom:train?background_bias=0.8&size=32&n=2000`: a generated world whose truth is known."""

from __future__ import annotations

from collections.abc import Mapping

from snellen.data.colour_names import COLOURS
from snellen.data.dataset import Dataset, filter_rows
from snellen.data.phantom import presence
from snellen.data.phantom.dials import DIALS
from snellen.data.phantom.draw_list import EDGE_CLASS
from snellen.data.phantom.listing import COLUMNS
from snellen.data.phantom.paint import PaintedImages
from snellen.data.phantom.truth import Thing, Truth
from snellen.data.phantom.world import World, build_world, read_world
from snellen.errors import unknown
from snellen.lazy_names import finder, lister

TASKS = {"class": World.dataset, "presence": presence.dataset}


def load_phantom(path: str, options: Mapping[str, str]) -> Dataset:
    """The split `train` (4000 images) or `test` (1000) of the world that the options dial; see Dials and World.

    An option named after a column of the listing filters it, as in `?occlusion=1&level=severe`. `task=presence` asks
    whether there is an object instead of which; see presence.py.

    >>> from snellen.data.phantom import load_phantom
    >>> data = load_phantom("test", {"n": "24", "size": "32", "background_bias": "1"})
    >>> len(data), data.classes[:3]
    (24, ('disc', 'ring', 'crescent'))
    """
    task = options.get("task", "class")
    if task not in TASKS:
        raise unknown("phantom task", task, TASKS)
    wanted = {name: value for name, value in options.items() if name in (*COLUMNS, "label") and name not in DIALS}
    dials = {name: value for name, value in options.items() if name not in (*wanted, "task")}
    return filter_rows(TASKS[task](build_world(path, dials)), wanted)


# Public names; the exports themselves live in `snellen.build`, which imports this room.
_HOMES = {
    "Exported": "snellen.build.phantom",
    "FORMATS": "snellen.build.phantom",
    "export": "snellen.build.phantom",
}

__all__ = [
    "COLOURS",
    "DIALS",
    "EDGE_CLASS",
    "FORMATS",
    "Exported",
    "PaintedImages",
    "Thing",
    "Truth",
    "World",
    "export",
    "load_phantom",
    "presence",
    "read_world",
]
__getattr__ = finder(__name__, _HOMES)
__dir__ = lister(__all__)
