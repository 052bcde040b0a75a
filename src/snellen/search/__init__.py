"""Worst-case search: what fools a model, asked as cleverly as its answers allow."""

from snellen.search.backgrounds import EveryBackground

__all__ = ["EveryBackground"]
