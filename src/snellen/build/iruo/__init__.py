"""Image recognition under occlusion (Kassaw et al. 2024): crops of annotated instances by level of occlusion."""

from __future__ import annotations

from typing import TYPE_CHECKING

from snellen.build.iruo.request import IruoRequest
from snellen.lazy_names import lister
from snellen.settings_file import door

if TYPE_CHECKING:
    from snellen.build.iruo.building import IruoBuilt

__all__ = ["IruoRequest", "build", "build_set"]
__dir__ = lister(__all__)


def build_set(request: IruoRequest) -> IruoBuilt:
    """Cut the instances that `annotations` (JSON of OVIS, YouTube-VIS or COCO, or a table) describe out of frames, into `out`.

    Any number of `workers` gives the same bytes. A stopped build resumes; a finished one is left as it is.

    >>> from snellen.build.iruo import build
    >>> from snellen.build.phantom import export
    >>> _ = export("phantom:test?size=64&n=120&frames=2&object_size=0.5..0.8&occlusion=0.4", "ovis", "clips")
    >>> built = build("clips/annotations_test.json", "clips/test", "crops", size=32, margin=4, workers=1)
    >>> built.out.name
    'crops'
    """
    from snellen.build.iruo.building import IruoSet

    return IruoSet(request).run()


build = door(build_set, IruoRequest, "annotations", "frames", "out", quiet=True)
