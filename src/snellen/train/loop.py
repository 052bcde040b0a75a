"""Train small networks on images held in memory.

Measured with the default recipe (`smallnet`, 10 epochs) on phantom:train?size=32&n=3000, nine classes, 2 CPU cores,
torch 2.15: test accuracy over seeds 0 to 2 on phantom:test?size=32&n=1000 is 0.983, 0.990, 0.983 without mixing and
0.961, 0.963, 0.954 with CutMix; 5 to 7 seconds a run, 37 for all six with imports and decoding.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from snellen.data.dataset import Dataset
from snellen.errors import UserError
from snellen.lazy import torch
from snellen.models.checkpoint import read_card, save_checkpoint
from snellen.models.zoo import build
from snellen.train.augment import random_crop, random_flip
from snellen.train.memory import Memory, channel_statistics, remember
from snellen.train.mixing import mixed_loss, parse_mix
from snellen.train.recipe import Recipe
from snellen.version import __version__

if TYPE_CHECKING:
    from torch import Tensor, nn


@dataclass(frozen=True)
class Progress:
    """An epoch that ended: which run, how many epochs of how many are done, the epoch's mean training loss."""

    run: str
    epoch: int
    epochs: int
    loss: float


@dataclass(frozen=True)
class Normalise:
    """uint8 images to what a network sees: channels in 0..1, less their mean, by their standard deviation."""

    mean: list[float]
    std: list[float]

    def __call__(self, images: Tensor) -> Tensor:
        mean = torch.tensor(self.mean, device=images.device).view(1, 3, 1, 1) * 255
        std = torch.tensor(self.std, device=images.device).view(1, 3, 1, 1) * 255
        return images.to(torch.float32, memory_format=torch.channels_last).sub_(mean).div_(std)


def train(
    recipe: Recipe,
    data: Dataset,
    out: Path,
    runs: int = 1,
    test: Dataset | None = None,
    device: str | None = None,
    progress: Callable[[Progress], None] | None = None,
) -> list[Path]:
    """The checkpoints of `runs` runs that differ only in seed: `<out>/<arch>-<mix>-<seed>.safetensors`.

    A run already there (same recipe, same data) is kept; a file of that name made otherwise is an error, not
    overwritten. `test` gives the accuracy on the card. The same recipe, data, device and number of CPU threads give the
    same weights to the bit.
    """
    _check(data, test, runs)
    wanted = {out / f"{run.name}.safetensors": run for run in _seeds(recipe, runs)}
    missing = {path: run for path, run in wanted.items() if not _done(path, run, data)}
    if not missing:
        return list(wanted)
    place = torch.device(device or ("cuda" if torch.cuda.is_available() else "cpu"))
    shown = remember(data, place)
    asked = remember(test, place, shown.size) if test is not None else None
    normalise = Normalise(*channel_statistics(shown.images))
    out.mkdir(parents=True, exist_ok=True)
    for path, run in missing.items():
        started = time.perf_counter()
        network = fit(run, shown, len(data.classes), normalise, progress)
        card: dict[str, Any] = {
            "arch": run.arch,
            "classes": list(data.classes),
            "size": list(shown.size),
            "mean": normalise.mean,
            "std": normalise.std,
            "recipe": asdict(run),
            "seed": run.seed,
            "data": data.text,
            "fingerprint": data.fingerprint,
            "test": test.text if test is not None else None,
            "accuracy": accuracy(network, asked, normalise) if asked is not None else None,
            "seconds": round(time.perf_counter() - started, 2),
            "device": place.type,
            "torch": torch.__version__,
            "snellen": __version__,
        }
        save_checkpoint(path, network, card)
    return list(wanted)


def fit(
    recipe: Recipe,
    shown: Memory,
    classes: int,
    normalise: Normalise,
    progress: Callable[[Progress], None] | None = None,
) -> nn.Module:
    """One trained network, ready to answer (`eval`)."""
    device = shown.images.device
    init, order, mixing = (int(word) for word in np.random.SeedSequence(recipe.seed).generate_state(3))
    # Order and mixing have streams of their own: recipes that differ only in the mix see the same images in turn.
    order_draws = torch.Generator().manual_seed(order)
    mix_draws = torch.Generator().manual_seed(mixing)
    with torch.random.fork_rng(devices=[]):
        torch.default_generator.manual_seed(init)
        network = build(recipe.arch, classes)
    network = network.to(device).to(memory_format=torch.channels_last).train()
    mix: Any = parse_mix(recipe.mix)
    if hasattr(mix, "alpha"):
        mix = replace(mix, alpha=recipe.alpha)
    optimiser = torch.optim.SGD(
        network.parameters(), lr=recipe.lr, momentum=recipe.momentum, weight_decay=recipe.weight_decay
    )
    per_epoch = max(1, len(shown.labels) // recipe.batch_size)  # what is left over waits for another epoch's order
    steps = recipe.epochs * per_epoch

    # bf16 only on a GPU: on a CPU it crashes some machines.
    with torch.backends.cudnn.flags(enabled=True, deterministic=True, benchmark=False):
        for epoch in range(recipe.epochs):
            rows = torch.randperm(len(shown.labels), generator=order_draws).to(device)
            losses = []
            for batch in range(per_epoch):
                chosen = rows[batch * recipe.batch_size : (batch + 1) * recipe.batch_size]
                images, labels = shown.images[chosen], shown.labels[chosen]
                if recipe.flip:
                    images = random_flip(images, order_draws)
                if recipe.padding:
                    images = random_crop(images, recipe.padding, order_draws)
                images, targets = mix(images, labels, mix_draws, step=epoch * per_epoch + batch)

                for group in optimiser.param_groups:
                    group["lr"] = recipe.rate(epoch * per_epoch + batch, steps)
                with torch.autocast(device.type, torch.bfloat16, enabled=device.type == "cuda"):
                    logits = network(normalise(images))
                loss = mixed_loss(logits.float(), targets)
                optimiser.zero_grad()
                loss.backward()
                optimiser.step()
                losses.append(loss.detach())

            told = torch.stack(losses).tolist()  # read once an epoch: a GPU need not wait after each batch
            for batch, value in enumerate(told):
                if not math.isfinite(value):
                    raise UserError(
                        f"the loss of {recipe.name} became {value} in epoch {epoch + 1}, batch {batch + 1};"
                        f" try a learning rate below {recipe.lr}"
                    )
            if progress is not None:
                progress(Progress(recipe.name, epoch + 1, recipe.epochs, sum(told) / len(told)))
    return network.eval()


def accuracy(network: nn.Module, asked: Memory, normalise: Normalise, batch_size: int = 500) -> float:
    """The share of images whose most likely class is their label, in float32."""
    with torch.inference_mode():
        right = sum(
            int((network(normalise(images)).argmax(1) == labels).sum())
            for images, labels in zip(asked.images.split(batch_size), asked.labels.split(batch_size))
        )
    return right / len(asked.labels)


def _check(data: Dataset, test: Dataset | None, runs: int) -> None:
    if runs < 1:
        raise UserError(f"expected at least 1 run, got {runs}")
    for held in (data, test):
        if held is not None and not len(held):
            raise UserError(f"{held.text} holds no images")
    present = np.unique(data.samples.labels[data.samples.labels >= 0])
    if len(present) < 2:
        known = f"only the class '{data.classes[present[0]]}'" if len(present) else "no known class"
        raise UserError(f"{data.text} shows {known}; training needs at least two")
    if test is not None and test.classes != data.classes:
        raise UserError(f"{test.text} has other classes than {data.text}: {_few(test.classes)} ≠ {_few(data.classes)}")


def _done(path: Path, run: Recipe, data: Dataset) -> bool:
    """Whether a run's checkpoint is there; one of another recipe or other data in its place is an error."""
    if not path.exists():
        return False
    card = read_card(path)
    made, wanted = card.get("recipe", {}), asdict(run)
    changed = [name for name in wanted if made.get(name) != wanted[name]]
    if changed:
        first = changed[0]
        difference = f"{first} {made.get(first)} ≠ {wanted[first]}"
    elif card.get("fingerprint") != data.fingerprint:
        difference = f"data '{card.get('data')}' {card.get('fingerprint')} ≠ '{data.text}' {data.fingerprint}"
    else:
        return True
    raise UserError(f"'{path}' was trained otherwise ({difference}); choose another folder or delete the file")


def _seeds(recipe: Recipe, runs: int) -> list[Recipe]:
    return [replace(recipe, seed=recipe.seed + run) for run in range(runs)]


def _few(classes: tuple[str, ...]) -> str:
    return ", ".join(classes[:4]) + (f", … ({len(classes)})" if len(classes) > 4 else "")
