"""Worst-case search: what fools a model, asked as cleverly as its answers allow."""

from snellen.search.backgrounds import EveryBackground
from snellen.search.space import (  # the function; `import snellen.search.space` by name still gives the module
    Space,
    space,
)

__all__ = ["EveryBackground", "Space", "space"]
