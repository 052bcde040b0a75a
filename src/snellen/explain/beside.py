"""Models side by side: where each looks in the same images, and how much of that lies on the thing (paper 004, figure 6)."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from snellen.atomic import write_atomic
from snellen.data import Dataset, limited, load_data
from snellen.data.canvas import Rendered, render
from snellen.data.dataset import Photo
from snellen.errors import UserError
from snellen.explain.gradcam import gradcam
from snellen.explain.picture import as_layer, overlay, png
from snellen.lazy_torch import torch
from snellen.measure import accuracy, inside_mask, paired_difference
from snellen.models.model import Model
from snellen.models.subject import subjects_of
from snellen.version import __version__

if TYPE_CHECKING:
    from snellen.audits import Finding

PICTURES = 16  # images on the page
BATCH = 32


@dataclass(frozen=True)
class Look:
    """One run of a model on the images, in order: what it saw, its map, the mask and what it said."""

    images: list[np.ndarray]
    maps: list[np.ndarray]
    masks: list[np.ndarray]
    said: list[str]

    def inside(self) -> np.ndarray:
        """The share of each map inside its mask, [samples]."""
        return np.array([inside_mask(heat[None], mask[None])[0] for heat, mask in zip(self.maps, self.masks)])


@dataclass(frozen=True)
class Beside:
    """Models side by side: the page, and the findings `inside_mask` (a model) and `inside_mask_difference` (to the first)."""

    page: Path
    findings: tuple[Finding, ...]
    samples: tuple[str, ...]
    shares: Mapping[str, np.ndarray]  # by model, [runs, samples]


def explain_beside(
    models: Mapping[str, Any] | Sequence[str],
    data: Dataset | str,
    out: Path | str = "explained",
    limit: int | None = 64,
    layer: int | str | None = None,
    device: str | None = None,
) -> Beside:
    """Write `<out>/inside.html` and `inside.json`: maps of every model's own answers on data with masks, side by side.

    `models`: texts such as `NAME=FILE` (a glob is one model of several runs), or a dictionary from names to models or
    texts. `limit` images are asked about, chosen by a hash of their ids, and the first 16 are on the page, with the map
    of each model's first run. `layer` is as for `gradcam`.
    """
    asked = _runs(models, device)
    held = limited(load_data(data) if isinstance(data, str) else data, limit)
    if "masks" not in held.facts:
        raise UserError(f"{held.text} has no masks to compare maps with; give data that have, such as phantom:test")
    ids, photos = _photos(held)
    looks = {name: [_look(run, photos, as_layer(layer)) for run in runs] for name, runs in asked.items()}
    shares = {name: np.stack([one.inside() for one in some]) for name, some in looks.items()}
    findings = _findings(looks, shares)
    page = _page(held, ids, looks, shares, findings)
    folder = Path(out)
    rows = {name: [[_plain(v) for v in run] for run in values.tolist()] for name, values in shares.items()}
    told = {"findings": [one.to_json() for one in findings], "samples": list(ids), "inside_mask": rows}
    write_atomic(folder / "inside.json", (json.dumps(told, indent=1, ensure_ascii=False) + "\n").encode())
    write_atomic(folder / "inside.html", page.encode())
    return Beside(folder / "inside.html", tuple(findings), ids, shares)


def _runs(models: Mapping[str, Any] | Sequence[str], device: str | None) -> dict[str, list[Model]]:
    """The runs of each model by its name."""
    from snellen.models.model import as_model

    given = list(models.items()) if isinstance(models, Mapping) else [(None, text) for text in models]
    held: dict[str, list[Model]] = {}
    for name, one in given:
        if isinstance(one, str):
            subjects = subjects_of(f"{name}={one}" if name else one, device)
            called, runs = subjects[0].name, [subject.model(device) for subject in subjects]
        else:
            called, runs = str(name), [as_model(one, device=device)]
        if called in held:
            raise UserError(f"two models are called '{called}'; name them, as in mine=timm:resnet18.a1_in1k")
        held[called] = runs
    if not held:
        raise UserError("no model given; for example timm:resnet18.a1_in1k")
    return held


def _photos(data: Dataset) -> tuple[tuple[str, ...], list[Photo]]:
    """The images that can be read and have a mask, with their ids."""
    ids, photos = [], []
    for start in range(0, len(data), data.chunk):
        rows = range(start, min(start + data.chunk, len(data)))
        for row, photo in zip(rows, data.read(rows)):
            if isinstance(photo, Photo) and "mask" in photo.maps:
                ids.append(data.samples.ids[row])
                photos.append(photo)
    if not photos:
        raise UserError(f"no image of {data.text} can be read with its mask")
    return tuple(ids), photos


def _look(model: Model, photos: Sequence[Photo], layer: int | str | None) -> Look:
    look = Look([], [], [], [])
    for some in _batches([_shown(photo, model) for photo in photos]):
        pixels = torch.from_numpy(np.stack([one.image for one in some]))
        best = model(pixels).argmax(1).cpu()
        heat = gradcam(model, pixels, best, layer).float().cpu().numpy()
        look.images.extend(one.image for one in some)
        look.maps.extend(heat)
        look.masks.extend(one.maps["mask"].astype(bool) for one in some)
        look.said.extend(model.classes[int(k)] if model.classes else str(int(k)) for k in best)
    return look


def _shown(photo: Photo, model: Model) -> Rendered:
    if model.canvas is not None:
        return render(photo, model.canvas)
    return Rendered(np.ascontiguousarray(photo.image.transpose(2, 0, 1)), photo.boxes, dict(photo.maps))


def _batches(shown: Sequence[Rendered]) -> Iterator[list[Rendered]]:
    """Neighbours of one size, up to 32 together."""
    some: list[Rendered] = []
    for one in shown:
        if some and (len(some) == BATCH or one.image.shape != some[0].image.shape):
            yield some
            some = []
        some.append(one)
    if some:
        yield some


def _findings(looks: Mapping[str, Sequence[Look]], shares: Mapping[str, np.ndarray]) -> list[Finding]:
    """The mean share of each model, and how much more it is than the first model's, on the same images."""
    from snellen.audits.finding import finding  # the audits' engine makes maps, so it comes before this

    first = next(iter(shares))
    told = [_mean(name, looks[name][0], values) for name, values in shares.items()]
    for name, values in shares.items():
        if name != first:
            found = paired_difference(values, shares[first])
            text = f"share of the map inside the true mask, less that of {first} on the same images"
            more: dict[str, Any] = {"unit": "difference", "facts": {"other": first}}
            told.append(finding("explain", "inside_mask_difference", name, found, text, **more))
    return told


def _mean(name: str, look: Look, values: np.ndarray) -> Finding:
    from snellen.audits.finding import finding

    facts = {
        "mask_share": float(np.mean([mask.mean() for mask in look.masks])),
        "empty_maps": int(np.isnan(values).sum()),
    }
    per_run = tuple(float(np.nanmean(run)) if not np.isnan(run).all() else np.nan for run in values)
    text = "share of the map inside the true mask, mean over images"
    return finding(
        "explain", "inside_mask", name, accuracy(values), text, better="higher", facts=facts, per_run=per_run
    )


def _page(
    data: Dataset,
    ids: Sequence[str],
    looks: Mapping[str, Sequence[Look]],
    shares: Mapping[str, np.ndarray],
    findings: Sequence[Finding],
) -> str:
    import jinja2

    folder = Path(__file__).parent
    templates = jinja2.Environment(
        loader=jinja2.FileSystemLoader([folder, folder.parent / "report" / "render"]),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    label = dict(zip(data.samples.ids, data.samples.labels.tolist()))
    rows = []
    for place, sample in enumerate(ids[:PICTURES]):
        cells = []
        for name, (look, *_) in looks.items():
            picture = _outlined(overlay(look.images[place], look.maps[place]), look.masks[place])
            cells.append({"picture": _uri(picture), "said": look.said[place], "share": _plain(shares[name][0][place])})
        first = next(iter(looks.values()))[0]
        photo = first.images[place].transpose(1, 2, 0)
        known = label[sample]
        rows.append(
            {
                "sample": sample,
                "class": data.classes[known] if known >= 0 else "",
                "photo": _uri(_outlined(photo.copy(), first.masks[place])),
                "cells": cells,
            }
        )
    return templates.get_template("beside.html").render(
        data=data.text, count=len(ids), models=list(looks), rows=rows, findings=[one.to_json() for one in findings],
        snellen=__version__,
    )  # fmt: skip


def _outlined(picture: np.ndarray, mask: np.ndarray) -> np.ndarray:
    """The picture with the mask's edge, the pixels inside that touch the outside, in white."""
    padded = np.pad(mask, 1)
    core = padded[:-2, 1:-1] & padded[2:, 1:-1] & padded[1:-1, :-2] & padded[1:-1, 2:]
    picture[mask & ~core] = 255
    return picture


def _uri(picture: np.ndarray) -> str:
    import base64

    return "data:image/png;base64," + base64.b64encode(png(picture, 160)).decode()


def _plain(value: float) -> float | None:
    return None if np.isnan(value) else float(value)
