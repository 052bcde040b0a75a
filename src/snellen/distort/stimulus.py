"""What a distortion, and a trial that stands in its place, must know of images and donors."""

from __future__ import annotations


class Stimulus:
    """Anything that makes the images a model is shown. A class overrides what is otherwise for it, by a class variable, or by
    a property where it depends on the parameters."""

    @property
    def needs(self) -> frozenset[str]:
        """The facts of the View that it must know: labels, boxes, masks, mean, donors, saliency, occluders."""
        return frozenset()

    @property
    def version(self) -> int | str:
        """Bumped by hand when pixels change; golden hashes guard it."""
        return 1

    @property
    def own_data(self) -> bool:
        """Whether its donors may be the very data it is shown on."""
        return False

    @property
    def whole_pool(self) -> bool:
        """Whether it wants all donors, not just as many as other pasting needs."""
        return False

    @property
    def donor_objects(self) -> bool:
        """Whether it must know the objects of the donors: their boxes or masks."""
        return False
