"""Worst-case search: what fools a model, asked as cleverly as its answers allow."""

from __future__ import annotations

from snellen.lazy_names import lister
from snellen.search.algorithms import ALGORITHMS, Evolution, EvolutionThenClimb, RandomSearch
from snellen.search.backgrounds import EveryBackground
from snellen.search.constraint import Edges, OwnJudgement, SameAnswer, Ssim, parse_constraint
from snellen.search.deletion import OrderedDeletion, RandomDeletion
from snellen.search.edit_search import EditSearch
from snellen.search.feasible import Feasible, TradeOff, trade_off
from snellen.search.hue import HueShift
from snellen.search.image_fitness import ImageFitness
from snellen.search.run_search import Search, SearchResult
from snellen.search.scores import confusion, correct, finds, pixel_accuracy
from snellen.search.searches import evolution_search, random_search, search
from snellen.search.spaces import SPACES, Space, space
from snellen.search.task_fitness import fitness_of

__all__ = [
    "ALGORITHMS", "SPACES", "Edges", "EditSearch", "EveryBackground", "Evolution", "EvolutionThenClimb", "Feasible",
    "HueShift", "ImageFitness", "OrderedDeletion", "OwnJudgement", "RandomDeletion", "RandomSearch", "SameAnswer",
    "Search", "SearchResult", "Space", "Ssim", "TradeOff", "confusion", "correct", "evolution_search", "finds",
    "fitness_of", "parse_constraint", "pixel_accuracy", "random_search", "search", "space", "trade_off",
]  # fmt: skip
__dir__ = lister(__all__)
