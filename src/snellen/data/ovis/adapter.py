"""`ovis:annotations.json?frames=DIR`: instances in the frames of videos, one sample per instance and frame.

A sample is the crop around the instance (Kassaw et al. 2024), or the whole frame with `?view=frame`. It has its box and, where
every instance has one, its mask of visible pixels. Columns: `video` (also `group`), `frame`, `instance` and `level` as stated: 0
not occluded, 1 up to half, 2 more, −1 unknown. Annotations of crowds are left out, and with a notice those that belong to
nothing. COCO files are read too, and tables of frames with masks in files (`path`, `mask`, `label`, `level`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from snellen.data.boxed_images import switch
from snellen.data.dataset import Dataset, Photo, Samples, Unreadable, filter_rows
from snellen.data.decode import decode_file
from snellen.data.names import different, storable
from snellen.data.ovis.clips import CROWD, Appearance, Clips, Frame, Stray, outlines_checksum
from snellen.data.ovis.crop import crop_box, cut
from snellen.data.ovis.listing import is_table, read_clips
from snellen.data.root import Root, stamps
from snellen.data.segmentation import mask_of, outlines_mark
from snellen.errors import UserError
from snellen.files import expand_home
from snellen.files.places import folders_beside, is_file, is_there, may_be_folder
from snellen.hashing import checksum, file_sha256, key_of

NAMING = "?frames=DIR"  # in the text of data
MISSING, DAMAGED = "missing frame", "unreadable frame"
UNREAD = (MISSING, DAMAGED)  # what may be mended beside the annotations


def load_ovis(path: str, options: Mapping[str, str]) -> Dataset:
    """The instances that a file annotates, frame by frame; ids are frame file and annotation, as in `a/img_1.jpg#7`."""
    file, text, conditions = expand_home(path), f"ovis:{path}", dict(options)
    view = switch(conditions, "view", ("crop", "frame"), text)
    folder = conditions.pop("frames", None)
    clips = read_clips(file, folder, NAMING)
    root = frames_root(file, clips.frames, folder, NAMING)
    paths = [root.find(frame.file, f"{path}: frame {number}") for number, frame in enumerate(clips.frames)]
    shown = [appearance for appearance in clips.appearances if appearance.reason != CROWD]
    if not shown:
        raise UserError(f"{text} lists no instance")
    masked = all(appearance.visible or appearance.reason for appearance in shown)
    reader = _Reader(clips.frames, paths, shown, view == "crop", masked)
    samples = _samples(clips, shown, path)
    identity: list[object] = ["ovis", file_sha256(file), view, stamps(paths)]
    if is_table(file):
        identity.append(outlines_checksum(clips))  # its masks are in other files
    if masked and (mark := outlines_mark([appearance.visible for appearance in shown])):
        identity.append(mark)
    facts = frozenset({"boxes", "masks"} if masked else {"boxes"})
    notices = _notices(clips.strays, text)
    whole = Dataset(text, clips.classes, samples, key_of(identity), reader.read, facts=facts, notices=notices)
    return filter_rows(whole, conditions)


def _notices(strays: Sequence[Stray], text: str) -> tuple[str, ...]:
    """A line on annotations that are left out, if there are any."""
    if not strays:
        return ()
    stray, are = strays[0], "annotation is" if len(strays) == 1 else "annotations are"
    example = f"annotation {stray.instance}: {stray.reason}: {storable(stray.detail)}"
    return (f"{len(strays):,} {are} left out of {text} ({example})",)


def frames_root(file: Path, frames: Sequence[Frame], folder: str | Path | None, naming: str) -> Root:
    """The folder of the frames: the one given, else one beside the file that holds the first frame; `naming` is how a caller
    names it."""
    if folder is not None:
        place = expand_home(folder)
        if not may_be_folder(place):
            raise UserError(f"no folder '{storable(str(folder))}'; name the folder of the frames with {naming}")
        return Root(place, naming)
    first = frames[0].file
    for place in (file.parent, *folders_beside(file.parent)):
        if "\0" not in first and is_file(place / first):
            return Root(place, naming)
    raise UserError(f"'{storable(first)[:200]}' is not near {file}; name the folder of the frames with {naming}")


def _samples(clips: Clips, shown: Sequence[Appearance], path: str) -> Samples:
    number = {name: label for label, name in enumerate(clips.classes)}
    frames = [clips.frames[appearance.frame] for appearance in shown]
    videos = np.array([storable(frame.video) for frame in frames], object)
    columns = {
        "video": videos,
        "group": videos,  # frames of a video are not independent: intervals are clustered by it
        "frame": np.array([frame.number for frame in frames], np.int64),
        "instance": np.array([appearance.instance for appearance in shown], np.int64),
        "level": np.array([appearance.level for appearance in shown], np.int64),
    }
    ids = different([f"{frame.file}#{appearance.instance}" for frame, appearance in zip(frames, shown)], path)
    return Samples(ids, np.array([number[appearance.category] for appearance in shown], np.int64), columns)


@dataclass(frozen=True)
class _Reader:
    """Reads samples; a frame that several of them show is decoded once."""

    frames: Sequence[Frame]
    paths: Sequence[Path]
    shown: Sequence[Appearance]
    crop: bool
    masked: bool

    def read(self, positions: Sequence[int]) -> list[Photo | Unreadable]:
        photos: list[Photo | Unreadable] = []
        current, frame = -1, None
        for appearance in (self.shown[position] for position in positions):
            if frame is None or appearance.frame != current:
                current, frame = (
                    appearance.frame,
                    read_frame(self.frames[appearance.frame], self.paths[appearance.frame]),
                )
            photos.append(frame if isinstance(frame, Unreadable) else self._sample(appearance, frame))
        return photos

    def _sample(self, appearance: Appearance, frame: Photo) -> Photo | Unreadable:
        if appearance.reason:
            return Unreadable(f"{appearance.reason}: {appearance.detail}", "broken annotation")
        height, width = frame.size
        x, y, wide, high = appearance.box
        corners = np.array([[x, y, x + wide, y + high]], float)
        try:
            maps = {"mask": mask_of(appearance.visible, width, height)} if self.masked else {}
        except UserError as error:
            return Unreadable(f"its mask cannot be read: {error}", "broken annotation")
        if maps and not maps["mask"].any():  # nothing of it can be seen: `build iruo` leaves it out too
            return Unreadable("empty mask: its mask has no pixels", "broken annotation")
        if not self.crop:
            return replace(frame, boxes=corners, maps=maps)
        crop = crop_box(appearance.box, width, height)
        if not crop[2]:
            return Unreadable("its box lies outside the frame", "broken annotation")
        image = np.ascontiguousarray(cut(frame.image, crop))
        moved = corners - [crop[0], crop[1]] * 2
        return Photo(
            image, checksum(image.tobytes()), moved, {name: cut(values, crop) for name, values in maps.items()}
        )


def read_frame(frame: Frame, path: Path) -> Photo | Unreadable:
    """The photo of a frame, or why there is none."""
    if not is_there(path):
        return Unreadable("there is no such file", MISSING)
    photo = decode_file(path)
    if isinstance(photo, Unreadable):
        return Unreadable(photo.reason, DAMAGED)
    height, width = photo.size
    if frame.size is not None and frame.size != (width, height):
        stated = f"{frame.size[0]}x{frame.size[1]}"
        return Unreadable(f"the annotations say {stated} pixels, the frame has {width}x{height}", "frame size differs")
    return photo
