"""A built set as it lies on disk: its settings, and what its manifests say of every image."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import msgspec
import numpy as np

from snellen.build.in9.grouping import Grouping
from snellen.build.in9.pool import In9Verdict
from snellen.build.in9.request import In9Request
from snellen.build.in9.variants import Order
from snellen.data.in9.layout import CURATION, FACTS, PROVENANCE, REJECTED, folders
from snellen.data.in9.provenance import BOX, SCHEMA
from snellen.data.names import storable
from snellen.distort.background import MIXED
from snellen.errors import UserError
from snellen.files import fit, read_bytes, read_json
from snellen.files.places import exists
from snellen.files.table import Column, Schema, line_of, read_table
from snellen.hashing import checksum, key_of
from snellen.request import settings_of

VERSION = "snellen/in9/1"
TABLE = {**SCHEMA, "class": Column(required=True), "seed": Column("int", least=0), "source_checksum": Column()}
REFUSALS: Schema = dict.fromkeys(("id", "source", "reason", "detail"), Column(required=True))
Names = Annotated[list[str], msgspec.Meta(min_length=1)]


class _Facts(msgspec.Struct):
    """What is read of build.json beside the settings."""

    schema: str
    classes: Names
    coarse_classes: Names


@dataclass(frozen=True)
class StoredIn9Set:
    """A built set: its folder, the facts in its build.json, the settings it was built with, its classes, and its images in the
    order of the manifest (`verdicts`: box, seed, source, …; `orders`: its class folder and who lends it a background). `refused`
    are the images that were not taken, `fingerprint` a key of its facts and manifests."""

    folder: Path
    facts: Mapping[str, Any]
    request: In9Request
    groups: Grouping
    verdicts: Sequence[In9Verdict]
    orders: Mapping[str, Order]
    label: Mapping[str, int]
    refused: Sequence[In9Verdict]
    fingerprint: str


def read_set(folder: Path) -> StoredIn9Set:
    """The set in a folder that `build in9` has written."""
    facts, request = _read_facts(folder)
    stated: _Facts = fit(dict(facts), _Facts, folder / FACTS)
    classes, coarse = tuple(stated.classes), tuple(stated.coarse_classes)
    if len(coarse) != len(classes):
        raise UserError(
            f"{folder / FACTS}: expected a coarse class for each of {len(classes)} classes, got {len(coarse)}"
        )
    verdicts, orders, label = _read_images(folder / PROVENANCE, classes, request)
    labels = np.array([label[verdict.name] for verdict in verdicts], np.int64)
    stamps = [checksum(read_bytes(folder / name, "manifest")) for name in (FACTS, PROVENANCE)]
    grouping = Grouping(classes, labels, coarse)
    return StoredIn9Set(
        folder, facts, request, grouping, verdicts, orders, label, _read_refused(folder), key_of(stamps)
    )


def earlier_list(folder: Path) -> Path | None:
    """The list that a set was built with, or that it began; None where it has none."""
    file = folder / CURATION
    return file if exists(file) else None


def _read_facts(folder: Path) -> tuple[dict[str, Any], In9Request]:
    """The facts of a set, and the settings among them."""
    file = folder / FACTS
    if not exists(file):
        raise UserError(f"'{folder}' has no {FACTS}; expected a set that `snellen build in9` has written")
    facts: dict[str, Any] = read_json(file, dict[str, Any], "file of the set's facts")
    if facts.get("schema") != VERSION:
        got = str(facts.get("schema"))[:60]
        raise UserError(f"{file}: expected the schema '{VERSION}', got '{got}'; build the set again with this version")
    known = {item.name for item in settings_of(In9Request)} - {"data", "out", "classes", "limit", "curation"}
    settings = {name: value for name, value in facts.items() if name in known and value is not None}
    if isinstance(settings.get("fine"), list):
        settings["fine"] = ":".join(map(str, settings["fine"]))
    request = In9Request.read({**settings, "data": str(facts.get("data", "-")), "out": Path("-")}, str(file))
    if request.all_images:
        raise UserError(f"'{folder}' holds originals alone, without boxes and masks; build the variants to curate them")
    return facts, request


def _read_images(
    file: Path, classes: tuple[str, ...], request: In9Request
) -> tuple[list[In9Verdict], dict[str, Order], dict[str, int]]:
    """The images by the manifest: what is known of each, how its files are named, and its class."""
    if not exists(file):
        raise UserError(f"no file '{file}'; expected a set that `snellen build in9` has written")
    table = read_table(file, TABLE)
    place, number = dict(zip(classes, folders(classes))), {name: label for label, name in enumerate(classes)}
    verdicts: dict[str, In9Verdict] = {}
    label: dict[str, int] = {}
    lenders: dict[str, dict[str, str]] = {}
    for row, line in enumerate(table.to_dict("records")):
        where, name = f"{file} line {line_of(row)}", storable(line["foreground"])
        if line["split"] != request.split:
            raise UserError(f"{where}: expected the split '{request.split}', got '{line['split'][:60]}'")
        own = storable(line["class"])
        if own not in number:
            raise UserError(f"{where}: class '{own[:60]}' is none of the set's; build the set again")
        if line["variant"] in MIXED:
            if "background" not in line:
                raise UserError(f"{file} has no column 'background', but mixed variants; build the set again")
            lenders.setdefault(name, {})[line["variant"]] = storable(line["background"])
        label[name] = number[own]
        if line["variant"] == "original":
            verdicts[name] = _verdict(name, line, where)
    lost = (
        sorted(lenders.keys() - verdicts.keys())[:1]
        or [lender for lent in lenders.values() for lender in lent.values() if lender not in verdicts][:1]
    )
    if lost:
        raise UserError(f"{file}: '{lost[0][:60]}' has no original; build the set again")
    orders = {
        name: Order(
            name,
            place[classes[label[name]]],
            verdict.box,
            {kind: (lender, verdicts[lender].box) for kind, lender in lenders.get(name, {}).items()},
        )
        for name, verdict in verdicts.items()
    }
    return sorted(verdicts.values(), key=lambda verdict: verdict.name), orders, label


def _verdict(name: str, line: Mapping[Any, Any], where: str) -> In9Verdict:
    """An image that is in the set, by its line in the manifest."""
    if not name or name in (".", "..") or set(name) & set("/\0"):
        raise UserError(f"{where}: foreground '{name[:60]}' is not the name of a file")
    corners = [line[corner] for corner in BOX]
    if any(corner != corner or corner != int(corner) for corner in corners):
        raise UserError(f"{where}: expected a box of whole pixels; build the set again")
    seed = -1 if line["seed"] != line["seed"] else int(line["seed"])
    box = tuple(int(corner) for corner in corners)
    source = storable(line.get("source", ""))
    checked = storable(line.get("source_checksum", ""))
    return In9Verdict(source, name, "", "", box, float(line.get("mask_share", "nan")), seed, checked)


def _read_refused(folder: Path) -> list[In9Verdict]:
    """The images that were not taken, by rejected.csv."""
    file = folder / REJECTED
    if not exists(file):
        return []
    table = read_table(file, REFUSALS)
    rows = [map(storable, row) for row in table[list(REFUSALS)].itertuples(index=False)]
    return [In9Verdict(source, name, reason, detail) for name, source, reason, detail in rows]
