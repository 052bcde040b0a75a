"""What goes into a run, before anything is asked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from snellen.data.dataset import Dataset
from snellen.engine.pools import Pools
from snellen.engine.settings import Settings
from snellen.models.labels import LabelMap
from snellen.models.subject import Subject


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
