"""Pools: what distortions may paste into images, as one value from the command to the view of a distortion."""

from __future__ import annotations

from dataclasses import dataclass

from snellen.data.dataset import Dataset
from snellen.data.occluders import Occluders


@dataclass(frozen=True)
class Pools:
    """The donor images (`--donors`) and the user's own cut-outs (`--occluders`), where there are any."""

    donors: Dataset | None = None
    occluders: Occluders | None = None

    @property
    def present(self) -> dict[str, Dataset | Occluders]:
        """The pools that there are, by name."""
        pools = {"donors": self.donors, "occluders": self.occluders}
        return {name: pool for name, pool in pools.items() if pool is not None}

    @property
    def fingerprints(self) -> dict[str, str]:
        """By name, what the keys of cells depend on."""
        return {name: pool.fingerprint for name, pool in self.present.items()}

    def to_json(self) -> dict[str, dict[str, str]]:
        """What run.json keeps of each pool."""
        return {name: {"text": pool.text, "fingerprint": pool.fingerprint} for name, pool in self.present.items()}


NO_POOLS = Pools()
