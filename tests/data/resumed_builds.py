"""Every builder on a few files, small enough to be killed and resumed many times; also a program that is killed in each."""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from snellen.build import diffuse, hts, in9, iruo, occluders, phantom, synthetic
from snellen.data.segmentation import mask_of, rle

CROWD = "size=32&object_size=0.4..0.6&clutter=0.3&occlusion=0.6"


def clips_of(inputs: Path) -> tuple[Path, Path]:
    return inputs / "clips" / "annotations_test.json", inputs / "clips" / "test"


def images_of(inputs: Path) -> str:
    return f"coco:{inputs}/images/annotations/instances_test.json?images={inputs}/images/test"


BUILDS: dict[str, Callable[[Path, Path], Any]] = {
    "in9": lambda inputs, out: in9.build(
        f"voc:{inputs}/boxed?masks=true", out, "all", size=16, masks="data", balance=False, largest=1.0, workers=1
    ),
    "iruo": lambda inputs, out: iruo.build(*clips_of(inputs), out, min_clear=0, workers=1),
    "hts": lambda inputs, out: hts.build(
        images_of(inputs), out, per=2, levels=False, min_pixels=0, min_sharpness=500.0, workers=1
    ),
    "synthetic": lambda inputs, out: synthetic.build(
        images_of(inputs), out, size=24, occluders=str(inputs / "cutouts"), types=("noise", "object"), workers=1
    ),
    "diffuse": lambda inputs, out: diffuse.build(
        images_of(inputs), out, size=24, types=("solid", "lattice_50_2"), pixels=(2,), min_sharpness=500.0, workers=1
    ),
    "occluders": lambda inputs, out: occluders.build(
        images_of(inputs), out, without=("disc",), min_pixels=60, whole=False, per_class=2, workers=1
    ),
    "in9 rebuilt": lambda inputs, out: in9.rebuild(
        str(inputs / "set"), str(inputs / "decisions.csv"), out, balance=False, workers=1
    ),
    "phantom": lambda inputs, out: phantom.export("phantom:test?size=24&n=12", "voc", out),
}


def make_inputs(inputs: Path) -> None:
    """The files that the builds read; pictures without compression, so that another one of its size takes as many bytes."""
    phantom.export(f"phantom:test?frames=4&n=32&{CROWD}", "ovis", inputs / "clips")
    phantom.export(f"phantom:test?n=24&{CROWD}", "coco", inputs / "images")
    phantom.export("phantom:test?n=24&size=32&object_size=0.3..0.6", "voc", inputs / "boxed")
    (inputs / "cutouts").mkdir()
    for number in range(3):
        rgba = np.full((12, 12, 4), 40 * (number + 1), np.uint8)
        rgba[..., 3] = 255 * (np.add.outer(np.arange(12), np.arange(12)) > 6 + number)
        Image.fromarray(rgba).save(inputs / "cutouts" / f"{number}.png")
    BUILDS["in9"](inputs, inputs / "set")
    names = sorted(file.stem for file in (inputs / "set" / "original").rglob("*.png"))
    rows = [f"{names[0]},reject,blurred,,,,", *(f"{name},accept,,1,2,9,8" for name in names[1:4])]
    (inputs / "decisions.csv").write_text("\n".join(["id,decision,reason,x0,y0,x1,y1", *rows]) + "\n")
    for file in pictures(inputs):
        with Image.open(file) as picture:
            picture.copy().save(file, compress_level=0)


def pictures(inputs: Path) -> list[Path]:
    """Photos and cut-outs, no masks."""
    folders = (
        inputs / "clips" / "test",
        inputs / "images" / "test",
        inputs / "boxed" / "JPEGImages",
        inputs / "cutouts",
        inputs / "set",
    )
    return sorted(file for folder in folders for file in folder.rglob("*.png"))


def replace_pictures(files: Sequence[Path]) -> None:
    """Turn pictures upside down and to their negatives; a file keeps its name, its size in bytes and its time."""
    for file in files:
        with Image.open(file) as picture:
            pixels = np.asarray(picture).copy()
        pixels[..., :3] = 255 - pixels[..., :3]
        facts = file.stat()
        Image.fromarray(pixels[::-1].copy()).save(file, compress_level=0)
        assert file.stat().st_size == facts.st_size
        os.utime(file, ns=(facts.st_atime_ns, facts.st_mtime_ns))


def replace_masks(inputs: Path) -> None:
    """Turn the masks in pictures upside down and move those in annotations by a pixel; files keep their names and times."""
    for file in (inputs / "boxed").rglob("Segmentation*/*.png"):
        with Image.open(file) as picture:
            turned = picture.transpose(Image.Transpose.FLIP_TOP_BOTTOM)
        facts = file.stat()
        turned.save(file, compress_level=0)
        os.utime(file, ns=(facts.st_atime_ns, facts.st_mtime_ns))
    for file in (clips_of(inputs)[0], inputs / "images/annotations/instances_test.json"):
        content, facts = json.loads(file.read_text()), file.stat()
        for annotation in content["annotations"]:
            for name, value in annotation.items():
                if "segmentation" in name:
                    annotation[name] = [moved(mask) for mask in value] if isinstance(value, list) else moved(value)
        file.write_text(json.dumps(content))
        os.utime(file, ns=(facts.st_atime_ns, facts.st_mtime_ns))


def moved(mask: dict[str, Any] | None) -> dict[str, Any] | None:
    """A mask of annotations, one pixel further down."""
    if mask is None:
        return None
    height, width = mask["size"]
    return rle(np.roll(mask_of(json.dumps(mask).encode(), width, height), 1, axis=0))


def kill_at(count: int) -> None:
    """End this process with SIGKILL when it would give a file its name for the `count`-th time from now."""
    replace, left = os.replace, [count]

    def counted(*words: Any, **named: Any) -> None:
        left[0] -= 1
        if left[0] <= 0:
            os.kill(os.getpid(), signal.SIGKILL)
        replace(*words, **named)

    os.replace = counted


def count_files(work: Callable[[], Any]) -> int:
    """How often some work gives a file its name."""
    replace, count = os.replace, [0]

    def counted(*words: Any, **named: Any) -> None:
        count[0] += 1
        replace(*words, **named)

    os.replace = counted
    try:
        work()
    finally:
        os.replace = replace
    return count[0]


def main() -> None:
    """Kill builds: one line on stdin each, `BUILDER INPUTS OUT COUNT`; every one in a process of its own."""
    for line in sys.stdin:
        name, inputs, out, count = line.rstrip("\n").split("\t")
        process = os.fork()
        if not process:
            kill_at(int(count))
            BUILDS[name](Path(inputs), Path(out))
            os._exit(0)
        _, status = os.waitpid(process, 0)
        print(os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0, flush=True)


if __name__ == "__main__":
    main()
