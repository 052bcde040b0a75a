"""What reads the files of a folder wholly, as a command or a call in Python would; one function per reader."""

from __future__ import annotations

import contextlib
import io
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np

from .corpus import AUDITS, DATA, PUBLISHED

CORPUS = "HOSTILE_CORPUS"  # names the folder of undamaged files


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


def members(name: str) -> Callable[[Path], object]:
    def read(folder: Path) -> object:
        from snellen.data import load_data

        data = load_data(f"arrays:{corpus()}/arrays/stored.npz?classes={folder}/{name}")
        return data.classes, data.samples.labels

    return read


def occluders(folder: Path) -> object:
    from snellen.data.occluders import read_occluders

    return read_occluders(folder).reach(32, 32)


def people(folder: Path) -> object:
    from snellen.data.people import read_people

    answers = read_people(str(folder / "people.csv"))
    return len(answers), answers.observer, answers.hit


def predictions(folder: Path, file: str = "predictions.csv") -> object:
    import snellen

    run = snellen.audit(f"m=predictions:{folder}/{file}", DATA, ["interference([shuffle(2)])"], quiet=True)
    try:
        return run.findings(), run.predictions()
    finally:
        run.remove()  # type: ignore[attr-defined]


def exported_predictions(folder: Path) -> object:
    return predictions(folder, "exported.parquet#model=shape")


def label_map(name: str) -> Callable[[Path], object]:
    def read(folder: Path) -> object:
        import torch

        from snellen.models.label_file import read_label_map

        known = ("tabby", "house, home", "dog")
        label_map = read_label_map(folder / name, known, ("cat", "dog"))
        return label_map.read(torch.full((2, 3), 1 / 3), torch.tensor([0, 1])), label_map.fingerprint

    return read


def synonyms(folder: Path) -> object:
    from snellen.exam.matching import read_stated

    return read_stated(folder / "synonyms.json", ("cat", "dog"))


def confusions(folder: Path) -> object:
    from snellen.models.chat.options import offer_of

    names = ("cat", "dog", "cow", "car")
    return offer_of(2, folder / "confusions.csv", names, names)


def tokens(folder: Path) -> object:
    from snellen.engine.keep.request_tally import tokens_used

    return tokens_used(folder / "tokens", "http://h/v1")


def answer(name: str, task: Any) -> Callable[[Path], object]:
    """Reads what a web service answered for two images of 3x3 pixels, as a model of the task does."""

    def read(folder: Path) -> object:
        from snellen.files import read_bytes
        from snellen.models.remote.protocol import read_answer
        from snellen.models.tasks import READERS

        shape = (2, 3, 3)
        answers, classes = read_answer(read_bytes(folder / name), shape, task, str(folder / name))
        return READERS[task](answers, shape, str(folder / name)), classes

    return read


def completion(folder: Path) -> object:
    """Reads a chat completion and the class that it names, with how likely that was."""
    from snellen.files import read_bytes
    from snellen.models.chat.question import ChatQuestion
    from snellen.models.chat.reading import read_reply
    from snellen.models.chat.vocabulary import vocabulary_of
    from snellen.models.chat.wire import read_completion

    answer = read_completion(read_bytes(folder / "completion.json"), str(folder / "completion.json"))
    reading = read_reply(answer.reply, ChatQuestion(""), vocabulary_of(["cat", "dog"], {}))
    return reading, answer.probability(reading.start, reading.stop), answer.alternatives(reading.start, reading.stop)


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
        side = min(model.card.canvas.height, 512) if model.card.canvas else 16
        return cards, model.card.to_json(), model.predict(torch.zeros((2, 3, side, side), dtype=torch.uint8))

    return read


def usual(folder: Path) -> object:
    """Statistics that do not fit are estimated again, so none is an answer."""
    from snellen.explain.statistics import read_statistics

    return read_statistics(folder / "usual.safetensors")


def training_start(folder: Path) -> object:
    from snellen.models.zoo import build
    from snellen.train.init_from import Start

    start = Start.of(folder / "net.safetensors")
    return start.statistics, start.into(build("smallnet", 3), ("a", "b", "c"))


def card_memory(folder: Path) -> object:
    from snellen.models.card_memory import recall_card
    from snellen.models.text import parse_text

    with patch.dict(os.environ, SNELLEN_HOME=str(folder)):
        card = recall_card(parse_text(PUBLISHED))
    return None if card is None else (card.to_json(), card.fill, str(card.canvas), hash(card.classes))


def tuples(folder: Path) -> object:
    from snellen.train.shift.tuple_set import fingerprint_of, pool_of, read_tuples

    stored = read_tuples(folder / "esda.transformations.json")
    return fingerprint_of(stored), pool_of(stored, "merge")


def concept_labels(folder: Path) -> object:
    from snellen.concepts.label_folder import read_label_folder

    labels = read_label_folder(str(folder))
    labels.check([f"{number}.jpg" for number in range(6)])
    return labels.concepts, labels.fingerprint, [str(labels.read(f"{number}.jpg")) for number in range(6)]


def survey_checkpoint(folder: Path) -> object:
    from snellen.engine.keep.survey_checkpoint import Checkpoint

    return Checkpoint(folder / "checkpoint.npz").read()


def grid(folder: Path) -> object:
    from snellen.train.grid import read_grid
    from snellen.train.recipe import Recipe

    return [Recipe.checked({name: one}) for name, values in read_grid(folder / "grid.yaml").items() for one in values]


def space(folder: Path) -> object:
    from snellen.search import space

    return space(folder / "space.yaml").outline()


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


REQUIRED = ("no_worse(accuracy)", "change(occluded_accuracy) >= 0", "no_worse(cut_occlusion)")


def checked(folder: Path) -> object:
    """A damaged run beside the undamaged one."""
    import snellen

    return snellen.gate(folder, corpus() / "run", REQUIRED, report=False)


def baseline(folder: Path) -> object:
    """The undamaged run beside a damaged baseline file."""
    import snellen

    return snellen.gate(corpus() / "run", folder / "base.json", REQUIRED, report=False)


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


def mended(folder: Path) -> object:
    from snellen.build.in9.curation import read_curation

    return read_curation(folder / "mended.csv")


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


def explained(folder: Path) -> object:
    from snellen.explain import explain_images
    from snellen.models import load_model

    model = load_model(str(corpus() / "weights" / "net.safetensors"), "cpu")
    pictures = [file for file in sorted(folder.rglob("*")) if file.parent != folder and not file.is_dir()]
    return explain_images(model, pictures[:3], out=folder / "out")
