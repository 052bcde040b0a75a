"""What mixing costs: FMix masks, MixUp and CutMix batches and saliency maps against other people's ways to make them.

One process, the two sides interleaved; CPU time with 1 thread (other programs do not count), else wall time (waiting
threads count as busy); a line gives the median over the rounds of (their time ÷ ours), so above 1 we are faster. Goals:
masks ≥ 10 ×, batches ≥ 1 ×. Measured on one core of an EPYC with torch 2.15 beside other programs: masks of 32 px 8.7 ×
in batches of 128, where that goal is missed, and 14.8 × in batches of 512, of 64 px 14.1 and 17.0 ×; MixUp 1.5 to 1.6 ×;
CutMix corrected 1.1 to 1.8 ×, nominal (a box an image, which torchvision has not) 1.0 to 1.7 ×; saliency 2.4 to 5.1 ×.

- masks: `fmix(per=sample)`, draws included, against the published procedure mask by mask, written out in NumPy below
- batches: against torchvision's v2 transforms, which make one-hot labels where we keep two labels and a weight
- saliency: the whole batch against a loop over OpenCV's StaticSaliencyFineGrained (needs opencv-contrib)

    python benchmarks/mixing.py                 # 1 thread
    python benchmarks/mixing.py --rounds 200 --only masks --threads 2
"""

from __future__ import annotations

import argparse
import math
import random
import statistics
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import torch
from torchvision.transforms import v2

from snellen.distort.fourier import noise_shape
from snellen.train.mixing import CutMix, FMix, MixUp, fine_grained
from snellen.train.mixing.batch import beta
from snellen.train.mixing.masks import own_pixel_counts

BATCHES = [(128, 32), (64, 64)]  # images, pixels a side
MASKS = [(128, 32), (512, 32), (128, 64), (512, 64)]


def compare(what: str, theirs: Callable[[], object], ours: Callable[[], object], per: int, rounds: int) -> None:
    """Print the median ratio and both medians, in microseconds an item (`per` items a call)."""
    clock = time.process_time if torch.get_num_threads() == 1 else time.perf_counter
    pairs = []
    for turn in range(rounds + 3):
        times = []
        for side in (theirs, ours) if turn % 2 else (ours, theirs):
            began = clock()
            side()
            times.append(clock() - began)
        if turn >= 3:  # the first rounds warm up
            pairs.append(times if turn % 2 else times[::-1])
    ratio = statistics.median(their / our for their, our in pairs)
    their, our = (statistics.median(side) / per * 1e6 for side in zip(*pairs))
    print(f"{what}: {ratio:.2f} × (theirs {their:,.2f} µs, ours {our:,.2f} µs an image)", flush=True)


def published_mask(side: int, alpha: float = 1.0, decay: float = 3.0) -> tuple[float, np.ndarray]:
    """One FMix share and mask [side, side] as published, the indexing slip included."""
    share = np.random.beta(alpha, alpha)
    across = np.fft.fftfreq(side)[: side // 2 + 1 + side % 2]
    frequency = np.sqrt(across**2 + np.fft.fftfreq(side)[:, None] ** 2)
    amplitude = 1 / np.maximum(frequency, 1 / side) ** decay
    scaled = amplitude[:, :, None] * np.random.randn(*frequency.shape, 2)
    image = np.fft.irfftn(scaled[0] + 1j * scaled[1], (side, side), axes=(0, 1))
    image = image - image.min()
    flat = (image / image.max()).reshape(-1)
    order = flat.argsort()[::-1]
    kept = math.ceil(share * flat.size) if random.random() > 0.5 else math.floor(share * flat.size)
    flat[order[:kept]] = 1
    flat[order[kept:]] = 0
    return share, flat.reshape(side, side)


def published_masks(count: int, side: int) -> list[tuple[float, np.ndarray]]:
    return [published_mask(side) for _ in range(count)]


def our_masks(count: int, side: int, draws: torch.Generator) -> torch.Tensor:
    """`count` masks as fmix(per=sample) draws them."""
    weights = beta(1, 1, count, draws)
    kept = own_pixel_counts(weights, side * side, draws)
    noise = torch.randn(count, *noise_shape("official", side, side), generator=draws)
    return FMix(per="sample").masks(noise, weights, kept, (side, side))


def masks(rounds: int) -> None:
    draws = torch.Generator().manual_seed(0)
    for count, side in MASKS:
        compare(
            f"fmix masks, {count} of {side} px, against the published procedure",
            partial(published_masks, count, side),
            partial(our_masks, count, side, draws),
            count,
            max(rounds // 4, 10),
        )


def batches(rounds: int) -> None:
    draws = torch.Generator().manual_seed(0)
    for count, side in BATCHES:
        labels = torch.arange(count) % 10
        whole = torch.randint(0, 256, (count, 3, side, side), dtype=torch.uint8)
        cases = [
            ("mixup float", MixUp(), v2.MixUp(num_classes=10), whole.float()),
            ("cutmix corrected float", CutMix(rule="corrected"), v2.CutMix(num_classes=10), whole.float()),
            ("cutmix corrected uint8", CutMix(rule="corrected"), v2.CutMix(num_classes=10), whole),
            ("cutmix nominal float", CutMix(), v2.CutMix(num_classes=10), whole.float()),
            ("cutmix nominal uint8", CutMix(), v2.CutMix(num_classes=10), whole),
        ]
        for name, mix, theirs, images in cases:
            compare(
                f"{name}, {count} of {side} px, against torchvision",
                partial(theirs, images, labels),
                partial(mix, images, labels, draws),
                count,
                rounds,
            )


def opencv_maps(judge: Any, images: np.ndarray) -> list[np.ndarray]:
    return [judge.computeSaliency(image)[1] for image in images]


def saliency(rounds: int) -> None:
    try:
        import cv2

        theirs = cv2.saliency.StaticSaliencyFineGrained_create()
    except (ImportError, AttributeError):
        print("saliency: skipped, opencv-contrib is not installed")
        return
    cv2.setNumThreads(1)
    for count, side in [(128, 32), (64, 64), (16, 224)]:
        arrays = np.random.default_rng(0).integers(0, 256, (count, side, side, 3), dtype=np.uint8)
        images = torch.from_numpy(arrays[..., ::-1].copy()).permute(0, 3, 1, 2).contiguous()
        compare(
            f"saliency, {count} of {side} px, against a loop of OpenCV's",
            partial(opencv_maps, theirs, arrays),
            partial(fine_grained, images),
            count,
            max(rounds // 4, 10),
        )


PARTS = {"masks": masks, "batches": batches, "saliency": saliency}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=100)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--only", nargs="+", choices=list(PARTS), default=list(PARTS))
    chosen = parser.parse_args()
    torch.set_num_threads(chosen.threads)
    for name in chosen.only:
        PARTS[name](chosen.rounds)


if __name__ == "__main__":
    main()
