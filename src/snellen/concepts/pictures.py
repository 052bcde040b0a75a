"""Pictures of units: the images that excite one most, with its mask drawn (Won et al. 2023, figure 5)."""

from __future__ import annotations

import io
from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
from PIL import Image

from snellen.concepts.probes import Probes
from snellen.concepts.upsampling import enlarge
from snellen.explain.overlays import outline
from snellen.lazy_torch import torch

if TYPE_CHECKING:
    from collections.abc import Callable

    from torch import Tensor

MOST_UNITS = 16  # units of a layer
SIDE = 112  # pixels of a picture's longer side
DIM = 0.35  # what stays of the light outside the mask


def draw_units(
    probes: Probes, features: Callable[[Tensor], Tensor], thresholds: np.ndarray, counts: Mapping[str, np.ndarray]
) -> dict[int, list[bytes]]:
    """By unit, for those that follow a concept best, its best images as PNG, dark outside its mask."""
    units = choose_units(counts, [concept.category for concept in probes.concepts])
    wanted = {int(position) for unit in units for position in counts["positions"][unit] if position >= 0}
    parts: dict[tuple[int, int], bytes] = {}
    for probe in probes.at(sorted(wanted)):
        for image, position in zip(probe.images, probe.positions.tolist()):
            values = features(image[None])[:, units]
            masks = _masks(values, thresholds[units], image)
            for unit, mask in zip(units, masks):
                parts[unit, position] = _picture(image.cpu().numpy(), mask)
    places = {unit: [(unit, int(position)) for position in counts["positions"][unit]] for unit in units}
    return {unit: [parts[place] for place in some if place in parts] for unit, some in places.items()}


def choose_units(counts: Mapping[str, np.ndarray], categories: list[str]) -> list[int]:
    """The units of the highest IoU: detectors of each category in turn, each concept once as long as it lasts, then others."""
    from snellen.measure import concept_iou, detector_units

    iou = concept_iou(counts["intersect"][:, 1:], counts["activation"], counts["truth"][1:])
    names = [str(place) for place in range(len(categories))]
    detection = detector_units(iou, names, categories)
    order = [int(unit) for unit in np.argsort(-detection.iou, kind="stable") if detection.iou[unit] > 0]
    queues: dict[str, list[int]] = {}
    first: set[int] = set()
    again: list[int] = []
    for unit in order:
        place = int(detection.best[unit])
        late = place in first or not detection.detectors[unit]
        (again if late else queues.setdefault(categories[place], [])).append(unit)
        first.add(place)
    turns = [queue[turn] for turn in range(len(order)) for queue in queues.values() if turn < len(queue)]
    return sorted([*turns, *again][:MOST_UNITS])


def _masks(values: Tensor, thresholds: np.ndarray, image: Tensor) -> np.ndarray:
    """bool [units, H, W]: where features [1, units, h, w] of an image exceed their thresholds."""
    limits = torch.from_numpy(thresholds).to(values.device)
    masks: np.ndarray = (enlarge(values, *image.shape[1:])[0] > limits[:, None, None]).cpu().numpy()
    return masks


def _picture(image: np.ndarray, mask: np.ndarray) -> bytes:
    """A PNG: an image uint8 [3, H, W] at the size of a picture, dark outside the mask, with its edge in white."""
    pixels = image.transpose(1, 2, 0)
    scale = SIDE / max(pixels.shape[:2])
    size = max(1, round(pixels.shape[1] * scale)), max(1, round(pixels.shape[0] * scale))
    filter = Image.Resampling.BILINEAR if scale < 1 else Image.Resampling.NEAREST
    small = np.asarray(Image.fromarray(np.ascontiguousarray(pixels)).resize(size, filter))
    inside = np.asarray(Image.fromarray(mask).resize(size, Image.Resampling.NEAREST))
    light = np.where(inside[:, :, None], small, np.rint(small * DIM).astype(np.uint8))
    file = io.BytesIO()
    Image.fromarray(outline(light, inside)).save(file, "PNG")
    return file.getvalue()
