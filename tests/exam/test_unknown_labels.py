"""Images without a label are asked and listed, and left out of every measure that needs one."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image

import snellen
from snellen.cli import main
from snellen.data import load_data
from snellen.errors import UserError
from snellen.exam.run import Run
from snellen.models import Model, from_torch

COUNT, SIDE, UNKNOWN = 36, 16, (0, 7, 20)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """`test.npz` and `train.npz`, whose labels are not all known, and `known.txt`, which lists the test images that have one."""
    place = tmp_path_factory.mktemp("unknown")
    for split in ("test", "train"):
        world = load_data(f"phantom:{split}?n={COUNT}&size={SIDE}")
        photos = world.read(range(COUNT))
        labels = world.samples.labels.copy()
        labels[list(UNKNOWN)] = -1
        np.savez(
            place / f"{split}.npz",
            images=np.stack([photo.image for photo in photos]),  # type: ignore[union-attr]
            masks=np.stack([photo.maps["mask"] for photo in photos]),  # type: ignore[union-attr]
            labels=labels,
            classes=np.array(world.classes),
            texture=np.array(world.classes)[(world.samples.labels + 1) % len(world.classes)],
        )
        known = [f"{row:06d}" for row in range(COUNT) if row not in UNKNOWN]
        (place / "known.txt").write_text("\n".join(known))
    return place


def network(seed: int) -> Model:
    torch.manual_seed(seed)
    convolution = torch.nn.Conv2d(3, 8, 3)
    layers = [convolution, torch.nn.ReLU(), torch.nn.AdaptiveAvgPool2d(1), torch.nn.Flatten(), torch.nn.Linear(8, 12)]
    classes = load_data(f"phantom:test?n={COUNT}&size={SIDE}").classes
    return from_torch(torch.nn.Sequential(*layers), classes=classes, size=SIDE, device="cpu")


def findings(run: Run) -> dict[tuple[str, str, str], tuple[float | None, int]]:
    return {
        (one["audit"], one["name"], "; ".join(one["distortions"])): (one["value"], one["n"])
        for one in run.results()["findings"]
        if one["model"] == "net"
    }


def test_every_audit_concludes_and_says_which_images_count_nowhere(folder: Path, tmp_path: Path) -> None:
    audits = (
        "occlusion(areas=[0.3], validate=true, judges=[judge]), interference, shape, augmentation, background, "
        "adversarial_backgrounds(backgrounds=6, rates=true), inside_mask"
    )
    data, train = f"arrays:{folder}/test.npz", f"arrays:{folder}/train.npz"
    models = {"net": network(0), "judge": network(1)}
    run = snellen.audit(models, data, audits, tmp_path / "run", train=train, quiet=True)
    known = COUNT - len(UNKNOWN)
    for (audit, name, _), (_, n) in findings(run).items():
        if audit != "inside_mask":  # which is about the model's own answer
            assert n <= known, name
    notice = (
        f"3 of {COUNT} test images have no label and are left out of accuracy and of every measure that needs one "
        "(000000; 000007; 000020)"
    )
    assert notice in run.results()["notices"]
    assert notice.replace("test", "train") in run.results()["notices"]
    page = (tmp_path / "run" / "report.html").read_text()
    assert "6 images without a label" in page
    asked = run.sql("select count(*) n, count(score) scored, avg(score) mean from answers").iloc[0]
    assert asked["n"] * known == asked["scored"] * COUNT
    assert np.isfinite(asked["mean"])


def test_numbers_are_those_of_the_images_that_have_a_label(folder: Path, tmp_path: Path) -> None:
    audits = "occlusion(areas=[0.3]), interference, shape"
    data = f"arrays:{folder}/test.npz"
    some = snellen.audit({"net": network(0)}, data, audits, tmp_path / "a", quiet=True, report=False)
    only = snellen.audit(
        {"net": network(0)}, f"{data}?ids={folder}/known.txt", audits, tmp_path / "b", quiet=True, report=False
    )
    assert findings(some) == findings(only)
    assert findings(some)["baseline", "accuracy", "none()"][1] == COUNT - len(UNKNOWN)


def test_an_empty_label_of_a_manifest_is_unknown(tmp_path: Path) -> None:
    rows = ["path,label"]
    for row in range(12):
        Image.new("RGB", (SIDE, SIDE), (20 * row, 9, 9)).save(tmp_path / f"{row}.png")
        rows.append(f"{row}.png,{'' if row == 5 else 'ab'[row % 2]}")
    (tmp_path / "list.csv").write_text("\n".join(rows))
    (tmp_path / "nets.py").write_text(
        "import numpy as np\nfrom snellen.models import from_callable\n\ndef first():\n"
        "    return from_callable(lambda images: np.full((len(images), 2), [0.9, 0.1]), size=16, version='1')\n"
    )
    arguments = [
        f"python:{tmp_path}/nets.py:first",
        "--data",
        f"manifest:{tmp_path}/list.csv",
        "--out",
        f"{tmp_path}/run",
    ]
    with pytest.raises(SystemExit) as end:
        main(["audit", *arguments, "--quiet"])
    assert not end.value.code
    results = snellen.load_run(tmp_path / "run").results()
    assert "1 of 12 test images have no label" in results["notices"][-1]
    assert {one["n"] for one in results["findings"] if one["name"] == "accuracy"} == {11}


def test_data_without_any_label_are_refused_before_anything_is_asked(folder: Path, tmp_path: Path) -> None:
    content = dict(np.load(folder / "test.npz"))
    np.savez(tmp_path / "none.npz", **{**content, "labels": np.full(COUNT, -1)})
    with pytest.raises(
        UserError, match=r"no image of arrays:.*none.npz has a label, so no answer can be right or wrong"
    ):
        snellen.audit({"net": network(0)}, f"arrays:{tmp_path}/none.npz", "shape", tmp_path / "run", quiet=True)
    assert not (tmp_path / "run").exists()


def test_labels_below_minus_one_are_refused(folder: Path, tmp_path: Path) -> None:
    content = dict(np.load(folder / "test.npz"))
    np.savez(tmp_path / "bad.npz", **{**content, "labels": np.full(COUNT, -2)})
    with pytest.raises(UserError, match="label -2 of image 0 is outside"):
        load_data(f"arrays:{tmp_path}/bad.npz")
