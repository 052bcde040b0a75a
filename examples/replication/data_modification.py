"""Paper 000: networks trained with and without mixing, and what occlusion and shuffling do to them.

    python examples/replication/data_modification.py                                # as published: 200 epochs, 5 runs
    python examples/replication/data_modification.py --recipe fast --runs 3 --device cuda
    python examples/replication/data_modification.py --arch smallnet --recipe fast --epochs 1 --runs 2 --limit 500

PreAct-ResNet18 on CIFAR-10 (or Fashion-MNIST), one group of runs for each mix. With --reformulated OTHER each mix is
trained again with the reformulated objective and partners from the other dataset.
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from cifar import CLASSES, small_images
from protocol import arguments, audit_groups, finish, train_group

from snellen.train import preset

MIXES = ["none", "mixup", "cutmix"]


def main() -> None:
    parser = arguments(__doc__, arch="preact_resnet18", recipe="000", name="000")
    parser.add_argument("--data", default="cifar10", choices=list(CLASSES))
    parser.add_argument("--mixes", nargs="+", default=MIXES, help="any mix that `snellen train --mix` takes")
    parser.add_argument("--reformulated", metavar="OTHER", choices=list(CLASSES), help="partners from another dataset")
    chosen = parser.parse_args()

    learnt, test = (small_images(chosen.data, split, chosen.limit) for split in ("train", "test"))
    partner = small_images(chosen.reformulated, "train", chosen.limit) if chosen.reformulated else None
    groups = {}
    for mix in chosen.mixes:
        recipe = preset(chosen.recipe, arch=chosen.arch, mix=mix, epochs=chosen.epochs, updates=chosen.updates)
        name = "basic" if mix == "none" else mix
        groups[name] = train_group(recipe, learnt, chosen.out / "models" / name, chosen, test=test)
        if partner is not None and mix != "none":
            other = preset(
                chosen.recipe, arch=chosen.arch, mix=mix, epochs=chosen.epochs, updates=chosen.updates,
                objective="reformulated",
            )  # fmt: skip
            folder = chosen.out / "models" / f"{name}-with-{chosen.reformulated}"
            groups[folder.name] = train_group(other, learnt, folder, chosen, test=test, partner=partner)
    finish(audit_groups(groups, test, learnt, chosen), groups, chosen)


if __name__ == "__main__":
    main()
