"""Asking, once: the plan, its execution and the store of answers."""

from snellen.engine.ask.maps import Maps
from snellen.engine.inputs import Inputs
from snellen.engine.keep.read_back import Answers, Block, read_answers
from snellen.engine.keep.store import Store
from snellen.engine.plan import Plan, Requests, make_plan
from snellen.engine.pools import Pools
from snellen.engine.progress import Progress
from snellen.engine.requests.cell import BoundCell, Cell
from snellen.engine.requests.map import MapRequest
from snellen.engine.settings import Settings

__all__ = [
    "Answers",
    "Block",
    "BoundCell",
    "Cell",
    "Inputs",
    "MapRequest",
    "Maps",
    "Plan",
    "Pools",
    "Progress",
    "Requests",
    "Settings",
    "Store",
    "make_plan",
    "read_answers",
]  # fmt: skip
