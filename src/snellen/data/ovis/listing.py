"""Annotations as frames and the appearances of instances in them, whichever of the two layouts the file has."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import msgspec

from snellen.data.coco import category_names
from snellen.data.ovis.clips import CROWD, NOTHING, Appearance, Clips, Frame, Stray
from snellen.data.ovis.frame_table import read_frame_table
from snellen.data.ovis.levels import stated_level
from snellen.data.ovis.schema import BoxNumbers, Level, OvisAnnotation, OvisListing
from snellen.data.root import Root
from snellen.data.segmentation import is_outline
from snellen.errors import UserError
from snellen.files import GIB, expand_home, read_json

TABLES = (".csv", ".parquet")


def read_clips(file: Path, folder: Path | str | None = None, naming: str = "?frames=DIR") -> Clips:
    """The annotations in a file of OVIS, YouTube-VIS or COCO, or in a table of frames, whose masks are below `folder`, which a
    caller names as `naming` says."""
    if is_table(file):
        return read_frame_table(file, Root(file.parent if folder is None else expand_home(folder), naming))
    listing: OvisListing = read_json(file, OvisListing, "file of annotations", 8 * GIB)
    names = category_names(listing.categories, str(file))
    annotations = _numbered(listing.annotations, file)
    if listing.videos is not None:
        frames, first = _frames_of_videos(listing, file)
        places = {video.id: (first[video.id], len(video.file_names)) for video in listing.videos}
    elif listing.images is not None:
        frames, first = _frames_of_images(listing, file)
        places = {image.id: (first[image.id], 1) for image in listing.images}
    else:
        raise UserError(f"{file} has neither 'videos', as OVIS has them, nor 'images', as COCO does")
    if not frames:
        raise UserError(f"{file} lists no frames")
    appearances: list[Appearance] = []
    strays: list[Stray] = []
    for instance, annotation in annotations:
        category = names.get(annotation.category_id)
        stray = _stray(instance, annotation, category, places, listing.videos is not None)
        if stray is not None:
            strays.append(stray)
            continue
        start, _ = places[_place(annotation, listing.videos is not None)]
        bare = Appearance(start, instance, str(category))
        appearances += _track(annotation, bare) if listing.videos is not None else _single(annotation, bare)
    appearances.sort(key=lambda appearance: appearance.frame)  # stable: in a frame they stay in the order of the file
    return Clips(tuple(dict.fromkeys(names.values())), frames, appearances, strays)


def is_table(file: Path) -> bool:
    """Whether annotations are a table of frames, not JSON."""
    return file.suffix.lower() in TABLES


def _numbered(annotations: Sequence[OvisAnnotation], file: Path) -> list[tuple[int, OvisAnnotation]]:
    """Annotations with their ids, or their positions from 1 where they have none; each must have its own."""
    seen: set[int] = set()
    pairs = []
    for position, annotation in enumerate(annotations):
        instance = position + 1 if annotation.id is None else annotation.id
        if instance in seen:
            raise UserError(
                f"{file}: annotations[{position}] has the id {instance}, as one before it; give each its own"
            )
        seen.add(instance)
        pairs.append((instance, annotation))
    return pairs


def _frames_of_videos(listing: OvisListing, file: Path) -> tuple[list[Frame], dict[int, int]]:
    """All frames, and the position of each video's first."""
    frames: list[Frame] = []
    first: dict[int, int] = {}
    for position, video in enumerate(listing.videos or ()):
        if video.id in first:
            raise UserError(
                f"{file}: videos[{position}] has the id {video.id}, as a video before it; give each its own"
            )
        first[video.id] = len(frames)
        size = None if video.width is None or video.height is None else (video.width, video.height)
        for number, name in enumerate(video.file_names):
            frames.append(Frame(name, str(video.id), video.id - 1, number, size))
    return frames, first


def _frames_of_images(listing: OvisListing, file: Path) -> tuple[list[Frame], dict[int, int]]:
    """The images, those of one video together, and the position of each image."""
    ids: set[int] = set()
    groups: dict[tuple[str, str], list[int]] = {}
    images = listing.images or []
    for position, image in enumerate(images):
        if image.id in ids:
            raise UserError(
                f"{file}: images[{position}] has the id {image.id}, as an image before it; give each its own"
            )
        ids.add(image.id)
        together = image.together
        key = ("image", str(image.id)) if together is None else ("video", together)
        groups.setdefault(key, []).append(position)
    frames: list[Frame] = []
    first: dict[int, int] = {}
    for order, ((sort, name), members) in enumerate(groups.items()):
        for number, position in enumerate(members):
            image = images[position]
            first[image.id] = len(frames)
            size = None if image.width is None or image.height is None else (image.width, image.height)
            frames.append(Frame(image.file_name, name if sort == "video" else f"image {name}", order, number, size))
    return frames, first


def _place(annotation: OvisAnnotation, videos: bool) -> int:
    return -1 if (place := annotation.video_id if videos else annotation.image_id) is None else place


def _stray(
    instance: int, annotation: OvisAnnotation, category: str | None, known: Mapping[int, tuple[int, int]], videos: bool
) -> Stray | None:
    """What is wrong with a whole annotation, if anything."""
    place = _place(annotation, videos)
    sort = "video" if videos else "image"
    if category is None:
        return Stray(
            instance, "", "unknown class", f"category_id {str(annotation.category_id)[:60]} is not in 'categories'"
        )
    if place not in known:
        stated = "none" if place < 0 else place
        return Stray(instance, category, f"unknown {sort}", f"{sort}_id {stated} is not in '{sort}s'")
    if not videos:
        return None
    if annotation.bboxes is None:
        return Stray(instance, category, "no box", "the annotation has no 'bboxes'")
    length = known[place][1]
    lists: dict[str, Sequence[object] | None] = {
        "bboxes": annotation.bboxes,
        "segmentations": annotation.segmentations,
        "full_segmentations": annotation.full_segmentations,
        "occlusion": annotation.occlusion if isinstance(annotation.occlusion, list) else None,
    }
    for name, values in lists.items():
        if values is not None and len(values) != length:
            return Stray(
                instance, category, "wrong length", f"'{name}' has {len(values)} entries, the video {length} frames"
            )
    if annotation.occlusion is not None and not isinstance(annotation.occlusion, list):
        return Stray(instance, category, "unknown level", "'occlusion' is not a list with one entry per frame")
    return None


def _track(annotation: OvisAnnotation, bare: Appearance) -> Iterator[Appearance]:
    """The appearances of an instance in the frames of its video; none where it is absent."""
    boxes = annotation.bboxes or []
    levels: Sequence[Level] = annotation.occlusion if isinstance(annotation.occlusion, list) else [None] * len(boxes)
    absent = [msgspec.Raw(NOTHING)] * len(boxes)
    visible = absent if annotation.segmentations is None else annotation.segmentations
    full = absent if annotation.full_segmentations is None else annotation.full_segmentations
    for number, box in enumerate(boxes):
        outlines = bytes(visible[number]), bytes(full[number])
        if box is not None or is_outline(outlines[0]):
            yield _appearance(replace(bare, frame=bare.frame + number), annotation, box, levels[number], outlines)


def _single(annotation: OvisAnnotation, bare: Appearance) -> Iterator[Appearance]:
    """The appearance of an instance in its image."""
    level = annotation.level if annotation.occlusion is None else annotation.occlusion
    if isinstance(level, list):
        yield replace(bare, reason="unknown level", detail="'occlusion' is a list; expected one level")
        return
    yield _appearance(
        bare, annotation, annotation.bbox, level, (bytes(annotation.segmentation), bytes(annotation.full_segmentation))
    )


def _appearance(
    bare: Appearance, annotation: OvisAnnotation, box: BoxNumbers | None, level: Level, outlines: tuple[bytes, bytes]
) -> Appearance:
    """An appearance with what is known of it, or with what is wrong; its masks are known then too: it may hide others."""
    visible, full = outlines
    bare = replace(
        bare, visible=visible if is_outline(visible) else NOTHING, full=full if is_outline(full) else NOTHING
    )
    if annotation.iscrowd:
        return replace(bare, reason=CROWD, detail="iscrowd: several objects in one annotation")
    if box is None:
        return replace(bare, reason="no box", detail="its box is null, its mask is not")
    if visible != NOTHING and not is_outline(visible):
        return replace(bare, box=box, reason="no mask", detail="its mask is null or empty, its box is not")
    if box[2] < 1 or box[3] < 1:
        return replace(bare, box=box, reason="tiny box", detail=f"{box[2]:g}x{box[3]:g} pixels")
    stated = stated_level(level)
    if stated is None:
        return replace(bare, box=box, reason="unknown level", detail=f"'{str(level)[:60]}' is none of the known levels")
    return replace(bare, box=box, level=stated)
