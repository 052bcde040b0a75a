"""Models side by side: the audit `inside_mask` with a page of its own (Xiao et al. 2021, figure 6)."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import numpy as np

from snellen.atomic import write_atomic
from snellen.audits import FACTS, Finding, InsideMaskAudit
from snellen.audits.facts import Number, without_nan
from snellen.audits.inside_mask import inside_masks
from snellen.audits.stored_finding import StoredFinding, read_finding
from snellen.data import Dataset, as_data, limited
from snellen.data.canvas import Rendered
from snellen.engine.keep.map_reader import MapReader, masked_maps, render_rows
from snellen.engine.requests.cell import canvas_for
from snellen.engine.requests.map import MapRequest
from snellen.exam.explain_request import BesideRequest
from snellen.exam.run import Run
from snellen.explain.methods import method_of
from snellen.explain.overlays import outline, overlay
from snellen.explain.picture import as_layer, png
from snellen.models import Card, Subject
from snellen.report.pages.side_by_side import SIDE, Example, MapKind, MapOnImage, write
from snellen.settings_file import door

PICTURES = 16  # images on the page


@dataclass(frozen=True)
class Beside:
    """Models side by side: the page, the findings `inside_mask` (per model) and `inside_mask_difference` (to the first), and
    by model the share of each image's map inside its mask, float [runs, samples]."""

    page: Path
    findings: tuple[Finding, ...]
    samples: tuple[str, ...]
    shares: Mapping[str, np.ndarray]


def explain_models(request: BesideRequest) -> Beside:
    """Audit `inside_mask` into the run folder `out`, and write `inside.html` and `inside.json` beside its report.

    `models`: texts such as `NAME=FILE` (a glob is one model of several runs), or a dictionary from names to models or
    texts. `limit` images are asked about, chosen by a hash of their ids, and the first 16 are on the page, with the map
    of each model's first run. `layer` and `method` are as for `explain_images`, but for one method. What an earlier call
    asked is not asked again.

    >>> from snellen.explain import explain_beside
    >>> from snellen.train import preset, train
    >>> (path,) = train(preset(None, arch="smallnet", epochs=1), "phantom:train?size=32&n=24", "nets", quiet=True)
    >>> shown = explain_beside({"small": str(path)}, "phantom:test?size=32&n=12", "explained", limit=4)
    >>> str(shown.page)
    'explained/inside.html'
    """
    from snellen.exam.auditing import audit

    inside = InsideMaskAudit(as_layer(request.layer), ",".join(request.method))
    out, limit = request.out or Path("explained"), request.most
    data = cast(Dataset | str, request.data)  # an audit refuses None
    run: Run = audit(request.models, data, [inside], out, limit=limit, device=request.device)
    dataset = limited(as_data(data), limit)
    readers = _readers(run, dataset, MapRequest(inside.method, inside.layer))
    maps = _maps_inside(readers)
    rows = {model: without_nan(shares.tolist()) for model, shares in maps.shares.items()}
    entries = run.results()["findings"]
    findings = [(read_finding(entry, FACTS), entry) for entry in entries]
    own = [(finding, entry) for finding, entry in findings if finding.audit == "inside_mask"]
    content = {"findings": [entry for _, entry in own], "samples": list(maps.samples), "inside_mask": rows}
    write_atomic(run.path / "inside.json", (json.dumps(content, indent=1, ensure_ascii=False) + "\n").encode())
    page = run.path / "inside.html"
    method = method_of(inside.method)
    kind = MapKind(inside.method, method.text, method.by_class)
    write(run, len(maps.samples), kind, _examples(maps, readers), page)
    return Beside(page, tuple(_finding(stored) for stored, _ in own), maps.samples, maps.shares)


explain_beside = door(
    explain_models, BesideRequest, "models", "data", "out", "limit", "layer", "device", "method", name="explain_beside"
)


@dataclass(frozen=True)
class MapsInside:
    """The samples that every run has a map and a mask of; by model their shares, float [runs, samples], and the maps of its
    first run for the first samples."""

    samples: tuple[str, ...]
    shares: Mapping[str, np.ndarray]
    maps: Mapping[str, Mapping[str, np.ndarray]]


def _readers(run: Run, dataset: Dataset, request: MapRequest) -> dict[str, list[MapReader]]:
    """The stored maps of each model's runs."""
    facts = run.facts
    readers: dict[str, list[MapReader]] = {}
    for model, names in facts["asked"].items():
        for name in names:
            subject = Subject(model, name, Card.from_json(facts["models"][model][name]))
            key = run.map_key(model, name, request)
            reader = MapReader(run.store, key, dataset, canvas_for(subject, dataset), dataset.samples.rows)
            readers.setdefault(model, []).append(reader)
    return readers


def _maps_inside(readers: Mapping[str, Sequence[MapReader]]) -> MapsInside:
    """Shard by shard, so that memory does not grow with the number of images."""
    samples: list[str] = []
    shares: dict[str, list[np.ndarray]] = {model: [] for model in readers}
    maps: dict[str, dict[str, np.ndarray]] = {model: {} for model in readers}
    for parts in masked_maps([reader for runs in readers.values() for reader in runs]):
        pictured = max(0, PICTURES - len(samples))
        samples += parts[0].ids
        rest = iter(parts)
        for model, runs in readers.items():
            own = [next(rest) for _ in runs]
            shares[model].append(np.stack([inside_masks(part) for part in own]))
            maps[model] |= dict(zip(own[0].ids[:pictured], own[0].maps))
    empty = {model: np.empty((len(runs), 0)) for model, runs in readers.items()}
    joined = {model: np.concatenate([empty[model], *parts], axis=1) for model, parts in shares.items()}
    return MapsInside(tuple(samples), joined, maps)


def _examples(maps: MapsInside, readers: Mapping[str, Sequence[MapReader]]) -> list[Example]:
    """The first samples as pictures: the image, and each model's map over what its first run saw of it."""
    samples = maps.samples[:PICTURES]
    images = {model: _images(runs[0], samples) for model, runs in readers.items()}
    data = next(runs[0].data for runs in readers.values())
    labels = dict(zip(data.samples.ids, data.samples.labels.tolist()))
    examples = []
    for column, sample in enumerate(samples):
        looks = {}
        for model, by_sample in images.items():
            picture = overlay(by_sample[sample].image, maps.maps[model][sample])
            looks[model] = MapOnImage(_outlined_png(picture, by_sample[sample]), float(maps.shares[model][0, column]))
        image = next(iter(images.values()))[sample]
        photo = _outlined_png(image.image.transpose(1, 2, 0), image)
        examples.append(Example(sample, data.classes[labels[sample]] if labels[sample] >= 0 else "", photo, looks))
    return examples


def _images(reader: MapReader, samples: Sequence[str]) -> dict[str, Rendered]:
    """By sample, the image and its mask on the canvas of a run."""
    return dict(render_rows(reader.data, reader.canvas, [reader.rows[sample] for sample in samples]))


def _outlined_png(picture: np.ndarray, image: Rendered) -> bytes:
    return png(outline(picture, image.maps["mask"].astype(bool)), SIDE)


def _finding(stored: StoredFinding[Any]) -> Finding:
    """A finding of the audit as an audit concludes it: it rests on no cells, and what is not known is nan."""
    return Finding(
        stored.audit,
        stored.name,
        stored.model,
        _number(stored.value),
        _number(stored.low),
        _number(stored.high),
        stored.n,
        stored.text,
        better=stored.better,
        unit=stored.unit,
        facts=stored.facts,
        per_run=tuple(map(_number, stored.per_run)),
        label=stored.label,
        topic=stored.topic,
    )


def _number(value: Number) -> float:
    return np.nan if value is None else value
