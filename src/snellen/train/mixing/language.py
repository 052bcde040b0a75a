"""The text language of mixes: the table of names and `parse_mix`."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from snellen import notation
from snellen.train.mixing.batch import BatchMix
from snellen.train.mixing.blend import Alternate, MixUp, Unmixed
from snellen.train.mixing.boxes import CutMix, Cutout, SaliencyMix
from snellen.train.mixing.masks import FMix, RandomMasks

_KINDS: tuple[type, ...] = (Unmixed, MixUp, CutMix, Cutout, FMix, RandomMasks, SaliencyMix, Alternate)
MIXES: dict[str, type] = {kind.name: kind for kind in _KINDS}  # type: ignore[attr-defined]


def parse_mix(source: str | BatchMix) -> BatchMix:
    """The mix a text names, such as `cutmix(rule=corrected)`; a mix passes through.

    >>> from snellen.train import parse_mix
    >>> parse_mix("cutmix(alpha=1)")
    CutMix(alpha=1.0, rule='nominal')
    """
    return _from_node(notation.read(source)) if isinstance(source, str) else source


def of_run(mix: BatchMix, seed: int) -> BatchMix:
    """The mix as a run with this seed uses it: masks that are drawn once are drawn by each run for itself.

    >>> from snellen.train.mixing import of_run, parse_mix
    >>> of_run(parse_mix("random_masks"), seed=3)
    RandomMasks(k=3, alpha=1.0, decay=3.0, seed=3)
    """
    if isinstance(mix, RandomMasks):
        return replace(mix, seed=(mix.seed + seed) % 2**63)  # run 0 has those of the text
    if isinstance(mix, Alternate):
        return replace(mix, first=of_run(mix.first, seed), second=of_run(mix.second, seed))
    return mix


def _from_node(node: Any) -> BatchMix:
    return notation.build(node, MIXES, "mix", _parameter)


def _parameter(node: Any) -> Any:
    """A nested mix, with or without its brackets; anything else as it is."""
    nested = isinstance(node, notation.Call) or node is None or (isinstance(node, str) and node in MIXES)
    return _from_node(node) if nested else node
