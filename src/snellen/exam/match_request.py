"""What should be matched: every setting once, for `snellen match`, settings files and `snellen.match(...)`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from snellen.request import Request, plugin_setting, setting

if TYPE_CHECKING:
    from snellen.data import Dataset

    ModelLike = object  # a text, a Model, a torch module or any callable
    DataLike = str | Dataset
else:  # what Python may pass beyond texts is not imported for --help
    ModelLike = DataLike = object


@dataclass(frozen=True, kw_only=True)
class MatchRequest(Request):
    """The settings of one match of a model's classes with a dataset's."""

    model: ModelLike | None = setting("model; see `snellen list models`", metavar="MODEL", required=True)
    data: DataLike | None = setting("dataset; see `snellen list data`", metavar="DATA", required=True)
    out: Path | None = setting(
        "write the label map that --labels of audits takes: .csv or .json", metavar="FILE", written=True
    )
    rule: Literal["argmax", "mean", "sum"] | None = setting(
        "argmax: the model's own best output counts; mean or sum: the best of the data's classes, by the mean or sum of its "
        "outputs; default argmax, or as published for a group"
    )
    synonyms: Path | None = setting(
        "JSON {class: name or [names]}: other names of the data's classes, or numbers of outputs; names may be separated by ;",
        metavar="FILE",
    )
    look: int | None = setting(
        "show the model so many images of each class, and say where it answers otherwise", at_least=1, at_most=1000
    )
    device: str | None = setting("cpu, cuda, cuda:1, mps or auto", metavar="DEVICE")
    plugins: tuple[str, ...] = plugin_setting()
    offline: bool = setting("use only weights that are already downloaded", False)
