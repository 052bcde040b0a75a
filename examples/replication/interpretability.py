"""Won et al. 2023: the mixes whose explanations the paper compares, trained by its recipe (÷10 at ¼, ½, ¾ of 300 epochs).

    python examples/replication/interpretability.py --data folder:imagenet/train --test folder:imagenet/val
    python examples/replication/interpretability.py --arch smallnet --recipe fast --epochs 1 --runs 1 --limit 500

The paper uses released ImageNet networks; without --data this trains on CIFAR-10, with crops by padding.
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from protocol import arguments, audit_groups, finish, train_group
from small_images import small_images

from snellen.data import limited, load_data
from snellen.train import preset


def main() -> None:
    parser = arguments(__doc__, arch="preact_resnet18", recipe="won2023", name="won2023", runs=1)
    parser.add_argument("--data", help="training images; default CIFAR-10")
    parser.add_argument("--test", help="test images of the same classes")
    parser.add_argument("--mixes", nargs="+", default=["none", "mixup", "cutmix"])
    chosen = parser.parse_args()
    if bool(chosen.data) != bool(chosen.test):
        parser.error("--data and --test go together")

    if chosen.data:
        learnt, test = (limited(load_data(text), chosen.limit) for text in (chosen.data, chosen.test))
        crop = {}
    else:
        learnt, test = (small_images("cifar10", split, chosen.root, chosen.limit) for split in ("train", "test"))
        crop = {"resized": False, "padding": 4}  # resized crops are for photographs
    groups = {}
    for mix in chosen.mixes:
        changes = dict(arch=chosen.arch, mix=mix, epochs=chosen.epochs, updates=chosen.updates, **crop)
        name = "basic" if mix == "none" else mix
        folder = chosen.out / "models" / name
        groups[name] = train_group(preset(chosen.recipe, **changes), learnt, folder, chosen, test=test)
    finish(audit_groups(groups, test, None, chosen), groups, chosen)


if __name__ == "__main__":
    main()
