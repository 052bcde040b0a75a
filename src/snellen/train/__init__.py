"""Training that hardens: recipes, mixing and a loop for networks on images held in memory.

>>> from snellen.train import Recipe
>>> Recipe(mix="cutmix", seed=3).name
'smallnet-cutmix-3'
"""

from __future__ import annotations

from snellen.train.augment import Augment
from snellen.train.grid import search_grid
from snellen.train.groupdro import Groupdro, parse_groupdro
from snellen.train.loop import Progress
from snellen.train.mixing import majority_loss, mixed_loss, parse_mix
from snellen.train.pgd import Pgd, parse_pgd
from snellen.train.presets import PRESETS, preset
from snellen.train.recipe import Recipe
from snellen.train.runs import train
from snellen.train.schedule import parse_schedule

__all__ = [
    "PRESETS", "Augment", "Groupdro", "Pgd", "Progress", "Recipe", "majority_loss", "mixed_loss", "parse_groupdro",
    "parse_mix", "parse_pgd", "parse_schedule", "preset", "search_grid", "train",
]  # fmt: skip
