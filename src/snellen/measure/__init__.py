"""What it means: pure functions over answers, NumPy in, dataclass out. No files, no plots, no torch."""

from snellen.measure.accuracy import accuracy
from snellen.measure.augmentation import OverRuns, affinity, diversity
from snellen.measure.background import CATEGORIES, Categories, background_categories, bg_gap
from snellen.measure.background_attack import AttackSuccess, attack_success
from snellen.measure.background_progress import Trend, trend
from snellen.measure.background_scale import BySize, ScaleLeakage, SizeBin, accuracy_by_size, scale_leakage
from snellen.measure.bootstrap import bootstrap_interval, paired_difference
from snellen.measure.calibration_error import CalibrationError, calibration_error
from snellen.measure.compare import Comparison, compare, holm
from snellen.measure.detectors import DetectorUnits, concept_iou, detector_units
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
from snellen.measure.iocclusion_gap import Covered, IOcclusionGap, MeanIOcclusion, iocclusion_gap, mean_iocclusion
from snellen.measure.mean import mean_estimate
from snellen.measure.segmentation import Segmentation, segmentation
from snellen.measure.shape_bias import ShapeBias, shape_bias

__all__ = [
    "CATEGORIES",
    "AttackSuccess",
    "BySize",
    "CalibrationError",
    "Categories",
    "Chance",
    "Comparison",
    "Covered",
    "DetectorUnits",
    "Direction",
    "Estimate",
    "IOcclusion",
    "IOcclusionGap",
    "Interference",
    "Kind",
    "MeanIOcclusion",
    "OverRuns",
    "PublishedChance",
    "ScaleLeakage",
    "Segmentation",
    "ShapeBias",
    "SizeBin",
    "Trend",
    "accuracy",
    "accuracy_by_size",
    "affinity",
    "attack_success",
    "background_categories",
    "bg_gap",
    "bootstrap_interval",
    "calibration_error",
    "chance_of",
    "compare",
    "concept_iou",
    "detector_units",
    "direction",
    "diversity",
    "holm",
    "inside_mask",
    "interference",
    "interference_null",
    "iocclusion",
    "iocclusion_gap",
    "mean_estimate",
    "mean_iocclusion",
    "paired_difference",
    "published_chance",
    "scale_leakage",
    "segmentation",
    "shape_bias",
    "trend",
]
