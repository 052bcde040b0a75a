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
from snellen.measure.energy import EnergyGain, energy_gain, energy_pointing_game, gain_ratio, pointing_game
from snellen.measure.estimate import Estimate
from snellen.measure.faithfulness import (
    InterModelAuc,
    MeanCurve,
    curve_areas,
    insertion_curves,
    inter_model_auc,
    mean_curve,
    normalised_curves,
)
from snellen.measure.heat_ratio import effective_heat_ratio
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
from snellen.measure.localisation import suggested_boxes, wsol_iou, wsol_sweep
from snellen.measure.mean import mean_estimate
from snellen.measure.segmentation import Segmentation, segmentation, segmentation_of_counts
from snellen.measure.shape_bias import ShapeBias, shape_bias
from snellen.measure.standard_error import standard_error

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
    "EnergyGain",
    "Estimate",
    "IOcclusion",
    "IOcclusionGap",
    "InterModelAuc",
    "Interference",
    "Kind",
    "MeanCurve",
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
    "curve_areas",
    "detector_units",
    "direction",
    "diversity",
    "effective_heat_ratio",
    "energy_gain",
    "energy_pointing_game",
    "gain_ratio",
    "holm",
    "insertion_curves",
    "inside_mask",
    "inter_model_auc",
    "interference",
    "interference_null",
    "iocclusion",
    "iocclusion_gap",
    "mean_curve",
    "mean_estimate",
    "mean_iocclusion",
    "normalised_curves",
    "paired_difference",
    "pointing_game",
    "published_chance",
    "scale_leakage",
    "segmentation",
    "segmentation_of_counts",
    "shape_bias",
    "standard_error",
    "suggested_boxes",
    "trend",
    "wsol_iou",
    "wsol_sweep",
]
