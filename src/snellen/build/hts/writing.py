"""The files of a human testing subset: images, index, counts, rejects and contact sheets."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from snellen.build.clarity import BLURRED, SMALL
from snellen.build.contact_sheet import MOST_TILES, Tile, contact_sheet, thumbnail
from snellen.build.csv_table import table
from snellen.build.destination import Destination
from snellen.build.hts.choosing import Choice
from snellen.build.iruo.settings import class_folders
from snellen.build.png_file import encode_image, encode_mask
from snellen.data.dataset import Dataset, Photo
from snellen.data.names import storable
from snellen.errors import UserError
from snellen.files.spreadsheet import plain_cell

CORNERS = ("x0", "y0", "x1", "y1")
INDEX = ("path", "label", "id", "group", "level", "type", "hidden", "pixels", "sharpness", "source_checksum")
COUNTED = ("class", "level", "type")
REJECT = ("id", "class", "level", "reason", "detail", "pixels", "sharpness")
ACCEPTED_SHEET, REJECTED_SHEET = "contact-sheet-kept.jpg", "contact-sheet-rejected.jpg"


def write_set(to: Destination, data: Dataset, choices: Sequence[Choice]) -> None:
    """Write the images that were chosen and all tables."""
    chosen = sorted((one for one in choices if one.number), key=lambda one: (one.category, one.level, one.number))
    rows: list[dict[str, Any]] = []
    tiles: list[Tile] = []
    for one, photo in _photos(data, chosen):
        rows.append(_write_image(to, data, one, photo))
        if len(tiles) < MOST_TILES:
            tiles.append(_tile(one, photo))
    facts = (*(CORNERS if "boxes" in data.facts else ()), *(("mask",) if "masks" in data.facts else ()))
    to.write("index.csv", table((*INDEX, *facts), rows))
    to.write("ids.txt", "".join(f"{row['id']}\n" for row in rows).encode())
    to.write(ACCEPTED_SHEET, contact_sheet(tiles, f"kept: {len(chosen):,} images, by class and level"))
    _write_rejected_sheet(to, data, choices)
    counts = sorted(Counter(tuple(str(row[name]) for name in ("label", "level", "type")) for row in rows).items())
    listed = ({**dict(zip(COUNTED, key)), "images": count} for key, count in counts)
    to.write("counts.csv", table((*COUNTED, "images"), listed))
    to.write("rejected.csv", table(REJECT, (_reject(data, one) for one in choices if one.reason)))


def _write_rejected_sheet(to: Destination, data: Dataset, choices: Sequence[Choice]) -> None:
    """The images that were not clear, the sharpest and largest first: those that a bound just refused."""
    unclear = [one for one in choices if one.reason in (SMALL, BLURRED)]
    order = sorted(unclear, key=lambda one: (one.reason, -one.measure.sharpness, -one.measure.pixels))
    half = MOST_TILES // 2
    shown = [one for reason in (BLURRED, SMALL) for one in [one for one in order if one.reason == reason][:half]]
    tiles = [_tile(one, photo) for one, photo in _photos(data, shown)]
    to.write(REJECTED_SHEET, contact_sheet(tiles, f"rejected: {len(unclear):,} images, nearest to the bounds first"))


def _photos(data: Dataset, choices: Sequence[Choice]) -> Iterator[tuple[Choice, Photo]]:
    """The photos of some images, read as they are needed."""
    for start in range(0, len(choices), data.chunk):
        part = choices[start : start + data.chunk]
        for one, photo in zip(part, data.read([one.measure.row for one in part])):
            if not isinstance(photo, Photo):
                sample = data.samples.ids[one.measure.row]
                raise UserError(
                    f"{sample} could be read before and no longer can: {photo.reason}; run the command again"
                )
            yield one, photo


def _write_image(to: Destination, data: Dataset, one: Choice, photo: Photo) -> dict[str, Any]:
    """Write an image, and its mask where it has one; its row of the index."""
    name = f"{class_folders(data.classes)[one.category]}_o{one.level}_n{one.number}.png"
    to.write(f"images/{name}", encode_image(photo.image))
    mask = photo.maps.get("mask") if "masks" in data.facts else None
    if mask is not None:
        to.write(f"seg-masks/{name}", encode_mask(np.asarray(mask) != 0))
    columns, row = data.samples.columns, one.measure.row

    def column(*names: str) -> str:
        return next((storable(str(columns[name][row])) for name in names if name in columns), "")

    box = photo.boxes[0] if "boxes" in data.facts and photo.boxes is not None and len(photo.boxes) == 1 else None
    return {
        "path": f"images/{name}",
        "label": storable(one.category),
        **({} if box is None else {corner: f"{value:g}" for corner, value in zip(CORNERS, box)}),
        **({} if mask is None else {"mask": f"seg-masks/{name}"}),
        "id": data.samples.ids[row],
        "group": column("group", "video") or data.samples.ids[row],
        "level": one.level,
        "type": column("type"),
        "hidden": column("hidden"),
        "pixels": one.measure.pixels,
        "sharpness": f"{one.measure.sharpness:.4f}",
        "source_checksum": one.measure.source,
    }


def _tile(one: Choice, photo: Photo) -> Tile:
    known = f"{one.measure.sharpness:.0f}, {one.measure.pixels:,} px"
    return Tile(thumbnail(photo.image), f"{one.category[:12]} level {one.level}\n{known}")


def _reject(data: Dataset, one: Choice) -> dict[str, Any]:
    """For people only."""
    measure = one.measure
    facts = (data.samples.ids[measure.row], one.category, one.level, one.reason, one.detail)
    cells = [plain_cell(storable(cell)) if isinstance(cell, str) else cell for cell in facts]
    return dict(zip(REJECT, (*cells, measure.pixels, f"{measure.sharpness:.4f}")))
