"""What was not taken into a set, and why: counts, and some pictures for each reason."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence

import numpy as np
from PIL import Image, ImageDraw

from snellen.build.destination import Destination
from snellen.build.in9.grouping import rank
from snellen.build.in9.pool import In9Verdict
from snellen.data.dataset import Dataset, Photo, Unreadable

PAGE = "rejections.md"
PICTURED = 24
SIDE, ACROSS, GAP = 96, 8, 4


def write_rejections(
    to: Destination, data: Dataset, verdicts: Sequence[In9Verdict], counts: Mapping[str, int], judged: int, others: int
) -> None:
    """Write rejections.md, and a contact sheet of up to 24 images for each reason that images can be shown for."""
    taken = judged - sum(counts.values())
    lines = [
        "# What was not taken",
        "",
        f"{judged:,} images judged, {taken:,} taken; {others:,} more are of no class of this set.",
        "",
        "| reason | images | share |",
        "|---|---:|---:|",
        *(f"| {reason} | {count:,} | {count / judged:.1%} |" for reason, count in _by_count(counts)),
        "",
    ]
    for reason, count in _by_count(counts):
        some = sorted((v for v in verdicts if v.reason == reason), key=lambda v: rank(0, "picture", v.name))[:PICTURED]
        sheet = contact_sheet([photo for (photo,) in (data.read([data.samples.rows[v.source]]) for v in some)])
        lines += [f"## {reason}: {count:,}", "", f"For example `{some[0].source}`: {some[0].detail or reason}.", ""]
        if sheet is not None:
            file = f"rejections/{reason.replace(' ', '-')}.png"
            to.write(file, sheet)
            lines += [f"![{reason}]({file})", ""]
    to.write(PAGE, "\n".join(lines).encode())


def contact_sheet(photos: Sequence[Photo | Unreadable]) -> bytes | None:
    """A PNG of small pictures with their boxes; None where not one can be shown."""
    pictures = [_small(photo) for photo in photos if isinstance(photo, Photo)]
    if not pictures:
        return None
    rows = -(-len(pictures) // ACROSS)
    across = min(len(pictures), ACROSS)
    sheet = Image.new("RGB", (across * (SIDE + GAP) - GAP, rows * (SIDE + GAP) - GAP), "white")
    for number, picture in enumerate(pictures):
        left, top = number % ACROSS * (SIDE + GAP), number // ACROSS * (SIDE + GAP)
        sheet.paste(picture, (left + (SIDE - picture.width) // 2, top + (SIDE - picture.height) // 2))
    content = io.BytesIO()
    sheet.save(content, "PNG")
    return content.getvalue()


def _small(photo: Photo) -> Image.Image:
    picture = Image.fromarray(photo.image)
    ratio = SIDE / max(picture.size)
    size = tuple(max(1, round(side * ratio)) for side in picture.size)
    picture = picture.resize((size[0], size[1]), Image.Resampling.BILINEAR)
    for box in [] if photo.boxes is None else photo.boxes:
        x0, y0, x1, y1 = (float(v) for v in np.clip(box * ratio, 0, [*picture.size] * 2))
        if x1 > x0 and y1 > y0:
            ImageDraw.Draw(picture).rectangle([x0, y0, x1 - 1, y1 - 1] if min(x1 - x0, y1 - y0) > 1 else [x0, y0, x1, y1],
                                              outline="red")  # fmt: skip
    return picture


def _by_count(counts: Mapping[str, int]) -> list[tuple[str, int]]:
    return sorted(counts.items(), key=lambda item: (-item[1], item[0]))
