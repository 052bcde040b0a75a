"""What a plan allows: a request that the data or a model's card rules out is refused before anything is asked or written."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence

from snellen.data.canvas import Canvas
from snellen.data.dataset import Dataset
from snellen.distort import Distortion
from snellen.engine.requests.cell import BoundCell, Cell
from snellen.errors import UserError
from snellen.explain.methods import method_of
from snellen.extras import import_package
from snellen.models.adapters.predictions import lacks_answers, recorded_answers
from snellen.models.subject import Subject


def check_needs(cell: Cell, data: Dataset, pools: Collection[str], subjects: Sequence[Subject]) -> None:
    """Refuse a distortion that needs what neither the data, the pools nor the models can give."""
    for need in sorted(cell.distortion.needs):
        if need == "donors" and need not in pools:
            raise UserError(
                f"{cell.distortion} needs a donor pool; pass --donors DATA, for example --donors phantom:train"
            )
        if need == "occluders" and need not in pools:
            raise UserError(
                f"{cell.distortion} needs cut-outs; pass --occluders DIR, a folder of PNGs with transparency"
            )
        if need == "boxes" and "masks" in data.facts:
            continue  # a mask has a box around it
        if need in ("masks", "boxes") and need not in data.facts:
            raise UserError(
                f"{cell.distortion} needs the objects' {need}, which {data.text} does not have; "
                f"leave it out, or use data with {need}"
            )
    distortion = cell.distortion
    if isinstance(distortion, Distortion):
        for package, use in distortion.packages.items():
            import_package(package, use)
    if (saliency := cell.saliency) is not None:
        masking = isinstance(distortion, Distortion)
        advice = (
            "maskings that need none are occlude, tiles and fourier" if masking else "leave out its audit, or the model"
        )
        check_maps(saliency.method, str(cell.distortion), subjects, advice)


def check_size(distortion: object, canvas: Canvas, data: Dataset) -> None:
    """Refuse a distortion of what a canvas does not have the pixels for."""
    if isinstance(distortion, Distortion):
        try:
            distortion.check_size(canvas.height, canvas.width)
        except ValueError as error:
            size = f"{canvas.height}x{canvas.width}"
            raise UserError(f"{distortion} does not suit {data.text}, shown at {size} pixels: {error}") from None


def check_maps(method: str, request: str, subjects: Sequence[Subject], advice: str) -> None:
    """Refuse a request whose maps cannot be made of one of the models."""
    chosen = method_of(method)
    for subject in subjects:
        if chosen.support and not subject.card.support:
            raise UserError(
                f"{request} needs an observer whose support is known, which '{subject.name}' is not; {advice}"
            )
        if chosen.gradients and not subject.card.gradients:
            raise UserError(
                f"{request} needs the gradients of a torch network, which '{subject.name}' is not; {advice}"
            )
        if not subject.card.live:
            raise UserError(f"{request} needs maps, and '{subject.name}' holds only recorded answers; {advice}")


def check_layers(request: str, subjects: Sequence[Subject]) -> None:
    """Refuse a request that looks into models which are no torch networks."""
    for subject in subjects:
        if not subject.card.gradients:
            raise UserError(
                f"{request} looks into the layers of a torch network, which '{subject.name}' is not; leave out that audit, or "
                "the model"
            )


def check_trials(trials: Iterable[BoundCell]) -> None:
    """Refuse trials of models that cannot be shown new images."""
    for bound in trials:
        if not bound.subject.card.live:
            raise UserError(
                f"{bound.cell.distortion} asks as it goes, which '{bound.subject.name}', a file of recorded answers, cannot "
                "follow; leave that audit out"
            )


def unanswered(bound: BoundCell) -> bool:
    """Whether a cell is put to recorded answers that have none under its distortion and seed."""
    subject = bound.subject
    return not subject.card.live and lacks_answers(subject.model(), str(bound.distortion), bound.seed, bound.on)


def check_recorded(cells: Iterable[BoundCell], data: Mapping[str, Dataset]) -> None:
    """Refuse cells that are still to be asked and that recorded answers do not answer for every sample."""
    for bound in cells:
        if not bound.subject.card.live:
            dataset = data[bound.on]
            recorded_answers(
                bound.subject.model(), str(bound.distortion), bound.seed, dataset.samples.ids, dataset.classes, bound.on
            )
