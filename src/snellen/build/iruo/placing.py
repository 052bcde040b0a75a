"""The place of each image in a set: its name, its split, and which of several with one name stays."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from snellen.build.iruo.portion import ENDINGS, CropVerdict
from snellen.build.iruo.request import IruoRequest
from snellen.build.iruo.split import joined_videos, split_by_cut, split_by_video
from snellen.data.ovis.clips import Appearance, Clips, Frame
from snellen.hashing import key_of

IMAGES, MASKS, FULL_MASKS = "images", "seg-masks", "full-masks"
SPLITS = ("train", "val")
LONGEST_NAME = 150  # characters: file systems allow 255
OVERWRITTEN = "same name"


@dataclass(frozen=True)
class Placed:
    """An image of the set: what is known of it, its class, split and name without ending.

    `group` names its video, or the first of several videos that have a frame in common.
    """

    verdict: CropVerdict
    appearance: Appearance
    frame: Frame
    category: str
    split: str
    name: str
    group: str

    def file(self, folder: str, request: IruoRequest) -> str:
        """The image's path in the set, or its mask's in another folder."""
        ending = ENDINGS[request.format] if folder == IMAGES else "png"
        return f"{folder}/{self.verdict.level}/{self.split}/{self.category}/{self.name}.{ending}"

    @property
    def masks(self) -> tuple[str, ...]:
        """The folders in which it has a mask."""
        return (MASKS,) * self.verdict.visible + (FULL_MASKS,) * self.verdict.full


def image_name(frame: Frame, instance: int, naming: str) -> str:
    """`<video − 1>_<frame>_<file>_<instance>`; published names end before the instance."""
    file = re.sub(r"\.[A-Za-z]{3,4}$", "", frame.file)
    text = re.sub(r"[^A-Za-z0-9._+-]", "_", file)
    if len(text) > LONGEST_NAME:
        text = f"{text[: LONGEST_NAME - 17]}-{key_of(frame.file.encode(errors='surrogatepass').hex())}"
    return f"{frame.order}_{frame.number:05d}_{text}" + (f"_{instance}" if naming == "instance" else "")


def place_images(
    clips: Clips, verdicts: Iterable[CropVerdict], names: Mapping[str, str], request: IruoRequest
) -> list[Placed]:
    """The images of the set, in the order of the frames."""
    verdicts = list(verdicts)
    together = _together(clips, verdicts)
    taken = [verdict for verdict in verdicts if not verdict.reason]
    appearances = [clips.appearances[verdict.row] for verdict in taken]
    frames = [clips.frames[appearance.frame] for appearance in appearances]
    categories = [names[appearance.category] for appearance in appearances]
    videos = np.array([together[frame.order].order for frame in frames], np.int64)
    train = _split(videos, categories, [verdict.level for verdict in taken], request)
    return [
        Placed(
            verdict,
            appearance,
            frame,
            category,
            SPLITS[0 if is_train else 1],
            image_name(frame, appearance.instance, request.naming),
            together[frame.order].video,
        )
        for verdict, appearance, frame, category, is_train in zip(
            taken, appearances, frames, categories, train.tolist()
        )
    ]


def _together(clips: Clips, verdicts: Iterable[CropVerdict]) -> dict[int, Frame]:
    """The number of each video → a frame of the first video that has a file in common with it, perhaps by way of others.

    Files are the same where their checksums are: one video may be listed under two ids.
    """
    frames = {verdict: clips.frames[clips.appearances[verdict.row].frame] for verdict in verdicts if verdict.source}
    orders = [frame.order for frame in frames.values()]
    first = joined_videos(orders, [verdict.source for verdict in frames])
    sample = {frame.order: frame for frame in frames.values()}
    return {order: sample[first[order]] for order in orders}


def _split(videos: np.ndarray, categories: Sequence[str], levels: Sequence[int], request: IruoRequest) -> np.ndarray:
    """bool per image, True for training; `videos` are their numbers."""
    _, labels = np.unique(np.array(categories), return_inverse=True)
    degrees = np.array(levels, np.int64)
    if request.split == "video":
        return split_by_video(videos, labels, degrees, request.share)
    groups = labels if request.split == "class" else labels * 3 + degrees
    return split_by_cut(videos, groups, request.share)


def drop_overwritten(clips: Clips, verdicts: Sequence[CropVerdict], request: IruoRequest) -> list[CropVerdict]:
    """The verdicts after the last of several images with one published name has overwritten those before it."""
    if request.naming != "published":
        return list(verdicts)
    last: dict[tuple[int, str, int], int] = {}
    for verdict in verdicts:
        if not verdict.reason:
            appearance = clips.appearances[verdict.row]
            last[appearance.frame, appearance.category, verdict.level] = verdict.row
    stays = set(last.values())
    detail = "a later instance of its class and level in the frame has the same published name"
    return [
        verdict if verdict.reason or verdict.row in stays else replace(verdict, reason=OVERWRITTEN, detail=detail)
        for verdict in verdicts
    ]
