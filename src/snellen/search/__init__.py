"""Worst-case search: what fools a model, asked as cleverly as its answers allow."""

from __future__ import annotations

from snellen.search.algorithms import ALGORITHMS, Evolution, EvolutionThenClimb, RandomSearch
from snellen.search.backgrounds import EveryBackground
from snellen.search.edit_search import EditSearch
from snellen.search.hue import HueShift
from snellen.search.image_fitness import ImageFitness
from snellen.search.run_search import SearchResult
from snellen.search.searches import evolution_search, random_search, search
from snellen.search.space import SPACES, Space, space

__all__ = [
    "ALGORITHMS",
    "SPACES",
    "EditSearch",
    "EveryBackground",
    "Evolution",
    "EvolutionThenClimb",
    "HueShift",
    "ImageFitness",
    "RandomSearch",
    "SearchResult",
    "Space",
    "evolution_search",
    "random_search",
    "search",
    "space",
]
