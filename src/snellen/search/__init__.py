"""Worst-case search: what fools a model, asked as cleverly as its answers allow."""

from snellen.search.algorithms import Evolution, EvolutionThenClimb, RandomSearch
from snellen.search.backgrounds import EveryBackground
from snellen.search.constraint import Edges, OwnJudgement, SameAnswer, Ssim, parse_constraint
from snellen.search.feasible import Feasible
from snellen.search.image_fitness import ImageFitness
from snellen.search.run_search import Search, SearchResult

# Functions of the same name as their modules: imported here, they are what `snellen.search.space` and so on mean.
from snellen.search.space import Space, space
from snellen.search.trade_off import TradeOff, trade_off

__all__ = [
    "Edges", "EveryBackground", "Evolution", "EvolutionThenClimb", "Feasible", "ImageFitness", "OwnJudgement", "RandomSearch",
    "SameAnswer", "Search", "SearchResult", "Space", "Ssim", "TradeOff", "parse_constraint", "space", "trade_off",
]  # fmt: skip
