"""A set of `build in9`, or the published ImageNet-9, as the desk shows it: with every variant, also of a mended mask."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from snellen.build.in9.curation import Mend
from snellen.build.in9.rebuilding import BOXED, MASKED
from snellen.build.in9.stored_set import StoredIn9Set, read_set
from snellen.build.in9.variants import Portrait, edited
from snellen.data.dataset import Dataset, Unreadable
from snellen.data.in9.layout import FACTS, VARIANTS
from snellen.data.in9.reading import load_in9
from snellen.distort.background import MIXED
from snellen.errors import UserError, option
from snellen.files import expand_home
from snellen.files.places import exists, is_folder
from snellen.files.tree import folders_in
from snellen.hashing import key_of
from snellen.lazy_torch import torch
from snellen.web.curate.collection import Collection, Exhibit

SCHEME = "in9:"
REASONS = ("mask keeps background", "mask misses object", "object still in only_bg")


@dataclass(frozen=True)
class In9Collection(Collection):
    """A set in the layout of ImageNet-9; `stored` is what its manifests say, None for the published one, which has none."""

    stored: StoredIn9Set | None = None
    shown: Mapping[str, Dataset] = field(default_factory=dict)

    @property
    def text(self) -> str:
        return self.data.text.removesuffix("/original")

    def variant(self, row: int, name: str, mend: Mend | None) -> np.ndarray:
        """As it would be with what people changed of this image; backgrounds that it borrows are as they were."""
        if mend is not None and self._shows(row, name, mend):
            return self._remade(row, name, mend)
        data = self.shown[name]
        place = data.samples.rows.get(self.names[row])
        if place is None:
            raise UserError(f"'{self.names[row]}' has no file of {name}; build the set again")
        photo = data.read([place])[0]
        if isinstance(photo, Unreadable):
            raise UserError(f"'{self.names[row]}' cannot be shown as {name}: {photo.reason}")
        return photo.image

    def _shows(self, row: int, name: str, mend: Mend) -> bool:
        """Whether a variant depends on what was changed, and can be made again."""
        if name in MIXED:
            lender = self._lender(row, name)
            return bool(lender) and (mend.mask is not None or lender == self.names[row])
        return (mend.mask is not None and name in MASKED) or (mend.box is not None and name in BOXED)

    def _lender(self, row: int, name: str) -> str:
        """Whose background a mixed variant has; empty where no manifest says it."""
        order = None if self.stored is None else self.stored.orders.get(self.names[row])
        return "" if order is None or name not in order.lenders else order.lenders[name][0]

    def _remade(self, row: int, name: str, mend: Mend) -> np.ndarray:
        own, lender = self.exhibit(row).mended(mend), None
        if name in MIXED:
            place = self.rows[self._lender(row, name)]
            lender = _portrait(own if place == row else self.exhibit(place))
        image = edited(name, _portrait(own), lender, self.names[row], self.settings)
        return image.permute(1, 2, 0).contiguous().numpy()


def in9_collection(text: str, split: str | None) -> In9Collection:
    """The set that `in9:FOLDER` names (or one of its variants: the whole set is shown)."""
    folder = expand_home(text.removeprefix(SCHEME))
    if folder.name in VARIANTS and not is_folder(folder / "original"):
        folder = folder.parent
    if not is_folder(folder / "original"):
        raise UserError(f"'{folder}' has no folder 'original'; expected a set that `snellen build in9` has written")
    stored = read_set(folder) if exists(folder / FACTS) else None
    wanted = _split(folder, split)
    if stored is not None and stored.request.split != wanted:
        raise UserError(
            f"'{folder}' was built with the split '{stored.request.split}', got {option('split')} '{wanted}'"
        )
    there = [variant for variant in VARIANTS if is_folder(folder / variant / wanted)]
    shown = {variant: load_in9(str(folder / variant), {"split": wanted}) for variant in there}
    data = shown.pop("original")
    if "masks" not in data.facts:
        raise UserError(f"'{folder}' has no masks in fg_mask for all images of '{wanted}'; build the set again")
    known = key_of(["in9", list(data.samples.ids), data.samples.labels.tolist()])
    fingerprint = known if stored is None else stored.fingerprint
    settings = {} if stored is None else {"settings": stored.request}
    return In9Collection(
        data, data.samples.ids, REASONS, tuple(shown), fingerprint, stored=stored, shown=shown, **settings
    )


def _split(folder: Path, split: str | None) -> str:
    there = folders_in(folder / "original")
    wanted = split or next((name for name in ("test", "val") if name in there), "val")
    if wanted not in there:
        raise UserError(
            f"'{folder}' has no split '{wanted}'; it has: {', '.join(there) or 'none'}; choose {option('split')}"
        )
    return wanted


def _portrait(exhibit: Exhibit) -> Portrait:
    image = torch.from_numpy(np.ascontiguousarray(exhibit.image.transpose(2, 0, 1)))[None]
    return Portrait(image, torch.from_numpy(exhibit.mask.copy())[None], np.array([exhibit.box], np.int64))
