"""What the JSON files of a run folder must hold; imported when one is read, as msgspec is."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec

from snellen.engine.keep.gate_record import GateRecord

Count = Annotated[int, msgspec.Meta(ge=0)]
Positive = Annotated[int, msgspec.Meta(ge=1)]


class PoolRecord(msgspec.Struct):
    """A dataset that images are taken from, such as donors."""

    text: str
    fingerprint: str


class DataRecord(msgspec.Struct):
    """A dataset that was shown."""

    text: str
    fingerprint: str
    samples: Count
    classes: list[str]


class CardRecord(msgspec.Struct):
    """The card of one run of a model."""

    text: str
    fingerprint: str
    name: str = ""
    classes: list[str] | None = None
    canvas: dict[str, Any] | None = None
    probes: list[list[float | None]] | None = None
    chance: float | None = None


class SettingsRecord(msgspec.Struct):
    """How models were run."""

    seed: int
    limit: Count | None
    device: str
    precision: str
    batch_size: Positive | None
    shard: Positive
    keep: Literal["top5", "logits"] | None = None
    map_bits: Literal[8, 16] | None = None
    wanted_batch_size: Positive | None = None


class DoubtRecord(msgspec.Struct, forbid_unknown_fields=True):
    """Why numbers should not be believed yet, and what to do."""

    name: str
    text: str
    advice: str
    model: str = ""


class TokenRecord(msgspec.Struct):
    """Tokens that a service read and wrote, as so many answers state them."""

    answers: Count
    input: Count
    output: Count


class ServiceRecord(msgspec.Struct):
    """What was asked of a web service so far: requests, tokens where answers state them, and what that cost where a price is
    known."""

    requests: Count
    cost: float | None = None
    tokens: TokenRecord | None = None


class RemoteRecord(msgspec.Struct):
    """A table or archive that was read at an address: bytes, what its server said of its content, its sha256 if it is small."""

    size: Count
    mark: str
    sha256: str


class RunRecord(msgspec.Struct):
    """run.json; what an earlier version did not write may be missing."""

    schema: Literal[1]
    snellen: str
    created: str
    updated: str
    command: list[str]
    python: str
    packages: dict[str, str]
    hardware: dict[str, Any]
    settings: SettingsRecord
    asked: dict[str, list[str]]
    models: dict[str, dict[str, CardRecord]]
    data: dict[str, DataRecord]
    audits: list[str]
    notices: list[str]
    labels: dict[str, str] = {}
    engine: str = "local"
    preprocessing: dict[str, list[DoubtRecord]] = {}
    audit_reasons: dict[str, str] | msgspec.UnsetType = msgspec.UNSET
    donors: PoolRecord | None = None
    occluders: PoolRecord | None = None
    drift: dict[str, list[DoubtRecord]] = {}
    services: dict[str, ServiceRecord] = {}
    jpeg: dict[str, str] = {}
    remote: dict[str, RemoteRecord] = {}
    files: dict[str, Count] = {}
    checksums: dict[str, str] = {}
    checksum: str = ""

    def __post_init__(self) -> None:
        if "test" not in self.data:
            raise ValueError("expected data by the name 'test'")
        for model, runs in self.asked.items():
            for run in runs:
                if run not in self.models.get(model, {}):
                    raise ValueError(f"expected a card of model '{model}', run '{run}'")


class _Interference(msgspec.Struct):
    index: float | None
    low: float | None
    high: float | None
    std: float | None
    worst_case: float | None
    null95: float | None
    noise: float | None
    dominant: str
    flagged: bool
    distortion: str
    text: str
    state: str = ""
    published: float | None = None


class _Finding(msgspec.Struct):
    audit: str
    name: str
    model: str
    value: float | None
    low: float | None
    high: float | None
    n: Count
    better: Literal["higher", "lower", ""]
    unit: Literal["share", "index", "difference", "count"]
    on: str
    seed: int
    distortions: list[str]
    facts: dict[str, Any]
    per_run: list[float | None]
    text: str
    interference: _Interference | None
    label: str = ""
    topic: str = ""


class FindingsHeader(msgspec.Struct, kw_only=True):
    """What findings.json holds beside its findings; a run of before there were checks has no warnings, and one of
    which nothing was required no gate."""

    schema: Literal["snellen/findings/1"]
    snellen: str
    created: str
    data: dict[str, DataRecord]
    models: dict[str, list[str]]
    notices: list[str]
    warnings: list[DoubtRecord] = []
    gate: GateRecord | None = None


class Findings(FindingsHeader, kw_only=True):
    """findings.json."""

    findings: list[_Finding]


class MapFacts(msgspec.Struct):
    """map.json: whose maps lie beside it."""

    model_fingerprint: str
    on: str
    method: str
    layer: int | str | None
    distortion: str
    seed: int
    canvas: str
    bits: Literal[8, 16] = 8


class PassFacts(msgspec.Struct):
    """pass.json: cell key to shown key, and the shown keys whose rows are new."""

    on: str
    cells: dict[str, str]
    shown: list[str]
