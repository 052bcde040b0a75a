"""Training that hardens: recipes, mixing and a loop for networks on images held in memory.

>>> from snellen.train import Recipe
>>> Recipe(mix="cutmix", seed=3).name
'smallnet-cutmix-3'
"""

from __future__ import annotations

import importlib
from typing import Any

# Names come from their modules on first use: the command line reads the recipe's settings before it knows what is asked.
_HOMES = {
    "Ada": "ada",
    "Augment": "augment",
    "Esda": "shift.ways",
    "Groupdro": "groupdro",
    "PRESETS": "presets",
    "PROTOCOLS": "protocols",
    "Pgd": "pgd",
    "Progress": "loop",
    "Rda": "shift.ways",
    "Recipe": "recipe",
    "Rsda": "shift.ways",
    "TrainRequest": "request",
    "majority_loss": "mixing",
    "mixed_loss": "mixing",
    "parse_groupdro": "groupdro",
    "parse_mix": "mixing",
    "parse_pgd": "pgd",
    "parse_robust": "robust",
    "parse_schedule": "schedule",
    "preset": "presets",
    "search_grid": "grid",
    "train": "runs",
}


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(importlib.import_module(f"snellen.train.{_HOMES[name]}"), name)
    raise AttributeError(f"module 'snellen.train' has no attribute '{name}'")


__all__ = [
    "PRESETS", "PROTOCOLS", "Ada", "Augment", "Esda", "Groupdro", "Pgd", "Progress", "Rda", "Recipe", "Rsda", "TrainRequest",
    "majority_loss", "mixed_loss", "parse_groupdro", "parse_mix", "parse_pgd", "parse_robust", "parse_schedule", "preset",
    "search_grid", "train",
]  # fmt: skip
