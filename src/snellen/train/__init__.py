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
    "Augment": "augment",
    "Groupdro": "groupdro",
    "PRESETS": "presets",
    "Pgd": "pgd",
    "Progress": "loop",
    "Recipe": "recipe",
    "TrainRequest": "request",
    "majority_loss": "mixing",
    "mixed_loss": "mixing",
    "parse_groupdro": "groupdro",
    "parse_mix": "mixing",
    "parse_pgd": "pgd",
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
    "PRESETS", "Augment", "Groupdro", "Pgd", "Progress", "Recipe", "TrainRequest", "majority_loss", "mixed_loss",
    "parse_groupdro", "parse_mix", "parse_pgd", "parse_schedule", "preset", "search_grid", "train",
]  # fmt: skip
