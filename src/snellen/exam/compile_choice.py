"""Whether torch networks are compiled: as the run folder has it, as the request says, or where it pays."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from snellen.data.canvas import Canvas
from snellen.engine.plan import Plan
from snellen.engine.settings import COMPILED, SMALL
from snellen.errors import UserError, option
from snellen.extras import has_triton

# Images that a network must be shown before compiling pays. A ResNet-50 at 224 px on an H200 runs 15,500 per second as it is
# and 24,200 compiled, after 15 s of compiling: 650,000 images earn these back.
PAYS = 1_000_000
PAYS_SMALL = 20_000_000  # at up to 64 px, where a GPU answers some hundred thousand per second


def check_same_compile(folder: Path, before: Mapping[str, Any], wanted: str) -> None:
    """Refuse another choice than that of the earlier commands in a folder."""
    known = "on" if before["settings"]["precision"].endswith(COMPILED) else "off"
    if wanted not in ("auto", known):
        raise UserError(
            f"{folder} was made with {option('compile')} {known}; leave {option('compile')} out, "
            f"choose another {option('out')} or pass {option('fresh')}"
        )


def pays(plan: Plan) -> bool:
    """Whether some network of a plan is shown so many images on a GPU that compiling it pays, and this machine can."""
    if not plan.settings.device.startswith("cuda") or not has_triton():
        return False
    images: dict[tuple[str, Canvas], int] = {}
    for pass_ in plan.passes:
        shown = sum(len(plan.samples_of(pass_.on, shard)) for shard in pass_.shards)
        for bound in pass_.cells:
            if bound.subject.card.gradients:
                which = bound.subject.card.fingerprint, bound.canvas
                images[which] = images.get(which, 0) + shown
    return any(
        count >= (PAYS_SMALL if canvas.height * canvas.width <= SMALL else PAYS)
        for (_, canvas), count in images.items()
    )
