"""Tables whose rows hold images: Parquet and Arrow files, as Hugging Face's library writes them or any other.

An image is bytes, a path, or a struct of both. `?image=`, `?label=`, `?mask=`, `?id=` and `?objects=` name columns, `?names=` a
file with the class names, `?object=1` the values of the object in masks, `?boxes=xyxy` what boxes are, `?root=` the folder of
paths.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from snellen.data.boxed_images import boxed_dataset, switch
from snellen.data.columns import column
from snellen.data.dataset import Dataset, Samples
from snellen.data.encoded import EncodedImages, encoded_dataset, labels_of
from snellen.data.features import Features
from snellen.data.names import different, read_names, storable
from snellen.data.object_column import FORMS, object_images
from snellen.data.pixel_files import ASK_OBJECT, mask_of_content, mask_values
from snellen.data.root import Root, stamp
from snellen.errors import UserError
from snellen.files import expand_home, reading
from snellen.files.picture import read_image
from snellen.files.plain import NotRead
from snellen.files.rows.row_source import RowSource

if TYPE_CHECKING:
    import pyarrow as pa

IMAGE, LABEL, OBJECTS = "image", "label", "objects"  # columns that are taken if none is named
LONGEST_TEXT = 32_768  # characters of a cell; a column with a longer one is left out
Cells = Callable[[Sequence[int]], list[bytes | NotRead | None]]


@dataclass(frozen=True)
class ImageTable:
    """The rows of a table with what its columns hold; paths of images are below `root`."""

    text: str
    rows: RowSource
    features: Features
    root: Root
    names: tuple[str, ...]

    def named(self, options: dict[str, str], option: str) -> str | None:
        """The column that an option names, taken out of the options."""
        name = options.pop(option, None)
        if name is not None and name not in self.names:
            raise self.lacks(f"has no column '{name}'", option)
        return name

    def lacks(self, what: str, option: str) -> UserError:
        few = ", ".join(self.names[:20]) + (", …" if len(self.names) > 20 else "")
        return UserError(f"{self.text} {what}; it has: {few}; name one with ?{option}=")

    def column(self, name: str) -> list[Any]:
        """All cells of a light column."""
        column = self.rows.light([name]).column(0)
        with reading(self.text, f"a table: its column '{name}'"):
            cells: list[Any] = column.to_pylist()
        return cells


def table_dataset(text: str, rows: RowSource, features: Features, folder: Path, options: Mapping[str, str]) -> Dataset:
    """The images of a table; scalars in it become columns."""
    conditions, names = dict(options), tuple(rows.schema.names)
    if not len(rows):
        raise UserError(f"{text} has no rows; name another split or file")
    if len(set(names)) < len(names):
        raise UserError(f"{text} has two columns of one name among {', '.join(names[:20])}; rename one of them")
    root = Root(expand_home(conditions.pop("root")) if "root" in conditions else folder)
    table = ImageTable(text, rows, features, root, names)
    image = _image_column(table, table.named(conditions, "image"))
    label, mask = table.named(conditions, "label"), table.named(conditions, "mask")
    objects = table.named(conditions, "objects") or (OBJECTS if OBJECTS in names and label is None else None)
    classes = read_names(conditions.pop("names")) if "names" in conditions else None
    values = mask_values(conditions.pop("object"), "object") if mask and "object" in conditions else ()
    own_id = table.named(conditions, "id")
    ids = _ids(table, image, own_id)
    images = _cells(table, image)
    masks = None if mask is None else _cells(table, mask)
    state = ["table", list(rows.state), image, mask, *(_stamps(table, name) for name in (image, mask) if name)]
    if objects is not None:
        form = switch(conditions, "boxes", FORMS, text)
        shown = [replace(entry, id=ids[row], content=_encoded(images, row)) for row, entry in enumerate(
            object_images(table.column(objects), form, _class_names(table, objects, classes), f"{text}: '{objects}'")
        )]  # fmt: skip
        if masks is not None:
            shown = [replace(entry, mask=_decoded_mask(masks, row, values)) for row, entry in enumerate(shown)]
        named = classes or _class_names(table, objects, None)
        columns = _columns(table, {image, mask, objects, own_id})
        return boxed_dataset(text, shown, named, columns, conditions, [*state, form, sorted(values)])
    label = _label_column(table) if label is None else label
    labels, known = labels_of(
        table.column(label), classes or features.names.get(label), lambda row: f"{text} row {row + 1}"
    )
    samples = Samples(ids, labels, _columns(table, {image, mask, label, own_id}))
    return encoded_dataset(text, EncodedImages(samples, known, images, state, masks, values), conditions)


def _image_column(table: ImageTable, name: str | None) -> str:
    """The column of images: the one named, or the only one that can be."""
    candidates = table.features.images
    if name is None:
        name = candidates[0] if len(candidates) == 1 else IMAGE if IMAGE in candidates else None
    if name is None:
        what = f"has several columns of images ({', '.join(candidates)})" if candidates else "has no column of images"
        raise table.lacks(what, "image")
    if name not in candidates and not _is_text(table.rows.schema.field(name).type):
        sort = str(table.rows.schema.field(name).type)[:60]
        raise UserError(f"{table.text}: column '{name}' holds {sort}; expected encoded images as bytes, or their paths")
    return name


def _label_column(table: ImageTable) -> str:
    if LABEL in table.names:
        return LABEL
    named = [name for name in table.features.names if name in table.names]
    if len(named) == 1:
        return named[0]
    raise table.lacks(f"has {'several' if named else 'no'} columns of labels", "label")


def _class_names(table: ImageTable, objects: str, classes: tuple[str, ...] | None) -> tuple[str, ...] | None:
    """The names of the classes of objects, where they are known."""
    if classes is not None:
        return classes
    known = [own for place, own in table.features.names.items() if place.startswith(f"{objects}.")]
    return known[0] if len(known) == 1 else None


def _ids(table: ImageTable, image: str, name: str | None) -> tuple[str, ...]:
    """The cells of a column, else the paths of the images where all have different ones, else the numbers of the rows."""
    if name is not None:
        cells = table.column(name)
        if not all(isinstance(cell, str | int) for cell in cells):
            raise UserError(
                f"{table.text}: the ids in '{name}' are not all texts or whole numbers; name another column"
            )
        return different([str(cell) for cell in cells], table.text)
    paths = _paths(table, image)
    if all(paths) and len(set(paths)) == len(paths):
        return different([str(path) for path in paths], table.text)
    return tuple(f"{row:06d}" for row in range(len(table.rows)))


def _paths(table: ImageTable, image: str) -> list[str | None]:
    """The paths beside or instead of the bytes of images."""
    type = table.rows.schema.field(image).type
    if _is_text(type):
        return table.column(image)
    import pyarrow.types as kinds

    inner = [type.field(place).name for place in range(type.num_fields)] if kinds.is_struct(type) else []
    return table.column(f"{image}.path") if "path" in inner else [None] * len(table.rows)


def _stamps(table: ImageTable, name: str) -> list[Any]:
    """Size and time of images that are files of their own."""
    if not _is_text(table.rows.schema.field(name).type):
        first = table.rows.cells(name, [0])[0]
        if not isinstance(first, dict) or first.get("bytes") is not None:
            return []
    return [None if path is None else stamp(_find(table, path)) for path in _paths(table, name)]


def _cells(table: ImageTable, name: str) -> Cells:
    """The encoded images of a column, by position."""

    def read(positions: Sequence[int]) -> list[bytes | NotRead | None]:
        try:
            cells = table.rows.cells(name, positions)
        except NotRead as error:
            return [error] * len(positions)
        except UserError as error:
            return [NotRead(str(error), str(error))] * len(positions)
        return [_content(table, cell) for cell in cells]

    return read


def _content(table: ImageTable, cell: Any) -> bytes | NotRead | None:
    """The encoded image of a cell: bytes, a path, or a struct of both."""
    if isinstance(cell, dict):
        cell = cell.get("path") if cell.get("bytes") is None else cell["bytes"]
    if not isinstance(cell, str):
        return cell if isinstance(cell, bytes) or cell is None else NotRead("no bytes", "it is not bytes")
    try:
        return read_image(_find(table, cell))
    except NotRead as error:
        return error
    except UserError as error:
        return NotRead(str(error), str(error))


def _find(table: ImageTable, path: str) -> Path:
    return table.root.find(path, table.text)


def _encoded(images: Cells, row: int) -> Callable[[], bytes | NotRead]:
    return lambda: images([row])[0] or NotRead("no image", "it is empty")


def _decoded_mask(masks: Cells, row: int, values: Sequence[int]) -> Callable[[int], np.ndarray]:
    def mask(_: int) -> np.ndarray:
        content = masks([row])[0]
        if content is None or isinstance(content, NotRead):
            raise UserError("there is none" if content is None else content.reason)
        return mask_of_content(content, values, ASK_OBJECT)

    return mask


def _columns(table: ImageTable, used: set[str | None]) -> dict[str, np.ndarray]:
    """The scalars of the other columns; numbers of classes by their names, words without those that are very long."""
    plain = [
        field.name
        for field in table.rows.schema
        if field.name not in {*used, "label", "path"} and _is_scalar(field.type)
    ]
    light = table.rows.light(plain) if plain else None
    columns: dict[str, np.ndarray] = {}
    for place, name in enumerate(plain):
        assert light is not None
        array, names = light.column(place), table.features.names.get(name)
        if names is not None:
            cells = array.to_pylist()
            known = [names[cell] if isinstance(cell, int) and 0 <= cell < len(names) else "" for cell in cells]
            columns[name] = np.array(known, object)
        elif _is_text(array.type):
            words = ["" if cell is None else storable(cell) for cell in array.to_pylist()]
            if max(map(len, words)) <= LONGEST_TEXT:
                columns[name] = np.array(words, object)
        else:
            columns[name] = column(_numbers(array), f"{table.text}: column '{name}'")
    return columns


def _numbers(array: pa.ChunkedArray) -> np.ndarray:
    """Numbers or truth values as an array; with gaps as floats, nan in them."""
    import pyarrow as pa

    if array.null_count or array.type == pa.float16():
        array = array.cast(pa.float64(), safe=False) if not pa.types.is_boolean(array.type) else array.cast(pa.int8())
        array = array.cast(pa.float64())
    return np.asarray(array.to_numpy())


def _is_text(type: pa.DataType) -> bool:
    import pyarrow.types as kinds

    if kinds.is_dictionary(type):
        return _is_text(type.value_type)
    return bool(kinds.is_string(type) or kinds.is_large_string(type))


def _is_scalar(type: pa.DataType) -> bool:
    import pyarrow.types as kinds

    return _is_text(type) or any(test(type) for test in (kinds.is_boolean, kinds.is_integer, kinds.is_floating))
