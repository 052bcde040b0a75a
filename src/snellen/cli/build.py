"""`snellen build`: datasets made and written to files."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from snellen.cli import build_covered, build_hts, build_iruo, build_occluders
from snellen.cli.options import AsJson, Quiet, epilog
from snellen.terminal import show, show_block

build = typer.Typer(help="Make datasets and write them to files.", no_args_is_help=True, rich_markup_mode=None)


@build.command(
    epilog=epilog("snellen build phantom --format coco --out phantom-coco --world 'phantom:test?occlusion=1'")
)
def phantom(
    format: Annotated[str, typer.Option(help="folder, voc, coco, ovis or cue-conflict")],
    out: Annotated[Path, typer.Option(help="folder to write; new, empty, or of the same export")],
    world: Annotated[
        str | None, typer.Option(help="the world and its dials; default one that suits the format")
    ] = None,
    scene: Annotated[
        str | None, typer.Option(help="background of cue conflicts: sky, meadow, …; default plain")
    ] = None,
    limit: Annotated[int | None, typer.Option(help="write at most N images")] = None,
    json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Write the phantom world, with its whole truth, in a format that other tools read."""
    from snellen.build.phantom.export import export

    exported = export(world, format, out, limit=limit, scene=scene, quiet=quiet)
    if json:
        show_block(exported.json)
    elif not quiet:
        show(f"{exported.images:,} images: {exported.out}")


@build.command(
    "in9", epilog=epilog("snellen build in9 --data voc:VOC2007 --classes all --out variants --size 224 --workers 8")
)
def in9_(
    data: Annotated[str, typer.Option(help="images with boxes: voc:…, coco:…, boxes:file.csv, …")],
    out: Annotated[Path, typer.Option(help="folder to write; new, empty, or of the same build")],
    classes: Annotated[
        str | None,
        typer.Option(help="nine, all, or a CSV file (class, group); default nine where the data have all of them"),
    ] = None,
    size: Annotated[int, typer.Option(help="width and height of the images in pixels")] = 224,
    scale: Annotated[int, typer.Option(help="scale the shorter side to this before the crop; default 8/7 of size")] = 0,
    interpolation: Annotated[
        str, typer.Option(help="filter of the scaling: bicubic, bilinear, lanczos or nearest (as published)")
    ] = "bicubic",
    segment_size: Annotated[
        int | None, typer.Option(help="segment with the shorter side scaled to this; 256 for small images")
    ] = None,
    iterations: Annotated[int, typer.Option(help="iterations of GrabCut")] = 5,
    tries: Annotated[int, typer.Option(help="times that GrabCut is tried, each with another seed")] = 10,
    masks: Annotated[
        str | None, typer.Option(help="instead of GrabCut: data, a folder of masks, or python:file.py:factory")
    ] = None,
    inpaint: Annotated[str, typer.Option(help="how boxes are filled: tile (as published), telea or ns")] = "tile",
    sigma: Annotated[float, typer.Option(help="blur of bg_blurred in pixels")] = 8.0,
    own: Annotated[
        bool, typer.Option("--own/--no-own", help="an image may get its own background in mixed_same")
    ] = True,
    balance: Annotated[bool, typer.Option("--balance/--no-balance", help="cut all classes to the smallest")] = True,
    all_images: Annotated[bool, typer.Option("--all-images", help="originals only, boxed or not, as IN-9L")] = False,
    fine: Annotated[
        str | None, typer.Option(help="k:n, k sub-classes per class in groups of n, as IN-9LB 16:4")
    ] = None,
    curation: Annotated[
        Path | None, typer.Option(help="a CSV file (id, decision, reason) of what to leave out")
    ] = None,
    format: Annotated[str, typer.Option(help="png or jpeg")] = "png",
    quality: Annotated[int, typer.Option(help="quality of JPEG files")] = 95,
    split: Annotated[str, typer.Option(help="name of the split's folder")] = "val",
    seed: Annotated[int, typer.Option(help="seed of GrabCut, of backgrounds and of balancing")] = 0,
    workers: Annotated[int | None, typer.Option(help="processes; default one per core; changes no byte")] = None,
    limit: Annotated[int | None, typer.Option(help="judge at most N images")] = None,
    as_published: Annotated[
        bool,
        typer.Option(
            "--as-published", help="every choice as in Xiao et al. 2021, nearest-neighbour scaling among them"
        ),
    ] = False,
    json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Build the variants of ImageNet-9 (object and background apart, and exchanged) from images with boxes."""
    from snellen.build.in9 import build as build_in9
    from snellen.build.in9.settings import read_fine

    built = build_in9(
        data, out, classes, size=size, scale=scale, interpolation=interpolation, segment_size=segment_size,
        iterations=iterations, tries=tries, masks=masks, inpaint=inpaint, sigma=sigma, own=own, balance=balance,
        all_images=all_images, fine=read_fine(fine), curation=curation, format=format, quality=quality, split=split,
        seed=seed, workers=workers, limit=limit, quiet=quiet, published=as_published,
    )  # fmt: skip
    if json:
        show_block(built.json)
    elif not quiet:
        rejections = ", ".join(f"{count:,} {reason}" for reason, count in built.rejected.items())
        show(f"{built.images:,} of {built.judged:,} images in {len(built.classes)} classes: {built.out}")
        show(f"not taken: {rejections or 'none'}; see {built.out / 'rejections.md'}")


build.command("iruo", epilog=epilog(build_iruo.EXAMPLE))(build_iruo.iruo)
build.command("hts", epilog=epilog(build_hts.EXAMPLE))(build_hts.hts)
build.command("synthetic", epilog=epilog(build_covered.SYNTHETIC))(build_covered.synthetic)
build.command("diffuse", epilog=epilog(build_covered.DIFFUSE))(build_covered.diffuse)
build.command("occluders", epilog=epilog(build_occluders.EXAMPLE))(build_occluders.occluders)
