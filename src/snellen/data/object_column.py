"""Columns of objects as Hugging Face's datasets have them: for each image boxes and their categories."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from snellen.data.boxed_images import BoxedImage
from snellen.data.listing_table import FARTHEST
from snellen.errors import UserError

FORMS = ("xywh", "xyxy")  # of a box: x, y, width, height, as COCO's, or two corners, the second exclusive
BOXES, CATEGORIES = ("bbox", "bboxes", "boxes", "box"), ("category", "categories", "label", "labels", "category_id")


def object_images(cells: Sequence[Any], form: str, names: Sequence[str] | None, where: str) -> list[BoxedImage]:
    """An image for each cell, which has no id or content yet; numbers of categories without names are their own names."""
    return [_image(cell, form, names, f"{where}, row {row + 1}") for row, cell in enumerate(cells)]


def _image(cell: Any, form: str, names: Sequence[str] | None, where: str) -> BoxedImage:
    boxes, categories = _parts(cell, where)
    if not len(boxes):
        return BoxedImage("", None, annotated=False)
    try:
        corners = np.array(boxes, np.float64).reshape(len(boxes), 4)
    except (TypeError, ValueError):
        raise UserError(f"{where}: expected boxes of four numbers, got {str(boxes)[:60]}") from None
    if form == "xywh":
        corners[:, 2:] += corners[:, :2]
    if not (np.abs(corners) <= FARTHEST).all():
        raise UserError(f"{where}: its boxes reach too far, or are no numbers: {str(boxes)[:60]}")
    if len(categories) != len(boxes):
        raise UserError(f"{where} has {len(boxes)} boxes and {len(categories)} categories; expected one for each box")
    turned = (corners[:, 2:] < corners[:, :2]).any()
    problem = (
        f"a box ends before it begins: {str(boxes)[:60]}; are they ?boxes={FORMS[form == FORMS[0]]}?" if turned else ""
    )
    return BoxedImage(
        "", None, tuple(_name(category, names, where) for category in categories), corners, problem=problem
    )


def _parts(cell: Any, where: str) -> tuple[list[Any], list[Any]]:
    """The boxes and categories of a struct of lists, or of a list of structs."""
    if cell is None or cell == []:
        return [], []
    rows = cell if isinstance(cell, list) else [cell]
    if not all(isinstance(row, Mapping) for row in rows):
        raise UserError(f"{where}: expected a struct with 'bbox' and 'category', got {str(cell)[:60]}")
    box, category = (next((name for name in known if name in rows[0]), None) for known in (BOXES, CATEGORIES))
    if box is None or category is None:
        lacking = f"'{BOXES[0]}'" if box is None else f"'{CATEGORIES[0]}'"
        raise UserError(f"{where} has no {lacking}; it has: {', '.join(map(str, rows[0]))}")
    if isinstance(cell, list):
        return [row[box] for row in rows], [row[category] for row in rows]
    return cell[box] or [], cell[category] or []


def _name(category: Any, names: Sequence[str] | None, where: str) -> str:
    if names is None or isinstance(category, str):
        return str(category)
    if not isinstance(category, int) or not 0 <= category < len(names):
        raise UserError(f"{where} has the category {str(category)[:60]}, which is none of the {len(names)} classes")
    return names[category]
