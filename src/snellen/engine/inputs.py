"""What goes into a run, before anything is asked: models, data, what may be pasted into images, and how to ask."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from snellen.data.dataset import Dataset
from snellen.data.occluders import Occluders
from snellen.engine.settings import Settings
from snellen.models.labels import LabelMap
from snellen.models.subject import Subject


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


@dataclass(frozen=True, kw_only=True)
class Inputs:
    """The runs of all models, the datasets by role (test, train, variants), how each run's classes become those of a dataset
    (by model, run and role), what may be pasted, and how to ask. `texts` are the data and pools that were given as text."""

    subjects: Sequence[Subject]
    data: Mapping[str, Dataset]
    labels: Mapping[tuple[str, str, str], LabelMap]
    settings: Settings
    pools: Pools = field(default_factory=Pools)
    texts: Mapping[str, str] = field(default_factory=dict)

    @property
    def runs(self) -> dict[str, list[str]]:
        """The names of each model's runs."""
        names: dict[str, list[str]] = {}
        for subject in self.subjects:
            names.setdefault(subject.name, []).append(subject.run)
        return names
