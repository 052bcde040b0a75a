"""Drift: whether a service still answers as when the folder was first asked, by the probe images and by images asked again."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from snellen.checks import Doubt, merge_runs
from snellen.distort import Nothing
from snellen.engine import Plan, Store
from snellen.engine.keep.run_json import PROBE_TOLERANCE
from snellen.engine.requests.cell import BoundCell
from snellen.exam.prepare import Prepared
from snellen.measure import Estimate, accuracy, answer_changes
from snellen.models.subject import Subject

AGAIN = 100  # clean images that were answered before and are asked again, at most
_ADVICE = (
    "this folder may hold answers of both; ask everything again: choose another --out or pass --fresh (#repeats=2 tells how "
    "often it contradicts itself within one run)"
)


def drifts(prepared: Prepared, plan: Plan, store: Store) -> dict[str, list[Doubt]]:
    """By model and run, what shows that a service answers otherwise than before; nothing for a new folder.

    Where something is left to ask, some clean images are asked again.
    """
    of_runs: dict[str, list[Doubt]] = {}
    for subject in prepared.inputs.subjects:
        known = prepared.before.get("models", {}).get(subject.name, {}).get(subject.run)
        if not subject.card.varies or known is None:
            continue
        doubts = [_by_probes(subject, known), _by_images(subject, prepared, plan, store)]
        if seen := [doubt for doubt in doubts if doubt is not None]:
            of_runs[f"{subject.name}/{subject.run}"] = seen
    return of_runs


def with_drifts(stored: Mapping[str, Any], seen: Mapping[str, Sequence[Doubt]]) -> dict[str, Any]:
    """What run.json keeps of all drift that a folder has seen, by model and run; the latest of each."""
    return {**stored, **{key: [doubt.to_json() for doubt in doubts] for key, doubts in seen.items()}}


def stored_drifts(stored: Mapping[str, Any], subjects: Sequence[Subject]) -> list[Doubt]:
    """The drift that a folder has seen of one model's runs."""
    doubts = [Doubt(**entry) for subject in subjects for entry in stored.get(f"{subject.name}/{subject.run}", ())]
    return merge_runs(doubts, len(subjects))


def _by_probes(subject: Subject, known: Mapping[str, Any]) -> Doubt | None:
    """What the probe images tell; None where all are answered as before."""
    if not known.get("probes") or subject.card.probes is None:
        return None
    first, now = (np.array(rows, float) for rows in (known["probes"], subject.card.probes))
    if first.shape != now.shape:
        return _doubt(subject, "answers the probe images in another form than at first")
    differs = ~np.isclose(first, now, rtol=0, atol=PROBE_TOLERANCE, equal_nan=True).all(axis=1)
    if not differs.any():
        return None
    if subject.card.task != "classification":
        return _doubt(subject, f"answers {_of(accuracy(differs.astype(float)))} probe images otherwise than at first")
    places = np.arange(len(first)), first.argmax(1)
    named = answer_changes(np.stack([first.argmax(1), now.argmax(1)]))
    moved = accuracy(np.abs(first[places] - now[places]).clip(0, 1))
    return _doubt(
        subject,
        f"takes {_of(named)} probe images for another class than at first, and the probability of the first answer has moved by "
        f"{moved.value:.2f} ({moved.low:.2f} to {moved.high:.2f})",
    )


def _by_images(subject: Subject, prepared: Prepared, plan: Plan, store: Store) -> Doubt | None:
    """What clean images tell that were answered before; None where all are answered as before, or nothing is left to ask."""
    clean = next((bound for bound in _asked_of(subject, plan.cells) if bound.cell == prepared.exam.clean()), None)
    left = any(_asked_of(subject, pass_.cells) for pass_ in plan.passes) or any(
        _asked_of(subject, asking) for asking in (plan.open_trials, plan.open_searches, plan.open_surveys)
    )
    if clean is None or not left or prepared.exam.task != "classification" or not isinstance(clean.distortion, Nothing):
        return None
    first = dict(_stored(clean, store))
    if not first:
        return None
    ids, now = _ask_again(clean, prepared, first)
    if not ids:
        return None
    changed = answer_changes(np.stack([[first[sample] for sample in ids], now]))
    if changed.value == 0:
        return None
    seen = f"takes {_of(changed)} clean images that it had answered for another class when asked again"
    return replace(_doubt(subject, seen), name="drift_of_answers")


def _asked_of(subject: Subject, cells: Sequence[BoundCell]) -> list[BoundCell]:
    return [bound for bound in cells if (bound.subject.name, bound.subject.run) == (subject.name, subject.run)]


def _stored(clean: BoundCell, store: Store) -> Iterator[tuple[str, int]]:
    """Sample and class of each answer that is there."""
    for file in store.answer_files({clean.key}):
        rows = store.rows(file, ["cell", "sample", "raw"])
        for cell, sample, raw in zip(*(rows[name].to_pylist() for name in ("cell", "sample", "raw"))):
            if cell == clean.key:
                yield sample, raw


def _ask_again(clean: BoundCell, prepared: Prepared, first: Mapping[str, int]) -> tuple[list[str], np.ndarray]:
    """Some of the images, chosen by a hash of their ids, and the classes that the service now names, [images]."""
    from snellen.engine.ask.slides import slides
    from snellen.lazy_torch import torch

    data, settings = prepared.inputs.data["test"], prepared.inputs.settings
    rows = [row for row in data.samples.hash_order.tolist() if data.samples.ids[row] in first][:AGAIN]
    some = data.at(np.sort(np.array(rows, np.int64)))
    (slide,) = slides(some, [range(len(some))], [clean.canvas], settings.decoders)
    samples = some.samples
    model = clean.subject.model(settings.device).about(samples.keys, samples.labels, clean.labels)
    pixels = slide.images[clean.canvas]
    answers, errors = model.by_row(pixels) if model.by_row is not None else (model(pixels), {})
    reading = clean.labels.read(answers, torch.from_numpy(some.samples.labels))
    taken = [row for row in range(len(some)) if row not in errors and not slide.errors[row]]
    return [some.samples.ids[row] for row in taken], reading.raw.cpu().numpy()[taken]


def _of(share: Estimate) -> str:
    """A share of some images in words, with its interval."""
    return f"{round(share.value * share.n)} of {share.n} ({share.value:.0%}, {share.low:.0%} to {share.high:.0%})"


def _doubt(subject: Subject, seen: str) -> Doubt:
    return Doubt("drift", f"the service behind '{subject.name}' {seen}", _ADVICE, subject.name)
