"""The baseline file: a run small enough to be committed, as JSON: its findings, a key per sample and who was right about which.

A sample takes 11 characters and each right or wrong answer a sixth of one: a run of 10,000 images and 20 questions is 150 KB.
"""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Literal

import msgspec
import numpy as np

from snellen.atomic import encode_json, write_atomic
from snellen.check.run_side import RunSide
from snellen.check.side import Listing, Measured, ModelCell, Scores, questions_of
from snellen.errors import UserError
from snellen.files import MIB, read_json
from snellen.hashing import checksum

MOST = 256 * MIB
_LEVELS = 65535
Count = Annotated[int, msgspec.Meta(ge=0, le=10**9)]


class BaselineRole(msgspec.Struct, frozen=True, kw_only=True):
    """The samples of one role: their number, and a key of each (`sample_key`), 8 bytes in base64."""

    text: str
    samples: Count
    keys: str


class BaselineAnswers(msgspec.Struct, frozen=True, kw_only=True):
    """The scores of one question, a text in base64 per run: a bit for each sample, or two bytes (0 to 65,535) where they are no
    right or wrong answers; `counted` has a bit for each sample that counts, empty where all do."""

    model: str
    on: str
    seed: int
    distortion: str
    kind: Literal["bits", "levels"]
    runs: list[str]
    counted: list[str] = []


class BaselineContent(msgspec.Struct, frozen=True, kw_only=True):
    """The whole file."""

    schema: Literal["snellen/baseline/1"]
    snellen: str
    created: str
    models: dict[str, list[str]]
    data: dict[str, BaselineRole]
    findings: list[Measured]
    answers: list[BaselineAnswers]
    checksum: str


class Baseline:
    """A baseline file as one side of a comparison."""

    def __init__(self, content: BaselineContent, source: str) -> None:
        self.content, self.source = content, source
        self.created, self.snellen = content.created, content.snellen
        self.models: Mapping[str, Sequence[str]] = content.models
        self.findings: Sequence[Measured] = content.findings
        self._answers = {ModelCell(own.model, own.on, own.seed, own.distortion): own for own in content.answers}

    def listing(self, on: str) -> Listing | None:
        """The samples of a role."""
        role = self.content.data.get(on)
        return None if role is None else Listing(np.frombuffer(self._bytes(role.keys, 8 * role.samples), ">u8"))

    def answers(self, question: ModelCell) -> Scores | None:
        """The scores [runs, samples] of one question."""
        own, role = self._answers.get(question), self.content.data.get(question.on)
        if own is None or role is None:
            return None
        runs = np.stack([self._unpack(text, own.kind, role.samples) for text in own.runs])
        for run, counted in zip(runs, own.counted):
            run[self._unpack(counted, "bits", role.samples) == 0] = np.nan
        return runs

    def _unpack(self, text: str, kind: Literal["bits", "levels"], samples: int) -> Scores:
        if kind == "levels":
            return np.frombuffer(self._bytes(text, 2 * samples), ">u2").astype(np.float64) / _LEVELS
        packed = np.frombuffer(self._bytes(text, -(-samples // 8)), np.uint8)
        return np.unpackbits(packed, count=samples).astype(np.float64)

    def _bytes(self, text: str, count: int) -> bytes:
        try:
            content = base64.b64decode(text, validate=True)
        except (binascii.Error, ValueError):
            raise UserError(f"{self.source} holds samples that are no base64; {_AGAIN}") from None
        if len(content) != count:
            raise UserError(f"{self.source}: expected {count:,} bytes of samples, got {len(content):,}; {_AGAIN}")
        return content


_AGAIN = "write it again with `snellen check RUN --write-baseline FILE`"


def write_baseline(side: RunSide, path: Path) -> Path:
    """Write a run as a baseline file; its path."""
    shares = [finding for finding in side.findings if finding.unit == "share" and finding.model in side.models]
    side.read_ahead(shares)
    questions = dict.fromkeys(question for finding in shares for question in questions_of(finding))
    answers = [own for question in questions if (own := _answers(side, question)) is not None]
    content = BaselineContent(
        schema="snellen/baseline/1",
        snellen=side.snellen,
        created=side.created,
        models={model: list(runs) for model, runs in side.models.items()},
        data={on: _role(side, on) for on in sorted({own.on for own in answers})},
        findings=side.findings,
        answers=answers,
        checksum="",
    )
    plain = msgspec.to_builtins(content)
    write_atomic(path, encode_json({**plain, "checksum": _sum_of(plain)}))
    return path


def read_baseline(path: Path | str) -> Baseline:
    """The baseline in a file; one that does not fit its own checksum is refused.

    >>> from snellen.check import gate, read_baseline
    >>> from snellen import audit, gate
    >>> _ = audit("observer:texture", "phantom:test?size=32&n=240&texture_bias=1", "occlusion",
    ...     out="runs/first", quiet=True)
    >>> _ = gate("runs/first", write_baseline="baseline.json", quiet=True)
    >>> sorted(read_baseline("baseline.json").models)
    ['texture']
    """
    plain: dict[str, object] = read_json(path, dict[str, object], "baseline", MOST)
    content: BaselineContent = read_json(path, BaselineContent, "baseline", MOST, unique=True)
    if content.checksum != _sum_of(plain):
        raise UserError(f"{path} does not fit its own checksum, so it was damaged or changed by hand; {_AGAIN}")
    for own in content.answers:
        if own.on not in content.data or len(own.runs) != len(content.models.get(own.model, ())):
            raise UserError(f"{path} holds answers of models or data that it does not list; {_AGAIN}")
    return Baseline(content, str(path))


def _answers(side: RunSide, question: ModelCell) -> BaselineAnswers | None:
    """The answers to a question as they are packed; None where they are not there, as of trials."""
    scores = side.answers(question)
    if scores is None:
        return None
    counted = ~np.isnan(scores)
    plain = np.isin(scores[counted], (0, 1)).all()
    filled = np.where(counted, scores, 0)
    return BaselineAnswers(
        **question._asdict(),
        kind="bits" if plain else "levels",
        runs=[_packed(run) if plain else _levels(run) for run in filled],
        counted=[] if counted.all() else [_packed(run) for run in counted],
    )


def _role(side: RunSide, on: str) -> BaselineRole:
    listing = side.listing(on)
    assert listing is not None
    text = str(side.folder.results()["data"].get(on, {}).get("text", ""))
    return BaselineRole(text=text, samples=len(listing.keys), keys=_text(listing.keys.astype(">u8").tobytes()))


def _packed(values: np.ndarray) -> str:
    return _text(np.packbits(values.astype(bool)).tobytes())


def _levels(values: np.ndarray) -> str:
    return _text(np.round(values * _LEVELS).astype(">u2").tobytes())


def _text(content: bytes) -> str:
    return base64.b64encode(content).decode()


def _sum_of(content: Mapping[str, object]) -> str:
    rest = {name: value for name, value in content.items() if name != "checksum"}
    return checksum(json.dumps(rest, sort_keys=True, separators=(",", ":")).encode())
