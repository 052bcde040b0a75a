"""Why a model answered so: Grad-CAM maps of any torch CNN or transformer, and pictures of them."""

from __future__ import annotations

from snellen.explain.beside import Beside, explain_beside
from snellen.explain.gradcam import gradcam
from snellen.explain.picture import Explanation, explain_images, overlay

__all__ = ["Beside", "Explanation", "explain_beside", "explain_images", "gradcam", "overlay"]
