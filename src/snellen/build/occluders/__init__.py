"""`snellen build occluders`: objects cut out of images, to stand before others (Kassaw et al. 2024, appendix E)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from snellen.build.occluders.request import OccludersRequest
from snellen.lazy_names import lister
from snellen.settings_file import door

if TYPE_CHECKING:
    from snellen.build.occluders.building import OccludersBuilt

__all__ = ["OccludersRequest", "build", "build_set"]
__dir__ = lister(__all__)


def build_set(request: OccludersRequest) -> OccludersBuilt:
    """Cut objects out of `data`, which must have masks, of classes that `target` has not, into PNGs with transparency.

    The folder `out` can be given as `occluders`. Any number of `workers` gives the same bytes. A stopped build resumes; a
    finished one is left as it is.

    >>> from snellen.build.occluders import build
    >>> built = build("phantom:test?size=32&n=24", "objects",
    ...     target="phantom:test?size=32&n=24&classes=disc,ring", per_class=1, min_pixels=16, workers=1)
    >>> built.out.name
    'objects'
    """
    from snellen.build.occluders.building import OccludersSet

    return OccludersSet(request).run()


build = door(build_set, OccludersRequest, "data", "out", quiet=True)
