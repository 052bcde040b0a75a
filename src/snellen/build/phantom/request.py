"""How the phantom world is written: every setting once, for `snellen build phantom`, its settings files and Python."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from snellen.build.request import BuildRequest
from snellen.request import setting

if TYPE_CHECKING:
    from snellen.data.phantom.world import World

    WorldLike = str | World
else:  # what Python may pass beyond texts is not imported for --help
    WorldLike = object


@dataclass(frozen=True, kw_only=True)
class PhantomRequest(BuildRequest):
    """The settings of an export."""

    world: WorldLike | None = setting("the world and its dials; default one that suits the format", metavar="WORLD")
    format: str | None = setting("folder, voc, coco, ovis or cue-conflict", metavar="FORMAT", required=True)
    limit: int | None = setting("write at most N images; of clips, whole ones", at_least=1, at_most=10**9)
    scene: str | None = setting("background of cue conflicts: sky, meadow, …; default plain", metavar="SCENE")
