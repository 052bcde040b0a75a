"""The commands of the docs' section on checking iOcclusion run as written, on small data under the same names."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import numpy as np
import pytest

import snellen
from snellen.cli import main
from snellen.data.phantom import World

PAGE = Path(__file__).resolve().parents[2] / "docs" / "data-modification.md"
CLASSES = ("airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck")


def commands() -> list[list[str]]:
    section = PAGE.read_text().partition("## Checking iOcclusion itself")[2].partition("\n## ")[0]
    return [shlex.split(line)[1:] for line in re.findall(r"^    (snellen .*)$", section, re.M)]


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the files the section names: 40 images of 16 pixels each, of ten classes, and lists of ids."""
    monkeypatch.chdir(tmp_path)
    for number, name in enumerate(("test", "train", "other")):
        images = World("test", size=16).truth(np.arange(40) + 40 * number).images
        ids = [f"{name}-{i}" for i in range(40)]
        np.savez(f"{name}.npz", images=images, labels=np.arange(40) % 10, ids=ids, classes=CLASSES)
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
    run(["train", "smallnet", "--data", "arrays:train.npz", "--out", "models", *short])
    run(["train", "smallnet", "--data", "arrays:other.npz", "--out", "judges", "--seed", "1", *short])
    listed = commands()
    assert [one[0] for one in listed] == ["train", "train", "train", "audit", "audit"]
    for command in listed:
        if command[0] == "train":
            small = ["smallnet" if word == "preact_resnet18" else "1" if word == "5" else word for word in command]
            run([*small, *short])
        else:
            run([*command, "--quiet", "--device", "cpu"])
    checked = snellen.load_run("runs/checked").findings()
    told = {(row["model"], row["name"]): row for _, row in checked.iterrows()}
    assert told["mine", "iocclusion_fill_gap"]["fill"] == "black"
    assert told["mine", "iocclusion_tail_gap"]["tail_train"] == 20
    assert told["r-fmix", "iocclusion_random_gap"]["other"] == "r-basic"
    assert told["rest", "interference_without_class"]["removed"] == "truck"
    assert not checked["text"].str.contains("needs to know|needs networks").any()
    judged = snellen.load_run("runs/judged").findings().query("name == 'iocclusion_tail_gap'")
    assert list(judged["model"]) == ["mine"]
    assert judged["proxy"].item()
