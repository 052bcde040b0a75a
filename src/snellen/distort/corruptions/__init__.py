"""The common corruptions of Hendrycks & Dietterich 2019, for images of any size."""

from snellen.distort.corruptions.constants import COMMON, EXTRA, SEVERITIES
from snellen.distort.corruptions.corruption import CORRUPTIONS, Corruption

__all__ = ["COMMON", "CORRUPTIONS", "EXTRA", "SEVERITIES", "Corruption"]
