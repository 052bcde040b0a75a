"""Training curves for TensorBoard or MLflow, where they are installed."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Protocol

from snellen.atomic import make_folder
from snellen.errors import UserError, unknown
from snellen.extras import import_package


class Log(Protocol):
    """Receives every epoch of one run."""

    def epoch(self, row: Mapping[str, Any]) -> None: ...

    def close(self) -> None: ...


class TensorBoard:
    """Event files under `<out>/logs/<run>`."""

    def __init__(self, out: Path, run: str, settings: Mapping[str, Any]) -> None:
        import_package("tensorboard", "--log tensorboard")
        from torch.utils.tensorboard import SummaryWriter

        folder = out / "logs" / run
        make_folder(folder)
        self.writer: Any = SummaryWriter(str(folder))
        self.writer.add_text("recipe", "\n".join(f"    {name}: {value}" for name, value in settings.items()))

    def epoch(self, row: Mapping[str, Any]) -> None:
        for name, value in _numbers(row).items():
            self.writer.add_scalar(name, value, row["epoch"])

    def close(self) -> None:
        self.writer.close()


class MLflow:
    """One MLflow run, wherever MLFLOW_TRACKING_URI points."""

    def __init__(self, out: Path, run: str, settings: Mapping[str, Any]) -> None:
        self.mlflow = import_package("mlflow", "--log mlflow")
        try:
            self.mlflow.start_run(run_name=run)
        except Exception as error:  # its stores fail in ways of their own: no server, no driver, no right to write
            reason = " ".join(str(error).split("\n")[0].split())
            raise UserError(
                f"mlflow cannot begin a run: {reason}; does MLFLOW_TRACKING_URI name a store it can use?"
            ) from None
        self.mlflow.log_params(dict(settings))

    def epoch(self, row: Mapping[str, Any]) -> None:
        self.mlflow.log_metrics(_numbers(row), step=row["epoch"])

    def close(self) -> None:
        self.mlflow.end_run()


LOGS: dict[str, type[TensorBoard] | type[MLflow]] = {"tensorboard": TensorBoard, "mlflow": MLflow}


def open_log(kind: str, out: Path, run: str, settings: Mapping[str, Any]) -> Log:
    """The log of one run."""
    if kind not in LOGS:
        raise unknown("log", kind, LOGS)
    return LOGS[kind](out, run, settings)


def _numbers(row: Mapping[str, Any]) -> dict[str, float]:
    return {name: float(value) for name, value in row.items() if name != "epoch" and value is not None}
