"""Programs of photometric steps: one kernel gives each image the very pixels of its own chain."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from snellen.distort import Distortion, View, parse
from snellen.distort.photometric import PHOTOMETRIC
from snellen.distort.photometric.programs import programs_for, write_programs
from snellen.search.image_fitness import ImageFitness
from snellen.train.shift.edit_batch import edit_samples

from .interpreter import DEVICE, run_interpreted, runs_kernels, starts_interpreter
from .test_photometric import LEVELS, pictures, text_of


def batch_of(images: list[np.ndarray]) -> torch.Tensor:
    return torch.from_numpy(np.stack(images)).permute(0, 3, 1, 2).contiguous()


def view_of(images: torch.Tensor) -> View:
    return View.of([str(row) for row in range(len(images))])


def expect_the_pixels_of_the_cpu(images: torch.Tensor, chains: list[Distortion]) -> None:
    """Every image under every chain, in one call, with rows and owners in no order."""
    pairs = np.random.default_rng(0).permutation(len(images) * len(chains))
    rows, owners = torch.from_numpy(pairs % len(images)), torch.from_numpy(pairs // len(images))
    programs = write_programs(chains, images.to(DEVICE))
    assert programs is not None
    shown = programs(images.to(DEVICE), rows.to(DEVICE), owners.to(DEVICE)).cpu()
    expected = torch.stack([chain(images, view_of(images)) for chain in chains])[owners, rows]
    wrong = owners[(shown != expected).flatten(1).any(1)].unique()
    assert not len(wrong), [str(chains[number]) for number in wrong]


@runs_kernels
@pytest.mark.parametrize("name", PHOTOMETRIC)
def test_single_steps(name: str) -> None:
    levels = list(LEVELS[name])[:: 1 if DEVICE.type == "cuda" else 15]
    expect_the_pixels_of_the_cpu(batch_of(pictures()), [parse(text_of(name, level)) for level in levels])


@runs_kernels
@pytest.mark.parametrize("shape", [(3, 40), (1, 7), (57, 2), (24, 20), (90, 70)])
def test_chains_on_images_of_any_shape(shape: tuple[int, int]) -> None:
    random = np.random.default_rng(shape)
    names = sorted(PHOTOMETRIC)
    chains = [
        parse(" | ".join(text_of(name, random.choice(LEVELS[name])) for name in random.choice(names, random.integers(1, 6))))
        for _ in range(200 if DEVICE.type == "cuda" else 6)
    ]  # fmt: skip
    images = [random.integers(0, 256 - 60 * number, (*shape, 3)).astype(np.uint8) for number in range(2)]
    expect_the_pixels_of_the_cpu(batch_of(images), [parse("none()"), *chains])


@runs_kernels
def test_a_search_and_a_training_show_the_same_pixels_by_programs(monkeypatch: pytest.MonkeyPatch) -> None:
    images = batch_of(pictures()).to(DEVICE)
    seen: list[torch.Tensor] = []
    monkeypatch.setattr("snellen.search.image_fitness.programs_for", write_programs)
    monkeypatch.setattr("snellen.train.shift.edit_batch.programs_for", write_programs)
    tuples = [("red(30)", "contrast(0.6)"), ("sharpness(1.4)", "autocontrast(1)"), ("invert()", "none()")]

    def score(pixels: torch.Tensor, rows: torch.Tensor) -> torch.Tensor:
        seen.append(pixels.cpu())
        return pixels.flatten(1).float().mean(1) / 255

    fitness = ImageFitness(images, score, view_of(images), batch=5)
    values = fitness.many(tuples)
    expected = torch.stack([parse(" | ".join(one))(images.cpu(), view_of(images)) for one in tuples])
    assert torch.equal(torch.cat(seen), expected.flatten(0, 1))
    assert values == pytest.approx((expected.flatten(1).double().mean(1) / 255).tolist(), abs=1e-6)
    mine = [tuples[row % 3] for row in range(len(images))]
    shown, labels = edit_samples(mine, images, torch.arange(len(images), device=DEVICE), view_of(images))
    assert torch.equal(shown.cpu(), torch.stack([expected[row % 3, row] for row in range(len(images))]))
    assert labels.tolist() == list(range(len(images)))


@pytest.mark.parametrize("text", ["red(30) | blur(1)", "contrast(uniform(0.5, 1))", "occlude(0.3)"])
def test_what_a_program_cannot_say_is_left_to_the_stages(text: str) -> None:
    images = batch_of(pictures())
    assert write_programs([parse("red(30)"), parse(text)], images) is None


def test_no_chain_is_no_program() -> None:
    programs = write_programs([], batch_of(pictures()))
    assert programs is not None
    assert len(programs.codes) == 0


def test_images_in_the_memory_of_the_cpu_are_edited_there() -> None:
    assert programs_for([parse("red(30)")], batch_of(pictures())) is None


@starts_interpreter
def test_the_kernel_under_the_interpreter() -> None:
    assert ", 1 skipped" in run_interpreted(__file__)  # this test alone: all others ran
