"""The examples that users run: public datasets become files that snellen reads."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest
from PIL import Image

from snellen.data import load_data

EXAMPLES = Path(__file__).resolve().parents[1] / "examples"


def example(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"example_{name}", EXAMPLES / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_a_downloaded_dataset_becomes_one_arrays_file_per_split(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    import torchvision

    def of_torchvision(root: str, *, train: bool, download: bool) -> Any:
        count = 30 if train else 10
        images = np.full((count, 32, 32, 3), count, np.uint8)
        return SimpleNamespace(data=images, targets=[row % 10 for row in range(count)], classes=[])

    monkeypatch.setattr(torchvision.datasets, "CIFAR10", of_torchvision)
    monkeypatch.setattr(sys, "argv", ["download.py", "cifar10", "--out", str(tmp_path)])
    example("download").main()
    train, test = (load_data(f"arrays:{tmp_path}/cifar10-{split}.npz") for split in ("train", "test"))
    assert (len(train), len(test), train.classes[-1]) == (30, 10, "truck")
    assert (train.samples.ids[3], train.samples.labels[3]) == ("train-00003", 3)
    assert f"arrays:{tmp_path}/cifar10-test.npz: 10 images in 10 classes" in capsys.readouterr().out


def test_tiny_imagenet_becomes_tables_of_the_nine_classes(tmp_path: Path) -> None:
    source = tmp_path / "tiny-imagenet-200"
    for wnid in ("n02094433", "n02113799", "n03649909"):  # two dogs and a lawn mower, which is none of the nine
        folder = source / "train" / wnid
        (folder / "images").mkdir(parents=True)
        lines = []
        for number in range(3):
            name = f"{wnid}_{number}.JPEG"
            Image.new("RGB", (64, 64)).save(folder / "images" / name)
            lines.append(f"{name}\t{number}\t4\t50\t46")
        (folder / f"{wnid}_boxes.txt").write_text("\n".join(lines) + "\n")
    train, test = example("boxes").tiny_imagenet(source, tmp_path / "out", test=2)
    dogs = [load_data(f"boxes:{table}?root={source}") for table in (train, test)]
    assert [len(data) for data in dogs] == [4, 2]
    assert {data.classes for data in dogs} == {("dog",)}
    assert dogs[0].read([0])[0].boxes[0][1:].tolist() == [4, 50, 46]
    assert set(dogs[0].samples.ids).isdisjoint(dogs[1].samples.ids)


def test_pets_become_boxes_around_their_outlines_and_masks(tmp_path: Path) -> None:
    for folder in ("images", "annotations/trimaps"):
        (tmp_path / folder).mkdir(parents=True)
    for name in ("Bengal_1", "pug_2"):
        trimap = np.full((20, 30), 2, np.uint8)
        trimap[4:9, 6:12] = 3
        trimap[5:8, 7:11] = 1
        Image.fromarray(trimap).save(tmp_path / "annotations" / "trimaps" / f"{name}.png")
        Image.new("RGB", (30, 20)).save(tmp_path / "images" / f"{name}.jpg")
    table = example("boxes").pets(tmp_path, tmp_path / "out")
    data = load_data(f"boxes:{table}?root={tmp_path}")
    assert set(data.classes) == {"cat", "dog"}
    assert data.read([0])[0].boxes.tolist() == [[6, 4, 12, 9]]
    with Image.open(tmp_path / "out" / "masks" / "pug_2.png") as mask:
        assert np.asarray(mask).sum() == 255 * 3 * 4


def test_a_replication_script_without_its_data_names_the_command_that_gets_it(tmp_path: Path) -> None:
    command = [sys.executable, str(EXAMPLES / "replication" / "vulnerability.py"), "--root", str(tmp_path)]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ended.returncode == 1
    assert ended.stderr.strip() == (
        f"no {tmp_path}/mnist-train.npz; write it with: python examples/download.py mnist --out {tmp_path}"
    )
