"""The glossary: what each term means, in one table that terminal, report and docs share.

The first sentence of a meaning stands alone: it explains the term wherever that first appears.
"""

from __future__ import annotations

import re

GLOSSARY: dict[str, str] = {
    # Numbers and how sure they are
    "Accuracy": "Share of images classified correctly. The 95% interval says how far it could be off because only so many images "
    "were shown; for several runs it is about the mean of these runs. Other runs of the same recipe may lie further off: the "
    "interval for the recipe counts runs as well as images (facts recipe_low and recipe_high). Two models are compared on "
    "the same images, pair by pair, which sees smaller differences than their intervals do.",
    "Clean": "About images as they are, unmodified.",
    "Modification": "What is done to an image before a model sees it, such as a square put over a part of it. The text language "
    "calls it a distortion.",
    "Loss": "Clean accuracy minus the accuracy under a modification. It is called clear where bounds that hold for all "
    "modifications of a model together (95%) are above 0.",
    "Chance": "The accuracy of guessing among the classes. Where one class has more images than others, always answering it is "
    "right more often, and accuracies are held against that.",
    "Place": "Where a model may stand among the others by clean accuracy. Two models share places as long as their difference on "
    "the same images is not clear (p < 0.05 after Holm's correction).",
    "Run": "One of several networks that were trained by the same recipe with other seeds and are audited as one model.",
    # Trust
    "DI": "Data interference: whether a modification sends new errors to one class. 0 is not at all, in no run; the number of "
    "classes is the most. A high DI means that the modification adds something which the model takes for that class, "
    "so a loss of accuracy is not simply a lack of robustness. Compare it between models on the same data; it is not a score. "
    "With two classes no dominant class can be shown, because a wrong answer has only the other one to fall on.",
    "DI as published": "The point estimate of Marcu & Prügel-Bennett (2022). Chance raises it where nothing rises and lowers it "
    "where one class does, so the DI shown elsewhere is an estimate that undoes this, with a 95% interval for the true index.",
    "By chance": "The DI as published that 95% of draws stay below when every error goes to a random class.",
    "Mild noise": "The yardstick: the DI of the same model under Gaussian noise with σ up to 0.025 of the pixel range. That σ "
    "is our choice, made so that CIFAR-10 networks have a DI of about 0.1; the published σ is up to 0.1, in units that cannot be "
    "told. If noise itself looks like a class to a model, the yardstick is lenient and fewer numbers are marked than deserve it.",
    "Artefact": "A loss that comes from what a modification adds, not from what it takes away.",
    "When not to trust": "A number marked ▲; a ranking in which the loser is marked and the winner is not; clean accuracy near "
    "chance; anything in the box at the top or under notices.",
    "Corruption error": "Share of wrong answers under a common corruption, over its severities together. The mean over the 15 "
    "kinds is the mean corruption error of Hendrycks & Dietterich (2019), who divide each by AlexNet's.",
    # Services
    "Noise floor": "The share of a model's answers that change when the very same pixels are sent again. Another change of "
    "answers is more than noise only where it is beyond that.",
    "Answers changed": "The share of images that get another answer than unmodified. Two refusals are the same answer; a word "
    "outside the classes is another one.",
    "Reply that names no class": "A reply in words with none of the classes or several of them, a refusal, no words, or an end "
    "that was cut off before a class. It counts as wrong.",
    # Occlusion
    "CutOcclusion": "Mean accuracy while one square inside the image grows. Higher is better, as far as the square only "
    "hides.",
    "Fill gap": "The same pixels hidden by another fill. Were hiding all that matters, it would be 0; what remains is the "
    "model reacting to the fill itself.",
    "iOcclusion": "What covering does to the gap between training and test accuracy: 1 leaves it as it is, 0 closes it. It "
    "needs the training images. Where it is 0, what was memorised no longer helps; higher is more robust.",
    "Hidden share": "How much of the object an occluder hides; of the image where the data have no masks. Lattices hide "
    "their share of the image.",
    "Slope": "By how much accuracy changes from one level of occlusion to the next.",
    "Class tree": "Classes gathered into kinds, and these into wider kinds. An answer is right at a depth of the tree where it "
    "is of the same kind as the truth there; the distance of an error is the number of edges between both.",
    "Friedman's Q": "Whether the accuracies rank the models other than equal models would be: the larger, the less it is chance.",
    "Kendall's W": "How far types of occluders agree on the order of the models: 1 wholly, 0 not at all.",
    "Beyond clean accuracy": "How far a model's accuracy under occlusion lies above the line of all models' occluded on "
    "clean accuracy: being better clean explains the rest.",
    # Backgrounds, shape and training
    "BG-Gap": "Accuracy lost when backgrounds of the same class are exchanged for those of any class (Xiao et al. 2021).",
    "Images that need their background": "Images classified correctly on their own background, but no longer on one of any "
    "class.",
    "Outline": "What the object's outline gives away: accuracy with the object blackened minus accuracy with its box blackened.",
    "Class leakage": "How much more often the class is guessed from the size of the object's box than by always naming the most "
    "frequent class. It is a property of the data, not of a model.",
    "Fooled object": "An object that the model gets wrong on at least one background of the pool. The share of such objects "
    "grows with the pool, so only shares of the same pool can be compared.",
    "Attack rate": "Of objects of other classes put on a background, the share that is answered as the background's class.",
    "Shuffled patches": "The tiles of an image in another order: textures stay, outlines go. Shuffled softly, the tiles fade "
    "into each other, so that no seam can be taken for something.",
    "Shape and texture accuracy": "The share of images with cues in conflict whose shape, or whose texture, is answered.",
    "Shape bias": "The share of shapes among answers that name the shape or the texture of images where both disagree.",
    "Affinity": "Accuracy on images modified as in training minus accuracy on clean ones (Gontijo-Lopes et al. 2020).",
    "Direction": "How far runs agree on which classes gain errors from a modification.",
    "Diversity": "The training loss of the last epoch, from the card of the network (Gontijo-Lopes et al. 2020).",
    "Worst edits": "The combination of edits under which a search found the lowest accuracy. The number is of images that were "
    "not searched, where there are enough.",
    "Effect of an edit": "The accuracy that comes back when one of the worst edits is left out.",
    "Calibration error": "The mean distance of accuracy from confidence over bins of confidence (ECE, Guo et al. 2017): 0 "
    "for a model that is right in 80% of the cases in which it is 80% sure. Corrected for noise, which adds to the plug-in "
    "value of the published formula: that one is above 0 even for a perfect model.",
    # Maps and units
    "Map": "How much each pixel of an image counts for an answer, by an attribution method such as Grad-CAM.",
    "Map inside the mask": "The share of a map that lies on the object’s true mask. An even map has the mask’s share.",
    "EnergyPG": "The energy-based pointing game: the share of a map’s energy that lies on the object. An even map has the "
    "object’s share of the image.",
    "EHR": "The effective heat ratio: at eleven thresholds, heat on the object by the number of pixels that reach the "
    "threshold; the area under that curve. 1: all heat is on the object and at its maximum.",
    "WSOL": "Weakly supervised object localisation: the IoU of the object’s box with the smallest box around the map’s "
    "pixels of at least 15% of its maximum (or another threshold). It sees the outline of a map, not its values. The box "
    "of an even map is the image, so its IoU is the share of the image that the object’s largest box has.",
    "Gain ratio": "Of the energy that a model’s maps have more than the baseline’s, the part that is on the object.",
    "Inter-model deletion": "The area between the score's curve when the least relevant tiles are deleted first and that of "
    "random orders, in points of 100 (Won et al. 2023). 0 is what a map that says nothing gets.",
    "Detector": "A unit whose highest values overlap with one concept: the pixels both cover, over those that either covers, "
    "counted over all images, are more than the threshold (Bau et al. 2017). The name is that of its best concept.",
    "Attention mass": "The share of the attention of the object’s patches that goes to a region of the image, class tokens "
    "left out. Even attention has the region’s share of the image.",
    # Other tasks
    "Pixel accuracy": "Per image the share of its labelled pixels whose class is right. The number is the mean over images; "
    "its 95% interval says how far it could be off because only so many images were shown.",
    "IoU, mIoU": "Of a class, over all images: the pixels rightly given to it, divided by those that have it or were given "
    "to it. mIoU is the mean over the classes that have a pixel.",
    "Found": "An image counts as right where a detected box overlaps a true one by an IoU of at least 0.5; where the data "
    "have no boxes, wherever anything is detected. The number is the share of such images with its 95% interval.",
}

SIGN_MEANINGS = {
    "▲": "may be an artefact: errors go to the class named, clearly more than by chance and under mild noise",
    "△": "as under mild noise: errors go to the class named, more than by chance, not clearly more than under mild noise",
    "?": "cannot be told: too few errors, or no answers under mild noise, to decide whether they go to one class",
}
"""What the marks beside numbers mean, by sign."""


def meanings(*terms: str) -> dict[str, str]:
    """Some terms with their meanings."""
    return {term: GLOSSARY[term] for term in terms}


def about_di() -> str:
    """What DI is, in one sentence that names it."""
    sentence = sentence_on("DI")
    return f"DI is {sentence[0].lower()}{sentence[1:]}"


def sentence_on(term: str) -> str:
    """The first sentence of a term's meaning, which stands alone."""
    return re.split(r"(?<=[.?]) ", GLOSSARY[term], maxsplit=1)[0]
