"""`snellen build hts`: a subset of clear images for people to label."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from snellen.cli.build_words import tell_warnings
from snellen.cli.options import AsJson, Quiet
from snellen.terminal import show, show_block

EXAMPLE = "snellen build hts --data manifest:iruo/val.csv --calibrate swin=nets/swin.safetensors --out hts"


def hts(
    data: Annotated[str, typer.Option(help="images with levels of occlusion, such as manifest:iruo/val.csv")],
    out: Annotated[Path, typer.Option(help="folder to write; new, empty, or of the same build")],
    per: Annotated[int, typer.Option(help="images per class and level")] = 8,
    min_pixels: Annotated[float, typer.Option(help="images have more pixels than this")] = 10_000,
    min_sharpness: Annotated[float, typer.Option(help="and a variance of the Laplacian above this")] = 20,
    resized: Annotated[
        bool, typer.Option("--resized/--native", help="measure the sharpness at --size, or on the image as it is")
    ] = False,
    size: Annotated[int, typer.Option(help="width and height for --resized")] = 224,
    levels: Annotated[
        bool, typer.Option("--levels/--no-levels", help="so many per class and level, or per class alone")
    ] = True,
    calibrate: Annotated[
        list[str] | None,
        typer.Option(metavar="MODEL", help="choose both bounds by this model's answers at level 0; repeat for several"),
    ] = None,
    target: Annotated[float, typer.Option(help="mean accuracy at level 0 that the bounds must give")] = 0.9,
    labels: Annotated[
        str | None, typer.Option(metavar="FILE", help="label map of these models; default matches class names")
    ] = None,
    seed: Annotated[int, typer.Option(help="seed of the choice")] = 0,
    limit: Annotated[int | None, typer.Option(help="look at no more than N images")] = None,
    workers: Annotated[int | None, typer.Option(help="processes; default one per core; changes no byte")] = None,
    json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Choose clear images, so many per class and level, for people to label."""
    from snellen.build.hts import build

    built = build(
        data, out, per=per, min_pixels=min_pixels, min_sharpness=min_sharpness, resized=resized, size=size, levels=levels,
        calibrate=tuple(calibrate or ()), target=target, labels=labels, seed=seed, limit=limit, workers=workers, quiet=quiet,
    )  # fmt: skip
    if json:
        show_block(built.json)
    elif not quiet:
        show(f"{sum(built.images.values()):,} images in {len(built.images)} classes: {built.out}")
        accuracy = "" if built.accuracy != built.accuracy else f", {built.accuracy:.1%} right at level 0"
        show(f"more than {built.min_pixels:,.0f} pixels, sharpness above {built.min_sharpness:g}{accuracy}")
        tell_warnings(built.rejected, built.out, built.warnings)
