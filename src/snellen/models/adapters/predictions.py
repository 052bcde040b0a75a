"""`predictions:file.csv`: answers made elsewhere, by people, other frameworks or closed systems.

Columns: `sample` (the data's id), `pred` (class name or number; −1 is none of them), optional `distortion` (text form;
default none()), `seed` (default 0), `confidence`, `label_prob`.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from snellen.data.manifest import read_table
from snellen.distort import parse
from snellen.errors import UserError, unknown
from snellen.hashing import file_sha256, key_of
from snellen.models.card import Card
from snellen.models.device import Device
from snellen.models.model import Model

if TYPE_CHECKING:
    import pandas as pd


def predictions_card(path: str, argument: str | None = None) -> Card:
    """The card of a predictions file, without reading its rows."""
    file = Path(path).expanduser()
    if not file.is_file():
        raise UserError(f"no predictions file '{path}'")
    return Card(file.stem, f"predictions:{path}", key_of(["predictions", file_sha256(file)]), live=False)


def load_predictions(path: str, argument: str | None = None, device: Device = None) -> Model:
    """A model that repeats the answers of a CSV or Parquet file."""
    table = read_table(Path(path).expanduser())
    for column in ("sample", "pred"):
        if column not in table.columns:
            raise UserError(f"{path} has no column '{column}'; it has: {', '.join(map(str, table.columns))}")
    return Model(predictions_card(path), recorded=_tidy(table, path))


def recorded_answers(
    model: Model, distortion: str, seed: int, samples: Sequence[str], classes: Sequence[str]
) -> pd.DataFrame:
    """The recorded rows of some samples, in their order, `pred` as numbers in `classes`; a missing one is refused."""
    if model.recorded is None:
        raise ValueError(f"expected a model of recorded answers, got '{model.name}'")
    import pandas as pd

    rows = model.recorded.reindex(pd.MultiIndex.from_product([[distortion], [seed], samples]))
    missing = rows["pred"].isna()
    if missing.any():
        first = samples[int(missing.to_numpy().argmax())]
        raise UserError(
            f"'{model.card.text}' has no answer for sample '{first}' under {distortion}, seed {seed}; "
            "add it, or ask only for audits whose distortions it answers"
        )
    numbers = {answer: _class_number(answer, classes, model.card.text) for answer in rows["pred"].unique()}
    return rows.assign(pred=rows["pred"].map(numbers).astype("int64"))


def _class_number(answer: object, classes: Sequence[str], text: str) -> int:
    """The number of a class given by its name or as a number."""
    name = str(answer)
    if name in classes:
        return list(classes).index(name)
    try:
        return int(float(name))
    except ValueError:
        raise unknown(f"class in {text}", name, classes) from None


def _tidy(table: pd.DataFrame, path: str) -> pd.DataFrame:
    """The columns an answer needs, distortions in their canonical text; a doubled answer is refused."""
    table = table.copy()
    table["sample"] = table["sample"].astype(str)
    if "distortion" not in table.columns:
        table["distortion"] = "none()"
    texts = {text: str(parse(text)) for text in table["distortion"].fillna("none()").unique()}
    table["distortion"] = table["distortion"].fillna("none()").map(texts)
    table["seed"] = table["seed"].astype(int) if "seed" in table.columns else 0
    for column in ("confidence", "label_prob"):
        if column not in table.columns:
            table[column] = float("nan")
    twice = table.duplicated(["sample", "distortion", "seed"])
    if twice.any():
        row = table[twice].iloc[0]
        raise UserError(f"{path} answers sample '{row['sample']}' under {row['distortion']} twice")
    return table.set_index(["distortion", "seed", "sample"]).sort_index()
