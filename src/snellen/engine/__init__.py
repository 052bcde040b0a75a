"""Asking, once: the plan, its execution and the store of answers."""

from snellen.engine.answers import Answers, Block, read_answers
from snellen.engine.cell import Asked, Cell
from snellen.engine.map_request import MapRequest
from snellen.engine.maps import Maps
from snellen.engine.plan import Plan, make_plan
from snellen.engine.progress import Progress
from snellen.engine.settings import Settings
from snellen.engine.store import Store

__all__ = [
    "Answers", "Asked", "Block", "Cell", "MapRequest", "Maps", "Plan", "Progress", "Settings", "Store", "make_plan",
    "read_answers",
]  # fmt: skip
