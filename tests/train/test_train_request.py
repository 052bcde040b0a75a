"""A training's settings are declared once: the command line, settings files and Python take the same ones."""

from __future__ import annotations

import inspect
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml

from snellen.cli import main
from snellen.errors import UserError
from snellen.request import Request, settings_of
from snellen.sweep.request import AmountRequest, DomainsRequest, GrainRequest, MethodsRequest, VariantsRequest
from snellen.train import Recipe, TrainRequest, train
from snellen.train.request import resolve_training

DATA = "phantom:train?size=16&n=96"
QUICK = {"data": DATA, "epochs": 1, "batch_size": 32}
COMMANDS: dict[type[Request], list[str]] = {
    TrainRequest: ["train"],
    VariantsRequest: ["sweep", "variants"],
    AmountRequest: ["sweep", "amount"],
    GrainRequest: ["sweep", "grain"],
    MethodsRequest: ["sweep", "methods"],
    DomainsRequest: ["sweep", "domains"],
}
VALUES: dict[str, Any] = {  # a value for each setting of a recipe that is not its default
    "arch": "resnet20", "mix": "cutmix", "objective": "reformulated", "resize_partner": True, "robust": "pgd(radius=0.03)",
    "epochs": 3, "updates": 7, "batch_size": 8, "optimiser": "adam", "lr": 0.5, "schedule": "cosine", "momentum": 0.5,
    "nesterov": True, "weight_decay": 0.25, "decay": "weights", "batch_norm": "measured",
    "smoothing": 0.125, "flip": False, "padding": 1,
    "resized": True, "jitter": 0.5, "ignore": 255, "seed": 4,
}  # fmt: skip


def run(*arguments: str) -> int:
    try:
        main(list(arguments))
    except SystemExit as end:
        return int(end.code or 0)
    return 0


def options_in(help_text: str) -> set[str]:
    return {word.strip(",") for word in help_text.split() if word.startswith("--")}


@pytest.mark.parametrize("cls", COMMANDS, ids=lambda cls: cls.__name__)
def test_every_setting_is_an_option_or_an_argument_with_its_help(cls, capsys):
    assert run(*COMMANDS[cls], "--help") == 0
    shown = capsys.readouterr().out
    classes = (cls,) if cls in (MethodsRequest, DomainsRequest) else (cls, Recipe)
    for one in (one for kind in classes for one in settings_of(kind)):
        assert one.flag in options_in(shown) or f"[{one.name.upper().rstrip('S')}]" in shown, one.name
        assert " ".join(one.help.split()[:3]) in " ".join(shown.split()), one.name
    assert {"--config", "--json"} <= options_in(shown)


def test_the_example_values_name_every_setting_of_a_recipe():
    assert set(VALUES) == {one.name for one in settings_of(Recipe)}


@pytest.mark.parametrize("name", VALUES)
def test_a_setting_of_the_recipe_means_the_same_as_option_in_a_file_and_in_python(name, tmp_path, capsys):
    base = {"arch": "smallnet", "mix": "cutmix", "data": DATA}
    wanted = {**base, name: VALUES[name]}
    (tmp_path / "settings.yaml").write_text(yaml.safe_dump(wanted))
    from_file = resolve_training(TrainRequest, {}, tmp_path / "settings.yaml").how
    in_python = resolve_training(TrainRequest, wanted).how
    recipe = resolve_training(TrainRequest, {"recipe": Recipe(mix="cutmix"), "data": DATA, name: VALUES[name]}).how
    assert from_file == in_python == recipe == replace(Recipe(mix="cutmix"), **{name: VALUES[name]})
    value = VALUES[name]
    flag = "--" + name.replace("_", "-")
    given = [flag if value else "--no-" + flag[2:]] if isinstance(value, bool) else [flag, str(value)]
    given = [value] if name == "arch" else given
    if name != "robust":  # which a mix does not go with; the option is the same
        given += [] if name == "mix" else ["--mix", "cutmix"]
    assert run("train", *given, "--data", DATA, "--dry-run") == 0
    assert f"{name}: {value}" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"epochs": "many"}, "expected epochs as a whole number of at least 1, got 'many'"),
        ({"log": "excel"}, "unknown log 'excel'; known: mlflow, tensorboard"),
        ({"every": "0"}, "expected every from 1 to 1,000,000,000, got '0'"),
        ({"optimiser": "sdg"}, "unknown optimiser 'sdg'; did you mean 'sgd'?"),
        ({"partner": DATA}, "a partner's labels do not count; add objective reformulated"),
    ],
)
def test_a_bad_value_gets_the_same_words_everywhere(settings, message, tmp_path, capsys):
    flags = [word for name, value in settings.items() for word in (f"--{name}", value)]
    assert run("train", "smallnet", "--data", DATA, *flags) == 2
    typed = message.replace("expected ", "expected --").replace("add ", "add --")
    assert capsys.readouterr().err == f"error: {typed}\n"
    (tmp_path / "bad.yaml").write_text(yaml.safe_dump({"data": DATA, **settings}))
    assert run("train", "--config", str(tmp_path / "bad.yaml")) == 2
    assert message in capsys.readouterr().err.replace("add --", "add ")
    with pytest.raises(UserError) as caught:
        train(Recipe(), DATA, tmp_path / "out", **settings)
    assert str(caught.value) == message


def test_a_word_that_is_no_setting_names_the_nearest(tmp_path):
    with pytest.raises(UserError, match="unknown setting 'epoch'; did you mean 'epochs'?"):
        train(Recipe(), DATA, tmp_path, epoch=3)
    with pytest.raises(UserError, match="unknown setting 'holdot'; did you mean 'holdout'?"):
        train(Recipe(), DATA, tmp_path, holdot=0.1)


def test_python_shows_every_setting_in_its_signature():
    shown = inspect.signature(train).parameters
    assert list(shown)[:7] == ["recipe", "data", "out", "runs", "test", "device", "progress"]
    settings = {one.name for one in settings_of(TrainRequest)}
    assert settings | {"progress", "notice", "config"} == set(shown)


def test_the_settings_file_of_a_training_repeats_it(tmp_path, monkeypatch):
    out = tmp_path / "models"
    command = [
        "train",
        "smallnet",
        "--data",
        DATA,
        "--epochs",
        "1",
        "--batch-size",
        "32",
        "--out",
        str(out),
        "--set",
        "lr=0.1",
    ]
    assert run(*command) == 0
    (path,) = out.glob("*.safetensors")
    before = path.stat().st_mtime_ns
    monkeypatch.setattr("snellen.train.runs.fit", lambda *_: pytest.fail("trained again"))
    assert run("train", "--config", str(out / "settings.yaml")) == 0
    assert path.stat().st_mtime_ns == before
    settings = yaml.safe_load((out / "settings.yaml").read_text())
    assert (settings["lr"], settings["data"], settings["batch_size"]) == (0.1, DATA, 32)


def test_a_dry_run_in_python_names_the_checkpoints_and_trains_nothing(tmp_path):
    paths = train(Recipe(), DATA, tmp_path / "out", 2, dry_run=True)
    assert [path.name for path in paths] == ["smallnet-none-0.safetensors", "smallnet-none-1.safetensors"]
    assert not (tmp_path / "out").exists()


def test_the_settings_file_of_a_sweep_repeats_it(tmp_path, monkeypatch, capsys):
    out = tmp_path / "amounts"
    command = [
        "sweep",
        "amount",
        "smallnet",
        "--data",
        DATA,
        "--amounts",
        "24,48",
        "--test",
        "t=phantom:test?size=16&n=48",
    ]
    assert run(*command, "--epochs", "1", "--batch-size", "24", "--out", str(out), "--no-html", "-q") == 0
    before = (out / "sweep.csv").read_text()
    monkeypatch.setattr("snellen.train.runs.fit", lambda *_: pytest.fail("trained again"))
    assert run("sweep", "amount", "--config", str(out / "settings.yaml")) == 0
    assert (out / "sweep.csv").read_text() == before
    capsys.readouterr()
    assert run("sweep", "amount", "--config", str(out / "settings.yaml"), "--dry-run") == 0
    assert "trainings_left: 0" in capsys.readouterr().out


def test_a_limit_and_a_grid_work_in_python_as_on_the_command_line(tmp_path: Path):
    settings = {"limit": 60, "grid": {"lr": [0.05, 0.2]}, "epochs": 1, "batch_size": 20}
    (path,) = train(None, DATA, tmp_path, **settings)
    assert len((tmp_path / "grid.csv").read_text().splitlines()) == 3
    assert path.exists()


def test_a_grid_of_too_many_combinations_is_refused_before_they_are_listed(tmp_path: Path) -> None:
    from snellen.train import preset, search_grid

    grid = {name: [n / 100_000 for n in range(1, 1001)] for name in ("lr", "momentum", "weight_decay")}
    with pytest.raises(UserError, match="1,000,000,000 combinations, more than 10,000"):
        search_grid(preset(None, arch="smallnet"), "phantom:train?n=20&size=16", tmp_path / "out", grid)
    assert not (tmp_path / "out").exists()
