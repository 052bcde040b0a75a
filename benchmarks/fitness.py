"""Fitness evaluations per second: the ConvNet of Volpi & Murino (2019) at 32 px under random 3-tuples of the `mnist` set.

Three sides in turn in one process: ours (`ImageFitness.many`), bare forward passes on images that are edited already (uint8 in,
preprocessing included, the same batches), and a straightforward loop: Pillow on every image, a tensor of them, the same network.
The share outside the forward pass is 1 less the ratio of the second to the first. Medians over rounds.

    python benchmarks/fitness.py
    python benchmarks/fitness.py --device cuda --images 10000 --tuples 32 --batch 4096
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable

import cv2
import numpy as np
import torch
from photometric import by_pillow
from PIL import Image

from snellen.distort import View
from snellen.models.model import Model, from_torch
from snellen.models.zoo import build
from snellen.search.fitness import Edits
from snellen.search.image_fitness import ImageFitness, distortion_of
from snellen.search.scores import correct
from snellen.search.spaces import SPACES

CLOCK = {"wall": time.perf_counter, "cpu": time.process_time}
clock = time.perf_counter


def seconds(call: Callable[[], object], device: torch.device) -> float:
    if device.type == "cuda":
        torch.cuda.synchronize()
    began = clock()
    call()
    if device.type == "cuda":
        torch.cuda.synchronize()
    return clock() - began


def by_loop(model: Model, pictures: list[Image.Image], labels: np.ndarray, edits: Edits, batch: int) -> float:
    """The fitness as one would write it down: Pillow image by image, then the network batch by batch."""
    images = np.stack([np.asarray(one) for one in by_pillow(pictures, distortion_of(edits))])
    right = 0
    for start in range(0, len(images), batch):
        pixels = torch.from_numpy(images[start : start + batch]).permute(0, 3, 1, 2).contiguous().to(model.device)
        right += int((model(pixels).argmax(1).cpu().numpy() == labels[start : start + batch]).sum())
    return right / len(images)


def forward_only(model: Model, images: torch.Tensor, total: int, batch: int) -> torch.Tensor:
    """As many forward passes as the fitness of some tuples takes: full batches, and a last one of what is left."""
    for start in range(0, total, batch):
        answers = model(images[: min(batch, total - start)])
    return answers


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--images", type=int, default=1000)
    parser.add_argument("--tuples", type=int, default=16, help="tuples per round, evaluated together")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--length", type=int, default=3)
    parser.add_argument("--batch", type=int, default=500)
    parser.add_argument("--space", default="mnist", choices=list(SPACES))
    parser.add_argument("--arch", default="convnet")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--threads", type=int)
    parser.add_argument(
        "--clock", choices=list(CLOCK), default="wall", help="cpu: seconds of this process, for a busy machine"
    )
    parser.add_argument("--no-loop", action="store_true", help="leave the Pillow loop out")
    chosen = parser.parse_args()
    global clock
    clock = CLOCK[chosen.clock]
    if chosen.threads:
        torch.set_num_threads(chosen.threads)
        cv2.setNumThreads(chosen.threads)
    torch.manual_seed(0)
    random = np.random.default_rng(0)
    model = from_torch(build(chosen.arch, 10), size=32, mean=[0, 0, 0], std=[1, 1, 1], device=chosen.device)
    assert model.device is not None
    coarse = random.integers(0, 256, (chosen.images, 8, 8, 3), dtype=np.uint8)
    arrays = np.stack([cv2.resize(one, (32, 32), interpolation=cv2.INTER_CUBIC) for one in coarse])
    pictures = [Image.fromarray(array) for array in arrays]
    images = torch.from_numpy(arrays).permute(0, 3, 1, 2).contiguous().to(model.device)
    labels = random.integers(0, 10, chosen.images)
    view = View.of([str(number) for number in range(chosen.images)], device=model.device)
    batch = min(chosen.batch, chosen.images * chosen.tuples)
    fitness = ImageFitness(images, correct(model, torch.from_numpy(labels).to(model.device)), view, batch)
    edited = images.repeat(-(-batch // len(images)), 1, 1, 1)[:batch]
    space, rows = SPACES[chosen.space], []
    for number in range(chosen.rounds + 1):
        tuples = [space.texts(space.draw(random, chosen.length)) for _ in range(chosen.tuples)]
        values: list[list[float]] = []
        ours = seconds(lambda: values.append(fitness.many(tuples)), model.device)  # noqa: B023
        bare = seconds(lambda: forward_only(model, edited, len(images) * len(tuples), batch), model.device)  # noqa: B023
        loop = float("nan")
        if not chosen.no_loop:
            others = tuples[: max(1, 4 if chosen.images <= 2000 else 1)]
            answers: list[float] = []
            loop = seconds(
                lambda: answers.extend(by_loop(model, pictures, labels, one, batch) for one in others),  # noqa: B023
                model.device,
            )
            loop *= len(tuples) / len(others)
            assert np.allclose(values[0][: len(others)], answers, atol=0.02), (values[0], answers)
        if number:  # the first round warms up
            rows.append((ours, bare, loop))
    ours, bare, loop = (statistics.median(side) for side in zip(*rows))
    shares = [1 - row[1] / row[0] for row in rows]
    where = torch.cuda.get_device_name() if model.device.type == "cuda" else f"{torch.get_num_threads()} threads"
    print(
        f"{chosen.arch}, {chosen.images} images of 32 px, {chosen.length}-tuples of '{space.name}', {chosen.tuples} at once, "
        f"batch {batch}, {where}, {model.precision}"
    )
    print(
        f"ours          {chosen.tuples / ours:9.2f} evaluations/s ({chosen.tuples * len(images) / ours:,.0f} images/s)"
    )
    print(f"forward only  {chosen.tuples / bare:9.2f} evaluations/s")
    print(
        f"outside the forward pass {100 * statistics.median(shares):.1f}% ({', '.join(f'{100 * s:.1f}' for s in shares)})"
    )
    if not chosen.no_loop:
        print(f"Pillow loop   {chosen.tuples / loop:9.2f} evaluations/s; ours is {loop / ours:.1f} × as fast")


if __name__ == "__main__":
    main()
