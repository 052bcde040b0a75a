"""Paper 004: one network for each variant of the training images, all judged on the same test images.

    python examples/replication/backgrounds.py --data folder:in9/original/train folder:in9/mixed_rand/train \
        --test folder:in9/original/val --arch torchvision:resnet50
    python examples/replication/backgrounds.py --recipe fast --epochs 1 --runs 1 --limit 300

Without --data the variants are phantom worlds whose scene tells the class always, or never.
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from protocol import arguments, audit_groups, finish, train_group

from snellen.data import limited, load_data
from snellen.train import preset

WORLDS = [f"phantom:train?size=32&n=9000&background_bias={bias}" for bias in (1, 0)]


def main() -> None:
    parser = arguments(__doc__, arch="smallnet", recipe="004", name="004", runs=1)
    parser.add_argument("--data", nargs="+", default=WORLDS, help="variants of the training images")
    parser.add_argument("--test", default="phantom:test?size=32&n=900", help="test images of the same classes")
    chosen = parser.parse_args()
    test = limited(load_data(chosen.test), chosen.limit)
    recipe = preset(chosen.recipe, arch=chosen.arch, epochs=chosen.epochs, updates=chosen.updates)
    groups = {}
    for number, text in enumerate(chosen.data):
        learnt, folder = limited(load_data(text), chosen.limit), chosen.out / "models" / f"variant-{number}"
        groups[folder.name] = train_group(recipe, learnt, folder, chosen, test=test)
        print(f"{folder.name}: {text}")
    finish(audit_groups(groups, test, None, chosen), groups, chosen)


if __name__ == "__main__":
    main()
