"""`snellen build occluders`: objects cut out of images, to stand before others."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from snellen.cli.build_words import tell_warnings, words
from snellen.cli.options import AsJson, Quiet
from snellen.terminal import show, show_block

EXAMPLE = (
    "snellen build occluders --data 'ovis:coco/instances_val2017.json?frames=coco/val2017' --target manifest:iruo/val.csv "
    "--out objects"
)


def occluders(
    data: Annotated[str, typer.Option(help="images with masks: coco:…, ovis:… (every instance), voc:…?masks=true, …")],
    out: Annotated[Path, typer.Option(help="folder to write; new, empty, or of the same build")],
    target: Annotated[str | None, typer.Option(help="data to be occluded: no cut-out is of one of its classes")] = None,
    without: Annotated[str | None, typer.Option(help="further classes to leave out, separated by commas")] = None,
    per_class: Annotated[int, typer.Option(help="objects of each class")] = 8,
    min_pixels: Annotated[int, typer.Option(help="pixels that an object must have")] = 1000,
    whole: Annotated[
        bool, typer.Option("--whole/--no-whole", help="leave out objects that touch the border of their image")
    ] = True,
    seed: Annotated[int, typer.Option(help="seed of the choice")] = 0,
    workers: Annotated[int | None, typer.Option(help="processes; default one per core; changes no byte")] = None,
    json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Cut objects of classes that the target has not out of images, as PNGs with transparency for --occluders."""
    from snellen.build.occluders import build

    built = build(
        data, out, target=target, without=words(without), per_class=per_class, min_pixels=min_pixels, whole=whole, seed=seed,
        workers=workers, quiet=quiet,
    )  # fmt: skip
    if json:
        show_block(built.json)
    elif not quiet:
        show(
            f"{sum(built.classes.values()):,} cut-outs of {sum(map(bool, built.classes.values()))} classes: {built.out}"
        )
        tell_warnings(built.rejected, built.out, built.warnings)
