"""`snellen build`: make a request of the options and the settings file, carry it out, print."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from typing import Any

import typer

from snellen.build.diffuse import DiffuseRequest
from snellen.build.hts.request import HtsRequest
from snellen.build.in9.request import In9Request
from snellen.build.iruo.request import IruoRequest
from snellen.build.occluders.request import OccludersRequest
from snellen.build.phantom.request import PhantomRequest
from snellen.build.request import BuildRequest, CrewRequest
from snellen.build.synthetic import SyntheticRequest
from snellen.cli.options import AsJson, Config, epilog, takes
from snellen.settings_file import resolve
from snellen.terminal import show, show_block, tell

build = typer.Typer(help="Make datasets and write them to files.", no_args_is_help=True, rich_markup_mode=None)

# Each builder with its settings, what it does, and a line to paste, which its --help ends with.
BUILDERS: dict[str, tuple[type[BuildRequest], str, str]] = {
    "phantom": (
        PhantomRequest,
        "Write the phantom world, with its whole truth, in a format that other tools read.",
        "snellen build phantom --format coco --out phantom-coco --world 'phantom:test?occlusion=1'",
    ),
    "in9": (
        In9Request,
        "Build the variants of ImageNet-9 (object and background apart, and exchanged) from images with boxes.",
        "snellen build in9 --data voc:VOC2007 --classes all --out variants --size 224 --workers 8",
    ),
    "iruo": (
        IruoRequest,
        "Cut annotated instances out of video frames, by level of occlusion, for training and testing.",
        "snellen build iruo --annotations ovis/annotations_train.json --frames ovis/train --out iruo",
    ),
    "hts": (
        HtsRequest,
        "Choose clear images, so many per class and level, for people to label.",
        "snellen build hts --data manifest:iruo/val.csv --calibrate swin=nets/swin.safetensors --out hts",
    ),
    "synthetic": (
        SyntheticRequest,
        "Cover objects with boxes (black, white, noise, stripes) and cut-out objects, and write the images.",
        "snellen build synthetic --data 'manifest:iruo/val.csv?level=0' --train 'manifest:iruo/train.csv?level=0' "
        "--occluders objects --out synthetic",
    ),
    "diffuse": (
        DiffuseRequest,
        "Put objects behind solid boxes, gates and lattices, and write the images.",
        "snellen build diffuse --data 'phantom:test?size=64&n=60' --size 64 --out diffuse",
    ),
    "occluders": (
        OccludersRequest,
        "Cut out objects of classes absent from the target, as PNGs with transparency for --occluders.",
        "snellen build occluders --data 'ovis:coco/instances_val2017.json?frames=coco/val2017' "
        "--target manifest:iruo/val.csv --out objects",
    ),
}


def _command(name: str, request: type[BuildRequest], purpose: str) -> Callable[..., None]:
    def run(settings: Mapping[str, Any], config: Config = None, json: AsJson = False) -> None:
        chosen = resolve(request, settings, config)
        builder = importlib.import_module(f"snellen.build.{name}")
        built = (builder.export_set if name == "phantom" else builder.build_set)(chosen)
        if json:
            show_block(built.json)
        elif not chosen.quiet:
            for line in built.lines:
                show(line)
            for line in built.notes:
                tell(f"note: {line}")

    run.__doc__ = purpose
    return takes(request, after=CrewRequest)(run)


for _name, (_request, _purpose, _example) in BUILDERS.items():
    build.command(_name, epilog=epilog(_example))(_command(_name, _request, _purpose))
