"""What users write for commands to run: plug-ins, rows of a matrix of networks, categories of classes."""

from __future__ import annotations

from pathlib import Path

PLUGIN = '''"""A distortion that turns each pixel into its negative."""

from dataclasses import dataclass

from snellen.distort import Distortion


@dataclass(frozen=True)
class Negate(Distortion):
    """Turn each pixel into its negative."""

    most: int = 255

    def __call__(self, images, view):
        return self.most - images


DISTORTIONS = {"negate": Negate}
'''
MATRIX = """defaults: {epochs: 1, batch_size: 8}
rows:
  - {name: plain, arch: smallnet, grid: {lr: [0.1, 0.2], momentum: [0.9]}}
  - {name: mixed, arch: smallnet, mix: cutmix, grid: {lr: [0.1]}}
  - {name: again, arch: smallnet, init: 'row:plain,mixed', epochs: 2, grid: {lr: [0.01]}}
"""


def plugin(folder: Path) -> object:
    from snellen.plugins import load_plugin

    return load_plugin(folder / "negate.py")


def matrix_rows(folder: Path) -> object:
    from snellen.sweep.matrix_rows import read_rows

    return [(row.name, row.recipe, row.parents, row.trials, row.recipes) for row in read_rows(folder / "matrix.yaml")]


def matrix_result(folder: Path) -> object:
    from snellen.sweep.matrix_table import load_matrix

    matrix = load_matrix(folder)
    table = matrix.table()
    return matrix.rows, matrix.head, len(table), table.to_csv()


def categories(folder: Path) -> object:
    from snellen.concepts.categories import split_source

    source, table = split_source(f"model:net?categories={folder}/categories.csv")
    return source, table.fingerprint, table.concepts(("road", "door, gate", "wheel"), "net")
