"""`predictions:file.csv`: answers made elsewhere, by people, other frameworks or closed systems.

Columns: `sample` (the data's id), `pred` or `answer` (class name or number; −1 is none of them), optional `distortion` (text
form; default none()), `seed` (default 0), `confidence`, `label_prob`. With a column `observer`, as in the export of a study, the
model is what most people answered; `confidence` is their share.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from snellen.data.names import storable
from snellen.distort import parse
from snellen.errors import UserError, unknown
from snellen.files import expand_home
from snellen.files.table import Column, place_of, read_table
from snellen.hashing import file_sha256, key_of
from snellen.models.card import Card
from snellen.models.device import Device
from snellen.models.model import Model

if TYPE_CHECKING:
    import pandas as pd

_SHARE = Column("float", least=0, most=1)
SCHEMA = {
    "sample": Column(required=True, filled=True),
    "pred": Column(required=True, filled=True, also="answer"),
    "observer": Column(filled=True),
    "distortion": Column(),
    "seed": Column("int", least=0),
    "confidence": _SHARE,
    "label_prob": _SHARE,
}
_WHOLE = re.compile(r"(-?[0-9]{1,9})(\.0*)?")


def predictions_card(path: str, argument: str | None = None) -> Card:
    """The card of a predictions file, without reading its rows."""
    file = expand_home(path)
    if not os.path.isfile(file):
        raise UserError(f"no predictions file '{path}'")
    return Card(file.stem, f"predictions:{path}", key_of(["predictions", file_sha256(file)]), live=False)


def load_predictions(path: str, argument: str | None = None, device: Device = None) -> Model:
    """A model that repeats the answers of a CSV or Parquet file."""
    table = read_table(expand_home(path), SCHEMA, "predictions file")
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


def _class_number(answer: str, classes: Sequence[str], text: str) -> int:
    """The number of a class given by its name or, where no class is itself named by a number, as a number; −1 is none."""
    if answer in classes:
        return list(classes).index(answer)
    match = _WHOLE.fullmatch(answer)
    if match is None:
        raise unknown(f"class in {text}", answer[:200], classes)
    number = int(match[1])
    if number == -1:
        return -1
    if any(_WHOLE.fullmatch(name) for name in classes):
        if str(number) not in classes:
            raise unknown(f"class in {text}", answer, classes)
        return list(classes).index(str(number))
    if not 0 <= number < len(classes):
        raise UserError(
            f"{text} answers class {answer}; expected one of the data's {len(classes)} classes by name, their number from 0 "
            f"to {len(classes) - 1}, or -1 for none of them"
        )
    return number


def _tidy(table: pd.DataFrame, path: str) -> pd.DataFrame:
    """The columns an answer needs, distortions in their canonical text; a doubled answer is refused."""
    for column in ("sample", "pred"):
        table[column] = table[column].map(storable).str.strip()
    if "distortion" not in table.columns:
        table["distortion"] = ""
    texts = table["distortion"].str.strip()
    table["distortion"] = texts.map(_canonical_texts(texts, path))
    table["seed"] = table["seed"].fillna(0).astype("int64") if "seed" in table.columns else 0
    for column in ("confidence", "label_prob"):
        if column not in table.columns:
            table[column] = float("nan")
    people = ["observer"] if "observer" in table.columns else []
    twice = table.duplicated([*people, "sample", "distortion", "seed"]).to_numpy()
    if twice.any():
        number = int(twice.argmax())
        row = table.iloc[number]
        raise UserError(
            f"{place_of(path, number)} answers sample '{row['sample']}' under {row['distortion']} twice; leave one answer out"
        )
    table = _most_given(table) if people else table
    return table.set_index(["distortion", "seed", "sample"]).sort_index()


def _most_given(table: pd.DataFrame) -> pd.DataFrame:
    """One answer to each image: that of most observers, `confidence` their share; of equals one by a hash, whatever its class."""
    shown = ["distortion", "seed", "sample"]
    votes = table.groupby([*shown, "pred"]).size().rename("votes").reset_index()
    people = votes.groupby(shown)["votes"].transform("sum")
    votes["confidence"], votes["label_prob"] = votes["votes"] / people, float("nan")
    votes["turn"] = [key_of(["votes", *map(str, row)]) for row in votes[[*shown, "pred"]].itertuples(index=False)]
    return votes.sort_values(["votes", "turn"], ascending=[False, True]).drop_duplicates(shown)


def _canonical_texts(texts: pd.Series, path: str) -> dict[str, str]:
    """Each text of a distortion in its canonical form; an empty one is none()."""
    forms = {"": "none()"}
    for row, text in enumerate(texts):
        if text not in forms:
            try:
                forms[text] = str(parse(text))
            except UserError as error:
                raise UserError(f"{place_of(path, row)}: {error}") from None
    return forms
