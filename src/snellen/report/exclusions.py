"""Images that count nowhere, which a reader must know where they are many: a distortion could not be applied to them, or nothing
can be said of their maps."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from math import isnan

from snellen.audits.alignment_facts import EnergyFacts, FilterCounts
from snellen.audits.finding import Finding
from snellen.audits.inside_mask import InsideMaskFacts
from snellen.distort import parse
from snellen.distort.language import in_words
from snellen.engine.keep.failures import MOST
from snellen.engine.keep.run_folder import RunFolder
from snellen.errors import UserError
from snellen.report.words import percent

SHOWN = 3  # distortions that a notice names
REGIONS = {"mask": "their masks have no pixel of an object", "box": "they have no box of an object"}


@dataclass(frozen=True)
class Exclusion:
    """How many of the images of a dataset a distortion could not be applied to, the first of them, and why."""

    on: str
    images: int
    of: int
    first: str
    why: str


def excluded_notices(run: RunFolder, findings: Sequence[Finding]) -> list[str]:
    """A notice for each reason where more than 5% of the images of a dataset do not count in some of these findings."""
    distortions = {text for finding in findings for text in finding.distortions}
    return [*_distortion_notices(run, distortions), *_map_notices(run, findings)]


def _map_notices(run: RunFolder, findings: Sequence[Finding]) -> list[str]:
    """Notices of images on which maps and objects cannot be compared."""
    samples = run.facts["data"]["test"]["samples"]
    notices: dict[str, None] = {}
    for finding in findings:
        facts = finding.facts
        if isinstance(facts, EnergyFacts):
            chosen = facts.filter
            of, objects = chosen.chosen if isinstance(chosen, FilterCounts) else samples, REGIONS[facts.region]
            maps = f"the maps of '{finding.model}' by {facts.method}"
        elif isinstance(facts, InsideMaskFacts):
            of, objects, maps = samples, REGIONS["mask"], f"the maps of '{finding.model}' in masks"
        else:
            continue
        nothing = facts.without_object if isinstance(facts.without_object, int) else 0
        empty = -(-facts.empty_maps // max(1, len(finding.per_run)))  # of several runs as many as an average one has
        for images, what, why in ((nothing, "maps and objects", objects), (empty, maps, "they are 0 everywhere there")):
            if images > MOST * of:
                share = percent(images / of, 0)
                notices[f"{images:,} of {of:,} test images ({share}) count in no number about {what}: {why}"] = None
    return list(notices)


def _distortion_notices(run: RunFolder, distortions: Collection[str]) -> list[str]:
    texts: dict[Exclusion, list[str]] = {}
    for distortion, exclusion in _exclusions(run, distortions):
        if exclusion.images > MOST * exclusion.of:
            texts.setdefault(exclusion, []).append(distortion)
    notices = []
    for exclusion, names in texts.items():
        more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
        share = percent(exclusion.images / exclusion.of, 0)
        notices.append(
            f"{exclusion.images:,} of {exclusion.of:,} {exclusion.on} images ({share}) count nowhere under "
            f"{', '.join(in_words(name) for name in names[:SHOWN])}{more}: {exclusion.why} ('{exclusion.first}' first)"
        )
    return notices


def _exclusions(run: RunFolder, distortions: Collection[str]) -> list[tuple[str, Exclusion]]:
    """Distortions that could not be applied to some images of a dataset."""
    cells = {row["shown"]: row for row in run.store.cells() if row["distortion"] in distortions}
    counts: Counter[str] = Counter()
    excluded: dict[str, list[tuple[str, bool]]] = {}
    for file in run.store.files("shown"):
        table = run.store.rows(file, ["shown", "sample", "object_covered", "excluded"])
        counts.update(table["shown"].to_pylist())
        for row in table.filter(table["excluded"]).to_pylist():
            hidden = row["object_covered"]
            excluded.setdefault(row["shown"], []).append((row["sample"], hidden is None or isnan(hidden)))
    exclusions = []
    for key in (key for key in excluded if key in cells):
        on, distortion, rows = cells[key]["on"], cells[key]["distortion"], excluded[key]
        exclusions.append((distortion, Exclusion(on, len(rows), counts[key], min(rows)[0], _why(distortion, rows))))
    return exclusions


def _why(distortion: str, rows: list[tuple[str, bool]]) -> str:
    """Why a distortion could not be applied to some images, of which (sample, whether no pixel of an object is known)."""
    try:
        needs = parse(distortion).needs
    except UserError:  # a trial or a search, which says its own
        needs = frozenset()
    reasons = []
    empty = sum(nothing for _, nothing in rows)
    if "masks" in needs and empty:
        reasons.append(f"the masks of {empty:,} have no pixel of an object")
    elif {"masks", "boxes"} & needs and empty:
        reasons.append(f"{empty:,} have no object, or its box leaves nothing over")
    if len(rows) > empty or not reasons:
        reasons.append("no donor fits" if "donors" in needs else "no place within the bounds was found")
    return "; ".join(reasons)
