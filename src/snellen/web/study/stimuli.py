"""The pixels that people see: those that models saw, rendered by the engine's own canvas and distortions."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from snellen.audits.exam import YARDSTICK
from snellen.data import load_data, load_stored
from snellen.data.canvas import Canvas
from snellen.data.dataset import Dataset, limited
from snellen.data.occluders import Occluders, read_occluders
from snellen.distort import Distortion, Donors, View, moved, parse, show
from snellen.engine.ask.canvas_pools import Pool, donor_pool
from snellen.engine.ask.slides import slides
from snellen.errors import UserError, option, unknown
from snellen.exam.run import Run, load_run
from snellen.lazy_torch import torch
from snellen.models.card import Card
from snellen.web.study.request import StudyRequest

SHARD = 64  # images rendered at once
CLEAN = "none()"


@dataclass(frozen=True)
class ShownImage:
    """One image under one distortion: pixels uint8 [H, W, 3] and the object's mask bool [H, W], where that is known."""

    row: int
    pixels: np.ndarray
    mask: np.ndarray | None


@dataclass(frozen=True)
class Stimuli:
    """Images that can be shown: the data, the canvas, the distortions with their seeds, and what these may know.

    `checksums` are those of the images that a run saw, by sample; an image that has changed since is refused.
    """

    data: Dataset
    canvas: Canvas
    distortions: tuple[tuple[str, int], ...]
    fill: tuple[float, float, float] | None
    donors: Dataset | None
    occluders: Occluders | None
    checksums: dict[str, str] = field(default_factory=dict)
    run: Run | None = None
    model: str = ""

    def show(self, rows: Sequence[int], text: str, seed: int) -> Iterator[ShownImage]:
        """The images of some rows of the data under a distortion, in turn; one that cannot be read is refused by name."""
        distortion = parse(text)
        part = self.data.at(np.asarray(rows, np.int64))
        pool = self._donors(distortion)
        ranges = [range(start, min(start + SHARD, len(rows))) for start in range(0, len(rows), SHARD)]
        for slide in slides(part, ranges, [self.canvas], threads=2):
            self._check(part, slide.positions, slide.errors, slide.checksums)
            images = slide.images[self.canvas]
            masks = slide.masks.get(self.canvas)
            view = View(
                keys=slide.keys,
                seed=seed,
                device=images.device,
                labels=part.samples.labels[slide.positions.start : slide.positions.stop],
                masks=masks,
                boxes=slide.boxes.get(self.canvas),
                mean=self.fill,
                donors=pool,
                occluders=self.occluders,
            )
            pixels, _ = show(distortion, images, view)
            objects = None if masks is None else moved(distortion, masks, view).cpu().numpy()
            arrays = pixels.permute(0, 2, 3, 1).cpu().numpy()
            for place, position in enumerate(slide.positions):
                yield ShownImage(int(rows[position]), arrays[place], None if objects is None else objects[place])

    def _donors(self, distortion: Distortion) -> Donors | None:
        if "donors" not in distortion.needs:
            return None
        pool = Pool(self.canvas, distortion.whole_pool)
        return donor_pool(self.donors or self.data, pool, torch.device("cpu"), self.data.classes)

    def _check(self, part: Dataset, positions: range, errors: Sequence[str], checksums: Sequence[str]) -> None:
        for position, error, checksum in zip(positions, errors, checksums):
            sample = part.samples.ids[position]
            if error:
                raise UserError(
                    f"image '{sample}' of {self.data.text} cannot be shown: {error}; leave it out, for example by ?ids="
                )
            if self.checksums.get(sample, checksum) != checksum:
                raise UserError(
                    f"image '{sample}' of {self.data.text} is not the one that the run saw; audit the data again"
                )


def stimuli_of(request: StudyRequest) -> Stimuli:
    """What the source of a study can show: of a run what its model saw, of data what the settings say."""
    stimuli = _of_run(request, load_run(request.source)) if os.path.isdir(request.source) else _of_data(request)
    for text, _ in stimuli.distortions:
        needs = parse(text).needs
        if "saliency" in needs:
            raise UserError(f"{text} needs the maps of a model, which people have not; leave it out")
        if "masks" in needs and "masks" not in stimuli.data.facts:
            raise UserError(f"{text} needs masks, which {stimuli.data.text} has not; leave it out")
        if "occluders" in needs and stimuli.occluders is None:
            raise UserError(f"{text} needs cut-outs; give {option('occluders')}")
    return limited_stimuli(stimuli, request.limit)


def limited_stimuli(stimuli: Stimuli, limit: int | None) -> Stimuli:
    """The same with at most so many images."""
    return replace(stimuli, data=limited(stimuli.data, limit))


def _of_data(request: StudyRequest) -> Stimuli:
    data = load_data(request.source)
    if request.size is not None:
        canvas = Canvas(request.size, request.size, "crop", request.size)
    elif data.size is not None:
        canvas = Canvas(*data.size, "native")
    else:
        raise UserError(f"the photos of {data.text} have no size in common; give {option('size')}, such as 224")
    texts = dict.fromkeys(str(parse(text)) for text in request.distortions or (CLEAN,))
    return Stimuli(
        data=data,
        canvas=canvas,
        distortions=tuple((text, request.seed) for text in texts),
        fill=Card("", "", "").fill,
        donors=load_data(request.donors) if request.donors else None,
        occluders=read_occluders(request.occluders) if request.occluders else None,
    )


def _of_run(request: StudyRequest, run: Run) -> Stimuli:
    facts = run.facts
    name = request.model or next(iter(facts["asked"]))
    if name not in facts["models"]:
        raise unknown("model", name, list(facts["models"]))
    card = Card.from_json(next(iter(facts["models"][name].values())), run.path)
    if request.size is not None:
        raise UserError(f"{option('size')} is that of the run's model '{name}'; leave it out, or give the data instead")
    data = load_stored(facts["data"]["test"]["text"])
    if card.canvas is None and data.size is None:
        raise UserError(f"model '{name}' has no image size of its own; choose another {option('model')}")
    donors, stored = request.donors, (facts.get("donors") or {}).get("text")
    occluders = request.occluders or (facts.get("occluders") or {}).get("text")
    samples = run.sql("select sample, checksum from samples where \"on\" = 'test'")
    return Stimuli(
        data=data,
        canvas=card.canvas or Canvas(*(data.size or (0, 0)), "native"),
        distortions=_of_cells(request, run, name),
        fill=card.fill,
        donors=load_data(donors) if donors else load_stored(stored) if stored else None,
        occluders=read_occluders(occluders) if occluders else None,
        checksums=dict(zip(samples["sample"], samples["checksum"])),
        run=run,
        model=name,
    )


def _of_cells(request: StudyRequest, run: Run, model: str) -> tuple[tuple[str, int], ...]:
    """The distortions, with their seeds, under which a model of the run was asked, or those of them that were wanted."""
    cells = [cell for cell in run.store.cells() if cell["model"] == model and cell["on"] == "test"]
    pairs = dict.fromkeys((str(cell["distortion"]), int(cell["seed"])) for cell in cells)
    known = [(text, seed) for text, seed in pairs if _can_render(text)]
    if not request.distortions:
        return tuple(known)
    wanted = [str(parse(text)) for text in request.distortions]
    for text in wanted:
        if text not in {name for name, _ in known}:
            others = ", ".join(dict.fromkeys(name for name, _ in known)) or "no distortion"
            raise UserError(f"model '{model}' of {run.path} did not see {text}; give {others}, or the data instead")
    return tuple((text, seed) for text, seed in known if text in wanted)


def _can_render(text: str) -> bool:
    """Whether a cell is a distortion whose pixels follow from the image, and not the yardstick of interference; trials and
    searches are no distortions, and maps are the models' own."""
    try:
        return text != str(YARDSTICK) and "saliency" not in parse(text).needs
    except UserError:
        return False
