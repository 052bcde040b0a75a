"""The table of calibration series: for each measure something planted that it should see. A new audit adds its entry here.

`paint_…` and `keeping_…` are about the square's paint: CutOcclusion is moved by it, iOcclusion orders observers by what they
keep. The observers split their answers between memory, which is all of their train-test gap, and texture, which knows both sides
alike. Under the square a planted share of memory is kept; what they do on seeing black is planted apart from that.

`lattice_voters_…` are the hypothesis of Kassaw et al. 2024 by construction, and its figure 15: voters of patches lose their votes
once the squares are smaller than their patch. `faithful_…` ask observers that one pixel decides, with maps that name it, miss it,
or something between: a map that names it hides it last, a random order halfway, so 50 of 100 lie between both curves.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from snellen.calibrate.ladder import CHANCE, TEST, TRAIN, Ladder
from snellen.calibrate.network_series import NETWORK_SERIES
from snellen.calibrate.truths import (
    AREAS,
    glance_energy,
    glance_heat,
    known_or_guessed,
    memory_stair,
    noise_area,
    paint_truth,
    share_area,
    voters_truth,
    window_area,
)

OWN_TEXTURE = TEST + "&texture_bias=1"
OWN_SCENE_AND_TEXTURE = TEST + "&background_bias=1&texture_bias=1"
EDGE_OBSERVER = "observer:mixture(mixture(edges(texture), texture, {x}), guess, 0.7)"

# Objects that a square of AREA never hides whole, and textures that tell the class: texture alone is always right.
AREA = 0.3
KEPT_SHARE = 0.6  # of what is remembered, the share that such a square leaves
PAINTED_WORLD = "size={size}&n={images}&texture_bias=1&object_size=0.7..0.9"
PAINTED_TRAIN, PAINTED_TEST = f"phantom:train?{PAINTED_WORLD}", f"phantom:test?{PAINTED_WORLD}"
FOOLED = "mixture(black(texture), texture, {x})"
# Recalls training images: clean ones always, covered ones with the probability that stands last, else it guesses.
RECALL = f"mixture(memory(0.3, '{PAINTED_TRAIN}'), memory(0.8, '{PAINTED_TRAIN}'), "
KEEPS, KEEPS_X = f"{RECALL}{KEPT_SHARE})", RECALL + "{x})"
BOTH, KEEPING = f"observer:mixture({KEEPS}, {FOOLED}, 0.5)", f"observer:mixture({KEEPS_X}, {FOOLED}, 0.5)"
WHOLE = f"mixture({KEEPS}, texture, 0.5)"
PAINTED: dict[str, Any] = {
    "data": PAINTED_TEST,
    "audit_train": PAINTED_TRAIN,
    "audits": f"occlusion([{AREA}], [black, stripes])",
}
BLACK, STRIPES = {"fill": "black"}, {"fill": "stripes"}

VOTERS_WORLD = "object_size=0.9&texture_bias=1"
VOTERS: dict[str, Any] = {
    "model": "observer:mixture(patches(8), mixture(patches(2), patches(4), 0.5), 0.5)",
    "data": f"{TEST}&{VOTERS_WORLD}",
    "finding": "distorted_accuracy",
    "moves": "up",
    "values": (1, 2, 4, 8),
}
VOTERS_SAY = (
    "Voters count patches that are wholly visible object: of 8 pixels for half of the answers, of 2 and of 4 for a "
    "quarter each. Squares smaller than a patch spoil every one of its size: at 1 px all guess, and each doubling up to "
    "8 px gives back the votes of one size, where the object is large enough to hold such a patch; the truth is counted in "
    "the masks of 600 images."
)

# An observer's support is its map. Hidden pixels get the colour that observers take for nothing; a tile is one pixel.
LOOKING = "explanation(method=support, boxes=mask, examples=0, curves=off)"
DELETING = "faithfulness(method=support, tile=1, fill=zero)"
ONE_PIXEL = "centre(0.03)"

SQUARE = "occlude(area=0.3, fill=black, inside=true, law=exact)"
SOFT = "soft_shuffle(grid=4, width=0.75)"


# fmt: off
LADDERS: dict[str, Ladder] = {
    "label_noise": Ladder(
        "Accuracy and wrong labels", "share of wrong labels",
        "An oracle that knows every image is wrong exactly where the label is: 1 − x.",
        model=f"observer:oracle('{TEST}')", data=TEST + "&label_noise={x}", finding="accuracy", moves="down",
        values=(0, 0.1, 0.2, 0.3, 0.4, 0.5), truth=lambda x: 1 - x,
    ),
    "knowing": Ladder(
        "Accuracy and guessing", "share of answers that are known",
        "An oracle on a share x of the images, a guess on the rest: x + (1 − x) / 12.",
        model=f"observer:mixture(oracle('{TEST}'), guess, {{x}})", data=TEST, finding="accuracy", moves="up",
        truth=known_or_guessed,
    ),
    "background_bias": Ladder(
        "Accuracy from the background", "background_bias of the test world",
        "An observer of the scene alone is right where the scene is its class's own: x + (1 − x) / 12.",
        model="observer:background", data=TEST + "&background_bias={x}", finding="accuracy", moves="up",
        truth=known_or_guessed,
    ),
    "texture_bias": Ladder(
        "Accuracy from texture", "texture_bias of the test world",
        "An observer of the texture alone is right where the texture is its class's own: x + (1 − x) / 12.",
        model="observer:texture", data=TEST + "&texture_bias={x}", finding="accuracy", moves="up",
        truth=known_or_guessed,
    ),
    "memory": Ladder(
        "CutOcclusion and memory", "share of an image that must be visible",
        "An observer that recalls an image by a share x of its pixels answers every square that leaves as much "
        "visible and guesses under the others: a stair of five squares.",
        model=f"observer:memory({{x}}, '{TRAIN}')", data=TRAIN, finding="cut_occlusion", moves="down",
        audits=f"occlusion({list(AREAS)}, [black])", values=(0.05, 0.2, 0.4, 0.6, 0.8, 1), truth=memory_stair,
    ),
    "forgetting": Ladder(
        "iOcclusion and memory", "share of images forgotten under half a cover",
        "It recalls training images by 60% of their pixels on a share x of the images, by 30% on the rest, and guesses "
        "otherwise. Half covered, the gap between training and test images stays on that rest alone: 1 − x.",
        model=f"observer:mixture(memory(0.6, '{TRAIN}'), memory(0.3, '{TRAIN}'), {{x}})", data=TEST, audit_train=TRAIN,
        finding="iocclusion", moves="down", truth=lambda x: 1 - x,
    ),
    "concept_units": Ladder(
        "Dissection and planted units", "share of units that follow a concept",
        "A share x of 20 units follows a colour, a material or a scene each, the others nothing: x of them detect.",
        model="python:snellen.models.planted:concept_units@{x}", data=TEST, audits="concepts(layer=units)",
        finding="detector_share", moves="up", truth=lambda x: x,
    ),
    "paint_cut": Ladder(
        "CutOcclusion is fooled by paint", "share of texture's answers that black decides",
        "Half of the answers come from memory, of which a square leaves 60%, half from texture, which it leaves whole. "
        "On a share x of the latter black is taken for one class. Nothing else is hidden, yet CutOcclusion falls.",
        **PAINTED, model=BOTH, finding="cut_occlusion", where=BLACK, moves="down", truth=paint_truth,
    ),
    "paint_stripes": Ladder(
        "CutOcclusion under stripes", "share of texture's answers that black decides",
        "The same observers under the same squares, striped: no observer takes stripes for a class, and what is hidden is "
        "the same at every value.",
        **PAINTED, model=BOTH, finding="cut_occlusion", where=STRIPES, moves="flat", truth=lambda x: paint_truth(0),
    ),
    "paint_iocclusion": Ladder(
        "iOcclusion is not fooled by the same paint", "share of texture's answers that black decides",
        "The same observers under the same black squares: black costs training and test images equally many answers, so "
        "the gap stays, and with it the planted 60%.",
        **PAINTED, model=BOTH, finding="iocclusion", where=BLACK, moves="flat", truth=lambda x: KEPT_SHARE,
    ),
    "keeping_iocclusion": Ladder(
        "iOcclusion orders observers by what they remember", "share of memory that is kept, and that black decides",
        "As before, but the share of memory that a square leaves rises together with the share that black decides: "
        "iOcclusion is the former, x.",
        **PAINTED, model=KEEPING, finding="iocclusion", where=BLACK, moves="up", truth=lambda x: x,
    ),
    "keeping_cut": Ladder(
        "CutOcclusion orders them the other way", "share of memory that is kept, and that black decides",
        "The same observers: the more they keep, the less robust CutOcclusion calls them, because of the paint alone.",
        **PAINTED, model=KEEPING, finding="cut_occlusion", where=BLACK, moves="down", truth=paint_truth,
    ),
    "memorised_iocclusion": Ladder(
        "iOcclusion and how much is memorised", "share of answers from memory",
        "A share x of the answers comes from memory, of which a square leaves 60%: how large the gap is does not matter, "
        "only what is left of it.",
        **PAINTED, model=f"observer:mixture({KEEPS}, texture, {{x}})", finding="iocclusion", where=BLACK, moves="flat",
        values=(0.2, 0.4, 0.6, 0.8, 1), truth=lambda x: KEPT_SHARE,
    ),
    "blinded_iocclusion": Ladder(
        "Where paint fools iOcclusion: it blots out memory too", "share of all answers that black decides",
        "Here black decides a share x of all answers, those from memory included. The gap closes by that share, and "
        "iOcclusion falls as if less were kept: 0.6 (1 − x).",
        **PAINTED, model=f"observer:mixture(black({WHOLE}), {WHOLE}, {{x}})", finding="iocclusion", where=BLACK, moves="down",
        truth=lambda x: KEPT_SHARE * (1 - x),
    ),
    "recalling_iocclusion": Ladder(
        "Where paint fools iOcclusion: only new images fall for it", "share of texture's answers that black decides",
        "Here every training image is recalled, covered or not, and black is looked at only where nothing is recalled. "
        "Test images alone fall for it, half of which are known by texture; the gap widens, and iOcclusion is 1 + x where 1 "
        "was planted.",
        **PAINTED, model=f"observer:memory(0.3, '{PAINTED_TRAIN}', mixture({FOOLED}, guess, 0.5))", finding="iocclusion",
        where=BLACK, moves="up", truth=lambda x: 1 + x,
    ),
    "patches": Ladder(
        "Shuffling and large patches", "share of answers that need whole patches",
        "Shuffled into 8 × 8 tiles, an observer of texture stays right and one of patches of 4 × 4 tiles is torn to "
        "guessing: 1 − 11/12 x.",
        model="observer:mixture(patches(16), texture, {x})", data=OWN_TEXTURE, audits="interference([shuffle(8)])",
        finding="distorted_accuracy", where={"distortion": "shuffle(grid=8)"}, moves="down",
        truth=lambda x: 1 - (1 - CHANCE) * x,
    ),
    "lattice_voters_25": Ladder(
        "Lattices over 25% and the size of patches", "side of the squares, px", VOTERS_SAY,
        **VOTERS, audits="interference([lattice(0.25, {x})])",
        where={"distortion": "lattice(share=0.25, px={x}, fill=grey)"}, truth=partial(voters_truth, 0.25),
    ),
    "lattice_voters_50": Ladder(
        "Lattices over 50% and the size of patches", "side of the squares, px", VOTERS_SAY,
        **VOTERS, audits="interference([lattice(0.5, {x})])",
        where={"distortion": "lattice(share=0.5, px={x}, fill=grey)"}, truth=partial(voters_truth, 0.5),
    ),
    "lattice_voters_75": Ladder(
        "Lattices over 75% and the size of patches", "side of the squares, px", VOTERS_SAY,
        **VOTERS, audits="interference([lattice(0.75, {x})])",
        where={"distortion": "lattice(share=0.75, px={x}, fill=grey)"}, truth=partial(voters_truth, 0.75),
    ),
    "fill": Ladder(
        "Fill gap and shape", "share of answers from shape",
        "Noise speckles the silhouette where black only cuts it; texture outvotes both. The gap black minus noise "
        "should grow in proportion to the share of answers from shape.",
        model="observer:mixture(shape, texture, {x})", data=OWN_TEXTURE, audits="occlusion([0.1, 0.3], [black, noise])",
        finding="fill_gap", moves="up",
    ),
    "square_edges": Ladder(
        "Interference of a black square", "share of answers that straight edges decide",
        "An observer that takes straight edges for one class takes a black square for it. Mixed with one of texture, "
        "and 30% guesses as errors of every class: DI should rise from about 0.",
        model=EDGE_OBSERVER, data=OWN_TEXTURE, audits="interference([occlude(0.3, black)])", finding="interference",
        where={"distortion": SQUARE}, moves="up",
    ),
    "shuffle_edges": Ladder(
        "Interference of shuffling", "share of answers that straight edges decide",
        "The same observers: the seams between 4 × 4 shuffled tiles are straight edges too.",
        model=EDGE_OBSERVER, data=OWN_TEXTURE, audits="interference([shuffle(4)])", finding="interference",
        where={"distortion": "shuffle(grid=4)"}, moves="up",
    ),
    "soft_shuffle_edges": Ladder(
        "Interference of a soft shuffle", "share of answers that straight edges decide",
        "The same observers again: tiles that fade into each other have no straight seams, so DI should stay where it "
        "is. It does not begin at 0: blended pixels are new pixels, so the 30% of guesses are drawn again.",
        model=EDGE_OBSERVER, data=OWN_TEXTURE, audits="interference([soft_shuffle(4)])", finding="interference",
        where={"distortion": SOFT}, moves="flat",
    ),
    "soft_shuffle_shape": Ladder(
        "Soft shuffling and shape", "share of answers from shape",
        "Soft tiles break the outline as hard ones do and leave the texture's pixels in their middles: accuracy should "
        "fall with the share of answers from shape.",
        model="observer:mixture(shape, texture, {x})", data=OWN_TEXTURE, audits="interference([soft_shuffle(4)])",
        finding="distorted_accuracy", where={"distortion": SOFT}, moves="down",
    ),
    "bg_gap": Ladder(
        "BG-Gap and the background", "background_bias of the test world",
        "On backgrounds of the own class an observer of the scene is right as often as the scene is that class's, on "
        "those of any class by chance: 11/12 x.",
        model="observer:background", data=TEST + "&background_bias={x}", audits="background", finding="bg_gap", moves="up",
        truth=lambda x: (1 - CHANCE) * x,
    ),
    "bg_gap_share": Ladder(
        "BG-Gap and the foreground", "share of answers from the background",
        "Every scene and every texture is its class's own. On backgrounds of any class the answers from the scene are "
        "right by chance, those from the object's texture always: 11/12 x.",
        model="observer:mixture(background, texture, {x})", data=OWN_SCENE_AND_TEXTURE, audits="background",
        finding="bg_gap", moves="up", truth=lambda x: (1 - CHANCE) * x,
    ),
    "needs_background": Ladder(
        "Images that need their background", "share of answers from the background",
        "The same observers: all images are right as they are, and wrong on a background of any class for the same "
        "share, 11/12 x.",
        model="observer:mixture(background, texture, {x})", data=OWN_SCENE_AND_TEXTURE, audits="background",
        finding="needs_background", moves="up", truth=lambda x: (1 - CHANCE) * x,
    ),
    "looking_energy": Ladder(
        "EnergyPG and where an observer looks", "share of answers from the object",
        "An observer of the object has all energy inside the object's mask, one of the scene has none: x.",
        model="observer:mixture(texture, background, {x})", data=TEST, audits=LOOKING, finding="energy_pg", moves="up",
        truth=lambda x: x,
    ),
    "looking_heat": Ladder(
        "EHR and where an observer looks", "share of answers from the object",
        "The same observers: at every threshold all heat is inside the mask, or none: x.",
        model="observer:mixture(texture, background, {x})", data=TEST, audits=LOOKING, finding="ehr", moves="up",
        truth=lambda x: x,
    ),
    "looking_border": Ladder(
        "EnergyPG and the border of the image", "share of answers from the border",
        "An observer of the scene in a strip along the border has no energy inside the mask, one of the object has all: "
        "1 − x.",
        model="observer:mixture(border, shape, {x})", data=TEST, audits=LOOKING, finding="energy_pg", moves="down",
        truth=lambda x: 1 - x,
    ),
    "glance_energy": Ladder(
        "EnergyPG and glances at the scene", "vote of a pixel of the scene",
        "Pixels of the object have one vote, those of the scene x. An object that fills a share m of the image then has "
        "m / (m + x (1 − m)) of the energy; the truth is its mean over 600 images.",
        model="observer:glance({x})", data=TEST, audits=LOOKING, finding="energy_pg", moves="down", truth=glance_energy,
    ),
    "glance_heat": Ladder(
        "EHR and the size of the object", "object_size of the test world",
        "Pixels of the object have one vote, those of the scene half a vote. Below the object's heat the ratio is its "
        "share m of the image, above it 1: about m (2 − m); the truth is the exact mean over 600 images.",
        model="observer:glance(0.5)", data=TEST + "&object_size={x}", audits=LOOKING, finding="ehr", moves="up",
        values=(0.3, 0.4, 0.5, 0.6, 0.7, 0.8), truth=glance_heat,
    ),
    "faithful_share": Ladder(
        "Inter-model deletion and maps that are noise", "share of images whose map is noise",
        "An observer answers by one pixel. Its true map hides that pixel last, a random order halfway: 50 of 100 where it "
        "sees the object there, the upper line. On a share x of the images its map is noise: (1 − x) of the upper line. "
        "Tolerance: 3 points with 600 images.",
        model=f"observer:misreport({ONE_PIXEL}, share={{x}})", data=TEST, audits=DELETING, finding="inter_model_deletion",
        moves="down", truth=share_area, tolerance=3,
    ),
    "faithful_noise": Ladder(
        "Inter-model deletion and noise in every map", "share of noise in each map",
        "The same observer, whose maps are all mixed with noise. Its pixel is outranked by noise ever more often: 2 c − c² "
        "of the upper line, c = (1 − x) / x. Tolerance: 3 points with 600 images.",
        model=f"observer:misreport({ONE_PIXEL}, noise={{x}})", data=TEST, audits=DELETING, finding="inter_model_deletion",
        moves="down", values=(0.5, 0.6, 0.7, 0.8, 0.9, 1), truth=noise_area, tolerance=3,
    ),
    "faithful_window": Ladder(
        "Inter-model deletion and answers that little suffices for", "side of the window it sees, share of the image",
        "An observer of a window answers while any of its m pixels of the object is left. Random orders leave one for long: "
        "even a true map has an area of about 100 / (m + 1) only; the truth is the mean over 600 images.",
        model="observer:centre({x})", data=TEST, audits=DELETING, finding="inter_model_deletion", moves="down",
        values=(0.03125, 0.0625, 0.09375, 0.125, 0.25), truth=window_area, tolerance=3,
    ),
    **NETWORK_SERIES,
}
# fmt: on
