"""`snellen train` as one types it."""

from __future__ import annotations

import json
import re
import subprocess
import sys

import numpy as np
import pytest
import yaml

from snellen.cli import main
from snellen.models.checkpoint import read_card
from snellen.train.presets import OLD_NAMES


@pytest.fixture
def at(tmp_path, monkeypatch, bars):
    """A working folder with bars.npz and test.npz."""
    for name, count, seed in (("bars", 96, 0), ("test", 40, 1)):
        data = bars(count, seed=seed)
        photos = data.read_together(range(count))
        np.savez(tmp_path / f"{name}.npz", images=photos.images, labels=data.samples.labels, classes=data.classes)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(*arguments: str) -> int:
    with pytest.raises(SystemExit) as caught:
        main(list(arguments))
    return int(caught.value.code or 0)


QUICK = ("train", "smallnet", "--data", "arrays:bars.npz", "--epochs", "1", "--batch-size", "16", "--device", "cpu")


def test_runs_become_checkpoints_that_an_audit_takes_as_one_model(at, capsys):
    assert run(*QUICK, "--mix", "cutmix", "--runs", "2", "--test", "arrays:test.npz", "--out", "group") == 0
    out = capsys.readouterr().out
    assert out.startswith("run                accuracy  best")
    assert "snellen audit smallnet-cutmix='group/*.safetensors' --data …" in out
    assert {p.name for p in (at / "group").iterdir()} == {
        "best", "settings.yaml", "smallnet-cutmix-0.safetensors", "smallnet-cutmix-1.safetensors",
    }  # fmt: skip
    settings = yaml.safe_load((at / "group" / "settings.yaml").read_text())
    assert (settings["mix"], settings["runs"], settings["test"]) == ("cutmix", 2, "arrays:test.npz")
    assert run("audit", "mixed=group/*.safetensors", "--data", "arrays:test.npz", "--dry-run", "--json") == 0
    planned = json.loads(capsys.readouterr().out)
    assert planned["models"] == {"mixed": ["smallnet-cutmix-0", "smallnet-cutmix-1"]}


def test_json_is_the_cards_and_flags_win_over_the_recipe(at, capsys):
    assert run(*QUICK, "--recipe", "marcu2022", "--lr", "0.05", "--set", "flip=false", "--limit", "50", "--json") == 0
    told = json.loads(capsys.readouterr().out)
    (path,) = told
    recipe = told[path]["recipe"]
    assert path == "models/smallnet-none/smallnet-none-0.safetensors"
    assert (recipe["lr"], recipe["flip"], recipe["weight_decay"], recipe["epochs"]) == (0.05, False, 1e-4, 1)
    assert recipe["schedule"] == "steps(at=[0.5], factor=0.01)"


def test_the_numbers_of_earlier_versions_train_as_the_names_do_and_are_not_in_the_help(at, capsys):
    assert run(*QUICK, "--recipe", "000", "--dry-run", "--json") == 0
    by_number = capsys.readouterr().out
    assert run(*QUICK, "--recipe", "marcu2022", "--dry-run", "--json") == 0
    assert by_number == capsys.readouterr().out
    assert run("train", "--help") == 0
    shown = capsys.readouterr().out
    assert "marcu2022" in shown
    assert not set(OLD_NAMES) & set(re.split(r"[\s,]+", shown))


def test_a_dry_run_says_what_would_be_done_and_does_nothing(at, capsys):
    (at / "grid.yaml").write_text("lr: [0.1, 0.2]\n")
    assert run(*QUICK, "--dry-run", "--grid", "grid.yaml") == 0
    out = capsys.readouterr().out
    assert "data: arrays:bars.npz (96 images, 2 classes)" in out
    assert "lr: 0.1 | 0.2\n" in out
    assert not (at / "models").exists()


def test_a_grid_is_searched_and_its_best_trained_on_everything(at, capsys):
    (at / "grid.yaml").write_text("lr: [1e-9, 0.1]\n")
    assert run(*QUICK, "--grid", "grid.yaml", "--out", "g", "--runs", "2", "--test", "arrays:test.npz") == 0
    assert "note: best of 2: lr " in capsys.readouterr().err
    best = float((at / "g" / "grid.csv").read_text().splitlines()[1].split(",")[0])
    cards = [read_card(p) for p in sorted((at / "g").glob("*.safetensors"))]
    assert [card["recipe"]["lr"] for card in cards] == [best] * 2
    assert [card["holdout"] for card in cards] == [0.0] * 2


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["train", "smallnet"], "no data given"),
        (["train", "smalnet", "--data", "arrays:bars.npz"], "unknown network 'smalnet'; did you mean 'smallnet'?"),
        ([*QUICK, "--mix", "cutmx"], "unknown mix 'cutmx'; did you mean 'cutmix'?"),
        ([*QUICK, "--schedule", "sine"], "unknown schedule 'sine'"),
        ([*QUICK, "--recipe", "fats"], "unknown recipe 'fats'; did you mean 'fast'?"),
        ([*QUICK, "--set", "nesterov"], "expected --set name=value, got 'nesterov'"),
        ([*QUICK, "--set", "nestrov=1"], "unknown setting 'nestrov'; did you mean 'nesterov'?"),
        ([*QUICK, "--data", "arrays:none.npz"], "no file 'none.npz'"),
        ([*QUICK, "--init", "none.safetensors"], "no checkpoint 'none.safetensors'"),
        ([*QUICK, "--grid", "none.yaml"], "no settings file 'none.yaml'"),
        ([*QUICK, "--partner", "arrays:test.npz"], "add --objective reformulated"),
        ([*QUICK, "--runs", "0"], "expected --runs from 1 to 10,000, got '0'"),
        ([*QUICK, "--holdout", "1.5"], "expected --holdout as a number of at least 0 and below 1, got '1.5'"),
        ([*QUICK, "--log", "paper"], "unknown log 'paper'"),
        ([*QUICK, "--device", "tpu9"], "unknown device 'tpu9'"),
    ],
)
def test_bad_input_is_one_line_and_exit_2(at, capsys, arguments, message):
    assert run(*arguments) == 2
    error = capsys.readouterr().err
    assert message in error
    assert error.startswith("error: ")
    assert error.count("\n") == 1
    assert not list(at.rglob("*.safetensors"))


def test_help_ends_with_an_example_and_imports_no_torch():
    code = "import sys; from snellen.cli import main\ntry: main(['train', '--help'])\nfinally: assert 'torch' not in sys.modules"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "Example: snellen train preact_resnet18 --data arrays:cifar10.npz" in " ".join(done.stdout.split())


def test_the_package_runs_as_a_module():
    done = subprocess.run([sys.executable, "-m", "snellen", "--version"], capture_output=True, text=True, check=True)
    assert done.stdout.strip()
