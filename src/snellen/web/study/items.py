"""The items of a recognition study: every image under every distortion, and clean ones kept apart for practice and catch."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
import numpy as np

from snellen.data.dataset import Dataset
from snellen.errors import UserError, option
from snellen.web.pictures import plain_png
from snellen.web.study.folder import Item, Kind, write_mask, write_picture
from snellen.web.study.request import StudyRequest
from snellen.web.study.stimuli import CLEAN, ShownImage, Stimuli

_SOURCES = ("source", "instance", "group", "video", "clip")  # columns that say what images have in common
_ALWAYS = ("source", "instance")  # of these a person sees each value once, also where another column is wanted


def recognition_items(request: StudyRequest, stimuli: Stimuli) -> list[Item]:
    """The items, whose pictures and masks are written to the folder of the request."""
    data = stimuli.data
    sources, levels = sources_of(data, request.apart), levels_of(data)
    items: list[Item] = []
    for kind, rows in rows_by_kind(request, data, sources).items():
        for text, seed in stimuli.distortions if kind == "main" else ((CLEAN, 0),):
            for shown in stimuli.show(rows, text, seed) if len(rows) else ():
                number = len(items)
                write_picture(request.out, number, plain_png(shown.pixels))
                if shown.mask is not None:
                    write_mask(request.out, number, plain_png(shown.mask.astype(np.uint8) * 255))
                item = item_of(number, kind, shown, data, (text, seed), sources[shown.row])
                items.append(msgspec.structs.replace(item, level=levels[shown.row] if levels else text))
    return items


def item_of(number: int, kind: Kind, shown: ShownImage, data: Dataset, way: tuple[str, int], source: str) -> Item:
    """An item with one picture; `way` is the distortion and its seed. Its level is its distortion."""
    samples = data.samples
    return Item(
        number=number,
        kind=kind,
        sample=samples.ids[shown.row],
        label=data.classes[samples.labels[shown.row]],
        level=way[0],
        distortion=way[0],
        seed=way[1],
        source=source,
        width=shown.pixels.shape[1],
        height=shown.pixels.shape[0],
        pictures=(number,),
        has_mask=shown.mask is not None,
    )


def levels_of(data: Dataset) -> list[str]:
    """The level of each image; none where all are of one, so that the distortion is what differs."""
    levels = [str(level) for level in data.samples.columns.get("level", ())]
    return levels if len(set(levels)) > 1 else []


def sources_of(data: Dataset, column: str | None) -> list[str]:
    """What each image is a picture of: no person sees the same twice, nor one source or instance, whatever the column."""
    columns = data.samples.columns
    if column is not None and column not in columns:
        raise UserError(f"{data.text} has no column '{column}'; it has: {', '.join(columns) or 'none'}")
    name = column or next((name for name in _SOURCES if name in columns), None)
    if name is None:
        return list(data.samples.ids)
    sources = _values(data, name)
    for other in _ALWAYS:
        if other in columns and other != name:
            sources = _joined(sources, _values(data, other))
    return sources


def _values(data: Dataset, name: str) -> list[str]:
    columns = data.samples.columns
    values = [str(value) for value in columns[name]]
    if name == "instance" and "video" in columns:  # numbered within their video
        values = [f"{video}/{value}" for video, value in zip(columns["video"], values)]
    return [value or f"image {sample}" for value, sample in zip(values, data.samples.ids)]


def _joined(first: Sequence[str], second: Sequence[str]) -> list[str]:
    """Names such that images which are equal in either have the same one, and so have those that are linked by others."""
    above: dict[tuple[int, str], tuple[int, str]] = {}

    def top(node: tuple[int, str]) -> tuple[int, str]:
        while node in above:
            node = above[node]
        return node

    for left, right in zip(first, second):
        end, other = top((0, left)), top((1, right))
        if end != other:
            above[other] = end
    return [top((0, name))[1] for name in first]


def rows_by_kind(request: StudyRequest, data: Dataset, sources: Sequence[str]) -> dict[Kind, list[int]]:
    """The rows of practice, catch and main items: sources are dealt out in the order of a hash, so that none is in two."""
    order = list(dict.fromkeys(sources[row] for row in data.samples.hash_order))
    apart = request.practice + request.catch
    if apart >= len(order):
        counts = f"{request.practice} practice and {request.catch} catch images"
        raise UserError(
            f"{data.text} has {len(order)} sources, and {counts} need one each and leave none; give fewer with "
            f"{option('practice')} and {option('catch')}"
        )
    kinds: dict[str, Kind] = dict.fromkeys(order[: request.practice], "practice")
    kinds |= dict.fromkeys(order[request.practice : apart], "catch")
    rows: dict[Kind, list[int]] = {"practice": [], "catch": [], "main": []}
    for row in data.samples.hash_order.tolist():
        kind = kinds.get(sources[row], "main")
        if kind == "main" or all(sources[other] != sources[row] for other in rows[kind]):
            rows[kind].append(row)  # of practice and catch one image per source
    return rows
