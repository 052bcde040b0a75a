"""The plan: which cells are needed, which the store already has, and what is left to ask. Made without torch."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from snellen.data.dataset import Dataset
from snellen.engine.cell import Asked, Cell, asked, canvas_for
from snellen.engine.settings import Settings
from snellen.engine.store import Present, Store
from snellen.errors import UserError
from snellen.models.labels import LabelMap
from snellen.models.subject import Subject


@dataclass(frozen=True)
class Pass:
    """The same missing cells for some shards of one dataset; `new` are the shown keys not yet stored there."""

    on: str
    asked: tuple[Asked, ...]
    shards: tuple[int, ...]
    new: frozenset[str]


@dataclass(frozen=True)
class Plan:
    """All cells a run needs (`asked`, equal ones merged) and the passes that are left to do; its trials, and those with samples
    left."""

    asked: tuple[Asked, ...]
    passes: tuple[Pass, ...]
    data: Mapping[str, Dataset]
    settings: Settings
    shard: int
    trials: tuple[Asked, ...] = ()
    open_trials: tuple[Asked, ...] = ()

    def samples_of(self, on: str, shard: int) -> range:
        """The positions of a shard's samples in its dataset."""
        return range(shard * self.shard, min((shard + 1) * self.shard, len(self.data[on])))

    @property
    def forward_passes(self) -> int:
        """Images that models will be shown."""
        return sum(self.images_of(one, shard) for one in self.passes for shard in one.shards)

    def images_of(self, one: Pass, shard: int) -> int:
        """Images that models will be shown for one shard."""
        asked = sum(a.subject.card.text.partition(":")[0] != "predictions" for a in one.asked)
        return len(self.samples_of(one.on, shard)) * asked


def make_plan(
    subjects: Sequence[Subject],
    data: Mapping[str, Dataset],
    cells: Sequence[Cell],
    labels: Mapping[tuple[str, str, str], LabelMap],
    settings: Settings,
    store: Store,
    pools: Mapping[str, str] | None = None,
    trials: Sequence[Cell] = (),
) -> Plan:
    """Merge equal cells, look up what the store has, and group the rest into passes.

    `labels` maps (model, run, dataset) to a label map; `pools` are the fingerprints of what may be pasted (donors,
    occluders), where given. `trials` are cells with a trial in place of a distortion.
    """
    pools = pools or {}

    def put(cell: Cell) -> list[Asked]:
        _check_needs(cell, data[cell.on], pools, subjects)
        maps = [labels[subject.name, subject.run, cell.on] for subject in subjects]
        return [asked(cell, subject, data[cell.on], one, settings, pools) for subject, one in zip(subjects, maps)]

    needed = {(one.subject.name, one.subject.run, one.key): one for cell in dict.fromkeys(cells) for one in put(cell)}
    tried = [one for cell in dict.fromkeys(trials) for one in put(cell)]
    _check_trials(tried)
    canvases = [canvas_for(subject, held) for subject in subjects for held in data.values()]
    shard = settings.shard_for(canvases)
    passes = []
    for on, held in data.items():
        wanted = [one for one in needed.values() if one.cell.on == on]
        if wanted:
            passes += _passes(on, wanted, math.ceil(len(held) / shard), store.present(on))
    left = tuple(one for one in tried if not _ended(one, len(data[one.cell.on]), store))
    return Plan(tuple(needed.values()), tuple(passes), data, settings, shard, tuple(tried), left)


def _passes(on: str, wanted: Sequence[Asked], shards: int, present: Mapping[int, Present]) -> list[Pass]:
    """Shards that lack the same cells, together."""
    groups: dict[tuple[frozenset[str], frozenset[str]], list[int]] = {}
    keys = frozenset(one.key for one in wanted)
    for shard in range(shards):
        held = present.get(shard, Present())
        missing = keys.difference(held.cells)
        if missing:
            shown = {one.shown for one in wanted if one.key in missing} - held.shown
            groups.setdefault((missing, frozenset(shown)), []).append(shard)
    passes = []
    for (missing, new), numbers in groups.items():
        once = {one.key: one for one in wanted if one.key in missing}
        passes.append(Pass(on, tuple(once.values()), tuple(numbers), new))
    return passes


def _ended(one: Asked, samples: int, store: Store) -> bool:
    """Whether all trials of a run are kept, and what they speak of."""
    told = not hasattr(one.cell.distortion, "things") or store.things(one.key) is not None
    return told and store.ended_trials(one.key) == samples


def _check_trials(trials: Sequence[Asked]) -> None:
    """Refuse those who cannot be asked anew."""
    for one in trials:
        if one.subject.card.text.startswith("predictions:"):
            raise UserError(
                f"{one.cell.distortion} asks as it goes, which '{one.subject.name}', a file of recorded answers, cannot "
                "follow; leave that audit out"
            )


def _check_needs(cell: Cell, data: Dataset, pools: Collection[str], subjects: Sequence[Subject]) -> None:
    """Refuse a distortion whose facts nobody can give."""
    for need in sorted(cell.distortion.needs):
        if need == "donors" and need not in pools:
            raise UserError(
                f"{cell.distortion} needs a donor pool; pass --donors DATA, for example --donors phantom:train"
            )
        if need == "occluders" and need not in pools:
            raise UserError(
                f"{cell.distortion} needs cut-outs; pass --occluders DIR, a folder of PNGs with transparency"
            )
        if need == "boxes" and "masks" in data.facts:
            continue  # a mask has a box around it
        if need in ("masks", "boxes") and need not in data.facts:
            raise UserError(
                f"{cell.distortion} needs the objects' {need}, which {data.text} does not have; "
                f"leave it out, or use data with {need}"
            )
        if need == "saliency":
            for subject in subjects:
                if subject.card.text.startswith("predictions:") or (subject.loaded and subject.loaded.module is None):
                    raise UserError(
                        f"{cell.distortion} needs the gradients of a torch network, which '{subject.name}' is not; "
                        "maskings that need none are occlude, tiles and fourier"
                    )
