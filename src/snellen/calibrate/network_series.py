"""The calibration series of networks, trained for each rung on a world with something planted.

`trained_keeping_…` and `trained_paint_…` are the twins of `keeping_…` and `paint_…`, whose observers know what they keep; what a
network keeps has to be learnt.
"""

from __future__ import annotations

from math import nan
from statistics import fmean, stdev
from typing import TYPE_CHECKING, Any

from snellen.calibrate.cover_training import LEARNT, STRANGERS, cover_with_black, cover_with_noise
from snellen.calibrate.ladder import TEST, Ladder
from snellen.data.phantom import EDGE_CLASS

if TYPE_CHECKING:
    from snellen.report.results import AnyFinding

BIASED_TRAIN = "phantom:train?size={size}&n=2000&background_bias={x}"
TILES = "tiles(grid=4, share=0.3, fill=noise)"
SOFT = "soft_shuffle(grid=4, width=0.75)"
# Without the classes that have straight edges of their own, for which any network takes a square. Tiles of noise were
# chosen on the world of seed 0, so the series stand on another.
EDGES: dict[str, Any] = {
    "train": "phantom:train?size={size}&n=2400&seed=1&edge_class={x}&without=square,cross",
    "data": TEST + "&seed=1&without=square,cross",
    "values": (0, 0.25, 0.5, 0.75, 1),
}
# World, sizes and covers of the networks under cover were chosen on the world of seed 0 too.
COVERED_WORLD = "size={size}&seed=1&texture_bias=0.6&object_size=0.7..0.9"
COVERED: dict[str, Any] = {
    "train": f"phantom:train?{COVERED_WORLD}&n={LEARNT + STRANGERS}",
    "audit_train": f"phantom:train?{COVERED_WORLD}&n={LEARNT}",
    "data": f"phantom:test?{COVERED_WORLD}&n={{images}}",
}
UNDER_NOISE: dict[str, Any] = {**COVERED, "make_training_data": cover_with_noise, "values": (0, 0.2, 0.4, 0.6, 0.8)}
UNDER_BLACK: dict[str, Any] = {**COVERED, "make_training_data": cover_with_black, "values": (0, 0.1, 0.2, 0.3, 0.4)}


def planted_rise(finding: AnyFinding) -> tuple[float, float, float]:
    """The rise in EDGE_CLASS's share of the errors, mean over the runs with Student's 95% interval."""
    from scipy.special import stdtrit

    place = finding.facts.classes.index(EDGE_CLASS)
    rises = [nan if (rise := run[place]) is None else rise for run in finding.facts.increase]
    half = float(stdtrit(len(rises) - 1, 0.975)) * stdev(rises) / len(rises) ** 0.5
    return fmean(rises), fmean(rises) - half, fmean(rises) + half


# fmt: off
NETWORK_SERIES: dict[str, Ladder] = {
    "trained_background": Ladder(
        "A network that learnt backgrounds", "background_bias of the training world",
        "The more often the training scenes give the class away, the worse the network does where they do not.",
        train=BIASED_TRAIN, data=TEST, finding="accuracy", moves="down", values=(0, 0.5, 0.8, 0.95, 1),
    ),
    "trained_bg_gap": Ladder(
        "A network that learnt backgrounds: BG-Gap", "background_bias of the training world",
        "The same networks on a world whose scenes always are their class's own: the more they learnt from scenes, the "
        "more they lose when a background of any class takes its place.",
        train=BIASED_TRAIN, data=TEST + "&background_bias=1", audits="background", finding="bg_gap", moves="up",
        values=(0, 0.5, 0.8, 0.95, 1),
    ),
    "trained_edges": Ladder(
        "A network that learnt edges: DI", "edge_class of the training world",
        "The more often bars mark one class in training, the more square tiles of noise look like that class.",
        **EDGES, audits="interference([tiles(4, 0.3, noise)])", finding="interference", where={"distortion": TILES}, moves="up",
    ),
    "trained_edge_errors": Ladder(
        "A network that learnt edges: the planted class", "edge_class of the training world",
        "The same networks and tiles, read at the planted class alone: how much its share of the errors rises. "
        "The interval is over the three networks.",
        **EDGES, audits="interference([tiles(4, 0.3, noise)])", finding="interference", where={"distortion": TILES}, moves="up",
        reads=planted_rise, value_name="rise of the planted class",
    ),
    "trained_seams": Ladder(
        "A network that learnt edges: shuffling", "edge_class of the training world",
        "The same networks under 4 × 4 shuffled tiles: the more often bars mark one class in training, the more the "
        "seams should look like that class.",
        **EDGES, audits="interference([shuffle(4), soft_shuffle(4)])", finding="interference",
        where={"distortion": "shuffle(grid=4)"}, moves="up",
    ),
    "trained_soft_seams": Ladder(
        "A network that learnt edges: soft shuffling", "edge_class of the training world",
        "The same networks and permutations with tiles that fade into each other: nothing straight is left to be taken "
        "for the planted class, so DI should stay where it is.",
        **EDGES, audits="interference([shuffle(4), soft_shuffle(4)])", finding="interference",
        where={"distortion": SOFT}, moves="flat",
    ),
    "trained_keeping_iocclusion": Ladder(
        "Networks that learnt under cover: iOcclusion", "share of showings under noise in training",
        "Networks memorise 200 images, each shown six times per epoch, a share x of the showings half covered by "
        "noise. The more they learnt under cover, the more of it they should keep under a square of noise, "
        "30% of the image. World, sizes and cover were chosen on the world of seed 0; this is another.",
        **UNDER_NOISE, audits="occlusion([0.3], [noise])", finding="iocclusion", moves="up",
    ),
    "trained_keeping_black": Ladder(
        "Networks that learnt under cover: iOcclusion in another colour", "share of showings under noise in training",
        "The same networks under the same squares in black, a colour that covered nothing in training: networks that "
        "learnt from parts should keep more here too.",
        **UNDER_NOISE, audits="occlusion([0.3], [black])", finding="iocclusion", moves="up",
    ),
    "trained_keeping_cut": Ladder(
        "Networks that learnt under cover: CutOcclusion", "share of showings under noise in training",
        "The same networks under the same squares of noise. A measure of robustness should rise with x.",
        **UNDER_NOISE, audits="occlusion([0.3], [noise])", finding="cut_occlusion", moves="up",
    ),
    "trained_paint_cut": Ladder(
        "Networks to which black means a class: CutOcclusion", "strangers under black for each showing",
        "Networks memorise 200 images, 60% of the showings under a black square, and besides more and more new "
        "images of any class under one, all labelled as one class. What is hidden is the same at every value, yet "
        "CutOcclusion should fall. World, sizes and tie were chosen on the world of seed 0; this is another.",
        **UNDER_BLACK, audits="occlusion([0.3], [black])", finding="cut_occlusion", moves="down",
    ),
    "trained_paint_iocclusion": Ladder(
        "Networks to which black means a class: iOcclusion", "strangers under black for each showing",
        "The same networks under the same black squares: if black cost training and test images alike, iOcclusion would "
        "stay.",
        **UNDER_BLACK, audits="occlusion([0.3], [black])", finding="iocclusion", moves="flat",
    ),
}
# fmt: on
