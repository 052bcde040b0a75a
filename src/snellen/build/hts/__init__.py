"""`snellen build hts`: a clear, balanced subset for people to label (Kassaw et al. 2024, section 5.1)."""

from __future__ import annotations

from snellen.build.hts.building import Built, build
from snellen.build.hts.settings import Settings

__all__ = ["Built", "Settings", "build"]
