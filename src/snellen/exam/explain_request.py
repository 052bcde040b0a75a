"""What to explain, and how: every setting once, for `snellen explain` and its settings files."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from snellen.errors import UserError, option
from snellen.request import Request, setting


@dataclass(frozen=True, kw_only=True)
class ExplainRequest(Request):
    """The settings of pictures of where models look, or of a page of several models side by side."""

    model: str | None = setting("model to explain; see `snellen list models`")
    images: tuple[str, ...] = setting("image files; with --data more models", ())
    data: str | None = setting(
        "dataset with masks: models side by side; with image files: usual images for iba", metavar="DATA"
    )
    limit: int = setting("with --data: show at most N images", 64, at_least=1, at_most=10**9)
    layer: str | None = setting("where to look: a name, -2 (stages from the end) or stage3", metavar="LAYER")
    method: str = setting(
        "how to make maps, several as gradcam,iba; see `snellen list methods`", "gradcam", metavar="METHOD"
    )
    out: Path | None = setting(
        "folder for the pictures; default beside each image, with --data explained", metavar="DIR"
    )
    device: str | None = setting("cpu, cuda, cuda:1, mps or auto", metavar="DEVICE")

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.model is None:
            raise UserError("no model given; for example: snellen explain timm:resnet18.a1_in1k photo.jpg")
        if not self.images and self.data is None:
            raise UserError(f"no image given; name image files, or {option('data')} with masks")
