"""A training that is lost keeps the last state of finite numbers; a saved state that is damaged is refused in one line."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from snellen.data.dataset import Dataset
from snellen.errors import UserError
from snellen.models.checkpoint import load_state
from snellen.train import Recipe, train
from snellen.train.state import Saver

RECIPE = Recipe(epochs=3, batch_size=16, lr=1e-3, schedule="constant")
STATE = "state/smallnet-none-0.pt"


@pytest.fixture
def eager(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every epoch is saved, however long that takes."""
    monkeypatch.setattr("snellen.train.state._SHARE", 1e9)


@pytest.mark.parametrize("epoch", [2, 3])
def test_weights_that_overflow_in_the_last_step_of_an_epoch_are_written_nowhere(
    tmp_path: Path, bars: Callable[..., Dataset], eager: None, monkeypatch: pytest.MonkeyPatch, epoch: int
) -> None:
    """Every loss is finite then; in the last epoch there is not even a next one that would show it."""

    steps, step = [0], torch.optim.SGD.step

    def spoilt(self: torch.optim.SGD) -> None:
        step(self)
        steps[0] += 1
        if steps[0] == 4 * epoch:  # batches of 16 of 64 images
            self.param_groups[0]["params"][0].data.fill_(torch.inf)

    monkeypatch.setattr("torch.optim.SGD.step", spoilt)
    with pytest.raises(UserError) as error:
        train(RECIPE, bars(64), tmp_path, test=bars(32, seed=1))
    assert f"the weights of smallnet-none-0 became nan or infinite in epoch {epoch}" in str(error.value)
    assert f"the state after epoch {epoch - 1} is kept in '{tmp_path / STATE}'" in str(error.value)
    assert not list(tmp_path.glob("*.safetensors"))
    for file in tmp_path.rglob("*.*t*"):
        if file.is_file():
            assert all(tensor.isfinite().all() for tensor in load_state(file).values())
    monkeypatch.undo()
    (tuned,) = train(RECIPE, bars(64), tmp_path / "again", init=tmp_path / STATE)
    assert tuned.exists()


def saved(path: Path, **changes: Any) -> None:
    torch.save({**torch.load(path, weights_only=True), **changes}, path)


DAMAGES: dict[str, Callable[[Path], Any]] = {
    "text": lambda path: path.write_text("hello"),
    "empty": lambda path: path.write_bytes(b""),
    "cut": lambda path: path.write_bytes(path.read_bytes()[:2000]),
    "flipped": lambda path: path.write_bytes(bytes(b ^ (0x40 if i == 3000 else 0) for i, b in enumerate(path.read_bytes()))),
    "a list": lambda path: torch.save([1, 2], path),
    "nothing": lambda path: torch.save(None, path),
    "no identity": lambda path: saved(path, identity=3),
    "epoch of text": lambda path: saved(path, epoch="two"),
    "more epochs than rows": lambda path: saved(path, epoch=2),
    "history of text": lambda path: saved(path, history=["a"]),
    "weights of another network": lambda path: saved(path, model={"a": torch.zeros(3)}),
    "no tensors": lambda path: saved(path, model={"linear.weight": 3}),
    "no optimiser": lambda path: saved(path, optimiser={}),
}  # fmt: skip


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_state_says_that_it_should_be_deleted(
    tmp_path: Path, bars: Callable[..., Dataset], eager: None, damage: str
) -> None:
    class Killed(Exception):
        pass

    def kill(progress: Any) -> None:
        raise Killed

    with pytest.raises(Killed):
        train(RECIPE, bars(64), tmp_path, progress=kill)
    DAMAGES[damage](tmp_path / STATE)
    with pytest.raises(UserError, match="delete it to start again") as error:
        train(RECIPE, bars(64), tmp_path)
    assert str(tmp_path / STATE) in str(error.value)
    assert len(str(error.value).splitlines()) == 1
    (tmp_path / STATE).unlink()
    assert train(RECIPE, bars(64), tmp_path)


def test_a_folder_in_the_place_of_a_state_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.pt").mkdir()
    with pytest.raises(UserError, match=r"a.pt' is a folder; expected a training state; delete it to start again"):
        Saver(tmp_path / "a.pt", {}).load()
