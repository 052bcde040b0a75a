"""What it means: pure functions over answers, NumPy in, dataclass out. No files, no plots, no torch."""

from snellen.measure.accuracy import accuracy, recipe_accuracy
from snellen.measure.attention_mass import attention_mass, patch_shares
from snellen.measure.augmentation import OverRuns, affinity, diversity
from snellen.measure.background import CATEGORIES, Categories, background_categories, bg_gap
from snellen.measure.background_attack import AttackSuccess, attack_success
from snellen.measure.background_progress import Trend, trend
from snellen.measure.background_scale import BySize, ScaleLeakage, SizeBin, accuracy_by_size, scale_leakage
from snellen.measure.bootstrap import bootstrap_interval, paired_difference
from snellen.measure.calibration_error import CalibrationError, calibration_error
from snellen.measure.compare import Comparison, compare, detectable_difference, holm
from snellen.measure.detectors import DetectorUnits, concept_iou, detector_units
from snellen.measure.diffuseness import diffuseness
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
from snellen.measure.friedman import Friedman, friedman
from snellen.measure.heat_ratio import effective_heat_ratio
from snellen.measure.hierarchy import TreeDistances, at_level, hierarchical_accuracy, tree_depths, tree_distances
from snellen.measure.human import HumanAccuracy, TopRespondents, human_accuracy, top_respondents
from snellen.measure.human_gap import HumanGap, click_hits, human_gap, wrong_object_clicks
from snellen.measure.inside import inside_mask
from snellen.measure.interference import Interference, interference
from snellen.measure.interference_chance import (
    Chance,
    Kind,
    PublishedChance,
    chance_of,
    error_agreement,
    interference_null,
    published_chance,
)
from snellen.measure.interference_state import State, state_of
from snellen.measure.iocclusion import IOcclusion, iocclusion
from snellen.measure.iocclusion_gap import Covered, IOcclusionGap, MeanIOcclusion, iocclusion_gap, mean_iocclusion
from snellen.measure.iruo_tree import IRUO_CLASSES, IRUO_TREE
from snellen.measure.kendall import KendallTau, ProxyTau, kendall_tau, proxy_taus
from snellen.measure.localisation import suggested_boxes, wsol_iou, wsol_sweep
from snellen.measure.mean import mean_estimate
from snellen.measure.occlusion_levels import (
    GATE_BINS,
    LATTICE_BINS,
    POOLS,
    bin_middles,
    bin_names,
    occlusion_level,
    pool_kinds,
)
from snellen.measure.occlusion_residual import OcclusionResiduals, occlusion_residual
from snellen.measure.occlusion_table import KindAccuracy, accuracy_by_level, accuracy_by_share
from snellen.measure.rank_bootstrap import Ranks, rank_bootstrap
from snellen.measure.responses import without_observers
from snellen.measure.segmentation import Segmentation, segmentation, segmentation_of_counts
from snellen.measure.shape_bias import ShapeBias, shape_bias
from snellen.measure.standard_error import standard_error
from snellen.measure.tukey import tukey_outliers

__all__ = [
    "CATEGORIES",
    "GATE_BINS",
    "IRUO_CLASSES",
    "IRUO_TREE",
    "LATTICE_BINS",
    "POOLS",
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
    "Friedman",
    "HumanAccuracy",
    "HumanGap",
    "IOcclusion",
    "IOcclusionGap",
    "InterModelAuc",
    "Interference",
    "KendallTau",
    "Kind",
    "KindAccuracy",
    "MeanCurve",
    "MeanIOcclusion",
    "OcclusionResiduals",
    "OverRuns",
    "ProxyTau",
    "PublishedChance",
    "Ranks",
    "ScaleLeakage",
    "Segmentation",
    "ShapeBias",
    "SizeBin",
    "State",
    "TopRespondents",
    "TreeDistances",
    "Trend",
    "accuracy",
    "accuracy_by_level",
    "accuracy_by_share",
    "accuracy_by_size",
    "affinity",
    "at_level",
    "attack_success",
    "attention_mass",
    "background_categories",
    "bg_gap",
    "bin_middles",
    "bin_names",
    "bootstrap_interval",
    "calibration_error",
    "chance_of",
    "click_hits",
    "compare",
    "concept_iou",
    "curve_areas",
    "detectable_difference",
    "detector_units",
    "diffuseness",
    "direction",
    "diversity",
    "effective_heat_ratio",
    "energy_gain",
    "energy_pointing_game",
    "error_agreement",
    "friedman",
    "gain_ratio",
    "hierarchical_accuracy",
    "holm",
    "human_accuracy",
    "human_gap",
    "insertion_curves",
    "inside_mask",
    "inter_model_auc",
    "interference",
    "interference_null",
    "iocclusion",
    "iocclusion_gap",
    "kendall_tau",
    "mean_curve",
    "mean_estimate",
    "mean_iocclusion",
    "normalised_curves",
    "occlusion_level",
    "occlusion_residual",
    "paired_difference",
    "patch_shares",
    "pointing_game",
    "pool_kinds",
    "proxy_taus",
    "published_chance",
    "rank_bootstrap",
    "recipe_accuracy",
    "scale_leakage",
    "segmentation",
    "segmentation_of_counts",
    "shape_bias",
    "standard_error",
    "state_of",
    "suggested_boxes",
    "top_respondents",
    "tree_depths",
    "tree_distances",
    "trend",
    "tukey_outliers",
    "without_observers",
    "wrong_object_clicks",
    "wsol_iou",
    "wsol_sweep",
]
