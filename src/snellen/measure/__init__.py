"""What it means: pure functions over answers, NumPy in, dataclass out. No files, no plots, no torch."""

from snellen.lazy_names import lister
from snellen.measure.accuracies import accuracy, recipe_accuracy
from snellen.measure.accuracy_lines import OcclusionResiduals, Trend, occlusion_residual, trend
from snellen.measure.attention_on_patches import attention_mass, patch_shares
from snellen.measure.augmentation import OverRuns, affinity, diversity
from snellen.measure.averages import mean_estimate, standard_error
from snellen.measure.background import CATEGORIES, Categories, background_categories, bg_gap
from snellen.measure.background_attack import AttackSuccess, attack_success
from snellen.measure.background_scale import BySize, ScaleLeakage, SizeBin, accuracy_by_size, scale_leakage
from snellen.measure.bootstrap import bootstrap_interval, paired_difference
from snellen.measure.bootstrap_ranks import Ranks, rank_bootstrap
from snellen.measure.bound_test import BoundTest, interval_test, share_test
from snellen.measure.calibration import CalibrationError, calibration_error
from snellen.measure.comparison import Comparison, compare, detectable_difference, holm
from snellen.measure.corruptions import CorruptionError, corruption_error
from snellen.measure.detectors import DetectorUnits, concept_iou, detector_units
from snellen.measure.energy import EnergyGain, energy_gain, energy_pointing_game, gain_ratio, inside_mask, pointing_game
from snellen.measure.error_direction import Direction, direction
from snellen.measure.error_kappa import ErrorConsistency, error_consistencies, error_consistency
from snellen.measure.estimate import Estimate
from snellen.measure.exchanged_models import equal_models_p
from snellen.measure.faithfulness import (
    InterModelAuc,
    MeanCurve,
    curve_areas,
    insertion_curves,
    inter_model_auc,
    mean_curve,
    normalised_curves,
)
from snellen.measure.friedman_test import Friedman, friedman
from snellen.measure.heat_ratio import effective_heat_ratio
from snellen.measure.hierarchy import (
    IRUO_CLASSES,
    IRUO_TREE,
    TreeDistances,
    at_level,
    hierarchical_accuracy,
    tree_depths,
    tree_distances,
)
from snellen.measure.human import HumanAccuracy, TopRespondents, human_accuracy, top_respondents, tukey_outliers
from snellen.measure.interference_chance import (
    Chance,
    Kind,
    PublishedChance,
    State,
    chance_of,
    error_agreement,
    interference_null,
    published_chance,
    state_of,
)
from snellen.measure.interference_estimate import Interference, interference
from snellen.measure.iocclusion_difference import (
    Covered,
    IOcclusionGap,
    MeanIOcclusion,
    iocclusion_gap,
    mean_iocclusion,
)
from snellen.measure.iocclusion_ratio import IOcclusion, iocclusion
from snellen.measure.kendall import KendallTau, ProxyTau, kendall_tau, proxy_taus
from snellen.measure.localisation import suggested_boxes, wsol_iou, wsol_sweep
from snellen.measure.mask_diffuseness import diffuseness
from snellen.measure.occlusion_levels import (
    GATE_BINS,
    LATTICE_BINS,
    POOLS,
    bin_middles,
    bin_names,
    occlusion_level,
    pool_kinds,
)
from snellen.measure.occlusion_table import KindAccuracy, accuracy_by_level, accuracy_by_share
from snellen.measure.paired_changes import PairedBound, paired_bound
from snellen.measure.people_and_models import HumanGap, click_hits, human_gap, wrong_object_clicks
from snellen.measure.rank_differences import CriticalDifference, critical_difference
from snellen.measure.repeats import accuracy_noise, answer_changes
from snellen.measure.responses import without_observers
from snellen.measure.reviewers import ReviewerAgreement, reviewer_agreement
from snellen.measure.right_alone import Flips, flips
from snellen.measure.segmentation_scores import Segmentation, segmentation, segmentation_of_counts
from snellen.measure.shape_and_texture import ShapeBias, shape_bias
from snellen.measure.simulated_people import SimulatedPeople, SimulatedPerson
from snellen.measure.study_plan import (
    StudyAssumptions,
    StudyOption,
    StudyPlan,
    pilot_assumptions,
    plan_study,
    study_power,
)

__all__ = [
    "CATEGORIES",
    "GATE_BINS",
    "IRUO_CLASSES",
    "IRUO_TREE",
    "LATTICE_BINS",
    "POOLS",
    "AttackSuccess",
    "BoundTest",
    "BySize",
    "CalibrationError",
    "Categories",
    "Chance",
    "Comparison",
    "CorruptionError",
    "Covered",
    "CriticalDifference",
    "DetectorUnits",
    "Direction",
    "EnergyGain",
    "ErrorConsistency",
    "Estimate",
    "Flips",
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
    "PairedBound",
    "ProxyTau",
    "PublishedChance",
    "Ranks",
    "ReviewerAgreement",
    "ScaleLeakage",
    "Segmentation",
    "ShapeBias",
    "SimulatedPeople",
    "SimulatedPerson",
    "SizeBin",
    "State",
    "StudyAssumptions",
    "StudyOption",
    "StudyPlan",
    "TopRespondents",
    "TreeDistances",
    "Trend",
    "accuracy",
    "accuracy_by_level",
    "accuracy_by_share",
    "accuracy_by_size",
    "accuracy_noise",
    "affinity",
    "answer_changes",
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
    "corruption_error",
    "critical_difference",
    "curve_areas",
    "detectable_difference",
    "detector_units",
    "diffuseness",
    "direction",
    "diversity",
    "effective_heat_ratio",
    "energy_gain",
    "energy_pointing_game",
    "equal_models_p",
    "error_agreement",
    "error_consistencies",
    "error_consistency",
    "flips",
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
    "interval_test",
    "iocclusion",
    "iocclusion_gap",
    "kendall_tau",
    "mean_curve",
    "mean_estimate",
    "mean_iocclusion",
    "normalised_curves",
    "occlusion_level",
    "occlusion_residual",
    "paired_bound",
    "paired_difference",
    "patch_shares",
    "pilot_assumptions",
    "plan_study",
    "pointing_game",
    "pool_kinds",
    "proxy_taus",
    "published_chance",
    "rank_bootstrap",
    "recipe_accuracy",
    "reviewer_agreement",
    "scale_leakage",
    "segmentation",
    "segmentation_of_counts",
    "shape_bias",
    "share_test",
    "standard_error",
    "state_of",
    "study_power",
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
__dir__ = lister(__all__)
