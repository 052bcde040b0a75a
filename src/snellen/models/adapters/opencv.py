"""`opencv:frontalcatface#size=64`: the cascades that OpenCV ships, as detectors.

Settings behind `#`: `size` of the images in pixels, `scale` between one size of objects and the next, `neighbours` that a
detection must have to count (the `scaleFactor` and `minNeighbors` of detectMultiScale).
"""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import numpy as np

from snellen.errors import UserError, unknown
from snellen.extras import import_package
from snellen.files import file_size
from snellen.hashing import file_sha256
from snellen.models.device import Device
from snellen.models.model import Model, from_callable
from snellen.models.text_settings import Readers, number_setting, read_settings, size_setting, whole_setting

PREFIX = "haarcascade_"
SETTINGS: Readers = {
    "size": size_setting,
    "scale": number_setting(1.01, 10),
    "neighbours": whole_setting(0, 100),
}


def load_opencv(place: str, argument: str | None = None, device: Device = None) -> Model:
    """The detector of a cascade by its name, with or without `haarcascade_`; it runs on the CPU."""
    name, _, query = place.partition("#")
    cv2 = import_package("cv2", f"opencv:{name}")
    folder = cv2.data.haarcascades
    known = sorted(
        file.removeprefix(PREFIX).removesuffix(".xml") for file in os.listdir(folder) if file.endswith(".xml")
    )
    name = name.removeprefix(PREFIX).removesuffix(".xml")
    if name not in known:
        raise unknown("OpenCV cascade", name, known)
    settings = {"size": None, "scale": 1.1, "neighbours": 3, **read_settings(query, SETTINGS, f"opencv:{name}")}
    file = os.path.join(folder, f"{PREFIX}{name}.xml")
    detect = Cascade(file, settings["scale"], settings["neighbours"])
    version = f"{cv2.__version__} {file_sha256(Path(file))} {detect.scale} {detect.neighbours}"
    model = from_callable(detect, ["object"], settings["size"], name=name, version=version, task="detection")
    return replace(model, card=replace(model.card, text=f"opencv:{place}"))


class Cascade:
    """A callable from uint8 images [n, H, W, 3] to the boxes of what a cascade detects in each."""

    task = "detection"

    def __init__(self, file: str, scale: float = 1.1, neighbours: int = 3) -> None:
        self.scale, self.neighbours = scale, neighbours
        self.cv2 = import_package("cv2", "a cascade")
        file_size(file, "cascade")  # OpenCV itself would only log that there is none
        self.classifier = self.cv2.CascadeClassifier(file)
        if self.classifier.empty():
            raise UserError(f"'{file}' is no cascade that OpenCV can read")

    def __call__(self, images: np.ndarray) -> list[np.ndarray]:
        return [self._boxes(image) for image in images]

    def _boxes(self, image: np.ndarray) -> np.ndarray:
        grey = self.cv2.cvtColor(np.ascontiguousarray(image), self.cv2.COLOR_RGB2GRAY)
        places = np.asarray(self.classifier.detectMultiScale(grey, self.scale, self.neighbours), np.float64).reshape(
            -1, 4
        )
        return np.concatenate([places[:, :2], places[:, :2] + places[:, 2:]], axis=1)
