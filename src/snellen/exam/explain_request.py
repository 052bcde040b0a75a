"""What to explain, and how: every setting once, for `snellen explain`, its settings files and Python."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from snellen.errors import UserError, option
from snellen.request import Request, plugin_setting, setting

if TYPE_CHECKING:
    from snellen.data import Dataset

    ModelLike = object  # a text, a Model or a torch module
    ModelsLike = object  # texts, or a dictionary from names to models or texts
    DataLike = str | Dataset
else:  # what Python may pass beyond texts is not imported for --help
    ModelLike = ModelsLike = DataLike = object

MOST_IMAGES = 64  # of models side by side, unless a limit is given


@dataclass(frozen=True, kw_only=True)
class HowToExplain(Request):
    """The settings that pictures of image files and models side by side share."""

    data: DataLike | None = setting(
        "dataset with masks: models side by side; with image files: usual images for iba", metavar="DATA"
    )
    limit: Literal["all"] | int | None = setting(
        f"models side by side: images to show, or all; default {MOST_IMAGES}", at_least=1, at_most=10**9
    )
    layer: int | str | None = setting("where to look: a name, -2 (stages from the end) or stage3", metavar="LAYER")
    method: tuple[str, ...] = setting(
        "how to make maps, several as gradcam,iba; see `snellen list methods`",
        ("gradcam",),
        commas=True,
        metavar="METHOD",
    )
    out: Path | None = setting(
        "folder for the pictures; default beside each image, with models side by side explained",
        metavar="DIR",
        written=True,
    )
    plugins: tuple[str, ...] = plugin_setting()
    device: str | None = setting("cpu, cuda, cuda:1, mps or auto", metavar="DEVICE")


@dataclass(frozen=True, kw_only=True)
class ExplainRequest(HowToExplain):
    """The settings of pictures of where a model looks; as a command, also those of a page of models side by side."""

    model: ModelLike | None = setting("model to explain; see `snellen list models`")
    images: tuple[str, ...] = setting("image files; with --data more models", ())

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.model is None:
            raise UserError("no model given; for example: snellen explain timm:resnet18.a1_in1k photo.jpg")
        if not self.images and self.data is None:
            raise UserError(f"no image given; name image files, or {option('data')} with masks")

    def side_by_side(self) -> BesideRequest:
        """The same settings, the names behind the model's being those of more models."""
        shared = {name: getattr(self, name) for name in HowToExplain.__dataclass_fields__}
        return BesideRequest(models=(self.model, *self.images), **shared)


@dataclass(frozen=True, kw_only=True)
class BesideRequest(HowToExplain):
    """The settings of a page of models side by side."""

    models: ModelsLike | None = setting("models to compare; see `snellen list models`", required=True)

    @property
    def most(self) -> int | None:
        """The largest number of images; None for all."""
        return None if self.limit == "all" else MOST_IMAGES if self.limit is None else int(self.limit)
