"""Training that hardens: recipes, mixing and a loop for small networks on images held in memory.

>>> from snellen.train import Recipe
>>> Recipe(mix="cutmix", seed=3).name
'smallnet-cutmix-3'
"""

from __future__ import annotations

from snellen.train.loop import Progress, train
from snellen.train.mixing import MIXES, majority_loss, mixed_loss, parse_mix
from snellen.train.recipe import Recipe

__all__ = ["MIXES", "Progress", "Recipe", "majority_loss", "mixed_loss", "parse_mix", "train"]
