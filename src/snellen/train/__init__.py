"""Training that hardens: recipes, mixing and a loop for networks on images held in memory.

>>> from snellen.train import Recipe
>>> Recipe(mix="cutmix", seed=3).name
'smallnet-cutmix-3'
"""

from __future__ import annotations

from snellen.lazy_names import finder, lister

# Names come from their modules on first use: the command line reads the recipe's settings before it knows what is asked.
_HOMES = {
    "Ada": "snellen.train.ada",
    "Augment": "snellen.train.augment",
    "Esda": "snellen.train.shift.ways",
    "Groupdro": "snellen.train.groupdro",
    "PRESETS": "snellen.train.presets",
    "PROTOCOLS": "snellen.train.protocols",
    "Pgd": "snellen.train.pgd",
    "Progress": "snellen.train.loop",
    "Rda": "snellen.train.shift.ways",
    "Recipe": "snellen.train.recipe",
    "Rsda": "snellen.train.shift.ways",
    "TrainRequest": "snellen.train.request",
    "augment": "snellen.train.augment",
    "majority_loss": "snellen.train.mixing",
    "mixed_loss": "snellen.train.mixing",
    "mixing": "snellen.train.mixing",
    "parse_groupdro": "snellen.train.groupdro",
    "parse_mix": "snellen.train.mixing",
    "parse_pgd": "snellen.train.pgd",
    "parse_robust": "snellen.train.robust",
    "parse_schedule": "snellen.train.schedule",
    "pgd": "snellen.train.pgd",
    "preset": "snellen.train.presets",
    "robust": "snellen.train.robust",
    "search_grid": "snellen.train.grid",
    "shift": "snellen.train.shift",
    "train": "snellen.train.runs",
}

__all__ = [*_HOMES]
__getattr__ = finder(__name__, _HOMES)
__dir__ = lister(__all__)
