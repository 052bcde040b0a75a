"""The gallery of faithfulness: images with high and low areas, their maps, and what is left of them on the way."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from snellen.audits.deletion_curves import CurveFacts, DeletionDifferenceFacts, DeletionFacts, hidden_pixels
from snellen.audits.stored_finding import StoredFinding
from snellen.explain.overlays import overlay
from snellen.report.blocks import Answer, Block, Gallery, Group, Picture, Row, TableCell, bold, heads, lead
from snellen.report.map_pictures import MapPictures, jpeg_address, resized
from snellen.report.results import Results
from snellen.report.words import count_of, index, is_known

SIDE = 116  # pixels of a picture on the page
EACH = 2  # images with the highest and with the lowest area
STAGES = (0.5, 0.75, 0.9)  # shares of the tiles that are deleted
Areas = Mapping[tuple[str, str], float]
Area = StoredFinding[CurveFacts]
Difference = StoredFinding[DeletionDifferenceFacts]


def stage_blocks(deletions: Sequence[Area], differences: Sequence[Difference], results: Results) -> list[Block]:
    """The images, a row per model: the image, its map and what is left at some stages; nothing where none is stored, or for
    findings without examples."""
    areas = areas_by_image(deletions, differences)
    samples = extreme_samples(areas)
    if not samples:
        return []
    pictures = MapPictures.of(results, samples)
    rows: list[Row | Group] = []
    for sample in samples:
        own = [finding for finding in deletions if (finding.model, sample) in areas]
        by_model = [row for finding in own if (row := _row(pictures, finding, sample, areas)) is not None]
        if by_model:
            known = [areas[finding.model, sample] for finding in own]
            mean = f"area {index(sum(known) / len(known))}" + (", mean of the models" if len(known) > 1 else "")
            rows += [Group(f"{pictures.label(sample) or sample}: {mean}"), *by_model]
    if not rows:
        return []
    repeated = "; of several runs the first" if results.repeated else ""
    return [
        lead(
            bold("What is left when the least relevant goes first: "),
            f"{count_of(len(samples), 'image')} with the highest and the lowest areas, each model by its own map{repeated}. "
            "Hidden tiles are drawn in the image’s mean colour. Where a map is faithful, what is left at 90% is what the model "
            "needs.",
        ),
        Gallery(
            heads("", "image", "map", *(f"{share:.0%} deleted" for share in STAGES)),
            tuple(rows),
            side=SIDE,
        ),
    ]


def areas_by_image(deletions: Sequence[Area], differences: Sequence[Difference]) -> dict[tuple[str, str], float]:
    """(model, sample) → its area: of one model its examples, of several those of all, as far as all are known."""
    examples = {
        (finding.model, example.sample): example.area
        for finding in deletions
        if isinstance(finding.facts, DeletionFacts)
        for example in finding.facts.examples
    }
    compared = {
        (model, sample): area
        for finding in differences
        for model, areas in finding.facts.areas.items()
        for sample, area in areas.items()
    }
    return {place: area for place, area in (examples | compared).items() if is_known(area)}


def extreme_samples(areas: Areas) -> list[str]:
    """The samples with the highest mean area over the models, then those with the lowest; of those that most models have."""
    by_sample: dict[str, list[float]] = {}
    for (_, sample), area in areas.items():
        by_sample.setdefault(sample, []).append(area)
    most = max(map(len, by_sample.values()), default=0)
    means = {sample: sum(values) / most for sample, values in by_sample.items() if len(values) == most}
    ordered = sorted(means, key=lambda sample: -means[sample])
    return ordered if len(ordered) <= 2 * EACH else [*ordered[:EACH], *ordered[-EACH:]]


def _row(pictures: MapPictures, finding: Area, sample: str, areas: Areas) -> Row | None:
    model, facts = finding.model, finding.facts
    pixels, heat = pictures.pixels(model, sample), pictures.heat(model, sample, facts.method, facts.layer)
    if pixels is None or heat is None:
        return None
    label = pictures.label(sample)
    answer = pictures.answer(model, sample, label)
    size = pixels.shape[1], pixels.shape[0]
    area = Answer(f"area {index(areas[model, sample])}")
    looks = [
        Picture(jpeg_address(pixels), f"{label}: the image", () if answer is None else (answer,)),
        Picture(jpeg_address(overlay(pixels, resized(heat, size))), f"where {model} looks", (area,)),
        *(
            Picture(jpeg_address(_stage(pixels, heat, sample, facts, share)), f"{share:.0%} deleted")
            for share in STAGES
        ),
    ]
    return Row(TableCell(model), tuple(looks))


def _stage(pixels: np.ndarray, heat: np.ndarray, sample: str, facts: CurveFacts, share: float) -> np.ndarray:
    """The picture with what is hidden at a stage in its mean colour."""
    hidden = hidden_pixels(heat, sample, share, facts.tile, facts.grid, facts.seed)
    down, across = (np.arange(long) * short // long for long, short in zip(pixels.shape, hidden.shape))
    enlarged = hidden[down[:, None], across]
    return np.where(enlarged[:, :, None], pixels.mean((0, 1)).round().astype(np.uint8), pixels)
