"""Photometric tuples against Pillow: 100 random 3-tuples of the `mnist` set on 1,000 images of 32 px, the same bits.

Both sides in turn in one process, the median of the ratios; every tuple is compared pixel by pixel first. The Pillow side holds
its images ready and keeps the results as Pillow images, so that only its operations are timed.

    python benchmarks/photometric.py
    python benchmarks/photometric.py --threads 1 --tuples 20
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable

import cv2
import numpy as np
import torch
from PIL import Image, ImageEnhance, ImageOps

from snellen.distort import View
from snellen.distort.chain import stages_of
from snellen.distort.distortion import Distortion
from snellen.search.image_fitness import distortion_of
from snellen.search.spaces import SPACES

Picture = Image.Image


def shift(channel: int) -> Callable[[Picture, float], Picture]:
    def operate(image: Picture, amount: float) -> Picture:
        bands = list(image.split())
        bands[channel] = bands[channel].point([max(0, min(255, value + int(amount))) for value in range(256)])
        return Image.merge("RGB", bands)

    return operate


PILLOW: dict[str, Callable[[Picture, float], Picture]] = {
    "autocontrast": lambda image, level: ImageOps.autocontrast(image, cutoff=level),
    "brightness": lambda image, level: ImageEnhance.Brightness(image).enhance(level),
    "colour": lambda image, level: ImageEnhance.Color(image).enhance(level),
    "contrast": lambda image, level: ImageEnhance.Contrast(image).enhance(level),
    "sharpness": lambda image, level: ImageEnhance.Sharpness(image).enhance(level),
    "solarize": lambda image, level: ImageOps.solarize(image, int(level)),
    "grayscale": lambda image, level: ImageOps.grayscale(image).convert("RGB"),
    "red": shift(0),
    "green": shift(1),
    "blue": shift(2),
}


def by_pillow(pictures: list[Picture], chain: Distortion) -> list[Picture]:
    steps = [(PILLOW[type(one).__name__.lower()], next(iter(vars(one).values()), 0)) for one in stages_of(chain)]
    outcome = []
    for picture in pictures:
        for operate, level in steps:
            picture = operate(picture, level)
        outcome.append(picture)
    return outcome


def seconds(call: Callable[..., object], *arguments: object) -> float:
    began = time.perf_counter()
    call(*arguments)
    return time.perf_counter() - began


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tuples", type=int, default=100)
    parser.add_argument("--images", type=int, default=1000)
    parser.add_argument("--side", type=int, default=32)
    parser.add_argument("--space", default="mnist", choices=("mnist", "cifar10", "camvid", "faces"))
    parser.add_argument("--threads", type=int)
    chosen = parser.parse_args()
    if chosen.threads:
        torch.set_num_threads(chosen.threads)
        cv2.setNumThreads(chosen.threads)
    random = np.random.default_rng(0)
    coarse = random.integers(0, 256, (chosen.images, 8, 8, 3), dtype=np.uint8)
    arrays = np.stack([cv2.resize(one, (chosen.side, chosen.side), interpolation=cv2.INTER_CUBIC) for one in coarse])
    pictures = [Image.fromarray(array) for array in arrays]
    batch = torch.from_numpy(arrays).permute(0, 3, 1, 2).contiguous()
    view = View.of([str(number) for number in range(chosen.images)])
    space = SPACES[chosen.space]
    rows = []
    for _ in range(chosen.tuples):
        chain = distortion_of(space.texts(space.draw(random, 3)))
        expected = np.stack([np.asarray(one) for one in by_pillow(pictures, chain)])
        assert np.array_equal(chain(batch, view).permute(0, 2, 3, 1).numpy(), expected), str(chain)
        turns = [(seconds(chain, batch, view), seconds(by_pillow, pictures, chain)) for _ in range(3)]
        ours, theirs = (statistics.median(side) for side in zip(*turns))
        rows.append((theirs / ours, ours, theirs, str(chain)))
    total = sum(row[2] for row in rows) / sum(row[1] for row in rows)
    rows.sort()
    threads = torch.get_num_threads()
    print(f"{chosen.tuples} tuples of '{space.name}', {chosen.images} images of {chosen.side} px, {threads} threads")
    least, median, most = (rows[place][0] for place in (0, len(rows) // 2, -1))
    print(f"in total {total:.1f} × Pillow; median {median:.1f} ×, least {least:.1f} ×, most {most:.1f} ×")
    for ratio, ours, theirs, text in rows[:8]:
        print(f"  {ratio:5.1f} ×  {1e3 * ours:6.2f} ms against {1e3 * theirs:7.2f} ms  {text}")


if __name__ == "__main__":
    main()
