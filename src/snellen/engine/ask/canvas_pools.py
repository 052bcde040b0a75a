"""Pools as distortions paste from them: donors rendered on the canvases that are needed, on the device."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from snellen.data.canvas import Canvas
from snellen.data.dataset import Dataset, limited
from snellen.data.occluders import Occluders
from snellen.distort import Donors
from snellen.engine.ask.slides import slides
from snellen.engine.inputs import Pools
from snellen.engine.requests.cell import BoundCell
from snellen.engine.requests.map import BoundMap

DONOR_BYTES = 64 * 2**20  # what a donor pool may take of memory, per canvas
WHOLE_POOL_BYTES = 640 * 2**20  # where all donors should be there: the 4,050 published backgrounds at 224 px


@dataclass(frozen=True)
class Pool:
    """Which donors a distortion pastes from: the canvas they are on, and whether all should be there or a share is enough."""

    canvas: Canvas
    whole: bool = False


@dataclass(frozen=True)
class CanvasPools:
    """What a pass may paste: donors by the pool that a request needs, and the user's cut-outs."""

    donors: Mapping[Pool, Donors] = field(default_factory=dict)
    occluders: Occluders | None = None

    def donors_for(self, request: BoundCell | BoundMap) -> Donors | None:
        """The donors that the distortion of a request pastes from."""
        return self.donors.get(pool_for(request))


def pool_for(request: BoundCell | BoundMap) -> Pool:
    """The pool of a request; it depends on nothing else, so that no other request changes what is pasted."""
    return Pool(request.canvas, request.distortion.whole_pool)


def pools_on_canvases(
    pools: Pools, requests: Iterable[BoundCell | BoundMap], device: Any, classes: Sequence[str]
) -> CanvasPools:
    """The pools that some requests need; donors are decoded only where a distortion pastes them."""
    if pools.donors is None:
        return CanvasPools(occluders=pools.occluders)
    needed = dict.fromkeys(pool_for(request) for request in requests if "donors" in request.distortion.needs)
    donors = {pool: donor_pool(pools.donors, pool, device, classes) for pool in needed}
    return CanvasPools(donors, pools.occluders)


def donor_pool(data: Dataset, pool: Pool, device: Any, classes: Sequence[str] = ()) -> Donors:
    """Donor images on a canvas: as many as fit into 64 MiB (640 for a whole pool), chosen by a hash of their ids.

    Labels are numbers in `classes`, those of the data that borrow; classes that only the donors have come behind them.
    """
    canvas = _fit(pool.canvas)
    chosen = limited(
        data, max(1, (WHOLE_POOL_BYTES if pool.whole else DONOR_BYTES) // (3 * canvas.height * canvas.width))
    )
    (slide,) = slides(chosen, [range(len(chosen))], [canvas], threads=4)
    readable = [row for row, error in enumerate(slide.errors) if not error]
    names = tuple(dict.fromkeys((*classes, *data.classes)))
    places = {name: place for place, name in enumerate(names)}
    number = np.array([*(places[name] for name in data.classes), -1])  # a label of −1 stays unknown
    return Donors(
        slide.images[canvas][readable].to(device),
        tuple(chosen.samples.ids[row] for row in readable),
        chosen.fingerprint,
        number[chosen.samples.labels[readable]],
        [slide.boxes[canvas][row] for row in readable] if canvas in slide.boxes else None,
        slide.masks[canvas][readable].to(device) if canvas in slide.masks else None,
        names,
        len(classes),
    )


def _fit(canvas: Canvas) -> Canvas:
    """Donors may be of any size, so a native canvas scales and crops them."""
    return (
        canvas
        if canvas.fit != "native"
        else Canvas(canvas.height, canvas.width, "crop", min(canvas.height, canvas.width))
    )
