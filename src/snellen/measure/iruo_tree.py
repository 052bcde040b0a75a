"""The tree of the 23 classes of IRUO (Kassaw et al. 2024, figure 5), as the published study program has it.

The paper's text gives the depths of zebra (4), fish (2) and dog (4), that tiger lies with cat and that bird, parrot and poultry
are one at depth 2; all hold here. The rest, inner names included, is that of the program, which puts `person` below the root.
It calls `giant_panda` panda; this is the name of the class in the dataset.
"""

from __future__ import annotations

from itertools import chain

ROOT = "root"
_CHILDREN = {
    ROOT: ("animal", "person", "vehicle"),
    "animal": ("mammal", "birds", "fish", "reptile"),
    "mammal": ("elephant", "giraffe", "sheep", "cow", "monkey", "rabbit", "equine", "bears", "carnivore"),
    "equine": ("horse", "zebra"),
    "bears": ("giant_panda", "bear"),
    "carnivore": ("feline", "dog"),
    "feline": ("tiger", "cat"),
    "birds": ("parrot", "poultry", "bird"),
    "reptile": ("lizard", "turtle"),
    "vehicle": ("airplane", "wheeled_vehicle"),
    "wheeled_vehicle": ("bicycle", "motorcycle"),
}

IRUO_TREE: dict[str, str] = {child: parent for parent, children in _CHILDREN.items() for child in children}
IRUO_CLASSES: tuple[str, ...] = tuple(name for name in chain(*_CHILDREN.values()) if name not in _CHILDREN)
