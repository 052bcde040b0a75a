"""The tally: pixels of every unit's mask, of every concept, and of both, and the images that excite a unit most."""

from __future__ import annotations

from typing import TYPE_CHECKING

from snellen.lazy_torch import torch

if TYPE_CHECKING:
    from collections.abc import Mapping

    from torch import Tensor

NAMES = ("intersect", "activation", "truth", "values", "positions", "totals")


class Tally:
    """Counts over all pixels of all images so far, int64, on a device.

    `intersect` [units, concepts + 1], where the first column is for no concept, `activation` [units], `truth` [concepts + 1],
    `totals` images and pixels; `values` and `positions` [units, tops] are the highest value of each unit in its best images, and
    where these stand in the data (−1: none).
    """

    def __init__(self, units: int, concepts: int, tops: int, device: torch.device | str = "cpu") -> None:
        self.intersect = torch.zeros((units, concepts + 1), dtype=torch.int64, device=device)
        self.activation = torch.zeros(units, dtype=torch.int64, device=device)
        self.truth = torch.zeros(concepts + 1, dtype=torch.int64, device=device)
        self.values = torch.full((units, tops), -torch.inf, device=device)
        self.positions = torch.full((units, tops), -1, dtype=torch.int64, device=device)
        self.totals = torch.zeros(2, dtype=torch.int64, device=device)

    def add(self, values: Tensor, thresholds: Tensor, labels: Tensor, positions: Tensor) -> None:
        """Count some images: values float [n, units, places] and labels int16 [n, maps, places], the place of a concept plus
        1, at the same places; a unit's mask is where its values exceed its threshold.

        About a hundredth of all places are in a mask, so these are picked out and looked up, which is far less work than a
        product of masks.
        """
        units, columns = self.intersect.shape
        image, unit, place = (values > thresholds[None, :, None]).nonzero(as_tuple=True)
        self.activation += torch.bincount(unit, minlength=units)
        for number in range(labels.shape[1]):
            codes = unit * columns + labels[image, number, place]
            self.intersect.view(-1).scatter_add_(0, codes, torch.ones_like(codes))
        self.truth += torch.bincount(labels.flatten().int(), minlength=columns)
        self.totals += torch.tensor([len(values), len(values) * values.shape[2]], device=values.device)
        self._keep_best(values.amax(2).T, positions)

    def _keep_best(self, peaks: Tensor, positions: Tensor) -> None:
        """Keep the images with the highest of peaks [units, n]; the earlier one where they are equal."""
        values = torch.cat([self.values, peaks], 1)
        places = torch.cat([self.positions, positions[None, :].expand(len(peaks), -1)], 1)
        order = torch.argsort(values, dim=1, descending=True, stable=True)[:, : self.values.shape[1]]
        self.values, self.positions = values.gather(1, order), places.gather(1, order)

    def arrays(self) -> dict[str, Tensor]:
        """All that it holds, by name."""
        return {name: getattr(self, name) for name in NAMES}

    def load(self, arrays: Mapping[str, Tensor]) -> None:
        """Take up what `arrays` gave earlier."""
        for name in NAMES:
            setattr(self, name, arrays[name].to(getattr(self, name).device))
