"""The commands of the docs' section on checking iOcclusion run as written, on small data under the same names."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import snellen
from snellen.cli import main
from snellen.data.phantom import World

from .. import pages

PAGE = Path(__file__).resolve().parents[2] / "docs/questions/occlusion.md"
CLASSES = ("airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck")


def commands() -> list[list[str]]:
    """The section's commands on CIFAR-10, without the word snellen."""
    section = PAGE.read_text().partition("## 4. Check iOcclusion itself")[2].partition("\n## ")[0]
    return [words[1:] for words in pages.commands(section) if "datasets/" in " ".join(words)]


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the files the section names: 40 images of 16 pixels each, of ten classes, and lists of ids."""
    monkeypatch.chdir(tmp_path)
    Path("datasets").mkdir()
    for number, (name, file) in enumerate(
        (("test", "cifar10-test"), ("train", "cifar10-train"), ("other", "cifar100-test"))
    ):
        images = World("test", size=16).truth(np.arange(40) + 40 * number).images
        ids = [f"{name}-{i}" for i in range(40)]
        np.savez(f"datasets/{file}.npz", images=images, labels=np.arange(40) % 10, ids=ids, classes=CLASSES)
        for part, rows in (("tail", range(20)), ("typical", range(20, 40))):
            Path(f"{part}-{name}.txt").write_text("\n".join(ids[i] for i in rows))
    return tmp_path


def run(command: list[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(command)
    assert not ended.value.code, command


def test_every_command_of_the_section_runs(place: Path) -> None:
    """The networks are small and learn one epoch; the audits are carried out whole."""
    short = ["--epochs", "1", "--batch-size", "20", "--device", "cpu", "--quiet"]
    run(["train", "smallnet", "--data", "arrays:datasets/cifar10-train.npz", "--out", "models/plain", *short])
    run(["train", "smallnet", "--data", "arrays:datasets/cifar100-test.npz", "--out", "judges", "--seed", "1", *short])
    listed = commands()
    assert [one[0] for one in listed] == ["train", "train", "train", "audit", "audit"]
    for command in listed:
        if command[0] == "train":
            small = ["smallnet" if word == "preact_resnet18" else "1" if word == "5" else word for word in command]
            run([*small, *short])
        else:
            run([*command, "--quiet", "--device", "cpu"])
    checked = snellen.load_run("runs/evidence").findings()
    told = {(row["model"], row["name"]): row for _, row in checked.iterrows()}
    assert told["mine", "iocclusion_fill_gap"]["fill"] == "black"
    assert told["mine", "iocclusion_tail_gap"]["tail_train"] == 20
    assert told["r-fmix", "iocclusion_random_gap"]["other"] == "r-basic"
    assert told["rest", "interference_without_class"]["removed"] == "truck"
    assert not checked["text"].str.contains("needs to know|needs networks").any()
    judged = snellen.load_run("runs/judged").findings().query("name == 'iocclusion_tail_gap'")
    assert list(judged["model"]) == ["mine"]
    assert judged["proxy"].item()
