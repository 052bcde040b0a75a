"""`coco`: images and instances with masks in one JSON file, as COCO's tools read them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from snellen.build.destination import Destination
from snellen.build.encode import encode_image, encode_json
from snellen.build.phantom.chosen import portions, stem
from snellen.build.phantom.instances import CLASSES, categories, instances
from snellen.data.phantom.scenes import SCENES
from snellen.data.phantom.world import World

TRUTH = {
    "annotations": "every thing of which a pixel is visible: role object, clutter or occluder",
    "category_id": "the position in classes plus 1; for the object the label given, else the class shown (true_class)",
    "segmentation, bbox, area": "of the visible pixels; compressed run lengths; x, y, width, height",
    "full_segmentation, full_bbox": "of all pixels of the thing inside the image, hidden or not",
    "hidden, level": "the share of those pixels that is hidden; none is 0, slight at most 0.5, severe more",
    "instance_id": "the same in all frames of a clip",
}


def write(world: World, images: np.ndarray, to: Destination) -> Iterator[int]:
    """Write `SPLIT/ID.png` and `annotations/instances_SPLIT.json`; yields how many images each step has written."""
    samples = world.samples()
    pictures: list[dict[str, Any]] = []
    annotations: list[dict[str, Any]] = []
    for some in portions(images):
        truth = world.truth(some)
        for row, number in enumerate(some.tolist()):
            name = f"{stem(samples.ids[number])}.png"
            if not to.has(f"{world.split}/{name}"):
                to.write(f"{world.split}/{name}", encode_image(truth.images[row]))
            pictures.append(
                {
                    "id": number + 1,
                    "file_name": name,
                    "width": world.size,
                    "height": world.size,
                    "sample": samples.ids[number],
                    "label": CLASSES[truth.label[row]],
                    "true_class": CLASSES[truth.true_class[row]],
                    "scene": tuple(SCENES)[truth.scene_class[row]],
                    "clip": int(truth.clip[row]),
                    "frame": int(truth.frame[row]),
                }
            )
            for each in instances(truth, row):
                ids = {"id": len(annotations) + 1, "image_id": number + 1, "category_id": each.category + 1}
                annotations.append({**ids, "iscrowd": 0, **each.outlines, **each.facts})
        yield len(some)
    info = {"description": f"the phantom world, {world.text}", "version": str(world.version)}
    whole = {"info": info, "licenses": [], "images": pictures, "annotations": annotations, "categories": categories()}
    to.write(f"annotations/instances_{world.split}.json", encode_json(whole))
