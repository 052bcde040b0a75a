"""`predictions:file.csv`: answers made elsewhere, by people, other frameworks or closed systems, or exported from a run.

Columns: `sample` (the data's id), `pred` or `answer` (class name or number; −1 is none of them), optional `distortion` (text
form; default none()), `seed` (default 0), `on` (role of the data; without it answers are for any), `confidence`, `label_prob`.
With a column `observer`, as in the export of a study, the model is what most people answered; `confidence` is their share.
With a column `model`, as in the export of a run, `#model=NAME` chooses one, whose runs (column `run`) it makes.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

from snellen.data.names import storable
from snellen.distort import parse
from snellen.errors import UserError, unknown
from snellen.files import expand_home
from snellen.files.places import is_file
from snellen.files.spreadsheet import bare_cell
from snellen.files.table import Column, column_names, place_of, read_table
from snellen.hashing import file_sha256, key_of
from snellen.models.card import Card
from snellen.models.device import Device
from snellen.models.model import Model
from snellen.models.text_settings import read_settings, split_settings

if TYPE_CHECKING:
    import pandas as pd

_SHARE = Column("float", least=0, most=1)
SCHEMA = {
    "sample": Column(required=True, filled=True),
    "pred": Column(required=True, filled=True, also="answer"),
    "observer": Column(filled=True),
    "model": Column(filled=True),
    "run": Column(filled=True),
    "on": Column(filled=True),
    "distortion": Column(),
    "seed": Column("int", least=0),
    "confidence": _SHARE,
    "label_prob": _SHARE,
}
_ANY = ""  # the role of answers that are for data of any
_WHOLE = re.compile(r"(-?[0-9]{1,9})(\.0*)?")


OPTIONS = {"model": str, "run": str}


def predictions_card(path: str, argument: str | None = None) -> Card:
    """The card of a predictions file, without reading its rows."""
    file, chosen = _file_of(path)
    mark = [chosen[name] for name in OPTIONS if name in chosen]
    name = chosen.get("run") or chosen.get("model") or file.stem
    return Card(name, f"predictions:{path}", key_of(["predictions", file_sha256(file), *mark]), live=False)


def load_predictions(path: str, argument: str | None = None, device: Device = None) -> Model:
    """A model that repeats the answers of a CSV or Parquet file."""
    file, chosen = _file_of(path)
    table = _choice(read_table(file, SCHEMA, "predictions file"), chosen, file)
    return Model(predictions_card(path), recorded=_tidy(table, str(file)))


def runs_of(path: str) -> list[str]:
    """The text of each run of the model that `#model=NAME` chooses; itself where it names a run, or no model."""
    file, chosen = _file_of(path)
    if "model" not in chosen or "run" in chosen or not {"model", "run"} <= column_names(file, "predictions file"):
        return [path]
    table = read_table(file, {name: SCHEMA[name] for name in ("model", "run")}, "predictions file")
    runs = table["run"][table["model"].map(_bare) == chosen["model"]].map(_bare).unique().tolist()
    return [f"{path}&run={quote(run, safe='')}" for run in runs] if len(runs) > 1 else [path]


def _file_of(path: str) -> tuple[Path, dict[str, str]]:
    """The file that a text names, and which model and run of it."""
    place, query = split_settings(path)
    file = expand_home(place)
    if not is_file(file):
        raise UserError(f"no predictions file '{place}'")
    return file, read_settings(query, OPTIONS, f"predictions:{place}")


def _choice(table: pd.DataFrame, chosen: Mapping[str, str], file: Path) -> pd.DataFrame:
    """The rows of one run of one model; a file of several that is not told which is refused."""
    for name in OPTIONS:
        if name not in table.columns:
            if name in chosen:
                raise UserError(f"{file} has no column '{name}' to choose by; leave #{name}={chosen[name]} out")
            continue
        table[name] = table[name].map(_bare)
        names = table[name].unique().tolist()
        if name in chosen:
            if chosen[name] not in names:
                raise unknown(f"{name} in {file}", chosen[name], names)
            table = table[table[name] == chosen[name]]
        elif len(names) > 1:
            some = ", ".join(each[:60] for each in names[:5])
            raise UserError(
                f"{file} has answers of {len(names)} {name}s ({some}{', …' if len(names) > 5 else ''}); name one, as in "
                f"'predictions:{file}#{'model=NAME' if name == 'model' else 'model=NAME&run=NAME'}'"
            )
    return table


def recorded_answers(
    model: Model, distortion: str, seed: int, samples: Sequence[str], classes: Sequence[str], on: str = "test"
) -> pd.DataFrame:
    """The recorded rows of some samples of a role, in their order, `pred` as numbers in `classes`; a missing one is refused."""
    if model.recorded is None:
        raise ValueError(f"expected a model of recorded answers, got '{model.name}'")
    import pandas as pd

    role = _role(model.recorded, on)
    names = [sample.strip() for sample in samples]
    rows = model.recorded.reindex(pd.MultiIndex.from_product([[role], [distortion], [seed], names]))
    missing = rows["pred"].isna()
    if missing.any():
        first = samples[int(missing.to_numpy().argmax())]
        raise UserError(
            f"'{model.card.text}' has no answer for sample '{first}' under {distortion}, seed {seed}; "
            "add it, or ask only for audits whose distortions it answers"
        )
    places = {name.strip(): number for number, name in enumerate(classes)}
    numbers = {answer: _class_number(answer, places, model.card.text) for answer in rows["pred"].unique()}
    return rows.assign(pred=rows["pred"].map(numbers).astype("int64"))


def lacks_answers(model: Model, distortion: str, seed: int, on: str) -> bool:
    """Whether a model is recorded answers that have none about a role under a distortion and seed."""
    recorded = model.recorded
    return recorded is not None and (_role(recorded, on), distortion, seed) not in recorded.index


def _role(recorded: pd.DataFrame, on: str) -> str:
    """The name under which answers about a role lie."""
    return on if _ANY not in recorded.index.levels[0] else _ANY  # type: ignore[attr-defined]


def _class_number(answer: str, places: Mapping[str, int], text: str) -> int:
    """The number of a class given by its name or, where no class is itself named by a number, as a number; −1 is none."""
    if answer in places:
        return places[answer]
    match = _WHOLE.fullmatch(answer)
    if match is None:
        raise unknown(f"class in {text}", answer[:200], tuple(places))
    number = int(match[1])
    if number == -1:
        return -1
    if any(_WHOLE.fullmatch(name) for name in places):
        if str(number) not in places:
            raise unknown(f"class in {text}", answer, tuple(places))
        return places[str(number)]
    if not 0 <= number < len(places):
        raise UserError(
            f"{text} answers class {answer}; expected one of the data's {len(places)} classes by name, their number from 0 "
            f"to {len(places) - 1}, or -1 for none of them"
        )
    return number


def _tidy(table: pd.DataFrame, path: str) -> pd.DataFrame:
    """The columns an answer needs, distortions in their canonical text; a doubled answer is refused."""
    for column in ("sample", "pred"):
        table[column] = table[column].map(_bare)
    table["on"] = table["on"].map(_bare) if "on" in table.columns else _ANY
    if "distortion" not in table.columns:
        table["distortion"] = ""
    texts = table["distortion"].str.strip()
    table["distortion"] = texts.map(_canonical_texts(texts, path))
    table["seed"] = table["seed"].fillna(0).astype("int64") if "seed" in table.columns else 0
    for column in ("confidence", "label_prob"):
        if column not in table.columns:
            table[column] = float("nan")
    people = ["observer"] if "observer" in table.columns else []
    twice = table.duplicated([*people, "on", "sample", "distortion", "seed"]).to_numpy()
    if twice.any():
        number = int(table.index.to_numpy()[twice.argmax()])
        row = table.loc[number]
        raise UserError(
            f"{place_of(path, number)} answers sample '{row['sample']}' under {row['distortion']} twice; leave one answer out"
        )
    table = _most_given(table) if people else table
    return table.set_index(["on", "distortion", "seed", "sample"]).sort_index()


def _bare(text: str) -> str:
    """A name of the file as others have it: without spaces around it, or the apostrophe of an export."""
    return bare_cell(storable(text).strip())


def _most_given(table: pd.DataFrame) -> pd.DataFrame:
    """One answer to each image: that of most observers, `confidence` their share; of equals one by a hash, whatever its class."""
    shown = ["on", "distortion", "seed", "sample"]
    votes = table.groupby([*shown, "pred"]).size().rename("votes").reset_index()
    people = votes.groupby(shown)["votes"].transform("sum")
    votes["confidence"], votes["label_prob"] = votes["votes"] / people, float("nan")
    votes["turn"] = [key_of(["votes", *map(str, row)]) for row in votes[[*shown[1:], "pred"]].itertuples(index=False)]
    return votes.sort_values(["votes", "turn"], ascending=[False, True]).drop_duplicates(shown)


def _canonical_texts(texts: pd.Series, path: str) -> dict[str, str]:
    """Each text of a distortion in its canonical form; an empty one is none()."""
    forms = {"": "none()"}
    for row, text in zip(texts.index.to_numpy().tolist(), texts):
        if text not in forms:
            try:
                forms[text] = str(parse(text))
            except UserError as error:
                raise UserError(f"{place_of(path, row)}: {error}") from None
    return forms
