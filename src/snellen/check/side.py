"""One side of a comparison: a run or a baseline file, as its findings, its samples and who was right about which."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any, Literal, NamedTuple, Protocol

import msgspec
import numpy as np
from numpy.typing import NDArray

from snellen.audits.stored_finding import StoredFinding

Scores = NDArray[np.float64]
_ID_BYTES, _CONTENT_BYTES = 5, 3  # of 10,000 images two share an id's hash in one of 20,000 datasets


class Measured(msgspec.Struct, frozen=True, kw_only=True):
    """What a gate needs of a finding: its numbers and what tells it from others."""

    audit: str
    name: str
    model: str
    value: float | None
    low: float | None
    high: float | None
    n: int
    better: Literal["higher", "lower", ""]
    unit: Literal["share", "index", "difference", "count"]
    on: str
    seed: int
    distortions: list[str]
    label: str
    settings: str = ""

    @property
    def question(self) -> tuple[Any, ...]:
        """What was asked, whatever the model; a label may be worded otherwise by another version."""
        return self.audit, self.name, self.on, self.seed, tuple(self.distortions), self.settings


def measured(finding: StoredFinding[Any]) -> Measured:
    """What a gate needs of a finding."""
    names = [name for name in Measured.__struct_fields__ if name not in ("distortions", "settings")]
    settings = finding.facts.settings
    return Measured(
        **{name: getattr(finding, name) for name in names},
        distortions=list(finding.distortions),
        settings=settings if isinstance(settings, str) else "",
    )


class ModelCell(NamedTuple):
    """What all runs of a model were asked: a cell, without the run."""

    model: str
    on: str
    seed: int
    distortion: str


@dataclass(frozen=True)
class Listing:
    """The samples of one role in order: a key of each, in which its id comes first and its class and pixels second."""

    keys: NDArray[np.uint64]
    groups: NDArray[Any] | None = None

    @property
    def ids(self) -> NDArray[np.uint64]:
        """The part of the keys that is of the ids alone."""
        return self.keys >> np.uint64(8 * _CONTENT_BYTES)


def sample_key(sample: str, class_name: str, pixels: str) -> int:
    """Eight bytes for a sample: five of its id, three of its class and of the checksum of its pixels."""
    content = blake2b(f"{class_name}\0{pixels}".encode(errors="surrogatepass"), digest_size=_CONTENT_BYTES)
    name = blake2b(sample.encode(errors="surrogatepass"), digest_size=_ID_BYTES)
    return int.from_bytes(name.digest() + content.digest(), "big")


class GateSide(Protocol):
    """A run, or a baseline file that was made of one."""

    @property
    def source(self) -> str:
        """Where it is, as a user named it."""

    @property
    def created(self) -> str:
        """When it was concluded."""

    @property
    def snellen(self) -> str:
        """The version that concluded it."""

    @property
    def models(self) -> Mapping[str, Sequence[str]]:
        """The runs of each model."""

    @property
    def findings(self) -> Sequence[Measured]:
        """Every finding."""

    def listing(self, on: str) -> Listing | None:
        """The samples of a role; None where it has none."""

    def answers(self, question: ModelCell) -> Scores | None:
        """The scores [runs, samples] of one question, nan where one does not count; None where they are not there."""


def scores_behind(side: GateSide, finding: Measured) -> Scores | None:
    """The scores [runs, samples] whose mean a finding is, nan where a sample does not count; None where it is no such mean."""
    if finding.unit != "share" or finding.model not in side.models:
        return None
    parts = [side.answers(question) for question in questions_of(finding)]
    known = [part for part in parts if part is not None]
    if not known or len(known) < len(parts) or len({part.shape for part in known}) > 1:
        return None
    scores = np.mean(known, axis=0)
    scores[:, np.isnan(scores).any(0)] = np.nan
    return scores if explains(scores, finding) else None


def questions_of(finding: Measured) -> list[ModelCell]:
    """The questions that a finding rests on."""
    return [ModelCell(finding.model, finding.on, finding.seed, text) for text in finding.distortions]


def explains(scores: Scores, finding: Measured) -> bool:
    """Whether a finding is the mean of these scores; one on a part of the images is not."""
    counted = ~np.isnan(scores)
    if finding.value is None or not counted.any():
        return False
    return bool(abs(float(scores[counted].mean()) - finding.value) < 5e-5 and counted.any(0).sum() == finding.n)
