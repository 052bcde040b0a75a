"""What an interval is about: these runs on other images, or other runs of the same recipe too."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from snellen.measure import recipe_accuracy

RUN_FACTS = ("interval_of", "recipe_low", "recipe_high")


def run_facts(scores: np.ndarray, groups: ArrayLike | None) -> dict[str, Any]:
    """Facts of an accuracy of several runs, scores [runs, samples]; none of a single run.

    `interval_of` says in words what the finding's interval covers; `recipe_low` and `recipe_high` bound the accuracy of the
    recipe, were it run again and shown other images.
    """
    if len(scores) < 2:
        return {}
    recipe = recipe_accuracy(scores, groups)
    return {"interval_of": f"these {len(scores)} runs", "recipe_low": recipe.low, "recipe_high": recipe.high}
