"""CPU and GPU give the same pixels: to the bit where whole numbers decide, but for rare pixels where floats do."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch

from snellen.distort import parse

from .test_every_distortion import TEXTS, images, view

needs_gpu = pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")


@needs_gpu
@pytest.mark.parametrize("text", TEXTS)
def test_a_gpu_gives_the_pixels_of_the_cpu(text: str) -> None:
    distortion = parse(text)
    known = view()
    assert known.masks is not None
    assert known.donors is not None
    assert known.saliency is not None
    pool = replace(known.donors, images=known.donors.images.cuda())
    maps = {"masks": known.masks.cuda(), "saliency": known.saliency.cuda()}
    there = replace(known, device=torch.device("cuda"), donors=pool, **maps)
    here, away = distortion(images(), known), distortion(images().cuda(), there).cpu()
    assert float((here != away).float().mean()) <= (0.002 if distortion.floating else 0)
