"""`--plugin` is there wherever models, data, distortions or audits are named, and loads before these are read."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import typer

from snellen.cli import app
from snellen.request import settings_of
from snellen.settings_file import resolve
from snellen.sweep.request import MatrixRequest
from snellen.train.request import TrainRequest, resolve_training

from ..commands import exit_code

NAMING = {"models", "model", "data", "audits", "dataset", "distortion", "distortions", "source", "test"}
WITHOUT = {  # commands that name none although they have such a word
    "build phantom": "its data are generated",
    "study plan": "its source is a number of people",
}


def commands(group: Any = None, words: tuple[str, ...] = ()) -> dict[str, Any]:
    """Every command by its words."""
    group = group or typer.main.get_command(app)
    found = {}
    for name, command in group.commands.items():
        if hasattr(command, "commands"):
            found |= commands(command, (*words, name))
        else:
            found[" ".join((*words, name))] = command
    return found


def test_every_command_that_names_such_a_thing_takes_plugins() -> None:
    naming = {words: {one.name for one in command.params} for words, command in commands().items()}
    wrong = [
        words for words, names in naming.items() if names & NAMING and "plugins" not in names and words not in WITHOUT
    ]
    assert wrong == []
    assert {"audit", "search", "train", "explain", "dissect", "compare", "curate", "list", "study create"} <= {
        words for words, names in naming.items() if "plugins" in names
    }


def test_files_are_loaded_before_the_other_settings_are_read(all_four: Path, here: Path) -> None:
    settings = here / "audit.yaml"
    settings.write_text("models: [mean:1]\ndata: specks:20\naudits: mean\nplugins: [tools.py]\nquiet: true\nout: run\n")
    assert exit_code(["audit", "--config", str(settings)]) == 0


def test_pictures_studies_and_comparisons_take_what_a_file_offers(
    all_four: Path, here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    study = (
        "study create specks:30 --distortion negative --plugin tools.py --out study --practice 2 --catch 2 --size 32"
    )
    assert exit_code(study.split()) == 0
    audit = "audit mean:1 --data specks:30 --audits interference([negative]) --plugin tools.py --out run --quiet"
    assert exit_code(audit.split()) == 0
    capsys.readouterr()
    assert exit_code(["compare", "run", "--distortion", "negative", "--plugin", "tools.py"]) == 2
    assert "negative" not in capsys.readouterr().err  # it is known; there is one model alone


def test_a_training_takes_data_of_a_file(all_four: Path) -> None:
    values = {"arch": "smallnet", "data": "specks:20", "plugins": ["tools.py"], "epochs": 1}
    request = resolve_training(TrainRequest, values)
    assert request.plugins == ("tools.py",)
    assert "plugins" in {item.name for item in settings_of(MatrixRequest)}
    assert resolve(TrainRequest, {"data": "x:1", "plugins": "tools.py"}).plugins == ("tools.py",)
    assert np.isfinite(request.how.epochs)
