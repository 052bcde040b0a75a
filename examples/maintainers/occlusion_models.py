"""Kassaw et al. 2024: do networks made for occlusion stand it better than those that they begin with?

    python examples/maintainers/occlusion_models.py --net resnet20             # of the data pack, 3,000 training images, 2 runs
    python examples/maintainers/occlusion_models.py --net resnet56
    python examples/maintainers/occlusion_models.py --net runs                 # the pack's ResNet-20 runs: basic, MixUp, CutMix
    python examples/maintainers/occlusion_models.py --scratch --device cuda    # networks of the zoo, all of CIFAR-10
    python examples/maintainers/occlusion_models.py --tables                   # the results so far, as Markdown

Four ways per network: as given, fine-tuned on the same images (the control), deep feature augmentation (`dfa`), and a
CompositionalNet on its features. All learn from unoccluded images only. Occluders are synthetic (squares of noise, cut-out
objects that dfa has not seen) and diffuse (lattices), by share of the image: CIFAR-10 has no masks. `occlusion_pets.py` asks
where on photographs of pets an occluder is. The data pack: `examples/maintainers/README.md`.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from PIL import Image
from torch import nn

sys.path.insert(0, str(Path(__file__).parent))
from shared_networks import CIFAR10, _pack, shared

from snellen.data import limited, load_data
from snellen.distort import apply
from snellen.models import load_model
from snellen.models.checkpoint import load_into, save_checkpoint
from snellen.models.zoo import build
from snellen.train import train
from snellen.train.device_dataset import remember

CONDITIONS = (
    "none", "occlude(0.2, noise)", "occlude(0.4, noise)", "cutouts(0.2)", "cutouts(0.4)", "lattice(0.25, 4)", "lattice(0.5, 4)",
)  # fmt: skip
LEARNT, TESTED = ("bmx-trees", "soapbox"), ("camel",)  # of DAVIS: none of them a class of CIFAR-10 or a pet
SCRATCH = ("resnet20", "vgg16_bn", "preact_resnet18_fmix", "wide_resnet16_4")
MEAN, STD = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)  # inside the pack's networks


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--net", choices=("resnet20", "resnet56", "runs"), help="of the data pack")
    parser.add_argument("--scratch", nargs="*", metavar="ARCH", help=f"train these first; default: {' '.join(SCRATCH)}")
    parser.add_argument("--tables", action="store_true", help="print the results as Markdown")
    parser.add_argument("--train", type=int, help="training images; default: 3,000 for --net, all for --scratch")
    parser.add_argument("--test", type=int, default=500, help="test images")
    parser.add_argument("--epochs", type=int, default=2, help="of fine-tuning")
    parser.add_argument("--first-epochs", type=int, default=15, help="of training from scratch")
    parser.add_argument("--runs", type=int, default=2)
    parser.add_argument("--kernels", type=int, default=512)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--out", type=Path, default=Path("runs/occlusion-models"))
    chosen = parser.parse_args()
    if chosen.tables:
        print("\n\n".join(table(file) for file in sorted(chosen.out.glob("*.json"))))
        return
    write_cutouts(chosen.out / "learnt", LEARNT)
    write_cutouts(chosen.out / "cutouts", TESTED)
    if chosen.net:
        learnt, test = write_data(chosen.out, whole=False)
        if chosen.net == "runs":
            for mix in ("mixup", "cutmix"):
                starts = pack_runs(mix, chosen)
                keep(chosen.out / f"resnet20-{mix}-runs.json", {mix: [answers(path, test, chosen) for path in starts]})
            compare("resnet20-runs", "resnet20", pack_runs("basic", chosen), learnt, test, chosen)
            return
        module = _pack("models/cifar_models").load(f"cifar10_{chosen.net}")
        start = pack_checkpoint(chosen.net, module, chosen.out / "given" / f"{chosen.net}.safetensors")
        compare(chosen.net, chosen.net, [start], learnt, test, chosen)
    elif chosen.scratch is not None:
        learnt, test = write_data(chosen.out, whole=True)
        for arch in chosen.scratch or SCRATCH:
            for mix in ("none", "mixup", "cutmix"):
                how = {
                    "arch": arch,
                    "mix": mix,
                    "epochs": chosen.first_epochs,
                    "runs": chosen.runs,
                    "device": chosen.device,
                }
                starts = train("fast", limited(load_data(learnt), chosen.train), chosen.out / "scratch" / arch, **how)
                if mix == "none":
                    compare(f"{arch}-scratch", arch, starts, learnt, test, chosen)
                else:
                    keep(chosen.out / f"{arch}-{mix}-scratch.json", {mix: [answers(p, test, chosen) for p in starts]})
    else:
        parser.error("give --net, --scratch or --tables")


def compare(name: str, arch: str, starts: list[Path], learnt: str, test: str, chosen: argparse.Namespace) -> None:
    """The four ways on one network, a start for each run or the same for all; the result is kept as JSON."""
    ways: dict[str, dict[str, Any]] = {
        "fine-tuned": {"arch": arch},
        "dfa": {"arch": arch, "robust": f"dfa('{chosen.out / 'learnt'}')"},
        "compositional": {"arch": f"compositional({arch}, kernels={chosen.kernels})"},
    }
    found = {"given": [answers(path, test, chosen) for path in starts]}
    data = limited(load_data(learnt), chosen.train)
    for way, settings in ways.items():
        found[way] = []
        for run in range(chosen.runs):
            (path,) = train(
                None, data, chosen.out / "tuned" / name / way / str(run), init=starts[run % len(starts)], seed=run,
                epochs=chosen.epochs, lr=0.01, device=chosen.device, **settings,
            )  # fmt: skip
            found[way].append(answers(path, test, chosen))
            print(way, run, {c: round(100 * float(np.mean(v)), 1) for c, v in found[way][-1].items()}, flush=True)
        keep(chosen.out / f"{name}.json", found)


def answers(path: Path, test: str, chosen: argparse.Namespace) -> dict[str, list[int]]:
    """1 for each test image that is classified correctly, by condition."""
    data = limited(load_data(test), chosen.test)
    device = torch.device(chosen.device)
    images, labels = remember(data, torch.device("cpu")).images, torch.as_tensor(data.samples.labels)
    model = load_model(str(path), device=chosen.device)
    found = {}
    for condition in CONDITIONS:
        shown = images
        if condition != "none":
            shown = apply(condition, images, list(data.samples.ids), occluders=chosen.out / "cutouts")
        predicted = torch.cat([model(part.to(device)).argmax(1).cpu() for part in shown.split(250)])
        found[condition] = (predicted == labels).int().tolist()
    return found


def table(file: Path) -> str:
    """Accuracy in % by condition and way, the mean of the runs; in brackets the difference from the fine-tuned control with its
    95% interval over images."""
    runs = json.loads(file.read_text())
    right = {way: np.array([list(run.values()) for run in those]).mean(0) for way, those in runs.items()}
    control = right.get("fine-tuned", next(iter(right.values())))
    lines = [f"| {file.stem} | {' | '.join(right)} |", "|---" * (len(right) + 1) + "|"]
    for row, condition in enumerate(CONDITIONS):
        cells = [f"{100 * answers[row].mean():.1f}" for answers in right.values()]
        for place, way in enumerate(right):
            if way in ("dfa", "compositional"):
                cells[place] += f" ({interval(right[way][row] - control[row])})"
        lines.append(f"| `{condition}` | {' | '.join(cells)} |")
    return "\n".join(lines).replace("-", "−").replace("|−−−", "|---").replace("fine−tuned", "fine-tuned")


def interval(differences: np.ndarray) -> str:
    """A 95% percentile bootstrap of the mean over images, in points."""
    rows = np.random.default_rng(0).integers(len(differences), size=(2000, len(differences)))
    low, high = np.quantile(100 * differences[rows].mean(1), (0.025, 0.975))
    return f"{100 * differences.mean():+.1f}, {low:+.1f} to {high:+.1f}"


def keep(file: Path, found: Any) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(found))


def write_data(folder: Path, *, whole: bool) -> tuple[str, str]:
    """CIFAR-10 as arrays: all training images (JPEG of quality 94), or 3,000 without loss, and 2,000 test images."""
    texts = []
    folder.mkdir(parents=True, exist_ok=True)
    for split in ("train", "test"):
        path = folder / f"{split}{'-whole' if whole else ''}.npz"
        texts.append(f"arrays:{path}")
        if path.exists():  # another network may be reading it
            continue
        pack = _pack("realdata")
        images, labels = (pack.load_full if whole and split == "train" else pack.load_small)("cifar10", split)[:2]
        ids = [f"{split}-{row:05d}" for row in range(len(images))]
        np.savez(path, images=images, labels=labels.astype(np.int64), classes=np.array(CIFAR10), ids=ids)
    return texts[0], texts[1]


def pack_checkpoint(arch: str, module: nn.Module, path: Path) -> Path:
    """A network of the pack as a checkpoint of the zoo's, to begin with."""
    network = build(arch, 10)
    network.load_state_dict(module.state_dict())
    path.parent.mkdir(parents=True, exist_ok=True)
    save_checkpoint(path, network, {"arch": arch, "classes": CIFAR10, "size": (32, 32), "mean": MEAN, "std": STD})
    return path


def pack_runs(mix: str, chosen: argparse.Namespace) -> list[Path]:
    """The pack's ResNet-20, trained from scratch on all of CIFAR-10 with a mixing method, as checkpoints of the zoo's."""
    files = [shared() / "models" / "cifar10_runs" / f"{mix}-{run}.safetensors" for run in range(chosen.runs)]
    modules = [load_into(_pack("models/cifar_models").CifarResNet(3), file) for file in files]
    return [pack_checkpoint("resnet20", m, chosen.out / "given" / file.name) for m, file in zip(modules, files)]


def write_cutouts(folder: Path, sequences: Sequence[str]) -> Path:
    """The objects of some DAVIS sequences as PNGs with transparency."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in sequences:
        for file in sorted((shared() / "davis" / name).glob("*_mask.png")):
            picture = Image.open(file.with_name(file.name.replace("_mask.png", ".jpg"))).convert("RGB")
            mask = Image.open(file).convert("L").point(lambda level: 255 if level else 0)
            if box := mask.getbbox():
                picture.putalpha(mask)
                picture.crop(box).save(folder / f"{name}-{file.name.removesuffix('_mask.png')}.png")
    return folder


if __name__ == "__main__":
    main()
