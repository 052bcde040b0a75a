"""How a run is carried out changes an answer only where two classes are all but tied."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch

import snellen
from snellen.data import Dataset, from_arrays
from snellen.models import Model

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[2]
MARGIN = 1e-4
IMAGES = 200


@pytest.fixture(scope="module")
def networks(shared: Path) -> Iterator[ModuleType]:
    patch = pytest.MonkeyPatch()
    patch.setenv("SNELLEN_SHARED", str(shared.parent))
    spec = importlib.util.spec_from_file_location(
        "shared_networks", ROOT / "examples" / "maintainers" / "shared_networks.py"
    )
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    yield module
    patch.undo()


@pytest.fixture(scope="module")
def cifar(shared: Path, realdata: Any) -> Dataset:
    images, labels, _ = realdata.load_small("cifar10", "test", shared)
    return from_arrays({"images": images[:IMAGES], "labels": labels[:IMAGES]}, "memory:cifar10", "1")


@pytest.fixture(autouse=True)
def threads_kept() -> Iterator[None]:
    before = torch.get_num_threads()
    yield
    torch.set_num_threads(before)


def answers(model: Model, data: Dataset, batch_size: int, threads: int) -> pd.DataFrame:
    torch.set_num_threads(threads)
    return snellen.audit(
        model, data, "interference([shuffle(4)])", batch_size=batch_size, shard=100, quiet=True, report=False
    ).predictions()


def margins(model: Model, data: Dataset, rows: pd.DataFrame) -> np.ndarray:
    """The lead of the best class over the second for each row of a table, by forward passes of our own."""
    images = np.stack([photo.image for photo in data.read(range(len(data)))])
    lead: dict[tuple[str, str], float] = {}
    for distortion in rows["distortion"].unique():
        shown = snellen.distort.apply(distortion, images, ids=list(data.samples.ids))
        best = model(torch.from_numpy(shown).permute(0, 3, 1, 2)).topk(2).values
        lead |= {(distortion, sample): float(b[0] - b[1]) for sample, b in zip(data.samples.ids, best)}
    return np.array([lead[key] for key in zip(rows["distortion"], rows["sample"])])


def check_alike(first: pd.DataFrame, second: pd.DataFrame, lead: np.ndarray) -> None:
    """Same rows; probabilities equal to rounding; another class only where the lead is below the margin."""
    keys = ["model", "run", "distortion", "seed", "sample", "label"]
    pd.testing.assert_frame_equal(first[keys], second[keys])
    for column in ("confidence", "label_prob"):
        assert (first[column] - second[column]).abs().max() < MARGIN / 10
    assert (lead[(first["pred"] != second["pred"]).to_numpy()] < MARGIN).all()


def test_the_leads_are_those_of_the_images_that_were_shown(networks: ModuleType, cifar: Dataset) -> None:
    """Our own forward passes see the pixels that the audit showed: lead and stored confidence fit each other."""
    model = networks.cifar10("cifar10_resnet20")
    rows = answers(model, cifar, 32, 1)
    confidence = rows["confidence"].to_numpy()
    lead = margins(model, cifar, rows)
    assert (lead <= confidence + 1e-5).all()
    assert (lead >= 2 * confidence - 1 - 1e-5).all()  # the second best has at most what the best leaves


@pytest.mark.parametrize("name", ["cifar10_resnet20", "cifar10_resnet56", "cifar10_resnet4b_adv"])
def test_batch_sizes_change_only_answers_that_are_all_but_tied(networks: ModuleType, cifar: Dataset, name: str) -> None:
    model = networks.cifar10(name)
    whole = answers(model, cifar, 100, 1)
    lead = margins(model, cifar, whole)
    for batch_size in (7, 32) if name != "cifar10_resnet20" else (1, 7, 32):
        check_alike(whole, answers(model, cifar, batch_size, 1), lead)


@pytest.mark.parametrize("name", ["cifar10_resnet20", "cifar10_resnet4b_adv"])
def test_numbers_of_threads_change_only_answers_that_are_all_but_tied(
    networks: ModuleType, cifar: Dataset, name: str
) -> None:
    """Not bit for bit: in batches of 7 the last digits of ResNet-4B's fp32 sums depend on the number of threads."""
    model = networks.cifar10(name)
    few = cifar.at(np.arange(35))
    for batch_size in (7, 35):
        one = answers(model, few, batch_size, 1)
        check_alike(one, answers(model, few, batch_size, 2), margins(model, few, one))
