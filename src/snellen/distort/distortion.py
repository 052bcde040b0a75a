"""What every distortion, and a trial in its place, offers and declares; and what some can do beyond it: cover or move pixels."""

from __future__ import annotations

import dataclasses
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from snellen.distort.law import Beta, Uniform
from snellen.distort.view import View
from snellen.notation import text_form
from snellen.plugins import source_of

if TYPE_CHECKING:
    from torch import Tensor

    from snellen.distort.chain import Chain


class Stimulus:
    """Anything that makes the images a model is shown. A class overrides what is otherwise for it, by a class variable, or by
    a property where it depends on the parameters."""

    def __init_subclass__(cls, **keywords: object) -> None:
        """What a plug-in derives from one of ours without a version of its own has that of the plug-in's code."""
        super().__init_subclass__(**keywords)
        if "version" not in vars(cls) and not cls.__module__.startswith("snellen."):
            cls.version = _version_below(cls.version)  # type: ignore[method-assign, assignment]

    @property
    def needs(self) -> frozenset[str]:
        """The facts of the View that it must know: labels, boxes, masks, mean, donors, saliency, occluders."""
        return frozenset()

    @property
    def version(self) -> int | str:
        """Bumped by hand when pixels change; golden hashes guard it. A plug-in's is the digest of its code unless it has one."""
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


def _version_below(inherited: Any) -> property:
    """The version of a class outside snellen that states none: of a plug-in the digest of its code, else what it inherits."""

    def version(stimulus: Stimulus) -> int | str:
        own: int | str = inherited.__get__(stimulus) if isinstance(inherited, property) else inherited
        return source_of(type(stimulus)) or own

    return property(version)


@dataclass(frozen=True)
class Distortion(Stimulus, ABC):
    """A call from uint8 [B, 3, H, W] to the same shape; its fields are its parameters, its text form is its identity.

    What it declares, here and as a stimulus, is what the engine, the tests and the reports ask.
    """

    identity: ClassVar[Mapping[str, object] | None] = None  # parameters that change nothing, if there are any

    @abstractmethod
    def __call__(self, images: Tensor, view: View) -> Tensor: ...

    @property
    def draws(self) -> bool:
        """Whether pixels depend on the seed, as they do wherever a parameter is a law."""
        return any(isinstance(getattr(self, field.name), Uniform | Beta) for field in dataclasses.fields(self))

    @property
    def floating(self) -> bool:
        """Whether floating point decides pixels, so that rare ones differ between machines."""
        return False

    @property
    def packages(self) -> Mapping[str, str]:
        """The optional packages that it computes with, each with what it is for; a plan refuses it where one is missing."""
        return {}

    def check_size(self, height: int, width: int) -> None:
        """Raise ValueError where images of so many pixels cannot be distorted this way."""
        return

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

    def carry(self, view: View, at: View, height: int, width: int) -> View:
        """What the view knows of each pixel, for the stages after this one, whose own view is `at`: the saliency moves along.

        Masks and boxes stay where the object was: one whose images keep the object whole moves them too.
        """
        if view.saliency is None:
            return view
        return dataclasses.replace(view, saliency=self.move(view.saliency, at), ranks=None)
