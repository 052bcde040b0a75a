"""The variants of ImageNet-9 (Xiao et al. 2021), built from any images with boxes."""

from __future__ import annotations

from snellen.build.in9.building import Built, build
from snellen.build.in9.settings import Settings

__all__ = ["Built", "Settings", "build"]
