"""`python docs/mixing.py`: write docs/images/mixing.png, every mix at two weights on two images of the phantom world."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from PIL import Image, ImageDraw, ImageFont

import snellen
from snellen.train.mixing import RandomMasks, parse_mix
from snellen.train.mixing.batch import Batch
from snellen.train.mixing.masks import fixed_masks

SHEET = Path(__file__).parent / "images" / "mixing.png"
MIXES = [
    "none",
    "mixup",
    "cutmix",
    "cutmix(rule=corrected)",
    "cutout",
    "fmix",
    "fmix(spectrum=isotropic)",
    "fmix(soft=0.2)",
    "random_masks",
    "saliencymix",
    "saliencymix(per=sample)",
]
WEIGHTS = (0.2, 0.5)
SIDE, GAP, MARGIN = 96, 6, 190  # pixels: an image, between images, the column of names
WHITE, INK = (255, 255, 255), (40, 40, 40)


@dataclass(frozen=True)
class Weighed(Batch):
    """A batch whose weights are not drawn but given."""

    given: float = 0.5

    def weights(self, alpha: float, count: int) -> np.ndarray:
        return np.full(count, self.given)


def shown(text: str, images: torch.Tensor, weight: float, seed: int = 1) -> torch.Tensor:
    """uint8 [2, 3, H, W]: each of two images mixed with the other, keeping about `weight` of itself."""
    mix = parse_mix(text)
    if isinstance(mix, RandomMasks):
        mix = min((RandomMasks(k=1, seed=seed) for seed in range(200)), key=lambda one: abs(_share(one) - weight))
    batch = Weighed(images, torch.arange(2), torch.Generator().manual_seed(seed), images.flip(0), given=weight)
    return mix.mix(batch)[0].round().to(torch.uint8)


def sheet() -> Image.Image:
    """A row for each mix; two images with weight 0.2, then the same two with 0.5."""
    data = snellen.load_data(f"phantom:test?size={SIDE}&n=60")
    photos = [photo.image for photo in data.read([7, 20])]
    images = torch.from_numpy(np.stack(photos)).permute(0, 3, 1, 2).contiguous()
    step, font = SIDE + GAP, ImageFont.load_default(14)
    columns = [MARGIN + step * place + (place // 2) * 2 * GAP for place in range(2 * len(WEIGHTS))]
    canvas = Image.new("RGB", (columns[-1] + step, 28 + step * len(MIXES)), WHITE)
    pen = ImageDraw.Draw(canvas)
    for number, weight in enumerate(WEIGHTS):
        pen.text((columns[2 * number], 6), f"weight {weight:g}", INK, font)
    for row, text in enumerate(MIXES):
        top = 28 + row * step
        pen.text((GAP, top + SIDE // 2 - 8), text, INK, font)
        tiles = [tile for weight in WEIGHTS for tile in shown(text, images, weight)]
        for left, tile in zip(columns, tiles, strict=True):
            canvas.paste(Image.fromarray(tile.permute(1, 2, 0).numpy()), (left, top))
    return canvas


def _share(masks: RandomMasks) -> float:
    return fixed_masks(masks, SIDE, SIDE, False, torch.device("cpu"))[0][0]


if __name__ == "__main__":
    sheet().quantize(200).save(SHEET, optimize=True)
