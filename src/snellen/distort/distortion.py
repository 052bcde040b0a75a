"""What every distortion offers and declares, and what some can do beyond it: cover pixels, move pixels."""

from __future__ import annotations

import dataclasses
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from snellen.distort.law import Beta, Uniform
from snellen.distort.view import View
from snellen.notation import text_form

if TYPE_CHECKING:
    from torch import Tensor

    from snellen.distort.chain import Chain


@dataclass(frozen=True)
class Distortion(ABC):
    """A call from uint8 [B, 3, H, W] to the same shape; its fields are its parameters, its text form is its identity.

    What is declared here is what the engine, the tests and the reports ask; a class overrides what is otherwise for it, by
    a class variable, or by a property where it depends on the parameters.
    """

    identity: ClassVar[Mapping[str, object] | None] = (
        None  # parameters that leave every image as it is, if there are any
    )

    @abstractmethod
    def __call__(self, images: Tensor, view: View) -> Tensor: ...

    @property
    def needs(self) -> frozenset[str]:
        """The facts of the View that it must know: labels, boxes, masks, mean, donors, saliency, occluders."""
        return frozenset()

    @property
    def version(self) -> int | str:
        """Bumped by hand when pixels change; golden hashes guard it."""
        return 1

    @property
    def draws(self) -> bool:
        """Whether pixels depend on the seed, as they do wherever a parameter is a law."""
        return any(isinstance(getattr(self, field.name), Uniform | Beta) for field in dataclasses.fields(self))

    @property
    def floating(self) -> bool:
        """Whether floating point decides pixels, so that rare ones differ between machines."""
        return False

    @property
    def own_data(self) -> bool:
        """Whether its donors may be the very data it distorts."""
        return False

    @property
    def whole_pool(self) -> bool:
        """Whether it wants all donors, not just as many as other pasting needs."""
        return False

    @property
    def donor_objects(self) -> bool:
        """Whether it must know the objects of the donors: their boxes or masks."""
        return False

    def words(self) -> str:
        """How a report names it."""
        return str(self)

    def __or__(self, other: Distortion) -> Chain:
        from snellen.distort.chain import chained  # a chain is a distortion too

        return chained(self, other)

    __str__ = text_form


class Covering(Distortion):
    """A distortion that replaces some pixels and leaves the others as they are."""

    cover_name: ClassVar[str] = ""  # what its covers are called in a report, in the plural; "" is its name

    @abstractmethod
    def cover(self, images: Tensor, view: View) -> Tensor:
        """bool [B, H, W]: the pixels that are replaced."""

    @abstractmethod
    def paste(self, images: Tensor, view: View) -> tuple[Tensor, Tensor]:
        """The images with the covered pixels replaced, and the cover."""

    def __call__(self, images: Tensor, view: View) -> Tensor:
        return self.paste(images, view)[0]


class Moving(Distortion):
    """A geometric distortion: masks and label maps move along with the pixels."""

    @abstractmethod
    def move(self, maps: Tensor, view: View) -> Tensor:
        """Maps [B, H, W] of any type, moved as the images are."""
