"""The variants of ImageNet-9 (Xiao et al. 2021), built from any images with boxes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from snellen.build.in9.request import In9Request, RebuildRequest
from snellen.lazy_names import lister
from snellen.settings_file import door

if TYPE_CHECKING:
    from snellen.build.in9.building import In9Built

__all__ = ["In9Request", "RebuildRequest", "build", "build_set", "rebuild"]
__dir__ = lister(__all__)


def build_set(request: In9Request) -> In9Built:
    """Build every variant of the images of `data` that pass the filters into the folder `out`.

    Any number of `workers` gives the same bytes. `published` makes every choice as the paper did. A stopped build resumes; a
    finished one is left as it is.

    >>> from snellen.build.in9 import build
    >>> built = build("phantom:test?size=48&n=24&object_size=0.35..0.6", "variants", "all", size=48, masks="data",
    ...     workers=1)
    >>> built.out.name
    'variants'
    """
    from snellen.build.in9.building import In9Set

    return In9Set(request).run()


def rebuild_set(request: RebuildRequest) -> In9Built:
    """Write what people have left of the built set in the folder `data`, by the list `curation`, into the folder `out`.

    Files that nothing has changed are copied; others are made of the stored originals. A finished set is left as it is.

    >>> from pathlib import Path
    >>> from snellen.build.in9 import build, rebuild
    >>> _ = build("phantom:test?size=48&n=24&object_size=0.35..0.6", "set", "all", size=48, masks="data", workers=1)
    >>> rejected = Path("set/curation.csv").read_text().replace("000003,accept", "000003,reject")
    >>> Path("curation.csv").write_text(rejected) > 0
    True
    >>> rebuild("set", "curation.csv", "mended", balance=False, workers=1).out.name
    'mended'
    """
    from snellen.build.in9.rebuilding import In9Rebuild

    return In9Rebuild(request).run()


build = door(build_set, In9Request, "data", "out", "classes", quiet=True)
rebuild = door(rebuild_set, RebuildRequest, "data", "curation", "out", quiet=True)
