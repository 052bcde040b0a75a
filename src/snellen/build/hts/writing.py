"""The files of a human testing subset: images, index, counts, rejects and contact sheets."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from snellen.build.clarity import BLURRED, SMALL
from snellen.build.class_folders import class_folders
from snellen.build.contact_sheet import MOST_TILES, Tile, contact_sheet, thumbnail
from snellen.build.destination import Destination
from snellen.build.encode import encode_image, encode_mask, table
from snellen.build.hts.choosing import HtsChoice
from snellen.data.dataset import Dataset, Photo
from snellen.data.names import storable
from snellen.errors import UserError
from snellen.files.spreadsheet import plain_cell

CORNERS = ("x0", "y0", "x1", "y1")
INDEX = ("path", "label", "id", "group", "level", "type", "hidden", "pixels", "sharpness", "source_checksum")
BY_BAND = ("band", "distortion", "seed", "source")  # what else is known of images that were chosen by band
COUNTED = ("class", "level", "type")
REJECT = ("id", "class", "level", "reason", "detail", "pixels", "sharpness")
ACCEPTED_SHEET, REJECTED_SHEET = "contact-sheet-kept.jpg", "contact-sheet-rejected.jpg"


def write_set(to: Destination, data: Dataset, choices: Sequence[HtsChoice]) -> None:
    """Write the images that were chosen and all tables."""
    chosen = sorted(
        (choice for choice in choices if choice.number),
        key=lambda choice: (choice.category, choice.type, choice.band, choice.level, choice.number),
    )
    rows: list[dict[str, Any]] = []
    tiles: list[Tile] = []
    for choice, photo in _photos(data, chosen):
        rows.append(_write_image(to, data, choice, photo))
        if len(tiles) < MOST_TILES:
            tiles.append(_tile(choice, photo))
    facts = (*(CORNERS if "boxes" in data.facts else ()), *(("mask",) if "masks" in data.facts else ()))
    by_band = any(choice.band for choice in chosen)
    to.write("index.csv", table((*INDEX, *(BY_BAND if by_band else ()), *facts), rows))
    to.write("ids.txt", "".join(f"{row['id']}\n" for row in rows).encode())
    order = "class, type and band" if by_band else "class and level"
    to.write(ACCEPTED_SHEET, contact_sheet(tiles, f"kept: {len(chosen):,} images, by {order}"))
    _write_rejected_sheet(to, data, choices)
    counted = (*COUNTED, "band") if by_band else COUNTED
    named = [tuple(str(row["label" if name == "class" else name]) for name in counted) for row in rows]
    listed = ({**dict(zip(counted, key)), "images": count} for key, count in sorted(Counter(named).items()))
    to.write("counts.csv", table((*counted, "images"), listed))
    to.write("rejected.csv", table(REJECT, (_reject(data, choice) for choice in choices if choice.reason)))


def _write_rejected_sheet(to: Destination, data: Dataset, choices: Sequence[HtsChoice]) -> None:
    """The images that were not clear, the sharpest and largest first: those that a bound just refused."""
    unclear = [choice for choice in choices if choice.reason in (SMALL, BLURRED)]
    order = sorted(unclear, key=lambda choice: (choice.reason, -choice.measure.sharpness, -choice.measure.pixels))
    half = MOST_TILES // 2
    shown = [
        choice
        for reason in (BLURRED, SMALL)
        for choice in [choice for choice in order if choice.reason == reason][:half]
    ]
    tiles = [_tile(choice, photo) for choice, photo in _photos(data, shown)]
    to.write(REJECTED_SHEET, contact_sheet(tiles, f"rejected: {len(unclear):,} images, nearest to the bounds first"))


def _photos(data: Dataset, choices: Sequence[HtsChoice]) -> Iterator[tuple[HtsChoice, Photo]]:
    """The photos of some images, read as they are needed."""
    for start in range(0, len(choices), data.chunk):
        part = choices[start : start + data.chunk]
        for choice, photo in zip(part, data.read([choice.measure.row for choice in part])):
            if not isinstance(photo, Photo):
                sample = data.samples.ids[choice.measure.row]
                raise UserError(f"{sample} could be read before and no longer can: {photo.reason}; do the same again")
            if photo.checksum != choice.measure.source:
                sample = data.samples.ids[choice.measure.row]
                raise UserError(f"{sample} has changed since it was measured; do the same again")
            yield choice, photo


def _write_image(to: Destination, data: Dataset, choice: HtsChoice, photo: Photo) -> dict[str, Any]:
    """Write an image, and its mask where it has one; its row of the index."""
    name = f"{class_folders(data.classes)[choice.category]}_{_place_in_name(choice)}_n{choice.number}.png"
    to.write(f"images/{name}", encode_image(photo.image))
    mask = photo.maps.get("mask") if "masks" in data.facts else None
    if mask is not None:
        to.write(f"seg-masks/{name}", encode_mask(np.asarray(mask) != 0))
    columns, row = data.samples.columns, choice.measure.row

    def column(*names: str) -> str:
        return next((storable(str(columns[name][row])) for name in names if name in columns), "")

    box = photo.boxes[0] if "boxes" in data.facts and photo.boxes is not None and len(photo.boxes) == 1 else None
    return {
        "path": f"images/{name}",
        "label": storable(choice.category),
        **({} if box is None else {corner: f"{value:g}" for corner, value in zip(CORNERS, box)}),
        **({} if mask is None else {"mask": f"seg-masks/{name}"}),
        "id": data.samples.ids[row],
        "group": column("group", "video") or data.samples.ids[row],
        "level": choice.level,
        "type": column("type"),
        "hidden": column("hidden"),
        **({name: column(name) for name in BY_BAND} if choice.band else {}),
        "pixels": choice.measure.pixels,
        "sharpness": f"{choice.measure.sharpness:.4f}",
        "source_checksum": choice.measure.source,
    }


def _place_in_name(choice: HtsChoice) -> str:
    """The level, or the type and band, in the name of a file: o2, solid_10-30."""
    if not choice.band:
        return f"o{choice.level}"
    return "_".join(re.sub(r"[^A-Za-z0-9]+", "-", text).strip("-") for text in (choice.type, choice.band))


def _tile(choice: HtsChoice, photo: Photo) -> Tile:
    known = f"{choice.measure.sharpness:.0f}, {choice.measure.pixels:,} px"
    place = f"{choice.type} {choice.band}" if choice.band else f"level {choice.level}"
    return Tile(thumbnail(photo.image), f"{choice.category[:12]} {place}\n{known}")


def _reject(data: Dataset, choice: HtsChoice) -> dict[str, Any]:
    """For people only."""
    measure = choice.measure
    facts = (data.samples.ids[measure.row], choice.category, choice.level, choice.reason, choice.detail)
    cells = [plain_cell(storable(cell)) if isinstance(cell, str) else cell for cell in facts]
    return dict(zip(REJECT, (*cells, measure.pixels, f"{measure.sharpness:.4f}")))
