"""The variants of ImageNet-9 (Xiao et al. 2021), built from any images with boxes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from snellen.build.in9.request import In9Request
from snellen.lazy_names import lister
from snellen.settings_file import door

if TYPE_CHECKING:
    from snellen.build.in9.building import In9Built

__all__ = ["In9Request", "build", "build_set"]
__dir__ = lister(__all__)


def build_set(request: In9Request) -> In9Built:
    """Build every variant of the images of `data` that pass the filters into the folder `out`.

    Any number of `workers` gives the same bytes. `published` makes every choice as the paper did. A stopped build resumes; a
    finished one is left as it is.
    """
    from snellen.build.in9.building import In9Set

    return In9Set(request).run()


build = door(build_set, In9Request, "data", "out", "classes", quiet=True)
