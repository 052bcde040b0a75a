"""`torchscript:file.pt`: networks that `torch.jit.save` wrote, run by torch's interpreter of TorchScript.

Such a file says nothing of its images: size and normalisation are given, `#size=224&mean=…&std=…` or `#like=NAME`.
"""

from __future__ import annotations

from snellen.files.plain import place_here
from snellen.files.script import load_script
from snellen.models.device import Device
from snellen.models.model import Model
from snellen.models.stored.image_input import ImageInput
from snellen.models.stored.stored_card import read_text, stored_card
from snellen.models.text_settings import Readers, choice_setting

FURTHER: Readers = {"output": str, "numbers": choice_setting("float32", "float16", "uint8")}


def load_torchscript(place: str, argument: str | None, device: Device) -> Model:
    """The network of a TorchScript file; `#numbers=uint8` where it takes bytes."""
    from snellen.models.stored.answers import StoredNetwork, as_taken, model_of

    text = read_text("torchscript", place, FURTHER)
    module = load_script(place_here(text.file, "a program"))
    images = ImageInput(numbers=text.further.get("numbers") or "float32")
    card = stored_card(text, images, None)
    return model_of(
        StoredNetwork(lambda pixels: module(as_taken(pixels, images)), text, None, module),
        card,
        device,
        images.normalised,
    )
