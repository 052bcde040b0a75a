"""Every reader, in one table: which files of the corpus it is given, which of them are damaged, and what reads them wholly."""

from __future__ import annotations

import contextlib
import io
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np

from .corpus import AUDITS, DATA, PUBLISHED, build_set, train_net

CORPUS = "HOSTILE_CORPUS"  # names the folder of undamaged files


@dataclass(frozen=True)
class Reader:
    """`call` reads the files in a folder, copied from `folder` of the corpus; those that match `targets` are damaged.

    `share` is how many inputs it gets for one of the others'; `names` says that files may be found under any name; `writes`
    that it may write beside what it reads.
    """

    folder: str
    targets: tuple[str, ...]
    call: Callable[[Path], object]
    share: float = 1.0
    names: bool = False
    writes: bool = False


class Refused(Exception):
    """A command ended with exit code 2 and these lines."""


class Failed(Exception):
    """A command ended otherwise than with 0, or with 2 and one line."""


def corpus() -> Path:
    return Path(os.environ[CORPUS])


def data(text: str) -> Callable[[Path], object]:
    """Reads a dataset and all its photos; `{}` in the text is the folder."""

    def read(folder: Path) -> object:
        from snellen.data import load_data

        return look_at(load_data(text.format(folder)))

    return read


def look_at(dataset: Any) -> object:
    """All that an audit reads of a dataset: photos on a canvas, keys and columns."""
    from snellen.data import Canvas, Photo, render

    photos = dataset.read(range(len(dataset)))
    canvas = Canvas(8, 8, "crop", 8)
    for photo in photos:
        if isinstance(photo, Photo):
            render(photo, canvas)
    return dataset.samples.keys, dataset.samples.columns, dataset.classes


def audited(text: str) -> Callable[[Path], object]:
    """Audits a dataset with a model that always answers the same: what was let in must be stored and concluded on too."""

    def read(folder: Path) -> object:
        import snellen
        from snellen.data import load_data
        from snellen.models import from_callable

        dataset = load_data(text.format(folder))
        answers = np.full(len(dataset.classes), 1 / len(dataset.classes))
        model = from_callable(
            lambda images: np.tile(answers, (len(images), 1)), classes=list(dataset.classes), size=8, version="1"
        )
        run = snellen.audit(model, dataset, ["interference([shuffle(2)])"], quiet=True)
        try:
            return run.predictions(), run.findings()
        finally:
            run.remove()  # type: ignore[attr-defined]

    return read


def command(*words: str) -> Callable[[Path], object]:
    """Runs a command of ours; it must end with 0, or with 2 and one line."""

    def read(folder: Path) -> object:
        from snellen.cli import main

        out, err = io.StringIO(), io.StringIO()
        code: Any = 0
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            try:
                main([word.format(folder, corpus=corpus()) for word in words])
            except SystemExit as stop:
                code = stop.code
        lines = err.getvalue().strip().splitlines()
        if code == 2 and len(lines) == 1 and lines[0].startswith("error: "):
            raise Refused(lines[0].removeprefix("error: "))
        if code != 0:
            raise Failed(f"exit {code}: {lines[-4:]}")
        return out.getvalue()

    return read


def ids(folder: Path) -> object:
    from snellen.data import load_data

    return load_data(f"arrays:{corpus()}/arrays/stored.npz?ids={folder}/ids.txt").samples.ids


def occluders(folder: Path) -> object:
    from snellen.data.occluders import read_occluders

    return read_occluders(folder).reach(32, 32)


def predictions(folder: Path) -> object:
    import snellen

    run = snellen.audit(f"predictions:{folder}/predictions.csv", DATA, ["interference([shuffle(2)])"], quiet=True)
    try:
        return run.findings(), run.predictions()
    finally:
        run.remove()  # type: ignore[attr-defined]


def label_map(name: str) -> Callable[[Path], object]:
    def read(folder: Path) -> object:
        import torch

        from snellen.models.labels import read_label_map

        known = ("tabby", "house, home", "dog")
        label_map = read_label_map(folder / name, known, ("cat", "dog"))
        return label_map.read(torch.full((2, 3), 1 / 3), torch.tensor([0, 1])), label_map.fingerprint

    return read


def audit_settings(folder: Path) -> object:
    from snellen.exam.request import AuditRequest
    from snellen.settings_file import resolve

    return resolve(AuditRequest, {"models": ("a:b",), "data": "c:d"}, folder / "audit.yaml").chosen()


def recipe(folder: Path) -> object:
    from snellen.train.request import TrainRequest, resolve_training

    values = {"recipe": str(folder / "recipe.yaml"), "data": DATA, "out": str(folder / "out")}
    return resolve_training(TrainRequest, values, None).how


def weights(text: str) -> Callable[[Path], object]:
    """Loads a model and asks it about two images."""

    def read(folder: Path) -> object:
        import torch

        from snellen.models import load_model, subjects_of

        cards = [subject.card for subject in subjects_of(text.format(folder))]
        model = load_model(text.format(folder), "cpu")
        return cards, model.card.to_json(), model.predict(torch.zeros((2, 3, 16, 16), dtype=torch.uint8))

    return read


def training_start(folder: Path) -> object:
    from snellen.models.zoo import build
    from snellen.train.init_from import Start

    start = Start.of(folder / "net.safetensors")
    return start.statistics, start.into(build("smallnet", 3), ("a", "b", "c"))


def training_again(folder: Path) -> object:
    """The same command where a training was stopped."""
    return train_net(folder)


def building_again(folder: Path) -> object:
    return build_set(corpus(), folder)


def card_memory(folder: Path) -> object:
    from snellen.models.card_memory import recall_card
    from snellen.models.text import parse_text

    with patch.dict(os.environ, SNELLEN_HOME=str(folder)):
        card = recall_card(parse_text(PUBLISHED))
    return None if card is None else (card.to_json(), card.fill, str(card.canvas), hash(card.classes))


def grid(folder: Path) -> object:
    from snellen.train.grid import read_grid
    from snellen.train.recipe import Recipe

    return [Recipe.checked({name: one}) for name, values in read_grid(folder / "grid.yaml").items() for one in values]


def stored_tables(folder: Path) -> object:
    from snellen.exam.run import load_run

    run = load_run(folder)
    counts = [run.sql(f"select count(*) from {table}") for table in ("cells", "samples", "shown", "answers", "trials")]
    return run.findings(), run.predictions(), run.facts["models"], counts


def stored_maps(folder: Path) -> object:
    from snellen.exam.run import load_run

    return load_run(folder).maps("net")


def stored_report(folder: Path) -> object:
    from snellen.exam.run import load_run

    run = load_run(folder)
    return run.report(folder / "report.html"), run.report(folder / "report.md"), run.report(folder / "report.json")


def audit_again(folder: Path) -> object:
    """The same command on a damaged folder: repaired, or refused."""
    import snellen

    model = str(corpus() / "weights" / "net.safetensors")
    run = snellen.audit(model, DATA, list(AUDITS), out=folder, quiet=True, keep="top5", report=False)
    return run.findings(), run.predictions()


def sweep(folder: Path) -> object:
    from snellen.report.pages import sweep as pages
    from snellen.sweep.result import load_sweep

    loaded = load_sweep(folder)
    pages.write(loaded.page, folder / "sweep.html")
    return loaded.table(), loaded.wide()


def sweep_again(folder: Path) -> object:
    from snellen.sweep import methods

    model = f"plain={corpus() / 'weights' / 'net.safetensors'}"
    tests = {"mixed_same": DATA, "mixed_rand": f"{DATA}&background_bias=1"}
    return methods([model], tests, folder, html=False).table()


def classes(folder: Path) -> object:
    from snellen.build.in9.grouping import group_classes
    from snellen.data import load_data

    return group_classes(load_data(DATA), folder / "classes.csv")


def curation(folder: Path) -> object:
    from snellen.build.in9.curation import read_curation

    return read_curation(folder / "curation.csv")


def groups(name: str) -> Callable[[Path], object]:
    def read(folder: Path) -> object:
        from snellen.data import load_data
        from snellen.sweep.subclasses import grained, subclasses

        dataset = load_data(DATA)
        return grained(dataset, subclasses(dataset, groups=folder / name), 2)

    return read


def masks(folder: Path) -> object:
    from snellen.build.in9.masks import with_masks
    from snellen.data import load_data

    return look_at(with_masks(load_data(f"voc:{corpus()}/voc"), str(folder)))


def export_again(folder: Path) -> object:
    from snellen.data.phantom import export

    return export("phantom:test?size=16", "folder", folder, limit=6)


def explained(folder: Path) -> object:
    from snellen.explain import explain_images
    from snellen.models import load_model

    model = load_model(str(corpus() / "weights" / "net.safetensors"), "cpu")
    return explain_images(model, sorted((folder / "cat").iterdir())[:3], out=folder / "out")


_IMAGES = ("**/*.png", "**/*.jpg", "**/*.gif", "**/*.tiff", "**/*.webp", "**/*.bmp")
_RUN = (
    *("run.json", "findings.json", "cells.parquet", "*/*/*.json", "thumbs/**/*.png", "settings.yaml"),
    *(f"{table}/**/*.parquet" for table in ("samples", "shown", "answers", "maps", "trials", "things")),
)
_MODEL = "{corpus}/weights/net.safetensors"

READERS: Mapping[str, Reader] = {
    "arrays": Reader("arrays", ("stored.npz",), data("arrays:{}/stored.npz"), 2),
    "arrays, compressed": Reader("arrays", ("packed.npz",), data("arrays:{}/packed.npz"), 2),
    "arrays, audited": Reader("arrays", ("stored.npz",), audited("arrays:{}/stored.npz"), 0.5),
    "manifest": Reader("tables", ("list.csv",), data("manifest:{}/list.csv"), 2),
    "manifest, Parquet": Reader("tables", ("list.parquet",), data("manifest:{}/list.parquet")),
    "manifest, audited": Reader("tables", ("list.*",), audited("manifest:{}/list.csv"), 0.3),
    "manifest, its images": Reader("tables", ("images/*",), data("manifest:{}/list.csv")),
    "boxes": Reader("tables", ("boxes.csv",), data("boxes:{}/boxes.csv"), 2),
    "coco": Reader("coco", ("annotations/*.json",), data("coco:{}/annotations/instances_test.json"), 3),
    "coco, audited": Reader("coco", ("annotations/*.json",), audited("coco:{}/annotations/instances_test.json"), 0.5),
    "voc": Reader("voc", ("Annotations/*.xml",), data("voc:{}"), 2, names=True),
    "voc, masks and split": Reader(
        "voc", ("ImageSets/**/*.txt", "SegmentationObject/*.png"), data("voc:{}?masks=true&split=some"), names=True
    ),
    "in9": Reader("in9", ("*.csv", "*.json", "fg_mask/**/*.npy"), data("in9:{}/mixed_rand"), 2),
    "in9, its images": Reader("in9", ("original/**/*.png",), data("in9:{}/original"), names=True),
    "folder": Reader("photos", _IMAGES, data("folder:{}"), 3, names=True),
    "folder, audited": Reader("photos", _IMAGES, audited("folder:{}"), 0.3, names=True),
    "cue": Reader("cue", ("**/*.png",), data("cue:{}"), names=True),
    "occluders": Reader("occluders", ("*.png", "*.webp"), occluders, names=True),
    "ids": Reader("lists", ("ids.txt",), ids),
    "predictions": Reader("lists", ("predictions.csv",), predictions, 0.7),
    "label map": Reader("lists", ("map.json",), label_map("map.json")),
    "label map, by number": Reader("lists", ("numbers.json",), label_map("numbers.json")),
    "settings": Reader("lists", ("audit.yaml",), audit_settings),
    "recipe": Reader("lists", ("recipe.yaml",), recipe),
    "safetensors": Reader("weights", ("net.safetensors",), weights("{}/net.safetensors"), 2),
    "safetensors, named": Reader("weights", ("net.safetensors",), weights("a=zoo:smallnet@{}/net.safetensors")),
    "pt": Reader("weights", ("bare.pt",), weights("zoo:smallnet@{}/bare.pt")),
    "pt, wrapped": Reader("weights", ("inside.pt",), weights("zoo:smallnet@{}/inside.pt")),
    "training, its start": Reader("weights", ("net.safetensors",), training_start),
    "training, again": Reader("training", ("state/*.pt",), training_again, writes=True),
    "building, again": Reader("building", (".part/.pool/*", ".part/*.json"), building_again, writes=True),
    "card memory": Reader("memory", ("cards/*.json",), card_memory),
    "grid": Reader("lists", ("grid.yaml",), grid),
    "run": Reader("run", _RUN, stored_tables, 1.5, names=True),
    "run, maps": Reader("run", ("maps/**/*", "run.json"), stored_maps, names=True),
    "run, report": Reader("run", _RUN, stored_report, 0.5, names=True, writes=True),
    "run, audited again": Reader("run", _RUN, audit_again, 0.5, names=True, writes=True),
    "sweep": Reader("sweep", ("sweep.json",), sweep, writes=True),
    "sweep, again": Reader("sweep", ("**/*.json", "**/*.parquet", "sweep.json"), sweep_again, 0.2, writes=True),
    "classes": Reader("lists", ("classes.csv",), classes),
    "curation": Reader("lists", ("curation.csv",), curation),
    "groups": Reader("lists", ("groups.json",), groups("groups.json")),
    "groups, CSV": Reader("lists", ("groups.csv",), groups("groups.csv")),
    "masks": Reader("masks", ("*",), masks, names=True),
    "export, again": Reader("export", ("phantom.json",), export_again, 0.5, writes=True),
    "explain": Reader("photos", ("cat/*",), explained, 0.3, names=True, writes=True),
    "command: audit": Reader(
        "coco",
        ("**/*",),
        command("audit", _MODEL, "--data", "coco:{}/annotations/instances_test.json", "--dry-run"),
        0.3,
    ),
    "command: audit, settings": Reader(
        "lists",
        ("audit.yaml",),
        command("audit", _MODEL, "--data", DATA, "--config", "{}/audit.yaml", "--dry-run"),
        0.3,
    ),
    "command: report": Reader("run", _RUN, command("report", "{}"), 0.1, names=True, writes=True),
    "command: sql": Reader("run", ("**/*.parquet",), command("sql", "{}", "select * from answers"), 0.3, names=True),
}
