"""The ladders: for each measure something planted that it should see. A new audit adds its entry here."""

from __future__ import annotations

from collections.abc import Mapping
from statistics import fmean, stdev
from typing import Any

from snellen.calibrate.alignment_ladders import ALIGNMENT_LADDERS
from snellen.calibrate.faithfulness_ladders import FAITHFULNESS_LADDERS
from snellen.calibrate.ladder import CHANCE, Ladder
from snellen.calibrate.lattice_ladders import LATTICE_LADDERS
from snellen.calibrate.paint_ladders import PAINT_LADDERS
from snellen.calibrate.trained_ladders import TRAINED_LADDERS
from snellen.data.phantom import EDGE_CLASS

AREAS = (0.1, 0.3, 0.5, 0.7, 0.9)  # the squares of the memory ladder
TEST = "phantom:test?size={size}&n={images}"
SQUARE = "occlude(area=0.3, fill=black, inside=true, law=exact)"
EDGE_OBSERVER = "observer:mixture(mixture(edges(texture), texture, {x}), guess, 0.7)"
# Without the classes that have straight edges of their own, for which any network takes a square. Tiles of noise were
# chosen on the world of seed 0, so the ladder stands on another.
EDGE_TRAIN = "phantom:train?size={size}&n=2400&seed=1&edge_class={x}&without=square,cross"
EDGE_TEST = TEST + "&seed=1&without=square,cross"
TILES = "tiles(grid=4, share=0.3, fill=noise)"
SOFT = "soft_shuffle(grid=4, width=0.75)"


def planted_rise(finding: Mapping[str, Any]) -> tuple[float, float, float]:
    """The rise in EDGE_CLASS's share of the errors, mean over the runs with Student's 95% interval."""
    from scipy.special import stdtrit

    place = finding["facts"]["classes"].index(EDGE_CLASS)
    rises = [run[place] for run in finding["facts"]["increase"]]
    half = float(stdtrit(len(rises) - 1, 0.975)) * stdev(rises) / len(rises) ** 0.5
    return fmean(rises), fmean(rises) - half, fmean(rises) + half


LADDERS: dict[str, Ladder] = {
    "label_noise": Ladder(
        title="Accuracy and wrong labels",
        planted="share of wrong labels",
        says="An oracle that knows every image is wrong exactly where the label is: 1 − x.",
        model="observer:oracle('" + TEST + "')",
        data=TEST + "&label_noise={x}",
        finding="accuracy",
        moves="down",
        values=(0, 0.1, 0.2, 0.3, 0.4, 0.5),
        truth=lambda x: 1 - x,
    ),
    "knowing": Ladder(
        title="Accuracy and guessing",
        planted="share of answers that are known",
        says="An oracle on a share x of the images, a guess on the rest: x + (1 − x) / 12.",
        model="observer:mixture(oracle('" + TEST + "'), guess, {x})",
        data=TEST,
        finding="accuracy",
        moves="up",
        truth=lambda x: x + (1 - x) * CHANCE,
    ),
    "background_bias": Ladder(
        title="Accuracy from the background",
        planted="background_bias of the test world",
        says="An observer of the scene alone is right where the scene is its class's own: x + (1 − x) / 12.",
        model="observer:background",
        data=TEST + "&background_bias={x}",
        finding="accuracy",
        moves="up",
        truth=lambda x: x + (1 - x) * CHANCE,
    ),
    "texture_bias": Ladder(
        title="Accuracy from texture",
        planted="texture_bias of the test world",
        says="An observer of the texture alone is right where the texture is its class's own: x + (1 − x) / 12.",
        model="observer:texture",
        data=TEST + "&texture_bias={x}",
        finding="accuracy",
        moves="up",
        truth=lambda x: x + (1 - x) * CHANCE,
    ),
    "memory": Ladder(
        title="CutOcclusion and memory",
        planted="share of an image that must be visible",
        says="An observer that recalls an image by a share x of its pixels answers every square that leaves as much "
        "visible and guesses under the others: a stair of five squares.",
        model="observer:memory({x}, 'phantom:train?size={size}&n={images}')",
        data="phantom:train?size={size}&n={images}",
        audits="occlusion([0.1, 0.3, 0.5, 0.7, 0.9], [black])",
        finding="cut_occlusion",
        moves="down",
        values=(0.05, 0.2, 0.4, 0.6, 0.8, 1),
        truth=lambda x: sum(1 if 1 - area >= x else CHANCE for area in AREAS) / len(AREAS),
    ),
    "forgetting": Ladder(
        title="iOcclusion and memory",
        planted="share of images forgotten under half a cover",
        says="It recalls training images by 60% of their pixels on a share x of the images, by 30% on the rest, and guesses "
        "otherwise. Half covered, the gap between training and test images stays on that rest alone: 1 − x.",
        model="observer:mixture(memory(0.6, 'phantom:train?size={size}&n={images}'), "
        "memory(0.3, 'phantom:train?size={size}&n={images}'), {x})",
        data=TEST,
        audit_train="phantom:train?size={size}&n={images}",
        audits="occlusion([0.5], [black])",
        finding="iocclusion",
        moves="down",
        truth=lambda x: 1 - x,
    ),
    "concept_units": Ladder(
        title="Dissection and planted units",
        planted="share of units that follow a concept",
        says="A share x of 20 units follows a colour, a material or a scene each, the others nothing: x of them detect.",
        model="python:snellen.models.planted:concept_units@{x}",
        data=TEST,
        audits="concepts(layer=units)",
        finding="detector_share",
        moves="up",
        truth=lambda x: x,
    ),
    **PAINT_LADDERS,
    "patches": Ladder(
        title="Shuffling and large patches",
        planted="share of answers that need whole patches",
        says="Shuffled into 8 × 8 tiles, an observer of texture stays right and one of patches of 4 × 4 tiles is torn to "
        "guessing: 1 − 11/12 x.",
        model="observer:mixture(patches(16), texture, {x})",
        data=TEST + "&texture_bias=1",
        audits="interference([shuffle(8)])",
        finding="distorted_accuracy",
        moves="down",
        where={"distortion": "shuffle(grid=8)"},
        truth=lambda x: 1 - (1 - CHANCE) * x,
    ),
    **LATTICE_LADDERS,
    "fill": Ladder(
        title="Fill gap and shape",
        planted="share of answers from shape",
        says="Noise speckles the silhouette where black only cuts it; texture outvotes both. The gap black less noise "
        "should grow in proportion to the share of answers from shape.",
        model="observer:mixture(shape, texture, {x})",
        data=TEST + "&texture_bias=1",
        audits="occlusion([0.1, 0.3], [black, noise])",
        finding="fill_gap",
        moves="up",
    ),
    "square_edges": Ladder(
        title="Interference of a black square",
        planted="share of answers that straight edges decide",
        says="An observer that takes straight edges for one class takes a black square for it. Mixed with one of texture, "
        "and 30% guesses as errors of every class: DI should rise from about 0.",
        model=EDGE_OBSERVER,
        data=TEST + "&texture_bias=1",
        audits="interference([occlude(0.3, black)])",
        finding="interference",
        moves="up",
        where={"distortion": SQUARE},
    ),
    "shuffle_edges": Ladder(
        title="Interference of shuffling",
        planted="share of answers that straight edges decide",
        says="The same observers: the seams between 4 × 4 shuffled tiles are straight edges too.",
        model=EDGE_OBSERVER,
        data=TEST + "&texture_bias=1",
        audits="interference([shuffle(4)])",
        finding="interference",
        moves="up",
        where={"distortion": "shuffle(grid=4)"},
    ),
    "soft_shuffle_edges": Ladder(
        title="Interference of a soft shuffle",
        planted="share of answers that straight edges decide",
        says="The same observers again: tiles that fade into each other have no straight seams, so DI should stay where it "
        "is. It does not begin at 0: blended pixels are new pixels, so the 30% of guesses are drawn again.",
        model=EDGE_OBSERVER,
        data=TEST + "&texture_bias=1",
        audits="interference([soft_shuffle(4)])",
        finding="interference",
        moves="flat",
        where={"distortion": SOFT},
    ),
    "soft_shuffle_shape": Ladder(
        title="Soft shuffling and shape",
        planted="share of answers from shape",
        says="Soft tiles break the outline as hard ones do and leave the texture's pixels in their middles: accuracy should "
        "fall with the share of answers from shape.",
        model="observer:mixture(shape, texture, {x})",
        data=TEST + "&texture_bias=1",
        audits="interference([soft_shuffle(4)])",
        finding="distorted_accuracy",
        moves="down",
        where={"distortion": SOFT},
    ),
    "bg_gap": Ladder(
        title="BG-Gap and the background",
        planted="background_bias of the test world",
        says="On backgrounds of the own class an observer of the scene is right as often as the scene is that class's, on "
        "those of any class by chance: 11/12 x.",
        model="observer:background",
        data=TEST + "&background_bias={x}",
        audits="background",
        finding="bg_gap",
        moves="up",
        truth=lambda x: (1 - CHANCE) * x,
    ),
    "bg_gap_share": Ladder(
        title="BG-Gap and the foreground",
        planted="share of answers from the background",
        says="Every scene and every texture is its class's own. On backgrounds of any class the answers from the scene are "
        "right by chance, those from the object's texture always: 11/12 x.",
        model="observer:mixture(background, texture, {x})",
        data=TEST + "&background_bias=1&texture_bias=1",
        audits="background",
        finding="bg_gap",
        moves="up",
        truth=lambda x: (1 - CHANCE) * x,
    ),
    "needs_background": Ladder(
        title="Images that need their background",
        planted="share of answers from the background",
        says="The same observers: all images are right as they are, and wrong on a background of any class for the same "
        "share, 11/12 x.",
        model="observer:mixture(background, texture, {x})",
        data=TEST + "&background_bias=1&texture_bias=1",
        audits="background",
        finding="needs_background",
        moves="up",
        truth=lambda x: (1 - CHANCE) * x,
    ),
    **ALIGNMENT_LADDERS,
    **FAITHFULNESS_LADDERS,
    "trained_background": Ladder(
        title="A network that learnt backgrounds",
        planted="background_bias of the training world",
        says="The more often the training scenes give the class away, the worse the network does where they do not.",
        train="phantom:train?size={size}&n=2000&background_bias={x}",
        data=TEST,
        finding="accuracy",
        moves="down",
        values=(0, 0.5, 0.8, 0.95, 1),
    ),
    "trained_bg_gap": Ladder(
        title="A network that learnt backgrounds: BG-Gap",
        planted="background_bias of the training world",
        says="The same networks on a world whose scenes always are their class's own: the more they learnt from scenes, the "
        "more they lose when a background of any class takes its place.",
        train="phantom:train?size={size}&n=2000&background_bias={x}",
        data=TEST + "&background_bias=1",
        audits="background",
        finding="bg_gap",
        moves="up",
        values=(0, 0.5, 0.8, 0.95, 1),
    ),
    "trained_edges": Ladder(
        title="A network that learnt edges: DI",
        planted="edge_class of the training world",
        says="The more often bars mark one class in training, the more square tiles of noise look like that class.",
        train=EDGE_TRAIN,
        data=EDGE_TEST,
        audits="interference([tiles(4, 0.3, noise)])",
        finding="interference",
        moves="up",
        where={"distortion": TILES},
        values=(0, 0.25, 0.5, 0.75, 1),
    ),
    "trained_edge_errors": Ladder(
        title="A network that learnt edges: the planted class",
        planted="edge_class of the training world",
        says="The same networks and tiles, read at the planted class alone: how much its share of the errors rises. "
        "The interval is over the three networks.",
        train=EDGE_TRAIN,
        data=EDGE_TEST,
        audits="interference([tiles(4, 0.3, noise)])",
        finding="interference",
        moves="up",
        where={"distortion": TILES},
        values=(0, 0.25, 0.5, 0.75, 1),
        reads=planted_rise,
        value_name="rise of the planted class",
    ),
    "trained_seams": Ladder(
        title="A network that learnt edges: shuffling",
        planted="edge_class of the training world",
        says="The same networks under 4 × 4 shuffled tiles: the more often bars mark one class in training, the more the "
        "seams should look like that class.",
        train=EDGE_TRAIN,
        data=EDGE_TEST,
        audits="interference([shuffle(4), soft_shuffle(4)])",
        finding="interference",
        moves="up",
        where={"distortion": "shuffle(grid=4)"},
        values=(0, 0.25, 0.5, 0.75, 1),
    ),
    "trained_soft_seams": Ladder(
        title="A network that learnt edges: soft shuffling",
        planted="edge_class of the training world",
        says="The same networks and permutations with tiles that fade into each other: nothing straight is left to be taken "
        "for the planted class, so DI should stay where it is.",
        train=EDGE_TRAIN,
        data=EDGE_TEST,
        audits="interference([shuffle(4), soft_shuffle(4)])",
        finding="interference",
        moves="flat",
        where={"distortion": SOFT},
        values=(0, 0.25, 0.5, 0.75, 1),
    ),
    **TRAINED_LADDERS,
}
