"""`snellen build hts`: a clear, balanced subset for people to label (Kassaw et al. 2024, section 5.1)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from snellen.build.hts.request import HtsRequest
from snellen.lazy_names import lister
from snellen.settings_file import door

if TYPE_CHECKING:
    from snellen.build.hts.building import HtsBuilt

__all__ = ["HtsRequest", "build", "build_set"]
__dir__ = lister(__all__)


def build_set(request: HtsRequest) -> HtsBuilt:
    """Choose clear images of `data`, so many per class and level, and write them into the folder `out`.

    Any number of `workers` gives the same bytes. A stopped build resumes; a finished one is left as it is.

    >>> from snellen.build.hts import build
    >>> built = build("phantom:test?size=96&n=60", "people", per=1, min_pixels=100, min_sharpness=0, workers=1)
    >>> built.images["disc"]
    1
    """
    from snellen.build.hts.building import HtsSet

    return HtsSet(request).run()


build = door(build_set, HtsRequest, "data", "out", quiet=True)
