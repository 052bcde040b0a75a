"""Which networks of timm can be audited from files: 30 architectures with random weights as they are, as ONNX and as .pt2.

Each is built for twelve classes and small images, written by `torch.onnx.export` and `torch.export.save`, and audited three
times on the same images under the same distortions. A row of two tables agrees where the classes are the same, or the margin
between the first two is below 1e-4. Throughput is of model calls on one batch, ONNX and native in turn, the median over the
rounds. The page is written after each network; networks that it lists are not measured again unless `--only` names them.

    python benchmarks/adapters.py --threads 1 --out docs/results/adapters.md
    python benchmarks/adapters.py --only resnet18 vit_tiny_patch16_224
"""

from __future__ import annotations

import argparse
import logging
import platform
import statistics
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
import timm
import torch
from torch import nn

import snellen
from snellen.models import from_torch
from snellen.models.model import Model, probe_images

# By kind; with the side of the images where it is not 64, which some need for their grids of windows.
ARCHITECTURES = {
    "convolutional": {
        "resnet18": 64, "resnet50": 64, "resnetv2_50": 64, "resnext50_32x4d": 64, "wide_resnet50_2": 64, "seresnet50": 64,
        "vgg11_bn": 64, "densenet121": 64, "mobilenetv2_100": 64, "mobilenetv3_small_100": 64, "efficientnet_b0": 64,
        "tf_efficientnetv2_b0": 64, "regnetx_002": 64, "convnext_atto": 64, "repvgg_a0": 64, "ghostnet_100": 64,
    },
    "transformer": {
        "vit_tiny_patch16_224": 64, "deit_tiny_patch16_224": 64, "swin_tiny_patch4_window7_224": 112,
        "swinv2_cr_tiny_ns_224": 224, "beit_base_patch16_224": 64, "cait_xxs24_224": 64, "xcit_nano_12_p16_224": 64,
        "pvt_v2_b0": 64,
    },
    "hybrid": {
        "mobilevit_xs": 64, "coatnet_nano_rw_224": 224, "maxvit_tiny_rw_224": 224, "levit_128s": 224,
        "efficientformer_l1": 224, "poolformer_s12": 64,
    },
}  # fmt: skip
CLASSES = 12
MEAN = STD = (0.5, 0.5, 0.5)
SETTINGS = "mean=0.5&std=0.5"
MARGIN = 1e-4  # between the first two probabilities, below which either may be first
AUDITS = ["occlusion(areas=[0.3], fills=[black])"]


@dataclass
class Row:
    """What came of one architecture: per format how its table agrees or why it failed, and images per second."""

    kind: str
    name: str
    side: int
    onnx: str = ""
    exported: str = ""
    native_rate: float = float("nan")
    onnx_rate: float = float("nan")

    def __str__(self) -> str:
        ratio = self.onnx_rate / self.native_rate
        rates = f"{self.native_rate:.1f} | {self.onnx_rate:.1f} | {ratio:.2f}" if np.isfinite(ratio) else " | | "
        return f"| {self.name} | {self.kind} | {self.side} | {self.onnx} | {self.exported} | {rates} |"

    @classmethod
    def read(cls, line: str) -> Row:
        """The row that was written so."""
        name, kind, side, onnx, exported, native, stored, _ = (part.strip() for part in line.strip("|\n").split("|"))
        return cls(kind, name, int(side), onnx, exported, float(native or "nan"), float(stored or "nan"))


def build(name: str, side: int) -> nn.Module:
    """The network with random weights, its logits standardised over the probe images, so that its answers depend on the image."""
    torch.manual_seed(0)
    sized: dict[str, Any] = {}
    if any(word in name for word in ("vit_tiny", "deit", "swin", "beit", "cait")):
        sized["img_size"] = side
    network = timm.create_model(name, num_classes=CLASSES, **sized).eval()
    heads = [part for part in network.modules() if isinstance(part, nn.Linear) and part.out_features == CLASSES]
    pixels = (probe_images((side, side)) / 255 - 0.5) / 0.5
    with torch.no_grad():
        for part in heads:
            nn.init.normal_(part.weight)
        _set_statistics(network, pixels)  # else what some networks show vanishes, layer by layer
        spread = network(pixels).std(0)
        for part in heads:
            part.weight /= spread[:, None]
            part.bias /= spread
        middle = network(pixels).mean(0)
        for part in heads:
            part.bias -= middle
    return network


def _set_statistics(network: nn.Module, pixels: torch.Tensor) -> None:
    """The statistics of batch normalisations as they are on some images."""
    for part in network.modules():
        if isinstance(part, nn.modules.batchnorm._BatchNorm):
            part.momentum = 1.0
    network.train()(pixels)
    network.eval()


def try_network(kind: str, name: str, side: int, images: int, rounds: int) -> Row:
    """One row of the table."""
    row = Row(kind, name, side)
    network = build(name, side)
    classes = list(snellen.load_data(f"phantom:test?size={side}&n={images}").classes)
    native = from_torch(network, classes, side, MEAN, STD, name="native", device="cpu")
    with tempfile.TemporaryDirectory() as folder:
        table = audited(native, side, images)
        names = Path(folder, "classes.txt")
        names.write_text("\n".join(classes))
        for form, write in (("onnx", write_onnx), ("exported", write_exported)):
            path = Path(folder, "net.onnx" if form == "onnx" else "net.pt2")
            try:
                write(network, side, path)
            except Exception as error:  # of torch: its exporters do not know every operator
                setattr(row, form, f"not exported: {type(error).__name__}")
                continue
            text = f"{form}:{path}#{SETTINGS}&classes={names}"
            try:
                model = snellen.load_model(text, device="cpu")
                setattr(row, form, agreement(table, audited(text, side, images)))
            except snellen.UserError as error:
                setattr(row, form, f"refused: {str(error).replace(str(path), path.name)[:120]}")
                continue
            if form == "onnx":
                row.native_rate, row.onnx_rate = rates(native, model, side, rounds)
    return row


def write_onnx(network: nn.Module, side: int, path: Path) -> None:
    torch.onnx.export(network, (torch.zeros(2, 3, side, side),), path, dynamic_shapes=batches(), verbose=False)


def write_exported(network: nn.Module, side: int, path: Path) -> None:
    program = torch.export.export(network, (torch.zeros(2, 3, side, side),), dynamic_shapes=batches())
    torch.export.save(program, path)


def batches() -> tuple[dict[int, Any]]:
    return ({0: torch.export.Dim("batch")},)


def audited(model: Model | str, side: int, images: int) -> Any:
    """The table of answers of an audit."""
    run = snellen.audit(model, f"phantom:test?size={side}&n={images}", AUDITS, quiet=True, device="cpu", keep="top5")
    try:
        return run.predictions().sort_values(["distortion", "seed", "sample"], ignore_index=True)
    finally:
        run.remove()  # type: ignore[attr-defined]


def agreement(first: Any, second: Any) -> str:
    """How two tables of the same questions agree."""
    if not (first[["distortion", "sample"]] == second[["distortion", "sample"]]).all(None):
        return "other questions"
    same = (first["raw"] == second["raw"]).to_numpy()
    apart = np.abs(first["confidence"] - second["confidence"]).to_numpy()
    close = np.abs(first["label_prob"] - second["label_prob"]).max()
    if (~same & (apart > MARGIN)).any():
        return f"differs in {int((~same).sum())} of {len(same)}"
    return f"same, {max(apart.max(), close):.0e}"


def rates(native: Model, stored: Model, side: int, rounds: int) -> tuple[float, float]:
    """Images per second of both, in turn in one process."""
    pixels = probe_images((side, side))
    times: dict[str, list[float]] = {"native": [], "stored": []}
    for _ in range(rounds + 1):
        for name, model in (("native", native), ("stored", stored)):
            start = time.perf_counter()
            model(pixels)
            times[name].append(time.perf_counter() - start)
    native_rate, stored_rate = (len(pixels) / statistics.median(seconds[1:]) for seconds in times.values())
    return native_rate, stored_rate


def page(rows: list[Row], threads: int, images: int) -> str:
    """The results as a page."""
    works = {form: sum(str(getattr(row, form)).startswith("same") for row in rows) for form in ("onnx", "exported")}
    ratios = [row.onnx_rate / row.native_rate for row in rows if np.isfinite(row.onnx_rate)]
    listed = sum(map(len, ARCHITECTURES.values()))
    versions = (
        f"torch {torch.__version__.partition('+')[0]}, timm {timm.__version__}, onnxruntime {onnxruntime.__version__}"
    )
    lines = [
        "# Networks in files: what works",
        "",
        f"**{works['onnx']} of {len(rows)} architectures of timm give the same table of answers as ONNX, {works['exported']} as "
        "torch.export.** onnxruntime shows",
        f"{statistics.median(ratios):.2f} times the images per second of the native network (median; {min(ratios):.2f} to "
        f"{max(ratios):.2f}).",
        "",
        f"Random weights, {images} images of the phantom world, clean, mildly noisy and occluded. CPU ({platform.machine()}), "
        f"{threads} thread{'s' if threads > 1 else ''}, fp32.",
        f"{versions}. Made by `python benchmarks/adapters.py`.",
        *(
            [f"Measured so far: {len(rows)} of the {listed} architectures that the script lists."]
            if len(rows) < listed
            else []
        ),
        "",
        "*same*: every answer names the same class, or one that is within 1e-4; the number is the largest difference between",
        "probabilities. Images per second are of batches of 16, native and ONNX in turn. *not exported*: `torch.onnx.export`",
        "itself ends with that error, whether the batch is fixed or not, so there is no file.",
        "",
        "| network | kind | px | ONNX | .pt2 | native /s | ONNX /s | ratio |",
        "|---|---|---|---|---|---|---|---|",
        *map(str, rows),
        "",
    ]
    return "\n".join(lines)


def chosen(only: list[str]) -> Iterator[tuple[str, str, int]]:
    for kind, names in ARCHITECTURES.items():
        for name, side in names.items():
            if not only or name in only:
                yield kind, name, side


def main(say: Callable[[str], None] = print) -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--images", type=int, default=24)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--only", nargs="*", default=[])
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    logging.disable(logging.ERROR)
    torch.set_num_threads(options.threads)
    rows = measured(options.out)
    for kind, name, side in chosen(options.only):
        if name in rows and name not in options.only:
            continue
        try:
            rows[name] = try_network(kind, name, side, options.images, options.rounds)
        except Exception as error:
            rows[name] = Row(kind, name, side, onnx=f"fails as it is: {type(error).__name__}")
            say(f"{name}: {error}")
        say(str(rows[name]))
        if options.out:
            listed = [rows[name] for _, name, _ in chosen([]) if name in rows]
            options.out.write_text(page(listed, options.threads, options.images))


def measured(out: Path | None) -> dict[str, Row]:
    """The rows that a page has already, by network."""
    if out is None or not out.exists():
        return {}
    named = {name for names in ARCHITECTURES.values() for name in names}
    rows = [Row.read(line) for line in out.read_text().splitlines() if line[2:].partition(" ")[0] in named]
    return {row.name: row for row in rows}


if __name__ == "__main__":
    main()
