"""Training that hardens: recipes, mixing and a loop for networks on images held in memory.

>>> from snellen.train import Recipe
>>> Recipe(mix="cutmix", seed=3).name
'smallnet-cutmix-3'
"""

from __future__ import annotations

from snellen.train.grid import search_grid
from snellen.train.loop import Progress
from snellen.train.mixing import mixed_loss, parse_mix
from snellen.train.presets import PRESETS, preset
from snellen.train.recipe import Recipe
from snellen.train.runs import train
from snellen.train.schedule import parse_schedule

__all__ = [
    "PRESETS", "Progress", "Recipe", "mixed_loss", "parse_mix", "parse_schedule", "preset", "search_grid", "train",
]  # fmt: skip
