"""A run as samples of FiftyOne, in the JSON layout that its importer reads; the package itself is not needed.

metadata.json   media type, classes, and what each field is the answer to
samples.json    a sample per image: its file, its class, and a field per model and modification
data/           the images as PNG, where they have no file of their own (or boxes, which are in pixels of the file)
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from snellen.atomic import encode_json, make_folder, write_atomic, writing
from snellen.data import load_stored
from snellen.data.dataset import Dataset, Photo
from snellen.engine.keep.run_folder import RunFolder
from snellen.errors import UserError
from snellen.export.answer_rows import NONE, ShardRows, answer_rows, roles
from snellen.export.folder import empty_folder
from snellen.files import expand_home
from snellen.files.remote.remote_path import RemotePath

NOTHING = "(none of these)"  # as a label: an answer outside the classes of the data
_AT_ONCE = 32  # images in memory
_CELL = ("model", "run", "distortion", "seed")
_TAKEN = frozenset(
    {"id", "filepath", "tags", "metadata", "created_at", "last_modified_at", "ground_truth", "sample", "boxes"}
)
Field = tuple[str, str, str, int]


def write_fiftyone(run: RunFolder, folder: Path) -> None:
    """The folder; `fiftyone.Dataset.from_dir(folder, dataset_type=fiftyone.types.FiftyOneDataset)` reads it."""
    run.results()
    data = {role: load_stored(run.facts["data"][role]["text"]) for role in roles(run)}
    folder = folder.absolute()
    empty_folder(folder, run, "fiftyone")
    names = _field_names(run)
    with writing(folder / "samples.json") as file:
        file.write(b'{"samples": [')
        first = True
        for role, dataset in data.items():
            pictures = _Pictures(dataset, folder / "data" / role)
            for shard in answer_rows(run, role):
                for sample in _samples(shard, pictures, names, folder):
                    file.write((b"\n" if first else b",\n") + _line(sample))
                    first = False
        file.write(b"\n]}\n")
    write_atomic(folder / "metadata.json", encode_json(_metadata(run, names)))


def _line(sample: Mapping[str, Any]) -> bytes:
    """A sample in one line of JSON, in ASCII."""
    return json.dumps(sample, allow_nan=False).encode()


def _metadata(run: RunFolder, names: Mapping[Field, str]) -> dict[str, Any]:
    fields = {name: dict(zip(_CELL, cell)) for cell, name in names.items()}
    classes = {"ground_truth": run.facts["data"][roles(run)[0]]["classes"]}
    return {
        "name": run.path.name,
        "media_type": "image",
        "info": {"classes": classes, "snellen": run.facts["snellen"], "fields": fields},
    }


def _field_names(run: RunFolder) -> dict[Field, str]:
    """The field of each cell: the model (and its run, of several), then `clean` or what was shown, in letters and digits."""
    runs: dict[str, set[str]] = {}
    cells = [row for row in run.store.cells() if row["on"] in run.facts["data"]]
    for row in cells:
        runs.setdefault(row["model"], set()).add(row["run"])
    names: dict[Field, str] = {}
    used = set(_TAKEN)
    for row in cells:
        model, of_run, text, seed = (row[name] for name in _CELL)
        if (model, of_run, text, seed) in names:
            continue
        shown = "clean" if text == "none()" else re.sub(r"\w+=", "", text)
        parts = (model, *((of_run,) if len(runs[model]) > 1 else ()), shown, *((f"seed {seed}",) if seed else ()))
        name = _unused(_slug(" ".join(parts)), used)
        names[model, of_run, text, seed] = name
    return names


def _slug(text: str) -> str:
    return re.sub(r"[^0-9a-z]+", "_", text.lower()).strip("_") or "field"


def _unused(name: str, used: set[str]) -> str:
    """The name, or with the first number behind it that makes it new; it is used from now on."""
    number, free = 1, name
    while free in used:
        number += 1
        free = f"{name}_{number}"
    used.add(free)
    return free


def _samples(
    shard: ShardRows, pictures: _Pictures, names: Mapping[Field, str], folder: Path
) -> Iterator[dict[str, Any]]:
    """The samples of a shard in the order of its listing, without those that nothing answered."""
    listing = shard.samples.select(["sample", "class", "label"]).to_pylist()
    places = {row["sample"]: place for place, row in enumerate(listing)}
    words = shard.answers["sample"].combine_chunks()
    at = np.array([places[word] for word in words.dictionary.to_pylist()], int)[words.indices.to_numpy()]
    order = np.argsort(at, kind="stable")
    edges = np.searchsorted(at[order], np.arange(len(listing) + 1))
    for start in range(0, len(listing), _AT_ONCE):
        stop = min(start + _AT_ONCE, len(listing))
        answers: dict[str, dict[str, Any]] = {}
        for row in shard.answers.take(order[edges[start] : edges[stop]]).to_pylist():
            field = names[row["model"], row["run"], row["distortion"], row["seed"]]
            answers.setdefault(row["sample"], {})[field] = _answer(row)
        some = [row for row in listing[start:stop] if row["sample"] in answers]
        for row, (file, boxes) in zip(some, pictures.files([row["sample"] for row in some])):
            truth = row["class"] if row["label"] >= 0 else None
            yield {
                "filepath": file.relative_to(folder).as_posix() if file.is_relative_to(folder) else str(file),
                "tags": [shard.on],
                "sample": row["sample"],
                "ground_truth": None if truth is None else {"_cls": "Classification", "label": truth},
                **({} if boxes is None else {"boxes": _detections(boxes, truth)}),
                **answers[row["sample"]],
            }


def _answer(row: Mapping[str, Any]) -> dict[str, Any]:
    """A model's answer: its class, confidence and score; of other tasks the score alone."""
    facts = {name: row[name] for name in ("score", "label_prob") if row[name] is not None}
    if row["excluded"]:
        facts["excluded"] = True
    label = {} if row["pred"] is None else {"label": NOTHING if row["pred"] == NONE else row["pred"]}
    return {"_cls": "Classification", **label, "confidence": row["confidence"], **facts}


def _detections(boxes: np.ndarray, name: str | None) -> dict[str, Any]:
    """True boxes as [left, top, width, height] in shares of the image; a single one is of the image's class."""
    label = {"label": name} if name is not None and len(boxes) == 1 else {}
    return {
        "_cls": "Detections",
        "detections": [{"_cls": "Detection", **label, "bounding_box": [float(v) for v in box]} for box in boxes],
    }


class _Pictures:
    """The files of a dataset's images: their own where they are known, else PNG files that are written to a folder."""

    def __init__(self, data: Dataset, folder: Path) -> None:
        self.data, self.folder = data, folder
        self.root = _root_of(data)

    def files(self, ids: Sequence[str]) -> list[tuple[Path, np.ndarray | None]]:
        """The file of each image, and its boxes in shares of width and height where it has some."""
        rows = self.data.samples.rows
        missing = next((sample for sample in ids if sample not in rows), None)
        if missing is not None:
            raise UserError(f"'{self.data.text}' no longer has the image '{missing[:200]}' of the run; bring it back")
        own = [self._own(sample) for sample in ids]
        if all(own):
            return [(file, None) for file in own if file]
        make_folder(self.folder)
        positions = [rows[sample] for sample in ids]
        return [self._written(position, photo) for position, photo in zip(positions, self.data.read(positions))]

    def _own(self, sample: str) -> Path | None:
        """The file that the id of an image names, if it names one; the name of a file may have other bytes than the id."""
        return None if self.root is None or not (self.root / sample).is_file() else self.root / sample

    def _written(self, position: int, photo: Any) -> tuple[Path, np.ndarray | None]:
        from PIL import Image

        if not isinstance(photo, Photo):
            raise UserError(f"'{self.data.samples.ids[position]}' can no longer be read: {photo.reason}")
        place = self.folder / f"{position:07d}.png"
        with writing(place) as file:
            Image.fromarray(photo.image).save(file, "PNG", compress_level=1)
        return place, None if photo.boxes is None else _in_shares(photo.boxes, photo.size)


def _in_shares(boxes: np.ndarray, size: tuple[int, int]) -> np.ndarray:
    height, width = size
    corners = np.clip(np.asarray(boxes, float).reshape(-1, 4) / [width, height, width, height], 0, 1)
    return np.concatenate([corners[:, :2], corners[:, 2:] - corners[:, :2]], 1)


def _root_of(data: Dataset) -> Path | None:
    """The folder whose files the ids of a dataset name; None where they name none of this machine."""
    scheme, _, rest = data.text.partition(":")
    if scheme != "folder":
        return None
    folder = expand_home(rest.partition("?")[0])
    return None if isinstance(folder, RemotePath) else folder.resolve()
