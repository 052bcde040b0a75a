"""Comparing models on the same images: those of one run, or the versions that two runs hold."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import nan
from typing import TYPE_CHECKING, Any

import numpy as np

from snellen.check.pairing import pair_images
from snellen.check.run_side import RunSide
from snellen.check.side import Listing, ModelCell, Scores
from snellen.distort import parse
from snellen.engine.keep.run_folder import RunFolder
from snellen.errors import UserError, option, unknown
from snellen.exam.compare_request import CompareRequest
from snellen.exam.flipped_images import flipped_images
from snellen.exam.run import Run, load_run
from snellen.files import expand_home
from snellen.measure import accuracy, compare, flips, holm
from snellen.measure.comparison import Comparison
from snellen.measure.paired_changes import mcnemar
from snellen.measure.rank_differences import CriticalDifference, critical_difference
from snellen.report.pages.compared import ComparedModels, ComparedPair, write_compared
from snellen.settings_file import door

if TYPE_CHECKING:
    import pandas as pd

FEWEST_RANKED = 3  # models: two need no ranks


@dataclass(frozen=True)
class Entrant:
    """A model of a run under the name it goes by in a comparison."""

    name: str
    side: RunSide
    model: str

    def scores(self, on: str, distortion: str) -> Scores:
        """Its scores [runs, samples] under a distortion."""
        seed = int(self.side.folder.facts["settings"]["seed"])
        scores = self.side.answers(ModelCell(self.model, on, seed, distortion))
        if scores is None:
            known = sorted({text for finding in self.side.findings for text in finding.distortions})
            raise unknown(f"distortion of {self.side.source} on its {on} images", distortion, known)
        return scores


@dataclass(frozen=True)
class PairScores:
    """The scores of two models under a distortion on the images they share, the places of these in each listing, their groups."""

    first: Scores
    second: Scores
    here: np.ndarray
    there: np.ndarray
    groups: np.ndarray | None
    on: str
    distortion: str


def compare_requested(request: CompareRequest) -> ComparedModels:
    """Every pair of a run's models on the same images, or each model beside its version in another run.

    Of each pair the difference with its interval, p after Holm's correction over all pairs, the smallest difference that would
    mostly have been shown, and the images that only one of the two gets right; for three models and more their ranks.

    >>> from snellen.exam import audit, compare_models
    >>> from snellen import audit
    >>> _ = audit(["observer:shape", "observer:texture"], "phantom:test?size=32&n=24",
    ...     "occlusion", out="runs/two", quiet=True)
    >>> found = compare_models("runs/two", quiet=True)
    >>> [(pair.first, pair.second) for pair in found.pairs]
    [('shape', 'texture')]
    """
    distortion = str(parse(request.distortion))
    pairs = _pairs(request)
    entrants = list({entrant.name: entrant for pair in pairs for entrant in pair}.values())
    compared = [_compared(first, second, request, distortion) for first, second in pairs]
    corrected = holm([pair.p for pair in compared])
    ranks, questions = _ranks(entrants, request.on) if request.other is None else (None, ())
    result = ComparedModels(
        on=request.on,
        distortion=distortion,
        accuracies={entrant.name: _accuracy(entrant, request.on, distortion) for entrant in entrants},
        pairs=tuple(
            replace(pair, p_corrected=float(p), visible=pair.difference.detectable_among(len(compared)))
            for pair, p in zip(compared, corrected)
        ),
        ranks=ranks,
        questions=questions,
    )
    if request.page is not None:
        write_compared(result, expand_home(request.page))
    return result


compare_models = door(compare_requested, CompareRequest, "run", "other", "models", name="compare_models")


def flips_frame(run: Run, other: Run | None, models: Sequence[str] | None, on: str, distortion: str) -> pd.DataFrame:
    """The images that only one of two models gets right: sample, class, which is right, and what each answered."""
    import pandas as pd

    request = CompareRequest(run=run, other=other, models=tuple(models or ()), on=on, distortion=distortion)
    pairs = _pairs(request)
    if len(pairs) != 1:
        raise UserError(f"expected two models to compare, got {len(pairs)} pairs; name them: models=['a', 'b']")
    (first, second), text = pairs[0], str(parse(distortion))
    scores = _pair_scores(first, second, on, text)
    flipped = flips(scores.first, scores.second)
    rows = []
    for right, places in ((first, flipped.only_first), (second, flipped.only_second)):
        for image in flipped_images(first, second, scores, places, pictures=False):
            rows.append((image.sample, image.label, right.name, image.first, image.second))
    columns = ["sample", "class", "right", f"{first.name} says", f"{second.name} says"]
    return pd.DataFrame(rows, columns=columns)


def _pairs(request: CompareRequest) -> list[tuple[Entrant, Entrant]]:
    """What is compared with what: all pairs of a run, or every model with its version in the other run."""
    run = RunSide(_opened(request.run))
    names = _chosen(run, request.models)
    if request.other is None:
        entrants = [Entrant(name, run, name) for name in names]
        if len(entrants) < 2:
            raise UserError(f"{run.source} has one model, '{names[0]}'; give a second run, of another version of it")
        return list(itertools.combinations(entrants, 2))
    other = RunSide(_opened(request.other))
    versions = {name: _version(name, run, other) for name in names}
    return [
        (Entrant(f"{name} in {run.source}", run, name), Entrant(f"{version} in {other.source}", other, version))
        for name, version in versions.items()
    ]


def _chosen(run: RunSide, names: Sequence[str]) -> list[str]:
    for name in names:
        if name not in run.models:
            raise unknown("model", name, list(run.models))
    return list(names or run.models)


def _version(name: str, run: RunSide, other: RunSide) -> str:
    known = list(other.models)
    if name in known:
        return name
    if len(known) == len(run.models) == 1:
        return known[0]
    raise unknown(f"model in {other.source}", name, known)


def _compared(first: Entrant, second: Entrant, request: CompareRequest, distortion: str) -> ComparedPair:
    scores = _pair_scores(first, second, request.on, distortion)
    difference = compare(scores.first, scores.second, scores.groups)
    flipped = flips(scores.first, scores.second)
    pictured = {}
    for side, places in (("first_images", flipped.only_first), ("second_images", flipped.only_second)):
        chosen = places[: request.pictures] if request.page is not None else places[:0]
        pictured[side] = tuple(flipped_images(first, second, scores, chosen))
    return ComparedPair(
        first=first.name, second=second.name, difference=difference, p=_p(difference, scores), p_corrected=nan, visible=nan,
        only_first=len(flipped.only_first), only_second=len(flipped.only_second), **pictured,
    )  # fmt: skip


def _p(difference: Comparison, scores: PairScores) -> float:
    """Two-sided: McNemar's exact test for right or wrong answers of one run each, else that of `compare`."""
    each = (scores.first - scores.second)[0] if len(scores.first) == len(scores.second) == 1 else np.array([0.5])
    each = each[~np.isnan(each)]
    if scores.groups is not None or not np.isin(each, (-1, 0, 1)).all():
        return difference.p
    test = mcnemar(int((each == 1).sum()), int((each == -1).sum()))
    return min(1.0, 2 * min(test.below, test.above))


def _pair_scores(first: Entrant, second: Entrant, on: str, distortion: str) -> PairScores:
    a, b = first.scores(on, distortion), second.scores(on, distortion)
    listing = first.side.listing(on)
    assert isinstance(listing, Listing)  # there are scores of it
    here = there = np.arange(len(listing.keys))
    if first.side is not second.side:
        pairing = pair_images(first.side, second.side, on)
        here, there = pairing.here, pairing.there
    groups = None if listing.groups is None else listing.groups[here]
    return PairScores(a[:, here], b[:, there], here, there, groups, on, distortion)


def _accuracy(entrant: Entrant, on: str, distortion: str) -> Any:
    listing = entrant.side.listing(on)
    return accuracy(entrant.scores(on, distortion), None if listing is None else listing.groups)


def _ranks(entrants: Sequence[Entrant], on: str) -> tuple[CriticalDifference | None, tuple[str, ...]]:
    """The ranks of a run's models over the distortions that all of them were asked about; None for fewer than three."""
    if len(entrants) < FEWEST_RANKED:
        return None, ()
    side = entrants[0].side
    texts = dict.fromkeys(
        finding.distortions[0]
        for finding in side.findings
        if len(finding.distortions) == 1 and finding.on == on and finding.unit == "share"
    )
    table: Mapping[str, list[float]] = {text: _accuracies(entrants, on, text) for text in texts}
    known = {text: row for text, row in table.items() if row}
    if len(known) < 2:
        return None, ()
    return critical_difference(np.array(list(known.values())).T), tuple(known)


def _accuracies(entrants: Sequence[Entrant], on: str, distortion: str) -> list[float]:
    try:
        return [float(np.nanmean(entrant.scores(on, distortion))) for entrant in entrants]
    except UserError:  # an audit asked only some of them
        return []


def _opened(run: Any) -> RunFolder:
    if run is None:
        raise UserError(f"no run given; see {option('run')}")
    return run if isinstance(run, RunFolder) else load_run(run)
