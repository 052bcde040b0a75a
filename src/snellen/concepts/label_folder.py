"""A folder of label images: `concepts.csv` says what numbers mean, PNG files say which pixel has which.

`concepts.csv` has the columns `number`, `name` and `category` (object, part, material, colour …); number 0 is nothing. The label
images lie in the folder itself or, where concepts overlap, in sub-folders (`object/`, `part/`, …), each under the path of its
image with the ending `.png`. Numbers are grey levels of 8 or 16 bits, places in a palette, or red + 256 · green, as in Broden.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

import numpy as np

from snellen.data.concept_maps import MOST_CONCEPTS, Concept
from snellen.data.dataset import Unreadable
from snellen.data.folder import EXTENSIONS
from snellen.data.names import storable
from snellen.data.pixel_files import label_numbers
from snellen.errors import UserError
from snellen.files import MIB, expand_home
from snellen.files.places import exists, is_folder, is_there, list_below
from snellen.files.table import Column, place_of, read_table
from snellen.files.tree import files_below, size_and_time
from snellen.hashing import key_of

INDEX = "concepts.csv"
HIGHEST = 65_535  # of a label image
LONGEST = 200  # characters of a name
MOST_MAPS = 64


@dataclass(frozen=True)
class LabelFolder:
    """The concepts of a folder, its `maps` (folders of label images), and `table`, int32: number → place of a concept plus 1."""

    root: Path
    concepts: tuple[Concept, ...]
    maps: tuple[Path, ...]
    table: np.ndarray
    fingerprint: str

    def check(self, ids: Sequence[str]) -> None:
        """Refuse images that have no label image."""
        for sample in ids:
            for folder in self.maps:
                if not is_there(self._file(folder, sample)):
                    raise UserError(
                        f"image '{sample}' has no label image {self._file(folder, sample).relative_to(self.root)} in "
                        f"{self.root}; add it, or leave the image out"
                    )

    def read(self, sample: str) -> list[np.ndarray] | Unreadable:
        """The maps of one image, integers [H, W]: the place of a concept plus 1, 0 for none; or why there are none."""
        maps = []
        for folder in self.maps:
            numbers = label_numbers(self._file(folder, sample), coloured=True)
            if isinstance(numbers, Unreadable):
                return numbers
            outside = (numbers < 0) | (numbers > HIGHEST)
            places = self.table[np.where(outside, 0, numbers)]
            strange = outside | ((places == 0) & (numbers != 0))
            if strange.any():
                file = storable(self._file(folder, sample).name)
                return Unreadable(f"its label image {file} has the number {numbers[strange][0]}, which {INDEX} lacks")
            maps.append(places.astype(np.int16))
        return maps

    def _file(self, folder: Path, sample: str) -> Path:
        """Where the label image of an image is; ids that would lead out of the folder, or name none, stay in it."""
        parts = [part for part in PurePosixPath(sample).parts if part.strip("/") not in ("", "..")]
        if not parts:
            return folder / ".png"
        path = folder.joinpath(*parts)
        return path.with_suffix(".png") if path.suffix.lower() in EXTENSIONS else path.with_name(f"{path.name}.png")


def read_label_folder(place: str) -> LabelFolder:
    """The folder at a place, checked: its index, and that there are label images."""
    root = expand_home(place)
    list_below(root)
    if not is_folder(root):
        raise UserError(f"no folder '{storable(str(root))}'; give labels:DIR with {INDEX} and label images")
    index = root / INDEX
    stamp = (str(root), *size_and_time(index)) if exists(index) else (str(root),)
    return _read(root, stamp)


@functools.lru_cache(maxsize=8)
def _read(root: Path, stamp: tuple[object, ...]) -> LabelFolder:
    """Read once as long as the index is unchanged, since a plan is made more than once."""
    numbers = _index(root / INDEX)
    files = files_below(root, {".png"})
    if not files:
        raise UserError(f"'{root}' holds no label images (.png)")
    tops = sorted({file.relative_to(root).parts[0] for file in files if len(file.relative_to(root).parts) > 1})
    categories = {concept.category for concept in numbers.values()}
    folders = tuple(root / top for top in tops if _is_map(top, categories))
    if len(folders) > MOST_MAPS:
        raise UserError(f"'{root}' holds {len(folders)} folders of label images, more than {MOST_MAPS}")
    concepts = tuple(dict.fromkeys(numbers.values()))
    table = np.zeros(HIGHEST + 1, np.int32)
    for number, concept in numbers.items():
        table[number] = concepts.index(concept) + 1
    facts = [[number, *concept] for number, concept in numbers.items()]
    stats = [[storable(file.relative_to(root).as_posix()), *size_and_time(file)] for file in files]
    return LabelFolder(root, concepts, folders or (root,), table, key_of(["labels", facts, stats]))


def _is_map(folder: str, categories: set[str]) -> bool:
    """Whether a sub-folder is named after a category (`part`, `part2`), rather than part of the paths of images."""
    return any(folder == category or folder.rstrip("0123456789_-") == category for category in categories)


def _index(path: Path) -> Mapping[int, Concept]:
    """What each number means."""
    schema = {
        "number": Column("int", required=True, filled=True, least=0, most=HIGHEST),
        "name": Column(required=True, filled=True),
        "category": Column(required=True, filled=True),
    }
    table = read_table(path, schema, "index of concepts", 64 * MIB)
    numbers: dict[int, Concept] = {}
    for row, (number, name, category) in enumerate(zip(table["number"], table["name"], table["category"])):
        concept = Concept(storable(str(category).strip()), storable(str(name).strip()))
        if max(map(len, concept)) > LONGEST:
            raise UserError(f"{place_of(path, row)}: a name of more than {LONGEST} characters")
        if int(number) and numbers.setdefault(int(number), concept) != concept:
            raise UserError(f"{place_of(path, row)}: number {int(number)} is also {numbers[int(number)]}")
    if not numbers or len(numbers) > MOST_CONCEPTS:
        raise UserError(f"{path} names {len(numbers):,} concepts; expected 1 to {MOST_CONCEPTS:,}")
    return numbers
