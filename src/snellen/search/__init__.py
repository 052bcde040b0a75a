"""Worst-case search: what fools a model, asked as cleverly as its answers allow."""

from __future__ import annotations

from snellen.search.algorithms import ALGORITHMS, Evolution, EvolutionThenClimb, RandomSearch
from snellen.search.backgrounds import EveryBackground
from snellen.search.box_scores import finds
from snellen.search.constraint import Edges, OwnJudgement, SameAnswer, Ssim, parse_constraint
from snellen.search.deletion import OrderedDeletion, RandomDeletion
from snellen.search.edit_search import EditSearch
from snellen.search.feasible import Feasible
from snellen.search.hue import HueShift
from snellen.search.image_fitness import ImageFitness
from snellen.search.pixel_scores import confusion, pixel_accuracy
from snellen.search.run_search import Search, SearchResult
from snellen.search.scores import correct
from snellen.search.searches import evolution_search, random_search, search

# Functions of the same name as their modules: imported here, they are what `snellen.search.space` and so on mean.
from snellen.search.space import SPACES, Space, space
from snellen.search.task_fitness import fitness_of
from snellen.search.trade_off import TradeOff, trade_off

__all__ = [
    "ALGORITHMS", "SPACES", "Edges", "EditSearch", "EveryBackground", "Evolution", "EvolutionThenClimb", "Feasible",
    "HueShift", "ImageFitness", "OrderedDeletion", "OwnJudgement", "RandomDeletion", "RandomSearch", "SameAnswer",
    "Search", "SearchResult", "Space", "Ssim", "TradeOff", "confusion", "correct", "evolution_search", "finds",
    "fitness_of", "parse_constraint", "pixel_accuracy", "random_search", "search", "space", "trade_off",
]  # fmt: skip
