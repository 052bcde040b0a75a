"""Snow, fog and spatter."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from snellen.distort.corruptions.blurs import streaked
from snellen.distort.corruptions.fields import normal, plasma
from snellen.distort.corruptions.zooming import zoomed_in
from snellen.distort.each_picture import each_picture
from snellen.distort.view import View
from snellen.extras import import_package
from snellen.lazy_torch import torch

if TYPE_CHECKING:
    from torch import Tensor

_GREY = (0.299, 0.587, 0.114)
_WATER, _MUD = (np.array(colour)[:, None, None] / 255 for colour in ((175, 238, 238), (63, 42, 20)))


def snow(images: Tensor, view: View, settings: tuple[float, ...]) -> Tensor:
    """The image turned pale, with streaks of flakes that fall at an angle, and the same upside down."""
    mean, sigma, factor, threshold, radius, spread, share = settings
    height, width = images.shape[2:]
    flakes = zoomed_in(normal(view, "flakes", height, width).mul_(sigma).add_(mean)[:, None], factor)
    flakes = flakes.masked_fill_(flakes < threshold, 0).clamp_(0, 1)
    angles = -135 + 90 * view.draw.uniform("angle")
    layers = torch.zeros((len(images), height, width), device=images.device)
    for layer, falling, angle in zip(layers, flakes, angles.tolist()):
        fallen = streaked(falling, int(radius), spread, angle)[0].mul_(255 / 2**16).round_()
        layer[: fallen.shape[0], : fallen.shape[1]] = fallen[:height, :width]
    pixels = images.float()
    red, green, blue = pixels.unbind(1)
    grey = red.mul(_GREY[0]).add_(green.mul(_GREY[1])).add_(blue.mul(_GREY[2]))
    pale = grey.mul_(1.5).add_(0.5 * 255)[:, None].maximum(pixels)
    falling = layers.add(layers.rot90(2, (1, 2)))[:, None]
    return _clipped(pixels.mul_(share).add_(pale.mul_(1 - share)).add_(falling))


def fog(images: Tensor, view: View, settings: tuple[float, float]) -> Tensor:
    """A cloud with detail of every size is added, and the image darkened until its brightest value is what it was."""
    amount, decay = settings
    brightest = images.flatten(1).amax(1)[:, None, None, None] / 255
    share = brightest / (brightest + amount)
    cloud = plasma(view, "cloud", images.shape[2], images.shape[3], decay)[:, None].mul_(255 * amount)
    return _clipped(images.float().add_(cloud).mul_(share))


def spatter(images: Tensor, view: View, settings: tuple[float, float, float, float, float, bool]) -> Tensor:
    """Drops of water on the lens, by the edges of the drops as OpenCV finds them; at severities 4 and 5 of mud."""
    from scipy.ndimage import gaussian_filter

    mean, sigma, size, threshold, strength, mud = settings
    drops = normal(view, "drops", *images.shape[2:]).cpu().numpy().astype(np.float64) * sigma + mean

    def splash(planes: np.ndarray, row: int) -> np.ndarray:
        liquid = gaussian_filter(drops[row], size, mode="nearest")
        pixels = planes / 255
        if mud:
            cover = gaussian_filter((liquid > threshold).astype(np.float64), strength, mode="nearest")
            cover[cover < 0.8] = 0
            pixels = pixels * (1 - cover) + cover * _MUD
        else:
            pixels = pixels + _shine(np.where(liquid < threshold, 0, liquid), strength) * _WATER
        return (np.clip(pixels, 0, 1) * 255).astype(np.uint8)

    return each_picture(images, splash)


def _shine(liquid: np.ndarray, strength: float) -> np.ndarray:
    """float [H, W]: how bright drops shine, by how far their pixels are from an edge."""
    cv2 = import_package("cv2", "spatter")
    levels = (np.clip(liquid, 0, 1) * 255).astype(np.uint8)
    distance = cv2.distanceTransform(255 - cv2.Canny(levels, 50, 150), cv2.DIST_L2, 5)
    near = cv2.blur(np.minimum(distance, 20), (3, 3)).astype(np.uint8)
    relief = cv2.filter2D(cv2.equalizeHist(near), cv2.CV_8U, np.array([[-2, -1, 0], [-1, 1, 1], [0, 1, 2]]))
    shine = levels * cv2.blur(relief, (3, 3)).astype(np.float32)
    return shine / max(float(shine.max()), 1e-12) * strength


def _clipped(values: Tensor) -> Tensor:
    return values.clamp_(0, 255).to(torch.uint8)
