"""Doubts through a whole run: said, kept, shown, and refused where --strict is given."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from jsonschema import Draft202012Validator
from PIL import Image

import snellen
from snellen.engine.keep.facts import write_facts
from snellen.errors import UserError
from snellen.models import from_callable
from snellen.report.findings import SCHEMA

QUICK = "interference([shuffle(2)])"


def grey_levels(folder: Path, name: str = "test", first: int = 0) -> str:
    """80 images whose grey level tells one of four classes; one pixel counts from `first`, so that no two are equal."""
    labels = np.arange(80) % 4
    images = np.broadcast_to((40 * (labels + 1))[:, None, None], (80, 16, 16)).astype(np.uint8)
    images[:, 15, 15] = np.arange(80) + first
    np.savez(folder / f"{name}.npz", images=images, labels=labels, ids=np.array([f"{name}-{i:02d}" for i in range(80)]))
    return f"arrays:{folder / name}.npz"


def reads_corner(images: np.ndarray) -> np.ndarray:
    return np.eye(4)[np.clip(np.rint(images[:, 0, 0, 0] / 40).astype(int) - 1, 0, 3)]


def reads_it_one_off(images: np.ndarray) -> np.ndarray:
    return np.roll(reads_corner(images), 1, axis=1)


sees = from_callable(reads_corner, size=16, name="sees", version="1")
shifted = from_callable(reads_it_one_off, size=16, name="shifted", version="1")


def test_a_healthy_run_says_nothing_and_strict_lets_it_pass(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    data, train = grey_levels(tmp_path), grey_levels(tmp_path, "train", first=100)
    run = snellen.audit(sees, data, QUICK, tmp_path / "run", train=train, strict=True)
    assert run.results()["warnings"] == []
    assert "warning" not in capsys.readouterr().err
    assert "Check before you believe" not in (tmp_path / "run" / "report.html").read_text()


@pytest.mark.parametrize("images", [20, 80])
def test_a_number_of_classes_that_does_not_fit_is_refused_before_anything_is_stored(
    tmp_path: Path, images: int
) -> None:
    """Also where there are too few images for a first look; then a label map can be given with the same folder."""
    data = grey_levels(tmp_path)
    many = from_callable(lambda batch: np.full((len(batch), 10), 0.1), size=16, name="many", version="1")
    for _ in range(2):
        with pytest.raises(UserError, match="answers 10 classes where 4 were expected; give a label map"):
            snellen.audit(many, data, QUICK, tmp_path / "run", limit=images, quiet=True)
        assert not (tmp_path / "run").exists()
    (tmp_path / "map.json").write_text(json.dumps({"rule": "sum", "map": {str(i): str(i % 4) for i in range(10)}}))
    snellen.audit(many, data, QUICK, tmp_path / "run", limit=images, quiet=True, labels=tmp_path / "map.json")


def test_groups_of_the_data_reach_the_checks(tmp_path: Path) -> None:
    """The grey of a video tells nothing of its class, and the answers follow it: 30 videos of 8 frames, at both looks."""
    random = np.random.default_rng(3)
    grey, labels = random.integers(0, 4, (2, 30))
    lines = ["path,label,group"]
    for video in range(30):
        for frame in range(8):
            image = np.full((16, 16, 3), 40 * (grey[video] + 1), np.uint8)
            image[15, 15] = video * 8 + frame
            Image.fromarray(image).save(tmp_path / f"{video}-{frame}.png")
            lines.append(f"{video}-{frame}.png,{labels[video]},{video}")
    (tmp_path / "frames.csv").write_text("\n".join(lines) + "\n")
    run = snellen.audit(sees, f"manifest:{tmp_path}/frames.csv", QUICK, tmp_path / "run", quiet=True, report=False)
    assert [warning["name"] for warning in run.results()["warnings"]] == ["unrelated_labels"]
    lines[1:] = [line.rpartition(",")[0] for line in lines[1:]]
    lines[0] = "path,label"
    (tmp_path / "images.csv").write_text("\n".join(lines) + "\n")
    run = snellen.audit(sees, f"manifest:{tmp_path}/images.csv", QUICK, tmp_path / "other", quiet=True, report=False)
    assert "class_order" in [warning["name"] for warning in run.results()["warnings"]]


def test_a_doubt_is_said_kept_and_shown_on_top(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = snellen.audit([sees, shifted], grey_levels(tmp_path), QUICK, tmp_path / "run")
    lines = [line for line in capsys.readouterr().err.splitlines() if line.startswith("warning: ")]
    assert lines[0].startswith("warning: the answers of 'shifted' look like the data's classes in another order")
    assert " — check the order of the model's classes" in lines[0]
    Draft202012Validator(json.loads(SCHEMA.read_text())).validate(run.results())
    told = run.results()["warnings"]
    assert {one["model"] for one in told} == {"shifted"}
    assert [one["name"] for one in told] == ["class_order", "chance_level"]
    html, brief = ((run.path / name).read_text() for name in ("report.html", "report.md"))
    for page in (html, brief):
        assert 0 < page.index("Check before you believe") < page.index("of 80 clean images")  # the first verdict


def test_copies_between_the_splits_are_found_in_the_stored_samples(tmp_path: Path) -> None:
    data, train = grey_levels(tmp_path), grey_levels(tmp_path, "train")
    (told,) = snellen.audit(sees, data, QUICK, train=train, quiet=True).results()["warnings"]
    assert told["name"] == "train_and_test"
    assert told["text"].startswith("80 of 80 test images are also training images")


def test_one_broken_checkpoint_among_several_runs_is_named(tmp_path: Path) -> None:
    again = replace(sees, card=replace(sees.card, fingerprint="another"))
    run = snellen.audit({"net": [sees, shifted, again]}, grey_levels(tmp_path), QUICK, quiet=True)
    first = run.results()["warnings"][0]
    assert "'net' (shifted-1)" in first["text"]
    assert "(the like in 1 of 3 runs)" in first["text"]


def test_a_doubt_of_the_first_look_is_said_before_anything_is_asked(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    seen: list[int] = []

    def counted(images: np.ndarray) -> np.ndarray:
        seen.append(len(images))
        if sum(seen) > 100:  # 16 probes and the first look's 64
            raise KeyboardInterrupt
        return reads_it_one_off(images)

    model = from_callable(counted, size=16, name="shifted", version="1")
    with pytest.raises(KeyboardInterrupt):
        snellen.audit(model, grey_levels(tmp_path), QUICK, tmp_path / "run")
    assert "warning: the answers of 'shifted' look like the data's classes in another order" in capsys.readouterr().err


def test_strict_asks_nothing_where_a_first_look_shows_a_fault(tmp_path: Path) -> None:
    data = grey_levels(tmp_path)
    with pytest.raises(UserError, match=r"nothing was asked: the answers of 'shifted'"):
        snellen.audit(shifted, data, QUICK, tmp_path / "run", quiet=True, strict=True)
    assert not (tmp_path / "run").exists()
    run = snellen.audit(shifted, data, QUICK, tmp_path / "run", quiet=True)
    assert len(run.results()["warnings"]) == 2


def test_strict_concludes_nothing_where_all_answers_show_a_fault_and_the_answers_stay(tmp_path: Path) -> None:
    data, train = grey_levels(tmp_path), grey_levels(tmp_path, "train")
    with pytest.raises(UserError, match="nothing was concluded: 80 of 80 test images are also training images"):
        snellen.audit(sees, data, QUICK, tmp_path / "run", train=train, quiet=True, strict=True)
    assert not (tmp_path / "run" / "findings.json").exists()
    assert not (tmp_path / "run" / "report.html").exists()
    assert list((tmp_path / "run" / "answers").rglob("*.parquet"))


NETS = """
import torch
from snellen.models import from_torch

class Reader(torch.nn.Module):
    def forward(self, images):
        known = torch.tensor([40.0, 80, 120, 160])
        return -(images.mean((1, 2, 3))[:, None] - known).abs()

def model():
    return from_torch(Reader(), size=16, name="bytes")
"""


def test_the_command_exits_with_2_under_strict_and_a_second_run_remembers_the_preprocessing(tmp_path: Path) -> None:
    (tmp_path / "nets.py").write_text(NETS)
    data = grey_levels(tmp_path)
    command = [sys.executable, "-m", "snellen", "audit", "python:nets.py:model", "--data", data, "--out", "r"]
    command += ["--audits", QUICK]
    strict = subprocess.run([*command, "--strict"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert strict.returncode == 2
    assert strict.stderr.splitlines()[-1].startswith("error: nothing was asked: 'bytes' is right on 100.0%")
    first = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert first.returncode == 0
    stored = json.loads((tmp_path / "r" / "run.json").read_text())["preprocessing"]
    assert stored["bytes/bytes"][0]["name"] == "preprocessing"
    # What is stored is told again, not asked again: a text of ours in its place comes back.
    facts = json.loads((tmp_path / "r" / "run.json").read_text())
    facts["preprocessing"]["bytes/bytes"][0]["text"] = "as remembered"
    write_facts(tmp_path / "r", facts)
    again = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert again.returncode == 0
    assert "warning: as remembered — it seems trained on these" in again.stderr
    assert "as remembered" in (tmp_path / "r" / "report.html").read_text()


@pytest.mark.parametrize(("clips", "silent"), [(5, True), (12, False)])
def test_a_notice_says_that_two_checks_stay_silent_below_ten_groups(clips: int, silent: bool) -> None:
    data = f"phantom:test?size=32&n={8 * clips}&frames=8"
    run = snellen.audit("observer:shape", data, "occlusion(areas=[0.3], fills=[black])", quiet=True, report=False)
    told = [notice for notice in run.results()["notices"] if "these two checks stay silent" in notice]
    assert len(told) == silent
    assert all(notice.startswith("the test images are in 5 groups, such as videos") for notice in told)
