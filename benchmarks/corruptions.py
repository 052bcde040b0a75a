"""The common corruptions against the usual package: its processor time ÷ ours, interleaved, median over rounds.

Both corrupt the same images of 224 px at severities 1, 3 and 5; ours as one batch, the package image by image.

    python benchmarks/corruptions.py
    python benchmarks/corruptions.py --threads 1 --rounds 5 --kinds fog glass_blur
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import time
from collections.abc import Callable

import cv2
import numpy as np
import torch

sys.path.remove(
    os.path.dirname(os.path.abspath(__file__))
)  # numba looks for a package called as a file beside this one
from imagecorruptions import corrupt

import snellen
from snellen.distort import View
from snellen.distort.corruptions import CORRUPTIONS, Corruption

SEVERITIES = (1, 3, 5)


def seconds(work: Callable[[], object]) -> tuple[float, float]:
    """One call by the clock and by the processor."""
    clock, processor = time.perf_counter(), time.process_time()
    work()
    return time.perf_counter() - clock, time.process_time() - processor


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--images", type=int, default=32)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("--kinds", nargs="*", default=list(CORRUPTIONS))
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    cv2.setNumThreads(options.threads)
    data = snellen.load_data(f"phantom:test?size=224&n={options.images}")
    pictures = [photo.image for photo in data.read(range(options.images))]
    images = torch.from_numpy(np.stack(pictures)).permute(0, 3, 1, 2).contiguous()
    view = View.of([str(number) for number in range(options.images)])
    print(
        f"{options.images} images of 224 px, {options.threads} threads; ms per image by the processor, median of ratios\n"
    )
    print("| corruption | ours | package | package ÷ ours | by the clock |\n|---|---|---|---|---|")
    totals = np.zeros(4)
    for kind in options.kinds:
        spent, ratios, by_clock = np.zeros(4), [], []
        for round_ in range(options.rounds + 1):
            times = np.zeros(4)
            for severity in SEVERITIES:
                own = Corruption(kind, severity)
                ours = seconds(lambda own=own: own(images, view))
                theirs = seconds(lambda s=severity, k=kind: [corrupt(picture, s, k) for picture in pictures])
                times += [*ours, *theirs]
            if round_:  # the first one fills caches
                spent += times / options.rounds
                ratios.append(times[3] / times[1])
                by_clock.append(times[2] / times[0])
        totals += spent
        each = 1000 * spent / len(SEVERITIES) / options.images
        ratio, clock = statistics.median(ratios), statistics.median(by_clock)
        print(f"| {kind} | {each[1]:.2f} | {each[3]:.2f} | {ratio:.1f} | {clock:.1f} |", flush=True)
    print(f"| all | | | {totals[3] / totals[1]:.1f} | {totals[2] / totals[0]:.1f} |")


if __name__ == "__main__":
    main()
