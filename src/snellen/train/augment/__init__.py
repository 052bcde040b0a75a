"""Augmentation of whole batches of uint8 images [B, 3, H, W] on their device: mirror, shift, zoom, colour.

    images = random_crop(random_flip(images, draws), 4, draws)
    images, maps = Augment(flip=True, padding=4, jitter=0.4)(images, draws, maps)

Every augmentation first draws a small frozen change (`Flip`, `Shift`, `Zoom`, `Jitter`), one entry per image, which is
then applied to the images and, where there are some, to their label maps [B, H, W]. Draws come from a generator on the
CPU, so they are the same on every device, and reach a GPU in one small copy, without waiting.
"""

from __future__ import annotations

from snellen.lazy_names import lister
from snellen.train.augment.chain import Augment
from snellen.train.augment.jitter import Jitter, colour_jitter
from snellen.train.augment.shift import UNLABELLED, Fill, Flip, RandomShift, random_crop, random_flip
from snellen.train.augment.zoom import RandomZoom, random_resized_crop

__all__ = [
    "UNLABELLED",
    "Augment",
    "Fill",
    "Flip",
    "Jitter",
    "RandomShift",
    "RandomZoom",
    "colour_jitter",
    "random_crop",
    "random_flip",
    "random_resized_crop",
]
__dir__ = lister(__all__)
