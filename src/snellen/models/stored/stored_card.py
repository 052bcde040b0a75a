"""The card of a stored network: what its file says of its images, and what its text must say."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlencode

from snellen.data.canvas import Canvas
from snellen.errors import UserError
from snellen.files import expand_home
from snellen.hashing import file_sha256, key_of
from snellen.models.card import Card
from snellen.models.network_settings import SETTINGS, NetworkInput, NetworkSettings, check_count, read_network_settings
from snellen.models.stored.image_input import ImageInput
from snellen.models.text_settings import Readers, choice_setting, read_settings, split_settings, whole_setting

MOST_AT_ONCE = 4096


@dataclass(frozen=True)
class StoredText:
    """The text of a stored network: its kind, its file, what it says of the images, and further settings by name."""

    kind: str
    place: str
    images: NetworkSettings
    further: dict[str, Any]

    @property
    def file(self) -> Path:
        return expand_home(self.place)

    def __str__(self) -> str:
        return f"{self.kind}:{self.place}"


ANSWERS = {"outputs": choice_setting("logits", "probabilities"), "batch": whole_setting(1, MOST_AT_ONCE)}


def read_text(kind: str, place: str, further: Readers) -> StoredText:
    """The text `kind:place`, with the settings of images, those of answers (`outputs`, `batch`) and `further` ones."""
    path, query = split_settings(place)
    own: Readers = {**ANSWERS, **further}
    pairs = parse_qsl(query.replace("+", "%2B"), keep_blank_values=True)
    mine = [pair for pair in pairs if pair[0] in own]
    others = [pair for pair in pairs if pair[0] not in own]
    text = f"{kind}:{path}"
    if unknown := [name for name, _ in others if name not in SETTINGS]:
        read_settings(urlencode({unknown[0]: ""}), {**SETTINGS, **own}, text)  # names what is known
    return StoredText(
        kind, path, read_network_settings(urlencode(others), text), read_settings(urlencode(mine), own, text)
    )


def stored_card(text: StoredText, images: ImageInput, outputs: int | None, files: Sequence[Path] = ()) -> Card:
    """The card of a network that takes these images; what neither its file nor its text says is asked for in one line.

    `outputs` is the number of classes where the file states it, `files` are those that its own refers to.
    """
    used = _preprocessing(text, images)
    if outputs is not None:
        check_outputs(text, outputs)
    mean, std = (used.mean, used.std) if images.normalised else (None, None)
    contents = [file_sha256(file) for file in (text.file, *files)]
    further = {name: value for name, value in text.further.items() if value is not None}
    return Card(
        name=text.file.stem,
        text=str(text),
        fingerprint=key_of([text.kind, contents, str(used.canvas), mean, std, further]),
        classes=text.images.classes,
        canvas=used.canvas,
        mean=mean,
        std=std,
    )


def check_outputs(text: StoredText, outputs: int) -> None:
    """Refuse a network that does not answer one number for each of several classes."""
    if outputs < 2:
        raise UserError(f"'{text}' answers {outputs} number per image; expected one for each of two or more classes")
    check_count(text.images.classes, outputs, text.place)


def _preprocessing(text: StoredText, images: ImageInput) -> NetworkInput:
    """Canvas and normalisation, of which the file states the size where it is fixed."""
    settings, size = text.images, images.size
    if size is not None and settings.size is None:
        settings = replace(settings, size=size)
    if not images.normalised and settings.mean is not None:
        raise UserError(f"'{text}' takes bytes, so it normalises by itself; leave out mean and std")
    used = settings.complete(NetworkInput(None if size is None else Canvas(*size, "crop", min(size))))
    if size is not None and used.canvas is not None and (used.canvas.height, used.canvas.width) != size:
        raise UserError(
            f"'{text}' takes images of {size[0]}x{size[1]} alone, but {used.canvas.height}x{used.canvas.width} are asked for; "
            f"leave out size, or export the network with dynamic height and width"
        )
    lacks = [
        *(["which size its images have"] if used.canvas is None else []),
        *(["how its images are normalised"] if used.mean is None and images.normalised else []),
    ]
    if lacks:
        add = "&".join(
            [*(["size=224"] if used.canvas is None else []), "mean=0.485,0.456,0.406&std=0.229,0.224,0.225"][:2]
            if used.mean is None and images.normalised
            else ["size=224"]
        )
        plain = " (mean=0&std=1 for plain pixels in 0…1)" if used.mean is None and images.normalised else ""
        raise UserError(
            f"'{text}' does not say {' and '.join(lacks)}; add for example #{add}{plain}, or #like=NAME of a network of timm"
        )
    return used
