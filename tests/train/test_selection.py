"""Which epoch and which settings are chosen, on accuracies that are made up: the first best epoch, and the best of each trial."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import pytest

from snellen.models.checkpoint import read_card
from snellen.train import Recipe, search_grid, train

THREE = Recipe(epochs=3, batch_size=16)


@pytest.fixture
def measured(monkeypatch) -> Callable[[Iterable[float]], None]:
    """Makes the accuracies of the next epochs what a test says."""

    def say(values: Iterable[float]) -> None:
        upcoming = iter(values)
        monkeypatch.setattr("snellen.train.loop.accuracy", lambda network, judged, normalise: next(upcoming))

    return say


def test_of_equal_epochs_the_first_is_the_best_in_its_file_and_on_the_card(tmp_path, bars, measured):
    measured([0.4, 0.5, 0.5])
    (path,) = train(THREE, bars(32), tmp_path, test=bars(16, seed=1))
    kept = read_card(tmp_path / "best" / path.name)
    assert (
        read_card(path)["best"]
        == {"accuracy": kept["accuracy"], "epoch": kept["epoch"]}
        == {"accuracy": 0.5, "epoch": 2}
    )


def test_a_trial_of_a_grid_ranks_by_its_best_epoch_not_by_its_last(tmp_path, bars, measured):
    measured([0.5, 0.6, 0.7, 0.2, 0.9, 0.1])
    trials = search_grid(THREE, bars(40), tmp_path, {"lr": [0.1, 0.2]}, holdout=0.25)
    assert [(one.settings["lr"], one.accuracy, one.epoch) for one in trials] == [(0.2, 0.9, 2), (0.1, 0.7, 3)]
