"""Asking, once: the plan, its execution and the store of answers."""

from snellen.engine.ask.maps import Maps
from snellen.engine.inputs import Inputs, Pools
from snellen.engine.keep.read_back import AnswerBlock, Answers, read_answers
from snellen.engine.keep.store import Store
from snellen.engine.plan import Plan, Requests, make_plan
from snellen.engine.progress import RunProgress
from snellen.engine.requests.cell import BoundCell, Cell
from snellen.engine.requests.map import MapRequest
from snellen.engine.settings import Settings
from snellen.lazy_names import lister

__all__ = [
    "AnswerBlock",
    "Answers",
    "BoundCell",
    "Cell",
    "Inputs",
    "MapRequest",
    "Maps",
    "Plan",
    "Pools",
    "Requests",
    "RunProgress",
    "Settings",
    "Store",
    "make_plan",
    "read_answers",
]  # fmt: skip
__dir__ = lister(__all__)
