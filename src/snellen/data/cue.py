"""`cue:path`: images whose shape and texture are of different classes, in the published layout (Geirhos et al. 2019)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import PurePosixPath

import numpy as np

from snellen.data.dataset import Dataset, Samples, filter_rows
from snellen.data.folder import load_folder
from snellen.errors import UserError
from snellen.hashing import key_of

_NAME = re.compile(r"(?P<shape>.*?)\d*-(?P<texture>.*?)\d*")


def load_cue(path: str, options: Mapping[str, str]) -> Dataset:
    """The images `<shape>/<shape><i>-<texture><j>.png` below `path`.

    The label is the shape; the column `texture` names the texture's class, `conflict` says whether the two differ.
    """
    data = load_folder(path, {})
    textures = []
    for sample, label in zip(data.samples.ids, data.samples.labels):
        name = PurePosixPath(sample)
        cues = _NAME.fullmatch(name.stem)
        if not cues or not cues["texture"]:
            raise UserError(
                f"'{sample}' names no two cues; name it as in {data.classes[label]}1-{data.classes[0]}2.png"
            )
        if cues["shape"] != data.classes[label]:
            raise UserError(
                f"'{sample}' is named after the shape '{cues['shape']}' but lies in '{data.classes[label]}'; move it"
            )
        textures.append(cues["texture"])
    shapes = np.array(data.classes)[data.samples.labels]
    columns = {"texture": np.array(textures), "conflict": np.array(textures) != shapes}
    samples = Samples(data.samples.ids, data.samples.labels, {**data.samples.columns, **columns})
    cued = replace(data, text=f"cue:{path}", samples=samples, fingerprint=key_of(["cue", data.fingerprint]))
    return filter_rows(cued, options)
