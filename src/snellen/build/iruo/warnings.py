"""What a user should know of a set before it is used."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from snellen.build.iruo.settings import Settings
from snellen.build.iruo.tables import DISAGREEMENTS, SHARES, Share
from snellen.errors import UserError

AIM = (0.6, 0.8)  # the share of a class's images for training


def check_clear(counts: Mapping[tuple[str, int], int], classes: Iterable[str], settings: Settings) -> None:
    """Refuse classes of which too few images are not occluded; `counts` has the images of each class and level."""
    few = {name: counts.get((name, 0), 0) for name in classes}
    few = {name: count for name, count in few.items() if count < settings.min_clear}
    if few:
        listed = ", ".join(f"'{name}'" for name in few)
        most = max(few.values())
        have = "no image of level 0" if not most else f"fewer than {settings.min_clear} images of level 0"
        raise UserError(
            f"{'class' if len(few) == 1 else 'classes'} {listed} with {have} (not occluded); leave out with "
            f"--without {','.join(few)}, or allow with --min-clear {min(few.values())}"
        )


def warnings_of(shares: Mapping[str, Share], videos_in_both: int, disagreements: int) -> list[str]:
    """Lines on shares that are off the aim, on videos in both sets and on levels that disagree."""
    lines = []
    off = {name: one for name, one in shares.items() if one.train + one.val and not AIM[0] <= one.share <= AIM[1]}
    if off:
        listed = ", ".join(
            f"{name} {one.share:.0%} of {one.train_videos + one.val_videos} videos" for name, one in off.items()
        )
        lines.append(
            f"{len(off)} of {len(shares)} classes have not 60–80% of their images in train ({SHARES}): {listed}"
        )
    empty = [name for name, one in shares.items() if not one.train + one.val]
    if empty:
        lines.append(f"no images of {', '.join(empty)}")
    if videos_in_both:
        lines.append(f"{videos_in_both} videos are in both train and val; --split video keeps them apart")
    if disagreements:
        lines.append(f"{disagreements} stated levels disagree with the masks ({DISAGREEMENTS})")
    return lines
