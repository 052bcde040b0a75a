"""`folder`: one sub-folder of images per class, as `folder:` and torchvision's ImageFolder read it."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from snellen.build.destination import Destination
from snellen.build.encode import encode_image, table
from snellen.build.phantom.chosen import portions, stem
from snellen.build.phantom.instances import CLASSES
from snellen.data.phantom.world import World

LISTING = "listing.csv"
TRUTH = {
    "folder name": "the label given to the image; with label_noise that is not always the class shown",
    LISTING: "one row an image, which `manifest:` reads: path, id, label, the box x0, y0, x1, y1 of what is visible of "
    "the object (pixels, maximum exclusive) and all columns of the world's own listing",
}


def write(world: World, images: np.ndarray, to: Destination) -> Iterator[int]:
    """Write `CLASS/ID.png` and the listing; yields how many images each step has written."""
    samples = world.samples()
    rows = []
    for some in portions(images):
        rendering = world.render(some)
        for image, number, box in zip(rendering.images, some.tolist(), rendering.boxes.tolist()):
            label = CLASSES[samples.labels[number]]
            name = f"{label}/{stem(samples.ids[number])}.png"
            if not to.has(name):
                to.write(name, encode_image(image))
            facts = {column: values[number] for column, values in samples.columns.items()}
            corners = dict(zip(("x0", "y0", "x1", "y1"), box))
            rows.append({"path": name, "id": samples.ids[number], "label": label, **corners, **facts})
        yield len(some)
    to.write(LISTING, table(tuple(rows[0]), rows))
