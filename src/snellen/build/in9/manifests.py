"""The tables beside a set: where every file comes from, what was rejected, and the list for people's decisions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from snellen.build.destination import Destination
from snellen.build.encode import table
from snellen.build.in9.curation import DECIDED
from snellen.build.in9.grouping import Grouping
from snellen.build.in9.pool import In9Verdict
from snellen.build.in9.request import In9Request
from snellen.build.in9.variants import Order, files_of
from snellen.data.in9.layout import COLUMNS, CURATION, PROVENANCE, REJECTED
from snellen.files.spreadsheet import plain_cell


@dataclass(frozen=True)
class In9Outcome:
    """What became of the images: all verdicts, those of the accepted ones with what to write of each, their classes by name
    (`label`), and those that people have rejected (`rejects`: name → reason)."""

    orders: Sequence[Order]
    accepted: Sequence[In9Verdict]
    verdicts: Sequence[In9Verdict]
    label: Mapping[str, int]
    rejects: Mapping[str, str]


def write_manifests(
    to: Destination,
    outcome: In9Outcome,
    groups: Grouping,
    request: In9Request,
) -> None:
    """Write provenance.csv, rejected.csv and curation.csv."""
    accepted, label = outcome.accepted, outcome.label
    rows = [row for o, v in zip(outcome.orders, accepted) for row in _files(o, v, label, groups, request)]
    rows.sort(key=lambda row: (row["variant"], row["file"]))
    to.write(PROVENANCE, table(COLUMNS, rows))
    rejected = [v for v in outcome.verdicts if v.reason]
    reasons = [
        {name: plain_cell(value) for name, value in zip(("id", "source", "reason", "detail"), facts)}  # for people only
        for facts in ((v.name, v.source, v.reason, v.detail) for v in rejected)
    ]
    to.write(REJECTED, table(("id", "source", "reason", "detail"), reasons))
    decisions = {v.name: ("accept", "") for v in accepted}
    decisions |= {name: ("reject", reason) for name, reason in outcome.rejects.items()}
    rows = [{"id": name, "decision": decision, "reason": why} for name, (decision, why) in sorted(decisions.items())]
    to.write(CURATION, table(DECIDED, rows))


def _files(
    order: Order, verdict: In9Verdict, label: Mapping[str, int], groups: Grouping, request: In9Request
) -> list[dict[str, Any]]:
    """One row per file of an image. Where the background is the image's own, it is named so; only_fg has none."""
    own = groups.classes[label[order.name]]
    corners = dict(zip(("x0", "y0", "x1", "y1"), order.box))
    rows = []
    for kind, file in files_of(order, request).items():
        lender = order.lenders[kind][0] if kind in order.lenders else "" if kind == "only_fg" else order.name
        rows.append(
            {
                "id": file.rpartition("/")[2].rpartition(".")[0],
                "variant": kind,
                "split": request.split,
                "file": file,
                "class": own,
                "coarse_class": groups.coarse[label[order.name]],
                "foreground": order.name,
                "background": lender,
                "background_class": groups.classes[label[lender]] if lender else "",
                "mask_share": "" if request.all_images else f"{verdict.mask_share:.6f}",
                **corners,
                "seed": "" if verdict.seed < 0 else verdict.seed,
                "source": verdict.source,
                "source_checksum": verdict.checksum,
            }
        )
    return rows
