"""`python docs/explain.py`: write docs/images/explain.png, the pictures that `snellen explain` makes of phantom images."""

from __future__ import annotations

import tempfile
import warnings
from pathlib import Path

import numpy as np
import torch
from PIL import Image

import snellen
from snellen.explain import explain_images
from snellen.train import train

SHEET = Path(__file__).parent / "images" / "explain.png"
METHODS = ("gradcam", "iba", "captum:IntegratedGradients")
TRAIN, TEST = (
    "phantom:train?size=64&n=3000",
    "phantom:test?size=64&n=300",
)  # as in compositional.md: 96% are classified correctly
COUNT = 3


def sheet(folder: Path) -> Image.Image:
    """The pictures of the first test images that the network classifies correctly, one below the other."""
    data = snellen.load_data(TEST)
    (path,) = train(None, TRAIN, folder, arch="smallnet", epochs=10, device="cpu")
    model = snellen.load_model(str(path), "cpu")
    photos = [photo.image for photo in data.read(range(30))]
    answers = model(torch.from_numpy(np.stack(photos)).permute(0, 3, 1, 2).contiguous()).argmax(1)
    rows = [row for row, best in enumerate(answers) if best == data.samples.labels[row]][:COUNT]
    files = [folder / f"{data.classes[data.samples.labels[row]]}-{row}.png" for row in rows]
    for row, file in zip(rows, files):
        Image.fromarray(photos[row]).save(file)
    made = explain_images(model, files, out=folder / "maps", method=",".join(METHODS), data=TEST)
    pictures = [np.asarray(Image.open(explanation.picture).convert("RGB")) for explanation in made]
    return Image.fromarray(np.concatenate(pictures))


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    with tempfile.TemporaryDirectory() as place:
        sheet(Path(place)).save(SHEET, optimize=True)
