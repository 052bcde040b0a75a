"""`exported:file.pt2`: networks that `torch.export.save` wrote, run by torch without a line of their code.

Size and type of the images are read from the file; how they are normalised it does not say: `#mean=…&std=…` or `#like=NAME`.
"""

from __future__ import annotations

from snellen.errors import UserError
from snellen.files.exported_file import TensorMeta, open_exported
from snellen.models.device import Device
from snellen.models.model import Model
from snellen.models.stored.image_input import ImageInput, image_input
from snellen.models.stored.stored_card import StoredText, read_text, stored_card
from snellen.models.text_settings import Readers, choice_setting

FURTHER: Readers = {"output": str, "layout": choice_setting("NCHW", "NHWC")}


def load_exported(place: str, argument: str | None, device: Device) -> Model:
    """The network of an exported file."""
    from snellen.models.stored.answers import StoredNetwork, as_taken, model_of
    from snellen.models.stored.exported_network import ExportedNetwork

    text = read_text("exported", place, FURTHER)
    with open_exported(text.file) as file:
        network = ExportedNetwork(file)
    images = _input(text, network.image, network.meta)
    card = stored_card(text, images, None)
    stored = StoredNetwork(lambda pixels: network(as_taken(pixels, images)), text, images.batch, network)
    return model_of(stored, card, device, images.normalised)


def _input(text: StoredText, name: str, meta: TensorMeta | None) -> ImageInput:
    from snellen.models.stored.exported_network import DTYPES

    if meta is None:
        raise UserError(f"'{text}' does not say what its input '{name}' is; export it again")
    numbers = str(DTYPES.get(meta.dtype, meta.dtype)).removeprefix("torch.")
    return image_input(name, [length.as_int for length in meta.sizes], numbers, str(text), text.further.get("layout"))
