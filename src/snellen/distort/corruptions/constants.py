"""The published constants of the common corruptions: five severities each, for ImageNet (224 px) and for CIFAR-10 (32 px)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, get_args

CommonKind = Literal[
    "gaussian_noise",
    "shot_noise",
    "impulse_noise",
    "defocus_blur",
    "glass_blur",
    "motion_blur",
    "zoom_blur",
    "snow",
    "frost",
    "fog",
    "brightness",
    "contrast",
    "elastic_transform",
    "pixelate",
    "jpeg_compression",
]
ExtraKind = Literal["speckle_noise", "gaussian_blur", "spatter", "saturate"]
CorruptionKind = Literal[CommonKind, ExtraKind]
Constants = Literal["imagenet", "cifar"]

COMMON: tuple[str, ...] = get_args(CommonKind)  # those of the mean corruption error
EXTRA: tuple[str, ...] = get_args(ExtraKind)  # held out, to choose by
SEVERITIES = 5

IMAGENET: Mapping[str, tuple[Any, ...]] = {
    "gaussian_noise": (0.08, 0.12, 0.18, 0.26, 0.38),  # sigma
    "shot_noise": (60, 25, 12, 5, 3),  # photons of white
    "impulse_noise": (0.03, 0.06, 0.09, 0.17, 0.27),  # share of values
    "speckle_noise": (0.15, 0.2, 0.35, 0.45, 0.6),  # sigma, of the value
    "defocus_blur": ((3, 0.1), (4, 0.5), (6, 0.5), (8, 0.5), (10, 0.5)),  # radius, sigma of its edge
    "glass_blur": ((0.7, 1, 2), (0.9, 2, 1), (1, 2, 3), (1.1, 3, 2), (1.5, 4, 2)),  # sigma, reach, rounds
    "gaussian_blur": (1, 2, 3, 4, 6),  # sigma
    "motion_blur": ((10, 3), (15, 5), (15, 8), (15, 12), (20, 15)),  # radius, sigma
    "zoom_blur": (
        (1.11, 0.01),
        (1.16, 0.01),
        (1.21, 0.02),
        (1.26, 0.02),
        (1.31, 0.03),
    ),  # zooms below this, and their steps
    # mean and sigma of the flakes, zoom, threshold, radius and sigma of their motion, share of the image
    "snow": (
        (0.1, 0.3, 3, 0.5, 10, 4, 0.8),
        (0.2, 0.3, 2, 0.5, 12, 4, 0.7),
        (0.55, 0.3, 4, 0.9, 12, 8, 0.7),
        (0.55, 0.3, 4.5, 0.85, 12, 8, 0.65),
        (0.55, 0.3, 2.5, 0.85, 12, 12, 0.55),
    ),
    "frost": ((1, 0.4), (0.8, 0.6), (0.7, 0.7), (0.65, 0.7), (0.6, 0.75)),  # shares of image and frost
    "fog": ((1.5, 2), (2.0, 2), (2.5, 1.7), (2.5, 1.5), (3.0, 1.4)),  # amount, how fast detail fades
    "brightness": (0.1, 0.2, 0.3, 0.4, 0.5),  # added to the value
    # mean and sigma of the drops, their sigma, threshold, strength (or sigma of their edge), mud instead of water
    "spatter": (
        (0.65, 0.3, 4, 0.69, 0.6, False),
        (0.65, 0.3, 3, 0.68, 0.6, False),
        (0.65, 0.3, 2, 0.68, 0.5, False),
        (0.65, 0.3, 1, 0.65, 1.5, True),
        (0.67, 0.4, 1, 0.65, 1.5, True),
    ),
    "contrast": (0.4, 0.3, 0.2, 0.1, 0.05),  # factor
    "saturate": ((0.3, 0), (0.1, 0), (2, 0), (5, 0.1), (20, 0.2)),  # factor and what is added
    "elastic_transform": (12.5, 16.25, 21.25, 25, 30),  # how far, times 0.5% of the height
    "pixelate": (0.6, 0.5, 0.4, 0.3, 0.25),  # share of the side
    "jpeg_compression": (25, 18, 15, 10, 7),  # quality
}

CIFAR: Mapping[str, tuple[Any, ...]] = {
    "gaussian_noise": (0.04, 0.06, 0.08, 0.09, 0.10),
    "shot_noise": (500, 250, 100, 75, 50),
    "impulse_noise": (0.01, 0.02, 0.03, 0.05, 0.07),
    "speckle_noise": (0.06, 0.1, 0.12, 0.16, 0.2),
    "defocus_blur": ((0.3, 0.4), (0.4, 0.5), (0.5, 0.6), (1, 0.2), (1.5, 0.1)),
    "glass_blur": ((0.05, 1, 1), (0.25, 1, 1), (0.4, 1, 1), (0.25, 1, 2), (0.4, 1, 2)),
    "gaussian_blur": (0.4, 0.6, 0.7, 0.8, 1),
    "motion_blur": ((6, 1), (6, 1.5), (6, 2), (8, 2), (9, 2.5)),
    "zoom_blur": ((1.06, 0.01), (1.11, 0.01), (1.16, 0.01), (1.21, 0.01), (1.26, 0.01)),
    "snow": (
        (0.1, 0.2, 1, 0.6, 8, 3, 0.95),
        (0.1, 0.2, 1, 0.5, 10, 4, 0.9),
        (0.15, 0.3, 1.75, 0.55, 10, 4, 0.9),
        (0.25, 0.3, 2.25, 0.6, 12, 6, 0.85),
        (0.3, 0.3, 1.25, 0.65, 14, 12, 0.8),
    ),
    "frost": ((1, 0.2), (1, 0.3), (0.9, 0.4), (0.85, 0.4), (0.75, 0.45)),
    "fog": ((0.2, 3), (0.5, 3), (0.75, 2.5), (1, 2), (1.5, 1.75)),
    "brightness": (0.05, 0.1, 0.15, 0.2, 0.3),
    "spatter": (
        (0.62, 0.1, 0.7, 0.7, 0.5, False),
        (0.65, 0.1, 0.8, 0.7, 0.5, False),
        (0.65, 0.3, 1, 0.69, 0.5, False),
        (0.65, 0.1, 0.7, 0.69, 0.6, True),
        (0.65, 0.1, 0.5, 0.68, 0.6, True),
    ),
    "contrast": (0.75, 0.5, 0.4, 0.3, 0.15),
    "saturate": ((0.3, 0), (0.1, 0), (1.5, 0), (2, 0.1), (2.5, 0.2)),
    # of the side: how far, sigma, how far the corners of a triangle move
    "elastic_transform": ((0, 0, 0.08), (0.05, 0.2, 0.07), (0.08, 0.06, 0.06), (0.1, 0.04, 0.05), (0.1, 0.03, 0.03)),
    "pixelate": (0.95, 0.9, 0.85, 0.75, 0.65),
    "jpeg_compression": (80, 65, 58, 50, 40),
}

CONSTANTS: Mapping[str, Mapping[str, tuple[Any, ...]]] = {"imagenet": IMAGENET, "cifar": CIFAR}
