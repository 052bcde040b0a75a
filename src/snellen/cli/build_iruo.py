"""`snellen build iruo`: image recognition under occlusion from annotated videos."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from snellen.cli.build_words import tell_warnings, words
from snellen.cli.options import AsJson, Quiet
from snellen.terminal import show, show_block

EXAMPLE = "snellen build iruo --annotations ovis/annotations_train.json --frames ovis/train --out iruo"


def iruo(
    annotations: Annotated[
        Path, typer.Option(help="JSON of OVIS, YouTube-VIS or COCO, or a CSV file of frames, masks and labels")
    ],
    out: Annotated[Path, typer.Option(help="folder to write; new, empty, or of the same build")],
    frames: Annotated[
        Path | None, typer.Option(help="folder of the frames; default one beside the annotations")
    ] = None,
    classes: Annotated[
        str | None, typer.Option(help="classes, separated by commas; default all, of OVIS the published 23")
    ] = None,
    without: Annotated[str | None, typer.Option(help="classes to leave out, separated by commas")] = None,
    split: Annotated[
        str, typer.Option(help="video (none in both sets), class (one cut per class) or class-level (as published)")
    ] = "video",
    share: Annotated[float, typer.Option(help="share of the images for training")] = 0.7,
    levels: Annotated[
        str, typer.Option(help="measured (from full and visible masks, where known) or stated (by the annotations)")
    ] = "measured",
    level_table: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="CSV file of levels (path, video, frame, instance; level), stated instead"),
    ] = None,
    tolerance: Annotated[float, typer.Option(help="hidden share up to which an object is not occluded")] = 1e-4,
    margin: Annotated[int, typer.Option(help="pixels around the object on every side")] = 20,
    pad: Annotated[
        bool, typer.Option("--pad/--no-pad", help="square crops at the frame's border, filled with black")
    ] = False,
    size: Annotated[int, typer.Option(help="scale crops to this width and height; default their own size")] = 0,
    min_clear: Annotated[int, typer.Option(help="images that each class must have at level 0")] = 1,
    naming: Annotated[
        str, typer.Option(help="instance (its id in the file name) or published (the last one in a frame stays)")
    ] = "instance",
    format: Annotated[str, typer.Option(help="jpeg or png")] = "jpeg",
    quality: Annotated[int, typer.Option(help="quality of JPEG files")] = 95,
    workers: Annotated[int | None, typer.Option(help="processes; default one per core; changes no byte")] = None,
    json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Cut annotated instances out of video frames, by level of occlusion, for training and testing."""
    from snellen.build.iruo import build

    built = build(
        annotations, frames, out, level_table=level_table, classes=words(classes), without=words(without), split=split,
        share=share, levels=levels, tolerance=tolerance, margin=margin, pad=pad, size=size, min_clear=min_clear, naming=naming,
        format=format, quality=quality, workers=workers, quiet=quiet,
    )  # fmt: skip
    if json:
        show_block(built.json)
    elif not quiet:
        sizes = ", ".join(f"{count:,} {name}" for name, count in built.images.items())
        show(f"{sum(built.images.values()):,} images ({sizes}) in {len(built.shares)} classes: {built.out}")
        tell_warnings(built.rejected, built.out, built.warnings)
