"""The visible things of an image, as annotations have them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from snellen.data.phantom.listing import levels
from snellen.data.phantom.paint import tight_boxes
from snellen.data.phantom.shapes import SHAPES, class_tree
from snellen.data.phantom.textures import TEXTURES
from snellen.data.phantom.truth import Thing, Truth
from snellen.data.segmentation import rle

CLASSES = tuple(SHAPES)


@dataclass(frozen=True)
class Instance:
    """A thing of which at least a pixel is visible.

    `category` is the class it is given, which for the object of an image with a noisy label is not the one shown;
    `box` and `full_box` are x0, y0, x1, y1 in pixels, maximum exclusive, of what is visible and of all of it.
    """

    thing: Thing
    category: int
    box: list[int]
    full_box: list[int]

    @property
    def hidden(self) -> float:
        """The share of its pixels inside the image that other things hide."""
        return float(1 - self.thing.visible.sum() / self.thing.full.sum())

    @property
    def level(self) -> str:
        """That share in words: none, slight or severe."""
        return str(levels(np.array([self.hidden]))[0])

    @property
    def facts(self) -> dict[str, Any]:
        """What both COCO and OVIS say of it beyond their own fields."""
        return {
            "role": self.thing.role,
            "instance_id": self.thing.instance_id,
            "true_class": CLASSES[self.thing.shape],
            "texture": tuple(TEXTURES)[self.thing.texture],
        }

    @property
    def outlines(self) -> dict[str, Any]:
        """Visible mask, its area and box, and the same of all of it, as COCO writes them."""
        return {
            "segmentation": rle(self.thing.visible),
            "area": int(self.thing.visible.sum()),
            "bbox": corner_and_sides(self.box),
            "full_segmentation": rle(self.thing.full),
            "full_bbox": corner_and_sides(self.full_box),
            "hidden": self.hidden,
            "level": self.level,
        }


def instances(truth: Truth, row: int) -> list[Instance]:
    """The things of an image that are at least partly visible, the object first."""
    visible = []
    for thing in truth.things[row]:
        if thing.visible.any():
            box, full_box = tight_boxes(np.stack([thing.visible, thing.full])).tolist()
            category = int(truth.label[row]) if thing.role == "object" else thing.shape
            visible.append(Instance(thing, category, box, full_box))
    return visible


def corner_and_sides(box: list[int]) -> list[int]:
    """A box as COCO has it: x, y, width, height."""
    return [box[0], box[1], box[2] - box[0], box[3] - box[1]]


def categories() -> list[dict[str, Any]]:
    """The classes as COCO lists them, numbered from 1; the supercategory is the parent in the class tree."""
    tree = class_tree()
    return [{"id": number, "name": name, "supercategory": tree[name]} for number, name in enumerate(CLASSES, 1)]
