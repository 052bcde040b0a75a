"""`snellen build synthetic` and `snellen build diffuse`: images under occluders that are drawn on them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from snellen.cli.build_words import numbers, tell_warnings, words
from snellen.cli.options import AsJson, Quiet
from snellen.terminal import show, show_block

if TYPE_CHECKING:
    from snellen.build.covering.building import Built

SYNTHETIC = (
    "snellen build synthetic --data 'manifest:iruo/val.csv?level=0' --train 'manifest:iruo/train.csv?level=0' "
    "--occluders objects --out synthetic"
)
DIFFUSE = "snellen build diffuse --data 'phantom:test?size=64&n=60' --size 64 --out diffuse"

Data = Annotated[str | None, typer.Option(help="images to test with; they need masks: manifest:…, coco:…, phantom:…")]
Train = Annotated[str | None, typer.Option(help="images to train with, covered in the same way")]
Out = Annotated[Path, typer.Option(help="folder to write; new, empty, or of the same build")]
Types = Annotated[str | None, typer.Option(help="types of occluders, separated by commas; default all")]
Size = Annotated[int, typer.Option(help="width and height of the images in pixels; 0 leaves them as they are")]
Fit = Annotated[str, typer.Option(help="how an image gets this size: squash, crop or pad")]
Interpolation = Annotated[str, typer.Option(help="nearest, bilinear, bicubic, lanczos, box or hamming")]
Least = Annotated[float, typer.Option(help="least share of the object that is hidden")]
Most = Annotated[float, typer.Option(help="greatest share of the object that is hidden")]
Outside = Annotated[str, typer.Option(help="what to do beyond these: drop the image, or redraw the occluder")]
Pixels = Annotated[float, typer.Option("--min-pixels", help="leave out images of no more pixels; published 10000")]
Sharpness = Annotated[
    float,
    typer.Option("--min-sharpness", help="leave out images with no greater variance of the Laplacian; published 20"),
]
Resized = Annotated[
    bool, typer.Option("--resized/--native", help="measure the sharpness at --size, or on the image as it is")
]
Occluded = Annotated[bool, typer.Option("--occluded", help="also cover images whose level says that they are occluded")]
Seed = Annotated[int, typer.Option(help="seed of all draws, as of an audit")]
Limit = Annotated[int | None, typer.Option(help="take at most N images of either side")]
Workers = Annotated[int | None, typer.Option(help="processes; default one per core; changes no byte")]


def synthetic(
    out: Out,
    data: Data = None,
    train: Train = None,
    occluders: Annotated[
        str | None, typer.Option(help="folder of cut-outs for the type 'object'; snellen build occluders makes one")
    ] = None,
    types: Types = None,
    law: Annotated[
        str, typer.Option(help="sides of boxes as the paper says, or as the published code draws them")
    ] = "paper",
    object_size: Annotated[float, typer.Option(help="share of the image that a cut-out takes up")] = 0.25,
    stretch: Annotated[
        bool, typer.Option("--stretch/--no-stretch", help="cut-outs in the aspect of the image, or in their own")
    ] = True,
    size: Size = 224,
    fit: Fit = "squash",
    interpolation: Interpolation = "bilinear",
    least: Least = 0.05,
    most: Most = 0.95,
    outside: Outside = "drop",
    min_pixels: Pixels = 0,
    min_sharpness: Sharpness = 0,
    resized: Resized = False,
    occluded: Occluded = False,
    seed: Seed = 0,
    limit: Limit = None,
    workers: Workers = None,
    json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Cover objects with boxes (black, white, noise, stripes) and cut-out objects, and write the images."""
    from snellen.build.synthetic import build

    built = build(
        data, out, train=train, occluders=occluders, types=words(types), law=law, object_size=object_size, stretch=stretch,
        size=size, fit=fit, interpolation=interpolation, least=least, most=most, outside=outside, min_pixels=min_pixels,
        min_sharpness=min_sharpness, resized=resized, occluded=occluded, seed=seed, limit=limit, workers=workers, quiet=quiet,
    )  # fmt: skip
    _print(built, json, quiet)


def diffuse(
    out: Out,
    data: Data = None,
    train: Train = None,
    types: Types = None,
    box_law: Annotated[
        str, typer.Option(help="sides of solid boxes as in the published code, or as the paper says")
    ] = "code",
    gate_law: Annotated[
        str, typer.Option(help="which gates are drawn again, as the paper says or as the code does")
    ] = "paper",
    background: Annotated[
        str, typer.Option(help="gates beside the object: thin (as published), same as over it, or bare")
    ] = "thin",
    shares: Annotated[str, typer.Option(help="shares of lattices in percent, separated by commas")] = "25,50,75",
    pixels: Annotated[str, typer.Option(help="sides of the squares of lattices in pixels")] = "1,2,4,8,16",
    size: Size = 224,
    fit: Fit = "squash",
    interpolation: Interpolation = "bilinear",
    least: Least = 0.05,
    most: Most = 0.95,
    outside: Outside = "redraw",
    min_pixels: Pixels = 0,
    min_sharpness: Sharpness = 0,
    resized: Resized = False,
    occluded: Occluded = False,
    seed: Seed = 0,
    limit: Limit = None,
    workers: Workers = None,
    json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Put objects behind solid boxes, gates and lattices, and write the images."""
    from snellen.build.diffuse import build

    built = build(
        data, out, train=train, types=words(types), box_law=box_law, gate_law=gate_law, background=background,
        shares=numbers(shares, "--shares"), pixels=numbers(pixels, "--pixels"), size=size, fit=fit, interpolation=interpolation,
        least=least, most=most, outside=outside, min_pixels=min_pixels, min_sharpness=min_sharpness, resized=resized,
        occluded=occluded, seed=seed, limit=limit, workers=workers, quiet=quiet,
    )  # fmt: skip
    _print(built, json, quiet)


def _print(built: Built, json: bool, quiet: bool) -> None:
    if json:
        show_block(built.json)
    elif not quiet:
        sizes = ", ".join(f"{count:,} {name}" for name, count in built.images.items())
        show(f"{sum(built.images.values()):,} images ({sizes}) of {len(built.types)} types: {built.out}")
        tell_warnings(built.rejected, built.out, built.warnings)
