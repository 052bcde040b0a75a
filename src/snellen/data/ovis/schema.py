"""The JSON of OVIS and YouTube-VIS, and of COCO where its annotations carry levels of occlusion."""

from __future__ import annotations

from typing import Annotated

import msgspec

from snellen.data.coco import Category
from snellen.data.coco import Id as CategoryId
from snellen.data.listing_table import FARTHEST
from snellen.files.picture import LONGEST_SIDE

Id = Annotated[int, msgspec.Meta(ge=0, le=2**53)]
Side = Annotated[int, msgspec.Meta(ge=1, le=LONGEST_SIDE)]
_Pixels = Annotated[float, msgspec.Meta(ge=-FARTHEST, le=FARTHEST)]
BoxNumbers = tuple[_Pixels, _Pixels, _Pixels, _Pixels]
Level = str | int | None


class VideoEntry(msgspec.Struct):
    """A video: its frames in order, and their size in pixels where it is stated."""

    id: Id
    file_names: list[str]
    width: Side | None = None
    height: Side | None = None


class OvisImage(msgspec.Struct):
    """An image of COCO; `video_id`, `video` or `clip` says which images belong together."""

    id: Id
    file_name: str
    width: Side | None = None
    height: Side | None = None
    video_id: Id | str | None = None
    video: Id | str | None = None
    clip: Id | str | None = None

    @property
    def together(self) -> str | None:
        """What images of the same video share; None for an image that stands alone."""
        known = next((name for name in (self.video_id, self.video, self.clip) if name is not None), None)
        return None if known is None else str(known)


class OvisAnnotation(msgspec.Struct):
    """One instance: in OVIS with a list entry per frame of its video, in COCO in one image.

    Boxes are [x, y, width, height]; outlines are not decoded yet; `full_…` are of all of the object, hidden or not.
    """

    category_id: CategoryId
    id: Id | None = None
    iscrowd: int | bool = 0
    video_id: Id | None = None
    bboxes: list[BoxNumbers | None] | None = None
    segmentations: list[msgspec.Raw] | None = None
    full_segmentations: list[msgspec.Raw] | None = None
    occlusion: list[Level] | str | int | None = None
    image_id: Id | None = None
    bbox: BoxNumbers | None = None
    segmentation: msgspec.Raw = msgspec.Raw(b"")
    full_segmentation: msgspec.Raw = msgspec.Raw(b"")
    level: Level = None


class OvisListing(msgspec.Struct):
    """The file: `videos` as OVIS has them, or `images` as COCO does."""

    annotations: list[OvisAnnotation]
    categories: list[Category]
    videos: list[VideoEntry] | None = None
    images: list[OvisImage] | None = None
