"""The replication scripts run, on little of the data."""

from __future__ import annotations

import csv
import importlib
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest
from PIL import Image

from snellen.train.shift.tuple_set import read_tuples

SCRIPTS = Path(__file__).resolve().parents[2] / "examples" / "replication"
LITTLE = ["--arch", "smallnet", "--runs", "1", "--device", "cpu", "--audits", "occlusion(areas=[0.3], fills=[black])"]


def script(name: str, monkeypatch: pytest.MonkeyPatch) -> Any:
    """One of the scripts, imported."""
    monkeypatch.syspath_prepend(str(SCRIPTS))
    return importlib.import_module(name)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("script", "more", "groups"),
    [
        (
            "data_modification.py",
            ["--mixes", "none", "cutmix", "--recipe", "fast", "--epochs", "1", "--more-runs", "basic=2"],
            ["basic", "cutmix"],
        ),
        (
            "data_modification.py",
            ["--part", "partners", "--mixes", "cutmix", "--partners", "mnist", "--recipe", "fast", "--epochs", "1"],
            ["cutmix", "cutmix-with-mnist"],
        ),
        (
            "recognition.py",
            ["--arch", "smallnet", "convnet", "--epochs", "1", "--worlds", "phantom:test?size=32&n=200&occlusion=1"],
            ["smallnet", "convnet"],
        ),
        ("backgrounds.py", ["--recipe", "fast", "--epochs", "1"], ["biased", "plain"]),
    ],
)
def test_a_script_trains_audits_and_brings_back_a_small_folder(tmp_path, script, more, groups):
    for name in ("cifar10", "cifar100", "mnist"):
        small_images(tmp_path / "datasets", name)
    where = ["--limit", "200", "--root", str(tmp_path / "datasets"), "--out", str(tmp_path)]
    command = [sys.executable, str(SCRIPTS / script), *LITTLE, *where, *more]
    subprocess.run(command, check=True, capture_output=True)
    brought = tmp_path / "brought"
    table = (brought / "table.md").read_text().splitlines()
    assert [line.split("|")[1].strip() for line in table[2:]] == groups
    answers, cells = (pq.read_table(brought / f"{name}.parquet") for name in ("predictions", "cells"))
    assert len(answers) == 200 * len(cells)
    assert {"findings.json", "findings.csv", "run.json"} <= {file.name for file in brought.iterdir()}
    if script == "recognition.py":
        rows = list(csv.DictReader((brought / "recognition.csv").open()))
        said = [row["occlusion"] for row in rows]
        assert "none()" in said
        assert "phantom:test?size=32&n=200&occlusion=1: none()" in said
        assert all(0 <= float(row[name]) <= 1 for row in rows for name in groups)
        seen = pq.read_table(brought / "world-0" / "predictions.parquet")
        assert len(seen) == 200 * len(pq.read_table(brought / "world-0" / "cells.parquet"))


def test_the_script_of_worst_edits_trains_searches_and_asks_about_domains(tmp_path: Path) -> None:
    small_images(tmp_path / "datasets", "mnist")
    domain = f"again=arrays:{tmp_path}/datasets/mnist-train.npz"
    words = [
        "--root",
        str(tmp_path / "datasets"),
        "--out",
        str(tmp_path),
        "--methods",
        "erm",
        "esda",
        "--domains",
        domain,
    ]
    short = ["--updates", "4", "--searches", "2", "--runs", "1", "--limit", "64", "--scale", "0.001", "--images", "12"]
    command = [
        sys.executable,
        str(SCRIPTS / "vulnerability.py"),
        "--device",
        "cpu",
        "--evaluations",
        "20",
        *words,
        *short,
    ]
    subprocess.run(command, check=True, capture_output=True)
    brought = tmp_path / "brought"
    first, second = (brought / "table.md").read_text().split("\n\n")
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in first.splitlines()]
    assert rows[0] == ["method", "ES", "RS", "worst, all images", "negatives", "SAE"]
    assert [row[0] for row in rows[2:]] == ["erm", "esda"]
    assert all(0 <= float(cell) <= 1 for row in rows[2:] for cell in row[1:])
    assert second.splitlines()[0] == "| method | mnist | again |"
    assert {file.name for file in brought.iterdir()} == {"table.md", "erm.json", "esda.json"}
    (tuples,) = tmp_path.glob("models/esda-0/*.transformations.json")
    assert len(read_tuples(tuples)) == 2


def test_the_script_of_patch_sizes_trains_audits_and_draws(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    small_images(tmp_path / "datasets", "cifar10")
    where = ["--root", str(tmp_path / "datasets"), "--out", str(tmp_path)]
    short = [
        "--arch",
        "vit_small_p4",
        "vit_small_p8",
        "--limit",
        "16",
        "--images",
        "8",
        "--epochs",
        "1",
        "--device",
        "cpu",
    ]
    lattices = ["--shares", "0.5", "--sizes", "4", "8"]
    patch_size = script("patch_size", monkeypatch)
    monkeypatch.setattr(sys, "argv", ["patch_size.py", *where, *short, *lattices])
    patch_size.main()
    brought = tmp_path / "brought"
    names = {"tables.md", "findings.csv", "figure15.json", "figure15.svg"}
    assert {file.name for file in brought.iterdir()} == names
    rows = list(csv.DictReader((brought / "findings.csv").open()))
    assert [(row["model"], row["patch"], row["px"]) for row in rows] == [
        (f"vit_small_p{patch}", str(patch), str(px)) for patch in (4, 8) for px in (0, 4, 8)
    ]
    text = (brought / "tables.md").read_text()
    assert "| 50% | vit_small_p4 | vit_small_p8 | 4 | 8 |" in text
    assert text.count("*[") == 0
    (line,) = (
        line for line in text.splitlines() if line.startswith("| vit_small_p8 |") and "px" not in line and "*" in line
    )
    assert line.count("*") == 2  # 4 px is smaller than the patch, 8 px is not
    (brought / "figure15.svg").unlink()
    monkeypatch.setattr(sys, "argv", ["patch_size.py", "--draw", str(brought)])
    patch_size.main()
    assert (brought / "figure15.svg").read_text().count("of the image") >= 1


def test_the_effect_of_a_patch_is_the_loss_that_its_size_alone_explains(monkeypatch: pytest.MonkeyPatch) -> None:
    """Planted: any network loses 10 points under squares of 2 and 4 px; beyond that one of patches of 8 px loses 30."""
    tables = script("patch_size_tables", monkeypatch)

    def right(share: float) -> np.ndarray:
        return (np.arange(100) < round(100 * share)).astype(float)[None]

    fine = {px: right(0.8 if px in (2, 4) else 0.9) for px in (1, 2, 4, 8, 16)}
    coarse = {px: right(0.3 if px in (2, 4) else 0.7) for px in (1, 2, 4, 8, 16)}
    scores = {("vit_p2", 0.5, px): one for px, one in fine.items()} | {
        ("vit_p8", 0.5, px): one for px, one in coarse.items()
    }
    effect, between, above = tables.patch_effect(scores, 0.5, ("vit_p8", "vit_p2"))
    assert (between, above) == ([2, 4], [8, 16])
    assert effect.value == pytest.approx((0.8 - 0.3) - (0.9 - 0.7))
    assert effect.low < 0.3 < effect.high
    same = {("vit_p2", 0.5, px): one for px, one in fine.items()} | {
        ("vit_p8", 0.5, px): one for px, one in fine.items()
    }
    assert tables.patch_effect(same, 0.5, ("vit_p2", "vit_p8"))[0].value == 0
    assert (
        tables.patch_effect({("vit_p4", 0.5, 2): right(1), ("vit_p8", 0.5, 2): right(1)}, 0.5, ("vit_p4", "vit_p8"))[
            0
        ].n
        == 0
    )


@pytest.mark.slow
def test_the_script_of_interpretability_writes_the_tables_of_the_paper(tmp_path: Path) -> None:
    short = ["--epochs", "4", "--runs", "1", "--limit", "600", "--images", "24", "--mixes", "none", "cutout", "cutmix"]
    how = ["--methods", "gradcam", "--tile", "8", "--error", "5", "--filter", "--device", "cpu", "--out", str(tmp_path)]
    world = ["--data", "phantom:train?size=32&n=600", "--test", "phantom:test?size=32&n=24"]
    command = [sys.executable, str(SCRIPTS / "interpretability.py"), *world, *short, *how]
    subprocess.run(command, check=True, capture_output=True)
    brought = tmp_path / "brought"
    assert {file.name for file in brought.iterdir()} == {"tables.md", "findings.csv", "curves.csv"}
    text = (brought / "tables.md").read_text()
    titles = [line.split(",")[0].split(" (")[0] for line in text.splitlines() if line.startswith("**")]
    assert [title.strip("*") for title in titles] == [
        "Table 1",
        "Table 1 on the images that section 5.1 chooses",
        "Table 2",
        "Table 3",
        "Figure 5",
        "Expected calibration error",
    ]
    assert text.count("| cutmix |") == 1 + 6
    assert "interpretability" in text.splitlines()[-1]
    rows = list(csv.DictReader((brought / "findings.csv").open()))
    table = {row["model"]: row for row in rows if row["name"] == "energy_pg" and not row["filter"]}
    assert list(table) == ["baseline", "cutout", "cutmix"]
    assert f"| {float(table['cutout']['value']):.3f} ± {float(table['cutout']['standard_error']):.3f} |" in text
    panels = {(row["name"], row["panel"]) for row in csv.DictReader((brought / "curves.csv").open())}
    assert len(panels) == 6


def small_images(folder: Path, name: str) -> None:
    """Noise of ten grey levels, in the files that examples/download.py writes."""
    folder.mkdir(exist_ok=True)
    labels = np.arange(240) % 10
    shape = (240, 28, 28) if name == "mnist" else (240, 32, 32, 3)
    noise = np.random.default_rng(0).integers(0, 20, shape)
    images = (noise + 20 * labels.reshape(-1, *[1] * (len(shape) - 1))).astype(np.uint8)
    for split in ("train", "test"):
        ids = [f"{split}-{row}" for row in range(240)]
        np.savez(folder / f"{name}-{split}.npz", images=images, labels=labels, classes=list("abcdefghij"), ids=ids)


@pytest.mark.slow
def test_the_grid_of_xiao_2021_is_built_from_boxes_and_masks_trained_and_asked_about(tmp_path):
    """Red and blue objects on grey: colours tell the class on every variant that shows the object, and on no other."""
    for split, count in (("train", 120), ("test", 40)):
        boxed_photos(tmp_path, split, count)
    command = [
        *(sys.executable, "-c", WITHOUT_OPENCV, str(SCRIPTS / "backgrounds.py")),
        *("--boxes", str(tmp_path / "train.csv"), str(tmp_path / "test.csv"), "--masks", str(tmp_path / "masks")),
        *("--size", "32", "--classes", "all", "--recipe", "fast", "--epochs", "8", "--device", "cpu"),
        *("--out", str(tmp_path / "out"), "--bring", str(tmp_path / "brought")),
    ]
    subprocess.run(command, check=True, capture_output=True)
    brought = tmp_path / "brought"
    rows = list(csv.DictReader((brought / "sweep.csv").open()))
    found = {(row["point"], row["test"]): float(row["value"]) for row in rows}
    assert len(found) == 9 * (9 + 1)
    assert found["original", "original"] > 0.9
    assert found["mixed_rand", "mixed_rand"] > 0.9
    assert 0.3 < found["only_bg_t", "only_bg_t"] < 0.7
    table = (brought / "table-5.md").read_text().splitlines()
    assert table[0].startswith("| trained on | original |")
    assert f"{100 * found['original', 'original']:.1f}" in table[2]
    assert (tmp_path / "out" / "set-train" / "mixed_next" / "train").is_dir()
    assert len(list(brought.iterdir())) == 8


WITHOUT_OPENCV = (
    "import runpy, sys; sys.modules['cv2'] = None; sys.argv.pop(0); runpy.run_path(sys.argv[0], run_name='__main__')"
)


def boxed_photos(folder: Path, split: str, count: int) -> None:
    """Photos of 32 pixels, a table of their boxes, and their masks."""
    (folder / "masks").mkdir(exist_ok=True)
    draws = np.random.default_rng(count)
    lines = ["path,label,x0,y0,x1,y1"]
    for number in range(count):
        label = ("red", "blue")[number % 2]
        image = draws.integers(80, 160, (32, 32, 1)).repeat(3, 2).astype(np.uint8)
        mask = np.zeros((32, 32), bool)
        x, y = draws.integers(2, 14, 2)
        mask[y : y + 14, x : x + 14] = True
        image[mask] = (220, 20, 20) if label == "red" else (20, 20, 220)
        Image.fromarray(image).save(folder / f"{split}-{number}.png")
        Image.fromarray(mask.astype(np.uint8) * 255).save(folder / "masks" / f"{split}-{number}.png")
        lines.append(f"{split}-{number}.png,{label},{x},{y},{x + 14},{y + 14}")
    (folder / f"{split}.csv").write_text("\n".join(lines) + "\n")
