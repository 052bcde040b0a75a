"""Image recognition under occlusion (Kassaw et al. 2024): crops of annotated instances by level of occlusion."""

from __future__ import annotations

from snellen.build.iruo.building import Built, build
from snellen.build.iruo.settings import Settings

__all__ = ["Built", "Settings", "build"]
