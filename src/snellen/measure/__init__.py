"""What it means: pure functions over answers, NumPy in, dataclass out. No files, no plots, no torch."""

from snellen.measure.accuracy import accuracy
from snellen.measure.bootstrap import bootstrap_interval, paired_difference
from snellen.measure.compare import Comparison, compare, holm
from snellen.measure.estimate import Estimate
from snellen.measure.interference import Interference, interference, interference_null

__all__ = [
    "Comparison",
    "Estimate",
    "Interference",
    "accuracy",
    "bootstrap_interval",
    "compare",
    "holm",
    "interference",
    "interference_null",
    "paired_difference",
]
