"""Curves sent to TensorBoard and MLflow, read back by their own readers and compared with the card's."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from snellen.errors import UserError
from snellen.models.checkpoint import read_card
from snellen.train import Recipe, train

DATA, TEST = (f"phantom:{split}?size=32&n={count}" for split, count in (("train", 96), ("test", 24)))
RECIPE = Recipe(epochs=2, batch_size=32, mix="cutmix")
CURVES = {"loss", "diversity", "mix_diversity", "rate", "accuracy", "seconds"}


def trained(out: Path, log: str, **how: Any) -> tuple[str, dict[str, Any]]:
    """The name and the card of one run."""
    (path,) = train(RECIPE, DATA, out, device="cpu", log=log, **how)
    return path.stem, read_card(path)


def test_tensorboard_reads_back_every_curve_of_the_card(tmp_path):
    pytest.importorskip("tensorboard", reason="needs TensorBoard: pip install tensorboard")
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    name, card = trained(tmp_path, "tensorboard", test=TEST)
    events = EventAccumulator(str(tmp_path / "logs" / name))
    events.Reload()
    assert set(events.Tags()["scalars"]) == CURVES
    for curve in CURVES:
        kept = [(point.step, point.value) for point in events.Scalars(curve)]
        wanted = [(row["epoch"], pytest.approx(row[curve], rel=1e-6)) for row in card["history"]]  # stored as float32
        assert kept == wanted
        assert len(kept) == 2
    (text,) = events.Tensors("recipe/text_summary")
    assert "mix: cutmix" in text.tensor_proto.string_val[0].decode()


def test_mlflow_reads_back_every_curve_of_the_card(tmp_path, monkeypatch):
    mlflow = pytest.importorskip("mlflow", reason="needs MLflow: pip install mlflow-skinny")
    monkeypatch.setenv("MLFLOW_DISABLE_TELEMETRY", "true")
    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")
    monkeypatch.setenv("MLFLOW_TRACKING_URI", (tmp_path / "store").as_uri())
    name, card = trained(tmp_path, "mlflow", test=TEST)
    client = mlflow.MlflowClient()
    (run,) = client.search_runs(["0"])
    assert run.info.run_name == name
    assert run.info.status == "FINISHED"
    assert run.data.params["mix"] == "cutmix"
    assert run.data.params["lr"] == "0.2"
    assert set(run.data.metrics) == CURVES
    for curve in CURVES:
        kept = [(point.step, point.value) for point in client.get_metric_history(run.info.run_id, curve)]
        assert kept == [(row["epoch"], row[curve]) for row in card["history"]]
        assert len(kept) == 2


def test_without_test_images_there_is_no_curve_of_their_accuracy(tmp_path):
    pytest.importorskip("tensorboard", reason="needs TensorBoard: pip install tensorboard")
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    name, _ = trained(tmp_path, "tensorboard")
    events = EventAccumulator(str(tmp_path / "logs" / name))
    events.Reload()
    assert set(events.Tags()["scalars"]) == CURVES - {"accuracy"}


def test_a_store_that_mlflow_cannot_use_is_said_in_one_line(tmp_path, monkeypatch):
    pytest.importorskip("mlflow", reason="needs MLflow: pip install mlflow-skinny")
    monkeypatch.setenv("MLFLOW_DISABLE_TELEMETRY", "true")
    monkeypatch.setenv("MLFLOW_TRACKING_URI", "nowhere://at/all")
    with pytest.raises(UserError, match="mlflow cannot begin a run: .*MLFLOW_TRACKING_URI") as said:
        trained(tmp_path, "mlflow")
    assert "\n" not in str(said.value)
