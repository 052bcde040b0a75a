"""The same images in every shape that data come in give the same table of answers, bit for bit."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import fsspec
import numpy as np
import pandas as pd
import pytest

import snellen
from snellen.data import load_data
from snellen.models import from_callable

from .shapes import NAMES, Contents, arrays, encoded_images, folder, hf_saved, parquet, shards, tarred, zipped

IMAGES = encoded_images(24, 32)
AUDIT = "interference([noise(0.1), shuffle(4)])"  # whose draws depend on ids


def at_address(images: Contents, place: Path) -> str:
    """The folder, in an object store in memory."""
    store = fsspec.filesystem("memory")
    store.pipe({f"/{place.name}/photos/{name}": content for name, content in images.items()})
    return f"folder:memory://{place.name}/photos"


def answers(images: np.ndarray) -> np.ndarray:
    """An observer that looks at every pixel: a sum with weights of its own for each."""
    weights = np.random.default_rng(0).normal(size=(32 * 32 * 3, 3))
    scores = images.reshape(len(images), -1) / 255 @ weights / 10
    scores -= weights.sum(0) * 0.49 / 10  # of the mean pixel
    powers = np.exp(scores - scores.max(1, keepdims=True))
    return powers / powers.sum(1, keepdims=True)


SHAPES = {
    "zip": zipped, "tar": tarred, "wds": shards, "parquet": parquet, "hf": hf_saved, "npz": arrays, "memory": at_address,
}  # fmt: skip


def table(text: str, out: Path) -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame]:
    """Answers, samples and findings of an audit; without the names of cells, which have the data's fingerprint in them."""
    model = from_callable(answers, list(NAMES), 32, name="sums", version="1")
    run = snellen.audit(model, text, AUDIT, out=out, quiet=True, report=False, batch_size=8)
    predictions = run.predictions().sort_values(["distortion", "sample", "seed"], ignore_index=True)
    samples = run.sql("select sample, label, class, height, width, checksum, error from samples order by sample")
    findings = run.findings()
    return predictions.drop(columns=["cell", "data"], errors="ignore"), samples, findings


@pytest.fixture(scope="module")
def expected(tmp_path_factory: pytest.TempPathFactory) -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame]:
    place = tmp_path_factory.mktemp("folder")
    return table(folder(IMAGES, place), place / "run")


@pytest.mark.parametrize("name", SHAPES)
def test_the_same_images_give_the_same_table(
    name: str, expected: tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame], tmp_path: Path
) -> None:
    make: Callable[[Contents, Path], str] = SHAPES[name]
    text = make(IMAGES, tmp_path)
    predictions, samples, findings = table(text, tmp_path / "run")
    assert len(predictions) >= 24 * 3
    assert predictions["pred"].nunique() == 3
    pd.testing.assert_frame_equal(predictions, expected[0], check_exact=True)
    if name == "npz":  # whose checksums are of pixels, not of files
        samples, known = samples.drop(columns="checksum"), expected[1].drop(columns="checksum")
    else:
        known = expected[1]
    pd.testing.assert_frame_equal(samples, known, check_exact=True)
    numbers = ["name", "value", "low", "high", "n"]
    pd.testing.assert_frame_equal(findings[numbers], expected[2][numbers], check_exact=True)


def test_one_other_pixel_gives_another_table(
    expected: tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame], tmp_path: Path
) -> None:
    """Else the comparison could not fail."""
    load_data(arrays(IMAGES, tmp_path))
    content = dict(np.load(tmp_path / "set.npz"))
    content["images"][3, 4, 5, 0] ^= 1
    np.savez(tmp_path / "set.npz", **content)
    assert not table(f"arrays:{tmp_path}/set.npz", tmp_path / "run")[0].equals(expected[0])
