"""`voc`: boxes in XML and label maps, as Pascal VOC has them."""

from __future__ import annotations

from collections.abc import Iterator
from xml.etree import ElementTree

import numpy as np
from PIL import Image

from snellen.build.destination import Destination
from snellen.build.encode import encode_image, encode_picture
from snellen.build.phantom.chosen import portions, stem
from snellen.build.phantom.instances import CLASSES, Instance, instances
from snellen.data.phantom.textures import TEXTURES
from snellen.data.phantom.world import World

TRUTH = {
    "JPEGImages": "the images, as PNG files: without loss, so that the marks in their pixels stay",
    "Annotations": "every thing of which a pixel is visible; boxes of the visible pixels, counted from 1, both ends "
    "included; name is the label given to the object, and the class shown (true_class) of the others",
    "truncated": "the box is smaller than the whole thing: an end is hidden, or clutter or an occluder meets the border",
    "occluded, hidden": "whether a pixel of the thing inside the image is hidden, and the exact share of them",
    "SegmentationClass": "per pixel the position of the name in classes plus 1; 0 is the scene; there is no void border",
    "SegmentationObject": "per pixel the position of the object in the XML file plus 1; 0 is the scene",
    "ImageSets": "Main/CLASS_SPLIT.txt: 1 where a thing of the class is visible, else -1",
}


def write(world: World, images: np.ndarray, to: Destination) -> Iterator[int]:
    """Write images, XML, label maps and image sets; yields how many images each step has written."""
    samples = world.samples()
    stems: list[str] = []
    present: list[set[int]] = []
    for some in portions(images):
        truth = world.truth(some)
        for row, number in enumerate(some.tolist()):
            name = stem(samples.ids[number])
            things = instances(truth, row)
            stems.append(name)
            present.append({each.category for each in things})
            pictures = [f"{folder}/{name}.png" for folder in ("JPEGImages", "SegmentationClass", "SegmentationObject")]
            if to.has(f"Annotations/{name}.xml"):  # written last
                to.own(*pictures)
            else:
                categories, objects = label_maps(things, world.size)
                contents = (encode_image(truth.images[row]), palette_png(categories), palette_png(objects))
                for picture, content in zip(pictures, contents):
                    to.write(picture, content)
                to.write(f"Annotations/{name}.xml", annotation(name, things, world))
        yield len(some)
    everything = "".join(f"{name}\n" for name in stems).encode()
    to.write(f"ImageSets/Main/{world.split}.txt", everything)
    to.write(f"ImageSets/Segmentation/{world.split}.txt", everything)
    for category, label in enumerate(CLASSES):
        lines = (f"{name} {1 if category in categories_in else -1:2d}\n" for name, categories_in in zip(stems, present))
        to.write(f"ImageSets/Main/{label}_{world.split}.txt", "".join(lines).encode())


def label_maps(things: list[Instance], size: int) -> tuple[np.ndarray, np.ndarray]:
    """The category plus 1 and the number from 1 of the thing at each pixel, 0 for the scene, uint8 [S, S] each."""
    categories, objects = np.zeros((2, size, size), np.uint8)
    for number, each in enumerate(things, 1):
        categories[each.thing.visible] = each.category + 1
        objects[each.thing.visible] = number
    return categories, objects


def annotation(name: str, things: list[Instance], world: World) -> bytes:
    """The XML file of an image."""
    root = ElementTree.Element("annotation")
    _put(root, folder="phantom", filename=f"{name}.png")
    _put(ElementTree.SubElement(root, "source"), database="the phantom world", image=world.text)
    _put(ElementTree.SubElement(root, "size"), width=world.size, height=world.size, depth=3)
    _put(root, segmented=1)
    for each in things:
        x0, y0, x1, y1 = each.box
        thing = ElementTree.SubElement(root, "object")
        _put(thing, name=CLASSES[each.category], pose="Unspecified", truncated=int(is_truncated(each, world.size)))
        _put(thing, occluded=int(each.hidden > 0), difficult=0)
        _put(ElementTree.SubElement(thing, "bndbox"), xmin=x0 + 1, ymin=y0 + 1, xmax=x1, ymax=y1)
        _put(thing, role=each.thing.role, true_class=CLASSES[each.thing.shape])
        _put(thing, texture=tuple(TEXTURES)[each.thing.texture], hidden=each.hidden, level=each.level)
        _put(thing, instance_id=each.thing.instance_id)
    ElementTree.indent(root, "\t")
    return ElementTree.tostring(root) + b"\n"


def is_truncated(each: Instance, size: int) -> bool:
    """Whether the box does not hold the whole thing; only main objects are known to lie inside the image."""
    meets_border = min(each.full_box[:2]) == 0 or max(each.full_box[2:]) == size
    return each.box != each.full_box or (each.thing.role != "object" and meets_border)


def _put(parent: ElementTree.Element, **texts: str | float) -> None:
    for tag, text in texts.items():
        ElementTree.SubElement(parent, tag).text = str(text)


def palette_png(labels: np.ndarray) -> bytes:
    """A label map uint8 [H, W] as a PNG whose values are the labels and whose palette is Pascal VOC's."""
    image = Image.fromarray(labels.astype(np.uint8), mode="P")
    image.putpalette(voc_palette().tobytes())
    return encode_picture(image)


def voc_palette() -> np.ndarray:
    """Pascal VOC's 256 colours, uint8 [256, 3].

    The bits of a label go to red, green and blue in turn, the lowest three to the channels' highest bits, so that small
    numbers get colours far apart: 0 black, 1 dark red, 2 dark green, 3 dark yellow.
    """
    labels = np.arange(256)
    colours = np.zeros((256, 3), np.uint8)
    for bit in range(8):
        colours[:, bit % 3] |= ((labels >> bit & 1) << (7 - bit // 3)).astype(np.uint8)
    return colours
