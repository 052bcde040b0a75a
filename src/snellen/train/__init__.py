"""Training that hardens: recipes, mixing and a loop for small networks on images held in memory.

>>> from snellen.train import Recipe
>>> Recipe(mix="cutmix", seed=3).name
'smallnet-cutmix-3'
"""

from __future__ import annotations

from snellen.train.loop import Progress, train
from snellen.train.mixing import MIXES, cutmix, mixed_loss
from snellen.train.recipe import Recipe

__all__ = ["MIXES", "Progress", "Recipe", "cutmix", "mixed_loss", "train"]
