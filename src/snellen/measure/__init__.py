"""What it means: pure functions over answers, NumPy in, dataclass out. No files, no plots, no torch."""

from snellen.measure.accuracy import accuracy
from snellen.measure.augmentation import OverRuns, affinity, diversity
from snellen.measure.bootstrap import bootstrap_interval, paired_difference
from snellen.measure.compare import Comparison, compare, holm
from snellen.measure.direction import Direction, direction
from snellen.measure.estimate import Estimate
from snellen.measure.inside import inside_mask
from snellen.measure.interference import Interference, interference
from snellen.measure.interference_chance import (
    Chance,
    Kind,
    PublishedChance,
    chance_of,
    interference_null,
    published_chance,
)
from snellen.measure.iocclusion import IOcclusion, iocclusion
from snellen.measure.shape_bias import ShapeBias, shape_bias

__all__ = [
    "Chance",
    "Comparison",
    "Direction",
    "Estimate",
    "IOcclusion",
    "Interference",
    "Kind",
    "OverRuns",
    "PublishedChance",
    "ShapeBias",
    "accuracy",
    "affinity",
    "bootstrap_interval",
    "chance_of",
    "compare",
    "direction",
    "diversity",
    "holm",
    "inside_mask",
    "interference",
    "interference_null",
    "iocclusion",
    "paired_difference",
    "published_chance",
    "shape_bias",
]
