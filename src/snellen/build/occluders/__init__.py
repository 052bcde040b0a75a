"""`snellen build occluders`: objects cut out of images, to stand before others (Kassaw et al. 2024, appendix E)."""

from __future__ import annotations

from snellen.build.occluders.building import Built, build
from snellen.build.occluders.settings import Settings

__all__ = ["Built", "Settings", "build"]
