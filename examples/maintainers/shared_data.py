"""Write images of the data pack as snellen datasets.

python examples/maintainers/shared_data.py                    # runs/data: 2,000 CIFAR-10 test images, ImageNet photographs
python examples/maintainers/shared_data.py --whole datasets   # the files that examples/replication/ reads
python examples/maintainers/shared_data.py --whole datasets --sets cifar10 lossless   # some of them
python examples/maintainers/shared_data.py --boxed runs/tiny  # Tiny-ImageNet with boxes, for training and for testing
"""

from __future__ import annotations

import argparse
import csv
import shutil
import sys
import zipfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(1, str(Path(__file__).resolve().parents[1]))
from download import CLASSES, write_split
from shared_networks import CIFAR10, _pack, shared

OUT = Path("runs/data")
WHOLE = {
    "cifar10": ("train", "test"),
    "fashion_mnist": ("train", "test"),
    "mnist": ("train", "test"),
    "cifar100": ("test",),
}


def cifar10_test(path: Path) -> None:
    """The 2,000 test images with their official positions as ids."""
    images, labels, index = _pack("realdata").load_small("cifar10", "test")
    np.savez(path, images=images, labels=labels, ids=[f"test-{i:05d}" for i in index], classes=CIFAR10)


def imagenet_photographs(path: Path) -> None:
    """A manifest of the 84 photographs, labelled by WordNet id."""
    with (shared() / "imagenet_samples" / "labels.csv").open() as source, path.open("w", newline="") as target:
        writer = csv.writer(target)
        writer.writerow(["path", "label", "name"])
        writer.writerows([row["file"], row["wnid"], row["name"]] for row in csv.DictReader(source))


def whole_splits(folder: Path, names: Sequence[str]) -> None:
    """Whole splits, named as `examples/download.py` names the public ones; of CIFAR-100 the 2,500 test images of the pack.

    CIFAR-10's training images are JPEG of quality 94 there; the set `lossless` is the 3,000 of them that are without loss too.
    """
    if "lossless" in names:
        lossless_training_images(folder / "cifar10-train-lossless.npz")
    for name in (one for one in names if one in WHOLE):
        for split in WHOLE[name]:
            images, labels = _pack("realdata").load_full(name, split)
            classes = CLASSES.get(name, tuple(map(str, range(100))))
            print(f"arrays:{write_split(folder / f'{name}-{split}.npz', split, images, labels, classes)}")


def lossless_training_images(path: Path) -> None:
    """The training images that the pack has without compression, with the ids that they have among all."""
    images, labels, index = _pack("realdata").load_small("cifar10", "train")
    ids = [f"train-{i:05d}" for i in index]
    path.parent.mkdir(parents=True, exist_ok=True)
    np.savez(path, images=images, labels=labels.astype(np.int64), classes=np.array(CLASSES["cifar10"]), ids=ids)
    print(f"arrays:{path}")


def boxed_tiny(folder: Path) -> list[str]:
    """Tiny-ImageNet's photographs with boxes, nine classes at 64 pixels: the texts of the training and of the test data.

    No photograph is in both packs, so the larger one trains whole and the smaller one tests whole.
    """
    texts = []
    for name, pack in (("train", "full/tiny_imagenet_boxes"), ("test", "tiny_imagenet_boxes")):
        with zipfile.ZipFile(shared() / pack / "images.zip") as archive:
            archive.extractall(folder / name)
        shutil.copy(shared() / pack / "boxes.csv", folder / name / "boxes.csv")
        texts.append(f"boxes:{folder / name / 'boxes.csv'}")
    return texts


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--whole", type=Path, metavar="FOLDER", help="write the whole splits here instead")
    sets = [*WHOLE, "lossless"]
    parser.add_argument("--sets", nargs="+", default=sets, choices=sets, help="for --whole; default: all")
    parser.add_argument("--boxed", type=Path, metavar="FOLDER", help="write Tiny-ImageNet with boxes here instead")
    chosen = parser.parse_args()
    if chosen.whole or chosen.boxed:
        if chosen.whole:
            whole_splits(chosen.whole, chosen.sets)
        if chosen.boxed:
            print("\n".join(boxed_tiny(chosen.boxed)))
        return
    OUT.mkdir(parents=True, exist_ok=True)
    cifar10_test(OUT / "cifar10_test.npz")
    imagenet_photographs(OUT / "imagenet.csv")
    print(f"--data arrays:{OUT}/cifar10_test.npz")
    print(f"--data 'manifest:{OUT}/imagenet.csv?root={shared()}/imagenet_samples'")


if __name__ == "__main__":
    main()
