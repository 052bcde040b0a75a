"""`ovis`: clips, and instances over time with how occluded they are, as OVIS and YouTube-VIS have them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from snellen.build.destination import Destination
from snellen.build.encode import encode_image, encode_json
from snellen.build.phantom.chosen import portions
from snellen.build.phantom.instances import Instance, categories, corner_and_sides, instances
from snellen.data.phantom.truth import Truth
from snellen.data.phantom.world import World
from snellen.data.segmentation import rle

OCCLUSION = {"none": "no_occlusion", "slight": "slight_occlusion", "severe": "severe_occlusion"}
TRUTH = {
    "annotations": "every thing that is visible in some frame: role object, clutter or occluder",
    "category_id": "the position in classes plus 1; for the object the label given, else the class shown (true_class)",
    "segmentations, bboxes, areas": "of the visible pixels, frame by frame; null where nothing is visible",
    "occlusion": "no_occlusion: nothing hidden; slight_occlusion: at most half; severe_occlusion: more; null as above",
    "hidden": "the exact share of the thing's pixels inside the image that is hidden; null as above",
    "full_segmentations": "of all pixels of the thing inside the image, hidden or not; null as above",
}


def write(world: World, images: np.ndarray, to: Destination) -> Iterator[int]:
    """Write `SPLIT/CLIP/img_0000001.png` … and `annotations_SPLIT.json`; yields how many images each step has written."""
    videos: list[dict[str, Any]] = []
    annotations: list[dict[str, Any]] = []
    for some in portions(images, world.frames):
        truth = world.truth(some)
        for clip in np.unique(truth.clip).tolist():
            rows = np.flatnonzero(truth.clip == clip).tolist()
            files = [f"{clip:06d}/img_{truth.frame[row] + 1:07d}.png" for row in rows]
            for row, file in zip(rows, files):
                if not to.has(f"{world.split}/{file}"):
                    to.write(f"{world.split}/{file}", encode_image(truth.images[row]))
            size = {"width": world.size, "height": world.size, "length": len(rows)}
            videos.append({"id": clip + 1, **size, "file_names": files})
            for track in tracks(truth, rows):
                ids = {"id": len(annotations) + 1, "video_id": clip + 1, "iscrowd": 0}
                annotations.append({**ids, **size, **over_time(track)})
        yield len(some)
    info = {"description": f"the phantom world, {world.text}", "version": str(world.version)}
    whole = {"info": info, "licenses": [], "videos": videos, "categories": categories(), "annotations": annotations}
    to.write(f"annotations_{world.split}.json", encode_json(whole))


def tracks(truth: Truth, rows: list[int]) -> list[list[Instance | None]]:
    """Each thing of a clip, the object first: what is visible of it in each frame, None where nothing is."""
    frames = [{each.thing.instance_id: each for each in instances(truth, row)} for row in rows]
    names = dict.fromkeys(name for frame in frames for name in frame)
    first = truth.instance_id[rows[0]]
    return [[frame.get(name) for frame in frames] for name in sorted(names, key=lambda name: (name != first, name))]


def over_time(track: list[Instance | None]) -> dict[str, Any]:
    """A thing's annotation, with one entry per frame."""
    some = next(each for each in track if each is not None)
    return {
        "category_id": some.category + 1,
        "segmentations": [each and rle(each.thing.visible) for each in track],
        "bboxes": [each and corner_and_sides(each.box) for each in track],
        "areas": [each and int(each.thing.visible.sum()) for each in track],
        "occlusion": [each and OCCLUSION[each.level] for each in track],
        "hidden": [each and each.hidden for each in track],
        "full_segmentations": [each and rle(each.thing.full) for each in track],
        **some.facts,
    }
